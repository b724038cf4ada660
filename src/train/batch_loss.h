/* The loss of one batch and its gradient, as a function of the parameters: what the optimiser minimises.
 *
 * Batch and exemplars go through the map in one pass, the objective gives the loss and its gradient in the embedding, and
 * that goes back through the map, chunk by chunk; ranks exchange what they have computed. */
#ifndef EH_BATCH_LOSS_H
#define EH_BATCH_LOSS_H

#include "model/embedder.h"
#include "objective/objective.h"
#include "train/batches.h"
#include "train/exchange.h"
#include "train/parameters.h"

/* The loss is the mean of that at the inputs and that at inputs moved a step up its gradient; step 0: at the inputs. */
typedef struct eh_adversarial {
    double step;
    eh_packed *X_adv;  /* (own rows, ld) the inputs so moved, then the exemplars */
    eh_real *dX;       /* (own rows, H) the gradient of the inputs */
    eh_real *grad_adv; /* (trained) the gradient of the parameters at X_adv, ... */
    eh_loss *loss_adv; /* ... and the loss there */
} eh_adversarial;

/* The target is P of the distances of the inputs (pt-sne); perplexity 0: it is made of classes. */
typedef struct eh_input_target {
    double perplexity;
    eh_real *inputs;       /* (batch, ld) the batch as numbers, without noise; NULL: X is just that */
    eh_real *target_probs; /* (batch, batch) */
} eh_input_target;

typedef struct eh_batch_loss {
    /* filled in by the caller of eh_batch_loss_create; what is pointed to is borrowed */
    eh_embedder *embedder;
    const eh_parameters *parameters; /* the exemplars, if they are not learned */
    eh_pairs objective;              /* without the fields of a batch */
    eh_hinge hinge;                  /* targets 0: the objective is `objective` */
    eh_chunks chunks;
    int64_t batch_max; /* rows of a batch */
    eh_augment augment;
    bool augmented;
    eh_adversarial adversarial;
    eh_input_target target;

    eh_real *class_weight, *smooth_share; /* of `objective`, owned; NULL: none */
    eh_batch batch;                       /* the current one */
    int64_t own_at;                       /* the row of X that the first row of the own chunks is in */
    int64_t
        *own_start; /* (chunks + 2) first rows of the own chunks, from the first one's on; if batches are sparse, the
                            exemplars, which are dense, are a chunk of their own */
    int64_t own_chunks;
    eh_real *dY;           /* (capacity + z, h) */
    eh_exchange *exchange; /* NULL: there is one rank */
} eh_batch_loss;

enhope_status eh_batch_loss_create(eh_batch_loss *l);
/* The part of it that creates the exchange with other ranks. */
enhope_status eh_batch_loss_connect(eh_batch_loss *l);
void eh_batch_loss_free(eh_batch_loss *l);
/* A batch becomes the current one: its own rows are gathered and augmented, its target is computed. */
void eh_batch_loss_take(eh_batch_loss *l, const eh_batch *batch);
/* The loss of the current batch at parameters theta, and its gradient (trained), all on the backend. */
void eh_batch_loss_at(eh_batch_loss *l, const eh_real *theta, eh_real *gradient, eh_loss *loss);
/* The objective of n rows in Y, exemplars behind them; its gradient is left in dY. */
void eh_batch_loss_objective(eh_batch_loss *l, int64_t n, const eh_label *label, eh_loss *loss);

#endif
