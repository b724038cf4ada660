/* Training: the only place where map, objective and optimiser meet.
 *
 * A step is one mini-batch: its rows are gathered and scaled, and the optimiser is let loose on eh_train_loss(), which
 * maps batch and exemplars in one go, asks the objective for the loss and its gradient in the embedding, and carries
 * that back through the map. An epoch ends with the validation error; the best state by it is what is kept.
 *
 * A backend may run behind: the losses of batches stay there until the optimiser, the clock or the epoch's end asks. */
#include <math.h>
#include <string.h>

#include "comm/comm.h"
#include "train/trainer.h"

static const double LONG_STEP = 1; /* seconds, after which progress is told within a step as well */

static double seconds(const enhope_trainer *t)
{
    return t->spent + (eh_seconds() - t->started);
}

static enhope_status grow_history(enhope_trainer *t, int64_t room)
{
    enhope_history *grown = eh_grow(t->history, (size_t)t->history_room, (size_t)room, sizeof *t->history);
    if (!grown) return eh_fail_memory(t->ctx, "history", (size_t)room, sizeof *t->history);
    t->history = grown;
    t->history_room = room;
    return ENHOPE_OK;
}

enhope_status eh_train_make_room(enhope_trainer *t, int64_t rows)
{
    int64_t room = t->history_room ? t->history_room : 64;
    while (room < rows) room *= 2;
    return room == t->history_room ? ENHOPE_OK : eh_comm_agree(t->ctx, grow_history(t, room));
}

static void add_history(enhope_trainer *t)
{
    t->history[t->epoch - 1] =
        (enhope_history){.epoch = t->epoch, .seconds = seconds(t), .loss = t->loss, .valid_error = t->valid_error};
}

bool eh_train_finished(const enhope_trainer *t)
{
    const bool stale = t->valid_n && t->set.patience && t->epoch - t->improved >= t->set.patience;
    return t->epoch >= t->set.epochs || stale;
}

static enhope_status end_epoch(enhope_trainer *t)
{
    double error;
    EH_TRY(eh_train_validate(t, t->theta, &error));
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
        t->c->op->copy(t->c, t->P + t->z * t->embedder.shape.H, t->theta, t->best);
    }
    if (eh_train_finished(t)) t->done = true;
    add_history(t);
    return ENHOPE_OK;
}

/* All ranks go by the clock of the first. */
static bool out_of_time(enhope_trainer *t)
{
    if (!(t->set.time > 0)) return false;
    t->late = seconds(t) >= t->set.time;
    eh_comm_broadcast(t->ctx, &t->late, sizeof t->late);
    return t->late;
}

/* Ends training in the first batch that is not known, whose loss or gradient is not finite. */
static enhope_status diverge(enhope_trainer *t, const char *what)
{
    if (!t->best_epoch)
        return eh_fail(t->ctx, ENHOPE_ERROR_COMPUTE,
                       "training diverged: %s is not finite in epoch %lld, batch %lld; try a lower rate or another "
                       "scale",
                       what, (long long)t->epoch + 1, (long long)t->known + 1);
    eh_log(t->ctx, ENHOPE_LOG_WARNING, "training diverged in epoch %lld: the best state so far, of epoch %lld, is kept",
           (long long)t->epoch + 1, (long long)t->best_epoch);
    t->done = t->diverged = true;
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
    const enhope_status status = t->c->op->sync(t->c, t->ctx), noted = t->noted;
    t->noted = ENHOPE_OK;
    EH_TRY(eh_comm_agree(t->ctx, noted ? noted : status));
    adapt(t, eh_seconds() - start);
    if (t->c->op->ahead > 1) eh_comm_broadcast(t->ctx, &t->ahead, sizeof t->ahead);
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

/* Hands the next batch to the optimiser. */
static enhope_status run_batch(enhope_trainer *t)
{
    eh_shown shown;
    EH_TRY(eh_train_show(t, &shown));
    t->disturb.pass = shown.pass;
    eh_train_take(t, eh_row_at(t->epoch_rows, shown.first), eh_label_at(t->epoch_label, shown.first), shown.n,
                  t->disturbed ? &t->disturb : NULL);
    if (t->before) t->c->op->copy(t->c, t->P + t->z * t->embedder.shape.H, t->theta, t->before);
    t->within = true;
    t->optim->type->run(t->optim, eh_train_loss, t, t->theta, eh_scalar_at(t->losses, t->batch));
    t->within = false;
    t->batch++;
    if (t->batch < t->batches) return ENHOPE_OK;
    if (t->c->op->start) t->c->op->start(t->c); /* and meanwhile */
    eh_train_show_next(t);
    return ENHOPE_OK;
}

/* The one step of a method that solves for its map. */
static enhope_status solve(enhope_trainer *t)
{
    EH_TRY(eh_comm_agree(t->ctx, eh_train_solve(t, t->method->solve, 0, &t->loss)));
    EH_TRY(end_epoch(t));
    t->done = true;
    return ENHOPE_OK;
}

static enhope_status step(enhope_trainer *t)
{
    EH_TRY(eh_train_make_room(t, t->epoch + 1)); /* before all else, so that a failure leaves all as it was */
    if (t->method->solve) return solve(t);
    if (t->batch < t->batches) EH_TRY(run_batch(t)); /* else the end of the epoch has failed before */
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
    bool told = t->progress && !t->stopping && eh_seconds() - t->started > LONG_STEP;
    /* all ranks ask, or none: the answer may be something that they do together */
    eh_comm_broadcast(t->ctx, &told, sizeof told);
    if (told && t->progress) {
        enhope_progress p;
        tell(t, false, &p);
        p.seconds = seconds(t);
        eh_compute_end(t->c); /* the caller computes in modes of its own */
        const double asked = eh_seconds();
        t->stopping = t->progress(&p, t->progress_user) != 0;
        t->started += eh_seconds() - asked; /* what the caller takes, to write a checkpoint say, is not training's */
        eh_compute_begin(t->c);
    }
    eh_comm_broadcast(t->ctx, &t->stopping, sizeof t->stopping);
    if (t->stopping) t->cut = true;
    return t->stopping || out_of_time(t);
}

enhope_status eh_train_catch_up(enhope_trainer *t)
{
    if (t->known == t->batch || t->within) return ENHOPE_OK;
    eh_compute_begin(t->c);
    const enhope_status status = take_losses(t);
    eh_compute_end(t->c);
    if (!status && t->done) t->batch = t->known;
    return status;
}

enhope_status enhope_trainer_step(enhope_trainer *t, enhope_progress *progress, int *done)
{
    enhope_status status = ENHOPE_OK;
    const int64_t before = t->epoch;
    if (!t->done) {
        eh_comm_begin(t->ctx);
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
static enhope_status fill_references(enhope_trainer *t, const eh_real *theta, enhope_model *m)
{
    if (t->method->compared == EH_EXEMPLARS) {
        t->c->op->read(t->c, m->reference, eh_at(t->c, theta, t->P), t->z * t->embedder.shape.H);
        memcpy(m->reference_label, t->exemplar_label, (size_t)t->z * sizeof *m->reference_label);
        return ENHOPE_OK;
    }
    for (int64_t i = 0; i < m->r; i++) m->reference_label[i] = t->label[t->rows[i]];
    if (t->method->compared == EH_BATCH) {
        EH_TRY(eh_train_embed_shared(t, theta, m->r, t->embedder.G));
        t->c->op->read(t->c, m->reference, t->embedder.G, m->r * t->embedder.shape.h);
        return ENHOPE_OK;
    }
    const int64_t H = t->embedder.shape.H;
    for (int64_t i = 0; i < m->r; i++) {
        float *row = m->reference + i * H;
        eh_matrix_row(t->x, t->rows[i], row);
        for (int64_t j = 0; j < H; j++) row[j] = (row[j] - t->shift[j]) * t->mul[j];
    }
    return ENHOPE_OK;
}

/* What is not computed. */
static enhope_status fill_texts(enhope_trainer *t, enhope_model *m)
{
    enhope_context *ctx = t->ctx;
    const enhope_dataset *data = t->data;
    const int64_t H = data->x.H;
    m->gaussian = t->objective.gaussian;
    m->dof = t->objective.dof;
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
    return ENHOPE_OK;
}

/* theta: the state; judged: with errors and temperature. */
static enhope_status fill_model(enhope_trainer *t, const eh_real *theta, bool judged, enhope_model *m)
{
    if (!t->c) return fill_references(t, NULL, m);
    t->c->op->read(t->c, m->theta, theta, t->P);
    eh_compute_begin(t->c);
    enhope_status status = fill_references(t, theta, m);
    if (!status && judged) status = eh_train_judge(t, theta, m);
    eh_compute_end(t->c);
    return status ? status : t->c->op->sync(t->c, t->ctx);
}

static enhope_status make_model(enhope_trainer *t, bool present, enhope_model **out)
{
    enhope_model *m = NULL;
    const bool exemplars = t->method->compared == EH_EXEMPLARS;
    eh_comm_begin(t->ctx);
    EH_TRY(eh_train_catch_up(t)); /* whether they are finite is not known yet */
    enhope_status status = eh_model_create(t->ctx, t->method->info.name, t->method->map, &t->embedder.shape,
                                           exemplars ? t->z : t->held + t->valid_n, exemplars, t->data->c,
                                           enhope_setting_count(), eh_train_earlier(t) + t->epoch, &m);
    if (!status) status = fill_texts(t, m);
    status = eh_comm_agree(t->ctx, status);
    const eh_real *theta = t->best_epoch && !present ? t->best : t->theta;
    if (!status) status = eh_comm_agree(t->ctx, fill_model(t, theta, !present, m));
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

enhope_status enhope_trainer_snapshot(enhope_trainer *t, enhope_model **out)
{
    return make_model(t, true, out);
}

enhope_status enhope_trainer_run(enhope_trainer *t, enhope_progress_fn progress, void *user)
{
    t->progress = progress;
    t->progress_user = user;
    t->stopping = false;
    bool stopped = false;
    int done = t->done;
    enhope_status status = ENHOPE_OK;
    while (!done && !stopped && !status) {
        enhope_progress p;
        status = enhope_trainer_step(t, &p, &done);
        if (!status) stopped = t->stopping || (progress && progress(&p, user) && !done);
        if (!status) eh_comm_broadcast(t->ctx, &stopped, sizeof stopped); /* as rank 0 is told */
    }
    t->progress = NULL;
    return !status && stopped ? ENHOPE_STOPPED : status;
}

static enhope_status train(enhope_context *ctx, const enhope_model *from, const enhope_dataset *data,
                           const enhope_settings *settings, enhope_progress_fn progress, void *user, enhope_model **out)
{
    enhope_trainer *t = NULL;
    EH_TRY(enhope_trainer_create(ctx, from, data, settings, &t));
    enhope_status status = enhope_trainer_run(t, progress, user);
    if (!status || status == ENHOPE_STOPPED) {
        const enhope_status made = enhope_trainer_model(t, out);
        if (made) status = made;
    }
    enhope_trainer_free(t);
    return status;
}

enhope_status enhope_train(enhope_context *ctx, const enhope_dataset *data, const enhope_settings *settings,
                           enhope_progress_fn progress, void *user, enhope_model **out)
{
    return train(ctx, NULL, data, settings, progress, user, out);
}

enhope_status enhope_model_update(enhope_context *ctx, const enhope_model *model, const enhope_dataset *data,
                                  const enhope_settings *settings, enhope_progress_fn progress, void *user,
                                  enhope_model **out)
{
    return train(ctx, model, data, settings, progress, user, out);
}
