/* Writes how the page spreads the points of a collapsed map: for each point the rank of its
 * distance to the winning exemplar among the points won by exemplars of the same class, and its
 * direction from the exemplar. Both are computed here, because the page has the positions in 16
 * bits, in which the points of a collapsed class are equal. */
#include <math.h>
#include <stdlib.h>

#include "view/page.h"
#include "view/view.h"

typedef struct placed {
    double distance;
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

/* The direction of (x, y) in 65536ths of a turn. Points on the exemplar get directions that are far
 * from those of the points before them. */
static uint16_t angle_of(double x, double y, int64_t point)
{
    static const double pi = 3.14159265358979323846, golden = 0.61803398874989485;
    const bool known = isfinite(x) && isfinite(y) && (fabs(x) > 0 || fabs(y) > 0);
    const double turn = known ? atan2(y, x) / (2 * pi) : golden * (double)point;
    return (uint16_t)((int64_t)lround(65536 * (turn - floor(turn))) & 65535);
}

static void measure(const view *v, placed *all, uint16_t *angle)
{
    const int64_t h = v->session.model_info.outputs;
    for (int64_t i = 0; i < v->n; i++) {
        int64_t row;
        const view_part *part = view_point(v, i, &row);
        const int64_t winner = part->p.winner[row];
        const float *y = part->p.Y + row * h, *e = v->exemplar + winner * h;
        double sum = 0;
        for (int64_t d = 0; d < h; d++) sum += ((double)y[d] - (double)e[d]) * ((double)y[d] - (double)e[d]);
        all[i] = (placed){isfinite(sum) ? sum : HUGE_VAL, i, v->exemplar_class[winner]};
        angle[i] = angle_of((double)y[0] - (double)e[0], h > 1 ? (double)y[1] - (double)e[1] : 0, i);
    }
}

int view_put_spread(const view *v, FILE *out)
{
    if (!v->exemplar || !v->n) return 0;
    placed *all = cli_alloc("distances", v->n, 1, sizeof *all);
    uint16_t *rank = all ? cli_alloc("ranks", v->n, 2, sizeof *rank) : NULL, *angle = rank ? rank + v->n : NULL;
    int code = rank ? 0 : CLI_FAILED;
    if (!code) {
        measure(v, all, angle);
        qsort(all, (size_t)v->n, sizeof *all, compare);
        for (int64_t first = 0, last; first < v->n; first = last) {
            for (last = first; last < v->n && all[last].group == all[first].group;) last++;
            for (int64_t i = first; i < last; i++)
                rank[all[i].point] = (uint16_t)lround(65535 * ((double)(i - first) + 0.5) / (double)(last - first));
        }
        code = cli_page_put_block(out, "rank", rank, (size_t)v->n, sizeof *rank);
    }
    if (!code) code = cli_page_put_block(out, "angle", angle, (size_t)v->n, sizeof *angle);
    free(all);
    free(rank);
    return code;
}
