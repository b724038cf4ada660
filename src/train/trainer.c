/* The training loop: connects map, objective and optimizer.
 *
 * A step is one batch: its rows are gathered and scaled, and the optimizer minimizes its loss
 * (batch_loss.h). An epoch ends with the validation error, and the best state by this error is
 * kept.
 *
 * The backend computes asynchronously. The losses of batches stay there until the optimizer, a
 * stop, a time limit, a full queue or the end of the epoch requires them. */
#include <math.h>

#include "comm/comm.h"
#include "train/trainer.h"

static const double LONG_STEP = 1; /* seconds after which progress is reported within a step */

static double seconds(const enhope_trainer *t)
{
    return t->state.seconds + (eh_seconds() - t->run.started);
}

/* ---- end of training ---- */

bool eh_train_finished(const enhope_trainer *t)
{
    return t->state.epoch >= t->set.optim.n_epochs || eh_train_state_stale(&t->state, t->set.optim.patience);
}

/* All ranks use the clock of rank 0. */
static bool out_of_time(enhope_trainer *t)
{
    if (!(t->set.optim.time_limit > 0)) return false;
    t->run.late = seconds(t) >= t->set.optim.time_limit;
    eh_comm_broadcast(t->ctx, &t->run.late, sizeof t->run.late);
    return t->run.late;
}

/* Ends training because the loss or gradient of the next unknown batch is not finite. Fails only if
 * there is no best state to keep. */
static enhope_status diverge(enhope_trainer *t, const char *what)
{
    const eh_train_state *s = &t->state;
    if (!s->best_epoch)
        return eh_fail(
            t->ctx, ENHOPE_ERROR_COMPUTE,
            "training diverged: %s is not finite in epoch %lld, batch %lld; try a lower learning_rate or another "
            "scaling",
            what, (long long)s->epoch + 1, (long long)t->losses.known + 1);
    eh_log(t->ctx, ENHOPE_LOG_WARNING, "training diverged in epoch %lld: the best state so far, of epoch %lld, is kept",
           (long long)s->epoch + 1, (long long)s->best_epoch);
    t->state.diverged = 1;
    t->done = true;
    return ENHOPE_OK;
}

static void report(const enhope_trainer *t, bool epoch_done, enhope_progress *p)
{
    const eh_train_state *s = &t->state;
    const int64_t batches = t->batches.count;
    const double part = (double)s->epoch + (double)s->batch / (double)batches, all = (double)t->set.optim.n_epochs;
    double left = part > 0 ? s->seconds / part * (all - part) : 0;
    if (t->set.optim.time_limit > 0 && t->set.optim.time_limit - s->seconds < left)
        left = t->set.optim.time_limit - s->seconds;
    *p = (enhope_progress){
        .epoch = s->epoch,
        .epochs = t->set.optim.n_epochs,
        .batch = epoch_done ? batches : s->batch,
        .batches = batches,
        .loss = s->loss,
        .valid_error = s->valid_error,
        .best_error = s->best_error,
        .seconds = s->seconds,
        .seconds_left = t->done || left < 0 ? 0 : left,
        .epoch_done = epoch_done,
    };
}

/* Called by the optimizer between line searches: reports progress if the step takes long, and
 * returns whether to stop. */
bool eh_train_stop(void *user)
{
    enhope_trainer *t = user;
    eh_run *run = &t->run;
    bool report_now = run->progress && !run->stopping && eh_seconds() - run->started > LONG_STEP;
    /* rank 0 decides for all ranks that have a callback, because callbacks may communicate */
    eh_comm_broadcast(t->ctx, &report_now, sizeof report_now);
    if (report_now && run->progress) {
        enhope_progress p;
        report(t, false, &p);
        p.seconds = seconds(t);
        eh_compute_end(t->cp); /* the callback runs in the caller's floating-point modes */
        const double called = eh_seconds();
        run->stopping = run->progress(&p, run->progress_user) != 0;
        run->started += eh_seconds() - called; /* time in the callback is not training time */
        eh_compute_begin(t->cp);
    }
    eh_comm_broadcast(t->ctx, &run->stopping, sizeof run->stopping);
    if (run->stopping) run->interrupted = true;
    return run->stopping || out_of_time(t);
}

/* ---- losses ---- */

/* The target range of the wait in a fetch, in seconds. More batches a fetch let the backend work
 * without pauses; fewer keep stops and time limits prompt. */
static const double SHORT_WAIT = 0.05, LONG_WAIT = 0.2;

static void adapt_ahead(enhope_trainer *t, double waited)
{
    eh_losses *l = &t->losses;
    if (waited < SHORT_WAIT && l->ahead < t->cp->op->queue_depth) l->ahead *= 2;
    if (waited > LONG_WAIT && l->ahead > 1) l->ahead /= 2;
    if (t->cp->op->queue_depth > 1) eh_comm_broadcast(t->ctx, &l->ahead, sizeof l->ahead);
}

/* Fetches the losses of the batches that are not known yet. */
static enhope_status fetch_losses(enhope_trainer *t)
{
    eh_losses *l = &t->losses;
    const int64_t pending = t->state.batch - l->known;
    const double start = eh_seconds();
    t->cp->op->fetch(t->cp, l->fetched, eh_loss_at(l->placed, l->known), (size_t)pending * sizeof *l->fetched);
    const enhope_status status = t->cp->op->sync(t->cp, t->ctx), deferred = eh_exchange_status(t->loss.exchange);
    EH_TRY(eh_comm_check(t->ctx, deferred ? deferred : status));
    adapt_ahead(t, eh_seconds() - start);
    for (int64_t i = 0; i < pending; i++) {
        const eh_loss_value v = l->fetched[i];
        if (!isfinite(v.value)) return diverge(t, "the loss");
        if (v.nonfinite != 0) return diverge(t, "a gradient");
        t->state.loss_sum += v.value;
        l->known++;
    }
    t->state.loss = t->state.loss_sum / (double)l->known;
    return ENHOPE_OK;
}

/* Whether the losses have to be fetched after this batch. */
static bool losses_due(enhope_trainer *t)
{
    const bool last = t->state.batch == t->batches.count, due = t->state.batch - t->losses.known >= t->losses.ahead;
    return !t->optim->type->deferred || due || last || t->run.stopping || out_of_time(t);
}

enhope_status eh_train_catch_up(enhope_trainer *t)
{
    if (t->losses.known == t->state.batch || t->run.in_batch) return ENHOPE_OK;
    eh_compute_begin(t->cp);
    const enhope_status status = fetch_losses(t);
    eh_compute_end(t->cp);
    if (!status && t->done) t->state.batch = t->losses.known;
    return status;
}

/* ---- the loop ---- */

/* The function that the optimizer minimizes. */
static void loss_of_batch(void *user, const eh_real *theta, eh_real *gradient, eh_loss *loss)
{
    enhope_trainer *t = user;
    eh_batch_loss_at(&t->loss, theta, gradient, loss);
}

/* The adversarial step of the next batch. At full size from the start it can keep a small map from
 * learning anything: all points stay in one place. With Adam it therefore grows during the first
 * twentieth of the epochs. */
static double adversarial_step(const enhope_trainer *t)
{
    enum { RAMP = 20 };
    const double full = t->set.augment.adversarial_step, ramp = (double)(t->set.optim.n_epochs / RAMP);
    const double at = (double)t->state.epoch + (double)t->state.batch / (double)t->batches.count;
    if (t->from || t->set.optim.solver != EH_SOLVER_ADAM || at >= ramp) return full;
    return full * at / ramp;
}

/* Whether the auxiliary head has done its work. The hidden units adapt to the outputs of the map
 * alone in the last epochs. */
static bool head_is_off(const enhope_trainer *t)
{
    static const double PART = 0.6; /* of the epochs in which the head is trained */
    return (double)t->state.epoch >= PART * (double)t->set.optim.n_epochs;
}

/* Passes the next batch to the optimizer. */
static enhope_status run_batch(enhope_trainer *t)
{
    eh_parameters *p = &t->parameters;
    eh_batch batch;
    EH_TRY(eh_batches_get(&t->batches, t->state.epoch, t->state.batch, &batch));
    eh_batch_loss_set_batch(&t->loss, &batch);
    t->loss.adversarial.step = adversarial_step(t);
    t->loss.head.off = head_is_off(t);
    if (p->before) eh_parameters_copy(p, p->theta, p->before); /* for checkpoints within the batch */
    t->run.in_batch = true;
    t->optim->type->run(t->optim, loss_of_batch, t, p->theta, eh_loss_at(t->losses.placed, t->state.batch));
    t->run.in_batch = false;
    if (++t->state.batch < t->batches.count) return ENHOPE_OK;
    if (t->cp->op->flush) t->cp->op->flush(t->cp); /* the backend computes while the next epoch is prepared */
    eh_batches_prepare(&t->batches, t->state.epoch + 1);
    return ENHOPE_OK;
}

/* Warns if the loss of the best state is that of a map that puts all points in one place. A short
 * run may end before the map has moved from its start. */
static void warn_collapsed(const enhope_trainer *t)
{
    enum { MIN_STEPS = 200 };
    static const double ALMOST = 0.995;
    if (t->state.epoch * t->batches.count < MIN_STEPS) return;
    if (t->method->compared != EH_EXEMPLARS || !t->loss.objective.row || t->samples.present < 2 ||
        t->samples.unlabeled_n)
        return;
    if (t->state.best_loss > ALMOST * log((double)t->samples.present))
        eh_log(t->ctx, ENHOPE_LOG_WARNING,
               "the map has learned nothing: its loss is that of guessing; try another random_state, a lower "
               "learning_rate or a larger map");
}

/* Validates, adds to the history and keeps the best state. */
static enhope_status end_epoch(enhope_trainer *t)
{
    eh_parameters *p = &t->parameters;
    double error;
    EH_TRY(eh_train_validate(t, p->theta, &error));
    /* losses with spread labels and without are not comparable */
    if (t->state.epoch > 0 &&
        eh_batches_spread(&t->batches, t->state.epoch - 1) != eh_batches_spread(&t->batches, t->state.epoch))
        t->state.best_loss = INFINITY;
    if (eh_train_state_end_epoch(&t->state, error, seconds(t))) eh_parameters_copy(p, p->theta, p->best);
    t->losses.known = 0;
    if (eh_train_finished(t)) t->done = true;
    if (t->done) warn_collapsed(t);
    return ENHOPE_OK;
}

/* The only step of a method that solves for its map. */
static enhope_status solve(enhope_trainer *t)
{
    EH_TRY(eh_comm_check(t->ctx, eh_train_solve(t, t->method->solve, 0, &t->state.loss)));
    EH_TRY(end_epoch(t));
    t->done = true;
    return ENHOPE_OK;
}

/* One batch: next batch, optimizer, losses; at the end of an epoch validation, history and best
 * state. A failed step may be repeated: only batches with known losses count as done. */
static enhope_status step(enhope_trainer *t)
{
    eh_train_state *s = &t->state;
    if (s->history_capacity <= s->epoch) EH_TRY(eh_comm_check(t->ctx, eh_train_state_reserve(t->ctx, s, s->epoch + 1)));
    if (t->method->solve) return solve(t);
    if (s->batch < t->batches.count) EH_TRY(run_batch(t)); /* else the end of the epoch failed and is repeated */
    if (!losses_due(t)) return ENHOPE_OK;
    enhope_status status = fetch_losses(t);
    if (!status && t->losses.known == t->batches.count) status = end_epoch(t);
    if ((status || t->done) && t->losses.known < s->batch) s->batch = t->losses.known;
    if (!status && out_of_time(t)) t->done = true;
    return status;
}

enhope_status enhope_trainer_step(enhope_trainer *t, enhope_progress *progress, int *done)
{
    enhope_status status = ENHOPE_OK;
    const int64_t before = t->state.epoch;
    if (!t->done) {
        eh_comm_begin(t->ctx);
        t->run.started = eh_seconds();
        eh_compute_begin(t->cp);
        status = step(t);
        eh_compute_end(t->cp);
        t->state.seconds = seconds(t);
        if (status) return status;
    }
    if (progress) report(t, t->state.epoch > before, progress);
    *done = t->done;
    return ENHOPE_OK;
}

enhope_status enhope_trainer_run(enhope_trainer *t, enhope_progress_fn progress, void *user)
{
    t->run.progress = progress;
    t->run.progress_user = user;
    t->run.stopping = false;
    bool stopped = false;
    int done = t->done;
    enhope_status status = ENHOPE_OK;
    while (!done && !stopped && !status) {
        enhope_progress p;
        status = enhope_trainer_step(t, &p, &done);
        if (!status) stopped = t->run.stopping || (progress && progress(&p, user) && !done);
        if (!status) eh_comm_broadcast(t->ctx, &stopped, sizeof stopped); /* rank 0 decides */
    }
    t->run.progress = NULL;
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
