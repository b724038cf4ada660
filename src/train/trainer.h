/* The trainer, between its files: setup/create.c makes one, trainer.c runs it, the others have what both need of a part. */
#ifndef EH_TRAIN_H
#define EH_TRAIN_H

#include "classify/classify.h"
#include "data/store.h"
#include "exemplar/exemplar.h"
#include "method/method.h"
#include "model/embedder.h"

typedef struct eh_windows eh_windows;   /* stream/window.h */
typedef struct eh_exchange eh_exchange; /* exchange.c */

struct enhope_trainer {
    enhope_context *ctx;
    const enhope_dataset *data;
    const enhope_model *from; /* that training goes on from; NULL: it begins anew */
    enhope_dataset joined;    /* the data then: its classes joined with the model's; else empty */
    enhope_settings set;
    const eh_method *method;
    eh_compute *c;

    /* the data. Rows are numbers in x: the data's own matrix, or a block of memory that windows of it pass through
     * (stream/window.c). */
    const eh_matrix *x;
    const int32_t *label; /* of the rows of x */
    float *shift, *mul;   /* (H) */
    int64_t n;            /* training samples, that an epoch shows */
    int64_t *class_n;     /* (c) of each class */
    int64_t *rows;        /* (held + valid_n) in a seeded order: training rows, then the validation part's */
    eh_row *row_list;     /* the same on the backend */
    int64_t held;         /* all n of them, or a sample that stays while windows pass */
    int64_t *class_held;  /* (c) of each class */
    int64_t valid_n;
    eh_windows *windows; /* NULL: x is all of the data */
    int64_t *targets;   /* (n, targets) positions in rows; where there are too few, the sample's own as -1 - position */
    int32_t present;    /* classes that have samples */
    eh_disturb disturb; /* of the inputs of training batches; the pass is the epoch's */
    bool disturbed;

    /* the parts that meet here */
    eh_embedder embedder; /* batches, then z exemplars, go through it */
    eh_pairs objective;   /* without what is a batch's own */
    eh_hinge hinge;       /* where the method has it; else without targets */
    eh_optim *optim;

    /* parameters: the map's P numbers, then z x H of exemplars. The optimiser sees the latter only when learned. */
    int64_t P, z;
    bool learned;
    eh_real *theta, *best; /* (P + z H) */
    eh_real *before;       /* (P + z H) theta before the batch under way; NULL: the optimiser never stops within one */
    int32_t *exemplar_label; /* (z) */

    /* an epoch: its shuffle, and the loss of each batch. What is on the host is made while the backend is still at work
     * on the epoch before. Where windows pass, they have orders of their own. */
    int64_t batches;
    int64_t batch_most;   /* samples of the largest batch */
    int64_t order_room;   /* n (1 + targets), or what a window has room for */
    int64_t *order;       /* (order_room) rows: each batch's samples, then their targets */
    int32_t *order_label; /* their classes; -1: a target that is none */
    int64_t shuffled;     /* the epoch that they are for; -1: none */
    int64_t shown;        /* the epoch whose rows are on the backend; -1: none */
    eh_row *epoch_rows;   /* (order_room) the rows under way on the backend */
    eh_label *epoch_label;
    eh_scalar *losses; /* (batches) */
    eh_value *fetched; /* (batches) the same on the host */

    /* A batch is cut into parts of its rows: the gradient is the sum of theirs, in their order, so that its bits do not
     * depend on who computes a part. The exemplars belong to the last part. */
    int64_t parts;
    int64_t *part_start;         /* (parts + 1) the first row of each within the batch under way; the feed tells */
    int64_t own_first, own_last; /* the parts that are computed here */
    int64_t *piece; /* (parts + 2) their first rows, from the first one's on; of sparse batches the exemplars,
                                  * which are dense, are a piece of their own */
    int64_t pieces;
    eh_exchange *exchange; /* of the gradients, with other ranks; NULL: there are none */
    enhope_status noted;   /* of the backend, in between; told with the losses */

    /* a batch, and blocks of any other rows that are embedded */
    int64_t sample; /* rows of the start */
    int64_t batch_n;
    const eh_row *batch_rows;    /* (batch_n) */
    const eh_label *batch_label; /* (batch_n) */
    int64_t own_at;              /* the row of X that this process's first row of the batch lies in */
    /* where the loss is also asked for at inputs that have climbed it; else NULL */
    eh_operand *climbed;   /* (batch + z, ld) the batch so moved, then the exemplars */
    eh_real *dX;           /* (batch + z, H) the gradient of X */
    eh_real *climbed_grad; /* what the optimiser sees: the gradient there */
    eh_scalar *climbed_loss;
    eh_real *inputs;       /* (batch, ld) the batch as numbers, where its P is wanted and X is not that; else NULL */
    eh_real *affinities;   /* (batch, batch) P of the batch's inputs, where the method asks for it; else NULL */
    eh_real *class_weight; /* (c) weight of each class's samples; NULL: all 1 */
    eh_real *smooth_share; /* (z) shares of label smoothing; NULL: none */
    eh_real *dY;           /* (capacity + z, h) */

    /* where we are */
    int64_t past;                /* number of the last epoch of the model that training goes on from */
    int64_t ahead;               /* batches after which losses are fetched, where the optimiser does not ask for them */
    int64_t epoch, batch, known; /* of the epoch's batches: handed to the optimiser, and those whose loss was fetched */
    double started, spent;       /* clock at the running step's start, seconds of steps before it */
    double loss_sum, loss;       /* of the known batches: sum, mean; until one is known, the mean of the epoch before */
    double valid_error, best_error; /* NaN: none yet */
    double best_loss;
    int64_t best_epoch,
        improved; /* what is kept; the last that lowered the error: of equal ones the lower loss is kept */
    int32_t k;
    enhope_history *history;
    int64_t history_room;
    bool done, diverged;
    eh_fingerprint fingerprint;  /* of the data, once ranks or a checkpoint have asked for it; n 0: nobody has */
    bool within;                 /* a batch: counters, `before` and all but theta are as they were before it */
    enhope_progress_fn progress; /* of enhope_trainer_run, asked within long steps; NULL: none */
    void *progress_user;
    bool stopping, cut; /* it said so; and a batch was cut short by that */
    bool late;          /* the time limit was reached, by rank 0's clock when it was last asked */
};

/* A setting by its name, for sentences. */
typedef struct eh_named {
    const char *name;
    double value;
} eh_named;
/* The first of them that is above 0; the last where none before it is. */
eh_named eh_train_first_on(const eh_named *settings, int count);
/* Settings against data and method; the rows have been chosen and the backend opened; setup/resolve.c. */
enhope_status eh_train_settle(enhope_trainer *t);
/* Whether the loss is also asked for at inputs that have climbed it. */
bool eh_train_climbs(const enhope_trainer *t);
/* What the optimiser minimises and when it must stop; user is the trainer. The loss of the present batch at parameters
 * x, and its gradient, all on the backend; batch_loss.c, trainer.c. */
void eh_train_loss(void *user, const eh_real *x, eh_real *gradient, eh_scalar *loss);
bool eh_train_stop(void *user);
/* Rows become the batch, whose parts have been told, disturbed unless `with` is NULL. Exemplars are laid behind `first` rows of X; batch_loss.c. */
void eh_train_take(enhope_trainer *t, const eh_row *rows, const eh_label *label, int64_t n, const eh_disturb *with);
void eh_train_lay_exemplars(const enhope_trainer *t, const eh_real *E, eh_operand *X, int64_t first);
/* Batches; batches.c. */
/* What an epoch shows at one of its batches: where its rows begin in epoch_rows, how many they are, and the pass of
 * their noise. */
typedef struct eh_shown {
    int64_t first, n;
    uint64_t pass;
} eh_shown;
/* The rows of batch t->batch of epoch t->epoch come to the backend, and part_start is told, whichever batch was there before. A failure leaves all as it
 * was, and the same may be asked for again. */
enhope_status eh_train_show(enhope_trainer *t, eh_shown *out);
/* An epoch has been handed to the optimiser: the next one is made ready while the backend is still at work. */
void eh_train_show_next(enhope_trainer *t);

/* Windows on data that stays where it is, for methods that compare with exemplars; stream/window.c. */
/* Chooses the rows, with so much memory for all that is held of the data; `own` is the store where it is to be freed. */
enhope_status eh_train_windows_create(enhope_trainer *t, const eh_store *store, eh_store *own, int64_t memory);
/* Samples of a window, on average; runs of a window, of which each part of a batch needs one; and, for t->batches and
 * t->parts, samples of a batch at most. */
int64_t eh_train_window_samples(const enhope_trainer *t);
int64_t eh_train_window_runs(const enhope_trainer *t);
int64_t eh_train_window_batch(const enhope_trainer *t);
/* Reads what stays: t->x, t->label. Once the table is placed, the thread begins to read. */
enhope_status eh_train_windows_open(enhope_trainer *t);
enhope_status eh_train_windows_start(enhope_trainer *t);
/* Room for the order of a window. */
int64_t eh_train_window_room(const enhope_trainer *t);
enhope_status eh_train_window_show(enhope_trainer *t, eh_shown *out);
void eh_train_windows_free(eh_windows *w); /* waits for what is being read */
/* What tells windows on data from others: how they are cut ("none": all of it is in memory); the rows that stay, as a data set
 * that is viewed; a hash of how many samples train in each run. */
enum { EH_WINDOWS_TEXT = 64 };
void eh_train_windows_print(const enhope_trainer *t, char text[EH_WINDOWS_TEXT]);
enhope_dataset eh_train_windows_kept(const enhope_trainer *t);
uint64_t eh_train_windows_hash(const enhope_trainer *t);
/* Fails unless samples counted by class are enough to train on; sets t->present. setup/create.c */
enhope_status eh_train_check_classes(enhope_trainer *t, const int64_t *counts);
/* Over ranks; exchange.c. Which parts are computed here; the memory that is exchanged; that all ranks see the same. */
void eh_train_share_parts(enhope_trainer *t);
enhope_status eh_train_exchange_create(enhope_trainer *t);
void eh_train_exchange_free(enhope_trainer *t);
enhope_status eh_train_check_ranks(enhope_trainer *t);
/* The batch's embedding for all. Where the gradients of pieces are to be made, so far apart; one that is made; their sum, of
 * all ranks. */
void eh_train_gather_embedding(enhope_trainer *t);
eh_real *eh_train_begin_exchange(enhope_trainer *t, int64_t *apart);
void eh_train_send_piece(enhope_trainer *t, int64_t piece);
void eh_train_end_exchange(enhope_trainer *t, eh_real *gradient);
/* Keeps a failure until losses are taken. */
void eh_train_note(enhope_trainer *t, enhope_status status);
/* Embeds the first `count` of all rows into Y (count, h), each rank its share. */
enhope_status eh_train_embed_shared(enhope_trainer *t, const eh_real *theta, int64_t count, eh_real *Y);
/* Chooses the scale of the inputs for exemplars that have been started; setup/scale.c. */
enhope_status eh_train_scale(enhope_trainer *t);
/* theta by a solver; response: the mean square of pca's outputs, 0: as it comes; solve_step.c. */
enhope_status eh_train_solve(enhope_trainer *t, eh_solve solver, double response, double *loss);
/* Finds the target neighbours of all training rows; setup/targets.c. */
enhope_status eh_train_targets(enhope_trainer *t);
/* Weights of classes and label smoothing, where the settings ask for them, once exemplars and scales have been started;
 * setup/class_targets.c. */
enhope_status eh_train_class_targets(enhope_trainer *t);
/* The neighbour objective of n samples in Y, the exemplars behind them, into *loss, dY; batch_loss.c. */
void eh_train_neighbour_loss(enhope_trainer *t, int64_t n, const eh_label *label, eh_scalar *loss);
/* Embeds by theta what points are compared with while training; evaluation.c. */
enhope_status eh_train_references(enhope_trainer *t, const eh_real *theta);
/* The error on the validation part with parameters theta; NaN without one; evaluation.c. */
enhope_status eh_train_validate(enhope_trainer *t, const eh_real *theta, double *error);
/* Asks for all losses that are not known yet, so that the trainer is where it says; between steps; trainer.c. */
enhope_status eh_train_catch_up(enhope_trainer *t);
/* Whether the epochs are made, or patience is at its end; trainer.c. */
bool eh_train_finished(const enhope_trainer *t);
/* Room for so many rows of history; trainer.c. */
enhope_status eh_train_make_room(enhope_trainer *t, int64_t rows);
/* What tells the data, and the model that training goes on from, from others: the first is looked at once and kept in
 * t->fingerprint; checkpoint.c. */
enhope_status eh_train_look_at_data(enhope_trainer *t);
uint64_t eh_train_hash_model(const enhope_trainer *t);

/* What a trainer that goes on from a model does otherwise; setup/update.c. */
/* The data with its classes numbered as the model's, and those behind that the model does not know. Values and names are
 * borrowed from both. */
enhope_status eh_train_join(enhope_context *ctx, const enhope_model *model, const enhope_dataset *data,
                            enhope_dataset *out);
void eh_train_join_free(enhope_dataset *joined);
/* The settings that give the map its shape become the model's, and with them the method. */
enhope_status eh_train_settle_update(enhope_trainer *t);
/* Fails unless the shape that was settled is the model's. */
enhope_status eh_train_check_update(const enhope_trainer *t);
/* Sets z: the model's exemplars and those of new classes. */
enhope_status eh_train_count_exemplars(enhope_trainer *t);
/* E (z, H) and exemplar_label: the model's, and new ones for new classes. */
enhope_status eh_train_more_exemplars(enhope_trainer *t, float *E);

/* Rows of the model's history that go on into the new one; both, the new one's numbered on. */
int64_t eh_train_earlier(const enhope_trainer *t);
void eh_train_fill_history(const enhope_trainer *t, enhope_model *m);

/* What theta is worth goes into the model: errors in the validation part and among training samples, and the temperature
 * of its probabilities; evaluation.c. */
enhope_status eh_train_judge(enhope_trainer *t, const eh_real *theta, enhope_model *m);

#endif
