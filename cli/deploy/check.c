/* enhope export --check: compares an exported model with the library on data. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "deploy/export.h"

enum { ROWS = 1000 };             /* compared without --limit */
static const double TIE = 1e-5;   /* probabilities or relative distances that differ less are equal */
static const double WRONG = 1e-3; /* no rounding explains a larger difference */

static void rows_free(check_rows *rows)
{
    free(rows->x);
    free(rows->label);
    free(rows->proba);
    free(rows->Y);
}

static int rows_allocate(const cli_session *session, int64_t n, bool inputs, check_rows *rows)
{
    *rows = (check_rows){
        .n = n, .H = session->model_info.inputs, .h = session->model_info.outputs, .c = session->model_info.classes};
    if (inputs && !(rows->x = cli_alloc("rows", n, rows->H, sizeof *rows->x))) return CLI_FAILED;
    rows->label = cli_alloc("labels", n, 1, sizeof *rows->label);
    rows->proba = cli_alloc("probabilities", n, rows->c, sizeof *rows->proba);
    rows->Y = cli_alloc("the embedding", n, rows->h, sizeof *rows->Y);
    return rows->label && rows->proba && rows->Y ? 0 : CLI_FAILED;
}

/* ---- what the library computes ---- */

/* tie (n): whether two of the nearest references are equally far, so that their order depends on
 * rounding. Only for labels that are votes. */
static enhope_status find_ties(const cli_session *session, int32_t k, bool *tie, float *distance)
{
    const enhope_model_info *info = &session->model_info;
    const int32_t near = (int32_t)(k < info->references ? k + 1 : k);
    const enhope_status status = enhope_model_predict(session->ctx, session->model, session->data, near,
                                                      &(enhope_prediction){.neighbour_distance = distance});
    if (status) return status;
    for (int64_t i = 0; i < session->data_info.n; i++)
        for (int32_t j = 1; j < near; j++) {
            const double a = distance[i * near + j - 1], b = distance[i * near + j];
            if (b - a <= TIE * b) tie[i] = true;
        }
    return ENHOPE_OK;
}

static int library_rows(const cli_session *session, const enhope_export_options *export, bool *tie, check_rows *rows)
{
    const enhope_model_info *info = &session->model_info;
    const enhope_predictor_options options = {.precision = export->precision, .k = export->k};
    const enhope_prediction out = {.label = rows->label, .proba = rows->proba, .Y = rows->Y};
    enhope_predictor *predictor = NULL;
    enhope_status status = enhope_predictor_create(session->ctx, session->model, &options, &predictor);
    if (!status) status = enhope_predictor_predict(session->ctx, predictor, session->data, &out);
    enhope_predictor_free(predictor);
    for (int64_t i = 0; i < rows->n && !status; i++)
        status = enhope_dataset_row(session->ctx, session->data, i, rows->x + i * rows->H);
    if (!status && (export->k || info->votes)) {
        const int32_t k = export->k ? export->k : info->neighbours;
        float *distance = cli_alloc("distances", rows->n, k + 1, sizeof *distance);
        if (!distance) return CLI_FAILED;
        status = find_ties(session, k, tie, distance);
        free(distance);
    }
    return status ? cli_fail(session->ctx, status) : 0;
}

/* ---- comparison ---- */

static double largest_difference(const float *a, const float *b, int64_t n)
{
    double largest = 0;
    for (int64_t i = 0; i < n; i++) {
        const double size = fmax(1, fabs((double)a[i])), d = fabs((double)a[i] - (double)b[i]) / size;
        if (!(d <= largest)) largest = d; /* NaN stays */
    }
    return largest;
}

static int compare(const char *path, const check_rows *own, const bool *tie, const check_rows *other)
{
    const double places = largest_difference(own->Y, other->Y, own->n * own->h);
    const double shares = largest_difference(own->proba, other->proba, own->n * own->c);
    int64_t differ = 0, tied = 0;
    for (int64_t i = 0; i < own->n; i++) {
        const int32_t a = own->label[i], b = other->label[i];
        if (a == b) continue;
        const float *p = own->proba + i * own->c;
        const bool equal = tie[i] || (b >= 0 && b < own->c && fabs((double)p[a] - (double)p[b]) <= TIE);
        differ += !equal;
        tied += equal;
    }
    printf("%s: %lld rows with %s: the largest difference is %.2g in the embedding and %.2g in the probabilities; "
           "%lld labels differ",
           path, (long long)own->n, other->runtime, places, shares, (long long)differ);
    if (tied) printf(", and %lld between equally probable classes", (long long)tied);
    printf("\n");
    int64_t ties = 0;
    for (int64_t i = 0; i < own->n; i++) ties += tie[i];
    const bool good = differ == 0 && places <= WRONG && (shares <= WRONG || ties > 0);
    return good ? 0 : cli_error("%s: the exported model does not agree with the library", path);
}

int export_check(cli_session *session, const cli_options *options, const enhope_export_options *export)
{
    cli_options first = *options;
    check_rows own = {0}, other = {0};
    bool *tie = NULL;
    if (!first.source.limit) first.source.limit = ROWS;
    int code = cli_session_data(session, &first, options->data, "test");
    if (!code) code = cli_session_in_memory(session, options);
    const int64_t n = session->data_info.n;
    if (!code) code = rows_allocate(session, n, true, &own);
    if (!code) code = rows_allocate(session, n, false, &other);
    if (!code && !(tie = cli_alloc("ties", n, 1, sizeof *tie))) code = CLI_FAILED;
    if (!code) code = library_rows(session, export, tie, &own);
    other.x = own.x;
    if (!code) code = export_run(session, options, export, &other);
    if (!code) code = compare(options->output, &own, tie, &other);
    other.x = NULL;
    rows_free(&own);
    rows_free(&other);
    free(tie);
    return code;
}
