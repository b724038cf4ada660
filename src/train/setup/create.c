/* Creates a trainer: resolves the settings, chooses the rows, fits the scaling, places the data,
 * allocates all memory, and initializes exemplars and parameters. */
#include <math.h>
#include <string.h>

#include "comm/comm.h"
#include "predict/engine.h"
#include "train/setup/setup.h"

/* ---- rows ---- */

/* Data is streamed if it is not in memory or does not fit on the device. s->store is its store;
 * NULL: the data is not streamed. */
static enhope_status choose_store(enhope_trainer *t, eh_windows_settings *s)
{
    const eh_matrix *x = &t->data->x;
    s->memory = eh_memory_limit(t->ctx);
    s->store = t->data->store;
    s->past = t->past;
    if (t->cp && t->cp->op->data_capacity) {
        const int64_t capacity = (int64_t)t->cp->op->data_capacity(t->cp);
        const int64_t stored = x->kind == ENHOPE_CSR && x->row_start ? x->row_start[x->n] : 0;
        if (!s->store && t->method->compared == EH_EXEMPLARS &&
            eh_store_bytes(x->kind, x->H, x->n, stored) > capacity) {
            if (t->data->weight)
                return eh_fail(
                    t->ctx, ENHOPE_ERROR_ARGUMENT,
                    "the data exceeds the memory of the device, and streamed data cannot have weights; train "
                    "on the cpu, on fewer samples, or without weights");
            EH_TRY(eh_store_from_dataset(t->ctx, t->data, &s->own));
            s->store = s->own;
        }
        if (capacity < s->memory) s->memory = capacity;
    }
    if (!s->store || t->method->compared == EH_EXEMPLARS) return ENHOPE_OK;
    return eh_fail(
        t->ctx, ENHOPE_ERROR_ARGUMENT,
        "%s cannot stream and the data exceeds --memory; use an exemplar method, fewer samples, or raise --memory",
        t->method->info.name);
}

/* Whether samples without a label take part in training. */
static enhope_status choose_unlabeled(const enhope_trainer *t, const eh_windows_settings *stream, bool *use)
{
    const enhope_settings *s = &t->set;
    const bool given = EH_EXPLICIT(s, objective.unlabeled_weight) && s->objective.unlabeled_weight > 0;
    const bool moved = (EH_EXPLICIT(s, augment.noise) && s->augment.noise > 0) ||
                       (EH_EXPLICIT(s, augment.dropout) && s->augment.dropout > 0) ||
                       (EH_EXPLICIT(s, augment.adversarial_step) && s->augment.adversarial_step > 0);
    const bool sparse = t->data->x.kind == ENHOPE_CSR && !moved;
    *use = s->objective.unlabeled_weight > 0 && enhope_settings_applies(s, "unlabeled_weight") && !stream->store &&
           !sparse && t->data->label;
    if (!given || *use) return ENHOPE_OK;
    return eh_fail(t->ctx, ENHOPE_ERROR_ARGUMENT, "unlabeled_weight is %g, but %s; leave it out%s",
                   s->objective.unlabeled_weight,
                   stream->store ? "streamed samples without a label cannot take part in training"
                                 : "sparse samples are neither augmented nor moved unless noise, dropout or "
                                   "adversarial_step is set",
                   stream->store ? ", or raise --memory" : ", or set one of these");
}

/* Sets the fraction of the validation part to 0 if all of few labels are needed for training. */
static void keep_few_labels(enhope_trainer *t)
{
    enum { FEW = 1000 };
    int64_t labeled = 0, all = t->data->x.n;
    for (int64_t i = 0; i < all; i++) labeled += t->data->label[i] >= 0;
    if (labeled < FEW && labeled < all && !t->data->valid_n && !EH_EXPLICIT(&t->set, validation_fraction))
        t->set.validation_fraction = 0;
}

/* Logs samples that are not used or have no label, and a missing validation part. */
static void log_rows(const enhope_trainer *t, double valid)
{
    const eh_samples *s = &t->samples;
    const int64_t all = t->data->x.n, labeled = s->n + s->valid_n + s->unlabeled_n;
    int64_t weightless = 0;
    for (int64_t i = 0; t->data->weight && i < all; i++) weightless += t->data->weight[i] == 0;
    if (weightless)
        eh_log(t->ctx, ENHOPE_LOG_INFO, "%lld of %lld samples have weight 0 and are not used", (long long)weightless,
               (long long)all);
    if (labeled + weightless < all)
        eh_log(t->ctx, ENHOPE_LOG_WARNING, "%lld of %lld samples have no label and are not used",
               (long long)(all - labeled - weightless), (long long)all);
    if (s->unlabeled_n)
        eh_log(t->ctx, ENHOPE_LOG_INFO, "%lld of %lld samples have no label; they take part in training",
               (long long)s->unlabeled_n, (long long)all);
    if (valid > 0 && !s->valid_n)
        eh_log(t->ctx, ENHOPE_LOG_WARNING,
               "no validation part: %lld samples are too few for a fraction of %g; the last epoch is kept",
               (long long)labeled, valid);
}

static enhope_status choose_rows(enhope_trainer *t)
{
    eh_samples_settings rows = {.seed = (uint64_t)t->set.random_state,
                                .one_class = t->unlabeled || (t->from && t->from->exemplars)};
    eh_windows_settings stream = {0};
    if (!t->data->label && !(t->data->store && t->data->store->labeled))
        return eh_fail(t->ctx, ENHOPE_ERROR_DATA,
                       "the data has no labels: method %s needs a class for each sample; add labels, or use en-tsne, "
                       "pca, lpp or pt-sne, which train without them",
                       t->method->info.name);
    EH_TRY(choose_store(t, &stream));
    EH_TRY(choose_unlabeled(t, &stream, &rows.unlabeled));
    if (rows.unlabeled) keep_few_labels(t);
    rows.valid = t->method->compared == EH_NOTHING || t->unlabeled ? 0 : t->set.validation_fraction;
    EH_TRY(stream.store ? eh_windows_create(t->ctx, t->data, &rows, &stream, &t->samples, &t->windows)
                        : eh_samples_create(t->ctx, t->data, &rows, &t->samples));
    log_rows(t, rows.valid);
    return ENHOPE_OK;
}

/* ---- scaling ---- */

/* Sparse tables of so many inputs at most are centered, which makes their rows dense. */
enum { MAX_CENTERED = 4096 };

static const char *scaling_text(eh_scale scale)
{
    switch (scale) {
    case EH_SCALE_RANGE: return "one range for all inputs, which share a scale";
    case EH_SCALE_MINMAX: return "each input by its largest value";
    default: return "each input by its mean and standard deviation, zeros and ones unchanged";
    }
}

static enhope_status fit_scaling(enhope_trainer *t)
{
    const int64_t H = t->data->x.H;
    EH_TRY(eh_new(t->ctx, "scaling", H, sizeof *t->shift, (void **)&t->shift));
    EH_TRY(eh_new(t->ctx, "scaling", H, sizeof *t->mul, (void **)&t->mul));
    if (t->from) {
        memcpy(t->shift, t->from->shift, (size_t)H * sizeof *t->shift);
        memcpy(t->mul, t->from->mul, (size_t)H * sizeof *t->mul);
        return ENHOPE_OK;
    }
    eh_scale scale = (eh_scale)t->set.scaling;
    const int hints =
        (t->data->image_rows > 0 ? EH_SCALING_IMAGES : 0) | (!t->windows && H <= MAX_CENTERED ? EH_SCALING_CENTER : 0);
    const eh_samples *s = &t->samples;
    int64_t *rows = s->rows;
    if (s->unlabeled_n) EH_TRY(eh_samples_list(t->ctx, s, &rows)); /* few labeled rows may not have the range of all */
    const enhope_status status = eh_scaling_fit(t->ctx, &scale, s->x, t->data->input_name, hints, rows,
                                                s->resident_n + s->unlabeled_n, t->shift, t->mul);
    if (rows != s->rows) eh_free(rows);
    EH_TRY(status);
    if (t->set.scaling == EH_SCALE_AUTO) eh_log(t->ctx, ENHOPE_LOG_INFO, "scaling: %s", scaling_text(scale));
    t->set.scaling = scale;
    return ENHOPE_OK;
}

/* ---- data and memory ---- */

/* Uses one thread for batches that are too small to gain from more, unless the number of threads
 * was set. The results are the same. Methods that compare samples with each other compute more
 * per batch and keep their threads. */
static void limit_threads(const enhope_trainer *t, const eh_plan *plan)
{
    enum { ALONE = 1 << 20 }; /* multiplications of a batch, in the map and for distances */
    int64_t distances, work;
    if (t->method->compared != EH_EXEMPLARS || !t->cp->op->host || t->ctx->threads) return;
    if (!eh_mul(plan->z, plan->shape.h, &distances) || __builtin_add_overflow(distances, plan->map_count, &distances))
        return;
    if (eh_mul(plan->drawn / plan->batches + plan->z, distances, &work) && work < ALONE) t->cp->threads = 1;
}

static enhope_status place_data(enhope_trainer *t)
{
    EH_TRY(eh_embedder_place(&t->embedder, t->samples.x, t->samples.label, t->shift, t->mul));
    t->embedder.table.weight = t->samples.weight;
    if (t->embedder.table.stream)
        return eh_fail(t->ctx, ENHOPE_ERROR_MEMORY,
                       "the data exceeds the memory of the device, and %s; train on the cpu, or on fewer samples",
                       t->windows ? "so do its windows" : "the method cannot stream");
    return t->windows ? eh_windows_start(t->windows) : ENHOPE_OK;
}

static enhope_status allocate_embedder(enhope_trainer *t, const eh_plan *plan)
{
    const eh_samples *s = &t->samples;
    const bool points = t->method->compared == EH_BATCH; /* samples are compared with training points */
    const int64_t rows = plan->capacity + plan->z;
    t->embedder.sparse = plan->sparse;
    return eh_embedder_allocate(
        &t->embedder, &(eh_embedder_sizes){.capacity = plan->capacity,
                                           .behind = plan->z,
                                           /* sparse batches do not enter X; exemplars and the
                                            * first sample do */
                                           .dense = !plan->sparse            ? rows
                                                    : plan->z > plan->sample ? plan->z
                                                                             : plan->sample,
                                           .embedded = rows,
                                           .outputs = plan->shape.h + plan->aux,
                                           .references = points ? s->resident_n : plan->z,
                                           .embedded_references = points ? s->resident_n + s->valid_n : plan->z,
                                           .keep = true});
}

/* Sends the classes of the training points, if samples are compared with these. */
static enhope_status place_point_labels(enhope_trainer *t)
{
    const int64_t n = t->samples.resident_n;
    int32_t *label = NULL;
    EH_TRY(eh_new(t->ctx, "labels", n, sizeof *label, (void **)&label));
    for (int64_t i = 0; i < n; i++) label[i] = eh_samples_class(&t->samples, i);
    t->cp->op->send(t->cp, t->embedder.reference_label, label, (size_t)n * sizeof *label);
    eh_free(label);
    return ENHOPE_OK;
}

/* Creates the parts of iterative methods: batches, their loss, and the losses of an epoch. */
static enhope_status allocate_steps(enhope_trainer *t, const eh_plan *plan)
{
    EH_TRY(eh_batches_create(&t->batches));
    t->loss.embedder = &t->embedder;
    t->loss.parameters = &t->parameters;
    t->loss.hinge = plan->hinge;
    t->loss.head.h = plan->aux;
    t->loss.chunks = plan->chunks;
    t->loss.batch_max = plan->batch_max;
    t->loss.augment = plan->augment;
    t->loss.augmented = plan->augmented;
    t->loss.adversarial.step = plan->adversary;
    t->loss.consistency.weight = plan->labeled ? t->set.objective.unlabeled_weight : 0;
    t->loss.target.perplexity = t->method->input_target ? t->set.objective.perplexity : 0;
    EH_TRY(eh_batch_loss_create(&t->loss));
    EH_TRY(eh_new(t->ctx, "losses", plan->batches, sizeof *t->losses.fetched, (void **)&t->losses.fetched));
    return eh_compute_new(t->cp, t->ctx, "losses", plan->batches, sizeof(eh_loss_value), &t->losses.placed);
}

static enhope_status allocate(enhope_trainer *t, const eh_plan *plan)
{
    const bool before = !t->method->solve && !eh_setup_optim_type(&t->set)->deferred;
    EH_TRY(allocate_embedder(t, plan));
    EH_TRY(eh_parameters_create(t->ctx, t->cp, plan->map_count, plan->z, plan->shape.H, plan->learned, before,
                                &t->parameters));
    EH_TRY(eh_samples_place(t->ctx, t->cp, &t->samples));
    if (t->method->compared == EH_BATCH) EH_TRY(place_point_labels(t));
    return t->method->solve ? ENHOPE_OK : allocate_steps(t, plan);
}

/* ---- the steps of creation ---- */

/* Everything that needs no computation. */
static enhope_status prepare(enhope_trainer *t, eh_plan *plan)
{
    const bool computes = t->method->compared != EH_NOTHING;
    if (computes) EH_TRY(eh_compute_open(t->ctx, t->method->map == &eh_map_identity, &t->cp));
    EH_TRY(choose_rows(t));
    if (!t->windows) EH_TRY(fit_scaling(t));
    EH_TRY(eh_setup_resolve(t, plan));
    t->batches = (eh_batches){.ctx = t->ctx,
                              .cp = t->cp,
                              .samples = &t->samples,
                              .windows = t->windows,
                              .table = &t->embedder.table,
                              .seed = (uint64_t)t->set.random_state,
                              .past = t->past,
                              .epochs = t->set.optim.n_epochs,
                              .count = plan->batches,
                              .targets = plan->targets,
                              .candidates = plan->candidates,
                              .drawn = plan->drawn,
                              .labeled = plan->labeled,
                              .own_class = t->method->graph,
                              .chunks = plan->chunks};
    t->loss.objective = plan->objective;
    eh_embedder_init(&t->embedder, t->ctx, t->cp, t->method->map, &plan->shape);
    if (t->windows) {
        EH_TRY(eh_windows_open(t->windows, plan->batches, t->set.optim.n_epochs, &plan->chunks, &t->samples));
        EH_TRY(fit_scaling(t));
    }
    if (!computes) {
        t->done = true;
        return eh_setup_neighbors(t);
    }
    if (!t->method->solve) EH_TRY(eh_setup_weights(t));
    limit_threads(t, plan);
    EH_TRY(place_data(t));
    return allocate(t, plan);
}

/* Everything that is computed. All ranks take part. */
static enhope_status initialize(enhope_trainer *t, const eh_plan *plan)
{
    EH_TRY(eh_setup_exemplars(t));
    EH_TRY(eh_setup_map(t, plan->sample));
    if (t->method->hinge) EH_TRY(eh_setup_targets(t));
    if (plan->graph) EH_TRY(eh_setup_graph(t));
    if (!t->method->solve) EH_TRY(eh_setup_optimizer(t));
    EH_TRY(eh_setup_neighbors(t));
    if (t->method->own_scale && !t->from) EH_TRY(eh_setup_scale(t));
    if (!t->method->solve) EH_TRY(eh_setup_smoothing(t));
    return t->cp->op->sync(t->cp, t->ctx);
}

static enhope_status build(enhope_trainer *t)
{
    eh_plan plan = {.sparse = false};
    EH_TRY(eh_comm_check(t->ctx, prepare(t, &plan)));
    EH_TRY(eh_setup_check_ranks(t));
    if (!t->cp) return ENHOPE_OK;
    eh_compute_begin(t->cp);
    const enhope_status status = initialize(t, &plan);
    eh_compute_end(t->cp);
    return eh_comm_check(t->ctx, status);
}

/* Gives data without labels one class if the method does not use labels. If the method is not set,
 * such data trains en-tsne. */
static enhope_status accept_unlabeled(enhope_trainer *t)
{
    if (!t->data->label && !t->data->store && !t->from && !EH_EXPLICIT(&t->set, method)) {
        snprintf(t->set.method, sizeof t->set.method, "en-tsne");
        t->method = eh_method_find(t->set.method);
        eh_log(t->ctx, ENHOPE_LOG_INFO,
               "the data has no labels: training method en-tsne, whose map keeps neighbors and does not classify");
    }
    const bool by_class = t->method->solve == EH_SOLVE_LPP && t->set.objective.graph_k == 0;
    if (t->data->label || t->data->store || t->from || !t->method->info.unlabeled || by_class) return ENHOPE_OK;
    EH_TRY(eh_setup_unlabeled(t->ctx, t->data, &t->joined));
    t->data = &t->joined;
    t->unlabeled = true;
    return ENHOPE_OK;
}

/* Weights of samples are for methods with exemplars: others compare samples with each other.
 * Samples of weight 0 lose their label, so that no step of training uses them. */
static enhope_status accept_weights(enhope_trainer *t)
{
    const float *weight = t->data->weight;
    if (!weight) return ENHOPE_OK;
    if (t->method->compared != EH_EXEMPLARS)
        return eh_fail(t->ctx, ENHOPE_ERROR_ARGUMENT,
                       "%s has no weights of samples; train without them, or use a method with exemplars: en-hope, "
                       "deep-en-hope, linear-en-hope or snc",
                       t->method->info.name);
    if (!t->data->label) return ENHOPE_OK;
    if (!t->joined.label) EH_TRY(eh_setup_own_labels(t->ctx, t->data, &t->joined));
    t->data = &t->joined;
    for (int64_t i = 0; i < t->joined.x.n; i++)
        if (weight[i] == 0) t->joined.label[i] = -1;
    return ENHOPE_OK;
}

/* Creates a trainer with data, settings and method only. */
static enhope_status begin(enhope_context *ctx, const enhope_model *from, const enhope_dataset *data,
                           const enhope_settings *settings, enhope_trainer **out)
{
    enhope_settings *defaults = NULL;
    EH_TRY(eh_new(ctx, "trainer", 1, sizeof **out, (void **)out));
    enhope_trainer *t = *out;
    t->ctx = ctx;
    t->data = data;
    t->from = from;
    t->losses.ahead = 1;
    eh_train_state_init(&t->state);
    if (!settings) {
        defaults = enhope_settings_create();
        if (!defaults) return eh_fail_memory(ctx, "settings", 1, sizeof *defaults);
        settings = defaults;
    }
    t->set = *settings;
    enhope_settings_free(defaults);
    t->method = eh_method_find(t->set.method);
    if (from) {
        EH_TRY(eh_setup_join(ctx, from, data, &t->joined));
        t->data = &t->joined;
        EH_TRY(eh_setup_take_settings(t));
    }
    EH_TRY(accept_unlabeled(t));
    EH_TRY(accept_weights(t));
    EH_TRY(eh_settings_check(ctx, &t->set));
    if (ctx->engine && strcmp(ctx->engine, eh_engine_float.name))
        return eh_fail(ctx, ENHOPE_ERROR_ARGUMENT, "precision %s is for predictions; train with fp32, tf32 or bf16",
                       ctx->engine);
    return eh_setup_choose(t);
}

enhope_status enhope_trainer_create(enhope_context *ctx, const enhope_model *from, const enhope_dataset *data,
                                    const enhope_settings *settings, enhope_trainer **out)
{
    enhope_trainer *t = NULL;
    eh_comm_begin(ctx);
    enhope_status status = begin(ctx, from, data, settings, &t);
    status = status ? eh_comm_check(ctx, status) : build(t);
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
    if (t->losses.placed) t->cp->op->release(t->cp, t->losses.placed);
    if (t->optim) eh_optim_free(t->optim);
    eh_batch_loss_free(&t->loss);
    eh_batches_free(&t->batches);
    eh_samples_free(t->cp, &t->samples);
    eh_parameters_free(&t->parameters);
    eh_embedder_free(&t->embedder);
    if (t->cp) eh_compute_close(t->cp);
    eh_train_state_free(&t->state);
    eh_free(t->losses.fetched);
    eh_free(t->shift);
    eh_free(t->mul);
    eh_windows_free(t->windows);
    eh_setup_join_free(&t->joined);
    eh_free(t);
}
