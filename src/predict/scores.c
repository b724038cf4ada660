/* Collects labels and probabilities for metrics. All ranks collect the same. */
#include "predict/scores.h"

#include <math.h>
#include <string.h>

#include "comm/comm.h"

static const int64_t MAX_PROBABILITIES = (int64_t)1 << 25; /* 128 MB, twice */

enhope_status eh_scores_create(enhope_context *ctx, int32_t c, int64_t n, int64_t labeled, int64_t rows, eh_scores *out)
{
    int64_t all;
    *out = (eh_scores){.c = c, .width = c > 1 ? c : 0};
    if (!eh_mul(n, out->width, &all) || all > MAX_PROBABILITIES) out->width = 0;
    EH_TRY(eh_new(ctx, "counts", c, sizeof *out->count, (void **)&out->count));
    EH_TRY(eh_new(ctx, "shares of ranks", eh_comm_ranks(ctx) + 1, sizeof *out->offset, (void **)&out->offset));
    if (!out->width) return ENHOPE_OK;
    EH_TRY(eh_new(ctx, "the probabilities", rows * out->width, sizeof *out->round, (void **)&out->round));
    EH_TRY(eh_new(ctx, "the probabilities", labeled * out->width, sizeof *out->p, (void **)&out->p));
    EH_TRY(eh_new(ctx, "labels", labeled, sizeof *out->truth, (void **)&out->truth));
    return eh_new(ctx, "scores", labeled, sizeof *out->score, (void **)&out->score);
}

void eh_scores_free(eh_scores *s)
{
    eh_free(s->count);
    eh_free(s->round);
    eh_free(s->offset);
    eh_free(s->p);
    eh_free(s->truth);
    eh_free(s->score);
    *s = (eh_scores){0};
}

void eh_scores_set(eh_scores *s, int64_t row, const float *p)
{
    if (s->width) memcpy(s->round + row * s->width, p, (size_t)s->width * sizeof *p);
}

void eh_scores_gather(enhope_context *ctx, eh_scores *s, int64_t step, int64_t rows)
{
    if (!s->width) return;
    for (int r = 0; r <= eh_comm_ranks(ctx); r++)
        s->offset[r] = eh_min(r * step, rows) * s->width * (int64_t)sizeof *s->round;
    eh_comm_gather(ctx, s->round, s->offset);
}

void eh_scores_add(eh_scores *s, int64_t i, int64_t row, int32_t truth, int32_t label)
{
    s->count[label].predicted++;
    if (truth >= 0) s->count[truth].n++;
    if (truth == label) s->count[label].right++;
    if (!s->width) return;
    s->truth[i] = truth;
    memcpy(s->p + i * s->width, s->round + row * s->width, (size_t)s->width * sizeof *s->p);
}

/* The area under the ROC curve of class k. */
static double area(eh_scores *s, int64_t n, int32_t k)
{
    for (int64_t i = 0; i < n; i++)
        s->score[i] = (eh_score){.value = s->p[i * s->width + k], .positive = s->truth[i] == k};
    return eh_auc(s->score, n);
}

void eh_scores_metrics(eh_scores *s, int64_t n, enhope_class_metrics *row, enhope_metrics *out)
{
    double sum = 0;
    int32_t defined = 0;
    eh_metrics_count(s->count, s->c, row, out);
    for (int32_t k = 0; k < s->c; k++) {
        row[k].auc = s->width ? area(s, n, k) : NAN;
        if (isnan(row[k].auc)) continue;
        sum += row[k].auc;
        defined++;
    }
    out->auc = s->c == 2 ? row[1].auc : defined ? sum / defined : NAN;
}
