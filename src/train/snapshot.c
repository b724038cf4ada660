/* Creates the model of a trainer, from its best state or as a snapshot of the current one. */
#include <math.h>
#include <string.h>

#include "comm/comm.h"
#include "predict/int8/int8.h"
#include "train/trainer.h"

/* ---- history ---- */

/* Rows of history that are copied from the model that training continues. */
static int64_t earlier_rows(const enhope_trainer *t)
{
    if (!t->from) return 0;
    return eh_min(t->from->epochs, EH_MODEL_MAX_EARLIER);
}

/* Copies the history. Epochs and seconds continue those of the last copied row, if they are
 * known. */
static void fill_history(const enhope_trainer *t, enhope_model *m)
{
    m->earlier = earlier_rows(t);
    if (m->earlier)
        memcpy(m->history, t->from->history + (t->from->epochs - m->earlier), (size_t)m->earlier * sizeof *m->history);
    const double before = m->earlier ? m->history[m->earlier - 1].seconds : 0;
    for (int64_t i = 0; i < t->state.epoch; i++) {
        enhope_history *row = &m->history[m->earlier + i];
        *row = t->state.history[i];
        row->epoch += t->past;
        if (isfinite(before)) row->seconds += before;
    }
}

/* ---- parameters and texts ---- */

/* Fills the references: exemplars in input space, all embedded training points including the
 * validation part, or the scaled inputs (knn). */
static enhope_status fill_references(enhope_trainer *t, const eh_real *theta, enhope_model *m)
{
    const eh_parameters *p = &t->parameters;
    if (t->method->compared == EH_EXEMPLARS) {
        t->cp->op->read(t->cp, m->reference, eh_parameters_exemplars(p, theta), p->z * p->H);
        memcpy(m->reference_label, p->exemplar_label, (size_t)p->z * sizeof *m->reference_label);
        return ENHOPE_OK;
    }
    for (int64_t i = 0; i < m->r; i++) m->reference_label[i] = eh_samples_class(&t->samples, i);
    if (t->method->compared == EH_BATCH) {
        EH_TRY(eh_train_embed_shared(t, theta, m->r, t->embedder.G));
        t->cp->op->read(t->cp, m->reference, t->embedder.G, m->r * t->embedder.shape.h);
        return ENHOPE_OK;
    }
    const int64_t H = t->embedder.shape.H;
    for (int64_t i = 0; i < m->r; i++) {
        float *row = m->reference + i * H;
        eh_matrix_row(t->samples.x, t->samples.rows[i], row);
        for (int64_t j = 0; j < H; j++) row[j] = (row[j] - t->shift[j]) * t->mul[j];
    }
    return ENHOPE_OK;
}

/* Fills the fields that need no computation. */
static enhope_status fill_texts(enhope_trainer *t, enhope_model *m)
{
    enhope_context *ctx = t->ctx;
    const enhope_dataset *data = t->data;
    const int64_t H = data->x.H;
    m->gaussian = t->loss.objective.gaussian;
    m->dof = t->loss.objective.dof;
    m->k = t->k;
    m->votes = t->embedder.votes;
    memcpy(m->shift, t->shift, (size_t)H * sizeof *m->shift);
    memcpy(m->mul, t->mul, (size_t)H * sizeof *m->mul);
    EH_TRY(eh_model_copy_names(ctx, data->class_name, data->c, m->class_name));
    const eh_model_input input = {data->input_name, data->encoding, data->image_rows, data->image_columns};
    EH_TRY(eh_model_copy_input(ctx, &input, H, &m->input));
    EH_TRY(eh_settings_texts(ctx, &t->set, m->setting.pair));
    fill_history(t, m);
    return ENHOPE_OK;
}

/* theta: the state; evaluated: the model receives errors and temperature. */
static enhope_status fill_model(enhope_trainer *t, const eh_real *theta, bool evaluated, enhope_model *m)
{
    if (!t->cp) return fill_references(t, NULL, m);
    t->cp->op->read(t->cp, m->theta, theta, eh_map_parameters(m->map, &m->shape)); /* without the head */
    eh_compute_begin(t->cp);
    enhope_status status = fill_references(t, theta, m);
    if (!status && evaluated && !t->unlabeled) status = eh_train_evaluate(t, theta, m);
    eh_compute_end(t->cp);
    return status ? status : t->cp->op->sync(t->cp, t->ctx);
}

/* Measures the ranges of int8 on resident training rows. Every rank does this and gets the same. */
static enhope_status calibrate(enhope_trainer *t, enhope_model *m)
{
    if (m->map != &eh_map_hope) return ENHOPE_OK;
    return eh_int8_calibrate(t->ctx, m, t->samples.x, t->samples.rows, t->samples.resident_n, &m->int8);
}

static enhope_status make_model(enhope_trainer *t, bool snapshot, enhope_model **out)
{
    enhope_model *m = NULL;
    const eh_parameters *p = &t->parameters;
    const bool exemplars = t->method->compared == EH_EXEMPLARS;
    const int64_t references = exemplars ? p->z : t->samples.resident_n + t->samples.valid_n;
    eh_comm_begin(t->ctx);
    EH_TRY(eh_train_catch_up(t)); /* finds out whether all losses are finite */
    enhope_status status =
        eh_model_create(t->ctx, t->method->info.name, t->method->map, &t->embedder.shape, references, exemplars,
                        t->data->c, enhope_setting_count(), earlier_rows(t) + t->state.epoch, &m);
    if (!status) status = fill_texts(t, m);
    if (!status && !snapshot) status = eh_provenance_create(t->ctx, t->data, t->from, &m->provenance);
    status = eh_comm_check(t->ctx, status);
    const eh_real *theta = t->state.best_epoch && !snapshot ? p->best : p->theta;
    if (!status) status = eh_comm_check(t->ctx, fill_model(t, theta, !snapshot, m));
    if (!status && !snapshot) status = eh_comm_check(t->ctx, calibrate(t, m));
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
