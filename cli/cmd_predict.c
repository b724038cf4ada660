/* enhope predict: the class of each point, its probabilities, the exemplar that won. */
#include <stdlib.h>

#include "cli.h"

static int allocate(const cli_session *session, const cli_options *options, enhope_prediction *out)
{
    const int64_t n = session->data_info.n;
    out->label = cli_alloc("labels", n, 1, sizeof *out->label);
    if (!out->label) return CLI_FAILED;
    if (options->proba &&
        !(out->proba = cli_alloc("probabilities", n, session->model_info.classes, sizeof *out->proba)))
        return CLI_FAILED;
    if (options->winner && !(out->winner = cli_alloc("winners", n, 1, sizeof *out->winner))) return CLI_FAILED;
    if (options->winner && !(out->distance = cli_alloc("distances", n, 1, sizeof *out->distance))) return CLI_FAILED;
    return 0;
}

static void put_csv(FILE *out, const cli_session *session, const enhope_prediction *prediction)
{
    const int32_t c = session->model_info.classes;
    fputs("label", out);
    for (int32_t k = 0; k < c && prediction->proba; k++) {
        char name[512];
        snprintf(name, sizeof name, "p(%s)", enhope_model_class_name(session->model, k));
        putc(',', out);
        cli_put_csv(out, name);
    }
    fputs(prediction->winner ? ",winner,distance\n" : "\n", out);
    for (int64_t i = 0; i < session->data_info.n && !ferror(out); i++) {
        cli_put_csv(out, enhope_model_class_name(session->model, prediction->label[i]));
        for (int32_t k = 0; k < c && prediction->proba; k++)
            fprintf(out, ",%.6g", (double)prediction->proba[i * c + k]);
        if (prediction->winner)
            fprintf(out, ",%lld,%.6g", (long long)prediction->winner[i], (double)prediction->distance[i]);
        putc('\n', out);
    }
}

int cmd_predict(const cli_options *options)
{
    cli_session session;
    cli_output output = {0};
    enhope_prediction prediction = {0};
    int code = cli_session_open(&session, options);
    if (!code) code = cli_session_model(&session, options->positional[0]);
    if (!code) code = cli_session_data(&session, options, options->data, "test");
    if (!code) code = cli_output_differs(options->output, options->data);
    if (!code) code = cli_output_differs(options->output, options->positional[0]);
    if (!code) code = cli_output_open(&output, options->output);
    if (!code) code = allocate(&session, options, &prediction);
    if (!code) {
        const enhope_status status =
            enhope_model_predict(session.ctx, session.model, session.data, (int32_t)options->neighbours, &prediction);
        if (status) code = cli_fail(session.ctx, status);
    }
    if (!code) {
        put_csv(output.file, &session, &prediction);
        code = cli_output_close(&output);
    }
    cli_output_abandon(&output);
    free(prediction.label);
    free(prediction.proba);
    free(prediction.winner);
    free(prediction.distance);
    cli_session_close(&session);
    return code;
}
