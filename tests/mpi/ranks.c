/* Compares training on ranks with a single process: byte-identical models for every iterative
 * method and setting. Also checks that no rank is left waiting if another runs out of memory.
 *
 * usage: mpirun -n R ranks FOLDER      each rank writes its models to the folder */
#define _DEFAULT_SOURCE 1
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "train/trainer.h"

/* ---- data ---- */

enum { SPARSE_N = 420, SPARSE_H = 60, EACH = 5 };

static enhope_dataset *sparse(enhope_context *ctx)
{
    static int64_t start[SPARSE_N + 1];
    static int32_t column[SPARSE_N * EACH], label[SPARSE_N];
    static float value[SPARSE_N * EACH];
    enhope_dataset *data = NULL;
    for (int i = 0; i < SPARSE_N; i++) {
        label[i] = i % 3;
        start[i + 1] = start[i] + EACH;
        for (int j = 0; j < EACH; j++) {
            column[i * EACH + j] = j * (SPARSE_H / EACH) + (i * 7 + j * j + label[i] * 4) % (SPARSE_H / EACH);
            value[i * EACH + j] = (float)(1 + (i * 13 + j * 5) % 11) / 7;
        }
    }
    enhope_dataset_view_csr(ctx, SPARSE_N, SPARSE_H, start, column, value, label, 3, NULL, &data);
    return data;
}

static enhope_dataset *read_data(enhope_context *ctx, const char *name)
{
    enhope_dataset *data = NULL;
    if (!strcmp(name, "sparse")) return sparse(ctx);
    const enhope_source source = {.path = !strcmp(name, "digits") ? "synthetic:digits,n=320,seed=1"
                                          : !strcmp(name, "few")  ? "synthetic:blobs,n=90,classes=3,inputs=4,seed=3"
                                                                  : "synthetic:blobs,n=640,classes=4,inputs=13,seed=3"};
    enhope_dataset_read(ctx, &source, &data);
    for (int64_t i = 0; data && !strcmp(name, "few labels") && i < data->x.n; i++)
        if (i % 9) data->label[i] = -1;
    double weight[640];
    for (int i = 0; i < 640; i++) weight[i] = i % 13 == 7 ? 0 : 0.3 + i % 5;
    if (data && !strcmp(name, "weighted") && enhope_dataset_set_weights(ctx, data, weight)) return NULL;
    return data;
}

/* ---- one model ---- */

typedef struct test_case {
    const char *data, *settings;
} test_case;

#define SMALL "n_factors=9 n_hidden=6 batch_size=170 n_epochs=2 "
static const test_case cases[] = {
    {"blobs", SMALL "n_chunks=5"},
    {"few labels", SMALL "n_chunks=5 adversarial_step=0.1"},
    {"blobs", "n_factors=9 n_hidden=6 batch_size=530 n_epochs=2"}, /* three chunks by default */
    {"blobs", "n_factors=9 n_hidden=6 batch_size=3 n_epochs=1"},   /* fewer chunks than ranks */
    {"blobs", SMALL "n_chunks=5 exemplars=kmeans n_exemplars=11"},
    {"blobs", SMALL "n_chunks=5 exemplars=random n_exemplars=9"},
    {"blobs", SMALL "n_chunks=7 normalizer=row"},
    {"blobs", SMALL "n_chunks=7 normalizer=joint noise=0.3 dropout=0.2"},
    {"blobs", SMALL "n_chunks=4 normalizer=published noise=0 dropout=0"},
    {"blobs", SMALL "n_chunks=4 label_smoothing=0.1 class_weight=balanced"},
    {"weighted", SMALL "n_chunks=4 validation_fraction=0.2"},
    {"weighted", SMALL "n_chunks=5 normalizer=joint exemplars=kmeans n_exemplars=11 class_weight=balanced"},
    {"blobs", SMALL "n_chunks=4 adversarial_step=0.2 exemplars=kmeans"},
    {"blobs", SMALL "n_chunks=4 solver=cg validation_fraction=0"},
    {"blobs", SMALL "n_chunks=4 solver=lbfgs"},
    {"blobs", SMALL "n_chunks=4 aux_components=5 adversarial_step=0.2"},
    {"sparse", SMALL "n_chunks=4 aux_components=3"},
    {"digits", SMALL "n_chunks=3 shift=1 affine=1 elastic=0.5"},
    {"sparse", SMALL "n_chunks=4"},
    {"sparse", SMALL "n_chunks=4 exemplars=kmeans normalizer=joint"},
    {"sparse", SMALL "n_chunks=4 noise=0.1"},
    {"blobs", SMALL "n_chunks=5 method=hope"},
    {"sparse", SMALL "n_chunks=5 method=hope"},
    {"blobs", "method=nca batch_size=170 n_epochs=2 n_chunks=5"},
    {"blobs", "method=mcml+ batch_size=170 n_epochs=2 n_chunks=3 solver=cg"},
    {"blobs", "method=linear-en-hope batch_size=170 n_epochs=2 n_chunks=3"},
    {"blobs", "method=snc batch_size=170 n_epochs=2 n_chunks=5"},
    {"blobs", "method=dt-mcml hidden_layer_sizes=8-7 batch_size=170 n_epochs=2 n_chunks=5"},
    {"blobs", "method=deep-en-hope hidden_layer_sizes=8-7-5 activation=relu batch_size=170 n_epochs=2 n_chunks=5"},
    {"blobs", "method=pt-sne hidden_layer_sizes=8-7 batch_size=170 n_epochs=2 n_chunks=5 perplexity=9"},
    {"blobs", "method=pt-sne hidden_layer_sizes=8-7 batch_size=170 n_epochs=2 n_chunks=5 noise=0.2"},
    {"blobs", "method=en-tsne n_factors=8 n_hidden=7 batch_size=170 n_epochs=2 n_chunks=5"},
    {"blobs", "method=lmnn batch_size=170 n_epochs=2 n_chunks=5"},
    {"blobs", "method=pca"},
    {"blobs", "method=lpp"},
    {"few", "method=mcml"},
    {"blobs", "method=knn"},
};
enum { CASES = sizeof cases / sizeof *cases };

static void die(enhope_context *ctx, const test_case *which, const char *what)
{
    fprintf(stderr, "rank %d of %d: %s, %s: %s (%s)\n", enhope_context_rank(ctx), enhope_context_ranks(ctx),
            which ? which->data : "", which ? which->settings : "", what, enhope_error(ctx));
    enhope_context_all_failed(ctx, 0);
    exit(1);
}

static enhope_settings *make_settings(enhope_context *ctx, const test_case *which)
{
    enhope_settings *settings = enhope_settings_create();
    char text[256];
    snprintf(text, sizeof text, "%s", which->settings);
    for (char *name = strtok(text, " "); name; name = strtok(NULL, " ")) {
        char *value = strchr(name, '=');
        *value++ = '\0';
        if (enhope_settings_set(ctx, settings, name, value)) die(ctx, which, "settings");
    }
    return settings;
}

enum how { PLAIN, ON, STAGED }; /* trained; then updated; trained by a backend with its own memory */

/* As on a GPU: the data that ranks exchange passes through host memory. */
static enhope_status train_far(enhope_context *ctx, const enhope_dataset *data, const enhope_settings *settings,
                               enhope_model **out)
{
    enhope_trainer *t = NULL;
    EH_TRY(enhope_trainer_create(ctx, NULL, data, settings, &t));
    eh_exchange_free(t->loss.exchange);
    eh_compute_ops far = *t->cp->op;
    far.host = false;
    t->cp->op = &far;
    enhope_status status = eh_batch_loss_create_exchange(&t->loss);
    int done = 0;
    while (!status && !done) status = enhope_trainer_step(t, NULL, &done);
    if (!status) status = enhope_trainer_model(t, out);
    enhope_trainer_free(t);
    return status;
}

/* Trains and returns the bytes of the model. */
static char *train(enhope_context *ctx, const test_case *which, enum how how, const char *folder, size_t *size)
{
    const bool on = how == ON;
    char path[512];
    enhope_dataset *data = read_data(ctx, which->data);
    enhope_settings *settings = make_settings(ctx, which);
    enhope_model *model = NULL, *more = NULL;
    if (!data) die(ctx, which, "data");
    if (how == STAGED ? train_far(ctx, data, settings, &model) : enhope_train(ctx, data, settings, NULL, NULL, &model))
        die(ctx, which, "training");
    if (on && enhope_model_update(ctx, model, data, settings, NULL, NULL, &more)) die(ctx, which, "training on");
    snprintf(path, sizeof path, "%s/%ld.safetensors", folder, (long)getpid());
    if (enhope_model_save(ctx, on ? more : model, path)) die(ctx, which, "saving");
    enhope_model_free(model);
    enhope_model_free(more);
    enhope_settings_free(settings);
    enhope_dataset_free(data);
    FILE *file = fopen(path, "rb");
    fseek(file, 0, SEEK_END);
    *size = (size_t)ftell(file);
    rewind(file);
    char *bytes = malloc(*size);
    if (fread(bytes, 1, *size, file) != *size) die(ctx, which, "reading");
    fclose(file);
    remove(path);
    return bytes;
}

static void same_model(enhope_context *alone, enhope_context *ranks, const test_case *which, enum how how,
                       const char *folder)
{
    size_t size, other;
    char *want = train(alone, which, how == ON ? ON : PLAIN, folder, &size);
    char *got = train(ranks, which, how, folder, &other);
    if (size != other || memcmp(want, got, size)) die(ranks, which, "the model is not that of one process");
    free(want);
    free(got);
}

/* ---- out of memory in one rank ---- */

static int64_t left = -1; /* allocations until one fails; -1: none fails */

static void *allocate(size_t bytes)
{
    if (left == 0) return NULL;
    if (left > 0) left--;
    return malloc(bytes);
}

static enhope_status evaluate(enhope_context *ctx, const enhope_model *model, const enhope_dataset *data)
{
    int64_t confusion[4 * 4];
    enhope_calibration calibration;
    enhope_coverage row = {.share = 0.5};
    enhope_rejection rejection = {.by = ENHOPE_CONFIDENCE_MARGIN, .row = &row, .rows = 1};
    enhope_metrics metrics = {0};
    enhope_evaluation e = {
        .confusion = confusion, .calibration = &calibration, .rejection = &rejection, .metrics = &metrics};
    return enhope_model_evaluate(ctx, model, data, 0, &e);
}

/* Makes the k-th allocation of the last rank fail, in training or evaluation. Returns false if
 * there are fewer allocations, and all ranks succeed; otherwise all ranks have a message. */
static bool fails_together(enhope_context *ctx, const test_case *which, int64_t k, bool evaluating)
{
    const int rank = enhope_context_rank(ctx), last = enhope_context_ranks(ctx) - 1;
    enhope_dataset *data = read_data(ctx, which->data);
    enhope_settings *settings = make_settings(ctx, which);
    enhope_model *model = NULL;
    if (evaluating && enhope_train(ctx, data, settings, NULL, NULL, &model)) die(ctx, which, "training");
    left = rank == last ? k : -1;
    const enhope_status status =
        evaluating ? evaluate(ctx, model, data) : enhope_train(ctx, data, settings, NULL, NULL, &model);
    left = -1;
    char want[32];
    snprintf(want, sizeof want, "rank %d: out of memory", last);
    if (status && strncmp(enhope_error(ctx), rank == last ? "out of memory" : want, strlen("out of memory")))
        die(ctx, which, "the message of a failed allocation");
    if (!enhope_context_all_failed(ctx, 20)) die(ctx, which, "a rank is still waiting");
    enhope_model_free(model);
    enhope_settings_free(settings);
    enhope_dataset_free(data);
    return status != ENHOPE_OK;
}

#define DECIDED "order=1 init_scale=1 similarity=student noise=0.1 dropout=0.1 learning_rate=0.005 n_exemplars=8 "

/* Every allocation of a training and an evaluation, and some of a training that chooses its map. */
static int64_t try_allocations(enhope_context *ctx)
{
    static const test_case decided = {"blobs", SMALL DECIDED "n_chunks=4 exemplars=kmeans"};
    static const test_case choosing = {"few", SMALL "n_chunks=4 exemplars=kmeans"};
    int64_t k = 0, j = 0, tried = 0;
    for (; fails_together(ctx, &decided, k, false); tried++) k += enhope_context_ranks(ctx) == 2 ? 1 : 1 + k / 8;
    for (; fails_together(ctx, &decided, j, true); j++) tried++;
    for (k = 0; fails_together(ctx, &choosing, k, false); tried++) k += 1 + k / 4;
    return tried;
}

int main(int argc, char **argv)
{
    enhope_set_allocator(allocate, free);
    enhope_context *alone = enhope_context_create(), *ranks = enhope_context_create();
    if (argc != 2 || enhope_context_set_ranks(ranks, "mpi")) die(ranks, NULL, "joining the ranks");
    for (int i = 0; i < CASES; i++) same_model(alone, ranks, &cases[i], PLAIN, argv[1]);
    same_model(alone, ranks, &cases[0], ON, argv[1]);
    for (int i = 0; i < CASES; i++)
        if (strstr(cases[i].settings, "n_chunks")) same_model(alone, ranks, &cases[i], STAGED, argv[1]);
    const int64_t tried = try_allocations(ranks);
    if (enhope_context_rank(ranks) == 0)
        printf("%d ranks: all models identical to those of one process; %lld failed allocations\n",
               enhope_context_ranks(ranks), (long long)tried);
    enhope_context_free(ranks);
    enhope_context_free(alone);
    return 0;
}
