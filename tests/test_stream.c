/* Training on streamed data: the batches of epochs, the results of training, and failures. */
#define _XOPEN_SOURCE 700
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "train_support.h"

#include "train/stream/windows.h"

enum { N = 3000, H = 8, C = 3, LITTLE = 200 << 10 }; /* this memory makes six windows */

static float X[N * H], NUMBERED[N * H];
static int32_t LABEL[N];
static int64_t row_start[N + 1];
static int32_t column[N * H];
static char folder[] = "/tmp/enhope-stream-XXXXXX";

/* The first input is the row number where a test needs it. Every 50th row has no label. */
static int make_rows(void **state)
{
    (void)state;
    ctx = enhope_context_create();
    for (int i = 0; i < N; i++) {
        LABEL[i] = i % 50 == 49 ? -1 : i * C / N; /* sorted by class in the file */
        for (int j = 0; j < H; j++) {
            const double centre = j == LABEL[i] ? 2.5 : 0;
            X[i * H + j] = (float)(centre + eh_random_normal(3, 1, (uint64_t)(i * H + j)));
            NUMBERED[i * H + j] = j ? X[i * H + j] : (float)i;
            column[i * H + j] = j;
        }
        row_start[i + 1] = row_start[i] + H;
    }
    return !ctx || !mkdtemp(folder);
}

static int free_rows(void **state)
{
    (void)state;
    enhope_context_free(ctx);
    return rmdir(folder);
}

/* Data with a store, as readers return it: no values, no labels. */
typedef struct streamed {
    enhope_dataset *whole;
    enhope_dataset data;
} streamed;

static streamed stream_of(enhope_dataset *whole)
{
    streamed s = {whole, *whole};
    s.data.x = (eh_matrix){.kind = whole->x.kind, .n = whole->x.n, .H = whole->x.H};
    s.data.label = NULL;
    s.data.store = NULL;
    if (eh_store_from_dataset(ctx, whole, &s.data.store)) fail_msg("%s", enhope_error(ctx));
    return s;
}

static void close_stream(streamed *s)
{
    eh_store_free(s->data.store);
    enhope_dataset_free(s->whole);
}

static streamed stream_dense(const float *x)
{
    enhope_dataset *whole = NULL;
    assert_int_equal(enhope_dataset_view_f32(ctx, N, H, x, LABEL, C, NULL, &whole), ENHOPE_OK);
    return stream_of(whole);
}

static streamed stream_sparse(const float *x)
{
    enhope_dataset *whole = NULL;
    assert_int_equal(enhope_dataset_view_csr(ctx, N, H, row_start, column, x, LABEL, C, NULL, &whole), ENHOPE_OK);
    return stream_of(whole);
}

static enhope_trainer *trainer_of(const enhope_dataset *data, enhope_settings *s)
{
    enhope_trainer *t = NULL;
    ctx->memory = LITTLE;
    if (enhope_trainer_create(ctx, NULL, data, s, &t)) fail_msg("%s", enhope_error(ctx));
    enhope_settings_free(s);
    return t;
}

/* The row of the file for a row of the trainer. */
static int64_t number_of(const enhope_trainer *t, int64_t row)
{
    float values[H];
    eh_matrix_row(t->samples.x, row, values);
    return (int64_t)values[0];
}

/* Chunk p of a batch has rows of runs p, p + chunks, ... of the window. */
static void check_chunk(const enhope_trainer *t, const int64_t *rows, int64_t p)
{
    const eh_windows *w = t->windows;
    for (int64_t i = t->batches.chunk_start[p]; i < t->batches.chunk_start[p + 1]; i++) {
        int64_t at = w->now->first, run = -1;
        while (at <= rows[i]) at += eh_run_rows(w, w->now->run[++run]);
        assert_int_equal(run % t->batches.chunks.count, p);
    }
}

/* The rows of a batch, by their numbers in the file. */
static int64_t batch_of(enhope_trainer *t, int64_t epoch, int64_t number, int64_t *numbers, uint64_t *pass)
{
    eh_batch batch;
    if (eh_batches_get(&t->batches, epoch, number, &batch)) fail_msg("%s", enhope_error(ctx));
    assert_in_range(batch.n, 1, t->loss.batch_max);
    const int64_t *rows = (const int64_t *)batch.rows;
    for (int64_t i = 0; i < batch.n; i++) {
        numbers[i] = number_of(t, rows[i]);
        assert_int_equal(((const int32_t *)batch.label)[i], LABEL[numbers[i]]);
    }
    for (int64_t p = 0; p < t->batches.chunks.count; p++) check_chunk(t, rows, p);
    assert_int_equal(batch.chunk_start[t->batches.chunks.count], batch.n);
    if (pass) *pass = batch.pass;
    return batch.n;
}

static void check_epochs(streamed s, const char *parts)
{
    enhope_trainer *t = trainer_of(&s.data, with("validation_fraction", "0.1", "n_chunks", parts, NULL));
    static char seen[N];
    static int64_t order[2][N], passes[2];
    int64_t valid = 0, classes[C] = {0};
    memset(seen, 0, sizeof seen);
    assert_in_range(t->windows->count, 3, 20);
    for (int64_t i = 0; i < t->samples.valid_n; i++) {
        const int64_t number = number_of(t, t->samples.rows[t->samples.resident_n + i]);
        assert_int_equal(seen[number], 0);
        seen[number] = 3, valid++, classes[LABEL[number]]++;
    }
    for (int k = 0; k < C; k++) assert_in_range(classes[k], valid / C - 1, valid / C + 2);
    for (int epoch = 0; epoch < 2; epoch++) {
        int64_t count = 0;
        uint64_t pass = 0, before = 1u << 30;
        for (int64_t b = 0; b < t->batches.count; b++, before = pass) {
            const int64_t n = batch_of(t, epoch, b, order[epoch] + count, &pass);
            for (int64_t i = count; i < count + n; i++) assert_int_equal(seen[order[epoch][i]]++, epoch);
            count += n;
            passes[epoch] += pass != before;
        }
        assert_int_equal(count, t->samples.n);
        assert_int_equal(passes[epoch], t->windows->count);
        passes[epoch] = 0;
    }
    for (int i = 0; i < N; i++) assert_int_equal(seen[i], LABEL[i] < 0 ? 0 : seen[i] == 3 ? 3 : 2);
    assert_memory_not_equal(order[0], order[1], (size_t)t->samples.n * sizeof **order);
    enhope_trainer_free(t);
    close_stream(&s);
}

static void an_epoch_has_every_training_sample_once(void **state)
{
    (void)state;
    check_epochs(stream_dense(NUMBERED), "1");
    check_epochs(stream_dense(NUMBERED), "5");
    check_epochs(stream_sparse(NUMBERED), "3");
}

/* Any batch may follow any other, also if the window that was read in advance is not used. */
static void any_batch_may_come_next(void **state)
{
    (void)state;
    streamed s = stream_dense(NUMBERED);
    enhope_trainer *t = trainer_of(&s.data, with("n_epochs", "3", NULL)), *u = NULL;
    static int64_t walked[3][N], jumped[N];
    int64_t start[3][N], sizes[3][N];
    for (int epoch = 0; epoch < 3; epoch++)
        for (int64_t b = 0, at = 0; b < t->batches.count; b++, at += sizes[epoch][b - 1]) {
            start[epoch][b] = at;
            sizes[epoch][b] = batch_of(t, epoch, b, walked[epoch] + at, NULL);
        }
    u = trainer_of(&s.data, with("n_epochs", "3", NULL));
    for (int trial = 0; trial < 40; trial++) {
        const int64_t epoch = trial * 7 % 3, b = trial * 11 % t->batches.count;
        assert_int_equal(batch_of(u, epoch, b, jumped, NULL), sizes[epoch][b]);
        assert_memory_equal(jumped, walked[epoch] + start[epoch][b], (size_t)sizes[epoch][b] * sizeof *jumped);
    }
    enhope_trainer_free(t);
    enhope_trainer_free(u);
    close_stream(&s);
}

static double error_on(const enhope_model *m, const float *x)
{
    enhope_dataset *data = NULL;
    enhope_evaluation found = {0};
    assert_int_equal(enhope_dataset_view_f32(ctx, N, H, x, LABEL, C, NULL, &data), ENHOPE_OK);
    if (enhope_model_evaluate(ctx, m, data, 0, &found)) fail_msg("%s", enhope_error(ctx));
    enhope_dataset_free(data);
    return (double)found.errors / (double)found.n;
}

static enhope_model *trained(const enhope_dataset *data, const char *exemplars, const char *device, int threads)
{
    ctx->memory = LITTLE;
    on(device);
    assert_int_equal(enhope_context_set_threads(ctx, threads), ENHOPE_OK);
    return train(data, with("solver", "adam", "learning_rate", "0.02", "n_epochs", "8", "exemplars", exemplars, "noise",
                            "0.1", NULL));
}

static void windows_train_as_well_as_memory(void **state)
{
    (void)state;
    static const char *const starts[] = {"random", "kmeans", "learned"};
    streamed s = stream_dense(X), sparse = stream_sparse(X);
    for (int i = 0; i < 3; i++) {
        const enhope_dataset *from[] = {s.whole, &s.data, &sparse.data};
        double error[3];
        for (int k = 0; k < 3; k++) {
            enhope_model *m = trained(from[k], starts[i], "cpu", 2);
            error[k] = error_on(m, X);
            assert_true(m->errors.train_n > 150 && m->errors.valid_n > 150);
            enhope_model_free(m);
        }
        print_message("%s: %g in memory, %g in windows, %g sparse\n", starts[i], error[0], error[1], error[2]);
        for (int k = 1; k < 3; k++) assert_true(error[k] < error[0] + 0.03);
    }
    close_stream(&s);
    close_stream(&sparse);
}

static void same_bytes(const enhope_model *a, const enhope_model *b)
{
    size_t size[2];
    const enhope_model *m[2] = {a, b};
    void *bytes[2];
    for (int i = 0; i < 2; i++) {
        assert_int_equal(enhope_model_save_bytes(ctx, m[i], NULL, 0, &size[i]), ENHOPE_OK);
        bytes[i] = malloc(size[i]);
        assert_int_equal(enhope_model_save_bytes(ctx, m[i], bytes[i], size[i], &size[i]), ENHOPE_OK);
    }
    assert_int_equal(size[0], size[1]);
    assert_memory_equal(bytes[0], bytes[1], size[0]);
    free(bytes[0]), free(bytes[1]);
}

static void runs_are_byte_identical_for_any_number_of_threads(void **state)
{
    (void)state;
    streamed s = stream_dense(X);
    enhope_model *first = trained(&s.data, "kmeans", "cpu", 1);
    for (int threads = 1; threads <= 3; threads++) {
        enhope_model *m = trained(&s.data, "kmeans", "cpu", threads);
        same_bytes(first, m);
        enhope_model_free(m);
    }
    enhope_model_free(first);
    close_stream(&s);
    assert_int_equal(enhope_context_set_threads(ctx, 0), ENHOPE_OK);
}

/* A run that is interrupted anywhere is resumed by another trainer, but not by one with other
 * windows. */
static void a_resumed_run_is_byte_identical(void **state)
{
    (void)state;
    streamed s = stream_dense(X);
    char path[64];
    snprintf(path, sizeof path, "%s/checkpoint", folder);
    enhope_model *whole = NULL;
    enhope_trainer *t =
        trainer_of(&s.data, with("solver", "adam", "n_epochs", "3", "noise", "0.1", "aux_components", "4", NULL));
    assert_int_equal(enhope_trainer_run(t, NULL, NULL), ENHOPE_OK);
    assert_int_equal(enhope_trainer_model(t, &whole), ENHOPE_OK);
    const int64_t batches = t->batches.count;
    enhope_trainer_free(t);
    for (int64_t stop = 1; stop < 3 * batches; stop += 7) {
        enhope_model *m = NULL;
        int done;
        t = trainer_of(&s.data, with("solver", "adam", "n_epochs", "3", "noise", "0.1", "aux_components", "4", NULL));
        for (int64_t i = 0; i < stop; i++) assert_int_equal(enhope_trainer_step(t, NULL, &done), ENHOPE_OK);
        assert_int_equal(enhope_trainer_checkpoint(t, path), ENHOPE_OK);
        enhope_trainer_free(t);
        t = trainer_of(&s.data, with("solver", "adam", "n_epochs", "3", "noise", "0.1", "aux_components", "4", NULL));
        if (enhope_trainer_resume(t, path)) fail_msg("%s", enhope_error(ctx));
        assert_int_equal(enhope_trainer_run(t, NULL, NULL), ENHOPE_OK);
        assert_int_equal(enhope_trainer_model(t, &m), ENHOPE_OK);
        same_bytes(whole, m);
        enhope_model_free(m);
        enhope_trainer_free(t);
    }
    enhope_settings *set = with("solver", "adam", "n_epochs", "3", "noise", "0.1", "aux_components", "4", NULL);
    ctx->memory = 2 * LITTLE;
    assert_int_equal(enhope_trainer_create(ctx, NULL, &s.data, set, &t), ENHOPE_OK);
    assert_int_equal(enhope_trainer_resume(t, path), ENHOPE_ERROR_DATA);
    assert_non_null(strstr(enhope_error(ctx), "other windows of the data"));
    enhope_trainer_free(t);
    enhope_settings_free(set);
    enhope_model_free(whole);
    close_stream(&s);
    unlink(path);
}

/* Classes are matched by name: the model has the last two of three. */
static void a_model_is_updated_with_streamed_data(void **state)
{
    (void)state;
    static const char *const names[C] = {"new", "old", "older"};
    static int32_t two[N];
    enhope_dataset *few = NULL, *whole = NULL;
    for (int i = 0; i < N; i++) two[i] = LABEL[i] > 0 ? LABEL[i] - 1 : -1;
    assert_int_equal(enhope_dataset_view_f32(ctx, N, H, X, two, 2, names + 1, &few), ENHOPE_OK);
    assert_int_equal(enhope_dataset_view_f32(ctx, N, H, X, LABEL, C, names, &whole), ENHOPE_OK);
    streamed s = stream_of(whole);
    enhope_model *first = trained(few, "kmeans", "cpu", 0), *m = NULL;
    enhope_settings *set = with("solver", "adam", "learning_rate", "0.02", "n_epochs", "8", NULL);
    enhope_evaluation found = {0};
    ctx->memory = LITTLE;
    if (enhope_model_update(ctx, first, &s.data, set, NULL, NULL, &m)) fail_msg("%s", enhope_error(ctx));
    assert_int_equal(enhope_model_evaluate(ctx, m, whole, 0, &found), ENHOPE_OK);
    assert_true(found.errors < found.n / 10);
    enhope_settings_free(set);
    enhope_model_free(first);
    enhope_model_free(m);
    enhope_dataset_free(few);
    close_stream(&s);
}

/* A new class would have 400 exemplars like the others, but has fewer resident samples. */
static void new_classes_have_exemplars_from_resident_samples(void **state)
{
    (void)state;
    static const char *const names[C] = {"old", "older", "new"};
    static int32_t two[N];
    enhope_dataset *few = NULL, *whole = NULL;
    enhope_model *first = NULL;
    for (int i = 0; i < N; i++) two[i] = LABEL[i] < 2 ? LABEL[i] : -1;
    assert_int_equal(enhope_dataset_view_f32(ctx, N, H, X, two, 2, names, &few), ENHOPE_OK);
    assert_int_equal(enhope_dataset_view_f32(ctx, N, H, X, LABEL, C, names, &whole), ENHOPE_OK);
    enhope_settings *set = with("n_exemplars", "800", "n_epochs", "1", NULL);
    ctx->memory = 0;
    if (enhope_train(ctx, few, set, NULL, NULL, &first)) fail_msg("%s", enhope_error(ctx));
    enhope_settings_free(set);
    streamed s = stream_of(whole);
    enhope_trainer *t = NULL;
    ctx->memory = LITTLE;
    if (enhope_trainer_create(ctx, first, &s.data, NULL, &t)) fail_msg("%s", enhope_error(ctx));
    assert_int_equal(t->parameters.z - 800, t->samples.class_resident[2]);
    assert_in_range(t->samples.class_resident[2], 1, 399);
    enhope_trainer_free(t);
    enhope_model_free(first);
    enhope_dataset_free(few);
    close_stream(&s);
}

/* The thread ends whenever training ends. */
static void a_trainer_may_be_freed_at_any_moment(void **state)
{
    (void)state;
    streamed s = stream_dense(X);
    int done;
    for (int steps = 0; steps < 24; steps++) {
        enhope_trainer *t = trainer_of(&s.data, with("solver", "adam", NULL));
        for (int i = 0; i < steps; i++) assert_int_equal(enhope_trainer_step(t, NULL, &done), ENHOPE_OK);
        enhope_trainer_free(t);
    }
    close_stream(&s);
}

static void refused(const enhope_dataset *data, enhope_settings *s, const char *part)
{
    enhope_trainer *t = NULL;
    ctx->memory = LITTLE;
    assert_int_not_equal(enhope_trainer_create(ctx, NULL, data, s, &t), ENHOPE_OK);
    if (!strstr(enhope_error(ctx), part)) fail_msg("%s", enhope_error(ctx));
    enhope_settings_free(s);
}

static void methods_that_cannot_stream_are_refused(void **state)
{
    (void)state;
    streamed s = stream_dense(X);
    refused(&s.data, with("method", "hope", NULL), "hope cannot stream and the data exceeds --memory");
    refused(&s.data, with("method", "pca", NULL), "pca cannot stream and the data exceeds --memory");
    refused(&s.data, with("method", "knn", NULL), "knn cannot stream and the data exceeds --memory");
    refused(&s.data, with("batch_size", "2000", NULL), "batch_size is 2000: a window of streamed data has about");
    refused(&s.data, with("batch_size", "0", NULL), "batch_size is 0");
    refused(&s.data, with("n_exemplars", "1500", NULL), "n_exemplars is 1500: streamed data has");
    s.data.store->labeled = false;
    refused(&s.data, with(NULL), "the data has no labels");
    close_stream(&s);
}

/* ---- files ---- */

static void put(FILE *f, const void *bytes, size_t size)
{
    assert_int_equal(fwrite(bytes, 1, size, f), size);
}

/* An NPY header of 128 bytes. */
static FILE *open_npy(const char *path, const char *type, const char *shape)
{
    FILE *f = fopen(path, "wb");
    char header[129];
    snprintf(header, sizeof header, "\x93NUMPY\1%c%c%c{'descr': '%s', 'fortran_order': False, 'shape': (%s), }", 0, 118,
             0, type, shape);
    char *text = header + 10;
    memset(text + strlen(text), ' ', 128 - 10 - strlen(text));
    header[6] = 1, header[7] = 0, header[8] = 118, header[9] = 0;
    header[127] = '\n';
    put(f, header, 128);
    return f;
}

static void a_truncated_file_gives_a_message_and_can_be_restored(void **state)
{
    (void)state;
    char x[64], y[64];
    snprintf(x, sizeof x, "%s/x.npy", folder), snprintf(y, sizeof y, "%s/y.npy", folder);
    FILE *f = open_npy(x, "<f4", "3000, 8");
    put(f, X, sizeof X), fclose(f);
    f = open_npy(y, "|i1", "3000,");
    for (int i = 0; i < N; i++) put(f, &(int8_t){(int8_t)(i % C)}, 1);
    fclose(f);
    enhope_dataset *data = eh_alloc(1, sizeof *data);
    if (eh_store_open_pair(ctx, x, y, data, &data->store)) fail_msg("%s", enhope_error(ctx));
    assert_non_null(data->store);
    enhope_trainer *t = trainer_of(data, with("solver", "adam", NULL));
    for (int64_t i = 0; i < t->windows->resident.n; i++) {
        const int64_t row = t->windows->resident.row[i];
        assert_memory_equal(t->windows->block.x.f32 + i * H, X + row * H, H * sizeof *X);
        assert_int_equal(t->windows->block.label[i], row % C);
    }
    enhope_status status = ENHOPE_OK;
    int done = 0, steps = 0;
    assert_int_equal(enhope_trainer_step(t, NULL, &done), ENHOPE_OK);
    assert_int_equal(truncate(x, 128 + 20 * H * 4), 0);
    while (!status && steps++ < 100) status = enhope_trainer_step(t, NULL, &done);
    assert_in_range(steps, 1, t->batches.count);
    print_message("%s\n", enhope_error(ctx));
    assert_non_null(strstr(enhope_error(ctx), "x.npy"));
    const int64_t batch = t->state.batch;
    assert_int_equal(enhope_trainer_step(t, NULL, &done), status);
    f = open_npy(x, "<f4", "3000, 8");
    put(f, X, sizeof X), fclose(f);
    if (enhope_trainer_step(t, NULL, &done)) fail_msg("%s", enhope_error(ctx));
    assert_int_equal(t->state.batch, batch + 1);
    enhope_trainer_free(t);
    eh_store_free(data->store);
    data->store = NULL;
    enhope_dataset_free(data);
    unlink(x), unlink(y);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_epoch_has_every_training_sample_once),
        cmocka_unit_test(any_batch_may_come_next),
        cmocka_unit_test(windows_train_as_well_as_memory),
        cmocka_unit_test(runs_are_byte_identical_for_any_number_of_threads),
        cmocka_unit_test(a_resumed_run_is_byte_identical),
        cmocka_unit_test(a_model_is_updated_with_streamed_data),
        cmocka_unit_test(new_classes_have_exemplars_from_resident_samples),
        cmocka_unit_test(a_trainer_may_be_freed_at_any_moment),
        cmocka_unit_test(methods_that_cannot_stream_are_refused),
        cmocka_unit_test(a_truncated_file_gives_a_message_and_can_be_restored),
    };
    return cmocka_run_group_tests(tests, make_rows, free_rows);
}
