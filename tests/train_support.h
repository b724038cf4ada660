/* Small training runs for tests of the trainer's internals. */
#ifndef TRAIN_SUPPORT_H
#define TRAIN_SUPPORT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <cmocka.h>

#include "train/trainer.h"
#include "settings_support.h"

static enhope_context *ctx;

static inline enhope_settings *with(const char *first, ...)
{
    static const char *const small[] = {
        "n_factors",          "12",  "n_hidden",    "8", "batch_size", "100",  "n_epochs", "25",
        "hidden_layer_sizes", "5-4", "n_exemplars", "6", "scaling",    "none", NULL};
    va_list args;
    va_start(args, first);
    enhope_settings *s = settings_with(ctx, small, first, args);
    va_end(args);
    return s;
}

static inline enhope_model *train(const enhope_dataset *data, enhope_settings *s)
{
    return trained_with(ctx, data, s);
}

static inline void on(const char *device)
{
    assert_int_equal(enhope_context_set_device(ctx, device), ENHOPE_OK);
}

/* A trainer whose first batch is current. */
static inline enhope_trainer *started(const enhope_dataset *data, enhope_settings *s)
{
    enhope_trainer *t = NULL;
    int done;
    if (enhope_trainer_create(ctx, NULL, data, s, &t)) fail_msg("%s", enhope_error(ctx));
    assert_int_equal(enhope_trainer_step(t, NULL, &done), ENHOPE_OK);
    enhope_settings_free(s);
    return t;
}

/* Asserts that the model has these settings. */
static inline void assert_settings(const enhope_model *m, const char *const (*stored)[2], int count)
{
    int found = 0;
    for (int i = 0; i < m->setting.count; i++)
        for (int k = 0; k < count; k++)
            if (!strcmp(m->setting.pair[i].name, stored[k][0]))
                assert_string_equal(m->setting.pair[i].value, stored[k][1]), found++;
    assert_int_equal(found, count);
}

#endif
