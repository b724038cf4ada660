/* The table of settings, which the library, the command line, the manual page, Python and model
 * files share. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <threads.h>

#include "method/scope.h"

/* The values that a text setting accepts. Their pattern, "N-N-...", is in the choices of the
 * setting. */
typedef struct text_rule {
    bool (*good)(const char *value);
    const char *expected;
    size_t size; /* of the field */
} text_rule;

typedef struct row {
    enhope_setting_info info; /* without the members that are generated from the scope */
    size_t
        at; /* offset of the field in enhope_settings: int64_t for integers and choices, double for reals, else char[] */
    int scope;
    const text_rule *text; /* NULL: not a text */
} row;

/* Name and offset of a setting: of the struct itself, or of one of its groups. */
#define TOP(field)       #field, offsetof(enhope_settings, field)
#define IN(group, field) #field, offsetof(enhope_settings, group.field)

#define ROW(where, ...)  ROW_(where, __VA_ARGS__)
#define ROW_(name_, at_, type_, initial_, minimum_, maximum_, choices_, scope_, help_, text_) \
    {                                                                                         \
        .info = {.name = name_,                                                               \
                 .type = ENHOPE_SETTING_##type_,                                              \
                 .initial = initial_,                                                         \
                 .minimum = minimum_,                                                         \
                 .maximum = maximum_,                                                         \
                 .choices = choices_,                                                         \
                 .help = help_},                                                              \
        .at = at_, .scope = scope_, .text = text_                                             \
    }
#define INTEGER(where, initial_, minimum_, maximum_, scope_, help_) \
    ROW(where, INTEGER, initial_, minimum_, maximum_, NULL, scope_, help_, NULL)
#define REAL(where, initial_, minimum_, maximum_, scope_, help_) \
    ROW(where, REAL, initial_, minimum_, maximum_, NULL, scope_, help_, NULL)
#define CHOICE(where, choices_, initial_, scope_, help_) \
    ROW(where, CHOICE, initial_, 0, 0, choices_, scope_, help_, NULL)
#define TEXT(where, pattern_, initial_, scope_, help_, rule_) \
    ROW(where, TEXT, initial_, 0, 0, pattern_, scope_, help_, rule_)

static bool layer_sizes_good(const char *value)
{
    eh_map_shape shape;
    return eh_map_layers_parse(value, &shape);
}

static const text_rule layer_sizes = {layer_sizes_good, "one to eight layer sizes joined by '-', as in 500-500-2000",
                                      sizeof((enhope_settings *)0)->map.hidden_layer_sizes};

static const text_rule class_weights = {
    eh_class_weights_good,
    "none, balanced, or NAME=WEIGHT,... with each class once and weights from 1e-9 to 1e9; a name with , = or \" is "
    "quoted as in CSV",
    sizeof((enhope_settings *)0)->objective.class_weight};

/* The choices of recipe and method are the names in recipes.c and methods.c. The method is stored
 * as text. */
static const row rows[] = {
    CHOICE(TOP(recipe), "fast|paper|best|small", "fast", EH_FIXED,
           "preset of settings; settings given explicitly override it"),
    CHOICE(TOP(method),
           "en-hope|hope|deep-en-hope|dt-mcml|dt-nca|pt-sne|en-tsne|deep-en-tsne|linear-en-tsne|linear-en-hope|"
           "mcml+|mcml|nca|lmnn|pca|lpp|snc|knn",
           "en-hope", EH_FIXED, "method to train, from the table of methods"),
    INTEGER(IN(map, n_components), "2", 1, 65536, EH_FOR_MAPS | EH_FIXED, "number of outputs h of the map"),
    INTEGER(IN(map, n_factors), "400", 1, 1048576, EH_FOR_HOPE | EH_FIXED, "number of factors F"),
    INTEGER(IN(map, n_hidden), "200", 1, 1048576, EH_FOR_HOPE | EH_FIXED, "number of hidden units m"),
    INTEGER(IN(map, order), "3", 1, 16, EH_FOR_HOPE | EH_FIXED, "order O of the feature interactions"),
    TEXT(IN(map, hidden_layer_sizes), "N-N-...", "500-500-2000", EH_FOR_MLP | EH_FIXED,
         "number of units of each hidden layer, one to eight numbers joined by '-'", &layer_sizes),
    CHOICE(IN(map, activation), "sigmoid|relu", "sigmoid", EH_FOR_MLP | EH_FIXED,
           "activation function of the hidden units: 1 / (1 + exp(-a)), or max(a, 0)"),
    REAL(IN(map, init_scale), "0", 0, 1e9, EH_FOR_MAPS | EH_FOR_STEPS | EH_FIXED,
         "mean square of the first responses over the data after initialization; 0: 0.3 for a hope map of order above "
         "2, "
         "else 1"),
    INTEGER(
        IN(map, aux_components), "0", 0, 65536, EH_FOR_HOPE | EH_FOR_MLP | EH_FOR_EXEMPLARS | EH_WITH_ADAM,
        "number of additional outputs that are trained with a loss of their own in the first 60 % of the epochs, to "
        "shape the hidden units; the model does not contain them; 0: none"),
    CHOICE(IN(objective, exemplars), "random|kmeans|learned", "learned", EH_FOR_EXEMPLARS,
           "random training points, k-means centers, or k-means centers that are then trained with the map"),
    INTEGER(IN(objective, n_exemplars), "0", 0, 1048576, EH_FOR_EXEMPLARS | EH_FIXED,
            "number of exemplars of all classes together, the same for every class; 0: two per class, or one if the "
            "data is "
            "a table and validation prefers it"),
    CHOICE(IN(objective, normalizer), "auto|published|joint|row", "auto", EH_FOR_NEIGHBOURS,
           "q is normalized over all pairs (joint) or over each row (row); published: as in the publication of the "
           "method; auto: row for exemplar methods, else published"),
    CHOICE(IN(objective, similarity), "auto|student|gaussian", "auto", EH_FOR_NEIGHBOURS,
           "similarity of two points at squared distance d; student: 1 / (1 + d) unless dof is set; gaussian: exp(-d)"),
    INTEGER(IN(objective, dof), "1", 1, EH_DOF_MAX, EH_FOR_NEIGHBOURS | EH_WITH_STUDENT,
            "degrees of freedom nu of the student similarity, an odd number: (1 + d / nu)^(-(nu + 1) / 2)"),
    CHOICE(IN(objective, target), "auto|mcml|nca", "auto", EH_FOR_CLASSES,
           "mcml: a sample collapses onto all points of its class; nca: onto any of them"),
    CHOICE(IN(objective, target_weight), "sample|pair", "sample", EH_FOR_CLASSES | EH_WITH_JOINT | EH_WITH_MCML_TARGET,
           "unit of equal weight in the target: each sample, or each same-class pair (as in the paper)"),
    INTEGER(
        IN(objective, graph_k), "5", 0, 1000, EH_FOR_LPP | EH_FOR_GRAPH | EH_FOR_EXEMPLARS,
        "number of nearest samples that a sample is connected with; unless set, 15 for the en-tsne methods; exemplar "
        "methods use them if most samples have no label; 0: no graph, or all samples of its class (lpp)"),
    INTEGER(IN(objective, lmnn_k), "3", 1, 100, EH_FOR_LMNN,
            "number of target neighbors per sample: nearest samples of its class in the input space"),
    REAL(IN(objective, perplexity), "30", 1, 1e6, EH_FOR_PT_SNE,
         "effective number of neighbors of a sample in the input space; at most a third of a batch"),
    CHOICE(IN(optim, solver), "cg|lbfgs|adam", "adam", EH_FOR_STEPS, "optimizer: conjugate gradients, L-BFGS or Adam"),
    INTEGER(
        IN(optim, n_epochs), "60", 1, 1000000, EH_FOR_STEPS,
        "maximum number of passes over the training data; unless set, Adam takes at least 1,000 steps, 3,000 for the "
        "en-tsne methods"),
    INTEGER(IN(optim, batch_size), "1000", 0, 1073741824, EH_FOR_STEPS,
            "number of samples in a mini-batch; 0: all; unless set, exemplar methods use at most a fiftieth of the "
            "samples, but at least 20"),
    INTEGER(IN(optim, n_chunks), "0", 0, 65536, EH_FOR_STEPS,
            "number of chunks of a mini-batch, whose gradients are added in a fixed order; MPI ranks share the chunks; "
            "0: chunks of 256 samples, on a GPU one chunk per rank"),
    INTEGER(IN(optim, line_searches), "3", 1, 1000000, EH_FOR_STEPS | EH_WITH_CG | EH_WITH_LBFGS,
            "number of line searches on each mini-batch"),
    REAL(IN(optim, learning_rate), "0.002", 0, 1e6, EH_FOR_STEPS | EH_WITH_ADAM, "peak learning rate of Adam"),
    REAL(IN(augment, shift), "0", 0, 1000, EH_FOR_STEPS | EH_WITH_IMAGES,
         "maximum translation of training images in each direction, in pixels"),
    REAL(IN(augment, affine), "0", 0, 5, EH_FOR_STEPS | EH_WITH_IMAGES,
         "strength of random rotation, scaling and shear of training images; 1: at most 12 degrees, 12 % and 0.15"),
    REAL(IN(augment, elastic), "0", 0, 1000, EH_FOR_STEPS | EH_WITH_IMAGES,
         "root mean square displacement, in pixels, of a smooth random deformation of training images"),
    REAL(
        IN(augment, noise), "0.1", 0, 1e6, EH_FOR_STEPS,
        "standard deviation of Gaussian noise added to the scaled inputs of training batches; unless set, 0 for sparse "
        "data"),
    REAL(IN(augment, dropout), "0.1", 0, 0.95, EH_FOR_STEPS,
         "probability that a scaled input of a training sample is set to 0; the others are divided by 1 - dropout; "
         "unless set, 0 for sparse data"),
    REAL(
        IN(augment, adversarial_step), "0", 0, 1e6, EH_FOR_STEPS,
        "size of the adversarial step on the scaled inputs, in the direction that increases the loss; half of the loss "
        "is computed on inputs moved this way; 0: none; unless set, 0 for sparse data"),
    REAL(IN(objective, label_smoothing), "0", 0, 0.9, EH_FOR_EXEMPLARS | EH_WITH_MCML_TARGET,
         "fraction of the target of a sample that is distributed over the exemplars of all classes; 0: none"),
    REAL(IN(objective, unlabeled_weight), "1", 0, 1e6,
         EH_FOR_EXEMPLARS | EH_WITH_ADAM | EH_WITH_ROW | EH_WITH_MCML_TARGET,
         "weight of the loss of the samples without a label, relative to that of the labeled samples: noise and the "
         "adversarial step must not change their probabilities; 0: they are not used; unless set, 0 for sparse and "
         "streamed data"),
    TEXT(IN(objective, class_weight), "none|balanced|NAME=W,...", "none", EH_FOR_CLASSES,
         "weights of the classes in the loss and in the validation error: none (all 1), balanced (equal total weight "
         "of all classes), or a list NAME=W,NAME=W,... (other classes 1)",
         &class_weights),
    REAL(TOP(validation_fraction), "0.1", 0, 0.9, EH_FOR_TRAINED,
         "fraction of the training data held out to select the best epoch"),
    REAL(IN(optim, time_limit), "0", 0, 1e9, EH_FOR_STEPS | EH_FOR_LPP | EH_FOR_MCML,
         "maximum training time in seconds; 0: no limit"),
    INTEGER(IN(optim, patience), "0", 0, 1000000, EH_FOR_STEPS,
            "number of epochs without a lower validation error after which training ends; 0: no limit"),
    CHOICE(
        TOP(scaling), "auto|none|range|minmax|standard", "auto", EH_FIXED,
        "scaling of the inputs: by the common range (range), by the range of each column (minmax), or by the mean and "
        "standard deviation of each column (standard)"),
    INTEGER(TOP(n_neighbors), "0", 0, 1048576, EH_FOR_ALL,
            "number k of neighbors that vote on the class; 0: the most probable class if there are exemplars, else 5"),
    INTEGER(TOP(random_state), "1", 0, 999999999999999.0, EH_FOR_ALL, "seed of all random choices"),
};
enum { ROWS = sizeof rows / sizeof *rows };

int enhope_setting_count(void)
{
    return ROWS;
}

/* The rows in their public form, with the members that are generated from their scopes. */
static enhope_setting_info infos[ROWS];
static once_flag infos_made = ONCE_FLAG_INIT;

static void make_infos(void)
{
    static char applies[ROWS][160];
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

/* The position of `value` in "a|b|c"; -1: not one of them. */
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

/* ---- explicit settings ---- */

_Static_assert(ROWS <= 64, "one bit per setting");

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
    if (strlen(value) >= r->text->size)
        return eh_fail(ctx, ENHOPE_ERROR_ARGUMENT, "%s has %zu bytes: expected at most %zu", r->info.name,
                       strlen(value), r->text->size - 1);
    if (!r->text->good(value))
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

static enhope_status fail_unknown(enhope_context *ctx, const char *name)
{
    const char *now = enhope_setting_current_name(name);
    if (!now)
        return eh_fail(ctx, ENHOPE_ERROR_ARGUMENT,
                       "there is no setting '%s'; run 'enhope methods --settings' for the list of settings", name);
    if (!*now) return eh_fail(ctx, ENHOPE_ERROR_ARGUMENT, "setting '%s' was removed: leave it out", name);
    return eh_fail(ctx, ENHOPE_ERROR_ARGUMENT, "setting '%s' is now '%s'", name, now);
}

static enhope_status set_row(enhope_context *ctx, enhope_settings *s, const row *r, const char *value)
{
    return (r->info.type == ENHOPE_SETTING_CHOICE ? set_choice
            : r->info.type == ENHOPE_SETTING_TEXT ? set_text
                                                  : set_number)(ctx, s, r, value);
}

/* Setting a recipe resets all settings, also those that the caller has set before. */
enhope_status enhope_settings_set(enhope_context *ctx, enhope_settings *settings, const char *name, const char *value)
{
    const row *r = find(name);
    if (!r) return fail_unknown(ctx, name);
    EH_TRY(set_row(ctx, settings, r, value));
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
    if (!r) return fail_unknown(ctx, name);
    write_text(settings, r, buffer, size);
    return ENHOPE_OK;
}

enhope_status eh_settings_texts(enhope_context *ctx, const enhope_settings *s, eh_pair_text *pairs)
{
    for (int i = 0; i < ROWS; i++) {
        char text[EH_CLASS_WEIGHTS];
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
        char own[EH_CLASS_WEIGHTS];
        if (!(r->scope & EH_FIXED) || r->at == offsetof(enhope_settings, recipe) || !value) continue;
        write_text(s, r, own, sizeof own);
        if ((explicit & bit_of(r)) && strcmp(own, value) != 0)
            return eh_fail(ctx, ENHOPE_ERROR_ARGUMENT,
                           "%s is %s: the model was trained with %s, and an update cannot change it; leave it out",
                           name, own, value);
        EH_TRY(enhope_settings_set(ctx, s, name, value));
    }
    s->explicit = explicit;
    return ENHOPE_OK;
}

void eh_settings_reset(enhope_settings *s)
{
    enhope_context quiet = {0};
    for (int i = 0; i < ROWS; i++)
        if (rows[i].at != offsetof(enhope_settings, recipe)) set_row(&quiet, s, &rows[i], rows[i].info.initial);
    s->explicit = 0;
}

enhope_settings *enhope_settings_create(void)
{
    enhope_settings *s = eh_alloc(1, sizeof *s);
    if (s) eh_settings_reset(s); /* the first recipe is the defaults */
    return s;
}

void enhope_settings_free(enhope_settings *settings)
{
    eh_free(settings);
}
