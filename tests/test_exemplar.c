/* Exemplars: shares of classes, random draws, and k-means compared with brute force. */
#include <float.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "exemplar/exemplar.h"
#include "memory_support.h"

/* ---- shares ---- */

static void check_share(enhope_context *ctx, int64_t z, int32_t c, const int64_t *counts, const int64_t *expected)
{
    int64_t share[8];
    assert_int_equal(eh_exemplar_share(ctx, z, c, counts, share), ENHOPE_OK);
    for (int32_t k = 0; k < c; k++)
        if (share[k] != expected[k])
            fail_msg("z = %lld, class %d: %lld, expected %lld", (long long)z, k, (long long)share[k],
                     (long long)expected[k]);
}

static void classes_have_equal_shares(void **state)
{
    (void)state;
    enhope_context *ctx = enhope_context_create();
    const int64_t news[4] = {4605, 3519, 2657, 5461}; /* the classes of 20news */
    check_share(ctx, 4, 4, news, (const int64_t[]){1, 1, 1, 1});
    check_share(ctx, 8, 4, news, (const int64_t[]){2, 2, 2, 2});
    /* the remainder goes to the largest classes, the lower one first */
    check_share(ctx, 10, 4, news, (const int64_t[]){3, 2, 2, 3});
    check_share(ctx, 5, 3, (const int64_t[]){7, 7, 7}, (const int64_t[]){2, 2, 1});
    /* unbalanced classes get equal shares unless they are too small */
    check_share(ctx, 10, 3, (const int64_t[]){980, 11, 9}, (const int64_t[]){4, 3, 3});
    check_share(ctx, 6, 3, (const int64_t[]){998, 1, 1}, (const int64_t[]){4, 1, 1});
    check_share(ctx, 9, 3, (const int64_t[]){900, 2, 50}, (const int64_t[]){4, 2, 3});
    /* classes without samples get none */
    check_share(ctx, 5, 4, (const int64_t[]){0, 30, 0, 20}, (const int64_t[]){0, 3, 0, 2});
    check_share(ctx, 1, 1, (const int64_t[]){17}, (const int64_t[]){1});
    assert_int_equal(eh_exemplar_default_count(2, 4, (const int64_t[]){100, 1, 0, 2}), 5);
    enhope_context_free(ctx);
}

static void shares_are_even_and_sum_to_z(void **state)
{
    (void)state;
    enhope_context *ctx = enhope_context_create();
    for (uint64_t trial = 0; trial < 400; trial++) {
        int64_t counts[9], share[9], sum = 0, largest = 0;
        const int32_t c = 2 + (int32_t)(eh_random_u64(7, 99, trial) % 8);
        for (int32_t k = 0; k < c; k++)
            counts[k] = 10 + (int64_t)(eh_random_u64(8, 99, trial * 16 + (uint64_t)k) % 100);
        const int64_t z = c + (int64_t)(eh_random_u64(9, 99, trial) % (uint64_t)(9 * c));
        assert_int_equal(eh_exemplar_share(ctx, z, c, counts, share), ENHOPE_OK);
        for (int32_t k = 0; k < c; k++) {
            sum += share[k];
            largest = share[k] > largest ? share[k] : largest;
            assert_true(share[k] >= 1 && share[k] <= counts[k]);
        }
        assert_int_equal(sum, z);
        for (int32_t k = 0; k < c; k++) assert_true(share[k] >= largest - 1);
    }
    enhope_context_free(ctx);
}

static void too_few_exemplars_are_rejected(void **state)
{
    (void)state;
    enhope_context *ctx = enhope_context_create();
    int64_t counts[10], share[10];
    for (int k = 0; k < 10; k++) counts[k] = 5 + k, share[k] = -7;
    assert_int_equal(eh_exemplar_share(ctx, 8, 10, counts, share), ENHOPE_ERROR_ARGUMENT);
    assert_string_equal(enhope_error(ctx),
                        "8 exemplars for 10 classes: expected at least one for each class; raise n_exemplars");
    for (int k = 0; k < 10; k++) assert_int_equal(share[k], -7);
    memset(counts, 0, sizeof counts);
    assert_int_equal(eh_exemplar_share(ctx, 8, 10, counts, share), ENHOPE_ERROR_DATA);
    assert_string_equal(enhope_error(ctx), "exemplars need labeled samples, but no sample has a label; add labels");
    enhope_context_free(ctx);
}

/* ---- a data set on a backend: c classes of several blobs each ---- */

typedef struct scene {
    enhope_context *ctx;
    eh_compute *cp;
    eh_matrix x;
    eh_table t;
    int64_t n, H, used; /* rows[0..used) are used */
    int32_t c;
    uint8_t *u8;
    float *f32, *value, *shift, *mul, *scaled; /* scaled (n, H) */
    int64_t *row_start, *rows;
    int32_t *column, *label;
} scene;

static double unit(int64_t i, int64_t j)
{
    return eh_random_unit(2385, 77, (uint64_t)i << 24 ^ (uint64_t)j);
}

static scene scene_open(const char *backend, int threads, enhope_kind kind, int64_t n, int64_t H, int32_t c)
{
    scene s = {.n = n, .H = H, .c = c, .ctx = enhope_context_create()};
    const size_t all = (size_t)(n * H);
    assert_int_equal(enhope_context_set_device(s.ctx, backend), ENHOPE_OK);
    assert_int_equal(enhope_context_set_threads(s.ctx, threads), ENHOPE_OK);
    assert_int_equal(eh_compute_open(s.ctx, false, &s.cp), ENHOPE_OK);
    s.u8 = calloc(all, 1);
    s.f32 = calloc(all, sizeof(float));
    s.value = calloc(all, sizeof(float));
    s.column = calloc(all, sizeof(int32_t));
    s.scaled = calloc(all, sizeof(float));
    s.row_start = calloc((size_t)n + 1, sizeof(int64_t));
    s.rows = calloc((size_t)n, sizeof(int64_t));
    s.label = calloc((size_t)n, sizeof(int32_t));
    s.shift = calloc((size_t)H, sizeof(float));
    s.mul = calloc((size_t)H, sizeof(float));
    for (int64_t j = 0; j < H; j++) {
        s.shift[j] = kind == ENHOPE_CSR ? 0 : (float)(3 + j % 5);
        s.mul[j] = 0.0173f * (float)(1 + j % 3);
    }
    for (int64_t i = 0; i < n; i++) {
        /* class sizes are unequal; every 13th sample is unlabeled */
        const int32_t k = (int32_t)(unit(i, 1 << 20) * unit(i, 1 << 21) * (double)c);
        const int64_t lump = (int64_t)(3 * unit(i, 1 << 22));
        s.label[i] = i % 13 == 12 ? -1 : k;
        s.row_start[i + 1] = s.row_start[i];
        for (int64_t j = 0; j < H; j++) {
            const double middle = 200 * unit(1000000 + k * 8 + lump, j);
            double v = floor(middle + 40 * unit(i, j));
            if (kind == ENHOPE_CSR && unit(i, j + 4096) < 0.6) v = 0;
            s.u8[i * H + j] = (uint8_t)v;
            s.f32[i * H + j] = (float)v;
            s.scaled[i * H + j] = ((float)v - s.shift[j]) * s.mul[j];
            if (v != 0) {
                s.column[s.row_start[i + 1]] = (int32_t)j;
                s.value[s.row_start[i + 1]++] = (float)v;
            }
        }
    }
    int64_t order[2048];
    eh_shuffle(5, 98, 0, n, order);
    for (int64_t i = 0; i < n; i++)
        if (order[i] % 7) s.rows[s.used++] = order[i]; /* some samples are not used */
    s.x = (eh_matrix){.kind = kind,
                      .n = n,
                      .H = H,
                      .u8 = s.u8,
                      .f32 = s.f32,
                      .row_start = s.row_start,
                      .column = s.column,
                      .value = s.value};
    assert_int_equal(s.cp->op->place(s.cp, s.ctx, &s.x, s.label, s.shift, s.mul, &s.t), ENHOPE_OK);
    return s;
}

static void scene_close(scene *s)
{
    s->cp->op->unplace(s->cp, &s->t);
    eh_compute_close(s->cp);
    enhope_context_free(s->ctx);
    free(s->u8), free(s->f32), free(s->value), free(s->column), free(s->scaled), free(s->row_start), free(s->rows);
    free(s->label), free(s->shift), free(s->mul);
}

static double apart(const scene *s, int64_t row, const float *e)
{
    double sum = 0;
    for (int64_t j = 0; j < s->H; j++) {
        const double d = (double)s->scaled[row * s->H + j] - (double)e[j];
        sum += d * d;
    }
    return sum;
}

/* Checks that the exemplars are grouped by class and have the right shares. */
static void check_labels(const scene *s, int64_t z, const int32_t *label)
{
    int64_t counts[16] = {0}, share[16], at = 0;
    for (int64_t i = 0; i < s->used; i++)
        if (s->label[s->rows[i]] >= 0) counts[s->label[s->rows[i]]]++;
    assert_int_equal(eh_exemplar_share(s->ctx, z, s->c, counts, share), ENHOPE_OK);
    for (int32_t k = 0; k < s->c; k++)
        for (int64_t j = 0; j < share[k]; j++) assert_int_equal(label[at++], k);
    assert_int_equal(at, z);
}

/* The index of e among the used samples; -1: none. */
static int64_t sample_of(const scene *s, const float *e, int32_t label)
{
    for (int64_t i = 0; i < s->used; i++)
        if (s->label[s->rows[i]] == label && apart(s, s->rows[i], e) < 1e-10) return i;
    return -1;
}

static const char *const backends[] = {"ref", "cpu"};
static const enhope_kind kinds[] = {ENHOPE_U8, ENHOPE_F32, ENHOPE_CSR};

static void random_exemplars_are_distinct_samples_of_their_class(void **state)
{
    (void)state;
    enum { Z = 23, H = 9 };
    for (size_t b = 0; b < 2; b++)
        for (size_t k = 0; k < 3; k++) {
            scene s = scene_open(backends[b], 2, kinds[k], 411, H, 4);
            float E[Z * H], again[Z * H], other[Z * H];
            int32_t label[Z];
            int64_t chosen[Z];
            assert_int_equal(eh_exemplar_random(s.ctx, s.cp, &s.t, s.rows, s.used, s.c, Z, 41, E, label), ENHOPE_OK);
            check_labels(&s, Z, label);
            for (int j = 0; j < Z; j++) {
                chosen[j] = sample_of(&s, E + j * H, label[j]);
                assert_true(chosen[j] >= 0);
                for (int i = 0; i < j; i++) assert_int_not_equal(chosen[i], chosen[j]);
            }
            eh_exemplar_random(s.ctx, s.cp, &s.t, s.rows, s.used, s.c, Z, 41, again, label);
            assert_memory_equal(E, again, sizeof E);
            eh_exemplar_random(s.ctx, s.cp, &s.t, s.rows, s.used, s.c, Z, 42, other, label);
            assert_memory_not_equal(E, other, sizeof E);
            scene_close(&s);
        }
}

static void random_exemplars_can_use_every_sample(void **state)
{
    (void)state;
    enum { H = 5 };
    scene s = scene_open("cpu", 1, ENHOPE_F32, 700, H, 3);
    int64_t z = 0;
    for (int64_t i = 0; i < s.used; i++) z += s.label[s.rows[i]] >= 0;
    assert_true(z > 512); /* several blocks of rows */
    float *E = calloc((size_t)(z * H), sizeof *E);
    int32_t *label = calloc((size_t)z, sizeof *label);
    int *seen = calloc((size_t)s.used, sizeof *seen);
    assert_int_equal(eh_exemplar_random(s.ctx, s.cp, &s.t, s.rows, s.used, s.c, z, 3, E, label), ENHOPE_OK);
    for (int64_t j = 0; j < z; j++) {
        const int64_t i = sample_of(&s, E + j * H, label[j]);
        assert_true(i >= 0);
        assert_int_equal(seen[i]++, 0);
    }
    free(E), free(label), free(seen);
    scene_close(&s);
}

/* Sum of squared distances of the samples to the nearest exemplar of their class. */
static double inertia(const scene *s, const float *E, int64_t z, const int32_t *label)
{
    double sum = 0;
    for (int64_t i = 0; i < s->used; i++) {
        double nearest = DBL_MAX;
        for (int64_t j = 0; j < z; j++)
            if (label[j] == s->label[s->rows[i]]) nearest = fmin(nearest, apart(s, s->rows[i], E + j * s->H));
        if (s->label[s->rows[i]] >= 0) sum += nearest;
    }
    return sum;
}

static void kmeans_centers_are_weighted_means_of_their_nearest_samples(void **state)
{
    (void)state;
    enum { Z = 17 };
    const int64_t widths[] = {7, 41}; /* both ways of computing distances */
    float weight[500];
    for (size_t i = 0; i < 500; i++) weight[i] = (float)(0.1 + unit((int64_t)i, 1 << 23));
    for (size_t b = 0; b < 2; b++)
        for (size_t k = 0; k < 3; k++)
            for (size_t w = 0; w < 4; w++) {
                const int64_t H = widths[w / 2];
                scene s = scene_open(backends[b], 2, kinds[k], 500, H, 4);
                float E[Z * 41];
                int32_t label[Z];
                double sum[41], total = 0;
                s.t.weight = w % 2 ? weight : NULL;
                assert_int_equal(eh_exemplar_kmeans(s.ctx, s.cp, &s.t, s.rows, s.used, s.c, Z, 6, E, label), ENHOPE_OK);
                check_labels(&s, Z, label);
                for (int64_t j = 0; j < Z; j++) {
                    double members = 0;
                    memset(sum, 0, sizeof sum);
                    for (int64_t i = 0; i < s.used; i++) {
                        const int64_t row = s.rows[i];
                        if (s.label[row] != label[j]) continue;
                        int64_t nearest = j;
                        for (int64_t l = 0; l < Z; l++)
                            if (label[l] == label[j] && apart(&s, row, E + l * H) < apart(&s, row, E + nearest * H))
                                nearest = l;
                        if (nearest != j) continue;
                        const double one = s.t.weight ? (double)weight[row] : 1;
                        members += one;
                        total += apart(&s, row, E + j * H);
                        for (int64_t a = 0; a < H; a++) sum[a] += one * (double)s.scaled[row * H + a];
                    }
                    assert_true(members > 0);
                    for (int64_t a = 0; a < H; a++) assert_true(fabs(sum[a] / members - (double)E[j * H + a]) < 1e-5);
                }
                assert_true(fabs(total - inertia(&s, E, Z, label)) < 1e-9 * total);
                scene_close(&s);
            }
}

static void lloyd_starts_at_samples_and_never_increases_inertia(void **state)
{
    (void)state;
    enum { Z = 14, H = 7 };
    for (size_t b = 0; b < 2; b++)
        for (uint64_t seed = 1; seed <= 4; seed++) {
            scene s = scene_open(backends[b], 1, ENHOPE_F32, 450, H, 3);
            float E[Z * H], end[Z * H];
            int32_t label[Z];
            double before = DBL_MAX;
            for (int64_t steps = 0; steps < 30; steps++) {
                assert_int_equal(eh_exemplar_lloyd(s.ctx, s.cp, &s.t, s.rows, s.used, s.c, Z, seed, steps, E, label),
                                 ENHOPE_OK);
                for (int j = 0; j < Z && !steps; j++) {
                    if ((j == 0 || label[j - 1] != label[j]) && (j + 1 == Z || label[j + 1] != label[j]))
                        continue; /* the only one of its class: the mean at once */
                    const int64_t i = sample_of(&s, E + j * H, label[j]);
                    assert_true(i >= 0);
                    for (int l = 0; l < j; l++) assert_int_not_equal(sample_of(&s, E + l * H, label[l]), i);
                }
                const double now = inertia(&s, E, Z, label);
                assert_true(now <= before * (1 + 1e-7));
                if (steps == 1) assert_true(now < before);
                before = now;
            }
            assert_int_equal(eh_exemplar_kmeans(s.ctx, s.cp, &s.t, s.rows, s.used, s.c, Z, seed, end, label),
                             ENHOPE_OK);
            assert_true(inertia(&s, end, Z, label) <= before * (1 + 1e-7));
            scene_close(&s);
        }
}

static void a_single_exemplar_is_the_class_mean_for_any_seed(void **state)
{
    (void)state;
    enum { C = 3, H = 41 };
    for (size_t b = 0; b < 2; b++)
        for (size_t k = 0; k < 3; k++) {
            scene s = scene_open(backends[b], 1, kinds[k], 300, H, C);
            float E[C * H], other[C * H];
            int32_t label[C];
            assert_int_equal(eh_exemplar_kmeans(s.ctx, s.cp, &s.t, s.rows, s.used, C, C, 1, E, label), ENHOPE_OK);
            assert_int_equal(eh_exemplar_kmeans(s.ctx, s.cp, &s.t, s.rows, s.used, C, C, 2, other, label), ENHOPE_OK);
            assert_memory_equal(E, other, sizeof E);
            for (int32_t j = 0; j < C; j++)
                for (int64_t a = 0; a < H; a++) {
                    double sum = 0, count = 0;
                    for (int64_t i = 0; i < s.used; i++)
                        if (s.label[s.rows[i]] == j) {
                            sum += (double)s.scaled[s.rows[i] * H + a];
                            count++;
                        }
                    assert_int_equal(label[j], j);
                    assert_true(fabs(sum / count - (double)E[j * H + a]) < 1e-6);
                }
            scene_close(&s);
        }
}

/* Three distinct points repeated many times, and more clusters than points: some clusters have no
 * member of their own. */
static void surplus_exemplars_coincide_with_distinct_points(void **state)
{
    (void)state;
    enum { N = 24, Z = 9, WIDEST = 33 };
    const int64_t widths[] = {4, WIDEST};
    for (size_t b = 0; b < 2; b++)
        for (size_t w = 0; w < 2; w++)
            for (int different = 1; different <= 3; different++) {
                const int64_t H = widths[w];
                scene s = scene_open(backends[b], 1, ENHOPE_F32, N, H, 1);
                for (int64_t i = 0; i < N; i++) {
                    s.label[i] = 0;
                    s.rows[i] = i;
                    for (int64_t j = 0; j < H; j++) {
                        s.f32[i * H + j] = (float)(30 * unit(i % different, j));
                        s.scaled[i * H + j] = (s.f32[i * H + j] - s.shift[j]) * s.mul[j];
                    }
                }
                s.used = N;
                for (int64_t z = Z; z <= N; z += N - Z) {
                    float E[N * WIDEST];
                    int32_t label[N];
                    assert_int_equal(eh_exemplar_kmeans(s.ctx, s.cp, &s.t, s.rows, N, 1, z, 8, E, label), ENHOPE_OK);
                    for (int64_t j = 0; j < z; j++) assert_true(sample_of(&s, E + j * H, 0) >= 0);
                    assert_true(inertia(&s, E, z, label) < 1e-9);
                }
                scene_close(&s);
            }
}

static void kmeans_is_the_same_for_any_number_of_threads(void **state)
{
    (void)state;
    enum { Z = 21, H = 60 };
    for (size_t k = 0; k < 3; k++) {
        float E[2][Z * H];
        int32_t label[2][Z];
        for (int threads = 1; threads <= 2; threads++) {
            scene s = scene_open("cpu", threads, kinds[k], 1900, H, 3);
            assert_int_equal(
                eh_exemplar_kmeans(s.ctx, s.cp, &s.t, s.rows, s.used, s.c, Z, 12, E[threads - 1], label[threads - 1]),
                ENHOPE_OK);
            scene_close(&s);
        }
        assert_memory_equal(E[0], E[1], sizeof E[0]);
        assert_memory_equal(label[0], label[1], sizeof label[0]);
    }
}

/* Sparse data so wide that a block has only 31 samples gives the same result as without its empty
 * columns. */
static void block_size_does_not_change_the_result(void **state)
{
    (void)state;
    enum { N = 80, H = 6, GAP = 33000, WIDE = H * GAP, Z = 4 };
    scene s = scene_open("cpu", 2, ENHOPE_CSR, N, H, 1);
    for (int64_t i = 0; i < N; i++) s.label[i] = 0;
    float E[Z * H];
    int32_t label[Z];
    assert_int_equal(eh_exemplar_kmeans(s.ctx, s.cp, &s.t, s.rows, s.used, 1, Z, 5, E, label), ENHOPE_OK);

    eh_matrix x = s.x;
    eh_table t;
    float *shift = calloc(WIDE, sizeof *shift), *mul = calloc(WIDE, sizeof *mul);
    float *wide = calloc((size_t)Z * WIDE, sizeof *wide);
    x.H = WIDE;
    for (int64_t j = 0; j < H; j++) mul[j * GAP + j] = s.mul[j];
    for (int64_t v = 0; v < s.row_start[N]; v++) s.column[v] *= GAP + 1;
    assert_int_equal(s.cp->op->place(s.cp, s.ctx, &x, s.label, shift, mul, &t), ENHOPE_OK);
    assert_int_equal(eh_exemplar_kmeans(s.ctx, s.cp, &t, s.rows, s.used, 1, Z, 5, wide, label), ENHOPE_OK);
    for (int64_t k = 0; k < Z; k++)
        for (int64_t j = 0; j < H; j++) assert_true(fabsf(wide[k * WIDE + j * GAP + j] - E[k * H + j]) < 1e-5f);
    s.cp->op->unplace(s.cp, &t);
    free(shift), free(mul), free(wide);
    scene_close(&s);
}

/* ---- failures ---- */

typedef enhope_status (*exemplar_fn)(enhope_context *ctx, eh_compute *cp, const eh_table *t, const int64_t *rows,
                                     int64_t n, int32_t c, int64_t z, uint64_t seed, float *E, int32_t *label);
static const exemplar_fn makers[] = {eh_exemplar_random, eh_exemplar_kmeans};

static void check_refusal(scene *s, const eh_table *t, int32_t c, int64_t z, enhope_status status, const char *message)
{
    for (size_t f = 0; f < 2; f++) {
        float E[16] = {2.385f};
        int32_t label[16] = {-5};
        assert_int_equal(makers[f](s->ctx, s->cp, t, s->rows, s->used, c, z, 1, E, label), status);
        assert_string_equal(enhope_error(s->ctx), message);
        assert_true(E[0] == 2.385f && label[0] == -5);
    }
}

static void invalid_requests_are_rejected(void **state)
{
    (void)state;
    scene s = scene_open("cpu", 1, ENHOPE_U8, 30, 2, 2);
    for (int64_t i = 0; i < 30; i++) s.label[i] = i % 3 == 0;
    s.used = 30;
    for (int64_t i = 0; i < 30; i++) s.rows[i] = i;
    check_refusal(&s, &s.t, 2, 1, ENHOPE_ERROR_ARGUMENT,
                  "1 exemplars for 2 classes: expected at least one for each class; raise n_exemplars");
    check_refusal(&s, &s.t, 2, 33, ENHOPE_ERROR_ARGUMENT, "33 exemplars for 30 samples: lower n_exemplars");
    s.label[17] = 4;
    check_refusal(&s, &s.t, 2, 5, ENHOPE_ERROR_DATA, "row 18: class number 4: expected 0 to 1, or -1 for no label");
    eh_table bare = s.t;
    bare.label = NULL;
    check_refusal(&s, &bare, 2, 5, ENHOPE_ERROR_DATA, "exemplars need class labels, but the data has none; add labels");
    scene_close(&s);
}

typedef struct choice {
    scene *s;
    size_t maker;
} choice;

static enhope_status choose_exemplars(void *user)
{
    enum { Z = 6, H = 3 };
    const choice *c = user;
    const scene *s = c->s;
    float E[Z * H] = {2.385f};
    int32_t label[Z] = {-5};
    const enhope_status status = makers[c->maker](s->ctx, s->cp, &s->t, s->rows, s->used, s->c, Z, 1, E, label);
    if (status) assert_true(E[0] == 2.385f && label[0] == -5);
    return status;
}

static void failed_allocations_do_not_change_outputs(void **state)
{
    (void)state;
    scene s = scene_open("cpu", 1, ENHOPE_F32, 60, 3, 2);
    for (size_t f = 0; f < 2; f++) assert_true(fail_allocations(s.ctx, choose_exemplars, &(choice){&s, f}, 1) >= 9);
    scene_close(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(classes_have_equal_shares),
        cmocka_unit_test(shares_are_even_and_sum_to_z),
        cmocka_unit_test(too_few_exemplars_are_rejected),
        cmocka_unit_test(random_exemplars_are_distinct_samples_of_their_class),
        cmocka_unit_test(random_exemplars_can_use_every_sample),
        cmocka_unit_test(kmeans_centers_are_weighted_means_of_their_nearest_samples),
        cmocka_unit_test(lloyd_starts_at_samples_and_never_increases_inertia),
        cmocka_unit_test(a_single_exemplar_is_the_class_mean_for_any_seed),
        cmocka_unit_test(surplus_exemplars_coincide_with_distinct_points),
        cmocka_unit_test(kmeans_is_the_same_for_any_number_of_threads),
        cmocka_unit_test(block_size_does_not_change_the_result),
        cmocka_unit_test(invalid_requests_are_rejected),
        cmocka_unit_test(failed_allocations_do_not_change_outputs),
    };
    return cmocka_run_group_tests_name("exemplar", tests, NULL, NULL);
}
