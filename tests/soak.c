/* Mixed load in many threads for a given time: each thread reads, trains, saves, loads, exports and
 * predicts with a context of its own, and all of them share one predictor and its model. Memory and
 * descriptors must not grow.
 *
 * usage: soak SECONDS THREADS */
#define _XOPEN_SOURCE 700
#include <dirent.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "enhope_advanced.h"

enum { N = 90, H = 5, C = 3, MAX_THREADS = 64, SAMPLES = 10 };

static float X[N * H];
static int32_t LABEL[N], EXPECTED[N];
static const enhope_model *shared_model;
static const enhope_predictor *shared;
static atomic_long blocks, rounds, failures;
static atomic_bool over;

static void *count_malloc(size_t bytes)
{
    void *block = malloc(bytes);
    if (block) atomic_fetch_add(&blocks, 1);
    return block;
}

static void count_free(void *block)
{
    if (block) atomic_fetch_sub(&blocks, 1);
    free(block);
}

static enhope_status train(enhope_context *ctx, enhope_model **out)
{
    enhope_dataset *data = NULL;
    enhope_settings *s = enhope_settings_create();
    static const char *const pairs[] = {"recipe",   "paper", "n_factors", "6",    "n_hidden", "4",
                                        "n_epochs", "3",     "solver",    "adam", NULL};
    enhope_status status = s ? ENHOPE_OK : ENHOPE_ERROR_MEMORY;
    for (int i = 0; pairs[i] && !status; i += 2) status = enhope_settings_set(ctx, s, pairs[i], pairs[i + 1]);
    if (!status) status = enhope_dataset_view_f32(ctx, N, H, X, LABEL, C, NULL, &data);
    if (!status) status = enhope_train(ctx, data, s, NULL, NULL, out);
    enhope_settings_free(s);
    enhope_dataset_free(data);
    return status;
}

static enhope_status predict_shared(void)
{
    const enhope_rows rows = {.n = N, .kind = ENHOPE_F32, .values = X};
    int32_t label[N];
    const enhope_status status = enhope_predictor_label(shared, &rows, label);
    return status ? status : memcmp(label, EXPECTED, sizeof label) ? ENHOPE_ERROR_COMPUTE : ENHOPE_OK;
}

/* Also calls that fail, because a message is memory too. */
static enhope_status use_files(enhope_context *ctx, int thread)
{
    char path[64], csv[64];
    enhope_model *loaded = NULL;
    enhope_dataset *data = NULL;
    snprintf(path, sizeof path, "model-%d.safetensors", thread);
    snprintf(csv, sizeof csv, "table-%d.csv", thread);
    FILE *f = fopen(csv, "w");
    if (!f) return ENHOPE_ERROR_IO;
    for (int i = 0; i < N; i++) fprintf(f, "%g,%s,%d\n", X[i * H], i % 4 ? "red" : "blue", LABEL[i]);
    fclose(f);
    enhope_status status = enhope_model_save(ctx, shared_model, path);
    if (!status) status = enhope_model_load(ctx, path, &loaded);
    if (!status) status = enhope_dataset_read(ctx, &(enhope_source){.path = csv}, &data);
    if (!status && !enhope_model_load(ctx, csv, &loaded)) status = ENHOPE_ERROR_COMPUTE; /* it is no model */
    if (!status) {
        size_t bytes;
        status = enhope_model_export_bytes(ctx, loaded, rounds % 2 ? "onnx" : "c", NULL, NULL, 0, &bytes);
    }
    enhope_dataset_free(data);
    enhope_model_free(loaded);
    return status;
}

static void *work(void *number)
{
    const int thread = (int)(intptr_t)number;
    for (long round = 0; !over; round++) {
        enhope_context *ctx = enhope_context_create();
        enhope_model *model = NULL;
        enhope_status status = enhope_context_set_threads(ctx, 1);
        for (int i = 0; i < 50 && !status; i++) status = predict_shared();
        if (!status && round % 5 == 0) status = train(ctx, &model);
        if (!status) status = use_files(ctx, thread);
        if (status) {
            fprintf(stderr, "soak: thread %d, round %ld: %s\n", thread, round, enhope_error(ctx));
            atomic_fetch_add(&failures, 1);
        }
        enhope_model_free(model);
        enhope_context_free(ctx);
        atomic_fetch_add(&rounds, 1);
    }
    return NULL;
}

static long descriptors(void)
{
    long n = 0;
    DIR *folder = opendir("/proc/self/fd");
    while (folder && readdir(folder)) n++;
    if (folder) closedir(folder);
    return n;
}

static long resident_kilobytes(void)
{
    long pages = 0;
    FILE *f = fopen("/proc/self/statm", "r");
    if (!f || fscanf(f, "%*d %ld", &pages) != 1) pages = 0;
    if (f) fclose(f);
    return pages * (sysconf(_SC_PAGESIZE) / 1024);
}

static void sleep_for(double seconds)
{
    nanosleep(&(struct timespec){(time_t)seconds, (long)((seconds - (double)(time_t)seconds) * 1e9)}, NULL);
}

/* Memory may grow by 5 % and 4 MB after the first fifth of the time. */
static int evaluate(const long *memory, long first_fd, long first_blocks)
{
    const long limit = memory[SAMPLES / 5] + memory[SAMPLES / 5] / 20 + 4096, fds = descriptors();
    int bad = 0;
    if (memory[SAMPLES - 1] > limit) bad = printf("memory grew beyond %ld kB\n", limit);
    if (fds != first_fd) bad = printf("%ld descriptors are open, %ld at the beginning\n", fds, first_fd);
    if (blocks != first_blocks) bad = printf("%ld blocks are left\n", blocks - first_blocks);
    return bad || failures ? 1 : 0;
}

int main(int argc, char **argv)
{
    if (argc != 3 || atoi(argv[2]) < 1 || atoi(argv[2]) > MAX_THREADS) {
        fprintf(stderr, "usage: %s SECONDS THREADS (1 to %d)\n", argv[0], MAX_THREADS);
        return 2;
    }
    const double seconds = atof(argv[1]);
    const int threads = atoi(argv[2]);
    enhope_set_allocator(count_malloc, count_free);
    enhope_context *ctx = enhope_context_create();
    enhope_model *model = NULL;
    enhope_predictor *predictor = NULL;
    for (int i = 0; i < N * H; i++) X[i] = (float)((i / H % C == i % H ? 2.385 : 0) + (i * 37 % 101) / 101.0);
    for (int i = 0; i < N; i++) LABEL[i] = i % C;
    if (enhope_context_set_threads(ctx, 1) || train(ctx, &model) ||
        enhope_predictor_create(ctx, model, NULL, &predictor) ||
        enhope_predictor_label(predictor, &(enhope_rows){.n = N, .kind = ENHOPE_F32, .values = X}, EXPECTED)) {
        fprintf(stderr, "soak: %s\n", enhope_error(ctx));
        return 1;
    }
    shared_model = model, shared = predictor;
    const long first_fd = descriptors(), first_blocks = blocks;
    long memory[SAMPLES];
    pthread_t thread[MAX_THREADS];
    for (int i = 0; i < threads; i++)
        if (pthread_create(&thread[i], NULL, work, (void *)(intptr_t)i)) return 1;
    for (int i = 0; i < SAMPLES; i++) {
        sleep_for(seconds / SAMPLES);
        memory[i] = resident_kilobytes();
        printf("%.0f s: %ld rounds, %ld kB, %ld blocks\n", seconds * (i + 1) / SAMPLES, (long)rounds, memory[i],
               (long)blocks);
        fflush(stdout);
    }
    over = true;
    for (int i = 0; i < threads; i++) pthread_join(thread[i], NULL);
    const int code = evaluate(memory, first_fd, first_blocks);
    printf("%ld rounds in %d threads, %ld failures\n", (long)rounds, threads, (long)failures);
    enhope_predictor_free(predictor);
    enhope_model_free(model);
    enhope_context_free(ctx);
    return code;
}
