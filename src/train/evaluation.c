/* Evaluates parameters: errors in the validation part and among training samples, and the
 * temperature that fits the probabilities to the validation part. */
#include <math.h>
#include <string.h>

#include "classify/confidence.h"
#include "comm/comm.h"
#include "train/trainer.h"

/* Samples for a training error or a temperature. More would not make them noticeably more
 * precise. Rows are in a seeded order. */
enum { MAX_SAMPLES = 10000 };

enhope_status eh_train_embed_shared(enhope_trainer *t, const eh_real *theta, int64_t count, eh_real *Y)
{
    enhope_context *ctx = t->ctx;
    eh_compute *cp = t->cp;
    const int rank = eh_comm_rank(ctx), ranks = eh_comm_ranks(ctx);
    const int64_t h = t->embedder.shape.h, first = eh_chunk_start(count, rank, ranks);
    const int64_t own = eh_chunk_start(count, rank + 1, ranks) - first;
    char *host = NULL;
    int64_t *offset = NULL;
    enhope_status status = ENHOPE_OK;
    eh_embedder_embed(&t->embedder, theta, eh_row_at(t->samples.placed_rows, first), own, eh_at(cp, Y, first * h));
    if (ranks == 1) return ENHOPE_OK;
    status = eh_new(ctx, "shares of ranks", ranks + 1, sizeof *offset, (void **)&offset);
    if (!status && !cp->op->host && !ctx->comm->device)
        status = eh_new(ctx, "embedded points", count * h, cp->op->real_size, (void **)&host);
    EH_CHECK(eh_comm_check(ctx, status));
    for (int r = 0; r <= ranks; r++) offset[r] = eh_chunk_start(count, r, ranks) * h * (int64_t)cp->op->real_size;
    status = eh_comm_check(ctx, eh_exchange_gather(ctx, cp, (char *)Y, host, offset));
cleanup:
    eh_free(host);
    eh_free(offset);
    return status;
}

/* Embeds the references of training at theta. */
static enhope_status embed_references(enhope_trainer *t, const eh_real *theta)
{
    const eh_parameters *p = &t->parameters;
    if (!p->z) return eh_train_embed_shared(t, theta, t->samples.resident_n, t->embedder.G);
    eh_embedder_exemplars(&t->embedder, theta, eh_parameters_exemplars(p, theta), 0, p->z);
    return ENHOPE_OK;
}

/* Counts the misclassified rows first .. first + count. The references are embedded at theta.
 * Each rank counts its share. weight (count): what each row counts; NULL: 1. */
static enhope_status count_errors(enhope_trainer *t, const eh_real *theta, int64_t first, int64_t count,
                                  const int64_t *weight, int64_t *errors)
{
    const int rank = eh_comm_rank(t->ctx), ranks = eh_comm_ranks(t->ctx);
    const int64_t from = first + eh_chunk_start(count, rank, ranks),
                  to = first + eh_chunk_start(count, rank + 1, ranks);
    int64_t own;
    EH_TRY(eh_comm_check(t->ctx, eh_embedder_errors(&t->embedder, theta, eh_row_at(t->samples.placed_rows, from),
                                                    t->samples.rows + from, to - from,
                                                    weight ? weight + (from - first) : NULL, &own)));
    *errors = eh_comm_sum(t->ctx, own);
    return ENHOPE_OK;
}

enhope_status eh_train_validate(enhope_trainer *t, const eh_real *theta, double *error)
{
    const eh_samples *s = &t->samples;
    int64_t errors;
    *error = NAN;
    if (!s->valid_n) return ENHOPE_OK;
    EH_TRY(embed_references(t, theta));
    EH_TRY(count_errors(t, theta, s->resident_n, s->valid_n, s->error_weight, &errors));
    *error = (double)errors / (double)(s->error_weight ? s->error_total : s->valid_n);
    return ENHOPE_OK;
}

/* The temperature of n validation samples. Y (capacity, h), L (n, c), scratch (c), label (n),
 * weight (n; NULL: all are 1): memory on the host. */
static double fit(enhope_trainer *t, const eh_real *theta, int64_t n, const eh_host_references *ref, float *Y,
                  double *L, double *scratch, int32_t *label, float *weight)
{
    for (int64_t i = 0; i < n; i += t->embedder.capacity) {
        const int64_t count = eh_min(n - i, t->embedder.capacity);
        eh_embedder_embed(&t->embedder, theta, eh_row_at(t->samples.placed_rows, t->samples.resident_n + i), count,
                          t->embedder.Y);
        t->cp->op->read(t->cp, Y, t->embedder.Y, count * ref->h);
        for (int64_t s = 0; s < count; s++) eh_log_similarities(ref, Y + s * ref->h, scratch, L + (i + s) * ref->c);
    }
    const eh_samples *s = &t->samples;
    for (int64_t i = 0; i < n; i++) label[i] = eh_samples_class(s, s->resident_n + i);
    for (int64_t i = 0; i < n && weight; i++) weight[i] = s->weight[s->rows[s->resident_n + i]];
    return eh_temperature(L, label, weight, n, ref->c);
}

static enhope_status calibrate(enhope_trainer *t, const eh_real *theta, enhope_model *m)
{
    enhope_context *ctx = t->ctx;
    const int64_t n = eh_min(t->samples.valid_n, MAX_SAMPLES), h = t->embedder.shape.h;
    float *G = NULL, *Y = NULL, *weight = NULL;
    double *L = NULL, *scratch = NULL;
    int32_t *label = NULL;
    enhope_status status;
    EH_CHECK(eh_new(ctx, "the embedded exemplars", t->parameters.z * h, sizeof *G, (void **)&G));
    EH_CHECK(eh_new(ctx, "a block of the embedding", t->embedder.capacity * h, sizeof *Y, (void **)&Y));
    EH_CHECK(eh_new(ctx, "the similarities", n * m->c, sizeof *L, (void **)&L));
    EH_CHECK(eh_new(ctx, "the similarities", m->c, sizeof *scratch, (void **)&scratch));
    EH_CHECK(eh_new(ctx, "labels", n, sizeof *label, (void **)&label));
    if (t->samples.weight) EH_CHECK(eh_new(ctx, "weights", n, sizeof *weight, (void **)&weight));
    t->cp->op->read(t->cp, G, t->embedder.G, t->parameters.z * h);
    const eh_host_references ref = {.G = G,
                                    .label = t->parameters.exemplar_label,
                                    .r = t->parameters.z,
                                    .h = h,
                                    .c = m->c,
                                    .gaussian = m->gaussian,
                                    .dof = m->dof};
    m->errors.temperature = fit(t, theta, n, &ref, Y, L, scratch, label, weight);
cleanup:
    eh_free(G);
    eh_free(Y);
    eh_free(L);
    eh_free(scratch);
    eh_free(label);
    eh_free(weight);
    return status;
}

/* The majority of the k nearest references without the point itself. If votes are equal, the
 * class of the nearest reference wins. nearest (k + 1); votes (c): zeros, before and after. */
static int32_t vote_of_others(const int64_t *nearest, int64_t k, int64_t self, const int32_t *label, int32_t *votes)
{
    int64_t others = 0, first = -1;
    int32_t max_votes = 0;
    for (int64_t j = 0; j <= k && others < k; j++)
        if (nearest[j] != self) {
            const int32_t count = ++votes[label[nearest[j]]];
            max_votes = count > max_votes ? count : max_votes;
            others++;
        }
    for (int64_t j = 0; j <= k && first < 0; j++)
        if (nearest[j] != self && votes[label[nearest[j]]] == max_votes) first = nearest[j];
    for (int64_t j = 0; j <= k; j++) votes[label[nearest[j]]] = 0;
    return first < 0 ? -1 : label[first];
}

/* Training errors if samples are compared with all training points: no point votes for itself. */
static enhope_status leave_one_out(enhope_trainer *t, const eh_real *theta, int64_t n, int64_t *errors)
{
    const eh_references ref = eh_embedder_references(&t->embedder);
    const int64_t k = t->k < ref.r ? t->k : ref.r - 1;
    int32_t *label = NULL, *votes = NULL; /* (references), (c) */
    int64_t winner;
    eh_knn_result found = {0};
    enhope_status status;
    EH_CHECK(eh_new(t->ctx, "labels", ref.r, sizeof *label, (void **)&label));
    EH_CHECK(eh_new(t->ctx, "votes", t->data->c, sizeof *votes, (void **)&votes));
    EH_CHECK(eh_knn_create(t->ctx, t->cp, t->embedder.capacity, k + 1, &(eh_predictions){.winner = &winner}, &found));
    for (int64_t i = 0; i < ref.r; i++) label[i] = eh_samples_class(&t->samples, i);
    *errors = 0;
    for (int64_t i = 0; i < n; i += t->embedder.capacity) {
        const int64_t count = eh_min(n - i, t->embedder.capacity);
        eh_embedder_embed(&t->embedder, theta, eh_row_at(t->samples.placed_rows, i), count, t->embedder.Y);
        eh_classify(&found, &ref, t->embedder.Y, count, 0);
        EH_CHECK(eh_classify_fetch(&found, t->ctx, count, NULL, 0, &(eh_predictions){0}));
        for (int64_t s = 0; s < count; s++) {
            const int64_t *nearest = found.host_index + s * (k + 1);
            *errors += vote_of_others(nearest, k, i + s, label, votes) != label[i + s];
        }
    }
cleanup:
    eh_knn_free(&found);
    eh_free(label);
    eh_free(votes);
    return status;
}

enhope_status eh_train_evaluate(enhope_trainer *t, const eh_real *theta, enhope_model *m)
{
    const int64_t n = eh_min(t->samples.resident_n, MAX_SAMPLES);
    EH_TRY(embed_references(t, theta));
    EH_TRY(t->parameters.z ? count_errors(t, theta, 0, n, NULL, &m->errors.train)
                           : eh_comm_check(t->ctx, leave_one_out(t, theta, n, &m->errors.train)));
    m->errors.train_n = n;
    if (!t->samples.valid_n && t->choice.n) {
        m->errors.temperature = t->choice.temperature;
        m->errors.valid = t->choice.errors;
        m->errors.valid_n = t->choice.n;
    } else if (!t->samples.valid_n && t->from) {
        m->errors.temperature = t->from->errors.temperature;
        m->errors.valid = t->from->errors.valid;
        m->errors.valid_n = t->from->errors.valid_n;
    }
    if (!t->samples.valid_n) return ENHOPE_OK;
    EH_TRY(count_errors(t, theta, t->samples.resident_n, t->samples.valid_n, NULL, &m->errors.valid));
    m->errors.valid_n = t->samples.valid_n;
    return t->parameters.z ? calibrate(t, theta, m) : ENHOPE_OK;
}
