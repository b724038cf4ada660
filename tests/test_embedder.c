/* The embedder: blocks of any size, sparse and dense rows, exemplars as references, and the
 * count of errors, against plain loops in double. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <cmocka.h>

#include "model/embedder.h"
#include "ref_support.h"

enum { N = 13, H = 7, OUT = 3, Z = 5, C = 3 };

static float X[N * H], SHIFT[H], MUL[H];
static int32_t LABEL[N];
static double THETA[(H + 1) * OUT], EXEMPLAR[Z * H];
static const int32_t EXEMPLAR_LABEL[Z] = {0, 0, 1, 2, 2};
static const int64_t ROWS[N] = {12, 3, 0, 7, 7, 1, 11, 5, 2, 10, 4, 9, 6};

#define R(p) ((eh_real *)(p))

static void fill_case(bool scaled)
{
    for (int i = 0; i < N * H; i++) /* a third are zeros, for sparse rows */
        X[i] = i % 3 == 1 ? 0 : (float)eh_random_normal(5, 1, (uint64_t)i);
    for (int j = 0; j < H; j++)
        SHIFT[j] = scaled ? 0.31f * (float)j - 0.7f : 0, MUL[j] = scaled ? 1.7f - 0.2f * (float)j : 1;
    for (int i = 0; i < N; i++) LABEL[i] = (i * 5 + 1) % C;
    for (int i = 0; i < (H + 1) * OUT; i++) THETA[i] = eh_random_normal(5, 2, (uint64_t)i);
    for (int i = 0; i < Z * H; i++) EXEMPLAR[i] = eh_random_normal(5, 3, (uint64_t)i);
}

static eh_embedder embedder(const eh_matrix *x, int64_t capacity, bool sparse)
{
    eh_embedder e;
    const eh_map_shape shape = {.H = H, .h = OUT};
    eh_embedder_init(&e, ctx, ref, &eh_map_linear, &shape);
    e.sparse = sparse;
    assert_int_equal(eh_embedder_place(&e, x, LABEL, SHIFT, MUL), ENHOPE_OK);
    assert_int_equal(eh_embedder_allocate(&e, &(eh_embedder_sizes){.capacity = capacity,
                                                                   .behind = Z,
                                                                   .dense = sparse ? Z : capacity + Z,
                                                                   .embedded = N,
                                                                   .references = Z,
                                                                   .embedded_references = Z}),
                     ENHOPE_OK);
    return e;
}

static eh_matrix dense_view(void)
{
    return (eh_matrix){.kind = ENHOPE_F32, .n = N, .H = H, .f32 = X};
}

/* y (OUT) of the scaled inputs x (H). */
static void map_by_hand(const double *x, double *y)
{
    for (int k = 0; k < OUT; k++) {
        y[k] = THETA[H * OUT + k];
        for (int j = 0; j < H; j++) y[k] += x[j] * THETA[j * OUT + k];
    }
}

static void row_by_hand(int64_t row, double *y)
{
    double x[H];
    for (int j = 0; j < H; j++) x[j] = ((double)X[row * H + j] - SHIFT[j]) * MUL[j];
    map_by_hand(x, y);
}

static void blocks_of_any_size_give_the_same_embedding(void **state)
{
    (void)state;
    static const int64_t capacities[] = {1, 5, N, 40};
    const eh_matrix x = dense_view();
    double first[N * OUT];
    fill_case(true);
    for (int c = 0; c < 4; c++) {
        eh_embedder e = embedder(&x, capacities[c], false);
        eh_embedder_embed(&e, R(THETA), (const eh_row *)ROWS, N, e.Y);
        const double *Y = (const double *)e.Y;
        for (int i = 0; i < N; i++) {
            double want[OUT];
            row_by_hand(ROWS[i], want);
            for (int k = 0; k < OUT; k++) assert_true(fabs(Y[i * OUT + k] - want[k]) < 1e-6);
        }
        if (c == 0) memcpy(first, Y, sizeof first);
        assert_memory_equal(first, Y, sizeof first);
        eh_embedder_free(&e);
        assert_null(e.X);
        eh_embedder_free(&e); /* a second call does nothing */
    }
}

static void sparse_and_dense_rows_give_the_same_embedding(void **state)
{
    (void)state;
    int64_t start[N + 1] = {0};
    int32_t column[N * H];
    float value[N * H];
    fill_case(false);
    for (int i = 0; i < N; i++) {
        start[i + 1] = start[i];
        for (int j = 0; j < H; j++)
            if (X[i * H + j] != 0) column[start[i + 1]] = j, value[start[i + 1]++] = X[i * H + j];
    }
    const eh_matrix x = {.kind = ENHOPE_CSR, .n = N, .H = H, .row_start = start, .column = column, .value = value};
    eh_embedder e = embedder(&x, 4, true);
    const eh_rows rows = eh_embedder_gather(&e, (const eh_row *)ROWS, 4, NULL);
    assert_true(rows.sparse_n == 4 && rows.dense_n == 0);
    eh_embedder_embed(&e, R(THETA), (const eh_row *)ROWS, N, e.Y);
    for (int i = 0; i < N; i++) {
        double want[OUT];
        row_by_hand(ROWS[i], want);
        for (int k = 0; k < OUT; k++) assert_true(fabs(((const double *)e.Y)[i * OUT + k] - want[k]) < 1e-6);
    }
    eh_embedder_free(&e);
}

/* The class of the exemplar nearest to a row. */
static int32_t class_by_hand(int64_t row)
{
    double y[OUT], best = INFINITY;
    int32_t label = -1;
    row_by_hand(row, y);
    for (int j = 0; j < Z; j++) {
        double g[OUT], d = 0;
        map_by_hand(EXEMPLAR + j * H, g);
        for (int k = 0; k < OUT; k++) d += (y[k] - g[k]) * (y[k] - g[k]);
        if (d < best) best = d, label = EXEMPLAR_LABEL[j];
    }
    return label;
}

static void errors_match_the_nearest_exemplar(void **state)
{
    (void)state;
    const eh_matrix x = dense_view();
    int64_t want = 0, want_weight = 0, errors = -1, weight[N];
    fill_case(true);
    for (int i = 0; i < N; i++) {
        const bool wrong = class_by_hand(ROWS[i]) != LABEL[ROWS[i]];
        weight[i] = 7 + i * i;
        want += wrong, want_weight += wrong * weight[i];
    }
    assert_in_range(want, 1, N - 1); /* otherwise the count proves nothing */
    eh_embedder e = embedder(&x, 4, false);
    ref->op->send(ref, e.reference_label, EXEMPLAR_LABEL, sizeof EXEMPLAR_LABEL);
    eh_embedder_exemplars(&e, R(THETA), R(EXEMPLAR), 0, 3); /* in two parts */
    eh_embedder_exemplars(&e, R(THETA), R(EXEMPLAR + 3 * H), 3, Z - 3);
    e.votes = true;
    assert_int_equal(eh_embedder_search(&e, e.capacity, 1, NULL), ENHOPE_OK);
    assert_int_equal(eh_embedder_errors(&e, R(THETA), (const eh_row *)ROWS, ROWS, N, NULL, &errors), ENHOPE_OK);
    assert_int_equal(errors, want);
    assert_int_equal(eh_embedder_errors(&e, R(THETA), (const eh_row *)ROWS, ROWS, N, weight, &errors), ENHOPE_OK);
    assert_int_equal(errors, want_weight);
    assert_int_equal(eh_embedder_errors(&e, R(THETA), (const eh_row *)ROWS, ROWS, 0, NULL, &errors), ENHOPE_OK);
    assert_int_equal(errors, 0);
    eh_embedder_free(&e);
}

static void sizes_beyond_blas_are_refused(void **state)
{
    (void)state;
    eh_embedder e;
    const eh_map_shape shape = {.H = H, .h = OUT};
    eh_embedder_init(&e, ctx, ref, &eh_map_linear, &shape);
    assert_int_equal(eh_embedder_allocate(&e, &(eh_embedder_sizes){.capacity = INT32_MAX, .behind = 1}),
                     ENHOPE_ERROR_ARGUMENT);
    assert_non_null(strstr(enhope_error(ctx), "2147483648 rows"));
    eh_embedder_free(&e);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(blocks_of_any_size_give_the_same_embedding),
        cmocka_unit_test(sparse_and_dense_rows_give_the_same_embedding),
        cmocka_unit_test(errors_match_the_nearest_exemplar),
        cmocka_unit_test(sizes_beyond_blas_are_refused),
    };
    return cmocka_run_group_tests(tests, open_ref, close_ref);
}
