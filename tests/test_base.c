/* src/base: UTF-8, JSON with limits, atomic files. */
#define _XOPEN_SOURCE 700
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/atomic_file.h"
#include "base/json.h"
#include "memory_support.h"

static enhope_context *ctx;

static int create(void **state)
{
    (void)state;
    ctx = enhope_context_create();
    return ctx ? 0 : -1;
}

static int destroy(void **state)
{
    (void)state;
    enhope_context_free(ctx);
    return 0;
}

static void minimum_and_maximum_of_integers(void **state)
{
    (void)state;
    assert_int_equal(eh_min(-3, 7), -3);
    assert_int_equal(eh_max(-3, 7), 7);
    assert_true(eh_min(INT64_MAX, INT64_MAX - 1) == INT64_MAX - 1);
    assert_true(eh_max(INT64_MIN, INT64_MIN + 1) == INT64_MIN + 1);
}

static enhope_status copy_names(void *unused)
{
    (void)unused;
    char *const from[] = {"owl", "", "cat"};
    char **names = NULL;
    const enhope_status status = eh_new_names(ctx, "names", from, 3, &names);
    for (int i = 0; !status && i < 3; i++) assert_string_equal(names[i], from[i]);
    eh_names_free(names, 3);
    return status;
}

static void failed_copies_of_names_do_not_leak(void **state)
{
    (void)state;
    assert_int_equal(fail_allocations(ctx, copy_names, NULL, 1), 4);
    char **none = NULL;
    assert_int_equal(eh_new_names(ctx, "names", NULL, 3, &none), ENHOPE_OK);
    assert_null(none);
}

/* ---- UTF-8 ---- */

static void every_code_point_survives_encoding_and_decoding(void **state)
{
    (void)state;
    for (uint32_t code = 0; code <= 0x10FFFF; code++) {
        char text[4];
        uint32_t again = 0;
        const size_t size = eh_utf8_put(code, text), read = eh_utf8_next(text, size, &again);
        if (code >= 0xD800 && code < 0xE000) {
            assert_int_equal(read, 0);
            continue;
        }
        assert_int_equal(read, size);
        assert_int_equal(again, code);
        assert_int_equal(eh_utf8_next(text, size - 1, &again), 0);
        assert_int_equal(eh_utf8_valid(text, size), code != 0);
    }
}

static void invalid_utf8_is_rejected(void **state)
{
    (void)state;
    static const char *const bad[] = {"\x80",
                                      "a\xff",
                                      "\xc3",
                                      "\xc3x",
                                      "\xc0\xaf",
                                      "\xc1\xbf",
                                      "\xe0\x9f\xbf",
                                      "\xe2\x82",
                                      "\xed\xa0\x80",
                                      "\xf0\x8f\xbf\xbf",
                                      "\xf4\x90\x80\x80",
                                      "\xf5\x80\x80\x80"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) assert_false(eh_utf8_valid(bad[i], strlen(bad[i])));
    assert_false(eh_utf8_valid("a\0b", 3));
    assert_true(eh_utf8_valid("", 0));
    assert_true(eh_utf8_valid("gr\xc3\xbcn \xe2\x82\xac \xf0\x9f\x98\x80", 14));
}

static void invalid_utf8_is_read_as_latin1(void **state)
{
    (void)state;
    static const char *const cases[][2] = {
        {"plain", "plain"},
        {"gr\xc3\xbcn \xe2\x82\xac \xf0\x9f\x98\x80", "gr\xc3\xbcn \xe2\x82\xac \xf0\x9f\x98\x80"},
        {"caf\xe9", "caf\xc3\xa9"},
        {"\xc3", "\xc3\x83"},                         /* truncated */
        {"\xc0\xaf", "\xc3\x80\xc2\xaf"},             /* overlong */
        {"\xed\xa0\x80", "\xc3\xad\xc2\xa0\xc2\x80"}, /* a surrogate */
        {"\xf4\x90\x80\x80", "\xc3\xb4\xc2\x90\xc2\x80\xc2\x80"},
        {"\xe0\x9f\xbf", "\xc3\xa0\xc2\x9f\xc2\xbf"},
        {"\xf0\x8f\xbf\xbf", "\xc3\xb0\xc2\x8f\xc2\xbf\xc2\xbf"},
        {"\xff", "\xc3\xbf"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *text = eh_utf8_copy(cases[i][0]);
        assert_string_equal(text, cases[i][1]);
        eh_free(text);
    }
}

/* ---- JSON ---- */

static enhope_status parse(const char *text, int64_t max_values, enhope_status failure)
{
    cJSON *json = NULL;
    const enhope_status status = eh_json_parse(ctx, failure, "the text", text, strlen(text), max_values, &json);
    cJSON_Delete(json);
    return status;
}

static void json_limits_are_checked_before_parsing(void **state)
{
    (void)state;
    assert_int_equal(parse("{\"a\": [1, 2, \"x,y,z[[\\\"\"]} \n", 5, ENHOPE_ERROR_FORMAT), ENHOPE_OK);
    assert_int_equal(parse("[1, 2, 3, 4, 5]", 5, ENHOPE_ERROR_FORMAT), ENHOPE_ERROR_FORMAT);
    assert_string_equal(enhope_error(ctx), "the text has more than 5 values");
    char deep[80];
    for (int levels = 32; levels <= 33; levels++) {
        memset(deep, '[', (size_t)levels);
        memset(deep + levels, ']', (size_t)levels);
        deep[2 * levels] = '\0';
        assert_int_equal(parse(deep, 100, ENHOPE_ERROR_MODEL), levels == 32 ? ENHOPE_OK : ENHOPE_ERROR_MODEL);
    }
    assert_string_equal(enhope_error(ctx), "the text is nested deeper than 32 levels");
    assert_int_equal(parse("{\"a\": 1} x", 5, ENHOPE_ERROR_MODEL), ENHOPE_ERROR_MODEL);
    assert_string_equal(enhope_error(ctx), "the text is not valid JSON");
    assert_int_equal(parse("{\"a\": ", 5, ENHOPE_ERROR_MODEL), ENHOPE_ERROR_MODEL);
}

static void json_sizes_are_integers_up_to_2_to_the_53(void **state)
{
    (void)state;
    cJSON *json = cJSON_Parse("[0, 9007199254740992, 9007199254740994, -1, 2.5, \"7\", 41]");
    static const int64_t expected[] = {0, 9007199254740992, -1, -1, -1, -1, 41};
    for (int i = 0; i < 7; i++) {
        int64_t size = -1;
        assert_int_equal(eh_json_size(cJSON_GetArrayItem(json, i), &size), expected[i] >= 0);
        assert_true(size == expected[i]);
    }
    cJSON_Delete(json);
}

static void duplicate_json_names_are_rejected(void **state)
{
    (void)state;
    cJSON *same = cJSON_Parse("[\"a\", \"b\", \"a\"]"), *distinct = cJSON_Parse("{\"a\": 1, \"A\": 1, \"b\": 2}");
    assert_int_equal(eh_json_distinct(ctx, ENHOPE_ERROR_DATA, "the list", same), ENHOPE_ERROR_DATA);
    assert_string_equal(enhope_error(ctx), "the list contains 'a' twice");
    assert_int_equal(eh_json_distinct(ctx, ENHOPE_ERROR_DATA, "the list", distinct), ENHOPE_OK);
    cJSON_Delete(same);
    cJSON_Delete(distinct);
}

/* ---- atomic files ---- */

static void assert_holds(const char *path, const char *expected)
{
    char text[64] = "";
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    assert_int_equal(fread(text, 1, sizeof text - 1, file), strlen(expected));
    fclose(file);
    assert_string_equal(text, expected);
}

static void commit_replaces_the_file(void **state)
{
    (void)state;
    char folder[] = "/tmp/enhope-base-XXXXXX", path[64];
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/file", folder);
    for (int round = 0; round < 2; round++) { /* a new file, then one that exists */
        const char *text = round ? "second" : "first";
        eh_atomic_file file;
        assert_int_equal(eh_atomic_open(ctx, path, &file), ENHOPE_OK);
        assert_int_equal(eh_atomic_write(ctx, path, &file, text, strlen(text)), ENHOPE_OK);
        if (round) assert_holds(path, "first");
        assert_int_equal(eh_atomic_commit(ctx, path, &file), ENHOPE_OK);
        assert_holds(path, text);
    }
    unlink(path);
    assert_int_equal(rmdir(folder), 0); /* no other file is left in it */
    eh_atomic_file none;
    assert_int_equal(eh_atomic_open(ctx, path, &none), ENHOPE_ERROR_IO);
    assert_non_null(strstr(enhope_error(ctx), "/file: cannot write: No such file or directory"));
}

static void messages_are_utf8_without_control_characters(void **state)
{
    (void)state;
    static const struct {
        const char *text, *clean;
    } cases[] = {{"a\033[31mb\r\177", "a?[31mb??"},
                 {"line\n\tline", "line\n\tline"},
                 {"\302\233 \302\240 \303\251", "? \302\240 \303\251"},
                 {"\233 \377", "? ?"},
                 {"\342\200\256x\342\201\246", "?x?"},
                 {"cut \342\200", "cut ??"},
                 {"", ""}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[64];
        strcpy(text, cases[i].text);
        eh_utf8_clean(text);
        assert_string_equal(text, cases[i].clean);
        (void)eh_fail(ctx, ENHOPE_ERROR_DATA, "%s", cases[i].text);
        assert_string_equal(enhope_error(ctx), cases[i].clean);
    }
    (void)eh_fail(ctx, ENHOPE_ERROR_DATA, "inner");
    (void)eh_fail_in(ctx, ENHOPE_ERROR_DATA, "file\033c");
    assert_string_equal(enhope_error(ctx), "file?c: inner");
}

static char logged[64];

static void keep_line(enhope_log_level level, const char *line, void *user)
{
    (void)level;
    (void)user;
    snprintf(logged, sizeof logged, "%s", line);
}

static void control_characters_are_removed_from_log_lines(void **state)
{
    (void)state;
    enhope_context_set_log(ctx, keep_line, NULL);
    eh_log(ctx, ENHOPE_LOG_INFO, "%s", "name\033]0;title\007");
    enhope_context_set_log(ctx, NULL, NULL);
    assert_string_equal(logged, "name?]0;title?");
}

/* ---- interrupted calls ---- */

static void do_nothing(int signal)
{
    (void)signal;
}

/* Begins or ends (0) signals every millisecond, which interrupt calls. */
static void interrupt(int microseconds)
{
    const struct sigaction action = {.sa_handler = do_nothing};
    const struct itimerval every = {.it_interval = {.tv_usec = microseconds}, .it_value = {.tv_usec = microseconds}};
    assert_int_equal(sigaction(SIGALRM, &action, NULL), 0);
    assert_int_equal(setitimer(ITIMER_REAL, &every, NULL), 0);
}

static void reading_continues_after_a_signal(void **state)
{
    (void)state;
    int ends[2];
    char text[9] = "";
    assert_int_equal(pipe(ends), 0);
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        for (int i = 0; i < 4; i++) {
            nanosleep(&(struct timespec){.tv_nsec = 5000000}, NULL);
            if (write(ends[1], &"abcdefgh"[2 * i], 2) != 2) _exit(1);
        }
        _exit(0);
    }
    close(ends[1]);
    FILE *file = fdopen(ends[0], "rb");
    assert_non_null(file);
    interrupt(1000);
    const size_t got = eh_fread(text, sizeof text, file);
    interrupt(0);
    assert_int_equal(got, 8);
    assert_string_equal(text, "abcdefgh");
    fclose(file);
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
}

static void read_only_files_are_not_replaced(void **state)
{
    (void)state;
    char path[] = "/tmp/enhope-base-XXXXXX", expected[128];
    eh_atomic_file file;
    const int fd = mkstemp(path);
    assert_true(fd >= 0);
    assert_int_equal(fchmod(fd, 0444), 0);
    close(fd);
    snprintf(expected, sizeof expected, "%s: is read-only; write to another file, or make it writable", path);
    assert_int_equal(eh_atomic_open(ctx, path, &file), ENHOPE_ERROR_IO);
    assert_string_equal(enhope_error(ctx), expected);
    assert_int_equal(unlink(path), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(messages_are_utf8_without_control_characters),
        cmocka_unit_test(control_characters_are_removed_from_log_lines),
        cmocka_unit_test(reading_continues_after_a_signal),
        cmocka_unit_test(read_only_files_are_not_replaced),
        cmocka_unit_test(minimum_and_maximum_of_integers),
        cmocka_unit_test(failed_copies_of_names_do_not_leak),
        cmocka_unit_test(every_code_point_survives_encoding_and_decoding),
        cmocka_unit_test(invalid_utf8_is_rejected),
        cmocka_unit_test(invalid_utf8_is_read_as_latin1),
        cmocka_unit_test(json_limits_are_checked_before_parsing),
        cmocka_unit_test(json_sizes_are_integers_up_to_2_to_the_53),
        cmocka_unit_test(duplicate_json_names_are_rejected),
        cmocka_unit_test(commit_replaces_the_file),
    };
    return cmocka_run_group_tests(tests, create, destroy);
}
