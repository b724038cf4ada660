/* Places for the names of classes on a map: no two overlap, none leaves the frame, and each is
 * nearer to its own class than to any other. */
#ifndef ENHOPE_CLI_LABELS_H
#define ENHOPE_CLI_LABELS_H

#include <stdint.h>

typedef struct label_dot { /* of the map; weights of a class sum to 1 */
    float x, y, weight;
} label_dot;

typedef struct label_request {
    int32_t count;
    const double *at;     /* (count, 2) the places to label */
    const double *width;  /* (count) of the labels; 0: no label */
    double height;        /* of every label */
    double box[4];        /* left, top, right, bottom */
    const label_dot *dot; /* (dots) dots that labels should not cover */
    int64_t dots;
} label_request;

/* Centers of the labels (count, 2), NAN if a label has no place. Depends on the request only.
 * Returns the number of labels without a place, -1 if out of memory. */
int32_t labels_place(const label_request *request, double *center);

#endif
