/* Settings against data and method: what `auto` and defaults come to, what does not go together, and how large all is. */
#include <math.h>

#include "comm/comm.h"
#include "train/trainer.h"

eh_named eh_train_first_on(const eh_named *settings, int count)
{
    int i = 0;
    while (i < count - 1 && !(settings[i].value > 0)) i++;
    return settings[i];
}

/* Of a method whose target is P of a batch's inputs. */
static enhope_status settle_affinities(enhope_trainer *t, int64_t batch)
{
    enum { MOST = 20000 }; /* samples of a batch: P has its square */
    if (batch > MOST)
        return eh_fail(t->ctx, ENHOPE_ERROR_ARGUMENT,
                       "batch is %lld: %s holds a probability for every pair of a batch, expected at most %d samples",
                       (long long)batch, t->method->info.name, MOST);
    /* the farthest of three times as many neighbours has next to no weight */
    const double most = fmax(1, (double)(t->n / t->batches - 1) / 3);
    if (t->set.perplexity > most) {
        eh_log(t->ctx, ENHOPE_LOG_WARNING, "perplexity is %g: a batch of %lld samples has room for %g, which is taken",
               t->set.perplexity, (long long)(t->n / t->batches), most);
        t->set.perplexity = most;
    }
    return ENHOPE_OK;
}

bool eh_train_climbs(const enhope_trainer *t)
{
    return !t->method->solve && t->set.adversary > 0;
}

/* What is done to the inputs of training batches. */
static enhope_status settle_disturbance(enhope_trainer *t)
{
    const enhope_settings *s = &t->set;
    const int64_t rows = t->data->image_rows, columns = t->data->image_columns;
    t->disturb = (eh_disturb){.image_rows = rows,
                              .image_columns = columns,
                              .shift = s->shift,
                              .affine = s->affine,
                              .elastic = s->elastic,
                              .noise = s->noise,
                              .dropout = s->dropout,
                              .seed = (uint64_t)s->seed};
    if (!eh_method_learns(t->method)) return ENHOPE_OK;
    const bool moved = s->shift > 0 || s->affine > 0 || s->elastic > 0;
    t->disturbed = moved || s->noise > 0 || s->dropout > 0;
    const eh_named on =
        eh_train_first_on((eh_named[]){{"shift", s->shift}, {"affine", s->affine}, {"elastic", s->elastic}}, 3);
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
    return EH_EXPLICIT(&t->set, batch) || eh_recipe_sets(t->set.recipe, "batch");
}

/* Samples of a batch. One that nobody asked for leaves fifty of them to an epoch of exemplar methods, as far as there
 * are samples: few samples would make few steps. */
static int64_t settle_batch(enhope_trainer *t)
{
    enum { LEAST = 20, BATCHES = 50 };
    int64_t batch = t->set.batch ? t->set.batch : t->n;
    if (!batch_is_chosen(t) && t->method->compared == EH_EXEMPLARS) {
        const int64_t most = t->n / BATCHES > LEAST ? t->n / BATCHES : LEAST;
        if (batch > most) t->set.batch = batch = most;
    }
    return batch < t->n ? batch : t->n;
}

/* A window that held hardly a batch would leave nothing to shuffle. */
static enhope_status settle_window(enhope_trainer *t, int64_t *batch)
{
    enum { LEAST = 4 }; /* batches of a window, where nobody asked for a number */
    const int64_t samples = eh_train_window_samples(t);
    if (batch_is_chosen(t) && *batch > samples)
        return eh_fail(
            t->ctx, ENHOPE_ERROR_ARGUMENT,
            "batch is %lld: the data passes through memory in windows of about %lld samples, expected at most "
            "these, or more memory",
            (long long)t->set.batch, (long long)samples);
    if (!batch_is_chosen(t) && *batch > samples / LEAST)
        t->set.batch = *batch = samples / LEAST > 1 ? samples / LEAST : 1;
    return ENHOPE_OK;
}

/* Walks through the data. Few samples make few steps, so that where nobody asked for a number there are more walks. */
static void settle_epochs(enhope_trainer *t)
{
    enum { LEAST_STEPS = 1000 };
    const int64_t least = (LEAST_STEPS + t->batches - 1) / t->batches;
    if (!EH_EXPLICIT(&t->set, epochs) && t->set.solver == EH_SOLVER_ADAM && t->set.epochs < least)
        t->set.epochs = least;
}

/* The mean square of the first responses. Cubes and more of responses of order one have long tails. */
static enhope_status settle_start(enhope_trainer *t)
{
    const double least = 1e-9;
    if (t->set.start == 0) t->set.start = t->embedder.shape.order > 2 ? 0.3 : 1;
    if (t->set.start >= least) return ENHOPE_OK;
    return eh_fail(t->ctx, ENHOPE_ERROR_ARGUMENT, "start is %g: expected 0, or at least %g", t->set.start, least);
}

/* What is disturbed or climbs is dense, which has to be wanted where the data is not. */
static enhope_status settle_inputs(enhope_trainer *t)
{
    enhope_settings *s = &t->set;
    const bool sparse = t->data->x.kind == ENHOPE_CSR && t->method->map->sparse;
    if (sparse && !EH_EXPLICIT(s, noise)) s->noise = 0;
    if (sparse && !EH_EXPLICIT(s, dropout)) s->dropout = 0;
    if (sparse && !EH_EXPLICIT(s, adversary)) s->adversary = 0;
    EH_TRY(settle_disturbance(t));
    t->embedder.sparse = sparse && !t->disturbed && !eh_train_climbs(t);
    return ENHOPE_OK;
}

static enhope_status settle_map(enhope_trainer *t)
{
    const enhope_settings *s = &t->set;
    const eh_map *map = t->method->map;
    const int64_t H = t->data->x.H;
    eh_map_shape shape = {.H = H, .h = map == &eh_map_identity ? H : s->dims};
    if (map == &eh_map_mlp) {
        eh_map_layers_parse(s->layers, &shape);
        shape.relu = s->unit == EH_UNIT_RELU;
    }
    if (map == &eh_map_hope) {
        shape.F = s->factors, shape.m = s->hidden;
        shape.order = (int)s->order;
    }
    eh_embedder_init(&t->embedder, t->ctx, t->c, map, &shape);
    return settle_start(t);
}

/* What auto came to is what the model tells. */
static enhope_status settle_objective(enhope_trainer *t)
{
    enhope_settings *s = &t->set;
    const eh_method *method = t->method;
    eh_pairs *o = &t->objective;
    *o = (eh_pairs){
        .gaussian = eh_settings_gaussian(s, method),
        .row = eh_settings_row(s, method),
        .nca = eh_settings_nca(s, method),
        .self = method->compared == EH_BATCH,
        .indicator = s->weight == EH_WEIGHT_PAIR,
    };
    const bool pairs = !method->hinge && eh_method_learns(method);
    if (s->dof % 2 == 0)
        return eh_fail(t->ctx, ENHOPE_ERROR_ARGUMENT, "dof is %lld: expected an odd number from 1 to %d",
                       (long long)s->dof, EH_DOF_MAX);
    s->dof = o->dof = pairs && !o->gaussian ? (int)s->dof : 1;
    s->form = o->row ? EH_FORM_ROW : EH_FORM_JOINT;
    s->similarity = o->gaussian ? EH_SIMILARITY_GAUSSIAN : EH_SIMILARITY_STUDENT;
    s->target = o->nca ? EH_TARGET_NCA : EH_TARGET_MCML;
    if (method->hinge) t->hinge = (eh_hinge){.targets = s->targets, .all = t->n};
    return ENHOPE_OK;
}

static enhope_status settle_parameters(enhope_trainer *t)
{
    enhope_settings *s = &t->set;
    const int64_t H = t->embedder.shape.H;
    if (t->method->compared == EH_EXEMPLARS) {
        if (t->from)
            EH_TRY(eh_train_count_exemplars(t));
        else
            t->z = s->z ? s->z : eh_exemplar_usual(t->present, t->n);
        t->learned = s->exemplars == EH_START_LEARNED;
        if (t->windows && !t->from && t->z > t->held)
            return eh_fail(t->ctx, ENHOPE_ERROR_ARGUMENT,
                           "z is %lld: exemplars are made of the %lld samples that stay in memory while the others "
                           "pass, expected at most these, or more memory",
                           (long long)t->z, (long long)t->held);
    }
    s->z = t->z;
    t->P = eh_map_parameters(t->method->map, &t->embedder.shape);
    if (t->from) EH_TRY(eh_train_check_update(t));
    int64_t exemplar_numbers, all;
    if (t->P < 0 || !eh_mul(t->z, H, &exemplar_numbers) || __builtin_add_overflow(t->P, exemplar_numbers, &all))
        return eh_fail(t->ctx, ENHOPE_ERROR_ARGUMENT,
                       "a map of %lld inputs, %lld factors, %lld hidden units and %lld outputs is too large",
                       (long long)H, (long long)s->factors, (long long)s->hidden, (long long)s->dims);
    return ENHOPE_OK;
}

/* Parts of a batch, of its rows. Products are as fast on so many as on more; a GPU, where they are not, makes one. */
static void settle_parts(enhope_trainer *t, int64_t batch)
{
    enum { ROWS = 256, MOST = 64 };
    const int64_t rows = batch * (1 + t->hinge.targets), usual = (rows + ROWS - 1) / ROWS;
    t->parts = usual < MOST ? usual : MOST;
    if (!t->c || !t->c->op->host) t->parts = eh_comm_ranks(t->ctx) < rows ? eh_comm_ranks(t->ctx) : rows;
    if (t->set.parts) t->parts = t->set.parts < rows ? t->set.parts : rows;
    if (t->windows && t->parts > eh_train_window_runs(t)) t->parts = eh_train_window_runs(t);
    eh_train_share_parts(t);
}

/* How many rows are held at a time. */
static void settle_room(enhope_trainer *t, int64_t batch)
{
    /* rows embedded at a time when the batch itself is smaller */
    enum { BLOCK_NUMBERS = 1 << 26 }; /* inputs of a block, at most */
    const int64_t width = t->embedder.shape.H + 1, most = BLOCK_NUMBERS / width > 1000 ? BLOCK_NUMBERS / width : 1000;
    int64_t block = !t->c || t->n < t->c->op->block ? t->n : t->c->op->block;
    if (block > most) block = most;
    const int64_t rows = (t->windows ? t->batch_most : batch) * (1 + t->hinge.targets);
    t->embedder.capacity = rows > block ? rows : block;
    /* a sample that does not depend on the backend; dense rows of wide sparse data are large */
    enum { SAMPLE = 1000, SPARSE_SAMPLE = 256 };
    const int64_t sample = t->embedder.sparse ? SPARSE_SAMPLE : batch > SAMPLE ? batch : SAMPLE;
    t->sample = sample < t->embedder.capacity ? sample : t->embedder.capacity;
    if (t->sample > t->held) t->sample = t->held;
    /* the order of a window also has room for the labels of a block (setup/scale.c) */
    const int64_t window = t->windows ? eh_train_window_room(t) : 0;
    t->order_room = !window                         ? t->n * (1 + t->hinge.targets)
                    : window > t->embedder.capacity ? window
                                                    : t->embedder.capacity;
}

enhope_status eh_train_settle(enhope_trainer *t)
{
    EH_TRY(settle_map(t));
    EH_TRY(settle_inputs(t));
    EH_TRY(settle_objective(t));
    EH_TRY(settle_parameters(t));
    int64_t batch = settle_batch(t);
    if (t->windows) EH_TRY(settle_window(t, &batch));
    t->batches = (t->n + batch - 1) / batch;
    settle_parts(t, batch);
    t->batch_most = t->windows ? eh_train_window_batch(t) : (t->n + t->batches - 1) / t->batches;
    settle_epochs(t);
    settle_room(t, batch);
    if (t->method->compared == EH_BATCH && batch < 2)
        return eh_fail(t->ctx, ENHOPE_ERROR_ARGUMENT,
                       "batch is %lld: %s compares the samples of a batch, expected at least 2", (long long)batch,
                       t->method->info.name);
    return t->method->given ? settle_affinities(t, batch) : ENHOPE_OK;
}
