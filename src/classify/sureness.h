/* How sure a classification is: the temperature of probabilities, how well they are calibrated, and what is gained where
 * the least sure are left out. */
#ifndef EH_SURENESS_H
#define EH_SURENESS_H

#include "base/base.h"

/* The temperature T between 1/100 and 100 at which softmax(L / T) explains the labels best. L (n, c): logarithms of
 * shares up to a constant for each row; a row whose own class has none that is finite is passed over. */
double eh_temperature(const double *L, const int32_t *label, int64_t n, int32_t c);

/* Adds to a calibration, zero at first, one of `all` samples: the probability of its true class (0: that is not known) and
 * that of the class that was said, which is right or not; the end closes it when all were there. */
void eh_calibration_add(float true_p, float confidence, bool right, int64_t all, enhope_calibration *sum);
void eh_calibration_end(int64_t all, enhope_calibration *sum);

typedef struct eh_judged {
    float sure; /* larger is surer */
    bool wrong;
} eh_judged;

/* Orders s (n) by sureness and fills n, errors and threshold (a sureness) of each row for its share. Gives the area under
 * the curve of error against coverage; samples that are equally sure come in no order, so that their errors spread evenly.
 * n is above 0. */
double eh_coverage(eh_judged *s, int64_t n, enhope_coverage *row, int rows);

#endif
