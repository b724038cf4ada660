/* enhope view: the embedding as a page to explore, one file that needs no network. */
#define _DEFAULT_SOURCE 1
#define _POSIX_C_SOURCE 200809L
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "page.h"
#include "page_history.h"

enum {
    PARTS = 2,
    SAMPLE = 200000,            /* points that a page shows where --sample is not said */
    PLAYED = 2000,              /* points of the film of training */
    DETAIL = 10000,             /* samples that it carries where --detail is not said */
    FIELDS = 64,                /* inputs of a table that a card tells */
    THUMB = 32,                 /* pixels of a side of a picture, at most */
    LEVELS = 15,                /* of grey, less one: four bits */
    EXEMPLARS = 5000,           /* that are drawn */
    NAMES = 20000,              /* inputs whose names travel */
    MODEL_BYTES = 48 * 1000000, /* of a model that travels */
};
static const char default_output[] = "map.html";
static const char *const part_names[] = {"held out", "training", "all"};

typedef struct view_part {
    cli_session session; /* its own data; context and model are the first one's */
    int kind;            /* of part_names */
    enhope_prediction p; /* label, winner (n), proba (n, c), Y (n, h) */
    int32_t *truth;      /* (n) as cli_session_true_classes says */
    int64_t labelled, errors;
} view_part;

typedef struct view {
    cli_session session;
    view_part part[PARTS];
    int parts;
    int64_t total, n; /* points there are, points shown */
    int64_t *row;     /* (n) of the point, counted through the parts */
    int64_t details;  /* points whose sample is carried */
    int64_t *detail;  /* (details) of 0..n-1 */
    float *exemplar;  /* (r, h), or NULL */
    int32_t *exemplar_class;
    double low[2], high[2]; /* of the drawn outputs */
    cli_page_history history;
    bool words; /* of the inputs of a sample few are not 0 */
} view;

static void view_free(view *v)
{
    for (int k = 0; k < v->parts; k++) {
        view_part *part = &v->part[k];
        free(part->p.label);
        free(part->p.proba);
        free(part->p.winner);
        free(part->p.Y);
        free(part->truth);
        enhope_dataset_free(part->session.data);
    }
    cli_page_history_free(&v->history);
    free(v->row);
    free(v->detail);
    free(v->exemplar);
    free(v->exemplar_class);
    cli_session_close(&v->session);
}

/* ---- what is shown ---- */

static int read_part(view *v, const cli_options *options, const char *asked)
{
    view_part *part = &v->part[v->parts++];
    cli_options of_part = *options;
    if (options->part) of_part.part = asked;
    part->session = v->session;
    part->session.data = NULL;
    const int code = cli_session_data(&part->session, &of_part, options->data, asked);
    if (code) return code;
    part->kind = !part->session.part ? 2 : strcmp(part->session.part, "test") ? 1 : 0;
    v->total += part->session.data_info.n;
    return 0;
}

static int read_parts(view *v, const cli_options *options)
{
    if (!options->part || strcmp(options->part, "both"))
        return read_part(v, options, options->part ? options->part : "test");
    const int code = read_part(v, options, "train");
    return code ? code : read_part(v, options, "test");
}

static int predict_part(view_part *part, const cli_options *options)
{
    const int64_t n = part->session.data_info.n, h = part->session.model_info.outputs;
    const int32_t c = part->session.model_info.classes;
    part->p.label = cli_alloc("labels", n, 1, sizeof *part->p.label);
    if (part->p.label) part->p.winner = cli_alloc("winners", n, 1, sizeof *part->p.winner);
    if (part->p.winner) part->p.proba = cli_alloc("probabilities", n, c, sizeof *part->p.proba);
    if (part->p.proba) part->p.Y = cli_alloc("the embedding", n, h, sizeof *part->p.Y);
    if (!part->p.Y) return CLI_FAILED;
    const enhope_status status = enhope_model_predict(part->session.ctx, part->session.model, part->session.data,
                                                      (int32_t)options->neighbours, &part->p);
    if (status) return cli_fail(part->session.ctx, status);
    const int code = cli_session_true_classes(&part->session, &part->truth);
    for (int64_t i = 0; i < n && !code; i++) {
        part->labelled += part->truth[i] != -1;
        part->errors += part->truth[i] != -1 && part->truth[i] != part->p.label[i];
    }
    return code;
}

/* The part that a row counted through all of them is in; *row becomes its row there. */
static const view_part *part_of(const view *v, int64_t *row)
{
    const view_part *part = v->part;
    for (; *row >= part->session.data_info.n; part++) *row -= part->session.data_info.n;
    return part;
}

static bool is_error(const view *v, int64_t row)
{
    const view_part *part = part_of(v, &row);
    return part->truth[row] != -1 && part->truth[row] != part->p.label[row];
}

/* The class of a row, or after the c classes: unlabelled, unknown. */
static int32_t group_of(const view *v, int64_t row)
{
    const view_part *part = part_of(v, &row);
    const int32_t k = part->truth[row];
    return k >= 0 ? k : v->session.model_info.classes - 1 - k;
}

/* Chooses `most` of the `count` rows row[] (NULL: 0..count-1), or a few more: the same share of every class, evenly along the
 * order of the data, and where errors_first all errors if these are fewer. */
static int choose(const view *v, const int64_t *row, int64_t count, int64_t most, bool errors_first, int64_t **out,
                  int64_t *chosen)
{
    const int32_t groups = v->session.model_info.classes + 2;
    int64_t *seen = cli_alloc("classes", groups, 2, sizeof *seen), *size = seen ? seen + groups : NULL;
    int64_t *result = seen ? cli_alloc("points", count, 1, sizeof *result) : NULL;
    int64_t errors = 0;
    if (!result) {
        free(seen);
        return CLI_FAILED;
    }
    for (int64_t i = 0; i < count && errors_first; i++) errors += is_error(v, row ? row[i] : i);
    if (errors >= most) errors = 0;
    const int64_t others = count - errors;
    for (int64_t i = 0; i < count; i++)
        if (!errors || !is_error(v, row ? row[i] : i)) size[group_of(v, row ? row[i] : i)]++;
    *chosen = 0;
    for (int64_t i = 0; i < count; i++) {
        const int64_t at = row ? row[i] : i;
        bool keep = count <= most || (errors && is_error(v, at));
        if (!keep) {
            const int32_t k = group_of(v, at);
            const double share = fmax((double)(most - errors) / (double)others, 1 / (double)size[k]);
            keep = floor((double)(seen[k] + 1) * share + 1e-9) > floor((double)seen[k] * share + 1e-9);
            seen[k]++;
        }
        if (keep) result[(*chosen)++] = i;
    }
    free(seen);
    *out = result;
    return 0;
}

static void widen(view *v, const float *y)
{
    for (int d = 0; d < 2 && isfinite(y[0]) && isfinite(y[1]); d++) {
        v->low[d] = fmin(v->low[d], (double)y[d]);
        v->high[d] = fmax(v->high[d], (double)y[d]);
    }
}

static int gather(view *v, const cli_options *options)
{
    const int64_t h = v->session.model_info.outputs, r = v->session.model_info.references;
    int code = 0;
    for (int k = 0; k < v->parts && !code; k++) code = predict_part(&v->part[k], options);
    if (!code) code = choose(v, NULL, v->total, options->sample ? options->sample : SAMPLE, false, &v->row, &v->n);
    if (!code)
        code = choose(v, v->row, v->n, options->detail ? options->detail : DETAIL, true, &v->detail, &v->details);
    if (options->bare) v->details = 0;
    if (!code && v->session.model_info.references_are_exemplars && r <= EXEMPLARS) {
        v->exemplar = cli_alloc("exemplars", r, h, sizeof *v->exemplar);
        v->exemplar_class = v->exemplar ? cli_alloc("exemplars", r, 1, sizeof *v->exemplar_class) : NULL;
        if (!v->exemplar_class) return CLI_FAILED;
        const enhope_status status =
            enhope_model_references(v->session.ctx, v->session.model, v->exemplar, v->exemplar_class);
        if (status) code = cli_fail(v->session.ctx, status);
    }
    v->low[0] = v->low[1] = INFINITY;
    v->high[0] = v->high[1] = -INFINITY;
    for (int64_t i = 0; i < v->n && !code; i++) {
        int64_t row = v->row[i];
        const view_part *part = part_of(v, &row);
        widen(v, part->p.Y + row * h);
    }
    for (int64_t j = 0; j < r && !code && v->exemplar; j++) widen(v, v->exemplar + j * h);
    const enhope_dataset_info *info = &v->part[0].session.data_info;
    v->words = info->kind == ENHOPE_CSR && !info->image_rows;
    return code;
}

/* ---- blocks of numbers ---- */

typedef double (*number_fn)(const view *v, int64_t i); /* of point i */

static const view_part *point(const view *v, int64_t i, int64_t *row)
{
    *row = v->row[i];
    return part_of(v, row);
}

static double number_row(const view *v, int64_t i)
{
    int64_t row;
    point(v, i, &row);
    return (double)row;
}

static double number_part(const view *v, int64_t i)
{
    int64_t row;
    return point(v, i, &row)->kind;
}

static double number_truth(const view *v, int64_t i)
{
    return group_of(v, v->row[i]);
}

static double number_label(const view *v, int64_t i)
{
    int64_t row;
    const view_part *part = point(v, i, &row);
    return part->p.label[row];
}

static double number_winner(const view *v, int64_t i)
{
    int64_t row;
    const view_part *part = point(v, i, &row);
    return (double)part->p.winner[row];
}

static double number_proba(const view *v, int64_t i)
{
    int64_t row;
    const view_part *part = point(v, i, &row);
    const float p = part->p.proba[row * v->session.model_info.classes + part->p.label[row]];
    return round(65535.0 * fmin(1, fmax(0, (double)p)));
}

static double place(const view *v, int64_t i, int d)
{
    int64_t row;
    const view_part *part = point(v, i, &row);
    const double wide = v->high[d] - v->low[d];
    const double y = (double)part->p.Y[row * v->session.model_info.outputs + d];
    return wide > 0 && isfinite(y) ? round(65535.0 * fmin(1, fmax(0, (y - v->low[d]) / wide))) : 32768;
}

static double number_x(const view *v, int64_t i)
{
    return place(v, i, 0);
}

static double number_y(const view *v, int64_t i)
{
    return place(v, i, 1);
}

static int put_numbers(const view *v, FILE *out, const char *id, number_fn of, double most)
{
    const size_t width = most < 256 ? 1 : most < 65536 ? 2 : 4;
    uint8_t *to = cli_alloc(id, v->n, (int64_t)width, 1);
    if (!to) return CLI_FAILED;
    for (int64_t i = 0; i < v->n; i++) {
        const uint32_t number = (uint32_t)of(v, i);
        for (size_t b = 0; b < width; b++) to[(size_t)i * width + b] = (uint8_t)(number >> 8 * b);
    }
    const int code = cli_page_put_block(out, id, to, (size_t)v->n, width);
    free(to);
    return code;
}

static int put_points(const view *v, FILE *out)
{
    const double c = v->session.model_info.classes + 1;
    int code = put_numbers(v, out, "x", number_x, 65535);
    if (!code) code = put_numbers(v, out, "y", number_y, 65535);
    if (!code) code = put_numbers(v, out, "row", number_row, 4294967295.0);
    if (!code) code = put_numbers(v, out, "part", number_part, PARTS);
    if (!code) code = put_numbers(v, out, "truth", number_truth, c);
    if (!code) code = put_numbers(v, out, "label", number_label, c);
    if (!code) code = put_numbers(v, out, "winner", number_winner, (double)v->session.model_info.references);
    if (!code) code = put_numbers(v, out, "proba", number_proba, 65535);
    return code;
}

/* ---- samples ---- */

/* Sides of a picture on the page: as they are, or by a whole number smaller. */
static int64_t shrink_of(const enhope_dataset_info *info)
{
    const int64_t longer = info->image_rows > info->image_columns ? info->image_rows : info->image_columns;
    return (longer + THUMB - 1) / THUMB;
}

static int sample_of(const view *v, int64_t at, float *x)
{
    int64_t row;
    const view_part *part = point(v, v->detail[at], &row);
    const enhope_status status = enhope_dataset_row(v->session.ctx, part->session.data, row, x);
    return status ? cli_fail(v->session.ctx, status) : 0;
}

/* One picture, two pixels a byte. */
static void pack_picture(const enhope_dataset_info *info, const float *x, uint8_t *to)
{
    const int64_t s = shrink_of(info), rows = (info->image_rows + s - 1) / s,
                  columns = (info->image_columns + s - 1) / s;
    const double wide = info->maximum > info->minimum ? info->maximum - info->minimum : 1;
    for (int64_t i = 0; i < rows * columns; i++) {
        double sum = 0;
        int64_t count = 0;
        for (int64_t a = i / columns * s; a < (i / columns + 1) * s && a < info->image_rows; a++)
            for (int64_t b = i % columns * s; b < (i % columns + 1) * s && b < info->image_columns; b++, count++)
                sum += (double)x[a * info->image_columns + b];
        const double grey = (sum / (double)count - info->minimum) / wide;
        const unsigned level = (unsigned)lround(LEVELS * fmin(1, fmax(0, grey)));
        to[i / 2] = (uint8_t)(to[i / 2] | (i % 2 ? level << 4 : level));
    }
}

static int put_pictures(const view *v, FILE *out, float *x)
{
    const enhope_dataset_info *info = &v->part[0].session.data_info;
    const int64_t s = shrink_of(info);
    const int64_t pixels = ((info->image_rows + s - 1) / s) * ((info->image_columns + s - 1) / s),
                  bytes = (pixels + 1) / 2;
    uint8_t *to = cli_alloc("pictures", v->details, bytes, 1);
    int code = to ? 0 : CLI_FAILED;
    for (int64_t i = 0; i < v->details && !code; i++) {
        code = sample_of(v, i, x);
        if (!code) pack_picture(info, x, to + i * bytes);
    }
    if (!code) code = cli_page_put_block(out, "pixels", to, (size_t)(v->details * bytes), 1);
    free(to);
    return code;
}

static int put_fields(const view *v, FILE *out, float *x)
{
    const int64_t H = v->session.model_info.inputs, fields = H < FIELDS ? H : FIELDS;
    float *to = cli_alloc("samples", v->details, fields, sizeof *to);
    int code = to ? 0 : CLI_FAILED;
    for (int64_t i = 0; i < v->details && !code; i++) {
        code = sample_of(v, i, x);
        if (!code) memcpy(to + i * fields, x, (size_t)fields * sizeof *x);
    }
    if (!code) code = cli_page_put_block(out, "fields", to, (size_t)(v->details * fields), sizeof *to);
    free(to);
    return code;
}

/* For every sample where its words begin, then their columns and how often they occur. */
static int put_words(const view *v, FILE *out)
{
    enhope_values values[PARTS];
    int64_t stored = 0;
    for (int k = 0; k < v->parts; k++) enhope_dataset_get_values(v->part[k].session.data, &values[k]);
    for (int64_t i = 0; i < v->details; i++) {
        int64_t row;
        const enhope_values *from = &values[point(v, v->detail[i], &row) - v->part];
        stored += from->row_start[row + 1] - from->row_start[row];
    }
    uint32_t *start = cli_alloc("samples", v->details + 1, 1, sizeof *start);
    int32_t *column = start ? cli_alloc("samples", stored, 1, sizeof *column) : NULL;
    float *value = column ? cli_alloc("samples", stored, 1, sizeof *value) : NULL;
    int64_t used = 0;
    for (int64_t i = 0; i < v->details && value; i++) {
        int64_t row;
        const enhope_values *from = &values[point(v, v->detail[i], &row) - v->part];
        for (int64_t e = from->row_start[row]; e < from->row_start[row + 1]; e++, used++) {
            column[used] = from->column[e];
            value[used] = from->value[e];
        }
        start[i + 1] = (uint32_t)used;
    }
    int code = value ? 0 : CLI_FAILED;
    if (!code) code = cli_page_put_block(out, "start", start, (size_t)v->details + 1, sizeof *start);
    if (!code) code = cli_page_put_block(out, "column", column, (size_t)stored, sizeof *column);
    if (!code) code = cli_page_put_block(out, "value", value, (size_t)stored, sizeof *value);
    free(start);
    free(column);
    free(value);
    return code;
}

static int put_samples(const view *v, FILE *out)
{
    if (!v->details) return 0;
    uint32_t *detail = cli_alloc("samples", v->details, 1, sizeof *detail);
    float *x = detail ? cli_alloc("a sample", v->session.model_info.inputs, 1, sizeof *x) : NULL;
    int code = x ? 0 : CLI_FAILED;
    for (int64_t i = 0; i < v->details && !code; i++) detail[i] = (uint32_t)v->detail[i];
    if (!code) code = cli_page_put_block(out, "detail", detail, (size_t)v->details, sizeof *detail);
    if (!code)
        code = v->part[0].session.data_info.image_rows ? put_pictures(v, out, x)
               : v->words                              ? put_words(v, out)
                                                       : put_fields(v, out, x);
    free(detail);
    free(x);
    return code;
}

/* ---- how training went ---- */

/* The points that are played: evenly along those that are shown. */
static int64_t played_point(const view *v, int64_t i)
{
    return i * v->n / v->history.points;
}

static int record_history(view *v, const cli_options *options)
{
    const int64_t H = v->session.model_info.inputs, points = v->n < PLAYED ? v->n : PLAYED;
    float *X = cli_alloc("samples", points, H, sizeof *X);
    int code = X ? 0 : CLI_FAILED;
    v->history.points = points;
    for (int64_t i = 0; i < points && !code; i++) {
        int64_t row;
        const view_part *part = point(v, played_point(v, i), &row);
        const enhope_status status = enhope_dataset_row(v->session.ctx, part->session.data, row, X + i * H);
        if (status) code = cli_fail(v->session.ctx, status);
    }
    if (!code) code = cli_page_history_record(&v->session, options, X, points, &v->history);
    free(X);
    return code;
}

static int put_history(const view *v, FILE *out)
{
    const cli_page_history *history = &v->history;
    if (!history->frames) return 0;
    uint32_t *played = cli_alloc("points", history->points, 1, sizeof *played);
    if (!played) return CLI_FAILED;
    for (int64_t i = 0; i < history->points; i++) played[i] = (uint32_t)played_point(v, i);
    int code = cli_page_put_block(out, "played", played, (size_t)history->points, sizeof *played);
    free(played);
    if (!code)
        code = cli_page_put_block(out, "frames", history->Y, (size_t)(history->frames * history->points * 2),
                                  sizeof *history->Y);
    return code;
}

static void put_progress(const view *v, FILE *out)
{
    fputs("\"history\":[", out);
    for (int64_t i = 0; i < v->history.frames; i++) {
        for (int k = 0; k < 3; k++) {
            fputs(k ? "," : i ? ",[" : "[", out);
            cli_put_json_number(out, v->history.progress[i * 3 + k]);
        }
        putc(']', out);
    }
    fputs("],", out);
}

/* ---- the model ---- */

static int put_model(const view *v, FILE *out, bool *there)
{
    size_t bytes = 0;
    enhope_status status = enhope_model_save_bytes(v->session.ctx, v->session.model, NULL, 0, &bytes);
    *there = !status && bytes <= MODEL_BYTES;
    if (status || !*there) return status ? cli_fail(v->session.ctx, status) : 0;
    void *file = cli_alloc("the model", (int64_t)bytes, 1, 1);
    if (!file) return CLI_FAILED;
    status = enhope_model_save_bytes(v->session.ctx, v->session.model, file, bytes, &bytes);
    const int code = status ? cli_fail(v->session.ctx, status)
                            : cli_page_put_block(out, "model", file, bytes / sizeof(float), sizeof(float));
    free(file);
    return code;
}

/* ---- what is told ---- */

static void put_inputs(const view *v, FILE *out)
{
    const enhope_dataset_info *info = &v->part[0].session.data_info;
    const int64_t H = v->session.model_info.inputs, s = shrink_of(info);
    fprintf(out, "\"kind\":\"%s\",", info->image_rows ? "image" : v->words ? "words" : "fields");
    fprintf(out, "\"inputs\":%lld,\"fields\":%lld,", (long long)H, (long long)(H < FIELDS ? H : FIELDS));
    if (info->image_rows)
        fprintf(out, "\"image\":[%lld,%lld],\"thumb\":[%lld,%lld],", (long long)info->image_rows,
                (long long)info->image_columns, (long long)((info->image_rows + s - 1) / s),
                (long long)((info->image_columns + s - 1) / s));
    fputs("\"range\":[", out);
    cli_put_json_number(out, info->minimum);
    putc(',', out);
    cli_put_json_number(out, info->maximum);
    putc(',', out);
    cli_put_json_number(out, info->mean);
    fputs("],\"names\":", out);
    const bool of_data = enhope_dataset_input_name(v->part[0].session.data, 0) != NULL;
    if (H > NAMES || !(of_data || enhope_model_input_name(v->session.model, 0))) {
        fputs("null,", out);
        return;
    }
    for (int64_t j = 0; j < H; j++) {
        putc(j ? ',' : '[', out);
        cli_put_json(out, of_data ? enhope_dataset_input_name(v->part[0].session.data, j)
                                  : enhope_model_input_name(v->session.model, j));
    }
    fputs("],", out);
}

static void put_parts(const view *v, FILE *out)
{
    fputs("\"parts\":[", out);
    for (int k = 0; k < v->parts; k++)
        fprintf(out, "%s{\"kind\":%d,\"name\":\"%s\",\"n\":%lld,\"labelled\":%lld,\"errors\":%lld}", k ? "," : "",
                v->part[k].kind, part_names[v->part[k].kind], (long long)v->part[k].session.data_info.n,
                (long long)v->part[k].labelled, (long long)v->part[k].errors);
    fprintf(out, "],\"total\":%lld,\"n\":%lld,\"details\":%lld,", (long long)v->total, (long long)v->n,
            (long long)v->details);
}

static void put_exemplars(const view *v, FILE *out)
{
    const int64_t h = v->session.model_info.outputs;
    fputs("\"box\":[", out);
    for (int i = 0; i < 4; i++) {
        if (i) putc(',', out);
        cli_put_json_number(out, i < 2 ? v->low[i] : v->high[i - 2]);
    }
    fprintf(out, "],\"references\":%lld,\"exemplars\":[", (long long)v->session.model_info.references);
    for (int64_t j = 0; j < v->session.model_info.references && v->exemplar; j++) {
        fputs(j ? ",[" : "[", out);
        cli_put_json_number(out, (double)v->exemplar[j * h]);
        putc(',', out);
        cli_put_json_number(out, (double)v->exemplar[j * h + 1]);
        fprintf(out, ",%d]", (int)v->exemplar_class[j]);
    }
    fputs("],", out);
}

static const char *last_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash && slash[1] ? slash + 1 : path;
}

static void put_about(const view *v, const cli_options *options, bool with_model, FILE *out)
{
    const enhope_model_info *info = &v->session.model_info;
    fputs("{\"title\":", out);
    cli_put_json(out, options->title);
    fputs(",\"data\":", out);
    cli_put_json(out, last_name(options->data));
    fputs(",\"model\":", out);
    cli_put_json(out, last_name(options->positional[0]));
    fputs(",\"method\":", out);
    cli_put_json(out, info->method);
    fprintf(out, ",\"version\":\"%s\",\"outputs\":%lld,\"neighbours\":%lld,\"runs\":%s,\"transpose\":%s,",
            enhope_version(), (long long)info->outputs,
            (long long)(options->neighbours ? options->neighbours : info->neighbours), with_model ? "true" : "false",
            options->transpose ? "true" : "false");
    put_inputs(v, out);
    put_parts(v, out);
    put_exemplars(v, out);
    put_progress(v, out);
    fputs("\"classes\":[", out);
    for (int32_t k = 0; k < info->classes; k++) {
        if (k) putc(',', out);
        cli_put_json(out, enhope_model_class_name(v->session.model, k));
    }
    fputs("]}", out);
}

static int put_page(const view *v, const cli_options *options, FILE *out)
{
    bool with_model = false;
    fwrite(cli_page_head, 1, cli_page_head_size, out);
    int code = put_points(v, out);
    if (!code) code = put_samples(v, out);
    if (!code) code = put_history(v, out);
    if (!code) code = put_model(v, out, &with_model);
    if (code) return code;
    char *json = NULL;
    size_t size = 0;
    FILE *about = open_memstream(&json, &size);
    if (!about) return cli_error("out of memory");
    put_about(v, options, with_model, about);
    code = fclose(about) ? cli_error("out of memory") : 0;
    if (!code) {
        cli_page_put_json(out, "about", json, size);
        fwrite(cli_page_tail, 1, cli_page_tail_size, out);
    }
    free(json);
    return code;
}

int cmd_view(const cli_options *options)
{
    view v = {0};
    cli_output output = {0};
    const char *path = options->output ? options->output : default_output;
    int code = cli_session_open(&v.session, options);
    if (!code) code = cli_session_model(&v.session, options->positional[0]);
    if (!code && v.session.model_info.outputs < 2)
        code = cli_error("%s maps to 1 dimension: a map needs 2", options->positional[0]);
    if (!code && v.session.model_info.outputs > 2)
        fprintf(stderr, "enhope: %s maps to %lld dimensions: the first two are drawn\n", options->positional[0],
                (long long)v.session.model_info.outputs);
    if (!code) code = read_parts(&v, options);
    if (!code && *cli_page_missing) code = cli_error("view: %s", cli_page_missing);
    if (!code) code = cli_output_differs(path, options->data);
    if (!code) code = cli_output_differs(path, options->positional[0]);
    if (!code) code = cli_output_open(&output, path);
    if (!code) code = gather(&v, options);
    if (!code && options->history) code = record_history(&v, options);
    if (!code && v.n < v.total)
        fprintf(stderr,
                "enhope: the page shows %lld of %lld points, the same share of every class; --sample N says how many\n",
                (long long)v.n, (long long)v.total);
    if (!code) code = put_page(&v, options, output.file);
    if (!code) code = cli_output_close(&output);
    cli_output_abandon(&output);
    view_free(&v);
    return code;
}
