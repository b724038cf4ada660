/* Checks of data sets: what their functions show is consistent, and all ways to read a source give
 * the same rows. */
#include <math.h>

#include "fuzz.h"

enum { ROWS = 40, NAMES = 300, CLOSE = 8, WIDTH = 5000, COPY = 1 << 22 };

/* ---- one data set ---- */

static void check_info(const enhope_dataset *data, const enhope_dataset_info *info)
{
    FUZZ_MUST(info->n > 0 && info->inputs > 0 && info->classes >= 0 && info->stored >= 0);
    FUZZ_MUST(info->kind == ENHOPE_CSR || info->stored == info->n * info->inputs);
    FUZZ_MUST(info->image_rows >= 0 && info->image_rows * info->image_columns == (info->image_rows ? info->inputs : 0));
    FUZZ_MUST(info->streamed || (isfinite(info->minimum) && isfinite(info->maximum) && info->minimum <= info->maximum));
    FUZZ_MUST(!enhope_dataset_class_name(data, -1) && !enhope_dataset_class_name(data, info->classes));
    for (int32_t k = 0; k < info->classes && k < NAMES; k++) {
        const char *name = enhope_dataset_class_name(data, k);
        FUZZ_MUST(name);
        for (int32_t j = k < CLOSE ? 0 : k - CLOSE; j < k; j++)
            FUZZ_MUST(strcmp(name, enhope_dataset_class_name(data, j)) != 0);
    }
    for (int64_t j = 0; j < info->inputs && j < NAMES; j++)
        FUZZ_MUST(!enhope_dataset_input_name(data, j) || strlen(enhope_dataset_input_name(data, j)) < SIZE_MAX);
}

static void check_values(const enhope_dataset *data, const enhope_dataset_info *info)
{
    enhope_values v;
    enhope_dataset_get_values(data, &v);
    const int32_t *label = enhope_dataset_labels(data);
    for (int64_t i = 0; label && i < info->n; i++) FUZZ_MUST(label[i] >= -1 && label[i] < info->classes);
    if (info->streamed) {
        FUZZ_MUST(!v.u8 && !v.f32 && !v.value && !label);
        return;
    }
    FUZZ_MUST(!v.u8 == (info->kind != ENHOPE_U8) && !v.f32 == (info->kind != ENHOPE_F32) &&
              !v.row_start == (info->kind != ENHOPE_CSR));
    for (int64_t i = 0; v.f32 && i < info->stored; i++) FUZZ_MUST(isfinite(v.f32[i]));
    if (!v.row_start) return;
    FUZZ_MUST(v.row_start[0] == 0 && v.row_start[info->n] == info->stored);
    for (int64_t i = 0; i < info->n; i++) {
        FUZZ_MUST(v.row_start[i] <= v.row_start[i + 1]);
        for (int64_t k = v.row_start[i]; k < v.row_start[i + 1]; k++) {
            FUZZ_MUST(v.column[k] >= 0 && v.column[k] < info->inputs && isfinite(v.value[k]));
            FUZZ_MUST(k == v.row_start[i] || v.column[k - 1] < v.column[k]);
        }
    }
}

static void check_columns(const enhope_dataset *data, const enhope_dataset_info *info)
{
    static const char types[] = "number boolean category date id empty", uses[] = "input label id ignored";
    const int64_t columns = enhope_dataset_column_count(data), texts = enhope_dataset_text_count(data);
    int64_t inputs = 0;
    for (int64_t j = 0; j < columns; j++) {
        enhope_table_column c = {0};
        fuzz_succeed(enhope_dataset_column(fuzz_ctx, data, j, &c));
        FUZZ_MUST(c.name && strstr(types, c.type) && strstr(uses, c.use) && c.reason);
        FUZZ_MUST(c.values >= 0 && c.missing >= 0 && c.inputs >= 0 && c.categories >= 0);
        for (int32_t k = 0; k < c.categories && k < NAMES; k++) FUZZ_MUST(enhope_dataset_category(data, j, k));
        FUZZ_MUST(!enhope_dataset_category(data, j, c.categories));
        inputs += c.inputs;
    }
    FUZZ_MUST(columns == 0 || inputs == info->inputs);
    for (int64_t k = 0; k < texts; k++) {
        FUZZ_MUST(enhope_dataset_text_name(data, k));
        for (int64_t i = 0; i < info->n && i < ROWS; i++) FUZZ_MUST(enhope_dataset_text(data, k, i));
    }
    for (int64_t i = 0; i < info->n && i < ROWS; i++) FUZZ_MUST(enhope_dataset_source_row(data, i) >= 0);
}

void fuzz_check_data(const enhope_dataset *data)
{
    enhope_dataset_info info;
    enhope_dataset_get_info(data, &info);
    check_info(data, &info);
    check_values(data, &info);
    check_columns(data, &info);
}

/* ---- two data sets ---- */

/* Some rows in memory. NULL: they cannot be read. */
static enhope_dataset *block_of(const enhope_dataset *data, int64_t first, int64_t count)
{
    enhope_dataset *block = NULL;
    const bool good = fuzz_good(enhope_dataset_block(fuzz_ctx, data, first, count, &block));
    FUZZ_MUST(good == (block != NULL));
    return block;
}

static void check_same_rows(const enhope_dataset *a, const enhope_dataset *b, const enhope_dataset_info *info)
{
    float *x = fuzz_alloc((size_t)info->inputs * sizeof *x), *y = fuzz_alloc((size_t)info->inputs * sizeof *y);
    const int64_t n = info->n < ROWS ? info->n : ROWS;
    enhope_dataset *p = block_of(a, 0, n), *q = block_of(b, 0, n);
    FUZZ_MUST(!p == !q);
    for (int64_t i = 0; p && i < n; i++) {
        fuzz_succeed(enhope_dataset_row(fuzz_ctx, p, i, x));
        fuzz_succeed(enhope_dataset_row(fuzz_ctx, q, i, y));
        for (int64_t j = 0; j < info->inputs; j++) FUZZ_MUST(isfinite(x[j]) && x[j] == y[j]);
    }
    if (p) {
        const int32_t *s = enhope_dataset_labels(p), *t = enhope_dataset_labels(q);
        FUZZ_MUST(!s == !t);
        for (int64_t i = 0; s && i < n; i++)
            FUZZ_MUST(fuzz_equal_texts(enhope_dataset_class_name(p, s[i]), enhope_dataset_class_name(q, t[i])));
    }
    enhope_dataset_free(p);
    enhope_dataset_free(q);
}

void fuzz_check_same(const enhope_dataset *a, const enhope_dataset *b)
{
    enhope_dataset_info s, t;
    enhope_dataset_get_info(a, &s);
    enhope_dataset_get_info(b, &t);
    FUZZ_MUST(s.n == t.n && s.inputs == t.inputs && s.classes == t.classes);
    FUZZ_MUST(s.image_rows == t.image_rows && s.image_columns == t.image_columns);
    if (s.inputs <= WIDTH) check_same_rows(a, b, &s);
}

/* ---- sources ---- */

enhope_dataset *fuzz_read(const enhope_source *source)
{
    enhope_dataset *const unset = (enhope_dataset *)(uintptr_t)source, *data = unset;
    if (!fuzz_good(enhope_dataset_read(fuzz_ctx, source, &data))) {
        FUZZ_MUST(data == unset);
        return NULL;
    }
    FUZZ_MUST(data && data != unset);
    fuzz_check_data(data);
    for (int32_t k = 0; k < NAMES && enhope_dataset_class_name(data, k); k++)
        FUZZ_MUST(*enhope_dataset_class_name(data, k)); /* an empty label of a file is a missing one */
    return data;
}

/* A streamed source may fail later than one in memory, since its values have not been read. */
static void read_streamed(const enhope_source *source, const enhope_dataset *data)
{
    enhope_context_set_memory(fuzz_ctx, 1000);
    enhope_dataset *other = fuzz_read(source);
    if (other && data) fuzz_check_same(data, other);
    if (other && !data) enhope_dataset_free(block_of(other, 0, 1));
    enhope_dataset_free(other);
    enhope_context_set_memory(fuzz_ctx, FUZZ_USUAL_MEMORY);
}

static void convert(const enhope_source *source, const enhope_dataset *data, int64_t n)
{
    enum { FEW = 100 };
    const int64_t rows = n < 3 * FEW ? 3 : n / FEW; /* of a shard */
    const char *to = fuzz_path("converted");
    int64_t files = 0;
    fuzz_remove("converted");
    if (fuzz_good(enhope_convert(fuzz_ctx, source, to, rows, 0, NULL, NULL))) {
        const enhope_source back = {.path = to};
        enhope_dataset *read = fuzz_read(&back);
        FUZZ_MUST(read);
        fuzz_succeed(enhope_shards_check(fuzz_ctx, to, NULL, NULL, &files));
        FUZZ_MUST(files > 0);
        if (data) fuzz_check_same(data, read);
        enhope_dataset_free(read);
        fuzz_succeed(enhope_convert(fuzz_ctx, source, to, rows, 0, NULL, NULL)); /* it is complete */
    } else {
        FUZZ_MUST(!data);
    }
    fuzz_remove("converted");
}

static void split(const enhope_source *source, const enhope_dataset *data)
{
    enhope_source part = *source;
    int64_t rows = 0;
    if (source->split || source->part) return;
    for (int i = 0; i < 2; i++) {
        part.split = "0.6@5";
        part.part = i ? "test" : "train";
        enhope_dataset *half = fuzz_read(&part);
        if (!half) return;
        enhope_dataset_info info;
        enhope_dataset_get_info(half, &info);
        rows += info.n;
        enhope_dataset_free(half);
    }
    enhope_dataset_info info;
    enhope_dataset_get_info(data, &info);
    FUZZ_MUST(rows == info.n);
}

static void read_some(const enhope_source *source)
{
    enhope_source some = *source;
    some.limit = 2;
    enhope_dataset *data = fuzz_read(&some);
    if (!data) return;
    enhope_dataset_info info;
    enhope_dataset_get_info(data, &info);
    FUZZ_MUST(info.n <= 2);
    enhope_dataset_free(data);
}

void fuzz_read_all(const enhope_source *source, int how)
{
    enhope_dataset *data = fuzz_read(source);
    enhope_dataset_info info = {0};
    if (data) enhope_dataset_get_info(data, &info);
    if (how & FUZZ_STREAM && fuzz_one_of(FUZZ_WAYS)) read_streamed(source, data);
    if (how & FUZZ_CONVERT && fuzz_one_of(FUZZ_WAYS) && info.n * info.inputs < COPY) convert(source, data, info.n);
    if (how & FUZZ_SPLIT && fuzz_one_of(FUZZ_WAYS) && data) split(source, data);
    if (how & FUZZ_LIMIT && fuzz_one_of(FUZZ_WAYS)) read_some(source);
    enhope_dataset_free(data);
}
