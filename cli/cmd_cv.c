/* enhope cv: cross-validation. Each model is trained in its own process. */
#define _DEFAULT_SOURCE 1
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/pool.h"
#include "measure/measure.h"
#include "table/table.h"

enum { DEFAULT_FOLDS = 5, MAX_JOBS = 8 };
static const double small_data = 1e8; /* bytes: more data is trained on with all cores, one model after the other */

typedef struct crossing {
    const cli_options *options;
    const cli_table_format *format; /* of the predictions */
    cli_cross cross;
    int64_t seed, groups; /* groups 0: none */
    bool again;           /* the columns are encoded anew for each model, without the samples that it classifies */
    int64_t threads;      /* of a process */
    int started, finished, models;
    double begin, seconds; /* seconds: of all models */
    bool terminal;
    int code; /* exit code of the first failure */
} crossing;

/* ---- models ---- */

static int next(void *user)
{
    crossing *v = user;
    return v->code || v->started >= v->models ? -1 : v->started++;
}

static int keep_training(const enhope_progress *at, void *user)
{
    (void)at;
    (void)user;
    return cli_caught_signal() != 0;
}

/* The settings of the options, with the seed of the repeat. */
static int make_settings(const crossing *v, enhope_context *ctx, int32_t repeat, enhope_settings **out)
{
    char seed[32];
    const int code = cli_settings_of_options(ctx, v->options, out);
    if (code) return code;
    snprintf(seed, sizeof seed, "%lld", (long long)v->seed + repeat);
    const enhope_status status = enhope_settings_set(ctx, *out, "random_state", seed);
    return status ? cli_fail(ctx, status) : 0;
}

/* ---- data ---- */

/* Reads the data. The column of --group is not an input; its texts are the first ones of the data
 * set. fit (count): rows of the file that the encoding is fitted to; NULL: all. */
static enhope_status read_data(const crossing *v, enhope_context *ctx, const int64_t *fit, int64_t count,
                               enhope_dataset **out)
{
    const cli_options *o = v->options;
    enhope_source source = cli_source(o, o->data);
    enhope_table_options table = source.table ? *source.table : (enhope_table_options){.header = NULL};
    table.group = o->measure.group;
    table.fit = fit;
    table.fit_count = count;
    source.table = &table;
    if (o->source.split && !source.part) source.part = "train";
    return enhope_dataset_read(ctx, &source, out);
}

/* The data as it would be read if the samples of the fold were unknown. */
static enhope_status read_again(const crossing *v, enhope_context *ctx, int32_t repeat, int32_t fold,
                                enhope_dataset **out)
{
    const cli_cross *x = &v->cross;
    const int32_t *folds = x->fold + (int64_t)repeat * x->n;
    int64_t *fit = calloc((size_t)x->n, sizeof *fit), count = 0;
    if (!fit) return ENHOPE_ERROR_MEMORY;
    for (int64_t i = 0; i < x->n; i++)
        if (folds[i] >= 0 && folds[i] != fold) fit[count++] = enhope_dataset_source_row(x->data, i);
    const enhope_status status = read_data(v, ctx, fit, count, out);
    free(fit);
    return status;
}

static enhope_status train(const crossing *v, enhope_context *ctx, const enhope_settings *settings, int32_t repeat,
                           int32_t fold, cli_progress *quiet)
{
    cli_cross cross = v->cross;
    enhope_dataset *data = NULL;
    enhope_dataset_info info;
    enhope_context_set_log(ctx, NULL, NULL); /* the data was described before */
    enhope_status status = v->again ? read_again(v, ctx, repeat, fold, &data) : ENHOPE_OK;
    if (data) enhope_dataset_get_info(data, &info);
    if (data && info.n == cross.n && info.classes == cross.c) cross.data = data;
    if (repeat + fold == 0) enhope_context_set_log(ctx, cli_progress_log, quiet); /* warnings of one model suffice */
    if (!status) status = cli_cross_train(&cross, ctx, settings, repeat, fold, keep_training, NULL);
    enhope_dataset_free(data);
    return status;
}

static int run(void *user, int item)
{
    const crossing *v = user;
    cli_options options = *v->options;
    cli_session s;
    cli_progress quiet = {.quiet = true};
    enhope_settings *settings = NULL;
    if (!options.compute.threads) options.compute.threads = v->threads;
    int code = cli_session_open(&s, &options);
    const int32_t repeat = item / v->cross.folds, fold = item % v->cross.folds;
    if (!code) code = make_settings(v, s.ctx, repeat, &settings);
    if (!code) {
        const enhope_status status = train(v, s.ctx, settings, repeat, fold, &quiet);
        if (status == ENHOPE_STOPPED) code = 128 + cli_caught_signal();
        if (status && status != ENHOPE_STOPPED) code = cli_fail(s.ctx, status);
    }
    enhope_settings_free(settings);
    cli_session_close(&s);
    return code;
}

static void clear_line(const crossing *v)
{
    if (v->terminal) fputs("\r\033[K", stderr);
}

static void ended(void *user, const cli_job *job, int status)
{
    crossing *v = user;
    if (v->cross.seconds[job->item] > 0) {
        v->finished++;
        v->seconds += v->cross.seconds[job->item];
        return;
    }
    if (v->code || cli_caught_signal()) return;
    clear_line(v);
    v->code = WIFSIGNALED(status) ? cli_error("a model was ended by signal %d", WTERMSIG(status)) : WEXITSTATUS(status);
    if (!v->code) v->code = CLI_FAILED;
}

static void draw(void *user, const cli_job *jobs, int max_jobs)
{
    const crossing *v = user;
    char left[32];
    (void)jobs;
    (void)max_jobs;
    if (!v->terminal) return;
    fprintf(stderr, "\r%d of %d models", v->finished, v->models);
    if (v->finished) {
        const double spent = cli_now() - v->begin;
        cli_seconds_text(spent / v->finished * (v->models - v->finished), left, sizeof left);
        fprintf(stderr, "; %s left", left);
    }
    fputs("\033[K", stderr);
    fflush(stderr);
}

/* ---- results ---- */

typedef struct summary {
    double mean;     /* over repeats */
    double spread;   /* standard deviation over repeats; NaN: one repeat */
    double standard; /* standard error: standard deviation over the folds, divided by sqrt(folds) */
} summary;

enum { ERROR, BALANCED, LOG_LOSS, MEASURES };
static const struct {
    const char *text, *name;
    double unit;
    int digits;
} measure[MEASURES] = {{"error %", "error_percent", 100, 2},
                       {"balanced accuracy %", "balanced_accuracy_percent", 100, 2},
                       {"log loss", "log_loss", 1, 4}};

static double value_of(const cli_scores *s, int m)
{
    return measure[m].unit * (m == ERROR ? s->error : m == BALANCED ? s->balanced : s->log_loss);
}

static double deviation(const double *value, int n)
{
    double mean = 0, sum = 0;
    for (int i = 0; i < n; i++) mean += value[i] / n;
    for (int i = 0; i < n; i++) sum += (value[i] - mean) * (value[i] - mean);
    return n > 1 ? sqrt(sum / (n - 1)) : NAN;
}

/* fold (models), repeat (repeats): their scores. */
static int summarize(const crossing *v, const cli_scores *fold, const cli_scores *repeat, summary *out)
{
    const int models = v->models, repeats = v->cross.repeats;
    double *value = cli_alloc("scores", models, 1, sizeof *value);
    if (!value) return CLI_FAILED;
    for (int m = 0; m < MEASURES; m++) {
        out[m].mean = 0;
        for (int r = 0; r < repeats; r++) out[m].mean += (value[r] = value_of(&repeat[r], m)) / repeats;
        out[m].spread = deviation(value, repeats);
        for (int i = 0; i < models; i++) value[i] = value_of(&fold[i], m);
        out[m].standard = deviation(value, models) / sqrt(v->cross.folds);
    }
    free(value);
    return 0;
}

static void put_models(const crossing *v, const cli_scores *fold)
{
    puts("repeat  fold       n  errors   error %  balanced %  log loss  seconds");
    for (int i = 0; i < v->models; i++)
        printf("%6d  %4d  %6lld  %6lld  %8.2f  %10.2f  %8.4f  %7.2f\n", i / v->cross.folds + 1, i % v->cross.folds + 1,
               (long long)fold[i].n, (long long)fold[i].errors, 100 * fold[i].error, 100 * fold[i].balanced,
               fold[i].log_loss, v->cross.seconds[i]);
    putchar('\n');
}

/* Samples of all folds of a repeat. */
static int64_t labeled(const crossing *v, const cli_scores *fold)
{
    int64_t n = 0;
    for (int32_t f = 0; f < v->cross.folds; f++) n += fold[f].n;
    return n;
}

static void put_report(const crossing *v, const cli_scores *fold, const summary *result)
{
    const cli_cross *x = &v->cross;
    char groups[48] = "";
    if (v->options->measure.verbose) put_models(v, fold);
    if (v->groups) snprintf(groups, sizeof groups, " in %lld groups", (long long)v->groups);
    printf("%d-fold cross-validation, %d repeat%s: %lld samples%s, %d classes\n\n", x->folds, x->repeats,
           x->repeats == 1 ? "" : "s", (long long)labeled(v, fold), groups, x->c);
    puts("                         mean  standard error  standard deviation of repeats");
    for (int m = 0; m < MEASURES; m++) {
        printf("%-19s  %8.*f  %14.*f  ", measure[m].text, measure[m].digits, result[m].mean, measure[m].digits,
               result[m].standard);
        if (isfinite(result[m].spread))
            printf("%29.*f\n", measure[m].digits, result[m].spread);
        else
            puts("                            -");
    }
    printf("\ntime: %.1f s for %d models, %.2f s per model\n", cli_now() - v->begin, v->models, v->seconds / v->models);
}

static void put_json(const crossing *v, const cli_scores *fold, const summary *result)
{
    const cli_cross *x = &v->cross;
    cli_json(stdout, "{\n  \"n\": %lld,\n  \"classes\": %d,\n  \"folds\": %d,\n  \"repeats\": %d",
             (long long)labeled(v, fold), x->c, x->folds, x->repeats);
    if (v->groups) cli_json(stdout, ",\n  \"groups\": %lld", (long long)v->groups);
    for (int m = 0; m < MEASURES; m++)
        cli_json(stdout, ",\n  %s: {\"mean\": %g, \"standard_error\": %g, \"repeats_deviation\": %g}", measure[m].name,
                 result[m].mean, result[m].standard, result[m].spread);
    cli_json(stdout, ",\n  \"seconds\": %g,\n  \"models\": [", v->seconds);
    for (int i = 0; i < v->models; i++) {
        fputs(i ? ",\n" : "\n", stdout);
        cli_json(stdout,
                 "    {\"repeat\": %d, \"fold\": %d, \"n\": %lld, \"errors\": %lld, \"error_percent\": %g, "
                 "\"balanced_accuracy_percent\": %g, \"log_loss\": %g, \"seconds\": %g}",
                 i / x->folds + 1, i % x->folds + 1, (long long)fold[i].n, (long long)fold[i].errors,
                 100 * fold[i].error, 100 * fold[i].balanced, fold[i].log_loss, x->seconds[i]);
    }
    fputs("\n  ]\n}\n", stdout);
}

/* ---- out-of-fold predictions ---- */

/* Columns of ids and of the group that are copied. */
static int64_t kept_columns(const cli_cross *x)
{
    enum { MAX_COPIED = 8 };
    const int64_t columns = enhope_dataset_text_count(x->data);
    return columns < MAX_COPIED ? columns : MAX_COPIED;
}

static int add_columns(const cli_cross *x, const char *const *class_name, bool proba, cli_table *table)
{
    const cli_table_column repeat = {.name = "repeat", .type = TABLE_INTEGER},
                           column[] = {{.name = "row", .type = TABLE_INTEGER},
                                       {.name = "fold", .type = TABLE_INTEGER},
                                       {.name = "label", .type = TABLE_TEXT},
                                       {.name = "predicted", .type = TABLE_TEXT},
                                       {.name = "proba",
                                        .type = TABLE_REAL,
                                        .digits = 6,
                                        .parts = x->c,
                                        .part = class_name,
                                        .part_format = "p(%s)",
                                        .part_array = "classes"}};
    const int columns = (int)(sizeof column / sizeof *column) - !proba;
    int code = x->repeats > 1 ? cli_table_add(table, &repeat) : 0;
    for (int64_t k = 0; k < kept_columns(x) && !code; k++) {
        const cli_table_column kept = {.name = enhope_dataset_text_name(x->data, k), .type = TABLE_TEXT};
        code = cli_table_add(table, &kept);
    }
    for (int i = 0; i < columns && !code; i++) code = cli_table_add(table, &column[i]);
    return code;
}

static void put_prediction(cli_table *table, const cli_cross *x, int32_t repeat, int64_t i, bool proba)
{
    const int64_t at = (int64_t)repeat * x->n + i;
    if (x->repeats > 1) cli_table_integer(table, repeat + 1);
    for (int64_t k = 0; k < kept_columns(x); k++) cli_table_text(table, enhope_dataset_text(x->data, k, i));
    cli_table_integer(table, enhope_dataset_source_row(x->data, i) + 1);
    cli_table_integer(table, x->fold[at] + 1);
    cli_table_text(table, enhope_dataset_class_name(x->data, x->truth[i]));
    cli_table_text(table, enhope_dataset_class_name(x->data, x->label[at]));
    for (int32_t k = 0; k < x->c && proba; k++) cli_table_real(table, (double)x->proba[at * x->c + k]);
}

static int put_predictions(const crossing *v)
{
    const cli_cross *x = &v->cross;
    const bool proba = v->options->answer.proba;
    int64_t labeled = 0;
    cli_table *table = NULL;
    const char **class_name = cli_alloc("names", x->c, 1, sizeof *class_name);
    int code = class_name ? 0 : CLI_FAILED;
    for (int32_t k = 0; k < x->c && !code; k++) class_name[k] = enhope_dataset_class_name(x->data, k);
    for (int64_t i = 0; i < x->n; i++) labeled += x->truth[i] >= 0;
    if (!code) code = cli_table_open(v->format, v->options->output, x->repeats * labeled, &table);
    if (!code) code = add_columns(x, class_name, proba, table);
    for (int32_t r = 0; r < x->repeats && !code; r++)
        for (int64_t i = 0; i < x->n && !ferror(table->output.file); i++)
            if (x->truth[i] >= 0) put_prediction(table, x, r, i, proba);
    if (!code) code = cli_table_close(table);
    cli_table_free(table);
    free(class_name);
    return code;
}

static int report(const crossing *v)
{
    const cli_cross *x = &v->cross;
    summary result[MEASURES];
    cli_scores *fold = cli_alloc("scores", v->models, 1, sizeof *fold);
    cli_scores *repeat = fold ? cli_alloc("scores", x->repeats, 1, sizeof *repeat) : NULL;
    int code = repeat ? 0 : CLI_FAILED;
    for (int i = 0; i < v->models && !code; i++) code = cli_cross_scores(x, i / x->folds, i % x->folds, &fold[i]);
    for (int32_t r = 0; r < x->repeats && !code; r++) code = cli_cross_scores(x, r, -1, &repeat[r]);
    if (!code) code = summarize(v, fold, repeat, result);
    if (!code && v->options->output) code = put_predictions(v);
    if (!code && v->options->json) put_json(v, fold, result);
    if (!code && !v->options->json) put_report(v, fold, result);
    free(fold);
    free(repeat);
    return code;
}

/* ---- the command ---- */

/* Checks the settings before the models are trained, and finds the seed. */
static int check_settings(crossing *v, enhope_context *ctx)
{
    char seed[32];
    enhope_settings *settings = NULL;
    const int code = cli_settings_of_options(ctx, v->options, &settings);
    if (!code) enhope_settings_get(ctx, settings, "random_state", seed, sizeof seed);
    if (!code) v->seed = atoll(seed);
    enhope_settings_free(settings);
    return code;
}

/* Small data is trained on by one thread, so that processes use the cores. */
static int choose_jobs(crossing *v, const cli_session *session)
{
    const cli_options *o = v->options;
    const int cores = (int)sysconf(_SC_NPROCESSORS_ONLN);
    const bool cpu = !o->compute.device || !strcmp(o->compute.device, "cpu");
    const bool alone = !cpu || (double)session->data_info.bytes > small_data;
    int jobs = o->compute.jobs ? (int)o->compute.jobs : alone ? 1 : cores < MAX_JOBS ? cores : MAX_JOBS;
    if (jobs > v->models) jobs = v->models;
    if (jobs < 1) jobs = 1;
    v->threads = jobs == 1 ? 0 : cores > jobs ? cores / jobs : 1;
    return jobs;
}

typedef struct member {
    const char *text;
    int64_t row;
} member;

static int by_text(const void *a, const void *b)
{
    const member *x = a, *y = b;
    const int order = strcmp(x->text, y->text);
    return order ? order : x->row < y->row ? -1 : 1;
}

/* Numbers the groups by their texts. A sample without a text is a group of its own. */
static int number_groups(crossing *v, const cli_session *session, int64_t **out)
{
    const int64_t n = session->data_info.n;
    if (!v->options->measure.group) return 0;
    member *members = cli_alloc("groups", n, 1, sizeof *members);
    int64_t *group = members ? cli_alloc("groups", n, 1, sizeof *group) : NULL;
    for (int64_t i = 0; i < n && group; i++) {
        const char *text = enhope_dataset_text(session->data, 0, i);
        members[i] = (member){text ? text : "", i};
    }
    if (group) qsort(members, (size_t)n, sizeof *members, by_text);
    for (int64_t i = 0; i < n && group; i++) {
        const bool same = i && *members[i].text && !strcmp(members[i].text, members[i - 1].text);
        if (!same) v->groups++;
        group[members[i].row] = v->groups - 1;
    }
    free(members);
    *out = group;
    return group ? 0 : CLI_FAILED;
}

/* Whether the data may come from a table whose encoding depends on the rows. Reading other data
 * again changes nothing. */
static bool is_table(const cli_options *o, const enhope_dataset_info *info)
{
    return strcmp(o->data, "-") != 0 && strncmp(o->data, "synthetic:", 10) != 0 && info->kind == ENHOPE_F32 &&
           !info->image_rows && (double)info->bytes < small_data && cli_data_parts(o, o->data) != CLI_MAYBE_PARTS;
}

static int read_first(crossing *v, cli_session *session)
{
    const cli_options *o = v->options;
    if (!o->measure.group) return cli_session_data(session, o, o->data, "train");
    if (!o->data) return cli_usage_error(o->command, "missing option: --data SPEC");
    const enhope_status status = read_data(v, session->ctx, NULL, 0, &session->data);
    if (status) return cli_fail(session->ctx, status);
    enhope_dataset_get_info(session->data, &session->data_info);
    return 0;
}

static int open_data(crossing *v, cli_session *session)
{
    const cli_options *o = v->options;
    cli_options reading = *o;
    int64_t *group = NULL;
    reading.compute.threads = 1; /* no thread runs when processes are started */
    int code = cli_session_open(session, &reading);
    if (!code) code = check_settings(v, session->ctx);
    if (!code) code = cli_output_differs(o->output, o->data);
    if (!code) code = read_first(v, session);
    if (!code) code = cli_session_in_memory(session, o);
    if (!code) code = number_groups(v, session, &group);
    const int32_t folds = o->measure.folds ? (int32_t)o->measure.folds : DEFAULT_FOLDS;
    const int32_t repeats = o->measure.repeats ? (int32_t)o->measure.repeats : 1;
    v->models = folds * repeats;
    if (!code) v->again = is_table(o, &session->data_info);
    if (!code) code = cli_cross_open(&v->cross, session->ctx, session->data, folds, repeats, v->seed, group);
    free(group);
    return code;
}

static int choose_format(const cli_options *options, const cli_table_format **format)
{
    const int code = cli_table_choose(options, format);
    if (code || *format != &table_npy) return code;
    return cli_usage_error(options->command, "%s: .npy holds one array; use .npz for all columns", options->output);
}

int cmd_cv(const cli_options *options)
{
    crossing v = {.options = options, .begin = cli_now(), .terminal = isatty(STDERR_FILENO) != 0};
    cli_session session = {0};
    cli_catch_signals();
    int code = choose_format(options, &v.format);
    if (!code) code = open_data(&v, &session);
    if (!code) {
        const cli_pool pool = {
            .user = &v, .max_jobs = choose_jobs(&v, &session), .next = next, .run = run, .ended = ended, .draw = draw};
        code = cli_pool_run(&pool);
        clear_line(&v);
    }
    if (!code) code = v.code;
    if (!code && cli_caught_signal()) {
        cli_error("stopped after %d of %d models", v.finished, v.models);
        code = 128 + cli_caught_signal();
    }
    if (!code) code = report(&v);
    cli_cross_close(&v.cross);
    cli_session_close(&session);
    return code;
}
