/* Random exemplars: as many distinct samples of each class as it has exemplars, each choice with
 * equal probability. */
#include <string.h>

#include "exemplar/exemplar.h"

enum { BLOCK = 256 }; /* rows gathered at once */

/* Copies the samples rows[0..z) to E (z, H). */
static enhope_status read_rows(enhope_context *ctx, eh_compute *cp, const eh_table *t, const int64_t *rows, int64_t z,
                               float *E)
{
    const int64_t H = t->x.H, block = z < BLOCK ? z : BLOCK;
    enhope_status status;
    int64_t numbers;
    eh_row *chosen = NULL; /* (z) */
    eh_real *X = NULL;     /* (block, H + 1) */
    float *host = NULL;    /* host copy of X */
    if (!eh_mul(block, H + 1, &numbers)) return eh_fail_memory(ctx, "exemplars", (size_t)block, cp->op->real_size);
    EH_CHECK(eh_compute_new(cp, ctx, "exemplars", z, sizeof *rows, &chosen));
    EH_CHECK(eh_compute_new(cp, ctx, "exemplars", numbers, cp->op->real_size, &X));
    EH_CHECK(eh_new(ctx, "exemplars", numbers, sizeof *host, (void **)&host));
    cp->op->send(cp, chosen, rows, (size_t)z * sizeof *rows);
    for (int64_t from = 0; from < z; from += block) {
        const int64_t q = z - from < block ? z - from : block;
        cp->op->gather(cp, t, eh_row_at(chosen, from), q, X, H + 1, NULL);
        cp->op->read(cp, host, X, q * (H + 1));
        for (int64_t i = 0; i < q; i++) memcpy(E + (from + i) * H, host + i * (H + 1), (size_t)H * sizeof *E);
    }
    status = cp->op->sync(cp, ctx);
cleanup:
    if (chosen) cp->op->release(cp, chosen);
    if (X) cp->op->release(cp, X);
    eh_free(host);
    return status;
}

enhope_status eh_exemplar_random(enhope_context *ctx, eh_compute *cp, const eh_table *t, const int64_t *rows, int64_t n,
                                 int32_t c, int64_t z, uint64_t seed, float *E, int32_t *label)
{
    enhope_status status;
    eh_exemplar_plan plan = {0};
    int64_t *order = NULL, *chosen = NULL, numbers; /* (n), (z) */
    float *drawn = NULL;                            /* (z, H) */
    EH_CHECK(eh_exemplar_plan_create(ctx, t, rows, n, c, z, &plan));
    if (!eh_mul(z, t->x.H, &numbers)) {
        status = eh_fail_memory(ctx, "exemplars", (size_t)z, sizeof *drawn);
        goto cleanup;
    }
    EH_CHECK(eh_new(ctx, "order of rows", n, sizeof *order, (void **)&order));
    EH_CHECK(eh_new(ctx, "exemplars", z, sizeof *chosen, (void **)&chosen));
    EH_CHECK(eh_new(ctx, "exemplars", numbers, sizeof *drawn, (void **)&drawn));
    for (int32_t k = 0; k < c; k++) {
        eh_shuffle(seed, EH_STREAM_EXEMPLAR, (uint64_t)k, plan.start[k + 1] - plan.start[k], order);
        for (int64_t j = plan.first[k]; j < plan.first[k + 1]; j++)
            chosen[j] = plan.rows[plan.start[k] + order[j - plan.first[k]]];
    }
    EH_CHECK(read_rows(ctx, cp, t, chosen, z, drawn));
    memcpy(E, drawn, (size_t)numbers * sizeof *E);
    eh_exemplar_plan_labels(&plan, c, label);
cleanup:
    eh_free(order);
    eh_free(chosen);
    eh_free(drawn);
    eh_exemplar_plan_free(&plan);
    return status;
}
