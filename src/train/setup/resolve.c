/* Settings against data and method: what `auto` and defaults come to, what does not go together, and the sizes of all
 * parts. */
#include <math.h>

#include "comm/comm.h"
#include "train/setup/setup.h"

/* A setting by its name, for messages. */
typedef struct named {
    const char *name;
    double value;
} named;

/* The first of them that is above 0; the last if none before it is. */
static named first_on(const named *settings, int count)
{
    int i = 0;
    while (i < count - 1 && !(settings[i].value > 0)) i++;
    return settings[i];
}

/* Of a method whose target is P of a batch's inputs. */
static enhope_status resolve_input_target(enhope_trainer *t, const eh_plan *plan, int64_t batch)
{
    enum { MOST = 20000 }; /* samples of a batch: P has its square */
    if (batch > MOST)
        return eh_fail(
            t->ctx, ENHOPE_ERROR_ARGUMENT,
            "batch_size is %lld: %s holds a probability for every pair of a batch, expected at most %d samples",
            (long long)batch, t->method->info.name, MOST);
    /* the farthest of three times as many neighbours has next to no weight */
    const double most = fmax(1, (double)(t->samples.n / plan->batches - 1) / 3);
    if (t->set.objective.perplexity > most) {
        eh_log(t->ctx, ENHOPE_LOG_WARNING, "perplexity is %g: a batch of %lld samples has room for %g, which is taken",
               t->set.objective.perplexity, (long long)(t->samples.n / plan->batches), most);
        t->set.objective.perplexity = most;
    }
    return ENHOPE_OK;
}

/* What is done to the inputs of training batches. */
static enhope_status resolve_augmentation(const enhope_trainer *t, eh_plan *plan)
{
    const enhope_settings *s = &t->set;
    const int64_t rows = t->data->image_rows, columns = t->data->image_columns;
    plan->augment = (eh_augment){.image_rows = rows,
                                 .image_columns = columns,
                                 .shift = s->augmentation.shift,
                                 .affine = s->augmentation.affine,
                                 .elastic = s->augmentation.elastic,
                                 .noise = s->augmentation.noise,
                                 .dropout = s->augmentation.dropout,
                                 .seed = (uint64_t)s->random_state};
    if (!eh_method_learns(t->method)) return ENHOPE_OK;
    const bool moved = s->augmentation.shift > 0 || s->augmentation.affine > 0 || s->augmentation.elastic > 0;
    plan->augmented = moved || s->augmentation.noise > 0 || s->augmentation.dropout > 0;
    const named on = first_on((named[]){{"shift", s->augmentation.shift},
                                        {"affine", s->augmentation.affine},
                                        {"elastic", s->augmentation.elastic}},
                              3);
    if (moved && rows < 1)
        return eh_fail(t->ctx, ENHOPE_ERROR_ARGUMENT,
                       "%s is %g: the data is not known to be images (a reader tells by a shape of samples x rows x "
                       "columns)",
                       on.name, on.value);
    if (moved && (rows > EH_IMAGE_SIDE || columns > EH_IMAGE_SIDE))
        return eh_fail(t->ctx, ENHOPE_ERROR_ARGUMENT,
                       "images of %lld x %lld are too large to be moved: expected at most %d rows and columns",
                       (long long)rows, (long long)columns, EH_IMAGE_SIDE);
    return ENHOPE_OK;
}

/* A recipe that names a size has it from its publication; it is kept like the caller's. */
static bool batch_is_chosen(const enhope_trainer *t)
{
    return EH_EXPLICIT(&t->set, optimizer.batch_size) || eh_recipe_sets(t->set.recipe, "batch_size");
}

/* Samples of a batch. One that nobody asked for leaves fifty of them to an epoch of exemplar methods, as far as there
 * are samples: few samples would make few steps. */
static int64_t resolve_batch(enhope_trainer *t)
{
    enum { LEAST = 20, BATCHES = 50 };
    int64_t batch = t->set.optimizer.batch_size ? t->set.optimizer.batch_size : t->samples.n;
    if (!batch_is_chosen(t) && t->method->compared == EH_EXEMPLARS) {
        const int64_t most = t->samples.n / BATCHES > LEAST ? t->samples.n / BATCHES : LEAST;
        if (batch > most) t->set.optimizer.batch_size = batch = most;
    }
    return batch < t->samples.n ? batch : t->samples.n;
}

/* A window that held hardly a batch would leave nothing to shuffle. */
static enhope_status resolve_window(enhope_trainer *t, int64_t *batch)
{
    enum { LEAST = 4 }; /* batches of a window, where nobody asked for a number */
    const int64_t samples = eh_windows_samples(t->windows);
    if (batch_is_chosen(t) && *batch > samples)
        return eh_fail(
            t->ctx, ENHOPE_ERROR_ARGUMENT,
            "batch_size is %lld: the data passes through memory in windows of about %lld samples, expected at most "
            "these, or more memory",
            (long long)t->set.optimizer.batch_size, (long long)samples);
    if (!batch_is_chosen(t) && *batch > samples / LEAST)
        t->set.optimizer.batch_size = *batch = samples / LEAST > 1 ? samples / LEAST : 1;
    return ENHOPE_OK;
}

/* Walks through the data. Few samples make few steps, so that where nobody asked for a number there are more walks. */
static void resolve_epochs(enhope_trainer *t, const eh_plan *plan)
{
    enum { LEAST_STEPS = 1000 };
    const int64_t least = (LEAST_STEPS + plan->batches - 1) / plan->batches;
    if (!EH_EXPLICIT(&t->set, optimizer.n_epochs) && t->set.optimizer.solver == EH_SOLVER_ADAM &&
        t->set.optimizer.n_epochs < least)
        t->set.optimizer.n_epochs = least;
}

/* The mean square of the first responses. Cubes and more of responses of order one have long tails. */
static enhope_status resolve_start(enhope_trainer *t, const eh_map_shape *shape)
{
    const double least = 1e-9;
    if (t->set.map.init_scale == 0) t->set.map.init_scale = shape->order > 2 ? 0.3 : 1;
    if (t->set.map.init_scale >= least) return ENHOPE_OK;
    return eh_fail(t->ctx, ENHOPE_ERROR_ARGUMENT, "init_scale is %g: expected 0, or at least %g", t->set.map.init_scale,
                   least);
}

/* Inputs that are augmented or moved are dense, which has to be asked for explicitly if the data is not. */
static enhope_status resolve_inputs(enhope_trainer *t, eh_plan *plan)
{
    enhope_settings *s = &t->set;
    const bool sparse = t->data->x.kind == ENHOPE_CSR && t->method->map->sparse;
    if (sparse && !EH_EXPLICIT(s, augmentation.noise)) s->augmentation.noise = 0;
    if (sparse && !EH_EXPLICIT(s, augmentation.dropout)) s->augmentation.dropout = 0;
    if (sparse && !EH_EXPLICIT(s, augmentation.adversarial_step)) s->augmentation.adversarial_step = 0;
    EH_TRY(resolve_augmentation(t, plan));
    plan->adversary = t->method->solve ? 0 : s->augmentation.adversarial_step;
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

/* What auto came to is what the model tells. */
static enhope_status resolve_objective(enhope_trainer *t, eh_plan *plan)
{
    enhope_settings *s = &t->set;
    const eh_method *method = t->method;
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
            plan->z = s->n_exemplars ? s->n_exemplars : eh_exemplar_default_count(t->samples.present, t->samples.n);
        plan->learned = s->exemplars == EH_EXEMPLARS_LEARNED;
        if (t->windows && !t->from && plan->z > t->samples.resident_n)
            return eh_fail(
                t->ctx, ENHOPE_ERROR_ARGUMENT,
                "n_exemplars is %lld: exemplars are made of the %lld samples that stay in memory while the others "
                "pass, expected at most these, or more memory",
                (long long)plan->z, (long long)t->samples.resident_n);
    }
    s->n_exemplars = plan->z;
    plan->map_count = eh_map_parameters(t->method->map, &plan->shape);
    if (t->from) EH_TRY(eh_setup_check_shape(t, &plan->shape));
    int64_t exemplar_numbers, all;
    if (plan->map_count < 0 || !eh_mul(plan->z, H, &exemplar_numbers) ||
        __builtin_add_overflow(plan->map_count, exemplar_numbers, &all))
        return eh_fail(t->ctx, ENHOPE_ERROR_ARGUMENT,
                       "a map of %lld inputs, %lld factors, %lld hidden units and %lld outputs is too large",
                       (long long)H, (long long)s->map.n_factors, (long long)s->map.n_hidden,
                       (long long)s->map.n_components);
    return ENHOPE_OK;
}

/* Chunks of a batch. Products are as fast on so many rows as on more; a GPU, where they are not, has one chunk a rank. */
static void resolve_chunks(const enhope_trainer *t, int64_t batch, eh_plan *plan)
{
    enum { ROWS = 256, MAX = 64 };
    const int rank = eh_comm_rank(t->ctx), ranks = eh_comm_ranks(t->ctx);
    const int64_t rows = batch * (1 + plan->hinge.targets), usual = (rows + ROWS - 1) / ROWS;
    int64_t count = eh_min(usual, MAX);
    if (!t->cp || !t->cp->op->host) count = eh_min(ranks, rows);
    if (t->set.optimizer.n_chunks) count = eh_min(t->set.optimizer.n_chunks, rows);
    if (t->windows && count > eh_windows_runs(t->windows)) count = eh_windows_runs(t->windows);
    plan->chunks = eh_chunks_of(count, rank, ranks);
}

/* How many rows are held at a time. */
static void resolve_capacity(const enhope_trainer *t, int64_t batch, eh_plan *plan)
{
    /* rows embedded at a time when the batch itself is smaller */
    enum { BLOCK_NUMBERS = 1 << 26 }; /* inputs of a block, at most */
    const int64_t width = plan->shape.H + 1, max = eh_max(BLOCK_NUMBERS / width, 1000);
    int64_t block = !t->cp || t->samples.n < t->cp->op->block ? t->samples.n : t->cp->op->block;
    if (block > max) block = max;
    const int64_t rows = t->windows ? plan->batch_max : batch * (1 + plan->hinge.targets);
    plan->capacity = eh_max(rows, block);
    /* a sample that does not depend on the backend; dense rows of wide sparse data are large */
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
    int64_t batch = resolve_batch(t);
    if (t->windows) EH_TRY(resolve_window(t, &batch));
    const int64_t n = t->samples.n;
    plan->batches = (n + batch - 1) / batch;
    resolve_chunks(t, batch, plan);
    plan->batch_max = t->windows ? eh_windows_batch_max(t->windows, plan->batches, plan->chunks.count)
                                 : (n + plan->batches - 1) / plan->batches;
    plan->batch_max *= 1 + plan->hinge.targets;
    resolve_epochs(t, plan);
    resolve_capacity(t, batch, plan);
    if (t->method->compared == EH_BATCH && batch < 2)
        return eh_fail(t->ctx, ENHOPE_ERROR_ARGUMENT,
                       "batch_size is %lld: %s compares the samples of a batch, expected at least 2", (long long)batch,
                       t->method->info.name);
    return t->method->given ? resolve_input_target(t, plan, batch) : ENHOPE_OK;
}
