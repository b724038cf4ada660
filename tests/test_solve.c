/* Solvers: lpp satisfies its eigenvalue problem for both graphs and equals discriminant analysis
 * for the class graph; mcml reaches the minimum of its convex objective. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#undef stop /* a macro of cmocka 2 */

#include "data/data.h"
#include "model/model.h"
#include "objective/objective.h"
#include "solve/solve.h"
#include "settings_support.h"

enum { N = 240, H = 5, C = 3, LARGE = 2500 };

static enhope_context *ctx;
static float X[LARGE * H];
static int32_t LABEL[LARGE];
static enhope_dataset *points, *sparse_points, *many;
static int64_t row_start[N + 1];
static int32_t column[N * H];
static char messages[2048];

/* Classes that overlap and have about the same width in every direction, so that pca keeps all
 * directions. */
static void make_data(void)
{
    for (int i = 0; i < LARGE; i++) {
        LABEL[i] = i % 7 % C;
        for (int j = 0; j < H; j++)
            X[i * H + j] =
                (float)(1.1 * cos(LABEL[i] * 2.1 + 1.7 * j) + 0.8 * eh_random_normal(11, 1, (uint64_t)(i * H + j)));
    }
    for (int i = 0; i < N; i++) {
        row_start[i + 1] = row_start[i] + H;
        for (int j = 0; j < H; j++) column[i * H + j] = j;
    }
}

static enhope_settings *with(const char *first, ...)
{
    static const char *const plain[] = {"scaling", "none", "validation_fraction", "0", NULL};
    va_list args;
    va_start(args, first);
    enhope_settings *s = settings_with(ctx, plain, first, args);
    va_end(args);
    return s;
}

static enhope_model *train(const enhope_dataset *data, enhope_settings *s)
{
    return trained_with(ctx, data, s);
}

static void on(const char *device)
{
    assert_int_equal(enhope_context_set_device(ctx, device), ENHOPE_OK);
}

static void listen(enhope_log_level level, const char *message, void *user)
{
    (void)user;
    snprintf(messages + strlen(messages), sizeof messages - strlen(messages), "%s%s\n",
             level == ENHOPE_LOG_WARNING ? "warning: " : "", message);
}

/* ---- lpp ---- */

static void centred(double Z[N][H])
{
    for (int j = 0; j < H; j++) {
        double mean = 0;
        for (int i = 0; i < N; i++) mean += (double)X[i * H + j] / N;
        for (int i = 0; i < N; i++) Z[i][j] = X[i * H + j] - mean;
    }
}

/* Asserts that the outputs of a model solve A a = lambda B a, with lambda ascending, and have
 * mean square one by the weights D. A and B follow from W by definition. Returns the sum of
 * lambda. */
static double solves(const enhope_model *m, int h, double W[N][N])
{
    static double Z[N][H];
    double A[H][H] = {{0}}, B[H][H] = {{0}}, degrees = 0, sum = 0, before = -1;
    centred(Z);
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) {
            degrees += W[i][j];
            for (int k = 0; k < H; k++)
                for (int l = 0; l < H; l++) {
                    A[k][l] += W[i][j] * (Z[i][k] - Z[j][k]) * (Z[i][l] - Z[j][l]) / 2;
                    B[k][l] += W[i][j] * Z[i][k] * Z[i][l];
                }
        }
    for (int o = 0; o < h; o++) {
        double Aa[H] = {0}, Ba[H] = {0}, aAa = 0, aBa = 0;
        for (int k = 0; k < H; k++)
            for (int l = 0; l < H; l++) {
                Aa[k] += A[k][l] * m->theta[l * h + o];
                Ba[k] += B[k][l] * m->theta[l * h + o];
            }
        for (int k = 0; k < H; k++) aAa += Aa[k] * m->theta[k * h + o], aBa += Ba[k] * m->theta[k * h + o];
        const double lambda = aAa / aBa;
        assert_true(fabs(aBa / degrees - 1) < 1e-4 && lambda >= before);
        for (int k = 0; k < H; k++) assert_true(fabs(Aa[k] - lambda * Ba[k]) < 1e-4 * fabs(sqrt(aBa * B[k][k])));
        for (int k = 0; k < H && o == 0; k++) assert_true(A[k][k] / B[k][k] >= lambda); /* it is the smallest */
        before = lambda;
        sum += lambda;
    }
    return sum;
}

static double W[N][N];

static void the_class_graph_gives_discriminant_analysis(void **state)
{
    (void)state;
    /* scatter within classes and total scatter by definition, without a graph */
    static double Z[N][H];
    double mean[C][H] = {{0}}, count[C] = {0}, within[H][H] = {{0}}, total[H][H] = {{0}};
    centred(Z);
    for (int i = 0; i < N; i++) count[LABEL[i]]++;
    for (int i = 0; i < N; i++)
        for (int k = 0; k < H; k++) mean[LABEL[i]][k] += Z[i][k] / count[LABEL[i]];
    for (int i = 0; i < N; i++)
        for (int k = 0; k < H; k++)
            for (int l = 0; l < H; l++) {
                within[k][l] += (Z[i][k] - mean[LABEL[i]][k]) * (Z[i][l] - mean[LABEL[i]][l]);
                total[k][l] += Z[i][k] * Z[i][l];
            }
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) W[i][j] = LABEL[i] == LABEL[j] ? 1 / count[LABEL[i]] : 0;
    static const char *const devices[] = {"cpu", "ref"};
    for (int d = 0; d < 2; d++) {
        on(devices[d]);
        enhope_model *m = train(points, with("method", "lpp", "graph_k", "0", NULL));
        for (int o = 0; o < 2; o++) {
            double inner = 0, all = 0, residual = 0;
            for (int k = 0; k < H; k++)
                for (int l = 0; l < H; l++) {
                    inner += within[k][l] * m->theta[k * 2 + o] * m->theta[l * 2 + o];
                    all += total[k][l] * m->theta[k * 2 + o] * m->theta[l * 2 + o];
                }
            for (int k = 0; k < H; k++) {
                double r = 0;
                for (int l = 0; l < H; l++) r += (within[k][l] - inner / all * total[k][l]) * m->theta[l * 2 + o];
                residual = fmax(residual, fabs(r) / sqrt(all * total[k][k]));
            }
            assert_true(residual < 1e-4);
        }
        assert_true(fabs(m->history[0].loss - solves(m, 2, W) / 2) < 1e-5);
        enhope_model_free(m);
    }
    on("cpu");
}

/* W_ij = 1 if one is among the k nearest of the other. */
static void link_nearest(int k)
{
    memset(W, 0, sizeof W);
    for (int i = 0; i < N; i++) {
        bool taken[N] = {0};
        taken[i] = true;
        for (int l = 0; l < k; l++) {
            int nearest = -1;
            double smallest = INFINITY;
            for (int j = 0; j < N; j++) {
                double d = 0;
                for (int s = 0; s < H; s++) d += pow((double)X[i * H + s] - X[j * H + s], 2);
                if (!taken[j] && d < smallest) smallest = d, nearest = j;
            }
            taken[nearest] = true;
            W[i][nearest] = W[nearest][i] = 1;
        }
    }
}

static void the_nearest_graph_connects_neighbors_of_either_side(void **state)
{
    (void)state;
    static const char *const devices[] = {"cpu", "ref", "cpu"}, *const links[] = {"5", "5", "1"};
    for (int d = 0; d < 3; d++) {
        on(devices[d]);
        link_nearest(atoi(links[d]));
        enhope_model *m = train(points, with("method", "lpp", "graph_k", links[d], "n_components", "3", NULL));
        assert_true(fabs(m->history[0].loss - solves(m, 3, W) / 3) < 1e-5);
        enhope_model_free(m);
    }
    on("cpu");
}

static void lpp_accepts_sparse_data_duplicates_and_any_graph_k(void **state)
{
    (void)state;
    static float twice[N * H];
    for (int i = 0; i < N * H; i++) twice[i] = X[i % (N / 4 * H)]; /* every sample four times */
    enhope_dataset *copies = NULL;
    assert_int_equal(enhope_dataset_view_f32(ctx, N, H, twice, LABEL, C, NULL, &copies), ENHOPE_OK);
    enhope_model *a = train(points, with("method", "lpp", NULL)),
                 *b = train(sparse_points, with("method", "lpp", NULL));
    for (int i = 0; i < (H + 1) * 2; i++) assert_true(fabsf(a->theta[i] - b->theta[i]) < 1e-4f);
    enhope_model_free(a), enhope_model_free(b);
    static const char *const links[] = {"2", "5", "1000"};
    for (int l = 0; l < 3; l++) {
        a = train(copies, with("method", "lpp", "graph_k", links[l], NULL));
        for (int i = 0; i < (H + 1) * 2; i++) assert_true(isfinite(a->theta[i]));
        assert_true(a->history[0].loss > -1e-6 && a->history[0].loss < 2);
        enhope_model_free(a);
    }
    enhope_dataset_free(copies);
}

static void a_stopped_lpp_uses_the_partial_graph(void **state)
{
    (void)state;
    on("ref"); /* blocks of 1000 samples */
    messages[0] = 0;
    enhope_context_set_log(ctx, listen, NULL);
    enhope_model *m = train(many, with("method", "lpp", "time_limit", "0.000001", NULL));
    enhope_context_set_log(ctx, NULL, NULL);
    assert_string_equal(
        messages, "lpp: searching 5 neighbors for each of 2500 samples, in 5 directions with 98 % of the variance\n"
                  "warning: lpp: stopped after the neighbors of 1000 samples; the map uses only these\n");
    on("cpu");
    enhope_model *whole = train(many, with("method", "lpp", NULL));
    assert_true(m->epochs == 1 && fabs(m->history[0].loss - whole->history[0].loss) < 0.05);
    enhope_model_free(m), enhope_model_free(whole);
}

/* ---- mcml ---- */

static void the_metric_loss_matches_the_worked_case(void **state)
{
    (void)state;
    const double line[] = {0, 1, 3}, one = 1;
    const int32_t label[] = {0, 0, 1};
    double G;
    eh_metric m;
    assert_int_equal(eh_metric_create(ctx, 1, 3, 1, line, label, &m), ENHOPE_OK);
    assert_true(fabs(2 * eh_metric_loss(&m, 1, &one, &G) - .0489227579) < 1e-9); /* two rows have a target */
    eh_metric_free(&m);
}

/* The first `n` samples, not centered, because no loss depends on the center. */
static double *doubles(int n)
{
    double *x = malloc((size_t)n * H * sizeof *x);
    for (int i = 0; i < n * H; i++) x[i] = X[i];
    return x;
}

/* dloss/dR = 2 R dloss/dM, by central differences; the loss equals that of the neighbor
 * objective. */
static void the_metric_gradient_matches_central_differences(void **state)
{
    (void)state;
    enum { FEW = 37, RANK = 3 };
    double *x = doubles(FEW), R[RANK * H], G[H * H], spare[H * H], Y[FEW * RANK] = {0}, dY[FEW * RANK];
    int32_t label[FEW];
    for (int i = 0; i < FEW; i++) label[i] = i ? LABEL[i] : C; /* one sample is alone in its class */
    for (int i = 0; i < RANK * H; i++) R[i] = 0.5 * eh_random_normal(3, 1, (uint64_t)i);
    eh_metric m;
    assert_int_equal(eh_metric_create(ctx, 2, FEW, H, x, label, &m), ENHOPE_OK);
    const double loss = eh_metric_loss(&m, RANK, R, G);
    for (int v = 0; v < RANK * H; v++) {
        const double kept = R[v], step = 1e-5;
        double want = 0;
        for (int j = 0; j < H; j++) want += 2 * R[v / H * H + j] * G[j * H + v % H];
        R[v] = kept + step;
        const double up = eh_metric_loss(&m, RANK, R, spare);
        R[v] = kept - step;
        const double down = eh_metric_loss(&m, RANK, R, spare);
        R[v] = kept;
        assert_true(fabs(want - (up - down) / (2 * step)) < 1e-7 * (1 + fabs(want)));
    }
    for (int i = 0; i < FEW; i++)
        for (int k = 0; k < RANK; k++)
            for (int j = 0; j < H; j++) Y[i * RANK + k] += x[i * H + j] * R[k * H + j];
    eh_compute *ref = NULL;
    eh_loss_value value;
    on("ref");
    assert_int_equal(eh_compute_open(ctx, false, &ref), ENHOPE_OK);
    const eh_pairs pairs = {.gaussian = true,
                            .row = true,
                            .self = true,
                            .n = FEW,
                            .z = FEW,
                            .h = RANK,
                            .Y = (eh_real *)Y,
                            .G = (eh_real *)Y,
                            .label = (eh_label *)label,
                            .other_label = (eh_label *)label};
    eh_neighbor_loss(&pairs, ref, (eh_loss *)&value, (eh_real *)dY, NULL);
    assert_true(fabs(value.value - loss) < 1e-10);
    eh_compute_close(ref);
    on("cpu");
    eh_metric_free(&m);
    free(x);
}

/* The loss in all dimensions of a model that has all of them, and the gradient in its metric M
 * (H, H). */
static double metric_of(const enhope_model *model, double *M, double *G)
{
    double *x = doubles(N), R[H * H];
    eh_metric m;
    for (int k = 0; k < H; k++)
        for (int j = 0; j < H; j++) R[k * H + j] = model->theta[j * H + k];
    for (int i = 0; i < H; i++)
        for (int j = 0; j < H; j++) {
            M[i * H + j] = 0;
            for (int k = 0; k < H; k++) M[i * H + j] += R[k * H + i] * R[k * H + j];
        }
    assert_int_equal(eh_metric_create(ctx, 2, N, H, x, LABEL, &m), ENHOPE_OK);
    const double loss = eh_metric_loss(&m, H, R, G);
    eh_metric_free(&m);
    free(x);
    return loss;
}

static void mcml_reaches_the_minimum_of_its_convex_objective(void **state)
{
    (void)state;
    double M[H * H], G[H * H], other_M[H * H], other_G[H * H], along = 0, value[H], vector[H * H];
    enhope_model *m = train(points, with("method", "mcml", "n_components", "5", NULL));
    enhope_model *direct = train(points, with("method", "mcml+", "n_components", "5", "solver", "lbfgs", "batch_size",
                                              "0", "line_searches", "300", "n_epochs", "1", NULL));
    const double loss = metric_of(m, M, G), other = metric_of(direct, other_M, other_G);
    assert_true(fabs(loss - m->history[0].loss) < 1e-5 * loss);
    if (!(loss <= other * (1 + 1e-4))) fail_msg("%.9g, mcml+ %.9g", loss, other);
    /* conditions of a minimum over the cone: the gradient has no slope along M and no descent
     * direction into the cone */
    double size = 0;
    for (int i = 0; i < H * H; i++) along += M[i] * G[i], size += M[i] * M[i];
    for (int i = 0; i < H * H; i++) G[i] = -G[i];
    assert_int_equal(eh_eigen_largest(ctx, H, G, H, value, vector), ENHOPE_OK);
    if (fabs(along) > 2e-3 * loss || value[0] * sqrt(size) > 2e-2 * loss)
        fail_msg("%g %g of %g", along, value[0] * sqrt(size), loss);
    enhope_model_free(m), enhope_model_free(direct);
}

static void mcml_can_be_stopped_and_refuses_large_data(void **state)
{
    (void)state;
    messages[0] = 0;
    enhope_context_set_log(ctx, listen, NULL);
    enhope_model *m = train(points, with("method", "mcml", "time_limit", "0.000001", NULL));
    enhope_context_set_log(ctx, NULL, NULL);
    assert_non_null(strstr(messages, "mcml: 0 steps, a metric of rank 5 with loss"));
    enhope_model_free(m);
    enum { BEYOND = 10001 };
    float *x = calloc(BEYOND, sizeof *x);
    int32_t *label = calloc(BEYOND, sizeof *label);
    enhope_dataset *large = NULL;
    label[0] = 1;
    assert_int_equal(enhope_dataset_view_f32(ctx, BEYOND, 1, x, label, 2, NULL, &large), ENHOPE_OK);
    enhope_settings *s = with("method", "mcml", "n_components", "1", NULL);
    assert_int_equal(enhope_train(ctx, large, s, NULL, NULL, &m), ENHOPE_ERROR_ARGUMENT);
    assert_string_equal(
        enhope_error(ctx),
        "mcml of 10001 samples of 1 inputs: expected at most 10000 samples and 1000 inputs; use --method "
        "mcml+, which learns the same objective without this limit, or fewer samples (--limit)");
    enhope_settings_free(s);
    enhope_dataset_free(large);
    free(x), free(label);
}

/* ---- both ---- */

static void identical_samples_give_a_finite_map(void **state)
{
    (void)state;
    static float same[N * H];
    enhope_dataset *data = NULL;
    for (int i = 0; i < N * H; i++) same[i] = 2.385f;
    assert_int_equal(enhope_dataset_view_f32(ctx, N, H, same, LABEL, C, NULL, &data), ENHOPE_OK);
    static const char *const methods[][2] = {{"mcml", NULL}, {"lpp", "5"}, {"lpp", "0"}};
    for (int i = 0; i < 3; i++) {
        enhope_model *m =
            train(data, with("method", methods[i][0], methods[i][1] ? "graph_k" : NULL, methods[i][1], NULL));
        for (int j = 0; j < (H + 1) * 2; j++) assert_true(isfinite(m->theta[j]));
        enhope_model_free(m);
    }
    enhope_dataset_free(data);
}

static void an_indefinite_scatter_gives_finite_directions(void **state)
{
    (void)state;
    double A[] = {2.385, 0.5, 0.5, 1.25}, B[] = {1, 1.25, 1.25, 1}, value[2];
    assert_int_equal(eh_eigen_generalized(ctx, 2, A, B, value), ENHOPE_OK);
    assert_true(value[0] > 0 && value[0] <= value[1]);
    for (int i = 0; i < 4; i++) assert_true(isfinite(A[i]));
}

static void results_do_not_depend_on_threads(void **state)
{
    (void)state;
    static const char *const methods[][2] = {{"mcml", NULL}, {"lpp", "5"}, {"lpp", "0"}};
    for (int i = 0; i < 3; i++) {
        float first[(H + 1) * 2];
        for (int threads = 1; threads <= 3; threads += 2) {
            enhope_context_set_threads(ctx, threads);
            enhope_model *m =
                train(points, with("method", methods[i][0], methods[i][1] ? "graph_k" : NULL, methods[i][1], NULL));
            if (threads == 1)
                memcpy(first, m->theta, sizeof first);
            else
                assert_memory_equal(first, m->theta, sizeof first);
            enhope_model_free(m);
        }
    }
    enhope_context_set_threads(ctx, 0);
}

int main(void)
{
    ctx = enhope_context_create();
    make_data();
    if (enhope_dataset_view_f32(ctx, N, H, X, LABEL, C, NULL, &points) ||
        enhope_dataset_view_f32(ctx, LARGE, H, X, LABEL, C, NULL, &many) ||
        enhope_dataset_view_csr(ctx, N, H, row_start, column, X, LABEL, C, NULL, &sparse_points))
        return 1;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_class_graph_gives_discriminant_analysis),
        cmocka_unit_test(the_nearest_graph_connects_neighbors_of_either_side),
        cmocka_unit_test(lpp_accepts_sparse_data_duplicates_and_any_graph_k),
        cmocka_unit_test(a_stopped_lpp_uses_the_partial_graph),
        cmocka_unit_test(the_metric_loss_matches_the_worked_case),
        cmocka_unit_test(the_metric_gradient_matches_central_differences),
        cmocka_unit_test(mcml_reaches_the_minimum_of_its_convex_objective),
        cmocka_unit_test(mcml_can_be_stopped_and_refuses_large_data),
        cmocka_unit_test(identical_samples_give_a_finite_map),
        cmocka_unit_test(an_indefinite_scatter_gives_finite_directions),
        cmocka_unit_test(results_do_not_depend_on_threads),
    };
    const int failed = cmocka_run_group_tests_name("solve", tests, NULL, NULL);
    enhope_dataset_free(points);
    enhope_dataset_free(sparse_points);
    enhope_dataset_free(many);
    enhope_context_free(ctx);
    return failed;
}
