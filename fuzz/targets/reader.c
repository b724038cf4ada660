/* Readers of text that arrives in chunks, CSV and JSON lines: the chunks do not change rows,
 * messages and the number of lines, and a file has the same rows.
 *
 * Input: a byte of choices; two bytes that choose the chunks; the text. */
#include "fuzz.h"

static const char table[] = "size,color,day,fit,class\n"
                            "1.5,red,2024-01-31,yes,a\n2.25,green,2023-07-02,no,b\n,blue,2024-02-29,yes,a\n"
                            "4.5,red,,no,b\n3.125,green,2022-12-31,yes,a\n2.5,\"blue, dark\",2024-05-06,no,b\n"
                            "1.75,red,2021-03-04,yes,a\n-2,green,2020-10-11,,b\n";

/* What a reader returned: the values of its rows, and the last status and message. */
typedef struct answer {
    float *x;
    int64_t rows, capacity, last_row;
    enhope_status status;
    char *message;
} answer;

static void add_rows(answer *a, const enhope_dataset *data)
{
    enhope_dataset_info info;
    enhope_dataset_get_info(data, &info);
    FUZZ_MUST(info.n > 0);
    for (int64_t i = 0; i < info.n; i++) {
        if (a->rows == a->capacity) {
            a->capacity = 2 * a->capacity + 16;
            a->x = realloc(a->x, (size_t)(a->capacity * info.inputs) * sizeof *a->x);
            if (!a->x) abort();
        }
        fuzz_succeed(enhope_dataset_row(fuzz_ctx, data, i, a->x + a->rows++ * info.inputs));
        const int64_t row = enhope_dataset_source_row(data, i);
        FUZZ_MUST(row > a->last_row);
        a->last_row = row;
    }
}

/* Takes rows until there are none. */
static bool drain(enhope_reader *reader, bool end, const char *text, size_t size, answer *a)
{
    for (;; size = 0) {
        const enhope_dataset *data = NULL;
        a->status =
            end ? enhope_reader_end(fuzz_ctx, reader, &data) : enhope_reader_take(fuzz_ctx, reader, text, size, &data);
        if (!fuzz_good(a->status)) return false;
        if (!data) return true;
        add_rows(a, data);
    }
}

/* chunk: bytes of the next chunk as a function of the state; 0: all at once. */
static answer read_chunks(const enhope_source *source, const char *text, size_t size, uint32_t chunk)
{
    answer a = {.last_row = -1};
    enhope_reader *reader = NULL;
    uint32_t state = chunk;
    bool good = true;
    fuzz_succeed(enhope_reader_create(fuzz_ctx, source, &reader));
    for (size_t at = 0; good && at < size;) {
        state = state * 1664525 + 1013904223;
        size_t next = chunk == 0 ? size : chunk == 1 ? 1 : 1 + (state >> 16) % (1 + chunk % 64);
        if (next > size - at) next = size - at;
        char *copy = malloc(next); /* a sanitizer finds the first byte behind it */
        if (!copy) abort();
        memcpy(copy, text + at, next);
        good = drain(reader, false, copy, next, &a);
        free(copy);
        at += next;
    }
    if (good) (void)drain(reader, true, NULL, 0, &a);
    const char *message = a.status ? enhope_error(fuzz_ctx) : "";
    a.message = fuzz_alloc(strlen(message) + 1);
    strcpy(a.message, message);
    enhope_reader_free(reader);
    return a;
}

static void check_same(const answer *a, const answer *b, int64_t inputs)
{
    if (a->status != b->status || strcmp(a->message, b->message) != 0)
        fprintf(stderr, "status %d: %s\nstatus %d: %s\n", (int)a->status, a->message, (int)b->status, b->message);
    FUZZ_MUST(a->status == b->status && !strcmp(a->message, b->message));
    FUZZ_MUST(a->rows == b->rows && a->last_row == b->last_row);
    FUZZ_MUST(a->rows == 0 || !memcmp(a->x, b->x, (size_t)(a->rows * inputs) * sizeof *a->x));
}

/* The same text as a file has the same rows. */
static void check_file(const enhope_source *source, const fuzz_input *in, const answer *a, int64_t inputs)
{
    enhope_source file = *source;
    enhope_dataset *data = NULL;
    enhope_dataset_info info;
    file.path = fuzz_file("text.csv", in->at, in->left);
    file.label = "none";
    if (!fuzz_good(enhope_dataset_read(fuzz_ctx, &file, &data))) return;
    enhope_dataset_get_info(data, &info);
    FUZZ_MUST(info.n == a->rows && info.inputs == inputs);
    float *x = fuzz_alloc((size_t)inputs * sizeof *x);
    for (int64_t i = 0; i < info.n; i++) {
        fuzz_succeed(enhope_dataset_row(fuzz_ctx, data, i, x));
        FUZZ_MUST(!memcmp(x, a->x + i * inputs, (size_t)inputs * sizeof *x));
    }
    enhope_dataset_free(data);
}

FUZZ_TARGET(reader)
{
    static const enhope_model *model;
    static enhope_dataset *data;
    static enhope_model_info info;
    if (!model) {
        model = fuzz_trained("en-hope", fuzz_file("train.csv", table, sizeof table - 1), &data);
        enhope_model_get_info(model, &info);
    }
    const int choice = fuzz_byte(in);
    const uint32_t chunk = fuzz_word(in);
    enhope_table_options options = {.header = choice & 1   ? "yes"
                                              : choice & 2 ? "no"
                                                           : NULL,
                                    .skip_bad = choice >> 2 & 1,
                                    .missing = choice & 8    ? "drop"
                                               : choice & 16 ? "error"
                                                             : NULL};
    const enhope_source source = {.path = "text", .model = model, .table = &options, .limit = choice & 32 ? 2 : 0};
    const char *text = (const char *)in->at;
    answer whole = read_chunks(&source, text, in->left, 0),
           other = read_chunks(&source, text, in->left, chunk ? chunk : 1);
    check_same(&whole, &other, info.inputs);
    if (!whole.status) check_file(&source, in, &whole, info.inputs);
    free(whole.x);
    free(other.x);
}
