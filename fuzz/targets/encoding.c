/* The columns of a model or of shards as JSON, the encoding of hostile rows with them, and the
 * printed text, which is parsed to the same text.
 *
 * Input: JSON; a byte 0; texts of cells, a line each. */
#include <math.h>

#include "data/frame/frame.h"
#include "fuzz.h"

enum { ROWS = 2, COLUMNS = 64, INPUTS = 1 << 16 };

/* A frame with the columns of the encoding, whose cells are lines of the input. */
static enhope_frame *make_frame(const eh_encoding *e, fuzz_input *in)
{
    enhope_frame *frame = NULL;
    fuzz_succeed(enhope_frame_create(fuzz_ctx, ROWS, &frame));
    for (int64_t j = 0; j < e->columns; j++) {
        const char *text[ROWS];
        double x[ROWS];
        enhope_status status;
        for (int i = 0; i < ROWS; i++) {
            text[i] = fuzz_line(in);
            x[i] = *text[i] ? strtod(text[i], NULL) : NAN;
            if (isinf(x[i])) x[i] = 1e300;
        }
        const char *name = e->named ? e->column[j].name : NULL;
        if (e->column[j].type == EH_COLUMN_CATEGORY)
            status = enhope_frame_add_texts(fuzz_ctx, frame, name, text);
        else
            status = enhope_frame_add_numbers(fuzz_ctx, frame, name, x);
        if (!fuzz_good(status)) break;
    }
    return frame;
}

static void encode(const eh_encoding *e, fuzz_input *in)
{
    if (e->columns > COLUMNS || e->H > INPUTS) return;
    enhope_frame *frame = make_frame(e, in);
    eh_unseen *unseen = fuzz_alloc((size_t)e->columns * sizeof *unseen);
    memset(unseen, 0, (size_t)e->columns * sizeof *unseen);
    float *X = fuzz_alloc(ROWS * (size_t)e->H * sizeof *X);
    if (fuzz_good(eh_frame_match(fuzz_ctx, e, frame, "the frame")) &&
        fuzz_good(eh_encode(fuzz_ctx, e, frame, NULL, ROWS, X, unseen))) {
        for (int64_t i = 0; i < ROWS * e->H; i++) FUZZ_MUST(isfinite(X[i]));
        eh_unseen_warn(fuzz_ctx, e, unseen);
    }
    enhope_frame_free(frame);
}

FUZZ_TARGET(encoding)
{
    const char *json = fuzz_text(in, '\0');
    eh_encoding *e = NULL, *again = NULL;
    char *text = NULL, *second = NULL, **names = NULL;
    if (!fuzz_good(eh_encoding_parse(fuzz_ctx, json, "'columns'", &e))) {
        FUZZ_MUST(!e);
        return;
    }
    fuzz_succeed(eh_encoding_print(fuzz_ctx, e, &text));
    fuzz_succeed(eh_encoding_parse(fuzz_ctx, text, "'columns'", &again));
    fuzz_succeed(eh_encoding_print(fuzz_ctx, again, &second));
    FUZZ_MUST(!strcmp(text, second));
    FUZZ_MUST(e->H == again->H && e->columns == again->columns);
    fuzz_succeed(eh_encoding_check(fuzz_ctx, e, again, "the model"));
    if (e->H <= INPUTS) {
        fuzz_succeed(eh_encoding_input_names(fuzz_ctx, e, &names));
        if (names) eh_names_free(names, e->H);
    }
    encode(e, in);
    eh_encoding_free(e);
    eh_encoding_free(again);
    eh_free(text);
    eh_free(second);
}
