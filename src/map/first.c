/* The product of the inputs with the first matrix of every map, U = X' C, for sparse and dense
 * rows. */
#include <math.h>

#include "map/map.h"

double eh_first_deviation(eh_compute *c, double response, const eh_real *X, int64_t ld, int64_t n, int64_t H)
{
    double square = 0;
    if (c->op->host)
        for (int64_t i = 0; i < n; i++) square += c->op->dot(c, H + 1, eh_at(c, X, i * ld), eh_at(c, X, i * ld));
    else /* rows are padded with zeros, and each dot() would wait */
        square = c->op->dot(c, n * ld, X, X);
    return sqrt(response / (n ? square / (double)n : 1));
}

void eh_first_forward(eh_compute *c, const eh_rows *x, int64_t H, const eh_real *C, const eh_packed *C_packed,
                      int64_t F, int order, eh_real *U, eh_packed *S, bool keep)
{
    const int64_t first = x->sparse_n * F; /* of the dense rows */
    if (x->sparse_n) c->op->sparse_apply(c, x->sparse, x->sparse_rows, x->sparse_n, C, F, U);
    if (x->sparse_n && S) c->op->power(c, x->sparse_n, F, order, U, S);
    if (x->dense_n)
        c->op->product(c, &(eh_product){.M = x->dense_n,
                                        .N = F,
                                        .K = H + 1,
                                        .A = x->X,
                                        .lda = x->ld,
                                        .B = C_packed,
                                        .ldb = F,
                                        .epilogue = S ? EH_EPILOGUE_POWER : EH_EPILOGUE_NONE,
                                        .order = order,
                                        .C = keep || !S ? eh_at(c, U, first) : NULL,
                                        .P = S ? eh_packed_at(c, S, first) : NULL,
                                        .ldc = F});
}

/* dC = sum x' du^T over the rows of a chunk. */
static void first_sums(eh_compute *c, const eh_rows *x, int64_t H, int64_t F, const eh_packed *dU,
                       const eh_map_chunks *chunks, int64_t chunk)
{
    eh_real *dC = eh_map_chunk_gradient(c, chunks, chunk, 0);
    const int64_t first = chunks->start[chunk], end = chunks->start[chunk + 1];
    const int64_t sparse_end = end < x->sparse_n ? end : x->sparse_n, dense = first > sparse_end ? first : sparse_end;
    const bool add = eh_map_chunk_adds(chunks, chunk);
    if (end > dense)
        c->op->product(c, &(eh_product){.ta = true,
                                        .M = H + 1,
                                        .N = F,
                                        .K = end - dense,
                                        .A = eh_packed_at(c, x->X, (dense - x->sparse_n) * x->ld),
                                        .lda = x->ld,
                                        .B = eh_packed_at(c, dU, dense * F),
                                        .ldb = F,
                                        .add = add,
                                        .C = dC,
                                        .ldc = F});
    else if (!add)
        c->op->fill(c, (H + 1) * F, 0, dC);
    if (first < sparse_end)
        c->op->sparse_grad(c, x->sparse, eh_row_at(x->sparse_rows, first), sparse_end - first,
                           eh_packed_at(c, dU, first * F), F, dC);
}

void eh_first_backward(eh_compute *c, const eh_rows *x, int64_t H, const eh_packed *C_packed, int64_t F,
                       const eh_packed *dU, const eh_map_chunks *chunks, int64_t dx_n, eh_real *dX)
{
    if (dx_n) /* dx = C du; the row of C for the bias has no input */
        c->op->product(c, &(eh_product){.tb = true,
                                        .M = dx_n,
                                        .N = H,
                                        .K = F,
                                        .A = eh_packed_at(c, dU, (x->sparse_n + x->dense_n - dx_n) * F),
                                        .lda = F,
                                        .B = C_packed,
                                        .ldb = F,
                                        .C = dX,
                                        .ldc = H});
    for (int64_t p = 0; p < chunks->count; p++) {
        first_sums(c, x, H, F, dU, chunks, p);
        if (chunks->done) chunks->done(chunks->user, p);
    }
}
