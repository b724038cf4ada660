/* The steps that create a trainer. create.c calls them in order. */
#ifndef EH_SETUP_H
#define EH_SETUP_H

#include "exemplar/exemplar.h"
#include "train/stream/windows.h"
#include "train/trainer.h"

/* Sizes and choices that follow from settings, data and method. */
typedef struct eh_plan {
    eh_map_shape shape;
    bool sparse;       /* sparse rows enter the map without a dense copy */
    int64_t aux;       /* outputs of the auxiliary head; 0: none */
    int64_t map_count; /* parameters of the map and the head */
    int64_t z;         /* exemplars */
    bool learned;      /* the exemplars are learned */
    eh_pairs objective;
    eh_hinge hinge;     /* targets 0: `objective` is used */
    int64_t targets;    /* rows that follow each sample of a batch, ... */
    int64_t candidates; /* ... drawn from so many of its neighbors */
    bool graph;         /* the neighbors are the nearest samples of the neighbor graph */
    int64_t drawn;      /* samples of an epoch */
    int64_t labeled;    /* labeled samples of a batch, if there are others; else 0 */
    eh_augment augment;
    bool augmented;
    double adversary;  /* the adversarial step; 0: none */
    int64_t batches;   /* of an epoch */
    int64_t batch_max; /* rows of the largest batch: samples and their targets */
    eh_chunks chunks;  /* of a batch */
    int64_t capacity;  /* rows of a batch or block */
    int64_t sample;    /* rows for the initialization of the map */
} eh_plan;

/* choose.c: chooses the map, the noise and the number of exemplars of tables by cross-validation,
 * and updates t->set and t->choice. Only data and method are known. */
enhope_status eh_setup_choose(enhope_trainer *t);

/* resolve.c: resolves settings, data and method, and updates t->set. The rows have been chosen
 * and the backend is open. */
enhope_status eh_setup_resolve(enhope_trainer *t, eh_plan *plan);

/* initialize.c: sets exemplars, map, optimizer and the number of neighbors. Memory is allocated. */
enhope_status eh_setup_exemplars(enhope_trainer *t);
enhope_status eh_setup_map(enhope_trainer *t, int64_t n);
enhope_status eh_setup_optimizer(enhope_trainer *t);
enhope_status eh_setup_neighbors(enhope_trainer *t);
/* The optimizer of the settings. */
const eh_optim_type *eh_setup_optim_type(const enhope_settings *s);

/* scale.c: chooses the scale of inputs that are compared without a map. Exemplars are
 * initialized. */
enhope_status eh_setup_scale(enhope_trainer *t);
/* class_targets.c: sets the weights of classes and errors, when the rows are known; sets label
 * smoothing, when exemplars are initialized. */
enhope_status eh_setup_weights(enhope_trainer *t);
enhope_status eh_setup_smoothing(enhope_trainer *t);
/* targets.c: finds the target neighbors of all training rows. */
enhope_status eh_setup_targets(enhope_trainer *t);
/* graph.c: finds the neighbors that targets are drawn from, of all samples with and without a
 * label. */
enhope_status eh_setup_graph(enhope_trainer *t);
/* check_ranks.c: fails unless all ranks have the same data and settings. */
enhope_status eh_setup_check_ranks(enhope_trainer *t);

/* ---- update.c: training that continues a model ---- */

/* Joins the class lists of model and data: the classes of the model first, then the new ones.
 * Values and names are borrowed from both. */
enhope_status eh_setup_join(enhope_context *ctx, const enhope_model *model, const enhope_dataset *data,
                            enhope_dataset *out);
/* Data in memory without labels, as data of one class without a name (eh_model_classifies). */
enhope_status eh_setup_unlabeled(enhope_context *ctx, const enhope_dataset *data, enhope_dataset *out);
/* The same data with own labels. */
enhope_status eh_setup_own_labels(enhope_context *ctx, const enhope_dataset *data, enhope_dataset *out);
void eh_setup_join_free(enhope_dataset *joined);
/* Copies the method and the settings of the map's shape from the model. */
enhope_status eh_setup_take_settings(enhope_trainer *t);
/* Fails unless the resolved shape is the model's. */
enhope_status eh_setup_check_shape(const enhope_trainer *t, const eh_map_shape *shape);
/* The number of exemplars: those of the model and those of new classes. */
enhope_status eh_setup_count_exemplars(const enhope_trainer *t, int64_t *z);
/* Fills E (z, H) and parameters.exemplar_label with the exemplars of the model and new ones for
 * new classes. */
enhope_status eh_setup_more_exemplars(enhope_trainer *t, float *E);

#endif
