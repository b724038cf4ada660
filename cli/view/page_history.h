/* How training went, for the page of enhope view (page_history.c). */
#ifndef ENHOPE_CLI_PAGE_HISTORY_H
#define ENHOPE_CLI_PAGE_HISTORY_H

#include "core/cli.h"

/* What is known of a frame; NaN: not known. */
typedef struct cli_page_frame {
    double epoch;                    /* epochs done */
    double loss, valid_error, error; /* error: of the labelled points that are watched */
    double low[2], high[2];          /* the box of its points */
} cli_page_frame;

/* Where the points of a fixed sample lay after some steps of training. */
typedef struct cli_page_history {
    int64_t points, frames;
    uint16_t *place; /* (frames, points, 2) in 65535ths of the frame's box */
    cli_page_frame *frame;
    double
        gap; /* between the last frame and the model, in sizes of the map: above CLI_PAGE_GAP it was another training */
} cli_page_history;
#define CLI_PAGE_GAP 0.01

/* What is watched: points of which truth[] says the class (below 0: none or unknown) and Y where the model has them. */
typedef struct cli_page_watched {
    int64_t points;
    const float *X;       /* (points, H) */
    const int32_t *truth; /* (points) */
    const float *Y;       /* (points, 2) */
} cli_page_watched;

/* Trains once more, with the model's settings on the train part of the data, and places the points again and again: often at
 * first, then more rarely, as the steps up to then had left them; last as the kept model does. 0 or an exit code after a
 * sentence. */
int cli_page_history_record(const cli_session *session, const cli_options *options, const cli_page_watched *watched,
                            cli_page_history *out);
void cli_page_history_free(cli_page_history *history);

#endif
