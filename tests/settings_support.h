/* Settings for tests: the paper's, a base of names and values, then those that a test names. */
#ifndef SETTINGS_SUPPORT_H
#define SETTINGS_SUPPORT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "enhope_advanced.h"

/* base ends with NULL, and so does the list that begins with `first` and goes on in args. */
static inline enhope_settings *settings_with(enhope_context *ctx, const char *const *base, const char *first,
                                             va_list args)
{
    enhope_settings *s = enhope_settings_create();
    assert_int_equal(enhope_settings_set(ctx, s, "recipe", "paper"), ENHOPE_OK);
    assert_int_equal(enhope_settings_set(ctx, s, "weight", "sample"), ENHOPE_OK);
    for (; *base; base += 2) assert_int_equal(enhope_settings_set(ctx, s, base[0], base[1]), ENHOPE_OK);
    for (const char *name = first; name; name = va_arg(args, const char *)) {
        const char *value = va_arg(args, const char *);
        if (enhope_settings_set(ctx, s, name, value)) fail_msg("%s", enhope_error(ctx));
    }
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
