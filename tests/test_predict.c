/* Predictions of a model, against the formulas recomputed in double from the model's parameters. */
#define _XOPEN_SOURCE 700
#include "model_fixture.h"

#include "data/data.h"

enum { N = 2357, H = 7, R = 20 }; /* two whole blocks and a part */

/* Samples of every kind with the same values: integers 0..255, most of them zero. */
typedef struct samples {
    uint8_t u8[N * H];
    float f32[N * H];
    int64_t row_start[N + 1];
    int32_t column[N * H];
    float value[N * H];
    int32_t label[N];
} samples;

static samples *make_samples(void)
{
    samples *s = calloc(1, sizeof *s);
    int64_t stored = 0;
    for (int64_t i = 0; i < N; i++) {
        for (int32_t j = 0; j < H; j++) {
            const uint64_t random = eh_random_u64(SEED, 31, (uint64_t)(i * H + j));
            const uint8_t value = random % 3 ? 0 : (uint8_t)(random >> 20 & 0xFF);
            s->u8[i * H + j] = value;
            s->f32[i * H + j] = value;
            if (!value) continue;
            s->column[stored] = j;
            s->value[stored++] = value;
        }
        s->row_start[i + 1] = stored;
        s->label[i] = (int32_t)(eh_random_u64(SEED, 32, (uint64_t)i) % 3);
    }
    return s;
}

static enhope_dataset *view(enhope_context *ctx, const samples *s, enhope_kind kind, const int32_t *label,
                            const char *const *names)
{
    enhope_dataset *data = NULL;
    const int32_t c = label ? 3 : 0;
    if (kind == ENHOPE_U8)
        assert_int_equal(enhope_dataset_view_u8(ctx, N, H, s->u8, label, c, names, &data), 0);
    else if (kind == ENHOPE_F32)
        assert_int_equal(enhope_dataset_view_f32(ctx, N, H, s->f32, label, c, names, &data), 0);
    else
        assert_int_equal(enhope_dataset_view_csr(ctx, N, H, s->row_start, s->column, s->value, label, c, names, &data),
                         0);
    return data;
}

/* A model for such samples: scaled to about [0, 1]. */
static enhope_model *model_for_samples(enhope_context *ctx, const eh_map *map, bool exemplars, bool shifted)
{
    enhope_model *model = make_model(ctx, map, exemplars, H, R);
    for (int j = 0; j < H; j++) {
        model->mul[j] /= 255;
        model->shift[j] = shifted ? 40 * model->shift[j] : 0;
    }
    return model;
}

/* y of one row of scaled inputs, by the formula. */
static void plain_map(const enhope_model *model, const double *x, double *y)
{
    const int64_t F = model->shape.F, m = model->shape.m, h = model->shape.h;
    const float *C = model->theta, *W = C + (H + 1) * F, *b = W + F * m, *V = b + m;
    for (int64_t k = 0; k < h; k++) {
        y[k] = 0;
        if (model->map == &eh_map_identity) y[k] = x[k];
        for (int64_t j = 0; j <= H && model->map == &eh_map_linear; j++)
            y[k] += (j < H ? x[j] : 1) * (double)model->theta[j * h + k];
        for (int64_t u = 0; u < m; u++) {
            double a = b[u];
            for (int64_t f = 0; f < F; f++) {
                double factor = C[H * F + f];
                for (int64_t j = 0; j < H; j++) factor += x[j] * (double)C[j * F + f];
                a += pow(factor, model->shape.order) * (double)W[f * m + u];
            }
            y[k] += (double)V[k * m + u] / (1 + exp(-a));
        }
    }
}

static double plain_distance2(const double *a, const double *b, int64_t h)
{
    double sum = 0;
    for (int64_t k = 0; k < h; k++) sum += (a[k] - b[k]) * (a[k] - b[k]);
    return sum;
}

/* Everything about sample i in double: y (h), proba (3), the nearest. Returns false if the order
 * of neighbors depends on less than the precision of float. */
static bool plain_predict(const enhope_model *model, const samples *s, int64_t i, const double *G, int64_t k, double *y,
                          double *proba, int64_t *winner, double *distance, int32_t *label)
{
    const int64_t h = model->shape.h;
    double x[H], d[R], all = 0;
    for (int j = 0; j < H; j++) x[j] = ((double)s->f32[i * H + j] - (double)model->shift[j]) * (double)model->mul[j];
    plain_map(model, x, y);
    int64_t order[R];
    bool clear = true;
    for (int c = 0; c < 3; c++) proba[c] = 0;
    for (int64_t j = 0; j < R; j++) {
        d[j] = plain_distance2(y, G + j * h, h);
        const double nu = model->dof, w = model->gaussian ? exp(-d[j]) : pow(1 + d[j] / nu, -(nu + 1) / 2);
        proba[model->reference_label[j]] += w;
        all += w;
        int64_t at = j;
        for (; at > 0 && d[j] < d[order[at - 1]]; at--) order[at] = order[at - 1];
        order[at] = j;
    }
    double tempered = 0;
    for (int c = 0; c < 3; c++) tempered += proba[c] = pow(proba[c] / all, 1 / model->errors.temperature);
    for (int c = 0; c < 3; c++) proba[c] /= tempered;
    for (int64_t j = 1; j <= k && j < R; j++) clear = clear && d[order[j]] - d[order[j - 1]] > 1e-3 * d[order[j]];
    int votes[3] = {0}, max_votes = 0;
    for (int64_t j = 0; j < k; j++) {
        const int count = ++votes[model->reference_label[order[j]]];
        if (count > max_votes) max_votes = count;
    }
    int64_t first = 0;
    while (votes[model->reference_label[order[first]]] < max_votes) first++;
    for (int c = 0; c < 3 && !model->exemplars; c++) proba[c] = (double)votes[c] / (double)k; /* points vote */
    *label = model->reference_label[order[first]];
    *winner = order[0];
    *distance = sqrt(d[order[0]]);
    return clear;
}

static void check_against_plain(const eh_map *map, bool exemplars, bool shifted, enhope_kind kind, const char *backend,
                                int dof)
{
    enhope_context *ctx = enhope_context_create();
    assert_int_equal(enhope_context_set_device(ctx, backend), 0);
    samples *s = make_samples();
    enhope_dataset *data = view(ctx, s, kind, NULL, NULL);
    enhope_model *model = model_for_samples(ctx, map, exemplars, shifted);
    model->dof = dof;
    const int64_t h = model->shape.h;
    float *Y = malloc(sizeof *Y * (size_t)(N * h)), *embedded = malloc(sizeof *Y * (size_t)(N * h));
    float *proba = malloc(sizeof *proba * N * 3), *distance = malloc(sizeof *distance * N);
    int32_t *label = malloc(sizeof *label * N);
    int64_t *winner = malloc(sizeof *winner * N);
    const enhope_prediction out = {.label = label, .proba = proba, .winner = winner, .distance = distance, .Y = Y};
    assert_int_equal(enhope_model_predict(ctx, model, data, 5, &out), ENHOPE_OK);
    assert_int_equal(enhope_model_embed(ctx, model, data, embedded), ENHOPE_OK);
    assert_memory_equal(Y, embedded, sizeof *Y * (size_t)(N * h));

    double G[R * H];
    for (int64_t j = 0; j < R; j++) {
        double e[H];
        for (int64_t i = 0; i < (exemplars ? H : h); i++) e[i] = model->reference[j * (exemplars ? H : h) + i];
        if (exemplars)
            plain_map(model, e, G + j * h);
        else
            memcpy(G + j * h, e, sizeof *e * (size_t)h);
    }
    float references[R * H];
    int32_t reference_label[R];
    assert_int_equal(enhope_model_references(ctx, model, references, reference_label), ENHOPE_OK);
    for (int64_t i = 0; i < R * h; i++) assert_float_equal(references[i], G[i], 2e-5 * (1 + fabs(G[i])));
    assert_memory_equal(reference_label, model->reference_label, sizeof reference_label);

    int64_t unclear = 0;
    for (int64_t i = 0; i < N; i++) {
        double y[H], p[3], d;
        int64_t nearest;
        int32_t class;
        const bool clear = plain_predict(model, s, i, G, 5, y, p, &nearest, &d, &class);
        for (int64_t k = 0; k < h; k++) assert_float_equal(Y[i * h + k], y[k], 2e-5 * (1 + fabs(y[k])));
        for (int c = 0; c < 3 && (clear || exemplars); c++) assert_float_equal(proba[i * 3 + c], p[c], 2e-4);
        assert_float_equal(distance[i], d, 2e-3);
        unclear += !clear;
        if (!clear) continue;
        assert_int_equal(winner[i], nearest);
        assert_int_equal(label[i], class);
    }
    assert_true(unclear < N / 5);
    free(Y);
    free(embedded);
    free(proba);
    free(distance);
    free(label);
    free(winner);
    free(s);
    enhope_model_free(model);
    enhope_dataset_free(data);
    enhope_context_free(ctx);
}

static void predictions_match_the_formula(void **state)
{
    (void)state;
    check_against_plain(&eh_map_hope, true, true, ENHOPE_U8, "cpu", 1);
    check_against_plain(&eh_map_hope, true, true, ENHOPE_U8, "cpu", 3);
    check_against_plain(&eh_map_hope, true, true, ENHOPE_F32, "ref", 7);
    check_against_plain(&eh_map_hope, true, false, ENHOPE_CSR, "cpu", 1); /* stays sparse */
    check_against_plain(&eh_map_hope, false, true, ENHOPE_F32, "ref", 1);
    check_against_plain(&eh_map_linear, true, true, ENHOPE_F32, "cpu", 1);
    check_against_plain(&eh_map_linear, false, true, ENHOPE_CSR, "cpu", 1); /* shifted, so it cannot stay sparse */
    check_against_plain(&eh_map_identity, false, true, ENHOPE_U8, "cpu", 1);
    check_against_plain(&eh_map_identity, true, false, ENHOPE_CSR, "ref", 1);
}

/* With more references than rows of a block, references are embedded in blocks too. */
static void many_exemplars_are_embedded_like_samples(void **state)
{
    (void)state;
    enhope_context *ctx = enhope_context_create();
    enhope_model *model = make_model(ctx, &eh_map_linear, true, H, N);
    for (int j = 0; j < H; j++) model->shift[j] = 0, model->mul[j] = 1;
    enhope_dataset *data = NULL;
    assert_int_equal(enhope_dataset_view_f32(ctx, N, H, model->reference, NULL, 0, NULL, &data), 0);
    float *Y = malloc(sizeof *Y * N * 2), *G = malloc(sizeof *G * N * 2);
    int64_t *winner = malloc(sizeof *winner * N);
    assert_int_equal(enhope_model_references(ctx, model, G, NULL), ENHOPE_OK);
    assert_int_equal(enhope_model_predict(ctx, model, data, 1, &(enhope_prediction){.winner = winner, .Y = Y}), 0);
    for (int64_t i = 0; i < 2 * N; i++) assert_float_equal(Y[i], G[i], 1e-5);
    for (int64_t i = 0; i < N; i++) assert_int_equal(winner[i], i); /* each is its own nearest */
    free(Y);
    free(G);
    free(winner);
    enhope_dataset_free(data);
    enhope_model_free(model);
    enhope_context_free(ctx);
}

static void zero_selects_the_k_of_the_model(void **state)
{
    (void)state;
    enhope_context *ctx = enhope_context_create();
    samples *s = make_samples();
    enhope_dataset *data = view(ctx, s, ENHOPE_U8, NULL, NULL);
    enhope_model *model = model_for_samples(ctx, &eh_map_linear, true, true);
    int32_t *own = malloc(sizeof *own * N), *three = malloc(sizeof *three * N), *one = malloc(sizeof *one * N);
    model->k = 3;
    model->votes = true;
    assert_int_equal(enhope_model_predict(ctx, model, data, 0, &(enhope_prediction){.label = own}), 0);
    assert_int_equal(enhope_model_predict(ctx, model, data, 3, &(enhope_prediction){.label = three}), 0);
    assert_int_equal(enhope_model_predict(ctx, model, data, 1, &(enhope_prediction){.label = one}), 0);
    assert_int_equal(enhope_model_predict(ctx, model, data, R, &(enhope_prediction){0}), 0);
    assert_memory_equal(own, three, sizeof *own * N);
    assert_memory_not_equal(own, one, sizeof *own * N);
    free(own);
    free(three);
    free(one);
    free(s);
    enhope_dataset_free(data);
    enhope_model_free(model);
    enhope_context_free(ctx);
}

static void unsuitable_data_is_refused_with_a_message(void **state)
{
    (void)state;
    enhope_context *ctx = enhope_context_create();
    samples *s = make_samples();
    enhope_dataset *data = view(ctx, s, ENHOPE_U8, NULL, NULL), *narrow = NULL;
    enhope_model *model = model_for_samples(ctx, &eh_map_hope, true, true);
    int32_t label[1] = {-7};
    float Y[2] = {2.5f, 3.5f};
    assert_int_equal(enhope_dataset_view_u8(ctx, 1, 5, s->u8, (int32_t[]){0}, 1, NULL, &narrow), 0);
    const enhope_prediction out = {.label = label};
    assert_int_equal(enhope_model_predict(ctx, model, narrow, 0, &out), ENHOPE_ERROR_DATA);
    assert_string_equal(enhope_error(ctx), "the data has 5 inputs, the model 7; use data with the inputs of training");
    assert_int_equal(enhope_model_embed(ctx, model, narrow, Y), ENHOPE_ERROR_DATA);
    assert_string_equal(enhope_error(ctx), "the data has 5 inputs, the model 7; use data with the inputs of training");
    enhope_evaluation evaluation = {.n = -3};
    assert_int_equal(enhope_model_evaluate(ctx, model, narrow, 0, &evaluation), ENHOPE_ERROR_DATA);
    assert_string_equal(enhope_error(ctx), "the data has 5 inputs, the model 7; use data with the inputs of training");
    assert_int_equal(enhope_model_evaluate(ctx, model, data, 0, &evaluation), ENHOPE_ERROR_DATA);
    assert_string_equal(enhope_error(ctx), "the data has no labels to compare predictions with; add labels");
    assert_int_equal(enhope_model_predict(ctx, model, data, 30, &out), ENHOPE_ERROR_ARGUMENT);
    assert_string_equal(enhope_error(ctx), "k is 30, but the model has 20 references; use at most as many");
    assert_int_equal(enhope_model_predict(ctx, model, data, -1, &out), ENHOPE_ERROR_ARGUMENT);
    assert_string_equal(enhope_error(ctx), "k is -1: expected at least 1 neighbor");
    assert_int_equal(label[0], -7); /* outputs are unchanged */
    assert_float_equal(Y[0], 2.5, 0);
    /* a sparse file that ends before the last input has zeros there */
    enhope_dataset *sparse = NULL, *dense = NULL;
    const float row[7] = {0, 2.5f};
    float other[2];
    assert_int_equal(
        enhope_dataset_view_csr(ctx, 1, 2, (int64_t[]){0, 1}, (int32_t[]){1}, row + 1, NULL, 0, NULL, &sparse), 0);
    assert_int_equal(enhope_dataset_view_f32(ctx, 1, 7, row, NULL, 0, NULL, &dense), 0);
    assert_int_equal(enhope_model_embed(ctx, model, sparse, Y), 0);
    assert_int_equal(enhope_model_embed(ctx, model, dense, other), 0);
    for (int k = 0; k < 2; k++) assert_float_equal(Y[k], other[k], 1e-5);
    enhope_dataset_free(sparse);
    enhope_dataset_free(dense);
    assert_int_equal(evaluation.n, -3);
    free(s);
    enhope_dataset_free(data);
    enhope_dataset_free(narrow);
    enhope_model_free(model);
    enhope_context_free(ctx);
}

/* The data numbers its classes differently and has one that the model lacks. Some samples have
 * no label. */
static void evaluation_matches_classes_by_name(void **state)
{
    (void)state;
    enhope_context *ctx = enhope_context_create();
    samples *s = make_samples();
    for (int64_t i = 0; i < N; i += 11) s->label[i] = -1;
    static const char *const names[] = {"gr\xfcn", "never seen", "cat"}; /* the first in Latin-1 */
    static const int32_t known[] = {2, -1, 0};
    enhope_dataset *data = view(ctx, s, ENHOPE_F32, s->label, names);
    enhope_model *model = model_for_samples(ctx, &eh_map_hope, true, true);
    int32_t *label = malloc(sizeof *label * N);
    assert_int_equal(enhope_model_predict(ctx, model, data, 0, &(enhope_prediction){.label = label}), ENHOPE_OK);
    int64_t n = 0, errors = 0, unknown = 0, expected[9] = {0}, confusion[9];
    for (int64_t i = 0; i < N; i++) {
        if (s->label[i] < 0) continue;
        const int32_t truth = known[s->label[i]];
        n++;
        unknown += truth < 0;
        errors += truth != label[i];
        if (truth >= 0) expected[truth * 3 + label[i]]++;
    }
    memset(confusion, 0x55, sizeof confusion);
    enhope_evaluation evaluation = {.confusion = confusion};
    assert_int_equal(enhope_model_evaluate(ctx, model, data, 0, &evaluation), ENHOPE_OK);
    assert_int_equal(evaluation.n, n);
    assert_int_equal(evaluation.errors, errors);
    assert_int_equal(evaluation.unknown, unknown);
    assert_true(unknown > 0 && errors > unknown && errors < n);
    assert_ptr_equal(evaluation.confusion, confusion);
    assert_memory_equal(confusion, expected, sizeof expected);
    assert_true(evaluation.seconds > 0 && evaluation.seconds < 60);
    free(label);
    free(s);
    enhope_dataset_free(data);
    enhope_model_free(model);
    enhope_context_free(ctx);
}

/* Two copies of a model that differ in temperature have the same labels, distances and margins. */
static void temperature_changes_only_probabilities(void **state)
{
    (void)state;
    enhope_context *ctx = enhope_context_create();
    samples *s = make_samples();
    enhope_dataset *data = view(ctx, s, ENHOPE_U8, s->label, NULL);
    enhope_model *model = model_for_samples(ctx, &eh_map_hope, true, true);
    int32_t *label[2];
    float *proba[2], *margin[2], *distance[2];
    for (int i = 0; i < 2; i++) {
        label[i] = malloc(sizeof **label * N);
        proba[i] = malloc(sizeof **proba * N * 3);
        margin[i] = malloc(sizeof **margin * N);
        distance[i] = malloc(sizeof **distance * N);
        model->errors.temperature = i ? 2.385 : 1;
        const enhope_prediction out = {
            .label = label[i], .proba = proba[i], .margin = margin[i], .distance = distance[i]};
        assert_int_equal(enhope_model_predict(ctx, model, data, 0, &out), ENHOPE_OK);
    }
    assert_memory_equal(label[0], label[1], sizeof **label * N);
    assert_memory_equal(margin[0], margin[1], sizeof **margin * N);
    assert_memory_equal(distance[0], distance[1], sizeof **distance * N);
    for (int64_t i = 0; i < N; i++) {
        double tempered[3], all = 0;
        for (int c = 0; c < 3; c++) all += tempered[c] = pow((double)proba[0][i * 3 + c], 1 / 2.385);
        for (int c = 0; c < 3; c++) assert_float_equal(proba[1][i * 3 + c], tempered[c] / all, 1e-5);
    }
    /* margins do not need labels */
    assert_int_equal(enhope_model_predict(ctx, model, data, 0, &(enhope_prediction){.margin = margin[0]}), ENHOPE_OK);
    assert_memory_equal(margin[0], margin[1], sizeof **margin * N);
    for (int i = 0; i < 2; i++) free(label[i]), free(proba[i]), free(margin[i]), free(distance[i]);
    enhope_model_free(model);
    model = model_for_samples(ctx, &eh_map_linear, false, true);
    assert_int_equal(enhope_model_predict(ctx, model, data, 0, &(enhope_prediction){.margin = (float[1]){0}}),
                     ENHOPE_ERROR_ARGUMENT);
    assert_string_equal(enhope_error(ctx),
                        "margins need a model with exemplars; this model compares with training points");
    free(s);
    enhope_model_free(model);
    enhope_dataset_free(data);
    enhope_context_free(ctx);
}

/* The rows of each kind equal a count over the predictions, and the threshold keeps exactly
 * these. */
static void a_threshold_keeps_the_samples_that_evaluation_reports(void **state)
{
    (void)state;
    enhope_context *ctx = enhope_context_create();
    samples *s = make_samples();
    enhope_dataset *data = view(ctx, s, ENHOPE_U8, s->label, (const char *const[]){"cat", "a \"dog\"\\,\t", "?"});
    enhope_model *model = model_for_samples(ctx, &eh_map_hope, true, true);
    int32_t *label = malloc(sizeof *label * N);
    float *proba = malloc(sizeof *proba * N * 3), *margin = malloc(sizeof *margin * N);
    float *distance = malloc(sizeof *distance * N);
    const enhope_prediction out = {.label = label, .proba = proba, .margin = margin, .distance = distance};
    assert_int_equal(enhope_model_predict(ctx, model, data, 0, &out), ENHOPE_OK);
    for (int by = 0; by < 3; by++) {
        enhope_calibration calibration;
        enhope_coverage row[3] = {{.share = 1}, {.share = 0.9}, {.share = 0.37}};
        enhope_rejection rejection = {.by = (enhope_confidence)by, .row = row, .rows = 3};
        enhope_evaluation e = {.calibration = &calibration, .rejection = &rejection};
        assert_int_equal(enhope_model_evaluate(ctx, model, data, 0, &e), ENHOPE_OK);
        assert_true(row[0].n == N && row[0].errors == e.errors && e.unknown > 0 && rejection.area > 0);
        assert_true(calibration.nll > 0 && calibration.ece > 0 && calibration.ece < 1);
        for (int i = 0; i < 3; i++) {
            int64_t kept = 0, errors = 0;
            for (int64_t j = 0; j < N; j++) {
                const float threshold = (float)row[i].threshold;
                const bool confident = by == ENHOPE_CONFIDENCE_DISTANCE ? distance[j] <= threshold
                                       : by == ENHOPE_CONFIDENCE_MARGIN ? margin[j] >= threshold
                                                                        : proba[3 * j + label[j]] >= threshold;
                kept += confident;
                errors += confident && (s->label[j] == 2 || s->label[j] != label[j]);
            }
            assert_int_equal(kept, row[i].n);
            assert_int_equal(errors, row[i].errors);
            assert_true((double)kept >= row[i].share * N && (double)kept < row[i].share * N + 20);
        }
    }
    free(label), free(proba), free(margin), free(distance), free(s);
    enhope_model_free(model);
    enhope_dataset_free(data);
    enhope_context_free(ctx);
}

typedef struct use {
    enhope_context *ctx;
    const enhope_model *model;
    const enhope_dataset *data;
    int what;
    int32_t label[N];
    float proba[N * 3], Y[N * 2];
} use;

static enhope_status use_once(void *user)
{
    use *u = user;
    enhope_calibration calibration;
    enhope_rejection rejection = {.by = ENHOPE_CONFIDENCE_MARGIN};
    enhope_evaluation evaluation = {.calibration = &calibration, .rejection = &rejection};
    const enhope_prediction out = {.label = u->label, .proba = u->proba};
    if (u->what == 0) return enhope_model_predict(u->ctx, u->model, u->data, 0, &out);
    if (u->what == 1) return enhope_model_embed(u->ctx, u->model, u->data, u->Y);
    if (u->what == 2) return enhope_model_references(u->ctx, u->model, u->Y, u->label);
    if (u->what == 3) return enhope_model_evaluate(u->ctx, u->model, u->data, 0, &evaluation);
    enhope_model *referred = NULL;
    const char *to = u->what == 4 ? "training" : "kmeans";
    const enhope_status status = enhope_model_with_references(u->ctx, u->model, u->data, to, 0, 1, &referred);
    enhope_model_free(referred);
    return status;
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    enhope_context *ctx = enhope_context_create();
    samples *s = make_samples();
    for (int64_t i = 0; i < N; i += 11) s->label[i] = -1;
    enhope_model *model = model_for_samples(ctx, &eh_map_hope, true, true);
    enhope_dataset *data = view(ctx, s, ENHOPE_U8, s->label, (const char *const *)model->class_name);
    use *u = malloc(sizeof *u);
    *u = (use){.ctx = ctx, .model = model, .data = data};
    for (; u->what < 6; u->what++) assert_true(fail_allocations(ctx, use_once, u, 1) > 5);
    free(u);
    free(s);
    enhope_dataset_free(data);
    enhope_model_free(model);
    enhope_context_free(ctx);
}

static void references_of_a_model_can_be_replaced(void **state)
{
    (void)state;
    enhope_context *ctx = enhope_context_create();
    static const char *const names[] = {"gr\xc3\xbcn", "cat",
                                        "unheard of"}; /* 2 and 0 of the model, and an unknown class */
    samples *s = make_samples();
    enhope_dataset *data = view(ctx, s, ENHOPE_CSR, s->label, names), *bare = view(ctx, s, ENHOPE_U8, NULL, NULL);
    enhope_model *model = model_for_samples(ctx, &eh_map_hope, true, true), *points = NULL, *centres = NULL,
                 *again = NULL;
    const int64_t h = model->shape.h;
    int64_t known = 0;
    for (int i = 0; i < N; i++) known += s->label[i] < 2;
    model->dof = 5;

    assert_int_equal(enhope_model_with_references(ctx, model, data, "training", 0, 0, &points), ENHOPE_OK);
    assert_true(points->r == known && !points->exemplars && points->k == 5 && points->epochs == model->epochs);
    assert_true(points->errors.temperature == 1 && !points->errors.valid_n &&
                !points->errors.train_n); /* no errors are known for them */
    float *Y = malloc((size_t)(N * h) * sizeof *Y);
    assert_int_equal(enhope_model_embed(ctx, model, data, Y), ENHOPE_OK);
    for (int64_t i = 0, at = 0; i < N; i++) {
        if (s->label[i] == 2) continue;
        assert_int_equal(points->reference_label[at], s->label[i] ? 0 : 2);
        assert_memory_equal(points->reference + at++ * h, Y + i * h, (size_t)h * sizeof *Y);
    }
    assert_string_equal(points->class_name[1], model->class_name[1]);
    assert_string_equal(enhope_model_setting(points, "learning_rate"), "0.0125");

    assert_int_equal(enhope_model_with_references(ctx, model, data, "kmeans", 7, 5, &centres), ENHOPE_OK);
    assert_int_equal(enhope_model_with_references(ctx, model, data, "kmeans", 7, 5, &again), ENHOPE_OK);
    assert_true(centres->dof == 5 && centres->r == 7 && centres->exemplars && centres->reference_label[0] == 0);
    assert_int_equal(centres->reference_label[6], 2);
    assert_memory_equal(centres->reference, again->reference, (size_t)(7 * H) * sizeof *Y);
    enhope_model_free(again);
    assert_int_equal(enhope_model_with_references(ctx, model, data, "kmeans", 0, 5, &again), ENHOPE_OK);
    assert_int_equal(again->r, 4);
    enhope_evaluation e = {0};
    assert_int_equal(enhope_model_evaluate(ctx, again, data, 0, &e), ENHOPE_OK);
    assert_true(e.n == N && e.unknown == N - known);

    enhope_model *none = NULL;
    assert_int_equal(enhope_model_with_references(ctx, model, data, "stars", 0, 0, &none), ENHOPE_ERROR_ARGUMENT);
    assert_int_equal(enhope_model_with_references(ctx, model, data, "kmeans", -1, 0, &none), ENHOPE_ERROR_ARGUMENT);
    assert_int_equal(enhope_model_with_references(ctx, model, bare, "kmeans", 0, 0, &none), ENHOPE_ERROR_DATA);
    assert_string_equal(
        enhope_error(ctx),
        "the data has no labeled sample of a class of the model; use data with labels of these classes");
    assert_null(none);
    free(Y), free(s);
    enhope_model_free(model), enhope_model_free(points), enhope_model_free(centres), enhope_model_free(again);
    enhope_dataset_free(data), enhope_dataset_free(bare);
    enhope_context_free(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(predictions_match_the_formula),
        cmocka_unit_test(many_exemplars_are_embedded_like_samples),
        cmocka_unit_test(zero_selects_the_k_of_the_model),
        cmocka_unit_test(unsuitable_data_is_refused_with_a_message),
        cmocka_unit_test(evaluation_matches_classes_by_name),
        cmocka_unit_test(references_of_a_model_can_be_replaced),
        cmocka_unit_test(temperature_changes_only_probabilities),
        cmocka_unit_test(a_threshold_keeps_the_samples_that_evaluation_reports),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
