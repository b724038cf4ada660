/* The table of settings. The library, the command line, the manual and the model file all read it. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "method/method.h"

/* What a text may be; its form, "N-N-...", is in the setting's choices. */
typedef struct text_rule {
    bool (*good)(const char *value);
    const char *expected;
    size_t size; /* of the field */
} text_rule;

typedef struct row {
    enhope_setting_info info;
    size_t at; /* of the field in enhope_settings: int64_t for an integer or a choice, double for a real, else char[] */
    const text_rule *text; /* NULL: not a text */
} row;

#define INTEGER(field, initial_, minimum_, maximum_, applies_, help_)                          \
    {                                                                                          \
        {#field, ENHOPE_SETTING_INTEGER, initial_, minimum_, maximum_, NULL, applies_, help_}, \
            offsetof(enhope_settings, field), NULL                                             \
    }
#define REAL(field, initial_, minimum_, maximum_, applies_, help_)                          \
    {                                                                                       \
        {#field, ENHOPE_SETTING_REAL, initial_, minimum_, maximum_, NULL, applies_, help_}, \
            offsetof(enhope_settings, field), NULL                                          \
    }
#define CHOICE(field, choices_, initial_, applies_, help_)                                                            \
    {                                                                                                                 \
        {#field, ENHOPE_SETTING_CHOICE, initial_, 0, 0, choices_, applies_, help_}, offsetof(enhope_settings, field), \
            NULL                                                                                                      \
    }
#define TEXT(field, form_, initial_, applies_, help_, good_, expected_)                                          \
    {                                                                                                            \
        {#field, ENHOPE_SETTING_TEXT, initial_, 0, 0, form_, applies_, help_}, offsetof(enhope_settings, field), \
            &(const text_rule)                                                                                   \
        {                                                                                                        \
            good_, expected_, sizeof((enhope_settings *)0)->field                                                \
        }                                                                                                        \
    }

static bool layers_good(const char *value)
{
    eh_map_shape shape;
    return eh_map_layers_parse(value, &shape);
}

/* The choices of recipe and method are the names in recipes.c and methods.c; the method is held as text. */
static const row rows[] = {
    CHOICE(recipe, "fast|paper|best", "fast", "all",
           "settings that belong together: it sets all of them, and those that are named beside it change it"),
    {{"method", ENHOPE_SETTING_CHOICE, "en-hope", 0, 0,
      "en-hope|hope|deep-en-hope|dt-mcml|dt-nca|pt-sne|linear-en-hope|mcml+|mcml|nca|lmnn|pca|lpp|snc|knn", "all",
      "what to train: a row of the table of methods"},
     offsetof(enhope_settings, method),
     NULL},
    INTEGER(dims, "2", 1, 65536, "all but knn", "outputs h of the map"),
    INTEGER(factors, "400", 1, 1048576, "hope map", "factors F"),
    INTEGER(hidden, "200", 1, 1048576, "hope map", "hidden units m"),
    INTEGER(order, "3", 1, 16, "hope map", "order O of the feature interactions"),
    TEXT(layers, "N-N-...", "500-500-2000", "mlp map",
         "units of each layer below the output, one to eight numbers joined by '-'", layers_good,
         "one to eight numbers of units joined by '-', as in 500-500-2000"),
    CHOICE(unit, "sigmoid|relu", "sigmoid", "mlp map", "what a unit of a layer does: 1 / (1 + exp(-a)), or max(a, 0)"),
    REAL(start, "0", 0, 1e9, "hope, mlp and linear maps",
         "mean square of the first responses at the start, over the data; 0: 0.3 in a hope map with an order above 2, "
         "else 1"),
    CHOICE(exemplars, "random|kmeans|learned", "learned", "exemplar methods",
           "training points, k-means centres, or k-means centres that are then learned"),
    INTEGER(z, "0", 0, 1048576, "exemplar methods", "number of exemplars, shared over the classes; 0: two a class"),
    CHOICE(form, "auto|published|joint|row", "auto", "gradient methods but lmnn",
           "normaliser of q: over all pairs, or row by row; auto: by row with exemplars, else as the method was "
           "published"),
    CHOICE(similarity, "auto|student|gaussian", "auto", "gradient methods but lmnn",
           "student: 1 / (1 + d) unless dof is set; gaussian: exp(-d)"),
    INTEGER(dof, "1", 1, EH_DOF_MAX, "student similarity, gradient methods but lmnn",
            "degrees of freedom nu of the student similarity, odd: (1 + d / nu)^(-(nu + 1) / 2)"),
    CHOICE(target, "auto|mcml|nca", "auto", "gradient methods but lmnn, pt-sne",
           "collapse onto all same-class points, or any of them"),
    CHOICE(weight, "sample|pair", "sample", "joint form, mcml target",
           "what weighs the same: every sample, or every same-class pair (the paper's indicator)"),
    CHOICE(graph, "nearest|class", "nearest", "lpp",
           "which samples are neighbours: the nearest, or those of one class"),
    INTEGER(links, "5", 1, 1000, "lpp", "neighbours of a sample in the nearest graph"),
    INTEGER(targets, "3", 1, 100, "lmnn", "same-class neighbours, found in the input space, that a sample keeps close"),
    REAL(perplexity, "30", 1, 1e6, "pt-sne",
         "neighbours that a sample has in the inputs, about; at most a third of a batch"),
    CHOICE(solver, "cg|lbfgs|adam", "adam", "gradient methods", "how the parameters are learned"),
    INTEGER(epochs, "60", 1, 1000000, "gradient methods",
            "walks through the training data, at most; unless it is set, adam makes at least 1,000 steps"),
    INTEGER(batch, "1000", 0, 1073741824, "gradient methods",
            "samples in a mini-batch; 0: all; unless it is set, exemplar methods take at most a fiftieth of the "
            "samples, but 20"),
    INTEGER(
        parts, "0", 0, 65536, "gradient methods",
        "parts that a mini-batch is computed in, whose gradients are added up in order; ranks share them; 0: of 256 "
        "samples, on a GPU one for each rank"),
    INTEGER(iterations, "3", 1, 1000000, "cg, lbfgs", "line searches on each mini-batch"),
    REAL(rate, "0.002", 0, 1e6, "adam", "peak learning rate"),
    REAL(shift, "0", 0, 1000, "gradient methods, images",
         "pixels by which the images of a training batch are moved in each direction, at most"),
    REAL(affine, "0", 0, 5, "gradient methods, images",
         "how much they are turned, scaled and slanted; 1: by at most 12 degrees, 12 % and 0.15"),
    REAL(elastic, "0", 0, 1000, "gradient methods, images",
         "pixels by which a smooth random field moves their pixels in each direction, root mean square"),
    REAL(noise, "0.1", 0, 1e6, "gradient methods",
         "deviation of the normal noise that is added to the scaled inputs of a training batch; unless it is set, "
         "sparse data has none"),
    REAL(dropout, "0.1", 0, 0.95, "gradient methods",
         "chance that a scaled input of a training sample is set to 0; the others are divided by 1 - dropout; sparse "
         "data "
         "likewise"),
    REAL(adversary, "0", 0, 1e6, "gradient methods",
         "step that scaled inputs take up the loss; half of the loss is of inputs so moved; 0: none; sparse data "
         "likewise"),
    REAL(label_smoothing, "0", 0, 0.9, "exemplar methods, mcml target",
         "part of a sample's target that goes to the exemplars of all classes alike; 0: none"),
    CHOICE(class_weight, "none|balanced", "none", "gradient methods but lmnn, pt-sne",
           "what weighs the same: every sample, or every class, however rare"),
    REAL(valid, "0.1", 0, 0.9, "gradient methods",
         "part of the training data that is held out to choose the best epoch"),
    REAL(time, "0", 0, 1e9, "gradient methods, mcml, lpp", "seconds after which training ends; 0: no limit"),
    INTEGER(patience, "0", 0, 1000000, "gradient methods",
            "epochs without a lower validation error after which training ends; 0: never"),
    CHOICE(scale, "auto|none|range|minmax|standard", "auto", "all",
           "scaling of the inputs: one range, each column's range, each column's mean and deviation"),
    INTEGER(neighbours, "0", 0, 1048576, "all",
            "neighbours k that vote; 0: 5, or 1 where a class has too few references"),
    INTEGER(seed, "1", 0, 999999999999999.0, "all", "of every random choice"),
};
enum { ROWS = sizeof rows / sizeof *rows };

int enhope_setting_count(void)
{
    return ROWS;
}

const enhope_setting_info *enhope_setting_get(int i)
{
    return i >= 0 && i < ROWS ? &rows[i].info : NULL;
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

static void note_said(enhope_settings *s, size_t at)
{
    const struct {
        size_t at;
        bool *said;
    } noted[] = {{offsetof(enhope_settings, batch), &s->batch_said},
                 {offsetof(enhope_settings, epochs), &s->epochs_said},
                 {offsetof(enhope_settings, noise), &s->noise_said},
                 {offsetof(enhope_settings, dropout), &s->dropout_said},
                 {offsetof(enhope_settings, adversary), &s->adversary_said}};
    for (size_t i = 0; i < sizeof noted / sizeof *noted; i++)
        if (noted[i].at == at) *noted[i].said = true;
}

enhope_status enhope_settings_set(enhope_context *ctx, enhope_settings *settings, const char *name, const char *value)
{
    const row *r = find(name);
    if (!r) return eh_fail(ctx, ENHOPE_ERROR_ARGUMENT, "there is no setting '%s'", name);
    const enhope_setting_info *info = &r->info;
    if (info->type == ENHOPE_SETTING_CHOICE) {
        const int64_t number = choice_number(info->choices, value);
        if (number < 0)
            return eh_fail(ctx, ENHOPE_ERROR_ARGUMENT, "%s is '%s': expected one of %s", name, value, info->choices);
        if (r->at == offsetof(enhope_settings, recipe)) return eh_settings_recipe(ctx, settings, number);
        if (r->at == offsetof(enhope_settings, method))
            snprintf(settings->method, sizeof settings->method, "%s", value);
        else
            *(int64_t *)field(settings, r) = number;
        return ENHOPE_OK;
    }
    if (info->type == ENHOPE_SETTING_TEXT) {
        if (strlen(value) >= r->text->size || !r->text->good(value))
            return eh_fail(ctx, ENHOPE_ERROR_ARGUMENT, "%s is '%.80s': expected %s", name, value, r->text->expected);
        snprintf(field(settings, r), r->text->size, "%s", value);
        return ENHOPE_OK;
    }
    double real = 0;
    const bool number = eh_number_parse(value, strlen(value), &real) == EH_NUMBER;
    const bool whole = info->type == ENHOPE_SETTING_INTEGER;
    if (!number || (whole && real != floor(real)))
        return eh_fail(ctx, ENHOPE_ERROR_ARGUMENT, "%s is '%s': expected a %s", name, value,
                       whole ? "whole number" : "number");
    if (real < info->minimum || real > info->maximum)
        return eh_fail(ctx, ENHOPE_ERROR_ARGUMENT, "%s is %s: expected %.15g to %.15g", name, value, info->minimum,
                       info->maximum);
    if (whole)
        *(int64_t *)field(settings, r) = (int64_t)real;
    else
        *(double *)field(settings, r) = real;
    note_said(settings, r->at);
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

void eh_settings_forget(enhope_settings *s)
{
    s->epochs_said = s->noise_said = s->dropout_said = s->adversary_said = false;
}

void eh_settings_reset(enhope_settings *s)
{
    enhope_context quiet = {0};
    for (int i = 0; i < ROWS; i++)
        if (rows[i].at != offsetof(enhope_settings, recipe))
            enhope_settings_set(&quiet, s, rows[i].info.name, rows[i].info.initial);
    s->batch_said = false;
    eh_settings_forget(s);
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
