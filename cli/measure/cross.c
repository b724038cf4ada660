/* Cross-validation: divides the data into folds, and classifies each fold with a model that was
 * trained on the others. */
#define _DEFAULT_SOURCE 1
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "core/pool.h"
#include "measure/measure.h"

static int allocate(cli_cross *x)
{
    const double models = (double)x->repeats * x->folds, results = (double)x->repeats * (double)x->n;
    const double bytes = models * sizeof *x->seconds + results * (x->c * (double)sizeof *x->proba + sizeof *x->label);
    x->fold = cli_alloc("folds", x->repeats, x->n, sizeof *x->fold);
    if (!x->fold) return CLI_FAILED;
    x->bytes = (size_t)bytes;
    x->shared =
        bytes < 0x1p46 ? mmap(NULL, x->bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0) : MAP_FAILED;
    if (x->shared == MAP_FAILED) {
        x->shared = NULL;
        return cli_error("out of memory: predictions need %.0f bytes", bytes);
    }
    x->seconds = x->shared;
    x->proba = (float *)(void *)(x->seconds + (int64_t)x->repeats * x->folds);
    x->label = (int32_t *)(void *)(x->proba + (int64_t)x->repeats * x->n * x->c);
    return 0;
}

int cli_cross_open(cli_cross *cross, enhope_context *ctx, const enhope_dataset *data, int32_t folds, int32_t repeats,
                   int64_t seed, const int64_t *group)
{
    enhope_dataset_info info;
    enhope_dataset_get_info(data, &info);
    *cross = (cli_cross){.data = data,
                         .truth = enhope_dataset_labels(data),
                         .n = info.n,
                         .c = info.classes,
                         .folds = folds,
                         .repeats = repeats};
    const int code = allocate(cross);
    if (code) return code;
    for (int32_t r = 0; r < repeats; r++) {
        const enhope_status status =
            enhope_dataset_folds(ctx, data, folds, seed + r, group, cross->fold + (int64_t)r * info.n);
        if (status) return cli_fail(ctx, status);
    }
    return 0;
}

/* The rows in the fold, or the labeled rows in the others, as a data set. */
static enhope_status choose(const cli_cross *x, enhope_context *ctx, const int32_t *fold, int32_t f, bool others,
                            int64_t *rows, int64_t *count, enhope_dataset **out)
{
    *count = 0;
    for (int64_t i = 0; i < x->n; i++)
        if (fold[i] >= 0 && (fold[i] == f) != others) rows[(*count)++] = i;
    return enhope_dataset_select(ctx, x->data, rows, *count, out);
}

/* Classifies the rows, and stores the results in the numbering of the data. */
static enhope_status classify(const cli_cross *x, enhope_context *ctx, const enhope_model *model,
                              const enhope_dataset *data, int32_t repeat, const int64_t *rows, int64_t count)
{
    enhope_model_info info;
    enhope_model_get_info(model, &info);
    int32_t *number = calloc((size_t)info.classes + 1, sizeof *number); /* the data's class of a class of the model */
    enhope_prediction p = {.label = calloc((size_t)count + 1, sizeof *p.label),
                           .proba = calloc((size_t)count * (size_t)info.classes + 1, sizeof *p.proba)};
    enhope_status status = number && p.label && p.proba ? ENHOPE_OK : ENHOPE_ERROR_MEMORY;
    if (!status) status = enhope_model_predict(ctx, model, data, 0, &p);
    for (int32_t k = 0; k < info.classes && !status; k++)
        while (number[k] < x->c &&
               !cli_same_text(enhope_dataset_class_name(x->data, number[k]), enhope_model_class_name(model, k)))
            number[k]++;
    for (int64_t i = 0; i < count && !status; i++) {
        const int64_t at = (int64_t)repeat * x->n + rows[i];
        x->label[at] = number[p.label[i]];
        for (int32_t k = 0; k < info.classes; k++)
            if (number[k] < x->c) x->proba[at * x->c + number[k]] = p.proba[i * info.classes + k];
    }
    free(number);
    free(p.label);
    free(p.proba);
    return status;
}

enhope_status cli_cross_train(const cli_cross *cross, enhope_context *ctx, const enhope_settings *settings,
                              int32_t repeat, int32_t fold, enhope_progress_fn stop, void *user)
{
    const int32_t *folds = cross->fold + (int64_t)repeat * cross->n;
    int64_t *rows = calloc((size_t)cross->n, sizeof *rows), count = 0;
    enhope_dataset *data = NULL, *held_out = NULL;
    enhope_model *model = NULL;
    enhope_status status = rows ? choose(cross, ctx, folds, fold, true, rows, &count, &data) : ENHOPE_ERROR_MEMORY;
    const double start = cli_now();
    if (!status) status = enhope_train(ctx, data, settings, stop, user, &model);
    const double seconds = cli_now() - start;
    enhope_dataset_free(data);
    if (!status) status = choose(cross, ctx, folds, fold, false, rows, &count, &held_out);
    if (!status) status = classify(cross, ctx, model, held_out, repeat, rows, count);
    if (!status) cross->seconds[repeat * cross->folds + fold] = seconds > 0 ? seconds : 1e-9;
    enhope_dataset_free(held_out);
    enhope_model_free(model);
    free(rows);
    return status;
}

int cli_cross_scores(const cli_cross *cross, int32_t repeat, int32_t fold, cli_scores *out)
{
    const int64_t at = (int64_t)repeat * cross->n;
    return cli_scores_compute(cross->truth, cross->label + at, cross->proba + at * cross->c, cross->n, cross->c,
                              fold < 0 ? NULL : cross->fold + at, fold, out);
}

void cli_cross_close(cli_cross *cross)
{
    free(cross->fold);
    if (cross->shared) munmap(cross->shared, cross->bytes);
    *cross = (cli_cross){0};
}
