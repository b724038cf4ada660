/* The predictor: bits of a row in any batch and of any kind, threads, memory, labels, failures. */
#define _XOPEN_SOURCE 700
#include <float.h>
#include <pthread.h>
#if defined(__SSE2__)
#include <xmmintrin.h>
#endif

#include "model_fixture.h"

#include "data/data.h"
#include "predict/predictor.h"

enum { N = 211, H = 45, CLASSES = 3, R = 13, MAX_h = 19 };

/* The same rows of every kind: bytes, most of them zero. */
typedef struct table {
    uint8_t u8[N * H];
    float f32[N * H];
    int64_t row_start[N + 1];
    int32_t column[N * H];
    float value[N * H];
} table;

static table *make_table(void)
{
    table *t = calloc(1, sizeof *t);
    int64_t stored = 0;
    for (int64_t i = 0; i < N; i++) {
        for (int32_t j = 0; j < H; j++) {
            const uint64_t random = eh_random_u64(SEED, 61, (uint64_t)(i * H + j));
            const uint8_t value = random % 10 < 7 ? 0 : (uint8_t)(random >> 20);
            t->u8[i * H + j] = value;
            t->f32[i * H + j] = value;
            if (!value) continue;
            t->column[stored] = j;
            t->value[stored++] = value;
        }
        t->row_start[i + 1] = stored;
    }
    return t;
}

static enhope_rows rows_of(const table *t, enhope_kind kind, int64_t first, int64_t n)
{
    enhope_rows rows = {.n = n, .kind = kind};
    if (kind == ENHOPE_U8) rows.values = t->u8 + first * H;
    if (kind == ENHOPE_F32) rows.values = t->f32 + first * H;
    if (kind == ENHOPE_CSR) {
        rows.values = t->value;
        rows.row_start = t->row_start + first;
        rows.column = t->column;
    }
    return rows;
}

static enhope_dataset *view(enhope_context *ctx, const table *t, enhope_kind kind)
{
    enhope_dataset *data = NULL;
    if (kind == ENHOPE_U8) assert_int_equal(enhope_dataset_view_u8(ctx, N, H, t->u8, NULL, 0, NULL, &data), 0);
    if (kind == ENHOPE_F32) assert_int_equal(enhope_dataset_view_f32(ctx, N, H, t->f32, NULL, 0, NULL, &data), 0);
    if (kind == ENHOPE_CSR)
        assert_int_equal(enhope_dataset_view_csr(ctx, N, H, t->row_start, t->column, t->value, NULL, 0, NULL, &data),
                         0);
    return data;
}

/* A map with its sizes, and what the model compares with. */
typedef struct kind_of_model {
    const eh_map *map;
    int64_t F, m, h;
    int order;
    const char *layers;
    bool relu, exemplars, shifted, gaussian, votes;
} kind_of_model;

static const kind_of_model models[] = {
    {.map = &eh_map_hope, .F = 37, .m = 21, .h = 2, .order = 3, .exemplars = true},
    {.map = &eh_map_hope, .F = 64, .m = 33, .h = 5, .order = 2, .exemplars = true, .shifted = true, .gaussian = true},
    {.map = &eh_map_hope, .F = 130, .m = 7, .h = 1, .order = 1, .exemplars = false, .votes = true},
    {.map = &eh_map_mlp, .h = 3, .layers = "40-17-9", .exemplars = true, .shifted = true},
    {.map = &eh_map_mlp, .h = MAX_h, .layers = "50-60", .relu = true, .exemplars = true, .votes = true},
    {.map = &eh_map_linear, .h = 2, .exemplars = true, .gaussian = true},
    {.map = &eh_map_linear, .h = 9, .exemplars = false, .shifted = true, .votes = true},
};
enum { MODELS = sizeof models / sizeof *models };

static enhope_model *make(enhope_context *ctx, const kind_of_model *k)
{
    eh_map_shape shape = {.H = H, .h = k->h, .F = k->F, .m = k->m, .order = k->order, .relu = k->relu};
    enhope_model *model = NULL;
    if (k->layers) assert_true(eh_map_layers_parse(k->layers, &shape));
    assert_int_equal(eh_model_create(ctx, "en-hope", k->map, &shape, R, k->exemplars, CLASSES, 0, 0, &model), 0);
    const int64_t parameters = eh_map_parameters(k->map, &shape), width = k->exemplars ? H : k->h;
    for (int64_t i = 0; i < parameters; i++) model->theta[i] = 0.3f * irregular((uint64_t)i);
    for (int64_t i = 0; i < R * width; i++) model->reference[i] = 0.5f * irregular((uint64_t)(parameters + i));
    for (int64_t j = 0; j < H; j++) model->mul[j] = (0.7f + 0.3f * fabsf(irregular((uint64_t)j))) / 255;
    for (int64_t j = 0; j < H && k->shifted; j++) model->shift[j] = 10 * irregular((uint64_t)j);
    for (int64_t i = 0; i < R; i++) model->reference_label[i] = (int32_t)(i * CLASSES / R);
    for (int c = 0; c < CLASSES; c++) model->class_name[c] = eh_strdup((const char *[]){"oak", "elm", "ash"}[c]);
    model->gaussian = k->gaussian;
    model->k = 3;
    model->votes = k->votes;
    model->errors.temperature = 1.375;
    return model;
}

static enhope_predictor *predictor(enhope_context *ctx, const enhope_model *model, int32_t k)
{
    enhope_predictor *p = NULL;
    assert_int_equal(enhope_predictor_create(ctx, model, &(enhope_predictor_options){.k = k}, &p), ENHOPE_OK);
    return p;
}

typedef struct results {
    int32_t label[N];
    float proba[N * CLASSES], Y[N * MAX_h];
} results;

static void predict(const enhope_predictor *p, const table *t, enhope_kind kind, int64_t batch, results *out)
{
    const int64_t h = p->model->shape.h;
    for (int64_t i = 0; i < N; i += batch) {
        const enhope_rows rows = rows_of(t, kind, i, eh_min(batch, N - i));
        assert_int_equal(enhope_predictor_label(p, &rows, out->label + i), ENHOPE_OK);
        assert_int_equal(enhope_predictor_proba(p, &rows, out->proba + i * CLASSES), ENHOPE_OK);
        assert_int_equal(enhope_predictor_embed(p, &rows, out->Y + i * h), ENHOPE_OK);
    }
}

static void bits_do_not_depend_on_batch_kind_or_threads(void **state)
{
    (void)state;
    static const int64_t batches[] = {1, 2, 5, 12, 13, 31, 50, 200, N};
    table *t = make_table();
    results *whole = calloc(1, sizeof *whole), *other = calloc(1, sizeof *other);
    for (int m = 0; m < MODELS; m++) {
        enhope_context *ctx = enhope_context_create();
        enhope_model *model = make(ctx, &models[m]);
        for (int threads = 1; threads <= 3; threads++) {
            assert_int_equal(enhope_context_set_threads(ctx, threads), 0);
            enhope_predictor *p = predictor(ctx, model, 0);
            if (threads == 1) predict(p, t, ENHOPE_F32, N, whole);
            p->cost = 1 << 20; /* so that small batches are shared between threads too */
            for (size_t b = 0; b < sizeof batches / sizeof *batches; b++)
                for (int kind = ENHOPE_U8; kind <= ENHOPE_CSR; kind++) {
                    predict(p, t, (enhope_kind)kind, batches[b], other);
                    assert_memory_equal(whole, other, sizeof *whole);
                }
            enhope_predictor_free(p);
        }
        enhope_model_free(model);
        enhope_context_free(ctx);
    }
    free(whole);
    free(other);
    free(t);
}

/* All outputs of the predictor and of a pass over the same backend. */
static void dense_rows_have_the_numbers_of_the_backend(void **state)
{
    (void)state;
    table *t = make_table();
    for (int m = 0; m < MODELS; m++)
        for (int kind = ENHOPE_U8; kind <= ENHOPE_F32; kind++) {
            enhope_context *ctx = enhope_context_create();
            enhope_model *model = make(ctx, &models[m]);
            enhope_predictor *p = predictor(ctx, model, 0);
            enhope_dataset *data = view(ctx, t, (enhope_kind)kind);
            results a = {0}, b = {0};
            int64_t winner[2][N], neighbor[2][N * 3];
            float distance[2][N], margin[2][N] = {{0}}, apart[2][N * 3];
            enhope_prediction out[2];
            int64_t bad = -1;
            for (int i = 0; i < 2; i++) {
                results *r = i ? &b : &a;
                out[i] = (enhope_prediction){.label = r->label,
                                             .proba = r->proba,
                                             .Y = r->Y,
                                             .winner = winner[i],
                                             .distance = distance[i],
                                             .margin = model->exemplars ? margin[i] : NULL,
                                             .neighbour = neighbor[i],
                                             .neighbour_distance = apart[i]};
            }
            assert_int_equal(enhope_predictor_predict(ctx, p, data, &out[0]), ENHOPE_OK);
            assert_int_equal(eh_pass_predict(ctx, model, &data->x, NULL, N, 0, &out[1], NULL, &bad), ENHOPE_OK);
            assert_memory_equal(&a, &b, sizeof a);
            assert_memory_equal(margin[0], margin[1], sizeof margin[0]);
            assert_memory_equal(winner[0], winner[1], sizeof winner[0]);
            assert_memory_equal(neighbor[0], neighbor[1], sizeof neighbor[0]);
            for (int64_t i = 0; i < N * 3; i++) assert_float_equal(apart[0][i], apart[1][i], 1e-4 * (1 + apart[1][i]));
            for (int64_t i = 0; i < N; i++) assert_float_equal(distance[0][i], apart[0][i * 3], 0);
            enhope_dataset_free(data);
            enhope_predictor_free(p);
            enhope_model_free(model);
            enhope_context_free(ctx);
        }
    free(t);
}

static void embeddings_match_the_reference_backend(void **state)
{
    (void)state;
    table *t = make_table();
    for (int m = 0; m < MODELS; m++)
        for (int kind = ENHOPE_U8; kind <= ENHOPE_CSR; kind++) {
            enhope_context *ctx = enhope_context_create(), *ref = enhope_context_create();
            assert_int_equal(enhope_context_set_device(ref, "ref"), 0);
            enhope_model *model = make(ctx, &models[m]);
            enhope_dataset *data = view(ctx, t, (enhope_kind)kind);
            float Y[N * MAX_h], exact[N * MAX_h];
            assert_int_equal(enhope_model_embed(ctx, model, data, Y), ENHOPE_OK);
            assert_int_equal(enhope_model_embed(ref, model, data, exact), ENHOPE_OK);
            for (int64_t i = 0; i < N * models[m].h; i++)
                assert_float_equal(Y[i], exact[i], 2e-4 * (1 + fabsf(exact[i])));
            enhope_dataset_free(data);
            enhope_model_free(model);
            enhope_context_free(ctx);
            enhope_context_free(ref);
        }
    free(t);
}

/* ---- labels ---- */

/* Embeddings close to the boundaries of classes, in all similarities and temperatures. */
static void the_label_is_the_class_of_the_largest_probability(void **state)
{
    (void)state;
    enum { POINTS = 4000, c = 4, r = 8 };
    static const double temperatures[] = {1e-6, 0.02, 1, 40, 1e6};
    float G[r * 2], *Y = calloc(POINTS * 2, sizeof *Y), *proba = calloc(POINTS * c, sizeof *proba);
    int32_t class[r], *label = calloc(POINTS, sizeof *label), *top = calloc(POINTS, sizeof *top);
    double scratch[EH_DECISION_SCRATCH(c)];
    for (int j = 0; j < r; j++) { /* symmetric, so that classes are equal along the axes */
        G[2 * j] = (j & 1 ? 1.25f : -1.25f) * (j & 4 ? 3 : 1);
        G[2 * j + 1] = (j & 2 ? 0.75f : -0.75f) * (j & 4 ? 3 : 1);
        class[j] = j % c;
    }
    for (int64_t i = 0; i < POINTS; i++) {
        const float tiny = i % 3 ? 1e-7f * irregular((uint64_t)i) : 0;
        Y[2 * i] = i % 2 ? tiny : 2 * irregular((uint64_t)(i + 5000));
        Y[2 * i + 1] = i % 2 ? 2 * irregular((uint64_t)(i + 5000)) : tiny;
    }
    Y[0] = NAN, Y[2] = INFINITY, Y[4] = FLT_MAX, Y[6] = 1e20f, Y[8] = -3e19f;
    for (int gaussian = 0; gaussian < 2; gaussian++)
        for (int dof = 1; dof < 400; dof = dof * 9 + 2)
            for (size_t k = 0; k < sizeof temperatures / sizeof *temperatures; k++) {
                const eh_host_references ref = {
                    .G = G, .label = class, .r = r, .h = 2, .c = c, .gaussian = gaussian, .dof = dof};
                eh_probabilities(&ref, temperatures[k], Y, POINTS, scratch, proba);
                eh_argmax(proba, POINTS, c, top);
                eh_classify_rows(&ref, temperatures[k], Y, POINTS, scratch, label);
                assert_memory_equal(label, top, POINTS * sizeof *label);
            }
    free(Y);
    free(proba);
    free(label);
    free(top);
}

static void neighbors_vote_if_k_is_given(void **state)
{
    (void)state;
    enhope_context *ctx = enhope_context_create();
    table *t = make_table();
    enhope_model *model = make(ctx, &models[0]);
    enhope_predictor *p = predictor(ctx, model, 5);
    int32_t label[N], votes[N];
    enhope_dataset *data = view(ctx, t, ENHOPE_U8);
    const enhope_rows rows = rows_of(t, ENHOPE_U8, 0, N);
    assert_int_equal(enhope_predictor_label(p, &rows, label), ENHOPE_OK);
    assert_int_equal(enhope_model_predict(ctx, model, data, 5, &(enhope_prediction){.label = votes}), ENHOPE_OK);
    assert_memory_equal(label, votes, sizeof label);
    enhope_predictor_free(p);
    p = NULL;
    assert_int_equal(enhope_predictor_create(ctx, model, &(enhope_predictor_options){.k = R + 1}, &p),
                     ENHOPE_ERROR_ARGUMENT);
    assert_string_equal(enhope_error(ctx), "k is 14, but the model has 13 references; use at most as many");
    assert_null(p);
    enhope_dataset_free(data);
    enhope_model_free(model);
    enhope_context_free(ctx);
    free(t);
}

/* Models that search in many dimensions use a pass. */
static void nearest_neighbors_in_many_dimensions_are_found(void **state)
{
    (void)state;
    static const kind_of_model searching[] = {
        {.map = &eh_map_identity, .h = H, .votes = true, .shifted = true},
        {.map = &eh_map_linear, .h = MAX_h, .votes = true},
    };
    table *t = make_table();
    for (int m = 0; m < 2; m++) {
        enhope_context *ctx = enhope_context_create();
        enhope_model *model = make(ctx, &searching[m]);
        enhope_predictor *p = predictor(ctx, model, 0);
        enhope_dataset *data = view(ctx, t, ENHOPE_U8);
        float proba[N * CLASSES], wanted[N * CLASSES];
        int32_t label[N], wanted_label[N];
        const enhope_prediction out = {.label = wanted_label, .proba = wanted};
        const enhope_rows rows = rows_of(t, ENHOPE_U8, 0, N);
        assert_int_equal(enhope_predictor_label(p, &rows, label), ENHOPE_OK);
        assert_int_equal(enhope_predictor_proba(p, &rows, proba), ENHOPE_OK);
        assert_int_equal(enhope_model_predict(ctx, model, data, 0, &out), ENHOPE_OK);
        assert_memory_equal(label, wanted_label, sizeof label);
        assert_memory_equal(proba, wanted, sizeof proba);
        t->f32[3] = NAN;
        const enhope_rows bad = rows_of(t, ENHOPE_F32, 0, 1);
        assert_int_equal(enhope_predictor_label(p, &bad, label), ENHOPE_ERROR_DATA);
        enhope_dataset_free(data);
        enhope_predictor_free(p);
        enhope_model_free(model);
        enhope_context_free(ctx);
    }
    free(t);
}

/* ---- failures ---- */

static void values_that_are_not_finite_are_refused(void **state)
{
    (void)state;
    static const float bad[] = {NAN, INFINITY, -INFINITY};
    enhope_context *ctx = enhope_context_create();
    table *t = make_table();
    for (int m = 0; m < MODELS; m++) {
        enhope_model *model = make(ctx, &models[m]);
        enhope_predictor *p = predictor(ctx, model, 0);
        int32_t label[N];
        for (int i = 0; i < 3; i++) {
            float *dense = &t->f32[150 * H + 44], *sparse = &t->value[t->row_start[150]], before = *dense,
                  was = *sparse;
            *dense = *sparse = bad[i];
            for (int kind = ENHOPE_F32; kind <= ENHOPE_CSR; kind++) {
                const enhope_rows one = rows_of(t, (enhope_kind)kind, 150, 1),
                                  all = rows_of(t, (enhope_kind)kind, 0, N),
                                  good = rows_of(t, (enhope_kind)kind, 0, 150);
                assert_int_equal(enhope_predictor_label(p, &one, label), ENHOPE_ERROR_DATA);
                assert_int_equal(enhope_predictor_label(p, &all, label), ENHOPE_ERROR_DATA);
                assert_int_equal(enhope_predictor_label(p, &good, label), ENHOPE_OK);
            }
            *dense = before, *sparse = was;
        }
        enhope_predictor_free(p);
        enhope_model_free(model);
    }
    enhope_context_free(ctx);
    free(t);
}

/* A model whose map overflows at an exemplar cannot tell classes apart, and has no export. */
static void exemplars_that_overflow_the_map_are_reported(void **state)
{
    (void)state;
    enhope_context *ctx = enhope_context_create();
    enhope_model *model = make_model(ctx, &eh_map_hope, true, 3, 4);
    float Y[8];
    size_t bytes = 17;
    enhope_predictor *p = NULL;
    assert_int_equal(enhope_model_references(ctx, model, Y, NULL), ENHOPE_OK);
    const int64_t V = eh_map_parameters(model->map, &model->shape) - 10; /* (2, 5), the last tensor */
    for (int64_t i = 0; i < 10; i++) model->theta[V + i] = 3e38f;
    assert_int_equal(enhope_model_references(ctx, model, Y, NULL), ENHOPE_ERROR_MODEL);
    assert_string_equal(enhope_error(ctx),
                        "the embedding of exemplar 1 is not finite: the model is damaged; train it again");
    assert_int_equal(enhope_predictor_create(ctx, model, NULL, &p), ENHOPE_ERROR_MODEL);
    assert_int_equal(enhope_model_export_bytes(ctx, model, "json", NULL, NULL, 0, &bytes), ENHOPE_ERROR_MODEL);
    assert_null(p);
    assert_int_equal(bytes, 17);
    enhope_model_free(model);
    enhope_context_free(ctx);
}

/* Finite values that overflow the map, or the distances in its embedding. */
static void rows_that_overflow_the_map_are_refused(void **state)
{
    (void)state;
    enhope_context *ctx = enhope_context_create();
    table *t = make_table();
    for (int m = 0; m < MODELS; m++) {
        enhope_model *model = make(ctx, &models[m]);
        enhope_predictor *p = predictor(ctx, model, 0);
        const enhope_rows one = rows_of(t, ENHOPE_F32, 150, 1), all = rows_of(t, ENHOPE_F32, 0, N);
        enhope_dataset *data = NULL;
        results *r = malloc(sizeof *r);
        const float before = t->f32[150 * H + 44];
        t->f32[150 * H + 44] = -3.1e38f;
        assert_int_equal(enhope_dataset_view_f32(ctx, N, H, t->f32, NULL, 0, NULL, &data), ENHOPE_OK);
        const enhope_status status = enhope_predictor_predict(ctx, p, data, &(enhope_prediction){.Y = r->Y});
        const bool bounded = models[m].order == 1 || (models[m].layers && !models[m].relu); /* by sigmoid units */
        assert_int_equal(status, bounded ? ENHOPE_OK : ENHOPE_ERROR_DATA);
        if (status) assert_non_null(strstr(enhope_error(ctx), "row 151 is too far from the training data"));
        assert_int_equal(enhope_predictor_label(p, &one, r->label), status);
        assert_int_equal(enhope_predictor_label(p, &all, r->label), status);
        assert_int_equal(enhope_predictor_proba(p, &all, r->proba), status);
        assert_int_equal(enhope_predictor_embed(p, &all, r->Y), status);
        for (int64_t i = 0; !status && i < N * models[m].h; i++) assert_true(isfinite(r->Y[i]));
        enhope_dataset_free(data);
        t->f32[150 * H + 44] = before;
        free(r);
        enhope_predictor_free(p);
        enhope_model_free(model);
    }
    enhope_context_free(ctx);
    free(t);
}

static void malformed_rows_are_refused(void **state)
{
    (void)state;
    enhope_context *ctx = enhope_context_create();
    enhope_model *model = make(ctx, &models[0]);
    enhope_predictor *p = predictor(ctx, model, 0);
    const float value[] = {2.5f, 3.5f};
    const int64_t start[] = {0, 2};
    static const int32_t columns[][2] = {{1, H}, {-1, 3}, {4, 4}, {9, 2}};
    int32_t label;
    for (int i = 0; i < 4; i++) {
        const enhope_rows row = {.n = 1, .kind = ENHOPE_CSR, .values = value, .row_start = start, .column = columns[i]};
        assert_int_equal(enhope_predictor_label(p, &row, &label), ENHOPE_ERROR_DATA);
    }
    const enhope_rows none = {.n = 0, .kind = ENHOPE_F32};
    assert_int_equal(enhope_predictor_label(p, &none, &label), ENHOPE_OK);
    assert_int_equal(enhope_predictor_label(p, &(enhope_rows){.n = -1, .kind = ENHOPE_F32}, &label),
                     ENHOPE_ERROR_ARGUMENT);
    assert_int_equal(enhope_predictor_label(p, &(enhope_rows){.n = 1, .kind = (enhope_kind)7}, &label),
                     ENHOPE_ERROR_ARGUMENT);
    enhope_predictor_free(p);
    enhope_predictor_free(NULL);
    enhope_model_free(model);
    enhope_context_free(ctx);
}

static void unsuitable_options_are_refused(void **state)
{
    (void)state;
    enhope_context *ctx = enhope_context_create();
    enhope_model *model = make(ctx, &models[0]);
    enhope_predictor *p = NULL;
    assert_int_equal(enhope_predictor_create(ctx, model, &(enhope_predictor_options){.precision = "half"}, &p),
                     ENHOPE_ERROR_ARGUMENT);
    assert_non_null(strstr(enhope_error(ctx), "'half'"));
    assert_int_equal(enhope_predictor_create(ctx, model, &(enhope_predictor_options){.k = -2}, &p),
                     ENHOPE_ERROR_ARGUMENT);
    assert_int_equal(enhope_context_set_device(ctx, "ref"), 0);
    assert_int_equal(enhope_predictor_create(ctx, model, NULL, &p), ENHOPE_ERROR_ARGUMENT);
    assert_string_equal(enhope_error(ctx), "a predictor computes on the cpu, the device is 'ref'; use device cpu");
    assert_null(p);
    enhope_model_free(model);
    enhope_context_free(ctx);
}

static void denormals_are_flushed_and_the_mode_is_restored(void **state)
{
    (void)state;
#if defined(__SSE2__)
    enhope_context *ctx = enhope_context_create();
    table *t = make_table();
    enhope_model *model = make(ctx, &models[0]);
    enhope_predictor *p = predictor(ctx, model, 0);
    const enhope_rows row = rows_of(t, ENHOPE_U8, 0, 1);
    int32_t label;
    const unsigned mode = _mm_getcsr();
    assert_int_equal(enhope_predictor_label(p, &row, &label), ENHOPE_OK);
    assert_int_equal(_mm_getcsr() & ~0x3Fu, mode & ~0x3Fu); /* all but the flags of exceptions */
    enhope_predictor_free(p);
    enhope_model_free(model);
    enhope_context_free(ctx);
    free(t);
#endif
}

/* ---- memory and threads ---- */

typedef struct creation {
    enhope_context *ctx;
    const enhope_model *model;
} creation;

static enhope_status create_once(void *user)
{
    const creation *c = user;
    enhope_predictor *p = NULL;
    const enhope_status status = enhope_predictor_create(c->ctx, c->model, NULL, &p);
    assert_true(!p == (status != ENHOPE_OK));
    enhope_predictor_free(p);
    return status;
}

static void create_survives_the_failure_of_each_allocation(void **state)
{
    (void)state;
    for (int m = 0; m < MODELS; m++) {
        enhope_context *ctx = enhope_context_create();
        enhope_model *model = make(ctx, &models[m]);
        fail_allocations(ctx, create_once, &(creation){ctx, model}, 1);
        enhope_model_free(model);
        enhope_context_free(ctx);
    }
}

static void calls_allocate_nothing(void **state)
{
    (void)state;
    table *t = make_table();
    results *r = calloc(1, sizeof *r);
    for (int m = 0; m < MODELS; m++) {
        enhope_context *ctx = enhope_context_create();
        enhope_model *model = make(ctx, &models[m]);
        enhope_predictor *p = predictor(ctx, model, 0);
        allocations_left = 0; /* an allocation would fail */
        enhope_set_allocator(counting_malloc, counting_free);
        for (int kind = ENHOPE_U8; kind <= ENHOPE_CSR; kind++) predict(p, t, (enhope_kind)kind, 70, r);
        enhope_set_allocator(NULL, NULL);
        enhope_predictor_free(p);
        enhope_model_free(model);
        enhope_context_free(ctx);
    }
    free(r);
    free(t);
}

typedef struct caller {
    const enhope_predictor *p;
    const table *t;
    const results *wanted;
    int number;
    bool good;
} caller;

static void *call_often(void *argument)
{
    caller *c = argument;
    const int64_t h = c->p->model->shape.h;
    c->good = true;
    for (int round = 0; round < 150; round++) {
        const int64_t first = (c->number * 37 + round * 11) % N, n = eh_min(1 + (round + c->number) % 29, N - first);
        const enhope_rows rows = rows_of(c->t, (enhope_kind)(round % 3), first, n);
        int32_t label[N];
        float Y[N * MAX_h];
        c->good = c->good && !enhope_predictor_label(c->p, &rows, label) && !enhope_predictor_embed(c->p, &rows, Y) &&
                  !memcmp(label, c->wanted->label + first, (size_t)n * sizeof *label) &&
                  !memcmp(Y, c->wanted->Y + first * h, (size_t)(n * h) * sizeof *Y);
    }
    return NULL;
}

/* More threads than workspaces. The second model is too large for the stack. */
static void many_threads_share_a_predictor(void **state)
{
    (void)state;
    enum { THREADS = 9 };
    static const kind_of_model sizes[] = {
        {.map = &eh_map_hope, .F = 37, .m = 21, .h = 2, .order = 3, .exemplars = true},
        {.map = &eh_map_hope, .F = 9000, .m = 5, .h = 2, .order = 1, .exemplars = true},
    };
    table *t = make_table();
    results *wanted = calloc(1, sizeof *wanted);
    for (int m = 0; m < 2; m++) {
        enhope_context *ctx = enhope_context_create();
        assert_int_equal(enhope_context_set_threads(ctx, 1), 0);
        enhope_model *model = make(ctx, &sizes[m]);
        enhope_predictor *p = predictor(ctx, model, 0);
        pthread_t thread[THREADS];
        caller callers[THREADS];
        predict(p, t, ENHOPE_U8, N, wanted);
        for (int i = 0; i < THREADS; i++) {
            callers[i] = (caller){.p = p, .t = t, .wanted = wanted, .number = i};
            assert_int_equal(pthread_create(&thread[i], NULL, call_often, &callers[i]), 0);
        }
        for (int i = 0; i < THREADS; i++) {
            assert_int_equal(pthread_join(thread[i], NULL), 0);
            assert_true(callers[i].good);
        }
        enhope_predictor_free(p);
        enhope_model_free(model);
        enhope_context_free(ctx);
    }
    free(wanted);
    free(t);
}

/* With every workspace in use, calls compute on the stack. */
static void calls_without_a_workspace_give_the_same_bits(void **state)
{
    (void)state;
    table *t = make_table();
    results *wanted = calloc(1, sizeof *wanted), *other = calloc(1, sizeof *other);
    for (int m = 0; m < MODELS; m++) {
        enhope_context *ctx = enhope_context_create();
        enhope_model *model = make(ctx, &models[m]);
        enhope_predictor *p = predictor(ctx, model, 0);
        predict(p, t, ENHOPE_U8, N, wanted);
        for (int i = 0; i < p->workspaces; i++) atomic_store(&p->used[i], true);
        predict(p, t, ENHOPE_U8, 40, other);
        for (int i = 0; i < p->workspaces; i++) atomic_store(&p->used[i], false);
        assert_memory_equal(wanted, other, sizeof *wanted);
        enhope_predictor_free(p);
        enhope_model_free(model);
        enhope_context_free(ctx);
    }
    free(wanted);
    free(other);
    free(t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bits_do_not_depend_on_batch_kind_or_threads),
        cmocka_unit_test(dense_rows_have_the_numbers_of_the_backend),
        cmocka_unit_test(embeddings_match_the_reference_backend),
        cmocka_unit_test(the_label_is_the_class_of_the_largest_probability),
        cmocka_unit_test(neighbors_vote_if_k_is_given),
        cmocka_unit_test(nearest_neighbors_in_many_dimensions_are_found),
        cmocka_unit_test(values_that_are_not_finite_are_refused),
        cmocka_unit_test(exemplars_that_overflow_the_map_are_reported),
        cmocka_unit_test(rows_that_overflow_the_map_are_refused),
        cmocka_unit_test(malformed_rows_are_refused),
        cmocka_unit_test(unsuitable_options_are_refused),
        cmocka_unit_test(denormals_are_flushed_and_the_mode_is_restored),
        cmocka_unit_test(create_survives_the_failure_of_each_allocation),
        cmocka_unit_test(calls_allocate_nothing),
        cmocka_unit_test(many_threads_share_a_predictor),
        cmocka_unit_test(calls_without_a_workspace_give_the_same_bits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
