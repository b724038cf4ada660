/* The JSON of an inference request:
 *
 *   {"id": "7",
 *    "inputs": [{"name": "input", "shape": [1, 3], "datatype": "FP32", "data": [5.1, 3.5, 1.4]}],
 *    "outputs": [{"name": "label"}]}
 *
 * Data is flat or nested. Binary data of a tensor follows the JSON; its parameter binary_data_size
 * is the number of bytes. Other keys are skipped. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"
#include "serve/scan.h"
#include "serve/serve.h"

const char *const serve_output_name[SERVE_OUTPUTS] = {"label", "probabilities", "embedding"};

/* ---- arrays that grow ---- */

static bool grow(scan *s, void **array, int64_t used, int64_t *capacity, size_t size)
{
    enum { FIRST = 1024 };
    if (used < *capacity) return true;
    const int64_t larger = *capacity ? 2 * *capacity : FIRST;
    void *grown = realloc(*array, (size_t)larger * size);
    if (!grown) return scan_fail(s, "out of memory");
    *array = grown;
    *capacity = larger;
    return true;
}

static bool add_number(scan *s, serve_request *r, double value)
{
    void *array = r->number;
    if (!grow(s, &array, r->numbers, &r->number_capacity, sizeof *r->number)) return false;
    r->number = array;
    r->number[r->numbers++] = value;
    return true;
}

static bool add_text(scan *s, serve_request *r, const char *text)
{
    void *array = (void *)r->text;
    if (!grow(s, &array, r->texts, &r->text_capacity, sizeof *r->text)) return false;
    r->text = array;
    r->text[r->texts++] = text;
    return true;
}

/* ---- data ---- */

/* Sets the kind of the elements. Those before were null. */
static bool set_kind(scan *s, serve_request *r, serve_tensor *t, serve_kind kind)
{
    if (t->kind == kind) return true;
    if (t->kind != SERVE_EMPTY) return scan_fail(s, "the data of an input has values of different types");
    t->kind = kind;
    if (kind != SERVE_TEXTS) return true;
    r->numbers = t->first; /* nulls are texts */
    t->first = r->texts;
    for (int64_t i = 0; i < t->nulls; i++)
        if (!add_text(s, r, NULL)) return false;
    return true;
}

static bool add_null(scan *s, serve_request *r, serve_tensor *t)
{
    t->nulls++;
    if (!scan_word(s, "null")) return false;
    return t->kind == SERVE_TEXTS ? add_text(s, r, NULL) : add_number(s, r, NAN);
}

static bool add_element(scan *s, serve_request *r, serve_tensor *t)
{
    char *text;
    double value;
    switch (scan_peek(s)) {
    case '"': return set_kind(s, r, t, SERVE_TEXTS) && scan_string(s, &text) && add_text(s, r, text);
    case 't': return set_kind(s, r, t, SERVE_BOOLEANS) && scan_word(s, "true") && add_number(s, r, 1);
    case 'f': return set_kind(s, r, t, SERVE_BOOLEANS) && scan_word(s, "false") && add_number(s, r, 0);
    case 'n': return add_null(s, r, t);
    default: return set_kind(s, r, t, SERVE_NUMBERS) && scan_number(s, &value) && add_number(s, r, value);
    }
}

/* Elements up to the end of the innermost array. */
static bool scan_elements(scan *s, serve_request *r, serve_tensor *t, int depth)
{
    int64_t run = 0;
    if (t->depth && t->depth != depth) return scan_fail(s, "the data of an input is not nested evenly");
    t->depth = depth;
    do {
        if (!add_element(s, r, t)) return false;
        run++;
    } while (scan_more(s, ']'));
    t->inner = t->count == 0 || t->inner == run ? run : -1;
    t->count += run;
    return !*s->reason;
}

static bool scan_data(scan *s, serve_request *r, serve_tensor *t)
{
    int depth = 0;
    bool more = true;
    if (t->given) return scan_fail(s, "an input has data twice");
    t->given = true;
    t->first = r->numbers;
    if (scan_peek(s) != '[') return scan_fail(s, "expected an array");
    while (more) {
        while (scan_accept(s, '[')) {
            if (++depth > SERVE_RANK) return scan_fail(s, "the data of an input is nested too deeply");
        }
        if (depth == 1 && t->count == 0 && scan_accept(s, ']')) return true; /* it is empty */
        if (!scan_elements(s, r, t, depth)) return false;
        depth--;
        for (more = false; depth > 0 && !(more = scan_more(s, ']')); depth--)
            if (*s->reason) return false;
        if (more && scan_peek(s) != '[') return scan_fail(s, "the data of an input is not nested evenly");
    }
    return true;
}

/* ---- parameters ---- */

/* The value of one parameter, a number or a boolean. Others are skipped. */
static bool scan_parameter(scan *s, const char *wanted, double *value)
{
    char *key;
    if (scan_peek(s) != '{') return scan_skip(s);
    s->at++;
    for (bool more = !scan_accept(s, '}'); more; more = scan_more(s, '}')) {
        if (!scan_key(s, &key)) return false;
        const bool known = !strcmp(key, wanted);
        const char first = scan_peek(s);
        if (known && (first == 't' || first == 'f')) *value = first == 't';
        const bool number = known && (first == '-' || (first >= '0' && first <= '9'));
        if (!(number ? scan_number(s, value) : scan_skip(s))) return false;
    }
    return !*s->reason;
}

static bool scan_binary_size(scan *s, serve_tensor *t)
{
    double size = -1;
    if (!scan_parameter(s, "binary_data_size", &size)) return false;
    if (size == -1) return true;
    if (!(size >= 0 && size <= CLI_INTEGER_MAX && size == floor(size)))
        return scan_fail(s, "binary_data_size is not a number of bytes");
    t->bytes = (int64_t)size;
    return true;
}

/* ---- tensors ---- */

static bool scan_shape(scan *s, serve_tensor *t)
{
    double size;
    if (t->rank) return scan_fail(s, "an input has a shape twice");
    if (!scan_expect(s, '[')) return false;
    if (scan_peek(s) == ']') return scan_fail(s, "a shape is empty");
    do {
        if (!scan_number(s, &size)) return false;
        if (size < 0 || size > CLI_INTEGER_MAX || size != floor(size)) return scan_fail(s, "a shape is not of counts");
        if (t->rank == SERVE_RANK) return scan_fail(s, "a shape has more than 8 dimensions");
        t->shape[t->rank++] = (int64_t)size;
    } while (scan_more(s, ']'));
    return !*s->reason;
}

static bool scan_tensor(scan *s, serve_request *r)
{
    char *key, *text;
    void *array = r->tensor;
    if (!grow(s, &array, r->tensors, &r->tensor_capacity, sizeof *r->tensor)) return false;
    r->tensor = array;
    serve_tensor *t = &r->tensor[r->tensors++];
    *t = (serve_tensor){.bytes = -1};
    if (!scan_expect(s, '{')) return false;
    bool more = !scan_accept(s, '}');
    while (more) {
        if (!scan_key(s, &key)) return false;
        bool good;
        if (!strcmp(key, "name") || !strcmp(key, "datatype")) {
            good = scan_string(s, &text);
            if (good && *key == 'n') t->name = text;
            if (good && *key == 'd') t->datatype = text;
        } else if (!strcmp(key, "shape")) {
            good = scan_shape(s, t);
        } else if (!strcmp(key, "data")) {
            good = scan_data(s, r, t);
        } else if (!strcmp(key, "parameters")) {
            good = scan_binary_size(s, t);
        } else {
            good = scan_skip(s);
        }
        if (!good) return false;
        more = scan_more(s, '}');
    }
    return !*s->reason;
}

static bool scan_output(scan *s, serve_request *r)
{
    char *key, *name = NULL;
    double binary = -1;
    if (!scan_expect(s, '{')) return false;
    bool more = !scan_accept(s, '}');
    while (more) {
        if (!scan_key(s, &key)) return false;
        const bool good = !strcmp(key, "name")         ? scan_string(s, &name)
                          : !strcmp(key, "parameters") ? scan_parameter(s, "binary_data", &binary)
                                                       : scan_skip(s);
        if (!good) return false;
        more = scan_more(s, '}');
    }
    if (*s->reason) return false;
    if (!name) return scan_fail(s, "an output has no name");
    for (int i = 0; i < SERVE_OUTPUTS; i++)
        if (!strcmp(name, serve_output_name[i])) {
            if (binary >= 0) r->binary[i] = binary > 0;
            return r->wanted[i] = true;
        }
    return scan_fail(s, "an output is not known: expected label, probabilities or embedding");
}

/* ---- binary data ---- */

static bool read_numbers(scan *s, serve_request *r, serve_tensor *t, const serve_datatype *type)
{
    t->kind = !strcmp(type->name, "BOOL") ? SERVE_BOOLEANS : SERVE_NUMBERS;
    t->first = r->numbers;
    t->count = t->bytes / type->size;
    if (t->bytes % type->size) return scan_fail(s, "binary_data_size is not a multiple of the size of a value");
    for (int64_t i = 0; i < t->count; i++, s->at += type->size)
        if (!add_number(s, r, serve_datatype_decode(type, s->at))) return false;
    return true;
}

/* Strings of a length (4 bytes) and UTF-8. A text moves one byte to the front, over its length, so
 * that NUL can follow it. */
static bool read_texts(scan *s, serve_request *r, serve_tensor *t)
{
    enum { LENGTH = 4 };
    char *end = s->at + t->bytes;
    t->kind = SERVE_TEXTS;
    t->first = r->texts;
    for (; s->at < end; t->count++) {
        const int64_t left = end - s->at - LENGTH;
        const uint64_t length = left < 0 ? 0 : serve_little_endian(s->at, LENGTH);
        if (left < 0 || length > (uint64_t)left) return scan_fail(s, "a string is longer than its tensor");
        char *text = s->at + LENGTH - 1;
        memmove(text, text + 1, (size_t)length);
        text[length] = '\0';
        if (!eh_utf8_valid(text, (size_t)length)) return scan_fail(s, "a string is not UTF-8 without NUL");
        s->at = text + 1 + length;
        if (!add_text(s, r, text)) return false;
    }
    return true;
}

/* Reads the binary data of the tensors, in their order. */
static bool read_binary(scan *s, serve_request *r)
{
    for (int64_t j = 0; j < r->tensors; j++) {
        serve_tensor *t = &r->tensor[j];
        const serve_datatype *type = t->datatype ? serve_datatype_find(t->datatype) : NULL;
        if (t->bytes < 0) continue;
        if (t->given) return scan_fail(s, "an input has data and binary data");
        if (t->bytes > s->end - s->at) return scan_fail(s, "the body ends within the binary data of an input");
        t->given = true;
        if (!type)
            s->at += t->bytes; /* an error of the tensor */
        else if (!(type->form == SERVE_STRING ? read_texts(s, r, t) : read_numbers(s, r, t, type)))
            return false;
    }
    return s->at == s->end || scan_fail(s, "bytes follow the data of the inputs");
}

/* The bytes of JSON in the body; -1 after a message. */
static int64_t json_size(const http_exchange *x, char error[SERVE_ERROR])
{
    if (!x->json_length) return (int64_t)x->body.used;
    char *end;
    errno = 0;
    const unsigned long long size = strtoull(x->json_length, &end, 10);
    const bool digits = *x->json_length >= '0' && *x->json_length <= '9' && !*end && !errno;
    if (digits && size > 0 && size <= x->body.used) return (int64_t)size;
    snprintf(
        error, SERVE_ERROR,
        "the header Inference-Header-Content-Length is '%.40s': expected the bytes of JSON in the body of %zu bytes",
        x->json_length, x->body.used);
    return -1;
}

/* ---- the request ---- */

static bool scan_list(scan *s, serve_request *r, bool (*element)(scan *s, serve_request *r))
{
    if (!scan_expect(s, '[')) return false;
    if (scan_accept(s, ']')) return true;
    do {
        if (!element(s, r)) return false;
    } while (scan_more(s, ']'));
    return !*s->reason;
}

static bool scan_request(scan *s, serve_request *r)
{
    char *key, *text;
    double binary = 0;
    bool more, inputs = false;
    if (!scan_expect(s, '{')) return false;
    for (more = !scan_accept(s, '}'); more; more = scan_more(s, '}')) {
        bool good;
        if (!scan_key(s, &key)) return false;
        if (!strcmp(key, "inputs")) {
            if (inputs) return scan_fail(s, "the inputs are given twice");
            inputs = true;
            good = scan_list(s, r, scan_tensor);
        } else if (!strcmp(key, "outputs")) {
            good = scan_list(s, r, scan_output);
        } else if (!strcmp(key, "id")) {
            good = scan_string(s, &text);
            r->id = good ? text : NULL;
        } else if (!strcmp(key, "parameters")) {
            good = scan_parameter(s, "binary_data_output", &binary);
        } else {
            good = scan_skip(s);
        }
        if (!good) return false;
    }
    if (*s->reason) return false;
    for (int i = 0; i < SERVE_OUTPUTS; i++)
        if (r->binary[i] < 0) r->binary[i] = binary > 0;
    scan_space(s);
    return s->at == s->end || scan_fail(s, "text follows the request; binary data needs the header "
                                           "Inference-Header-Content-Length");
}

int serve_request_parse(serve_request *r, const http_exchange *x, char error[SERVE_ERROR])
{
    char *body = x->body.bytes;
    const int64_t json = json_size(x, error);
    scan s = {.begin = body, .at = body, .end = body + json};
    bool any = false;
    if (json < 0) return 400;
    r->id = NULL;
    r->tensors = r->numbers = r->texts = 0;
    memset(r->wanted, 0, sizeof r->wanted);
    for (int i = 0; i < SERVE_OUTPUTS; i++) r->binary[i] = -1;
    if (json == 0) {
        snprintf(error, SERVE_ERROR, "the body is empty: expected an inference request in JSON");
        return 400;
    }
    bool good = scan_request(&s, r);
    s.end = body + x->body.used;
    if (!(good && read_binary(&s, r))) {
        snprintf(error, SERVE_ERROR, "%s", s.reason);
        return 400;
    }
    for (int i = 0; i < SERVE_OUTPUTS; i++) any = any || r->wanted[i];
    for (int i = 0; i < SERVE_OUTPUTS && !any; i++) r->wanted[i] = true;
    return 0;
}

void serve_request_free(serve_request *r)
{
    free(r->tensor);
    free(r->number);
    free((void *)r->text);
    *r = (serve_request){0};
}
