/* Labels of a few samples, spread over a neighbor graph to all others (Zhou et al. 2004).
 *
 * A has the number of links between two samples, 0 to 2, and D the sums of its rows. Each class has
 * a function f over the samples, which begins as f0, 1 for its labels and 0 elsewhere:
 *
 *   f <- alpha D^-1/2 A D^-1/2 f + (1 - alpha) f0
 *
 * A sample gets the class whose f is largest. The code iterates u = D^-1/2 f, for a group of
 * classes at a time, so that memory is linear in n. Each u_i is written by one thread in a fixed
 * order. */
#include <math.h>
#include <string.h>

#include "compute/cpu/cpu.h"
#include "compute/cpu/graph_search.h"

enum { ROUNDS = 60, WIDE = 8 }; /* classes of a group */
static const float ALPHA = 0.99f;

typedef struct spread {
    const eh_graph_labels *g;
    int64_t *start; /* (n + 1) */
    int32_t *other; /* (2 n k) the samples linked with sample i, from start[i] on */
    float *scale;   /* (n) D^-1/2 */
    float *u, *v;   /* (n, WIDE) of the present round and the next one */
    float *best;    /* (n) the largest u so far */
} spread;

static enhope_status spread_create(enhope_context *ctx, spread *s)
{
    const int64_t n = s->g->n;
    EH_TRY(eh_new(ctx, "links of samples", n + 1, sizeof *s->start, (void **)&s->start));
    EH_TRY(eh_new(ctx, "links of samples", n * s->g->k * 2, sizeof *s->other, (void **)&s->other));
    EH_TRY(eh_new(ctx, "spread labels", n, sizeof *s->scale, (void **)&s->scale));
    EH_TRY(eh_new(ctx, "spread labels", n * WIDE, sizeof *s->u, (void **)&s->u));
    EH_TRY(eh_new(ctx, "spread labels", n * WIDE, sizeof *s->v, (void **)&s->v));
    return eh_new(ctx, "spread labels", n, sizeof *s->best, (void **)&s->best);
}

static void spread_free(spread *s)
{
    eh_free(s->start);
    eh_free(s->other);
    eh_free(s->scale);
    eh_free(s->u);
    eh_free(s->v);
    eh_free(s->best);
}

/* Lists the links of both directions. */
static void link_both_ways(spread *s)
{
    const int64_t n = s->g->n, k = s->g->k;
    const int32_t *to = s->g->neighbor;
    for (int64_t e = 0; e < n * k; e++) s->start[to[e] + 1]++;
    for (int64_t i = 0; i < n; i++) s->start[i + 1] += s->start[i] + k;
    /* start[i] is the next free place of sample i while the list is filled, ... */
    for (int64_t i = 0; i < n; i++)
        for (int64_t e = i * k; e < (i + 1) * k; e++) {
            s->other[s->start[i]++] = to[e];
            s->other[s->start[to[e]]++] = (int32_t)i;
        }
    /* ... and the first place of sample i + 1 afterwards. */
    memmove(s->start + 1, s->start, (size_t)n * sizeof *s->start);
    s->start[0] = 0;
    for (int64_t i = 0; i < n; i++) s->scale[i] = 1 / sqrtf((float)(s->start[i + 1] - s->start[i]));
}

/* The row of v of sample i. */
static void next_row(const spread *s, int32_t first, int64_t i)
{
    const int32_t label = s->g->label[i] - first;
    const float c = s->scale[i];
    float sum[WIDE] = {0}, *v = s->v + i * WIDE;
    for (int64_t e = s->start[i]; e < s->start[i + 1]; e++) {
        const float *u = s->u + (int64_t)s->other[e] * WIDE;
        for (int k = 0; k < WIDE; k++) sum[k] += u[k];
    }
    for (int k = 0; k < WIDE; k++) v[k] = c * (ALPHA * c * sum[k] + (k == label ? 1 - ALPHA : 0));
}

/* Spreads the classes first to first + WIDE - 1, and gives samples the best of them. */
static void spread_group(spread *s, int32_t first, int32_t *to)
{
    const int64_t n = s->g->n;
    memset(s->u, 0, (size_t)(n * WIDE) * sizeof *s->u);
    for (int64_t i = 0; i < n; i++) {
        const int32_t label = s->g->label[i] - first;
        if (s->g->label[i] >= 0 && label >= 0 && label < WIDE) s->u[i * WIDE + label] = s->scale[i];
    }
    for (int round = 0; round < ROUNDS; round++) {
#pragma omp parallel for num_threads(s->g->threads) schedule(static)
        for (int64_t i = 0; i < n; i++) next_row(s, first, i);
        float *const last = s->u;
        s->u = s->v;
        s->v = last;
    }
    for (int64_t i = 0; i < n; i++)
        for (int k = 0; k < WIDE; k++)
            if (s->u[i * WIDE + k] > s->best[i]) {
                s->best[i] = s->u[i * WIDE + k];
                to[i] = first + k;
            }
}

enhope_status eh_graph_spread(enhope_context *ctx, const eh_graph_labels *g, int32_t *to)
{
    spread s = {.g = g};
    enhope_status status;
    EH_CHECK(spread_create(ctx, &s));
    link_both_ways(&s);
    for (int64_t i = 0; i < g->n; i++) to[i] = -1;
    for (int32_t first = 0; first < g->classes; first += WIDE) spread_group(&s, first, to);
cleanup:
    spread_free(&s);
    return status;
}
