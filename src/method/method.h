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
/* Methods whose map is the solution of one problem instead of the result of gradient steps. */
typedef enum eh_solve { EH_SOLVE_NONE, EH_SOLVE_PCA, EH_SOLVE_LPP, EH_SOLVE_MCML } eh_solve;

typedef struct eh_method {
    enhope_method_info info;
    const eh_map *map;
    bool gaussian, row, nca; /* of the objective, unless set explicitly */
    bool input_target;       /* the target follows from distances of the inputs, not from classes */
    /* A sample and some of its neighbors in the input space are a class of their own. */
    bool graph;
    eh_compared compared;
    bool hinge; /* the objective is that of hinge.c: the samples of a batch are followed by their target neighbors */
    /* Inputs are compared unscaled: train/setup/scale.c chooses their scale, and learned exemplars
     * start as training points. */
    bool own_scale;
    bool pca_start; /* the map is initialized with principal components */
    eh_solve solve;
    int32_t nearest; /* default number of neighbors that vote; 0: by rule */
} eh_method;

/* NULL: no such method. */
const eh_method *eh_method_find(const char *name);
const eh_method *eh_method_get(int i); /* NULL outside the table */
/* Whether the method is trained by gradient steps, so that training can continue from a model. */
bool eh_method_learns(const eh_method *method);

/* ---- settings.c ---- */

enum { EH_ACTIVATION_SIGMOID, EH_ACTIVATION_RELU };
enum { EH_EXEMPLARS_RANDOM, EH_EXEMPLARS_KMEANS, EH_EXEMPLARS_LEARNED };
enum { EH_NORMALIZER_AUTO, EH_NORMALIZER_PUBLISHED, EH_NORMALIZER_JOINT, EH_NORMALIZER_ROW };
enum { EH_SIMILARITY_AUTO, EH_SIMILARITY_STUDENT, EH_SIMILARITY_GAUSSIAN };
enum { EH_TARGET_AUTO, EH_TARGET_MCML, EH_TARGET_NCA };
enum { EH_TARGET_WEIGHT_SAMPLE, EH_TARGET_WEIGHT_PAIR };
enum { EH_SOLVER_CG, EH_SOLVER_LBFGS, EH_SOLVER_ADAM };
enum { EH_CLASS_WEIGHTS = 4096 }; /* bytes of class_weight, the longest setting */

typedef struct eh_map_settings {
    int64_t n_components, n_factors, n_hidden, order, aux_components;
    char hidden_layer_sizes[64];
    int64_t activation;
    double init_scale;
} eh_map_settings;

typedef struct eh_objective_settings {
    int64_t exemplars, n_exemplars;
    int64_t normalizer, similarity, dof;
    int64_t target, target_weight;
    int64_t graph_k, lmnn_k;
    double perplexity, label_smoothing, unlabeled_weight;
    char class_weight[EH_CLASS_WEIGHTS]; /* text; see class_weights.c */
} eh_objective_settings;

typedef struct eh_optim_group {
    int64_t solver, n_epochs, batch_size, n_chunks, line_searches;
    double learning_rate, time_limit;
    int64_t patience;
} eh_optim_group;

typedef struct eh_augment_settings {
    double shift, affine, elastic;
    double noise, dropout, adversarial_step;
} eh_augment_settings;

/* The fields have the names in the table of settings.c. The value of a choice is one of the
 * enumerators above. */
struct enhope_settings {
    int64_t recipe;
    char method[24];
    eh_map_settings map;
    eh_objective_settings objective;
    eh_optim_group optim;
    eh_augment_settings augment;
    double validation_fraction;
    int64_t scaling, n_neighbors, random_state;

    /* The settings that the caller has set, one bit for each row of the table. They are used as
     * given, whereas defaults and values of a recipe may be adapted to the data. Training fails if
     * one of them does not apply. */
    uint64_t explicit;
};

/* ---- class_weights.c ---- */

/* Whether the text is a value of class_weight. */
bool eh_class_weights_good(const char *text);
/* Reads one NAME=WEIGHT at *list, a list that is not empty, and moves *list to the next one or to
 * the end. Returns false if the text is invalid. */
bool eh_class_weights_next(const char **list, char *name, size_t size, double *weight);

/* ---- settings.c ---- */

/* at: offset of the setting's field. */
bool eh_settings_explicit(const enhope_settings *s, size_t at);
#define EH_EXPLICIT(s, field) eh_settings_explicit(s, offsetof(enhope_settings, field))
/* The values of similarity, normalizer and target, with `auto` resolved for the method. */
bool eh_settings_gaussian(const enhope_settings *s, const eh_method *method);
bool eh_settings_row(const enhope_settings *s, const eh_method *method);
bool eh_settings_nca(const enhope_settings *s, const eh_method *method);
/* Fails if the caller has set a setting that does not apply. */
enhope_status eh_settings_check(enhope_context *ctx, const enhope_settings *s);
/* Copies the settings that the model fixes. Fails if the caller has set one of them to another
 * value. */
enhope_status eh_settings_fix(enhope_context *ctx, enhope_settings *s, const enhope_model *model);
/* Sets every setting except the recipe to its default. */
void eh_settings_reset(enhope_settings *s);
/* Sets all settings to those of the recipe, 0..enhope_recipe_count()-1. */
enhope_status eh_settings_recipe(enhope_context *ctx, enhope_settings *settings, int64_t recipe);
/* Whether the recipe contains the setting. */
bool eh_recipe_sets(int64_t recipe, const char *name);

/* Fills one name-and-text pair for every setting: pairs (enhope_setting_count()). */
enhope_status eh_settings_texts(enhope_context *ctx, const enhope_settings *s, eh_pair_text *pairs);

#endif
