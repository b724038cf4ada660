/* How a trainer is made (create.c), between the files of this folder. */
#ifndef EH_SETUP_H
#define EH_SETUP_H

#include "exemplar/exemplar.h"
#include "train/stream/windows.h"
#include "train/trainer.h"

/* What settings, data and method come to: the sizes and choices that the parts of a trainer are made with. */
typedef struct eh_plan {
    eh_map_shape shape;
    bool sparse;       /* rows enter the map as sparse rows */
    int64_t map_count; /* parameters of the map */
    int64_t z;         /* exemplars */
    bool learned;      /* they are learned */
    eh_pairs objective;
    eh_hinge hinge; /* targets 0: the objective is the one above */
    eh_augment augment;
    bool augmented;
    double adversary;  /* the adversarial step; 0: none */
    int64_t batches;   /* of an epoch */
    int64_t batch_max; /* rows of the largest: samples and their targets */
    eh_chunks chunks;  /* of a batch */
    int64_t capacity;  /* rows of a batch or block */
    int64_t sample;    /* rows that the map is initialised by */
} eh_plan;

/* resolve.c: settings against data and method. Rows have been chosen and the backend opened. t->set becomes what was
 * resolved. */
enhope_status eh_setup_resolve(enhope_trainer *t, eh_plan *plan);

/* initialise.c: exemplars, the map, the optimiser and the neighbours that vote, for parts that have memory. */
enhope_status eh_setup_exemplars(enhope_trainer *t);
enhope_status eh_setup_map(enhope_trainer *t, int64_t sample);
enhope_status eh_setup_optimiser(enhope_trainer *t);
enhope_status eh_setup_neighbours(enhope_trainer *t);
/* The optimiser that the settings name. */
const eh_optim_type *eh_setup_optim_type(const enhope_settings *s);

/* scale.c: chooses the scale of inputs that are compared as they are, for exemplars that have been initialised. */
enhope_status eh_setup_scale(enhope_trainer *t);
/* class_targets.c: weights of classes and label smoothing, for exemplars that have been initialised. */
enhope_status eh_setup_class_targets(enhope_trainer *t);
/* targets.c: finds the target neighbours of all training rows. */
enhope_status eh_setup_targets(enhope_trainer *t);
/* check_ranks.c: that all ranks see the same data and settings. */
enhope_status eh_setup_check_ranks(enhope_trainer *t);

/* ---- update.c: training that continues a model ---- */

/* The data with its classes numbered as the model's, and those behind that the model does not know. Values and names are
 * borrowed from both. */
enhope_status eh_setup_join(enhope_context *ctx, const enhope_model *model, const enhope_dataset *data,
                            enhope_dataset *out);
void eh_setup_join_free(enhope_dataset *joined);
/* The settings that give the map its shape become the model's, and with them the method. */
enhope_status eh_setup_take_settings(enhope_trainer *t);
/* Fails unless the shape that was resolved is the model's. */
enhope_status eh_setup_check_shape(const enhope_trainer *t, const eh_map_shape *shape);
/* How many exemplars there are: those of the model and of new classes. */
enhope_status eh_setup_count_exemplars(const enhope_trainer *t, int64_t *z);
/* E (z, H) and parameters.exemplar_label: those of the model, and new ones for new classes. */
enhope_status eh_setup_more_exemplars(enhope_trainer *t, float *E);

#endif
