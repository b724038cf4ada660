/* Times the classification of the test part on the cpu of one machine: with exemplars, with exact
 * neighbors in the input space, and with two other programs, faiss-flat and scikit-learn's brute
 * force. */
#define _DEFAULT_SOURCE 1
#include <cjson/cJSON.h>
#include <math.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/pool.h"
#include "reproduce.h"

enum { REPEATS = 5, NEIGHBORS = 5 };

extern char **environ;

/* Reads two files of float32 rows and prints the seconds of each program that is installed. */
static const char script[] =
    "import sys, time\n"
    "try:\n"
    "    import numpy\n"
    "except ImportError:\n"
    "    sys.exit()\n"
    "inputs, k = int(sys.argv[3]), int(sys.argv[4])\n"
    "train, test = (numpy.fromfile(name, numpy.float32).reshape(-1, inputs) for name in sys.argv[1:3])\n"
    "def best(search):\n"
    "    times = []\n"
    "    for _ in range(2):\n"
    "        start = time.perf_counter()\n"
    "        search()\n"
    "        times.append(time.perf_counter() - start)\n"
    "    return min(times)\n"
    "try:\n"
    "    import faiss\n"
    "    index = faiss.IndexFlatL2(inputs)\n"
    "    index.add(train)\n"
    "    print('faiss', best(lambda: index.search(test, k)), flush=True)\n"
    "except ImportError:\n"
    "    pass\n"
    "try:\n"
    "    from sklearn.neighbors import NearestNeighbors\n"
    "    brute = NearestNeighbors(n_neighbors=k, algorithm='brute').fit(train)\n"
    "    print('sklearn', best(lambda: brute.kneighbors(test)), flush=True)\n"
    "except ImportError:\n"
    "    pass\n";

static void speed_path(const reproduction *r, int set, const char *ending, char *path)
{
    snprintf(path, PATH_SIZE, "%s/speed/%s%s", r->folder, plan_sets[set].id, ending);
}

/* ---- result files ---- */

typedef struct field {
    const char *name;
    size_t offset;
} field;
static const field fields[] = {
    {"exemplars_seconds", offsetof(speed_result, exemplars)},
    {"exemplars_embedding_seconds", offsetof(speed_result, embedding)},
    {"dt_mcml_seconds", offsetof(speed_result, deep)},
    {"dt_mcml_embedding_seconds", offsetof(speed_result, deep_embedding)},
    {"knn_seconds", offsetof(speed_result, knn)},
    {"faiss_seconds", offsetof(speed_result, faiss)},
    {"sklearn_seconds", offsetof(speed_result, sklearn)},
    {"exemplars_error_percent", offsetof(speed_result, exemplars_error)},
    {"knn_error_percent", offsetof(speed_result, knn_error)},
};
enum { FIELDS = sizeof fields / sizeof *fields };

static double *at(speed_result *s, int i)
{
    return (double *)(void *)((char *)s + fields[i].offset);
}

/* The settings of the timed model. If they change, it is timed again. */
static void timed_settings(const reproduction *r, int set, char *buffer, size_t size)
{
    cell_settings(r, (cell){.row = plan_row_number("en-hope-20-learned"), .set = set, .seed = 1}, buffer, size);
}

bool speed_read(const reproduction *r, int set, speed_result *out)
{
    char path[PATH_SIZE], settings[TEXT_SIZE];
    if (!plan_row_get(plan_row_number("en-hope-20-learned"))->on[set]) return false; /* no model to time */
    speed_path(r, set, ".json", path);
    timed_settings(r, set, settings, sizeof settings);
    cJSON *object = cli_json_read(path);
    if (!object) return false;
    *out = (speed_result){.training = cli_json_count(object, "training_points"),
                          .test = cli_json_count(object, "test_points"),
                          .inputs = cli_json_count(object, "inputs")};
    for (int i = 0; i < FIELDS; i++) *at(out, i) = cli_json_number(object, fields[i].name);
    snprintf(out->machine, sizeof out->machine, "%s", cli_json_text(object, "machine"));
    const bool same = !strcmp(cli_json_text(object, "settings"), settings);
    cJSON_Delete(object);
    return same && isfinite(out->exemplars) && isfinite(out->knn);
}

static int speed_write(const reproduction *r, int set, speed_result *s)
{
    char path[PATH_SIZE], settings[TEXT_SIZE];
    cli_output output = {0};
    speed_path(r, set, ".json", path);
    timed_settings(r, set, settings, sizeof settings);
    const int code = cli_output_open(&output, path);
    if (code) return code;
    cli_json(output.file,
             "{\"training_points\": %lld, \"test_points\": %lld, \"inputs\": %lld, \"machine\": %s, \"settings\": %s",
             (long long)s->training, (long long)s->test, (long long)s->inputs, s->machine, settings);
    for (int i = 0; i < FIELDS; i++) cli_json(output.file, ", %s: %g", fields[i].name, *at(s, i));
    fputs("}\n", output.file);
    return cli_output_close(&output);
}

/* ---- enhope ---- */

/* The minimum of several repeats: embedding and classifying, and embedding alone unless it is
 * NULL. */
static int time_model(enhope_context *ctx, const enhope_model *model, const enhope_dataset *test, int repeats,
                      double *seconds, double *embedding, double *error)
{
    enhope_model_info info;
    enhope_dataset_info data;
    enhope_model_get_info(model, &info);
    enhope_dataset_get_info(test, &data);
    float *Y = embedding ? cli_alloc("an embedding", data.n, info.outputs, sizeof *Y) : NULL;
    if (embedding && !Y) return CLI_FAILED;
    enhope_status status = ENHOPE_OK;
    *seconds = INFINITY;
    if (embedding) *embedding = INFINITY;
    for (int i = 0; i < repeats && !status; i++) {
        enhope_evaluation e = {0};
        status = enhope_model_evaluate(ctx, model, test, 0, &e);
        *seconds = fmin(*seconds, e.seconds);
        if (error) *error = 100.0 * (double)e.errors / (double)(e.n ? e.n : 1);
        if (!embedding || status) continue;
        const double start = cli_now();
        status = enhope_model_embed(ctx, model, test, Y);
        *embedding = fmin(*embedding, cli_now() - start);
    }
    free(Y);
    return status ? cli_fail(ctx, status) : 0;
}

static int time_saved(const reproduction *r, enhope_context *ctx, int set, const char *row, const enhope_dataset *test,
                      double *seconds, double *embedding, double *error)
{
    const cell c = {.row = plan_row_number(row), .set = set, .seed = 1};
    char path[PATH_SIZE];
    enhope_model *model = NULL;
    if (!cell_keeps_model(c)) return 0;
    cell_model_path(r, c, path);
    if (access(path, R_OK) != 0) return 0;
    const enhope_status status = enhope_model_load(ctx, path, &model);
    if (status) return cli_fail(ctx, status);
    const int code = time_model(ctx, model, test, REPEATS, seconds, embedding, error);
    enhope_model_free(model);
    return code;
}

static int time_knn(enhope_context *ctx, const enhope_dataset *training, const enhope_dataset *test, speed_result *s)
{
    enhope_settings *settings = enhope_settings_create();
    enhope_model *model = NULL;
    if (!settings) return cli_error("out of memory");
    enhope_status status = enhope_settings_set(ctx, settings, "method", "knn");
    if (!status) status = enhope_train(ctx, training, settings, NULL, NULL, &model);
    const int code = status ? cli_fail(ctx, status) : time_model(ctx, model, test, 2, &s->knn, NULL, &s->knn_error);
    enhope_model_free(model);
    enhope_settings_free(settings);
    return code;
}

/* ---- other programs ---- */

static int write_floats(enhope_context *ctx, const enhope_dataset *data, const char *path)
{
    enhope_dataset_info info;
    enhope_dataset_get_info(data, &info);
    cli_output output = {0};
    float *row = cli_alloc("a row", info.inputs, 1, sizeof *row);
    if (!row) return CLI_FAILED;
    int code = cli_output_open(&output, path);
    for (int64_t i = 0; i < info.n && !code; i++) {
        const enhope_status status = enhope_dataset_row(ctx, data, i, row);
        if (status) code = cli_fail(ctx, status);
        fwrite(row, sizeof *row, (size_t)info.inputs, output.file);
    }
    if (!code) code = cli_output_close(&output);
    cli_output_abandon(&output);
    free(row);
    return code;
}

/* Reads the output of the script. If Python is missing or fails, the times remain NaN. */
static void run_script(const char *python, const char *training, const char *test, int64_t inputs, speed_result *s)
{
    char wide[32], k[16], line[128];
    int ends[2];
    snprintf(wide, sizeof wide, "%lld", (long long)inputs);
    snprintf(k, sizeof k, "%d", NEIGHBORS);
    const char *const argv[] = {python, "-c", script, training, test, wide, k, NULL};
    if (pipe(ends) != 0) return;
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
    posix_spawn_file_actions_addclose(&actions, ends[0]);
    pid_t process;
    const int failed = posix_spawnp(&process, python, &actions, NULL, (char *const *)(uintptr_t)argv, environ);
    posix_spawn_file_actions_destroy(&actions);
    close(ends[1]);
    FILE *output = fdopen(ends[0], "r");
    while (output && fgets(line, sizeof line, output)) {
        sscanf(line, "faiss %lf", &s->faiss);
        sscanf(line, "sklearn %lf", &s->sklearn);
    }
    if (output) fclose(output);
    if (!failed) waitpid(process, NULL, 0);
}

static int time_peers(const reproduction *r, int set, enhope_context *ctx, const enhope_dataset *training,
                      const enhope_dataset *test, speed_result *s)
{
    char paths[2][PATH_SIZE];
    speed_path(r, set, "-train.f32", paths[0]);
    speed_path(r, set, "-test.f32", paths[1]);
    int code = write_floats(ctx, training, paths[0]);
    if (!code) code = write_floats(ctx, test, paths[1]);
    /* packages of Debian are in its own python3, which may not be the first on PATH */
    static const char *const pythons[] = {"python3", "/usr/bin/python3"};
    for (int i = 0; i < 2 && !code && !(isfinite(s->faiss) && isfinite(s->sklearn)); i++)
        run_script(pythons[i], paths[0], paths[1], s->inputs, s);
    unlink(paths[0]);
    unlink(paths[1]);
    return code;
}

int speed_run(const reproduction *r, int set)
{
    speed_result s = {0};
    for (int i = 0; i < FIELDS; i++) *at(&s, i) = NAN;
    const cell first = {.set = set, .seed = 1};
    enhope_context *ctx = enhope_context_create();
    enhope_dataset *part[2] = {NULL, NULL};
    int code = ctx ? 0 : cli_error("out of memory");
    for (int i = 0; i < 2 && !code; i++) code = cell_data(r, first, i ? "test" : "train", ctx, &part[i]);
    if (!code) {
        enhope_dataset_info info;
        enhope_dataset_get_info(part[0], &info);
        s.training = info.n;
        s.inputs = info.inputs;
        enhope_dataset_get_info(part[1], &info);
        s.test = info.n;
        reproduce_machine(ctx, NULL, s.machine, sizeof s.machine);
        code = time_saved(r, ctx, set, "en-hope-20-learned", part[1], &s.exemplars, &s.embedding, &s.exemplars_error);
    }
    if (!code) code = time_saved(r, ctx, set, "dt-mcml", part[1], &s.deep, &s.deep_embedding, NULL);
    if (!code) code = time_knn(ctx, part[0], part[1], &s);
    if (!code) code = time_peers(r, set, ctx, part[0], part[1], &s);
    /* after a signal, the other programs have stopped too, and their times are missing */
    if (!code && !cli_caught_signal()) code = speed_write(r, set, &s);
    enhope_dataset_free(part[0]);
    enhope_dataset_free(part[1]);
    enhope_context_free(ctx);
    return code;
}
