/* Checkpoints: an interrupted and resumed run produces a model that is byte-identical to that of
 * a complete run. */
#define _XOPEN_SOURCE 700
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "blobs_support.h"
#include "memory_support.h"
#include "train_support.h"

static char path[] = "/tmp/enhope-checkpoint-XXXXXX";

typedef struct bytes {
    void *data;
    size_t size;
} bytes;

/* The file of the trainer's model, in memory; frees the trainer. */
static bytes finish(enhope_trainer *t)
{
    bytes b = {0};
    enhope_model *m = NULL;
    if (enhope_trainer_run(t, NULL, NULL) || enhope_trainer_model(t, &m)) fail_msg("%s", enhope_error(ctx));
    assert_int_equal(enhope_model_save_bytes(ctx, m, NULL, 0, &b.size), 0);
    b.data = malloc(b.size);
    assert_int_equal(enhope_model_save_bytes(ctx, m, b.data, b.size, &b.size), 0);
    enhope_model_free(m);
    enhope_trainer_free(t);
    return b;
}

static enhope_trainer *trainer(const enhope_model *from, const enhope_dataset *data, const enhope_settings *s)
{
    enhope_trainer *t = NULL;
    if (enhope_trainer_create(ctx, from, data, s, &t)) fail_msg("%s", enhope_error(ctx));
    return t;
}

static void run_steps(enhope_trainer *t, int64_t steps)
{
    int done = 0;
    for (int64_t i = 0; i < steps && !done; i++) assert_int_equal(enhope_trainer_step(t, NULL, &done), 0);
}

static void resume(enhope_trainer *t)
{
    if (enhope_trainer_resume(t, path)) fail_msg("%s", enhope_error(ctx));
}

static void assert_same(bytes a, bytes b)
{
    assert_int_equal(a.size, b.size);
    assert_memory_equal(a.data, b.data, a.size);
    free(b.data);
}

/* Interrupts training after `steps` steps, and again after one more. */
static void interrupt(const enhope_model *from, const enhope_dataset *data, const enhope_settings *s, int64_t steps,
                      bytes whole)
{
    enhope_trainer *t = trainer(from, data, s);
    run_steps(t, steps);
    if (enhope_trainer_checkpoint(t, path)) fail_msg("%s", enhope_error(ctx));
    run_steps(t, 2); /* steps after the checkpoint are lost */
    enhope_trainer_free(t);
    t = trainer(from, data, s);
    resume(t);
    run_steps(t, 1);
    if (enhope_trainer_checkpoint(t, path)) fail_msg("%s", enhope_error(ctx));
    assert_same(whole, finish(t)); /* writing a checkpoint changes nothing */
    assert_int_equal(enhope_context_set_threads(ctx, 3), 0);
    t = trainer(from, data, s);
    resume(t);
    assert_same(whole, finish(t));
    assert_int_equal(enhope_context_set_threads(ctx, 2), 0);
}

static void an_interrupted_run_resumes_to_a_byte_identical_model(void **state)
{
    (void)state;
    static const char *const cases[][9] = {
        {"solver", "adam", "noise", "0.2", "dropout", "0.1", NULL},
        {"solver", "adam", "exemplars", "learned", "adversarial_step", "0.1", "validation_fraction", "0.2", NULL},
        {"solver", "adam", "exemplars", "learned", "adversarial_step", "0.1", "aux_components", "4", NULL},
        {"solver", "cg", "exemplars", "learned", "noise", "0.1", NULL},
        {"solver", "lbfgs", "exemplars", "random", "validation_fraction", "0.3", "patience", "2", NULL},
        {"method", "hope", "solver", "adam", NULL},
        {"method", "lmnn", "solver", "cg", NULL},
        {"method", "snc", "solver", "adam", "exemplars", "learned", NULL},
        {"method", "pt-sne", "solver", "adam", NULL},
        {"method", "en-tsne", "solver", "adam", NULL},
        {"method", "deep-en-hope", "label_smoothing", "0.1", "class_weight", "balanced", NULL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (int sparse = 0; sparse < 2; sparse++) {
            const enhope_dataset *data = sparse ? sparse_blobs : blobs;
            const char *const *c = cases[i]; /* the first NULL ends the list */
            enhope_settings *s =
                with("n_epochs", "5", "batch_size", "70", c[0], c[1], c[2], c[3], c[4], c[5], c[6], c[7], NULL);
            const bytes whole = finish(trainer(NULL, data, s));
            for (int64_t steps = 0; steps < 22; steps += 3) interrupt(NULL, data, s, steps, whole);
            free(whole.data);
            enhope_settings_free(s);
        }
}

static void an_interrupted_update_resumes_as_well(void **state)
{
    (void)state;
    enhope_settings *s = with("n_epochs", "4", "solver", "adam", "exemplars", "learned", NULL);
    enhope_model *model = train(blobs, with("n_epochs", "3", NULL)), *other = train(blobs, with("n_epochs", "2", NULL));
    static const char *const grown[] = {"0", "1", "new"};
    enhope_dataset *more = NULL;
    assert_int_equal(enhope_dataset_view_f32(ctx, N, H, X, LABEL, C, grown, &more), 0);
    const bytes whole = finish(trainer(model, more, s));
    for (int64_t steps = 0; steps < 13; steps += 4) interrupt(model, more, s, steps, whole);
    enhope_trainer *t = trainer(other, more, s);
    assert_int_equal(enhope_trainer_resume(t, path), ENHOPE_ERROR_DATA);
    assert_non_null(strstr(enhope_error(ctx), "continues another model"));
    enhope_trainer_free(t);
    free(whole.data);
    enhope_model_free(model), enhope_model_free(other);
    enhope_dataset_free(more);
    enhope_settings_free(s);
}

/* A stop function of line searches that writes one checkpoint, as a progress function may. */
static int64_t calls, write_at;
static bool write_within(void *user)
{
    enhope_trainer *t = user;
    if (calls++ != write_at) return false;
    eh_compute_end(t->cp);
    if (enhope_trainer_checkpoint(t, path)) fail_msg("%s", enhope_error(ctx));
    eh_compute_begin(t->cp);
    t->run.stopping = true;
    return eh_train_stop(t);
}

static void a_checkpoint_within_a_batch_has_the_state_before_it(void **state)
{
    (void)state;
    enhope_settings *s = with("n_epochs", "3", "solver", "cg", "exemplars", "learned", NULL);
    const bytes whole = finish(trainer(NULL, blobs, s));
    for (write_at = 0; write_at < 25; write_at += 4) {
        enhope_trainer *t = trainer(NULL, blobs, s);
        int done = 0;
        calls = 0;
        t->optim->stop = write_within;
        while (!done && !t->run.stopping) assert_int_equal(enhope_trainer_step(t, NULL, &done), 0);
        assert_true(t->run.stopping);
        assert_int_equal(enhope_trainer_checkpoint(t, path), ENHOPE_ERROR_ARGUMENT);
        assert_non_null(strstr(enhope_error(ctx), "the last batch was interrupted"));
        enhope_trainer_free(t);
        t = trainer(NULL, blobs, s);
        resume(t);
        assert_same(whole, finish(t));
    }
    free(whole.data);
    enhope_settings_free(s);
}

static void refused(const enhope_dataset *data, enhope_settings *s, enhope_status expected, const char *message)
{
    enhope_trainer *t = trainer(NULL, data, s);
    assert_int_equal(enhope_trainer_resume(t, path), expected);
    if (!strstr(enhope_error(ctx), message)) fail_msg("'%s' is not in '%s'", message, enhope_error(ctx));
    assert_int_equal(t->state.epoch + t->state.batch, 0);
    enhope_trainer_free(t);
    enhope_settings_free(s);
}

/* A checkpoint after four batches. */
static void keep_four(const enhope_settings *s)
{
    enhope_trainer *t = trainer(NULL, blobs, s);
    run_steps(t, 4);
    assert_int_equal(enhope_trainer_checkpoint(t, path), 0);
    enhope_trainer_free(t);
}

static void other_settings_or_data_are_refused_by_name(void **state)
{
    (void)state;
    enhope_settings *s = with("solver", "adam", NULL);
    keep_four(s);
    enhope_settings_free(s);
    refused(blobs, with("solver", "adam", "learning_rate", "0.001", NULL), ENHOPE_ERROR_ARGUMENT,
            "rate was 0.003 in the checkpoint and is 0.001 now");
    refused(blobs, with("solver", "adam", "n_epochs", "26", NULL), ENHOPE_ERROR_ARGUMENT,
            "epochs was 25 in the checkpoint and is 26 now");
    refused(blobs, with("solver", "cg", NULL), ENHOPE_ERROR_ARGUMENT,
            "solver was adam in the checkpoint and is cg now");
    refused(blobs, with("solver", "adam", "method", "hope", NULL), ENHOPE_ERROR_ARGUMENT,
            "method was en-hope in the checkpoint and is hope now");
    refused(sparse_blobs, with("solver", "adam", NULL), ENHOPE_ERROR_DATA,
            "values stored as sparse rows, floats before");
    static const char *const others[] = {"a", "b", "c"};
    const struct {
        int64_t n, width;
        int label, value;
        const char *const *names;
        const char *message;
    } cases[] = {
        {N - 1, H, 0, 0, NULL, "299 samples, 300 before"},
        {N, H - 1, 0, 0, NULL, "5 inputs, 6 before"},
        {N, H, 1, 0, NULL, "other labels"},
        {N, H, 0, 1, NULL, "other values"},
        {N, H, 0, 0, others, "other class names"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        static float x[N * H];
        static int32_t label[N];
        enhope_dataset *data = NULL;
        memcpy(x, X, sizeof x);
        memcpy(label, LABEL, sizeof label);
        if (cases[i].label) label[5] = (label[5] + 1) % C;
        if (cases[i].value) x[N * H - 1] += 0.125f;
        assert_int_equal(enhope_dataset_view_f32(ctx, cases[i].n, cases[i].width, x, label, C, cases[i].names, &data),
                         0);
        refused(data, with("solver", "adam", NULL), ENHOPE_ERROR_DATA, cases[i].message);
        enhope_dataset_free(data);
    }
    /* time may change; it counts over all runs */
    s = with("solver", "adam", "time_limit", "1e-9", NULL);
    enhope_trainer *t = trainer(NULL, blobs, s);
    resume(t);
    assert_true(t->done);
    assert_int_equal(t->state.epoch * t->batches.count + t->state.batch, 4);
    enhope_trainer_free(t);
    enhope_settings_free(s);
}

static void any_damage_is_detected(void **state)
{
    (void)state;
    enhope_settings *s = with("solver", "adam", NULL);
    keep_four(s);
    FILE *file = fopen(path, "rb");
    static unsigned char good[1 << 20], bad[1 << 20];
    const size_t size = fread(good, 1, sizeof good, file);
    assert_true(size > 1000 && size < sizeof good);
    fclose(file);
    enhope_trainer *t = trainer(NULL, blobs, s);
    for (int i = 0; i < 200; i++) {
        const size_t at = eh_random_u64(3, 1, (uint64_t)i) % size, cut = i % 4 ? size : at;
        memcpy(bad, good, size);
        if (i % 4) bad[at] ^= (unsigned char)(1 << i % 8);
        file = fopen(path, "wb");
        assert_int_equal(fwrite(bad, 1, cut, file), cut);
        fclose(file);
        const enhope_status status = enhope_trainer_resume(t, path);
        if (status != ENHOPE_ERROR_MODEL) fail_msg("byte %zu: %d, %s", at, (int)status, enhope_error(ctx));
        assert_int_equal(t->state.epoch + t->state.batch, 0);
    }
    /* a model is not a checkpoint, and an empty file is not either */
    enhope_model *m = NULL;
    assert_int_equal(enhope_trainer_model(t, &m), 0);
    assert_int_equal(enhope_model_save(ctx, m, path), 0);
    assert_int_equal(enhope_trainer_resume(t, path), ENHOPE_ERROR_MODEL);
    assert_non_null(strstr(enhope_error(ctx), "not a checkpoint"));
    assert_int_equal(enhope_trainer_resume(t, "/no/such/file"), ENHOPE_ERROR_IO);
    assert_int_equal(enhope_trainer_checkpoint(t, "/no/such/file"), ENHOPE_ERROR_IO);
    enhope_model_free(m);
    enhope_trainer_free(t);
    enhope_settings_free(s);
}

static void another_format_version_is_refused_by_its_number(void **state)
{
    (void)state;
    static const char now[] = "\"format_version\":\"2\"";
    static char text[1 << 20];
    enhope_settings *s = with("solver", "adam", NULL);
    keep_four(s);
    FILE *file = fopen(path, "r+b");
    const size_t size = fread(text, 1, sizeof text, file);
    size_t at = 0;
    while (at + sizeof now < size && memcmp(text + at, now, sizeof now - 1) != 0) at++;
    assert_true(at + sizeof now < size);
    assert_int_equal(fseek(file, (long)(at + sizeof now - 3), SEEK_SET), 0);
    assert_int_equal(fputc('1', file), '1');
    fclose(file);
    refused(blobs, s, ENHOPE_ERROR_MODEL, "a checkpoint of format version 1, written by enhope");
}

static void methods_without_steps_have_no_checkpoints(void **state)
{
    (void)state;
    static const char *const methods[] = {"knn", "pca", "lpp", "mcml"};
    for (int i = 0; i < 4; i++) {
        enhope_settings *s = with("method", methods[i], NULL);
        enhope_trainer *t = trainer(NULL, blobs, s);
        assert_int_equal(enhope_trainer_checkpoint(t, NULL), ENHOPE_ERROR_ARGUMENT);
        assert_int_equal(enhope_trainer_resume(t, path), ENHOPE_ERROR_ARGUMENT);
        assert_non_null(strstr(enhope_error(ctx), "is not an iterative method"));
        enhope_trainer_free(t);
        enhope_settings_free(s);
    }
}

/* From doubles to floats and back: the bits differ, but training continues. */
static void another_device_resumes(void **state)
{
    (void)state;
    enhope_settings *s = with("n_epochs", "6", "solver", "adam", "exemplars", "learned", NULL);
    static const char *const devices[] = {"ref", "cpu", "ref"};
    for (int i = 0; i < 2; i++) {
        on(devices[i]);
        enhope_trainer *t = trainer(NULL, blobs, s);
        run_steps(t, 8);
        const double loss = t->state.history[1].loss;
        assert_int_equal(enhope_trainer_checkpoint(t, path), 0);
        enhope_trainer_free(t);
        on(devices[i + 1]);
        t = trainer(NULL, blobs, s);
        resume(t);
        assert_true(t->state.history[1].loss == loss);
        const bytes b = finish(t);
        free(b.data);
    }
    /* ref resumes to a byte-identical model too */
    const bytes whole = finish(trainer(NULL, blobs, s));
    interrupt(NULL, blobs, s, 7, whole);
    free(whole.data);
    on("cpu");
    enhope_settings_free(s);
}

static enhope_status write_checkpoint(void *t)
{
    return enhope_trainer_checkpoint(t, path);
}

static enhope_status read_checkpoint(void *t)
{
    return enhope_trainer_resume(t, path);
}

static void a_failed_allocation_gives_a_message_and_changes_nothing(void **state)
{
    (void)state;
    enhope_settings *s = with("n_epochs", "3", "solver", "adam", NULL);
    const bytes whole = finish(trainer(NULL, blobs, s));
    enhope_trainer *t = trainer(NULL, blobs, s), *other = trainer(NULL, blobs, s);
    run_steps(t, 4);
    run_steps(other, 1); /* its history has capacity */
    fail_allocations(ctx, write_checkpoint, t, 7);
    fail_allocations(ctx, read_checkpoint, other, 1);
    assert_same(whole, finish(t));
    assert_same(whole, finish(other));
    free(whole.data);
    enhope_settings_free(s);
}

static int start_all(void **state)
{
    (void)state;
    ctx = enhope_context_create();
    const int descriptor = mkstemp(path);
    if (descriptor >= 0) close(descriptor);
    return ctx && descriptor >= 0 && make_blobs(ctx) ? 0 : -1;
}

static int stop_all(void **state)
{
    (void)state;
    enhope_dataset_free(blobs);
    enhope_dataset_free(sparse_blobs);
    enhope_context_free(ctx);
    return unlink(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_interrupted_run_resumes_to_a_byte_identical_model),
        cmocka_unit_test(an_interrupted_update_resumes_as_well),
        cmocka_unit_test(a_checkpoint_within_a_batch_has_the_state_before_it),
        cmocka_unit_test(other_settings_or_data_are_refused_by_name),
        cmocka_unit_test(any_damage_is_detected),
        cmocka_unit_test(another_format_version_is_refused_by_its_number),
        cmocka_unit_test(methods_without_steps_have_no_checkpoints),
        cmocka_unit_test(another_device_resumes),
        cmocka_unit_test(a_failed_allocation_gives_a_message_and_changes_nothing),
    };
    return cmocka_run_group_tests(tests, start_all, stop_all);
}
