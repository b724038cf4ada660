/* Measures of a map: against their definitions in double, for an exact copy of the inputs, for a
 * sample, and the messages for unsuitable arguments. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <cmocka.h>

#include "ref_support.h"
#include "predict/predict.h"

enum { N = 67, R = 83, H = 5, h = 2, C = 3, K = 7 };

static float X[N * H], XR[R * H], Y[N * h], YR[R * h];
static int32_t LABEL[N], LABEL_R[R];
static const char *const NAMES[C] = {"a", "b", "c"}, *const NAMES_R[C] = {"b", "c", "a"};
static enhope_dataset *rows, *others;

static void fill(int n, uint32_t stream, float *x, float *y, int32_t *label)
{
    for (int i = 0; i < n; i++) {
        label[i] = i % 11 == 4 ? -1 : i * 7 % C;
        for (int j = 0; j < H; j++)
            x[i * H + j] = 100 + (float)eh_random_normal(3, stream, (uint64_t)(i * H + j)) + (float)label[i];
        for (int a = 0; a < h; a++)
            y[i * h + a] = x[i * H + a] + 0.7f * (float)eh_random_normal(4, stream, (uint64_t)(i * h + a));
    }
    memcpy(y + 5 * h, y + 9 * h, h * sizeof *y); /* a tie */
}

static double between(const float *a, const float *b, int dims)
{
    double d = 0;
    for (int k = 0; k < dims; k++) d += ((double)a[k] - (double)b[k]) * ((double)a[k] - (double)b[k]);
    return d;
}

/* rank (r): of each reference of a row, from 0 on; self -1: none is left out. */
static void ranks(const float *x, const float *R_, int dims, int r, int self, int *rank)
{
    for (int j = 0; j < r; j++) {
        rank[j] = 0;
        for (int l = 0; l < r; l++) {
            const double d = between(x, R_ + j * dims, dims), e = between(x, R_ + l * dims, dims);
            rank[j] += l != self && l != j && (e < d || (e == d && l < j));
        }
        if (j == self) rank[j] = r;
    }
}

/* The share of labeled rows whose label most of the `voters` nearest have. */
static int votes_right(const int *rank, int r, int voters, const int32_t *label, const char *const *names,
                       const char *truth)
{
    int votes[C] = {0}, best = -1, nearest[C] = {0};
    for (int k = 0; k < C; k++) nearest[k] = r;
    for (int j = 0; j < r; j++)
        if (rank[j] < voters && label[j] >= 0) {
            votes[label[j]]++;
            if (rank[j] < nearest[label[j]]) nearest[label[j]] = rank[j];
        }
    for (int k = 0; k < C; k++)
        if (votes[k] && (best < 0 || votes[k] > votes[best] || (votes[k] == votes[best] && nearest[k] < nearest[best])))
            best = k;
    return best >= 0 && !strcmp(names[best], truth);
}

static void check(const enhope_map_measures *m, const float *x, const float *y, const int32_t *label,
                  const char *const *names, int r, bool self)
{
    double trust = 0, continuity = 0, kept = 0, right[3] = {0}, labeled = 0;
    static const int voters[3] = {1, 5, 15};
    int near_x[R], near_y[R];
    for (int i = 0; i < N; i++) {
        ranks(X + i * H, x, H, r, self ? i : -1, near_x);
        ranks(Y + i * h, y, h, r, self ? i : -1, near_y);
        for (int j = 0; j < r; j++) {
            if (near_y[j] < K && near_x[j] >= K) trust += near_x[j] + 1 - K;
            if (near_x[j] < K && near_y[j] >= K) continuity += near_y[j] + 1 - K;
            kept += near_x[j] < K && near_y[j] < K;
        }
        if (LABEL[i] < 0) continue;
        labeled++;
        for (int v = 0; v < 3; v++) right[v] += votes_right(near_y, r, voters[v], label, names, NAMES[LABEL[i]]);
    }
    const int count = r - (self ? 1 : 0);
    const double unit = 2.0 / ((double)N * K * (2 * count + 1 - 3 * K));
    assert_true(m->rows == N && m->references == count && m->k == K);
    assert_float_equal(m->trustworthiness, 1 - unit * trust, 1e-12);
    assert_float_equal(m->continuity, 1 - unit * continuity, 1e-12);
    assert_float_equal(m->preservation, kept / (N * K), 1e-12);
    for (int v = 0; v < 3; v++) assert_float_equal(m->accuracy[v], right[v] / labeled, 1e-12);
    assert_true(m->triplets > 0.5 && m->triplets < 1 && m->spearman > 0.2 && m->spearman < 1);
}

static void measures_are_those_of_their_definitions(void **state)
{
    (void)state;
    static const char *const devices[] = {"ref", "cpu"};
    const enhope_map map = {rows, Y}, references = {others, YR};
    for (int d = 0; d < 2; d++) {
        assert_int_equal(enhope_context_set_device(ctx, devices[d]), ENHOPE_OK);
        enhope_map_measures m = {.k = K, .seed = 5}, to = m;
        assert_int_equal(enhope_map_measure(ctx, NULL, h, &map, NULL, &m), ENHOPE_OK);
        check(&m, X, Y, LABEL, NAMES, N, true);
        assert_int_equal(enhope_map_measure(ctx, NULL, h, &map, &references, &to), ENHOPE_OK);
        check(&to, XR, YR, LABEL_R, NAMES_R, R, false);
    }
}

static void a_copy_of_the_inputs_is_perfect(void **state)
{
    (void)state;
    enhope_map_measures m = {0}, sampled = {.sample = 40, .seed = 3}, again = sampled;
    const enhope_map map = {rows, X}, wrong = {rows, Y};
    assert_int_equal(enhope_map_measure(ctx, NULL, H, &map, NULL, &m), ENHOPE_OK);
    assert_true(m.trustworthiness == 1 && m.continuity == 1 && m.preservation == 1 && m.triplets == 1);
    assert_float_equal(m.spearman, 1, 1e-12);
    assert_int_equal(m.k, 15);
    assert_int_equal(enhope_map_measure(ctx, NULL, h, &wrong, NULL, &sampled), ENHOPE_OK);
    assert_int_equal(enhope_map_measure(ctx, NULL, h, &wrong, NULL, &again), ENHOPE_OK);
    assert_true(sampled.rows == 40 && sampled.references == 39);
    assert_memory_equal(&sampled, &again, sizeof again);
}

/* The expected value is that of scipy.stats.spearmanr. */
static void equal_values_share_their_rank(void **state)
{
    (void)state;
    static const double x[] = {1, 2.5, 2.5, 4, 5, -3}, y[] = {2, 1, 3, 3, 7.5, 3}, same[] = {4, 4, 4, 4, 4, 4};
    double rho;
    assert_int_equal(eh_spearman(ctx, x, y, 6, &rho), ENHOPE_OK);
    assert_float_equal(rho, 0.4928328829069579, 1e-12);
    assert_int_equal(eh_spearman(ctx, x, same, 6, &rho), ENHOPE_OK);
    assert_true(isnan(rho));
}

static void the_unit_of_the_inputs_does_not_matter(void **state)
{
    (void)state;
    static const float units[] = {0x1p-90f, 0x1p80f}; /* squares are 0 or infinite in float */
    enhope_map_measures expected = {0};
    assert_int_equal(enhope_map_measure(ctx, NULL, h, &(enhope_map){rows, Y}, NULL, &expected), ENHOPE_OK);
    for (int u = 0; u < 2; u++) {
        enhope_dataset *scaled = NULL;
        enhope_map_measures m = {0};
        float x[N * H];
        for (int i = 0; i < N * H; i++) x[i] = units[u] * X[i];
        assert_int_equal(enhope_dataset_view_f32(ctx, N, H, x, LABEL, C, NAMES, &scaled), ENHOPE_OK);
        assert_int_equal(enhope_map_measure(ctx, NULL, h, &(enhope_map){scaled, Y}, NULL, &m), ENHOPE_OK);
        assert_memory_equal(&m, &expected, sizeof m);
        enhope_dataset_free(scaled);
    }
}

static void triplets_have_two_references(void **state)
{
    (void)state;
    static const float x[10], y[10 * h], near_x[] = {1, 2, 3}, near_y[3 * h] = {3, 0, 2, 0, 1, 0};
    enhope_dataset *data = NULL, *references = NULL;
    enhope_map_measures m = {0};
    assert_int_equal(enhope_dataset_view_f32(ctx, 10, 1, x, NULL, 0, NULL, &data), ENHOPE_OK);
    assert_int_equal(enhope_dataset_view_f32(ctx, 3, 1, near_x, NULL, 0, NULL, &references), ENHOPE_OK);
    const enhope_map map = {data, y}, to = {references, near_y};
    assert_int_equal(enhope_map_measure(ctx, NULL, h, &map, &to, &m), ENHOPE_OK);
    assert_float_equal(m.triplets, 0, 0); /* the nearer one is the farther one in the map */
    enhope_dataset_free(data), enhope_dataset_free(references);
}

static void unlabeled_rows_have_no_accuracy(void **state)
{
    (void)state;
    enhope_dataset *plain = NULL;
    enhope_map_measures m = {0};
    assert_int_equal(enhope_dataset_view_f32(ctx, N, H, X, NULL, 0, NULL, &plain), ENHOPE_OK);
    assert_int_equal(enhope_map_measure(ctx, NULL, h, &(enhope_map){plain, Y}, NULL, &m), ENHOPE_OK);
    assert_true(isnan(m.accuracy[0]) && isnan(m.accuracy[2]) && m.trustworthiness > 0.5);
    assert_int_equal(enhope_map_measure(ctx, NULL, h, &(enhope_map){rows, Y}, &(enhope_map){plain, Y}, &m), ENHOPE_OK);
    assert_true(isnan(m.accuracy[0]) && isnan(m.accuracy[2]));
    enhope_dataset_free(plain);
}

static void refuse(const enhope_map *map, const enhope_map *references, int32_t k, const char *text)
{
    enhope_map_measures m = {.k = k};
    assert_int_not_equal(enhope_map_measure(ctx, NULL, h, map, references, &m), ENHOPE_OK);
    if (!strstr(enhope_error(ctx), text)) fail_msg("'%s' has no '%s'", enhope_error(ctx), text);
}

static void unsuitable_arguments_have_a_message(void **state)
{
    (void)state;
    enhope_dataset *few = NULL, *narrow = NULL;
    float bad[N * h];
    memcpy(bad, Y, sizeof bad);
    bad[6 * h + 1] = NAN;
    assert_int_equal(enhope_dataset_view_f32(ctx, 3, H, X, NULL, 0, NULL, &few), ENHOPE_OK);
    assert_int_equal(enhope_dataset_view_f32(ctx, N, H - 1, X, NULL, 0, NULL, &narrow), ENHOPE_OK);
    const enhope_map map = {rows, Y};
    refuse(&map, NULL, 33, "k is 33: 66 rows to compare with allow at most 32");
    refuse(&map, NULL, -1, "expected at least");
    refuse(&(enhope_map){few, Y}, NULL, 0, "3 rows are too few");
    refuse(&(enhope_map){rows, bad}, NULL, 0, "row 7 of the embedding is nan");
    refuse(&map, &(enhope_map){narrow, Y}, 0, "the rows have 5 inputs, the references 4");
    enhope_dataset_free(few), enhope_dataset_free(narrow);
}

static int setup(void **state)
{
    fill(N, 1, X, Y, LABEL), fill(R, 2, XR, YR, LABEL_R);
    return open_ref(state) || enhope_dataset_view_f32(ctx, N, H, X, LABEL, C, NAMES, &rows) ||
           enhope_dataset_view_f32(ctx, R, H, XR, LABEL_R, C, NAMES_R, &others);
}

static int teardown(void **state)
{
    enhope_dataset_free(rows), enhope_dataset_free(others);
    return close_ref(state);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(measures_are_those_of_their_definitions), cmocka_unit_test(a_copy_of_the_inputs_is_perfect),
        cmocka_unit_test(equal_values_share_their_rank),           cmocka_unit_test(unlabeled_rows_have_no_accuracy),
        cmocka_unit_test(the_unit_of_the_inputs_does_not_matter),  cmocka_unit_test(triplets_have_two_references),
        cmocka_unit_test(unsuitable_arguments_have_a_message),
    };
    return cmocka_run_group_tests_name("map_measures", tests, setup, teardown);
}
