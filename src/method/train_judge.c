/* What the state that is kept is worth: its errors in the validation part and, beside them, among training samples; and
 * the temperature at which its probabilities fit the validation part. */
#include "classify/sureness.h"
#include "method/train.h"

enum {
    MOST = 10000
}; /* samples that tell a training error, or a temperature, well enough; rows are in a seeded order */

static int64_t at_most(int64_t n)
{
    return n < MOST ? n : MOST;
}

/* The temperature of n validation samples. G (z, h), Y (capacity, h), L (n, c), scratch (c), label (n): host. */
static double fit(enhope_trainer *t, const eh_real *theta, int64_t n, const eh_host_references *ref, float *Y,
                  double *L, double *scratch, int32_t *label)
{
    for (int64_t i = 0; i < n; i += t->capacity) {
        const int64_t count = n - i < t->capacity ? n - i : t->capacity;
        eh_train_embed(t, theta, eh_row_at(t->row_list, t->n + i), count, t->Y);
        t->c->op->read(t->c, Y, t->Y, count * ref->h);
        for (int64_t s = 0; s < count; s++) eh_log_similarities(ref, Y + s * ref->h, scratch, L + (i + s) * ref->c);
    }
    for (int64_t i = 0; i < n; i++) label[i] = t->data->label[t->rows[t->n + i]];
    return eh_temperature(L, label, n, ref->c);
}

static enhope_status calibrate(enhope_trainer *t, const eh_real *theta, const eh_references *placed, enhope_model *m)
{
    enhope_context *ctx = t->ctx;
    const int64_t n = at_most(t->valid_n), h = t->shape.h;
    float *G = NULL, *Y = NULL;
    double *L = NULL, *scratch = NULL;
    int32_t *label = NULL;
    enhope_status status;
    EH_CHECK(eh_new(ctx, "the embedded exemplars", placed->r * h, sizeof *G, (void **)&G));
    EH_CHECK(eh_new(ctx, "a block of the embedding", t->capacity * h, sizeof *Y, (void **)&Y));
    EH_CHECK(eh_new(ctx, "the similarities", n * m->c, sizeof *L, (void **)&L));
    EH_CHECK(eh_new(ctx, "the similarities", m->c, sizeof *scratch, (void **)&scratch));
    EH_CHECK(eh_new(ctx, "labels", n, sizeof *label, (void **)&label));
    t->c->op->read(t->c, G, placed->G, placed->r * h);
    const eh_host_references ref = {
        .G = G, .label = t->exemplar_label, .r = placed->r, .h = h, .c = m->c, .gaussian = m->gaussian};
    m->temperature = fit(t, theta, n, &ref, Y, L, scratch, label);
cleanup:
    eh_free(G);
    eh_free(Y);
    eh_free(L);
    eh_free(scratch);
    eh_free(label);
    return status;
}

enhope_status eh_train_judge(enhope_trainer *t, const eh_real *theta, enhope_model *m)
{
    const int64_t train_n =
        t->z ? at_most(t->n) : 0; /* a point among the references is near itself: that tells nothing */
    if (!t->valid_n && !train_n) return ENHOPE_OK;
    const eh_references ref = eh_train_references(t, theta);
    EH_TRY(eh_train_errors(t, theta, &ref, 0, train_n, &m->train_errors));
    EH_TRY(eh_train_errors(t, theta, &ref, t->n, t->valid_n, &m->valid_errors));
    m->train_n = train_n;
    m->valid_n = t->valid_n;
    return t->z && t->valid_n ? calibrate(t, theta, &ref, m) : ENHOPE_OK;
}
