/* Checks that data, settings, model and device are the same on all ranks. */
#include <string.h>

#include "comm/comm.h"
#include "train/setup/setup.h"

enum { SAMPLES, INPUTS, KIND, CLASSES, WINDOWS, LABELS, WEIGHTS, VALUES, MODEL, METHOD, DEVICE, FACTS };
static const char *const fact_name[FACTS] = {"the number of samples",
                                             "the number of inputs",
                                             "the kind of the data",
                                             "the classes",
                                             "the windows of the data (--memory)",
                                             "the labels",
                                             "the weights",
                                             "the values",
                                             "the model that training continues",
                                             "the setting method",
                                             "the device (--device, --precision)"};

static uint64_t hash_text(const char *text)
{
    return eh_hash(0, text, strlen(text));
}

/* Facts that others depend on come first, so that an error names the cause. */
static enhope_status find_facts(enhope_trainer *t, uint64_t *fact)
{
    char windows[EH_WINDOWS_TEXT];
    EH_TRY(eh_train_fingerprint(t));
    const eh_fingerprint *f = &t->fingerprint;
    const int64_t kind[] = {f->kind, f->image_rows, f->image_columns};
    eh_windows_print(t->windows, windows);
    fact[SAMPLES] = (uint64_t)f->n;
    fact[INPUTS] = (uint64_t)f->H;
    fact[KIND] = eh_hash(0, kind, sizeof kind);
    fact[CLASSES] = f->names;
    fact[WINDOWS] = hash_text(windows);
    fact[LABELS] = f->labels;
    fact[WEIGHTS] = f->weights;
    fact[VALUES] = f->values;
    fact[MODEL] = t->from ? eh_train_hash_model(t) : 0;
    fact[METHOD] = hash_text(t->method->info.name);
    if (t->cp) fact[DEVICE] = hash_text(t->cp->op->name) + (t->cp->op->host ? 0 : (uint64_t)t->ctx->precision);
    return ENHOPE_OK;
}

/* all (ranks, each): the facts and settings of every rank. */
static enhope_status compare(const enhope_trainer *t, const uint64_t *all, int64_t each)
{
    for (int r = 1; r < eh_comm_ranks(t->ctx); r++)
        for (int64_t i = 0; i < each; i++) {
            if (all[r * each + i] == all[i]) continue;
            if (i < FACTS)
                return eh_fail(t->ctx, ENHOPE_ERROR_DATA, "rank %d and rank 0 differ in %s; give all ranks the same", r,
                               fact_name[i]);
            return eh_fail(t->ctx, ENHOPE_ERROR_ARGUMENT,
                           "rank %d and rank 0 differ in the setting %s; give all ranks the same", r,
                           enhope_setting_get((int)(i - FACTS))->name);
        }
    return ENHOPE_OK;
}

enhope_status eh_setup_check_ranks(enhope_trainer *t)
{
    const int rank = eh_comm_rank(t->ctx), ranks = eh_comm_ranks(t->ctx), settings = enhope_setting_count();
    const int64_t each = FACTS + settings;
    uint64_t *all = NULL;
    int64_t *offset = NULL;
    eh_pair_text *text = NULL;
    enhope_status status;
    if (ranks == 1) return ENHOPE_OK;
    status = eh_new(t->ctx, "facts of ranks", ranks * each, sizeof *all, (void **)&all);
    if (!status) status = eh_new(t->ctx, "shares of ranks", ranks + 1, sizeof *offset, (void **)&offset);
    if (!status) status = eh_new(t->ctx, "settings", settings, sizeof *text, (void **)&text);
    if (!status) status = eh_settings_texts(t->ctx, &t->set, text);
    if (!status) status = find_facts(t, all + rank * each);
    EH_CHECK(eh_comm_check(t->ctx, status));
    for (int i = 0; i < settings; i++) all[rank * each + FACTS + i] = hash_text(text[i].value);
    for (int r = 0; r <= ranks; r++) offset[r] = r * each * (int64_t)sizeof *all;
    eh_comm_gather(t->ctx, all, offset);
    status = compare(t, all, each);
cleanup:
    for (int i = 0; i < settings && text; i++) eh_free(text[i].name), eh_free(text[i].value);
    eh_free(text);
    eh_free(offset);
    eh_free(all);
    return status;
}
