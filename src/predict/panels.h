/* Products of rows with a matrix that is packed once, and lists of nonzero inputs. */
#ifndef EH_PANELS_H
#define EH_PANELS_H

#include "base/base.h"

enum {
    EH_PANEL = 32,      /* columns of a panel */
    EH_PANEL_HALF = 16, /* columns that a block of registers has at least */
    EH_PANEL_ROWS = 12  /* rows that are multiplied at a time, a group */
};

/* A matrix (K, N) in panels of columns, each (K, EH_PANEL). The last is padded with zeros. */
typedef struct eh_panels {
    int64_t K, N;
    float *P;
    int but; /* best kernels of the processor to skip, for tests */
} eh_panels;

/* Packs W (K, N), or W (N, K) if transposed. bias: the last row is added to every result, so that
 * the sign of a sum that is zero does not depend on the inputs that were skipped. */
enhope_status eh_panels_create(enhope_context *ctx, int64_t K, int64_t N, const float *W, bool transposed, bool bias,
                               eh_panels *out);
void eh_panels_free(eh_panels *w);
/* Columns of a result: N, rounded up to whole panels. */
int64_t eh_panels_width(const eh_panels *w);

/* The inputs k of a group of rows that are not zero in all of its rows, ascending. */
typedef struct eh_panels_list {
    const int32_t *k; /* (count); NULL: all K inputs */
    int64_t count;
} eh_panels_list;

/* If there are several rows, A and C have memory for whole groups of rows. */
typedef struct eh_panels_task {
    int64_t rows;
    const float *A; /* (rows, K; lda) */
    int64_t lda;
    const eh_panels_list *lists; /* one for each group of EH_PANEL_ROWS rows; NULL: all inputs */
    bool compact;                /* one row: A has only the inputs of the list */
    int order;                   /* the results are raised to this power */
    float *C;                    /* (rows, width; ldc) */
    int64_t ldc;
} eh_panels_task;

/* Computes C = (A W)^order. Each entry is one chain of multiply-adds in ascending k, so its bits do
 * not depend on the other rows, the lists or the kernel's block. */
void eh_panels_multiply(const eh_panels *w, const eh_panels_task *t);

/* Lists the k below K for which a row of A (rows, K; ld) is not zero. A row has a multiple of
 * EH_PANEL_HALF entries, zero from K on. list: (K + EH_PANEL_HALF). Returns their number. */
int64_t eh_panels_nonzero(int64_t rows, int64_t K, const float *A, int64_t ld, int32_t *list);
/* The same for one row, with its values: value (K + EH_PANEL_HALF). */
int64_t eh_panels_compact(int64_t K, const float *a, int32_t *list, float *value);

#endif
