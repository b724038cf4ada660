/* Requests of enhope serve: the JSON and the binary data of an inference request, and the text of
 * answers.
 *
 * Input: the body. If it begins with '#', a line with the header Inference-Header-Content-Length
 * precedes it; an empty header is computed: the JSON ends before the first byte 0, which is left
 * out. */
#include <cjson/cJSON.h>
#include <math.h>

#include "fuzz.h"
#include "serve/serve.h"

static void check_tensor(const serve_request *r, const serve_tensor *t)
{
    FUZZ_MUST(t->rank >= 0 && t->rank <= SERVE_RANK && t->depth >= 0 && t->depth <= SERVE_RANK);
    for (int i = 0; i < t->rank; i++) FUZZ_MUST(t->shape[i] >= 0);
    FUZZ_MUST(!t->name || fuzz_clean(t->name) || strlen(t->name) < SIZE_MAX);
    FUZZ_MUST(t->count >= 0 && t->first >= 0 && t->nulls >= 0 && t->nulls <= t->count);
    if (!t->given || t->count == 0) return;
    FUZZ_MUST(t->first + t->count <= (t->kind == SERVE_TEXTS ? r->texts : r->numbers));
    for (int64_t i = t->first; i < t->first + t->count; i++)
        if (t->kind == SERVE_TEXTS)
            FUZZ_MUST(!r->text[i] || strlen(r->text[i]) < SIZE_MAX);
        else
            FUZZ_MUST(t->bytes >= 0 || isnan(r->number[i]) || isfinite(r->number[i]));
}

/* Names and numbers of a request are written as JSON and read back. */
static void check_answer(const serve_request *r)
{
    http_text out = {.bytes = NULL};
    text_add(&out, "[");
    text_json(&out, r->id ? r->id : "");
    for (int64_t i = 0; i < r->numbers && i < 20; i++) {
        text_add(&out, ",");
        text_real(&out, (float)r->number[i]);
        text_add(&out, ",");
        text_integer(&out, isfinite(r->number[i]) && fabs(r->number[i]) < 1e15 ? (int64_t)r->number[i] : INT64_MIN);
    }
    text_add(&out, "]");
    FUZZ_MUST(text_good(&out));
    cJSON *json = cJSON_ParseWithLength(out.bytes, out.used), *item = json ? json->child : NULL;
    FUZZ_MUST(item && cJSON_IsString(item) && !strcmp(item->valuestring, r->id ? r->id : ""));
    for (int64_t i = 0; (item = item->next); i++) {
        const float value = (float)r->number[i];
        FUZZ_MUST(isfinite(value) ? (float)item->valuedouble == value : cJSON_IsNull(item));
        item = item->next;
        FUZZ_MUST(item && cJSON_IsNumber(item));
    }
    cJSON_Delete(json);
    free(out.bytes);
}

/* A message may quote the request; as JSON it is a text without control characters. */
static void check_error(const char *error)
{
    http_text out = {.bytes = NULL};
    text_json(&out, error);
    FUZZ_MUST(text_good(&out));
    cJSON *json = cJSON_ParseWithLength(out.bytes, out.used);
    FUZZ_MUST(json && cJSON_IsString(json));
    for (size_t i = 0; i < out.used; i++) FUZZ_MUST((unsigned char)out.bytes[i] >= 0x20);
    cJSON_Delete(json);
    free(out.bytes);
}

/* The body, and its header in *json; NULL: none. */
static http_text take_body(fuzz_input *in, const char **json)
{
    static char digits[24];
    http_text body = {.used = 0};
    *json = NULL;
    if (in->left && *in->at == '#') {
        *json = fuzz_line(in) + 1;
        const uint8_t *end = in->left ? memchr(in->at, 0, in->left) : NULL;
        if (!**json && end) {
            snprintf(digits, sizeof digits, "%zu", (size_t)(end - in->at));
            *json = digits;
            body.used = (size_t)(end - in->at);
            body.bytes = fuzz_alloc(in->left);
            memcpy(body.bytes, in->at, body.used);
            memcpy(body.bytes + body.used, end + 1, in->left - body.used - 1);
            body.used = in->left - 1;
            return body;
        }
    }
    body.bytes = fuzz_alloc(in->left);
    if (in->left) memcpy(body.bytes, in->at, in->left);
    body.used = in->left;
    return body;
}

FUZZ_TARGET(request)
{
    static serve_request request; /* kept for the next request, as in the server */
    char error[SERVE_ERROR] = "";
    http_exchange exchange = {.code = 0};
    exchange.body = take_body(in, &exchange.json_length);
    const int code = serve_request_parse(&request, &exchange, error);
    if (code) {
        FUZZ_MUST(code >= 400 && code < 600);
        FUZZ_MUST(strlen(error) > 5);
        check_error(error);
    } else {
        FUZZ_MUST(request.wanted[0] || request.wanted[1] || request.wanted[2]);
        for (int64_t i = 0; i < request.tensors; i++) check_tensor(&request, &request.tensor[i]);
        check_answer(&request);
    }
    if (request.number_capacity + request.text_capacity > 1 << 12) serve_request_free(&request);
}
