/* Compares whole runs on a GPU with the same runs on the cpu: loss curves, errors, predictions,
 * repeated runs, streamed data, and failed allocations. Skipped if there is no CUDA device. */
#define _DEFAULT_SOURCE 1
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "data/store/store.h"
#include "train/trainer.h"
#include "settings_support.h"

static enhope_context *ctx;
static enhope_dataset *digits, *others, *words;

/* A sparse view of the digits. */
static int64_t *row_start;
static int32_t *column;
static float *value;

static enhope_dataset *read_digits(const char *spec)
{
    enhope_dataset *data = NULL;
    if (enhope_dataset_read(ctx, &(enhope_source){.path = spec}, &data)) fail_msg("%s", enhope_error(ctx));
    return data;
}

static void make_words(void)
{
    const int64_t n = digits->x.n, H = digits->x.H;
    row_start = calloc((size_t)n + 1, sizeof *row_start);
    column = malloc((size_t)(n * H) * sizeof *column);
    value = malloc((size_t)(n * H) * sizeof *value);
    for (int64_t i = 0; i < n; i++) {
        row_start[i + 1] = row_start[i];
        for (int64_t j = 0; j < H; j++) {
            if (!digits->x.u8[i * H + j]) continue;
            column[row_start[i + 1]] = (int32_t)j;
            value[row_start[i + 1]++] = digits->x.u8[i * H + j];
        }
    }
    assert_int_equal(
        enhope_dataset_view_csr(ctx, n, H, row_start, column, value, digits->label, digits->c, NULL, &words),
        ENHOPE_OK);
}

static void on(const char *device, const char *precision)
{
    assert_int_equal(enhope_context_set_device(ctx, device), ENHOPE_OK);
    assert_int_equal(enhope_context_set_precision(ctx, precision), ENHOPE_OK);
}

static enhope_settings *with(const char *first, ...)
{
    static const char *const small[] = {
        "n_factors",           "96", "n_hidden",      "40",    "batch_size", "200",   "n_epochs", "10",
        "validation_fraction", "0",  "learning_rate", "0.003", "scaling",    "range", NULL};
    va_list args;
    va_start(args, first);
    enhope_settings *s = settings_with(ctx, small, first, args);
    va_end(args);
    return s;
}

/* The loss of every step. */
static int losses(const enhope_dataset *data, const enhope_settings *s, double *out, int limit)
{
    enhope_trainer *t = NULL;
    if (enhope_trainer_create(ctx, NULL, data, s, &t)) fail_msg("%s", enhope_error(ctx));
    int steps = 0;
    for (int done = 0; !done && steps < limit;) {
        const int64_t batch = t->state.batch;
        if (enhope_trainer_step(t, NULL, &done)) fail_msg("%s", enhope_error(ctx));
        eh_loss_value v;
        t->cp->op->fetch(t->cp, &v, eh_loss_at(t->losses.placed, batch), sizeof v);
        assert_true(v.nonfinite == 0);
        out[steps++] = v.value;
    }
    enhope_trainer_free(t);
    return steps;
}

static void check_curve_within(const char *name, const enhope_dataset *data, enhope_settings *s, double limit)
{
    enum { STEPS = 100 };
    double cpu[STEPS], cuda[STEPS], worst = 0;
    on("cpu", "fp32");
    assert_int_equal(losses(data, s, cpu, STEPS), STEPS);
    on("cuda", "fp32");
    assert_int_equal(losses(data, s, cuda, STEPS), STEPS);
    for (int i = 0; i < STEPS; i++) worst = fmax(worst, fabs(cuda[i] - cpu[i]) / fabs(cpu[i]));
    printf("%s: loss %.4f to %.4f, cuda and cpu differ by at most %.1e\n", name, cpu[0], cpu[STEPS - 1], worst);
    assert_true(worst <= limit);
    assert_true(cpu[STEPS - 1] < cpu[0]);
    enhope_settings_free(s);
}

static void check_curve(const char *name, const enhope_dataset *data, enhope_settings *s)
{
    check_curve_within(name, data, s, 1e-3);
}

static void loss_curves_follow_the_cpu_for_a_hundred_steps(void **state)
{
    (void)state;
    check_curve("en-hope", digits, with("solver", "adam", NULL));
    check_curve("en-hope, row, nca", digits, with("solver", "adam", "normalizer", "row", "target", "nca", NULL));
    check_curve("en-hope, order 3, five outputs", digits,
                with("solver", "adam", "order", "3", "n_components", "5", NULL));
    check_curve("en-hope, order 1", digits, with("solver", "adam", "order", "1", NULL));
    check_curve("en-hope, five degrees of freedom", digits, with("solver", "adam", "dof", "5", NULL));
    check_curve("en-hope, sparse", words, with("solver", "adam", NULL));
    check_curve("en-hope, order 2, sparse", words, with("solver", "adam", "order", "2", NULL));
    check_curve("en-hope, noise", digits, with("solver", "adam", "noise", "0.2", NULL));
    check_curve("en-hope, dropout", digits, with("solver", "adam", "dropout", "0.2", NULL));
    check_curve("en-hope, both, sparse", words, with("solver", "adam", "noise", "0.1", "dropout", "0.1", NULL));
    /* the sign of a gradient near zero depends on rounding, and the step has its full length */
    check_curve_within("en-hope, head", digits,
                       with("solver", "adam", "adversarial_step", "0.01", "aux_components", "10", NULL), 0.05);
    check_curve_within("en-hope, adversary", digits, with("solver", "adam", "adversarial_step", "0.02", NULL), 0.05);
    check_curve_within("en-hope, adversary, noise, sparse", words,
                       with("solver", "adam", "adversarial_step", "0.01", "noise", "0.1", NULL), 0.05);
    check_curve_within(
        "dt-nca, adversary", digits,
        with("method", "dt-nca", "hidden_layer_sizes", "60-40", "solver", "adam", "adversarial_step", "0.02", NULL),
        0.05);
    check_curve("en-hope, moved images", digits,
                with("solver", "adam", "shift", "1", "affine", "1", "elastic", "0.5", "noise", "0.1", NULL));
    check_curve("en-hope, label smoothing, class weights", digits,
                with("solver", "adam", "label_smoothing", "0.1", "class_weight", "balanced", "noise", "0.1", NULL));
    check_curve("en-hope, label smoothing, sparse", words, with("solver", "adam", "label_smoothing", "0.2", NULL));
    double *weight = malloc((size_t)digits->x.n * sizeof *weight);
    for (int64_t i = 0; i < digits->x.n; i++) weight[i] = i % 13 == 7 ? 0 : 0.3 + (double)(i % 5);
    assert_int_equal(enhope_dataset_set_weights(ctx, digits, weight), ENHOPE_OK);
    check_curve("en-hope, weights", digits, with("solver", "adam", "exemplars", "kmeans", NULL));
    check_curve("en-hope, weights, joint", digits, with("solver", "adam", "normalizer", "joint", NULL));
    assert_int_equal(enhope_dataset_set_weights(ctx, digits, NULL), ENHOPE_OK);
    free(weight);
    check_curve("hope, class weights", digits,
                with("method", "hope", "solver", "adam", "class_weight", "balanced", NULL));
    check_curve("hope", digits, with("method", "hope", "solver", "adam", NULL));
    check_curve("dt-nca", digits, with("method", "dt-nca", "hidden_layer_sizes", "60-40", "solver", "adam", NULL));
    check_curve("pt-sne", digits, with("method", "pt-sne", "hidden_layer_sizes", "60-40", "solver", "adam", NULL));
    check_curve("dt-mcml, relu", digits,
                with("method", "dt-mcml", "activation", "relu", "hidden_layer_sizes", "60-40", "solver", "adam",
                     "learning_rate", "0.001", NULL));
    check_curve("en-tsne", digits, with("method", "en-tsne", "solver", "adam", NULL));
    check_curve("pt-sne, sparse", words,
                with("method", "pt-sne", "hidden_layer_sizes", "60-40", "solver", "adam", NULL));
    check_curve("deep-en-hope", digits,
                with("method", "deep-en-hope", "hidden_layer_sizes", "60-40", "solver", "adam", NULL));
    check_curve("mcml+", digits, with("method", "mcml+", "solver", "adam", "learning_rate", "0.001", NULL));
    check_curve("lmnn", digits, with("method", "lmnn", "solver", "adam", NULL));
    check_curve("lmnn, sparse, six targets", words, with("method", "lmnn", "solver", "adam", "lmnn_k", "6", NULL));
    check_curve("linear-en-hope", digits, with("method", "linear-en-hope", "solver", "adam", NULL));
}

static double error_of(const enhope_dataset *train, const enhope_dataset *test, enhope_settings *s, enhope_model **out)
{
    enhope_model *m = NULL;
    if (enhope_train(ctx, train, s, NULL, NULL, &m)) fail_msg("%s", enhope_error(ctx));
    enhope_settings_free(s);
    enhope_evaluation e = {0};
    if (enhope_model_evaluate(ctx, m, test, 0, &e)) fail_msg("%s", enhope_error(ctx));
    *out = m;
    return (double)e.errors / (double)e.n;
}

static void every_solver_and_precision_learns_and_repeats_bit_by_bit(void **state)
{
    (void)state;
    static const char *const solvers[] = {"cg", "lbfgs", "adam"}, *const precisions[] = {"fp32", "tf32", "bf16"};
    for (int i = 0; i < 3; i++) {
        enhope_model *a = NULL, *b = NULL;
        on("cpu", "fp32");
        const double cpu = error_of(digits, others, with("solver", solvers[i], NULL), &a);
        enhope_model_free(a);
        for (int p = 0; p < 3; p++) {
            on("cuda", precisions[p]);
            const double cuda = error_of(digits, others, with("solver", solvers[i], NULL), &a);
            error_of(digits, others, with("solver", solvers[i], NULL), &b);
            printf("%s, %s: error %.2f %%, on the cpu %.2f %%\n", solvers[i], precisions[p], 100 * cuda, 100 * cpu);
            assert_true(fabs(cuda - cpu) < 0.03);
            assert_memory_equal(a->theta, b->theta, (size_t)eh_map_parameters(a->map, &a->shape) * sizeof *a->theta);
            assert_memory_equal(a->reference, b->reference, (size_t)(a->r * a->shape.H) * sizeof *a->reference);
            enhope_model_free(a), enhope_model_free(b);
        }
    }
}

static void check_predictions(enhope_model *m, double tolerance)
{
    const int64_t n = others->x.n, h = m->shape.h;
    float *Y[2];
    int32_t *label[2];
    for (int i = 0; i < 2; i++) {
        Y[i] = malloc((size_t)(n * h) * sizeof **Y);
        label[i] = malloc((size_t)n * sizeof **label);
        on(i ? "cuda" : "cpu", "fp32");
        const enhope_prediction out = {.label = label[i], .Y = Y[i]};
        if (enhope_model_predict(ctx, m, others, 0, &out)) fail_msg("%s", enhope_error(ctx));
    }
    int64_t other = 0;
    double largest = 0, worst = 0;
    for (int64_t i = 0; i < n * h; i++) {
        const double size = fabs(Y[0][i]), difference = fabs(Y[0][i] - Y[1][i]);
        if (size > largest) largest = size; /* gcc 12 for 64-bit ARM fails on fmax() here */
        if (difference > worst) worst = difference;
    }
    for (int64_t i = 0; i < n; i++) other += label[0][i] != label[1][i];
    assert_true(worst <= tolerance * largest);
    assert_true(other <= n / 500); /* allows near ties */
    for (int i = 0; i < 2; i++) free(Y[i]), free(label[i]);
}

static void predictions_match_the_cpu_with_streamed_data(void **state)
{
    (void)state;
    static const char *const methods[] = {"en-hope", "hope", "nca", "lmnn", "knn"};
    for (int i = 0; i < 5; i++) {
        enhope_model *m = NULL;
        on("cpu", "fp32");
        error_of(digits, others, with("method", methods[i], "n_epochs", "2", NULL), &m);
        check_predictions(m, 1e-4);
        setenv("ENHOPE_GPU_MEMORY", "1000", 1);
        check_predictions(m, 1e-4);
        unsetenv("ENHOPE_GPU_MEMORY");
        enhope_model_free(m);
    }
}

/* The windows are the same as those of the cpu for data in a store. */
static void data_larger_than_memory_trains_in_windows(void **state)
{
    (void)state;
    enum { STEPS = 60 };
    const enhope_dataset *const whole[] = {digits, words};
    for (int i = 0; i < 2; i++) {
        enhope_settings *s =
            with("solver", "adam", "batch_size", "100", "noise", i ? "0" : "0.1", "validation_fraction", "0.1", NULL);
        const eh_matrix *x = &whole[i]->x;
        const int64_t half = eh_store_bytes(x->kind, x->H, x->n, x->kind == ENHOPE_CSR ? x->row_start[x->n] : 0) / 2;
        enhope_dataset in_store = *whole[i];
        double cpu[STEPS], cuda[STEPS], worst = 0;
        char memory[32];
        snprintf(memory, sizeof memory, "%lld", (long long)half);
        in_store.store = NULL;
        assert_int_equal(eh_store_from_dataset(ctx, whole[i], &in_store.store), ENHOPE_OK);
        assert_int_equal(enhope_context_set_memory(ctx, half), ENHOPE_OK);
        on("cpu", "fp32");
        assert_int_equal(losses(&in_store, s, cpu, STEPS), STEPS);
        on("cuda", "fp32");
        setenv("ENHOPE_GPU_MEMORY", memory, 1);
        assert_int_equal(losses(whole[i], s, cuda, STEPS), STEPS);
        unsetenv("ENHOPE_GPU_MEMORY");
        assert_int_equal(enhope_context_set_memory(ctx, 0), ENHOPE_OK);
        for (int k = 0; k < STEPS; k++) worst = fmax(worst, fabs(cuda[k] - cpu[k]) / fabs(cpu[k]));
        printf("windows: loss %.4f to %.4f, cuda and cpu differ by at most %.1e\n", cpu[0], cpu[STEPS - 1], worst);
        assert_true(worst <= 1e-3);
        assert_true(cpu[STEPS - 1] < cpu[0]);
        eh_store_free(in_store.store);
        enhope_settings_free(s);
    }
}

static void out_of_memory_returns_a_message(void **state)
{
    (void)state;
    on("cuda", "fp32");
    enhope_model *m = NULL;
    enhope_settings *s = with("n_factors", "1048576", "n_hidden", "1048576", NULL);
    assert_int_equal(enhope_train(ctx, digits, s, NULL, NULL, &m), ENHOPE_ERROR_MEMORY);
    printf("%s\n", enhope_error(ctx));
    assert_non_null(strstr(enhope_error(ctx), "out of memory on the CUDA device: "));
    assert_non_null(strstr(enhope_error(ctx), "are free; try a smaller batch"));
    enhope_settings_free(s);
    setenv("ENHOPE_GPU_MEMORY", "1000", 1);
    s = with("n_epochs", "1", "method", "hope",
             NULL); /* exemplar methods train in windows, but not in such small ones */
    assert_int_equal(enhope_train(ctx, digits, s, NULL, NULL, &m), ENHOPE_ERROR_MEMORY);
    assert_non_null(strstr(enhope_error(ctx), "the data exceeds the memory of the device"));
    enhope_settings_free(s);
    setenv("ENHOPE_GPU_MEMORY", "200000", 1);
    s = with("n_epochs", "1", NULL);
    assert_int_equal(enhope_train(ctx, digits, s, NULL, NULL, &m), ENHOPE_ERROR_ARGUMENT);
    assert_non_null(strstr(enhope_error(ctx), "a window of streamed data has about"));
    unsetenv("ENHOPE_GPU_MEMORY");
    enhope_settings_free(s);
    error_of(digits, others, with("n_epochs", "1", NULL), &m); /* the device still works */
    enhope_model_free(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(loss_curves_follow_the_cpu_for_a_hundred_steps),
        cmocka_unit_test(every_solver_and_precision_learns_and_repeats_bit_by_bit),
        cmocka_unit_test(predictions_match_the_cpu_with_streamed_data),
        cmocka_unit_test(data_larger_than_memory_trains_in_windows),
        cmocka_unit_test(out_of_memory_returns_a_message),
    };
    ctx = enhope_context_create();
    enhope_context_set_device(ctx, "cuda");
    eh_compute *c = NULL;
    if (eh_compute_open(ctx, false, &c)) {
        printf("skipped: no CUDA device (%s)\n", enhope_error(ctx));
        enhope_context_free(ctx);
        return 0;
    }
    eh_compute_close(c);
    digits = read_digits("synthetic:digits,n=2000,seed=1");
    others = read_digits("synthetic:digits,n=3000,seed=2");
    make_words();
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    enhope_dataset_free(words), enhope_dataset_free(digits), enhope_dataset_free(others);
    free(row_start), free(column), free(value);
    enhope_context_free(ctx);
    return failed;
}
