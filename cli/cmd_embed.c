/* enhope embed: writes embedded points, and their labels, as a table or as a NumPy array. */
#include <stdlib.h>

#include "table/table.h"

static int add_columns(const cli_session *session, const char *const *name, cli_table *table)
{
    const cli_table_column Y = {.name = "Y",
                                .type = TABLE_REAL,
                                .digits = 9,
                                .parts = session->model_info.outputs,
                                .part = name,
                                .part_format = "%s"},
                           label = {.name = "label", .type = TABLE_TEXT};
    const int code = cli_table_add(table, &Y);
    return code || table->format == &table_npy || !session->data_info.classes ? code : cli_table_add(table, &label);
}

static void put_rows(cli_table *table, const cli_session *session, const cli_block *block, const float *Y)
{
    const int64_t h = session->model_info.outputs;
    const int32_t *label = enhope_dataset_labels(block->data);
    for (int64_t i = 0; i < block->n && !ferror(table->output.file); i++) {
        for (int64_t j = 0; j < h; j++) cli_table_real(table, (double)Y[i * h + j]);
        if (table->count == 1) continue;
        cli_table_text(table, label && label[i] >= 0 ? enhope_dataset_class_name(session->data, label[i]) : NULL);
    }
}

/* Embeds and writes block by block. */
static int put_all(const cli_session *session, cli_table *table)
{
    const int64_t h = session->model_info.outputs;
    cli_block block = {0};
    float *Y = NULL; /* (rows of the first block, h): no block is larger */
    int code = cli_block_next(session, &block);
    while (!code && block.n > 0) {
        if (!Y && !(Y = cli_alloc("the embedding", block.n, h, sizeof *Y))) code = CLI_FAILED;
        const enhope_status status = code ? 0 : enhope_model_embed(session->ctx, session->model, block.data, Y);
        if (status) code = cli_fail(session->ctx, status);
        if (!code) put_rows(table, session, &block, Y);
        if (!code) code = cli_table_flush(table);
        if (!code) code = cli_block_next(session, &block);
    }
    cli_block_close(&block);
    free(Y);
    return code;
}

static int write_table(const cli_session *session, const cli_options *options, const cli_table_format *format)
{
    enum { NAME = 24 };
    const int64_t h = session->model_info.outputs;
    cli_table *table = NULL;
    char(*text)[NAME] = cli_alloc("names", h, 1, sizeof *text); /* "y1", "y2", ... */
    const char **name = cli_alloc("names", h, 1, sizeof *name);
    int code = text && name ? 0 : CLI_FAILED;
    for (int64_t j = 0; j < h && !code; j++) {
        snprintf(text[j], sizeof text[j], "y%lld", (long long)j + 1);
        name[j] = text[j];
    }
    if (!code) code = cli_table_open(format, options->output, session->data_info.n, &table);
    if (!code) code = add_columns(session, name, table);
    if (!code) code = put_all(session, table);
    if (!code) code = cli_table_close(table);
    cli_table_free(table);
    free(name);
    free(text);
    return code;
}

int cmd_embed(const cli_options *options)
{
    cli_session session;
    const cli_table_format *format;
    int code = cli_session_open(&session, options);
    if (!code) code = cli_table_choose(options, &format);
    if (!code) code = cli_session_model(&session, options->positional[0]);
    if (!code) code = cli_session_data(&session, options, options->data, "test");
    if (!code) code = cli_output_differs(options->output, options->data);
    if (!code) code = cli_output_differs(options->output, options->positional[0]);
    if (!code) code = write_table(&session, options, format);
    cli_session_close(&session);
    return code;
}
