/* The approximate neighbor graph: it has nearly all nearest rows, complete lists for any data, and
 * the same result for any number of threads. Labels spread over a graph as their equation says. */
#include <float.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "compute/cpu/cpu.h"
#include "compute/cpu/graph_search.h"

static enhope_context *ctx;

/* Rows around 30 centers. spread: their distance from it. */
static float *clusters(int64_t n, int64_t dims, double spread)
{
    float *Z = malloc((size_t)(n * dims) * sizeof *Z);
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < dims; j++)
            Z[i * dims + j] = (float)(eh_random_normal(5, 1, (uint64_t)(i % 30 * dims + j)) +
                                      spread * eh_random_normal(5, 2, (uint64_t)(i * dims + j)));
    return Z;
}

static int32_t *graph_of(const float *Z, int64_t n, int64_t dims, int64_t k, int threads)
{
    int32_t *index = malloc((size_t)(n * k) * sizeof *index);
    const eh_graph_search s = {.Z = Z, .n = n, .dims = dims, .k = k, .seed = 3, .threads = threads};
    assert_int_equal(eh_graph_search_run(ctx, &s, index), ENHOPE_OK);
    return index;
}

static double distance(const float *Z, int64_t dims, int64_t a, int64_t b)
{
    return eh_cpu_distance(dims, Z + a * dims, Z + b * dims);
}

/* The share of the k nearest rows of every 13th row that the graph has. Neighbors are sorted,
 * differ from each other and from the row. */
static double recall(const float *Z, int64_t n, int64_t dims, int64_t k, const int32_t *index)
{
    int64_t found = 0, all = 0;
    for (int64_t i = 0; i < n; i += 13) {
        double limit = 0; /* the distance of the k-th nearest row */
        for (int64_t rank = 0; rank < k; rank++) {
            double next = INFINITY;
            int64_t nearer = 0;
            for (int64_t j = 0; j < n; j++) nearer += j != i && distance(Z, dims, i, j) <= limit;
            for (int64_t j = 0; j < n && nearer <= rank; j++)
                if (j != i && distance(Z, dims, i, j) > limit) next = fmin(next, distance(Z, dims, i, j));
            if (nearer <= rank) limit = next;
        }
        for (int64_t j = 0; j < k; j++) {
            const int32_t row = index[i * k + j];
            assert_true(row >= 0 && row < n && row != i);
            for (int64_t l = 0; l < j; l++) assert_int_not_equal(index[i * k + l], row);
            if (j) assert_true(distance(Z, dims, i, index[i * k + j - 1]) <= distance(Z, dims, i, row));
            found += distance(Z, dims, i, row) <= limit;
        }
        all += k;
    }
    return (double)found / (double)all;
}

static void nearly_all_nearest_rows_are_found(void **state)
{
    (void)state;
    static const struct {
        int64_t n, dims, k;
        double spread, recall;
    } data[] = {{2000, 2, 7, 0.1, 0.995}, {2000, 31, 15, 0.3, 0.97}, {2000, 50, 15, 3, 0.8}};
    for (int i = 0; i < 3; i++) {
        float *Z = clusters(data[i].n, data[i].dims, data[i].spread);
        int32_t *index = graph_of(Z, data[i].n, data[i].dims, data[i].k, 1);
        const double found = recall(Z, data[i].n, data[i].dims, data[i].k, index);
        if (found < data[i].recall) fail_msg("%d: %g of the nearest rows", i, found);
        free(Z), free(index);
    }
}

static void lists_are_complete_for_few_rows_and_equal_rows(void **state)
{
    (void)state;
    static const int64_t shapes[][2] = {{2, 1}, {3, 2}, {11, 10}, {700, 15}};
    for (int s = 0; s < 4; s++)
        for (int kind = 0; kind < 3; kind++) { /* all rows equal, two groups of equal rows, one row far away */
            const int64_t n = shapes[s][0], k = shapes[s][1];
            float *Z = calloc((size_t)(n * 3), sizeof *Z);
            for (int64_t i = 0; i < n * 3; i++) Z[i] = kind == 1 ? (float)(i / 3 % 2) : 2.385f;
            if (kind == 2) Z[0] = 1e18f;
            int32_t *index = graph_of(Z, n, 3, k, 2);
            assert_true(recall(Z, n, 3, k, index) >= (kind == 1 ? 0.9 : 1));
            free(Z), free(index);
        }
}

static void distances_that_overflow_give_complete_lists(void **state)
{
    (void)state;
    float Z[40];
    for (int i = 0; i < 40; i++) Z[i] = i % 2 ? FLT_MAX : -FLT_MAX;
    int32_t *index = graph_of(Z, 20, 2, 5, 1);
    for (int i = 0; i < 100; i++) assert_true(index[i] >= 0 && index[i] < 20 && index[i] != i / 5);
    free(index);
}

static void threads_do_not_change_the_graph(void **state)
{
    (void)state;
    float *Z = clusters(3000, 20, 0.5);
    int32_t *one = graph_of(Z, 3000, 20, 15, 1), *three = graph_of(Z, 3000, 20, 15, 3);
    assert_memory_equal(one, three, 3000 * 15 * sizeof *one);
    free(Z), free(one), free(three);
}

/* ---- labels ---- */

enum { SAMPLES = 90, LINKS = 3, CLASSES = 11 };

/* Samples 0 to 79 are linked at random with each other; 80 to 89 only among themselves. Every ninth
 * of the first 80 has a label; class 4 has none. */
static void linked_samples(int32_t *neighbor, int32_t *label)
{
    for (int i = 0; i < SAMPLES; i++) {
        const int first = i < 80 ? 0 : 80, count = i < 80 ? 80 : 10;
        for (int e = 0; e < LINKS; e++) {
            int j = first + (int)(eh_random_u64(6, 1, (uint64_t)(i * LINKS + e)) % (uint64_t)count);
            if (j == i) j = first + (j - first + 1) % count;
            neighbor[i * LINKS + e] = j;
        }
        label[i] = i < 80 && i % 9 == 0 ? i / 9 % CLASSES : -1;
        if (label[i] == 4) label[i] = 10;
    }
}

/* The functions f (SAMPLES, CLASSES) from their equation, in double. */
static void spread_densely(const int32_t *neighbor, const int32_t *label, double *f)
{
    static double A[SAMPLES][SAMPLES], next[SAMPLES * CLASSES], D[SAMPLES];
    const double alpha = 0.99;
    memset(A, 0, sizeof A);
    memset(D, 0, sizeof D);
    for (int i = 0; i < SAMPLES; i++)
        for (int e = 0; e < LINKS; e++) A[i][neighbor[i * LINKS + e]]++, A[neighbor[i * LINKS + e]][i]++;
    for (int i = 0; i < SAMPLES; i++)
        for (int j = 0; j < SAMPLES; j++) D[i] += A[i][j];
    for (int v = 0; v < SAMPLES * CLASSES; v++) f[v] = label[v / CLASSES] == v % CLASSES;
    for (int round = 0; round < 60; round++) {
        for (int v = 0; v < SAMPLES * CLASSES; v++) {
            const int i = v / CLASSES, k = v % CLASSES;
            next[v] = (1 - alpha) * (label[i] == k);
            for (int j = 0; j < SAMPLES; j++) next[v] += alpha * A[i][j] / sqrt(D[i] * D[j]) * f[j * CLASSES + k];
        }
        memcpy(f, next, sizeof next);
    }
}

static void labels_spread_as_their_equation_says(void **state)
{
    (void)state;
    int32_t neighbor[SAMPLES * LINKS], label[SAMPLES], got[SAMPLES], again[SAMPLES];
    static double f[SAMPLES * CLASSES];
    linked_samples(neighbor, label);
    spread_densely(neighbor, label, f);
    eh_graph_labels g = {
        .n = SAMPLES, .k = LINKS, .neighbor = neighbor, .label = label, .classes = CLASSES, .threads = 1};
    assert_int_equal(eh_graph_spread(ctx, &g, got), ENHOPE_OK);
    for (int i = 0; i < 80; i++) {
        int best = 0;
        for (int k = 1; k < CLASSES; k++)
            if (f[i * CLASSES + k] > f[i * CLASSES + best]) best = k;
        assert_true(got[i] >= 0 && got[i] < CLASSES && got[i] != 4);
        assert_true(f[i * CLASSES + got[i]] > (1 - 1e-4) * f[i * CLASSES + best]);
    }
    for (int i = 80; i < SAMPLES; i++) assert_int_equal(got[i], -1);
    g.threads = 3;
    assert_int_equal(eh_graph_spread(ctx, &g, again), ENHOPE_OK);
    assert_memory_equal(got, again, sizeof got);
}

static int open_context(void **state)
{
    (void)state;
    ctx = enhope_context_create();
    return ctx ? 0 : 1;
}

static int close_context(void **state)
{
    (void)state;
    enhope_context_free(ctx);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nearly_all_nearest_rows_are_found),
        cmocka_unit_test(lists_are_complete_for_few_rows_and_equal_rows),
        cmocka_unit_test(distances_that_overflow_give_complete_lists),
        cmocka_unit_test(threads_do_not_change_the_graph),
        cmocka_unit_test(labels_spread_as_their_equation_says),
    };
    return cmocka_run_group_tests(tests, open_context, close_context);
}
