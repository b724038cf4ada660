/* Samples for tests of training, dense and sparse. */
#ifndef BLOBS_SUPPORT_H
#define BLOBS_SUPPORT_H

#include "base/base.h"

enum { N = 300, H = 6, C = 3 };

static float X[N * H];
static int32_t LABEL[N];
static enhope_dataset *blobs, *sparse_blobs;
static int64_t row_start[N + 1];
static int32_t column[N * H];

/* Three classes that no linear rule separates: class 2 lies on both sides of the others. Returns
 * false on failure. */
static inline bool make_blobs(enhope_context *ctx)
{
    for (int i = 0; i < N; i++) {
        LABEL[i] = i % C;
        const double centre = LABEL[i] == 0 ? 0.8 : LABEL[i] == 1 ? -0.8 : i / C % 2 ? 2.6 : -2.6;
        for (int j = 0; j < H; j++)
            X[i * H + j] = (float)((j < 2 ? centre : 0) + 0.35 * eh_random_normal(7, 1, (uint64_t)(i * H + j)));
        row_start[i + 1] = row_start[i] + H;
        for (int j = 0; j < H; j++) column[i * H + j] = j;
    }
    return !enhope_dataset_view_f32(ctx, N, H, X, LABEL, C, NULL, &blobs) &&
           !enhope_dataset_view_csr(ctx, N, H, row_start, column, X, LABEL, C, NULL, &sparse_blobs);
}

#endif
