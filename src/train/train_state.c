/* The state of training. One table of fields defines how a checkpoint stores it, for writing and
 * for reading. */
#include <math.h>
#include <stddef.h>
#include <string.h>

#include "train/train_state.h"

void eh_train_state_init(eh_train_state *s)
{
    *s = (eh_train_state){.loss = NAN, .valid_error = NAN, .best_error = NAN};
}

void eh_train_state_free(eh_train_state *s)
{
    eh_free(s->history);
    *s = (eh_train_state){0};
}

enhope_status eh_train_state_reserve(enhope_context *ctx, eh_train_state *s, int64_t rows)
{
    int64_t capacity = s->history_capacity ? s->history_capacity : 64;
    while (capacity < rows) capacity *= 2;
    if (capacity == s->history_capacity) return ENHOPE_OK;
    enhope_history *grown = eh_grow(s->history, (size_t)s->history_capacity, (size_t)capacity, sizeof *s->history);
    if (!grown) return eh_fail_memory(ctx, "history", (size_t)capacity, sizeof *s->history);
    s->history = grown;
    s->history_capacity = capacity;
    return ENHOPE_OK;
}

bool eh_train_state_end_epoch(eh_train_state *s, double error, double seconds)
{
    const bool better = !(error >= s->best_error), equal = error == s->best_error;
    const bool best = isnan(error) || better || (equal && s->loss < s->best_loss);
    s->epoch++;
    s->batch = 0;
    s->loss_sum = 0;
    s->valid_error = error;
    if (better) s->improved = s->epoch;
    if (best) {
        s->best_epoch = s->epoch;
        s->best_error = error;
        s->best_loss = s->loss;
    }
    s->history[s->epoch - 1] =
        (enhope_history){.epoch = s->epoch, .seconds = seconds, .loss = s->loss, .valid_error = error};
    return best;
}

bool eh_train_state_stale(const eh_train_state *s, int64_t patience)
{
    return patience > 0 && s->epoch - s->improved >= patience;
}

/* ---- in a checkpoint ---- */

#define FIELD(name) offsetof(eh_train_state, name)
static const size_t counter_field[] = {FIELD(epoch),    FIELD(batch), FIELD(best_epoch),
                                       FIELD(improved), FIELD(step),  FIELD(diverged)};
static const size_t number_field[] = {FIELD(seconds),     FIELD(loss_sum),   FIELD(loss),
                                      FIELD(valid_error), FIELD(best_error), FIELD(best_loss)};
static const size_t column_field[] = {offsetof(enhope_history, seconds), offsetof(enhope_history, loss),
                                      offsetof(enhope_history, valid_error)};
_Static_assert(sizeof counter_field / sizeof *counter_field == EH_STATE_COUNTERS, "one place for each counter");
_Static_assert(sizeof number_field / sizeof *number_field == EH_STATE_NUMBERS, "one place for each number");
_Static_assert(sizeof column_field / sizeof *column_field == EH_STATE_COLUMNS, "one place for each column");

/* Every field has eight bytes. Copies the fields of a struct to an array, and back. */
enum { BYTES = sizeof(int64_t) };

static void get(const void *from, const size_t *field, int count, void *array)
{
    for (int i = 0; i < count; i++) memcpy((char *)array + i * BYTES, (const char *)from + field[i], BYTES);
}
static void put(void *to, const size_t *field, int count, const void *array)
{
    for (int i = 0; i < count; i++) memcpy((char *)to + field[i], (const char *)array + i * BYTES, BYTES);
}

void eh_train_state_pack(const eh_train_state *s, int64_t counters[EH_STATE_COUNTERS], double numbers[EH_STATE_NUMBERS],
                         double *history)
{
    get(s, counter_field, EH_STATE_COUNTERS, counters);
    get(s, number_field, EH_STATE_NUMBERS, numbers);
    for (int64_t row = 0; row < s->epoch; row++)
        get(&s->history[row], column_field, EH_STATE_COLUMNS, history + row * EH_STATE_COLUMNS);
}

eh_train_state eh_train_state_counters(const int64_t counters[EH_STATE_COUNTERS])
{
    eh_train_state s;
    eh_train_state_init(&s);
    put(&s, counter_field, EH_STATE_COUNTERS, counters);
    return s;
}

enhope_status eh_train_state_unpack(enhope_context *ctx, eh_train_state *s, const int64_t *counters,
                                    const double *numbers, const double *history)
{
    EH_TRY(eh_train_state_reserve(ctx, s, eh_train_state_counters(counters).epoch + 1));
    put(s, counter_field, EH_STATE_COUNTERS, counters);
    put(s, number_field, EH_STATE_NUMBERS, numbers);
    for (int64_t row = 0; row < s->epoch; row++) {
        s->history[row].epoch = row + 1;
        put(&s->history[row], column_field, EH_STATE_COLUMNS, history + row * EH_STATE_COLUMNS);
    }
    return ENHOPE_OK;
}

bool eh_train_state_valid(const eh_train_state *s, int64_t epochs, int64_t batches)
{
    return s->epoch >= 0 && s->epoch <= epochs && s->batch >= 0 && s->batch <= batches && s->best_epoch >= 0 &&
           s->best_epoch <= s->epoch && s->improved >= 0 && s->improved <= s->epoch && s->step >= 0;
}
