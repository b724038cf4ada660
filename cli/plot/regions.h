/* The regions of the classes of a k-nearest-neighbor rule in the plane, as exact polygons. */
#ifndef ENHOPE_CLI_REGIONS_H
#define ENHOPE_CLI_REGIONS_H

#include <stdbool.h>
#include <stdint.h>

typedef struct region_rule {
    int32_t r, k;         /* references; neighbors that vote, 1..r */
    const double *at;     /* (r, 2) */
    const int32_t *label; /* (r) */
    double box[4];        /* left, top, right, bottom */
} region_rule;

typedef struct region_corner {
    double x, y;
    bool border; /* the side that begins here is a border and belongs to this cell */
} region_corner;

typedef struct region_cell { /* convex; all cells have the same orientation */
    int32_t label;
    int64_t first, corners;
} region_cell;

typedef struct regions {
    region_cell *cell; /* (cells) a partition of the box; a class may have many */
    int64_t cells;
    region_corner *corner; /* (corners) */
    int64_t corners;
} regions;

typedef enum regions_status { REGIONS_OK, REGIONS_TOO_MANY, REGIONS_NO_MEMORY } regions_status;

enum { REGIONS_MAX_REFERENCES = 1000, REGIONS_MAX_CELLS = 50000 };

/* REGIONS_TOO_MANY: more references or cells than these limits. */
regions_status regions_create(const region_rule *rule, regions *out);
void regions_free(regions *regions);

#endif
