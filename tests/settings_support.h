/* Settings for tests: the paper's, a base of names and values, then those that a test names. */
#ifndef SETTINGS_SUPPORT_H
#define SETTINGS_SUPPORT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "enhope_advanced.h"

/* base ends with NULL, and so does the list that begins with `first` and goes on in args. Tests go over methods, solvers and forms:
 * what does not apply to the run that all of them describe is left out. */
static inline enhope_settings *settings_with(enhope_context *ctx, const char *const *base, const char *first,
                                             va_list args)
{
    enum { MOST = 40 };
    const char *name[MOST] = {"recipe", "target_weight"}, *value[MOST] = {"paper", "sample"};
    int count = 2;
    for (; *base; base += 2, count++) name[count] = base[0], value[count] = base[1];
    for (; first; first = va_arg(args, const char *), count++) {
        assert_true(count < MOST);
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

/* A model of the data; the settings are freed. */
static inline enhope_model *trained_with(enhope_context *ctx, const enhope_dataset *data, enhope_settings *s)
{
    enhope_model *m = NULL;
    if (enhope_train(ctx, data, s, NULL, NULL, &m)) fail_msg("%s", enhope_error(ctx));
    enhope_settings_free(s);
    return m;
}

#endif
