/* The int8 engine: every kernel against plain loops, calibration, weights, files and refusals. */
#define _XOPEN_SOURCE 700
#include "model_fixture.h"

#if defined(__SSE2__)
#include <xmmintrin.h>
#endif

#include "data/data.h"
#include "int8_support.h"
#include "predict/engine.h"

/* The 256-bit instructions of AVX-VNNI exist in AVX-512 with another encoding. The kernel is
 * compiled for either, so that it is tested on both. */
#if defined(__x86_64__)
extern const eh_int8_kernel avx_vnni_by_evex;
#endif

/* Kernel i of those that this processor supports; NULL: no more. */
static const eh_int8_kernel *kernel_at(int i)
{
    int found = 0;
    for (int k = 0; eh_int8_kernel_get(k); k++)
        if (eh_int8_kernel_get(k)->supported() && found++ == i) return eh_int8_kernel_get(k);
#if defined(__x86_64__)
    if (i == found && avx_vnni_by_evex.supported()) return &avx_vnni_by_evex;
#endif
    return NULL;
}

static eh_matrix bytes_of(const sample_map *s)
{
    return (eh_matrix){.kind = ENHOPE_U8, .n = s->n, .H = s->shape.H, .u8 = s->u8};
}

static eh_matrix floats_of(const sample_map *s)
{
    return (eh_matrix){.kind = ENHOPE_F32, .n = s->n, .H = s->shape.H, .f32 = s->f32};
}

/* ---- kernels ---- */

static void check_kernels(const sample_map *s, const eh_matrix *x)
{
    const size_t size = (size_t)(s->n * s->shape.h) * sizeof(float);
    float *Y = malloc(size);
    for (int i = 0; kernel_at(i); i++)
        for (int64_t rows = 1; rows <= s->n; rows += rows < 6 ? 1 : 5) {
            memset(Y, 0x55, size);
            assert_true(embed_with(kernel_at(i), s, x, rows, Y));
            if (memcmp(Y, s->wanted, size))
                fail_msg("kernel %s, H %d F %d m %d h %d O %d, tiles of %d rows", kernel_at(i)->name, (int)s->shape.H,
                         (int)s->shape.F, (int)s->shape.m, (int)s->shape.h, s->shape.order, (int)rows);
        }
    free(Y);
}

static void every_kernel_has_the_bits_of_the_documented_arithmetic(void **state)
{
    (void)state;
    static const int shape[][5] = {{1, 1, 1, 1, 1},    {7, 13, 5, 2, 3},     {13, 7, 19, 3, 2},   {64, 64, 64, 2, 3},
                                   {65, 81, 70, 2, 4}, {131, 100, 33, 1, 5}, {9, 300, 150, 2, 3}, {784, 40, 24, 2, 2}};
    for (size_t i = 0; i < sizeof shape / sizeof *shape; i++)
        for (int bytes = 0; bytes < 2; bytes++)
            for (int zeros = 0; zeros < 8; zeros += 3) {
                const int *d = shape[i];
                sample_map s = make_map(d[0], d[1], d[2], d[3], d[4], zeros, bytes, i);
                const eh_matrix f32 = floats_of(&s), u8 = bytes_of(&s);
                check_kernels(&s, &f32);
                if (bytes) check_kernels(&s, &u8);
                free_map(&s);
            }
}

static void bytes_with_other_ranges_are_floats(void **state)
{
    (void)state;
    sample_map s = make_map(23, 17, 9, 2, 3, 0, false, 5);
    for (int64_t i = 0; i < s.n * s.shape.H; i++) s.f32[i] = s.u8[i];
    for (int64_t i = 0; i < s.n; i++) reference_row(&s, s.f32 + i * s.shape.H, s.wanted + i * s.shape.h);
    const eh_matrix x = bytes_of(&s);
    check_kernels(&s, &x);
    free_map(&s);
}

static void sparse_rows_equal_dense_rows(void **state)
{
    (void)state;
    enum { H = 37 };
    for (int bytes = 0; bytes < 2; bytes++) {
        sample_map s = make_map(H, 29, 18, 2, 3, 4, bytes, 6);
        int64_t start[12] = {0}, stored = 0;
        int32_t column[11 * H];
        float value[11 * H];
        for (int64_t i = 0; i < s.n; i++) {
            for (int32_t k = 0; k < H; k++) {
                s.f32[i * H + k] = s.u8[i * H + k];
                if (!s.u8[i * H + k]) continue;
                column[stored] = k;
                value[stored++] = s.u8[i * H + k];
            }
            start[i + 1] = stored;
            reference_row(&s, s.f32 + i * H, s.wanted + i * s.shape.h);
        }
        const eh_matrix x = {
            .kind = ENHOPE_CSR, .n = s.n, .H = H, .row_start = start, .column = column, .value = value};
        check_kernels(&s, &x);
        value[stored - 1] = INFINITY;
        float Y[22];
        assert_false(embed_with(kernel_at(0), &s, &x, 4, Y));
        free_map(&s);
    }
}

static void numbers_that_are_not_finite_are_found(void **state)
{
    (void)state;
    const float bad[] = {NAN, INFINITY, -INFINITY};
    sample_map s = make_map(45, 9, 8, 2, 2, 0, false, 8);
    float Y[22];
    for (int i = 0; kernel_at(i); i++)
        for (int64_t at = 0; at < s.n * s.shape.H; at += 22) {
            const float kept = s.f32[at];
            const eh_matrix x = floats_of(&s);
            s.f32[at] = bad[at % 3];
            assert_false(embed_with(kernel_at(i), &s, &x, 3, Y));
            s.f32[at] = kept;
        }
    free_map(&s);
}

/* The largest sums that a file may have, powers that overflow, and the largest finite inputs. */
static void extreme_numbers_saturate(void **state)
{
    (void)state;
    sample_map s = make_map(66, 20, 18, 2, 3, 0, false, 9);
    for (int64_t i = 0; i < s.shape.H * s.shape.F; i++) s.q.C[i] = i % 3 ? 127 : -127;
    for (int64_t f = 0; f < s.shape.F; f++) s.q.C_scale[f] = f % 2 ? EH_QUANTIZED_MAX : EH_QUANTIZED_MIN;
    for (int64_t j = 0; j < s.shape.m; j++) s.q.W_scale[j] = j % 3 ? EH_QUANTIZED_MAX : 1;
    for (int64_t i = 0; i < s.n * s.shape.H; i++) s.f32[i] = i % 2 ? 3.4e38f : -3.4e38f;
    for (int64_t i = 0; i < s.n; i++) {
        reference_row(&s, s.f32 + i * s.shape.H, s.wanted + i * s.shape.h);
        assert_true(isfinite(s.wanted[i * s.shape.h]));
    }
    const eh_matrix x = floats_of(&s);
    check_kernels(&s, &x);
    free_map(&s);
}

static void the_treatment_of_denormal_numbers_has_no_effect(void **state)
{
    (void)state;
#if defined(__SSE2__)
    sample_map s = make_map(31, 22, 20, 2, 3, 0, false, 10);
    const float tiny[] = {1e-40f, -3e-39f, 0x1p-126f, 0x1p-60f, -0x1.8p-61f, 0};
    for (int64_t k = 0; k < s.shape.H; k++) s.q.low[k] = tiny[k % 6], s.q.step[k] = EH_QUANTIZED_MIN;
    for (int64_t f = 0; f < s.shape.F; f++) {
        s.q.C_scale[f] = EH_QUANTIZED_MIN;
        s.q.C_bias[f] = tiny[f % 6];
        s.q.power_low[f] = tiny[f % 5];
        s.q.power_step[f] = EH_QUANTIZED_MIN;
    }
    for (int64_t j = 0; j < s.shape.m; j++) s.q.W_scale[j] = EH_QUANTIZED_MIN, s.q.W_bias[j] = tiny[j % 6];
    for (int64_t i = 0; i < s.shape.h * s.shape.m; i++) s.V[i] = i % 2 ? 0 : EH_QUANTIZED_MIN;
    for (int64_t i = 0; i < s.n * s.shape.H; i++) s.f32[i] = tiny[i % 6] * (float)(i % 7);
    for (int64_t i = 0; i < s.n; i++) reference_row(&s, s.f32 + i * s.shape.H, s.wanted + i * s.shape.h);
    const eh_matrix x = floats_of(&s);
    check_kernels(&s, &x);
    const unsigned mode = _mm_getcsr();
    _mm_setcsr(mode | 0x8040); /* flush to zero, denormals are zero */
    check_kernels(&s, &x);
    _mm_setcsr(mode);
    free_map(&s);
#endif
}

static void entries_of_v_below_the_bound_count_as_zero(void **state)
{
    (void)state;
    sample_map s = make_map(5, 6, 7, 1, 2, 0, false, 11);
    const eh_matrix x = floats_of(&s);
    s.V[3] = 0;
    for (int64_t i = 0; i < s.n; i++) reference_row(&s, s.f32 + i * 5, s.wanted + i);
    s.V[3] = 0x1.fp-61f;
    check_kernels(&s, &x);
    free_map(&s);
}

/* ---- weights ---- */

/* A model with ranges: x is about low + step * code. */
static enhope_model *ranged_model(enhope_context *ctx, bool ranges)
{
    enhope_model *model = make_model(ctx, &eh_map_hope, true, 7, 4);
    if (!ranges) return model;
    assert_int_equal(eh_quantized_create(ctx, &model->shape, false, &model->int8), 0);
    for (int k = 0; k < 7; k++)
        model->int8->low[k] = -0.3f * (float)k, model->int8->step[k] = 0.011f + 0.001f * (float)k;
    for (int f = 0; f < 4; f++) model->int8->power_low[f] = 0.1f * (float)f, model->int8->power_step[f] = 0.03f;
    return model;
}

static void weights_are_the_nearest_integers(void **state)
{
    (void)state;
    enhope_context *ctx = enhope_context_create();
    enhope_model *model = ranged_model(ctx, true);
    eh_quantized *q = NULL;
    assert_int_equal(eh_model_quantized(ctx, model, &q), 0);
    for (int f = 0; f < 4; f++) {
        double bias = model->theta[7 * 4 + f], largest = 0;
        for (int k = 0; k < 7; k++) {
            const double G = (double)model->theta[k * 4 + f] * (double)model->mul[k] * (double)q->step[k];
            const double lost = fabs(G - q->C[k * 4 + f] * (double)q->C_scale[f]);
            largest = fmax(largest, fabs(G));
            assert_true(lost <= 0.5000001 * (double)q->C_scale[f] || abs(q->C[k * 4 + f]) == 127);
            bias +=
                (double)(q->low[k] - model->shift[k]) / (double)q->step[k] * q->C[k * 4 + f] * (double)q->C_scale[f];
        }
        assert_true((double)q->C_scale[f] <= 1.000001 * largest / 127 && (double)q->C_scale[f] >= 0.5 * largest / 127);
        assert_true(fabs(bias - (double)q->C_bias[f]) < 1e-6 * fmax(1, fabs(bias)));
    }
    eh_quantized_free(q);
    enhope_model_free(model);
    enhope_context_free(ctx);
}

static void decoded_weights_give_the_same_integers(void **state)
{
    (void)state;
    enhope_context *ctx = enhope_context_create();
    enhope_model *model = ranged_model(ctx, true), *decoded = NULL;
    eh_quantized *q = NULL, *again = NULL;
    assert_int_equal(eh_model_quantized(ctx, model, &q), 0);
    assert_int_equal(eh_model_copy_all(ctx, model, &decoded), 0);
    assert_int_equal(eh_quantized_decode(ctx, q, decoded), 0);
    for (int i = 0; i < 8 * 4; i++) assert_true(fabsf(decoded->theta[i] - model->theta[i]) < 0.03f);
    assert_int_equal(eh_model_quantized(ctx, decoded, &again), 0);
    for (int f = 0; f < 4; f++) /* unless another scale has the same error: none */
        for (int k = 0; k < 7; k++)
            assert_true(fabs(q->C[k * 4 + f] * (double)q->C_scale[f] -
                             again->C[k * 4 + f] * (double)again->C_scale[f]) < 1e-4 * (double)q->C_scale[f]);
    eh_quantized_free(q);
    eh_quantized_free(again);
    enhope_model_free(model);
    enhope_model_free(decoded);
    enhope_context_free(ctx);
}

static void sums_of_very_wide_maps_fit_into_32_bits(void **state)
{
    (void)state;
    enum { H = 70001 };
    enhope_context *ctx = enhope_context_create();
    enhope_model *model = NULL;
    const eh_map_shape shape = {.H = H, .h = 1, .F = 1, .m = 1, .order = 1};
    assert_int_equal(eh_model_create(ctx, "en-hope", &eh_map_hope, &shape, 1, false, 1, 0, 0, &model), 0);
    for (int64_t i = 0; i < H + 4; i++) model->theta[i] = 0.5f;
    for (int64_t k = 0; k < H; k++) model->mul[k] = 1;
    eh_quantized *q = NULL;
    assert_int_equal(eh_quantized_create(ctx, &shape, false, &model->int8), 0);
    for (int64_t k = 0; k < H; k++) model->int8->step[k] = 1;
    model->int8->power_step[0] = 1;
    assert_int_equal(eh_model_quantized(ctx, model, &q), 0);
    assert_true(q->C[0] > 100 && q->C[0] * (int64_t)H <= EH_QUANTIZED_SUM);
    assert_int_equal(eh_quantized_check(ctx, &shape, q), 0);
    memset(q->C, 127, H);
    assert_int_equal(eh_quantized_check(ctx, &shape, q), ENHOPE_ERROR_MODEL);
    assert_string_equal(enhope_error(ctx),
                        "tensor int8.C has magnitudes of sum 8890127 in column 0: expected at most 8421504");
    eh_quantized_free(q);
    enhope_model_free(model);
    enhope_context_free(ctx);
}

/* ---- calibration ---- */

/* The ranges of rows x (n, 7) for a model. */
static eh_quantized *ranges_of(enhope_context *ctx, const enhope_model *model, const float *x, int64_t n)
{
    const eh_matrix rows = {.kind = ENHOPE_F32, .n = n, .H = 7, .f32 = x};
    eh_quantized *q = NULL;
    assert_int_equal(eh_int8_calibrate(ctx, model, &rows, NULL, n, &q), 0);
    assert_null(q->C);
    assert_int_equal(eh_quantized_check(ctx, &model->shape, q), 0);
    return q;
}

static void calibration_finds_ranges_with_the_lowest_error(void **state)
{
    (void)state;
    enum { N = 601 };
    enhope_context *ctx = enhope_context_create();
    enhope_model *model = ranged_model(ctx, false);
    float x[N * 7];
    for (int i = 0; i < N; i++) {
        const float normal = irregular((uint64_t)(1000 + i));
        float *row = x + i * 7;
        row[0] = 2.385f;                              /* a constant */
        row[1] = (float)(i % 2);                      /* categories */
        row[2] = (float)(3 + i % 16);                 /* integers */
        row[3] = 10 * normal;                         /* any range */
        row[4] = i % 10 ? 0 : normal;                 /* mostly zero, with both signs */
        row[5] = i == 77 ? 1000 : 3 * cosf((float)i); /* an outlier, which a range must not cut */
        row[6] = normal * normal * normal * normal * 1e20f;
    }
    eh_quantized *q = ranges_of(ctx, model, x, N);
    for (int i = 0; i < N; i++) {
        const float *row = x + i * 7;
        for (int k = 0; k < 7; k++) {
            const float back = q->low[k] + q->step[k] * (float)code(row[k], q->low[k], q->step[k]);
            if (k == 0) assert_true(back == row[k]);
            if (k == 1 || k == 2) assert_true(fabsf(back - row[k]) < 1e-5f);
            if (k == 4 && !row[k]) assert_true(fabsf(back) < 1e-6f);
            if (k == 5) assert_true(fabsf(back - row[k]) < 2.1f);
        }
    }
    assert_true(q->step[3] > 0.1f && q->step[3] < 0.3f);
    eh_quantized *again = ranges_of(ctx, model, x, N);
    assert_memory_equal(q->power_low, again->power_low, 4 * sizeof(float));
    assert_memory_equal(q->power_step, again->power_step, 4 * sizeof(float));
    eh_quantized_free(q);
    eh_quantized_free(again);
    enhope_model_free(model);
    enhope_context_free(ctx);
}

static void bytes_of_one_range_are_their_own_codes(void **state)
{
    (void)state;
    enhope_context *ctx = enhope_context_create();
    enhope_model *model = ranged_model(ctx, false);
    uint8_t x[70];
    for (int i = 0; i < 70; i++) x[i] = (uint8_t)(i * 37);
    const eh_matrix rows = {.kind = ENHOPE_U8, .n = 10, .H = 7, .u8 = x};
    for (int same = 0; same < 2; same++) {
        eh_quantized *q = NULL;
        for (int k = 0; k < 7 && same; k++) model->mul[k] = 1 / 255.0f, model->shift[k] = 0;
        assert_int_equal(eh_int8_calibrate(ctx, model, &rows, NULL, 10, &q), 0);
        for (int k = 0; k < 7 && same; k++) assert_true(q->low[k] == 0 && q->step[k] == 1);
        if (!same) assert_true(q->step[1] != 1);
        eh_quantized_free(q);
    }
    enhope_model_free(model);
    enhope_context_free(ctx);
}

static void weights_that_are_not_numbers_are_refused(void **state)
{
    (void)state;
    enhope_context *ctx = enhope_context_create();
    enhope_model *model = ranged_model(ctx, false);
    eh_quantized *q = NULL;
    float x[14] = {0.5f, -1.25f, 3};
    const eh_matrix rows = {.kind = ENHOPE_F32, .n = 2, .H = 7, .f32 = x};
    model->theta[3 * 4 + 2] = NAN;
    assert_int_equal(eh_int8_calibrate(ctx, model, &rows, NULL, 2, &q), ENHOPE_ERROR_MODEL);
    assert_string_equal(enhope_error(ctx),
                        "tensor map.C has NaN or numbers above 2^100 in column 2; int8 needs smaller ones");
    assert_null(q);
    enhope_model_free(model);
    enhope_context_free(ctx);
}

static void sparse_and_dense_rows_have_the_same_ranges(void **state)
{
    (void)state;
    enum { N = 90 };
    enhope_context *ctx = enhope_context_create();
    enhope_model *model = ranged_model(ctx, false);
    float x[N * 7], value[N * 7];
    int64_t start[N + 1] = {0}, stored = 0;
    int32_t column[N * 7];
    for (int i = 0; i < N; i++) {
        for (int32_t k = 0; k < 7; k++) {
            x[i * 7 + k] = (i + k) % 3 ? 0 : irregular((uint64_t)(i * 7 + k)) + (k < 4 ? 0 : 2);
            if (x[i * 7 + k] == 0) continue;
            column[stored] = k;
            value[stored++] = x[i * 7 + k];
        }
        start[i + 1] = stored;
    }
    const eh_matrix rows = {.kind = ENHOPE_CSR, .n = N, .H = 7, .row_start = start, .column = column, .value = value};
    for (int same = 0; same < 2; same++) {
        for (int k = 0; k < 7 && same; k++) model->mul[k] = 0.5f, model->shift[k] = 0;
        eh_quantized *dense = ranges_of(ctx, model, x, N), *sparse = NULL;
        assert_int_equal(eh_int8_calibrate(ctx, model, &rows, NULL, N, &sparse), 0);
        for (int k = 0; k < 7; k++) {
            assert_float_equal(dense->low[k], sparse->low[k], 1e-6);
            assert_float_equal(dense->step[k], sparse->step[k], 1e-6);
        }
        eh_quantized_free(dense);
        eh_quantized_free(sparse);
    }
    enhope_model_free(model);
    enhope_context_free(ctx);
}

/* ---- models ---- */

/* A model of digits, its training data, and a new part of it. */
static enhope_model *trained(enhope_context *ctx, const char *order, enhope_dataset **data, enhope_dataset **others)
{
    enhope_settings *settings = enhope_settings_create();
    enhope_model *model = NULL;
    const char *const setting[][2] = {{"n_factors", "37"}, {"n_hidden", "21"}, {"n_epochs", "6"}, {"order", order}};
    for (int i = 0; i < 4; i++) assert_int_equal(enhope_settings_set(ctx, settings, setting[i][0], setting[i][1]), 0);
    assert_int_equal(enhope_dataset_read(ctx, &(enhope_source){.path = "synthetic:digits,n=700,seed=3"}, data), 0);
    assert_int_equal(enhope_dataset_read(ctx, &(enhope_source){.path = "synthetic:digits,n=300,seed=4"}, others), 0);
    assert_int_equal(enhope_train(ctx, *data, settings, NULL, NULL, &model), 0);
    enhope_settings_free(settings);
    return model;
}

/* The embedding (n, 2) with a precision; labels may be NULL. */
static float *embedded(enhope_context *ctx, const enhope_model *model, const enhope_dataset *data,
                       const char *precision, int32_t *label)
{
    enhope_predictor *p = NULL;
    float *Y = malloc((size_t)data->x.n * 2 * sizeof *Y);
    const enhope_rows rows = {.n = data->x.n, .kind = ENHOPE_U8, .values = data->x.u8};
    assert_int_equal(enhope_predictor_create(ctx, model, &(enhope_predictor_options){.precision = precision}, &p), 0);
    assert_int_equal(enhope_predictor_embed(p, &rows, Y), 0);
    if (label) assert_int_equal(enhope_predictor_label(p, &rows, label), 0);
    enhope_predictor_free(p);
    return Y;
}

static void a_trained_model_predicts_in_int8_what_it_predicts_in_float(void **state)
{
    (void)state;
    for (int order = 2; order < 4; order++) {
        enhope_context *ctx = enhope_context_create();
        enhope_dataset *data = NULL, *others = NULL;
        enhope_model *model = trained(ctx, order == 2 ? "2" : "3", &data, &others), *small = NULL, *loaded = NULL;
        const char *path = in_folder("small");
        int32_t label[300], label8[300], differ = 0;
        assert_int_equal(enhope_model_int8(model), 1);
        float *Y = embedded(ctx, model, others, "float32", label), *Y8 = embedded(ctx, model, others, "int8", label8);
        double error = 0, square = 0;
        for (int i = 0; i < 600; i++) error += pow(Y[i] - Y8[i], 2), square += pow(Y[i], 2);
        for (int i = 0; i < 300; i++) differ += label[i] != label8[i];
        assert_true(error > 0 && sqrt(error / square) < 0.02);
        assert_true(differ <= 6);

        assert_int_equal(enhope_model_quantize(ctx, model, data, &small), 0);
        assert_int_equal(enhope_model_int8(small), 2);
        assert_int_equal(enhope_model_save(ctx, small, path), 0);
        assert_int_equal(enhope_model_load(ctx, path, &loaded), 0);
        assert_int_equal(enhope_model_int8(loaded), 2);
        float *A = embedded(ctx, small, others, NULL, NULL), *B = embedded(ctx, loaded, others, NULL, NULL);
        float *C = embedded(ctx, loaded, others, "float32", NULL), *D = embedded(ctx, small, others, "float32", NULL);
        assert_memory_equal(A, B, 600 * sizeof *A);
        assert_memory_equal(C, D, 600 * sizeof *C);
        error = 0;
        for (int i = 0; i < 600; i++) error += pow(C[i] - B[i], 2);
        assert_true(error > 0 && sqrt(error / square) < 0.02);
        float *const all[] = {Y, Y8, A, B, C, D};
        for (int i = 0; i < 6; i++) free(all[i]);
        unlink(path);
        enhope_model_free(model);
        enhope_model_free(small);
        enhope_model_free(loaded);
        enhope_dataset_free(data);
        enhope_dataset_free(others);
        enhope_context_free(ctx);
    }
}

static void models_without_ranges_and_other_maps_are_refused(void **state)
{
    (void)state;
    enhope_context *ctx = enhope_context_create();
    enhope_model *hope = ranged_model(ctx, false), *linear = make_model(ctx, &eh_map_linear, true, 7, 4), *out = NULL;
    enhope_predictor *p = NULL;
    enhope_dataset *data = NULL;
    const enhope_predictor_options int8 = {.precision = "int8"};
    const float x[7] = {1, 2, 3, 4, 5, 6, 7};
    assert_int_equal(enhope_predictor_create(ctx, hope, &int8, &p), ENHOPE_ERROR_ARGUMENT);
    assert_non_null(strstr(enhope_error(ctx), "enhope quantize"));
    assert_int_equal(enhope_predictor_create(ctx, linear, &int8, &p), ENHOPE_ERROR_ARGUMENT);
    assert_non_null(strstr(enhope_error(ctx), "this model has the map linear"));
    assert_int_equal(enhope_dataset_view_f32(ctx, 1, 7, x, NULL, 0, NULL, &data), 0);
    assert_int_equal(enhope_model_quantize(ctx, linear, data, &out), ENHOPE_ERROR_ARGUMENT);
    assert_int_equal(enhope_model_int8(hope), 0);
    assert_null(p);
    assert_null(out);
    enhope_dataset_free(data);
    enhope_model_free(hope);
    enhope_model_free(linear);
    enhope_context_free(ctx);
}

static void damaged_int8_tensors_are_refused(void **state)
{
    (void)state;
    enhope_context *ctx = enhope_context_create();
    enhope_model *model = ranged_model(ctx, true), *loaded = NULL;
    const char *path = in_folder("damaged");
    eh_quantized *q = NULL;
    assert_int_equal(eh_model_quantized(ctx, model, &q), 0);
    eh_quantized_free(model->int8);
    model->int8 = q;
    const struct {
        float *at;
        float value;
        const char *message;
    } cases[] = {
        {&q->step[2], 0, "tensor int8.step has 0 (element 2): expected a number from 2^-60 to 2^100"},
        {&q->power_step[1], -1, "tensor int8.power_step has -1 (element 1): expected a number from 2^-60 to 2^100"},
        {&q->C_scale[3], 1e31f, "tensor int8.C_scale has 1e+31 (element 3): expected a number from 2^-60 to 2^100"},
        {&q->W_scale[0], 1e-19f, "tensor int8.W_scale has 1e-19 (element 0): expected a number from 2^-60 to 2^100"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const float kept = *cases[i].at;
        *cases[i].at = cases[i].value;
        assert_int_equal(enhope_model_save(ctx, model, path), 0);
        *cases[i].at = kept;
        assert_int_equal(enhope_model_load(ctx, path, &loaded), ENHOPE_ERROR_MODEL);
        assert_message(ctx, path, cases[i].message);
    }
    q->W[5] = -128;
    assert_int_equal(enhope_model_save(ctx, model, path), 0);
    assert_int_equal(enhope_model_load(ctx, path, &loaded), ENHOPE_ERROR_MODEL);
    assert_message(ctx, path, "tensor int8.W has -128 (element 5): expected -127 to 127");
    q->C_bias[1] = NAN;
    assert_int_equal(enhope_model_save(ctx, model, path), ENHOPE_ERROR_MODEL);
    assert_null(loaded);
    unlink(path);
    enhope_model_free(model);
    enhope_context_free(ctx);
}

static void missing_int8_tensors_are_named(void **state)
{
    (void)state;
    static const char *const names[] = {"low",    "step",    "power_low", "power_step", "C_scale",
                                        "C_bias", "W_scale", "W_bias",    "C",          "W"};
    enhope_context *ctx = enhope_context_create();
    enhope_model *model = ranged_model(ctx, true), *loaded = NULL;
    const char *path = in_folder("missing");
    eh_quantized *q = NULL;
    assert_int_equal(eh_model_quantized(ctx, model, &q), 0);
    for (int weights = 0; weights < 2; weights++) {
        size_t size;
        if (weights) {
            eh_quantized_free(model->int8);
            model->int8 = q;
        }
        assert_int_equal(enhope_model_save(ctx, model, path), 0);
        unsigned char *bytes = read_all(path, &size);
        for (int i = 0; i < (weights ? 10 : 4); i++) {
            char name[40], expected[64];
            snprintf(name, sizeof name, "\"int8.%s\"", names[i]);
            snprintf(expected, sizeof expected, "tensor %s.%s is missing", i == 8 ? "map" : "int8", names[i]);
            unsigned char *at = NULL;
            for (size_t b = 8; b + 40 < size && !at; b++)
                if (!memcmp(bytes + b, name, strlen(name))) at = bytes + b;
            assert_non_null(at);
            at[1] = 'j';
            write_all(path, bytes, size);
            at[1] = 'i';
            const enhope_status status = enhope_model_load(ctx, path, &loaded);
            if (i == 0 && !weights) { /* without the first, the model has no ranges */
                assert_int_equal(status, 0);
                assert_null(loaded->int8);
                enhope_model_free(loaded);
                loaded = NULL;
            } else {
                assert_int_equal(status, ENHOPE_ERROR_MODEL);
                assert_message(ctx, path, expected);
            }
        }
        free(bytes);
    }
    assert_null(loaded);
    unlink(path);
    enhope_model_free(model);
    enhope_context_free(ctx);
}

typedef struct ranged {
    enhope_context *ctx;
    enhope_model *model;
    enhope_dataset *data;
} ranged;

static enhope_status quantize_once(void *user)
{
    const ranged *r = user;
    enhope_model *small = NULL;
    const enhope_status status = enhope_model_quantize(r->ctx, r->model, r->data, &small);
    enhope_model_free(small);
    return status;
}

static enhope_status create_engine(void *user)
{
    const ranged *r = user;
    void *engine = NULL;
    const enhope_status status = eh_engine_int8.create(r->ctx, r->model, &engine);
    eh_engine_int8.free(engine);
    return status;
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    ranged r = {.ctx = enhope_context_create()};
    r.model = ranged_model(r.ctx, true);
    float x[7 * 9];
    for (int i = 0; i < 63; i++) x[i] = irregular((uint64_t)i);
    assert_int_equal(enhope_dataset_view_f32(r.ctx, 9, 7, x, NULL, 0, NULL, &r.data), 0);
    assert_true(fail_allocations(r.ctx, quantize_once, &r, 1) > 10);
    assert_true(fail_allocations(r.ctx, create_engine, &r, 1) > 10);
    enhope_dataset_free(r.data);
    enhope_model_free(r.model);
    enhope_context_free(r.ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_kernel_has_the_bits_of_the_documented_arithmetic),
        cmocka_unit_test(bytes_with_other_ranges_are_floats),
        cmocka_unit_test(sparse_rows_equal_dense_rows),
        cmocka_unit_test(numbers_that_are_not_finite_are_found),
        cmocka_unit_test(extreme_numbers_saturate),
        cmocka_unit_test(the_treatment_of_denormal_numbers_has_no_effect),
        cmocka_unit_test(entries_of_v_below_the_bound_count_as_zero),
        cmocka_unit_test(weights_are_the_nearest_integers),
        cmocka_unit_test(weights_that_are_not_numbers_are_refused),
        cmocka_unit_test(decoded_weights_give_the_same_integers),
        cmocka_unit_test(sums_of_very_wide_maps_fit_into_32_bits),
        cmocka_unit_test(calibration_finds_ranges_with_the_lowest_error),
        cmocka_unit_test(bytes_of_one_range_are_their_own_codes),
        cmocka_unit_test(sparse_and_dense_rows_have_the_same_ranges),
        cmocka_unit_test(a_trained_model_predicts_in_int8_what_it_predicts_in_float),
        cmocka_unit_test(models_without_ranges_and_other_maps_are_refused),
        cmocka_unit_test(damaged_int8_tensors_are_refused),
        cmocka_unit_test(missing_int8_tensors_are_named),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
