/* enhope data: describes a data set. */
#define _DEFAULT_SOURCE 1
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "core/cli.h"

static const char *kind_text(enhope_kind kind)
{
    switch (kind) {
    case ENHOPE_U8: return "uint8";
    case ENHOPE_F32: return "float32";
    case ENHOPE_CSR: return "sparse";
    }
    return "unknown";
}

/* ---- the columns of a table ---- */

/* Days since 1970-01-01 as 2024-02-29. */
static void date_text(double days, char *buffer, size_t size)
{
    const time_t seconds = (time_t)floor(days) * 86400;
    struct tm date;
    if (!isfinite(days) || !gmtime_r(&seconds, &date) || !strftime(buffer, size, "%Y-%m-%d", &date)) *buffer = '\0';
}

/* The range of a column, or its first categories. */
static void values_text(const cli_session *session, int64_t j, const enhope_table_column *c, char *buffer, size_t size)
{
    enum { LISTED = 4 };
    char low[32], high[32];
    size_t at = 0;
    *buffer = '\0';
    if (!strcmp(c->type, "date")) {
        date_text(c->minimum, low, sizeof low);
        date_text(c->maximum, high, sizeof high);
        snprintf(buffer, size, "%s to %s", low, high);
    } else if (isfinite(c->minimum)) {
        snprintf(buffer, size, "%.6g to %.6g", c->minimum, c->maximum);
    }
    for (int32_t k = 0; k < c->categories && k <= LISTED && at < size; k++)
        at += (size_t)snprintf(buffer + at, size - at, "%s%.20s", k ? ", " : "",
                               k == LISTED ? "..." : enhope_dataset_category(session->data, j, k));
}

/* What training does with a column. */
static void use_text(const cli_session *session, const enhope_table_column *c, char *buffer, size_t size)
{
    const char *marked = c->marked ? ", missing values marked" : "";
    if (!strcmp(c->use, "label"))
        snprintf(buffer, size, "label: %d class%s (%s)", (int)session->data_info.classes,
                 session->data_info.classes == 1 ? "" : "es", c->reason);
    else if (strcmp(c->use, "input"))
        snprintf(buffer, size, "%s: %s", c->use, c->reason);
    else if (!strcmp(c->type, "category"))
        snprintf(buffer, size, "one-hot, %d categor%s%s%s", (int)c->categories, c->categories == 1 ? "y" : "ies",
                 c->grouped ? ", others grouped" : "", marked);
    else if (!strcmp(c->type, "date"))
        snprintf(buffer, size, "date, %lld inputs%s", (long long)c->inputs, marked);
    else
        snprintf(buffer, size, "%s%s", c->type, marked);
}

/* A text of at most `width` columns, padded. */
static void put_cell(const char *text, int width)
{
    char cut[256];
    const char *end = text;
    int wide = 0;
    for (; *end && wide < width && end - text < (int)sizeof cut - 8; wide++) cli_utf8_next(&end);
    snprintf(cut, sizeof cut, "%.*s", (int)(end - text), text);
    cli_put_text(stdout, cut, -width);
    fputs("  ", stdout);
}

/* True if a column of a wide table is printed: the first ones, and those that are no plain
 * numbers. */
static bool is_listed(const enhope_table_column *c, int64_t j, int64_t others)
{
    enum { FIRST = 20, MAX_OTHERS = 100 };
    return j < FIRST || ((strcmp(c->type, "number") || strcmp(c->use, "input") || c->missing) && others < MAX_OTHERS);
}

static void put_columns(const cli_session *session)
{
    enum { WIDEST = 24, VALUES = 32 };
    const int64_t columns = enhope_dataset_column_count(session->data);
    int64_t listed = 0, others = 0;
    int width = 4;
    enhope_table_column c;
    if (columns == 0) return;
    for (int64_t j = 0; j < columns && !enhope_dataset_column(session->ctx, session->data, j, &c); j++)
        if (is_listed(&c, j, 0) && cli_text_width(c.name) > width) width = cli_text_width(c.name);
    if (width > WIDEST) width = WIDEST;
    printf("columns   %lld\n  %-*s  type      missing  %-*s  use\n", (long long)columns, width, "name", VALUES,
           "values");
    for (int64_t j = 0; j < columns && !enhope_dataset_column(session->ctx, session->data, j, &c); j++) {
        char values[128], use[192];
        if (!is_listed(&c, j, others)) continue;
        others += j >= 20;
        listed++;
        values_text(session, j, &c, values, sizeof values);
        use_text(session, &c, use, sizeof use);
        fputs("  ", stdout);
        put_cell(c.name, width);
        printf("%-8s  ", c.type);
        if (c.missing)
            printf("%5.1f %%  ", 100.0 * (double)c.missing / (double)(c.missing + c.values));
        else
            printf("%7s  ", "-");
        put_cell(values, VALUES);
        cli_print(stdout, "%s\n", use);
    }
    if (listed < columns) printf("  ... and %lld more, all numbers\n", (long long)(columns - listed));
}

static void put_json_columns(const cli_session *session)
{
    const int64_t columns = enhope_dataset_column_count(session->data);
    enhope_table_column c;
    if (columns == 0) return;
    fputs("  \"columns\": [", stdout);
    for (int64_t j = 0; j < columns && !enhope_dataset_column(session->ctx, session->data, j, &c); j++) {
        fputs(j ? "," : "", stdout);
        cli_json(stdout,
                 "\n    {\"name\": %s, \"type\": %s, \"use\": %s, \"reason\": %s, \"values\": %lld, \"missing\": %lld, "
                 "\"minimum\": %g, \"maximum\": %g, \"inputs\": %lld, \"categories\": [",
                 c.name, c.type, c.use, c.reason, (long long)c.values, (long long)c.missing, c.minimum, c.maximum,
                 (long long)c.inputs);
        for (int32_t k = 0; k < c.categories; k++)
            cli_json(stdout, k ? ", %s" : "%s", enhope_dataset_category(session->data, j, k));
        fputs("]}", stdout);
    }
    fputs("\n  ],\n", stdout);
}

static void put_json(const cli_session *session, const char *spec, const int64_t *count, int64_t unlabeled)
{
    const enhope_dataset_info *info = &session->data_info;
    cli_json(stdout,
             "{\n  \"data\": %s,\n  \"n\": %lld,\n  \"inputs\": %lld,\n  \"kind\": %s,\n  \"stored\": %lld,\n"
             "  \"bytes\": %lld,\n",
             spec, (long long)info->n, (long long)info->inputs, kind_text(info->kind), (long long)info->stored,
             (long long)info->bytes);
    put_json_columns(session);
    if (info->image_rows > 0)
        printf("  \"image\": [%lld, %lld],\n", (long long)info->image_rows, (long long)info->image_columns);
    else
        fputs("  \"image\": null,\n", stdout);
    cli_json(stdout,
             "  \"minimum\": %g,\n  \"maximum\": %g,\n  \"mean\": %g,\n  \"unlabelled\": %lld,\n  \"classes\": [",
             info->minimum, info->maximum, info->mean, (long long)unlabeled);
    for (int32_t k = 0; k < info->classes; k++) {
        fputs(k ? "," : "", stdout);
        cli_json(stdout, "\n    {\"class\": %s, \"n\": %lld}", enhope_dataset_class_name(session->data, k),
                 (long long)count[k]);
    }
    printf("%s],\n  \"input_names\": ", info->classes ? "\n  " : "");
    if (!enhope_dataset_input_name(session->data, 0)) {
        fputs("null\n}\n", stdout);
        return;
    }
    for (int64_t j = 0; j < info->inputs; j++) {
        fputs(j ? ", " : "[", stdout);
        cli_json(stdout, "%s", enhope_dataset_input_name(session->data, j));
    }
    fputs("]\n}\n", stdout);
}

static void put_names(const cli_session *session)
{
    enum { LISTED = 8 };
    if (!enhope_dataset_input_name(session->data, 0)) return;
    fputs("names     ", stdout);
    const int64_t H = session->data_info.inputs;
    for (int64_t j = 0; j < H && j < LISTED; j++) {
        const char *name = enhope_dataset_input_name(session->data, j);
        fputs(j ? ", " : "", stdout);
        cli_put_text(stdout, name ? name : "", 0);
    }
    if (H > LISTED) printf(", ... (%lld more)", (long long)(H - LISTED));
    putchar('\n');
}

static void put_report(const cli_session *session, const char *spec, const int64_t *count, int64_t unlabeled)
{
    const enhope_dataset_info *info = &session->data_info;
    char bytes[32];
    put_columns(session);
    cli_bytes_text((double)info->bytes, bytes, sizeof bytes);
    cli_print(stdout, "data      %s\nsamples   %lld\ninputs    %lld", spec, (long long)info->n,
              (long long)info->inputs);
    if (info->image_rows > 0)
        printf(" (images of %lld x %lld)", (long long)info->image_rows, (long long)info->image_columns);
    printf("\nvalues    %s", kind_text(info->kind));
    if (info->kind == ENHOPE_CSR)
        printf(", %lld stored (%.2f %%)", (long long)info->stored,
               100.0 * (double)info->stored / ((double)info->n * (double)info->inputs));
    printf(", %s, from %.6g to %.6g, mean %.6g\n", bytes, info->minimum, info->maximum, info->mean);
    put_names(session);
    if (!info->classes) {
        puts("classes   none: the data is unlabeled");
        return;
    }
    printf("classes   %d\n", (int)info->classes);
    int width = 5;
    for (int32_t k = 0; k < info->classes; k++) {
        const int wide = cli_text_width(enhope_dataset_class_name(session->data, k));
        if (wide > width) width = wide;
    }
    for (int32_t k = 0; k < info->classes; k++) {
        fputs("  ", stdout);
        cli_put_text(stdout, enhope_dataset_class_name(session->data, k), -width);
        printf(" %9lld  %6.2f %%\n", (long long)count[k], 100.0 * (double)count[k] / (double)info->n);
    }
    if (unlabeled) printf("unlabeled %lld\n", (long long)unlabeled);
}

/* Counts the samples of each class and, if the data is streamed, finds the range of the values. */
static int scan(cli_session *session, int64_t *count, int64_t *unlabeled)
{
    enhope_dataset_info *all = &session->data_info;
    cli_block block = {0};
    double low = INFINITY, high = -INFINITY, sum = 0;
    int code = cli_block_next(session, &block);
    for (; !code && block.n > 0; code = cli_block_next(session, &block)) {
        const int32_t *label = enhope_dataset_labels(block.data);
        for (int64_t i = 0; i < block.n; i++)
            if (label && label[i] >= 0)
                count[label[i]]++;
            else
                ++*unlabeled;
        if (!all->streamed) continue;
        enhope_dataset_info info;
        enhope_dataset_get_info(block.data, &info);
        low = fmin(low, info.minimum);
        high = fmax(high, info.maximum);
        sum += info.mean * (double)block.n;
    }
    cli_block_close(&block);
    if (!all->streamed) return code;
    all->minimum = low;
    all->maximum = high;
    all->mean = sum / (double)all->n;
    return code;
}

typedef struct checking {
    cli_progress progress;
    double drawn;
} checking;

static int draw_check(const enhope_conversion *at, void *user)
{
    checking *c = user;
    if (at->seconds - c->drawn > 0.1) {
        cli_progress_share(&c->progress, "checking", at->share, at->rows, at->seconds_left);
        c->drawn = at->seconds;
    }
    return cli_caught_signal() != 0;
}

/* Checks one folder of shards. */
static int check_folder(const cli_session *session, const char *folder)
{
    checking c = {.drawn = 0};
    int64_t files = 0;
    int code = cli_progress_open(&c.progress, false, NULL, false);
    if (code) return code;
    const enhope_status status = enhope_shards_check(session->ctx, folder, draw_check, &c, &files);
    cli_progress_close(&c.progress);
    if (status == ENHOPE_STOPPED) return 128 + cli_caught_signal();
    if (status) return cli_fail(session->ctx, status);
    cli_print(stdout, "%s: %lld file%s, all checksums match\n", folder, (long long)files, files == 1 ? "" : "s");
    return 0;
}

/* Checks a folder of shards, or the folders of its parts. */
static int check(const cli_session *session, const char *folder)
{
    static const char *const parts[] = {"train", "test"};
    char path[4096];
    bool any = false;
    int code = 0;
    cli_catch_signals();
    for (int i = 0; i < 2 && !code; i++) {
        struct stat at;
        snprintf(path, sizeof path, "%.4000s/%s/shards.json", folder, parts[i]);
        if (stat(path, &at) != 0) continue;
        snprintf(path, sizeof path, "%.4000s/%s", folder, parts[i]);
        any = true;
        code = check_folder(session, path);
    }
    return any ? code : check_folder(session, folder);
}

int cmd_data(const cli_options *options)
{
    cli_session session;
    int64_t *count = NULL; /* (c) samples of a class */
    const char *spec = options->positionals ? options->positional[0] : options->data;
    int code = cli_session_open(&session, options);
    if (!code && !spec)
        code =
            cli_usage_error(options->command, "missing argument; usage: enhope data %s", options->command->arguments);
    if (!code && options->shards.check) {
        code = check(&session, spec);
        cli_session_close(&session);
        return code;
    }
    cli_options reading = *options;
    reading.source.table.label_optional = true;
    if (!code) code = cli_session_data(&session, &reading, spec, "train");
    if (!code) {
        count = cli_alloc("counts", session.data_info.classes, 1, sizeof *count);
        if (!count) code = CLI_FAILED;
    }
    int64_t unlabeled = 0;
    if (!code) code = scan(&session, count, &unlabeled);
    if (!code) {
        (options->json ? put_json : put_report)(&session, spec, count, unlabeled);
    }
    free(count);
    cli_session_close(&session);
    return code;
}
