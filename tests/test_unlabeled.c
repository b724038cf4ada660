/* Samples without a label: batches, targets and their gradient, what they gain, and when they are
 * refused. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "blobs_support.h"
#include "train_support.h"

#define semi(...) with("solver", "adam", "normalizer", "row", __VA_ARGS__)

/* The labels of the blobs, of which `labeled` of each class remain. */
static int32_t few_labels[N];

static enhope_dataset *with_labels(int labeled, bool sparse)
{
    int left[C] = {labeled, labeled, labeled};
    enhope_dataset *data = NULL;
    for (int i = 0; i < N; i++) few_labels[i] = left[LABEL[i]]-- > 0 ? LABEL[i] : -1;
    assert_int_equal(sparse ? enhope_dataset_view_csr(ctx, N, H, row_start, column, X, few_labels, C, NULL, &data)
                            : enhope_dataset_view_f32(ctx, N, H, X, few_labels, C, NULL, &data),
                     ENHOPE_OK);
    return data;
}

/* The error of a model, which is freed. */
static double error_of(enhope_model *m, const enhope_dataset *data)
{
    enhope_evaluation e = {0};
    assert_int_equal(enhope_model_evaluate(ctx, m, data, 0, &e), ENHOPE_OK);
    enhope_model_free(m);
    return (double)e.errors / (double)e.n;
}

/* ---- batches ---- */

static void an_epoch_has_every_unlabeled_sample_once_and_labels_in_every_batch(void **state)
{
    (void)state;
    static const int labeled[] = {2, 7, 60, 99};
    for (int i = 0; i < 4; i++) {
        enhope_dataset *data = with_labels(labeled[i], false);
        enhope_trainer *t = started(data, semi("batch_size", "40", "n_epochs", "2", NULL));
        int seen[N] = {0}, epochs_of_label = 0;
        assert_int_equal(t->samples.n + t->samples.unlabeled_n, N);
        for (int64_t b = 0; b < t->batches.count; b++) {
            eh_batch batch;
            assert_int_equal(eh_batches_get(&t->batches, 1, b, &batch), ENHOPE_OK);
            const int64_t *rows = (const int64_t *)batch.rows;
            const int32_t *label = (const int32_t *)batch.label;
            bool here[N] = {false};
            for (int64_t s = 0; s < batch.n; s++) {
                assert_int_equal(label[s], few_labels[rows[s]]);
                assert_true((s < t->batches.labeled) == (label[s] >= 0));
                assert_false(here[rows[s]]); /* no sample is twice in a batch */
                here[rows[s]] = true;
                seen[rows[s]]++;
            }
            assert_in_range(batch.n, t->batches.labeled, 40 + t->batches.labeled);
        }
        for (int r = 0; r < N; r++)
            if (few_labels[r] < 0) assert_int_equal(seen[r], 1);
        for (int r = 0; r < N; r++) epochs_of_label += few_labels[r] >= 0 ? seen[r] : 0;
        assert_int_equal(epochs_of_label, t->batches.labeled * t->batches.count);
        assert_true(epochs_of_label >= t->samples.n);
        enhope_trainer_free(t);
        enhope_dataset_free(data);
    }
}

/* Whether fewer than k samples are nearer to sample i than sample j. */
static bool is_neighbor(int i, int j, int k)
{
    double d[N];
    int nearer = 0;
    for (int r = 0; r < N; r++) {
        d[r] = 0;
        for (int v = 0; v < H; v++) d[r] += pow((double)X[r * H + v] - (double)X[i * H + v], 2);
    }
    for (int r = 0; r < N; r++) nearer += r != i && r != j && d[r] < d[j] * (1 - 1e-6);
    return nearer < k;
}

static void half_of_the_target_rows_are_neighbors(void **state)
{
    (void)state;
    enum { K = 3 };
    enhope_dataset *data = with_labels(8, false);
    enhope_trainer *t =
        started(data, semi("batch_size", "40", "n_epochs", "12", "graph_k", "3", "scaling", "none", NULL));
    int own = 0, all = 0, different = 0;
    for (int64_t b = 6 * t->batches.count; b < 12 * t->batches.count; b++) {
        eh_batch batch;
        assert_int_equal(eh_batches_get(&t->batches, b / t->batches.count, b % t->batches.count, &batch), ENHOPE_OK);
        const int64_t *rows = (const int64_t *)batch.rows, *target_rows = (const int64_t *)batch.target_rows;
        const int32_t *label = (const int32_t *)batch.label;
        for (int64_t s = 0; s < batch.n; s++) {
            const int i = (int)rows[s], j = (int)target_rows[s];
            own += label[s] < 0 && i == j;
            all += label[s] < 0;
            different += i != j;
            assert_true(i == j || (label[s] < 0 && is_neighbor(i, j, K)));
        }
    }
    assert_int_equal(own + different, all);
    assert_in_range(own, 2 * all / 5, 3 * all / 5);
    enhope_trainer_free(t);
    enhope_dataset_free(data);
}

static void spread_labels_are_the_targets_of_the_first_half_of_the_epochs(void **state)
{
    (void)state;
    enhope_dataset *data = with_labels(8, false);
    enhope_trainer *t = started(data, semi("batch_size", "40", "n_epochs", "4", NULL));
    int32_t spread[N];
    int right = 0;
    for (int64_t i = 0; i < N; i++) spread[eh_samples_row(&t->samples, i)] = t->batches.spread[i];
    for (int i = 0; i < N; i++) right += spread[i] == LABEL[i];
    assert_true(right > N * 3 / 4);
    for (int64_t b = 0; b < 4 * t->batches.count; b++) {
        eh_batch batch;
        const bool early = b < 2 * t->batches.count;
        assert_int_equal(eh_batches_get(&t->batches, b / t->batches.count, b % t->batches.count, &batch), ENHOPE_OK);
        assert_true((batch.target_rows == NULL) == early);
        for (int64_t s = 0; s < batch.n; s++) {
            const int64_t row = ((const int64_t *)batch.rows)[s];
            const int32_t want = early && few_labels[row] < 0 ? spread[row] : few_labels[row];
            assert_int_equal(((const int32_t *)batch.label)[s], want);
        }
    }
    enhope_trainer_free(t);
    enhope_dataset_free(data);
}

/* The labels of each class are equally many, so balanced weights are all the same. */
static void spread_labels_have_the_weight_of_their_class(void **state)
{
    (void)state;
    enhope_dataset *data = with_labels(20, false);
    double loss[2];
    for (int i = 0; i < 2; i++) {
        int64_t rows;
        enhope_model *m = train(data, semi("n_epochs", "2", "class_weight", i ? "balanced" : "none", NULL));
        loss[i] = enhope_model_history(m, &rows)[0].loss;
        enhope_model_free(m);
    }
    assert_true(fabs(loss[0] - loss[1]) < 1e-5 * loss[0]);
    enhope_dataset_free(data);
}

static void a_graph_is_found_if_labels_are_a_minority(void **state)
{
    (void)state;
    for (int i = 0; i < 3; i++) {
        enhope_dataset *data = with_labels(i ? 70 : 30, false);
        enhope_trainer *t =
            started(data, i == 2 ? semi("n_epochs", "2", "graph_k", "3", NULL) : semi("n_epochs", "2", NULL));
        assert_int_equal(t->batches.candidates, i == 0 ? 5 : i == 1 ? 0 : 3);
        assert_true((t->batches.spread != NULL) == (i != 1));
        enhope_trainer_free(t);
        enhope_dataset_free(data);
    }
}

/* ---- the loss ---- */

static double loss_at(enhope_trainer *t, double *gradient)
{
    eh_loss_value loss;
    eh_batch_loss_at(&t->loss, t->parameters.theta, (eh_real *)gradient, (eh_loss *)&loss);
    return loss.value;
}

static enhope_trainer *started_on_ref(const enhope_dataset *data, const char *aux, const char *similarity)
{
    return started(data, semi("n_factors", "4", "n_hidden", "3", "batch_size", "30", "noise", "0.3", "aux_components",
                              aux, "similarity", similarity, "unlabeled_weight", "0.7", "adversarial_step", "0",
                              "graph_k", "0", NULL));
}

static void targets_of_unlabeled_samples_are_their_probabilities_without_noise(void **state)
{
    (void)state;
    static const char *const similarities[] = {"student", "gaussian"};
    enhope_dataset *data = with_labels(8, false);
    on("ref");
    for (int i = 0; i < 4; i++) {
        enhope_trainer *t = started_on_ref(data, i / 2 ? "3" : "0", similarities[i % 2]);
        eh_batch batch;
        assert_int_equal(eh_batches_get(&t->batches, 0, 1, &batch), ENHOPE_OK);
        eh_batch_loss_set_batch(&t->loss, &batch);
        const int32_t *label = (const int32_t *)batch.label, *other = t->parameters.exemplar_label;
        const int64_t z = t->parameters.z, h = t->embedder.shape.h;
        const double *P = (const double *)t->loss.consistency.target_probs;
        double Y[64 * 2], G[16 * 2], unlabeled = 0;
        assert_true(batch.n <= 64 && z <= 16 && h == 2);
        eh_embedder_embed(&t->embedder, t->parameters.theta, batch.rows, batch.n, (eh_real *)Y);
        eh_embedder_exemplars(&t->embedder, t->parameters.theta,
                              eh_parameters_exemplars(&t->parameters, t->parameters.theta), 0, z);
        memcpy(G, t->embedder.G, (size_t)(z * h) * sizeof *G);
        for (int64_t s = 0; s < batch.n; s++) unlabeled += label[s] < 0;
        for (int64_t s = 0; s < batch.n; s++) {
            double w[16], sum = 0, same = 0;
            for (int64_t j = 0; j < z; j++) {
                const double d = pow(Y[2 * s] - G[2 * j], 2) + pow(Y[2 * s + 1] - G[2 * j + 1], 2);
                sum += w[j] = i % 2 ? exp(-d) : 1 / (1 + d);
                same += other[j] == label[s];
            }
            for (int64_t j = 0; j < z; j++) {
                const double want = label[s] < 0 ? 0.7 / unlabeled * w[j] / sum
                                                 : (other[j] == label[s]) / same / (double)t->batches.labeled;
                assert_true(fabs(P[s * z + j] - want) < 1e-12);
            }
        }
        enhope_trainer_free(t);
    }
    on("cpu");
    enhope_dataset_free(data);
}

static void the_gradient_matches_differences_for_fixed_targets(void **state)
{
    (void)state;
    static const char *const similarities[] = {"student", "gaussian"};
    enhope_dataset *data = with_labels(8, false);
    on("ref");
    for (int i = 0; i < 4; i++) {
        enhope_trainer *t = started_on_ref(data, i / 2 ? "3" : "0", similarities[i % 2]);
        const int64_t count = t->optim->count;
        double *g = malloc((size_t)count * sizeof *g), *spare = malloc((size_t)count * sizeof *g), worst = 0, size = 0;
        double *x = (double *)t->parameters.theta;
        loss_at(t, g);
        t->loss.head.off = true; /* the loss leaves out that of the head */
        loss_at(t, g);
        for (int64_t v = 0; v < count; v++) {
            const double kept = x[v], step = 1e-5;
            x[v] = kept + step;
            const double up = loss_at(t, spare);
            x[v] = kept - step;
            const double down = loss_at(t, spare);
            x[v] = kept;
            worst = fmax(worst, fabs(g[v] - (up - down) / (2 * step)));
            size = fmax(size, fabs(g[v]));
        }
        assert_true(size > 0 && worst < 1e-6 * size + 1e-10);
        free(g), free(spare);
        enhope_trainer_free(t);
    }
    on("cpu");
    enhope_dataset_free(data);
}

static void every_backend_trains_to_the_same_loss(void **state)
{
    (void)state;
    enhope_dataset *data = with_labels(20, false);
    double loss[2][2];
    for (int i = 0; i < 2; i++) {
        int64_t rows;
        on(i ? "ref" : "cpu");
        enhope_model *m = train(data, semi("n_epochs", "2", "label_smoothing", "0.1", "class_weight", "1=3", "noise",
                                           "0.2", "adversarial_step", "0", NULL));
        const enhope_history *h = enhope_model_history(m, &rows);
        assert_int_equal(rows, 2);
        loss[i][0] = h[0].loss, loss[i][1] = h[1].loss;
        enhope_model_free(m);
    }
    on("cpu");
    for (int e = 0; e < 2; e++)
        if (!(fabs(loss[0][e] - loss[1][e]) < 1e-4 * loss[1][e]))
            fail_msg("%d: %.9g, expected %.9g", e, loss[0][e], loss[1][e]);
    enhope_dataset_free(data);
}

static void threads_do_not_change_the_model(void **state)
{
    (void)state;
    enhope_dataset *data = with_labels(20, false);
    enhope_model *m[2];
    for (int i = 0; i < 2; i++) {
        assert_int_equal(enhope_context_set_threads(ctx, 1 + i), ENHOPE_OK);
        m[i] = train(data, semi("n_epochs", "4", NULL));
    }
    assert_memory_equal(m[0]->theta, m[1]->theta,
                        (size_t)eh_map_parameters(m[0]->map, &m[0]->shape) * sizeof *m[0]->theta);
    assert_int_equal(enhope_context_set_threads(ctx, 1), ENHOPE_OK);
    enhope_model_free(m[0]), enhope_model_free(m[1]);
    enhope_dataset_free(data);
}

/* ---- what they gain ---- */

static void unlabeled_samples_lower_the_error(void **state)
{
    (void)state;
    double with_them = 0, without = 0;
    enhope_dataset *data = with_labels(6, false);
    for (int seed = 1; seed <= 3; seed++) {
        char text[16];
        snprintf(text, sizeof text, "%d", seed);
        with_them += error_of(train(data, semi("random_state", text, "n_epochs", "80", "adversarial_step", "0.3",
                                               "batch_size", "30", "learning_rate", "0.02", "graph_k", "0", NULL)),
                              blobs);
        without += error_of(train(data, semi("random_state", text, "n_epochs", "800", "unlabeled_weight", "0",
                                             "batch_size", "30", "learning_rate", "0.02", NULL)),
                            blobs);
    }
    if (!(with_them < 0.8 * without)) fail_msg("%g with them, %g without", with_them / 3, without / 3);
    enhope_dataset_free(data);
}

/* Two rings, one around the other, with three labels each: only the graph shows which is which. */
static void the_graph_connects_rings(void **state)
{
    (void)state;
    enum { RINGS = 400 };
    static float x[2 * RINGS];
    static int32_t y[RINGS], few[RINGS];
    enhope_dataset *all = NULL, *data = NULL;
    for (int i = 0; i < RINGS; i++) {
        const double angle = 6.283 * eh_random_unit(8, 1, (uint64_t)i), radius = i % 2 ? 1 : 2.385;
        x[2 * i] = (float)(radius * cos(angle) + 0.1 * eh_random_normal(8, 2, (uint64_t)i));
        x[2 * i + 1] = (float)(radius * sin(angle) + 0.1 * eh_random_normal(8, 3, (uint64_t)i));
        y[i] = i % 2;
        few[i] = i < 6 ? i % 2 : -1;
    }
    assert_int_equal(enhope_dataset_view_f32(ctx, RINGS, 2, x, y, 2, NULL, &all), ENHOPE_OK);
    assert_int_equal(enhope_dataset_view_f32(ctx, RINGS, 2, x, few, 2, NULL, &data), ENHOPE_OK);
    double error[2];
    for (int i = 0; i < 2; i++)
        error[i] = error_of(train(data, semi("n_epochs", "150", "batch_size", "40", "learning_rate", "0.01", "noise",
                                             "0.05", "graph_k", i ? "5" : "0", NULL)),
                            all);
    if (!(error[1] < 0.05 && error[1] < error[0])) fail_msg("%g with the graph, %g without", error[1], error[0]);
    enhope_dataset_free(all), enhope_dataset_free(data);
}

/* ---- when they take part ---- */

static void samples_of_weight_zero_take_no_part(void **state)
{
    (void)state;
    enhope_dataset *data = with_labels(30, false);
    double weight[N];
    for (int i = 0; i < N; i++) weight[i] = i % 5 ? 1.25f : 0;
    assert_int_equal(enhope_dataset_set_weights(ctx, data, weight), ENHOPE_OK);
    enhope_trainer *t = started(data, semi("n_epochs", "1", NULL));
    assert_true(t->samples.unlabeled_n > 0);
    for (int64_t i = 0; i < t->samples.unlabeled_n; i++) assert_true(t->samples.unlabeled[i] % 5 != 0);
    enhope_trainer_free(t);
    enhope_dataset_free(data);
}

static void sparse_samples_take_part_if_noise_is_set(void **state)
{
    (void)state;
    enhope_dataset *data = with_labels(30, true);
    enhope_trainer *t = started(data, semi("n_epochs", "1", NULL));
    assert_int_equal(t->samples.unlabeled_n, 0);
    enhope_trainer_free(t);
    t = started(data, semi("n_epochs", "1", "noise", "0.2", NULL));
    assert_int_equal(t->samples.unlabeled_n, N - 90);
    enhope_trainer_free(t);
    enhope_settings *s = semi("unlabeled_weight", "2", NULL);
    assert_int_equal(enhope_trainer_create(ctx, NULL, data, s, &t), ENHOPE_ERROR_ARGUMENT);
    assert_non_null(strstr(enhope_error(ctx), "unlabeled_weight is 2, but sparse samples"));
    enhope_settings_free(s);
    enhope_dataset_free(data);
}

static void few_labels_are_not_held_out(void **state)
{
    (void)state;
    enhope_dataset *data = with_labels(30, false);
    enhope_trainer *t = started(data, semi("n_epochs", "1", NULL));
    assert_true(t->samples.valid_n == 0 && t->samples.n == 90);
    enhope_trainer_free(t);
    t = started(data, semi("n_epochs", "1", "validation_fraction", "0.2", NULL));
    assert_true(t->samples.valid_n == 18 && t->samples.unlabeled_n == N - 90);
    enhope_trainer_free(t);
    enhope_dataset_free(data);
}

static int open_context(void **state)
{
    (void)state;
    ctx = enhope_context_create();
    return ctx && !enhope_context_set_threads(ctx, 1) && make_blobs(ctx) ? 0 : 1;
}

static int close_context(void **state)
{
    (void)state;
    enhope_dataset_free(blobs), enhope_dataset_free(sparse_blobs);
    enhope_context_free(ctx);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_epoch_has_every_unlabeled_sample_once_and_labels_in_every_batch),
        cmocka_unit_test(half_of_the_target_rows_are_neighbors),
        cmocka_unit_test(spread_labels_are_the_targets_of_the_first_half_of_the_epochs),
        cmocka_unit_test(spread_labels_have_the_weight_of_their_class),
        cmocka_unit_test(a_graph_is_found_if_labels_are_a_minority),
        cmocka_unit_test(targets_of_unlabeled_samples_are_their_probabilities_without_noise),
        cmocka_unit_test(the_gradient_matches_differences_for_fixed_targets),
        cmocka_unit_test(every_backend_trains_to_the_same_loss),
        cmocka_unit_test(threads_do_not_change_the_model),
        cmocka_unit_test(unlabeled_samples_lower_the_error),
        cmocka_unit_test(the_graph_connects_rings),
        cmocka_unit_test(samples_of_weight_zero_take_no_part),
        cmocka_unit_test(sparse_samples_take_part_if_noise_is_set),
        cmocka_unit_test(few_labels_are_not_held_out),
    };
    return cmocka_run_group_tests(tests, open_context, close_context);
}
