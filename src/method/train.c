/* Training: the only place where map, objective and optimiser meet.
 *
 * A step is one mini-batch: its rows are gathered and scaled, and the optimiser is let loose on eh_train_loss(), which
 * maps batch and exemplars in one go, asks the objective for the loss and its gradient in the embedding, and carries
 * that back through the map. An epoch ends with the validation error; the best state by it is what is kept.
 *
 * A backend may run behind: the losses of batches stay there until the optimiser, the clock or the epoch's end asks. */
#include <math.h>
#include <string.h>

#include "method/train.h"

/* The embedding's rows are the batch's, then the exemplars'. Dense batches lie in X before the exemplars; sparse ones
 * stay where they are. */
static eh_rows batch_with_exemplars(const enhope_trainer *t, int64_t z)
{
    eh_rows rows = {.X = t->X, .ld = t->ld, .dense_n = t->batch_n + z};
    if (t->sparse) {
        rows.sparse = &t->table;
        rows.sparse_rows = t->batch_rows;
        rows.sparse_n = t->batch_n;
        rows.dense_n = z;
    }
    return rows;
}

static void lay_exemplars(const enhope_trainer *t, const eh_real *E, eh_operand *X, int64_t first)
{
    if (t->z) t->c->op->close_rows(t->c, t->z, t->shape.H, E, eh_operand_at(t->c, X, first * t->ld), t->ld);
}

/* The loss of a batch that lies in X, at parameters x, and its gradient; dX (dx_n, H) as the map's. */
static void loss_in(enhope_trainer *t, const eh_real *x, eh_operand *X, eh_real *gradient, eh_scalar *loss,
                    int64_t dx_n, eh_real *dX)
{
    eh_compute *c = t->c;
    const eh_map *map = t->method->map;
    const int64_t n = t->batch_n, z = t->z, h = t->shape.h;
    eh_rows rows = batch_with_exemplars(t, z);
    rows.X = X;
    lay_exemplars(t, eh_at(c, t->learned ? x : t->theta, t->P), X, rows.dense_n - z);
    map->forward(&t->shape, c, x, &rows, t->work, t->Y, true);
    if (t->method->hinge)
        eh_hinge_loss(&t->hinge, c, n / (1 + t->hinge.targets), h, t->Y, t->batch_label, loss, t->dY);
    else if (t->objective.self)
        eh_neighbour_loss(&t->objective, c, n, n, h, t->Y, t->batch_label, t->Y, t->batch_label, loss, t->dY, NULL);
    else
        eh_neighbour_loss(&t->objective, c, n, z, h, t->Y, t->batch_label, eh_at(c, t->Y, n * h), t->exemplar_class,
                          loss, t->dY, eh_at(c, t->dY, n * h));
    map->backward(&t->shape, c, x, &rows, t->work, t->dY, gradient, dx_n, dX);
}

/* One adversarial step (docs/method.md): the mean of the loss in X and of the loss a step up its gradient from there, which
 * the first walk back leaves along with the gradient of the exemplars. The step's direction counts as a constant. */
static void loss_with_climb(enhope_trainer *t, const eh_real *x, eh_real *gradient, eh_scalar *loss)
{
    eh_compute *c = t->c;
    const int64_t n = t->batch_n, H = t->shape.H, learned = t->learned ? t->z : 0;
    loss_in(t, x, t->X, gradient, loss, n + t->z, t->dX);
    c->op->copy(c, learned * H, eh_at(c, t->dX, n * H), eh_at(c, gradient, t->P));
    c->op->climb(c, n, H, t->set.adversary, t->set.norm == EH_NORM_L2, t->X, t->ld, t->dX, t->climbed);
    loss_in(t, x, t->climbed, t->climbed_grad, t->climbed_loss, learned, eh_at(c, t->climbed_grad, t->P));
    c->op->mean(c, t->optim->count, t->climbed_grad, t->climbed_loss, gradient, loss);
}

/* The loss of the present batch at parameters x, and its gradient. */
void eh_train_loss(void *user, const eh_real *x, eh_real *gradient, eh_scalar *loss)
{
    enhope_trainer *t = user;
    if (t->climbed)
        loss_with_climb(t, x, gradient, loss);
    else
        loss_in(t, x, t->X, gradient, loss, t->learned ? t->z : 0, t->learned ? eh_at(t->c, gradient, t->P) : NULL);
}

/* The target of the present batch. */
static void take_affinities(enhope_trainer *t)
{
    eh_compute *c = t->c;
    if (t->inputs) c->op->gather(c, &t->table, t->batch_rows, t->batch_n, t->inputs, t->ld, NULL);
    /* what closes the rows is the same in all of them and adds no distance */
    c->op->affinities(c, t->batch_n, t->ld, t->inputs ? t->inputs : (const eh_real *)t->X, t->set.perplexity,
                      t->affinities);
}

/* These rows become the batch, disturbed unless `with` is NULL; label may be NULL where no loss will be asked for. */
static void take_batch(enhope_trainer *t, const eh_row *rows, const eh_label *label, int64_t n, const eh_disturb *with)
{
    t->batch_n = n;
    t->batch_rows = rows;
    t->batch_label = label;
    if (!t->sparse) t->c->op->gather_operands(t->c, &t->table, rows, n, t->X, t->ld, NULL, with);
    if (t->affinities && label) take_affinities(t);
    if (t->soft && label) eh_train_soft_take(t);
}

void eh_train_embed(enhope_trainer *t, const eh_real *theta, const eh_row *rows, int64_t count, eh_real *Y)
{
    for (int64_t i = 0; i < count; i += t->capacity) {
        take_batch(t, eh_row_at(rows, i), NULL, count - i < t->capacity ? count - i : t->capacity, NULL);
        const eh_rows block = batch_with_exemplars(t, 0);
        t->method->map->forward(&t->shape, t->c, theta, &block, t->work, eh_at(t->c, Y, i * t->shape.h), false);
    }
}

eh_references eh_train_references(enhope_trainer *t, const eh_real *theta)
{
    eh_compute *c = t->c;
    const int64_t h = t->shape.h;
    if (!t->z) {
        eh_train_embed(t, theta, t->row_list, t->n, t->points);
        return (eh_references){.G = t->points, .label = t->point_label, .r = t->n, .h = h};
    }
    /* embedded exemplars are kept at the end of dY, which is free here */
    eh_real *G = eh_at(c, t->dY, t->capacity * h);
    const eh_rows rows = {.X = t->X, .ld = t->ld, .dense_n = t->z};
    lay_exemplars(t, eh_at(c, theta, t->P), t->X, 0);
    t->method->map->forward(&t->shape, c, theta, &rows, t->work, G, false);
    return (eh_references){.G = G, .label = t->exemplar_class, .r = t->z, .h = h};
}

enhope_status eh_train_errors(enhope_trainer *t, const eh_real *theta, const eh_references *ref, int64_t first,
                              int64_t count, int64_t *errors)
{
    *errors = 0;
    for (int64_t i = first; i < first + count; i += t->capacity) {
        const int64_t n = first + count - i < t->capacity ? first + count - i : t->capacity;
        eh_train_embed(t, theta, eh_row_at(t->row_list, i), n, t->Y);
        eh_classify(&t->found, ref, t->Y, n, 0);
        EH_TRY(eh_classify_fetch(&t->found, t->ctx, n, NULL, 0, &(eh_classes){.label = t->guess}));
        for (int64_t s = 0; s < n; s++) *errors += t->guess[s] != t->data->label[t->rows[i + s]];
    }
    return ENHOPE_OK;
}

/* The error on the validation part with parameters theta; NaN without one. */
static enhope_status validate(enhope_trainer *t, const eh_real *theta, double *error)
{
    *error = NAN;
    if (!t->valid_n) return ENHOPE_OK;
    const eh_references ref = eh_train_references(t, theta);
    int64_t errors;
    EH_TRY(eh_train_errors(t, theta, &ref, t->n, t->valid_n, &errors));
    *error = (double)errors / (double)t->valid_n;
    return ENHOPE_OK;
}

static const double LONG_STEP = 1; /* seconds, after which progress is told within a step as well */

static double seconds(const enhope_trainer *t)
{
    return t->spent + (eh_seconds() - t->started);
}

/* Room for one more row of history: made before a step, so that a failure leaves all as it was. */
static enhope_status make_room(enhope_trainer *t)
{
    if (t->epoch == t->history_room) {
        const int64_t room = t->history_room ? 2 * t->history_room : 64;
        enhope_history *grown = eh_grow(t->history, (size_t)t->history_room, (size_t)room, sizeof *t->history);
        if (!grown) return eh_fail_memory(t->ctx, "history", (size_t)room, sizeof *t->history);
        t->history = grown;
        t->history_room = room;
    }
    return ENHOPE_OK;
}

static void add_history(enhope_trainer *t)
{
    t->history[t->epoch - 1] =
        (enhope_history){.epoch = t->epoch, .seconds = seconds(t), .loss = t->loss, .valid_error = t->valid_error};
}

/* The parameters as they would be kept now. */
static const eh_real *present_state(const enhope_trainer *t)
{
    return t->average ? t->average : t->theta;
}

static enhope_status end_epoch(enhope_trainer *t)
{
    double error;
    EH_TRY(validate(t, present_state(t), &error));
    t->valid_error = error;
    t->epoch++;
    t->batch = t->known = 0;
    t->loss_sum = 0;
    const bool better = !(t->valid_error >= t->best_error), equal = t->valid_error == t->best_error;
    if (better) t->improved = t->epoch;
    if (!t->valid_n || better || (equal && t->loss < t->best_loss)) {
        t->best_error = t->valid_error;
        t->best_loss = t->loss;
        t->best_epoch = t->epoch;
        t->c->op->copy(t->c, t->P + t->z * t->shape.H, present_state(t), t->best);
    }
    const bool stale = t->valid_n && t->set.patience && t->epoch - t->improved >= t->set.patience;
    if (t->epoch == t->set.epochs || stale) t->done = true;
    add_history(t);
    return ENHOPE_OK;
}

static bool out_of_time(const enhope_trainer *t)
{
    return t->set.time > 0 && seconds(t) >= t->set.time;
}

/* The first sample of an epoch's batch: batches are of equal size, give or take one. */
static int64_t batch_start(const enhope_trainer *t, int64_t batch)
{
    return t->n * batch / t->batches;
}

/* Makes room behind each batch of the shuffled samples, the last first, and puts their targets there. */
static void add_targets(enhope_trainer *t)
{
    const int64_t each = t->hinge.targets;
    for (int64_t b = t->batches - 1; b >= 0 && each; b--) {
        const int64_t from = batch_start(t, b), n = batch_start(t, b + 1) - from;
        int64_t *batch = t->order + from * (1 + each);
        memmove(batch, t->order + from, (size_t)n * sizeof *batch);
        for (int64_t i = 0; i < n; i++)
            memcpy(batch + n + i * each, t->targets + batch[i] * each, (size_t)each * sizeof *batch);
    }
}

/* The rows of an epoch in their order, and their classes, on the host. */
static void shuffle(enhope_trainer *t, int64_t epoch)
{
    if (t->shuffled == epoch || epoch >= t->set.epochs) return;
    eh_shuffle((uint64_t)t->set.seed, EH_STREAM_SHUFFLE, (uint64_t)(t->past + epoch), t->n, t->order);
    add_targets(t);
    for (int64_t i = 0; i < t->n * (1 + t->hinge.targets); i++) {
        const int64_t at = t->order[i];
        t->order[i] = t->rows[at < 0 ? -1 - at : at];
        t->order_label[i] = at < 0 ? -1 : t->data->label[t->order[i]];
    }
    t->shuffled = epoch;
}

static void begin_epoch(enhope_trainer *t)
{
    shuffle(t, t->epoch);
    const size_t rows = (size_t)(t->n * (1 + t->hinge.targets));
    t->c->op->send(t->c, t->epoch_rows, t->order, rows * sizeof *t->order);
    t->c->op->send(t->c, t->epoch_label, t->order_label, rows * sizeof *t->order_label);
}

/* Ends training in the first batch that is not known, whose loss or gradient is not finite. */
static enhope_status diverge(enhope_trainer *t, const char *what)
{
    if (!t->best_epoch)
        return eh_fail(t->ctx, ENHOPE_ERROR_COMPUTE,
                       "training diverged: %s is not finite in epoch %lld, batch %lld; try a lower rate or another "
                       "scale",
                       what, (long long)t->epoch + 1, (long long)t->known + 1);
    eh_log(t->ctx, "training diverged in epoch %lld: the best state so far, of epoch %lld, is kept",
           (long long)t->epoch + 1, (long long)t->best_epoch);
    t->done = true;
    return ENHOPE_OK;
}

/* A backend may run behind as far as it likes, but not so long that stops and time limits are heard late. */
static const double SHORT_WAIT = 0.05, LONG_WAIT = 0.2;

static void adapt(enhope_trainer *t, double waited)
{
    if (waited < SHORT_WAIT && t->ahead < t->c->op->ahead) t->ahead *= 2;
    if (waited > LONG_WAIT && t->ahead > 1) t->ahead /= 2;
}

/* Asks for the losses of the batches that are not known yet. */
static enhope_status take_losses(enhope_trainer *t)
{
    const int64_t pending = t->batch - t->known;
    const double start = eh_seconds();
    t->c->op->fetch(t->c, t->fetched, eh_scalar_at(t->losses, t->known), (size_t)pending * sizeof *t->fetched);
    EH_TRY(t->c->op->sync(t->c, t->ctx));
    adapt(t, eh_seconds() - start);
    for (int64_t i = 0; i < pending; i++) {
        const eh_value v = t->fetched[i];
        if (!isfinite(v.value)) return diverge(t, "the loss");
        if (v.spoilt != 0) return diverge(t, "a gradient");
        t->loss_sum += v.value;
        t->known++;
    }
    t->loss = t->loss_sum / (double)t->known;
    return ENHOPE_OK;
}

/* Takes the parameters into their running mean, sum_i d^(k - i) theta_i over the sum of these weights: the latest of k
 * batches has the weight (1 - d) / (1 - d^k). Exemplars that are not learned stay. */
static void take_average(enhope_trainer *t)
{
    const double decay = t->set.average, latest = (1 - decay) / (1 - pow(decay, (double)++t->averaged));
    t->c->op->scale(t->c, t->optim->count, 1 - latest, t->average);
    t->c->op->axpy(t->c, t->optim->count, latest, t->theta, t->average);
}

/* Hands the next batch to the optimiser. */
static void run_batch(enhope_trainer *t)
{
    const int64_t each = 1 + t->hinge.targets; /* rows of a sample */
    const int64_t from = batch_start(t, t->batch) * each, to = batch_start(t, t->batch + 1) * each;
    if (t->batch == 0) begin_epoch(t);
    t->disturb.pass = (uint64_t)(t->past + t->epoch);
    take_batch(t, eh_row_at(t->epoch_rows, from), eh_label_at(t->epoch_label, from), to - from,
               t->disturbed ? &t->disturb : NULL);
    t->optim->type->run(t->optim, eh_train_loss, t, t->theta, eh_scalar_at(t->losses, t->batch));
    if (t->average) take_average(t);
    t->batch++;
    if (t->batch < t->batches) return;
    if (t->c->op->start) t->c->op->start(t->c); /* and meanwhile */
    shuffle(t, t->epoch + 1);
}

/* The one step of a method that solves for its map. */
static enhope_status solve(enhope_trainer *t)
{
    EH_TRY(t->method->solve(t, &t->loss));
    EH_TRY(end_epoch(t));
    t->done = true;
    return ENHOPE_OK;
}

static enhope_status step(enhope_trainer *t)
{
    EH_TRY(make_room(t));
    if (t->method->solve) return solve(t);
    if (t->batch < t->batches) run_batch(t); /* else the end of the epoch has failed before */
    const bool last = t->batch == t->batches, due = t->batch - t->known >= t->ahead;
    if (t->optim->type->deferred && !due && !last && !t->stopping && !out_of_time(t)) return ENHOPE_OK;
    enhope_status status = take_losses(t);
    if (!status && t->known == t->batches) status = end_epoch(t);
    /* what is not known is not done: a failed step may be made again */
    if (status || t->done) t->batch = t->known < t->batch ? t->known : t->batch;
    if (!status && out_of_time(t)) t->done = true;
    return status;
}

static void tell(const enhope_trainer *t, bool epoch_done, enhope_progress *p)
{
    const double parts = (double)t->epoch + (double)t->batch / (double)t->batches, all = (double)t->set.epochs;
    double left = parts > 0 ? t->spent / parts * (all - parts) : 0;
    if (t->set.time > 0 && t->set.time - t->spent < left) left = t->set.time - t->spent;
    *p = (enhope_progress){
        .epoch = t->epoch,
        .epochs = t->set.epochs,
        .batch = epoch_done ? t->batches : t->batch,
        .batches = t->batches,
        .loss = t->loss,
        .valid_error = t->valid_error,
        .best_error = t->best_error,
        .seconds = t->spent,
        .seconds_left = t->done || left < 0 ? 0 : left,
        .epoch_done = epoch_done,
    };
}

bool eh_train_stop(void *user)
{
    enhope_trainer *t = user;
    if (t->progress && !t->stopping && eh_seconds() - t->started > LONG_STEP) {
        enhope_progress p;
        tell(t, false, &p);
        p.seconds = seconds(t);
        eh_compute_end(t->c); /* the caller computes in modes of its own */
        t->stopping = t->progress(&p, t->progress_user) != 0;
        eh_compute_begin(t->c);
    }
    return t->stopping || out_of_time(t);
}

enhope_status enhope_trainer_step(enhope_trainer *t, enhope_progress *progress, int *done)
{
    enhope_status status = ENHOPE_OK;
    const int64_t before = t->epoch;
    if (!t->done) {
        t->started = eh_seconds();
        eh_compute_begin(t->c);
        status = step(t);
        eh_compute_end(t->c);
        t->spent = seconds(t);
        if (status) return status;
    }
    if (progress) tell(t, t->epoch > before, progress);
    *done = t->done;
    return ENHOPE_OK;
}

/* ---- the model ---- */

/* What the model compares with: exemplars in input space, all embedded training points (those of the validation part
 * too, now that it has served), or the scaled inputs (knn). */
static void fill_references(enhope_trainer *t, const eh_real *theta, enhope_model *m)
{
    if (t->method->compared == EH_EXEMPLARS) {
        t->c->op->read(t->c, m->reference, eh_at(t->c, theta, t->P), t->z * t->shape.H);
        memcpy(m->reference_label, t->exemplar_label, (size_t)t->z * sizeof *m->reference_label);
        return;
    }
    for (int64_t i = 0; i < m->r; i++) m->reference_label[i] = t->data->label[t->rows[i]];
    if (t->method->compared == EH_BATCH) {
        eh_train_embed(t, theta, t->row_list, m->r, t->points);
        t->c->op->read(t->c, m->reference, t->points, m->r * t->shape.h);
        return;
    }
    const int64_t H = t->shape.H;
    for (int64_t i = 0; i < m->r; i++) {
        float *row = m->reference + i * H;
        eh_matrix_row(&t->data->x, t->rows[i], row);
        for (int64_t j = 0; j < H; j++) row[j] = (row[j] - t->shift[j]) * t->mul[j];
    }
}

/* theta: the state; judged: with errors and temperature. */
static enhope_status fill_model(enhope_trainer *t, const eh_real *theta, bool judged, enhope_model *m)
{
    enhope_context *ctx = t->ctx;
    const enhope_dataset *data = t->data;
    const int64_t H = data->x.H;
    m->gaussian = t->objective.gaussian;
    m->freedom = t->objective.freedom;
    m->k = t->k;
    memcpy(m->shift, t->shift, (size_t)H * sizeof *m->shift);
    memcpy(m->mul, t->mul, (size_t)H * sizeof *m->mul);
    m->image_rows = data->image_rows;
    m->image_columns = data->image_columns;
    EH_TRY(eh_model_copy_names(ctx, data->class_name, data->c, m->class_name));
    if (data->input_name) {
        EH_TRY(eh_new(ctx, "names", H, sizeof *m->input_name, (void **)&m->input_name));
        EH_TRY(eh_model_copy_names(ctx, data->input_name, H, m->input_name));
    }
    EH_TRY(eh_settings_texts(ctx, &t->set, m->setting));
    eh_train_fill_history(t, m);
    if (!t->c) {
        fill_references(t, NULL, m);
        return ENHOPE_OK;
    }
    t->c->op->read(t->c, m->theta, theta, t->P);
    eh_compute_begin(t->c);
    fill_references(t, theta, m);
    const enhope_status status = judged ? eh_train_judge(t, theta, m) : ENHOPE_OK;
    eh_compute_end(t->c);
    return status ? status : t->c->op->sync(t->c, ctx);
}

static enhope_status make_model(enhope_trainer *t, bool present, enhope_model **out)
{
    enhope_model *m = NULL;
    const bool exemplars = t->method->compared == EH_EXEMPLARS;
    if (t->known < t->batch) { /* whether they are finite is not known yet */
        eh_compute_begin(t->c);
        const enhope_status status = take_losses(t);
        eh_compute_end(t->c);
        EH_TRY(status);
    }
    EH_TRY(eh_model_create(t->ctx, t->method->info.name, t->method->map, &t->shape,
                           exemplars ? t->z : t->n + t->valid_n, exemplars, t->data->c, enhope_setting_count(),
                           eh_train_earlier(t) + t->epoch, &m));
    const enhope_status status = fill_model(t, t->best_epoch && !present ? t->best : present_state(t), !present, m);
    if (status) {
        enhope_model_free(m);
        return status;
    }
    *out = m;
    return ENHOPE_OK;
}

enhope_status enhope_trainer_model(enhope_trainer *t, enhope_model **out)
{
    return make_model(t, false, out);
}

enhope_status enhope_trainer_present(enhope_trainer *t, enhope_model **out)
{
    return make_model(t, true, out);
}

static enhope_status run(enhope_trainer *t, enhope_progress_fn progress, void *user, enhope_model **out)
{
    t->progress = progress;
    t->progress_user = user;
    bool stopped = false;
    int done = t->done;
    while (!done && !stopped) {
        enhope_progress p;
        EH_TRY(enhope_trainer_step(t, &p, &done));
        stopped = t->stopping || (progress && progress(&p, user) && !done);
    }
    EH_TRY(enhope_trainer_model(t, out));
    return stopped ? ENHOPE_STOPPED : ENHOPE_OK;
}

enhope_status enhope_train(enhope_context *ctx, const enhope_dataset *data, const enhope_settings *settings,
                           enhope_progress_fn progress, void *user, enhope_model **out)
{
    enhope_trainer *t = NULL;
    EH_TRY(enhope_trainer_create(ctx, data, settings, &t));
    const enhope_status status = run(t, progress, user, out);
    enhope_trainer_free(t);
    return status;
}

enhope_status enhope_model_update(enhope_context *ctx, const enhope_model *model, const enhope_dataset *data,
                                  const enhope_settings *settings, enhope_progress_fn progress, void *user,
                                  enhope_model **out)
{
    enhope_dataset joined;
    enhope_trainer *t = NULL;
    EH_TRY(eh_train_join(ctx, model, data, &joined));
    enhope_status status = eh_trainer_create(ctx, &joined, settings, model, &t);
    if (!status) status = run(t, progress, user, out);
    enhope_trainer_free(t);
    eh_train_join_free(&joined);
    return status;
}
