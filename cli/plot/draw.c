/* Computes the figure of a data set: predictions, groups, references, title. figure.c draws it. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/cli.h"
#include "plot/regions.h"

typedef struct drawing {          /* memory of a figure in progress */
    enhope_prediction prediction; /* label (n), Y (n, h) */
    int32_t *truth;               /* (n) see cli_session_true_classes */
    bool *wrong;                  /* (n) */
    int64_t labeled, errors;      /* labeled points; misclassified ones */
    float *reference;             /* (r, h) */
    int32_t *reference_label;     /* (r) */
    const char **name;            /* (groups) */
    int32_t classes, groups;      /* of the model; without classes, of the data */
} drawing;

static void drawing_free(drawing *d)
{
    free(d->prediction.label);
    free(d->prediction.Y);
    free(d->truth);
    free(d->wrong);
    free(d->reference);
    free(d->reference_label);
    free(d->name);
}

/* References are drawn as circles, if they are exemplars, and define the regions. */
static int find_references(drawing *d, const cli_session *session, const cli_options *options)
{
    const int64_t h = session->model_info.outputs, r = session->model_info.references;
    if (options->picture.regions && h != 2)
        return cli_error("--regions needs a model with 2 dimensions, not %lld; remove --regions", (long long)h);
    if (options->picture.regions && r > REGIONS_MAX_REFERENCES)
        return cli_error("--regions: the model has %lld references, at most %d are supported; remove --regions",
                         (long long)r, (int)REGIONS_MAX_REFERENCES);
    if (!options->picture.regions && !session->model_info.references_are_exemplars) return 0;
    d->reference = cli_alloc("exemplars", r, h, sizeof *d->reference);
    if (!d->reference) return CLI_FAILED;
    if (options->picture.regions && !(d->reference_label = cli_alloc("exemplars", r, 1, sizeof *d->reference_label)))
        return CLI_FAILED;
    const enhope_status status =
        enhope_model_references(session->ctx, session->model, d->reference, d->reference_label);
    return status ? cli_fail(session->ctx, status) : 0;
}

/* A model without classes: the groups are the classes of the data, if it has any. */
static int compute_map(drawing *d, const cli_session *session, const cli_options *options)
{
    const int64_t n = session->data_info.n, h = session->model_info.outputs;
    const int32_t *label = enhope_dataset_labels(session->data), c = session->data_info.classes;
    if (options->picture.regions || options->picture.mark_errors)
        return cli_error("the model was trained without labels, so it has no regions and no errors; remove --%s",
                         options->picture.regions ? "regions" : "errors");
    d->prediction.Y = cli_alloc("the embedding", n, h, sizeof *d->prediction.Y);
    d->truth = d->prediction.Y ? cli_alloc("labels", n, 1, sizeof *d->truth) : NULL;
    d->name = d->truth ? cli_alloc("names", (int64_t)c + 1, 1, sizeof *d->name) : NULL;
    if (!d->name) return CLI_FAILED;
    for (int32_t k = 0; k < c; k++) d->name[k] = enhope_dataset_class_name(session->data, k);
    d->name[c] = c ? "no label" : "points";
    d->classes = c ? c : 1;
    d->groups = d->classes;
    for (int64_t i = 0; i < n; i++) {
        d->truth[i] = c && label && label[i] >= 0 ? label[i] : c;
        if (d->truth[i] >= d->groups) d->groups = d->truth[i] + 1;
    }
    const enhope_status status = enhope_model_embed(session->ctx, session->model, session->data, d->prediction.Y);
    return status ? cli_fail(session->ctx, status) : 0;
}

static int compute(drawing *d, const cli_session *session, const cli_options *options)
{
    const int64_t n = session->data_info.n, h = session->model_info.outputs;
    const int code = find_references(d, session, options);
    if (code) return code;
    d->prediction.label = cli_alloc("labels", n, 1, sizeof *d->prediction.label);
    d->prediction.Y = d->prediction.label ? cli_alloc("the embedding", n, h, sizeof *d->prediction.Y) : NULL;
    if (!d->prediction.Y) return CLI_FAILED;
    const enhope_status status = enhope_model_predict(session->ctx, session->model, session->data,
                                                      (int32_t)options->n_neighbors, &d->prediction);
    if (status) return cli_fail(session->ctx, status);
    return cli_session_true_classes(session, &d->truth);
}

static int find_errors(drawing *d, int64_t n)
{
    d->wrong = cli_alloc("errors", n, 1, sizeof *d->wrong);
    if (!d->wrong) return CLI_FAILED;
    for (int64_t i = 0; i < n; i++) {
        d->wrong[i] = d->truth[i] != -1 && d->truth[i] != d->prediction.label[i];
        d->labeled += d->truth[i] != -1;
        d->errors += d->wrong[i];
    }
    return 0;
}

/* Colors follow the classes of the model, so that all figures of a model use the same. Unknown
 * classes share one more group. Without labels, the predictions are drawn. */
static int name_groups(drawing *d, const cli_session *session)
{
    const int32_t c = session->model_info.classes;
    d->classes = d->groups = c;
    for (int64_t i = 0; i < session->data_info.n; i++) {
        if (!d->labeled) d->truth[i] = d->prediction.label[i];
        if (d->truth[i] < 0) {
            d->truth[i] = c;
            d->groups = c + 1;
        }
    }
    d->name = cli_alloc("names", (int64_t)c + 1, 1, sizeof *d->name);
    if (!d->name) return CLI_FAILED;
    for (int32_t k = 0; k < c; k++) d->name[k] = enhope_model_class_name(session->model, k);
    d->name[c] = "unknown class";
    return 0;
}

static void make_title(char *buffer, size_t size, const drawing *d, const cli_session *session)
{
    const int64_t n = session->data_info.n;
    const char *method = session->model_info.method;
    const char *kind = !session->part ? "error" : strcmp(session->part, "test") ? "training error" : "held-out error";
    if (!session->model_info.classes)
        snprintf(buffer, size, "%s: %lld points", method, (long long)n);
    else if (d->labeled)
        snprintf(buffer, size, "%s: %lld points, %s %.2f %%", method, (long long)n, kind,
                 100.0 * (double)d->errors / (double)d->labeled);
    else
        snprintf(buffer, size, "%s: %lld points, colored by predicted class", method, (long long)n);
}

bool cli_labels_of_options(const cli_options *options, cli_labels *out)
{
    static const char *const words[] = {[CLI_LABELS_AUTO] = "auto", [CLI_LABELS_ON] = "on", [CLI_LABELS_OFF] = "off"};
    const char *word = options->picture.labels ? options->picture.labels : "auto";
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (!strcmp(word, words[i])) {
            *out = (cli_labels)i;
            return true;
        }
    cli_usage_error(options->command, "--labels is '%s': expected auto, on or off", word);
    return false;
}

static int put_picture(const cli_session *session, const cli_options *options, canvas_format format, const drawing *d,
                       FILE *out)
{
    char title[256];
    cli_labels labels;
    if (!cli_labels_of_options(options, &labels)) return CLI_USAGE;
    make_title(title, sizeof title, d, session);
    const bool plain = !session->model_info.classes && !session->data_info.classes; /* one group */
    const cli_figure figure = {
        .n = session->data_info.n,
        .r = session->model_info.references,
        .h = session->model_info.outputs,
        .Y = d->prediction.Y,
        .group = d->truth,
        .classes = d->classes,
        .groups = d->groups,
        .name = d->name,
        .wrong = options->picture.mark_errors ? d->wrong : NULL,
        .errors = d->errors,
        .reference = d->reference,
        .circles = d->reference && session->model_info.references_are_exemplars,
        .reference_label = d->reference_label,
        .k = options->n_neighbors ? (int32_t)options->n_neighbors : session->model_info.neighbours,
        .format = format,
        .title = options->picture.title ? options->picture.title : title,
        .font = options->picture.font ? options->picture.font : "sans-serif",
        .font_size = options->picture.font_size > 0 ? options->picture.font_size : CLI_PICTURE_LETTERS,
        .width = options->picture.width ? options->picture.width : CLI_PICTURE_WIDTH,
        .height = options->picture.height ? options->picture.height : CLI_PICTURE_HEIGHT,
        .scale = options->picture.scale > 0 ? options->picture.scale : 1,
        .point = options->picture.point,
        .legend = !options->picture.no_legend && !plain,
        .labels = plain ? CLI_LABELS_OFF : labels,
    };
    return cli_figure_draw(out, &figure);
}

int cli_draw(const cli_session *session, const cli_options *options, canvas_format format, FILE *out)
{
    drawing d = {0};
    const bool classes = session->model_info.classes > 0;
    int code = (classes ? compute : compute_map)(&d, session, options);
    if (!code && classes) code = find_errors(&d, session->data_info.n);
    if (!code && options->picture.mark_errors && !d.labeled)
        code = cli_error("--errors needs labeled data; remove --errors");
    if (!code && classes) code = name_groups(&d, session);
    if (!code) code = put_picture(session, options, format, &d, out);
    drawing_free(&d);
    return code;
}
