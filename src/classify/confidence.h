/* Confidence of a classification: the temperature of probabilities, their calibration, and the
 * error rate when samples of low confidence are rejected. */
#ifndef EH_CONFIDENCE_H
#define EH_CONFIDENCE_H

#include "base/base.h"

/* The temperature T in [1/100, 100] at which softmax(L / T) explains the labels best. L (n, c):
 * logarithms of similarities, up to a constant for each row. Rows with no finite value for the true
 * class are skipped. weight (n): of the rows; NULL: 1. */
double eh_temperature(const double *L, const int32_t *label, const float *weight, int64_t n, int32_t c);

/* Adds one of `all` samples to a calibration that starts as zeros: the probability of its true
 * class (0: unknown), the probability of the predicted class, and whether the prediction is right.
 * eh_calibration_end() is called after the last sample. */
void eh_calibration_add(float true_p, float confidence, bool right, int64_t all, enhope_calibration *sum);
void eh_calibration_end(int64_t all, enhope_calibration *sum);

typedef struct eh_decision {
    float confidence; /* larger: more confident */
    bool wrong;
} eh_decision;

/* Sorts s (n > 0) by confidence and fills n, errors and threshold of each row for its share.
 * Returns the area under the curve of error against coverage. Samples of equal confidence have no
 * order: their errors are spread evenly. */
double eh_coverage(eh_decision *s, int64_t n, enhope_coverage *row, int rows);

#endif
