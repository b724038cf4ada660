/* Fits an encoding to the rows of a frame: medians, categories, and offsets of numbers that float
 * cannot resolve. */
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "data/frame/frame.h"

enum {
    MAX_CATEGORIES = 100,   /* of a column; other texts are grouped */
    FEW_CATEGORIES = 10,    /* up to here, texts that occur once are categories too */
    FREQUENT_CATEGORIES = 2 /* rows of a category otherwise */
};
/* The rows that an encoding is fitted to. */
typedef struct rows {
    const int64_t *row; /* (n); NULL: the first n */
    int64_t n;
    double *value; /* (n) values of one column without missing ones */
} rows;

static int64_t row_at(const rows *r, int64_t i)
{
    return r->row ? r->row[i] : i;
}

/* ---- numbers ---- */

/* Moves the k smallest values to the front, the largest of them to k - 1; returns it. */
static double select_smallest(double *x, int64_t n, int64_t k)
{
    int64_t low = 0, high = n - 1;
    while (low < high) {
        const double pivot = x[low + (high - low) / 2];
        int64_t i = low, j = high;
        while (i <= j) {
            while (x[i] < pivot) i++;
            while (x[j] > pivot) j--;
            if (i > j) break;
            const double swap = x[i];
            x[i++] = x[j];
            x[j--] = swap;
        }
        if (k - 1 <= j)
            high = j;
        else if (k - 1 >= i)
            low = i;
        else
            break;
    }
    return x[k - 1];
}

static double median(double *x, int64_t n)
{
    const double upper = select_smallest(x, n, n / 2 + 1);
    if (n % 2) return upper;
    double lower = x[0];
    for (int64_t i = 1; i < n / 2; i++) lower = fmax(lower, x[i]);
    return lower / 2 + upper / 2;
}

/* Collects the finite values of a column in r->value; returns their number. */
static int64_t collect(const rows *r, const eh_column *column, eh_encoded *c)
{
    int64_t values = 0;
    for (int64_t i = 0; column->number && i < r->n; i++) {
        const double x = column->number[row_at(r, i)];
        if (isfinite(x)) r->value[values++] = x;
        c->indicator = c->indicator || isnan(x);
    }
    return values;
}

static bool is_constant(const double *x, int64_t n)
{
    for (int64_t i = 1; i < n; i++)
        if (x[i] != x[0]) return false;
    return true;
}

bool eh_is_coarse(double largest, double sd)
{
    static const double COARSEST = 1e-4; /* distance of floats at the largest value, as a part of sd */
    return sd > 0 && largest * (double)FLT_EPSILON > COARSEST * sd;
}

/* The offset of a column: the median if float cannot resolve the values themselves. */
static double find_offset(const double *x, int64_t n, double middle)
{
    double sum = 0, squares = 0, largest = 0;
    for (int64_t i = 0; i < n; i++) {
        const double d = x[i] - middle;
        sum += d;
        squares += d * d;
        largest = fmax(largest, fabs(x[i]));
    }
    const double mean = sum / (double)n, sd = sqrt(fmax(squares / (double)n - mean * mean, 0));
    return eh_is_coarse(largest, sd) ? middle : 0;
}

static enhope_status fit_number(enhope_context *ctx, const rows *r, const eh_column *column, eh_encoded *c)
{
    double *x = r->value;
    const int64_t n = collect(r, column, c);
    c->constant = n == 0 || (is_constant(x, n) && !column->varies);
    c->fill = n ? median(x, n) : 0;
    if (c->constant || c->type == EH_COLUMN_BOOLEAN) return ENHOPE_OK;
    c->offset = find_offset(x, n, c->fill);
    double largest = 0;
    for (int64_t i = 0; i < n; i++) largest = fmax(largest, fabs(x[i] - c->offset));
    if (largest > 0 && largest < (double)FLT_MIN)
        return eh_fail(ctx, ENHOPE_ERROR_DATA,
                       "column '%.60s': all values are below %.3g in size, too small for a float; multiply them, or "
                       "ignore the column",
                       c->name, largest);
    return ENHOPE_OK;
}

/* ---- dates ---- */

static void fit_date(const rows *r, const eh_column *column, eh_encoded *c)
{
    const int64_t n = collect(r, column, c);
    c->constant = n == 0 || (is_constant(r->value, n) && !column->varies);
    for (int64_t i = 0; i < n && !c->time; i++) c->time = r->value[i] != floor(r->value[i]);
    c->fill = n ? median(r->value, n) : 0;
    c->offset = c->constant ? 0 : floor(c->fill);
}

/* ---- categories ---- */

typedef struct category {
    const char *text;
    int64_t count;
} category;

/* The most frequent first; equally frequent ones by their bytes. */
static int compare_categories(const void *a, const void *b)
{
    const category *x = a, *y = b;
    if (x->count != y->count) return x->count < y->count ? 1 : -1;
    return strcmp(x->text, y->text);
}

static enhope_status keep_categories(enhope_context *ctx, const category *found, int64_t distinct, bool varies,
                                     eh_encoded *c)
{
    int64_t kept = 0;
    while (kept < distinct && kept < MAX_CATEGORIES &&
           (distinct <= FEW_CATEGORIES || found[kept].count >= FREQUENT_CATEGORIES))
        kept++;
    c->other = kept < distinct || (varies && distinct == 1);
    c->constant = (distinct <= 1 && !varies) || kept == 0;
    if (c->constant) c->other = false;
    if (c->constant) return ENHOPE_OK;
    EH_TRY(eh_new(ctx, "categories", kept, sizeof *c->category, (void **)&c->category));
    for (int64_t k = 0; k < kept; k++) { /* two texts may be one in UTF-8 */
        char *text = eh_utf8_copy(found[k].text);
        int32_t at = 0;
        if (!text) return eh_fail_memory(ctx, "a category", strlen(found[k].text) + 1, 1);
        while (at < c->categories && strcmp(c->category[at], text) != 0) at++;
        if (at == c->categories)
            c->category[c->categories++] = text;
        else
            eh_free(text);
    }
    return ENHOPE_OK;
}

static enhope_status fit_texts(enhope_context *ctx, const rows *r, const eh_column *column, eh_encoded *c)
{
    category *found = NULL;
    int64_t distinct = 0;
    EH_TRY(eh_new(ctx, "categories", column->texts, sizeof *found, (void **)&found));
    for (int32_t k = 0; k < column->texts; k++) found[k].text = column->text[k];
    for (int64_t i = 0; i < r->n; i++) {
        const int32_t code = column->code ? column->code[row_at(r, i)] : -1;
        if (code < 0)
            c->indicator = true;
        else
            found[code].count++;
    }
    qsort(found, (size_t)column->texts, sizeof *found, compare_categories);
    while (distinct < column->texts && found[distinct].count > 0) distinct++;
    const enhope_status status = keep_categories(ctx, found, distinct, column->varies, c);
    eh_free(found);
    return status;
}

/* n: rows of the frame. Numbers that are categories are compared as texts. */
static enhope_status fit_category(enhope_context *ctx, const rows *r, const eh_column *column, int64_t n, eh_encoded *c)
{
    eh_column texts = {.name = NULL};
    if (!column->number) return fit_texts(ctx, r, column, c);
    enhope_status status = eh_numbers_to_texts(ctx, column->number, n, &texts);
    if (!status) status = fit_texts(ctx, r, &texts, c);
    eh_column_clear(&texts);
    return status;
}

/* ---- all columns ---- */

static enhope_status fit_column(enhope_context *ctx, const rows *r, const eh_column *column, int64_t n, eh_encoded *c)
{
    c->type = column->type;
    c->form = column->form;
    EH_TRY(eh_new_text(ctx, "a column name", column->name, &c->name));
    switch (c->type) {
    case EH_COLUMN_NUMBER:
    case EH_COLUMN_BOOLEAN: EH_TRY(fit_number(ctx, r, column, c)); break;
    case EH_COLUMN_CATEGORY: EH_TRY(fit_category(ctx, r, column, n, c)); break;
    case EH_COLUMN_DATE: fit_date(r, column, c); break;
    case EH_COLUMN_ID:
    case EH_COLUMN_EMPTY: c->constant = true; break;
    }
    if (c->constant) c->offset = 0;
    return ENHOPE_OK;
}

/* A column without any value says nothing, although all its values are missing. */
static void check_indicator(const rows *r, const eh_column *column, eh_encoded *c)
{
    bool any = false;
    for (int64_t i = 0; c->indicator && i < r->n && !any; i++) {
        const int64_t row = row_at(r, i);
        any = column->number ? !isnan(column->number[row]) : column->code && column->code[row] >= 0;
    }
    c->indicator = any;
}

/* Warns of columns without inputs; ids were reported before. */
static void warn_unused(enhope_context *ctx, const eh_frame *frame, const eh_encoding *encoding)
{
    eh_name_list constant = {.count = 0}, rare = {.count = 0};
    for (int64_t j = 0; j < encoding->columns; j++) {
        const eh_encoded *c = &encoding->column[j];
        if (c->inputs == 0 && c->type != EH_COLUMN_ID)
            eh_name_list_add(frame->column[j].texts > FEW_CATEGORIES ? &rare : &constant, c->name);
    }
    if (constant.count)
        eh_log(ctx, ENHOPE_LOG_WARNING, "not used, because all rows have the same value: %s",
               eh_name_list_end(&constant));
    if (rare.count)
        eh_log(ctx, ENHOPE_LOG_WARNING, "not used, because every text occurs once: %s", eh_name_list_end(&rare));
}

enhope_status eh_encoding_fit(enhope_context *ctx, const eh_frame *frame, const int64_t *row, int64_t n,
                              eh_encoding **out)
{
    enhope_status status = ENHOPE_OK;
    eh_encoding *encoding = NULL;
    rows r = {.row = row, .n = n};
    EH_TRY(eh_new(ctx, "an encoding", 1, sizeof *encoding, (void **)&encoding));
    EH_CHECK(eh_new(ctx, "columns", frame->columns, sizeof *encoding->column, (void **)&encoding->column));
    EH_CHECK(eh_new(ctx, "values of a column", n, sizeof *r.value, (void **)&r.value));
    encoding->columns = frame->columns;
    encoding->named = frame->named;
    encoding->label_place = frame->label_place;
    if (frame->label_name) EH_CHECK(eh_new_text(ctx, "a column name", frame->label_name, &encoding->label));
    for (int64_t j = 0; j < frame->columns; j++) {
        EH_CHECK(fit_column(ctx, &r, &frame->column[j], frame->n, &encoding->column[j]));
        check_indicator(&r, &frame->column[j], &encoding->column[j]);
    }
    eh_encoding_layout(encoding);
    warn_unused(ctx, frame, encoding);
    if (encoding->H == 0)
        EH_CHECK(eh_fail(ctx, ENHOPE_ERROR_DATA,
                         "no column is left as an input: each of the %lld columns has the same value in all rows",
                         (long long)frame->columns));
    *out = encoding;
    encoding = NULL;
cleanup:
    eh_free(r.value);
    eh_encoding_free(encoding);
    return status;
}
