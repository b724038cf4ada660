/* Applies a map to placed rows, block by block. */
#include "model/embedder.h"

int64_t eh_embedder_stride(int64_t H)
{
    enum { ROW_ALIGN = 16 };
    return (H + ROW_ALIGN) / ROW_ALIGN * ROW_ALIGN;
}

void eh_embedder_init(eh_embedder *e, enhope_context *ctx, eh_compute *cp, const eh_map *map, const eh_map_shape *shape)
{
    const int64_t ld = eh_embedder_stride(shape->H);
    *e = (eh_embedder){.ctx = ctx, .cp = cp, .map = map, .shape = *shape, .ld = ld};
}

enhope_status eh_embedder_place(eh_embedder *e, const eh_matrix *x, const int32_t *label, const float *shift,
                                const float *mul)
{
    EH_TRY(e->cp->op->place(e->cp, e->ctx, x, label, shift, mul, &e->table));
    e->placed = true;
    return ENHOPE_OK;
}

enhope_status eh_embedder_allocate(eh_embedder *e, const eh_embedder_sizes *s)
{
    enhope_context *ctx = e->ctx;
    eh_compute *cp = e->cp;
    const size_t size = cp->op->real_size;
    const int64_t h = e->shape.h, outputs = s->outputs ? s->outputs : h, rows = s->capacity + s->behind;
    int64_t x_count, y_count, g_count;
    if (!eh_mul(s->dense, e->ld, &x_count) || !eh_mul(s->embedded, outputs, &y_count) ||
        !eh_mul(s->embedded_references, h, &g_count) || rows > INT32_MAX || e->ld > INT32_MAX) /* the limit of BLAS */
        return eh_fail(ctx, ENHOPE_ERROR_ARGUMENT,
                       "a batch of %lld rows of %lld inputs is too large; use a smaller batch", (long long)rows,
                       (long long)e->shape.H);
    e->capacity = s->capacity;
    e->dense = s->dense;
    e->r = s->references;
    EH_TRY(eh_compute_new(cp, ctx, "a block of samples", x_count, cp->packed_size, &e->X));
    EH_TRY(eh_compute_new(cp, ctx, "the map's workspace", e->map->work(&e->shape, cp, rows, s->keep), size, &e->work));
    EH_TRY(eh_compute_new(cp, ctx, "the embedding", y_count, size, &e->Y));
    if (!e->r) return ENHOPE_OK;
    EH_TRY(eh_compute_new(cp, ctx, "the embedded references", g_count, size, &e->G));
    return eh_compute_new(cp, ctx, "labels of the references", e->r, sizeof(int32_t), &e->reference_label);
}

enhope_status eh_embedder_search(eh_embedder *e, int64_t n, int64_t k, const eh_predictions *wanted)
{
    if (!wanted) EH_TRY(eh_new(e->ctx, "labels", n, sizeof *e->prediction, (void **)&e->prediction));
    return eh_knn_create(e->ctx, e->cp, n, k, wanted ? wanted : &(eh_predictions){.label = e->prediction}, &e->nearest);
}

void eh_embedder_free(eh_embedder *e)
{
    if (!e->cp) return;
    eh_knn_free(&e->nearest);
    void *const placed[] = {e->X, e->work, e->Y, e->G, e->reference_label};
    for (size_t i = 0; i < sizeof placed / sizeof *placed; i++)
        if (placed[i]) e->cp->op->release(e->cp, placed[i]);
    if (e->placed) e->cp->op->unplace(e->cp, &e->table);
    eh_free(e->prediction);
    *e = (eh_embedder){0};
}

eh_rows eh_embedder_gather(eh_embedder *e, const eh_row *rows, int64_t n, const eh_augment *with)
{
    if (e->sparse) return (eh_rows){.sparse = &e->table, .sparse_rows = rows, .sparse_n = n};
    e->cp->op->gather_packed(e->cp, &e->table, rows, n, e->X, e->ld, NULL, with);
    return (eh_rows){.X = e->X, .ld = e->ld, .dense_n = n};
}

void eh_embedder_embed(eh_embedder *e, const eh_real *theta, const eh_row *rows, int64_t count, eh_real *Y)
{
    for (int64_t i = 0; i < count; i += e->capacity) {
        const int64_t n = eh_min(count - i, e->capacity);
        const eh_rows block = eh_embedder_gather(e, eh_row_at(rows, i), n, NULL);
        e->map->forward(&e->shape, e->cp, theta, &block, e->work, eh_at(e->cp, Y, i * e->shape.h), false);
    }
}

void eh_embedder_exemplars(eh_embedder *e, const eh_real *theta, const eh_real *E, int64_t first, int64_t count)
{
    const eh_rows rows = {.X = e->X, .ld = e->ld, .dense_n = count};
    e->cp->op->append_bias(e->cp, count, e->shape.H, E, e->X, e->ld);
    e->map->forward(&e->shape, e->cp, theta, &rows, e->work, eh_at(e->cp, e->G, first * e->shape.h), false);
}

eh_references eh_embedder_references(const eh_embedder *e)
{
    return (eh_references){.G = e->G,
                           .label = e->reference_label,
                           .r = e->r,
                           .h = e->shape.h,
                           .similarity = e->votes ? NULL : &e->similarity};
}

enhope_status eh_embedder_errors(eh_embedder *e, const eh_real *theta, const eh_row *placed, const int64_t *rows,
                                 int64_t n, const int64_t *weight, int64_t *errors)
{
    const eh_references ref = eh_embedder_references(e);
    *errors = 0;
    for (int64_t i = 0; i < n; i += e->capacity) {
        const int64_t count = eh_min(n - i, e->capacity);
        eh_embedder_embed(e, theta, eh_row_at(placed, i), count, e->Y);
        eh_classify(&e->nearest, &ref, e->Y, count, 0);
        EH_TRY(eh_classify_fetch(&e->nearest, e->ctx, count, NULL, 0, &(eh_predictions){.label = e->prediction}));
        for (int64_t s = 0; s < count; s++)
            if (e->prediction[s] != e->table.label[rows[i + s]]) *errors += weight ? weight[i + s] : 1;
    }
    return ENHOPE_OK;
}
