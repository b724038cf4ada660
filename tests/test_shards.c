/* Shards that are damaged, or that were made by another program: each wrong entry of the list, and
 * each wrong value of an array whose checksum is right, is an error that names it. */
#define _DEFAULT_SOURCE 1
#include "read_support.h"

static void convert(const char *spec, const char *folder)
{
    if (enhope_convert(ctx, &(enhope_source){.path = spec}, folder, 2, 0, NULL, NULL))
        fail_msg("%s", enhope_error(ctx));
}

/* Replaces the first occurrence of a text in the list of shards. */
static void replace(const char *folder, const char *from, const char *to)
{
    char path[64];
    size_t size;
    snprintf(path, sizeof path, "%s/shards.json", folder);
    char *text = (char *)slurp(path, &size);
    text[size] = 0;
    char *at = strstr(text, from);
    if (!at) fail_msg("no '%s' in %s", from, text);
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fprintf(f, "%.*s%s%s", (int)(at - text), text, to, at + strlen(from));
    fclose(f);
    free(text);
}

static void check_error(const char *folder, enhope_status expected, const char *message)
{
    enhope_dataset *data = NULL;
    const enhope_status status = enhope_dataset_read(ctx, &(enhope_source){.path = folder}, &data);
    if (status != expected || !strstr(enhope_error(ctx), message))
        fail_msg("status %d, %s: expected %s", (int)status, status ? enhope_error(ctx) : "no error", message);
    assert_null(data);
}

/* ---- the list ---- */

static void write_table(void)
{
    write_text("t.csv", "width,height,kind\n1.25,2,oak\n3,4.5,elm\n5.75,6,oak\n7,8.125,elm\n");
}

static void every_wrong_entry_of_the_list_is_named(void **state)
{
    (void)state;
    static const struct {
        const char *from, *to, *message;
    } wrong[] = {
        {"\"kind\": \"float32\"", "\"kind\": \"float64\"", "the kind is not uint8, float32 or sparse"},
        {"\"kind\": \"float32\"", "\"kind\": 3", "the kind is not uint8, float32 or sparse"},
        {"\"samples\": 4,", "", "its sizes are impossible"},
        {"\"inputs\": 2", "\"inputs\": -2", "its sizes are impossible"},
        {"\"stored\": 8", "\"stored\": 7.5", "its sizes are impossible"},
        {"\"stored\": 8", "\"stored\": 9", "the samples of its shards do not add up"},
        {"\"image\": null", "\"image\": [1, 2, 3]", "'image' does not match"},
        {"\"image\": null", "\"image\": [0, 2]", "'image' does not match"},
        {"\"image\": null", "\"image\": [2, 1.5]", "'image' does not match"},
        {"\"image\": null", "\"image\": [3, 1]", "'image' does not match"},
        {"[\"oak\", \"elm\"]", "\"oak\"", "'labels' is not a list"},
        {"[\"oak\", \"elm\"]", "[\"oak\", 7]", "a label is not text"},
        {"[\"oak\", \"elm\"]", "[\"oak\", \"\"]", "a label is not text"},
        {"[\"width\", \"height\"]", "[\"width\"]", "'input_names' is not a list with one name per input"},
        {"[\"width\", \"height\"]", "{}", "'input_names' is not a list with one name per input"},
        {"[\"width\", \"height\"]", "[\"width\", null]", "the name of an input is not text"},
        {"\"shards\": [", "\"shards\": {}, \"more\": [", "'shards' is not a list"},
        {"\"rows\": 2", "\"rows\": 0", "shard 1 is invalid"},
        {"\"files\": [", "\"files\": null, \"more\": [", "shard 1 is invalid"},
        {"\"00000.x.npy\"", "17", "shard 1 is invalid"},
        {"\"00000.x.npy\"", "\"x.npy\"", "shard 1 is invalid"},
        {"\"00000.x.npy\"", "\"00000-x.npy\"", "shard 1 is invalid"},
        {"\"00000.x.npy\"", "\"00000.z.npy\"", "shard 1 is invalid"},
        {"\"00000.x.npy\"", "\"00000.y.npy\"", "shard 1 is invalid"},
        {"\"00000.x.npy\"", "\"0000000000000000000000000000000000000000.x.npy\"", "shard 1 is invalid"},
        {"\"bytes\": 1", "\"bytes\": -1", "shard 1 is invalid"},
        {"\"crc32\": \"", "\"crc32\": \"z", "shard 1 is invalid"},
        {"\"crc32\": \"", "\"crc32\": \"0", "shard 1 is invalid"},
        {"\"crc32\": \"", "\"crc32\": 5, \"more\": \"", "shard 1 is invalid"},
        {"\"format\": \"enhope shards\"", "\"format\": 1", "is not a list of shards"},
        {"\"version\": 1", "\"version\": \"1\"", "unknown version of the list"},
        {"{", "[{", "is not valid JSON"},
    };
    write_table();
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        assert_int_equal(system("rm -rf shards"), 0);
        convert("t.csv", "shards");
        replace("shards", wrong[i].from, wrong[i].to);
        check_error("shards", ENHOPE_ERROR_FORMAT, wrong[i].message);
    }
    write_text("shards/shards.json", "[1, 2]");
    check_error("shards", ENHOPE_ERROR_FORMAT, "it is not a JSON object");
}

static void entries_that_are_optional_may_be_missing(void **state)
{
    (void)state;
    write_table();
    assert_int_equal(system("rm -rf shards"), 0);
    convert("t.csv", "shards");
    replace("shards", "\"image\": null,", "");
    replace("shards", "\"input_names\": [\"width\", \"height\"],", "");
    replace("shards", "\"columns\"", "\"columns\": null, \"ignored\"");
    replace("shards", "\"source\"", "\"source\": 5, \"ignored\"");
    enhope_dataset *data = read_ok((enhope_source){.path = "shards"});
    assert_row(data, 2, (const float[]){5.75f, 6});
    assert_string_equal(enhope_dataset_class_name(data, data->label[2]), "oak");
    assert_null(enhope_dataset_input_name(data, 0));
    enhope_dataset_free(data);
}

static void any_class_name_survives(void **state)
{
    (void)state;
    static const char *const names[] = {"q\"t", "back\\slash", "tab\there", "\x01", "\xc3\xa4"};
    write_text("n.csv", "a,b,kind\n1,2,q\"t\n2,1,back\\slash\n3,3,tab\there\n4,7,\x01\n5,2,\xc3\xa4\n");
    convert("n.csv", "names");
    enhope_dataset *data = read_ok((enhope_source){.path = "names"});
    assert_int_equal(data->c, 5);
    for (int i = 0; i < 5; i++) assert_string_equal(data->class_name[data->label[i]], names[i]);
    enhope_dataset_free(data);
}

/* ---- the arrays ---- */

/* Writes bytes into a file of the first shard, and its new checksum into the list. */
static void patch(const char *name, size_t at, const void *bytes, size_t count)
{
    char path[64], before[128], after[128];
    size_t size;
    snprintf(path, sizeof path, "sparse/%s", name);
    unsigned char *content = slurp(path, &size);
    const char form[] = "\"%s\", \"bytes\": %zu, \"crc32\": \"%08lx\"";
    snprintf(before, sizeof before, form, name, size, crc32_z(0, content, size));
    assert_true(at + count <= size);
    memcpy(content + at, bytes, count);
    snprintf(after, sizeof after, form, name, size, crc32_z(0, content, size));
    write_bytes(path, content, size);
    replace("sparse", before, after);
    free(content);
}

enum { HEADER = 128 }; /* bytes before the values of an array */

static void make_sparse(void)
{
    write_text("w.svm", "1 2:1.5 4:2.25\n2 1:3\n1 3:0.5 4:7\n");
    assert_int_equal(system("rm -rf sparse"), 0);
    convert("w.svm", "sparse");
}

static void wrong_values_with_a_right_checksum_are_found(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        size_t at;
        uint32_t bits;
        const char *message;
    } wrong[] = {
        {"00000.start.npy", HEADER + 8, 9, "row start 2 is 9: expected ascending numbers to 3"},
        {"00000.start.npy", HEADER + 16, 1, "row start 3 is 1: expected ascending numbers to 3"},
        {"00000.column.npy", HEADER, 4, "sample 1: column number 4: expected ascending columns from 0 to 3"},
        {"00000.column.npy", HEADER, UINT32_MAX, "sample 1: column number -1"},
        {"00000.column.npy", HEADER + 4, 1, "sample 1: column number 1"},
        {"00000.value.npy", HEADER + 4, 0x7fc00000, "value 2 is NaN: expected a finite number"},
        {"00000.value.npy", HEADER + 8, 0xff800000, "value 3 is infinite: expected a finite number"},
        {"00000.y.npy", HEADER, 2, "label 1 is not a known class"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        make_sparse();
        patch(wrong[i].name, wrong[i].at, &wrong[i].bits, sizeof wrong[i].bits);
        check_error("sparse", ENHOPE_ERROR_DATA, wrong[i].message);
    }
}

static void integers_of_another_byte_order_are_read(void **state)
{
    (void)state;
    static const unsigned char starts[] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 3};
    static const unsigned char columns[] = {0, 0, 0, 1, 0, 0, 0, 3, 0, 0, 0, 0};
    size_t size;
    make_sparse();
    enhope_dataset *expected = read_ok((enhope_source){.path = "w.svm"});
    unsigned char *header = slurp("sparse/00000.start.npy", &size);
    header[size] = 0;
    const char *order = strstr((const char *)header + 10, "'<i8'");
    assert_non_null(order);
    const size_t at = (size_t)(order - (const char *)header) + 1; /* both headers begin alike */
    free(header);
    patch("00000.start.npy", at, ">", 1);
    patch("00000.start.npy", HEADER, starts, sizeof starts);
    patch("00000.column.npy", at, ">", 1);
    patch("00000.column.npy", HEADER, columns, sizeof columns);
    enhope_dataset *data = read_ok((enhope_source){.path = "sparse"});
    for (int64_t i = 0; i < 3; i++) {
        float row[4];
        eh_matrix_row(&expected->x, i, row);
        assert_row(data, i, row);
    }
    enhope_dataset_free(expected);
    enhope_dataset_free(data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_wrong_entry_of_the_list_is_named),
        cmocka_unit_test(entries_that_are_optional_may_be_missing),
        cmocka_unit_test(any_class_name_survives),
        cmocka_unit_test(wrong_values_with_a_right_checksum_are_found),
        cmocka_unit_test(integers_of_another_byte_order_are_read),
    };
    return cmocka_run_group_tests(tests, enter_folder, leave_folder);
}
