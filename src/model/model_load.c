/* Loads a model from a file. safetensors.c has checked the container; this file checks that it
 * contains a model. All sizes are checked against the file before the model is created, so a
 * malicious header cannot allocate memory that the file does not fill. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "model/coded/coded.h"
#include "model/quantized.h"
#include "model/safetensors.h"

enum { /* JSON values in the lists of the metadata */
       MAX_CLASSES = 1000000,
       MAX_SETTINGS = 10000,
       MAX_HISTORY = 5000000 /* four a row */
};

/* The contents of the header, collected before memory is allocated for the model. */
typedef struct plan {
    const char *method, *version; /* version of enhope that wrote the file */
    const eh_map *map;
    eh_map_shape shape;
    bool gaussian, exemplars, votes;
    int64_t k, r;
    int64_t image_rows, image_columns;
    int64_t dof;
    eh_model_errors errors;
    int64_t earlier;
    cJSON *classes, *inputs, *settings, *history, *notes; /* inputs, notes NULL: none */
    const eh_st_tensor *map_tensor[EH_MODEL_MAX_MAP_TENSORS];
    const eh_st_tensor *reference, *label, *shift, *mul;
    eh_int8_content int8;
} plan;

static enhope_status text(enhope_context *ctx, const eh_safetensors *st, const char *key, const char **out)
{
    *out = eh_safetensors_text(st, key);
    return *out ? ENHOPE_OK : eh_fail(ctx, ENHOPE_ERROR_MODEL, "metadata '%s' is missing", key);
}

/* Reads decimal digits; -1: none, or a number above 2^53. *end is the position after them. */
static int64_t digits(const char *from, const char **end)
{
    int64_t value = 0;
    const char *at = from;
    for (; *at >= '0' && *at <= '9'; at++) {
        value = value * 10 + (*at - '0');
        if (value > INT64_C(1) << 53) return -1;
    }
    *end = at;
    return at == from ? -1 : value;
}

static enhope_status number(enhope_context *ctx, const eh_safetensors *st, const char *key, int64_t min, int64_t max,
                            int64_t *out)
{
    const char *value, *end = "";
    EH_TRY(text(ctx, st, key, &value));
    const int64_t found = digits(value, &end);
    char quote[EH_QUOTE];
    if (found < min || found > max || *end)
        return eh_fail(ctx, ENHOPE_ERROR_MODEL, "metadata '%s' is '%s': expected a whole number from %lld to %lld", key,
                       eh_json_quote(value, quote), (long long)min, (long long)max);
    *out = found;
    return ENHOPE_OK;
}

/* 1 if it is missing. */
static enhope_status real(enhope_context *ctx, const eh_safetensors *st, const char *key, double min, double max,
                          double *out)
{
    const char *value = eh_safetensors_text(st, key);
    char quote[EH_QUOTE];
    *out = 1;
    if (value && (eh_number_parse(value, strlen(value), out) != EH_NUMBER || *out < min || *out > max))
        return eh_fail(ctx, ENHOPE_ERROR_MODEL, "metadata '%s' is '%s': expected a number from %g to %g", key,
                       eh_json_quote(value, quote), min, max);
    return ENHOPE_OK;
}

static enhope_status list(enhope_context *ctx, const eh_safetensors *st, const char *key, int64_t max_values,
                          cJSON **out)
{
    const char *value;
    EH_TRY(text(ctx, st, key, &value));
    char what[64] = "metadata '";
    strcat(strcat(what, key), "'");
    return eh_json_parse(ctx, ENHOPE_ERROR_MODEL, what, value, strlen(value), max_values, out);
}

/* Maps other than hope have no order and write 0. */
static enhope_status read_order(enhope_context *ctx, const eh_safetensors *st, plan *p)
{
    const bool hope = p->map == &eh_map_hope;
    eh_pair_view order = {.name = "order"};
    int64_t value;
    EH_TRY(text(ctx, st, order.name, &order.value));
    EH_TRY(eh_old_setting(ctx, p->version, NULL, &order));
    EH_TRY(number(ctx, st, "order", hope, EH_MODEL_MAX_ORDER, &value));
    p->shape.order = hope ? (int)value : 0;
    return ENHOPE_OK;
}

/* The degrees of freedom of the student similarity; 1 if missing. */
static enhope_status read_dof(enhope_context *ctx, const eh_safetensors *st, plan *p)
{
    eh_pair_view old = {"freedom", eh_safetensors_text(st, "freedom")}; /* the key of version 0.1 */
    p->dof = 1;
    if (!old.value) return eh_safetensors_text(st, "dof") ? number(ctx, st, "dof", 1, EH_DOF_MAX, &p->dof) : ENHOPE_OK;
    EH_TRY(eh_old_setting(ctx, p->version, NULL, &old));
    return number(ctx, st, "freedom", 1, EH_DOF_MAX, &p->dof);
}

static enhope_status read_identity(enhope_context *ctx, const eh_safetensors *st, plan *p)
{
    const char *value;
    char quote[EH_QUOTE];
    EH_TRY(text(ctx, st, "format", &value));
    if (strcmp(value, EH_MODEL_FORMAT))
        return eh_fail(ctx, ENHOPE_ERROR_MODEL, "metadata 'format' is '%s': expected '" EH_MODEL_FORMAT "'",
                       eh_json_quote(value, quote));
    EH_TRY(text(ctx, st, "format_version", &value));
    if (strcmp(value, EH_MODEL_FORMAT_VERSION) != 0 && strcmp(value, EH_MODEL_FORMAT_ENCODED) != 0 &&
        strcmp(value, EH_MODEL_FORMAT_INT8) != 0 && strcmp(value, EH_MODEL_FORMAT_CODED) != 0)
        return eh_fail(ctx, ENHOPE_ERROR_MODEL,
                       "metadata 'format_version' is '%s': this enhope reads versions " EH_MODEL_FORMAT_VERSION
                       " to " EH_MODEL_FORMAT_CODED,
                       eh_json_quote(value, quote));
    EH_TRY(text(ctx, st, "enhope_version", &p->version));
    EH_TRY(text(ctx, st, "method", &p->method));
    EH_TRY(text(ctx, st, "map", &value));
    p->map = eh_map_find(value);
    if (!p->map)
        return eh_fail(ctx, ENHOPE_ERROR_MODEL, "metadata 'map' is '%s': not a map of this version; use a newer enhope",
                       eh_json_quote(value, quote));
    EH_TRY(text(ctx, st, "similarity", &value));
    p->gaussian = !strcmp(value, "gaussian");
    if (!p->gaussian && strcmp(value, "student"))
        return eh_fail(ctx, ENHOPE_ERROR_MODEL, "metadata 'similarity' is '%s': expected student or gaussian",
                       eh_json_quote(value, quote));
    return read_dof(ctx, st, p);
}

/* A tensor of floats. */
static enhope_status find_tensor(enhope_context *ctx, const eh_safetensors *st, const eh_tensor *want,
                                 const eh_st_tensor **out)
{
    const eh_st_tensor expected = {
        .name = want->name, .dtype = "F32", .rank = want->rank, .shape = {want->shape[0], want->shape[1]}};
    return eh_coded_expect(ctx, st, &expected, out);
}

static enhope_status read_layers(enhope_context *ctx, const eh_safetensors *st, eh_map_shape *s)
{
    const char *value = NULL;
    char quote[EH_QUOTE];
    EH_TRY(text(ctx, st, "layers", &value));
    if (!eh_map_layers_parse(value, s))
        return eh_fail(ctx, ENHOPE_ERROR_MODEL, "layers is %s: expected one to eight numbers of units joined by '-'",
                       eh_json_quote(value, quote));
    value = eh_safetensors_text(st, "unit");
    s->relu = value && !strcmp(value, "relu");
    if (value && !s->relu && strcmp(value, "sigmoid"))
        return eh_fail(ctx, ENHOPE_ERROR_MODEL, "metadata 'unit' is '%s': expected sigmoid or relu",
                       eh_json_quote(value, quote));
    return ENHOPE_OK;
}

static enhope_status read_shape(enhope_context *ctx, const eh_safetensors *st, plan *p)
{
    const int64_t max = INT64_C(1) << 40;
    const bool hope = p->map == &eh_map_hope;
    eh_map_shape *s = &p->shape;
    EH_TRY(number(ctx, st, "inputs", 1, max, &s->H));
    EH_TRY(number(ctx, st, "outputs", 1, max, &s->h));
    EH_TRY(number(ctx, st, "factors", hope, max, &s->F));
    EH_TRY(number(ctx, st, "hidden", hope, max, &s->m));
    EH_TRY(read_order(ctx, st, p));
    if (p->map == &eh_map_mlp) EH_TRY(read_layers(ctx, st, s));
    if (p->map == &eh_map_identity && s->H != s->h)
        return eh_fail(ctx, ENHOPE_ERROR_MODEL, "the identity map has %lld inputs and %lld outputs: expected the same",
                       (long long)s->H, (long long)s->h);
    EH_TRY(find_tensor(ctx, st, &(eh_tensor){"scale.shift", 1, {s->H, 1}}, &p->shift));
    EH_TRY(find_tensor(ctx, st, &(eh_tensor){"scale.mul", 1, {s->H, 1}}, &p->mul));
    if (hope) EH_TRY(eh_quantized_find(ctx, st, s, &p->int8));
    if (eh_coded_file(st) && p->int8 != EH_INT8_WEIGHTS)
        return eh_fail(ctx, ENHOPE_ERROR_MODEL, "tensor int8.C is missing");
    for (int i = 0; i < p->map->tensors(&p->shape); i++) {
        const eh_tensor want = p->map->tensor(s, i);
        if (p->int8 != EH_INT8_WEIGHTS || !eh_quantized_replaces(want.name, eh_coded_file(st)))
            EH_TRY(find_tensor(ctx, st, &want, &p->map_tensor[i]));
    }
    return ENHOPE_OK;
}

static enhope_status read_references(enhope_context *ctx, const eh_safetensors *st, plan *p)
{
    p->exemplars = eh_safetensors_find(st, "exemplars") != NULL;
    const char *name = p->exemplars ? "exemplars" : "points";
    const eh_st_tensor *found = eh_safetensors_find(st, name);
    if (!found) return eh_fail(ctx, ENHOPE_ERROR_MODEL, "tensors exemplars and points are both missing");
    const eh_st_tensor *labels = eh_safetensors_find(st, "exemplar_labels");
    p->r = found->rank == 2 ? found->shape[0] : eh_coded_file(st) && labels ? labels->shape[0] : 1;
    EH_TRY(find_tensor(ctx, st, &(eh_tensor){name, 2, {p->r, p->exemplars ? p->shape.H : p->shape.h}}, &p->reference));
    const eh_st_tensor expected = {p->exemplars ? "exemplar_labels" : "point_labels", "I32", 1, {p->r, 1}, 0, 0, NULL};
    EH_TRY(eh_safetensors_expect(ctx, st, &expected, &p->label));
    EH_TRY(number(ctx, st, "neighbours", 1, p->r < INT32_MAX ? p->r : INT32_MAX, &p->k));
    const char *rule = eh_safetensors_text(st, "rule");
    char quote[EH_QUOTE];
    p->votes = !p->exemplars || rule;
    if (rule && strcmp(rule, "votes"))
        return eh_fail(ctx, ENHOPE_ERROR_MODEL, "metadata 'rule' is '%s': expected votes", eh_json_quote(rule, quote));
    return ENHOPE_OK;
}

static enhope_status check_strings(enhope_context *ctx, const char *key, const cJSON *json)
{
    bool strings = cJSON_IsArray(json);
    for (const cJSON *item = strings ? json->child : NULL; item && strings; item = item->next)
        strings = cJSON_IsString(item);
    return strings ? ENHOPE_OK : eh_fail(ctx, ENHOPE_ERROR_MODEL, "metadata '%s' is not an array of strings", key);
}

static enhope_status check_texts(enhope_context *ctx, const char *key, const cJSON *json)
{
    char what[64] = "metadata '";
    strcat(strcat(what, key), "'");
    bool strings = cJSON_IsObject(json);
    for (const cJSON *item = strings ? json->child : NULL; item && strings; item = item->next)
        strings = cJSON_IsString(item);
    if (!strings) return eh_fail(ctx, ENHOPE_ERROR_MODEL, "%s is not an object of strings", what);
    return eh_json_distinct(ctx, ENHOPE_ERROR_MODEL, what, json);
}

static enhope_status check_history(enhope_context *ctx, const cJSON *json)
{
    bool rows = cJSON_IsArray(json);
    for (const cJSON *row = rows ? json->child : NULL; row && rows; row = row->next) {
        const cJSON *epoch = cJSON_IsArray(row) ? row->child : NULL;
        const cJSON *loss = epoch ? epoch->next : NULL, *error = loss ? loss->next : NULL;
        int64_t ignored;
        rows = error && !error->next && eh_json_size(epoch, &ignored) && (cJSON_IsNumber(loss) || cJSON_IsNull(loss)) &&
               (cJSON_IsNumber(error) || cJSON_IsNull(error));
    }
    if (rows) return ENHOPE_OK;
    return eh_fail(ctx, ENHOPE_ERROR_MODEL, "metadata 'history' is not an array of [epoch, loss, valid_error]");
}

static enhope_status read_image(enhope_context *ctx, const eh_safetensors *st, plan *p)
{
    const char *value = eh_safetensors_text(st, "image"), *x = "", *end = "";
    if (!value) return ENHOPE_OK;
    const int64_t rows = digits(value, &x), columns = *x == 'x' ? digits(x + 1, &end) : -1;
    int64_t pixels;
    char quote[EH_QUOTE];
    if (rows < 1 || columns < 1 || *end || !eh_mul(rows, columns, &pixels) || pixels != p->shape.H)
        return eh_fail(ctx, ENHOPE_ERROR_MODEL, "metadata 'image' is '%s': expected ROWSxCOLUMNS of %lld inputs",
                       eh_json_quote(value, quote), (long long)p->shape.H);
    p->image_rows = rows;
    p->image_columns = columns;
    return ENHOPE_OK;
}

static enhope_status read_errors(enhope_context *ctx, const eh_safetensors *st, const char *key, int64_t *errors,
                                 int64_t *n)
{
    const char *value = eh_safetensors_text(st, key), *slash = "", *end = "";
    if (!value) return ENHOPE_OK;
    const int64_t part = digits(value, &slash), whole = *slash == '/' ? digits(slash + 1, &end) : -1;
    char quote[EH_QUOTE];
    if (part < 0 || whole < 1 || part > whole || *end)
        return eh_fail(ctx, ENHOPE_ERROR_MODEL, "metadata '%s' is '%s': expected ERRORS/SAMPLES", key,
                       eh_json_quote(value, quote));
    *errors = part;
    *n = whole;
    return ENHOPE_OK;
}

/* The temperature and the errors of training. Older files do not have them. */
static enhope_status read_evaluation(enhope_context *ctx, const eh_safetensors *st, plan *p)
{
    EH_TRY(real(ctx, st, "temperature", EH_MODEL_COLDEST, EH_MODEL_HOTTEST, &p->errors.temperature));
    EH_TRY(read_errors(ctx, st, "valid_errors", &p->errors.valid, &p->errors.valid_n));
    return read_errors(ctx, st, "train_errors", &p->errors.train, &p->errors.train_n);
}

static enhope_status read_lists(enhope_context *ctx, const eh_safetensors *st, plan *p)
{
    EH_TRY(list(ctx, st, "classes", MAX_CLASSES, &p->classes));
    EH_TRY(check_strings(ctx, "classes", p->classes));
    if (!p->classes->child) return eh_fail(ctx, ENHOPE_ERROR_MODEL, "metadata 'classes' has no class");
    EH_TRY(eh_json_distinct(ctx, ENHOPE_ERROR_MODEL, "metadata 'classes'", p->classes));
    if (eh_safetensors_text(st, "input_names")) {
        EH_TRY(list(ctx, st, "input_names", p->shape.H + 2, &p->inputs));
        EH_TRY(check_strings(ctx, "input_names", p->inputs));
        const int64_t count = cJSON_GetArraySize(p->inputs);
        if (count != p->shape.H)
            return eh_fail(ctx, ENHOPE_ERROR_MODEL, "metadata 'input_names' has %lld names: expected %lld",
                           (long long)count, (long long)p->shape.H);
    }
    EH_TRY(list(ctx, st, "settings", MAX_SETTINGS, &p->settings));
    EH_TRY(check_texts(ctx, "settings", p->settings));
    EH_TRY(list(ctx, st, "history", MAX_HISTORY, &p->history));
    EH_TRY(check_history(ctx, p->history));
    if (eh_safetensors_text(st, "earlier_epochs"))
        EH_TRY(number(ctx, st, "earlier_epochs", 0, cJSON_GetArraySize(p->history), &p->earlier));
    if (!eh_safetensors_text(st, "notes")) return ENHOPE_OK;
    EH_TRY(list(ctx, st, "notes", EH_MODEL_MAX_NOTES + 1, &p->notes));
    return check_texts(ctx, "notes", p->notes);
}

/* ---- filling the model ---- */

/* The columns that the inputs are made of. Models of plain numbers and those of earlier versions
 * have none. */
static enhope_status read_columns(enhope_context *ctx, const eh_safetensors *st, enhope_model *model)
{
    const char *value = eh_safetensors_text(st, "columns");
    eh_encoding *encoding = NULL;
    if (!value && strcmp(eh_safetensors_text(st, "format_version"), EH_MODEL_FORMAT_ENCODED) != 0) return ENHOPE_OK;
    EH_TRY(text(ctx, st, "columns", &value));
    EH_TRY(eh_encoding_parse(ctx, value, "metadata 'columns'", &encoding));
    model->input.encoding = encoding;
    if (encoding->H == model->shape.H) return ENHOPE_OK;
    return eh_fail(ctx, ENHOPE_ERROR_MODEL, "metadata 'columns' has %lld inputs: expected %lld", (long long)encoding->H,
                   (long long)model->shape.H);
}

/* A tensor of floats that find_tensor has found. */
static enhope_status read_floats(enhope_context *ctx, eh_safetensors *st, const eh_st_tensor *found,
                                 const eh_tensor *want, int64_t width, float *to)
{
    const eh_st_tensor expected = {
        .name = want->name, .dtype = "F32", .rank = want->rank, .shape = {want->shape[0], want->shape[1]}};
    return eh_coded_read(ctx, st, found, &expected, width, to);
}

static enhope_status read_tensors(enhope_context *ctx, eh_safetensors *st, const plan *p, enhope_model *model)
{
    const int64_t H = model->shape.H;
    for (int i = 0; i < p->map->tensors(&p->shape); i++) {
        const eh_tensor t = p->map->tensor(&p->shape, i);
        if (p->map_tensor[i])
            EH_TRY(read_floats(ctx, st, p->map_tensor[i], &t, 0, model->theta + eh_map_offset(p->map, &p->shape, i)));
    }
    const eh_tensor reference = {p->reference->name, 2, {p->r, eh_model_reference_width(model)}};
    EH_TRY(read_floats(ctx, st, p->reference, &reference, model->input.image_columns, model->reference));
    EH_TRY(read_floats(ctx, st, p->shift, &(eh_tensor){"scale.shift", 1, {H, 1}}, 0, model->shift));
    EH_TRY(read_floats(ctx, st, p->mul, &(eh_tensor){"scale.mul", 1, {H, 1}}, 0, model->mul));
    if (p->int8) EH_TRY(eh_quantized_read(ctx, st, p->int8, model));
    if (eh_coded_file(st)) EH_TRY(eh_coded_step(ctx, st, p->reference, &model->int8->exemplar_step));
    EH_TRY(eh_safetensors_read(ctx, st, p->label, model->reference_label));
    for (int64_t i = 0; i < model->r; i++)
        if (model->reference_label[i] < 0 || model->reference_label[i] >= model->c)
            return eh_fail(ctx, ENHOPE_ERROR_MODEL, "tensor %s has label %d (element %lld): expected 0 to %d",
                           p->label->name, (int)model->reference_label[i], (long long)i, (int)model->c - 1);
    for (int64_t i = 1; i < model->r && model->exemplars; i++)
        if (model->reference_label[i] < model->reference_label[i - 1])
            return eh_fail(ctx, ENHOPE_ERROR_MODEL,
                           "tensor %s is not sorted (element %lld): expected the exemplars of a class together",
                           p->label->name, (long long)i);
    return ENHOPE_OK;
}

static double number_or_nan(const cJSON *item)
{
    return cJSON_IsNumber(item) ? item->valuedouble : NAN;
}

static enhope_status copy_lists(enhope_context *ctx, const plan *p, enhope_model *model)
{
    int64_t i = 0;
    for (const cJSON *item = p->classes->child; item; item = item->next)
        EH_TRY(eh_new_text(ctx, "a name", item->valuestring, &model->class_name[i++]));
    if (p->inputs) {
        EH_TRY(eh_new(ctx, "the input names", p->shape.H, sizeof *model->input.name, (void **)&model->input.name));
        i = 0;
        for (const cJSON *item = p->inputs->child; item; item = item->next)
            EH_TRY(eh_new_text(ctx, "a name", item->valuestring, &model->input.name[i++]));
    }
    i = 0;
    for (const cJSON *item = p->settings->child; item; item = item->next) {
        eh_pair_view setting = {item->string, item->valuestring};
        EH_TRY(eh_old_setting(ctx, p->version, p->settings, &setting));
        if (!setting.name) continue;
        for (int64_t j = 0; j < i; j++)
            if (!strcmp(model->setting.pair[j].name, setting.name))
                return eh_fail(ctx, ENHOPE_ERROR_MODEL, "metadata 'settings' contains '%s' under two names",
                               setting.name);
        EH_TRY(eh_new_text(ctx, "a name", setting.name, &model->setting.pair[i].name));
        EH_TRY(eh_new_text(ctx, "a name", setting.value, &model->setting.pair[i++].value));
    }
    model->setting.count = (int32_t)i;
    i = 0;
    for (const cJSON *row = p->history->child; row; row = row->next) {
        enhope_history *to = &model->history[i++];
        (void)eh_json_size(row->child, &to->epoch);
        to->seconds = NAN;
        to->loss = number_or_nan(row->child->next);
        to->valid_error = number_or_nan(row->child->next->next);
    }
    for (const cJSON *item = p->notes ? p->notes->child : NULL; item; item = item->next)
        EH_TRY(enhope_model_set_note(ctx, model, item->string, item->valuestring));
    return ENHOPE_OK;
}

static enhope_status load(enhope_context *ctx, eh_safetensors *st, enhope_model **out)
{
    plan p = {0};
    enhope_model *model = NULL;
    enhope_status status;
    EH_CHECK(read_identity(ctx, st, &p));
    EH_CHECK(read_shape(ctx, st, &p));
    EH_CHECK(read_references(ctx, st, &p));
    EH_CHECK(read_image(ctx, st, &p));
    EH_CHECK(read_evaluation(ctx, st, &p));
    EH_CHECK(read_lists(ctx, st, &p));
    EH_CHECK(eh_model_create(ctx, p.method, p.map, &p.shape, p.r, p.exemplars, cJSON_GetArraySize(p.classes),
                             cJSON_GetArraySize(p.settings), cJSON_GetArraySize(p.history), &model));
    model->gaussian = p.gaussian;
    model->dof = (int)p.dof;
    model->k = (int32_t)p.k;
    model->votes = p.votes;
    model->input.image_rows = p.image_rows;
    model->input.image_columns = p.image_columns;
    model->earlier = p.earlier;
    model->errors = p.errors;
    EH_CHECK(copy_lists(ctx, &p, model));
    EH_CHECK(read_columns(ctx, st, model));
    if (eh_safetensors_text(st, "training_data"))
        EH_CHECK(eh_provenance_parse(ctx, eh_safetensors_text(st, "training_data"), &model->provenance));
    EH_CHECK(read_tensors(ctx, st, &p, model));
    *out = model;
    model = NULL;
cleanup:
    enhope_model_free(model);
    cJSON_Delete(p.classes);
    cJSON_Delete(p.inputs);
    cJSON_Delete(p.settings);
    cJSON_Delete(p.history);
    cJSON_Delete(p.notes);
    return status;
}

enhope_status enhope_model_load(enhope_context *ctx, const char *path, enhope_model **out)
{
    eh_safetensors st;
    enhope_status status = eh_safetensors_open(ctx, path, &st);
    if (!status) {
        status = load(ctx, &st, out);
        eh_safetensors_close(&st);
    }
    return status ? eh_fail_in(ctx, status, "%s", path) : ENHOPE_OK;
}

enhope_status enhope_model_load_bytes(enhope_context *ctx, const void *bytes, size_t size, enhope_model **out)
{
    eh_safetensors st;
    EH_TRY(eh_safetensors_open_bytes(ctx, bytes, size, &st));
    const enhope_status status = load(ctx, &st, out);
    eh_safetensors_close(&st);
    return status;
}
