/* The answers of enhope predict: the row number or the ids, the class, the probabilities and the
 * nearest exemplar of each point. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "predict/answers.h"

/* ---- options ---- */

static int parse_bound(const cli_options *options, answers_bound *out)
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
    if (out->by == ENHOPE_CONFIDENCE_MARGIN && options->answer.cost)
        return cli_usage_error(options->command,
                               "--reject margin does not consider --cost; use probability or distance");
    if (end == text + name + 1 || *end || isnan(out->value))
        return cli_usage_error(options->command, "--reject is '%s': expected a number after the =", text);
    return 0;
}

static int choose_format(const cli_options *options, const cli_table_format **format)
{
    const int code = cli_table_choose(options, format);
    const bool more = options->answer.proba || options->answer.winner || options->source.table.keep;
    if (code || *format != &table_npy || !more) return code;
    return cli_usage_error(options->command,
                           "%s: .npy holds one array, the labels; use .npz for --proba, --winner and --keep",
                           options->output);
}

int answers_parse(answers *a, const cli_options *options)
{
    a->options = options;
    const int code = parse_bound(options, &a->bound);
    return code ? code : choose_format(options, &a->format);
}

/* ---- memory ---- */

static void free_arrays(answers *a)
{
    free(a->p.label);
    free(a->p.proba);
    free(a->p.winner);
    free(a->p.distance);
    free(a->p.margin);
    a->p = (enhope_prediction){0};
    a->capacity = 0;
}

/* Allocates the arrays for blocks of n rows. */
static int reserve(answers *a, int64_t n)
{
    const cli_answer_options *o = &a->options->answer;
    const answers_bound *b = &a->bound;
    const bool proba = o->proba || o->cost || (b->enabled && b->by == ENHOPE_CONFIDENCE_PROBABILITY);
    const bool margin = b->enabled && b->by == ENHOPE_CONFIDENCE_MARGIN;
    const bool distance = o->winner || (b->enabled && b->by == ENHOPE_CONFIDENCE_DISTANCE);
    enhope_prediction *p = &a->p;
    if (n <= a->capacity) return 0;
    free_arrays(a);
    p->label = cli_alloc("labels", n, 1, sizeof *p->label);
    if (!p->label) return CLI_FAILED;
    if (proba && !(p->proba = cli_alloc("probabilities", n, a->session->model_info.classes, sizeof *p->proba)))
        return CLI_FAILED;
    if (o->winner && !(p->winner = cli_alloc("winners", n, 1, sizeof *p->winner))) return CLI_FAILED;
    if (distance && !(p->distance = cli_alloc("distances", n, 1, sizeof *p->distance))) return CLI_FAILED;
    if (margin && !(p->margin = cli_alloc("margins", n, 1, sizeof *p->margin))) return CLI_FAILED;
    a->capacity = n;
    return 0;
}

int answers_open(answers *a, const cli_session *session, int64_t rows)
{
    const int32_t c = session->model_info.classes;
    a->session = session;
    a->rows = rows;
    if (!c) return cli_error("the model was trained without labels, so it cannot classify; use enhope embed");
    a->class_name = cli_alloc("names", c, 1, sizeof *a->class_name);
    if (!a->class_name) return CLI_FAILED;
    for (int32_t k = 0; k < c; k++) a->class_name[k] = enhope_model_class_name(session->model, k);
    const int code = cli_costs_parse(session, a->options, &a->cost);
    const char *device = a->options->compute.device;
    if (code || (device && strcmp(device, "cpu"))) return code; /* other devices have no predictor */
    const enhope_predictor_options o = {.k = (int32_t)a->options->n_neighbors};
    const enhope_status status = enhope_predictor_create(session->ctx, session->model, &o, &a->predictor);
    return status ? cli_fail(session->ctx, status) : 0;
}

void answers_free(answers *a)
{
    free_arrays(a);
    enhope_predictor_free(a->predictor);
    free(a->cost);
    free(a->class_name);
    cli_table_free(a->table);
    *a = (answers){0};
}

/* ---- columns ---- */

/* Whether a column of the output has this name. */
static bool is_taken(const cli_session *session, const cli_table *table, const char *name)
{
    static const char *const own[] = {"row", "label", "proba", "classes", "winner", "distance"};
    char part[512];
    for (size_t i = 0; i < sizeof own / sizeof *own; i++)
        if (!strcmp(own[i], name)) return true;
    for (int i = 0; i < table->count; i++)
        if (!strcmp(table->names[i], name)) return true;
    for (int32_t k = 0; k < session->model_info.classes; k++) {
        snprintf(part, sizeof part, "p(%s)", enhope_model_class_name(session->model, k));
        if (!strcmp(part, name)) return true;
    }
    return false;
}

/* Adds columns of the data, texts first .. end. One with the name of another column gets the prefix
 * "data.". */
static int add_texts(const answers *a, const enhope_dataset *data, int64_t first, int64_t end)
{
    for (int64_t k = first; k < end; k++) {
        const char *name = enhope_dataset_text_name(data, k);
        char *prefixed = cli_alloc("a name", (int64_t)strlen(name) + 6, 1, 1);
        if (!prefixed) return CLI_FAILED;
        sprintf(prefixed, "%s%s", is_taken(a->session, a->table, name) ? "data." : "", name);
        const int code = cli_table_add(a->table, &(cli_table_column){.name = prefixed, .type = TABLE_TEXT});
        free(prefixed);
        if (code) return code;
    }
    return 0;
}

/* Adds the columns: ids or the row number, the label, and what the options request. An NPY file
 * has the labels only. */
static int add_columns(const answers *a, const enhope_dataset *data)
{
    cli_table *table = a->table;
    const cli_table_column row = {.name = "row", .type = TABLE_INTEGER}, label = {.name = "label", .type = TABLE_TEXT},
                           proba = {.name = "proba",
                                    .type = TABLE_REAL,
                                    .digits = 6,
                                    .parts = a->session->model_info.classes,
                                    .part = a->class_name,
                                    .part_format = "p(%s)",
                                    .part_array = "classes"},
                           winner = {.name = "winner", .type = TABLE_INTEGER},
                           distance = {.name = "distance", .type = TABLE_REAL, .digits = 6};
    const int64_t ids = enhope_dataset_id_count(data), texts = enhope_dataset_text_count(data);
    const cli_answer_options *o = &a->options->answer;
    if (a->format == &table_npy) return cli_table_add(table, &label);
    int code = ids ? add_texts(a, data, 0, ids) : cli_table_add(table, &row);
    if (!code) code = cli_table_add(table, &label);
    if (!code && o->proba) code = cli_table_add(table, &proba);
    if (!code && o->winner) code = cli_table_add(table, &winner);
    if (!code && o->winner) code = cli_table_add(table, &distance);
    return code ? code : add_texts(a, data, ids, texts);
}

/* ---- rows ---- */

static bool is_accepted(const answers_bound *b, const enhope_prediction *p, int64_t i, int32_t c)
{
    if (!b->enabled) return true;
    if (b->by == ENHOPE_CONFIDENCE_DISTANCE) return p->distance[i] <= b->value;
    return (b->by == ENHOPE_CONFIDENCE_MARGIN ? p->margin[i] : p->proba[i * c + p->label[i]]) >= b->value;
}

/* Rows without a prediction have the label -1. */
static void put_rows(const answers *a, const enhope_dataset *data, int64_t n)
{
    const enhope_prediction *p = &a->p;
    const int32_t c = a->session->model_info.classes;
    const bool all = a->format != &table_npy;
    const int64_t ids = enhope_dataset_id_count(data), texts = enhope_dataset_text_count(data);
    cli_table *table = a->table;
    for (int64_t i = 0; i < n && !ferror(table->output.file); i++) {
        if (p->label[i] < 0) continue;
        for (int64_t k = 0; k < ids && all; k++) cli_table_text(table, enhope_dataset_text(data, k, i));
        if (!ids && all) cli_table_integer(table, enhope_dataset_source_row(data, i) + 1);
        cli_table_text(table, is_accepted(&a->bound, p, i, c) ? a->class_name[p->label[i]] : NULL);
        for (int32_t k = 0; k < c && a->options->answer.proba; k++) cli_table_real(table, (double)p->proba[i * c + k]);
        if (p->winner) {
            cli_table_integer(table, p->winner[i]);
            cli_table_real(table, (double)p->distance[i]);
        }
        for (int64_t k = ids; k < texts && all; k++) cli_table_text(table, enhope_dataset_text(data, k, i));
    }
}

/* Predicts data into the rows from `first` on. */
static enhope_status predict(const answers *a, const enhope_dataset *data, int64_t first, int64_t n)
{
    const cli_session *session = a->session;
    const enhope_prediction *p = &a->p;
    const int32_t c = session->model_info.classes, k = (int32_t)a->options->n_neighbors;
    const enhope_prediction out = {.label = p->label + first,
                                   .proba = p->proba ? p->proba + first * c : NULL,
                                   .winner = p->winner ? p->winner + first : NULL,
                                   .distance = p->distance ? p->distance + first : NULL,
                                   .margin = p->margin ? p->margin + first : NULL};
    const enhope_status status = a->predictor ? enhope_predictor_predict(session->ctx, a->predictor, data, &out)
                                              : enhope_model_predict(session->ctx, session->model, data, k, &out);
    if (!status && a->cost) enhope_labels_by_cost(out.proba, n, c, a->cost, out.label);
    return status;
}

/* Predicts the rows first .. first + n of data up to the first bad one, or, with --skip-bad, all
 * good ones. Bad rows are found by bisection. *done: rows before the failure. */
static enhope_status predict_good(answers *a, const enhope_dataset *data, int64_t first, int64_t n, int64_t *done)
{
    enhope_context *ctx = a->session->ctx;
    enhope_dataset *part = NULL;
    enhope_status status = enhope_dataset_block(ctx, data, first, n, &part);
    if (!status) status = predict(a, part, first, n);
    enhope_dataset_free(part);
    *done = status ? first : first + n;
    if (status != ENHOPE_ERROR_DATA || (n == 1 && !a->options->source.table.skip_bad)) return status;
    if (n == 1) {
        a->p.label[first] = -1;
        a->skipped++;
        *done = first + 1;
        return ENHOPE_OK;
    }
    status = predict_good(a, data, first, n / 2, done);
    return status ? status : predict_good(a, data, first + n / 2, n - n / 2, done);
}

int answers_put(answers *a, const enhope_dataset *data, int64_t n)
{
    const cli_session *session = a->session;
    int code = 0;
    if (!a->table) {
        code = cli_table_open(a->format, a->options->output, a->rows, &a->table);
        if (!code) code = add_columns(a, data);
    }
    if (!code) code = reserve(a, n);
    if (code) return code;
    enhope_status status = predict(a, data, 0, n);
    int64_t done = status ? 0 : n;
    if (status == ENHOPE_ERROR_DATA) status = predict_good(a, data, 0, n, &done);
    put_rows(a, data, done);
    code = cli_table_flush(a->table);
    return status ? cli_fail(session->ctx, status) : code;
}

int answers_close(answers *a)
{
    char line[128];
    snprintf(line, sizeof line, "skipped %lld row%s too far from the training data: the map is not finite there",
             (long long)a->skipped, a->skipped == 1 ? "" : "s");
    if (a->skipped) cli_put_log(ENHOPE_LOG_WARNING, line, NULL);
    if (a->table) a->table->rows -= a->skipped;
    return a->table ? cli_table_close(a->table) : 0;
}
