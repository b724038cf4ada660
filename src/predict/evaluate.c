/* Evaluates a model on labeled data: errors, calibration of the probabilities, metrics, and
 * rejection of samples of low confidence. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "classify/confidence.h"
#include "comm/comm.h"
#include "data/data.h"
#include "data/frame/frame.h"
#include "data/store/store.h"
#include "predict/predict.h"
#include "predict/scores.h"

/* ---- predictions ---- */

enum { NO_LABEL = -2 }; /* as a truth: the sample has no label and is skipped */

/* The result of one sample. */
typedef struct result {
    int32_t truth; /* the model's number of the class; -1: a class that the model does not have */
    int32_t label;
    float true_p, confidence; /* the probabilities of both, if requested */
    float score;              /* larger is more confident; if rejection is requested */
} result;

/* One evaluation. In each round, every rank predicts `step` rows. The ranks gather the results,
 * so every rank adds the same results in the same order. */
typedef struct evaluation {
    enhope_context *ctx;
    const enhope_model *model;
    enhope_predictor *predictor; /* NULL: a pass predicts */
    const enhope_dataset *data;
    int32_t k;
    int64_t labeled, step;
    int32_t *known;                      /* (c of the data) the model's number of each class */
    result *results;                     /* (a round's rows) */
    int64_t *offset;                     /* (ranks + 1) offsets of each rank's results, in bytes */
    eh_decision *decisions;              /* (labeled) if rejection is requested */
    eh_scores scores;                    /* the next two if metrics are requested */
    enhope_class_metrics *class_metrics; /* (c of the model) */
    enhope_evaluation sum;
} evaluation;

static void evaluation_free(evaluation *v)
{
    enhope_predictor_free(v->predictor);
    eh_free(v->known);
    eh_free(v->results);
    eh_free(v->offset);
    eh_free(v->decisions);
    eh_free(v->sum.confusion);
    eh_scores_free(&v->scores);
    eh_free(v->class_metrics);
}

/* The labeled samples of a run of rows, and memory for their predictions. */
typedef struct query {
    int64_t *rows; /* (n) */
    int64_t n;
    enhope_prediction prediction;
} query;

static void query_free(query *q)
{
    eh_free(q->rows);
    eh_free(q->prediction.label);
    eh_free(q->prediction.proba);
    eh_free(q->prediction.margin);
    eh_free(q->prediction.distance);
}

static enhope_status query_rows(enhope_context *ctx, const enhope_dataset *data, int64_t first, int64_t count, query *q)
{
    EH_TRY(eh_new(ctx, "row numbers", count, sizeof *q->rows, (void **)&q->rows));
    for (int64_t i = first; data->label && i < first + count; i++)
        if (data->label[i] >= 0) q->rows[q->n++] = i;
    return ENHOPE_OK;
}

static enhope_status query_allocate(const evaluation *v, query *q)
{
    enhope_context *ctx = v->ctx;
    const enhope_rejection *rejection = v->sum.rejection;
    const enhope_confidence by = rejection ? rejection->by : ENHOPE_CONFIDENCE_PROBABILITY;
    int64_t shares;
    if (!eh_mul(q->n, v->model->c, &shares))
        return eh_fail_memory(ctx, "the probabilities", (size_t)q->n, (size_t)v->model->c);
    EH_TRY(eh_new(ctx, "the predictions", q->n, sizeof *q->prediction.label, (void **)&q->prediction.label));
    if (v->sum.calibration || v->sum.metrics || (rejection && by == ENHOPE_CONFIDENCE_PROBABILITY))
        EH_TRY(eh_new(ctx, "the probabilities", shares, sizeof *q->prediction.proba, (void **)&q->prediction.proba));
    if (by == ENHOPE_CONFIDENCE_MARGIN)
        EH_TRY(eh_new(ctx, "the margins", q->n, sizeof *q->prediction.margin, (void **)&q->prediction.margin));
    if (by == ENHOPE_CONFIDENCE_DISTANCE)
        EH_TRY(eh_new(ctx, "the distances", q->n, sizeof *q->prediction.distance, (void **)&q->prediction.distance));
    return ENHOPE_OK;
}

static result result_of(const query *q, int64_t i, int32_t truth, int32_t c, enhope_confidence by)
{
    const int32_t label = q->prediction.label[i];
    const float *p = q->prediction.proba ? q->prediction.proba + i * c : NULL;
    result a = {.truth = truth, .label = label};
    if (p) a.true_p = truth < 0 ? 0 : p[truth];
    if (p) a.confidence = p[label];
    a.score = by == ENHOPE_CONFIDENCE_DISTANCE ? -q->prediction.distance[i]
              : by == ENHOPE_CONFIDENCE_MARGIN ? q->prediction.margin[i]
                                               : a.confidence;
    if (isnan(a.score)) a.score = -INFINITY;
    return a;
}

/* Predicts rows first .. first + count of data, which is the whole data or a block. Their results
 * go to the rows of the round from `to` on. */
static enhope_status predict(evaluation *v, const enhope_dataset *data, int64_t first, int64_t count, int64_t to)
{
    const int32_t c = v->model->c;
    result *results = v->results + to;
    const enhope_confidence by = v->sum.rejection ? v->sum.rejection->by : ENHOPE_CONFIDENCE_PROBABILITY;
    enhope_status status;
    query q = {0};
    double seconds = 0;
    for (int64_t i = 0; i < count; i++) results[i] = (result){.truth = NO_LABEL};
    EH_CHECK(query_rows(v->ctx, data, first, count, &q));
    if (q.n == 0) goto cleanup;
    EH_CHECK(query_allocate(v, &q));
    const bool all = first == 0 && q.n == count;
    EH_CHECK(eh_predict_block(v->ctx, v->predictor, v->model, data, all ? NULL : q.rows, q.n, v->k, &q.prediction,
                              &seconds));
    if (v->sum.metrics && v->sum.metrics->cost)
        enhope_labels_by_cost(q.prediction.proba, q.n, c, v->sum.metrics->cost, q.prediction.label);
    for (int64_t i = 0; i < q.n; i++) {
        const int64_t row = q.rows[i] - first;
        results[row] = result_of(&q, i, v->known[data->label[q.rows[i]]], c, by);
        if (v->sum.metrics) eh_scores_set(&v->scores, to + row, q.prediction.proba + i * c);
    }
    v->sum.seconds += seconds;
cleanup:
    query_free(&q);
    return status;
}

/* The same for data that may be streamed. */
static enhope_status predict_rows(evaluation *v, int64_t first, int64_t count, int64_t to)
{
    enhope_dataset *block = NULL;
    if (count <= 0) return ENHOPE_OK;
    if (!v->data->store) return predict(v, v->data, first, count, to);
    EH_TRY(enhope_dataset_block(v->ctx, v->data, first, count, &block));
    const enhope_status status = predict(v, block, 0, count, to);
    enhope_dataset_free(block);
    return status;
}

/* ---- sums ---- */

/* Adds a row of the round. */
static void add_result(evaluation *v, int64_t row)
{
    const result *a = &v->results[row];
    enhope_evaluation *sum = &v->sum;
    const bool right = a->truth == a->label;
    if (v->decisions) v->decisions[sum->n] = (eh_decision){.confidence = a->score, .wrong = !right};
    if (sum->calibration) eh_calibration_add(a->true_p, a->confidence, right, v->labeled, sum->calibration);
    if (sum->confusion && a->truth >= 0) sum->confusion[(int64_t)a->truth * v->model->c + a->label]++;
    if (sum->metrics) eh_scores_add(&v->scores, sum->n, row, a->truth, a->label);
    sum->n++;
    sum->unknown += a->truth < 0;
    sum->errors += !right;
}

/* Evaluates the rows from `first` on, a run for each rank. */
static enhope_status evaluate_round(evaluation *v, int64_t first)
{
    const int rank = eh_comm_rank(v->ctx), ranks = eh_comm_ranks(v->ctx);
    const int64_t rows = eh_min(ranks * v->step, v->data->x.n - first);
    const int64_t from = eh_min(rank * v->step, rows), to = eh_min(from + v->step, rows);
    EH_TRY(eh_comm_check(v->ctx, predict_rows(v, first + from, to - from, from)));
    for (int r = 0; r <= ranks; r++) v->offset[r] = eh_min(r * v->step, rows) * (int64_t)sizeof *v->results;
    eh_comm_gather(v->ctx, v->results, v->offset);
    if (v->sum.metrics) eh_scores_gather(v->ctx, &v->scores, v->step, rows);
    EH_TRY(eh_comm_check(v->ctx, ENHOPE_OK)); /* fails if the gather failed on a rank */
    for (int64_t i = 0; i < rows; i++) {
        if (v->results[i].truth == NO_LABEL) continue;
        if (v->sum.n == v->labeled)
            return eh_fail(v->ctx, ENHOPE_ERROR_DATA,
                           "the labels changed while they were read; do not change the files during evaluation");
        add_result(v, i);
    }
    return ENHOPE_OK;
}

/* Counts the rows of a run that have labels. Streamed data is read. */
static enhope_status count_labels(enhope_context *ctx, const enhope_dataset *data, int64_t first, int64_t end,
                                  int64_t *n)
{
    enhope_status status = ENHOPE_OK;
    enum { STEP = 1 << 16 };
    eh_block b = {.label = NULL};
    *n = 0;
    for (int64_t i = first; data->label && i < end; i++) *n += data->label[i] >= 0;
    if (data->store && data->store->labeled) {
        EH_CHECK(eh_new(ctx, "labels", STEP, sizeof *b.label, (void **)&b.label));
        b.x = (eh_matrix){.kind = data->x.kind, .n = STEP, .H = data->x.H};
        for (int64_t at = first; at < end; at += STEP) {
            const int64_t count = eh_min(STEP, end - at);
            EH_CHECK(eh_store_read(ctx, data->store, at, count, &b, 0, false));
            for (int64_t i = 0; i < count; i++) *n += b.label[i] >= 0;
        }
    }
cleanup:
    eh_block_free(&b);
    return status;
}

/* Counts the labeled rows of all data. Each rank counts a share. */
static enhope_status count_labeled(evaluation *v)
{
    const int64_t rank = eh_comm_rank(v->ctx), ranks = eh_comm_ranks(v->ctx), n = v->data->x.n;
    EH_TRY(eh_comm_check(v->ctx, count_labels(v->ctx, v->data, eh_chunk_start(n, rank, ranks),
                                              eh_chunk_start(n, rank + 1, ranks), &v->labeled)));
    v->labeled = eh_comm_sum(v->ctx, v->labeled);
    if (v->labeled > 0) return ENHOPE_OK;
    return eh_fail(v->ctx, ENHOPE_ERROR_DATA, "the data has no labels to compare predictions with; add labels");
}

/* ---- comparison of ranks ---- */

enum { SAMPLES, INPUTS, CLASSES, LABELS, STREAMED, MODEL, OUTPUTS, FACTS };
static const char *const fact_name[FACTS] = {
    "the number of samples", "the number of inputs", "the classes", "the labels", "streaming of the data", "the model",
    "the requested outputs"};

static void take_facts(const evaluation *v, uint64_t *fact)
{
    const enhope_dataset *d = v->data;
    const int outputs[] = {v->k, v->sum.calibration != NULL, v->sum.confusion != NULL,
                           v->sum.rejection ? (int)v->sum.rejection->by : -1, v->sum.metrics != NULL};
    const float *cost = v->sum.metrics ? v->sum.metrics->cost : NULL;
    memset(fact, 0, FACTS * sizeof *fact);
    fact[SAMPLES] = (uint64_t)d->x.n;
    fact[INPUTS] = (uint64_t)d->x.H;
    for (int32_t i = 0; i < d->c; i++)
        fact[CLASSES] = eh_hash(fact[CLASSES], d->class_name[i], strlen(d->class_name[i]) + 1);
    if (d->label) fact[LABELS] = eh_hash(0, d->label, (size_t)d->x.n * sizeof *d->label);
    fact[STREAMED] = d->store != NULL;
    fact[MODEL] = eh_model_hash(v->model);
    fact[OUTPUTS] = eh_hash(0, outputs, sizeof outputs);
    if (cost) fact[OUTPUTS] = eh_hash(fact[OUTPUTS], cost, (size_t)v->model->c * sizeof *cost);
}

static enhope_status check_ranks(const evaluation *v)
{
    uint64_t own[FACTS], first[FACTS];
    enhope_status status = ENHOPE_OK;
    if (eh_comm_ranks(v->ctx) == 1) return ENHOPE_OK;
    take_facts(v, own);
    memcpy(first, own, sizeof first);
    eh_comm_broadcast(v->ctx, first, sizeof first);
    for (int i = 0; i < FACTS && !status; i++)
        if (own[i] != first[i])
            status = eh_fail(v->ctx, ENHOPE_ERROR_DATA, "this rank and rank 0 differ in %s; give all ranks the same",
                             fact_name[i]);
    return eh_comm_check(v->ctx, status);
}

/* ---- evaluation ---- */

/* Fails if the model knows the class of no sample. */
static enhope_status check_known(const evaluation *v)
{
    eh_name_list of_data = {.count = 0}, of_model = {.count = 0};
    if (v->sum.unknown < v->sum.n) return ENHOPE_OK;
    for (int32_t k = 0; k < v->data->c; k++) eh_name_list_add(&of_data, v->data->class_name[k]);
    for (int32_t k = 0; k < v->model->c; k++) eh_name_list_add(&of_model, v->model->class_name[k]);
    return eh_fail(v->ctx, ENHOPE_ERROR_DATA,
                   "the model knows none of the classes of the data: %s; its classes are %s; use labels with the names "
                   "of training",
                   eh_name_list_end(&of_data), eh_name_list_end(&of_model));
}

/* known (c of the data): the model's number of each class. */
static enhope_status match_classes(enhope_context *ctx, const enhope_model *model, const enhope_dataset *data,
                                   int32_t **known)
{
    EH_TRY(eh_new(ctx, "the classes", data->c, sizeof **known, (void **)known));
    for (int32_t i = 0; i < data->c; i++) EH_TRY(eh_model_match_class(ctx, model, data, i, &(*known)[i]));
    return ENHOPE_OK;
}

static enhope_status check_cost(const evaluation *v)
{
    const float *cost = v->sum.metrics ? v->sum.metrics->cost : NULL;
    for (int32_t k = 0; cost && k < v->model->c; k++)
        if (!(cost[k] >= 0) || !isfinite(cost[k]))
            return eh_fail(v->ctx, ENHOPE_ERROR_ARGUMENT, "the cost of class '%.60s' is %g: expected a number from 0",
                           v->model->class_name[k], (double)cost[k]);
    if (cost && v->sum.rejection && v->sum.rejection->by == ENHOPE_CONFIDENCE_MARGIN)
        return eh_fail(v->ctx, ENHOPE_ERROR_ARGUMENT,
                       "margins do not consider costs; reject by probability or distance");
    return ENHOPE_OK;
}

static enhope_status evaluation_allocate(evaluation *v, const enhope_evaluation *wanted)
{
    enhope_context *ctx = v->ctx;
    const int64_t c = v->model->c, ranks = eh_comm_ranks(ctx), rows = eh_min(ranks * v->step, v->data->x.n);
    EH_TRY(match_classes(ctx, v->model, v->data, &v->known));
    EH_TRY(eh_new(ctx, "the results", rows, sizeof *v->results, (void **)&v->results));
    EH_TRY(eh_new(ctx, "shares of ranks", ranks + 1, sizeof *v->offset, (void **)&v->offset));
    if (wanted->confusion)
        EH_TRY(eh_new(ctx, "confusions", c * c, sizeof *v->sum.confusion, (void **)&v->sum.confusion));
    if (wanted->metrics) {
        EH_TRY(eh_scores_create(ctx, v->model->c, v->data->x.n, v->labeled, rows, &v->scores));
        EH_TRY(eh_new(ctx, "metrics", c, sizeof *v->class_metrics, (void **)&v->class_metrics));
    }
    if (wanted->rejection)
        EH_TRY(eh_new(ctx, "the predictions", v->labeled, sizeof *v->decisions, (void **)&v->decisions));
    return ENHOPE_OK;
}

static void reject(eh_decision *s, int64_t n, enhope_rejection *out)
{
    out->area = eh_coverage(s, n, out->row, out->rows);
    for (int i = 0; i < out->rows && out->by == ENHOPE_CONFIDENCE_DISTANCE; i++) out->row[i].threshold *= -1;
}

static void evaluation_end(evaluation *v, enhope_evaluation *out)
{
    const int64_t c = v->model->c;
    if (out->calibration) {
        eh_calibration_end(v->labeled, v->sum.calibration);
        *out->calibration = *v->sum.calibration;
    }
    if (out->metrics) {
        eh_scores_metrics(&v->scores, v->sum.n, v->class_metrics, out->metrics);
        for (int64_t k = 0; out->metrics->row && k < c; k++) out->metrics->row[k] = v->class_metrics[k];
    }
    if (out->rejection) reject(v->decisions, v->labeled, out->rejection);
    if (out->confusion) memcpy(out->confusion, v->sum.confusion, (size_t)(c * c) * sizeof *out->confusion);
    out->n = v->sum.n;
    out->errors = v->sum.errors;
    out->unknown = v->sum.unknown;
    out->seconds = v->sum.seconds;
    eh_comm_broadcast(v->ctx, &out->seconds, sizeof out->seconds);
}

enhope_status enhope_model_evaluate(enhope_context *ctx, const enhope_model *model, const enhope_dataset *data,
                                    int32_t k, enhope_evaluation *out)
{
    enhope_status status;
    enhope_calibration calibration = {0};
    const int64_t ranks = eh_comm_ranks(ctx);
    evaluation v = {.ctx = ctx, .model = model, .data = data, .k = k};
    v.sum = (enhope_evaluation){
        .rejection = out->rejection, .calibration = out->calibration ? &calibration : NULL, .metrics = out->metrics};
    v.step = data->store ? eh_dataset_block_rows(ctx, data) : (data->x.n + ranks - 1) / ranks;
    eh_comm_begin(ctx);
    EH_CHECK(check_ranks(&v));
    EH_CHECK(check_cost(&v));
    eh_comm_broadcast(ctx, &v.step, sizeof v.step); /* ranks may have different memory */
    EH_CHECK(count_labeled(&v));
    EH_CHECK(eh_comm_check(ctx, evaluation_allocate(&v, out)));
    EH_CHECK(eh_comm_check(ctx, eh_predict_open(ctx, model, k, &v.predictor)));
    for (int64_t first = 0; first < data->x.n; first += ranks * v.step) EH_CHECK(evaluate_round(&v, first));
    EH_CHECK(check_known(&v));
    evaluation_end(&v, out);
cleanup:
    evaluation_free(&v);
    return status;
}
