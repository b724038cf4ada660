/* Where training is: counters, losses, the best state so far and the history. A checkpoint stores exactly this, beside the
 * vectors of parameters. */
#ifndef EH_TRAIN_STATE_H
#define EH_TRAIN_STATE_H

#include "base/base.h"

typedef struct eh_train_state {
    int64_t epoch, batch; /* epochs completed; batches of the current epoch that the optimiser has had */
    int64_t step;         /* of the optimiser (eh_optim.step), as of the last checkpoint */
    int64_t best_epoch;   /* whose state is kept; 0: none */
    int64_t improved;     /* the last epoch that lowered the validation error; of equal errors the lower loss is kept */
    int64_t diverged;     /* 1: training ended in a value that is not finite */
    double seconds;       /* of training */
    double loss_sum;      /* over the batches of the current epoch whose loss is known */
    double loss;          /* their mean; until one is known, that of the epoch before */
    double valid_error;   /* NaN: none yet */
    double best_error, best_loss;
    enhope_history *history; /* (epoch) */
    int64_t history_capacity;
} eh_train_state;

void eh_train_state_init(eh_train_state *s);
void eh_train_state_free(eh_train_state *s);
/* Memory for so many rows of history. */
enhope_status eh_train_state_reserve(enhope_context *ctx, eh_train_state *s, int64_t rows);
/* Ends an epoch of validation error `error` (NaN: there is no validation part), after so many seconds, with a row of
 * history, for which memory is reserved. Returns whether its state is the best so far. */
bool eh_train_state_end_epoch(eh_train_state *s, double error, double seconds);
/* Whether the validation error has not improved for so many epochs; patience 0: never. */
bool eh_train_state_stale(const eh_train_state *s, int64_t patience);

/* ---- in a checkpoint: two vectors of all counters and all numbers, and the history as a matrix ---- */

enum { EH_STATE_COUNTERS = 6, EH_STATE_NUMBERS = 6, EH_STATE_COLUMNS = 3 };
/* history: (epoch, EH_STATE_COLUMNS). */
void eh_train_state_pack(const eh_train_state *s, int64_t counters[EH_STATE_COUNTERS], double numbers[EH_STATE_NUMBERS],
                         double *history);
/* The same back. Memory for history is reserved first: fails without changing anything. */
enhope_status eh_train_state_unpack(enhope_context *ctx, eh_train_state *s, const int64_t *counters,
                                    const double *numbers, const double *history);
/* The counters alone, for checks; and whether they are within their bounds. */
eh_train_state eh_train_state_counters(const int64_t counters[EH_STATE_COUNTERS]);
bool eh_train_state_valid(const eh_train_state *s, int64_t epochs, int64_t batches);

#endif
