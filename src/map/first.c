/* The product with the inputs that every map begins with, U = X' C, over sparse and dense rows. */
#include <math.h>

#include "map/map.h"

double eh_first_deviation(eh_compute *c, double response, const eh_real *X, int64_t ld, int64_t n, int64_t H)
{
    double square = 0;
    for (int64_t i = 0; i < n; i++) square += c->op->dot(c, H + 1, eh_at(c, X, i * ld), eh_at(c, X, i * ld));
    return sqrt(response / (n ? square / (double)n : 1));
}

void eh_first_forward(eh_compute *c, const eh_rows *x, int64_t H, const eh_real *C, int64_t F, eh_real *U)
{
    if (x->sparse_n) c->op->sparse_apply(c, x->sparse, x->sparse_rows, x->sparse_n, C, F, U);
    if (x->dense_n)
        c->op->gemm(c, false, false, x->dense_n, F, H + 1, 1, x->X, x->ld, C, F, 0, eh_at(c, U, x->sparse_n * F), F);
}

void eh_first_backward(eh_compute *c, const eh_rows *x, int64_t H, const eh_real *C, int64_t F, const eh_real *dU,
                       eh_real *dC, int64_t dx_n, eh_real *dX)
{
    const eh_real *dense = eh_at(c, dU, x->sparse_n * F);
    if (x->dense_n)
        c->op->gemm(c, true, false, H + 1, F, x->dense_n, 1, x->X, x->ld, dense, F, 0, dC, F);
    else
        c->op->fill(c, (H + 1) * F, 0, dC);
    if (x->sparse_n) c->op->sparse_grad(c, x->sparse, x->sparse_rows, x->sparse_n, dU, F, dC);
    if (dx_n) /* the row of C that meets the closing 1 has no input behind it */
        c->op->gemm(c, false, true, dx_n, H, F, 1, eh_at(c, dense, (x->dense_n - dx_n) * F), F, C, F, 0, dX, H);
}
