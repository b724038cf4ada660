/* The loss of one batch and its gradient, as a function of the parameters. The optimizer
 * minimizes it.
 *
 * Batch and exemplars pass through the map together. The objective computes the loss and its
 * gradient in the embedding. The backward pass returns through the map, chunk by chunk. Ranks
 * exchange their results. */
#ifndef EH_BATCH_LOSS_H
#define EH_BATCH_LOSS_H

#include "model/embedder.h"
#include "objective/objective.h"
#include "train/batches.h"
#include "train/exchange.h"
#include "train/parameters.h"

/* The loss is the mean of the loss at the inputs and the loss at inputs moved one step up its
 * gradient. step 0: only the loss at the inputs. */
typedef struct eh_adversarial {
    double step;
    eh_packed *X_adv;  /* (own rows, ld) the moved inputs, then the exemplars */
    eh_real *dX;       /* (own rows, H) the gradient of the inputs */
    eh_real *grad_adv; /* (trained) the gradient of the parameters at X_adv */
    eh_loss *loss_adv; /* the loss at X_adv */
} eh_adversarial;

/* Target probabilities from the distances of the inputs (pt-sne). perplexity 0: the target
 * follows from the classes. */
typedef struct eh_input_target {
    double perplexity;
    eh_real *inputs;       /* (batch, ld) the batch as reals, without noise; NULL: X has these values */
    eh_real *target_probs; /* (batch, batch) */
} eh_input_target;

/* Samples without a label: their target is what the map gives for the rows of eh_batch.target_rows
 * without noise at the start of the batch (eh_neighbor_targets). weight 0: there are none. */
typedef struct eh_consistency {
    double weight;         /* of their loss, relative to that of the labeled samples */
    eh_real *target_probs; /* (batch, z) */
} eh_consistency;

/* The auxiliary head: outputs behind those of the map, with the same hidden units and exemplars.
 * The objective is computed for both groups of outputs, and the gradient is that of the sum. The
 * rows of the head are the last ones of V, so the parameters of the map precede them and are
 * those of a map without a head. */
typedef struct eh_head {
    int64_t h;     /* outputs; 0: no head */
    bool off;      /* its loss is left out */
    eh_real *Y;    /* (capacity + z, larger h) one group of outputs */
    eh_real *dY;   /* its gradient */
    eh_loss *loss; /* of the head alone */
} eh_head;

typedef struct eh_batch_loss {
    /* filled in by the caller of eh_batch_loss_create; pointers are borrowed */
    eh_embedder *embedder;
    const eh_parameters *parameters; /* has the exemplars, if they are not learned */
    eh_pairs objective;              /* the fields of a batch are not set */
    eh_hinge hinge;                  /* targets 0: `objective` is used */
    eh_chunks chunks;
    int64_t batch_max; /* rows of a batch */
    eh_augment augment;
    bool augmented;
    eh_adversarial adversarial;
    eh_input_target target;
    eh_consistency consistency;
    eh_head head;

    eh_map_shape shape;    /* of the map with the outputs of the head */
    eh_real *smooth_share; /* of `objective`, owned; NULL: none */
    eh_batch batch;        /* the current batch */
    int64_t own_first_row; /* the row of X with the first row of the own chunks */
    /* (chunks + 2) first rows of the own chunks, relative to the first one. Exemplars of sparse
     * batches are dense and have a chunk of their own. */
    int64_t *own_start;
    int64_t own_chunks;
    eh_real *dY;           /* (capacity + z, h), h with the outputs of the head */
    eh_exchange *exchange; /* NULL: there is one rank */
} eh_batch_loss;

enhope_status eh_batch_loss_create(eh_batch_loss *l);
/* Creates the exchange with other ranks; eh_batch_loss_create calls it. */
enhope_status eh_batch_loss_create_exchange(eh_batch_loss *l);
void eh_batch_loss_free(eh_batch_loss *l);
/* Sets the current batch: gathers and augments its own rows and computes its target. The target of
 * samples without a label follows from the current parameters. */
void eh_batch_loss_set_batch(eh_batch_loss *l, const eh_batch *batch);
/* The loss of the current batch at theta and its gradient (trained), all on the backend. The loss
 * does not contain that of the head, so that losses with and without it can be compared. */
void eh_batch_loss_at(eh_batch_loss *l, const eh_real *theta, eh_real *gradient, eh_loss *loss);
/* The objective of the n rows of a batch, which are in Y, followed by the exemplars. dY receives
 * its gradient, including that of the head. */
void eh_batch_loss_objective(eh_batch_loss *l, const eh_batch *batch, eh_loss *loss);

#endif
