/* What only the command does for the page of enhope view: reads the data, and records the history
 * of training. */
#include <stdlib.h>
#include <string.h>

#include "view/view.h"

enum {
    PLAYED = 2000,           /* maximum points in the animation of training, */
    PLAYED_NUMBERS = 1 << 26 /* and maximum number of their inputs in total */
};

/* ---- data ---- */

static int read_part(view *v, const cli_options *options, const char *name)
{
    view_part *part = &v->part[v->parts++];
    cli_options of_part = *options;
    if (options->source.part) of_part.source.part = name;
    part->session = v->session;
    part->session.data = NULL;
    int code = cli_session_data(&part->session, &of_part, options->data, name);
    if (!code) code = cli_session_in_memory(&part->session, options);
    if (code) return code;
    part->kind = !part->session.part ? 2 : strcmp(part->session.part, "test") ? 1 : 0;
    v->total += part->session.data_info.n;
    return 0;
}

static int read_parts(view *v, const cli_options *options)
{
    if (!options->source.part || strcmp(options->source.part, "both"))
        return read_part(v, options, options->source.part ? options->source.part : "test");
    const int code = read_part(v, options, "train");
    return code ? code : read_part(v, options, "test");
}

int view_read(view *v, const cli_session *session, const cli_options *options)
{
    view_begin(v, session);
    v->first_row = 1;
    return read_parts(v, options);
}

/* ---- history of training ---- */

int view_record(view *v, const cli_options *options)
{
    const int64_t H = v->session.model_info.inputs, h = v->session.model_info.outputs;
    const int64_t max_by_size = PLAYED_NUMBERS / H > 1 ? PLAYED_NUMBERS / H : 1;
    const int64_t max_points = max_by_size < PLAYED ? max_by_size : PLAYED,
                  points = v->n < max_points ? v->n : max_points;
    float *X = cli_alloc("samples", points, H, sizeof *X), *Y = X ? cli_alloc("a frame", points, 2, sizeof *Y) : NULL;
    int32_t *truth = Y ? cli_alloc("classes", points, 1, sizeof *truth) : NULL;
    int code = truth ? 0 : CLI_FAILED;
    v->history.points = points;
    for (int64_t i = 0; i < points && !code; i++) {
        int64_t row;
        const view_part *part = view_point(v, view_played_point(v, i), &row);
        truth[i] = part->truth[row];
        memcpy(Y + i * 2, part->p.Y + row * h, 2 * sizeof *Y);
        const enhope_status status = enhope_dataset_row(v->session.ctx, part->session.data, row, X + i * H);
        if (status) code = cli_fail(v->session.ctx, status);
    }
    const cli_page_watched watched = {.points = points, .X = X, .truth = truth, .Y = Y};
    if (!code) code = cli_page_history_record(&v->session, options, &watched, &v->history);
    if (!code && v->history.gap > CLI_PAGE_GAP)
        fprintf(stderr,
                "enhope: --history trained a model that differs from %s; use the --data, --split and --limit of its "
                "training\n",
                options->positional[0]);
    free(X);
    free(Y);
    free(truth);
    return code;
}
