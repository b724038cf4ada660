/* Checkpoints: files with all state that the rest of training depends on.
 *
 * Random numbers are a function of (seed, stream, index), and cg and lbfgs restart with each
 * batch. So the state is small: eh_train_state, the current and the best parameters, and the
 * vectors that the optimizer keeps between batches. Everything else follows from data and
 * settings, which are compared by their texts and by a fingerprint. Numbers have the type of the
 * backend. A checksum detects a damaged file. docs/reference/model-format.md lists all fields. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "comm/comm.h"
#include "model/safetensors.h"
#include "train/stream/windows.h"
#include "train/trainer.h"

#define FORMAT         "enhope-checkpoint"
#define FORMAT_VERSION "2"

enum { COUNTERS, NUMBERS, HISTORY, LABELS, MUL, THETA, BEST, MOMENTS, TENSORS };

static const char *const names[TENSORS] = {"counters", "numbers", "history", "exemplar_labels",
                                           "mul",      "theta",   "best",    "moments"};

typedef struct tensors {
    eh_st_tensor tensor[TENSORS]; /* rank 0: the tensor is absent */
    void *data[TENSORS];          /* their values */
} tensors;

static void free_tensors(tensors *s)
{
    for (int i = 0; i < TENSORS; i++) eh_free(s->data[i]);
}

static const char *real_type(const enhope_trainer *t)
{
    return t->cp->op->real_size == sizeof(double) ? "F64" : "F32";
}

/* Describes and allocates the tensors of a trainer after `epochs` epochs; best: one of them is
 * best. */
static enhope_status plan(const enhope_trainer *t, int64_t epochs, bool best, tensors *s)
{
    const int64_t all = t->parameters.count, vectors = t->optim->type->kept;
    const struct {
        const char *dtype;
        size_t size;
        int64_t rows, columns; /* 0: a vector */
        bool there;
    } plans[TENSORS] = {
        [COUNTERS] = {"I64", sizeof(int64_t), EH_STATE_COUNTERS, 0, true},
        [NUMBERS] = {"F64", sizeof(double), EH_STATE_NUMBERS, 0, true},
        [HISTORY] = {"F64", sizeof(double), epochs, EH_STATE_COLUMNS, true},
        [LABELS] = {"I32", sizeof(int32_t), t->parameters.z, 0, true},
        [MUL] = {"F32", sizeof(float), t->embedder.shape.H, 0, true},
        [THETA] = {real_type(t), t->cp->op->real_size, all, 0, true},
        [BEST] = {real_type(t), t->cp->op->real_size, all, 0, best},
        [MOMENTS] = {real_type(t), t->cp->op->real_size, vectors, t->optim->count, vectors > 0},
    };
    for (int i = 0; i < TENSORS; i++) {
        const int64_t columns = plans[i].columns ? plans[i].columns : 1;
        if (!plans[i].there) continue;
        EH_TRY(eh_new(t->ctx, "checkpoint", plans[i].rows * columns, plans[i].size, &s->data[i]));
        s->tensor[i] = (eh_st_tensor){.name = names[i],
                                      .dtype = plans[i].dtype,
                                      .rank = plans[i].columns ? 2 : 1,
                                      .shape = {plans[i].rows, columns},
                                      .end = plans[i].rows * columns * (int64_t)plans[i].size,
                                      .data = s->data[i]};
    }
    return ENHOPE_OK;
}

/* The vector of a tensor. Within a batch, theta is the state before that batch. */
static eh_real *vector(const enhope_trainer *t, int i)
{
    const eh_parameters *p = &t->parameters;
    if (i == THETA) return t->run.in_batch ? p->before : p->theta;
    return i == BEST ? p->best : eh_optim_vector(t->optim, t->optim->type->first_kept);
}

/* ---- reading and writing the state of the trainer ---- */

static enhope_status take_state(enhope_trainer *t, tensors *s)
{
    eh_train_state now = t->state;
    now.step = t->optim->step;
    if (t->run.in_batch) now.seconds += eh_seconds() - t->run.started;
    EH_TRY(plan(t, now.epoch, now.best_epoch > 0, s));
    eh_train_state_pack(&now, s->data[COUNTERS], s->data[NUMBERS], s->data[HISTORY]);
    memcpy(s->data[LABELS], t->parameters.exemplar_label, (size_t)s->tensor[LABELS].end);
    memcpy(s->data[MUL], t->mul, (size_t)s->tensor[MUL].end);
    eh_compute_begin(t->cp);
    for (int i = THETA; i < TENSORS; i++)
        if (s->data[i]) t->cp->op->fetch(t->cp, s->data[i], vector(t, i), (size_t)s->tensor[i].end);
    const enhope_status status = t->cp->op->sync(t->cp, t->ctx);
    eh_compute_end(t->cp);
    return status;
}

static enhope_status give_state(enhope_trainer *t, const tensors *s)
{
    const eh_parameters *p = &t->parameters;
    eh_compute *cp = t->cp;
    EH_TRY(eh_comm_check(
        t->ctx, eh_train_state_unpack(t->ctx, &t->state, s->data[COUNTERS], s->data[NUMBERS], s->data[HISTORY])));
    t->losses.known = t->state.batch;
    t->optim->step = t->state.step;
    t->run.interrupted = t->run.stopping = false;
    t->done = t->state.diverged || eh_train_finished(t) ||
              (t->set.optim.time_limit > 0 && t->state.seconds >= t->set.optim.time_limit);
    memcpy(p->exemplar_label, s->data[LABELS], (size_t)s->tensor[LABELS].end);
    memcpy(t->mul, s->data[MUL], (size_t)s->tensor[MUL].end);
    eh_compute_begin(cp);
    if (p->z) cp->op->send(cp, t->embedder.reference_label, p->exemplar_label, (size_t)s->tensor[LABELS].end);
    cp->op->write(cp, t->embedder.table.mul, t->mul, p->H); /* snc has fitted it with results of the backend */
    for (int i = THETA; i < TENSORS; i++)
        if (s->data[i]) cp->op->send(cp, vector(t, i), s->data[i], (size_t)s->tensor[i].end);
    const enhope_status status = cp->op->sync(cp, t->ctx);
    eh_compute_end(cp);
    return status;
}

/* ---- data and settings ---- */

uint64_t eh_train_hash_model(const enhope_trainer *t)
{
    return eh_hash(eh_model_hash(t->from), &t->past, sizeof t->past);
}

static void print_model(const enhope_trainer *t, char *text, size_t size)
{
    if (t->from)
        snprintf(text, size, "%016" PRIx64, eh_train_hash_model(t));
    else
        snprintf(text, size, "none");
}

typedef struct setting_texts {
    eh_pair_text *pair; /* (enhope_setting_count()) */
} setting_texts;

static void free_texts(setting_texts *s)
{
    for (int i = 0; s->pair && i < enhope_setting_count(); i++) {
        eh_free(s->pair[i].name);
        eh_free(s->pair[i].value);
    }
    eh_free(s->pair);
}

static enhope_status print_settings(const enhope_trainer *t, setting_texts *out)
{
    EH_TRY(eh_new(t->ctx, "settings", enhope_setting_count(), sizeof *out->pair, (void **)&out->pair));
    return eh_settings_texts(t->ctx, &t->set, out->pair);
}

static void setting_key(const eh_pair_text *pair, char *key, size_t size)
{
    snprintf(key, size, "setting.%s", pair->name);
}

/* Whether a setting that is newer than the checkpoint has no effect. */
static bool is_off(const enhope_trainer *t, const eh_pair_text *pair)
{
    return !strcmp(pair->value, "0") || (!strcmp(pair->name, "unlabeled_weight") && !t->samples.unlabeled_n);
}

static enhope_status compare_settings(const enhope_trainer *t, const eh_safetensors *st)
{
    setting_texts now = {NULL};
    enhope_status status;
    EH_CHECK(print_settings(t, &now));
    for (int i = 0; i < enhope_setting_count(); i++) {
        char key[64], quote[EH_QUOTE];
        setting_key(&now.pair[i], key, sizeof key);
        const char *before = eh_safetensors_text(st, key);
        const bool same = before ? !strcmp(before, now.pair[i].value) : is_off(t, &now.pair[i]);
        if (same || !strcmp(now.pair[i].name, "time_limit")) continue;
        EH_CHECK(eh_fail(
            t->ctx, ENHOPE_ERROR_ARGUMENT,
            "%s was %s in the checkpoint and is %s now; resume with the same settings (only time_limit may change)",
            now.pair[i].name, before ? eh_json_quote(before, quote) : "not known", now.pair[i].value));
    }
cleanup:
    free_texts(&now);
    return status;
}

enhope_status eh_train_fingerprint(enhope_trainer *t)
{
    if (t->fingerprint.n) return ENHOPE_OK;
    if (!t->windows) return eh_fingerprint_compute(t->ctx, t->data, &t->fingerprint);
    const enhope_dataset resident = eh_windows_resident(t->windows, t->data);
    EH_TRY(eh_fingerprint_compute(t->ctx, &resident, &t->fingerprint));
    t->fingerprint.n = t->data->x.n;
    t->fingerprint.labels ^= eh_windows_hash(t->windows);
    return ENHOPE_OK;
}

static enhope_status compare_data(enhope_trainer *t, const eh_safetensors *st)
{
    const char *data = eh_safetensors_text(st, "data"), *model = eh_safetensors_text(st, "model");
    const char *windows = eh_safetensors_text(st, "windows");
    char text[64], what[128], now[EH_WINDOWS_TEXT];
    eh_fingerprint before;
    if (!data || !model || !eh_fingerprint_parse(data, &before))
        return eh_fail(t->ctx, ENHOPE_ERROR_MODEL,
                       "the checkpoint does not describe its data; use a complete checkpoint");
    print_model(t, text, sizeof text);
    if (strcmp(text, model) != 0)
        return eh_fail(t->ctx, ENHOPE_ERROR_DATA, "the checkpoint %s",
                       !t->from                 ? "continues a model, which is missing now; give that model"
                       : !strcmp(model, "none") ? "does not continue a model; resume without a model"
                                                : "continues another model; give that model");
    EH_TRY(eh_train_fingerprint(t));
    eh_windows_print(t->windows, now);
    if (t->fingerprint.n == before.n && (!windows || strcmp(windows, now) != 0))
        return eh_fail(t->ctx, ENHOPE_ERROR_DATA,
                       "the checkpoint has other windows of the data; resume with the same --memory");
    if (eh_fingerprint_differs(&t->fingerprint, &before, what, sizeof what))
        return eh_fail(t->ctx, ENHOPE_ERROR_DATA,
                       "the checkpoint has other data: there are %s; resume with the same data", what);
    return ENHOPE_OK;
}

/* ---- the file ---- */

/* The sum does not depend on the order of texts and tensors. */
static uint64_t checksum_texts(const cJSON *metadata)
{
    uint64_t sum = 0;
    for (const cJSON *item = metadata ? metadata->child : NULL; item; item = item->next)
        if (strcmp(item->string, "checksum") != 0)
            sum +=
                eh_hash(eh_hash(1, item->string, strlen(item->string)), item->valuestring, strlen(item->valuestring));
    return sum;
}

static uint64_t checksum_tensor(const eh_st_tensor *t, const void *data)
{
    const uint64_t name = eh_hash(eh_hash(2, t->name, strlen(t->name)), t->dtype, strlen(t->dtype));
    return eh_hash(name, data, (size_t)(t->end - t->begin));
}

static enhope_status add(enhope_context *ctx, cJSON *meta, const char *key, const char *value)
{
    if (cJSON_AddStringToObject(meta, key, value)) return ENHOPE_OK;
    return eh_fail(ctx, ENHOPE_ERROR_MEMORY, "out of memory: the checkpoint's metadata");
}

static enhope_status add_texts(enhope_trainer *t, cJSON *meta)
{
    enhope_context *ctx = t->ctx;
    char text[EH_FINGERPRINT_TEXT];
    setting_texts now = {NULL};
    enhope_status status;
    EH_CHECK(add(ctx, meta, "format", FORMAT));
    EH_CHECK(add(ctx, meta, "format_version", FORMAT_VERSION));
    EH_CHECK(add(ctx, meta, "enhope_version", enhope_version()));
    EH_CHECK(eh_train_fingerprint(t));
    eh_fingerprint_print(&t->fingerprint, text);
    EH_CHECK(add(ctx, meta, "data", text));
    eh_windows_print(t->windows, text);
    EH_CHECK(add(ctx, meta, "windows", text));
    print_model(t, text, sizeof text);
    EH_CHECK(add(ctx, meta, "model", text));
    EH_CHECK(print_settings(t, &now));
    for (int i = 0; i < enhope_setting_count(); i++) {
        char key[64];
        setting_key(&now.pair[i], key, sizeof key);
        EH_CHECK(add(ctx, meta, key, now.pair[i].value));
    }
cleanup:
    free_texts(&now);
    return status;
}

static enhope_status write_state(enhope_trainer *t, const char *path, const tensors *s, cJSON *meta)
{
    eh_st_tensor there[TENSORS];
    int64_t count = 0;
    char text[24];
    EH_TRY(add_texts(t, meta));
    uint64_t sum = checksum_texts(meta);
    for (int i = 0; i < TENSORS; i++)
        if (s->data[i]) {
            there[count++] = s->tensor[i];
            sum += checksum_tensor(&s->tensor[i], s->data[i]);
        }
    snprintf(text, sizeof text, "%016" PRIx64, sum);
    EH_TRY(add(t->ctx, meta, "checksum", text));
    return eh_safetensors_write(t->ctx, path, meta, there, count);
}

/* Every rank has the state; rank 0 writes it. */
static enhope_status write_checkpoint(enhope_trainer *t, const char *path)
{
    cJSON *meta = NULL;
    tensors s = {0};
    enhope_status status = ENHOPE_OK;
    if (eh_comm_rank(t->ctx)) return ENHOPE_OK;
    EH_CHECK(take_state(t, &s));
    meta = cJSON_CreateObject();
    if (!meta) EH_CHECK(eh_fail(t->ctx, ENHOPE_ERROR_MEMORY, "out of memory: the checkpoint's metadata"));
    EH_CHECK(write_state(t, path, &s, meta));
cleanup:
    cJSON_Delete(meta);
    free_tensors(&s);
    return status;
}

enhope_status enhope_trainer_checkpoint(enhope_trainer *t, const char *path)
{
    if (!t->cp || t->method->solve)
        return eh_fail(t->ctx, ENHOPE_ERROR_ARGUMENT,
                       "%s is not an iterative method and has no checkpoints; train without a checkpoint",
                       t->method->info.name);
    if (!path) return ENHOPE_OK;
    if (t->run.interrupted)
        return eh_fail(t->ctx, ENHOPE_ERROR_ARGUMENT,
                       "%s: not written: the last batch was interrupted; write checkpoints before stopping", path);
    eh_comm_begin(t->ctx);
    enhope_status status = eh_train_catch_up(t);
    if (!status) status = eh_comm_check(t->ctx, write_checkpoint(t, path));
    eh_comm_begin(t->ctx); /* a step may be in progress, and it continues */
    return status;
}

static enhope_status read_tensor(enhope_context *ctx, eh_safetensors *st, const eh_st_tensor *t, void **out)
{
    *out = NULL;
    EH_TRY(eh_new(ctx, "checkpoint", t->end - t->begin, 1, out));
    return eh_safetensors_read(ctx, st, t, *out);
}

static enhope_status check_sum(enhope_context *ctx, eh_safetensors *st)
{
    const char *format = eh_safetensors_text(st, "format"), *version = eh_safetensors_text(st, "format_version");
    const char *stored = eh_safetensors_text(st, "checksum");
    char text[24];
    if (!format || strcmp(format, FORMAT) != 0) return eh_fail(ctx, ENHOPE_ERROR_MODEL, "not a checkpoint");
    if (!version || strcmp(version, FORMAT_VERSION) != 0) {
        const char *by = eh_safetensors_text(st, "enhope_version");
        char quote[EH_QUOTE], writer[EH_QUOTE];
        return eh_fail(
            ctx, ENHOPE_ERROR_MODEL,
            "a checkpoint of format version %s, written by enhope %s: expected format version " FORMAT_VERSION
            "; resume with the enhope that wrote it, or train from the start",
            version ? eh_json_quote(version, quote) : "unknown", by ? eh_json_quote(by, writer) : "unknown");
    }
    uint64_t sum = checksum_texts(st->metadata);
    for (int64_t i = 0; i < st->tensors; i++) {
        void *data;
        const enhope_status status = read_tensor(ctx, st, &st->tensor[i], &data);
        if (!status) sum += checksum_tensor(&st->tensor[i], data);
        eh_free(data);
        EH_TRY(status);
    }
    snprintf(text, sizeof text, "%016" PRIx64, sum);
    if (stored && !strcmp(text, stored)) return ENHOPE_OK;
    return eh_fail(ctx, ENHOPE_ERROR_MODEL, "the checkpoint is damaged: its checksum does not match");
}

/* Converts between precisions: ref has doubles, the others floats. */
static void convert(const void *from, bool wide, int64_t count, void *to)
{
    for (int64_t i = 0; i < count; i++)
        if (wide)
            ((float *)to)[i] = (float)((const double *)from)[i];
        else
            ((double *)to)[i] = ((const float *)from)[i];
}

/* Reads a planned tensor from the file. */
static enhope_status fill(enhope_context *ctx, eh_safetensors *st, const eh_st_tensor *planned, void *to)
{
    const eh_st_tensor *t = eh_safetensors_find(st, planned->name);
    if (!t || t->rank != planned->rank || t->shape[0] != planned->shape[0] ||
        (t->rank > 1 && t->shape[1] != planned->shape[1]) || (t->dtype[0] == 'F') != (planned->dtype[0] == 'F'))
        return eh_fail(ctx, ENHOPE_ERROR_MODEL, "tensor '%s' is missing or of another shape", planned->name);
    if (!strcmp(t->dtype, planned->dtype)) return eh_safetensors_read(ctx, st, t, to);
    const bool wide = !strcmp(t->dtype, "F64");
    if (!wide && strcmp(t->dtype, "F32") != 0)
        return eh_fail(ctx, ENHOPE_ERROR_MODEL, "tensor '%s' is of another type", planned->name);
    void *other = NULL;
    const enhope_status status = read_tensor(ctx, st, t, &other);
    if (!status) convert(other, wide, planned->shape[0] * planned->shape[1], to);
    eh_free(other);
    return status;
}

static enhope_status check_labels(const enhope_trainer *t, const int32_t *label)
{
    for (int64_t i = 0; i < t->parameters.z; i++)
        if (label[i] < 0 || label[i] >= t->data->c)
            return eh_fail(t->ctx, ENHOPE_ERROR_MODEL, "the label of exemplar %lld is out of bounds", (long long)i);
    for (int64_t e = 1; e < t->parameters.z; e++)
        if (label[e] < label[e - 1])
            return eh_fail(t->ctx, ENHOPE_ERROR_MODEL,
                           "the checkpoint is damaged: the exemplars of a class are not together (exemplar %lld)",
                           (long long)e);
    return ENHOPE_OK;
}

static enhope_status read_state(enhope_trainer *t, eh_safetensors *st, tensors *s)
{
    int64_t counters[EH_STATE_COUNTERS];
    const eh_st_tensor first = {.name = names[COUNTERS], .dtype = "I64", .rank = 1, .shape = {EH_STATE_COUNTERS, 1}};
    EH_TRY(check_sum(t->ctx, st));
    EH_TRY(compare_data(t, st));
    EH_TRY(compare_settings(t, st));
    EH_TRY(fill(t->ctx, st, &first, counters));
    const eh_train_state read = eh_train_state_counters(counters);
    if (!eh_train_state_valid(&read, t->set.optim.n_epochs, t->batches.count))
        return eh_fail(t->ctx, ENHOPE_ERROR_MODEL, "its counters are out of bounds");
    EH_TRY(plan(t, read.epoch, read.best_epoch > 0, s));
    for (int i = 0; i < TENSORS; i++)
        if (s->data[i]) EH_TRY(fill(t->ctx, st, &s->tensor[i], s->data[i]));
    return check_labels(t, s->data[LABELS]);
}

/* Fails unless all ranks have read the same state. */
static enhope_status check_ranks(const enhope_trainer *t, const tensors *s)
{
    int64_t own[EH_STATE_COUNTERS], of_first[EH_STATE_COUNTERS];
    memcpy(own, s->data[COUNTERS], sizeof own);
    memcpy(of_first, own, sizeof own);
    eh_comm_broadcast(t->ctx, of_first, sizeof of_first);
    if (!memcmp(own, of_first, sizeof own)) return ENHOPE_OK;
    return eh_fail(t->ctx, ENHOPE_ERROR_IO, "not the checkpoint of rank 0; give all ranks the same file");
}

enhope_status enhope_trainer_resume(enhope_trainer *t, const char *path)
{
    EH_TRY(enhope_trainer_checkpoint(t, NULL));
    if (t->run.in_batch)
        return eh_fail(t->ctx, ENHOPE_ERROR_ARGUMENT, "%s: a batch is in progress; resume between batches", path);
    tensors s = {0};
    eh_safetensors st = {0};
    eh_comm_begin(t->ctx);
    enhope_status status = eh_safetensors_open(t->ctx, path, &st);
    if (!status) status = read_state(t, &st, &s);
    EH_CHECK(eh_comm_check(t->ctx, status));
    EH_CHECK(eh_comm_check(t->ctx, check_ranks(t, &s)));
    EH_CHECK(give_state(t, &s));
cleanup:
    eh_safetensors_close(&st);
    free_tensors(&s);
    return status ? eh_fail_in(t->ctx, status, "%s", path) : ENHOPE_OK;
}
