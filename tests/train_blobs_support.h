/* Training on the blobs: a context of two threads, small settings, and the error of a model. */
#ifndef TRAIN_BLOBS_SUPPORT_H
#define TRAIN_BLOBS_SUPPORT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "blobs_support.h"
#include "settings_support.h"

static enhope_context *ctx;

static inline enhope_settings *with(const char *first, ...)
{
    static const char *const small[] = {"n_factors", "12", "n_hidden",    "8", "batch_size",         "100",
                                        "n_epochs",  "25", "n_exemplars", "6", "hidden_layer_sizes", "24-12",
                                        NULL};
    va_list args;
    va_start(args, first);
    enhope_settings *s = settings_with(ctx, small, first, args);
    va_end(args);
    return s;
}

/* Frees the settings. */
static inline enhope_model *train(const enhope_dataset *data, enhope_settings *s)
{
    return trained_with(ctx, data, s);
}

/* The error rate on the data; frees the model. */
static inline double error_of(enhope_model *m, const enhope_dataset *data)
{
    enhope_evaluation e = {0};
    if (enhope_model_evaluate(ctx, m, data, 0, &e)) fail_msg("%s", enhope_error(ctx));
    enhope_model_free(m);
    return (double)e.errors / (double)e.n;
}

/* Setup and teardown of a group of tests. */
static inline int open_blobs(void **state)
{
    (void)state;
    ctx = enhope_context_create();
    if (!ctx || enhope_context_set_threads(ctx, 2)) return 1; /* the default is one thread for such small batches */
    return make_blobs(ctx) ? 0 : 1;
}

static inline int close_blobs(void **state)
{
    (void)state;
    enhope_dataset_free(blobs);
    enhope_dataset_free(sparse_blobs);
    enhope_context_free(ctx);
    return 0;
}

#endif
