/* The points of the page of enhope view: reads, predicts and selects them. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/cli.h"
#include "view/page.h"
#include "view/view.h"

enum {
    SAMPLE = 200000,           /* default of --sample */
    DETAIL = 10000,            /* default of --detail */
    EXEMPLARS = 5000,          /* maximum that are drawn */
    IMPORTANT = 200,           /* maximum columns whose importance is measured, */
    IMPORTANCE_SAMPLES = 1000, /* by so many samples, */
    IMPORTANCE_REPEATS = 3     /* permuted so many times */
};

void view_free(view *v)
{
    for (int k = 0; k < v->parts; k++) {
        view_part *part = &v->part[k];
        free(part->p.label);
        free(part->p.proba);
        free(part->p.winner);
        free(part->p.Y);
        free(part->truth);
        enhope_dataset_free(part->session.data);
    }
    cli_page_history_free(&v->history);
    cli_importance_free(&v->importance);
    free(v->row);
    free(v->detail);
    free(v->exemplar);
    free(v->exemplar_class);
    free(v->class_name);
}

/* ---- points of the page ---- */

static bool is_wrong(const view_part *part, int64_t row)
{
    return part->p.label && part->truth[row] != -1 && part->truth[row] != part->p.label[row];
}

/* The number of a name in the classes of the view; -2: none. */
static int32_t class_of(const view *v, const char *name)
{
    for (int32_t k = 0; k < v->classes; k++)
        if (cli_same_text(v->class_name[k], name)) return k;
    return -2;
}

/* The classes of the model, else those of the data. */
static int name_classes(view *v)
{
    int64_t total = v->session.model_info.classes;
    for (int k = 0; k < v->parts; k++) total += v->part[k].session.data_info.classes;
    v->class_name = cli_alloc("classes", total, 1, sizeof *v->class_name);
    if (!v->class_name) return CLI_FAILED;
    v->classes = v->session.model_info.classes;
    v->classifies = v->classes > 0;
    for (int32_t k = 0; k < v->classes; k++) v->class_name[k] = enhope_model_class_name(v->session.model, k);
    for (int k = 0; k < v->parts && !v->classifies; k++) {
        const cli_session *part = &v->part[k].session;
        for (int32_t j = 0; j < part->data_info.classes; j++) {
            const char *name = enhope_dataset_class_name(part->data, j);
            if (class_of(v, name) < 0) v->class_name[v->classes++] = name;
        }
    }
    return 0;
}

/* The labels of a part in the classes of the data. */
static int read_labels(const view *v, view_part *part)
{
    const int32_t c = part->session.data_info.classes, *label = enhope_dataset_labels(part->session.data);
    int32_t *number = cli_alloc("classes", c, 1, sizeof *number);
    if (number) part->truth = cli_alloc("labels", part->session.data_info.n, 1, sizeof *part->truth);
    for (int32_t k = 0; k < c && number; k++) number[k] = class_of(v, enhope_dataset_class_name(part->session.data, k));
    for (int64_t i = 0; i < part->session.data_info.n && part->truth; i++)
        part->truth[i] = label && label[i] >= 0 ? number[label[i]] : -1;
    free(number);
    return part->truth ? 0 : CLI_FAILED;
}

static enhope_status place_part(const view *v, view_part *part, const cli_options *options)
{
    const cli_session *s = &part->session;
    return v->classifies ? enhope_model_predict(s->ctx, s->model, s->data, (int32_t)options->n_neighbors, &part->p)
                         : enhope_model_embed(s->ctx, s->model, s->data, part->p.Y);
}

static int predict_part(const view *v, view_part *part, const cli_options *options)
{
    const int64_t n = part->session.data_info.n, h = part->session.model_info.outputs;
    part->p.Y = cli_alloc("the embedding", n, h, sizeof *part->p.Y);
    bool fits = part->p.Y != NULL;
    if (v->classifies && fits) {
        part->p.label = cli_alloc("labels", n, 1, sizeof *part->p.label);
        if (part->p.label) part->p.winner = cli_alloc("winners", n, 1, sizeof *part->p.winner);
        if (part->p.winner) part->p.proba = cli_alloc("probabilities", n, v->classes, sizeof *part->p.proba);
        fits = part->p.proba != NULL;
    }
    if (!fits) return CLI_FAILED;
    enhope_overlap overlap = {0};
    enhope_status status = place_part(v, part, options);
    if (!status) status = enhope_model_overlap(part->session.ctx, part->session.model, part->session.data, &overlap);
    if (status) return cli_fail(part->session.ctx, status);
    part->trained = overlap.trained ? overlap.share : 0;
    const int code = v->classifies ? cli_session_true_classes(&part->session, &part->truth) : read_labels(v, part);
    for (int64_t i = 0; i < n && !code; i++) {
        part->labeled += part->truth[i] != -1;
        part->errors += is_wrong(part, i);
    }
    return code;
}

const view_part *view_part_of(const view *v, int64_t *row)
{
    const view_part *part = v->part;
    for (; *row >= part->session.data_info.n; part++) *row -= part->session.data_info.n;
    return part;
}

const view_part *view_point(const view *v, int64_t i, int64_t *row)
{
    *row = v->row[i];
    return view_part_of(v, row);
}

static bool is_error(const view *v, int64_t row)
{
    const view_part *part = view_part_of(v, &row);
    return is_wrong(part, row);
}

int32_t view_group_of(const view *v, int64_t row)
{
    const view_part *part = view_part_of(v, &row);
    const int32_t k = part->truth[row];
    return k >= 0 ? k : v->classes - 1 - k;
}

/* Selects about max_count of the `count` rows row[] (NULL: 0..count-1): the same fraction of every
 * class, evenly spaced in the order of the data. With errors_first, selects all errors, if they are
 * fewer than max_count, and then other rows. */
static int choose(const view *v, const int64_t *row, int64_t count, int64_t max_count, bool errors_first, int64_t **out,
                  int64_t *chosen)
{
    const int32_t groups = v->classes + 2;
    int64_t *seen = cli_alloc("classes", groups, 2, sizeof *seen), *size = seen ? seen + groups : NULL;
    int64_t *result = seen ? cli_alloc("points", count, 1, sizeof *result) : NULL;
    int64_t errors = 0;
    if (!result) {
        free(seen);
        return CLI_FAILED;
    }
    for (int64_t i = 0; i < count && errors_first; i++) errors += is_error(v, row ? row[i] : i);
    if (errors >= max_count) errors = 0;
    const int64_t others = count - errors;
    for (int64_t i = 0; i < count; i++)
        if (!errors || !is_error(v, row ? row[i] : i)) size[view_group_of(v, row ? row[i] : i)]++;
    *chosen = 0;
    for (int64_t i = 0; i < count; i++) {
        const int64_t at = row ? row[i] : i;
        bool keep = count <= max_count || (errors && is_error(v, at));
        if (!keep) {
            const int32_t k = view_group_of(v, at);
            const double share = fmax((double)(max_count - errors) / (double)others, 1 / (double)size[k]);
            keep = floor((double)(seen[k] + 1) * share + 1e-9) > floor((double)seen[k] * share + 1e-9);
            seen[k]++;
        }
        if (keep) result[(*chosen)++] = i;
    }
    free(seen);
    *out = result;
    return 0;
}

static void widen(view *v, const float *y)
{
    for (int d = 0; d < 2 && isfinite(y[0]) && isfinite(y[1]); d++) {
        v->low[d] = fmin(v->low[d], (double)y[d]);
        v->high[d] = fmax(v->high[d], (double)y[d]);
    }
}

static int choose_points(view *v, const cli_options *options)
{
    const int64_t h = v->session.model_info.outputs, r = v->session.model_info.references;
    int code = name_classes(v);
    for (int k = 0; k < v->parts && !code; k++) code = predict_part(v, &v->part[k], options);
    if (!code)
        code = choose(v, NULL, v->total, options->page.sample ? options->page.sample : SAMPLE, false, &v->row, &v->n);
    if (!code)
        code = choose(v, v->row, v->n, options->page.detail ? options->page.detail : DETAIL, true, &v->detail,
                      &v->details);
    if (options->page.bare) v->details = 0;
    if (!code && v->classifies && v->session.model_info.references_are_exemplars && r <= EXEMPLARS) {
        v->exemplar = cli_alloc("exemplars", r, h, sizeof *v->exemplar);
        v->exemplar_class = v->exemplar ? cli_alloc("exemplars", r, 1, sizeof *v->exemplar_class) : NULL;
        if (!v->exemplar_class) return CLI_FAILED;
        const enhope_status status =
            enhope_model_references(v->session.ctx, v->session.model, v->exemplar, v->exemplar_class);
        if (status) code = cli_fail(v->session.ctx, status);
    }
    v->low[0] = v->low[1] = INFINITY;
    v->high[0] = v->high[1] = -INFINITY;
    for (int64_t i = 0; i < v->n && !code; i++) {
        int64_t row = v->row[i];
        const view_part *part = view_part_of(v, &row);
        widen(v, part->p.Y + row * h);
    }
    for (int64_t j = 0; j < r && !code && v->exemplar; j++) widen(v, v->exemplar + j * h);
    const enhope_dataset_info *info = &v->part[0].session.data_info;
    v->words = info->kind == ENHOPE_CSR && !info->image_rows;
    return code;
}

/* ---- columns of a table ---- */

/* Whether a column of the model is not a number that is an input as it is. */
static bool has_encoded_columns(const enhope_model *model)
{
    enhope_column_info c;
    bool found = false;
    for (int64_t j = 0; !found && enhope_model_column(model, j, &c); j++)
        found = strcmp(c.type, "number") != 0 || c.inputs != 1 || c.offset != 0;
    return found;
}

/* Measures the importance of columns on the first part, if it is a labeled table of few columns. */
static int measure_importance(view *v)
{
    const view_part *part = &v->part[0];
    const int64_t columns = enhope_model_column_count(v->session.model);
    if (!v->classifies || part->session.data_info.image_rows || v->words || columns < 2 || columns > IMPORTANT)
        return 0;
    int64_t known = 0;
    for (int64_t i = 0; i < part->session.data_info.n; i++) known += part->truth[i] >= 0;
    if (known < 2) return 0;
    return cli_importance_compute(&part->session, IMPORTANCE_SAMPLES, IMPORTANCE_REPEATS, 1, NULL, NULL,
                                  &v->importance);
}

/* ---- the page ---- */

void view_begin(view *v, const cli_session *session)
{
    v->session = *session;
    v->encoded = has_encoded_columns(session->model);
}

void view_take(view *v, const cli_session *session, enhope_dataset *data)
{
    view_part *part = &v->part[v->parts++];
    view_begin(v, session);
    part->session = *session;
    part->session.data = data;
    enhope_dataset_get_info(data, &part->session.data_info);
    part->kind = 2;
    v->total = part->session.data_info.n;
}

int view_gather(view *v, const cli_options *options)
{
    const int code = choose_points(v, options);
    return code ? code : measure_importance(v);
}
