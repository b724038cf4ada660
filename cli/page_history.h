/* How training went, for the page of enhope view (page_history.c). */
#ifndef ENHOPE_CLI_PAGE_HISTORY_H
#define ENHOPE_CLI_PAGE_HISTORY_H

#include "cli.h"

/* Where the points of a fixed sample lay after some steps of training. */
typedef struct cli_page_history {
    int64_t points, frames;
    float *Y;         /* (frames, points, 2) */
    double *progress; /* (frames, 3): epochs done, loss, validation error; NaN: not known */
} cli_page_history;

/* Trains once more, with the model's settings on the train part of the data, and places X (points, H) again and again: often
 * at first, then ever more rarely. 0 or an exit code after a sentence. */
int cli_page_history_record(const cli_session *session, const cli_options *options, const float *X, int64_t points,
                            cli_page_history *out);
void cli_page_history_free(cli_page_history *history);

#endif
