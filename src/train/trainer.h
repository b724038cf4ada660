/* The trainer: the parts of training, and the loop over them (trainer.c). setup/ makes one. */
#ifndef EH_TRAINER_H
#define EH_TRAINER_H

#include "method/method.h"
#include "model/embedder.h"
#include "train/batch_loss.h"
#include "train/batches.h"
#include "train/parameters.h"
#include "train/setup/samples.h"
#include "train/train_state.h"

/* Losses that the backend has computed and nobody has asked for yet: it may run behind. */
typedef struct eh_losses {
    eh_loss *placed;        /* (batches) on the backend */
    eh_loss_value *fetched; /* (batches) the same on the host */
    int64_t known;          /* batches of the current epoch whose loss was fetched */
    int64_t ahead;          /* batches after which losses are fetched, if the optimiser does not ask for them */
} eh_losses;

/* A call of enhope_trainer_run or enhope_trainer_step. */
typedef struct eh_run {
    double started;              /* clock at the start of the current step */
    bool within;                 /* a batch: the state and all parameters but theta are as they were before it */
    enhope_progress_fn progress; /* asked within long steps; NULL: none */
    void *progress_user;
    bool stopping, cut; /* it asked to stop; a batch was cut short by that */
    bool late;          /* the time limit was reached, by the clock of rank 0 when it was last asked */
} eh_run;

struct enhope_trainer {
    enhope_context *ctx;
    const enhope_dataset *data;
    const enhope_model *from; /* the model that training continues; NULL: it begins anew */
    enhope_dataset joined;    /* the data then: its classes joined with those of the model; else empty */
    int64_t past;             /* number of the last epoch of that model */
    enhope_settings set;      /* resolved */
    const eh_method *method;
    eh_compute *cp; /* NULL: the method computes nothing (knn) */

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
    int32_t k;                  /* neighbours that vote */
    eh_fingerprint fingerprint; /* of the data, once ranks or a checkpoint have asked for it; n 0: not yet */
    bool done;
};

/* ---- trainer.c ---- */

/* Whether the optimiser or a solver must stop; user is the trainer. */
bool eh_train_stop(void *user);
/* Fetches all losses that are not known yet; between steps. */
enhope_status eh_train_catch_up(enhope_trainer *t);
/* Whether all epochs are done, or patience has run out. */
bool eh_train_finished(const enhope_trainer *t);

/* ---- solve_step.c ---- */

/* theta by a solver; response: the mean square of the outputs of pca, 0: directions of length one. */
enhope_status eh_train_solve(enhope_trainer *t, eh_solve solver, double response, double *loss);

/* ---- evaluation.c ---- */

/* The error on the validation part with parameters theta; NaN without one. */
enhope_status eh_train_validate(enhope_trainer *t, const eh_real *theta, double *error);
/* Embeds the first `count` rows of samples into Y (count, h), each rank its share. */
enhope_status eh_train_embed_shared(enhope_trainer *t, const eh_real *theta, int64_t count, eh_real *Y);
/* Evaluates theta: errors in the validation part and among training samples, and the temperature of its probabilities, go
 * into the model. */
enhope_status eh_train_evaluate(enhope_trainer *t, const eh_real *theta, enhope_model *m);

/* ---- checkpoint.c ---- */

/* What identifies the data, computed once and kept in t->fingerprint; and the model that training continues. */
enhope_status eh_train_fingerprint(enhope_trainer *t);
uint64_t eh_train_hash_model(const enhope_trainer *t);

#endif
