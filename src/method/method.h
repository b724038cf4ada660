/* The tables of methods, settings and recipes. */
#ifndef EH_METHOD_H
#define EH_METHOD_H

#include "data/data.h"
#include "map/map.h"
#include "model/model.h"
#include "objective/objective.h"
#include "optim/optim.h"

/* ---- methods.c ---- */

typedef enum eh_compared { EH_EXEMPLARS, EH_BATCH, EH_NOTHING } eh_compared;
/* The map is solved for at once instead of learned in steps. */
typedef enum eh_solve { EH_SOLVE_NONE, EH_SOLVE_PCA, EH_SOLVE_LPP, EH_SOLVE_MCML } eh_solve;

typedef struct eh_method {
    enhope_method_info info;
    const eh_map *map;
    bool gaussian, row, nca; /* of the objective, unless the settings say otherwise */
    bool input_target;       /* the target follows from distances of the inputs, not from classes */
    eh_compared compared;
    bool hinge; /* the objective is hinge.c's: a batch's samples are followed by their target neighbours */
    bool
        own_scale; /* inputs are compared as they are: their scale is chosen (train/setup/scale.c), and exemplars that are learned
                        start as training points */
    bool pca_start; /* the map starts as that of pca; else as the map itself starts */
    eh_solve solve;
    int32_t nearest; /* neighbours that vote, unless the settings say otherwise; 0: by rule */
} eh_method;

/* NULL: no such method. */
const eh_method *eh_method_find(const char *name);
const eh_method *eh_method_get(int i); /* NULL outside the table */
/* Whether it is learned in steps: by a gradient, from a start, so that training may continue from a model. */
bool eh_method_learns(const eh_method *method);

/* ---- settings.c ---- */

enum { EH_UNIT_SIGMOID, EH_UNIT_RELU };
enum { EH_START_RANDOM, EH_START_KMEANS, EH_START_LEARNED };
enum { EH_FORM_AUTO, EH_FORM_PUBLISHED, EH_FORM_JOINT, EH_FORM_ROW };
enum { EH_SIMILARITY_AUTO, EH_SIMILARITY_STUDENT, EH_SIMILARITY_GAUSSIAN };
enum { EH_TARGET_AUTO, EH_TARGET_MCML, EH_TARGET_NCA };
enum { EH_WEIGHT_SAMPLE, EH_WEIGHT_PAIR };
enum { EH_GRAPH_NEAREST, EH_GRAPH_CLASS };
enum { EH_SOLVER_CG, EH_SOLVER_LBFGS, EH_SOLVER_ADAM };
enum { EH_CLASS_WEIGHT_NONE, EH_CLASS_WEIGHT_BALANCED };

/* Values of the table in settings.c, by theme; choices are numbers of the enums above. */
struct enhope_settings {
    int64_t recipe;
    char method[24];
    struct {
        int64_t dims, factors, hidden, order;
        char layers[64];
        int64_t unit;
        double start;
    } map;
    struct {
        int64_t exemplars, z, form, similarity, dof, target, weight, graph, links, targets;
        double perplexity, label_smoothing;
        int64_t class_weight;
    } objective;
    struct {
        int64_t solver, epochs, batch, parts, iterations;
        double rate, time;
        int64_t patience;
    } optim;
    struct {
        double shift, affine, elastic, noise, dropout, adversary;
    } augment; /* of the inputs of a training batch */
    double valid;
    int64_t scale, neighbours, seed;
    /* Settings that the caller has set, by their rows in the table. They are taken as they are, where a default or the value of a
     * recipe may be adapted to the data, and are refused if they do not apply. */
    uint64_t explicit;
};

/* at: offset of the setting's field. */
bool eh_settings_explicit(const enhope_settings *s, size_t at);
#define EH_EXPLICIT(s, field) eh_settings_explicit(s, offsetof(enhope_settings, field))
/* What similarity, form and target stand for; `auto` is the method's choice. */
bool eh_settings_gaussian(const enhope_settings *s, const eh_method *method);
bool eh_settings_row(const enhope_settings *s, const eh_method *method);
bool eh_settings_nca(const enhope_settings *s, const eh_method *method);
/* Fails if the caller has set what does not apply. */
enhope_status eh_settings_check(enhope_context *ctx, const enhope_settings *s);
/* Takes over what the model fixes. Fails if the caller has set it to another value. */
enhope_status eh_settings_fix(enhope_context *ctx, enhope_settings *s, const enhope_model *model);
/* The default of every setting but the recipe. */
void eh_settings_reset(enhope_settings *s);
/* All settings become those of the recipe, 0..enhope_recipe_count()-1. */
enhope_status eh_settings_recipe(enhope_context *ctx, enhope_settings *settings, int64_t recipe);
/* Whether the recipe names the setting. */
bool eh_recipe_sets(int64_t recipe, const char *name);

/* Fills one name-and-text pair for every setting: pairs (enhope_setting_count()). */
enhope_status eh_settings_texts(enhope_context *ctx, const enhope_settings *s, eh_pair_text *pairs);

#endif
