/* The history of training for the page of enhope view (page_history.c). */
#ifndef ENHOPE_CLI_PAGE_HISTORY_H
#define ENHOPE_CLI_PAGE_HISTORY_H

#include "core/cli.h"

/* A frame; NaN: unknown. */
typedef struct cli_page_frame {
    double epoch;                    /* completed epochs */
    double loss, valid_error, error; /* error: of the labeled sample points */
    double low[2], high[2];          /* the box of its points */
} cli_page_frame;

/* Positions of a fixed sample of points during training. */
typedef struct cli_page_history {
    int64_t points, frames;
    uint16_t *place; /* (frames, points, 2) in 65535ths of the frame's box */
    cli_page_frame *frame;
    /* Distance between the last frame and the model, relative to the size of the map. Above
     * CLI_PAGE_GAP the training differed from that of the model. */
    double gap;
} cli_page_history;
#define CLI_PAGE_GAP 0.01

/* The sample of points: inputs, classes (below 0: none or unknown) and positions in the model. */
typedef struct cli_page_watched {
    int64_t points;
    const float *X;       /* (points, H) */
    const int32_t *truth; /* (points) */
    const float *Y;       /* (points, 2) */
} cli_page_watched;

/* Repeats the training with the settings of the model on the train part of the data, and embeds the
 * points at intervals that grow. The last frame is that of the best model. Returns 0, or an exit
 * code after a message. */
int cli_page_history_record(const cli_session *session, const cli_options *options, const cli_page_watched *watched,
                            cli_page_history *out);
void cli_page_history_free(cli_page_history *history);

#endif
