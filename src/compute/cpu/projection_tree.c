/* Random projection trees: rows that are near each other are rarely separated by a plane halfway
 * between two random rows. A few trees give each row many near rows in n log n operations. */
#include <string.h>

#include "compute/cpu/cpu.h"
#include "compute/cpu/graph_search.h"

enhope_status eh_projection_tree_create(enhope_context *ctx, int64_t n, eh_projection_tree *t)
{
    EH_TRY(eh_new(ctx, "a tree of samples", n, sizeof *t->order, (void **)&t->order));
    EH_TRY(eh_new(ctx, "a tree of samples", n, sizeof *t->moved, (void **)&t->moved));
    EH_TRY(eh_new(ctx, "a tree of samples", n, sizeof *t->side, (void **)&t->side));
    EH_TRY(eh_new(ctx, "a tree of samples", n + 1, sizeof *t->start, (void **)&t->start));
    return eh_new(ctx, "a tree of samples", n + 1, sizeof *t->next, (void **)&t->next);
}

void eh_projection_tree_free(eh_projection_tree *t)
{
    eh_free(t->order);
    eh_free(t->moved);
    eh_free(t->side);
    eh_free(t->start);
    eh_free(t->next);
}

/* Moves the rows of one side of a plane halfway between two random rows to the beginning, in their
 * order. Returns their number; if nearly all rows are on one side, half of the rows. */
static int64_t divide(const eh_graph_search *s, uint64_t node, int64_t from, int64_t to, eh_projection_tree *t)
{
    enum { MIN_PART = 10 }; /* a side has at least 10 % of the rows */
    const int64_t n = to - from;
    const float *a =
        s->Z + t->order[from + (int64_t)(eh_random_u64(s->seed, EH_STREAM_TREE, 2 * node) % (uint64_t)n)] * s->dims;
    const float *b =
        s->Z + t->order[from + (int64_t)(eh_random_u64(s->seed, EH_STREAM_TREE, 2 * node + 1) % (uint64_t)n)] * s->dims;
    int64_t nearer = 0, farther = 0;
    for (int64_t i = from; i < to; i++) {
        const float *z = s->Z + t->order[i] * s->dims;
        t->side[i] = eh_cpu_distance(s->dims, z, a) < eh_cpu_distance(s->dims, z, b);
        nearer += t->side[i];
    }
    if (nearer < n / MIN_PART || nearer > n - n / MIN_PART || nearer == 0 || nearer == n) return n / 2;
    for (int64_t i = from, at = 0; i < to; i++) t->moved[from + (t->side[i] ? at++ : nearer + farther++)] = t->order[i];
    memcpy(t->order + from, t->moved + from, (size_t)n * sizeof *t->order);
    return nearer;
}

void eh_projection_tree_build(const eh_graph_search *s, int number, int64_t leaf, eh_projection_tree *t)
{
    for (int64_t i = 0; i < s->n; i++) t->order[i] = (int32_t)i;
    t->leaves = 1;
    t->start[0] = 0;
    t->start[1] = s->n;
    for (uint64_t level = 0;; level++) {
        const int64_t leaves = t->leaves;
        /* next[i]: where leaf i is divided; its end: it is not */
#pragma omp parallel for num_threads(s->threads) if (s->n * s->dims > 1 << 15) schedule(dynamic)
        for (int64_t i = 0; i < leaves; i++) {
            const int64_t from = t->start[i], to = t->start[i + 1];
            const uint64_t node = (uint64_t)number << 56 | level << 48 | (uint64_t)from;
            t->next[i] = to - from > leaf ? from + divide(s, node, from, to, t) : to;
        }
        int64_t divided = 0;
        for (int64_t i = 0; i < leaves; i++) divided += t->next[i] < t->start[i + 1];
        if (!divided) return;
        /* from the end, so that no start is overwritten before it is read */
        t->leaves = leaves + divided;
        t->start[t->leaves] = s->n;
        for (int64_t i = leaves - 1, at = t->leaves; i >= 0; i--) {
            const int64_t from = t->start[i], middle = t->next[i], to = t->start[at];
            if (middle < to) t->start[--at] = middle;
            t->start[--at] = from;
        }
    }
}
