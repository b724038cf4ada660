/* The trainer: the parts of training, and the loop over them (trainer.c). setup/ creates it. */
#ifndef EH_TRAINER_H
#define EH_TRAINER_H

#include "method/method.h"
#include "model/embedder.h"
#include "train/batch_loss.h"
#include "train/batches.h"
#include "train/parameters.h"
#include "train/setup/samples.h"
#include "train/train_state.h"

/* Losses of batches. The backend computes asynchronously, so losses are fetched later. */
typedef struct eh_losses {
    eh_loss *placed;        /* (batches) on the backend */
    eh_loss_value *fetched; /* (batches) the same on the host */
    int64_t known;          /* batches of the current epoch whose loss was fetched */
    int64_t ahead;          /* batches between fetches, if the optimizer does not need each loss */
} eh_losses;

/* State of a call of enhope_trainer_run or enhope_trainer_step. */
typedef struct eh_run {
    double started;              /* clock at the start of the current step */
    bool in_batch;               /* the optimizer runs: all state except theta is that before the batch */
    enhope_progress_fn progress; /* called within long steps; NULL: none */
    void *progress_user;
    bool stopping, interrupted; /* progress requested a stop; a batch was interrupted by it */
    bool late;                  /* the time limit was reached at the last check, by the clock of rank 0 */
} eh_run;

/* What choosing settings by cross-validation found out about the chosen ones. */
typedef struct eh_choice {
    int64_t errors, n; /* errors among n rows that were left out; n 0: no cross-validation */
    double temperature;
} eh_choice;

struct enhope_trainer {
    enhope_context *ctx;
    const enhope_dataset *data;
    const enhope_model *from; /* the model that training continues; NULL: a new model */
    enhope_dataset joined;    /* data with its classes joined to those of `from`, or with one class for data without
                               * labels; else empty */
    bool unlabeled;           /* the data has no labels */
    int64_t past;             /* last epoch of `from` */
    enhope_settings set;      /* resolved */
    const eh_method *method;
    eh_compute *cp; /* NULL: the method computes nothing (knn) */

    eh_choice choice;
    eh_samples samples;
    eh_windows *windows; /* NULL: all data is in memory */
    float *shift, *mul;  /* (H) scaling */
    eh_embedder embedder;
    eh_parameters parameters;
    eh_batches batches;
    eh_batch_loss loss;
    eh_optim *optim;
    eh_losses losses;
    eh_train_state state;
    eh_run run;
    int32_t k;                  /* neighbors that vote */
    eh_fingerprint fingerprint; /* of the data, computed on first use; n 0: not computed */
    bool done;
};

/* ---- trainer.c ---- */

/* Whether the optimizer or a solver must stop; user is the trainer. */
bool eh_train_stop(void *user);
/* Fetches all losses that are not known yet. Does nothing within a step. */
enhope_status eh_train_catch_up(enhope_trainer *t);
/* Whether all epochs are done, or the validation error has not improved for `patience` epochs. */
bool eh_train_finished(const enhope_trainer *t);

/* ---- solve_step.c ---- */

/* Computes theta with a solver. response: mean square of the outputs of pca; 0: directions of
 * length one. */
enhope_status eh_train_solve(enhope_trainer *t, eh_solve solver, double response, double *loss);

/* ---- evaluation.c ---- */

/* The validation error at theta; NaN without a validation part. Errors count with the weight of
 * their sample and class; class_weight balanced: the mean of the error rates of the classes. */
enhope_status eh_train_validate(enhope_trainer *t, const eh_real *theta, double *error);
/* Embeds the first `count` rows of samples into Y (count, h). Each rank computes its share. */
enhope_status eh_train_embed_shared(enhope_trainer *t, const eh_real *theta, int64_t count, eh_real *Y);
/* Evaluates theta: stores errors in the validation part and among training samples, and the
 * temperature of the probabilities, in the model. */
enhope_status eh_train_evaluate(enhope_trainer *t, const eh_real *theta, enhope_model *m);

/* ---- checkpoint.c ---- */

/* The fingerprint of the data, computed once into t->fingerprint; a hash of the model that
 * training continues. */
enhope_status eh_train_fingerprint(enhope_trainer *t);
uint64_t eh_train_hash_model(const enhope_trainer *t);

#endif
