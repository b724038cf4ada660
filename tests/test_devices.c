/* Devices: accepted names, the list, and the result of opening one with and without a GPU. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "compute/compute.h"

static enhope_context *ctx; /* a new one for each test */
static char log_line[1024];
static int log_lines;

static void note(enhope_log_level level, const char *line, void *user)
{
    (void)user;
    assert_int_equal(level, ENHOPE_LOG_INFO);
    snprintf(log_line, sizeof log_line, "%s", line);
    log_lines++;
}

static int setup(void **state)
{
    (void)state;
    ctx = enhope_context_create();
    log_lines = 0;
    if (ctx) enhope_context_set_log(ctx, note, NULL);
    return ctx ? 0 : -1;
}

static int teardown(void **state)
{
    (void)state;
    enhope_context_free(ctx);
    return 0;
}

/* The first entry after the CPU. */
static enhope_device_info first_gpu(void)
{
    enhope_device_info gpu;
    assert_int_equal(enhope_device_get(ctx, 1, &gpu), ENHOPE_OK);
    return gpu;
}

static void a_new_context_is_one_process_on_its_machine(void **state)
{
    (void)state;
    assert_int_equal(ctx->local_size, 1);
    assert_int_equal(ctx->local_rank, 0);
    assert_int_equal(enhope_context_rank(ctx), 0);
    assert_int_equal(enhope_context_ranks(ctx), 1);
    assert_int_equal(enhope_context_all_failed(ctx, 0), 1);
    assert_int_equal(enhope_context_set_ranks(ctx, "apart"), ENHOPE_ERROR_ARGUMENT);
}

static void known_devices_are_taken_and_others_refused_with_the_choices(void **state)
{
    (void)state;
    static const char *const good[] = {"cpu", "cuda", "cuda:0", "cuda:13", "cuda:999", "ref", "auto"};
    static const char *const bad[] = {"",        "abacus",  "CPU",      "cuda:",     "cuda:-1",
                                      "cuda:1x", "cuda: 1", "cuda:1:2", "cuda:1000", "cuda0",
                                      "cudas",   "auto ",   "cpu:0",    "ref:0",     "cuda:18446744073709551616"};
    assert_string_equal(ctx->device, "cpu");
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        assert_int_equal(enhope_context_set_device(ctx, good[i]), ENHOPE_OK);
        assert_string_equal(ctx->device, good[i]);
    }
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        char message[256];
        snprintf(message, sizeof message,
                 "unknown device '%s': expected cpu, cuda, cuda:N (GPU N, counted from 0), auto or ref", bad[i]);
        assert_int_equal(enhope_context_set_device(ctx, bad[i]), ENHOPE_ERROR_ARGUMENT);
        assert_string_equal(enhope_error(ctx), message);
        assert_string_equal(ctx->device, "auto");
    }
    assert_int_equal(enhope_context_set_device(ctx, NULL), ENHOPE_ERROR_ARGUMENT);
}

static void known_precisions_are_taken_and_others_refused_with_the_choices(void **state)
{
    (void)state;
    assert_int_equal(ctx->precision, EH_FP32);
    assert_int_equal(enhope_context_set_precision(ctx, "bf16"), ENHOPE_OK);
    assert_int_equal(ctx->precision, EH_BF16);
    assert_int_equal(enhope_context_set_precision(ctx, "fp32"), ENHOPE_OK);
    assert_int_equal(ctx->precision, EH_FP32);
    assert_null(ctx->engine);
    assert_int_equal(enhope_context_set_precision(ctx, "int8"), ENHOPE_OK);
    assert_string_equal(ctx->engine, "int8");
    assert_int_equal(enhope_context_set_precision(ctx, "float32"), ENHOPE_OK);
    assert_string_equal(ctx->engine, "float32");
    assert_int_equal(enhope_context_set_precision(ctx, "tf32"), ENHOPE_OK);
    assert_null(ctx->engine);
    assert_int_equal(enhope_context_set_precision(ctx, "fp16"), ENHOPE_ERROR_ARGUMENT);
    assert_string_equal(enhope_error(ctx), "unknown precision 'fp16': expected fp32, tf32, bf16, float32 or int8");
    assert_int_equal(enhope_context_set_precision(ctx, NULL), ENHOPE_ERROR_ARGUMENT);
    assert_int_equal(ctx->precision, EH_TF32);
}

static void the_list_begins_with_the_cpu_and_its_threads(void **state)
{
    (void)state;
    enhope_device_info cpu;
    enhope_context_set_threads(ctx, 3);
    assert_int_equal(enhope_device_get(ctx, 0, &cpu), ENHOPE_OK);
    assert_string_equal(cpu.name, "cpu");
    assert_int_equal(cpu.available, 1);
    assert_int_equal(strncmp(cpu.text, "3 threads", 9), 0);
    enhope_context_set_threads(ctx, 1);
    assert_int_equal(enhope_device_get(ctx, 0, &cpu), ENHOPE_OK);
    assert_int_equal(strncmp(cpu.text, "1 thread", 8), 0);
    assert_int_not_equal(cpu.text[8], 's');
}

static void every_gpu_is_listed_by_a_name_that_is_taken_or_one_entry_says_why_not(void **state)
{
    (void)state;
    const int count = enhope_device_count(ctx);
    assert_true(count >= 2);
    for (int i = 1; i < count; i++) {
        enhope_device_info gpu;
        char name[16];
        assert_int_equal(enhope_device_get(ctx, i, &gpu), ENHOPE_OK);
        snprintf(name, sizeof name, gpu.available ? "cuda:%d" : "cuda", i - 1);
        assert_string_equal(gpu.name, name);
        assert_int_not_equal(gpu.text[0], '\0');
        assert_int_equal(enhope_context_set_device(ctx, gpu.name), ENHOPE_OK);
        assert_true(gpu.available || count == 2);
    }
}

static void a_device_outside_the_list_is_refused_and_the_output_untouched(void **state)
{
    (void)state;
    const int count = enhope_device_count(ctx), outside[] = {-1, count, count + 1, 1001, INT32_MAX, INT32_MIN};
    for (size_t i = 0; i < sizeof outside / sizeof *outside; i++) {
        enhope_device_info info = {.name = "as it was"};
        char message[128];
        snprintf(message, sizeof message, "there is no device number %d: expected 0 to %d", outside[i], count - 1);
        assert_int_equal(enhope_device_get(ctx, outside[i], &info), ENHOPE_ERROR_ARGUMENT);
        assert_string_equal(enhope_error(ctx), message);
        assert_string_equal(info.name, "as it was");
    }
}

static void listing_keeps_the_last_error_message(void **state)
{
    (void)state;
    enhope_context_set_threads(ctx, -7);
    char before[128];
    snprintf(before, sizeof before, "%s", enhope_error(ctx));
    enhope_device_count(ctx);
    first_gpu();
    assert_string_equal(enhope_error(ctx), before);
    assert_int_equal(log_lines, 0);
}

static void cpu_and_ref_pack_scalars_in_any_precision(void **state)
{
    (void)state;
    static const char *const precisions[] = {"fp32", "tf32", "bf16"};
    for (int i = 0; i < 12; i++) {
        eh_compute *c = NULL;
        const char *device = i & 1 ? "cpu" : "ref";
        enhope_context_set_device(ctx, device);
        enhope_context_set_precision(ctx, precisions[i / 4]);
        assert_int_equal(eh_compute_open(ctx, i & 2, &c), ENHOPE_OK);
        assert_string_equal(c->op->name, device);
        assert_int_equal(c->op->real_size, i & 1 ? sizeof(float) : sizeof(double));
        assert_int_equal(c->packed_size, c->op->real_size);
        eh_compute_close(c);
    }
    assert_string_equal(enhope_error(ctx), "");
}

static void without_a_gpu_cuda_fails_with_the_listed_reason_and_auto_takes_the_cpu(void **state)
{
    (void)state;
    const enhope_device_info gpu = first_gpu();
    if (gpu.available) {
        print_message("skipped: a CUDA device is present\n");
        skip();
    }
    eh_compute *c = NULL;
    enhope_context_set_device(ctx, "cuda");
    assert_int_equal(eh_compute_open(ctx, false, &c), ENHOPE_ERROR_COMPUTE);
    assert_null(c);
    assert_string_equal(enhope_error(ctx), gpu.text);
    enhope_context_set_device(ctx, "cuda:1");
    assert_int_not_equal(eh_compute_open(ctx, true, &c), ENHOPE_OK);
    assert_null(c);

    ctx->error[0] = '\0';
    char line[1024];
    snprintf(line, sizeof line, "computing on the cpu: %s", gpu.text);
    for (int round = 0; round < 2; round++) { /* logged once for each set_device, even if opened twice */
        enhope_context_set_device(ctx, "auto");
        for (int i = 0; i < 3; i++) {
            assert_int_equal(eh_compute_open(ctx, i & 1, &c), ENHOPE_OK);
            assert_string_equal(c->op->name, "cpu");
            assert_int_equal(c->packed_size, sizeof(float));
            eh_compute_close(c);
        }
        assert_int_equal(log_lines, round + 1);
        assert_string_equal(log_line, line);
    }
    assert_string_equal(enhope_error(ctx), "");
}

static void cuda_and_auto_open_a_gpu_and_plain_packs_scalars(void **state)
{
    (void)state;
    const enhope_device_info gpu = first_gpu();
    if (!gpu.available) {
        print_message("skipped: no CUDA device (%s)\n", gpu.text);
        skip();
    }
    static const char *const names[] = {"cuda", "cuda:0", "auto"};
    for (int i = 0; i < 3; i++) {
        eh_compute *c = NULL;
        enhope_context_set_device(ctx, names[i]);
        enhope_context_set_precision(ctx, "bf16");
        assert_int_equal(eh_compute_open(ctx, true, &c), ENHOPE_OK);
        assert_string_equal(c->op->name, "cuda");
        assert_int_equal(c->packed_size, c->op->real_size);
        eh_compute_close(c);
        assert_int_equal(eh_compute_open(ctx, false, &c), ENHOPE_OK);
        assert_int_equal(c->packed_size, 2);
        eh_compute_close(c);
    }
    eh_compute *c = NULL;
    enhope_context_set_device(ctx, "cuda:999");
    assert_int_not_equal(eh_compute_open(ctx, false, &c), ENHOPE_OK);
    assert_null(c);
    assert_int_not_equal(enhope_error(ctx)[0], '\0');
    assert_int_equal(log_lines, 0);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(a_new_context_is_one_process_on_its_machine),
        TEST(known_devices_are_taken_and_others_refused_with_the_choices),
        TEST(known_precisions_are_taken_and_others_refused_with_the_choices),
        TEST(the_list_begins_with_the_cpu_and_its_threads),
        TEST(every_gpu_is_listed_by_a_name_that_is_taken_or_one_entry_says_why_not),
        TEST(a_device_outside_the_list_is_refused_and_the_output_untouched),
        TEST(listing_keeps_the_last_error_message),
        TEST(cpu_and_ref_pack_scalars_in_any_precision),
        TEST(without_a_gpu_cuda_fails_with_the_listed_reason_and_auto_takes_the_cpu),
        TEST(cuda_and_auto_open_a_gpu_and_plain_packs_scalars),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
