/* The loss of one batch: its gradient against central differences, and the large-margin loss and
 * its target neighbors against their definitions. */
#include <math.h>
#include <stdlib.h>

#include "train/trainer.h"
#include "train_blobs_support.h"

/* 20 samples in classes of 12, 5, 2 and 1, with integer values. The first five samples are
 * identical. */
enum { FEW = 20 };
static float few_x[FEW * 2];
static int32_t few_label[FEW];

static enhope_dataset *few_samples(void)
{
    enhope_dataset *data = NULL;
    for (int i = 0; i < FEW; i++) {
        few_label[i] = i < 12 ? 0 : i < 17 ? 1 : i < 19 ? 2 : 3;
        for (int j = 0; j < 2; j++)
            few_x[i * 2 + j] = i < 5 ? 3 : (float)(eh_random_u64(3, (uint32_t)j, (uint64_t)i) % 9);
    }
    assert_int_equal(enhope_dataset_view_f32(ctx, FEW, 2, few_x, few_label, 4, NULL, &data), ENHOPE_OK);
    return data;
}

static double squared_between(const float *X_, int64_t dims, int64_t i, int64_t j)
{
    double d = 0;
    for (int64_t k = 0; k < dims; k++) d += pow((double)X_[i * dims + k] - X_[j * dims + k], 2);
    return d;
}

static int ascending(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The targets of a sample are distinct other samples of its class, at the smallest distances. */
static void check_targets(const enhope_trainer *t, int64_t i)
{
    const int32_t row = t->samples.rows[i], each = t->loss.hinge.targets, *own = t->batches.target + i * each;
    double smallest[FEW];
    int64_t others = 0;
    for (int64_t j = 0; j < FEW; j++)
        if (j != row && few_label[j] == few_label[row]) smallest[others++] = squared_between(few_x, 2, row, j);
    qsort(smallest, (size_t)others, sizeof *smallest, ascending);
    for (int64_t s = 0; s < each; s++) {
        if (s >= others) {
            assert_int_equal(own[s], -1 - i);
            continue;
        }
        const int64_t target = t->samples.rows[own[s]];
        assert_true(target != row && few_label[target] == few_label[row]);
        assert_true(squared_between(few_x, 2, row, target) == smallest[s]);
        for (int64_t r = 0; r < s; r++) assert_true(own[r] != own[s]);
    }
}

static void target_neighbors_are_the_nearest_of_the_class_and_follow_each_batch(void **state)
{
    (void)state;
    enhope_dataset *data = few_samples();
    enhope_settings *s = with("method", "lmnn", "scaling", "none", "validation_fraction", "0", "batch_size", "7",
                              "lmnn_k", "3", "n_epochs", "1", NULL);
    enhope_trainer *t = NULL;
    int done;
    assert_int_equal(enhope_trainer_create(ctx, NULL, data, s, &t), ENHOPE_OK);
    for (int64_t i = 0; i < FEW; i++) check_targets(t, i);
    assert_int_equal(enhope_trainer_step(t, NULL, &done), ENHOPE_OK);
    int seen[FEW] = {0};
    for (int64_t b = 0; b < 3; b++) { /* batches of 6, 7 and 7 */
        const int64_t from = FEW * b / 3, n = FEW * (b + 1) / 3 - from, *batch = t->batches.order.row + 4 * from;
        const int32_t *label = t->batches.order.label + 4 * from;
        for (int64_t i = 0; i < n; i++) {
            int64_t position = 0;
            while (t->samples.rows[position] != batch[i]) position++;
            seen[batch[i]]++;
            assert_int_equal(label[i], few_label[batch[i]]);
            for (int64_t s_ = 0; s_ < 3; s_++) {
                const int64_t target = t->batches.target[position * 3 + s_], at = n + 3 * i + s_;
                assert_int_equal(batch[at], target < 0 ? batch[i] : t->samples.rows[target]);
                assert_int_equal(label[at], target < 0 ? -1 : label[i]);
            }
        }
    }
    for (int i = 0; i < FEW; i++) assert_int_equal(seen[i], 1);
    enhope_trainer_free(t);
    enhope_settings_free(s);
    enhope_dataset_free(data);
}

/* Samples of `inputs` inputs that vary in `rank` directions, and noise. */
static enhope_dataset *directed(int64_t n, int64_t inputs, int rank, double noise, float *x)
{
    enhope_dataset *data = NULL;
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < inputs; j++) {
            double value = noise * eh_random_normal(1, 1, (uint64_t)(i * inputs + j));
            for (int r = 0; r < rank; r++)
                value += eh_random_normal(2, (uint32_t)r + 1, (uint64_t)i) *
                         eh_random_normal(3, (uint32_t)r + 1, (uint64_t)j);
            x[i * inputs + j] = (float)value;
        }
    assert_int_equal(enhope_dataset_view_f32(ctx, n, inputs, x, NULL, 0, NULL, &data), ENHOPE_OK);
    return data;
}

/* Few inputs, many inputs with few directions, which are projected, and many directions, which are
 * not. */
static void the_graph_connects_the_nearest_samples_of_any_class(void **state)
{
    (void)state;
    enum { SAMPLES = 400, K = 6 };
    static const struct {
        int64_t inputs;
        int rank;
        double noise, tolerance;
    } cases[] = {{5, 2, 0.5, 1e-5}, {230, 4, 0.1, 0.01}, {230, 0, 1, 1e-5}};
    float *x = malloc(SAMPLES * 230 * sizeof *x);
    for (int c = 0; c < 3; c++) {
        const int64_t inputs = cases[c].inputs;
        enhope_dataset *data = directed(SAMPLES, inputs, cases[c].rank, cases[c].noise, x);
        enhope_settings *s = with("method", "en-tsne", "graph_k", "6", "scaling", "none", NULL);
        enhope_trainer *t = NULL;
        assert_int_equal(enhope_trainer_create(ctx, NULL, data, s, &t), ENHOPE_OK);
        for (int64_t i = 0; i < SAMPLES; i++) {
            const int64_t row = t->samples.rows[i];
            double d[SAMPLES], own[K];
            for (int64_t j = 0; j < SAMPLES; j++) d[j] = j == row ? INFINITY : squared_between(x, inputs, row, j);
            for (int k = 0; k < K; k++) {
                const int64_t neighbor = t->samples.rows[t->batches.target[i * K + k]];
                assert_true(neighbor != row);
                own[k] = d[neighbor];
                for (int l = 0; l < k; l++) assert_true(t->batches.target[i * K + k] != t->batches.target[i * K + l]);
            }
            qsort(d, SAMPLES, sizeof *d, ascending);
            for (int k = 0; k < K; k++) assert_true(own[k] <= d[K - 1] * (1 + cases[c].tolerance));
        }
        enhope_trainer_free(t);
        enhope_settings_free(s);
        enhope_dataset_free(data);
    }
    free(x);
}

/* A batch of all samples, against the sum over triples of the definition. Training lowers the
 * loss. */
static void a_batch_of_all_has_the_exact_large_margin_loss_and_lowers_it(void **state)
{
    (void)state;
    enhope_dataset *data = few_samples();
    enhope_settings *s = with("method", "lmnn", "scaling", "none", "validation_fraction", "0", "batch_size", "0",
                              "solver", "lbfgs", "line_searches", "4", "n_epochs", "5", NULL);
    enhope_trainer *t = NULL;
    double gradient[6], sum = 0, first = 0;
    float theta[6], Y[FEW * 2];
    int done = 0;
    assert_int_equal(enhope_trainer_create(ctx, NULL, data, s, &t), ENHOPE_OK);
    for (int epoch = 0; !done; epoch++) {
        enhope_progress p;
        assert_int_equal(enhope_trainer_step(t, &p, &done), ENHOPE_OK);
        if (epoch == 0) first = p.loss;
        assert_true(p.loss <= first);
    }
    assert_true(t->state.loss < 0.9 * first);
    eh_loss_value loss;
    eh_batch_loss_at(&t->loss, t->parameters.theta, (eh_real *)gradient, (eh_loss *)&loss);
    t->cp->op->read(t->cp, theta, t->parameters.theta, 6);
    for (int64_t i = 0; i < FEW; i++)
        for (int k = 0; k < 2; k++)
            Y[i * 2 + k] = theta[k] * few_x[t->samples.rows[i] * 2] + theta[2 + k] * few_x[t->samples.rows[i] * 2 + 1] +
                           theta[4 + k];
    for (int64_t i = 0; i < FEW; i++)
        for (int64_t a = 0; a < 3; a++) {
            const int64_t target = t->batches.target[i * 3 + a];
            if (target < 0) continue;
            const double near = squared_between(Y, 2, i, target);
            sum += 0.5 * near;
            for (int64_t j = 0; j < FEW; j++)
                if (few_label[t->samples.rows[j]] != few_label[t->samples.rows[i]])
                    sum += 0.5 * fmax(0, 1 + near - squared_between(Y, 2, i, j));
        }
    assert_true(fabs(loss.value - sum / FEW) < 1e-4 * loss.value);
    enhope_trainer_free(t);
    enhope_settings_free(s);
    enhope_dataset_free(data);
}

/* In double. */
static double loss_of_batch(enhope_trainer *t, double *gradient)
{
    eh_loss_value loss;
    eh_batch_loss_at(&t->loss, t->parameters.theta, (eh_real *)gradient, (eh_loss *)&loss);
    return loss.value;
}

/* Batch and exemplars through map and objective, forward and backward, in double. */
static void the_gradient_of_training_matches_central_differences(void **state)
{
    (void)state;
    static const char *const cases[][3] = {
        {"en-hope", "learned", "joint"}, {"en-hope", "kmeans", "row"},          {"hope", "learned", "joint"},
        {"hope", "learned", "row"},      {"linear-en-hope", "learned", "row"},  {"linear-en-hope", "random", "joint"},
        {"nca", "learned", "auto"},      {"mcml+", "learned", "joint"},         {"lmnn", "learned", "auto"},
        {"pt-sne", "learned", "joint"},  {"pt-sne", "learned", "row"},          {"en-tsne", "learned", "joint"},
        {"en-tsne", "learned", "row"},   {"linear-en-tsne", "learned", "joint"}};
    enum { CASES = sizeof cases / sizeof *cases };
    assert_int_equal(enhope_context_set_device(ctx, "ref"), ENHOPE_OK);
    for (int i = 0; i < 3 * CASES; i++) { /* dense, sparse, augmented */
        const char *const *choice = cases[i / 3];
        const char *noise = i % 3 == 2 ? "0.3" : "0", *dropout = i % 3 == 2 ? "0.2" : "0";
        const char *order = i / 3 % 2 ? "3" : "2";
        enhope_settings *s =
            with("method", choice[0], "exemplars", choice[1], "normalizer", choice[2], "n_factors", "4", "n_hidden",
                 "3", "order", order, "batch_size", "30", "scaling", "none", "noise", noise, "dropout", dropout, NULL);
        enhope_trainer *t = NULL;
        int done;
        assert_int_equal(enhope_trainer_create(ctx, NULL, i % 3 ? sparse_blobs : blobs, s, &t), ENHOPE_OK);
        assert_int_equal(enhope_trainer_step(t, NULL, &done), ENHOPE_OK); /* a batch is current */
        const int64_t count = t->optim->count;
        double *g = malloc((size_t)count * sizeof *g), *spare = malloc((size_t)count * sizeof *g);
        double *x = (double *)t->parameters.theta, worst = 0, size = 0;
        /* a line search may end at the kink of a hinge; a map of one place has no gradient */
        const double moved = t->method->graph ? 0.3 : 0.01;
        for (int64_t v = 0; v < count; v++) x[v] += moved * eh_random_normal(4, 1, (uint64_t)v);
        loss_of_batch(t, g);
        for (int64_t v = 0; v < count; v++) {
            const double kept = x[v], step = 1e-5;
            x[v] = kept + step;
            const double up = loss_of_batch(t, spare);
            x[v] = kept - step;
            const double down = loss_of_batch(t, spare);
            x[v] = kept;
            worst = fmax(worst, fabs(g[v] - (up - down) / (2 * step)));
            size = fmax(size, fabs(g[v]));
        }
        if (worst > 1e-6 * size + 1e-10) /* rounding of the differences */
            fail_msg("%s %s %s: %g of %g", choice[0], choice[1], choice[2], worst, size);
        free(g), free(spare);
        enhope_trainer_free(t);
        enhope_settings_free(s);
    }
    assert_int_equal(enhope_context_set_device(ctx, "cpu"), ENHOPE_OK);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(target_neighbors_are_the_nearest_of_the_class_and_follow_each_batch),
        cmocka_unit_test(a_batch_of_all_has_the_exact_large_margin_loss_and_lowers_it),
        cmocka_unit_test(the_graph_connects_the_nearest_samples_of_any_class),
        cmocka_unit_test(the_gradient_of_training_matches_central_differences),
    };
    return cmocka_run_group_tests_name("train_loss", tests, open_blobs, close_blobs);
}
