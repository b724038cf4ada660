/* Writes how the page spreads the points of a collapsed map: for each point the rank of its
 * distance to the winning exemplar among the points won by exemplars of the same class, and a
 * direction from the exemplar. Ranks are computed here, because the page has the positions in 16
 * bits, in which the points of a collapsed class are equal.
 *
 * Points so near that the map shows no direction get directions a golden angle apart in the order
 * of their ranks, which fill the middle of the disc evenly. Others keep theirs. */
#include <math.h>
#include <stdlib.h>

#include "view/page.h"
#include "view/view.h"

static const double near = 0.005; /* relative to the size of the map */

typedef struct placed {
    double distance, angle; /* angle in turns */
    int64_t point;
    int32_t group; /* class of the winning exemplar */
} placed;

static int compare(const void *a, const void *b)
{
    const placed *p = a, *q = b;
    if (p->group != q->group) return p->group < q->group ? -1 : 1;
    if (p->distance < q->distance || p->distance > q->distance) return p->distance < q->distance ? -1 : 1;
    return (p->point > q->point) - (p->point < q->point);
}

static void measure(const view *v, placed *all)
{
    static const double pi = 3.14159265358979323846;
    const int64_t h = v->session.model_info.outputs;
    for (int64_t i = 0; i < v->n; i++) {
        int64_t row;
        const view_part *part = view_point(v, i, &row);
        const int64_t winner = part->p.winner[row];
        const float *y = part->p.Y + row * h, *e = v->exemplar + winner * h;
        double sum = 0;
        for (int64_t d = 0; d < h; d++) sum += ((double)y[d] - (double)e[d]) * ((double)y[d] - (double)e[d]);
        const double right = (double)y[0] - (double)e[0], up = h > 1 ? (double)y[1] - (double)e[1] : 0;
        all[i] = (placed){HUGE_VAL, 0, i, v->exemplar_class[winner]};
        if (!isfinite(sum)) continue;
        all[i].distance = sqrt(sum);
        all[i].angle = atan2(up, right) / (2 * pi);
    }
}

/* Ranks and directions of the `count` points of a class, nearest first. */
static void rank_class(const placed *all, int64_t count, double nearness, uint16_t *rank, uint16_t *angle)
{
    static const double golden = 0.61803398874989485;
    for (int64_t i = 0; i < count; i++) {
        const double turn = all[i].distance > nearness ? all[i].angle : golden * (double)i;
        rank[all[i].point] = (uint16_t)lround(65535 * ((double)i + 0.5) / (double)count);
        angle[all[i].point] = (uint16_t)((int64_t)lround(65536 * (turn - floor(turn))) & 65535);
    }
}

int view_put_spread(const view *v, FILE *out)
{
    if (!v->exemplar || !v->n) return 0;
    placed *all = cli_alloc("distances", v->n, 1, sizeof *all);
    uint16_t *rank = all ? cli_alloc("ranks", v->n, 2, sizeof *rank) : NULL, *angle = rank ? rank + v->n : NULL;
    int code = rank ? 0 : CLI_FAILED;
    if (!code) {
        const double nearness = near * fmax(v->high[0] - v->low[0], v->high[1] - v->low[1]);
        measure(v, all);
        qsort(all, (size_t)v->n, sizeof *all, compare);
        for (int64_t first = 0, last; first < v->n; first = last) {
            for (last = first; last < v->n && all[last].group == all[first].group;) last++;
            rank_class(all + first, last - first, nearness, rank, angle);
        }
        code = cli_page_put_block(out, "rank", rank, (size_t)v->n, sizeof *rank);
    }
    if (!code) code = cli_page_put_block(out, "angle", angle, (size_t)v->n, sizeof *angle);
    free(all);
    free(rank);
    return code;
}
