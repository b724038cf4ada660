/* Sketches of rows: they do not depend on the type of the values, estimate the share of equal
 * rows, and are stored in models. */
#define _XOPEN_SOURCE 700
#include "model_fixture.h"

#include "data/sketch.h"

enum { N = 3000, H = 6, C = 3 };
static const char *const names[C] = {"red", "gr\xfcn", "blue"}; /* the second in Latin-1 */

typedef struct rows {
    uint8_t u8[N * H];
    float f32[N * H];
    int64_t row_start[N + 1];
    int32_t column[N * H];
    float value[N * H];
    int32_t label[N];
} rows;

/* Rows first .. first + N of an endless table. Every `again`-th row equals row 0; 0: none. */
static rows *make_rows(int64_t first, int64_t again)
{
    rows *r = calloc(1, sizeof *r);
    int64_t stored = 0;
    for (int64_t i = 0; i < N; i++) {
        const uint64_t at = again && i % again == 0 ? 0 : (uint64_t)(first + i);
        for (int32_t j = 0; j < H; j++) {
            const uint64_t random = eh_random_u64(SEED, 51, at * H + (uint64_t)j);
            const uint8_t value = random % 3 ? (uint8_t)(random >> 20 & 0xFF) : 0;
            r->u8[i * H + j] = value;
            r->f32[i * H + j] = value;
            r->column[stored] = j;
            r->value[stored] = value;
            stored += value != 0 || random % 2; /* some zeros are stored */
        }
        r->row_start[i + 1] = stored;
        r->label[i] = (int32_t)(eh_random_u64(SEED, 52, at) % C);
    }
    return r;
}

static enhope_dataset *view(enhope_context *ctx, const rows *r, enhope_kind kind, int64_t n)
{
    enhope_dataset *data = NULL;
    enhope_status status = kind == ENHOPE_U8    ? enhope_dataset_view_u8(ctx, n, H, r->u8, r->label, C, names, &data)
                           : kind == ENHOPE_F32 ? enhope_dataset_view_f32(ctx, n, H, r->f32, r->label, C, names, &data)
                                                : enhope_dataset_view_csr(ctx, n, H, r->row_start, r->column, r->value,
                                                                          r->label, C, names, &data);
    assert_int_equal(status, ENHOPE_OK);
    return data;
}

static eh_sketch sketch_of(enhope_context *ctx, const rows *r, enhope_kind kind, int64_t n)
{
    eh_sketch s = {0};
    enhope_dataset *data = view(ctx, r, kind, n);
    assert_int_equal(eh_sketch_add(ctx, data, &s), ENHOPE_OK);
    enhope_dataset_free(data);
    return s;
}

static enhope_overlap compare(enhope_context *ctx, const eh_sketch *s, const rows *r, int64_t n)
{
    enhope_overlap o;
    enhope_dataset *data = view(ctx, r, ENHOPE_F32, n);
    assert_int_equal(eh_sketch_compare(ctx, s, data, &o), ENHOPE_OK);
    enhope_dataset_free(data);
    return o;
}

static void sketches_do_not_depend_on_the_type_of_values(void **state)
{
    (void)state;
    enhope_context *ctx = enhope_context_create();
    rows *r = make_rows(0, 0);
    const eh_sketch u8 = sketch_of(ctx, r, ENHOPE_U8, N), f32 = sketch_of(ctx, r, ENHOPE_F32, N),
                    csr = sketch_of(ctx, r, ENHOPE_CSR, N);
    assert_int_equal(u8.count, EH_SKETCH_ROWS);
    assert_memory_equal(&u8, &f32, sizeof u8);
    assert_memory_equal(&u8, &csr, sizeof u8);
    for (int i = 1; i < u8.count; i++) assert_true(u8.hash[i] > u8.hash[i - 1]);
    free(r);
    enhope_context_free(ctx);
}

static void overlap_is_estimated(void **state)
{
    (void)state;
    enhope_context *ctx = enhope_context_create();
    rows *r = make_rows(0, 0), *half = make_rows(N / 2, 0), *other = make_rows(N, 0);
    const eh_sketch s = sketch_of(ctx, r, ENHOPE_F32, N);
    const enhope_overlap same = compare(ctx, &s, r, N), shared = compare(ctx, &s, half, N),
                         none = compare(ctx, &s, other, N);
    assert_int_equal(same.sampled, EH_SKETCH_ROWS);
    assert_int_equal(same.found, EH_SKETCH_ROWS);
    assert_true(same.trained && shared.trained && !none.trained);
    assert_float_equal(shared.share, 0.5, 0.1);
    assert_int_equal(none.found, 0);
    assert_true(none.sampled > 150 && none.sampled < 400);
    /* another class makes another row */
    for (int i = 0; i < N; i++) r->label[i] = (r->label[i] + 1) % C;
    assert_int_equal(compare(ctx, &s, r, N).found, 0);
    free(r);
    free(half);
    free(other);
    enhope_context_free(ctx);
}

/* A third of all rows are equal: other data of this kind has them too, and is not reported. */
static void equal_rows_are_expected_in_other_data(void **state)
{
    (void)state;
    enhope_context *ctx = enhope_context_create();
    rows *r = make_rows(0, 3), *other = make_rows(N, 3);
    eh_sketch s;
    int64_t first = 0; /* row 0 must be in the sketch, which depends on its hash */
    do {
        for (int i = 0; i < N; i += 3) r->f32[i * H] = other->f32[i * H] = (float)first + 0.5f;
        s = sketch_of(ctx, r, ENHOPE_F32, N);
        first++;
    } while (compare(ctx, &s, other, N).found == 0);
    const enhope_overlap o = compare(ctx, &s, other, N);
    assert_true(o.share > 0.7 && o.expected > 0.7 && !o.trained);
    assert_true(compare(ctx, &s, r, N).trained);
    free(r);
    free(other);
    enhope_context_free(ctx);
}

static void small_data_is_sketched_completely(void **state)
{
    (void)state;
    enhope_context *ctx = enhope_context_create();
    rows *r = make_rows(0, 0);
    const eh_sketch s = sketch_of(ctx, r, ENHOPE_U8, 100);
    assert_int_equal(s.count, 100);
    const enhope_overlap o = compare(ctx, &s, r, 150);
    assert_int_equal(o.sampled, 150);
    assert_int_equal(o.found, 100);
    free(r);
    enhope_context_free(ctx);
}

static void merged_sketches_are_those_of_all_rows(void **state)
{
    (void)state;
    enhope_context *ctx = enhope_context_create();
    rows *r = make_rows(0, 0), *more = make_rows(N, 0);
    static const int64_t sizes[][2] = {{N, N}, {N, 40}, {40, N}, {100, 90}, {200, 190}};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        eh_sketch merged = sketch_of(ctx, r, ENHOPE_U8, sizes[i][0]), all = merged;
        const eh_sketch second = sketch_of(ctx, more, ENHOPE_U8, sizes[i][1]);
        enhope_dataset *data = view(ctx, more, ENHOPE_U8, sizes[i][1]);
        assert_int_equal(eh_sketch_add(ctx, data, &all), ENHOPE_OK);
        enhope_dataset_free(data);
        eh_sketch_merge(&merged, &second);
        assert_int_equal(merged.count, all.count);
        assert_memory_equal(merged.hash, all.hash, (size_t)all.count * sizeof *all.hash);
        eh_sketch_merge(&merged, &merged); /* the same rows again are no equal rows */
        for (int k = 0; k < merged.count; k++) assert_int_equal(merged.times[k], all.times[k]);
    }
    free(r);
    free(more);
    enhope_context_free(ctx);
}

static void texts_read_back_and_others_are_refused(void **state)
{
    (void)state;
    enhope_context *ctx = enhope_context_create();
    rows *r = make_rows(0, 7);
    static char text[EH_SKETCH_TEXT];
    eh_sketch s = sketch_of(ctx, r, ENHOPE_U8, N), back;
    s.times[3] = 999999999;
    eh_sketch_print(&s, text);
    assert_true(eh_sketch_parse(text, &back));
    assert_memory_equal(&s, &back, sizeof s);
    eh_sketch_print(&(eh_sketch){0}, text);
    assert_true(eh_sketch_parse(text, &back) && back.count == 0);
    static const char *const bad[] = {" ",
                                      "0123456789abcdef ",
                                      "0123456789abcde",
                                      "0123456789abcdef0",
                                      "0123456789ABCDEF",
                                      "0123456789abcdef*",
                                      "0123456789abcdef*0",
                                      "0123456789abcdef*1234567890",
                                      "0123456789abcdef  0223456789abcdef",
                                      "0123456789abcdef,0223456789abcdef",
                                      "0123456789abcdef 0123456789abcdef"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) assert_false(eh_sketch_parse(bad[i], &back));
    free(r);
    enhope_context_free(ctx);
}

/* ---- models ---- */

static enhope_model *save_and_load(enhope_context *ctx, const enhope_model *model)
{
    size_t size = 0;
    enhope_model *loaded = NULL;
    assert_int_equal(enhope_model_save_bytes(ctx, model, NULL, 0, &size), ENHOPE_OK);
    char *bytes = malloc(size);
    assert_int_equal(enhope_model_save_bytes(ctx, model, bytes, size, &size), ENHOPE_OK);
    assert_int_equal(enhope_model_load_bytes(ctx, bytes, size, &loaded), ENHOPE_OK);
    free(bytes);
    return loaded;
}

static void models_know_their_training_rows(void **state)
{
    (void)state;
    enhope_context *ctx = enhope_context_create();
    const enhope_source source = {.path = "synthetic:blobs,n=300,classes=3,inputs=4,seed=5", .split = "200@1"};
    enhope_source test = source;
    test.part = "test";
    enhope_dataset *train = NULL, *rest = NULL;
    enhope_settings *settings = enhope_settings_create();
    enhope_model *model = NULL, *more = NULL;
    enhope_overlap o;
    enhope_training_data data;
    assert_int_equal(enhope_settings_set(ctx, settings, "n_epochs", "1"), 0);
    assert_int_equal(enhope_dataset_read(ctx, &source, &train), 0);
    assert_int_equal(enhope_dataset_read(ctx, &test, &rest), 0);
    assert_int_equal(enhope_train(ctx, train, settings, NULL, NULL, &model), 0);
    enhope_model *loaded = save_and_load(ctx, model);
    assert_int_equal(enhope_model_training_data(loaded, &data), 1);
    assert_int_equal(data.rows, 200);
    assert_int_equal(data.limit, 0);
    assert_string_equal(data.split, "200@1");
    assert_null(data.part);
    assert_int_equal(enhope_model_overlap(ctx, loaded, train, &o), 0);
    assert_true(o.trained && o.found == 200 && o.sampled == 200);
    assert_int_equal(enhope_model_overlap(ctx, loaded, rest, &o), 0);
    assert_true(!o.trained && o.found == 0 && o.sampled == 100);
    /* an update knows the rows of both */
    assert_int_equal(enhope_model_update(ctx, loaded, rest, settings, NULL, NULL, &more), 0);
    assert_int_equal(enhope_model_overlap(ctx, more, rest, &o), 0);
    assert_true(o.trained && o.share == 1);
    assert_int_equal(enhope_model_overlap(ctx, more, train, &o), 0);
    assert_true(o.trained && o.share == 1);
    assert_int_equal(enhope_model_training_data(more, &data), 1);
    assert_string_equal(data.part, "test");
    enhope_model_free(more);
    /* models of earlier versions know nothing, nor do their updates */
    eh_provenance_free(loaded->provenance);
    loaded->provenance = NULL;
    assert_int_equal(enhope_model_training_data(loaded, &data), 0);
    assert_int_equal(enhope_model_update(ctx, loaded, rest, settings, NULL, NULL, &more), 0);
    assert_int_equal(enhope_model_overlap(ctx, more, rest, &o), 0);
    assert_true(isnan(o.share) && !o.trained);
    enhope_model_free(more);
    enhope_model_free(loaded);
    enhope_model_free(model);
    enhope_settings_free(settings);
    enhope_dataset_free(train);
    enhope_dataset_free(rest);
    enhope_context_free(ctx);
}

static void damaged_provenance_is_refused(void **state)
{
    (void)state;
    enhope_context *ctx = enhope_context_create();
    static const char *const bad[] = {"[]", "{\"rows\":-1}", "{\"rows\":\"7\"}", "{\"split\":7}", "{\"sketch\":\"x\"}",
                                      "{"};
    eh_provenance *provenance = NULL;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_int_equal(eh_provenance_parse(ctx, bad[i], &provenance), ENHOPE_ERROR_MODEL);
        assert_non_null(strstr(enhope_error(ctx), "training_data"));
    }
    assert_null(provenance);
    assert_int_equal(eh_provenance_parse(ctx, "{\"rows\":7,\"other\":[1]}", &provenance), ENHOPE_OK);
    assert_int_equal(provenance->rows, 7);
    eh_provenance_free(provenance);
    enhope_context_free(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sketches_do_not_depend_on_the_type_of_values),
        cmocka_unit_test(overlap_is_estimated),
        cmocka_unit_test(equal_rows_are_expected_in_other_data),
        cmocka_unit_test(small_data_is_sketched_completely),
        cmocka_unit_test(merged_sketches_are_those_of_all_rows),
        cmocka_unit_test(texts_read_back_and_others_are_refused),
        cmocka_unit_test(models_know_their_training_rows),
        cmocka_unit_test(damaged_provenance_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
