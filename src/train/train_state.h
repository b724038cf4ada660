/* The state of training: counters, losses, the best state so far and the history. A checkpoint
 * stores exactly these fields, beside the vectors of parameters. */
#ifndef EH_TRAIN_STATE_H
#define EH_TRAIN_STATE_H

#include "base/base.h"

typedef struct eh_train_state {
    int64_t epoch, batch; /* epochs completed; batches of the current epoch that the optimizer has received */
    int64_t step;         /* of the optimizer (eh_optim.step), at the last checkpoint */
    int64_t best_epoch;   /* epoch of the best state; 0: none */
    int64_t improved;     /* last epoch that lowered the validation error */
    int64_t diverged;     /* 1: training ended with a value that is not finite */
    double seconds;       /* training time */
    double loss_sum;      /* over the batches of the current epoch whose loss is known */
    double loss;          /* their mean; of the epoch before, if none is known yet */
    double valid_error;   /* NaN: none yet */
    double best_error, best_loss;
    enhope_history *history; /* (epoch) */
    int64_t history_capacity;
} eh_train_state;

void eh_train_state_init(eh_train_state *s);
void eh_train_state_free(eh_train_state *s);
/* Allocates memory for `rows` rows of history. */
enhope_status eh_train_state_reserve(enhope_context *ctx, eh_train_state *s, int64_t rows);
/* Ends an epoch and adds a row of history, whose memory is reserved. error: the validation
 * error, NaN without a validation part; seconds: training time. Returns whether the state is the
 * best so far. */
bool eh_train_state_end_epoch(eh_train_state *s, double error, double seconds);
/* Whether the validation error has not improved for `patience` epochs; patience 0: never. */
bool eh_train_state_stale(const eh_train_state *s, int64_t patience);

/* ---- form in a checkpoint: vectors of all counters and all numbers, and the history as a
 * matrix ---- */

enum { EH_STATE_COUNTERS = 6, EH_STATE_NUMBERS = 6, EH_STATE_COLUMNS = 3 };
/* history: (epoch, EH_STATE_COLUMNS). */
void eh_train_state_pack(const eh_train_state *s, int64_t counters[EH_STATE_COUNTERS], double numbers[EH_STATE_NUMBERS],
                         double *history);
/* The inverse. Reserves memory for the history first, so that a failure changes nothing. */
enhope_status eh_train_state_unpack(enhope_context *ctx, eh_train_state *s, const int64_t *counters,
                                    const double *numbers, const double *history);
/* Returns a state with the counters only, for checks; checks that they are within their bounds. */
eh_train_state eh_train_state_counters(const int64_t counters[EH_STATE_COUNTERS]);
bool eh_train_state_valid(const eh_train_state *s, int64_t epochs, int64_t batches);

#endif
