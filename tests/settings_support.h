/* Settings for tests: the paper's, then a base of names and values, then those of the test. */
#ifndef SETTINGS_SUPPORT_H
#define SETTINGS_SUPPORT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "enhope_advanced.h"

/* base and the list of first and args end with NULL. Settings that do not apply to the resulting
 * run are skipped, because tests iterate over methods, solvers and normalizers. */
static inline enhope_settings *settings_with(enhope_context *ctx, const char *const *base, const char *first,
                                             va_list args)
{
    enum { MAX = 40 };
    const char *name[MAX] = {"recipe", "target_weight"}, *value[MAX] = {"paper", "sample"};
    int count = 2;
    for (; *base; base += 2, count++) name[count] = base[0], value[count] = base[1];
    for (; first; first = va_arg(args, const char *), count++) {
        assert_true(count < MAX);
        name[count] = first, value[count] = va_arg(args, const char *);
    }
    enhope_settings *all = enhope_settings_create(), *s = enhope_settings_create();
    for (int i = 0; i < count; i++)
        if (enhope_settings_set(ctx, all, name[i], value[i])) fail_msg("%s", enhope_error(ctx));
    for (int i = 0; i < count; i++)
        if (enhope_settings_applies(all, name[i]))
            assert_int_equal(enhope_settings_set(ctx, s, name[i], value[i]), ENHOPE_OK);
    enhope_settings_free(all);
    return s;
}

/* Trains a model and frees the settings. */
static inline enhope_model *trained_with(enhope_context *ctx, const enhope_dataset *data, enhope_settings *s)
{
    enhope_model *m = NULL;
    if (enhope_train(ctx, data, s, NULL, NULL, &m)) fail_msg("%s", enhope_error(ctx));
    enhope_settings_free(s);
    return m;
}

#endif
