/* enhope predict: writes the class of each point, its probabilities and the nearest exemplar. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/cli.h"

/* The threshold of --reject. */
typedef struct bound {
    bool enabled;
    enhope_confidence by;
    float value; /* float as in the library, so that thresholds of eval select the same points */
} bound;

static int parse_bound(const cli_options *options, bound *out)
{
    const char *text = options->answer.reject;
    if (!text) return 0;
    const size_t name = strcspn(text, "=");
    char *end = NULL;
    if (!text[name])
        return cli_usage_error(options->command, "--reject is '%s': expected KIND=VALUE, such as probability=0.9",
                               text);
    const int code = cli_confidence_parse(options, text, name, &out->by);
    if (code) return code;
    out->value = (float)strtod(text + name + 1, &end);
    out->enabled = true;
    if (end == text + name + 1 || *end || isnan(out->value))
        return cli_usage_error(options->command, "--reject is '%s': expected a number after the =", text);
    return 0;
}

static bool is_accepted(const bound *b, const enhope_prediction *p, int64_t i, int32_t c)
{
    if (!b->enabled) return true;
    if (b->by == ENHOPE_CONFIDENCE_DISTANCE) return p->distance[i] <= b->value;
    return (b->by == ENHOPE_CONFIDENCE_MARGIN ? p->margin[i] : p->proba[i * c + p->label[i]]) >= b->value;
}

/* For blocks of n samples. */
static int allocate(const cli_session *session, const cli_options *options, const bound *b, int64_t n,
                    enhope_prediction *out)
{
    const bool proba = options->answer.proba || (b->enabled && b->by == ENHOPE_CONFIDENCE_PROBABILITY);
    const bool margin = b->enabled && b->by == ENHOPE_CONFIDENCE_MARGIN;
    const bool distance = options->answer.winner || (b->enabled && b->by == ENHOPE_CONFIDENCE_DISTANCE);
    out->label = cli_alloc("labels", n, 1, sizeof *out->label);
    if (!out->label) return CLI_FAILED;
    if (proba && !(out->proba = cli_alloc("probabilities", n, session->model_info.classes, sizeof *out->proba)))
        return CLI_FAILED;
    if (options->answer.winner && !(out->winner = cli_alloc("winners", n, 1, sizeof *out->winner))) return CLI_FAILED;
    if (distance && !(out->distance = cli_alloc("distances", n, 1, sizeof *out->distance))) return CLI_FAILED;
    if (margin && !(out->margin = cli_alloc("margins", n, 1, sizeof *out->margin))) return CLI_FAILED;
    return 0;
}

static void put_header(FILE *out, const cli_session *session, bool proba, bool winner)
{
    const int32_t c = session->model_info.classes;
    fputs("label", out);
    for (int32_t k = 0; k < c && proba; k++) {
        char name[512];
        snprintf(name, sizeof name, "p(%s)", enhope_model_class_name(session->model, k));
        putc(',', out);
        cli_put_csv(out, name);
    }
    fputs(winner ? ",winner,distance\n" : "\n", out);
}

static void put_rows(FILE *out, const cli_session *session, int64_t n, const enhope_prediction *prediction, bool proba,
                     const bound *b)
{
    const int32_t c = session->model_info.classes;
    for (int64_t i = 0; i < n && !ferror(out); i++) {
        if (is_accepted(b, prediction, i, c))
            cli_put_csv(out, enhope_model_class_name(session->model, prediction->label[i]));
        else
            fputs("\"\"", out); /* not an empty line, which CSV readers skip */
        for (int32_t k = 0; k < c && proba; k++) fprintf(out, ",%.6g", (double)prediction->proba[i * c + k]);
        if (prediction->winner)
            fprintf(out, ",%lld,%.6g", (long long)prediction->winner[i], (double)prediction->distance[i]);
        putc('\n', out);
    }
}

/* Classifies and writes block by block. No block is larger than the first. */
static int put_all(const cli_session *session, const cli_options *options, const bound *limit, cli_output *output)
{
    enhope_prediction prediction = {0};
    cli_block block = {0};
    int code = cli_block_next(session, &block);
    if (!code) code = allocate(session, options, limit, block.n, &prediction);
    while (!code && block.n > 0) {
        const enhope_status status =
            enhope_model_predict(session->ctx, session->model, block.data, (int32_t)options->n_neighbors, &prediction);
        if (status) code = cli_fail(session->ctx, status);
        if (!code && block.first == 0) put_header(output->file, session, options->answer.proba, options->answer.winner);
        if (!code) put_rows(output->file, session, block.n, &prediction, options->answer.proba, limit);
        if (!code) code = cli_output_flush(output);
        if (!code) code = cli_block_next(session, &block);
    }
    cli_block_close(&block);
    free(prediction.label);
    free(prediction.proba);
    free(prediction.winner);
    free(prediction.distance);
    free(prediction.margin);
    return code;
}

int cmd_predict(const cli_options *options)
{
    cli_session session;
    cli_output output = {0};
    bound limit = {0};
    int code = cli_session_open(&session, options);
    if (!code) code = parse_bound(options, &limit);
    if (!code) code = cli_session_model(&session, options->positional[0]);
    if (!code) code = cli_session_data(&session, options, options->data, "test");
    if (!code) code = cli_output_differs(options->output, options->data);
    if (!code) code = cli_output_differs(options->output, options->positional[0]);
    if (!code) code = cli_output_open(&output, options->output);
    if (!code) code = put_all(&session, options, &limit, &output);
    if (!code) code = cli_output_close(&output);
    cli_output_abandon(&output);
    cli_session_close(&session);
    return code;
}
