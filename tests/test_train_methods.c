/* Training by method: every method, exemplar choice, solver, normalizer, similarity and target
 * learns a problem that no linear rule solves. Principal components are exact. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "train/trainer.h"
#include "train_blobs_support.h"

static void every_exemplar_choice_solver_and_normalizer_learns(void **state)
{
    (void)state;
    static const char *const exemplars[] = {"random", "kmeans", "learned"}, *const solvers[] = {"cg", "lbfgs", "adam"},
                             *const forms[] = {"joint", "row"};
    for (int e = 0; e < 3; e++)
        for (int s = 0; s < 3; s++)
            for (int f = 0; f < 2; f++) {
                const double error = error_of(train(blobs, with("exemplars", exemplars[e], "solver", solvers[s],
                                                                "normalizer", forms[f], "learning_rate", "0.03", NULL)),
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
                const double error = error_of(train(blobs, with("similarity", similarities[s], "target", targets[t],
                                                                "target_weight", weights[w], NULL)),
                                              blobs);
                if (error > 0.12) fail_msg("%s %s %s: %g", similarities[s], targets[t], weights[w], error);
            }
}

static void the_student_similarity_learns_with_any_dof(void **state)
{
    (void)state;
    static const char *const dofs[] = {"3", "5", "15"}, *const forms[] = {"joint", "row"},
                             *const targets[] = {"mcml", "nca"};
    for (int f = 0; f < 3; f++)
        for (int i = 0; i < 4; i++) {
            enhope_model *m =
                train(blobs, with("dof", dofs[f], "normalizer", forms[i % 2], "target", targets[i / 2], NULL));
            assert_int_equal(m->dof, atoi(dofs[f]));
            assert_string_equal(enhope_model_setting(m, "dof"), dofs[f]);
            const double error = error_of(m, blobs);
            if (error > 0.12) fail_msg("%s %s %s: %g", dofs[f], forms[i % 2], targets[i / 2], error);
        }
}

/* The gaussian similarity and the large margin ignore dof: the models are equal. */
static void dof_affects_only_the_student_similarity(void **state)
{
    (void)state;
    static const char *const methods[] = {"snc", "nca", "lmnn", "pca"};
    for (int i = 0; i < 4; i++) {
        enhope_model *a = train(blobs, with("method", methods[i], "n_epochs", "2", NULL));
        enhope_model *b = train(blobs, with("method", methods[i], "n_epochs", "2", "dof", "7", NULL));
        assert_true(a->dof == 1 && b->dof == 1 && a->r == b->r);
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
        const double error = error_of(train(blobs, with("method", info->name, "n_components", "2", NULL)), blobs);
        /* a linear map has too few exemplars for the two sides of class 2, and two exemplars per
         * class are few in the input space; maps of a graph do not know the classes */
        const double max = !strcmp(info->name, "linear-en-hope") ? 0.4
                           : eh_method_find(info->name)->graph   ? 0.4
                           : !strcmp(info->name, "snc")
                               ? 0.2
                               : 0.12; /* also for pca: its first direction separates the classes */
        if (error > max) fail_msg("%s: %g", info->name, error);
    }
    assert_null(enhope_method_get(enhope_method_count()));
}

/* The table lists the defaults of a run and the recipe of the publication. */
static void the_table_of_methods_lists_normalizer_and_solver(void **state)
{
    (void)state;
    for (int i = 0; i < enhope_method_count(); i++) {
        const enhope_method_info *info = enhope_method_get(i);
        if (strcmp(info->solver, "adam") != 0) continue;
        for (int paper = 0; paper < 2; paper++) {
            enhope_settings *s = with("recipe", paper ? "paper" : "fast", NULL);
            enhope_trainer *t = NULL;
            char published[32], form[8], solver[8];
            assert_int_equal(enhope_settings_set(ctx, s, "method", info->name), ENHOPE_OK);
            assert_int_equal(enhope_trainer_create(ctx, NULL, blobs, s, &t), ENHOPE_OK);
            assert_int_equal(enhope_settings_get(ctx, &t->set, "normalizer", form, sizeof form), ENHOPE_OK);
            assert_int_equal(enhope_settings_get(ctx, &t->set, "solver", solver, sizeof solver), ENHOPE_OK);
            const bool same = !strcmp(info->normalizer, form) || !strcmp(info->normalizer, "-");
            snprintf(published, sizeof published, "%s%s%s", same ? "" : form, same ? "" : ", ", solver);
            assert_true(paper || same);
            assert_string_equal(paper ? published : solver, paper ? info->published : info->solver);
            enhope_trainer_free(t);
            enhope_settings_free(s);
        }
    }
}

static void principal_components_are_eigenvectors_of_the_covariance(void **state)
{
    (void)state;
    static const char *const devices[] = {"cpu", "ref"};
    for (int d = 0; d < 2; d++) {
        assert_int_equal(enhope_context_set_device(ctx, devices[d]), ENHOPE_OK);
        enhope_model *m = train(
            blobs, with("method", "pca", "scaling", "none", "validation_fraction", "0", "n_components", "3", NULL));
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
    enhope_settings *s = with("method", "pca", "n_components", "7", NULL);
    assert_int_equal(enhope_train(ctx, blobs, s, NULL, NULL, &m), ENHOPE_ERROR_ARGUMENT);
    assert_string_equal(enhope_error(ctx),
                        "pca of 6 inputs to 7 outputs: expected at most 20000 inputs, and no more outputs "
                        "than inputs");
    enhope_settings_free(s);
}

/* Inputs that are ten times as large give the same exemplars, with the same factor. */
static void inputs_that_are_compared_without_a_map_are_scaled(void **state)
{
    (void)state;
    static float large[N * H];
    enhope_dataset *data = NULL;
    for (int i = 0; i < N * H; i++) large[i] = 16 * X[i];
    assert_int_equal(enhope_dataset_view_f32(ctx, N, H, large, LABEL, C, NULL, &data), ENHOPE_OK);
    enhope_model *small = train(blobs, with("method", "snc", "scaling", "none", "n_epochs", "3", NULL));
    enhope_model *same = train(data, with("method", "snc", "scaling", "none", "n_epochs", "3", NULL));
    assert_true(small->mul[0] > 0 && small->mul[0] == 16 * same->mul[0]);
    assert_int_equal(small->k, 1);
    for (int i = 0; i < 6 * H; i++) assert_true(fabsf(small->reference[i] - same->reference[i]) < 1e-3f);
    enhope_model_free(small), enhope_model_free(same);
    enhope_dataset_free(data);
}

/* Labels only determine the validation part. New points are embedded as well as training points. */
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
    enhope_model *a = train(blobs, with("method", "pt-sne", "validation_fraction", "0", "n_epochs", "2", NULL));
    enhope_model *b = train(renamed, with("method", "pt-sne", "validation_fraction", "0", "n_epochs", "2", NULL));
    assert_memory_equal(a->theta, b->theta, (size_t)eh_map_parameters(a->map, &a->shape) * sizeof *a->theta);
    enhope_model_free(a), enhope_model_free(b);
    enhope_dataset_free(renamed), enhope_dataset_free(unseen);
}

/* Classes that have no row, as of a table whose labels are all missing. */
static void training_without_labeled_rows_fails(void **state)
{
    (void)state;
    const float x[] = {0.5f, 2.385f, -1.25f, 4.191f, 0.75f, 3, -2, 1.5f, 6, 0.25f};
    const int32_t label[] = {-1, -1, -1, -1, -1};
    enhope_dataset *data = NULL;
    enhope_model *model = NULL;
    assert_int_equal(enhope_dataset_view_f32(ctx, 5, 2, x, label, 3, NULL, &data), ENHOPE_OK);
    assert_int_equal(enhope_train(ctx, data, NULL, NULL, NULL, &model), ENHOPE_ERROR_DATA);
    assert_string_equal(enhope_error(ctx), "the data has no labeled samples; training needs at least two classes");
    assert_null(model);
    enhope_dataset_free(data);
}

/* Without labels, data trains en-tsne by default. Labels change nothing but the validation part. */
static void neighbors_of_the_inputs_are_neighbors_in_the_map(void **state)
{
    (void)state;
    enhope_dataset *plain = NULL;
    float Y[N * 2];
    assert_int_equal(enhope_dataset_view_f32(ctx, N, H, X, NULL, 0, NULL, &plain), ENHOPE_OK);
    static const char *const chosen[][2] = {
        {"n_factors", "24"}, {"n_hidden", "16"}, {"n_epochs", "300"}, {"batch_size", "100"}, {"graph_k", "9"}};
    enhope_settings *s = enhope_settings_create();
    for (int i = 0; i < 5; i++) assert_int_equal(enhope_settings_set(ctx, s, chosen[i][0], chosen[i][1]), ENHOPE_OK);
    enhope_model *m = train(plain, s);
    assert_string_equal(m->method, "en-tsne");
    assert_string_equal(enhope_model_setting(m, "graph_k"), "9");
    assert_false(eh_model_classifies(m));
    enhope_map_measures measures = {.k = 10}, of_two_inputs = measures;
    assert_int_equal(enhope_model_embed(ctx, m, blobs, Y), ENHOPE_OK);
    assert_int_equal(enhope_map_measure(ctx, m, 2, &(enhope_map){blobs, Y}, NULL, &measures), ENHOPE_OK);
    for (int i = 0; i < N * 2; i++) Y[i] = X[i / 2 * H + i % 2];
    assert_int_equal(enhope_map_measure(ctx, m, 2, &(enhope_map){blobs, Y}, NULL, &of_two_inputs), ENHOPE_OK);
    if (measures.trustworthiness < 0.8 || measures.trustworthiness < of_two_inputs.trustworthiness + 0.05)
        fail_msg("trustworthiness %g, of two inputs %g", measures.trustworthiness, of_two_inputs.trustworthiness);
    enhope_model *labeled = train(blobs, with("method", "en-tsne", "validation_fraction", "0", "n_epochs", "2", NULL));
    enhope_model *other = train(plain, with("method", "en-tsne", "n_epochs", "2", NULL));
    assert_string_equal(enhope_model_setting(other, "graph_k"), "15");
    assert_memory_equal(labeled->theta, other->theta,
                        (size_t)eh_map_parameters(other->map, &other->shape) * sizeof *other->theta);
    enhope_model_free(m), enhope_model_free(labeled), enhope_model_free(other);
    enhope_dataset_free(plain);
}

static void rectified_units_learn(void **state)
{
    (void)state;
    static const char *const methods[] = {"dt-mcml", "deep-en-hope", "pt-sne"};
    for (int i = 0; i < 3; i++) {
        enhope_model *m = train(blobs, with("method", methods[i], "activation", "relu", NULL));
        assert_true(m->shape.relu);
        const double error = error_of(m, blobs);
        if (error > 0.12) fail_msg("%s: %g", methods[i], error);
    }
}

static void maps_of_any_order_learn(void **state)
{
    (void)state;
    static const char *const orders[] = {"2", "3", "4"};
    for (int i = 0; i < 2 * 3; i++) {
        const enhope_dataset *data = i % 2 ? sparse_blobs : blobs;
        enhope_model *m = train(data, with("order", orders[i / 2], "n_factors", "24", "init_scale", "1", NULL));
        assert_int_equal(m->shape.order, atoi(orders[i / 2]));
        assert_string_equal(enhope_model_setting(m, "order"), orders[i / 2]);
        const double error = error_of(m, data);
        if (error > 0.12) fail_msg("%s: %g", orders[i / 2], error);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_exemplar_choice_solver_and_normalizer_learns),
        cmocka_unit_test(every_member_of_the_objective_family_learns),
        cmocka_unit_test(the_student_similarity_learns_with_any_dof),
        cmocka_unit_test(dof_affects_only_the_student_similarity),
        cmocka_unit_test(every_method_of_the_table_learns),
        cmocka_unit_test(the_table_of_methods_lists_normalizer_and_solver),
        cmocka_unit_test(principal_components_are_eigenvectors_of_the_covariance),
        cmocka_unit_test(inputs_that_are_compared_without_a_map_are_scaled),
        cmocka_unit_test(a_target_from_the_inputs_is_learned_without_labels),
        cmocka_unit_test(training_without_labeled_rows_fails),
        cmocka_unit_test(neighbors_of_the_inputs_are_neighbors_in_the_map),
        cmocka_unit_test(rectified_units_learn),
        cmocka_unit_test(maps_of_any_order_learn),
    };
    return cmocka_run_group_tests_name("train_methods", tests, open_blobs, close_blobs);
}
