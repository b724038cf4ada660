/* enhope quantize: stores a model in int8, unless its error increases too much. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/cli.h"

static const double DEFAULT_LIMIT = 0.1; /* points, or one sample if that is more */

/* Labels of one model and their errors. */
typedef struct answers {
    int32_t *label; /* (n) */
    int64_t errors;
    size_t bytes; /* of the model's file */
} answers;

/* What the two models answer. */
typedef struct comparison {
    int64_t n, labeled, differ; /* samples, those with a label, those with different answers */
    answers float32, int8;
    double change, limit; /* of the error, in points; limit NaN: not labeled */
} comparison;

static int label_all(const cli_session *session, const enhope_model *model, const char *precision,
                     const int32_t *expected, answers *out)
{
    const enhope_dataset_info *info = &session->data_info;
    enhope_values v;
    enhope_predictor *predictor = NULL;
    enhope_dataset_get_values(session->data, &v);
    const void *const values[] = {[ENHOPE_U8] = v.u8, [ENHOPE_F32] = v.f32, [ENHOPE_CSR] = v.value};
    const enhope_rows rows = {
        .n = info->n, .kind = info->kind, .values = values[info->kind], .row_start = v.row_start, .column = v.column};
    out->label = cli_alloc("labels", info->n, 1, sizeof *out->label);
    if (!out->label) return CLI_FAILED;
    enhope_status status = enhope_model_save_bytes(session->ctx, model, NULL, 0, &out->bytes);
    if (!status)
        status = enhope_predictor_create(session->ctx, model, &(enhope_predictor_options){.precision = precision},
                                         &predictor);
    if (!status) status = enhope_predictor_label(predictor, &rows, out->label);
    enhope_predictor_free(predictor);
    for (int64_t i = 0; i < info->n && !status; i++) out->errors += expected[i] != -1 && out->label[i] != expected[i];
    return status ? cli_fail(session->ctx, status) : 0;
}

/* Compares the answers of the model of the session and of the small one. */
static int compare(const cli_session *session, const enhope_model *small, comparison *c)
{
    int32_t *expected = NULL;
    int code = cli_session_true_classes(session, &expected);
    if (!code) code = label_all(session, session->model, "float32", expected, &c->float32);
    if (!code) code = label_all(session, small, "int8", expected, &c->int8);
    c->n = session->data_info.n;
    for (int64_t i = 0; i < c->n && !code; i++) {
        c->labeled += expected[i] != -1;
        c->differ += c->float32.label[i] != c->int8.label[i];
    }
    free(expected);
    c->change = cli_percent(c->int8.errors, c->labeled) - cli_percent(c->float32.errors, c->labeled);
    return code;
}

static void put_line(const char *name, const answers *a, int64_t n)
{
    double low, high;
    char bytes[32];
    cli_interval(a->errors, n, &low, &high);
    cli_bytes_text((double)a->bytes, bytes, sizeof bytes);
    printf("%-9s error %.2f %% of %lld (%.2f to %.2f %%), %s\n", name, cli_percent(a->errors, n), (long long)n, low,
           high, bytes);
}

static void put_comparison(const comparison *c, const cli_options *options)
{
    const double share = cli_percent(c->differ, c->n);
    if (options->json) {
        cli_json(stdout,
                 "{\n  \"n\": %lld,\n  \"float32\": {\"errors\": %lld, \"error_percent\": %g, \"bytes\": %lld},\n"
                 "  \"int8\": {\"errors\": %lld, \"error_percent\": %g, \"bytes\": %lld},\n"
                 "  \"change_points\": %g,\n  \"limit_points\": %g,\n  \"labels_differ\": %lld\n}\n",
                 (long long)c->labeled, (long long)c->float32.errors, cli_percent(c->float32.errors, c->labeled),
                 (long long)c->float32.bytes, (long long)c->int8.errors, cli_percent(c->int8.errors, c->labeled),
                 (long long)c->int8.bytes, c->change, c->limit, (long long)c->differ);
        return;
    }
    put_line("float32", &c->float32, c->labeled);
    put_line("int8", &c->int8, c->labeled);
    printf("change    %+.2f points, limit %.2f; %lld labels differ (%.2f %%)\n", c->change, c->limit,
           (long long)c->differ, share);
}

static int parse_limit(const cli_options *options, int64_t labeled, double *limit)
{
    const char *text = options->deploy.max_loss;
    char *end = NULL;
    *limit = fmax(DEFAULT_LIMIT, cli_percent(1, labeled));
    if (!text) return 0;
    *limit = strtod(text, &end);
    if (end != text && !*end && *limit >= 0 && *limit <= 100) return 0;
    return cli_usage_error(options->command, "--max-loss is '%s': expected points of error, 0 to 100", text);
}

/* Measures, prints, and writes the small model unless its error is above the limit. */
static int finish(const cli_session *session, const cli_options *options, const enhope_model *small)
{
    comparison c = {0};
    int code = compare(session, small, &c);
    if (!code && !c.labeled)
        code = cli_usage_error(options->command,
                               "%s has no labels, so that the change of the error is unknown; use labeled data, or "
                               "--valid-data SPEC",
                               options->training.valid_data ? options->training.valid_data : options->data);
    if (!code) code = parse_limit(options, c.labeled, &c.limit);
    if (!code) put_comparison(&c, options);
    if (!code && c.change > c.limit)
        code = cli_error("the error increases by %.2f points, more than %.2f; %s is not written; use --max-loss to "
                         "allow it, or more training data for --data",
                         c.change, c.limit, options->output);
    if (!code && enhope_model_save(session->ctx, small, options->output))
        code = cli_fail(session->ctx, ENHOPE_ERROR_IO);
    free(c.float32.label);
    free(c.int8.label);
    return code;
}

int cmd_quantize(const cli_options *options)
{
    cli_session session;
    enhope_model *small = NULL;
    cli_options reading = *options;
    const char *valid = options->training.valid_data;
    double limit;
    int code = cli_session_open(&session, options);
    if (!code && !options->output) code = cli_usage_error(options->command, "missing option: -o FILE");
    if (!code) code = parse_limit(options, 1, &limit);
    if (!code) code = cli_session_model(&session, options->positional[0]);
    if (!code) code = cli_output_differs(options->output, options->positional[0]);
    if (!code) code = cli_output_differs(options->output, options->data);
    if (!code) code = cli_output_differs(options->output, valid);
    if (!code) code = cli_output_check(options->output);
    if (!code) code = cli_session_data(&session, options, options->data, "train");
    if (!code) code = cli_session_in_memory(&session, options);
    if (!code) {
        const enhope_status status = enhope_model_quantize(session.ctx, session.model, session.data, &small);
        if (status) code = cli_fail(session.ctx, status);
    }
    if (!code && valid) {
        enhope_dataset_free(session.data);
        session.data = NULL;
        reading.source.part = NULL;
        reading.source.limit = 0;
        code = cli_session_data(&session, &reading, valid, "test");
        if (!code) code = cli_session_in_memory(&session, options);
    }
    if (!code) code = finish(&session, options, small);
    enhope_model_free(small);
    cli_session_close(&session);
    return code;
}
