/* Rows that an encoding is fitted to: the train part of a split, a sample of a large table. Tables
 * of pixels with a header. Files that stay on disk because they exceed the memory limit.
 * Messages of conversions. */
#define _XOPEN_SOURCE 700
#include <math.h>

#include "read_support.h"

#include "data/frame/frame.h"
#include "data/store/store.h"

/* ---- splits ---- */

static bool has_input(const enhope_dataset *data, const char *name)
{
    for (int64_t j = 0; j < data->x.H; j++)
        if (strcmp(enhope_dataset_input_name(data, j), name) == 0) return true;
    return false;
}

/* Checks that the colors among the inputs are those of the rows of `on`. */
static void fitted_on(enhope_source source, enhope_source on)
{
    enhope_dataset *data = read_ok(source), *rows = read_ok(on);
    int64_t colors = 0;
    for (char k = 'a'; k < 'j'; k++) {
        const char color[2] = {k, '\0'}, name[] = {'c', 'o', 'l', 'o', 'r', '=', k, '\0'};
        bool seen = false;
        for (int64_t i = 0; i < rows->x.n; i++) seen |= strcmp(enhope_dataset_text(rows, 0, i), color) == 0;
        assert_int_equal(has_input(data, name), seen);
        colors += seen;
    }
    assert_in_range(colors, 2, 8);
    assert_int_equal(data->x.H, colors + 1);
    enhope_dataset_free(data);
    enhope_dataset_free(rows);
}

static void encodings_are_fitted_to_the_train_part(void **state)
{
    (void)state;
    static const char *const labels[] = {"z", "", "x", "y", "x", ""};
    const enhope_table_options table = {.keep = "color"}, alone = {.keep = "color", .ignore = "kind"};
    FILE *f = fopen("split.csv", "w");
    assert_non_null(f);
    fputs("size,color,kind\n", f);
    for (int i = 0; i < 18; i++) fprintf(f, "%d.25,%c,%s\n", i * 5 % 7, 'a' + i / 2, labels[i % 6]);
    fclose(f);
    enhope_source train = {.path = "split.csv", .split = "7@3", .table = &table}, test = train;
    test.part = "test";
    fitted_on(train, train);
    fitted_on(test, train);
    train.limit = 3;
    fitted_on(train, train);
    test.limit = 3; /* of the test part; the encoding is that of the whole train part */
    fitted_on(test, (enhope_source){.path = "split.csv", .split = "7@3", .table = &table});
    train = (enhope_source){.path = "split.csv", .split = "0.4@8", .table = &table};
    test = train;
    test.part = "test";
    fitted_on(train, train);
    fitted_on(test, train);
    train = (enhope_source){.path = "split.csv", .limit = 5, .table = &table};
    fitted_on(train, train);
    test = (enhope_source){.path = "split.csv", .limit = 5, .split = "18@2", .label = "none", .table = &alone};
    fitted_on(test, test);
}

/* ---- samples of large tables ---- */

enum { LARGE_ROWS = 66000, LARGE_COLUMNS = 64, STRIDE = 5 };

/* A table of more values than are read at once. The first column is constant in the sample. */
static void write_large(const char *path, const char *(*color)(int64_t row, bool train), const uint8_t *train)
{
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    for (int j = 1; j < LARGE_COLUMNS; j++) fprintf(f, "p%d,", j);
    fputs("color,label\n", f);
    for (int64_t i = 0; i < LARGE_ROWS; i++) {
        char row[2 * LARGE_COLUMNS];
        for (int j = 0; j < LARGE_COLUMNS - 1; j++) row[2 * j] = '3', row[2 * j + 1] = ',';
        row[0] = i == LARGE_ROWS - 1 ? '2' : '1';
        row[2 * LARGE_COLUMNS - 2] = '\0';
        fprintf(f, "%s%s,%c\n", row, color(i, train[i]), "xyz"[i % 3]);
    }
    fclose(f);
}

static const char *color_of(int64_t row, bool train)
{
    return row % STRIDE ? "odd" : !train ? "test" : row % 2 ? "red" : "blue";
}

static const char *digit_of(int64_t row, bool train)
{
    return row % 7 || train ? "0" : "255";
}

static void check_sample(enhope_source source, int64_t n, int64_t H)
{
    enhope_dataset *data = read_ok(source);
    assert_int_equal(data->x.n, n);
    assert_int_equal(data->x.H, H);
    assert_string_equal(enhope_dataset_input_name(data, 0), "p1"); /* it varies outside the sample */
    assert_true(has_input(data, "color=red") && has_input(data, "color=blue") && !has_input(data, "color=odd"));
    assert_int_equal(has_input(data, "color=test"), H == 4);
    for (int64_t i = 0; source.table && source.table->keep && i < n; i += 4999) {
        const char *text = enhope_dataset_text(data, 0, i);
        const int64_t row = enhope_dataset_source_row(data, i);
        assert_int_equal(strcmp(text, "odd") == 0, row % STRIDE != 0);
        assert_int_equal(data->label[i], row % 3);
    }
    enhope_dataset_free(data);
}

static void samples_are_of_the_train_part(void **state)
{
    (void)state;
    int64_t *rows = NULL, count = 0;
    uint8_t *train = calloc(LARGE_ROWS, 1);
    assert_int_equal(eh_split_rows(ctx, "33000@5", "train", NULL, 0, LARGE_ROWS, &rows, &count), ENHOPE_OK);
    for (int64_t i = 0; i < count; i++) train[rows[i]] = 1;
    eh_free(rows);
    write_large("large.csv", color_of, train);
    int64_t fit[64] = {-1, LARGE_ROWS, 1, LARGE_ROWS - 1};
    for (int64_t i = 0, k = 4; k < 64; i += STRIDE)
        if (train[i]) fit[k++] = i;
    const enhope_table_options keep = {.keep = "color"};
    const enhope_table_options chosen = {.keep = "color", .fit = fit, .fit_count = 64};
    const enhope_table_options outside = {.fit = fit, .fit_count = 4};
    const enhope_table_options skipped = {.fit = fit, .fit_count = 64, .skip_bad = 1};
    check_sample((enhope_source){.path = "large.csv", .split = "33000@5", .table = &keep}, 33000, 3);
    check_sample((enhope_source){.path = "large.csv", .table = &chosen}, LARGE_ROWS, 3);
    check_sample((enhope_source){.path = "large.csv", .table = &outside}, LARGE_ROWS, 4);
    check_sample((enhope_source){.path = "large.csv", .table = &skipped, .limit = 700}, 700, 4);
    write_large("large.csv", digit_of, train);
    enhope_dataset *data = read_ok((enhope_source){.path = "large.csv", .limit = 50});
    assert_int_equal(data->x.H, LARGE_COLUMNS); /* pixels: constant columns stay */
    enhope_dataset_free(data);
    free(train);
}

/* ---- pixels ---- */

/* A label and `columns` inputs, of which the first one is constant. */
static enhope_dataset *read_pixels(int columns)
{
    FILE *f = fopen("pixels.csv", "w");
    assert_non_null(f);
    fputs("digit", f);
    for (int j = 0; j < columns; j++) fprintf(f, ",px%d", j);
    for (int i = 0; i < 6; i++) {
        fprintf(f, "\n%c,0,%s", "uvw"[i % 3], i == 4 ? "255" : "17");
        for (int j = 2; j < columns; j++) fprintf(f, ",%d", (i + 1) * j * 31 % 256);
    }
    fclose(f);
    return read_ok((enhope_source){.path = "pixels.csv", .label = "digit"});
}

static void pixels_keep_the_names_of_a_header(void **state)
{
    (void)state;
    for (int i = 0; i < 2; i++) { /* a constant column is an input only among pixels */
        enhope_dataset *data = read_pixels(63 + i);
        assert_int_equal(data->x.H, i ? 64 : 62);
        assert_string_equal(enhope_dataset_input_name(data, 0), i ? "px0" : "px1");
        assert_string_equal(enhope_dataset_input_name(data, data->x.H - 1), i ? "px63" : "px62");
        assert_string_equal(data->encoding->label, "digit");
        assert_int_equal(data->encoding->label_place, 1);
        assert_int_equal(data->c, 3);
        enhope_dataset_free(data);
    }
}

/* ---- files that exceed the memory limit ---- */

static enhope_dataset *read_within(uint64_t bytes, enhope_source source, bool streamed)
{
    assert_int_equal(enhope_context_set_memory(ctx, bytes), ENHOPE_OK);
    enhope_dataset *data = read_ok(source);
    assert_int_equal(enhope_context_set_memory(ctx, 0), ENHOPE_OK);
    assert_int_equal(data->store != NULL, streamed);
    return data;
}

/* Checks that a source gives the same rows within so many bytes as without a limit. */
static void check_within(uint64_t bytes, enhope_source source, bool streamed)
{
    enhope_dataset *data = read_within(bytes, source, streamed), *whole = read_ok(source);
    float *row = calloc((size_t)whole->x.H, sizeof *row);
    assert_int_equal(data->x.n, whole->x.n);
    assert_int_equal(data->x.H, whole->x.H);
    assert_int_equal(data->c, whole->c);
    assert_int_equal(eh_encoding_check(ctx, data->encoding, whole->encoding, "data"), ENHOPE_OK);
    for (int64_t i = 0; i < whole->x.n; i++) {
        assert_int_equal(enhope_dataset_row(ctx, data, i, row), ENHOPE_OK);
        assert_row(whole, i, row);
    }
    if (!streamed && whole->label) assert_labels(data, whole->label);
    free(row);
    enhope_dataset_free(data);
    enhope_dataset_free(whole);
}

static void arrays_stay_in_files_if_they_exceed_memory(void **state)
{
    (void)state;
    unsigned char file[4096];
    float values[400];
    double wide[400];
    char text[800] = "";
    for (int i = 0; i < 400; i++) values[i] = (float)i * 0.375f - 11, wide[i] = 1e9 + i % 9 * 0.25;
    for (int i = 0; i < 80; i++) snprintf(text + strlen(text), 8, "k%d\n", i % 3);
    write_bytes("x.npy", file,
                make_npy(file, "{'descr': '<f4', 'fortran_order': False, 'shape': (80, 5)}", values, sizeof values));
    write_bytes("w.npy", file,
                make_npy(file, "{'descr': '<f8', 'fortran_order': False, 'shape': (80, 5)}", wide, sizeof wide));
    write_bytes("y.idx", file, make_idx(file, 8, 1, (uint32_t[]){80}, wide, 80));
    write_text("y.csv", text);
    check_within(1600, (enhope_source){.path = "x.npy,y.idx"}, false); /* 80 rows of 5 floats */
    check_within(1599, (enhope_source){.path = "x.npy,y.idx"}, true);
    check_within(1599, (enhope_source){.path = "x.npy", .label = "none"}, true);
    check_within(1599, (enhope_source){.path = "w.npy,y.idx"}, true); /* with offsets */
    check_within(1200, (enhope_source){.path = "x.npy,y.idx", .limit = 60}, false);
    check_within(1199, (enhope_source){.path = "x.npy,y.idx", .limit = 60}, true);
    check_within(1599, (enhope_source){.path = "x.npy,y.idx", .limit = 80}, true);
    check_within(1599, (enhope_source){.path = "x.npy,y.idx", .limit = 81}, true);
    assert_int_equal(enhope_context_set_memory(ctx, 1599), ENHOPE_OK);
    enhope_source split = {.path = "x.npy,y.idx", .split = "7@1", .limit = 3};
    enhope_dataset *data = NULL;
    assert_int_equal(enhope_dataset_read(ctx, &split, &data), ENHOPE_ERROR_ARGUMENT);
    assert_non_null(strstr(enhope_error(ctx), "a split"));
    const enhope_source csv = {.path = "x.npy,y.csv"}; /* CSV is not read in parts */
    assert_int_equal(enhope_dataset_read(ctx, &csv, &data), ENHOPE_ERROR_DATA);
    assert_non_null(strstr(enhope_error(ctx), "take 1600 bytes of memory: expected at most 1599, the memory limit"));
    assert_int_equal(enhope_context_set_memory(ctx, 0), ENHOPE_OK);
    split.path = "x.npy,y.csv";
    check_within(6400, split, false);
}

static void shards_are_loaded_up_to_the_limit(void **state)
{
    (void)state;
    FILE *f = fopen("words.svm", "w");
    assert_non_null(f);
    for (int i = 0; i < 45; i++) {
        fprintf(f, "%d", i % 4);
        for (int j = i % 5; j < 30; j += 2 + i % 7) fprintf(f, " %d:%g", j + 1, j - 1.5 * i);
        fputs("\n", f);
    }
    fclose(f);
    assert_int_equal(enhope_convert(ctx, &(enhope_source){.path = "words.svm"}, "words", 10, 0, NULL, NULL), ENHOPE_OK);
    enhope_source source = {.path = "words", .limit = 23};
    enhope_dataset *whole = read_ok((enhope_source){.path = "words.svm", .limit = 23});
    const uint64_t bytes = (uint64_t)whole->x.row_start[23] * 8 + 24 * 8;
    check_within(bytes, source, false);
    check_within(bytes - 1, source, true);
    enhope_dataset_free(whole);
    source.limit = 0;
    source.split = "31@6";
    source.part = "test";
    assert_int_equal(enhope_convert(ctx, &source, "part", 5, 0, NULL, NULL), ENHOPE_OK);
    enhope_dataset *part = read_ok((enhope_source){.path = "part"});
    whole = read_ok(source);
    assert_int_equal(part->x.n, 14);
    for (int64_t i = 0; i < 14; i++) {
        float row[30];
        assert_int_equal(enhope_dataset_row(ctx, whole, i, row), ENHOPE_OK);
        assert_row(part, i, row);
    }
    assert_labels(part, whole->label);
    enhope_dataset_free(part);
    enhope_dataset_free(whole);
}

/* ---- conversion ---- */

static void convert_fails(enhope_source source, const char *message)
{
    assert_int_not_equal(enhope_convert(ctx, &source, "none", 0, 0, NULL, NULL), ENHOPE_OK);
    assert_string_equal(enhope_error(ctx), message);
}

static void conversion_names_the_file_that_is_wrong(void **state)
{
    (void)state;
    unsigned char file[512];
    const float values[6] = {2.375f, -1.5f, 0.25f, 7, NAN, 1e-3f};
    write_text("y.csv", "a\nb\na\n");
    write_bytes("x.npy", file,
                make_npy(file, "{'descr': '<f4', 'fortran_order': False, 'shape': (3, 2)}", values, sizeof values));
    convert_fails((enhope_source){.path = "x.npy,y.csv"}, "x.npy: sample 3, column 1 is NaN: expected a finite number");
    write_bytes("x.npy", file,
                make_npy(file, "{'descr': '<f4', 'fortran_order': True, 'shape': (3, 2)}", values, sizeof values));
    convert_fails((enhope_source){.path = "x.npy,y.csv"}, "x.npy: sample 2, column 2 is NaN: expected a finite number");
    convert_fails((enhope_source){.path = "y.csv", .part = "test"}, "y.csv: has no test part; use a split N@SEED");
    convert_fails((enhope_source){.path = "x.npy,y.csv", .part = "test"},
                  "x.npy,y.csv: has no test part; use a split N@SEED");
    convert_fails((enhope_source){.path = "y.csv", .part = "valid"}, "unknown part 'valid': expected train or test");
    convert_fails((enhope_source){.path = "y.csv", .limit = -1}, "limit is -1: expected 0 (all samples) or more");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(encodings_are_fitted_to_the_train_part),
        cmocka_unit_test(samples_are_of_the_train_part),
        cmocka_unit_test(pixels_keep_the_names_of_a_header),
        cmocka_unit_test(arrays_stay_in_files_if_they_exceed_memory),
        cmocka_unit_test(shards_are_loaded_up_to_the_limit),
        cmocka_unit_test(conversion_names_the_file_that_is_wrong),
    };
    return cmocka_run_group_tests(tests, enter_folder, leave_folder);
}
