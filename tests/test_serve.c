/* The parts of enhope serve that need no network: the scanner of JSON, requests, and the text of
 * answers. */
#include <float.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/base.h"
#include "serve/scan.h"
#include "serve/serve.h"

static scan scan_of(char *text)
{
    return (scan){.begin = text, .at = text, .end = text + strlen(text)};
}

/* ---- numbers ---- */

static void assert_number(const char *text, double expected)
{
    char copy[2048];
    double value = 0;
    snprintf(copy, sizeof copy, "%s", text);
    scan s = scan_of(copy);
    assert_true(scan_number(&s, &value));
    assert_memory_equal(&value, &expected, sizeof value);
    assert_ptr_equal(s.at, s.end);
}

static void numbers_are_those_of_strtod(void **state)
{
    (void)state;
    static const char *const formats[] = {"%.17g", "%.9g", "%.6g", "%.3e", "%.25e"};
    static const char *const texts[] = {"0",
                                        "-0",
                                        "0.1",
                                        "1e22",
                                        "1e23",
                                        "9007199254740993",
                                        "1e-22",
                                        "1e-23",
                                        "123e-5",
                                        "5e-324",
                                        "0.0",
                                        "1E+5",
                                        "18446744073709551616",
                                        "0.000000000000000000000000000000000000000001"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) assert_number(texts[i], strtod(texts[i], NULL));
    for (uint64_t i = 0; i < 20000; i++) {
        char text[64];
        const double scale = pow(10, (double)(i % 60) - 30);
        snprintf(text, sizeof text, formats[i % 5], eh_random_normal(3, 7, i) * scale);
        assert_number(text, strtod(text, NULL));
    }
}

static void other_texts_are_no_numbers(void **state)
{
    (void)state;
    static const char *const bad[] = {"",    "-",   "+1",  ".5",  "1.",    "01",     "1e",       "1e+",
                                      "NaN", "inf", "0x1", "--1", "1e999", "-1e999", "Infinity", "-Infinity"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        char copy[32];
        double value;
        snprintf(copy, sizeof copy, "%s", bad[i]);
        scan s = scan_of(copy);
        if (scan_number(&s, &value)) assert_ptr_not_equal(s.at, s.end);
    }
    char *digits = calloc(1, 3000);
    double value;
    digits[0] = '1';
    memset(digits + 1, '7', 2900);
    scan s = scan_of(digits);
    assert_false(scan_number(&s, &value));
    free(digits);
}

static void floats_are_read_back(void **state)
{
    (void)state;
    for (uint64_t i = 0; i < 200000; i++) {
        float value;
        const uint32_t bits = (uint32_t)eh_random_u64(5, 7, i);
        if (i % 2)
            memcpy(&value, &bits, sizeof value);
        else
            value = (float)(eh_random_normal(5, 8, i) * pow(10, (double)(i % 17) - 7));
        if (!isfinite(value)) continue;
        http_text text = {0};
        text_real(&text, value);
        text_put(&text, "", 1);
        const float again = strtof(text.bytes, NULL);
        assert_true(again == value);
        free(text.bytes);
    }
}

static void assert_real(float value, const char *expected)
{
    http_text text = {0};
    text_real(&text, value);
    text_put(&text, "", 1);
    assert_string_equal(text.bytes, expected);
    free(text.bytes);
}

static void floats_are_short(void **state)
{
    (void)state;
    assert_real(0, "0");
    assert_real(1, "1");
    assert_real(-0.1F, "-0.1");
    assert_real(0.05F, "0.05");
    assert_real(123456.789F, "123456.79");
    assert_real(16777216, "16777216");
    assert_real(999999999.0F, "1e+09");
    assert_real(0.00001F, "0.00001");
    assert_real(1.0F / 3, "0.33333334");
    assert_real(FLT_MAX, "3.40282347e+38");
    assert_real(FLT_TRUE_MIN, "1.40129846e-45");
    assert_real(NAN, "null");
    assert_real(-INFINITY, "null");
}

static void integers_are_exact(void **state)
{
    (void)state;
    static const int64_t values[] = {0, 7, -1, 1234567890123, INT64_MAX, INT64_MIN};
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        http_text text = {0};
        text_integer(&text, values[i]);
        text_put(&text, "", 1);
        assert_int_equal(strtoll(text.bytes, NULL, 10), values[i]);
        free(text.bytes);
    }
}

/* ---- requests ---- */

static serve_request request;
static char message[SERVE_ERROR];

/* json: bytes of JSON before binary data; NULL: the body is JSON. */
static int parse_body(char *body, size_t size, const char *json)
{
    const http_exchange x = {.json_length = json, .body = {body, size, size}};
    return serve_request_parse(&request, &x, message);
}

static int parse(const char *text)
{
    static char body[8192];
    const size_t size = strlen(text);
    assert_true(size < sizeof body);
    memcpy(body, text, size);
    return parse_body(body, size, NULL);
}

static void requests_have_tensors(void **state)
{
    (void)state;
    assert_int_equal(parse("{\"id\":\"a\\u00e9\",\"parameters\":{\"x\":[1,{\"y\":null}]},\"inputs\":[{\"name\":\"in\","
                           "\"datatype\":\"FP32\",\"data\":[[1.5,-2],[3e1,4],[5,6]],\"shape\":[3,2]},"
                           "{\"data\":[null,\"b\\n\"],\"name\":\"t\",\"shape\":[2],\"datatype\":\"BYTES\"},"
                           "{\"name\":\"w\",\"data\":[true,null,false],\"shape\":[3],\"datatype\":\"BOOL\"}],"
                           "\"outputs\":[{\"name\":\"embedding\",\"parameters\":{}}]} "),
                     0);
    assert_string_equal(request.id, "a\xc3\xa9");
    assert_int_equal(request.tensors, 3);
    const serve_tensor *t = request.tensor;
    assert_string_equal(t[0].name, "in");
    assert_int_equal(t[0].rank, 2);
    assert_int_equal(t[0].depth, 2);
    assert_int_equal(t[0].inner, 2);
    assert_int_equal(t[0].count, 6);
    assert_true(request.number[t[0].first + 2] == 30);
    assert_int_equal(t[1].kind, SERVE_TEXTS);
    assert_null(request.text[t[1].first]);
    assert_string_equal(request.text[t[1].first + 1], "b\n");
    assert_int_equal(t[2].kind, SERVE_BOOLEANS);
    assert_true(isnan(request.number[t[2].first + 1]));
    assert_false(request.wanted[SERVE_LABEL]);
    assert_true(request.wanted[SERVE_EMBED]);
}

static void all_outputs_are_the_default(void **state)
{
    (void)state;
    assert_int_equal(parse("{\"outputs\":[],\"inputs\":[]}"), 0);
    for (int i = 0; i < SERVE_OUTPUTS; i++) assert_true(request.wanted[i]);
}

static void uneven_data_is_marked(void **state)
{
    (void)state;
    assert_int_equal(parse("{\"inputs\":[{\"data\":[[1,2],[3]]}]}"), 0);
    assert_int_equal(request.tensor[0].inner, -1);
    assert_int_equal(parse("{\"inputs\":[{\"data\":[]}]}"), 0);
    assert_int_equal(request.tensor[0].count, 0);
}

static void malformed_requests_are_refused(void **state)
{
    (void)state;
    static const char *const bad[] = {
        "",
        "1",
        "[]",
        "{",
        "{\"inputs\":[{\"data\":[1,[2]]}]}",
        "{\"inputs\":[{\"data\":[[1],2]}]}",
        "{\"inputs\":[{\"data\":[[]]}]}",
        "{\"inputs\":[{\"data\":[1,\"a\"]}]}",
        "{\"inputs\":[{\"data\":[true,1]}]}",
        "{\"inputs\":[{\"data\":[NaN]}]}",
        "{\"inputs\":[{\"data\":[1,]}]}",
        "{\"inputs\":[{\"data\":1}]}",
        "{\"inputs\":[{\"data\":[1],\"data\":[2]}]}",
        "{\"inputs\":[{\"data\":[[[[[[[[[1]]]]]]]]]}]}",
        "{\"inputs\":[{\"shape\":[1.5]}]}",
        "{\"inputs\":[{\"shape\":[-1]}]}",
        "{\"inputs\":[{\"shape\":[]}]}",
        "{\"inputs\":[{\"shape\":[1],\"shape\":[1]}]}",
        "{\"inputs\":[{\"shape\":[1,1,1,1,1,1,1,1,1]}]}",
        "{\"inputs\":[{\"name\":7}]}",
        "{\"inputs\":[],\"inputs\":[]}",
        "{\"inputs\":[]}x",
        "{\"outputs\":[{\"name\":\"other\"}]}",
        "{\"outputs\":[{}]}",
        "{\"id\":1}",
        "{\"id\":\"\\u0000\"}",
        "{\"id\":\"\\ud800\"}",
        "{\"id\":\"\xff\"}",
        "{\"id\":\"\xed\xa0\x80\"}",
        "{\"id\":\"\xc0\x80\"}",
        "{\"id\":\"a\nb\"}",
        "{\"id\":\"a",
        "{\"a\":tru}",
        "{a:1}",
        "{\"a\":[1,2}}",
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        message[0] = '\0';
        assert_int_equal(parse(bad[i]), 400);
        assert_true(strlen(message) > 10);
    }
    char deep[400] = "{\"a\":";
    memset(deep + 5, '[', 100);
    assert_int_equal(parse(deep), 400);
    assert_string_equal(message, "byte 71 of the body: values are nested too deeply");
}

/* A prefix of a request, or a change of a byte, is refused or parsed, and never crashes. */
static void damaged_requests_never_crash(void **state)
{
    (void)state;
    static const char good[] =
        "{\"id\":\"\\ud83d\\ude00\",\"p\":{\"x\":[1,{\"y\":null}]},\"inputs\":[{\"name\":\"in\\n\",\"datatype\":"
        "\"FP32\",\"data\":[[1.5e0,-2],[null,4]],\"shape\":[2,2]}],\"outputs\":[{\"name\":\"label\"}]}";
    static const char other[] = "\"\\{}[],:un\x80"
                                "9.e-t";
    for (size_t i = 0; i + 1 < sizeof good; i++) {
        char *text = malloc(sizeof good); /* exact, so that the sanitizer finds a read after the end */
        memcpy(text, good, sizeof good);
        assert_int_equal(parse_body(text, i, NULL), 400);
        free(text);
        for (const char *with = other; *with; with++) {
            text = malloc(sizeof good - 1);
            memcpy(text, good, sizeof good - 1);
            text[i] = *with;
            parse_body(text, sizeof good - 1, NULL);
            free(text);
        }
    }
}

/* ---- binary data ---- */

/* Parses JSON that binary data follows. */
static int parse_binary(const char *json, const char *bytes, size_t size)
{
    const size_t length = strlen(json);
    char header[24];
    static char *body; /* exact, so that the sanitizer finds a read after the end */
    free(body);
    body = malloc(length + size + (length + size == 0));
    memcpy(body, json, length);
    memcpy(body + length, bytes, size);
    snprintf(header, sizeof header, "%zu", length);
    return parse_body(body, length + size, header);
}

/* One tensor of this type, whose elements are all numbers or texts. */
static int parse_elements(const char *type, const char *bytes, size_t size)
{
    char json[256];
    snprintf(json, sizeof json,
             "{\"inputs\":[{\"name\":\"x\",\"shape\":[1],\"datatype\":\"%s\",\"parameters\":{\"a\":[{}],"
             "\"binary_data_size\":%zu}}]}",
             type, size);
    return parse_binary(json, bytes, size);
}

static void binary_numbers_are_little_endian(void **state)
{
    (void)state;
    static const struct {
        const char *type, *bytes;
        size_t size;
        double value;
    } cases[] = {
        {"FP32", "\0\0\x20\xc0", 4, -2.5},
        {"FP64", "\x9a\x99\x99\x99\x99\x99\xb9\x3f", 8, 0.1},
        {"FP16", "\xcd\xc0", 2, -2.400390625},
        {"FP16", "\x01\x00", 2, 0x1p-24},
        {"FP16", "\xff\x7b", 2, 65504},
        {"FP16", "\x00\xfc", 2, -INFINITY},
        {"UINT8", "\xc8", 1, 200},
        {"INT8", "\xc8", 1, -56},
        {"UINT16", "\x01\xff", 2, 65281},
        {"INT16", "\x01\xff", 2, -255},
        {"UINT32", "\x01\0\0\x80", 4, 2147483649},
        {"INT32", "\x01\0\0\x80", 4, -2147483647},
        {"UINT64", "\x07\0\0\0\x01\0\0\0", 8, 4294967303},
        {"INT64", "\xf9\xff\xff\xff\xff\xff\xff\xff", 8, -7},
        {"BOOL", "\x01", 1, 1},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_int_equal(parse_elements(cases[i].type, cases[i].bytes, cases[i].size), 0);
        assert_int_equal(request.tensor[0].count, 1);
        assert_true(request.tensor[0].given);
        assert_true(request.number[request.tensor[0].first] == cases[i].value);
    }
    assert_int_equal(parse_elements("FP16", "\x01\x7e", 2), 0);
    assert_true(isnan(request.number[0]));
}

static void binary_tensors_follow_in_their_order(void **state)
{
    (void)state;
    static const char json[] =
        "{\"parameters\":{\"binary_data_output\":true},\"inputs\":["
        "{\"name\":\"t\",\"shape\":[3],\"datatype\":\"BYTES\",\"parameters\":{\"binary_data_size\":18}},"
        "{\"name\":\"j\",\"shape\":[2],\"datatype\":\"BYTES\",\"data\":[null,\"q\"]},"
        "{\"name\":\"u\",\"shape\":[2],\"datatype\":\"UINT8\",\"parameters\":{\"binary_data_size\":2}}],"
        "\"outputs\":[{\"name\":\"label\",\"parameters\":{\"binary_data\":false}},"
        "{\"name\":\"embedding\"}]}";
    assert_int_equal(parse_binary(json, "\3\0\0\0\xe2\x82\xac\0\0\0\0\3\0\0\0abc\5\6", 20), 0);
    const serve_tensor *t = request.tensor;
    assert_int_equal(t[0].count, 3);
    assert_string_equal(request.text[t[0].first], "\xe2\x82\xac");
    assert_string_equal(request.text[t[0].first + 1], "");
    assert_string_equal(request.text[t[0].first + 2], "abc");
    assert_string_equal(request.text[t[1].first + 1], "q");
    assert_int_equal(t[2].count, 2);
    assert_true(request.number[t[2].first] == 5 && request.number[t[2].first + 1] == 6);
    assert_int_equal(request.binary[SERVE_LABEL], 0);
    assert_int_equal(request.binary[SERVE_EMBED], 1);
}

static void malformed_binary_data_is_refused(void **state)
{
    (void)state;
    static const struct {
        const char *type, *bytes;
        size_t size;
        const char *part;
    } bad[] = {
        {"FP32", "abc", 3, "not a multiple"},
        {"BYTES", "\1\0\0", 3, "a string is longer"},
        {"BYTES", "\4\0\0\0abc", 7, "a string is longer"},
        {"BYTES",
         "\xff\xff\xff\xff"
         "abc",
         7, "a string is longer"},
        {"BYTES", "\1\0\0\0\xff", 5, "not UTF-8"},
        {"BYTES", "\2\0\0\0a\0", 6, "NUL"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_int_equal(parse_elements(bad[i].type, bad[i].bytes, bad[i].size), 400);
        assert_non_null(strstr(message, bad[i].part));
    }
    static const char *const json[][2] = {
        {"{\"inputs\":[{\"datatype\":\"UINT8\",\"parameters\":{\"binary_data_size\":2}}]}", "the body ends within"},
        {"{\"inputs\":[{\"datatype\":\"UINT8\",\"parameters\":{\"binary_data_size\":1.5}}]}", "a number of bytes"},
        {"{\"inputs\":[{\"datatype\":\"UINT8\",\"parameters\":{\"binary_data_size\":-2}}]}", "a number of bytes"},
        {"{\"inputs\":[{\"data\":[1],\"parameters\":{\"binary_data_size\":1}}]}", "data and binary data"},
        {"{\"inputs\":[]}", "bytes follow"},
    };
    for (size_t i = 0; i < sizeof json / sizeof *json; i++) {
        assert_int_equal(parse_binary(json[i][0], "a", 1), 400);
        assert_non_null(strstr(message, json[i][1]));
    }
    char body[] = "{\"inputs\":[]}";
    static const char *const length[] = {"", "0", "-1", "1x", "14", "99999999999999999999", "{"};
    for (size_t i = 0; i < sizeof length / sizeof *length; i++) {
        assert_int_equal(parse_body(body, sizeof body - 1, length[i]), 400);
        assert_non_null(strstr(message, "Inference-Header-Content-Length"));
    }
    assert_int_equal(parse_body(body, sizeof body - 1, "13"), 0);
}

static int close_request(void **state)
{
    (void)state;
    serve_request_free(&request);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_are_those_of_strtod),
        cmocka_unit_test(other_texts_are_no_numbers),
        cmocka_unit_test(floats_are_read_back),
        cmocka_unit_test(floats_are_short),
        cmocka_unit_test(integers_are_exact),
        cmocka_unit_test(requests_have_tensors),
        cmocka_unit_test(all_outputs_are_the_default),
        cmocka_unit_test(uneven_data_is_marked),
        cmocka_unit_test(malformed_requests_are_refused),
        cmocka_unit_test(damaged_requests_never_crash),
        cmocka_unit_test(binary_numbers_are_little_endian),
        cmocka_unit_test(binary_tensors_follow_in_their_order),
        cmocka_unit_test(malformed_binary_data_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, close_request);
}
