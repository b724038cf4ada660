/* The seeds that are texts. */
#ifndef FUZZ_SEEDS_H
#define FUZZ_SEEDS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "enhope_advanced.h"

typedef struct seed {
    const char *target, *name, *text;
    size_t size;
} seed;
extern const seed seed_text[];
extern const size_t seed_texts;
extern const char seed_table[]; /* a CSV file with columns of all types */

#endif
