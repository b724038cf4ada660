/* Scores of predictions: error, balanced accuracy, log loss. */
#include <float.h>
#include <math.h>
#include <stdlib.h>

#include "measure/measure.h"

int cli_scores_compute(const int32_t *truth, const int32_t *label, const float *proba, int64_t n, int32_t c,
                       const int32_t *fold, int32_t f, cli_scores *out)
{
    int64_t *count = cli_alloc("class counts", c, 2, sizeof *count); /* (c, 2) samples, and errors among them */
    double loss = 0, recall = 0;
    int present = 0;
    if (!count) return CLI_FAILED;
    *out = (cli_scores){0};
    for (int64_t i = 0; i < n; i++) {
        const int32_t k = truth[i];
        if (k < 0 || (fold && fold[i] != f)) continue;
        out->n++;
        count[2 * k]++;
        out->errors += label[i] != k;
        count[2 * k + 1] += label[i] != k;
        loss -= log(fmax((double)proba[i * c + k], FLT_EPSILON));
    }
    for (int32_t k = 0; k < c; k++) {
        if (!count[2 * k]) continue;
        present++;
        recall += 1 - (double)count[2 * k + 1] / (double)count[2 * k];
    }
    free(count);
    out->error = out->n ? (double)out->errors / (double)out->n : NAN;
    out->balanced = present ? recall / present : NAN;
    out->log_loss = out->n ? loss / (double)out->n : NAN;
    return 0;
}
