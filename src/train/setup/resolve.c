/* Resolves settings with data and method: values of `auto` and of defaults, combinations that
 * are not possible, and the sizes of all parts. */
#include <math.h>

#include "comm/comm.h"
#include "train/setup/setup.h"

/* A setting with its name, for messages. */
typedef struct named_setting {
    const char *name;
    double value;
} named_setting;

/* The first setting above 0, or the last one if there is none. */
static named_setting first_on(const named_setting *settings, int count)
{
    int i = 0;
    while (i < count - 1 && !(settings[i].value > 0)) i++;
    return settings[i];
}

/* For methods whose target is computed from the inputs of a batch. */
static enhope_status resolve_input_target(enhope_trainer *t, const eh_plan *plan, int64_t batch)
{
    enum { MAX_BATCH = 20000 }; /* samples of a batch: the target has a probability for each pair */
    if (batch > MAX_BATCH)
        return eh_fail(t->ctx, ENHOPE_ERROR_ARGUMENT,
                       "batch_size is %lld: %s stores a probability for every pair of a batch; use at most %d samples",
                       (long long)batch, t->method->info.name, MAX_BATCH);
    /* beyond three times the perplexity, neighbors have next to no weight */
    const double max = fmax(1, (double)(t->samples.n / plan->batches - 1) / 3);
    if (t->set.objective.perplexity > max) {
        eh_log(t->ctx, ENHOPE_LOG_WARNING, "perplexity is %g: a batch of %lld samples allows at most %g, which is used",
               t->set.objective.perplexity, (long long)(t->samples.n / plan->batches), max);
        t->set.objective.perplexity = max;
    }
    return ENHOPE_OK;
}

/* Resolves the augmentation of training batches. */
static enhope_status resolve_augmentation(const enhope_trainer *t, eh_plan *plan)
{
    const enhope_settings *s = &t->set;
    const int64_t rows = t->data->image_rows, columns = t->data->image_columns;
    plan->augment = (eh_augment){.image_rows = rows,
                                 .image_columns = columns,
                                 .shift = s->augment.shift,
                                 .affine = s->augment.affine,
                                 .elastic = s->augment.elastic,
                                 .noise = s->augment.noise,
                                 .dropout = s->augment.dropout,
                                 .seed = (uint64_t)s->random_state};
    if (!eh_method_learns(t->method)) return ENHOPE_OK;
    const bool moved = s->augment.shift > 0 || s->augment.affine > 0 || s->augment.elastic > 0;
    plan->augmented = moved || s->augment.noise > 0 || s->augment.dropout > 0;
    const named_setting on = first_on(
        (named_setting[]){{"shift", s->augment.shift}, {"affine", s->augment.affine}, {"elastic", s->augment.elastic}},
        3);
    if (moved && rows < 1)
        return eh_fail(
            t->ctx, ENHOPE_ERROR_ARGUMENT,
            "%s is %g, but the data is not known to be images; use data of shape samples x rows x columns, or "
            "set %s to 0",
            on.name, on.value, on.name);
    if (moved && (rows > EH_IMAGE_SIDE || columns > EH_IMAGE_SIDE))
        return eh_fail(
            t->ctx, ENHOPE_ERROR_ARGUMENT,
            "images of %lld x %lld are too large for shift, affine and elastic: expected at most %d rows and "
            "columns; set these to 0",
            (long long)rows, (long long)columns, EH_IMAGE_SIDE);
    return ENHOPE_OK;
}

/* Whether the size of a batch is set, by the caller or by a recipe of a publication. */
static bool batch_is_chosen(const enhope_trainer *t)
{
    return EH_EXPLICIT(&t->set, optim.batch_size) || eh_recipe_sets(t->set.recipe, "batch_size");
}

/* Samples of a batch. If the size is not set, an epoch of an exemplar method has at least 50
 * batches if there are enough samples, because few batches make few steps. */
static int64_t resolve_batch(enhope_trainer *t, const eh_plan *plan)
{
    enum { MIN_SIZE = 20, BATCHES = 50 };
    const int64_t n = t->samples.n + t->samples.unlabeled_n;
    int64_t batch = t->set.optim.batch_size ? t->set.optim.batch_size : n;
    if (!batch_is_chosen(t) && t->method->compared == EH_EXEMPLARS) {
        const int64_t max = eh_max(n / BATCHES, MIN_SIZE);
        if (batch > max) t->set.optim.batch_size = batch = max;
    }
    if (t->method->graph && batch > 1) batch = eh_max(batch / (1 + plan->targets), 2); /* of batch rows */
    return eh_min(batch, plan->drawn);
}

/* Keeps several batches in a window, because a window of one batch would not be shuffled. */
static enhope_status resolve_window(enhope_trainer *t, int64_t *batch)
{
    enum { MIN_BATCHES = 4 }; /* batches of a window, if the size of a batch is not set */
    const int64_t samples = eh_windows_samples(t->windows);
    if (batch_is_chosen(t) && *batch > samples)
        return eh_fail(t->ctx, ENHOPE_ERROR_ARGUMENT,
                       "batch_size is %lld: a window of streamed data has about %lld samples; use a smaller batch or "
                       "raise --memory",
                       (long long)t->set.optim.batch_size, (long long)samples);
    if (!batch_is_chosen(t) && *batch > samples / MIN_BATCHES)
        t->set.optim.batch_size = *batch = eh_max(samples / MIN_BATCHES, 1);
    return ENHOPE_OK;
}

/* Epochs. Few samples make few steps, so the number of epochs rises unless it is set explicitly. */
static void resolve_epochs(enhope_trainer *t, const eh_plan *plan)
{
    enum { MIN_STEPS = 1000, MIN_GRAPH_STEPS = 3000 };
    const int64_t steps = t->method->graph ? MIN_GRAPH_STEPS : MIN_STEPS;
    const int64_t min = (steps + plan->batches - 1) / plan->batches;
    if (!EH_EXPLICIT(&t->set, optim.n_epochs) && t->set.optim.solver == EH_SOLVER_ADAM && t->set.optim.n_epochs < min)
        t->set.optim.n_epochs = min;
}

/* The mean square of the initial responses. Third and higher powers of responses of order one
 * have long tails. */
static enhope_status resolve_start(enhope_trainer *t, const eh_map_shape *shape)
{
    const double min = 1e-9;
    if (t->set.map.init_scale == 0) t->set.map.init_scale = shape->order > 2 ? 0.3 : 1;
    if (t->set.map.init_scale >= min) return ENHOPE_OK;
    return eh_fail(t->ctx, ENHOPE_ERROR_ARGUMENT, "init_scale is %g: expected 0, or at least %g", t->set.map.init_scale,
                   min);
}

/* Whether zeros stay zeros. The scaling of streamed data, which is fitted later, keeps them. */
static bool keeps_zeros(const enhope_trainer *t)
{
    for (int64_t j = 0; t->shift && j < t->data->x.H; j++)
        if (t->shift[j] != 0) return false;
    return true;
}

/* Augmented inputs and inputs of an adversarial step are dense. For sparse data both are off
 * unless they are set explicitly. Training with few labels needs the adversarial step. */
static enhope_status resolve_inputs(enhope_trainer *t, eh_plan *plan)
{
    static const double UNLABELED_STEP = 0.1;
    enhope_settings *s = &t->set;
    const bool sparse = t->data->x.kind == ENHOPE_CSR && t->method->map->sparse && keeps_zeros(t);
    if (sparse && !EH_EXPLICIT(s, augment.noise)) s->augment.noise = 0;
    if (sparse && !EH_EXPLICIT(s, augment.dropout)) s->augment.dropout = 0;
    if (sparse && !EH_EXPLICIT(s, augment.adversarial_step)) s->augment.adversarial_step = 0;
    if (!sparse && t->samples.unlabeled_n > t->samples.n && !EH_EXPLICIT(s, augment.adversarial_step))
        s->augment.adversarial_step = fmax(s->augment.adversarial_step, UNLABELED_STEP);
    EH_TRY(resolve_augmentation(t, plan));
    plan->adversary = t->method->solve ? 0 : s->augment.adversarial_step;
    plan->sparse = sparse && !plan->augmented && !(plan->adversary > 0);
    return ENHOPE_OK;
}

static enhope_status resolve_map(enhope_trainer *t, eh_plan *plan)
{
    const enhope_settings *s = &t->set;
    const eh_map *map = t->method->map;
    const int64_t H = t->data->x.H;
    eh_map_shape *shape = &plan->shape;
    *shape = (eh_map_shape){.H = H, .h = map == &eh_map_identity ? H : s->map.n_components};
    if (map == &eh_map_mlp) {
        eh_map_layers_parse(s->map.hidden_layer_sizes, shape);
        shape->relu = s->map.activation == EH_ACTIVATION_RELU;
    }
    if (map == &eh_map_hope) {
        shape->F = s->map.n_factors, shape->m = s->map.n_hidden;
        shape->order = (int)s->map.order;
    }
    return resolve_start(t, shape);
}

/* The neighbor graph of n samples has at most n - 1 neighbors of each. */
static void resolve_graph_k(enhope_trainer *t, int64_t n, eh_plan *plan)
{
    int64_t *k = &t->set.objective.graph_k;
    if (*k > n - 1) {
        if (EH_EXPLICIT(&t->set, objective.graph_k))
            eh_log(t->ctx, ENHOPE_LOG_WARNING, "graph_k is %lld: %lld samples allow at most %lld, which is used",
                   (long long)*k, (long long)n, (long long)n - 1);
        *k = n - 1;
    }
    plan->graph = *k > 0;
    plan->candidates = *k;
}

/* A batch has samples and some of their neighbors. The pairs of a sample and its neighbors attract
 * each other, so with more neighbors the same number of rows has more of such pairs. An epoch has
 * about n rows. */
static enhope_status resolve_graph(enhope_trainer *t, eh_plan *plan)
{
    enum { DEFAULT_K = 15, TARGETS = 7, MIN_DRAWN = 2 };
    int64_t *k = &t->set.objective.graph_k;
    if (!EH_EXPLICIT(&t->set, objective.graph_k)) *k = DEFAULT_K;
    if (*k < 1)
        return eh_fail(t->ctx, ENHOPE_ERROR_ARGUMENT, "graph_k is %lld: %s needs at least 1 neighbor of each sample",
                       (long long)*k, t->method->info.name);
    if (t->samples.n < 3)
        return eh_fail(t->ctx, ENHOPE_ERROR_DATA, "%s needs at least 3 samples, but there are %lld",
                       t->method->info.name, (long long)t->samples.n);
    resolve_graph_k(t, t->samples.n, plan);
    plan->targets = eh_min(TARGETS, *k);
    plan->drawn = eh_max(t->samples.n / (1 + plan->targets), MIN_DRAWN);
    return ENHOPE_OK;
}

/* Whether samples without a label are connected with their neighbors: if graph_k is set, or if most
 * samples have no label and the n inputs that are compared take little memory. */
static bool uses_graph(const enhope_trainer *t, int64_t n)
{
    enum { MAX_NUMBERS = 1 << 29 };
    const int64_t H = t->data->x.H;
    int64_t numbers;
    const bool given = EH_EXPLICIT(&t->set, objective.graph_k) && !t->from; /* an update inherits it */
    if (!t->samples.unlabeled_n || given) return t->samples.unlabeled_n > 0;
    if (t->samples.unlabeled_n <= t->samples.n) return false;
    if (eh_mul(n, H, &numbers) && numbers <= MAX_NUMBERS) return true;
    eh_log(t->ctx, ENHOPE_LOG_INFO,
           "the data is large: samples without a label are not connected with their neighbors unless graph_k is set");
    return false;
}

/* The settings receive the values that `auto` resolves to, and the model stores these. */
static enhope_status resolve_objective(enhope_trainer *t, eh_plan *plan)
{
    enhope_settings *s = &t->set;
    const eh_method *method = t->method;
    const int64_t n = t->samples.n + t->samples.unlabeled_n;
    eh_pairs *o = &plan->objective;
    *o = (eh_pairs){
        .gaussian = eh_settings_gaussian(s, method),
        .row = eh_settings_row(s, method),
        .nca = eh_settings_nca(s, method),
        .self = method->compared == EH_BATCH,
        .indicator = s->objective.target_weight == EH_TARGET_WEIGHT_PAIR,
    };
    const bool pairs = !method->hinge && eh_method_learns(method);
    if (s->objective.dof % 2 == 0)
        return eh_fail(t->ctx, ENHOPE_ERROR_ARGUMENT, "dof is %lld: expected an odd number from 1 to %d",
                       (long long)s->objective.dof, EH_DOF_MAX);
    s->objective.dof = o->dof = pairs && !o->gaussian ? (int)s->objective.dof : 1;
    s->objective.normalizer = o->row ? EH_NORMALIZER_ROW : EH_NORMALIZER_JOINT;
    s->objective.similarity = o->gaussian ? EH_SIMILARITY_GAUSSIAN : EH_SIMILARITY_STUDENT;
    s->objective.target = o->nca ? EH_TARGET_NCA : EH_TARGET_MCML;
    if (method->hinge) plan->hinge = (eh_hinge){.targets = s->objective.lmnn_k, .all = t->samples.n};
    plan->targets = plan->candidates = plan->hinge.targets;
    plan->drawn = n;
    if (method->graph)
        EH_TRY(resolve_graph(t, plan));
    else if (uses_graph(t, n))
        resolve_graph_k(t, n, plan);
    if (plan->candidates && n > INT32_MAX)
        return eh_fail(t->ctx, ENHOPE_ERROR_DATA, "%s needs at most %d samples, but there are %lld", method->info.name,
                       INT32_MAX, (long long)n);
    return ENHOPE_OK;
}

static enhope_status resolve_parameters(enhope_trainer *t, eh_plan *plan)
{
    enhope_settings *s = &t->set;
    const int64_t H = plan->shape.H;
    if (t->method->compared == EH_EXEMPLARS) {
        if (t->from)
            EH_TRY(eh_setup_count_exemplars(t, &plan->z));
        else
            plan->z = s->objective.n_exemplars ? s->objective.n_exemplars
                                               : eh_exemplar_default_count(2, t->data->c, t->samples.class_resident);
        plan->learned = s->objective.exemplars == EH_EXEMPLARS_LEARNED;
        if (t->windows && !t->from && plan->z > t->samples.resident_n)
            return eh_fail(
                t->ctx, ENHOPE_ERROR_ARGUMENT,
                "n_exemplars is %lld: streamed data has %lld resident samples for exemplars; use a smaller z or raise "
                "--memory",
                (long long)plan->z, (long long)t->samples.resident_n);
    }
    s->objective.n_exemplars = plan->z;
    eh_map_shape with_head = plan->shape;
    plan->aux = enhope_settings_applies(s, "aux_components") ? s->map.aux_components : 0;
    with_head.h += plan->aux;
    plan->map_count = eh_map_parameters(t->method->map, &with_head);
    if (t->from) EH_TRY(eh_setup_check_shape(t, &plan->shape));
    int64_t exemplar_numbers, all;
    if (plan->map_count < 0 || !eh_mul(plan->z, H, &exemplar_numbers) ||
        __builtin_add_overflow(plan->map_count, exemplar_numbers, &all))
        return eh_fail(t->ctx, ENHOPE_ERROR_ARGUMENT,
                       "a map of %lld inputs, %lld factors, %lld hidden units and %lld outputs is too large; use fewer",
                       (long long)H, (long long)s->map.n_factors, (long long)s->map.n_hidden,
                       (long long)s->map.n_components);
    return ENHOPE_OK;
}

/* Labeled samples of a batch, if there are others: a quarter of the batch, all if there are fewer,
 * or their share of all samples if it is larger. */
static void resolve_labeled(const enhope_trainer *t, int64_t batch, eh_plan *plan)
{
    enum { PART = 4 };
    const eh_samples *s = &t->samples;
    if (!s->unlabeled_n) return;
    plan->labeled = eh_max((s->n + plan->batches - 1) / plan->batches, eh_min(s->n, eh_max(batch / PART, 1)));
    plan->drawn = plan->labeled * plan->batches + s->unlabeled_n;
}

/* Chunks of a batch. On a CPU, products of 256 rows are as fast as larger ones. A GPU needs
 * larger ones and has one chunk per rank. */
static void resolve_chunks(const enhope_trainer *t, int64_t batch, eh_plan *plan)
{
    enum { ROWS = 256, MAX = 64 };
    const int rank = eh_comm_rank(t->ctx), ranks = eh_comm_ranks(t->ctx);
    const int64_t rows = batch * (1 + plan->targets), usual = (rows + ROWS - 1) / ROWS;
    int64_t count = eh_min(usual, MAX);
    if (!t->cp || !t->cp->op->host) count = eh_min(ranks, rows);
    if (t->set.optim.n_chunks) count = eh_min(t->set.optim.n_chunks, rows);
    if (t->windows && count > eh_windows_runs(t->windows)) count = eh_windows_runs(t->windows);
    plan->chunks = eh_chunks_of(count, rank, ranks);
}

/* Rows of a batch or block in memory. */
static void resolve_capacity(const enhope_trainer *t, int64_t batch, eh_plan *plan)
{
    /* rows embedded at a time if the batch is smaller */
    enum { BLOCK_NUMBERS = 1 << 26 }; /* inputs of a block, at most */
    const int64_t width = plan->shape.H + 1, max = eh_max(BLOCK_NUMBERS / width, 1000);
    int64_t block = !t->cp || t->samples.n < t->cp->op->block ? t->samples.n : t->cp->op->block;
    if (block > max) block = max;
    const int64_t rows = t->windows ? plan->batch_max : eh_max(batch * (1 + plan->targets), plan->batch_max);
    plan->capacity = eh_max(rows, block);
    /* the sample does not depend on the backend; dense rows of wide sparse data are large */
    enum { SAMPLE = 1000, SPARSE_SAMPLE = 256 };
    const int64_t sample = plan->sparse ? SPARSE_SAMPLE : batch > SAMPLE ? batch : SAMPLE;
    plan->sample = eh_min(eh_min(sample, plan->capacity), t->samples.resident_n);
}

enhope_status eh_setup_resolve(enhope_trainer *t, eh_plan *plan)
{
    EH_TRY(resolve_map(t, plan));
    EH_TRY(resolve_inputs(t, plan));
    EH_TRY(resolve_objective(t, plan));
    EH_TRY(resolve_parameters(t, plan));
    int64_t batch = resolve_batch(t, plan);
    if (t->windows) EH_TRY(resolve_window(t, &batch));
    plan->batches = (plan->drawn + batch - 1) / batch;
    resolve_labeled(t, batch, plan);
    resolve_chunks(t, batch, plan);
    plan->batch_max = t->windows ? eh_windows_batch_max(t->windows, plan->batches, plan->chunks.count)
                                 : (plan->drawn + plan->batches - 1) / plan->batches;
    plan->batch_max *= 1 + plan->targets;
    resolve_epochs(t, plan);
    resolve_capacity(t, batch, plan);
    if (t->method->compared == EH_BATCH && batch < 2)
        return eh_fail(t->ctx, ENHOPE_ERROR_ARGUMENT,
                       "batch_size is %lld: %s compares the samples of a batch; use at least 2", (long long)batch,
                       t->method->info.name);
    return t->method->input_target ? resolve_input_target(t, plan, batch) : ENHOPE_OK;
}
