/* enhope embed: writes embedded points as CSV or as a NumPy array. */
#include <stdlib.h>
#include <string.h>

#include "core/cli.h"

static bool ends_in_npy(const char *path)
{
    const size_t length = path ? strlen(path) : 0;
    return length >= 4 && !strcmp(path + length - 4, ".npy");
}

/* NPY 1.0: magic, version, a 2-byte little-endian length, and a dictionary, padded so that the data
 * begins at a multiple of 64. */
static void put_npy_header(FILE *out, int64_t n, int64_t h)
{
    const uint16_t probe = 1;
    const bool little = *(const unsigned char *)&probe == 1;
    char header[128];
    memset(header, ' ', sizeof header);
    memcpy(header, "\x93NUMPY\x01\x00", 8);
    header[8] = (char)(sizeof header - 10);
    header[9] = 0;
    char text[100];
    const int length = snprintf(text, sizeof text, "{'descr': '%cf4', 'fortran_order': False, 'shape': (%lld, %lld), }",
                                little ? '<' : '>', (long long)n, (long long)h);
    memcpy(header + 10, text, (size_t)length);
    header[sizeof header - 1] = '\n';
    fwrite(header, 1, sizeof header, out);
}

static void put_csv_header(FILE *out, const cli_session *session)
{
    const int64_t h = session->model_info.outputs;
    for (int64_t j = 0; j < h; j++) fprintf(out, "%sy%lld", j ? "," : "", (long long)j + 1);
    fputs(session->data_info.classes ? ",label\n" : "\n", out);
}

static void put_csv(FILE *out, const cli_session *session, const cli_block *block, const float *Y)
{
    const int64_t h = session->model_info.outputs;
    const int32_t *label = enhope_dataset_labels(block->data);
    for (int64_t i = 0; i < block->n && !ferror(out); i++) {
        for (int64_t j = 0; j < h; j++) fprintf(out, "%s%.9g", j ? "," : "", (double)Y[i * h + j]);
        if (label) {
            putc(',', out);
            if (label[i] >= 0) cli_put_csv(out, enhope_dataset_class_name(session->data, label[i]));
        }
        putc('\n', out);
    }
}

/* Embeds and writes block by block. */
static int put_all(const cli_session *session, cli_output *output, bool npy)
{
    FILE *out = output->file;
    const int64_t h = session->model_info.outputs;
    cli_block block = {0};
    float *Y = NULL; /* (rows of the first block, h): no block is larger */
    int code = cli_block_next(session, &block);
    while (!code && block.n > 0) {
        if (!Y && !(Y = cli_alloc("the embedding", block.n, h, sizeof *Y))) code = CLI_FAILED;
        const enhope_status status = code ? 0 : enhope_model_embed(session->ctx, session->model, block.data, Y);
        if (status) code = cli_fail(session->ctx, status);
        if (!code && block.first == 0 && npy) put_npy_header(out, session->data_info.n, h);
        if (!code && block.first == 0 && !npy) put_csv_header(out, session);
        if (!code && npy) fwrite(Y, sizeof *Y, (size_t)(block.n * h), out);
        if (!code && !npy) put_csv(out, session, &block, Y);
        if (!code) code = cli_output_flush(output);
        if (!code) code = cli_block_next(session, &block);
    }
    cli_block_close(&block);
    free(Y);
    return code;
}

int cmd_embed(const cli_options *options)
{
    cli_session session;
    cli_output output = {0};
    int code = cli_session_open(&session, options);
    if (!code) code = cli_session_model(&session, options->positional[0]);
    if (!code) code = cli_session_data(&session, options, options->data, "test");
    if (!code) code = cli_output_differs(options->output, options->data);
    if (!code) code = cli_output_differs(options->output, options->positional[0]);
    if (!code) code = cli_output_open(&output, options->output);
    if (!code) code = put_all(&session, &output, ends_in_npy(options->output));
    if (!code) code = cli_output_close(&output);
    cli_output_abandon(&output);
    cli_session_close(&session);
    return code;
}
