/* What settings apply to: every setting with every method, solver and objective; what is refused,
 * and what a model fixes. */
#include <stdio.h>
#include <string.h>

#include "method/scope.h"
#include "train_blobs_support.h"

/* Settings of the default recipe, then a list that ends with NULL. */
static enhope_settings *exactly(const char *first, ...)
{
    va_list args;
    enhope_settings *s = enhope_settings_create();
    va_start(args, first);
    for (const char *name = first; name; name = va_arg(args, const char *))
        assert_int_equal(enhope_settings_set(ctx, s, name, va_arg(args, const char *)), ENHOPE_OK);
    va_end(args);
    return s;
}

static int row_of(const char *name)
{
    for (int i = 0; i < enhope_setting_count(); i++)
        if (!strcmp(enhope_setting_get(i)->name, name)) return i;
    fail_msg("there is no setting %s", name);
    return -1;
}

/* Whether "a, b and c" has the name. */
static bool lists(const char *text, const char *name)
{
    const size_t length = strlen(name);
    for (const char *at = text; (at = strstr(at, name)); at++)
        if ((at == text || at[-1] == ' ') && (!at[length] || at[length] == ',' || at[length] == ' ')) return true;
    return false;
}

/* Independently of the scopes: whether the texts of a method's row and of a setting's scope go
 * together. */
static bool text_names(const char *applies, const eh_method *m)
{
    char scope[128], map[16];
    const char *name = m->info.name;
    snprintf(scope, sizeof scope, "%.*s", (int)strcspn(applies, ";"), applies);
    snprintf(map, sizeof map, "%.*s", (int)strcspn(m->info.map, "("), m->info.map);
    if (strstr(scope, " map"))
        return strstr(scope, map) && (!strstr(applies, "gradient methods") || !strcmp(m->info.solver, "adam")) &&
               (!strstr(applies, "exemplar methods") || !strcmp(m->info.compared, "z exemplars"));
    const char *but = strstr(scope, " except ");
    if (but && lists(but, name)) return false;
    if (!strncmp(scope, "all methods", 11)) return true;
    if (!strncmp(scope, "gradient methods", 16)) return !strcmp(m->info.solver, "adam");
    if (!strncmp(scope, "exemplar methods", 16)) return !strcmp(m->info.compared, "z exemplars");
    return lists(scope, name);
}

static void every_setting_applies_to_the_methods_that_its_text_names(void **state)
{
    (void)state;
    for (int i = 0; i < enhope_setting_count(); i++)
        for (int m = 0; m < enhope_method_count(); m++) {
            const enhope_setting_info *info = enhope_setting_get(i);
            if ((info->methods >> m & 1) != text_names(info->applies, eh_method_get(m)))
                fail_msg("%s (%s) and %s", info->name, info->applies, enhope_method_get(m)->name);
        }
}

static void what_is_set_and_does_not_apply_is_refused(void **state)
{
    (void)state;
    for (int i = 2; i < enhope_setting_count(); i++) /* recipe and method choose */
        for (int m = 0; m < enhope_method_count(); m++) {
            const enhope_setting_info *info = enhope_setting_get(i);
            const char *method = enhope_method_get(m)->name;
            char sentence[128];
            enhope_settings *s = exactly("method", method, info->name, info->initial, NULL);
            const enhope_status status = eh_settings_check(ctx, s);
            assert_int_equal(status, enhope_settings_applies(s, info->name) ? ENHOPE_OK : ENHOPE_ERROR_ARGUMENT);
            if (!(info->methods >> m & 1)) {
                snprintf(sentence, sizeof sentence, "%s does not apply to method %s", info->name, method);
                assert_int_equal(status, ENHOPE_ERROR_ARGUMENT);
                assert_memory_equal(enhope_error(ctx), sentence, strlen(sentence));
                assert_non_null(strstr(enhope_error(ctx), info->applies));
            }
            enhope_settings_free(s);
        }
}

static void a_solver_and_an_objective_have_settings_of_their_own(void **state)
{
    (void)state;
    static const struct {
        const char *choice, *value, *other, *setting;
    } cases[] = {
        {"solver", "cg", "adam", "line_searches"},        {"solver", "lbfgs", "adam", "line_searches"},
        {"solver", "adam", "lbfgs", "learning_rate"},     {"normalizer", "joint", "row", "target_weight"},
        {"normalizer", "joint", "auto", "target_weight"}, {"similarity", "student", "gaussian", "dof"},
        {"similarity", "auto", "gaussian", "dof"},        {"target", "mcml", "nca", "label_smoothing"},
        {"target", "auto", "nca", "label_smoothing"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (int other = 0; other < 2; other++) {
            const enhope_setting_info *info = enhope_setting_get(row_of(cases[i].setting));
            enhope_settings *s =
                exactly(cases[i].choice, other ? cases[i].other : cases[i].value, info->name, info->initial, NULL);
            assert_int_equal(eh_settings_check(ctx, s), other ? ENHOPE_ERROR_ARGUMENT : ENHOPE_OK);
            assert_int_equal(enhope_settings_applies(s, info->name), !other);
            enhope_settings_free(s);
        }
}

static void training_refuses_and_a_recipe_does_not(void **state)
{
    (void)state;
    enhope_model *m = NULL;
    enhope_settings *s = exactly("method", "pca", "n_epochs", "3", NULL);
    assert_int_equal(enhope_train(ctx, blobs, s, NULL, NULL, &m), ENHOPE_ERROR_ARGUMENT);
    assert_string_equal(enhope_error(ctx),
                        "n_epochs does not apply to method pca, which is solved in one step (it applies "
                        "to: gradient methods); leave it out");
    assert_null(m);
    enhope_settings_free(s);
    s = exactly("n_epochs", "3", "recipe", "paper", "method", "pca", NULL); /* a recipe begins anew */
    assert_int_equal(enhope_train(ctx, blobs, s, NULL, NULL, &m), ENHOPE_OK);
    assert_string_equal(enhope_model_setting(m, "n_epochs"), "30");
    enhope_settings_free(s);
    enhope_model_free(m);
}

static void what_the_caller_sets_is_known_from_what_a_recipe_sets(void **state)
{
    (void)state;
    enhope_settings *s = exactly("recipe", "paper", "noise", "0.2", NULL);
    assert_true(EH_EXPLICIT(s, augment.noise) && !EH_EXPLICIT(s, optim.n_epochs) && !EH_EXPLICIT(s, optim.batch_size));
    assert_true(eh_recipe_sets(s->recipe, "batch_size") && !eh_recipe_sets(s->recipe, "random_state"));
    assert_int_equal(enhope_settings_set(ctx, s, "n_epochs", "0"), ENHOPE_ERROR_ARGUMENT);
    assert_true(!EH_EXPLICIT(s, optim.n_epochs)); /* nothing was set */
    assert_int_equal(enhope_settings_set(ctx, s, "recipe", "fast"), ENHOPE_OK);
    assert_true(!EH_EXPLICIT(s, augment.noise) && !eh_recipe_sets(s->recipe, "batch_size"));
    enhope_settings_free(s);
}

static void a_model_fixes_its_shape(void **state)
{
    (void)state;
    static const char *const fixed[] = {
        "recipe",     "method",     "n_components", "n_factors", "n_hidden", "order", "hidden_layer_sizes",
        "activation", "init_scale", "n_exemplars",  "scaling"};
    int count = 0;
    for (int i = 0; i < enhope_setting_count(); i++) count += enhope_setting_get(i)->fixed;
    assert_int_equal(count, (int)(sizeof fixed / sizeof *fixed));
    for (int i = 0; i < count; i++) assert_true(enhope_setting_get(row_of(fixed[i]))->fixed);

    enhope_model *m = train(blobs, with("n_factors", "9", "n_hidden", "7", "n_epochs", "2", NULL)), *more = NULL;
    enhope_settings *s = exactly("n_factors", "9", "n_epochs", "2", NULL); /* as the model has it */
    assert_int_equal(enhope_model_update(ctx, m, blobs, s, NULL, NULL, &more), ENHOPE_OK);
    assert_string_equal(enhope_model_setting(more, "n_hidden"), "7");
    enhope_model_free(more);
    more = NULL;
    assert_int_equal(enhope_settings_set(ctx, s, "n_factors", "10"), ENHOPE_OK);
    assert_int_equal(enhope_model_update(ctx, m, blobs, s, NULL, NULL, &more), ENHOPE_ERROR_ARGUMENT);
    assert_string_equal(enhope_error(ctx),
                        "n_factors is 10: the model was trained with 9, and an update cannot change it; leave it out");
    enhope_settings_free(s);
    enhope_model_free(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_setting_applies_to_the_methods_that_its_text_names),
        cmocka_unit_test(what_is_set_and_does_not_apply_is_refused),
        cmocka_unit_test(a_solver_and_an_objective_have_settings_of_their_own),
        cmocka_unit_test(training_refuses_and_a_recipe_does_not),
        cmocka_unit_test(what_the_caller_sets_is_known_from_what_a_recipe_sets),
        cmocka_unit_test(a_model_fixes_its_shape),
    };
    return cmocka_run_group_tests_name("scope", tests, open_blobs, close_blobs);
}
