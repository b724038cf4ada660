/* Approximate nearest neighbors of all rows: lists from the leaves of a few projection trees, then
 * descent (Dong, Charikar and Li 2011): a neighbor of a neighbor is often a neighbor.
 *
 * Each round reads the lists of the round before and writes new ones, and each list is written by
 * one thread in a fixed order. A pair is compared only if one of its two links is new. */
#include <math.h>
#include <omp.h>
#include <string.h>

#include "compute/cpu/cpu.h"
#include "compute/cpu/graph_search.h"

enum { TREES = 8, MIN_WIDTH = 20, MORE = 5, ROUNDS = 12 };
static const double FEW = 0.002; /* share of the entries of all lists; fewer changes end the descent */

/* A neighbor of a row; fresh: found in the last round. */
typedef struct link {
    float distance;
    int32_t row; /* -1: none yet */
    bool fresh;
} link;

typedef struct lists {
    const eh_graph_search *s;
    int64_t width;       /* links of a row, more than k, because longer lists find more */
    link *now, *next;    /* (n, width) nearest first */
    int64_t *back_start; /* (n + 1) */
    int32_t *back;       /* (n width) the rows that link to row i, from back_start[i] on, at most `width` of them */
    bool *back_fresh;    /* (n width) */
    int32_t *seen;       /* (threads, n) the row for which a row was compared last */
} lists;

static enhope_status lists_create(enhope_context *ctx, const eh_graph_search *s, lists *l)
{
    const int64_t n = s->n;
    l->s = s;
    l->width = eh_min(eh_max(s->k + MORE, MIN_WIDTH), n - 1);
    EH_TRY(eh_new(ctx, "neighbors", n * l->width, sizeof *l->now, (void **)&l->now));
    EH_TRY(eh_new(ctx, "neighbors", n * l->width, sizeof *l->next, (void **)&l->next));
    EH_TRY(eh_new(ctx, "neighbors", n + 1, sizeof *l->back_start, (void **)&l->back_start));
    EH_TRY(eh_new(ctx, "neighbors", n * l->width, sizeof *l->back, (void **)&l->back));
    EH_TRY(eh_new(ctx, "neighbors", n * l->width, sizeof *l->back_fresh, (void **)&l->back_fresh));
    EH_TRY(eh_new(ctx, "neighbors", n * s->threads, sizeof *l->seen, (void **)&l->seen));
    for (int64_t i = 0; i < n * l->width; i++) l->now[i] = (link){INFINITY, -1, false};
    return ENHOPE_OK;
}

static void lists_free(lists *l)
{
    eh_free(l->now);
    eh_free(l->next);
    eh_free(l->back_start);
    eh_free(l->back);
    eh_free(l->back_fresh);
    eh_free(l->seen);
}

static const float *row_of(const lists *l, int64_t i)
{
    return l->s->Z + i * l->s->dims;
}

/* Inserts a row into a sorted list. Returns whether it was near enough and not in the list. */
static bool insert(link *list, int64_t width, int32_t row, float d)
{
    int64_t at = width;
    if (!(d < list[width - 1].distance)) return false;
    for (int64_t j = 0; j < width && list[j].distance <= d; j++)
        if (list[j].row == row) return false;
    while (at > 0 && d < list[at - 1].distance) at--;
    memmove(list + at + 1, list + at, (size_t)(width - at - 1) * sizeof *list);
    list[at] = (link){d, row, true};
    return true;
}

/* Compares the rows of each leaf with each other. */
static void add_leaves(lists *l, const eh_projection_tree *t)
{
#pragma omp parallel for num_threads(l->s->threads) schedule(dynamic, 8)
    for (int64_t leaf = 0; leaf < t->leaves; leaf++)
        for (int64_t a = t->start[leaf]; a < t->start[leaf + 1]; a++)
            for (int64_t b = t->start[leaf]; b < t->start[leaf + 1]; b++) {
                const int32_t i = t->order[a], j = t->order[b];
                if (i != j)
                    insert(l->now + i * l->width, l->width, j, eh_cpu_distance(l->s->dims, row_of(l, i), row_of(l, j)));
            }
}

/* Lists the rows that link to each row: the first `width` of them. Rows are in a random order. */
static void turn_links(lists *l)
{
    const int64_t n = l->s->n, width = l->width;
    int64_t *count = l->back_start;
    memset(count, 0, (size_t)(n + 1) * sizeof *count);
    for (int64_t i = 0; i < n * width; i++) {
        const int32_t to = l->now[i].row;
        if (to < 0 || count[to] == width) continue;
        l->back[to * width + count[to]] = (int32_t)(i / width);
        l->back_fresh[to * width + count[to]++] = l->now[i].fresh;
    }
}

/* Compares row i with the neighbors of row j. */
static int64_t visit(const lists *l, int32_t i, int32_t j, bool fresh, int32_t *seen, link *to)
{
    int64_t changes = 0;
    for (const link *b = l->now + j * l->width, *end = b + l->width; b < end && b->row >= 0; b++) {
        if (!(fresh || b->fresh) || b->row == i || seen[b->row] == i + 1) continue;
        seen[b->row] = i + 1;
        changes += insert(to, l->width, b->row, eh_cpu_distance(l->s->dims, row_of(l, i), row_of(l, b->row)));
    }
    return changes;
}

/* Returns the number of links that changed. */
static int64_t descend(lists *l)
{
    const int64_t n = l->s->n, width = l->width;
    int64_t changes = 0;
    turn_links(l);
    memset(l->seen, 0, (size_t)(n * l->s->threads) * sizeof *l->seen);
#pragma omp parallel for num_threads(l->s->threads) schedule(dynamic, 64) reduction(+ : changes)
    for (int64_t i = 0; i < n; i++) {
        const link *from = l->now + i * width;
        link *to = l->next + i * width;
        int32_t *seen = l->seen + omp_get_thread_num() * n;
        for (int64_t j = 0; j < width; j++) {
            to[j] = from[j];
            to[j].fresh = false;
            if (from[j].row >= 0) seen[from[j].row] = (int32_t)i + 1;
        }
        for (int64_t j = 0; j < width && from[j].row >= 0; j++)
            changes += visit(l, (int32_t)i, from[j].row, from[j].fresh, seen, to);
        for (int64_t j = 0; j < l->back_start[i]; j++) {
            const int32_t back = l->back[i * width + j];
            if (seen[back] != i + 1) {
                seen[back] = (int32_t)i + 1;
                changes += insert(to, width, back, eh_cpu_distance(l->s->dims, row_of(l, i), row_of(l, back)));
            }
            changes += visit(l, (int32_t)i, back, l->back_fresh[i * width + j], seen, to);
        }
    }
    link *swap = l->now;
    l->now = l->next;
    l->next = swap;
    return changes;
}

static bool has(const link *list, int64_t count, int64_t row)
{
    for (int64_t j = 0; j < count; j++)
        if (list[j].row == row) return true;
    return false;
}

/* Copies the first k neighbors of each row. If fewer were found, the rows that follow it in memory
 * complete the list. */
static void take(const lists *l, int32_t *index)
{
    const int64_t n = l->s->n, k = l->s->k;
    for (int64_t i = 0; i < n; i++) {
        link *list = l->now + i * l->width;
        for (int64_t j = 0, other = i; j < k; j++) {
            while (list[j].row < 0) {
                other = (other + 1) % n;
                if (!has(list, j, other)) list[j].row = (int32_t)other;
            }
            index[i * k + j] = list[j].row;
        }
    }
}

enhope_status eh_graph_search_run(enhope_context *ctx, const eh_graph_search *s, int32_t *index)
{
    lists l = {0};
    eh_projection_tree tree = {0};
    enhope_status status;
    EH_CHECK(lists_create(ctx, s, &l));
    EH_CHECK(eh_projection_tree_create(ctx, s->n, &tree));
    for (int number = 0; number < TREES; number++) {
        eh_projection_tree_build(s, number, 2 * l.width, &tree);
        add_leaves(&l, &tree);
    }
    for (int round = 0; round < ROUNDS; round++)
        if ((double)descend(&l) < FEW * (double)(s->n * l.width)) break;
    take(&l, index);
cleanup:
    lists_free(&l);
    eh_projection_tree_free(&tree);
    return status;
}
