/* The common parts of readers, one by one: labels, windows on texts, the format and the files of a
 * name, and gzip members at the border of the buffer. */
#define _XOPEN_SOURCE 700
#include <math.h>

#include "read_support.h"

static char lines[2000];

static void keep_line(enhope_log_level level, const char *line, void *user)
{
    (void)level, (void)user;
    if (strlen(lines) + strlen(line) + 2 < sizeof lines) strcat(strcat(lines, line), "\n");
}

/* ---- labels ---- */

static void numbers_are_one_class_in_any_spelling(void **state)
{
    (void)state;
    static const char *const spelled[][2] = {
        {"+1", "1"},        {"1.0", "1"},     {"1.", "1"},      {"+1.000", "1"},  {"-1.0", "-1"}, {"01", "01"},
        {"01.0", "01"},     {"1.50", "1.50"}, {"1.05", "1.05"}, {".0", ".0"},     {"+.0", ".0"},  {"-.0", "-.0"},
        {"1.0e0", "1.0e0"}, {"1e0", "1e0"},   {"+x", "+x"},     {"1.0x", "1.0x"}, {"+", "+"},     {"0.", "0"},
    };
    for (size_t i = 0; i < sizeof spelled / sizeof *spelled; i++) {
        eh_labels l = {.id = NULL};
        const char *text = spelled[i][0];
        assert_int_equal(eh_labels_find(&l, text, strlen(text)), -1);
        assert_int_equal(eh_labels_add(ctx, &l, "other", 5), ENHOPE_OK);
        assert_int_equal(eh_labels_add(ctx, &l, text, strlen(text)), ENHOPE_OK);
        assert_int_equal(l.n, 2);
        assert_int_equal(l.id[1], 1);
        assert_string_equal(l.name[1], spelled[i][1]);
        assert_int_equal(eh_labels_find(&l, text, strlen(text)), 1);
        assert_int_equal(eh_labels_find(&l, spelled[i][1], strlen(spelled[i][1])), 1);
        assert_int_equal(eh_labels_find(&l, "othe", 4), -1);
        assert_int_equal(eh_labels_find(&l, "", 0), -1);
        eh_labels_free(&l);
        assert_int_equal(l.n + l.c + l.slots, 0);
    }
}

static void only_empty_texts_and_nan_are_missing(void **state)
{
    (void)state;
    static const char *const missing[] = {"", "nan", "NaN", "NAN", "nAn"}, *const others[] = {"na",  "nat",  "inf",
                                                                                              "0",   "nan0", "-nan",
                                                                                              "xan", "no"};
    for (size_t i = 0; i < sizeof missing / sizeof *missing; i++)
        assert_true(eh_labels_missing(missing[i], strlen(missing[i])));
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        assert_false(eh_labels_missing(others[i], strlen(others[i])));
}

static void thousands_of_classes_keep_their_numbers(void **state)
{
    (void)state;
    enum { N = 5000, CLASSES = 1301 };
    eh_labels l = {.id = NULL};
    char name[20];
    for (int i = 0; i < N; i++) {
        snprintf(name, sizeof name, "class %d", i * 7 % CLASSES);
        assert_int_equal(eh_labels_add(ctx, &l, i % 50 == 49 ? "" : name, i % 50 == 49 ? 0 : strlen(name)), ENHOPE_OK);
    }
    assert_int_equal(l.n, N);
    assert_int_equal(l.c, CLASSES);
    for (int i = 0; i < N; i++) {
        snprintf(name, sizeof name, "class %d", i * 7 % CLASSES);
        assert_int_equal(l.id[i] < 0, i % 50 == 49);
        if (l.id[i] >= 0) assert_string_equal(l.name[l.id[i]], name);
        const int32_t found = eh_labels_find(&l, name, strlen(name));
        assert_string_equal(l.name[found], name);
    }
    eh_labels_free(&l);
}

static void numbers_become_labels(void **state)
{
    (void)state;
    eh_labels l = {.id = NULL};
    static const double values[] = {2, NAN, 0.1, -3, 2, -0.0};
    static const int32_t expected[] = {0, -1, 1, 2, 0, 3};
    for (int i = 0; i < 6; i++) assert_int_equal(eh_labels_add_number(ctx, &l, values[i]), ENHOPE_OK);
    assert_memory_equal(l.id, expected, sizeof expected);
    assert_string_equal(l.name[1], "0.1");
    assert_int_equal(eh_labels_add_number(ctx, &l, -INFINITY), ENHOPE_ERROR_DATA);
    assert_string_equal(enhope_error(ctx), "label 7 is infinite: expected a finite number");
    assert_int_equal(eh_labels_add(ctx, &l, "a\xff", 2), ENHOPE_ERROR_DATA);
    assert_string_equal(enhope_error(ctx), "a label is not UTF-8 text: convert the file first");
    eh_labels_free(&l);
}

/* The labels, one letter of `text` for each sample, become a data set. */
static void check_order(const char *const *names, int n, const char *const *sorted, int c, const char *logged)
{
    enhope_dataset *data = NULL;
    eh_labels l = {.id = NULL};
    int32_t rank[8];
    assert_int_equal(eh_new(ctx, "a data set", 1, sizeof *data, (void **)&data), ENHOPE_OK);
    data->x.n = n;
    for (int i = 0; i < n; i++) assert_int_equal(eh_labels_add(ctx, &l, names[i], strlen(names[i])), ENHOPE_OK);
    assert_int_equal(eh_labels_rank(ctx, l.name, l.c, rank), ENHOPE_OK);
    for (int32_t k = 0; k < l.c; k++)
        if (rank[k] >= 0)
            assert_string_equal(sorted[rank[k]], l.name[k]);
        else
            assert_string_equal("-1", l.name[k]);
    lines[0] = '\0';
    enhope_context_set_log(ctx, keep_line, NULL);
    assert_int_equal(eh_labels_attach(ctx, &l, data), ENHOPE_OK);
    enhope_context_set_log(ctx, NULL, NULL);
    assert_string_equal(lines, logged);
    assert_int_equal(data->c, c);
    for (int i = 0; i < n; i++) {
        const bool gone = *logged && !strcmp(names[i], "-1");
        assert_int_equal(data->label[i] < 0, gone);
        if (!gone) assert_string_equal(data->class_name[data->label[i]], names[i]);
    }
    for (int k = 0; k < c; k++) assert_string_equal(data->class_name[k], sorted[k]);
    eh_labels_free(&l);
    enhope_dataset_free(data);
}

static void classes_are_sorted_as_numbers_if_all_are(void **state)
{
    (void)state;
#define TEXTS(...) ((const char *const[]){__VA_ARGS__})
    check_order(TEXTS("10", "9", "1e1", "-2.5", "9"), 5, TEXTS("-2.5", "9", "10", "1e1"), 4, "");
    check_order(TEXTS("b", "10", "9", "a"), 4, TEXTS("10", "9", "a", "b"), 4, "");
    check_order(TEXTS("2", "-1", "0"), 3, TEXTS("0", "2"), 2, "label -1 means unlabeled: 1 sample\n");
    check_order(TEXTS("-1", "7", "0", "-1", "12"), 5, TEXTS("0", "7", "12"), 3,
                "label -1 means unlabeled: 2 samples\n");
    check_order(TEXTS("0", "12", "3", "-1"), 4, TEXTS("0", "3", "12"), 3, "label -1 means unlabeled: 1 sample\n");
    check_order(TEXTS("1", "-1"), 2, TEXTS("-1", "1"), 2, "");
    check_order(TEXTS("-1", "0", "1.5"), 3, TEXTS("-1", "0", "1.5"), 3, "");
    check_order(TEXTS("-1", "0", "-2"), 3, TEXTS("-2", "-1", "0"), 3, "");
    check_order(TEXTS("only"), 1, TEXTS("only"), 1, "");
#undef TEXTS
}

static void labels_that_are_all_missing_leave_no_label(void **state)
{
    (void)state;
    enhope_dataset *data = NULL;
    eh_labels l = {.id = NULL};
    assert_int_equal(eh_new(ctx, "a data set", 1, sizeof *data, (void **)&data), ENHOPE_OK);
    data->x.n = 3;
    for (int i = 0; i < 3; i++) assert_int_equal(eh_labels_add(ctx, &l, "", 0), ENHOPE_OK);
    assert_int_equal(eh_labels_attach(ctx, &l, data), ENHOPE_OK);
    assert_null(data->label);
    assert_int_equal(data->c, 0);
    eh_labels_free(&l);
    enhope_dataset_free(data);
}

/* ---- texts ---- */

static void a_guess_lies_between_an_eighth_and_one_per_byte(void **state)
{
    (void)state;
    static const struct {
        int64_t stored, left;
        size_t used, at;
        int64_t items, guess;
    } cases[] = {
        {1000, -1, 0, 0, 7, 7},       {1000, 500, 0, 0, 0, 1},         {1000, -1, 0, 0, 0, 1},
        {1000, -1, 0, 0, -3, 1},      {1000, 1000, 0, 0, 5, 5},        {1000, 999, 0, 0, 5, 1000},
        {1000, 500, 100, 60, 40, 63}, {1000, 400, 100, 0, 50, 67},     {1000, 10, 0, 0, 800, 11},
        {1000, 0, 0, 0, 800, 1},      {100000, 100, 0, 0, 90000, 101}, {100000, 5000, 0, 0, 9000, 1126},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const eh_text text = {
            .stream = {.stored = cases[i].stored, .left = cases[i].left}, .used = cases[i].used, .at = cases[i].at};
        assert_int_equal(eh_text_guess(&text, cases[i].items), cases[i].guess);
    }
}

static void the_share_of_a_stream_follows_its_bytes(void **state)
{
    (void)state;
    unsigned char buffer[400];
    size_t got;
    eh_stream s;
    for (int i = 0; i < 400; i++) buffer[i] = (unsigned char)(i * 37 % 251);
    write_bytes("share", buffer, 400);
    assert_int_equal(eh_stream_open(ctx, "share", &s), ENHOPE_OK);
    assert_int_equal(s.left, 400);
    assert_int_equal(s.stored, 400);
    assert_true(eh_stream_share(&s) == 0);
    assert_int_equal(eh_stream_read(ctx, &s, buffer, 100, &got), ENHOPE_OK);
    assert_true(eh_stream_share(&s) == 0.25);
    assert_int_equal(eh_stream_read(ctx, &s, buffer, 400, &got), ENHOPE_OK);
    assert_int_equal(got, 300);
    assert_int_equal(s.left, 0);
    assert_true(eh_stream_share(&s) == 1);
    assert_int_equal(eh_stream_read(ctx, &s, buffer, 400, &got), ENHOPE_OK);
    assert_int_equal(got, 0);
    eh_stream_close(&s);
    eh_stream_close(&s); /* has no effect */
    write_gz("share.gz", buffer, 400);
    assert_int_equal(eh_stream_open(ctx, "share.gz", &s), ENHOPE_OK);
    assert_int_equal(s.left, -1);
    const double before = eh_stream_share(&s);
    assert_int_equal(eh_stream_read(ctx, &s, buffer, 400, &got), ENHOPE_OK);
    assert_int_equal(got, 400);
    assert_true(before >= 0 && before < eh_stream_share(&s) && eh_stream_share(&s) <= 1);
    eh_stream_close(&s);
    assert_true(isnan(eh_stream_share(&(eh_stream){.stored = 0})));
}

static void a_byte_order_mark_is_skipped(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        size_t at;
    } cases[] = {{"\xEF\xBB\xBF", 3}, {"\xEF\xBB\xBFx", 3}, {"\xEF\xBB", 0}, {"\xEF\xBB\xBE", 0}, {"x\xEF\xBB\xBF", 0}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        eh_text text;
        write_text("mark.txt", cases[i].text);
        assert_int_equal(eh_text_open(ctx, "mark.txt", &text), ENHOPE_OK);
        assert_int_equal(text.at, cases[i].at);
        assert_int_equal(text.used, strlen(cases[i].text));
        assert_int_equal(text.line, 1);
        assert_true(text.end);
        eh_text_close(&text);
    }
    eh_text text;
    write_gz("none.txt.gz", "", 0);
    assert_int_equal(eh_text_open(ctx, "none.txt.gz", &text), ENHOPE_ERROR_FORMAT);
    assert_string_equal(enhope_error(ctx), "none.txt.gz: the file is empty");
    write_bytes("nul.txt", "ab\0c", 4);
    assert_int_equal(eh_text_open(ctx, "nul.txt", &text), ENHOPE_ERROR_FORMAT);
    assert_string_equal(enhope_error(ctx), "nul.txt: contains NUL bytes: expected a text file in UTF-8");
}

/* Lines of a file, one of them longer than the window. */
static void lines_longer_than_the_window_are_whole(void **state)
{
    (void)state;
    enum { SIZE = 1500000 };
    char *all = malloc(SIZE);
    eh_text text;
    assert_non_null(all);
    for (int i = 0; i < SIZE; i++) all[i] = (char)('a' + i * 7919LL % 26);
    for (int i = 1000; i < 400000; i += 997) all[i] = '\n';
    write_bytes("long.txt", all, SIZE);
    assert_int_equal(eh_text_open(ctx, "long.txt", &text), ENHOPE_OK);
    size_t done = 0;
    for (;;) {
        const char *line = text.buffer + text.at, *newline = memchr(line, '\n', text.used - text.at);
        if (!newline && !text.end) {
            assert_int_equal(eh_text_more(ctx, &text), ENHOPE_OK);
            continue;
        }
        const size_t length = newline ? (size_t)(newline - line) + 1 : text.used - text.at;
        assert_memory_equal(line, all + done, length);
        text.at += length;
        done += length;
        if (!newline) break;
    }
    assert_int_equal(done, SIZE);
    eh_text_close(&text);
    free(all);
}

static void texts_in_chunks_are_limited(void **state)
{
    (void)state;
    enum { CHUNK = 1 << 22, MAX = 1 << 26 };
    eh_text text;
    char *chunk = malloc(CHUNK + 1);
    assert_non_null(chunk);
    for (int i = 0; i <= CHUNK; i++) chunk[i] = (char)('a' + i % 23);
    assert_int_equal(eh_text_open_chunks(ctx, "chunks", &text), ENHOPE_OK);
    assert_int_equal(eh_text_append(ctx, &text, chunk, CHUNK), ENHOPE_OK);
    text.at = 5; /* these bytes have been used */
    assert_int_equal(eh_text_append(ctx, &text, "tail", 4), ENHOPE_OK);
    assert_int_equal(text.used, CHUNK - 1);
    assert_int_equal(text.at, 0);
    assert_memory_equal(text.buffer, chunk + 5, CHUNK - 5);
    assert_memory_equal(text.buffer + CHUNK - 5, "tail", 4);
    text.used = 0;
    for (int i = 0; i < MAX / CHUNK; i++) assert_int_equal(eh_text_append(ctx, &text, chunk, CHUNK), ENHOPE_OK);
    assert_int_equal(text.used, MAX);
    text.line = 17;
    assert_int_equal(eh_text_append(ctx, &text, chunk, 1), ENHOPE_ERROR_FORMAT);
    assert_string_equal(enhope_error(ctx), "chunks:17: a record has more than 67108864 bytes; close its quotes");
    text.at = 1;
    assert_int_equal(eh_text_append(ctx, &text, "z", 1), ENHOPE_OK);
    assert_int_equal(text.buffer[MAX - 1], 'z');
    text.at = text.used - 2;
    assert_int_equal(eh_text_append(ctx, &text, "ab\0cd", 5), ENHOPE_ERROR_FORMAT);
    assert_string_equal(enhope_error(ctx), "chunks: contains NUL bytes: expected text");
    assert_int_equal(text.used, 4); /* the text before the NUL */
    eh_text_close(&text);
    free(chunk);
}

/* ---- gzip ---- */

/* A member that stores its bytes without compression. Returns its size. */
static size_t store_member(unsigned char *out, const unsigned char *bytes, size_t size)
{
    z_stream s;
    memset(&s, 0, sizeof s);
    assert_int_equal(deflateInit2(&s, 0, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
    s.next_in = (unsigned char *)(uintptr_t)bytes, s.avail_in = (unsigned)size;
    s.next_out = out, s.avail_out = (unsigned)size + 1000;
    assert_int_equal(deflate(&s, Z_FINISH), Z_STREAM_END);
    deflateEnd(&s);
    return s.total_out;
}

static void members_may_begin_anywhere_in_the_buffer(void **state)
{
    (void)state;
    enum { BUFFER = 1 << 17, N = 2 * BUFFER };
    unsigned char *bytes = malloc(N), *file = malloc(N + 4000), *back = malloc(N);
    assert_true(bytes && file && back);
    for (int i = 0; i < N; i++) bytes[i] = (unsigned char)(eh_random_u64(7, 3, (uint64_t)i) >> 20);
    const size_t overhead = store_member(file, bytes, BUFFER) - BUFFER;
    for (size_t first = BUFFER - overhead - 4; first < BUFFER - overhead + 4; first++) {
        const size_t size = store_member(file, bytes, first), second = 5000;
        write_bytes("m.gz", file, size + store_member(file + size, bytes + first, second));
        eh_stream s;
        size_t got;
        assert_int_equal(eh_stream_open(ctx, "m.gz", &s), ENHOPE_OK);
        assert_int_equal(eh_stream_read(ctx, &s, back, N, &got), ENHOPE_OK);
        assert_int_equal(got, first + second);
        assert_memory_equal(back, bytes, got);
        eh_stream_close(&s);
        write_bytes("m.gz", file, size + 1); /* one byte, which is no member */
        assert_int_equal(eh_stream_open(ctx, "m.gz", &s), ENHOPE_OK);
        assert_int_equal(eh_stream_read(ctx, &s, back, N, &got), ENHOPE_OK);
        assert_int_equal(got, first);
        assert_int_equal(eh_stream_read(ctx, &s, back, N, &got), ENHOPE_OK);
        assert_int_equal(got, 0);
        eh_stream_close(&s);
    }
    free(bytes);
    free(file);
    free(back);
}

/* A plain file in steps of every size. */
static void plain_bytes_are_read_in_steps_of_any_size(void **state)
{
    (void)state;
    enum { BUFFER = 1 << 17, N = 3 * BUFFER + 1234 };
    static const size_t steps[] = {1, 2, BUFFER - 3, 1, BUFFER, BUFFER + 1, 7, BUFFER};
    unsigned char *bytes = malloc(N), *back = malloc(N + 10);
    assert_true(bytes && back);
    for (int i = 0; i < N; i++) bytes[i] = (unsigned char)(eh_random_u64(7, 4, (uint64_t)i) >> 20);
    bytes[0] = 1;
    for (int rotation = 0; rotation < 8; rotation++) {
        eh_stream s;
        size_t done = 0, got = 1;
        write_bytes("plain", bytes, N);
        assert_int_equal(eh_stream_open(ctx, "plain", &s), ENHOPE_OK);
        for (int i = rotation; got > 0; i++) {
            const size_t want = steps[i % 8] < N + 10 - done ? steps[i % 8] : N + 10 - done;
            assert_int_equal(eh_stream_read(ctx, &s, back + done, want, &got), ENHOPE_OK);
            assert_true(got == want || done + got == N);
            done += got;
        }
        assert_int_equal(done, N);
        assert_memory_equal(back, bytes, N);
        eh_stream_close(&s);
    }
    free(bytes);
    free(back);
    for (size_t size = 1; size < 3; size++) { /* of the two bytes of gzip's magic */
        eh_stream s;
        size_t got;
        unsigned char head[4];
        write_bytes("plain", "\x1F\x8C", size);
        assert_int_equal(eh_stream_open(ctx, "plain", &s), ENHOPE_OK);
        assert_int_equal(s.left, size);
        assert_int_equal(eh_stream_read(ctx, &s, head, 4, &got), ENHOPE_OK);
        assert_int_equal(got, size);
        eh_stream_close(&s);
    }
}

/* ---- formats and files ---- */

static const char *format_of(const char *path)
{
    const eh_format *format = NULL;
    if (eh_format_find(ctx, path, &format)) return enhope_error(ctx);
    return format->name;
}

static void formats_follow_from_names(void **state)
{
    (void)state;
    static const char *const cases[][2] = {
        {"a.npy", "NPY"},         {"A.NPY", "NPY"},         {"a.npy.gz", "NPY"},
        {"a.npz", "NPZ"},         {"a.mat", "MAT"},         {"a.idx", "IDX"},
        {"x-ubyte", "IDX"},       {"x.ubyte.GZ", "IDX"},    {"a.libsvm", "LIBSVM"},
        {"a.svm", "LIBSVM"},      {"a.svmlight", "LIBSVM"}, {"a.csv", "CSV"},
        {"a.tsv.gz", "CSV"},      {"a.b.txt", "CSV"},       {"-", "CSV"},
        {"dir.npy/a.csv", "CSV"}, {"dir.csv/b.mat", "MAT"}, {"c.npy.mat", "MAT"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) assert_string_equal(format_of(cases[i][0]), cases[i][1]);
    mkdir("dir.npy", 0700);
    write_text("dir.npy/data", "1,2\n");
    write_text(".npy", "1,2\n"); /* a name and not an ending */
    write_text("npy", "1,2\n");
    write_text(".gz", "1 2:3\n");
    assert_string_equal(format_of("dir.npy/data"), "CSV");
    assert_string_equal(format_of(".npy"), "CSV");
    assert_string_equal(format_of("npy"), "CSV");
    assert_string_equal(format_of(".gz"), "LIBSVM");
    assert_string_equal(format_of("nothing"), "nothing: cannot be opened: No such file or directory");
}

static void formats_follow_from_the_first_bytes(void **state)
{
    (void)state;
    static const char unknown[] = "f: unknown format: expected IDX, CSV, TSV, LIBSVM, NPY, NPZ or MAT";
    static const struct {
        const char *bytes;
        size_t size;
        const char *name;
    } cases[] = {
        {"\x93NUMPY", 6, "NPY"},       {"\x93NUMP", 5, "CSV"},     {"\x93NUMPX", 6, "CSV"},
        {"PK\3\4", 4, "NPZ"},          {"PK\3", 3, "CSV"},         {"PK\3\5", 4, "CSV"},
        {"MATLAB", 6, "MAT"},          {"MATLA", 5, "CSV"},        {"MATLAC", 6, "CSV"},
        {"\0\0\x08\1", 4, "IDX"},      {"\0\0\x0E\1", 4, "IDX"},   {"\0\0\x07\1", 4, unknown},
        {"\0\0\x0F\1", 4, unknown},    {"\0\1\x08\1", 4, unknown}, {"\1\0\x08\1", 4, unknown},
        {"\0\0\x08", 3, unknown},      {"1 2:3", 5, "LIBSVM"},     {"1 2:", 4, "LIBSVM"},
        {"a 20:3 b\nc", 10, "LIBSVM"}, {"1 :3", 4, "CSV"},         {"1 2", 3, "CSV"},
        {"1 /:3", 5, "CSV"},           {"1 :", 3, "CSV"},          {"1 a:3", 5, "CSV"},
        {"a\n1 2:3", 7, "CSV"},        {"a b\n1 2:3", 9, "CSV"},   {"1 2\n:3", 6, "CSV"},
        {"1 2:3\n\0", 7, unknown},     {" 2:3", 4, "LIBSVM"},      {"x\0", 2, unknown},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        write_bytes("f", cases[i].bytes, cases[i].size);
        if (strcmp(format_of("f"), cases[i].name)) fail_msg("case %d: %s", (int)i, format_of("f"));
    }
}

static void check_located(const char *path, const char *x, const char *y, bool pair)
{
    static eh_located at;
    const enhope_source source = {.path = path};
    assert_int_equal(eh_locate(ctx, &source, NULL, &at), ENHOPE_OK);
    assert_int_equal(at.kind, EH_FILES);
    assert_string_equal(at.x, x);
    assert_int_equal(!at.y, !y);
    if (y) assert_string_equal(at.y, y);
    assert_int_equal(at.pair, pair);
    assert_false(at.parts);
    assert_int_equal(eh_locate(ctx, &(enhope_source){.path = path, .label = "none"}, NULL, &at), ENHOPE_OK);
    assert_string_equal(at.x, x);
    assert_null(at.y);
    assert_int_equal(at.pair, pair);
}

static void the_comma_of_a_pair_is_between_two_files(void **state)
{
    (void)state;
    write_text("p,q.csv", "1\n");
    write_text("r.csv", "1\n");
    check_located("p,q.csv", "p,q.csv", NULL, false);
    check_located("r.csv,p,q.csv", "r.csv", "p,q.csv", true);
    check_located("p,q.csv,r.csv", "p,q.csv", "r.csv", true);
    check_located("p,q.csv,p,q.csv", "p,q.csv", "p,q.csv", true);
    check_located("none,other", "none", "other", true);
    check_located("none,other,third", "none", "other,third", true);
    check_located("none", "none", NULL, false);
    static char path[EH_PATH + 10];
    memset(path, 'v', sizeof path - 1);
    path[5] = ',';
    path[EH_PATH - 1] = '\0';
    check_located(path, "vvvvv", path + 6, true);
    path[EH_PATH - 1] = 'v';
    path[EH_PATH] = '\0';
    check_located(path, path, NULL, false);
}

static void folders_of_idx_files_have_usual_names(void **state)
{
    (void)state;
    static const char
        *const inputs[] = {"images-idx3-ubyte", "images.idx3-ubyte", "features-idx2-ubyte", "features.idx2-ubyte"},
               *const labels[] = {"labels-idx1-ubyte", "labels.idx1-ubyte"}, *const halves[] = {"train", "t10k"};
    for (int i = 0; i < 32; i++) {
        char folder[20], x[100], y[100];
        static eh_located at;
        const char *half = halves[i / 4 % 2], *end = i & 16 ? ".gz" : "";
        snprintf(folder, sizeof folder, "idx%d", i);
        mkdir(folder, 0700);
        snprintf(x, sizeof x, "%s/%s-%s%s", folder, half, inputs[i % 4], end);
        snprintf(y, sizeof y, "%s/%s-%s%s", folder, half, labels[i / 8 % 2], end);
        write_text(x, "x");
        const enhope_source source = {.path = folder, .label = "none"};
        const char *part = i / 4 % 2 ? "test" : i % 4 ? "train" : NULL;
        assert_int_equal(eh_locate(ctx, &source, part, &at), ENHOPE_OK); /* without labels */
        assert_string_equal(at.x, x);
        assert_null(at.y);
        assert_true(at.pair && at.parts);
        write_text(y, "y");
        assert_int_equal(eh_locate(ctx, &(enhope_source){.path = folder}, part, &at), ENHOPE_OK);
        assert_string_equal(at.x, x);
        assert_string_equal(at.y, y);
        assert_true(at.pair && at.parts);
        assert_int_equal(eh_locate(ctx, &(enhope_source){.path = folder}, i / 4 % 2 ? "train" : "test", &at),
                         ENHOPE_ERROR_IO);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_are_one_class_in_any_spelling),
        cmocka_unit_test(only_empty_texts_and_nan_are_missing),
        cmocka_unit_test(thousands_of_classes_keep_their_numbers),
        cmocka_unit_test(numbers_become_labels),
        cmocka_unit_test(classes_are_sorted_as_numbers_if_all_are),
        cmocka_unit_test(labels_that_are_all_missing_leave_no_label),
        cmocka_unit_test(a_guess_lies_between_an_eighth_and_one_per_byte),
        cmocka_unit_test(the_share_of_a_stream_follows_its_bytes),
        cmocka_unit_test(a_byte_order_mark_is_skipped),
        cmocka_unit_test(lines_longer_than_the_window_are_whole),
        cmocka_unit_test(texts_in_chunks_are_limited),
        cmocka_unit_test(members_may_begin_anywhere_in_the_buffer),
        cmocka_unit_test(plain_bytes_are_read_in_steps_of_any_size),
        cmocka_unit_test(formats_follow_from_names),
        cmocka_unit_test(formats_follow_from_the_first_bytes),
        cmocka_unit_test(the_comma_of_a_pair_is_between_two_files),
        cmocka_unit_test(folders_of_idx_files_have_usual_names),
    };
    return cmocka_run_group_tests(tests, enter_folder, leave_folder);
}
