/* The table of settings. The library, the command line, the manual and the model file all read it. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <threads.h>

#include "method/scope.h"

/* What a text may be; its form, "N-N-...", is in the setting's choices. */
typedef struct text_rule {
    bool (*good)(const char *value);
    const char *expected;
    size_t size; /* of the field */
} text_rule;

typedef struct row {
    enhope_setting_info info; /* what is generated from the scope is left out */
    int scope;
    size_t at; /* of the field in enhope_settings: int64_t for an integer or a choice, double for a real, else char[] */
    const text_rule *text; /* NULL: not a text */
} row;

#define ROW(field, name_, type_, initial_, minimum_, maximum_, choices_, scope_, help_, text_) \
    {                                                                                          \
        .info = {.name = name_,                                                                \
                 .type = ENHOPE_SETTING_##type_,                                               \
                 .initial = initial_,                                                          \
                 .minimum = minimum_,                                                          \
                 .maximum = maximum_,                                                          \
                 .choices = choices_,                                                          \
                 .help = help_},                                                               \
        .scope = scope_, .at = offsetof(enhope_settings, field), .text = text_                 \
    }
#define INTEGER(field, name_, initial_, minimum_, maximum_, scope_, help_) \
    ROW(field, name_, INTEGER, initial_, minimum_, maximum_, NULL, scope_, help_, NULL)
#define REAL(field, name_, initial_, minimum_, maximum_, scope_, help_) \
    ROW(field, name_, REAL, initial_, minimum_, maximum_, NULL, scope_, help_, NULL)
#define CHOICE(field, name_, choices_, initial_, scope_, help_) \
    ROW(field, name_, CHOICE, initial_, 0, 0, choices_, scope_, help_, NULL)
#define TEXT(field, name_, form_, initial_, scope_, help_, good_, expected_) \
    ROW(field, name_, TEXT, initial_, 0, 0, form_, scope_, help_,            \
        (&(const text_rule){good_, expected_, sizeof((enhope_settings *)0)->field}))

static bool layers_good(const char *value)
{
    eh_map_shape shape;
    return eh_map_layers_parse(value, &shape);
}

/* The choices of recipe and method are the names in recipes.c and methods.c; the method is held as text. */
static const row rows[] = {
    CHOICE(recipe, "recipe", "fast|paper|best", "fast", EH_FIXED,
           "settings that belong together: it sets all of them, and those that are named beside it change it"),
    CHOICE(method, "method",
           "en-hope|hope|deep-en-hope|dt-mcml|dt-nca|pt-sne|linear-en-hope|mcml+|mcml|nca|lmnn|pca|lpp|snc|knn",
           "en-hope", EH_FIXED, "what to train: a row of the table of methods"),
    INTEGER(map.dims, "dims", "2", 1, 65536, EH_FOR_MAPS | EH_FIXED, "outputs h of the map"),
    INTEGER(map.factors, "factors", "400", 1, 1048576, EH_FOR_HOPE | EH_FIXED, "factors F"),
    INTEGER(map.hidden, "hidden", "200", 1, 1048576, EH_FOR_HOPE | EH_FIXED, "hidden units m"),
    INTEGER(map.order, "order", "3", 1, 16, EH_FOR_HOPE | EH_FIXED, "order O of the feature interactions"),
    TEXT(map.layers, "layers", "N-N-...", "500-500-2000", EH_FOR_MLP | EH_FIXED,
         "units of each layer below the output, one to eight numbers joined by '-'", layers_good,
         "one to eight numbers of units joined by '-', as in 500-500-2000"),
    CHOICE(map.unit, "unit", "sigmoid|relu", "sigmoid", EH_FOR_MLP | EH_FIXED,
           "what a unit of a layer does: 1 / (1 + exp(-a)), or max(a, 0)"),
    REAL(map.start, "start", "0", 0, 1e9, EH_FOR_MAPS | EH_FOR_STEPS | EH_FIXED,
         "mean square of the first responses at the start, over the data; 0: 0.3 in a hope map with an order above 2, "
         "else 1"),
    CHOICE(objective.exemplars, "exemplars", "random|kmeans|learned", "learned", EH_FOR_EXEMPLARS,
           "training points, k-means centres, or k-means centres that are then learned"),
    INTEGER(objective.z, "z", "0", 0, 1048576, EH_FOR_EXEMPLARS | EH_FIXED,
            "number of exemplars, shared over the classes; 0: two a class"),
    CHOICE(objective.form, "form", "auto|published|joint|row", "auto", EH_FOR_NEIGHBOURS,
           "normaliser of q: over all pairs, or row by row; auto: by row with exemplars, else as the method was "
           "published"),
    CHOICE(objective.similarity, "similarity", "auto|student|gaussian", "auto", EH_FOR_NEIGHBOURS,
           "student: 1 / (1 + d) unless dof is set; gaussian: exp(-d)"),
    INTEGER(objective.dof, "dof", "1", 1, EH_DOF_MAX, EH_FOR_NEIGHBOURS | EH_WITH_STUDENT,
            "degrees of freedom nu of the student similarity, odd: (1 + d / nu)^(-(nu + 1) / 2)"),
    CHOICE(objective.target, "target", "auto|mcml|nca", "auto", EH_FOR_CLASSES,
           "collapse onto all same-class points, or any of them"),
    CHOICE(objective.weight, "weight", "sample|pair", "sample", EH_FOR_CLASSES | EH_WITH_JOINT | EH_WITH_MCML_TARGET,
           "what weighs the same: every sample, or every same-class pair (the paper's indicator)"),
    CHOICE(objective.graph, "graph", "nearest|class", "nearest", EH_FOR_LPP,
           "which samples are neighbours: the nearest, or those of one class"),
    INTEGER(objective.links, "links", "5", 1, 1000, EH_FOR_LPP | EH_WITH_NEAREST,
            "neighbours of a sample in the nearest graph"),
    INTEGER(objective.targets, "targets", "3", 1, 100, EH_FOR_LMNN,
            "same-class neighbours, found in the input space, that a sample keeps close"),
    REAL(objective.perplexity, "perplexity", "30", 1, 1e6, EH_FOR_PT_SNE,
         "neighbours that a sample has in the inputs, about; at most a third of a batch"),
    CHOICE(optim.solver, "solver", "cg|lbfgs|adam", "adam", EH_FOR_STEPS, "how the parameters are learned"),
    INTEGER(optim.epochs, "epochs", "60", 1, 1000000, EH_FOR_STEPS,
            "walks through the training data, at most; unless it is set, adam makes at least 1,000 steps"),
    INTEGER(optim.batch, "batch", "1000", 0, 1073741824, EH_FOR_STEPS,
            "samples in a mini-batch; 0: all; unless it is set, exemplar methods take at most a fiftieth of the "
            "samples, but 20"),
    INTEGER(
        optim.parts, "parts", "0", 0, 65536, EH_FOR_STEPS,
        "parts that a mini-batch is computed in, whose gradients are added up in order; ranks share them; 0: of 256 "
        "samples, on a GPU one for each rank"),
    INTEGER(optim.iterations, "iterations", "3", 1, 1000000, EH_FOR_STEPS | EH_WITH_CG | EH_WITH_LBFGS,
            "line searches on each mini-batch"),
    REAL(optim.rate, "rate", "0.002", 0, 1e6, EH_FOR_STEPS | EH_WITH_ADAM, "peak learning rate"),
    REAL(augment.shift, "shift", "0", 0, 1000, EH_FOR_STEPS | EH_WITH_IMAGES,
         "pixels by which the images of a training batch are moved in each direction, at most"),
    REAL(augment.affine, "affine", "0", 0, 5, EH_FOR_STEPS | EH_WITH_IMAGES,
         "how much they are turned, scaled and slanted; 1: by at most 12 degrees, 12 % and 0.15"),
    REAL(augment.elastic, "elastic", "0", 0, 1000, EH_FOR_STEPS | EH_WITH_IMAGES,
         "pixels by which a smooth random field moves their pixels in each direction, root mean square"),
    REAL(augment.noise, "noise", "0.1", 0, 1e6, EH_FOR_STEPS,
         "deviation of the normal noise that is added to the scaled inputs of a training batch; unless it is set, "
         "sparse data has none"),
    REAL(augment.dropout, "dropout", "0.1", 0, 0.95, EH_FOR_STEPS,
         "chance that a scaled input of a training sample is set to 0; the others are divided by 1 - dropout; sparse "
         "data "
         "likewise"),
    REAL(augment.adversary, "adversary", "0", 0, 1e6, EH_FOR_STEPS,
         "step that scaled inputs take up the loss; half of the loss is of inputs so moved; 0: none; sparse data "
         "likewise"),
    REAL(objective.label_smoothing, "label_smoothing", "0", 0, 0.9, EH_FOR_EXEMPLARS | EH_WITH_MCML_TARGET,
         "part of a sample's target that goes to the exemplars of all classes alike; 0: none"),
    CHOICE(objective.class_weight, "class_weight", "none|balanced", "none", EH_FOR_CLASSES,
           "what weighs the same: every sample, or every class, however rare"),
    REAL(valid, "valid", "0.1", 0, 0.9, EH_FOR_TRAINED,
         "part of the training data that is held out to choose the best epoch"),
    REAL(optim.time, "time", "0", 0, 1e9, EH_FOR_STEPS | EH_FOR_LPP | EH_FOR_MCML,
         "seconds after which training ends; 0: no limit"),
    INTEGER(optim.patience, "patience", "0", 0, 1000000, EH_FOR_STEPS,
            "epochs without a lower validation error after which training ends; 0: never"),
    CHOICE(scale, "scale", "auto|none|range|minmax|standard", "auto", EH_FIXED,
           "scaling of the inputs: one range, each column's range, each column's mean and deviation"),
    INTEGER(neighbours, "neighbours", "0", 0, 1048576, EH_FOR_ALL,
            "neighbours k that vote; 0: 5, or 1 where a class has too few references"),
    INTEGER(seed, "seed", "1", 0, 999999999999999.0, EH_FOR_ALL, "of every random choice"),
};
enum { ROWS = sizeof rows / sizeof *rows };

int enhope_setting_count(void)
{
    return ROWS;
}

/* The rows as the public sees them, with what is generated from their scopes. */
static enhope_setting_info infos[ROWS];
static once_flag infos_made = ONCE_FLAG_INIT;

static void make_infos(void)
{
    static char applies[ROWS][96];
    for (int i = 0; i < ROWS; i++) {
        eh_scope_text(rows[i].scope, applies[i], sizeof applies[i]);
        infos[i] = rows[i].info;
        infos[i].applies = applies[i];
        infos[i].methods = eh_scope_methods(rows[i].scope);
        infos[i].fixed = rows[i].scope & EH_FIXED ? 1 : 0;
    }
}

const enhope_setting_info *enhope_setting_get(int i)
{
    call_once(&infos_made, make_infos);
    return i >= 0 && i < ROWS ? &infos[i] : NULL;
}

static void *field(const enhope_settings *s, const row *r)
{
    return (char *)(uintptr_t)s + r->at;
}

/* The number of `value` in "a|b|c"; -1: not one of them. */
static int64_t choice_number(const char *choices, const char *value)
{
    const size_t length = strlen(value);
    int64_t number = 0;
    for (const char *at = choices;; number++) {
        const size_t width = strcspn(at, "|");
        if (width == length && !strncmp(at, value, length)) return number;
        if (!at[width]) return -1;
        at += width + 1;
    }
}

static const row *find(const char *name)
{
    for (int i = 0; i < ROWS; i++)
        if (!strcmp(rows[i].info.name, name)) return &rows[i];
    return NULL;
}

/* ---- what the caller has set ---- */

_Static_assert(ROWS <= 64, "a bit for each setting");

static uint64_t bit_of(const row *r)
{
    return UINT64_C(1) << (r - rows);
}

bool eh_settings_explicit(const enhope_settings *s, size_t at)
{
    for (int i = 0; i < ROWS; i++)
        if (rows[i].at == at) return s->explicit & bit_of(&rows[i]);
    return false;
}

int enhope_settings_applies(const enhope_settings *settings, const char *name)
{
    const row *r = find(name);
    return r && eh_scope_applies(r->scope, settings);
}

enhope_status eh_settings_check(enhope_context *ctx, const enhope_settings *s)
{
    for (int i = 0; i < ROWS; i++)
        if ((s->explicit & bit_of(&rows[i])) && !eh_scope_applies(rows[i].scope, s))
            return eh_scope_refuse(ctx, rows[i].scope, s, rows[i].info.name);
    return ENHOPE_OK;
}

static enhope_status set_choice(enhope_context *ctx, enhope_settings *s, const row *r, const char *value)
{
    const int64_t number = choice_number(r->info.choices, value);
    if (number < 0)
        return eh_fail(ctx, ENHOPE_ERROR_ARGUMENT, "%s is '%s': expected one of %s", r->info.name, value,
                       r->info.choices);
    if (r->at == offsetof(enhope_settings, recipe)) return eh_settings_recipe(ctx, s, number);
    if (r->at == offsetof(enhope_settings, method))
        snprintf(s->method, sizeof s->method, "%s", value);
    else
        *(int64_t *)field(s, r) = number;
    return ENHOPE_OK;
}

static enhope_status set_text(enhope_context *ctx, enhope_settings *s, const row *r, const char *value)
{
    if (strlen(value) >= r->text->size || !r->text->good(value))
        return eh_fail(ctx, ENHOPE_ERROR_ARGUMENT, "%s is '%.80s': expected %s", r->info.name, value,
                       r->text->expected);
    snprintf(field(s, r), r->text->size, "%s", value);
    return ENHOPE_OK;
}

static enhope_status set_number(enhope_context *ctx, enhope_settings *s, const row *r, const char *value)
{
    const enhope_setting_info *info = &r->info;
    double real = 0;
    const bool number = eh_number_parse(value, strlen(value), &real) == EH_NUMBER;
    const bool whole = info->type == ENHOPE_SETTING_INTEGER;
    if (!number || (whole && real != floor(real)))
        return eh_fail(ctx, ENHOPE_ERROR_ARGUMENT, "%s is '%s': expected a %s", info->name, value,
                       whole ? "whole number" : "number");
    if (real < info->minimum || real > info->maximum)
        return eh_fail(ctx, ENHOPE_ERROR_ARGUMENT, "%s is %s: expected %.15g to %.15g", info->name, value,
                       info->minimum, info->maximum);
    if (whole)
        *(int64_t *)field(s, r) = (int64_t)real;
    else
        *(double *)field(s, r) = real;
    return ENHOPE_OK;
}

/* A recipe is no value of its own: it clears what the caller has set before it. */
enhope_status enhope_settings_set(enhope_context *ctx, enhope_settings *settings, const char *name, const char *value)
{
    const row *r = find(name);
    if (!r) return eh_fail(ctx, ENHOPE_ERROR_ARGUMENT, "there is no setting '%s'", name);
    EH_TRY((r->info.type == ENHOPE_SETTING_CHOICE ? set_choice
            : r->info.type == ENHOPE_SETTING_TEXT ? set_text
                                                  : set_number)(ctx, settings, r, value));
    if (r->at != offsetof(enhope_settings, recipe)) settings->explicit |= bit_of(r);
    return ENHOPE_OK;
}

static void write_text(const enhope_settings *s, const row *r, char *buffer, size_t size)
{
    if (r->text || r->at == offsetof(enhope_settings, method)) {
        snprintf(buffer, size, "%s", (const char *)field(s, r));
    } else if (r->info.type == ENHOPE_SETTING_CHOICE) {
        const char *at = r->info.choices;
        for (int64_t skip = *(int64_t *)field(s, r); skip > 0; skip--) at += strcspn(at, "|") + 1;
        snprintf(buffer, size, "%.*s", (int)strcspn(at, "|"), at);
    } else if (r->info.type == ENHOPE_SETTING_INTEGER) {
        snprintf(buffer, size, "%lld", (long long)*(int64_t *)field(s, r));
    } else {
        eh_number_print(*(double *)field(s, r), buffer, size);
    }
}

enhope_status enhope_settings_get(enhope_context *ctx, const enhope_settings *settings, const char *name, char *buffer,
                                  size_t size)
{
    const row *r = find(name);
    if (!r) return eh_fail(ctx, ENHOPE_ERROR_ARGUMENT, "there is no setting '%s'", name);
    write_text(settings, r, buffer, size);
    return ENHOPE_OK;
}

enhope_status eh_settings_texts(enhope_context *ctx, const enhope_settings *s, eh_pair_text *pairs)
{
    for (int i = 0; i < ROWS; i++) {
        char text[64];
        write_text(s, &rows[i], text, sizeof text);
        pairs[i].name = eh_strdup(rows[i].info.name);
        pairs[i].value = eh_strdup(text);
        if (!pairs[i].name || !pairs[i].value) return eh_fail_memory(ctx, "settings", sizeof text, 1);
    }
    return ENHOPE_OK;
}

enhope_status eh_settings_fix(enhope_context *ctx, enhope_settings *s, const enhope_model *model)
{
    const uint64_t explicit = s->explicit;
    for (int i = 0; i < ROWS; i++) {
        const row *r = &rows[i];
        const char *name = r->info.name, *value = enhope_model_setting(model, name);
        char own[64];
        if (!(r->scope & EH_FIXED) || r->at == offsetof(enhope_settings, recipe) || !value) continue;
        write_text(s, r, own, sizeof own);
        if ((explicit & bit_of(r)) && strcmp(own, value) != 0)
            return eh_fail(ctx, ENHOPE_ERROR_ARGUMENT,
                           "%s is %s: the model was trained with %s, which an update cannot change; leave it out", name,
                           own, value);
        EH_TRY(enhope_settings_set(ctx, s, name, value));
    }
    s->explicit = explicit;
    return ENHOPE_OK;
}

void eh_settings_reset(enhope_settings *s)
{
    enhope_context quiet = {0};
    for (int i = 0; i < ROWS; i++)
        if (rows[i].at != offsetof(enhope_settings, recipe))
            enhope_settings_set(&quiet, s, rows[i].info.name, rows[i].info.initial);
    s->explicit = 0;
}

enhope_settings *enhope_settings_create(void)
{
    enhope_settings *s = eh_alloc(1, sizeof *s);
    if (s) eh_settings_reset(s); /* the first recipe has nothing to change */
    return s;
}

void enhope_settings_free(enhope_settings *settings)
{
    eh_free(settings);
}
