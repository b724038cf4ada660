/* Making a trainer: the validation part taken, settings resolved (resolve.c), scaling fitted, data placed,
 * exemplars and parameters started, and all memory allocated, once. */
#include <math.h>
#include <string.h>

#include "comm/comm.h"
#include "train/trainer.h"

/* ---- which rows ---- */

enhope_status eh_train_check_classes(enhope_trainer *t, const int64_t *counts)
{
    enhope_context *ctx = t->ctx;
    const enhope_dataset *data = t->data;
    int32_t last = 0;
    for (int32_t k = 0; k < data->c; k++)
        if (counts[k]) t->present++, last = k;
    if (t->present == 0) return eh_fail(ctx, ENHOPE_ERROR_DATA, "the data has no labelled sample to train on");
    if (t->present == 1 && !(t->from && t->from->exemplars)) /* else the others' exemplars are there */
        return eh_fail(ctx, ENHOPE_ERROR_DATA, "the data has a single class ('%s'): training needs at least two",
                       data->class_name[last]);
    return ENHOPE_OK;
}

static enhope_status count_classes(enhope_trainer *t, int64_t *counts)
{
    const enhope_dataset *data = t->data;
    for (int64_t i = 0; i < data->x.n; i++)
        if (data->label[i] >= 0) counts[data->label[i]]++;
    return eh_train_check_classes(t, counts);
}

/* How many of each class go to the validation part: its fraction rounded down, then one more for classes as they come in
 * the seeded order until the whole part is filled. A class keeps at least one training sample. */
static void share_validation(const enhope_trainer *t, const int64_t *counts, int64_t labelled, const int64_t *order,
                             int64_t *quota)
{
    int64_t left = (int64_t)(t->set.valid * (double)labelled);
    for (int32_t k = 0; k < t->data->c; k++) left -= quota[k] = (int64_t)(t->set.valid * (double)counts[k]);
    for (int64_t i = 0; i < t->data->x.n && left > 0; i++) {
        const int32_t k = t->data->label[order[i]];
        if (k < 0 || quota[k] + 1 >= counts[k]) continue;
        quota[k]++;
        left--;
    }
}

static bool wants_validation(const enhope_trainer *t)
{
    return t->method->compared != EH_NOTHING && t->set.valid > 0;
}

/* Labelled rows in a seeded order, those of the validation part last. */
static enhope_status take_rows(enhope_trainer *t, const int64_t *counts, int64_t *quota)
{
    const enhope_dataset *data = t->data;
    enhope_context *ctx = t->ctx;
    const int64_t all = data->x.n;
    int64_t labelled = 0;
    for (int32_t k = 0; k < data->c; k++) labelled += counts[k];
    int64_t *order = NULL;
    enhope_status status;
    EH_CHECK(eh_new(ctx, "order of samples", all, sizeof *order, (void **)&order));
    EH_CHECK(eh_new(ctx, "rows of samples", labelled, sizeof *t->rows, (void **)&t->rows));
    eh_shuffle((uint64_t)t->set.seed, EH_STREAM_VALID, 0, all, order);
    if (wants_validation(t)) share_validation(t, counts, labelled, order, quota);
    int64_t train = 0, valid = labelled;
    for (int64_t i = 0; i < all; i++) {
        const int32_t k = data->label[order[i]];
        if (k < 0) continue;
        if (quota[k] > 0) {
            quota[k]--;
            t->rows[--valid] = order[i];
        } else {
            t->rows[train++] = order[i];
        }
    }
    t->n = t->held = train;
    t->valid_n = labelled - train;
    for (int64_t i = 0; i < train; i++) t->class_n[data->label[t->rows[i]]]++;
    memcpy(t->class_held, t->class_n, (size_t)data->c * sizeof *t->class_n);
cleanup:
    eh_free(order);
    return status;
}

static enhope_status choose_rows(enhope_trainer *t)
{
    int64_t *counts = NULL;
    enhope_status status;
    EH_CHECK(eh_new(t->ctx, "class counts", 2 * (int64_t)t->data->c, sizeof *counts, (void **)&counts));
    t->x = &t->data->x;
    t->label = t->data->label;
    EH_CHECK(count_classes(t, counts));
    EH_CHECK(take_rows(t, counts, counts + t->data->c));
cleanup:
    eh_free(counts);
    return status;
}

/* Data that is not in memory, or not where the backend computes, passes in windows; *out is a store of it, NULL: it need not.
 * `own` is the same where it was made for that. */
static enhope_status choose_store(enhope_trainer *t, int64_t *memory, const eh_store **out, eh_store **own)
{
    const eh_matrix *x = &t->data->x;
    *memory = eh_memory_limit(t->ctx);
    *out = t->data->store;
    if (t->c && t->c->op->data_room) {
        const int64_t room = (int64_t)t->c->op->data_room(t->c);
        const int64_t stored = x->kind == ENHOPE_CSR && x->row_start ? x->row_start[x->n] : 0;
        if (!*out && t->method->compared == EH_EXEMPLARS && eh_store_bytes(x->kind, x->H, x->n, stored) > room) {
            EH_TRY(eh_store_of(t->ctx, t->data, own));
            *out = *own;
        }
        if (room < *memory) *memory = room;
    }
    if (!*out || t->method->compared == EH_EXEMPLARS) return ENHOPE_OK;
    return eh_fail(
        t->ctx, ENHOPE_ERROR_ARGUMENT,
        "the data is larger than the memory that may be used for it, and %s needs all of it at once: expected a "
        "method with exemplars, fewer samples or more memory",
        t->method->info.name);
}

/* What may not have been expected of the rows. */
static void tell_rows(const enhope_trainer *t)
{
    const int64_t all = t->data->x.n, labelled = t->n + t->valid_n;
    if (labelled < all)
        eh_log(t->ctx, ENHOPE_LOG_WARNING, "%lld of %lld samples have no label and take no part",
               (long long)(all - labelled), (long long)all);
    if (wants_validation(t) && !t->valid_n)
        eh_log(t->ctx, ENHOPE_LOG_WARNING,
               "no validation part: %lld samples are too few for one of %g; the last epoch is kept",
               (long long)labelled, t->set.valid);
}

static enhope_status choose(enhope_trainer *t)
{
    const eh_store *store;
    eh_store *own = NULL;
    int64_t memory;
    if (!t->data->label && !(t->data->store && t->data->store->labeled))
        return eh_fail(t->ctx, ENHOPE_ERROR_DATA, "the data has no labels: training needs a class for each sample");
    EH_TRY(eh_new(t->ctx, "class counts", 2 * (int64_t)t->data->c, sizeof *t->class_n, (void **)&t->class_n));
    t->class_held = t->class_n + t->data->c;
    EH_TRY(choose_store(t, &memory, &store, &own));
    EH_TRY(store ? eh_train_windows_create(t, store, own, memory) : choose_rows(t));
    tell_rows(t);
    return ENHOPE_OK;
}

/* ---- the start ---- */

static enhope_status start_exemplars(enhope_trainer *t)
{
    if (!t->z) return ENHOPE_OK;
    const int64_t H = t->embedder.shape.H;
    float *E = NULL;
    enhope_status status;
    /* ranks share what follows: none begins it alone */
    EH_CHECK(eh_comm_agree(t->ctx, eh_new(t->ctx, "exemplars", t->z * H, sizeof *E, (void **)&E)));
    const bool points = t->set.exemplars == EH_START_RANDOM || (t->learned && t->method->own_scale);
    if (t->from)
        EH_CHECK(eh_train_more_exemplars(t, E));
    else
        EH_CHECK((points ? eh_exemplar_random : eh_exemplar_kmeans)(t->ctx, t->c, &t->embedder.table, t->rows, t->held,
                                                                    t->data->c, t->z, (uint64_t)t->set.seed, E,
                                                                    t->exemplar_label));
    t->c->op->write(t->c, eh_at(t->c, t->theta, t->P), E, t->z * H);
    t->c->op->send(t->c, t->embedder.reference_label, t->exemplar_label, (size_t)t->z * sizeof *t->exemplar_label);
cleanup:
    eh_free(E);
    return status;
}

static enhope_status start_map(enhope_trainer *t)
{
    eh_compute *c = t->c;
    if (t->from) {
        c->op->write(c, t->theta, t->from->theta, t->P);
        return ENHOPE_OK;
    }
    double lost;
    if (t->method->pca_start) return eh_train_solve(t, EH_SOLVE_PCA, t->set.start, &lost);
    /* rows are in a seeded order, so that the first are a sample */
    const int64_t n = t->sample;
    const bool narrow = !c->numbers;
    float *host = NULL;
    eh_real *X = NULL; /* (n, ld) the sample as numbers, where operands are not */
    enhope_status status;
    EH_CHECK(eh_new(t->ctx, "parameters", t->P, sizeof *host, (void **)&host));
    if (narrow) EH_CHECK(eh_compute_new(c, t->ctx, "a sample", n * t->embedder.ld, c->op->size, &X));
    if (narrow) c->op->gather(c, &t->embedder.table, t->row_list, n, X, t->embedder.ld, NULL);
    c->op->gather_operands(c, &t->embedder.table, t->row_list, n, t->embedder.X, t->embedder.ld, NULL, NULL);
    t->method->map->init(&t->embedder.shape, c, (uint64_t)t->set.seed, t->set.start,
                         narrow ? X : (eh_real *)t->embedder.X, t->embedder.X, t->embedder.ld, n, host, t->theta,
                         t->embedder.work);
cleanup:
    if (X) c->op->release(c, X);
    eh_free(host);
    return status;
}

/* Constants of the optimisers: Adam's decays of the means of gradient and square, and the part of all steps in which the rate
 * rises; curvature pairs that L-BFGS keeps. */
static const double BETA1 = 0.9, BETA2 = 0.99, WARMUP = 0.05;
enum { LBFGS_MEMORY = 10 };

static enhope_status start_optimiser(enhope_trainer *t)
{
    static const eh_optim_type *const types[] = {&eh_optim_cg, &eh_optim_lbfgs, &eh_optim_adam};
    const enhope_settings *s = &t->set;
    const eh_optim_type *type = types[s->solver];
    const int64_t steps = s->epochs * t->batches;
    const eh_optim_settings set = {
        .iterations = type == &eh_optim_adam ? 1 : s->iterations,
        .memory = LBFGS_MEMORY,
        .rate = s->rate,
        .beta1 = BETA1,
        .beta2 = BETA2,
        .epsilon = 1e-8,
        .warmup = (int64_t)(WARMUP * (double)steps),
        .total = steps,
    };
    EH_TRY(eh_optim_create(t->ctx, t->c, type, &set, t->P + (t->learned ? t->z * t->embedder.shape.H : 0), &t->optim));
    t->optim->stop = eh_train_stop;
    if (type->deferred) return ENHOPE_OK;
    return eh_compute_new(t->c, t->ctx, "parameters", t->P + t->z * t->embedder.shape.H, t->c->op->size, &t->before);
}

/* An epoch's rows and losses; and all rows, placed. */
static enhope_status allocate_epoch(enhope_trainer *t)
{
    enhope_context *ctx = t->ctx;
    eh_compute *c = t->c;
    const int64_t all = t->held + t->valid_n, rows = t->order_room;
    if (!t->windows) {
        EH_TRY(eh_new(ctx, "order of samples", rows, sizeof *t->order, (void **)&t->order));
        EH_TRY(eh_new(ctx, "order of samples", rows, sizeof *t->order_label, (void **)&t->order_label));
    }
    EH_TRY(eh_new(ctx, "losses", t->batches, sizeof *t->fetched, (void **)&t->fetched));
    EH_TRY(eh_new(ctx, "parts of a batch", t->parts + 1, sizeof *t->part_start, (void **)&t->part_start));
    EH_TRY(eh_new(ctx, "parts of a batch", t->parts + 2, sizeof *t->piece, (void **)&t->piece));
    EH_TRY(eh_compute_new(c, ctx, "losses", t->batches, sizeof *t->fetched, &t->losses));
    EH_TRY(eh_compute_new(c, ctx, "order of samples", rows, sizeof *t->order, &t->epoch_rows));
    EH_TRY(eh_compute_new(c, ctx, "order of samples", rows, sizeof *t->order_label, &t->epoch_label));
    EH_TRY(eh_compute_new(c, ctx, "rows of samples", all, sizeof *t->rows, &t->row_list));
    c->op->send(c, t->row_list, t->rows, (size_t)all * sizeof *t->rows);
    return ENHOPE_OK;
}

/* The classes of the training points, where these are what points are compared with. */
static void place_point_labels(enhope_trainer *t)
{
    const int64_t n = t->held;
    int32_t *label = t->order_label; /* free until the first epoch */
    for (int64_t i = 0; i < n; i++) label[i] = t->label[t->rows[i]];
    t->c->op->send(t->c, t->embedder.reference_label, label, (size_t)n * sizeof *label);
}

/* P of a batch, and the batch's inputs as numbers, undisturbed. */
static enhope_status allocate_affinities(enhope_trainer *t)
{
    eh_compute *c = t->c;
    const int64_t batch = t->batch_most;
    if (!t->method->given) return ENHOPE_OK;
    EH_TRY(eh_compute_new(c, t->ctx, "affinities of a batch", batch * batch, c->op->size, &t->affinities));
    t->objective.P = t->affinities;
    if (c->numbers && !t->embedder.sparse && !t->disturbed) return ENHOPE_OK;
    return eh_compute_new(c, t->ctx, "batch", batch * t->embedder.ld, c->op->size, &t->inputs);
}

/* What is held for inputs that climb the loss. */
static enhope_status allocate_adversary(enhope_trainer *t)
{
    enhope_context *ctx = t->ctx;
    eh_compute *c = t->c;
    const int64_t rows = t->batch_most * (1 + t->hinge.targets) + t->z, H = t->embedder.shape.H;
    const int64_t all = t->P + t->z * H;
    if (!eh_train_climbs(t)) return ENHOPE_OK;
    EH_TRY(eh_compute_new(c, ctx, "adversarial batch", rows * t->embedder.ld, c->operand, &t->climbed));
    EH_TRY(eh_compute_new(c, ctx, "gradient of a batch", rows * H, c->op->size, &t->dX));
    EH_TRY(eh_compute_new(c, ctx, "adversarial gradient", all, c->op->size, &t->climbed_grad));
    return eh_compute_new(c, ctx, "adversarial loss", 1, sizeof(eh_value), &t->climbed_loss);
}

static enhope_status allocate(enhope_trainer *t)
{
    enhope_context *ctx = t->ctx;
    eh_compute *c = t->c;
    const int64_t rows = t->embedder.capacity + t->z, H = t->embedder.shape.H;
    const bool points = t->method->compared == EH_BATCH;
    /* sparse batches never enter X, only exemplars and the sample of the start do */
    const int64_t dense = !t->embedder.sparse ? rows : t->z > t->sample ? t->z : t->sample;
    const size_t size = c->op->size;
    EH_TRY(eh_embedder_allocate(&t->embedder,
                                &(eh_embedder_sizes){.capacity = t->embedder.capacity,
                                                     .behind = t->z,
                                                     .dense = dense,
                                                     .embedded = rows,
                                                     .references = points ? t->held : t->z,
                                                     .embedded_references = points ? t->held + t->valid_n : t->z,
                                                     .keep = true}));
    EH_TRY(eh_compute_new(c, ctx, "parameters", t->P + t->z * H, size, &t->theta));
    EH_TRY(eh_compute_new(c, ctx, "parameters", t->P + t->z * H, size, &t->best));
    EH_TRY(eh_compute_new(c, ctx, "embedding", rows * t->embedder.shape.h, size, &t->dY));
    EH_TRY(eh_new(ctx, "labels", t->z, sizeof *t->exemplar_label, (void **)&t->exemplar_label));
    EH_TRY(allocate_epoch(t));
    if (!t->method->solve) EH_TRY(eh_train_exchange_create(t));
    EH_TRY(allocate_affinities(t));
    EH_TRY(allocate_adversary(t));
    if (points) place_point_labels(t);
    return ENHOPE_OK;
}

static enhope_status settle_neighbours(enhope_trainer *t)
{
    const bool exemplars = t->method->compared == EH_EXEMPLARS;
    const int64_t r = exemplars ? t->z : t->held, k = t->set.neighbours;
    if (k > r)
        return eh_fail(t->ctx, ENHOPE_ERROR_ARGUMENT, "k = %lld neighbours asked for, but there are %lld %s",
                       (long long)k, (long long)r, exemplars ? "exemplars" : "training points");
    if (k)
        t->k = (int32_t)k;
    else if (t->method->nearest)
        t->k = t->method->nearest;
    else if (exemplars)
        t->k = eh_default_neighbours(t->exemplar_label, r);
    else
        t->k = r < EH_NEIGHBOURS ? (int32_t)r : EH_NEIGHBOURS;
    t->set.neighbours = t->k;
    if (!t->c) return ENHOPE_OK;
    return eh_embedder_search(&t->embedder, t->embedder.capacity, t->k, NULL);
}

static enhope_status settle_scaling(enhope_trainer *t)
{
    const size_t bytes = (size_t)t->data->x.H * sizeof *t->shift;
    if (t->from) {
        memcpy(t->shift, t->from->shift, bytes);
        memcpy(t->mul, t->from->mul, bytes);
        return ENHOPE_OK;
    }
    eh_scale scale = (eh_scale)t->set.scale;
    EH_TRY(eh_scaling_fit(t->ctx, &scale, t->x, t->rows, t->held, t->shift, t->mul));
    t->set.scale = scale;
    return ENHOPE_OK;
}

/* Batches so small that waking threads costs more than they bring are one thread's, where nobody asked for a number;
 * results are the same. Methods that compare samples with each other have more to do than their batches. */
static void settle_threads(enhope_trainer *t)
{
    enum { ALONE = 1 << 20 }; /* multiplications of a batch, in the map and for distances */
    int64_t distances, work;
    if (t->method->compared != EH_EXEMPLARS || !t->c->op->host || t->ctx->threads) return;
    if (!eh_mul(t->z, t->embedder.shape.h, &distances) || __builtin_add_overflow(distances, t->P, &distances)) return;
    if (eh_mul(t->n / t->batches + t->z, distances, &work) && work < ALONE) t->c->threads = 1;
}

/* All but what is computed. */
static enhope_status prepare(enhope_trainer *t)
{
    enhope_context *ctx = t->ctx;
    const int64_t H = t->data->x.H;
    if (t->method->compared != EH_NOTHING) EH_TRY(eh_compute_open(ctx, t->method->map == &eh_map_identity, &t->c));
    EH_TRY(choose(t));
    EH_TRY(eh_train_settle(t));
    if (t->windows) EH_TRY(eh_train_windows_open(t));
    settle_threads(t);
    EH_TRY(eh_new(ctx, "scaling", H, sizeof *t->shift, (void **)&t->shift));
    EH_TRY(eh_new(ctx, "scaling", H, sizeof *t->mul, (void **)&t->mul));
    EH_TRY(settle_scaling(t));
    if (t->method->compared == EH_NOTHING) {
        t->done = true;
        return settle_neighbours(t);
    }
    EH_TRY(eh_embedder_place(&t->embedder, t->x, t->label, t->shift, t->mul));
    if (t->embedder.table.stream)
        return eh_fail(ctx, ENHOPE_ERROR_MEMORY,
                       "the data is larger than the memory that the device has for it, and %s; train on the cpu, or on "
                       "fewer samples",
                       t->windows ? "so are windows on it" : "the method needs all of it at once");
    if (t->windows) EH_TRY(eh_train_windows_start(t));
    return allocate(t);
}

static enhope_status build(enhope_trainer *t)
{
    enhope_context *ctx = t->ctx;
    EH_TRY(eh_comm_agree(ctx, prepare(t)));
    EH_TRY(eh_train_check_ranks(t));
    if (!t->c) return ENHOPE_OK;
    eh_compute_begin(t->c);
    enhope_status status;
    EH_CHECK(start_exemplars(t));
    EH_CHECK(start_map(t));
    if (t->method->hinge) EH_CHECK(eh_train_targets(t));
    EH_CHECK(start_optimiser(t));
    EH_CHECK(settle_neighbours(t));
    if (t->method->own_scale && !t->from) EH_CHECK(eh_train_scale(t));
    EH_CHECK(eh_train_class_targets(t));
    EH_CHECK(t->c->op->sync(t->c, ctx));
cleanup:
    eh_compute_end(t->c);
    return eh_comm_agree(ctx, status);
}

/* A trainer that knows its data, its settings and its method. */
static enhope_status begin(enhope_context *ctx, const enhope_model *from, const enhope_dataset *data,
                           const enhope_settings *settings, enhope_trainer **out)
{
    enhope_settings *defaults = NULL;
    EH_TRY(eh_new(ctx, "trainer", 1, sizeof **out, (void **)out));
    enhope_trainer *t = *out;
    t->ctx = ctx;
    t->data = data;
    t->from = from;
    t->valid_error = t->best_error = t->loss = NAN;
    t->ahead = 1;
    t->shuffled = t->shown = -1;
    if (!settings) {
        defaults = enhope_settings_create();
        if (!defaults) return eh_fail_memory(ctx, "settings", 1, sizeof *defaults);
        settings = defaults;
    }
    t->set = *settings;
    enhope_settings_free(defaults);
    t->method = eh_method_find(t->set.method);
    if (from) {
        EH_TRY(eh_train_join(ctx, from, data, &t->joined));
        t->data = &t->joined;
        EH_TRY(eh_train_settle_update(t));
    }
    return eh_settings_check(ctx, &t->set);
}

enhope_status enhope_trainer_create(enhope_context *ctx, const enhope_model *from, const enhope_dataset *data,
                                    const enhope_settings *settings, enhope_trainer **out)
{
    enhope_trainer *t = NULL;
    eh_comm_begin(ctx);
    enhope_status status = begin(ctx, from, data, settings, &t);
    status = status ? eh_comm_agree(ctx, status) : build(t);
    if (status) {
        enhope_trainer_free(t);
        return status;
    }
    *out = t;
    return ENHOPE_OK;
}

void enhope_trainer_free(enhope_trainer *t)
{
    if (!t) return;
    if (t->c) {
        eh_optim_free(t->optim);
        eh_embedder_free(&t->embedder);
        eh_train_exchange_free(t);
        void *const placed[] = {t->theta,        t->best,         t->dY,           t->row_list,
                                t->losses,       t->epoch_rows,   t->epoch_label,  t->inputs,
                                t->affinities,   t->climbed,      t->dX,           t->climbed_grad,
                                t->climbed_loss, t->class_weight, t->smooth_share, t->before};
        for (size_t i = 0; i < sizeof placed / sizeof *placed; i++)
            if (placed[i]) t->c->op->release(t->c, placed[i]);
        eh_compute_close(t->c);
    }
    void *const blocks[] = {t->shift,       t->mul,     t->rows,    t->exemplar_label, t->targets, t->order,
                            t->order_label, t->fetched, t->history, t->part_start,     t->piece,   t->class_n};
    for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++) eh_free(blocks[i]);
    eh_train_windows_free(t->windows);
    eh_train_join_free(&t->joined);
    eh_free(t);
}
