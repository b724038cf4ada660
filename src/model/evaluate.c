/* What a model is worth on labelled data: errors, how far its probabilities are right, and what is gained where it says
 * that it is not sure. */
#include <math.h>
#include <string.h>

#include "classify/sureness.h"
#include "data/data.h"
#include "data/store.h"
#include "model/json.h"
#include "model/model.h"

enhope_status eh_model_match_class(enhope_context *ctx, const enhope_model *model, const enhope_dataset *data,
                                   int32_t k, int32_t *out)
{
    const char *name = data->class_name[k];
    char *utf8 = eh_json_utf8(name);
    if (!utf8) return eh_fail_memory(ctx, "a class name", strlen(name) + 1, 1);
    *out = -1;
    for (int32_t i = 0; i < model->c && *out < 0; i++) {
        const int32_t guess = (int32_t)(((int64_t)k + i) % model->c); /* mostly they are numbered alike */
        if (!strcmp(model->class_name[guess], name) || !strcmp(model->class_name[guess], utf8)) *out = guess;
    }
    eh_free(utf8);
    return ENHOPE_OK;
}

/* Samples without a label cannot be judged and are left out: *rows are the others; NULL: all have labels. */
static enhope_status labelled_rows(enhope_context *ctx, const enhope_dataset *data, int64_t **rows, int64_t *n)
{
    int64_t count = 0;
    for (int64_t i = 0; data->label && i < data->x.n; i++) count += data->label[i] >= 0;
    *n = count;
    if (count == data->x.n || count == 0) return ENHOPE_OK;
    EH_TRY(eh_new(ctx, "row numbers", count, sizeof **rows, (void **)rows));
    count = 0;
    for (int64_t i = 0; i < data->x.n; i++)
        if (data->label[i] >= 0) (*rows)[count++] = i;
    return ENHOPE_OK;
}

/* How many samples have labels; streamed data is read for them. */
static enhope_status count_labelled(enhope_context *ctx, const enhope_dataset *data, int64_t *n)
{
    enhope_status status = ENHOPE_OK;
    enum { STEP = 1 << 16 };
    eh_block b = {.label = NULL};
    *n = 0;
    for (int64_t i = 0; data->label && i < data->x.n; i++) *n += data->label[i] >= 0;
    if (data->store && data->store->labelled) {
        EH_CHECK(eh_new(ctx, "labels", STEP, sizeof *b.label, (void **)&b.label));
        b.x = (eh_matrix){.kind = data->x.kind, .n = STEP, .H = data->x.H};
        for (int64_t first = 0; first < data->x.n; first += STEP) {
            const int64_t count = data->x.n - first < STEP ? data->x.n - first : STEP;
            EH_CHECK(eh_store_read(ctx, data->store, first, count, &b, 0, false));
            for (int64_t i = 0; i < count; i++) *n += b.label[i] >= 0;
        }
    }
    if (*n == 0)
        EH_CHECK(eh_fail(ctx, ENHOPE_ERROR_DATA, "data has no labels: there is nothing to compare predictions with"));
cleanup:
    eh_block_free(&b);
    return status;
}

/* The labelled samples of the data, what is true of them and what the model says. */
typedef struct answers {
    int64_t *rows; /* (n) NULL: all */
    int64_t n;
    int32_t *truth; /* (n) the model's number; -1: a class that it does not know */
    enhope_prediction said;
} answers;

static void answers_free(answers *a)
{
    eh_free(a->rows);
    eh_free(a->truth);
    eh_free(a->said.label);
    eh_free(a->said.proba);
    eh_free(a->said.margin);
    eh_free(a->said.distance);
}

/* known (c of the data): the model's number of each class. */
static enhope_status match_classes(enhope_context *ctx, const enhope_model *model, const enhope_dataset *data,
                                   int32_t **known)
{
    EH_TRY(eh_new(ctx, "the classes", data->c, sizeof **known, (void **)known));
    for (int32_t i = 0; i < data->c; i++) EH_TRY(eh_model_match_class(ctx, model, data, i, &(*known)[i]));
    return ENHOPE_OK;
}

/* Room for what the model will be asked. */
static enhope_status make_room(enhope_context *ctx, const enhope_model *model, const enhope_evaluation *e, answers *a)
{
    const enhope_sureness by = e->rejection ? e->rejection->by : ENHOPE_BY_PROBABILITY;
    int64_t shares;
    EH_TRY(eh_new(ctx, "the true classes", a->n, sizeof *a->truth, (void **)&a->truth));
    if (!eh_mul(a->n, model->c, &shares))
        return eh_fail_memory(ctx, "the probabilities", (size_t)a->n, (size_t)model->c);
    EH_TRY(eh_new(ctx, "the predictions", a->n, sizeof *a->said.label, (void **)&a->said.label));
    if (e->calibration || (e->rejection && by == ENHOPE_BY_PROBABILITY))
        EH_TRY(eh_new(ctx, "the probabilities", shares, sizeof *a->said.proba, (void **)&a->said.proba));
    if (by == ENHOPE_BY_MARGIN)
        EH_TRY(eh_new(ctx, "the margins", a->n, sizeof *a->said.margin, (void **)&a->said.margin));
    if (by == ENHOPE_BY_DISTANCE)
        EH_TRY(eh_new(ctx, "the distances", a->n, sizeof *a->said.distance, (void **)&a->said.distance));
    return ENHOPE_OK;
}

static void count_errors(const answers *a, int64_t c, enhope_evaluation *out)
{
    out->n += a->n;
    for (int64_t i = 0; i < a->n; i++) {
        const int32_t truth = a->truth[i], label = a->said.label[i];
        out->unknown += truth < 0;
        out->errors += truth != label;
        if (out->confusion && truth >= 0) out->confusion[truth * c + label]++;
    }
}

/* Larger is surer. */
static float sureness(const answers *a, enhope_sureness by, int64_t i, int32_t c)
{
    const float sure = by == ENHOPE_BY_DISTANCE ? -a->said.distance[i]
                       : by == ENHOPE_BY_MARGIN ? a->said.margin[i]
                                                : a->said.proba[i * c + a->said.label[i]];
    return isnan(sure) ? -INFINITY : sure;
}

static void reject(eh_judged *s, int64_t n, enhope_rejection *out)
{
    out->area = eh_coverage(s, n, out->row, out->rows);
    for (int i = 0; i < out->rows && out->by == ENHOPE_BY_DISTANCE; i++) out->row[i].threshold *= -1;
}

/* Adds what the model says of some of `all` samples; judged (the block's, unless NULL) is set. */
static enhope_status evaluate_block(enhope_context *ctx, const enhope_model *model, const enhope_dataset *data,
                                    int32_t k, const int32_t *known, int64_t all, eh_judged *judged,
                                    enhope_evaluation *sum)
{
    enhope_status status;
    answers a = {0};
    double seconds = 0;
    EH_CHECK(labelled_rows(ctx, data, &a.rows, &a.n));
    if (a.n == 0) goto cleanup;
    EH_CHECK(make_room(ctx, model, sum, &a));
    for (int64_t i = 0; i < a.n; i++) a.truth[i] = known[data->label[a.rows ? a.rows[i] : i]];
    EH_CHECK(eh_model_predict(ctx, model, data, a.rows, a.n, k, &a.said, &seconds));
    if (a.n > all - sum->n) EH_CHECK(eh_fail(ctx, ENHOPE_ERROR_DATA, "the labels have changed while they were read"));
    if (judged)
        for (int64_t i = 0; i < a.n; i++)
            judged[sum->n + i] = (eh_judged){.sure = sureness(&a, sum->rejection->by, i, model->c),
                                             .wrong = a.said.label[i] != a.truth[i]};
    count_errors(&a, model->c, sum);
    sum->seconds += seconds;
    if (sum->calibration) eh_calibration_add(a.said.proba, a.said.label, a.truth, a.n, model->c, all, sum->calibration);
cleanup:
    answers_free(&a);
    return status;
}

enhope_status enhope_model_evaluate(enhope_context *ctx, const enhope_model *model, const enhope_dataset *data,
                                    int32_t k, enhope_evaluation *out)
{
    enhope_status status;
    enhope_calibration calibration = {0};
    enhope_evaluation result = {.rejection = out->rejection, .calibration = out->calibration ? &calibration : NULL};
    const int64_t cells = (int64_t)model->c * model->c;
    const int64_t step = data->store ? eh_dataset_step(ctx, data) : data->x.n;
    int32_t *known = NULL;
    eh_judged *judged = NULL; /* (n) */
    enhope_dataset *block = NULL;
    int64_t n;
    EH_CHECK(count_labelled(ctx, data, &n));
    EH_CHECK(match_classes(ctx, model, data, &known));
    if (out->confusion)
        EH_CHECK(eh_new(ctx, "confusions", cells, sizeof *result.confusion, (void **)&result.confusion));
    if (out->rejection) EH_CHECK(eh_new(ctx, "the predictions", n, sizeof *judged, (void **)&judged));
    for (int64_t first = 0; first < data->x.n; first += step) {
        const int64_t count = data->x.n - first < step ? data->x.n - first : step;
        if (data->store) EH_CHECK(enhope_dataset_block(ctx, data, first, count, &block));
        EH_CHECK(evaluate_block(ctx, model, block ? block : data, k, known, n, judged, &result));
        enhope_dataset_free(block);
        block = NULL;
    }
    if (out->calibration) {
        eh_calibration_end(n, &calibration);
        *out->calibration = calibration;
    }
    if (out->rejection) reject(judged, n, out->rejection);
    if (out->confusion) memcpy(out->confusion, result.confusion, (size_t)cells * sizeof *out->confusion);
    out->n = result.n;
    out->errors = result.errors;
    out->unknown = result.unknown;
    out->seconds = result.seconds;
cleanup:
    enhope_dataset_free(block);
    eh_free(result.confusion);
    eh_free(judged);
    eh_free(known);
    return status;
}
