/* The readers of IDX, folders, pairs and LIBSVM, and their messages for invalid files. */
#define _XOPEN_SOURCE 700
#include <fcntl.h>
#include <signal.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>

#include "read_support.h"

/* ---- IDX ---- */

static const uint8_t pixels[3 * 2 * 4] = {0, 255, 17, 3,  9,  200, 31,  64,  1, 2,  3,   5,
                                          8, 13,  21, 34, 55, 89,  144, 233, 7, 77, 177, 250};
static const uint32_t image_sizes[3] = {3, 2, 4};
static const uint8_t digits[3] = {7, 0, 9};
static const uint32_t label_sizes[1] = {3};

static void write_images(const char *name, int gz)
{
    unsigned char file[64];
    const size_t size = make_idx(file, 8, 3, image_sizes, pixels, sizeof pixels);
    (gz ? write_gz : write_bytes)(name, file, size);
}

static void write_labels(const char *name, int gz)
{
    unsigned char file[64];
    const size_t size = make_idx(file, 8, 1, label_sizes, digits, sizeof digits);
    (gz ? write_gz : write_bytes)(name, file, size);
}

static void idx_images_stay_uint8_and_know_their_shape(void **state)
{
    (void)state;
    for (int gz = 0; gz < 2; gz++) {
        const char *name = gz ? "im-idx3-ubyte.gz" : "im-idx3-ubyte";
        write_images(name, gz);
        enhope_dataset *data = read_ok((enhope_source){.path = name});
        enhope_dataset_info info;
        enhope_dataset_get_info(data, &info);
        assert_int_equal(info.kind, ENHOPE_U8);
        assert_int_equal(info.n, 3);
        assert_int_equal(info.inputs, 8);
        assert_int_equal(info.bytes, 24);
        assert_int_equal(info.image_rows, 2);
        assert_int_equal(info.image_columns, 4);
        assert_int_equal(info.classes, 0);
        assert_null(enhope_dataset_labels(data));
        assert_memory_equal(data->x.u8, pixels, sizeof pixels);
        enhope_dataset_free(data);
    }
}

static void idx_reads_every_number_type(void **state)
{
    (void)state;
    const uint32_t sizes[2] = {2, 1};
    const struct {
        int type;
        size_t bytes;
        const char *values;
        float expected[2];
    } cases[] = {
        {0x09, 2, "\xFE\x7F", {-2, 127}},
        {0x0B, 4, "\xFF\x00\x01\x02", {-256, 258}},
        {0x0C, 8, "\xFF\xFF\xFF\xF6\x00\x01\x00\x00", {-10, 65536}},
        {0x0D, 8, "\x40\x18\x8B\x44\xBF\x80\x00\x00", {2.3835f, -1}},
        {0x0E, 16, "\x40\x03\x14\x7A\xE1\x47\xAE\x14\xC0\x59\x00\x00\x00\x00\x00\x00", {2.385f, -100}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        unsigned char file[64];
        write_bytes("a.idx", file, make_idx(file, cases[i].type, 2, sizes, cases[i].values, cases[i].bytes));
        enhope_dataset *data = read_ok((enhope_source){.path = "a.idx"});
        assert_int_equal(data->x.kind, ENHOPE_F32);
        for (int64_t k = 0; k < 2; k++) assert_float_equal(data->x.f32[k], cases[i].expected[k], 1e-4);
        enhope_dataset_free(data);
    }
}

static void folder_of_mnist_names_has_two_parts(void **state)
{
    (void)state;
    mkdir("mnist", 0700);
    write_images("mnist/train-images-idx3-ubyte.gz", 1);
    write_labels("mnist/train-labels-idx1-ubyte", 0);
    enhope_dataset *data = read_ok((enhope_source){.path = "mnist"});
    assert_labels(data, (int32_t[]){1, 0, 2});
    assert_string_equal(enhope_dataset_class_name(data, 0), "0");
    assert_string_equal(enhope_dataset_class_name(data, 1), "7");
    assert_string_equal(enhope_dataset_class_name(data, 2), "9");
    enhope_dataset_free(data);
    read_fails((enhope_source){.path = "mnist", .part = "test"}, ENHOPE_ERROR_IO,
               "mnist: is a folder without t10k-images-idx3-ubyte or t10k-features-idx2-ubyte (or these with .gz), "
               "without shards.json, and without images (PNG or JPEG files in a folder for each class)");
    write_images("mnist/t10k-images-idx3-ubyte", 0);
    read_fails((enhope_source){.path = "mnist", .part = "test"}, ENHOPE_ERROR_IO,
               "mnist: is a folder without t10k-labels-idx1-ubyte (or with .gz): name the pair of files X,y");
    write_labels("mnist/t10k-labels-idx1-ubyte.gz", 1);
    data = read_ok((enhope_source){.path = "mnist", .part = "test", .limit = 2});
    assert_int_equal(data->x.n, 2);
    assert_int_equal(data->c, 3); /* classes are those of the whole file */
    enhope_dataset_free(data);
}

static void pair_of_files_joins_samples_and_labels(void **state)
{
    (void)state;
    write_images("x-idx3-ubyte", 0);
    write_labels("y-idx1-ubyte", 0);
    write_text("y.csv", "species\r\n2\r\n10\r\n2\r\n");
    write_text("z.csv", "ant\nbee\nant\n");
    enhope_dataset *data = read_ok((enhope_source){.path = "x-idx3-ubyte,y-idx1-ubyte"});
    assert_labels(data, (int32_t[]){1, 0, 2});
    enhope_dataset_free(data);
    data = read_ok((enhope_source){.path = "x-idx3-ubyte,y.csv"});
    assert_labels(data, (int32_t[]){0, 1, 0});
    assert_string_equal(enhope_dataset_class_name(data, 1), "10"); /* 2 before 10: sorted as numbers */
    enhope_dataset_free(data);
    data = read_ok((enhope_source){.path = "x-idx3-ubyte,z.csv"});
    assert_labels(data, (int32_t[]){0, 1, 0});
    assert_string_equal(enhope_dataset_class_name(data, 1), "bee");
    enhope_dataset_free(data);
    data = read_ok((enhope_source){.path = "x-idx3-ubyte,z.csv", .label = "none"});
    assert_null(enhope_dataset_labels(data));
    enhope_dataset_free(data);

    write_text("short.csv", "ant\nbee\n");
    read_fails((enhope_source){.path = "x-idx3-ubyte,short.csv"}, ENHOPE_ERROR_DATA,
               "x-idx3-ubyte has 3 samples but short.csv has 2 labels");
    write_text("wide.csv", "ant,1\nbee,2\n");
    read_fails((enhope_source){.path = "x-idx3-ubyte,wide.csv"}, ENHOPE_ERROR_DATA,
               "wide.csv:1: 2 fields, expected 1 (a label)");
    read_fails((enhope_source){.path = "x-idx3-ubyte,x-idx3-ubyte"}, ENHOPE_ERROR_DATA,
               "x-idx3-ubyte: 3 x 2 x 4 values cannot be labels: expected one per sample");
    read_fails((enhope_source){.path = "x-idx3-ubyte,none.csv"}, ENHOPE_ERROR_IO,
               "none.csv: cannot be opened: No such file or directory");
}

static void damaged_idx_is_rejected(void **state)
{
    (void)state;
    unsigned char file[128];
    size_t size = make_idx(file, 8, 3, image_sizes, pixels, sizeof pixels);
    write_bytes("short-ubyte", file, size - 5);
    read_fails((enhope_source){.path = "short-ubyte"}, ENHOPE_ERROR_FORMAT,
               "short-ubyte: the header announces 3 x 2 x 4 values (24 bytes) but only 19 bytes follow: the file is "
               "truncated");
    write_gz("short-ubyte.gz", file, size - 5);
    read_fails((enhope_source){.path = "short-ubyte.gz"}, ENHOPE_ERROR_FORMAT,
               "short-ubyte.gz: the header announces 3 x 2 x 4 values (24 bytes) but only 19 bytes follow: the file is "
               "truncated");
    write_bytes("head-ubyte", file, 10);
    read_fails((enhope_source){.path = "head-ubyte"}, ENHOPE_ERROR_FORMAT,
               "head-ubyte: ends within the IDX header: the file is truncated");
    file[size] = 1;
    write_bytes("long-ubyte", file, size + 1);
    read_fails((enhope_source){.path = "long-ubyte"}, ENHOPE_ERROR_FORMAT,
               "long-ubyte: bytes follow the last value that the header announces");

    write_gz("cut-ubyte.gz", file, size);
    size_t packed;
    unsigned char *gz = slurp("cut-ubyte.gz", &packed);
    write_bytes("cut-ubyte.gz", gz, packed - 9);
    read_fails((enhope_source){.path = "cut-ubyte.gz"}, ENHOPE_ERROR_FORMAT,
               "cut-ubyte.gz: the gzip data ends early: the file is truncated");
    gz[packed - 6] ^= 0x55; /* the checksum */
    write_bytes("flip-ubyte.gz", gz, packed);
    read_fails((enhope_source){.path = "flip-ubyte.gz"}, ENHOPE_ERROR_FORMAT,
               "flip-ubyte.gz: the gzip data is damaged: incorrect data check");
    free(gz);

    write_text("magic-ubyte", "PK\x03\x04 and more");
    read_fails((enhope_source){.path = "magic-ubyte"}, ENHOPE_ERROR_FORMAT,
               "magic-ubyte: wrong magic 50 4b 03 04: expected IDX, 00 00, a type (08, 09, 0b to 0e), 1 to 8 "
               "dimensions");
    const uint32_t huge[4] = {UINT32_MAX, UINT32_MAX, UINT32_MAX, UINT32_MAX}, large[2] = {60, 78},
                   vast[2] = {60000, 784};
    write_bytes("huge-ubyte", file, make_idx(file, 8, 4, huge, pixels, sizeof pixels));
    read_fails((enhope_source){.path = "huge-ubyte"}, ENHOPE_ERROR_FORMAT,
               "huge-ubyte: the dimensions 4294967295 x 4294967295 x 4294967295 x 4294967295 overflow: the header is "
               "damaged");
    write_gz("large-ubyte.gz", file, make_idx(file, 14, 2, large, pixels, sizeof pixels));
    read_fails((enhope_source){.path = "large-ubyte.gz"}, ENHOPE_ERROR_FORMAT,
               "large-ubyte.gz: the header announces 60 x 78 values (37440 bytes) but only 24 bytes follow: the file "
               "is truncated");
    struct stat packed_file;
    char vast_message[256];
    write_gz("vast-ubyte.gz", file, make_idx(file, 14, 2, vast, pixels, sizeof pixels));
    assert_int_equal(stat("vast-ubyte.gz", &packed_file), 0);
    snprintf(
        vast_message, sizeof vast_message,
        "vast-ubyte.gz: the header announces 60000 x 784 values (376320000 bytes): more than %lld compressed bytes "
        "can hold, so the file is damaged",
        (long long)packed_file.st_size);
    read_fails((enhope_source){.path = "vast-ubyte.gz"}, ENHOPE_ERROR_FORMAT, vast_message);
    const uint32_t none[2] = {0, 784};
    write_bytes("none-ubyte", file, make_idx(file, 8, 2, none, pixels, 0));
    read_fails((enhope_source){.path = "none-ubyte"}, ENHOPE_ERROR_DATA,
               "none-ubyte: the array of 0 x 784 values is empty");
    const uint32_t one[2] = {1, 2};
    write_bytes("nan-ubyte", file, make_idx(file, 13, 2, one, "\x3F\x80\x00\x00\x7F\xC0\x00\x00", 8));
    read_fails((enhope_source){.path = "nan-ubyte"}, ENHOPE_ERROR_DATA,
               "nan-ubyte: sample 1, column 2 is NaN: expected a finite number");
}

/* ---- gzip ---- */

/* Writes a gzip member; returns its size. */
static size_t add_member(unsigned char *out, const char *text)
{
    z_stream z;
    memset(&z, 0, sizeof z);
    assert_int_equal(deflateInit2(&z, 9, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
    z.next_in = (unsigned char *)(uintptr_t)text;
    z.avail_in = (unsigned)strlen(text);
    z.next_out = out;
    z.avail_out = 1024;
    assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
    deflateEnd(&z);
    return z.total_out;
}

static void assert_two_rows(const char *path)
{
    enhope_dataset *data = read_ok((enhope_source){.path = path});
    assert_int_equal(data->x.n, 2);
    assert_row(data, 1, (const float[]){3.5f});
    enhope_dataset_free(data);
}

static void gzip_members_are_joined(void **state)
{
    (void)state;
    unsigned char file[4096];
    size_t size = add_member(file, "1.5,a\n3.");
    size += add_member(file + size, "");
    size += add_member(file + size, "5,b\n");
    write_bytes("members.csv.gz", file, size);
    assert_two_rows("members.csv.gz");
    memcpy(file + size, "\0\0padding", 9); /* tapes and some programs add it */
    write_bytes("padded.csv.gz", file, size + 9);
    assert_two_rows("padded.csv.gz");
    file[size] = 0x1F;
    write_bytes("byte.csv.gz", file, size + 1);
    assert_two_rows("byte.csv.gz");
    file[size + 1] = 0x8B;
    write_bytes("cut.csv.gz", file, size + 2);
    read_fails((enhope_source){.path = "cut.csv.gz"}, ENHOPE_ERROR_FORMAT,
               "cut.csv.gz: the gzip data ends early: the file is truncated");
}

static void do_nothing(int signal)
{
    (void)signal;
}

/* Signals every millisecond, or none (0). */
static void interrupt(int microseconds)
{
    const struct sigaction action = {.sa_handler = do_nothing};
    const struct itimerval every = {.it_interval = {.tv_usec = microseconds}, .it_value = {.tv_usec = microseconds}};
    assert_int_equal(sigaction(SIGALRM, &action, NULL), 0);
    assert_int_equal(setitimer(ITIMER_REAL, &every, NULL), 0);
}

static int stop_at_zero(void *user)
{
    return --*(int *)user <= 0;
}

/* A pipe without a writer, and one whose text does not end. */
static void a_wait_for_a_pipe_is_stopped(void **state)
{
    (void)state;
    enhope_context *ctx = enhope_context_create();
    assert_non_null(ctx);
    assert_int_equal(mkfifo("silent.csv", 0600), 0);
    for (int begun = 0; begun < 2; begun++) {
        int questions = 3;
        enhope_dataset *data = NULL;
        const int writer = begun ? open("silent.csv", O_RDWR) : -1;
        if (begun) assert_int_equal(write(writer, "a,b\n1.5", 7), 7);
        enhope_context_set_stop(ctx, stop_at_zero, &questions);
        assert_int_equal(enhope_dataset_read(ctx, &(enhope_source){.path = "silent.csv"}, &data), ENHOPE_STOPPED);
        assert_string_equal(enhope_error(ctx), "silent.csv: stopped before its end");
        assert_int_equal(questions, 0);
        assert_null(data);
        if (begun) close(writer);
    }
    enhope_context_free(ctx);
}

/* The bytes arrive one by one in a pipe while signals interrupt its reader. */
static void interrupted_pipes_are_read(void **state)
{
    (void)state;
    unsigned char packed[1024];
    const char *text = "1.5,a\n3.5,b\n";
    const size_t packed_size = add_member(packed, text);
    assert_int_equal(mkfifo("pipe.csv", 0600), 0);
    for (int round = 0; round < 2; round++) {
        const unsigned char *bytes = round ? packed : (const unsigned char *)text;
        const size_t size = round ? packed_size : strlen(text);
        const pid_t child = fork();
        assert_true(child >= 0);
        if (child == 0) {
            nanosleep(&(struct timespec){.tv_nsec = 5000000}, NULL);
            const int fd = open("pipe.csv", O_WRONLY);
            for (size_t i = 0; i < size; i++) {
                nanosleep(&(struct timespec){.tv_nsec = 2000000}, NULL);
                if (write(fd, bytes + i, 1) != 1) _exit(1);
            }
            _exit(0);
        }
        interrupt(1000);
        assert_two_rows("pipe.csv");
        interrupt(0);
        int status;
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_int_equal(status, 0);
    }
}

/* ---- invalid files and requests ---- */

static void invalid_sources_are_rejected(void **state)
{
    (void)state;
    write_text("empty.csv", "");
    write_text("blank.csv", "\n \r\n\n");
    write_text("ok.csv", "1.5,a\n2.5,b\n");
    write_bytes("strange", "\1\2\0\3", 4);
    read_fails((enhope_source){.path = "missing.csv"}, ENHOPE_ERROR_IO,
               "missing.csv: cannot be opened: No such file or directory");
    read_fails((enhope_source){.path = "missing.mat"}, ENHOPE_ERROR_IO,
               "missing.mat: cannot be opened: No such file or directory");
    read_fails((enhope_source){.path = "empty.csv"}, ENHOPE_ERROR_FORMAT, "empty.csv: the file is empty");
    read_fails((enhope_source){.path = "blank.csv"}, ENHOPE_ERROR_DATA, "blank.csv: there are only blank lines");
    read_fails((enhope_source){.path = "strange"}, ENHOPE_ERROR_FORMAT,
               "strange: unknown format: expected IDX, CSV, TSV, LIBSVM, NPY, NPZ or MAT");
    read_fails((enhope_source){.path = NULL}, ENHOPE_ERROR_ARGUMENT, "no data given: expected a path");
    read_fails((enhope_source){.path = "ok.csv", .part = "dev"}, ENHOPE_ERROR_ARGUMENT,
               "unknown part 'dev': expected train or test");
    read_fails((enhope_source){.path = "ok.csv", .part = "test"}, ENHOPE_ERROR_ARGUMENT,
               "ok.csv: has no test part; use a split N@SEED");
    read_fails((enhope_source){.path = "ok.csv", .limit = -3}, ENHOPE_ERROR_ARGUMENT,
               "limit is -3: expected 0 (all samples) or more");
    read_fails((enhope_source){.path = "ok.csv", .variables = "X"}, ENHOPE_ERROR_ARGUMENT,
               "ok.csv: variables ('X') can only be named for NPZ and MAT");
    mkdir("folder", 0700);
    read_fails((enhope_source){.path = "folder"}, ENHOPE_ERROR_IO,
               "folder: is a folder without train-images-idx3-ubyte or train-features-idx2-ubyte (or these with .gz), "
               "without shards.json, and without images (PNG or JPEG files in a folder for each class)");
    read_fails((enhope_source){.path = "ok.csv,folder"}, ENHOPE_ERROR_IO, "folder: is a folder: expected a file");
    write_images("x-idx3-ubyte", 0);
    read_fails((enhope_source){.path = "x-idx3-ubyte,folder"}, ENHOPE_ERROR_IO, "folder: is a folder: expected a file");
    read_fails((enhope_source){.path = "x-idx3-ubyte", .label = "2"}, ENHOPE_ERROR_ARGUMENT,
               "x-idx3-ubyte: a label column ('2') can only be named for CSV");
}

static void split_and_limit_choose_rows_after_reading(void **state)
{
    (void)state;
    write_text("s.csv", "10,a\n11,b\n12,a\n13,c\n14,b\n");
    enhope_dataset *train = read_ok((enhope_source){.path = "s.csv", .split = "3@7"});
    enhope_dataset *test = read_ok((enhope_source){.path = "s.csv", .split = "3@7", .part = "test"});
    enhope_dataset *first = read_ok((enhope_source){.path = "s.csv", .split = "3@7", .part = "train", .limit = 1});
    assert_int_equal(train->x.n, 3);
    assert_int_equal(test->x.n, 2);
    assert_int_equal(first->x.n, 1);
    assert_int_equal(first->x.f32[0], train->x.f32[0]);
    assert_int_equal(test->c, 3);
    int seen = 0;
    for (int i = 0; i < 3; i++) seen |= 1 << ((int)train->x.f32[i] - 10);
    for (int i = 0; i < 2; i++) seen |= 1 << ((int)test->x.f32[i] - 10);
    assert_int_equal(seen, 31);
    enhope_dataset_free(train);
    enhope_dataset_free(test);
    enhope_dataset_free(first);
    enhope_dataset *all = read_ok((enhope_source){.path = "s.csv", .limit = 100});
    assert_int_equal(all->x.n, 5);
    enhope_dataset_free(all);
}

/* ---- LIBSVM ---- */

static void libsvm_stays_sparse(void **state)
{
    (void)state;
    static const char text[] = "# a comment\n+1 1:0.5 4:-2.25e0 # tail\n\n-1 qid:3 2:7\n+1\n-1 1:1 2:2 5:0.125";
    write_text("a.libsvm", text);
    write_gz("a.svm.gz", text, strlen(text));
    write_text("a9a", text + 12);
    const char *names[] = {"a.libsvm", "a.svm.gz", "a9a"};
    for (int k = 0; k < 3; k++) {
        enhope_dataset *data = read_ok((enhope_source){.path = names[k]});
        assert_int_equal(data->x.kind, ENHOPE_CSR);
        assert_int_equal(data->x.n, 4);
        assert_int_equal(data->x.H, 5);
        assert_memory_equal(data->x.row_start, ((int64_t[]){0, 2, 3, 3, 6}), 5 * sizeof(int64_t));
        assert_row(data, 0, (float[]){0.5f, 0, 0, -2.25f, 0});
        assert_row(data, 2, (float[]){0, 0, 0, 0, 0});
        assert_row(data, 3, (float[]){1, 2, 0, 0, 0.125f});
        assert_labels(data, (int32_t[]){1, 0, 1, 0});
        assert_string_equal(enhope_dataset_class_name(data, 1), "1"); /* +1 is 1 */
        enhope_dataset_free(data);
    }
    const enhope_source part = {.path = "a.libsvm", .label = "none", .split = "2@5", .part = "test"};
    read_fails((enhope_source){.path = "a.libsvm", .label = "none", .split = "0.5@5"}, ENHOPE_ERROR_ARGUMENT,
               "split '0.5@5' divides every class and needs the labels; use a split N@SEED without labels");
    enhope_dataset *data = read_ok(part);
    assert_int_equal(data->x.kind, ENHOPE_CSR);
    assert_int_equal(data->x.n, 2);
    assert_null(enhope_dataset_labels(data));
    enhope_dataset_free(data);
}

static char warnings[2000];

static void keep_warning(enhope_log_level level, const char *line, void *user)
{
    (void)user;
    if (level == ENHOPE_LOG_WARNING && strlen(warnings) + strlen(line) + 2 < sizeof warnings)
        strcat(strcat(warnings, line), "\n");
}

/* The warnings while reading the source. */
static const char *warnings_of(enhope_source source)
{
    warnings[0] = '\0';
    enhope_context_set_log(ctx, keep_warning, NULL);
    enhope_dataset_free(read_ok(source));
    enhope_context_set_log(ctx, NULL, NULL);
    return warnings;
}

static void classes_of_numbers_get_names(void **state)
{
    (void)state;
    static const char *const good[] = {"T-shirt, top\nTrouser\n Ankle boot \n\n",
                                       "10,none\n2,Ankle boot\n1,Trouser\n0,\"T-shirt, top\"\n",
                                       "class,name\r\n0,\"T-shirt, top\"\r\n1,Trouser\r\n2,Ankle boot\r\n",
                                       "0, \t\"T-shirt, top\"\n1,Trouser\n2,  Ankle boot\n"};
    static const char *const expected[] = {"T-shirt, top", "Trouser", "Ankle boot"};
    static const char *const bad[][2] = {
        {"a\nb\n",
         "names.txt: has 2 names but none for the class '2': expected a name in each line, for the classes 0, "
         "1, ..., or lines NUMBER,NAME"},
        {"a\nb\na\n", "names.txt:3: the name 'a' occurs twice"},
        {"a\n\nb\n", "names.txt:2: the name is empty"},
        {"0,a\n0,b\n2,c\n", "names.txt:2: the class 0 occurs twice"},
        {"0,a\n1,\n2,c\n", "names.txt:2: the name is empty"},
        {"a\n\xff\nc\n", "names.txt:2: a label is not UTF-8 text: convert the file first"},
        {"", "names.txt: the file is empty"}};
    const enhope_source source = {.path = "x-ubyte,y-ubyte", .classes = "names.txt"};
    unsigned char file[64];
    write_bytes("x-ubyte", file, make_idx(file, 8, 2, (const uint32_t[]){4, 1}, "abcd", 4));
    write_bytes("y-ubyte", file, make_idx(file, 8, 1, (const uint32_t[]){4}, "\2\1\0\2", 4));
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        write_text("names.txt", good[i]);
        enhope_dataset *data = read_ok(source);
        for (int k = 0; k < 3; k++) assert_string_equal(enhope_dataset_class_name(data, k), expected[k]);
        assert_labels(data, (const int32_t[]){2, 1, 0, 2});
        enhope_dataset_free(data);
    }
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        write_text("names.txt", bad[i][0]);
        enhope_dataset *data = NULL;
        assert_true(enhope_dataset_read(ctx, &source, &data) != ENHOPE_OK);
        assert_string_equal(enhope_error(ctx), bad[i][1]);
    }
    write_text("names.txt", "0,\"a \"\"b\"\" c\"\n1,\"\"\"\"\n2,\"d\n");
    enhope_dataset *quoted = read_ok(source);
    assert_string_equal(enhope_dataset_class_name(quoted, 0), "a \"b\" c");
    assert_string_equal(enhope_dataset_class_name(quoted, 1), "\"");
    assert_string_equal(enhope_dataset_class_name(quoted, 2), "\"d");
    enhope_dataset_free(quoted);
    write_text("names.txt", good[0]);
    assert_int_equal(enhope_convert(ctx, &source, "named", 0, 0, NULL, NULL), ENHOPE_OK);
    enhope_dataset *data = read_ok((enhope_source){.path = "named"}); /* sorted by name */
    assert_string_equal(enhope_dataset_class_name(data, 0), "Ankle boot");
    assert_labels(data, (const int32_t[]){0, 2, 1, 0});
    enhope_dataset_free(data);
}

static void groups_of_libsvm_are_reported(void **state)
{
    (void)state;
    write_text("a.svm", "1 qid:1 1:2\n2 qid:1 1:3\n2 1:4\n");
    assert_string_equal(warnings_of((enhope_source){.path = "a.svm"}),
                        "a.svm: ignored 2 fields qid: the groups of samples for ranking are not used\n");
}

static void classes_without_samples_are_reported(void **state)
{
    (void)state;
    char text[800] = "x,label\n";
    for (int i = 0; i < 78; i++) snprintf(text + strlen(text), 20, "%d,c%c\n", i % 5, 'a' + i % 26);
    write_text("a.csv", text);
    assert_string_equal(warnings_of((enhope_source){.path = "a.csv"}), "");
    assert_string_equal(warnings_of((enhope_source){.path = "a.csv", .limit = 24}),
                        "a.csv: 2 of 26 classes have no samples within the limit: 'cy', 'cz'\n");
    assert_string_equal(warnings_of((enhope_source){.path = "a.csv", .limit = 2}),
                        "a.csv: 24 of 26 classes have no samples within the limit: 'cc', 'cd', 'ce', 'cf', 'cg', 'ch', "
                        "'ci', 'cj' and 16 others\n");
    assert_non_null(strstr(warnings_of((enhope_source){.path = "a.csv", .split = "40@3"}),
                           "of 26 classes have no samples in this part of the split: 'c"));
}

static void libsvm_errors_name_the_line(void **state)
{
    (void)state;
    const struct {
        const char *text, *message;
    } cases[] = {
        {"1 1:2\n1 3:1 2:5\n", "b.svm:2: '2:5' is out of order: expected ascending indices"},
        {"1 1:2\n\n1 0:1\n", "b.svm:3: '0:1' has an index outside 1 to 2147483647"},
        {"1 1:2 9999999999:1\n", "b.svm:1: '9999999999:1' has an index outside 1 to 2147483647"},
        {"1 1:x\n", "b.svm:1: '1:x' has a value that is not a number"},
        {"1 1:nan\n", "b.svm:1: '1:nan' has a value that is not a finite number"},
        {"1 1:1e39\n", "b.svm:1: '1:1e39' has a value that is not a finite number"},
        {"1 2\n", "b.svm:1: '2' is invalid: expected INDEX:VALUE"},
        {"1 a:2\n", "b.svm:1: 'a:2' is invalid: expected INDEX:VALUE"},
        {"1:2 2:3\n", "b.svm:1: '1:2' is in the place of the label: expected the label first"},
        {"1\n2\n", "b.svm: there are no inputs, only samples"},
        {"# nothing\n", "b.svm: there are no samples"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        write_text("b.svm", cases[i].text);
        read_fails((enhope_source){.path = "b.svm"}, ENHOPE_ERROR_DATA, cases[i].message);
    }
}

/* ---- the data sets of the paper, if present ---- */

static void data_sets_of_the_paper_have_expected_contents(void **state)
{
    (void)state;
    const char *folder = getenv("ENHOPE_DATA");
    if (!folder) {
        print_message("ENHOPE_DATA is not set: the data sets of the paper are not read\n");
        skip();
    }
    char path[8192], base[2048];
    if (folder[0] == '/')
        snprintf(base, sizeof base, "%.2000s", folder);
    else
        snprintf(base, sizeof base, "%.1000s/%.1000s", start_folder, folder);
    enhope_dataset_info info;

    snprintf(path, sizeof path, "%s/mnist", base);
    for (int test = 0; test < 2; test++) {
        enhope_dataset *data = read_ok((enhope_source){.path = path, .part = test ? "test" : "train"});
        enhope_dataset_get_info(data, &info);
        assert_int_equal(info.n, test ? 10000 : 60000);
        assert_int_equal(info.classes, 10);
        assert_int_equal(info.kind, ENHOPE_U8);
        assert_float_equal(info.mean / 255, test ? 0.1325 : 0.1307, 1e-4);
        enhope_dataset_free(data);
    }
    snprintf(path, sizeof path, "%s/usps/usps_all.mat", base);
    enhope_dataset *data = read_ok((enhope_source){.path = path});
    enhope_dataset_get_info(data, &info);
    assert_int_equal(info.n, 11000);
    assert_int_equal(info.inputs, 256);
    assert_int_equal(info.kind, ENHOPE_U8);
    assert_int_equal(info.image_rows, 16);
    assert_int_equal(data->label[0], 1);     /* the first block of 1100 is the digit 1 */
    assert_int_equal(data->label[10999], 0); /* the last is the digit 0 */
    enhope_dataset_free(data);

    snprintf(path, sizeof path, "%s/20news/20news_w100.mat", base);
    data = read_ok((enhope_source){.path = path});
    enhope_dataset_get_info(data, &info);
    assert_int_equal(info.n, 16242);
    assert_int_equal(info.inputs, 100);
    assert_int_equal(info.kind, ENHOPE_CSR);
    int64_t counts[4] = {0};
    for (int64_t i = 0; i < info.n; i++) counts[data->label[i]]++;
    assert_memory_equal(counts, ((int64_t[]){4605, 3519, 2657, 5461}), sizeof counts);
    assert_string_equal(enhope_dataset_class_name(data, 0), "comp.*");
    assert_string_equal(enhope_dataset_input_name(data, 0), "aids");
    enhope_dataset_free(data);

    snprintf(path, sizeof path, "%s/mnist-vgg512/t10k-features-idx2-ubyte.gz,%s/mnist/t10k-labels-idx1-ubyte.gz", base,
             base);
    data = read_ok((enhope_source){.path = path});
    assert_int_equal(data->x.n, 10000);
    assert_int_equal(data->x.H, 512);
    assert_int_equal(data->c, 10);
    enhope_dataset_free(data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(idx_images_stay_uint8_and_know_their_shape),
        cmocka_unit_test(idx_reads_every_number_type),
        cmocka_unit_test(folder_of_mnist_names_has_two_parts),
        cmocka_unit_test(pair_of_files_joins_samples_and_labels),
        cmocka_unit_test(damaged_idx_is_rejected),
        cmocka_unit_test(gzip_members_are_joined),
        cmocka_unit_test(a_wait_for_a_pipe_is_stopped),
        cmocka_unit_test(interrupted_pipes_are_read),
        cmocka_unit_test(invalid_sources_are_rejected),
        cmocka_unit_test(split_and_limit_choose_rows_after_reading),
        cmocka_unit_test(libsvm_stays_sparse),
        cmocka_unit_test(classes_of_numbers_get_names),
        cmocka_unit_test(groups_of_libsvm_are_reported),
        cmocka_unit_test(classes_without_samples_are_reported),
        cmocka_unit_test(libsvm_errors_name_the_line),
        cmocka_unit_test(data_sets_of_the_paper_have_expected_contents),
    };
    return cmocka_run_group_tests(tests, enter_folder, leave_folder);
}
