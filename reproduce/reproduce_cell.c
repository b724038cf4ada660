/* One cell: trains a model with the settings of the plan, evaluates it once on the test part, and
 * stores errors and costs in a JSON file. */
#define _DEFAULT_SOURCE 1
#include <cjson/cJSON.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "core/pool.h"
#include "reproduce.h"

enum { QUICK_TRAINING = 3000, QUICK_TEST = 1000, KMEANS_CENTERS = 20 };
static const char quick_time[] = "2.5";

void cell_name(cell at, char *buffer, size_t size)
{
    snprintf(buffer, size, "%s/%s/%d", plan_sets[at.set].id, plan_row_get(at.row)->id, at.seed);
}

/* The settings of the plan. */
static void plan_settings(cell at, char *buffer, size_t size)
{
    const plan_row *row = plan_row_get(at.row);
    snprintf(buffer, size, "%s%s%s random_state %d", row->settings, *row->on[at.set] ? " " : "", row->on[at.set],
             at.seed);
}

void cell_settings(const reproduction *r, cell at, char *buffer, size_t size)
{
    plan_settings(at, buffer, size);
    const size_t used = strlen(buffer);
    if (r->quick) snprintf(buffer + used, size - used, " time_limit %s", quick_time);
}

static void file_path(const reproduction *r, cell at, const char *kind, const char *ending, char *path)
{
    snprintf(path, PATH_SIZE, "%s/%s/%s_%s_%d%s", r->folder, kind, plan_sets[at.set].id, plan_row_get(at.row)->id,
             at.seed, ending);
}

void cell_model_path(const reproduction *r, cell at, char *path)
{
    file_path(r, at, "models", ".safetensors", path);
}

bool cell_keeps_model(cell at)
{
    char word[32];
    snprintf(word, sizeof word, " %s ", plan_sets[at.set].id);
    const char *keep = plan_row_get(at.row)->keep;
    return at.seed == 1 && keep && strstr(keep, word);
}

/* path (2 PATH_SIZE) and split (TEXT_SIZE) are buffers that source points to. */
static void cell_source(const reproduction *r, cell at, const char *part, enhope_source *source, char *path,
                        char *split)
{
    const plan_set *set = &plan_sets[at.set];
    const bool test = !strcmp(part, "test");
    if (set->path)
        snprintf(path, 2 * PATH_SIZE, "%s/%s", r->data, set->path);
    else
        snprintf(path, 2 * PATH_SIZE, "%s/%s,%s/%s", r->data, set->pair[test][0], r->data, set->pair[test][1]);
    if (set->split) snprintf(split, TEXT_SIZE, "%s%d", set->split, at.seed);
    *source = (enhope_source){.path = path, .split = set->split ? split : NULL};
    if (set->path) source->part = part;
    if (r->quick) source->limit = test ? QUICK_TEST : QUICK_TRAINING;
}

/* ---- result files ---- */

bool cell_read(const reproduction *r, cell at, cell_result *out)
{
    char path[PATH_SIZE], settings[TEXT_SIZE];
    file_path(r, at, "cells", ".json", path);
    cell_settings(r, at, settings, sizeof settings);
    cJSON *object = cli_json_read(path);
    if (!object) return false;
    *out = (cell_result){.test = cli_json_number(object, "test_error_percent"),
                         .kmeans = cli_json_number(object, "kmeans_error_percent"),
                         .valid = cli_json_number(object, "valid_error_percent"),
                         .tested = cli_json_count(object, "test_points"),
                         .seconds = cli_json_number(object, "seconds"),
                         .bytes = cli_json_number(object, "peak_bytes"),
                         .epochs = cli_json_count(object, "epochs"),
                         .best = cli_json_count(object, "best_epoch")};
    snprintf(out->device, sizeof out->device, "%s", cli_json_text(object, "device"));
    bool whole = isfinite(out->test) && !strcmp(cli_json_text(object, "settings"), settings);
    cJSON_Delete(object);
    if (whole && cell_keeps_model(at)) {
        cell_model_path(r, at, path);
        whole = access(path, R_OK) == 0;
    }
    return whole;
}

static int cell_write(const reproduction *r, cell at, const cell_result *result)
{
    char path[PATH_SIZE], settings[TEXT_SIZE], name[TEXT_SIZE];
    cli_output output = {0};
    file_path(r, at, "cells", ".json", path);
    cell_settings(r, at, settings, sizeof settings);
    cell_name(at, name, sizeof name);
    int code = cli_output_open(&output, path);
    if (code) return code;
    const struct {
        const char *name;
        double value;
    } numbers[] = {{"test_error_percent", result->test},   {"kmeans_error_percent", result->kmeans},
                   {"valid_error_percent", result->valid}, {"test_points", (double)result->tested},
                   {"seconds", result->seconds},           {"peak_bytes", result->bytes},
                   {"epochs", (double)result->epochs},     {"best_epoch", (double)result->best}};
    cli_json(output.file, "{\"cell\": %s, \"settings\": %s, \"device\": %s", name, settings, result->device);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        cli_json(output.file, ", %s: %g", numbers[i].name, numbers[i].value);
    fputs("}\n", output.file);
    return cli_output_close(&output);
}

/* ---- running ---- */

int cell_data(const reproduction *r, cell at, const char *part, enhope_context *ctx, enhope_dataset **out)
{
    enhope_source source;
    char path[2 * PATH_SIZE], split[TEXT_SIZE];
    cell_source(r, at, part, &source, path, split);
    const enhope_status status = enhope_dataset_read(ctx, &source, out);
    return status ? cli_fail(ctx, status) : 0;
}

static void name_cpu(char *buffer, size_t size)
{
    char line[256], name[80] = "cpu";
    FILE *file = fopen("/proc/cpuinfo", "r");
    while (file && fgets(line, sizeof line, file))
        if (sscanf(line, "model name : %79[^\n]", name) == 1) break;
    if (file) fclose(file);
    snprintf(buffer, size, "%s, ", name);
}

/* The first device whose name begins with name: "cuda" is cuda:0. */
static bool find_device(enhope_context *ctx, const char *name, enhope_device_info *out)
{
    for (int i = 0; i < enhope_device_count(ctx); i++)
        if (!enhope_device_get(ctx, i, out) && out->available && !strncmp(out->name, name, strlen(name))) return true;
    return false;
}

void reproduce_machine(enhope_context *ctx, const char *device, char *buffer, size_t size)
{
    const bool any = device && !strcmp(device, "auto");
    const char *name = any ? "cuda" : device ? device : "cpu";
    enhope_device_info info;
    bool found = find_device(ctx, name, &info);
    if (!found && any) found = find_device(ctx, "cpu", &info);
    snprintf(buffer, size, "%s", found ? "" : name);
    if (!found) return;
    if (!strcmp(info.name, "cpu")) name_cpu(buffer, size);
    const size_t length = strlen(buffer);
    snprintf(buffer + length, size - length, "%s", info.text);
}

static double peak_bytes(void)
{
    struct rusage usage;
    return getrusage(RUSAGE_SELF, &usage) == 0 ? 1024.0 * (double)usage.ru_maxrss : NAN;
}

static int evaluate(cli_session *s, const enhope_model *model, const enhope_dataset *test, double *percent, int64_t *n)
{
    enhope_evaluation e = {0};
    const enhope_status status = enhope_model_evaluate(s->ctx, model, test, 0, &e);
    if (status) return cli_fail(s->ctx, status);
    if (!e.n)
        return cli_error("the test part has no labeled sample of a class of the model; use data with matching classes");
    *percent = 100.0 * (double)e.errors / (double)e.n;
    *n = e.n;
    return 0;
}

static int evaluate_kmeans(cli_session *s, cell at, const enhope_dataset *test, double *percent)
{
    enhope_model *model = NULL;
    int64_t n;
    const enhope_status status =
        enhope_model_with_references(s->ctx, s->model, s->data, "kmeans", KMEANS_CENTERS, at.seed, &model);
    if (status) return cli_fail(s->ctx, status);
    const int code = evaluate(s, model, test, percent, &n);
    enhope_model_free(model);
    return code;
}

/* The recipe paper with equal weights of samples instead of pairs; settings of the plan override
 * it. */
static int make_settings(const reproduction *r, cell at, enhope_context *ctx, enhope_settings *settings)
{
    char words[TEXT_SIZE];
    plan_settings(at, words, sizeof words);
    const bool weighs = strstr(words, "weight ");
    enhope_status status = enhope_settings_set(ctx, settings, "recipe", "paper");
    const int code = status ? cli_fail(ctx, status) : cli_apply_settings(ctx, settings, words);
    if (code) return code;
    if (!weighs && enhope_settings_applies(settings, "target_weight"))
        status = enhope_settings_set(ctx, settings, "target_weight", "sample");
    if (!status && r->quick && enhope_settings_applies(settings, "time_limit"))
        status = enhope_settings_set(ctx, settings, "time_limit", quick_time);
    return status ? cli_fail(ctx, status) : 0;
}

static int train(const reproduction *r, cell at, cli_session *s, cell_result *result)
{
    cli_progress progress;
    enhope_settings *settings = enhope_settings_create();
    if (!settings) return cli_error("out of memory");
    int code = make_settings(r, at, s->ctx, settings);
    if (!code) code = cli_progress_open(&progress, true, NULL, false);
    if (!code) {
        const enhope_status status = enhope_train(s->ctx, s->data, settings, cli_progress_step, &progress, &s->model);
        result->seconds = progress.seconds;
        cli_progress_close(&progress);
        if (status == ENHOPE_STOPPED)
            code = 128 + cli_caught_signal();
        else if (status)
            code = cli_fail(s->ctx, status);
    }
    enhope_settings_free(settings);
    if (code) return code;
    enhope_model_get_info(s->model, &s->model_info);
    const enhope_history *best = cli_session_best(s);
    result->valid = best ? 100 * best->valid_error : NAN;
    result->epochs = s->model_info.epochs;
    result->best = best ? best->epoch : 0;
    result->bytes = peak_bytes();
    return 0;
}

int cell_run(const reproduction *r, cell at)
{
    const plan_row *row = plan_row_get(at.row);
    cell_result result = {.kmeans = NAN};
    cli_session s;
    enhope_dataset *test = NULL;
    char path[PATH_SIZE];
    int code = cli_session_open(&s, r->options);
    if (s.ctx) enhope_context_set_log(s.ctx, NULL, NULL);
    if (!code) reproduce_machine(s.ctx, r->options->compute.device, result.device, sizeof result.device);
    if (!code) code = cell_data(r, at, "train", s.ctx, &s.data);
    if (!code) code = train(r, at, &s, &result);
    if (!code) code = cell_data(r, at, "test", s.ctx, &test);
    if (!code) code = evaluate(&s, s.model, test, &result.test, &result.tested);
    if (!code && row->measures_kmeans) code = evaluate_kmeans(&s, at, test, &result.kmeans);
    if (!code && cell_keeps_model(at)) {
        cell_model_path(r, at, path);
        const enhope_status status = enhope_model_save(s.ctx, s.model, path);
        if (status) code = cli_fail(s.ctx, status);
    }
    if (!code) code = cell_write(r, at, &result);
    enhope_dataset_free(test);
    cli_session_close(&s);
    return code;
}
