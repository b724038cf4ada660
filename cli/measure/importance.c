/* Permutation importance: how much worse the predictions become if the values of a column are
 * exchanged between the samples. All inputs of a column move together. */
#define _DEFAULT_SOURCE 1
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/pool.h"
#include "measure/measure.h"

enum { MAX_SAMPLES = 10000, MAX_BLOCKS = 256 };

static uint64_t splitmix64(uint64_t *state)
{
    uint64_t z = *state += 0x9E3779B97F4A7C15u;
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9u;
    z = (z ^ z >> 27) * 0x94D049BB133111EBu;
    return z ^ z >> 31;
}

static void shuffle(uint64_t seed, int64_t n, int64_t *rows)
{
    for (int64_t i = n - 1; i > 0; i--) {
        const int64_t j = (int64_t)(splitmix64(&seed) % (uint64_t)(i + 1));
        const int64_t t = rows[i];
        rows[i] = rows[j];
        rows[j] = t;
    }
}

/* ---- columns ---- */

/* Images of many pixels are divided into square blocks, at most MAX_BLOCKS. */
static int64_t block_size(const enhope_model_info *info)
{
    int64_t size = 1;
    if (!info->image_rows) return 0;
    while (((info->image_rows + size - 1) / size) * ((info->image_columns + size - 1) / size) > MAX_BLOCKS) size++;
    return size;
}

static int list_blocks(const enhope_model_info *info, int64_t size, cli_importance *out)
{
    const int64_t across = (info->image_columns + size - 1) / size, down = (info->image_rows + size - 1) / size;
    out->columns = down * across;
    out->column = cli_alloc("columns", out->columns, 1, sizeof *out->column);
    out->input = cli_alloc("inputs", info->inputs, 1, sizeof *out->input);
    if (!out->column || !out->input) return CLI_FAILED;
    int64_t used = 0;
    for (int64_t b = 0; b < out->columns; b++) {
        cli_column *column = &out->column[b];
        const int64_t top = b / across * size, left = b % across * size;
        const int64_t bottom = top + size < info->image_rows ? top + size : info->image_rows;
        const int64_t right = left + size < info->image_columns ? left + size : info->image_columns;
        column->first = used;
        for (int64_t i = top; i < bottom; i++)
            for (int64_t j = left; j < right; j++) out->input[used++] = i * info->image_columns + j;
        column->inputs = used - column->first;
        snprintf(column->name, sizeof column->name, "rows %lld-%lld, columns %lld-%lld", (long long)top + 1,
                 (long long)bottom, (long long)left + 1, (long long)right);
    }
    return 0;
}

/* The columns of the training data; those that training did not use have no inputs and are left
 * out. */
static int list_columns(const cli_session *session, cli_importance *out)
{
    const int64_t H = session->model_info.inputs, columns = enhope_model_column_count(session->model);
    out->column = cli_alloc("columns", columns, 1, sizeof *out->column);
    out->input = cli_alloc("inputs", H, 1, sizeof *out->input);
    if (!out->column || !out->input) return CLI_FAILED;
    for (int64_t j = 0; j < H; j++) out->input[j] = j;
    for (int64_t j = 0; j < columns; j++) {
        enhope_column_info info;
        if (!enhope_model_column(session->model, j, &info) || !info.inputs) continue;
        cli_column *column = &out->column[out->columns++];
        column->first = info.first;
        column->inputs = info.inputs;
        if (info.name)
            snprintf(column->name, sizeof column->name, "%s", info.name);
        else
            snprintf(column->name, sizeof column->name, "input %lld", (long long)j + 1);
    }
    return 0;
}

/* ---- samples ---- */

/* The labeled samples of classes that the model knows, a seeded choice of at most `limit`. */
static int choose_samples(const cli_session *session, int64_t limit, int64_t seed, cli_importance *out)
{
    int32_t *truth = NULL;
    int64_t *rows = NULL, n = 0;
    int code = cli_session_true_classes(session, &truth);
    if (!code && !(rows = cli_alloc("rows", session->data_info.n, 1, sizeof *rows))) code = CLI_FAILED;
    for (int64_t i = 0; i < session->data_info.n && !code; i++)
        if (truth[i] >= 0) rows[n++] = i;
    if (!code && n < 2) code = cli_error("the data has fewer than two labeled samples of the model's classes");
    if (!code && n > limit) {
        shuffle((uint64_t)seed, n, rows);
        n = limit;
    }
    if (!code && !(out->truth = cli_alloc("labels", n, 1, sizeof *out->truth))) code = CLI_FAILED;
    for (int64_t i = 0; i < n && !code; i++) out->truth[i] = truth[rows[i]];
    out->n = n;
    if (!code) {
        const enhope_status status = enhope_dataset_select(session->ctx, session->data, rows, n, &out->data);
        if (status) code = cli_fail(session->ctx, status);
    }
    free(truth);
    free(rows);
    return code;
}

static int classify(const cli_session *session, const cli_importance *x, const enhope_dataset *data, cli_scores *scores)
{
    const int32_t c = session->model_info.classes;
    enhope_prediction p = {.label = cli_alloc("labels", x->n, 1, sizeof *p.label),
                           .proba = cli_alloc("probabilities", x->n, c, sizeof *p.proba)};
    int code = p.label && p.proba ? 0 : CLI_FAILED;
    if (!code) {
        const enhope_status status = enhope_model_predict(session->ctx, session->model, data, 0, &p);
        if (status) code = cli_fail(session->ctx, status);
    }
    if (!code) code = cli_scores_compute(x->truth, p.label, p.proba, x->n, c, NULL, 0, scores);
    free(p.label);
    free(p.proba);
    return code;
}

/* ---- importance ---- */

/* Permutes the column in a repeat and adds the increases of error and log loss. */
static int measure(const cli_session *session, const cli_importance *x, int64_t j, int32_t repeat, int64_t *rows,
                   double sums[4])
{
    const cli_column *column = &x->column[j];
    uint64_t seed = (uint64_t)x->seed + 0x632BE59BD9B4E019u * (uint64_t)(j + 1) + (uint64_t)repeat;
    cli_scores scores;
    enhope_dataset *permuted = NULL;
    for (int64_t i = 0; i < x->n; i++) rows[i] = i;
    shuffle(splitmix64(&seed), x->n, rows);
    const enhope_status status =
        enhope_dataset_permute(session->ctx, x->data, x->input + column->first, column->inputs, rows, &permuted);
    if (status) return cli_fail(session->ctx, status);
    const int code = classify(session, x, permuted, &scores);
    enhope_dataset_free(permuted);
    if (code) return code;
    const double error = scores.error - x->base.error, loss = scores.log_loss - x->base.log_loss;
    sums[0] += error, sums[1] += error * error;
    sums[2] += loss, sums[3] += loss * loss;
    return 0;
}

static double deviation(double sum, double squares, int32_t n)
{
    return n > 1 ? sqrt(fmax(0, (squares - sum * sum / n) / (n - 1))) : NAN;
}

static int by_importance(const void *a, const void *b)
{
    const cli_column *x = a, *y = b;
    if (x->error != y->error) return x->error > y->error ? -1 : 1;
    if (x->loss != y->loss) return x->loss > y->loss ? -1 : 1;
    return x->first < y->first ? -1 : 1;
}

static int measure_all(const cli_session *session, cli_importance *x, cli_importance_fn progress, void *user)
{
    int64_t *rows = cli_alloc("rows", x->n, 1, sizeof *rows);
    int code = rows ? 0 : CLI_FAILED;
    const double start = cli_now();
    for (int64_t j = 0; j < x->columns && !code; j++) {
        double sums[4] = {0};
        cli_column *column = &x->column[j];
        for (int32_t r = 0; r < x->repeats && !code; r++) code = measure(session, x, j, r, rows, sums);
        column->error = sums[0] / x->repeats;
        column->error_sd = deviation(sums[0], sums[1], x->repeats);
        column->loss = sums[2] / x->repeats;
        column->loss_sd = deviation(sums[2], sums[3], x->repeats);
        const double share = (double)(j + 1) / (double)x->columns, spent = cli_now() - start;
        if (!code && progress) code = progress(share, j + 1, spent / share - spent, user);
    }
    free(rows);
    return code;
}

int cli_importance_compute(const cli_session *session, int64_t limit, int32_t repeats, int64_t seed,
                           cli_importance_fn progress, void *user, cli_importance *out)
{
    const int64_t size = block_size(&session->model_info);
    const int64_t max_samples = limit > 0 ? limit : MAX_SAMPLES;
    *out = (cli_importance){.repeats = repeats, .seed = seed};
    int code = choose_samples(session, max_samples, seed, out);
    if (!code) code = size > 1 ? list_blocks(&session->model_info, size, out) : list_columns(session, out);
    const double start = cli_now();
    if (!code) code = classify(session, out, out->data, &out->base);
    const double seconds = (cli_now() - start) * (double)out->columns * repeats;
    if (!code && seconds > CLI_IMPORTANCE_MINUTES * 60 && limit <= 0)
        code = cli_error("%lld columns would take about %.0f minutes; use fewer samples (--limit N) or --repeats 1",
                         (long long)out->columns, seconds / 60);
    if (!code) code = measure_all(session, out, progress, user);
    if (!code) qsort(out->column, (size_t)out->columns, sizeof *out->column, by_importance);
    return code;
}

void cli_importance_free(cli_importance *x)
{
    enhope_dataset_free(x->data);
    free(x->column);
    free(x->input);
    free(x->truth);
    *x = (cli_importance){0};
}
