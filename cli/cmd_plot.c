/* enhope plot: the embedding of a data set as an SVG picture. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"

static const char default_output[] = "map.svg";

typedef struct drawing {          /* what is owned while a picture is made */
    enhope_prediction prediction; /* label (n), Y (n, h) */
    int32_t *truth;               /* (n) by the model's numbering; -1, -2 as cli_session_true_classes says */
    float *exemplar;              /* (r, h) */
    const char **name;            /* (groups) */
} drawing;

static void drawing_free(drawing *d)
{
    free(d->prediction.label);
    free(d->prediction.Y);
    free(d->truth);
    free(d->exemplar);
    free(d->name);
}

static int compute(drawing *d, const cli_session *session, const cli_options *options)
{
    const int64_t n = session->data_info.n, h = session->model_info.outputs, r = session->model_info.references;
    d->prediction.label = cli_alloc("labels", n, 1, sizeof *d->prediction.label);
    d->prediction.Y = d->prediction.label ? cli_alloc("the embedding", n, h, sizeof *d->prediction.Y) : NULL;
    if (!d->prediction.Y) return CLI_FAILED;
    enhope_status status =
        enhope_model_predict(session->ctx, session->model, session->data, (int32_t)options->neighbours, &d->prediction);
    if (status) return cli_fail(session->ctx, status);
    if (session->model_info.references_are_exemplars) {
        d->exemplar = cli_alloc("exemplars", r, h, sizeof *d->exemplar);
        if (!d->exemplar) return CLI_FAILED;
        status = enhope_model_references(session->ctx, session->model, d->exemplar, NULL);
        if (status) return cli_fail(session->ctx, status);
    }
    return cli_session_true_classes(session, &d->truth);
}

/* Colours follow the classes of the model, so that two pictures of one model agree. Classes that it never saw share one
 * more group. */
static int name_groups(drawing *d, const cli_session *session, bool labelled, int32_t *groups)
{
    const int32_t c = session->model_info.classes;
    bool strangers = false;
    for (int64_t i = 0; i < session->data_info.n; i++) {
        if (d->truth[i] == -2) {
            d->truth[i] = c;
            strangers = true;
        } else if (!labelled) {
            d->truth[i] = d->prediction.label[i];
        }
    }
    d->name = cli_alloc("names", (int64_t)c + 1, 1, sizeof *d->name);
    if (!d->name) return CLI_FAILED;
    for (int32_t k = 0; k < c; k++) d->name[k] = enhope_model_class_name(session->model, k);
    d->name[c] = "unknown class";
    *groups = c + (strangers ? 1 : 0);
    return 0;
}

static void make_title(char *buffer, size_t size, const drawing *d, const cli_session *session, bool labelled)
{
    const int64_t n = session->data_info.n;
    int64_t counted = 0, errors = 0;
    for (int64_t i = 0; i < n && labelled; i++) {
        if (d->truth[i] < 0) continue;
        counted++;
        errors += d->truth[i] != d->prediction.label[i];
    }
    const char *method = session->model_info.method;
    const char *kind = !session->part ? "error" : strcmp(session->part, "test") ? "training error" : "held-out error";
    if (counted)
        snprintf(buffer, size, "%s: %lld points, %s %.2f %%", method, (long long)n, kind,
                 100.0 * (double)errors / (double)counted);
    else
        snprintf(buffer, size, "%s: %lld points, coloured by predicted class", method, (long long)n);
}

static int put_picture(const cli_session *session, const cli_options *options, drawing *d, FILE *out)
{
    bool labelled = false; /* whether any sample is */
    for (int64_t i = 0; i < session->data_info.n && !labelled; i++) labelled = d->truth[i] != -1;
    int32_t groups = 0;
    const int code = name_groups(d, session, labelled, &groups);
    if (code) return code;
    char title[256];
    make_title(title, sizeof title, d, session, labelled);
    const double usual = 130.0 / sqrt((double)session->data_info.n + 1);
    const cli_map_picture picture = {
        .n = session->data_info.n,
        .r = session->model_info.references,
        .h = session->model_info.outputs,
        .Y = d->prediction.Y,
        .group = d->truth,
        .groups = groups,
        .name = d->name,
        .exemplar = d->exemplar,
        .title = options->title ? options->title : title,
        .width = options->width ? options->width : 760,
        .height = options->height ? options->height : 640,
        .point = options->point > 0 ? options->point : fmin(6.0, fmax(2.0, usual)),
    };
    return cli_svg_write(out, &picture);
}

int cli_draw(const cli_session *session, const cli_options *options, FILE *out)
{
    drawing d = {0};
    int code = compute(&d, session, options);
    if (!code) code = put_picture(session, options, &d, out);
    drawing_free(&d);
    return code;
}

int cmd_plot(const cli_options *options)
{
    cli_session session;
    cli_output output = {0};
    int code = cli_session_open(&session, options);
    if (!code) code = cli_session_model(&session, options->positional[0]);
    if (!code && session.model_info.outputs < 2)
        code = cli_error("%s maps to 1 dimension: a picture needs 2", options->positional[0]);
    if (!code && session.model_info.outputs > 2)
        fprintf(stderr, "enhope: %s maps to %lld dimensions: the first two are drawn\n", options->positional[0],
                (long long)session.model_info.outputs);
    if (!code) code = cli_session_data(&session, options, options->data, "test");
    if (!code) code = cli_output_differs(options->output ? options->output : default_output, options->data);
    if (!code) code = cli_output_differs(options->output ? options->output : default_output, options->positional[0]);
    if (!code) code = cli_output_open(&output, options->output ? options->output : default_output);
    if (!code) code = cli_draw(&session, options, output.file);
    if (!code) code = cli_output_close(&output);
    cli_output_abandon(&output);
    cli_session_close(&session);
    return code;
}
