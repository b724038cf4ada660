/* Messages, memory, the clock, and the classes of a session: what the page of enhope view needs,
 * and with it the Python module (python/module/page.c), which has no main() and prints nothing. */
#define _POSIX_C_SOURCE 200809L
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <time.h>

#include "core/cli.h"
#include "core/pool.h"

/* The handler is in progress.c, which the Python module does not contain. */
static volatile sig_atomic_t caught;

void cli_keep_signal(int number)
{
    caught = number;
}

int cli_caught_signal(void)
{
    return caught;
}

int cli_fail(const enhope_context *ctx, enhope_status status)
{
    const char *sentence = enhope_error(ctx);
    cli_error("%s", *sentence ? sentence : enhope_status_text(status));
    if (status == ENHOPE_STOPPED && caught) return 128 + caught;
    return status == ENHOPE_ERROR_ARGUMENT ? CLI_USAGE : CLI_FAILED;
}

int cli_error(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    cli_print_message(cli_self.name, format, args);
    va_end(args);
    return CLI_FAILED;
}

void *cli_alloc(const char *what, int64_t rows, int64_t columns, size_t size)
{
    const bool fits = rows >= 0 && columns >= 0 && (columns == 0 || rows <= INT64_MAX / columns);
    const size_t count = fits ? (size_t)(rows * columns) : 0;
    void *block = fits ? calloc(count ? count : 1, size) : NULL;
    if (!block) cli_error("out of memory: %s needs %.0f bytes", what, (double)rows * (double)columns * (double)size);
    return block;
}

double cli_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

int cli_session_true_classes(const cli_session *session, int32_t **out)
{
    const int64_t n = session->data_info.n;
    const int32_t c = session->data_info.classes, known = session->model_info.classes;
    const int32_t *label = enhope_dataset_labels(session->data);
    int32_t *class_of =
        cli_alloc("classes", c, 1, sizeof *class_of); /* (c) the model's class of each class of the data */
    int32_t *result = class_of ? cli_alloc("labels", n, 1, sizeof *result) : NULL;
    if (!result) {
        free(class_of);
        return CLI_FAILED;
    }
    for (int32_t k = 0; k < c; k++) {
        class_of[k] = -2;
        for (int32_t j = 0; j < known && class_of[k] < 0; j++)
            if (cli_same_text(enhope_dataset_class_name(session->data, k), enhope_model_class_name(session->model, j)))
                class_of[k] = j;
    }
    for (int64_t i = 0; i < n; i++) result[i] = label && label[i] >= 0 ? class_of[label[i]] : -1;
    free(class_of);
    *out = result;
    return 0;
}
