/* Checkpoints that a trainer resumes from; their checksum is made right. Training then continues,
 * and gives a model.
 *
 * Input: a byte of choices; a safetensors file (fuzz_safetensors). */
#include "model/safetensors.h"

#include "fuzz.h"

static uint64_t sum_of(eh_safetensors *st)
{
    uint64_t sum = 0;
    const cJSON *item;
    cJSON_ArrayForEach(item, st->metadata)
    {
        if (!strcmp(item->string, "checksum")) continue;
        const uint64_t key = eh_hash(1, item->string, strlen(item->string));
        sum += eh_hash(key, item->valuestring, strlen(item->valuestring));
    }
    for (int64_t i = 0; i < st->tensors; i++) {
        const eh_st_tensor *t = &st->tensor[i];
        uint8_t *data = fuzz_alloc((size_t)(t->end - t->begin));
        const uint64_t name = eh_hash(eh_hash(2, t->name, strlen(t->name)), t->dtype, strlen(t->dtype));
        if (!eh_safetensors_read(fuzz_ctx, st, t, data)) sum += eh_hash(name, data, (size_t)(t->end - t->begin));
    }
    return sum;
}

static void correct_sum(uint8_t *file, size_t size)
{
    static const char key[] = "\"checksum\":\"";
    enum { DIGITS = 16, MAX_TENSORS = 64 };
    eh_safetensors st;
    if (eh_safetensors_open_bytes(fuzz_ctx, file, size, &st)) return;
    for (size_t at = 8; st.tensors < MAX_TENSORS && at + sizeof key + DIGITS < (size_t)st.start; at++) {
        char text[DIGITS + 1];
        if (memcmp(file + at, key, sizeof key - 1) != 0) continue;
        snprintf(text, sizeof text, "%016llx", (unsigned long long)sum_of(&st));
        memcpy(file + at + sizeof key - 1, text, DIGITS);
        break;
    }
    eh_safetensors_close(&st);
}

static enhope_trainer *create(const enhope_dataset *data, const char *solver)
{
    static const char *const values[][2] = {{"recipe", "paper"}, {"n_factors", "4"},   {"n_hidden", "3"},
                                            {"n_epochs", "4"},   {"batch_size", "10"}, {"validation_fraction", "0.2"}};
    enhope_settings *settings = enhope_settings_create();
    enhope_trainer *trainer = NULL;
    for (size_t i = 0; i < sizeof values / sizeof *values; i++)
        (void)enhope_settings_set(fuzz_ctx, settings, values[i][0], values[i][1]);
    fuzz_succeed(enhope_settings_set(fuzz_ctx, settings, "solver", solver));
    fuzz_succeed(enhope_trainer_create(fuzz_ctx, NULL, data, settings, &trainer));
    enhope_settings_free(settings);
    return trainer;
}

static void train_on(enhope_trainer *trainer)
{
    int done = 0;
    enhope_model *model = NULL;
    for (int i = 0; i < 3 && !done; i++)
        if (!fuzz_good(enhope_trainer_step(trainer, NULL, &done))) return;
    if (fuzz_good(enhope_trainer_model(trainer, &model)) && fuzz_one_of(4)) fuzz_check_model(model);
    enhope_model_free(model);
    (void)fuzz_good(enhope_trainer_checkpoint(trainer, fuzz_path("again.safetensors")));
}

FUZZ_TARGET(checkpoint)
{
    static const char *const solvers[] = {"adam", "cg", "lbfgs"};
    static enhope_dataset *data;
    static enhope_trainer *waiting[3]; /* for each solver, until a checkpoint is restored */
    if (!data) {
        const enhope_source source = {.path = "synthetic:blobs,n=40,classes=3,inputs=4,seed=1"};
        fuzz_succeed(enhope_dataset_read(fuzz_ctx, &source, &data));
        fuzz_keep_memory();
    }
    const int choice = fuzz_byte(in);
    size_t size;
    uint8_t *file = fuzz_safetensors(in, &size);
    if (choice & 4) correct_sum(file, size);
    const char *path = fuzz_file("checkpoint.safetensors", file, size);
    enhope_trainer **trainer = &waiting[(choice & 3) % 3];
    if (!*trainer) {
        *trainer = create(data, solvers[(choice & 3) % 3]);
        fuzz_keep_memory();
    }
    if (!fuzz_good(enhope_trainer_resume(*trainer, path))) return; /* the trainer is unchanged */
    train_on(*trainer);
    enhope_trainer_free(*trainer);
    *trainer = create(data, solvers[(choice & 3) % 3]);
}
