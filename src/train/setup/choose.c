/* Chooses the map, its regularization and its similarity for tables.
 *
 * Tables differ in how much structure they allow a map to learn: some are best explained by a
 * nearly linear map and strong noise, others by a flexible map with hardly any noise. A few
 * candidates cover this range. Each is trained briefly on some folds of the data, and the one with
 * the lowest log loss on the rows left out is used. Few rows are not divided again: the chosen
 * map is trained on all of them, and its errors and temperature are those of the
 * cross-validation. docs/explanation/tables.md has the data sets by which the candidates were
 * found.
 *
 * Images keep the settings of the recipe, with an auxiliary head. If there are few of them, a map
 * with an adversarial step is compared with one of order 1. Tables and images have a similarity
 * that spreads their classes. All methods and recipes but the default keep their settings. Settings
 * that the caller has set are the same in every candidate. */
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "classify/confidence.h"
#include "predict/predict.h"
#include "train/setup/setup.h"

enum {
    MAX_INPUTS = 4096,   /* wider data uses the candidate FOR_MANY_INPUTS without a choice */
    FEW_ROWS = 2000,     /* up to here, all rows take part in cross-validation */
    VERY_FEW_ROWS = 300, /* below, there are more folds */
    PILOT_ROWS = 4000,   /* rows of the choice if there are more than FEW_ROWS */
    MANY_CLASSES = 10,   /* above, the map is as large as for many rows, and its similarity has a heavy tail */
    FEW_IMAGES = 5000,
    MIN_BATCH = 32,
    MAX_BATCH = 1000,
    BATCHES = 50, /* of an epoch, if there are enough rows */
    SPREAD_DOF = 5,
    AUX_COMPONENTS = 10
};
/* A candidate whose loss on the first folds is larger than the lowest one by this factor is given
 * up, unless there are very few rows. */
static const double GIVE_UP = 1.25;

typedef struct candidate {
    const char *name;
    enum { LINEAR, SMALL, WIDE, CUBIC, ADVERSARIAL } kind;
    double noise, dropout, learning_rate;
    const char *similarity;
    int64_t per_class;                           /* exemplars of each class */
    enum { FEW = 1, MANY = 2, IMAGES = 4 } data; /* what it is tried for */
} candidate;

/* A linear map is small, starts in the linear range of its hidden units and takes few steps. Other
 * small maps and wide maps have order 1, cubic and adversarial maps order 3. */
static const candidate candidates[] = {
    {"a nearly linear map with gaussian similarity", LINEAR, 0.3, 0, 0.005, "gaussian", 1, FEW | MANY},
    {"a nearly linear map", LINEAR, 0.3, 0.1, 0.005, "student", 1, FEW},
    {"a small map with strong noise", SMALL, 0.5, 0.3, 0.002, "student", 1, FEW},
    {"a map with noise and dropout", WIDE, 0.1, 0.1, 0.005, "student", 1, FEW | MANY | IMAGES},
    {"a map with little noise", WIDE, 0.03, 0, 0.005, "student", 1, FEW | MANY},
    {"a map with little noise and gaussian similarity", WIDE, 0.03, 0, 0.005, "gaussian", 1, FEW | MANY},
    {"a map of order 3 with little noise, two exemplars per class", CUBIC, 0.03, 0, 0.005, "student", 2, FEW | MANY},
    {"a map of order 3", CUBIC, 0.1, 0.1, 0.002, "student", 1, MANY},
    {"a map with dropout", WIDE, 0, 0.2, 0.005, "student", 1, MANY}, /* for word counts */
    {"a map of order 3 with an adversarial step", ADVERSARIAL, 0.1, 0.1, 0.002, "student", 2, IMAGES},
};
enum { CANDIDATES = sizeof candidates / sizeof *candidates, FOR_MANY_INPUTS = 3, FOR_IMAGES = CANDIDATES - 1 };

/* The rows of the choice, divided into folds. */
typedef struct trial {
    enhope_context *ctx;
    const enhope_dataset *data;
    const enhope_settings *set;
    bool images;              /* few images instead of a table */
    bool dense;               /* rows may be made dense, as noise and dropout require */
    int64_t labeled;          /* labeled rows of the data */
    int64_t *row;             /* (n) the rows of the choice, sorted by class, in a seeded order within a class */
    int64_t n, folds, tested; /* rows; folds; number of folds that are left out in turn */
    int32_t *label;           /* (data->x.n) labels of a training: -1 outside its rows */
    int64_t *counts;          /* (c) rows of each class in a training */
    int64_t unlabeled;        /* rows without a label that take part in the training of all rows */
    bool brief;               /* trainings are short */
    float *proba;             /* (CANDIDATES, n, c) */
} trial;

static bool has_few_rows(const trial *r)
{
    return !r->images && r->labeled <= FEW_ROWS;
}

/* ---- settings of a candidate ---- */

static enhope_status set_unless_explicit(enhope_context *ctx, enhope_settings *s, const enhope_settings *given,
                                         const char *name, size_t at, double value)
{
    char text[40];
    if (eh_settings_explicit(given, at)) return ENHOPE_OK;
    eh_number_print(value, text, sizeof text);
    return enhope_settings_set(ctx, s, name, text);
}
#define SET(group, field, value) \
    EH_TRY(set_unless_explicit(ctx, s, given, #field, offsetof(enhope_settings, group.field), (double)(value)))

static bool is_tried(const trial *r, const candidate *k)
{
    return k->data & (r->images ? IMAGES : has_few_rows(r) ? FEW : MANY);
}

/* Factors of the map of a candidate: twice as many as hidden units. brief: a short training
 * of the choice. */
static int64_t factors(const trial *r, const candidate *k, bool brief)
{
    const bool few_classes = r->data->c <= MANY_CLASSES;
    if (k->kind == LINEAR || k->kind == SMALL) return 50;
    return (few_classes && (has_few_rows(r) || k->kind == CUBIC) ? 200 : 400) / (brief ? 2 : 1);
}

static int64_t steps(const trial *r, const candidate *k, bool brief)
{
    if (has_few_rows(r)) return k->kind == LINEAR ? 300 : brief ? 400 : 1000;
    return k->kind == LINEAR ? 600 : brief ? 1000 : r->set->optim.n_epochs * BATCHES;
}

static bool is_similarity_given(const enhope_settings *s)
{
    return EH_EXPLICIT(s, objective.similarity) || EH_EXPLICIT(s, objective.dof);
}

/* Any distribution over three classes is possible in two dimensions. More classes are learned with
 * an auxiliary head, unless the map is small. */
static int64_t aux_components(const enhope_dataset *data, const candidate *k)
{
    return data->c > 3 && k->kind != LINEAR && k->kind != SMALL ? AUX_COMPONENTS : 0;
}

/* Settings of a training of a candidate on rows with class sizes r->counts. */
static enhope_status apply(const trial *r, const candidate *k, bool brief, enhope_settings *s)
{
    enhope_context *ctx = r->ctx;
    const enhope_settings *given = r->set;
    const int32_t c = r->data->c;
    int64_t n = r->unlabeled;
    for (int32_t j = 0; j < c; j++) n += r->counts[j];
    const int64_t F = factors(r, k, brief);
    const bool batch_given = EH_EXPLICIT(given, optim.batch_size);
    const int64_t batch = batch_given ? given->optim.batch_size : eh_min(eh_max(n / BATCHES, MIN_BATCH), MAX_BATCH);
    const int64_t batches = batch ? eh_max((n + batch - 1) / batch, 1) : 1; /* n is 0 without labeled rows */
    const int64_t epochs = (steps(r, k, brief) + batches - 1) / batches;
    SET(map, order, k->kind == CUBIC || k->kind == ADVERSARIAL ? 3 : 1);
    SET(map, n_factors, F);
    SET(map, aux_components, aux_components(r->data, k));
    SET(map, n_hidden, F / 2);
    SET(map, init_scale, k->kind == LINEAR ? 0.1 : 0);
    SET(augment, noise, r->dense ? k->noise : 0);
    SET(augment, dropout, r->dense ? k->dropout : 0);
    SET(augment, adversarial_step, k->kind == ADVERSARIAL ? 0.05 : 0);
    SET(optim, learning_rate, k->learning_rate);
    SET(optim, batch_size, batch);
    SET(optim, n_epochs, epochs);
    if (brief) s->optim.n_epochs = eh_min(s->optim.n_epochs, epochs);
    SET(objective, n_exemplars, eh_exemplar_default_count(k->per_class, c, r->counts));
    return is_similarity_given(given) ? ENHOPE_OK : enhope_settings_set(ctx, s, "similarity", k->similarity);
}

/* ---- folds ---- */

/* Lists the rows of the choice. The folds are row, row + folds, ..., which divides every class. A
 * validation part of its own takes no part. */
static enhope_status list_rows(trial *r)
{
    const enhope_dataset *data = r->data;
    const int64_t n = data->x.n;
    int64_t *order = NULL, *start = NULL;
    enhope_status status;
    EH_CHECK(eh_new(r->ctx, "order of samples", n, sizeof *order, (void **)&order));
    EH_CHECK(eh_new(r->ctx, "class counts", (int64_t)data->c + 1, sizeof *start, (void **)&start));
    EH_CHECK(eh_new(r->ctx, "rows of samples", n, sizeof *r->row, (void **)&r->row));
    eh_shuffle((uint64_t)r->set->random_state, EH_STREAM_VALID, 1, n, order);
    for (int64_t i = 0; i < n; i++)
        if (data->label[order[i]] >= 0 && order[i] < n - data->valid_n) order[r->labeled++] = order[i];
    r->n = has_few_rows(r) ? r->labeled : eh_min(r->labeled, PILOT_ROWS);
    for (int64_t i = 0; i < r->n; i++) start[data->label[order[i]] + 1]++;
    for (int32_t k = 0; k < data->c; k++) start[k + 1] += start[k];
    for (int64_t i = 0; i < r->n; i++) r->row[start[data->label[order[i]]]++] = order[i];
cleanup:
    eh_free(order);
    eh_free(start);
    return status;
}

static enhope_status open_trial(trial *r)
{
    const int64_t n = r->data->x.n, c = r->data->c;
    EH_TRY(list_rows(r));
    r->folds = r->n < VERY_FEW_ROWS ? 5 : has_few_rows(r) ? 3 : 4;
    r->tested = has_few_rows(r) ? r->folds : 1;
    EH_TRY(eh_new(r->ctx, "labels", n, sizeof *r->label, (void **)&r->label));
    EH_TRY(eh_new(r->ctx, "class counts", c, sizeof *r->counts, (void **)&r->counts));
    return eh_new(r->ctx, "probabilities", CANDIDATES * r->n * c, sizeof *r->proba, (void **)&r->proba);
}

static void close_trial(trial *r)
{
    eh_free(r->row);
    eh_free(r->label);
    eh_free(r->counts);
    eh_free(r->proba);
}

/* Marks the rows of all folds but one. */
static void mark_rows(trial *r, int64_t fold)
{
    for (int64_t i = 0; i < r->data->x.n; i++) r->label[i] = -1;
    memset(r->counts, 0, (size_t)r->data->c * sizeof *r->counts);
    for (int64_t i = 0; i < r->n; i++) {
        const int32_t k = r->data->label[r->row[i]];
        if (i % r->folds == fold) continue;
        r->label[r->row[i]] = k;
        r->counts[k]++;
    }
}

/* Trains a candidate without one fold and stores the probabilities of this fold in proba (n, c). */
static enhope_status train_fold(const trial *r, const candidate *k, int64_t fold, float *proba)
{
    enhope_context *ctx = r->ctx;
    enhope_dataset part = *r->data; /* borrows all but the labels */
    enhope_settings s = *r->set;
    enhope_model *model = NULL;
    enhope_predictor *predictor = NULL;
    enhope_status status;
    int64_t *rows = NULL, n = 0;
    float *own = NULL;
    part.label = r->label;
    part.valid_n = 0;
    EH_CHECK(apply(r, k, r->brief, &s));
    s.validation_fraction = s.optim.time_limit = s.objective.unlabeled_weight = 0;
    EH_CHECK(enhope_train(ctx, &part, &s, NULL, NULL, &model));
    EH_CHECK(eh_new(ctx, "rows of samples", r->n, sizeof *rows, (void **)&rows));
    for (int64_t i = fold; i < r->n; i += r->folds) rows[n++] = r->row[i];
    EH_CHECK(eh_new(ctx, "probabilities", n * r->data->c, sizeof *own, (void **)&own));
    EH_CHECK(eh_predict_open(ctx, model, 0, &predictor));
    EH_CHECK(eh_predict_block(ctx, predictor, model, r->data, rows, n, 0, &(enhope_prediction){.proba = own}, NULL));
    for (int64_t i = 0; i < n; i++)
        memcpy(proba + (fold + i * r->folds) * r->data->c, own + i * r->data->c, (size_t)r->data->c * sizeof *proba);
cleanup:
    eh_free(rows);
    eh_free(own);
    enhope_predictor_free(predictor);
    enhope_model_free(model);
    return status;
}

static float *proba_of(const trial *r, int candidate)
{
    return r->proba + candidate * r->n * r->data->c;
}

static double weight_of(const trial *r, int64_t i)
{
    return r->data->weight ? (double)r->data->weight[r->row[i]] : 1;
}

/* Adds the log loss of a candidate on a fold; infinite if training fails. */
static enhope_status add_loss(const trial *r, int candidate, int64_t fold, double *loss)
{
    static const double MIN_PROBABILITY = 1e-7;
    const int32_t c = r->data->c;
    float *proba = proba_of(r, candidate);
    const enhope_status status = train_fold(r, &candidates[candidate], fold, proba);
    if (status == ENHOPE_ERROR_MEMORY) return status;
    if (status) *loss = INFINITY; /* the training of all rows reports what is wrong */
    for (int64_t i = fold; !status && i < r->n; i += r->folds)
        *loss -= weight_of(r, i) * log(fmax((double)proba[i * c + r->data->label[r->row[i]]], MIN_PROBABILITY));
    return ENHOPE_OK;
}

/* ---- the choice ---- */

/* Errors and temperature of the best candidate in cross-validation. */
static enhope_status evaluate(const trial *r, int chosen, eh_choice *choice)
{
    const float *proba = proba_of(r, chosen);
    const int32_t c = r->data->c;
    double *L = NULL;
    int32_t *label = NULL;
    float *weight = NULL;
    enhope_status status;
    EH_CHECK(eh_new(r->ctx, "the similarities", r->n * c, sizeof *L, (void **)&L));
    EH_CHECK(eh_new(r->ctx, "labels", r->n, sizeof *label, (void **)&label));
    EH_CHECK(eh_new(r->ctx, "weights", r->n, sizeof *weight, (void **)&weight));
    for (int64_t i = 0; i < r->n; i++) {
        int32_t best = 0;
        label[i] = r->data->label[r->row[i]];
        weight[i] = (float)weight_of(r, i);
        for (int32_t k = 0; k < c; k++) {
            const float p = proba[i * c + k];
            if (p > proba[i * c + best]) best = k;
            L[i * c + k] = log((double)fmaxf(p, FLT_MIN));
        }
        choice->errors += best != label[i];
    }
    choice->n = r->n;
    choice->temperature = eh_temperature(L, label, weight, r->n, c);
cleanup:
    eh_free(L);
    eh_free(label);
    eh_free(weight);
    return status;
}

/* Trains the candidates of finite loss without a fold and adds their losses. Each is trained by one
 * thread of the CPU, without a log and other ranks, so that every machine makes the same choice. */
static enhope_status train_candidates(trial *r, int64_t fold, double loss[CANDIDATES])
{
    enhope_status failure = ENHOPE_OK;
    mark_rows(r, fold);
#pragma omp parallel for schedule(dynamic) num_threads(eh_compute_threads(r->ctx))
    for (int i = 0; i < CANDIDATES; i++) {
        enhope_context ctx = *r->ctx;
        trial own = *r;
        own.ctx = &ctx;
        ctx.log = NULL;
        ctx.comm = NULL;
        ctx.threads = 1;
        if (strcmp(ctx.device, "ref")) snprintf(ctx.device, sizeof ctx.device, "cpu");
        const enhope_status status = isfinite(loss[i]) ? add_loss(&own, i, fold, &loss[i]) : ENHOPE_OK;
        if (!status) continue;
#pragma omp critical
        {
            failure = status;
            memcpy(r->ctx->error, ctx.error, sizeof ctx.error);
        }
    }
    return failure;
}

/* Trains the candidates of finite loss fold by fold and sets their log losses. */
static enhope_status train_all(trial *r, double loss[CANDIDATES], int *best)
{
    double rows = 0; /* the weight of the rows left out so far */
    for (int i = 0; i < CANDIDATES; i++)
        if (isfinite(loss[i])) loss[i] = 0;
    for (int64_t fold = 0; fold < r->tested; fold++) {
        for (int64_t i = fold; i < r->n; i += r->folds) rows += weight_of(r, i);
        EH_TRY(train_candidates(r, fold, loss));
        for (int i = 0; i < CANDIDATES; i++)
            if (loss[i] < loss[*best]) *best = i;
        for (int i = 0; i < CANDIDATES && fold + 1 < r->tested && r->n >= VERY_FEW_ROWS; i++)
            if (loss[i] > GIVE_UP * loss[*best]) loss[i] = INFINITY;
    }
    for (int i = 0; i < CANDIDATES; i++) loss[i] /= rows;
    return ENHOPE_OK;
}

/* Sets the loss of all but the best candidates to infinity. */
static void keep_finalists(double loss[CANDIDATES])
{
    enum { FINALISTS = 3 };
    double others[CANDIDATES];
    memcpy(others, loss, sizeof others);
    for (int i = 0; i < CANDIDATES; i++) {
        int better = 0;
        for (int j = 0; j < CANDIDATES; j++) better += others[j] < others[i];
        if (better >= FINALISTS) loss[i] = INFINITY;
    }
}

/* *best is the candidate with the lowest loss after short trainings. With many rows, these favor
 * candidates that learn fast: the best of them are trained again, to the end. */
static enhope_status compare(trial *r, int *best, double *lowest)
{
    double loss[CANDIDATES]; /* infinite: not tried, or given up */
    for (int i = 0; i < CANDIDATES; i++) loss[i] = is_tried(r, &candidates[i]) ? 0 : INFINITY;
    r->brief = true;
    EH_TRY(train_all(r, loss, best));
    if (!has_few_rows(r) && !r->images) {
        r->brief = false;
        keep_finalists(loss);
        EH_TRY(train_all(r, loss, best));
    }
    *lowest = loss[*best];
    return ENHOPE_OK;
}

/* Whether the data is a table: not images, and not dense columns that share a scale like pixels.
 * Streamed data without the shape of images counts as a table. */
static enhope_status is_table(enhope_context *ctx, const enhope_dataset *data, bool *table)
{
    enum { SAMPLE = 5000 };
    const int64_t n = data->x.n, H = data->x.H, count = eh_min(n, SAMPLE);
    eh_scale scale = EH_SCALE_AUTO;
    int64_t *rows = NULL;
    float *scaling = NULL;
    enhope_status status = ENHOPE_OK;
    *table = data->image_rows == 0;
    if (!*table || data->store || data->x.kind == ENHOPE_CSR) return ENHOPE_OK;
    EH_CHECK(eh_new(ctx, "rows of samples", count, sizeof *rows, (void **)&rows));
    EH_CHECK(eh_new(ctx, "scaling", 2 * H, sizeof *scaling, (void **)&scaling));
    for (int64_t i = 0; i < count; i++) rows[i] = i * n / count; /* files may be sorted by class */
    EH_CHECK(eh_scaling_fit(ctx, &scale, &data->x, data->input_name, 0, rows, count, scaling, scaling + H));
    *table = scale != EH_SCALE_RANGE;
cleanup:
    eh_free(rows);
    eh_free(scaling);
    return status;
}

/* Whether the size of the map and its training are set, as in the trainings of a choice and of a
 * search: then the candidates are not tried. */
static bool is_decided(const enhope_settings *s)
{
    return EH_EXPLICIT(s, map.order) && EH_EXPLICIT(s, map.n_factors) && EH_EXPLICIT(s, map.n_hidden) &&
           EH_EXPLICIT(s, augment.noise) && EH_EXPLICIT(s, augment.dropout) && EH_EXPLICIT(s, optim.learning_rate) &&
           EH_EXPLICIT(s, optim.batch_size) && EH_EXPLICIT(s, optim.n_epochs) && EH_EXPLICIT(s, objective.n_exemplars);
}

/* Whether there are few images, and the caller has not set the size of the map or of the training:
 * smaller maps may learn nothing with an adversarial step. */
static bool has_few_images(const enhope_trainer *t)
{
    const enhope_settings *s = &t->set;
    return t->data->x.n <= FEW_IMAGES && t->data->x.H <= MAX_INPUTS && !EH_EXPLICIT(s, map.n_factors) &&
           !EH_EXPLICIT(s, map.n_hidden) && !EH_EXPLICIT(s, optim.n_epochs);
}

/* Whether a new model is trained by the default recipe and method. */
static bool is_default(const enhope_trainer *t)
{
    const enhope_settings *s = &t->set;
    const bool labeled = t->data->label || (t->data->store && t->data->store->labeled);
    return !t->from && s->recipe == 0 && t->method->compared == EH_EXEMPLARS && t->method->map == &eh_map_hope &&
           s->optim.solver == EH_SOLVER_ADAM && labeled;
}

static bool has_choice(const enhope_trainer *t, bool images)
{
    return !t->data->store && !is_decided(&t->set) && (!images || has_few_images(t));
}

/* With one degree of freedom, classes collapse onto their exemplars, and the map does not show how
 * typical a sample is. More degrees spread the classes at about the same error, unless there are so
 * many that they need the heavy tail of one degree to keep apart. */
static void spread_classes(const enhope_dataset *data, enhope_settings *s)
{
    if (data->c <= MANY_CLASSES && !is_similarity_given(s)) s->objective.dof = SPREAD_DOF;
}

/* Applies the candidate to the settings of the trainer. */
static enhope_status use(enhope_trainer *t, trial *r, const candidate *k)
{
    const enhope_settings given = t->set;
    const enhope_dataset *data = r->data;
    memset(r->counts, 0, (size_t)data->c * sizeof *r->counts);
    for (int64_t i = 0; i < data->x.n - data->valid_n; i++)
        if (data->label[i] >= 0) r->counts[data->label[i]]++;
    r->set = &given;
    if (data->x.kind != ENHOPE_CSR && given.objective.unlabeled_weight > 0)
        for (int64_t i = 0; i < data->x.n; i++) r->unlabeled += data->label[i] < 0;
    if (has_few_rows(r) && !EH_EXPLICIT(&given, validation_fraction)) t->set.validation_fraction = 0;
    return apply(r, k, false, &t->set);
}

enhope_status eh_setup_choose(enhope_trainer *t)
{
    const int64_t H = t->data->x.H;
    int best = FOR_MANY_INPUTS;
    trial r = {
        .ctx = t->ctx, .data = t->data, .set = &t->set, .dense = t->data->x.kind != ENHOPE_CSR || H <= MAX_INPUTS};
    enhope_status status = ENHOPE_OK;
    bool table = false;
    double loss = INFINITY;
    if (!is_default(t)) return ENHOPE_OK;
    EH_TRY(is_table(t->ctx, t->data, &table));
    r.images = !table;
    spread_classes(t->data, &t->set);
    if (r.images && !EH_EXPLICIT(&t->set, map.aux_components))
        t->set.map.aux_components = aux_components(t->data, &candidates[FOR_IMAGES]);
    if (!has_choice(t, r.images)) return ENHOPE_OK;
    EH_CHECK(open_trial(&r));
    if (r.n >= 4 * r.folds && H <= MAX_INPUTS) EH_CHECK(compare(&r, &best, &loss));
    if (isfinite(loss)) {
        if (has_few_rows(&r)) EH_CHECK(evaluate(&r, best, &t->choice));
        eh_log(t->ctx, ENHOPE_LOG_INFO, "chose %s by %s on %lld rows: log loss %.3f", candidates[best].name,
               has_few_rows(&r) ? "cross-validation" : "validation", (long long)r.n, loss);
    }
    EH_CHECK(use(t, &r, &candidates[best]));
cleanup:
    close_trial(&r);
    return status;
}
