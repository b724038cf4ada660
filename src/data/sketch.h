/* A sketch of rows: enough to estimate how many rows of other data are among them.
 *
 * Each labeled row has a 64-bit hash of its values and the name of its class. The sketch holds the
 * 256 smallest hashes, which are a random sample of the distinct rows. A row of other data whose
 * hash is not above the largest one is among the rows of the sketch, or was not among the rows that
 * the sketch was made of. Zeros are skipped and all numbers are hashed as floats, so that bytes,
 * floats and sparse rows of the same values agree. */
#ifndef EH_SKETCH_H
#define EH_SKETCH_H

#include "data/data.h"

enum { EH_SKETCH_ROWS = 256 };
typedef struct eh_sketch {
    int32_t count;
    uint64_t hash[EH_SKETCH_ROWS];  /* (count) ascending */
    uint32_t times[EH_SKETCH_ROWS]; /* (count) rows with this hash */
} eh_sketch;

/* Adds the labeled rows of data in memory. */
enhope_status eh_sketch_add(enhope_context *ctx, const enhope_dataset *data, eh_sketch *sketch);
/* Adds the rows of another sketch. Rows that are in both count as often as in the one with more. */
void eh_sketch_merge(eh_sketch *sketch, const eh_sketch *other);
/* Estimates the share of labeled rows of data, in memory, that are among the rows of the sketch. */
enhope_status eh_sketch_compare(enhope_context *ctx, const eh_sketch *sketch, const enhope_dataset *data,
                                enhope_overlap *out);

/* One line of text: hashes in hexadecimal, separated by spaces, with "*N" if there are N rows. */
enum { EH_SKETCH_TEXT = EH_SKETCH_ROWS * 28 };
void eh_sketch_print(const eh_sketch *sketch, char text[EH_SKETCH_TEXT]);
bool eh_sketch_parse(const char *text, eh_sketch *out); /* false: any other text */

#endif
