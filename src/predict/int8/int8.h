/* The int8 engine (docs/reference/int8.md): packed weights, and kernels for several instruction
 * sets that give the same bits. */
#ifndef EH_INT8_H
#define EH_INT8_H

#include "model/quantized.h"

enum {
    EH_INT8_GROUP = 4,  /* inputs that one instruction multiplies and adds */
    EH_INT8_PANEL = 16, /* columns of a block of weights */
    EH_INT8_BLOCK = 64, /* bytes of a block: GROUP inputs of PANEL columns */
    EH_INT8_WORD = 64   /* groups of a word of bits */
};

/* Weights (K, N) in blocks, panel after panel. Inputs and columns are padded with zeros. Dense
 * weights have the blocks of all groups, others only those that are not all zero. */
typedef struct eh_int8_matrix {
    int64_t groups, panels;
    bool dense;
    int8_t *block;  /* (blocks, BLOCK) */
    int64_t words;  /* words of bits of a panel */
    uint64_t *bits; /* (panels, words) bit g of a panel: group g has a block */
    int64_t *first; /* (panels, words) first block of each word */
    float *scale;   /* (panels * PANEL) */
    float *bias;    /* (panels * PANEL) */
} eh_int8_matrix;

typedef struct eh_int8_map {
    const struct eh_int8_kernel *kernel;
    int64_t H, h;
    int order;
    bool bytes;         /* low is 0 and step 1 for all inputs: bytes are their own codes */
    float *low;         /* (H) */
    float *inverse;     /* (H) 1 / step */
    uint8_t *zero_code; /* (H) code of the input 0, for sparse rows */
    float *power_low;   /* (panels of C * PANEL) */
    float *power_inverse;
    eh_int8_matrix C, W;
    float *V; /* (h, panels of W * PANEL) */
} eh_int8_map;

/* Scratch memory for a tile of n rows. Rows of codes are padded with zeros to whole blocks. */
typedef struct eh_int8_tile {
    int64_t n;
    uint8_t *x; /* (n, ldx) codes of the inputs */
    uint8_t *s; /* (n, lds) codes of the powers */
    float *t;   /* (n, ldt) hidden units */
    int64_t ldx, lds, ldt, lda;
    int32_t *active; /* (lists, lda) for `rows` of the kernel, or one of the last: groups that are not 0 ... */
    int64_t *count;  /* (lists) ... and their number */
    uint64_t *bits;  /* (lists, words) the same as bits */
    float *row;      /* (H) a dense copy of an input row */
} eh_int8_tile;

typedef struct eh_int8_kernel {
    const char *name;        /* "avx512-vnni" */
    int rows;                /* multiplied at a time */
    bool by_input;           /* a block has the columns of an input together, else the inputs of a column */
    bool (*supported)(void); /* by this processor */
    /* Codes (H) of a row x (H); false if a value is not finite. */
    bool (*codes)(const eh_int8_map *map, const float *x, uint8_t *codes);
    /* out (n, panels of C * PANEL) = sums of the codes tile->x with C. */
    void (*sums)(const eh_int8_map *map, const eh_int8_tile *tile, int32_t *out);
    /* Y (n, h) of the codes tile->x. */
    void (*embed)(const eh_int8_map *map, const eh_int8_tile *tile, float *Y);
} eh_int8_kernel;

/* Kernels of this program, fastest first; NULL outside 0..count-1. The last one is plain C, which
 * every processor supports (kernels.c). */
const eh_int8_kernel *eh_int8_kernel_get(int i);
/* The fastest one that the processor supports. */
const eh_int8_kernel *eh_int8_kernel_choose(void);
extern const eh_int8_kernel eh_int8_plain;
#if defined(__x86_64__)
extern const eh_int8_kernel eh_int8_avx2, eh_int8_avx_vnni, eh_int8_avx512_vnni;
#elif defined(__aarch64__)
extern const eh_int8_kernel eh_int8_dotprod;
#endif

/* ---- pack.c ---- */

/* Packs the int8 weights of a map for a kernel. V (h, m). */
enhope_status eh_int8_map_create(enhope_context *ctx, const eh_int8_kernel *kernel, const eh_map_shape *shape,
                                 const eh_quantized *q, const float *V, eh_int8_map **out);
void eh_int8_map_free(eh_int8_map *map); /* accepts NULL */
/* Bytes of the scratch memory for n rows, and the tile in it. */
size_t eh_int8_tile_bytes(const eh_int8_map *map, int64_t n);
eh_int8_tile eh_int8_tile_at(const eh_int8_map *map, int64_t n, void *scratch);
/* The codes (H) of a row of x; false if a value is not finite. */
bool eh_int8_codes(const eh_int8_map *map, const eh_matrix *x, int64_t row, const eh_int8_tile *tile, uint8_t *codes);

/* ---- calibrate.c ---- */

/* The ranges of a model with the map hope: low and step of its inputs and the steps of its powers,
 * from a sample of the rows rows[0..n) of x (NULL: the first n). */
enhope_status eh_int8_calibrate(enhope_context *ctx, const enhope_model *model, const eh_matrix *x, const int64_t *rows,
                                int64_t n, eh_quantized **out);

#endif
