/* enhope predict: classifies points that are read as a whole, or line by line. */
#include <string.h>

#include "predict/answers.h"

/* Classifies and writes block by block. */
static int put_all(answers *a, const cli_session *session)
{
    cli_block block = {0};
    int code = answers_open(a, session, session->data_info.n);
    if (!code) code = cli_block_next(session, &block);
    while (!code && block.n > 0) {
        code = answers_put(a, block.data, block.n);
        if (!code) code = cli_block_next(session, &block);
    }
    cli_block_close(&block);
    return code ? code : answers_close(a);
}

int cmd_predict(const cli_options *options)
{
    cli_session session;
    answers a = {0};
    int code = cli_session_open(&session, options);
    if (!code) code = answers_parse(&a, options);
    if (!code) code = cli_session_model(&session, options->positional[0]);
    if (!code) code = cli_output_differs(options->output, options->positional[0]);
    if (!code && predict_can_stream(&a, options)) {
        code = predict_stream(&a, &session, options);
    } else {
        if (!code) code = cli_session_data(&session, options, options->data, "test");
        if (!code) code = cli_output_differs(options->output, options->data);
        if (!code) code = put_all(&a, &session);
    }
    answers_free(&a);
    cli_session_close(&session);
    return code;
}
