/* Writes the page of enhope view: points, samples, history, model and metadata. */
#define _POSIX_C_SOURCE 200809L
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "view/page.h"
#include "view/view.h"

enum {
    NAMES = 20000,              /* maximum inputs with names in the page */
    MODEL_BYTES = 48 * 1000000, /* maximum size of a model in the page */
    TIMED = 7                   /* inputs of a date with a time */
};
static const char *const part_names[] = {"held out", "training", "all"};

/* ---- blocks of numbers ---- */

typedef enum number {
    NUMBER_X,
    NUMBER_Y,
    NUMBER_ROW,
    NUMBER_PART,
    NUMBER_TRUTH,
    NUMBER_LABEL,
    NUMBER_WINNER,
    NUMBER_PROBA
} number;

/* A number of point i, as the page stores it. */
static double number_of(const view *v, int64_t i, number which)
{
    const enhope_model_info *info = &v->session.model_info;
    int64_t row;
    const view_part *part = view_point(v, i, &row);
    const int d = which == NUMBER_Y;
    switch (which) {
    case NUMBER_X:
    case NUMBER_Y: return cli_page_place((double)part->p.Y[row * info->outputs + d], v->low[d], v->high[d]);
    case NUMBER_ROW: return (double)(enhope_dataset_source_row(part->session.data, row) + v->first_row);
    case NUMBER_PART: return part->kind;
    case NUMBER_TRUTH: return view_group_of(v, v->row[i]);
    case NUMBER_LABEL: return part->p.label[row];
    case NUMBER_WINNER: return (double)part->p.winner[row];
    case NUMBER_PROBA: break;
    }
    const float p = part->p.proba[row * info->classes + part->p.label[row]];
    return round(65535.0 * fmin(1, fmax(0, (double)p)));
}

static int put_numbers(const view *v, FILE *out, const char *id, number which, double max_value)
{
    const size_t width = max_value < 256 ? 1 : max_value < 65536 ? 2 : 4;
    uint8_t *to = cli_alloc(id, v->n, (int64_t)width, 1);
    if (!to) return CLI_FAILED;
    for (int64_t i = 0; i < v->n; i++) {
        const uint32_t value = (uint32_t)number_of(v, i, which);
        for (size_t b = 0; b < width; b++) to[(size_t)i * width + b] = (uint8_t)(value >> 8 * b);
    }
    const int code = cli_page_put_block(out, id, to, (size_t)v->n, width);
    free(to);
    return code;
}

static int put_points(const view *v, FILE *out)
{
    const double c = v->classes + 1;
    const int blocks_used = v->classifies ? NUMBER_PROBA : NUMBER_TRUTH;
    const struct {
        const char *id;
        double max_value;
    } blocks[] = {[NUMBER_X] = {"x", 65535},
                  [NUMBER_Y] = {"y", 65535},
                  [NUMBER_ROW] = {"row", UINT32_MAX},
                  [NUMBER_PART] = {"part", VIEW_PARTS},
                  [NUMBER_TRUTH] = {"truth", c},
                  [NUMBER_LABEL] = {"label", c},
                  [NUMBER_WINNER] = {"winner", (double)v->session.model_info.references},
                  [NUMBER_PROBA] = {"proba", 65535}};
    int code = 0;
    for (int i = 0; i <= blocks_used && !code; i++)
        code = put_numbers(v, out, blocks[i].id, (number)i, blocks[i].max_value);
    return code;
}

/* ---- history of training ---- */

int64_t view_played_point(const view *v, int64_t i)
{
    return i * v->n / v->history.points;
}

static int put_history(const view *v, FILE *out)
{
    const cli_page_history *history = &v->history;
    if (!history->frames) return 0;
    uint32_t *played = cli_alloc("points", history->points, 1, sizeof *played);
    if (!played) return CLI_FAILED;
    for (int64_t i = 0; i < history->points; i++) played[i] = (uint32_t)view_played_point(v, i);
    int code = cli_page_put_block(out, "played", played, (size_t)history->points, sizeof *played);
    free(played);
    if (!code)
        code = cli_page_put_block(out, "frames", history->place, (size_t)(history->frames * history->points * 2),
                                  sizeof *history->place);
    return code;
}

static void put_box(FILE *out, const char *name, const double *low, const double *high)
{
    cli_json(out, "%s:[%g,%g,%g,%g]", name, low[0], low[1], high[0], high[1]);
}

static void put_progress(const view *v, FILE *out)
{
    cli_json(out, "\"another\":%i,\"history\":[", v->history.gap > CLI_PAGE_GAP);
    for (int64_t i = 0; i < v->history.frames; i++) {
        const cli_page_frame *frame = &v->history.frame[i];
        fputs(i ? "," : "", out);
        cli_json(out, "{\"epoch\":%g,\"loss\":%g,\"valid\":%g,\"error\":%g,", frame->epoch, frame->loss,
                 frame->valid_error, frame->error);
        put_box(out, "box", frame->low, frame->high);
        putc('}', out);
    }
    fputs("],", out);
}

/* ---- the model ---- */

/* Writes the file of the model, unless it is too large. *bytes is set to its size. */
static int put_model(const view *v, FILE *out, size_t *bytes)
{
    enhope_status status = enhope_model_save_bytes(v->session.ctx, v->session.model, NULL, 0, bytes);
    if (status) return cli_fail(v->session.ctx, status);
    if (*bytes > MODEL_BYTES) return 0;
    void *file = cli_alloc("the model", (int64_t)*bytes, 1, 1);
    if (!file) return CLI_FAILED;
    status = enhope_model_save_bytes(v->session.ctx, v->session.model, file, *bytes, bytes);
    const size_t width = *bytes % sizeof(float) ? 1 : sizeof(float); /* models in int8 may have any size */
    const int code =
        status ? cli_fail(v->session.ctx, status) : cli_page_put_block(out, "model", file, *bytes / width, width);
    free(file);
    return code;
}

/* ---- metadata ---- */

static void put_inputs(const view *v, FILE *out)
{
    const enhope_dataset_info *info = &v->part[0].session.data_info;
    const int64_t H = v->session.model_info.inputs, s = view_shrink(info);
    fprintf(out, "\"kind\":\"%s\",", info->image_rows ? "image" : v->words ? "words" : "fields");
    fprintf(out, "\"inputs\":%lld,\"fields\":%lld,", (long long)H, (long long)view_fields(v));
    if (info->image_rows)
        fprintf(out, "\"image\":[%lld,%lld],\"thumb\":[%lld,%lld],", (long long)info->image_rows,
                (long long)info->image_columns, (long long)((info->image_rows + s - 1) / s),
                (long long)((info->image_columns + s - 1) / s));
    cli_json(out, "\"range\":[%g,%g,%g],\"names\":", info->minimum, info->maximum, info->mean);
    const bool of_data = enhope_dataset_input_name(v->part[0].session.data, 0) != NULL;
    if (H > NAMES || !(of_data || enhope_model_input_name(v->session.model, 0))) {
        fputs("null,", out);
        return;
    }
    for (int64_t j = 0; j < H; j++) {
        putc(j ? ',' : '[', out);
        cli_json(out, "%s",
                 of_data ? enhope_dataset_input_name(v->part[0].session.data, j)
                         : enhope_model_input_name(v->session.model, j));
    }
    fputs("],", out);
}

/* A column of a table, in the form of the metadata of models. */
static void put_column(const enhope_column_info *c, int64_t j, FILE *out)
{
    const bool date = !strcmp(c->type, "date");
    char number[32];
    snprintf(number, sizeof number, "column %lld", (long long)j + 1);
    cli_json(out, "{\"name\":%s,\"type\":%s,", c->name ? c->name : number, c->type);
    if (isfinite(c->fill)) fprintf(out, "\"fill\":%.17g,", c->fill);
    cli_json(out, "\"other\":%i,\"missing\":%i,\"constant\":%i,\"time\":%i,\"categories\":[", c->other, c->missing,
             c->constant, date && c->inputs - c->missing == TIMED);
    for (int32_t k = 0; k < c->categories; k++) {
        fputs(k ? "," : "", out);
        cli_json(out, "%s", c->category[k]);
    }
    fprintf(out, "],\"offset\":%.17g}", c->offset);
}

static void put_columns(const view *v, FILE *out)
{
    enhope_column_info c;
    fputs("\"columns\":", out);
    for (int64_t j = 0; v->encoded && enhope_model_column(v->session.model, j, &c); j++) {
        putc(j ? ',' : '[', out);
        put_column(&c, j, out);
    }
    fputs(v->encoded ? "]," : "null,", out);
}

static void put_importance(const view *v, FILE *out)
{
    const cli_importance *x = &v->importance;
    if (!x->columns) {
        fputs("\"importance\":null,", out);
        return;
    }
    fprintf(out, "\"importance\":{\"n\":%lld,\"columns\":", (long long)x->n);
    for (int64_t j = 0; j < x->columns; j++) {
        putc(j ? ',' : '[', out);
        cli_json(out, "[%s,%g,%g]", x->column[j].name, x->column[j].error, x->column[j].loss);
    }
    fputs("]},", out);
}

static void put_parts(const view *v, FILE *out)
{
    fputs("\"parts\":[", out);
    for (int k = 0; k < v->parts; k++)
        fprintf(out, "%s{\"kind\":%d,\"name\":\"%s\",\"n\":%lld,\"labelled\":%lld,\"errors\":%lld,\"trained\":%g}",
                k ? "," : "", v->part[k].kind, part_names[v->part[k].kind], (long long)v->part[k].session.data_info.n,
                (long long)v->part[k].labeled, (long long)v->part[k].errors, v->part[k].trained);
    fprintf(out, "],\"total\":%lld,\"n\":%lld,\"details\":%lld,", (long long)v->total, (long long)v->n,
            (long long)v->details);
}

static void put_exemplars(const view *v, FILE *out)
{
    const int64_t h = v->session.model_info.outputs;
    put_box(out, "box", v->low, v->high);
    fprintf(out, ",\"references\":%lld,\"exemplars\":[", (long long)v->session.model_info.references);
    for (int64_t j = 0; j < v->session.model_info.references && v->exemplar; j++) {
        fputs(j ? "," : "", out);
        cli_json(out, "[%g,%g,%d]", (double)v->exemplar[j * h], (double)v->exemplar[j * h + 1],
                 (int)v->exemplar_class[j]);
    }
    fputs("],", out);
}

/* The names of the columns of texts, ids first. */
static void put_texts(const view *v, FILE *out)
{
    const enhope_dataset *data = v->part[0].session.data;
    fputs("\"texts\":[", out);
    for (int64_t k = 0; k < enhope_dataset_text_count(data); k++) {
        fputs(k ? "," : "", out);
        cli_json(out, "%s", enhope_dataset_text_name(data, k));
    }
    fputs("],", out);
}

/* The file name of a path; for a pair of files that of the first, for synthetic data its kind. */
static int put_last_name(FILE *out, const char *path)
{
    char *text = strdup(path), *from = text;
    if (!text) return cli_error("out of memory");
    text[strcspn(text, ",")] = 0;
    for (size_t end = strlen(text); end > 1 && text[end - 1] == '/'; end--) text[end - 1] = 0;
    if (strrchr(text, '/') && strrchr(text, '/')[1]) from = strrchr(text, '/') + 1;
    cli_json(out, "%s", from);
    free(text);
    return 0;
}

static int put_about(const view *v, const cli_options *options, size_t model_bytes, FILE *out)
{
    const enhope_model_info *info = &v->session.model_info;
    cli_json(out, "{\"title\":%s,\"data\":", options->picture.title);
    int code = put_last_name(out, options->data);
    fputs(",\"model\":", out);
    if (!code) code = put_last_name(out, options->positional[0]);
    cli_json(out,
             ",\"bytes\":%lld,\"method\":%s,\"version\":%s,\"outputs\":%lld,\"neighbours\":%lld,\"runs\":%i,"
             "\"transpose\":%i,",
             (long long)model_bytes, info->method, enhope_version(), (long long)info->outputs,
             (long long)(options->n_neighbors ? options->n_neighbors
                         : info->votes        ? info->neighbours
                                              : 0),
             model_bytes <= MODEL_BYTES, options->page.transpose);
    put_inputs(v, out);
    put_columns(v, out);
    put_importance(v, out);
    put_parts(v, out);
    put_exemplars(v, out);
    put_progress(v, out);
    put_texts(v, out);
    cli_json(out, "\"classifies\":%i,\"classes\":[", v->classifies);
    for (int32_t k = 0; k < v->classes; k++) {
        if (k) putc(',', out);
        cli_json(out, "%s", v->class_name[k]);
    }
    fputs("]}", out);
    return code;
}

int view_put(const view *v, const cli_options *options, FILE *out)
{
    size_t model_bytes = 0;
    fwrite(cli_page_head, 1, cli_page_head_size, out);
    int code = put_points(v, out);
    if (!code) code = view_put_spread(v, out);
    if (!code) code = view_put_samples(v, out);
    if (!code) code = view_put_texts(v, out);
    if (!code) code = put_history(v, out);
    if (!code) code = put_model(v, out, &model_bytes);
    if (code) return code;
    char *json = NULL;
    size_t size = 0;
    FILE *about = open_memstream(&json, &size);
    if (!about) return cli_error("out of memory");
    code = put_about(v, options, model_bytes, about);
    if (fclose(about) && !code) code = cli_error("out of memory");
    if (!code) {
        cli_page_put_json(out, "about", json, size);
        fwrite(cli_page_tail, 1, cli_page_tail_size, out);
    }
    free(json);
    return code;
}
