/* Prints results of enhope as plain text, so that tests/oracles.py can compare them with other
 * programs.
 *
 * usage: oracle WHAT FILE... [NAME=VALUE...]
 *
 * A file has comma-separated numbers without a header. In the first file, a row is a sample and
 * its last column the class, counted from 0. NAME=VALUE is a setting, device=NAME, or path=FILE, a
 * file of any format. By default inputs are not scaled and there is no validation set. WHAT is a
 * row of the table below. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "train/trainer.h"

enum { FILES = 2 };

typedef struct numbers {
    int64_t rows, columns;
    double *at; /* (rows, columns) */
} numbers;

typedef struct samples {
    float *x;
    int32_t *label;
    enhope_dataset *data; /* refers to the arrays above */
} samples;

typedef struct question {
    enhope_context *ctx;
    enhope_settings *settings;
    numbers file[FILES];
    samples train;    /* of the first file */
    const char *path; /* path=FILE: of any format */
} question;

static void die(const char *what, const char *why)
{
    fprintf(stderr, "oracle: %s: %s\n", what, why);
    exit(2);
}

static void check(enhope_context *ctx, enhope_status status)
{
    if (status) die("enhope", enhope_error(ctx));
}

static void *allocate(int64_t count, size_t size)
{
    void *block = calloc((size_t)count + 1, size);
    if (!block) die("memory", "there is none");
    return block;
}

/* ---- input and output ---- */

static numbers read_numbers(const char *path)
{
    FILE *file = fopen(path, "r");
    if (!file) die(path, "cannot be opened");
    numbers n = {0};
    int64_t count = 0, space = 1024;
    n.at = allocate(space, sizeof *n.at);
    while (fscanf(file, "%lf", &n.at[count]) == 1) {
        const int after = fgetc(file);
        if (++count == space && !(n.at = realloc(n.at, (size_t)(space *= 2) * sizeof *n.at))) die(path, "is too long");
        if (after == ',') continue;
        n.rows++;
        if (n.rows == 1) n.columns = count;
        if (count != n.rows * n.columns) die(path, "has rows of different lengths");
    }
    if (!feof(file) || !n.rows) die(path, "has something that is no number");
    fclose(file);
    return n;
}

static samples make_samples(enhope_context *ctx, const numbers *n)
{
    const int64_t H = n->columns - 1;
    samples s = {.x = allocate(n->rows * H, sizeof *s.x), .label = allocate(n->rows, sizeof *s.label)};
    int32_t c = 0;
    for (int64_t i = 0; i < n->rows; i++) {
        for (int64_t j = 0; j < H; j++) s.x[i * H + j] = (float)n->at[i * n->columns + j];
        s.label[i] = (int32_t)n->at[i * n->columns + H];
        if (s.label[i] >= c) c = s.label[i] + 1;
    }
    check(ctx, enhope_dataset_view_f32(ctx, n->rows, H, s.x, s.label, c, NULL, &s.data));
    return s;
}

static void free_samples(samples *s)
{
    enhope_dataset_free(s->data);
    free(s->x), free(s->label);
}

static void print_rows(int64_t rows, int64_t columns, const double *v)
{
    for (int64_t i = 0; i < rows; i++)
        for (int64_t j = 0; j < columns; j++) printf("%.12g%c", v[i * columns + j], j + 1 < columns ? ' ' : '\n');
}

static void read_theta(eh_compute *c, const eh_real *from, int64_t count, double *to)
{
    if (c->op->real_size == sizeof *to) {
        c->op->fetch(c, to, from, (size_t)count * sizeof *to);
        return;
    }
    float *v = allocate(count, sizeof *v);
    c->op->read(c, v, from, count);
    for (int64_t i = 0; i < count; i++) to[i] = v[i];
    free(v);
}

/* ---- questions ---- */

/* The training loss, then the map's parameters (H+1, h), after training. */
static void print_map(question *q)
{
    enhope_trainer *t = NULL;
    check(q->ctx, enhope_trainer_create(q->ctx, NULL, q->train.data, q->settings, &t));
    for (int done = 0; !done;) check(q->ctx, enhope_trainer_step(t, NULL, &done));
    double *theta = allocate(t->parameters.map_count, sizeof *theta);
    read_theta(t->cp, t->parameters.theta, t->parameters.map_count, theta);
    print_rows(1, 1, &t->state.loss);
    print_rows(t->embedder.shape.H + 1, t->embedder.shape.h, theta);
    free(theta);
    enhope_trainer_free(t);
}

/* The loss at the linear map of the second file (H, h), then its gradient (H, h), with all
 * samples in one batch. */
static void print_loss(question *q)
{
    enhope_trainer *t = NULL;
    eh_loss_value value;
    int done;
    check(q->ctx, enhope_settings_set(q->ctx, q->settings, "batch_size", "0"));
    check(q->ctx, enhope_trainer_create(q->ctx, NULL, q->train.data, q->settings, &t));
    check(q->ctx, enhope_trainer_step(t, NULL, &done)); /* loads the batch */
    const numbers *map = &q->file[1];
    const int64_t count = map->rows * map->columns;
    if (map->rows != t->embedder.shape.H || map->columns != t->embedder.shape.h)
        die("the map", "expected one of H rows and h columns");
    float *A = allocate(t->parameters.map_count, sizeof *A);
    double *gradient = allocate(t->parameters.map_count, sizeof *gradient);
    for (int64_t i = 0; i < count; i++) A[i] = (float)map->at[i];
    t->cp->op->write(t->cp, t->parameters.theta, A, t->parameters.map_count);
    eh_real *g = NULL;
    check(q->ctx, eh_compute_new(t->cp, q->ctx, "gradient", t->parameters.map_count, t->cp->op->real_size, &g));
    eh_compute_begin(t->cp);
    eh_batch_loss_at(&t->loss, t->parameters.theta, g, t->losses.placed);
    t->cp->op->fetch(t->cp, &value, t->losses.placed, sizeof value);
    read_theta(t->cp, g, t->parameters.map_count, gradient);
    eh_compute_end(t->cp);
    print_rows(1, 1, &value.value);
    print_rows(map->rows, map->columns, gradient);
    t->cp->op->release(t->cp, g);
    free(A), free(gradient);
    enhope_trainer_free(t);
}

/* The classes that a model trained on the first file predicts for the samples of the second. */
static void print_classes(question *q)
{
    enhope_model *m = NULL;
    samples fresh = make_samples(q->ctx, &q->file[1]);
    const int64_t n = q->file[1].rows;
    int32_t *label = allocate(n, sizeof *label);
    check(q->ctx, enhope_train(q->ctx, q->train.data, q->settings, NULL, NULL, &m));
    check(q->ctx, enhope_model_predict(q->ctx, m, fresh.data, 0, &(enhope_prediction){.label = label}));
    for (int64_t i = 0; i < n; i++) printf("%d\n", (int)label[i]);
    free(label);
    enhope_model_free(m);
    free_samples(&fresh);
}

/* P (n, n) of the inputs at the perplexity of the settings. */
static void print_affinities(question *q)
{
    const int64_t n = q->file[0].rows, H = q->file[0].columns - 1;
    eh_compute *c = NULL;
    eh_real *X = NULL, *P = NULL;
    double *all = allocate(n * n, sizeof *all);
    check(q->ctx, eh_compute_open(q->ctx, false, &c));
    check(q->ctx, eh_compute_new(c, q->ctx, "inputs", n * H, c->op->real_size, &X));
    check(q->ctx, eh_compute_new(c, q->ctx, "affinities", n * n, c->op->real_size, &P));
    c->op->write(c, X, q->train.x, n * H);
    eh_compute_begin(c);
    c->op->affinities(c, n, H, X, q->settings->objective.perplexity, P);
    read_theta(c, P, n * n, all);
    eh_compute_end(c);
    print_rows(n, n, all);
    free(all);
    c->op->release(c, X), c->op->release(c, P);
    eh_compute_close(c);
}

/* The samples of the file at `path`, each with the name of its class, which must be a number. */
/* The first file is the embedding of the samples of the second. k=N is the setting n_neighbors. */
static void print_trustworthiness(question *q)
{
    const numbers *y = &q->file[0];
    samples of = make_samples(q->ctx, &q->file[1]);
    float *Y = allocate(y->rows * y->columns, sizeof *Y);
    char k[32];
    check(q->ctx, enhope_settings_get(q->ctx, q->settings, "n_neighbors", k, sizeof k));
    enhope_map_measures m = {.k = atoi(k)};
    for (int64_t i = 0; i < y->rows * y->columns; i++) Y[i] = (float)y->at[i];
    check(q->ctx, enhope_map_measure(q->ctx, NULL, y->columns, &(enhope_map){of.data, Y}, NULL, &m));
    printf("%.17g %.17g %.17g\n", m.trustworthiness, m.continuity, m.accuracy[1]);
    free(Y);
    free_samples(&of);
}

static void print_samples(question *q)
{
    enhope_dataset *data = NULL;
    enhope_dataset_info info;
    if (!q->path) die("samples", "expected path=FILE");
    check(q->ctx, enhope_dataset_read(q->ctx, &(enhope_source){.path = q->path}, &data));
    enhope_dataset_get_info(data, &info);
    const int32_t *label = enhope_dataset_labels(data);
    float *row = allocate(info.inputs, sizeof *row);
    double *all = allocate(info.inputs + 1, sizeof *all);
    for (int64_t i = 0; i < info.n; i++) {
        check(q->ctx, enhope_dataset_row(q->ctx, data, i, row));
        for (int64_t j = 0; j < info.inputs; j++) all[j] = (double)row[j];
        all[info.inputs] = label ? strtod(enhope_dataset_class_name(data, label[i]), NULL) : 0;
        print_rows(1, info.inputs + 1, all);
    }
    free(row);
    free(all);
    enhope_dataset_free(data);
}

static const struct {
    const char *name;
    int files;
    void (*print)(question *q);
} whats[] = {
    {"map", 1, print_map},         {"loss", 2, print_loss},
    {"classes", 2, print_classes}, {"affinities", 1, print_affinities},
    {"samples", 0, print_samples}, {"trustworthiness", 2, print_trustworthiness},
};
enum { WHATS = sizeof whats / sizeof *whats };

/* ---- arguments ---- */

static void take(question *q, char *pair)
{
    char *value = strchr(pair, '=');
    *value++ = 0;
    if (!strcmp(pair, "path")) {
        q->path = value;
        return;
    }
    check(q->ctx, !strcmp(pair, "device") ? enhope_context_set_device(q->ctx, value)
                                          : enhope_settings_set(q->ctx, q->settings, pair, value));
}

static void set_where_it_applies(question *q, const char *name, const char *value)
{
    if (enhope_settings_applies(q->settings, name))
        check(q->ctx, enhope_settings_set(q->ctx, q->settings, name, value));
}

int main(int count, char **word)
{
    question q = {.ctx = enhope_context_create(), .settings = enhope_settings_create()};
    int what = 0, files = 0;
    while (what < WHATS && (count < 2 || strcmp(whats[what].name, word[1]))) what++;
    if (what == WHATS) die(count < 2 ? "nothing" : word[1], "is not in the table of what can be asked");
    check(q.ctx, enhope_settings_set(q.ctx, q.settings, "recipe", "paper"));
    check(q.ctx, enhope_settings_set(q.ctx, q.settings, "scaling", "none"));
    for (int i = 2; i < count; i++) {
        if (strchr(word[i], '='))
            take(&q, word[i]);
        else if (files < whats[what].files)
            q.file[files++] = read_numbers(word[i]);
        else
            die(word[i], "is one file too many");
    }
    if (files < whats[what].files) die(word[1], "expected more files");
    set_where_it_applies(&q, "target_weight", "sample");
    set_where_it_applies(&q, "validation_fraction", "0");
    if (files > 0) q.train = make_samples(q.ctx, &q.file[0]);
    whats[what].print(&q);
    for (int i = 0; i < FILES; i++) free(q.file[i].at);
    free_samples(&q.train);
    enhope_settings_free(q.settings);
    enhope_context_free(q.ctx);
    return 0;
}
