/* The matrix view. */
#include <string.h>

#include "base/base.h"

void eh_matrix_row(const eh_matrix *x, int64_t i, float *out)
{
    const int64_t H = x->H;
    switch (x->kind) {
    case ENHOPE_U8:
        for (int64_t j = 0; j < H; j++) out[j] = x->u8[i * H + j];
        break;
    case ENHOPE_F32: memcpy(out, x->f32 + i * H, (size_t)H * sizeof *out); break;
    case ENHOPE_CSR:
        memset(out, 0, (size_t)H * sizeof *out);
        for (int64_t t = x->row_start[i]; t < x->row_start[i + 1]; t++) out[x->column[t]] = x->value[t];
        break;
    }
}
