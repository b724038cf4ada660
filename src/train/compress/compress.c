/* The schedule of a compression.
 *
 * A training of the model, with the learning rate that rises and falls as in every training, in
 * three phases. Between the epochs of the first, weights are pruned: many at first, fewer later
 * (Zhu and Gupta 2017). In the second, the others adapt. In the third, the exemplars and then a
 * growing share of the weights are rounded to their levels and frozen, the largest first, while the
 * others adapt (Zhou et al. 2017). At its end all weights are frozen; biases and V are trained to
 * the end. */
#include <math.h>
#include <string.h>

#include "comm/comm.h"
#include "train/compress/compress.h"

/* Ends of pruning and of adapting, and the last rounding, as shares of the epochs; the shares of
 * the weights that are rounded in each step. */
static const double PRUNED = 0.5, ADAPTED = 0.65, ROUNDED = 0.95;
static const double ROUND_SHARE[] = {0.5, 0.75, 0.9, 1};
enum { ROUND_STEPS = sizeof ROUND_SHARE / sizeof *ROUND_SHARE };

/* ---- limits ---- */

/* The largest number of units whose file is not larger than the limit. */
static enhope_status keep_for_size(eh_compressor *c, int64_t *keep)
{
    enum { FEWEST = 200 }; /* one unit of so many is left */
    int64_t high = eh_prune_alive(&c->w), low = high / FEWEST + 1, bytes;
    EH_TRY(eh_compress_bytes(c, low, &bytes));
    if (bytes > c->limit.size)
        return eh_fail(c->ctx, ENHOPE_ERROR_ARGUMENT,
                       "size is %lld bytes: with hardly any weights the file has %lld bytes; allow a larger file, or "
                       "train a smaller map with fewer exemplars",
                       (long long)c->limit.size, (long long)bytes);
    EH_TRY(eh_compress_bytes(c, high, &bytes));
    if (bytes <= c->limit.size) low = high;
    while (high - low > high / 256 + 1) {
        const int64_t middle = low + (high - low) / 2;
        EH_TRY(eh_compress_bytes(c, middle, &bytes));
        *(bytes <= c->limit.size ? &low : &high) = middle;
    }
    *keep = low;
    return ENHOPE_OK;
}

/* Weights that are left at the end of pruning, as far as the current ones show. */
static enhope_status choose_keep(eh_compressor *c)
{
    c->keep = eh_prune_alive(&c->w);
    return c->limit.size ? keep_for_size(c, &c->keep) : ENHOPE_OK;
}

/* Factors and hidden units that are left: the same share of both, in whole panels of the int8
 * engine. */
static enhope_status choose_units(eh_compressor *c)
{
    enum { PANEL = 16 };
    const eh_map_shape *s = &c->t->embedder.shape;
    const double inputs = (double)s->H, F = (double)s->F, m = (double)s->m, n = (double)c->limit.operations;
    c->factors = s->F;
    c->hidden = s->m;
    if (!c->limit.operations || F * (inputs + m) <= n) return ENHOPE_OK;
    const double share =
        (sqrt(inputs * inputs + 4 * m * n / F) - inputs) / (2 * m); /* of (H F + F m share) share = n */
    c->factors = (int64_t)(share * F);
    c->hidden = (int64_t)(share * m);
    if (c->factors > PANEL) c->factors = c->factors / PANEL * PANEL;
    if (c->hidden > PANEL) c->hidden = c->hidden / PANEL * PANEL;
    if (c->factors && c->hidden) return ENHOPE_OK;
    return eh_fail(c->ctx, ENHOPE_ERROR_ARGUMENT,
                   "operations is %lld: a factor alone has %lld; allow more, or train a map of fewer inputs",
                   (long long)c->limit.operations, (long long)s->H);
}

/* ---- between epochs ---- */

static int64_t at_step(int64_t first, int64_t last, double left)
{
    return last + (int64_t)((double)(first - last) * left);
}

/* Prunes before epoch `done` of `all` epochs of pruning. What fits in the file depends on the
 * weights, so it is estimated again from time to time. */
static enhope_status prune(eh_compressor *c, int64_t done, int64_t all)
{
    enum { ESTIMATES = 4 };
    const double left = pow(1 - (double)done / (double)all, 3);
    const eh_map_shape *s = &c->t->embedder.shape;
    EH_TRY(eh_weights_pull(&c->w));
    EH_TRY(eh_prune_units(&c->w, at_step(s->F, c->factors, left), at_step(s->m, c->hidden, left)));
    if (done * ESTIMATES / all > (done - 1) * ESTIMATES / all) EH_TRY(choose_keep(c));
    EH_TRY(eh_prune_weights(&c->w, at_step(c->w.count, c->keep, left)));
    return eh_weights_push(&c->w);
}

static enhope_status round_weights(eh_compressor *c)
{
    EH_TRY(eh_weights_pull(&c->w));
    if (!c->stage) {
        EH_TRY(eh_compress_exemplars(c));
        EH_TRY(eh_compress_calibrate(c));
        for (int i = 0; i < EH_WEIGHTS_MATRICES; i++) EH_TRY(eh_grid_fit(&c->grid[i], &c->w, c->bits));
    }
    for (int i = 0; i < EH_WEIGHTS_MATRICES; i++) EH_TRY(eh_grid_apply(&c->grid[i], &c->w, ROUND_SHARE[c->stage]));
    c->stage++;
    return eh_weights_push(&c->w);
}

static enhope_status before_epoch(eh_compressor *c, int64_t epoch, int64_t epochs)
{
    const int64_t pruned = eh_max((int64_t)(PRUNED * (double)epochs), 1);
    if (epoch > 0 && epoch <= pruned) EH_TRY(prune(c, epoch, pruned));
    while (c->stage < ROUND_STEPS) {
        const double at = ADAPTED + (ROUNDED - ADAPTED) * c->stage / (ROUND_STEPS - 1);
        if ((double)epoch < at * (double)epochs) break;
        EH_TRY(round_weights(c));
    }
    return ENHOPE_OK;
}

static enhope_status train(eh_compressor *c, enhope_progress_fn progress, void *user)
{
    int done = 0;
    while (!done) {
        enhope_progress p;
        if (!c->t->state.batch) EH_TRY(before_epoch(c, c->t->state.epoch, c->t->set.optim.n_epochs));
        EH_TRY(enhope_trainer_step(c->t, &p, &done));
        bool stopped = progress && progress(&p, user) && !done;
        eh_comm_broadcast(c->ctx, &stopped, sizeof stopped); /* rank 0 decides */
        if (stopped) return ENHOPE_STOPPED;
    }
    return c->t->state.diverged ? eh_fail(c->ctx, ENHOPE_ERROR_COMPUTE, "training diverged; try a lower learning_rate")
                                : ENHOPE_OK;
}

/* ---- the result ---- */

/* A model that is not larger than the limit. Rounding has changed the size a little since the units
 * were chosen. */
static enhope_status pack(eh_compressor *c, enhope_model **out, int64_t *bytes)
{
    int64_t keep = eh_prune_alive(&c->w);
    EH_TRY(eh_compress_bytes(c, keep, bytes));
    if (c->limit.size && *bytes > c->limit.size) {
        EH_TRY(keep_for_size(c, &keep));
        EH_TRY(eh_prune_weights(&c->w, keep));
        EH_TRY(eh_weights_push(&c->w));
    }
    return eh_compress_pack(c, out);
}

static enhope_status measure(eh_compressor *c, enhope_model *m)
{
    eh_compute_begin(c->t->cp);
    enhope_status status = eh_train_evaluate(c->t, c->t->parameters.theta, m);
    eh_compute_end(c->t->cp);
    if (!status) status = eh_compress_errors(c, m, &m->errors.valid);
    return status;
}

static int64_t count_used(const int8_t *level, int64_t rows, int64_t columns)
{
    int64_t count = 0;
    for (int64_t i = 0; i < rows * columns; i++) count += level[i] != 0;
    return count;
}

/* The sizes of the compressed model. */
static void fill_report(const enhope_model *m, enhope_compression *r)
{
    const int64_t H = m->shape.H, F = m->shape.F, n = m->shape.m;
    r->weights = count_used(m->int8->C, H, F) + count_used(m->int8->W, F, n);
    r->operations = H * F + F * n;
    r->inputs = 0;
    for (int64_t k = 0; k < H; k++) r->inputs += count_used(m->int8->C + k * F, 1, F) > 0;
    r->errors = m->errors.valid;
}

static enhope_status finish(eh_compressor *c, enhope_compression *report, enhope_model **out)
{
    enhope_model *m = NULL;
    size_t bytes;
    enhope_status status;
    EH_CHECK(eh_weights_pull(&c->w));
    EH_CHECK(pack(c, &m, &report->bytes));
    EH_CHECK(measure(c, m));
    EH_CHECK(enhope_model_save_bytes(c->ctx, m, NULL, 0, &bytes));
    report->bytes = (int64_t)bytes;
    fill_report(m, report);
    *out = m;
    m = NULL;
cleanup:
    enhope_model_free(m);
    return status;
}

/* ---- one compression ---- */

static void close_compressor(eh_compressor *c)
{
    for (int i = 0; i < EH_WEIGHTS_MATRICES; i++) eh_grid_free(&c->grid[i]);
    eh_weights_free(&c->w);
    eh_quantized_free(c->ranges);
    eh_provenance_free(c->provenance);
    enhope_trainer_free(c->t);
}

static enhope_status compress(enhope_context *ctx, const enhope_model *from, const enhope_dataset *data,
                              const enhope_settings *settings, const enhope_compress_options *limit,
                              enhope_progress_fn progress, void *user, enhope_compression *report, enhope_model **out)
{
    eh_compressor c = {.ctx = ctx, .limit = *limit, .bits = limit->bits ? limit->bits : 5};
    enhope_status status;
    EH_CHECK(enhope_trainer_create(ctx, from, data, settings, &c.t));
    if (!c.t->samples.valid_n)
        EH_CHECK(eh_fail(ctx, ENHOPE_ERROR_DATA,
                         "there is no validation part: use more data, or a larger "
                         "validation_fraction"));
    EH_CHECK(eh_weights_create(c.t, &c.w));
    for (int i = 0; i < EH_WEIGHTS_MATRICES; i++) EH_CHECK(eh_grid_create(ctx, &c.w.matrix[i], &c.grid[i]));
    EH_CHECK(eh_weights_pull(&c.w));
    EH_CHECK(eh_provenance_create(ctx, c.t->data, from, &c.provenance));
    if (!report->samples) EH_CHECK(eh_compress_errors(&c, from, &report->errors_before));
    report->samples = c.t->samples.valid_n;
    EH_CHECK(eh_compress_calibrate(&c));
    EH_CHECK(choose_units(&c));
    EH_CHECK(choose_keep(&c));
    EH_CHECK(train(&c, progress, user));
    EH_CHECK(finish(&c, report, out));
cleanup:
    close_compressor(&c);
    return status;
}

/* ---- the smallest model of an error ---- */

static double error_of(const enhope_compression *r)
{
    return (double)r->errors / (double)r->samples;
}

/* Compresses the result again and again, to a smaller size each time, while its error is within the
 * limit. */
static enhope_status compress_to_error(enhope_context *ctx, const enhope_model *from, const enhope_dataset *data,
                                       const enhope_settings *settings, const enhope_compress_options *limit,
                                       enhope_progress_fn progress, void *user, enhope_compression *report,
                                       enhope_model **out)
{
    static const double SMALLER = 0.7;
    enhope_compress_options next = *limit;
    enhope_compression r = *report;
    enhope_model *best = NULL, *m = NULL;
    enhope_status status;
    for (;;) {
        status = compress(ctx, best ? best : from, data, settings, &next, progress, user, &r, &m);
        if (status == ENHOPE_ERROR_ARGUMENT && best) { /* the size has no space for weights */
            status = ENHOPE_OK;
            break;
        }
        if (status) break;
        eh_log(ctx, ENHOPE_LOG_INFO, "%lld bytes: validation error %.2f %%", (long long)r.bytes, 100 * error_of(&r));
        if (error_of(&r) > limit->error) break;
        enhope_model_free(best);
        best = m;
        m = NULL;
        *report = r;
        next.size = (int64_t)(SMALLER * (double)r.bytes);
    }
    enhope_model_free(m);
    if (!status && !best)
        status = eh_fail(ctx, ENHOPE_ERROR_ARGUMENT,
                         "error is %.2f %%: a file of %lld bytes has a validation error of %.2f %%; allow a higher "
                         "error, a larger file or more epochs",
                         100 * limit->error, (long long)r.bytes, 100 * error_of(&r));
    if (status)
        enhope_model_free(best);
    else
        *out = best;
    return status;
}

/* ---- the public function ---- */

static enhope_status check_options(enhope_context *ctx, const enhope_compress_options *o)
{
    if (!o->size && !(o->error > 0) && !o->operations)
        return eh_fail(ctx, ENHOPE_ERROR_ARGUMENT, "no limit is set: expected a size, an error or operations");
    if (o->size < 0 || o->operations < 0 || !(o->error >= 0 && o->error < 1))
        return eh_fail(ctx, ENHOPE_ERROR_ARGUMENT,
                       "size is %lld, error %g, operations %lld: expected numbers of 0 or more, and an error below 1",
                       (long long)o->size, o->error, (long long)o->operations);
    if (o->bits && (o->bits < 4 || o->bits > 8))
        return eh_fail(ctx, ENHOPE_ERROR_ARGUMENT, "bits is %d: expected 4 to 8", (int)o->bits);
    return ENHOPE_OK;
}

static enhope_status check_model(enhope_context *ctx, const enhope_model *model)
{
    if (model->map != &eh_map_hope)
        return eh_fail(ctx, ENHOPE_ERROR_ARGUMENT, "the model has the map %s: only hope maps are compressed",
                       model->map->name);
    if (model->exemplars) return ENHOPE_OK;
    return eh_fail(ctx, ENHOPE_ERROR_ARGUMENT,
                   "the model compares with %lld embedded training points, which are most of its file; train a model "
                   "with exemplars (method en-hope)",
                   (long long)model->r);
}

/* The settings of a compression: adam, without early ends. */
static enhope_status resolve_settings(enhope_context *ctx, const enhope_dataset *data, const enhope_settings *given,
                                      enhope_settings *s)
{
    enum { MIN_EPOCHS = 10 };
    *s = *given;
    if (s->optim.solver != EH_SOLVER_ADAM)
        return eh_fail(ctx, ENHOPE_ERROR_ARGUMENT, "compression trains with the solver adam; set solver adam");
    if (!EH_EXPLICIT(given, optim.n_epochs)) EH_TRY(enhope_settings_set(ctx, s, "n_epochs", "60"));
    if (s->optim.n_epochs < MIN_EPOCHS)
        return eh_fail(ctx, ENHOPE_ERROR_ARGUMENT, "n_epochs is %lld: compression needs at least %d",
                       (long long)s->optim.n_epochs, MIN_EPOCHS);
    if (s->validation_fraction == 0 && !data->valid_n) {
        s->validation_fraction = 0.1;
        eh_log(ctx, ENHOPE_LOG_INFO,
               "errors are measured on 10 %% of the data, which the model was trained on; they are too low before "
               "compression");
    }
    s->optim.patience = 0;
    s->optim.time_limit = 0;
    return ENHOPE_OK;
}

static void describe(const enhope_model *model, enhope_compression *r)
{
    const int64_t H = model->shape.H, F = model->shape.F, m = model->shape.m;
    const float *C = model->theta, *W = C + (H + 1) * F;
    for (int64_t i = 0; i < H * F; i++) r->weights_before += C[i] != 0;
    for (int64_t i = 0; i < F * m; i++) r->weights_before += W[i] != 0;
    r->operations_before = H * F + F * m;
}

enhope_status enhope_model_compress(enhope_context *ctx, const enhope_model *model, const enhope_dataset *data,
                                    const enhope_settings *settings, const enhope_compress_options *options,
                                    enhope_progress_fn progress, void *user, enhope_compression *report,
                                    enhope_model **out)
{
    enhope_compression r = {0};
    enhope_settings *s = enhope_settings_create();
    size_t bytes;
    enhope_status status = s ? ENHOPE_OK : eh_fail_memory(ctx, "settings", 1, sizeof *s);
    if (!status) status = check_options(ctx, options);
    if (!status) status = check_model(ctx, model);
    if (!status) status = resolve_settings(ctx, data, settings ? settings : s, s);
    if (!status) status = enhope_model_save_bytes(ctx, model, NULL, 0, &bytes);
    if (!status) {
        r.bytes_before = (int64_t)bytes;
        describe(model, &r);
        status =
            (options->error > 0 ? compress_to_error : compress)(ctx, model, data, s, options, progress, user, &r, out);
    }
    if (!status && report) *report = r;
    enhope_settings_free(s);
    return status;
}
