/* Training, from the public side: every method learns, runs repeat bit by bit, the best epoch is kept, stopping works,
 * bad settings and data are refused with a sentence, and no failed allocation leaks or crashes. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "data/data.h"
#include "train/trainer.h"
#include "blobs_support.h"
#include "memory_support.h"
#include "settings_support.h"

static enhope_context *ctx;

static enhope_settings *with(const char *first, ...)
{
    static const char *const small[] = {"factors", "12", "hidden", "8",      "batch", "100", "epochs",
                                        "25",      "z",  "6",      "layers", "24-12", NULL};
    va_list args;
    va_start(args, first);
    enhope_settings *s = settings_with(ctx, small, first, args);
    va_end(args);
    return s;
}

static enhope_model *train(const enhope_dataset *data, enhope_settings *s)
{
    return trained_with(ctx, data, s);
}

static double error_of(enhope_model *m, const enhope_dataset *data)
{
    enhope_evaluation e = {0};
    if (enhope_model_evaluate(ctx, m, data, 0, &e)) fail_msg("%s", enhope_error(ctx));
    enhope_model_free(m);
    return (double)e.errors / (double)e.n;
}

static void every_exemplar_choice_solver_and_form_learns(void **state)
{
    (void)state;
    static const char *const exemplars[] = {"random", "kmeans", "learned"}, *const solvers[] = {"cg", "lbfgs", "adam"},
                             *const forms[] = {"joint", "row"};
    for (int e = 0; e < 3; e++)
        for (int s = 0; s < 3; s++)
            for (int f = 0; f < 2; f++) {
                const double error = error_of(train(blobs, with("exemplars", exemplars[e], "solver", solvers[s], "form",
                                                                forms[f], "rate", "0.03", NULL)),
                                              blobs);
                if (error > 0.12) fail_msg("%s %s %s: %g", exemplars[e], solvers[s], forms[f], error);
            }
}

static void every_member_of_the_objective_family_learns(void **state)
{
    (void)state;
    static const char *const similarities[] = {"student", "gaussian"}, *const targets[] = {"mcml", "nca"},
                             *const weights[] = {"sample", "pair"};
    for (int s = 0; s < 2; s++)
        for (int t = 0; t < 2; t++)
            for (int w = 0; w < 2; w++) {
                const double error = error_of(
                    train(blobs, with("similarity", similarities[s], "target", targets[t], "weight", weights[w], NULL)),
                    blobs);
                if (error > 0.12) fail_msg("%s %s %s: %g", similarities[s], targets[t], weights[w], error);
            }
}

static void the_student_similarity_learns_with_any_freedom(void **state)
{
    (void)state;
    static const char *const freedoms[] = {"0.3", "5", "1000"}, *const forms[] = {"joint", "row"},
                             *const targets[] = {"mcml", "nca"};
    for (int f = 0; f < 3; f++)
        for (int i = 0; i < 4; i++) {
            enhope_model *m =
                train(blobs, with("freedom", freedoms[f], "form", forms[i % 2], "target", targets[i / 2], NULL));
            assert_true(m->freedom == atof(freedoms[f]));
            assert_string_equal(enhope_model_setting(m, "freedom"), freedoms[f]);
            const double error = error_of(m, blobs);
            if (error > 0.12) fail_msg("%s %s %s: %g", freedoms[f], forms[i % 2], targets[i / 2], error);
        }
}

/* The gaussian similarity and the large margin have none: the same models, whatever it is. */
static void freedom_is_the_student_similarity_s_alone(void **state)
{
    (void)state;
    static const char *const methods[] = {"snc", "nca", "lmnn", "pca"};
    for (int i = 0; i < 4; i++) {
        enhope_model *a = train(blobs, with("method", methods[i], "epochs", "2", NULL));
        enhope_model *b = train(blobs, with("method", methods[i], "epochs", "2", "freedom", "7", NULL));
        assert_true(a->freedom == 1 && b->freedom == 1 && a->r == b->r);
        assert_memory_equal(a->reference, b->reference,
                            (size_t)(a->r * eh_model_reference_width(a)) * sizeof *a->reference);
        enhope_model_free(a);
        enhope_model_free(b);
    }
}

static void every_method_of_the_table_learns(void **state)
{
    (void)state;
    for (int i = 0; i < enhope_method_count(); i++) {
        const enhope_method_info *info = enhope_method_get(i);
        assert_non_null(eh_method_find(info->name));
        const double error = error_of(train(blobs, with("method", info->name, "dims", "2", NULL)), blobs);
        /* a linear map onto few exemplars cannot bend: class 2 needs its two sides; and in the input space two exemplars
         * a class are few */
        const double most = !strcmp(info->name, "linear-en-hope") ? 0.4
                            : !strcmp(info->name, "snc")
                                ? 0.2
                                : 0.12; /* pca too: the classes lie along its first direction */
        if (error > most) fail_msg("%s: %g", info->name, error);
    }
    assert_null(enhope_method_get(enhope_method_count()));
}

static void principal_components_are_eigenvectors_of_the_covariance(void **state)
{
    (void)state;
    static const char *const devices[] = {"cpu", "ref"};
    for (int d = 0; d < 2; d++) {
        assert_int_equal(enhope_context_set_device(ctx, devices[d]), ENHOPE_OK);
        enhope_model *m = train(blobs, with("method", "pca", "scale", "none", "valid", "0", "dims", "3", NULL));
        double S[H][H] = {{0}}, mean[H] = {0}, all = 0, kept = 0;
        for (int i = 0; i < N; i++)
            for (int j = 0; j < H; j++) mean[j] += (double)X[i * H + j] / N;
        for (int i = 0; i < N; i++)
            for (int j = 0; j < H; j++)
                for (int k = 0; k < H; k++) S[j][k] += (X[i * H + j] - mean[j]) * (X[i * H + k] - mean[k]) / N;
        for (int j = 0; j < H; j++) all += S[j][j];
        double before = INFINITY;
        for (int k = 0; k < 3; k++) {
            double length = 0, value = 0, centre = m->theta[H * 3 + k], Sv[H] = {0};
            for (int j = 0; j < H; j++) {
                const double v = m->theta[j * 3 + k];
                length += v * v;
                centre += mean[j] * v;
                for (int i = 0; i < H; i++) Sv[i] += S[i][j] * v;
            }
            for (int j = 0; j < H; j++) value += Sv[j] * m->theta[j * 3 + k];
            for (int j = 0; j < H; j++) assert_true(fabs(Sv[j] - value * m->theta[j * 3 + k]) < 1e-5 * value);
            assert_true(fabs(length - 1) < 1e-5 && fabs(centre) < 1e-5 && value <= before);
            before = value;
            kept += value;
        }
        assert_true(m->epochs == 1 && fabs(m->history[0].loss - (1 - kept / all)) < 1e-5);
        enhope_model_free(m);
    }
    assert_int_equal(enhope_context_set_device(ctx, "cpu"), ENHOPE_OK);
    enhope_model *m = NULL;
    enhope_settings *s = with("method", "pca", "dims", "7", NULL);
    assert_int_equal(enhope_train(ctx, blobs, s, NULL, NULL, &m), ENHOPE_ERROR_ARGUMENT);
    assert_string_equal(enhope_error(ctx),
                        "pca of 6 inputs to 7 outputs: expected at most 20000 inputs, and no more outputs "
                        "than inputs");
    enhope_settings_free(s);
}

/* Inputs that are ten times as large give the same exemplars, scaled the same way. */
static void the_scale_of_inputs_is_chosen_where_they_are_compared_as_they_are(void **state)
{
    (void)state;
    static float large[N * H];
    enhope_dataset *data = NULL;
    for (int i = 0; i < N * H; i++) large[i] = 16 * X[i];
    assert_int_equal(enhope_dataset_view_f32(ctx, N, H, large, LABEL, C, NULL, &data), ENHOPE_OK);
    enhope_model *small = train(blobs, with("method", "snc", "scale", "none", "epochs", "3", NULL));
    enhope_model *same = train(data, with("method", "snc", "scale", "none", "epochs", "3", NULL));
    assert_true(small->mul[0] > 0 && small->mul[0] == 16 * same->mul[0]);
    assert_int_equal(small->k, 1);
    for (int i = 0; i < 6 * H; i++) assert_true(fabsf(small->reference[i] - same->reference[i]) < 1e-3f);
    enhope_model_free(small), enhope_model_free(same);
    enhope_dataset_free(data);
}

/* ---- target neighbours ---- */

/* Twenty samples of classes of 12, 5, 2 and 1, in whole numbers; the first five samples are one and the same point. */
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

/* The targets of a sample are distinct others of its class, at the least distances that there are. */
static void check_targets(const enhope_trainer *t, int64_t i)
{
    const int64_t row = t->rows[i], each = t->hinge.targets, *own = t->targets + i * each;
    double least[FEW];
    int64_t others = 0;
    for (int64_t j = 0; j < FEW; j++)
        if (j != row && few_label[j] == few_label[row]) least[others++] = squared_between(few_x, 2, row, j);
    qsort(least, (size_t)others, sizeof *least, ascending);
    for (int64_t s = 0; s < each; s++) {
        if (s >= others) {
            assert_int_equal(own[s], -1 - i);
            continue;
        }
        const int64_t target = t->rows[own[s]];
        assert_true(target != row && few_label[target] == few_label[row]);
        assert_true(squared_between(few_x, 2, row, target) == least[s]);
        for (int64_t r = 0; r < s; r++) assert_true(own[r] != own[s]);
    }
}

static void target_neighbours_are_the_nearest_of_the_class_and_follow_each_batch(void **state)
{
    (void)state;
    enhope_dataset *data = few_samples();
    enhope_settings *s =
        with("method", "lmnn", "scale", "none", "valid", "0", "batch", "7", "targets", "3", "epochs", "1", NULL);
    enhope_trainer *t = NULL;
    int done;
    assert_int_equal(enhope_trainer_create(ctx, data, s, &t), ENHOPE_OK);
    for (int64_t i = 0; i < FEW; i++) check_targets(t, i);
    assert_int_equal(enhope_trainer_step(t, NULL, &done), ENHOPE_OK);
    int seen[FEW] = {0};
    for (int64_t b = 0; b < 3; b++) { /* batches of 6, 7 and 7 */
        const int64_t from = FEW * b / 3, n = FEW * (b + 1) / 3 - from, *batch = t->order + 4 * from;
        const int32_t *label = t->order_label + 4 * from;
        for (int64_t i = 0; i < n; i++) {
            int64_t position = 0;
            while (t->rows[position] != batch[i]) position++;
            seen[batch[i]]++;
            assert_int_equal(label[i], few_label[batch[i]]);
            for (int64_t s_ = 0; s_ < 3; s_++) {
                const int64_t target = t->targets[position * 3 + s_], at = n + 3 * i + s_;
                assert_int_equal(batch[at], target < 0 ? batch[i] : t->rows[target]);
                assert_int_equal(label[at], target < 0 ? -1 : label[i]);
            }
        }
    }
    for (int i = 0; i < FEW; i++) assert_int_equal(seen[i], 1);
    enhope_trainer_free(t);
    enhope_settings_free(s);
    enhope_dataset_free(data);
}

/* A batch of all samples, against the sum over triples in its definition; and it falls. */
static void a_batch_of_all_has_the_exact_large_margin_loss_and_lowers_it(void **state)
{
    (void)state;
    enhope_dataset *data = few_samples();
    enhope_settings *s = with("method", "lmnn", "scale", "none", "valid", "0", "batch", "0", "solver", "lbfgs",
                              "iterations", "4", "epochs", "5", NULL);
    enhope_trainer *t = NULL;
    double gradient[6], sum = 0, first = 0;
    float theta[6], Y[FEW * 2];
    int done = 0;
    assert_int_equal(enhope_trainer_create(ctx, data, s, &t), ENHOPE_OK);
    for (int epoch = 0; !done; epoch++) {
        enhope_progress p;
        assert_int_equal(enhope_trainer_step(t, &p, &done), ENHOPE_OK);
        if (epoch == 0) first = p.loss;
        assert_true(p.loss <= first);
    }
    assert_true(t->loss < 0.9 * first);
    eh_value loss;
    eh_train_loss(t, t->theta, (eh_real *)gradient, (eh_scalar *)&loss);
    t->c->op->read(t->c, theta, t->theta, 6);
    for (int64_t i = 0; i < FEW; i++)
        for (int k = 0; k < 2; k++)
            Y[i * 2 + k] = theta[k] * few_x[t->rows[i] * 2] + theta[2 + k] * few_x[t->rows[i] * 2 + 1] + theta[4 + k];
    for (int64_t i = 0; i < FEW; i++)
        for (int64_t a = 0; a < 3; a++) {
            const int64_t target = t->targets[i * 3 + a];
            if (target < 0) continue;
            const double near = squared_between(Y, 2, i, target);
            sum += 0.5 * near;
            for (int64_t j = 0; j < FEW; j++)
                if (few_label[t->rows[j]] != few_label[t->rows[i]])
                    sum += 0.5 * fmax(0, 1 + near - squared_between(Y, 2, i, j));
        }
    assert_true(fabs(loss.value - sum / FEW) < 1e-4 * loss.value);
    enhope_trainer_free(t);
    enhope_settings_free(s);
    enhope_dataset_free(data);
}

static void sparse_data_trains_to_the_same_map_as_dense(void **state)
{
    (void)state;
    static const char *const methods[] = {"en-hope", "lmnn"};
    for (int i = 0; i < 2; i++) {
        enhope_model *m[2];
        float Y[2][N * 2];
        for (int sparse = 0; sparse < 2; sparse++) {
            const enhope_dataset *data = sparse ? sparse_blobs : blobs;
            m[sparse] = train(data, with("method", methods[i], "scale", "none", "solver", "adam", "epochs", "3",
                                         "valid", "0.2", NULL));
            assert_int_equal(enhope_model_embed(ctx, m[sparse], data, Y[sparse]), ENHOPE_OK);
        }
        /* relative to the first: no pairwise loss sees a translation, but Adam follows its rounding */
        for (int v = 2; v < N * 2; v++) {
            const float a = Y[0][v] - Y[0][v % 2], b = Y[1][v] - Y[1][v % 2];
            assert_true(fabsf(a - b) < 1e-3f * (1 + fabsf(a)));
        }
        enhope_model_free(m[0]), enhope_model_free(m[1]);
    }
}

/* In double. */
static double loss_of_batch(enhope_trainer *t, double *gradient)
{
    eh_value loss;
    eh_train_loss(t, t->theta, (eh_real *)gradient, (eh_scalar *)&loss);
    return loss.value;
}

/* The whole composition, batch and exemplars through map and objective and back, in double. */
static void the_gradient_of_training_matches_central_differences(void **state)
{
    (void)state;
    static const char *const cases[][3] = {
        {"en-hope", "learned", "joint"}, {"en-hope", "kmeans", "row"},         {"hope", "learned", "joint"},
        {"hope", "learned", "row"},      {"linear-en-hope", "learned", "row"}, {"linear-en-hope", "random", "joint"},
        {"nca", "learned", "auto"},      {"mcml+", "learned", "joint"},        {"lmnn", "learned", "auto"},
        {"pt-sne", "learned", "joint"},  {"pt-sne", "learned", "row"}};
    assert_int_equal(enhope_context_set_device(ctx, "ref"), ENHOPE_OK);
    for (int i = 0; i < 3 * 11; i++) { /* dense, sparse, disturbed */
        const char *const *choice = cases[i / 3];
        const char *noise = i % 3 == 2 ? "0.3" : "0", *dropout = i % 3 == 2 ? "0.2" : "0";
        const char *order = i / 3 % 2 ? "3" : "1+3+2";
        enhope_settings *s =
            with("method", choice[0], "exemplars", choice[1], "form", choice[2], "factors", "4", "hidden", "3", "order",
                 order, "batch", "30", "scale", "none", "noise", noise, "dropout", dropout, NULL);
        enhope_trainer *t = NULL;
        int done;
        assert_int_equal(enhope_trainer_create(ctx, i % 3 ? sparse_blobs : blobs, s, &t), ENHOPE_OK);
        assert_int_equal(enhope_trainer_step(t, NULL, &done), ENHOPE_OK); /* a batch is in place */
        const int64_t count = t->optim->count;
        double *g = malloc((size_t)count * sizeof *g), *spare = malloc((size_t)count * sizeof *g);
        double *x = (double *)t->theta, worst = 0, size = 0;
        /* a line search may end in the kink of a hinge */
        for (int64_t v = 0; v < count; v++) x[v] += 0.01 * eh_random_normal(4, 1, (uint64_t)v);
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
        if (worst > 1e-6 * size + 1e-10) /* the differences round */
            fail_msg("%s %s %s: %g of %g", choice[0], choice[1], choice[2], worst, size);
        free(g), free(spare);
        enhope_trainer_free(t);
        enhope_settings_free(s);
    }
    assert_int_equal(enhope_context_set_device(ctx, "cpu"), ENHOPE_OK);
}

/* Labels say nothing to it but where the validation part is, and on points that it has not seen it embeds as it does on
 * those that it has. */
static void a_target_from_the_inputs_is_learned_without_labels(void **state)
{
    (void)state;
    enhope_model *m = train(blobs, with("method", "pt-sne", "perplexity", "20", "patience", "0", NULL));
    int64_t rows;
    const enhope_history *history = enhope_model_history(m, &rows);
    assert_true(history[rows - 1].loss < 0.95 * history[0].loss);

    static float others[N * H];
    float Y[N * 2], other_Y[N * 2];
    for (int i = 0; i < N * H; i++) others[i] = X[i] + 0.01f * (float)eh_random_normal(7, 2, (uint64_t)i);
    enhope_dataset *unseen = NULL;
    assert_int_equal(enhope_dataset_view_f32(ctx, N, H, others, LABEL, C, NULL, &unseen), ENHOPE_OK);
    assert_int_equal(enhope_model_embed(ctx, m, blobs, Y), ENHOPE_OK);
    assert_int_equal(enhope_model_embed(ctx, m, unseen, other_Y), ENHOPE_OK);
    double apart = 0, size = 0;
    for (int i = 0; i < N * 2; i++) apart += fabsf(Y[i] - other_Y[i]), size += fabsf(Y[i]);
    assert_true(apart > 0 && apart < 0.05 * size);
    assert_true(error_of(m, unseen) < 0.12);

    int32_t turned[N];
    enhope_dataset *renamed = NULL;
    for (int i = 0; i < N; i++) turned[i] = (LABEL[i] + 1) % C;
    assert_int_equal(enhope_dataset_view_f32(ctx, N, H, X, turned, C, NULL, &renamed), ENHOPE_OK);
    enhope_model *a = train(blobs, with("method", "pt-sne", "valid", "0", "epochs", "2", NULL));
    enhope_model *b = train(renamed, with("method", "pt-sne", "valid", "0", "epochs", "2", NULL));
    assert_memory_equal(a->theta, b->theta, (size_t)eh_map_parameters(a->map, &a->shape) * sizeof *a->theta);
    enhope_model_free(a), enhope_model_free(b);
    enhope_dataset_free(renamed), enhope_dataset_free(unseen);
}

static void rectified_units_learn(void **state)
{
    (void)state;
    static const char *const methods[] = {"dt-mcml", "deep-en-hope", "pt-sne"};
    for (int i = 0; i < 3; i++) {
        enhope_model *m = train(blobs, with("method", methods[i], "unit", "relu", NULL));
        assert_true(m->shape.relu);
        const double error = error_of(m, blobs);
        if (error > 0.12) fail_msg("%s: %g", methods[i], error);
    }
}

/* And what is of one order is the same, however it is said. */
static void factors_of_several_orders_learn(void **state)
{
    (void)state;
    static const char *const orders[] = {"2+3", "1+2+3", "4+1+3+2"};
    for (int i = 0; i < 2 * 3; i++) {
        const enhope_dataset *data = i % 2 ? sparse_blobs : blobs;
        enhope_model *m = train(data, with("order", orders[i / 2], "factors", "24", "start", "1", NULL));
        assert_string_equal(m->order, orders[i / 2]);
        assert_string_equal(enhope_model_setting(m, "order"), orders[i / 2]);
        const double error = error_of(m, data);
        if (error > 0.12) fail_msg("%s: %g", orders[i / 2], error);
    }
    for (int i = 0; i < 2; i++) {
        enhope_model *m[2];
        for (int k = 0; k < 2; k++) m[k] = train(i ? sparse_blobs : blobs, with("order", k ? "3+3+3" : "3", NULL));
        const int64_t count = eh_map_parameters(m[0]->map, &m[0]->shape);
        assert_memory_equal(m[0]->theta, m[1]->theta, (size_t)count * sizeof *m[0]->theta);
        enhope_model_free(m[0]);
        enhope_model_free(m[1]);
    }
}

static int told;

static void count_line(const char *line, void *user)
{
    (void)user;
    told += !strcmp(line, "perplexity is 30: a batch of 90 samples has room for 29.6667, which is taken");
}

static void a_batch_bounds_the_perplexity_and_the_target_is_not_to_be_chosen(void **state)
{
    (void)state;
    enhope_trainer *t = NULL;
    enhope_settings *s = with("method", "pt-sne", NULL);
    enhope_context_set_log(ctx, count_line, NULL);
    assert_int_equal(enhope_trainer_create(ctx, blobs, s, &t), ENHOPE_OK); /* three batches of 90 */
    enhope_context_set_log(ctx, NULL, NULL);
    assert_int_equal(told, 1);
    assert_true(t->set.perplexity == 89.0 / 3);
    enhope_trainer_free(t);
    enhope_settings_free(s);

    enhope_model *m = NULL;
    s = with("method", "pt-sne", "target", "nca", NULL);
    assert_int_equal(enhope_train(ctx, blobs, s, NULL, NULL, &m), ENHOPE_ERROR_ARGUMENT);
    assert_string_equal(enhope_error(ctx), "target is nca: the target of pt-sne is P of its inputs");
    enhope_settings_free(s);
}

static void the_pairs_of_a_batch_are_bounded(void **state)
{
    (void)state;
    enum { MANY = 20004 };
    float *x = calloc(MANY, sizeof *x);
    int32_t *label = calloc(MANY, sizeof *label);
    for (int i = 0; i < MANY; i++) label[i] = i % 2, x[i] = (float)(i % 17);
    enhope_dataset *data = NULL;
    assert_int_equal(enhope_dataset_view_f32(ctx, MANY, 1, x, label, 2, NULL, &data), ENHOPE_OK);
    enhope_model *m = NULL;
    enhope_settings *s = with("method", "pt-sne", "batch", "0", "valid", "0", NULL);
    assert_int_equal(enhope_train(ctx, data, s, NULL, NULL, &m), ENHOPE_ERROR_ARGUMENT);
    assert_string_equal(enhope_error(ctx), "batch is 20004: pt-sne holds a probability for every pair of a batch, "
                                           "expected at most 20000 samples");
    enhope_settings_free(s);
    enhope_dataset_free(data);
    free(x), free(label);
}

static void the_reference_backend_trains_alike(void **state)
{
    (void)state;
    static const char *const methods[] = {"en-hope", "lmnn"};
    for (int m = 0; m < 2; m++) {
        enhope_model *fast = train(blobs, with("method", methods[m], "epochs", "2", "solver", "adam", NULL));
        assert_int_equal(enhope_context_set_device(ctx, "ref"), ENHOPE_OK);
        enhope_model *slow = train(blobs, with("method", methods[m], "epochs", "2", "solver", "adam", NULL));
        assert_int_equal(enhope_context_set_device(ctx, "cpu"), ENHOPE_OK);
        int64_t rows;
        const enhope_history *a = enhope_model_history(fast, &rows), *b = enhope_model_history(slow, &rows);
        assert_int_equal(rows, 2);
        for (int i = 0; i < 2; i++) assert_true(fabs(a[i].loss - b[i].loss) < 1e-4 * b[i].loss);
        enhope_model_free(fast);
        enhope_model_free(slow);
    }
}

/* ---- disturbed inputs ---- */

static void disturbed_inputs_are_learned_from(void **state)
{
    (void)state;
    static const char *const methods[] = {"en-hope", "hope", "dt-nca", "nca"}, *const solvers[] = {"cg", "adam"};
    static const char *const by[][2] = {{"0.2", "0"}, {"0", "0.1"}, {"0.1", "0.1"}};
    for (int m = 0; m < 4; m++)
        for (int s = 0; s < 2; s++)
            for (int d = 0; d < 3; d++) {
                const double error = error_of(train(blobs, with("method", methods[m], "solver", solvers[s], "rate",
                                                                "0.03", "noise", by[d][0], "dropout", by[d][1], NULL)),
                                              blobs);
                if (error > 0.15) fail_msg("%s %s %s %s: %g", methods[m], solvers[s], by[d][0], by[d][1], error);
            }
}

/* As double on ref, where a row of dense data goes through other code than a sparse row. */
static void disturbed_batches_are_the_same_for_every_kind_and_backend(void **state)
{
    (void)state;
    const enhope_dataset *const data[] = {blobs, sparse_blobs};
    double loss[4][2];
    for (int i = 0; i < 4; i++) {
        int64_t rows;
        assert_int_equal(enhope_context_set_device(ctx, i / 2 ? "ref" : "cpu"), ENHOPE_OK);
        enhope_model *m = train(data[i % 2], with("scale", "none", "solver", "adam", "epochs", "2", "valid", "0.2",
                                                  "noise", "0.4", "dropout", "0.15", NULL));
        const enhope_history *h = enhope_model_history(m, &rows);
        assert_int_equal(rows, 2);
        loss[i][0] = h[0].loss, loss[i][1] = h[1].loss;
        enhope_model_free(m);
    }
    assert_int_equal(enhope_context_set_device(ctx, "cpu"), ENHOPE_OK);
    for (int i = 0; i < 3; i++)
        for (int e = 0; e < 2; e++) assert_true(fabs(loss[i][e] - loss[3][e]) < 1e-4 * loss[3][e]);
}

/* Samples of a trainer's present batch, as floats. */
static void batch_of(const enhope_trainer *t, float *x)
{
    t->c->op->read(t->c, x, (const eh_real *)t->X, t->batch_n * t->ld);
}

static void only_training_batches_are_disturbed_and_anew_in_each_epoch(void **state)
{
    (void)state;
    /* a rate of nothing: parameters stay */
    enhope_settings *plain = with("solver", "adam", "batch", "0", "rate", "0", "valid", "0", NULL);
    enhope_settings *noisy = with("solver", "adam", "batch", "0", "rate", "0", "valid", "0", "noise", "3", NULL);
    enhope_trainer *a = NULL, *b = NULL;
    int done;
    assert_int_equal(enhope_trainer_create(ctx, blobs, plain, &a), ENHOPE_OK);
    assert_int_equal(enhope_trainer_create(ctx, blobs, noisy, &b), ENHOPE_OK);
    static float clean[N * 16], first[N * 16], second[N * 16], Y[2][N * 2];
    assert_int_equal(a->ld, 16);
    assert_int_equal(enhope_trainer_step(a, NULL, &done), ENHOPE_OK);
    assert_int_equal(enhope_trainer_step(b, NULL, &done), ENHOPE_OK);
    batch_of(a, clean), batch_of(b, first);
    assert_int_equal(enhope_trainer_step(b, NULL, &done), ENHOPE_OK);
    batch_of(b, second);
    int64_t at[N]; /* where a row lies in the second epoch */
    for (int64_t i = 0; i < N; i++) at[((int64_t *)b->epoch_rows)[i]] = i;
    double square[3] = {0};
    for (int64_t i = 0; i < N; i++)
        for (int j = 0; j < H; j++) {
            const float x = clean[i * 16 + j], u = first[i * 16 + j] - x,
                        v = second[at[((int64_t *)a->epoch_rows)[i]] * 16 + j] - x;
            square[0] += u * u / N / H / 9, square[1] += v * v / N / H / 9, square[2] += u * v / N / H / 9;
        }
    assert_true(fabs(square[0] - 1) < 0.15 && fabs(square[1] - 1) < 0.15 && fabs(square[2]) < 0.1);
    assert_memory_equal(a->theta, b->theta, (size_t)(a->P + a->z * H) * sizeof(float)); /* exemplars as well */
    for (int which = 0; which < 2; which++) {
        enhope_trainer *t = which ? b : a;
        eh_train_embed(t, t->theta, t->row_list, N, t->Y);
        t->c->op->read(t->c, Y[which], t->Y, N * 2);
    }
    assert_memory_equal(Y[0], Y[1], sizeof Y[0]);
    enhope_trainer_free(a), enhope_trainer_free(b);
    enhope_settings_free(plain), enhope_settings_free(noisy);
}

static void a_model_tells_how_its_inputs_were_disturbed(void **state)
{
    (void)state;
    enhope_model *m = train(blobs, with("noise", "0.25", "dropout", "0.1", "epochs", "1", NULL));
    int found = 0;
    for (int i = 0; i < m->settings; i++) {
        if (!strcmp(m->setting[i].name, "noise")) assert_string_equal(m->setting[i].value, "0.25"), found++;
        if (!strcmp(m->setting[i].name, "dropout")) assert_string_equal(m->setting[i].value, "0.1"), found++;
    }
    assert_int_equal(found, 2);
    enhope_model_free(m);
}

/* ---- running behind: the cpu, with another table ---- */

static int64_t fetches, problems, bad_problem;

static void counting_fetch(eh_compute *c, void *to, const void *from, size_t bytes)
{
    fetches++;
    eh_compute_cpu.fetch(c, to, from, bytes);
}

static void bad_pairs(eh_compute *c, const eh_pairs *p, eh_scalar *loss, eh_real *dY, eh_real *dG)
{
    eh_compute_cpu.pairs(c, p, loss, dY, dG);
    if (++problems == bad_problem) ((eh_value *)loss)->value = NAN;
}

static enhope_trainer *trainer_behind(eh_compute_ops *op, enhope_settings *s)
{
    enhope_trainer *t = NULL;
    assert_int_equal(enhope_trainer_create(ctx, blobs, s, &t), ENHOPE_OK);
    *op = eh_compute_cpu;
    op->ahead = 4;
    op->fetch = counting_fetch;
    op->pairs = bad_pairs;
    t->c->op = op;
    t->ahead = op->ahead;
    fetches = problems = 0;
    bad_problem = -1;
    return t;
}

static void losses_are_asked_for_when_due_and_change_nothing(void **state)
{
    (void)state;
    eh_compute_ops op;
    enhope_settings *s = with("solver", "adam", "epochs", "2", "batch", "50", "valid", "0", NULL); /* 6 batches */
    enhope_trainer *t = trainer_behind(&op, s), *plain = NULL;
    assert_int_equal(enhope_trainer_create(ctx, blobs, s, &plain), ENHOPE_OK);
    static const int64_t asked[] = {0, 0, 0, 1, 1, 2, 2, 2, 2, 3, 3, 4};
    enhope_progress p, q = {0};
    int done = 0;
    for (int i = 0; i < 12; i++) {
        const double before = q.loss;
        assert_int_equal(enhope_trainer_step(t, &p, &done), ENHOPE_OK);
        assert_int_equal(fetches, asked[i]);
        assert_int_equal(enhope_trainer_step(plain, &q, &done), ENHOPE_OK);
        assert_true(p.epoch == q.epoch && p.batch == q.batch && p.epoch_done == q.epoch_done);
        if (t->known == t->batch) assert_true(p.loss == q.loss); /* also at the end of an epoch */
        if (i == 6) assert_true(p.loss == before);               /* none is known: that of the epoch before */
    }
    assert_true(done && isfinite(p.loss));
    assert_memory_equal(t->theta, plain->theta, (size_t)(t->P + t->z * H) * sizeof(float));
    enhope_trainer_free(t);
    enhope_trainer_free(plain);
    enhope_settings_free(s);
}

static void divergence_is_told_for_the_batch_that_it_was_in(void **state)
{
    (void)state;
    eh_compute_ops op;
    enhope_settings *s = with("solver", "adam", "epochs", "3", "batch", "50", "valid", "0", NULL);
    int done = 0;
    enhope_trainer *t = trainer_behind(&op, s);
    bad_problem = 3;
    for (int i = 0; i < 3; i++) assert_int_equal(enhope_trainer_step(t, NULL, &done), ENHOPE_OK);
    assert_int_equal(enhope_trainer_step(t, NULL, &done), ENHOPE_ERROR_COMPUTE);
    assert_string_equal(enhope_error(ctx), "training diverged: the loss is not finite in epoch 1, batch 3; try a lower "
                                           "rate or another scale");
    while (!done) assert_int_equal(enhope_trainer_step(t, NULL, &done), ENHOPE_OK); /* it can go on from there */
    assert_int_equal(t->epoch, 3);
    enhope_trainer_free(t);

    t = trainer_behind(&op, s);
    bad_problem = 6 + 2;
    for (done = 0; !done;) assert_int_equal(enhope_trainer_step(t, NULL, &done), ENHOPE_OK);
    assert_true(t->epoch == 1 && t->best_epoch == 1); /* the first epoch is kept */
    enhope_trainer_free(t);
    enhope_settings_free(s);
}

static void the_same_seed_gives_the_same_numbers_and_another_seed_others(void **state)
{
    (void)state;
    static const char *const solvers[] = {"cg", "adam"};
    for (int s = 0; s < 2; s++) {
        enhope_model *a = train(blobs, with("solver", solvers[s], "epochs", "4", NULL));
        enhope_model *b = train(blobs, with("solver", solvers[s], "epochs", "4", NULL));
        enhope_model *other = train(blobs, with("solver", solvers[s], "epochs", "4", "seed", "2", NULL));
        const size_t bytes = (size_t)eh_map_parameters(a->map, &a->shape) * sizeof(float);
        assert_memory_equal(a->theta, b->theta, bytes);
        assert_memory_equal(a->reference, b->reference, (size_t)(a->r * H) * sizeof(float));
        assert_memory_not_equal(a->theta, other->theta, bytes);
        enhope_model_free(a);
        enhope_model_free(b);
        enhope_model_free(other);
    }
}

/* A model's error, recounted on the very rows that were held out. */
static double error_held_out(const enhope_trainer *t, const enhope_model *m)
{
    int32_t guess[N];
    int64_t errors = 0;
    assert_int_equal(enhope_model_predict(ctx, m, blobs, 0, &(enhope_prediction){.label = guess}), ENHOPE_OK);
    for (int64_t i = 0; i < t->valid_n; i++) errors += guess[t->rows[t->n + i]] != LABEL[t->rows[t->n + i]];
    return (double)errors / (double)t->valid_n;
}

static void the_best_epoch_on_validation_is_what_is_kept(void **state)
{
    (void)state;
    /* a rate that shakes: the last epoch is rarely the best */
    enhope_settings *s =
        with("solver", "adam", "rate", "0.5", "warmup", "0", "epochs", "12", "valid", "0.3", "patience", "0", NULL);
    enhope_trainer *t = NULL;
    assert_int_equal(enhope_trainer_create(ctx, blobs, s, &t), ENHOPE_OK);
    assert_int_equal(t->n + t->valid_n, N);
    assert_int_equal(t->valid_n, 90);
    enhope_progress p;
    double lowest = 2;
    for (int done = 0; !done;) {
        assert_int_equal(enhope_trainer_step(t, &p, &done), ENHOPE_OK);
        if (p.epoch_done && p.valid_error < lowest) lowest = p.valid_error;
    }
    assert_true(p.best_error == lowest && p.epoch == 12 && p.seconds_left == 0);
    enhope_model *m = NULL, *present = NULL;
    assert_int_equal(enhope_trainer_model(t, &m), ENHOPE_OK);
    assert_int_equal(enhope_trainer_present(t, &present), ENHOPE_OK);
    assert_true(error_held_out(t, m) == lowest && error_held_out(t, present) == p.valid_error);
    assert_true(p.valid_error > lowest); /* so that these two differ */
    enhope_model_info info;
    enhope_model_get_info(m, &info);
    assert_int_equal(info.best + 1, t->best_epoch); /* what the model tells is what was kept */
    /* no row is in both parts, every class in each */
    int seen[N] = {0};
    for (int i = 0; i < N; i++) seen[t->rows[i]]++;
    for (int i = 0; i < N; i++) assert_int_equal(seen[i], 1);
    enhope_model_free(m);
    enhope_model_free(present);
    enhope_trainer_free(t);
    enhope_settings_free(s);
}

static int stop_after_two(const enhope_progress *p, void *user)
{
    (void)p;
    return ++*(int *)user == 2;
}

/* The validation part as the trainer took it. */
static enhope_dataset *held_out(const enhope_trainer *t, float *x, int32_t *label)
{
    enhope_dataset *data = NULL;
    for (int64_t i = 0; i < t->valid_n; i++) {
        memcpy(x + i * H, X + t->rows[t->n + i] * H, H * sizeof *x);
        label[i] = LABEL[t->rows[t->n + i]];
    }
    assert_int_equal(enhope_dataset_view_f32(ctx, t->valid_n, H, x, label, C, NULL, &data), 0);
    return data;
}

/* Similarities over- or understate; the validation part tells by how much. */
static void probabilities_are_calibrated_on_the_validation_part(void **state)
{
    (void)state;
    static const char *const similarities[] = {"student", "gaussian", "student"}, *const freedoms[] = {"1", "1", "4"};
    for (int s = 0; s < 3; s++) {
        enhope_settings *set = with("similarity", similarities[s], "freedom", freedoms[s], "epochs", "3", "valid",
                                    "0.4", "patience", "0", NULL);
        enhope_trainer *t = NULL;
        enhope_model *m = NULL;
        float x[N * H];
        int32_t label[N];
        int done = 0;
        assert_int_equal(enhope_trainer_create(ctx, blobs, set, &t), 0);
        while (!done) assert_int_equal(enhope_trainer_step(t, NULL, &done), 0);
        assert_int_equal(enhope_trainer_model(t, &m), 0);
        enhope_dataset *data = held_out(t, x, label);
        enhope_calibration fitted, plain;
        enhope_evaluation e = {.calibration = &fitted}, raw = {.calibration = &plain};
        assert_int_equal(enhope_model_evaluate(ctx, m, data, 0, &e), 0);
        assert_true(m->temperature >= 0.01 && m->temperature <= 100 && fabs(m->temperature - 1) > 0.02);
        m->temperature = 1;
        assert_int_equal(enhope_model_evaluate(ctx, m, data, 0, &raw), 0);
        assert_true(fitted.nll < plain.nll);
        assert_int_equal(e.errors, raw.errors);
        /* the numbers of training are those that the model has again */
        assert_int_equal(m->valid_n, t->valid_n);
        assert_int_equal(m->valid_errors, e.errors);
        assert_float_equal((double)m->valid_errors / (double)m->valid_n, t->best_error, 1e-12);
        assert_int_equal(enhope_model_evaluate(ctx, m, blobs, 0, &raw), 0);
        assert_int_equal(m->train_n, t->n);
        assert_int_equal(m->train_errors, raw.errors - e.errors);
        enhope_dataset_free(data);
        enhope_model_free(m);
        enhope_trainer_free(t);
        enhope_settings_free(set);
    }
    enhope_model *m = train(blobs, with("valid", "0", "epochs", "2", NULL));
    assert_true(m->temperature == 1 && m->valid_n == 0 && m->train_n == N);
    enhope_model_free(m);
    m = train(blobs, with("method", "knn", NULL));
    assert_true(m->temperature == 1 && !m->valid_n && !m->train_n);
    enhope_model_free(m);
}

/* The vote of the k nearest embedded training points but for the point itself, over all pairs. */
static int64_t errors_without_self(const float *Y, int64_t h, const int32_t *label, int64_t n, int64_t k)
{
    int64_t errors = 0;
    for (int64_t i = 0; i < n; i++) {
        bool taken[N] = {[0] = false};
        int32_t votes[C] = {0}, best = -1, order[16];
        taken[i] = true;
        for (int64_t j = 0; j < k; j++) {
            double nearest = INFINITY;
            int64_t at = -1;
            for (int64_t p = 0; p < n; p++) {
                double d = 0;
                for (int64_t s = 0; s < h; s++) d += pow((double)Y[i * h + s] - (double)Y[p * h + s], 2);
                if (!taken[p] && d < nearest) nearest = d, at = p;
            }
            taken[at] = true;
            order[j] = label[at];
            votes[label[at]]++;
        }
        for (int64_t j = k - 1; j >= 0; j--)
            if (best < 0 || votes[order[j]] >= votes[best]) best = order[j];
        errors += best != label[i];
    }
    return errors;
}

static void a_training_point_has_no_vote_on_itself(void **state)
{
    (void)state;
    static const char *const k[] = {"1", "4", "5"};
    for (int i = 0; i < 3; i++) {
        enhope_model *m = train(blobs, with("method", "hope", "epochs", "1", "neighbours", k[i], "valid", "0.2", NULL));
        /* references are the training rows, then those of the validation part */
        assert_true(m->temperature == 1 && m->valid_n == N / 5 && m->train_n == N - N / 5);
        const int64_t expected =
            errors_without_self(m->reference, m->shape.h, m->reference_label, m->train_n, atoi(k[i]));
        assert_true(expected > 0);
        assert_true(llabs(m->train_errors - expected) <= 1); /* a float may order two neighbours otherwise */
        enhope_model_free(m);
    }
}

static void stopping_gives_a_usable_model(void **state)
{
    (void)state;
    enhope_settings *s = with(NULL);
    enhope_model *m = NULL;
    int calls = 0;
    assert_int_equal(enhope_train(ctx, blobs, s, stop_after_two, &calls, &m), ENHOPE_STOPPED);
    assert_int_equal(calls, 2);
    assert_true(error_of(m, blobs) < 0.7);
    enhope_settings_free(s);

    enhope_model *timed = train(blobs, with("time", "0.000001", "epochs", "1000000", NULL));
    enhope_model_info info;
    enhope_model_get_info(timed, &info);
    assert_int_equal(info.epochs, 0); /* one batch of three was made */
    enhope_model_free(timed);

    enhope_model *patient = train(blobs, with("patience", "3", "epochs", "500", NULL));
    enhope_model_get_info(patient, &info);
    assert_true(info.epochs < 500);
    enhope_model_free(patient);
}

static void small_data_keeps_a_validation_part_and_a_default_number_of_exemplars(void **state)
{
    (void)state;
    enhope_dataset *few = NULL;
    assert_int_equal(enhope_dataset_view_f32(ctx, 24, H, X, LABEL, C, NULL, &few), ENHOPE_OK);
    enhope_settings *s = with("z", "0", "epochs", "1", NULL);
    enhope_trainer *t = NULL;
    assert_int_equal(enhope_trainer_create(ctx, few, s, &t), ENHOPE_OK);
    assert_int_equal(t->valid_n, 2); /* a tenth of 24, though no class has ten */
    assert_int_equal(t->z, 6);
    enhope_trainer_free(t);
    enhope_dataset_free(few);
    assert_int_equal(enhope_dataset_view_f32(ctx, 3, H, X, LABEL, C, NULL, &few), ENHOPE_OK);
    assert_int_equal(enhope_trainer_create(ctx, few, s, &t), ENHOPE_OK);
    assert_true(t->valid_n == 0 && t->z == 3);
    enhope_trainer_free(t);
    enhope_dataset_free(few);
    enhope_settings_free(s);
}

/* ---- memory ---- */

static void a_failed_step_leaves_the_trainer_usable(void **state)
{
    (void)state;
    enhope_settings *s = with("epochs", "70", "solver", "adam", "patience", "0", "batch", "300", NULL);
    enhope_trainer *t = NULL;
    enhope_model *m = NULL;
    int done = 0, failures = 0;
    assert_int_equal(enhope_trainer_create(ctx, blobs, s, &t), ENHOPE_OK);
    while (!done) {
        allocations_left = 0; /* the history grows at epochs 1 and 65 */
        enhope_set_allocator(counting_malloc, counting_free);
        const enhope_status status = enhope_trainer_step(t, NULL, &done);
        enhope_set_allocator(NULL, NULL);
        if (!status) continue;
        failures++;
        assert_int_equal(status, ENHOPE_ERROR_MEMORY);
        assert_int_equal(enhope_trainer_model(t, &m), ENHOPE_OK);
        enhope_model_free(m);
        assert_int_equal(enhope_trainer_step(t, NULL, &done), ENHOPE_OK);
    }
    assert_int_equal(failures, 2);
    enhope_trainer_free(t);
    enhope_settings_free(s);
}

static void within_a_long_step_progress_is_told_and_may_stop(void **state)
{
    (void)state;
    enhope_settings *s = with(NULL);
    enhope_trainer *t = NULL;
    int calls = 0;
    assert_int_equal(enhope_trainer_create(ctx, blobs, s, &t), ENHOPE_OK);
    t->progress = stop_after_two;
    t->progress_user = &calls;
    eh_compute_begin(t->c);
    t->started = eh_seconds();
    assert_false(eh_train_stop(t)); /* the step has just begun */
    assert_int_equal(calls, 0);
    t->started -= 100;
    assert_false(eh_train_stop(t));
    assert_true(eh_train_stop(t));
    assert_true(eh_train_stop(t)); /* it is not asked again */
    assert_int_equal(calls, 2);
    eh_compute_end(t->c);
    enhope_trainer_free(t);
    enhope_settings_free(s);
}

static void a_time_budget_ends_a_long_step(void **state)
{
    (void)state;
    enhope_settings *s =
        with("solver", "lbfgs", "batch", "0", "iterations", "1000000", "time", "0.05", "epochs", "1", NULL);
    enhope_trainer *t = NULL;
    int done = 0;
    assert_int_equal(enhope_trainer_create(ctx, blobs, s, &t), ENHOPE_OK);
    assert_int_equal(enhope_trainer_step(t, NULL, &done), ENHOPE_OK);
    assert_true(done && t->optim->evaluations < 1000000);
    enhope_trainer_free(t);
    enhope_settings_free(s);
}

static void refused(const enhope_dataset *data, enhope_settings *s, enhope_status status, const char *sentence)
{
    enhope_model *m = NULL;
    assert_int_equal(enhope_train(ctx, data, s, NULL, NULL, &m), status);
    assert_null(m);
    assert_string_equal(enhope_error(ctx), sentence);
    enhope_settings_free(s);
}

static void what_cannot_be_trained_is_refused_with_a_sentence(void **state)
{
    (void)state;
    enhope_dataset *bare = NULL, *single = NULL, *unknown = NULL;
    int32_t zeros[N] = {0}, none[N];
    for (int i = 0; i < N; i++) none[i] = -1;
    assert_int_equal(enhope_dataset_view_f32(ctx, N, H, X, NULL, 0, NULL, &bare), ENHOPE_OK);
    assert_int_equal(enhope_dataset_view_f32(ctx, N, H, X, zeros, 1, (const char *const[]){"oak"}, &single), ENHOPE_OK);
    assert_int_equal(enhope_dataset_view_f32(ctx, N, H, X, none, 2, NULL, &unknown), ENHOPE_OK);
    refused(bare, with(NULL), ENHOPE_ERROR_DATA, "the data has no labels: training needs a class for each sample");
    refused(single, with(NULL), ENHOPE_ERROR_DATA, "the data has a single class ('oak'): training needs at least two");
    refused(unknown, with(NULL), ENHOPE_ERROR_DATA, "the data has no labelled sample to train on");
    refused(blobs, with("z", "2", NULL), ENHOPE_ERROR_ARGUMENT,
            "z = 2 exemplars for 3 classes: expected at least one for each class");
    refused(blobs, with("order", "1+2+3", "factors", "2", NULL), ENHOPE_ERROR_ARGUMENT,
            "order is 1+2+3 with 2 factors: expected a factor for each order");
    refused(blobs, with("neighbours", "7", NULL), ENHOPE_ERROR_ARGUMENT,
            "k = 7 neighbours asked for, but there are 6 exemplars");
    refused(blobs, with("method", "hope", "batch", "1", NULL), ENHOPE_ERROR_ARGUMENT,
            "batch is 1: hope compares the samples of a batch, expected at least 2");
    refused(blobs, with("method", "knn", "neighbours", "301", NULL), ENHOPE_ERROR_ARGUMENT,
            "k = 301 neighbours asked for, but there are 300 training points");
    enhope_dataset_free(bare);
    enhope_dataset_free(single);
    enhope_dataset_free(unknown);
}

static void samples_without_a_label_are_passed_over(void **state)
{
    (void)state;
    int32_t some[N];
    for (int i = 0; i < N; i++) some[i] = i % 5 ? LABEL[i] : -1;
    enhope_dataset *data = NULL;
    assert_int_equal(enhope_dataset_view_f32(ctx, N, H, X, some, C, NULL, &data), ENHOPE_OK);
    assert_true(error_of(train(data, with(NULL)), blobs) < 0.12);
    enhope_dataset_free(data);
}

/* ---- settings ---- */

static void settings_are_one_table_with_working_defaults_and_bounds(void **state)
{
    (void)state;
    enhope_settings *s = enhope_settings_create();
    for (int i = 0; i < enhope_setting_count(); i++) {
        const enhope_setting_info *info = enhope_setting_get(i);
        char text[64];
        assert_int_equal(enhope_settings_get(ctx, s, info->name, text, sizeof text), ENHOPE_OK);
        assert_string_equal(text, info->initial);
        assert_int_equal(enhope_settings_set(ctx, s, info->name, text), ENHOPE_OK);
        assert_int_equal(enhope_settings_set(ctx, s, info->name, "x-y"), ENHOPE_ERROR_ARGUMENT);
        assert_int_equal(enhope_settings_set(ctx, s, info->name, ""), ENHOPE_ERROR_ARGUMENT);
        if (info->type != ENHOPE_SETTING_CHOICE) {
            assert_int_equal(enhope_settings_set(ctx, s, info->name, "-3"), ENHOPE_ERROR_ARGUMENT);
            assert_int_equal(enhope_settings_set(ctx, s, info->name, "1e300"), ENHOPE_ERROR_ARGUMENT);
            assert_int_equal(enhope_settings_set(ctx, s, info->name, "1e-300x"), ENHOPE_ERROR_ARGUMENT);
            assert_int_equal(enhope_settings_set(ctx, s, info->name, "nan"), ENHOPE_ERROR_ARGUMENT);
        }
        assert_int_equal(enhope_settings_get(ctx, s, info->name, text, sizeof text), ENHOPE_OK);
        assert_string_equal(text, info->initial); /* a refused value changes nothing */
    }
    assert_null(enhope_setting_get(-1));
    assert_int_equal(enhope_settings_set(ctx, s, "factor", "3"), ENHOPE_ERROR_ARGUMENT);
    assert_string_equal(enhope_error(ctx), "there is no setting 'factor'");
    enhope_settings_set(ctx, s, "factors", "2.5");
    assert_string_equal(enhope_error(ctx), "factors is '2.5': expected a whole number");
    enhope_settings_set(ctx, s, "order", "17");
    assert_string_equal(enhope_error(ctx),
                        "order is '17': expected one to four orders from 1 to 16 joined by '+', as in 3 or 2+3");
    assert_int_equal(enhope_settings_set(ctx, s, "order", "16+16+16+16"), ENHOPE_OK);
    char order[16];
    assert_int_equal(enhope_settings_get(ctx, s, "order", order, sizeof order), ENHOPE_OK);
    assert_string_equal(order, "16+16+16+16");
    enhope_settings_set(ctx, s, "form", "joints");
    assert_string_equal(enhope_error(ctx), "form is 'joints': expected one of auto|published|joint|row");
    enhope_settings_free(s);
}

static void the_choices_of_method_and_recipe_are_their_tables(void **state)
{
    (void)state;
    char names[512] = "";
    for (int i = 0; i < enhope_method_count(); i++)
        snprintf(names + strlen(names), sizeof names - strlen(names), "%s%s", i ? "|" : "", enhope_method_get(i)->name);
    assert_string_equal(names, enhope_setting_get(1)->choices);
    names[0] = 0;
    for (int i = 0; i < enhope_recipe_count(); i++)
        snprintf(names + strlen(names), sizeof names - strlen(names), "%s%s", i ? "|" : "", enhope_recipe_get(i)->name);
    assert_string_equal(names, enhope_setting_get(0)->choices);
}

static void assert_setting(const enhope_settings *s, const char *name, const char *value)
{
    char text[64];
    assert_int_equal(enhope_settings_get(ctx, s, name, text, sizeof text), ENHOPE_OK);
    if (strcmp(text, value) != 0) fail_msg("%s is %s, expected %s", name, text, value);
}

static void a_recipe_sets_all_and_is_changed_by_what_follows(void **state)
{
    (void)state;
    /* what results that are kept were trained with: `reproduce` begins with these */
    static const char *const paper[][2] = {
        {"recipe", "paper"},    {"method", "en-hope"},
        {"dims", "2"},          {"factors", "800"},
        {"hidden", "400"},      {"order", "2"},
        {"unit", "sigmoid"},    {"layers", "500-500-2000"},
        {"start", "1"},         {"z", "0"},
        {"form", "published"},  {"exemplars", "learned"},
        {"similarity", "auto"}, {"target", "auto"},
        {"weight", "pair"},     {"graph", "nearest"},
        {"links", "5"},         {"targets", "3"},
        {"push", "0.5"},        {"perplexity", "30"},
        {"solver", "cg"},       {"epochs", "30"},
        {"batch", "1000"},      {"iterations", "3"},
        {"pairs", "10"},        {"rate", "0.003"},
        {"warmup", "0.05"},     {"beta1", "0.9"},
        {"beta2", "0.99"},      {"noise", "0"},
        {"dropout", "0"},       {"valid", "0.1"},
        {"time", "0"},          {"patience", "10"},
        {"scale", "auto"},      {"neighbours", "0"},
        {"seed", "1"},
    };
    enhope_settings *s = enhope_settings_create();
    assert_setting(s, "recipe", "fast");
    assert_int_equal(enhope_settings_set(ctx, s, "seed", "7"), ENHOPE_OK);
    assert_int_equal(enhope_settings_recipe(ctx, s, "paper"), ENHOPE_OK);
    for (size_t i = 0; i < sizeof paper / sizeof *paper; i++) assert_setting(s, paper[i][0], paper[i][1]);
    assert_int_equal(enhope_settings_set(ctx, s, "factors", "20"), ENHOPE_OK);
    assert_setting(s, "factors", "20");
    assert_int_equal(enhope_settings_recipe(ctx, s, "slow"), ENHOPE_ERROR_ARGUMENT);
    assert_string_equal(enhope_error(ctx), "there is no recipe 'slow'");
    assert_setting(s, "factors", "20");
    for (int i = 0; i < enhope_recipe_count(); i++) { /* each is fit to be used, and leaves nothing of the one before */
        assert_int_equal(enhope_settings_set(ctx, s, "recipe", enhope_recipe_get(i)->name), ENHOPE_OK);
        assert_setting(s, "recipe", enhope_recipe_get(i)->name);
        assert_setting(s, "seed", "1");
    }
    assert_int_equal(enhope_settings_set(ctx, s, "recipe", "fast"), ENHOPE_OK);
    for (int i = 0; i < enhope_setting_count(); i++)
        assert_setting(s, enhope_setting_get(i)->name, enhope_setting_get(i)->initial);
    assert_null(enhope_recipe_get(-1));
    assert_null(enhope_recipe_get(enhope_recipe_count()));
    enhope_settings_free(s);
}

static const char *setting_of(enhope_model *m, const char *name, char *buffer, size_t size)
{
    snprintf(buffer, size, "%s", enhope_model_setting(m, name));
    enhope_model_free(m);
    return buffer;
}

static void defaults_suit_few_samples_and_sparse_ones(void **state)
{
    (void)state;
    char text[64];
    static const char *const brief[][2] = {{"factors", "12"}, {"hidden", "8"}, {"epochs", "1"}};
    for (int said = 0; said < 2; said++) {
        enhope_settings *s = enhope_settings_create();
        for (int i = 0; i < 3; i++) enhope_settings_set(ctx, s, brief[i][0], brief[i][1]);
        if (said) enhope_settings_set(ctx, s, "batch", "90");
        if (said) enhope_settings_set(ctx, s, "noise", "0.2");
        enhope_model *m = NULL;
        assert_int_equal(enhope_train(ctx, blobs, s, NULL, NULL, &m), ENHOPE_OK);
        assert_string_equal(enhope_model_setting(m, "recipe"), "fast");
        assert_string_equal(enhope_model_setting(m, "noise"), said ? "0.2" : "0.1");
        assert_string_equal(enhope_model_setting(m, "epochs"), "1");
        assert_string_equal(setting_of(m, "batch", text, sizeof text), said ? "90" : "20");
        assert_int_equal(enhope_train(ctx, sparse_blobs, s, NULL, NULL, &m), ENHOPE_OK);
        assert_string_equal(enhope_model_setting(m, "dropout"), "0");
        assert_string_equal(setting_of(m, "noise", text, sizeof text), said ? "0.2" : "0");
        enhope_settings_free(s);
    }
    enhope_model *m = NULL;
    assert_int_equal(enhope_train(ctx, blobs, NULL, NULL, NULL, &m), ENHOPE_OK);
    assert_true(atof(enhope_model_setting(m, "epochs")) * ceil(0.9 * N / 20) >= 1000); /* steps */
    assert_true(error_of(m, blobs) < 0.12);
}

static void every_failed_allocation_is_a_sentence_and_no_leak(void **state)
{
    (void)state;
    static const char *const methods[] = {"en-hope", "hope", "lmnn", "knn", "pca", "lpp", "mcml"};
    for (int i = 0; i < 7; i++) {
        enhope_settings *s = with("method", methods[i], "epochs", "1", "batch", "300", NULL);
        if (i == 6) enhope_settings_set(ctx, s, "time", "0.000001"); /* no steps: they allocate alike */
        long k = 0;
        enhope_status status = ENHOPE_ERROR_MEMORY;
        for (; status; k++) {
            enhope_model *m = NULL;
            allocations_left = k;
            alive = 0;
            enhope_set_allocator(counting_malloc, counting_free);
            status = enhope_train(ctx, blobs, s, NULL, NULL, &m);
            enhope_model_free(m);
            enhope_set_allocator(NULL, NULL);
            assert_int_equal(alive, 0);
            if (status) {
                assert_int_equal(status, ENHOPE_ERROR_MEMORY);
                assert_non_null(strstr(enhope_error(ctx), "out of memory"));
            }
        }
        assert_true(k > 15);
        enhope_settings_free(s);
    }
}

int main(void)
{
    ctx = enhope_context_create();
    enhope_context_set_threads(ctx, 2); /* by themselves such small batches are one thread's */
    if (!make_blobs(ctx)) return 1;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_exemplar_choice_solver_and_form_learns),
        cmocka_unit_test(every_member_of_the_objective_family_learns),
        cmocka_unit_test(the_student_similarity_learns_with_any_freedom),
        cmocka_unit_test(freedom_is_the_student_similarity_s_alone),
        cmocka_unit_test(every_method_of_the_table_learns),
        cmocka_unit_test(principal_components_are_eigenvectors_of_the_covariance),
        cmocka_unit_test(the_scale_of_inputs_is_chosen_where_they_are_compared_as_they_are),
        cmocka_unit_test(target_neighbours_are_the_nearest_of_the_class_and_follow_each_batch),
        cmocka_unit_test(a_batch_of_all_has_the_exact_large_margin_loss_and_lowers_it),
        cmocka_unit_test(sparse_data_trains_to_the_same_map_as_dense),
        cmocka_unit_test(the_gradient_of_training_matches_central_differences),
        cmocka_unit_test(a_target_from_the_inputs_is_learned_without_labels),
        cmocka_unit_test(rectified_units_learn),
        cmocka_unit_test(factors_of_several_orders_learn),
        cmocka_unit_test(a_batch_bounds_the_perplexity_and_the_target_is_not_to_be_chosen),
        cmocka_unit_test(the_pairs_of_a_batch_are_bounded),
        cmocka_unit_test(the_reference_backend_trains_alike),
        cmocka_unit_test(disturbed_inputs_are_learned_from),
        cmocka_unit_test(disturbed_batches_are_the_same_for_every_kind_and_backend),
        cmocka_unit_test(only_training_batches_are_disturbed_and_anew_in_each_epoch),
        cmocka_unit_test(a_model_tells_how_its_inputs_were_disturbed),
        cmocka_unit_test(losses_are_asked_for_when_due_and_change_nothing),
        cmocka_unit_test(divergence_is_told_for_the_batch_that_it_was_in),
        cmocka_unit_test(the_same_seed_gives_the_same_numbers_and_another_seed_others),
        cmocka_unit_test(the_best_epoch_on_validation_is_what_is_kept),
        cmocka_unit_test(probabilities_are_calibrated_on_the_validation_part),
        cmocka_unit_test(a_training_point_has_no_vote_on_itself),
        cmocka_unit_test(stopping_gives_a_usable_model),
        cmocka_unit_test(small_data_keeps_a_validation_part_and_a_default_number_of_exemplars),
        cmocka_unit_test(a_time_budget_ends_a_long_step),
        cmocka_unit_test(a_failed_step_leaves_the_trainer_usable),
        cmocka_unit_test(within_a_long_step_progress_is_told_and_may_stop),
        cmocka_unit_test(what_cannot_be_trained_is_refused_with_a_sentence),
        cmocka_unit_test(samples_without_a_label_are_passed_over),
        cmocka_unit_test(settings_are_one_table_with_working_defaults_and_bounds),
        cmocka_unit_test(the_choices_of_method_and_recipe_are_their_tables),
        cmocka_unit_test(a_recipe_sets_all_and_is_changed_by_what_follows),
        cmocka_unit_test(defaults_suit_few_samples_and_sparse_ones),
        cmocka_unit_test(every_failed_allocation_is_a_sentence_and_no_leak),
    };
    const int failed = cmocka_run_group_tests_name("train", tests, NULL, NULL);
    enhope_dataset_free(blobs);
    enhope_dataset_free(sparse_blobs);
    enhope_context_free(ctx);
    return failed;
}
