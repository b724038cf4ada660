/* What a model is worth on labelled data: errors, how far its probabilities are right, and what is gained where it says
 * that it is not sure. */
#include <math.h>
#include <string.h>

#include "classify/sureness.h"
#include "data/data.h"
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
    if (count == 0)
        return eh_fail(ctx, ENHOPE_ERROR_DATA, "data has no labels: there is nothing to compare predictions with");
    *n = count;
    if (count == data->x.n) return ENHOPE_OK;
    EH_TRY(eh_new(ctx, "row numbers", count, sizeof **rows, (void **)rows));
    count = 0;
    for (int64_t i = 0; i < data->x.n; i++)
        if (data->label[i] >= 0) (*rows)[count++] = i;
    return ENHOPE_OK;
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

static enhope_status find_truth(enhope_context *ctx, const enhope_model *model, const enhope_dataset *data, answers *a)
{
    int32_t *known = NULL; /* (c of the data) */
    enhope_status status;
    EH_CHECK(eh_new(ctx, "the classes", data->c, sizeof *known, (void **)&known));
    EH_CHECK(eh_new(ctx, "the true classes", a->n, sizeof *a->truth, (void **)&a->truth));
    for (int32_t i = 0; i < data->c; i++) EH_CHECK(eh_model_match_class(ctx, model, data, i, &known[i]));
    for (int64_t i = 0; i < a->n; i++) a->truth[i] = known[data->label[a->rows ? a->rows[i] : i]];
cleanup:
    eh_free(known);
    return status;
}

/* Room for what the model will be asked. */
static enhope_status make_room(enhope_context *ctx, const enhope_model *model, const enhope_evaluation *e, answers *a)
{
    const enhope_sureness by = e->rejection ? e->rejection->by : ENHOPE_BY_PROBABILITY;
    int64_t shares;
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
    out->n = a->n;
    if (out->confusion) memset(out->confusion, 0, (size_t)(c * c) * sizeof *out->confusion);
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

static void reject(const answers *a, int32_t c, eh_judged *s, enhope_rejection *out)
{
    for (int64_t i = 0; i < a->n; i++)
        s[i] = (eh_judged){.sure = sureness(a, out->by, i, c), .wrong = a->said.label[i] != a->truth[i]};
    out->area = eh_coverage(s, a->n, out->row, out->rows);
    for (int i = 0; i < out->rows && out->by == ENHOPE_BY_DISTANCE; i++) out->row[i].threshold *= -1;
}

enhope_status enhope_model_evaluate(enhope_context *ctx, const enhope_model *model, const enhope_dataset *data,
                                    int32_t k, enhope_evaluation *out)
{
    enhope_status status;
    enhope_evaluation result = {
        .confusion = out->confusion, .calibration = out->calibration, .rejection = out->rejection};
    answers a = {0};
    eh_judged *judged = NULL; /* (n) */
    EH_CHECK(labelled_rows(ctx, data, &a.rows, &a.n));
    EH_CHECK(find_truth(ctx, model, data, &a));
    EH_CHECK(make_room(ctx, model, &result, &a));
    if (result.rejection) EH_CHECK(eh_new(ctx, "the predictions", a.n, sizeof *judged, (void **)&judged));
    EH_CHECK(eh_model_predict(ctx, model, data, a.rows, a.n, k, &a.said, &result.seconds));
    count_errors(&a, model->c, &result);
    if (result.calibration) eh_calibration(a.said.proba, a.said.label, a.truth, a.n, model->c, result.calibration);
    if (result.rejection) reject(&a, model->c, judged, result.rejection);
    *out = result;
cleanup:
    eh_free(judged);
    answers_free(&a);
    return status;
}
