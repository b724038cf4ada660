/* enhope: exemplar-centred supervised embedding (en-HOPE, HOPE) in C.
 *
 *   enhope_context *ctx = enhope_context_create();
 *   enhope_source source = {.path = "mnist", .part = "train"};
 *   enhope_dataset *data = NULL;
 *   enhope_model *model = NULL;
 *   if (enhope_dataset_read(ctx, &source, &data) ||
 *       enhope_train(ctx, data, NULL, NULL, NULL, &model) ||
 *       enhope_model_save(ctx, model, "digits.safetensors"))
 *       fprintf(stderr, "%s\n", enhope_error(ctx));
 *   enhope_model_free(model), enhope_dataset_free(data), enhope_context_free(ctx);
 *
 * enhope_advanced.h adds the step-wise trainer, checkpoints, shards and streaming, devices, ranks,
 * calibration and rejection, the tables of methods and settings, and the allocator.
 *
 * Rules for all functions:
 *  - A function that can fail returns an enhope_status, 0 on success. enhope_error(ctx) describes
 *    the failure: where, what was found, what was expected. Outputs are then unchanged.
 *  - The library never prints, exits or aborts.
 *  - The caller owns every object returned through `out` or by a _create function and frees it with
 *    the matching _free function, which accepts NULL. Returned strings belong to their object.
 *  - A context is used by one thread at a time. Different contexts are independent.
 *  - Matrices are row-major, one sample a row.
 *
 * Dimension letters: n samples, H inputs, F factors, m hidden units, h outputs, O order, z
 * exemplars, c classes. */
#ifndef ENHOPE_H
#define ENHOPE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define ENHOPE_VERSION_MAJOR 0
#define ENHOPE_VERSION_MINOR 2
#define ENHOPE_VERSION_PATCH 0

#if defined(__GNUC__)
#define ENHOPE_API __attribute__((visibility("default")))
#else
#define ENHOPE_API
#endif

/* ---- status ---- */

/* The numbers are stable and are never reused. */
typedef enum enhope_status {
    ENHOPE_OK = 0,
    ENHOPE_STOPPED = 1,         /* no error: the progress function asked to stop */
    ENHOPE_ERROR_ARGUMENT = 10, /* a setting or an argument is out of bounds */
    ENHOPE_ERROR_DATA = 20,     /* the data is malformed or does not fit (a row, a label, a width) */
    ENHOPE_ERROR_FORMAT = 21,   /* a file is not in the expected format (magic, truncation, lengths) */
    ENHOPE_ERROR_MODEL = 30,    /* a model file is corrupt or of another kind */
    ENHOPE_ERROR_IO = 40,       /* the system could not open, read, write or rename a file */
    ENHOPE_ERROR_MEMORY = 50,   /* out of memory */
    ENHOPE_ERROR_COMPUTE = 60   /* the compute backend, or another rank, is missing or failed */
} enhope_status;
ENHOPE_API const char *enhope_status_text(enhope_status status); /* "data error"; never NULL */
ENHOPE_API const char *enhope_version(void);                     /* "0.2.0" */

/* ---- context: where errors and log lines go, and what to compute with ---- */

typedef struct enhope_context enhope_context;
ENHOPE_API enhope_context *enhope_context_create(void); /* NULL: out of memory */
ENHOPE_API void enhope_context_free(enhope_context *ctx);
/* The message of the last failure, or "". Valid until the next call with this context. */
ENHOPE_API const char *enhope_error(const enhope_context *ctx);
/* INFO: what is being done. WARNING: the result may not be what was wanted. */
typedef enum enhope_log_level { ENHOPE_LOG_INFO = 0, ENHOPE_LOG_WARNING = 1 } enhope_log_level;
/* Receives one line (no newline) for each event that is not an error. NULL: no log, the default. */
typedef void (*enhope_log_fn)(enhope_log_level level, const char *line, void *user);
ENHOPE_API void enhope_context_set_log(enhope_context *ctx, enhope_log_fn fn, void *user);
/* 0, the default: OMP_NUM_THREADS, or all cores, or one if the training is too small for more. */
ENHOPE_API enhope_status enhope_context_set_threads(enhope_context *ctx, int threads);
/* "cpu" (the default), "cuda" (the first GPU), "cuda:N", "auto" (cuda if available, else cpu) or
 * "ref" (double loops, for checks). Availability is checked on the first computation. */
ENHOPE_API enhope_status enhope_context_set_device(enhope_context *ctx, const char *name);

/* ---- data ---- */

typedef struct enhope_dataset enhope_dataset;
/* Where data is read from. Every field but path may be zero: the default. */
typedef struct enhope_source {
    const char *path;  /* a file, a folder of IDX files, images or shards, "X,y" (two files), "-" (CSV on stdin),
                         "synthetic:digits,n=6000,seed=1" (or strokes), "synthetic:blobs,n=600,classes=3,inputs=5" */
    const char *part;  /* "train" or "test" part of a folder, an .npz or a split; default: train, if there are parts */
    const char *label; /* CSV: label column by name or 1-based number, or "none"; default: found by name */
    const char *split; /* "N@SEED": shuffle, the first N samples are the train part; "0.8@SEED": 0.8 of each class is */
    const struct enhope_model *model; /* CSV: columns are found and encoded as in its training; default: fitted */
    const char *variables;            /* MAT, NPZ: "X,y", names of the variables; default: found by shape and name */
    int64_t limit;                    /* use the first so many samples of the part; default: all */
    const char *classes; /* file with the names of the classes 0, 1, ..., or with lines NUMBER,NAME; default: none */
    const struct enhope_table_options *table; /* CSV: columns, see enhope_advanced.h; default: detected */
} enhope_source;

/* Reads and validates a data set: shapes, labels, finite values. */
ENHOPE_API enhope_status enhope_dataset_read(enhope_context *ctx, const enhope_source *source, enhope_dataset **out);
/* A data set over the caller's values, which must outlive it. labels (n): classes 0..c-1, -1 for
 * unlabeled; NULL: all unlabeled. class_names (c); NULL: "0", "1", ... Both are copied. */
ENHOPE_API enhope_status enhope_dataset_view_f32(enhope_context *ctx, int64_t n, int64_t H, const float *x,
                                                 const int32_t *labels, int32_t c, const char *const *class_names,
                                                 enhope_dataset **out);
ENHOPE_API enhope_status enhope_dataset_view_u8(enhope_context *ctx, int64_t n, int64_t H, const uint8_t *x,
                                                const int32_t *labels, int32_t c, const char *const *class_names,
                                                enhope_dataset **out);
/* Sparse rows: row_start (n+1); column and value (row_start[n]), columns ascending within a row. */
ENHOPE_API enhope_status enhope_dataset_view_csr(enhope_context *ctx, int64_t n, int64_t H, const int64_t *row_start,
                                                 const int32_t *column, const float *value, const int32_t *labels,
                                                 int32_t c, const char *const *class_names, enhope_dataset **out);
ENHOPE_API void enhope_dataset_free(enhope_dataset *data);

typedef enum enhope_kind { ENHOPE_U8 = 0, ENHOPE_F32 = 1, ENHOPE_CSR = 2 } enhope_kind;
typedef struct enhope_dataset_info {
    int64_t n;                         /* samples */
    int64_t inputs;                    /* H */
    int32_t classes;                   /* c; 0: unlabeled */
    enhope_kind kind;                  /* type of the values in memory */
    int64_t stored;                    /* number of values: n * H unless sparse */
    int64_t bytes;                     /* memory of the values */
    int64_t image_rows, image_columns; /* 0: not known to be images */
    double minimum, maximum, mean;     /* of the values; NaN: streamed */
    int streamed;                      /* 1: values and labels stay in their files */
} enhope_dataset_info;
/* Takes one pass over the data unless it is streamed. */
ENHOPE_API void enhope_dataset_get_info(const enhope_dataset *data, enhope_dataset_info *info);
/* (n) class numbers; NULL: unlabeled or streamed. */
ENHOPE_API const int32_t *enhope_dataset_labels(const enhope_dataset *data);
ENHOPE_API const char *enhope_dataset_class_name(const enhope_dataset *data, int32_t k); /* NULL outside 0..c-1 */

/* ---- settings: named values, as listed by `enhope methods --settings` ---- */

typedef struct enhope_settings enhope_settings;
ENHOPE_API enhope_settings *enhope_settings_create(void); /* all defaults; NULL: out of memory */
ENHOPE_API void enhope_settings_free(enhope_settings *settings);
/* Values are text, as on the command line, e.g. "order", "2". Set "recipe" first: it sets all. */
ENHOPE_API enhope_status enhope_settings_set(enhope_context *ctx, enhope_settings *settings, const char *name,
                                             const char *value);

/* ---- training ---- */

typedef struct enhope_model enhope_model;
typedef struct enhope_progress {
    int64_t epoch, epochs;  /* epochs done, epochs planned */
    int64_t batch, batches; /* batches done in this epoch, batches of an epoch */
    double loss;         /* mean over the batches of this epoch whose loss is known (on a GPU every 64th batch and the
                               end of the epoch), else that of the epoch before; NaN: none yet */
    double valid_error;  /* fraction of the validation part, after the last whole epoch; NaN: none */
    double best_error;   /* lowest validation error so far; NaN: none */
    double seconds;      /* since training began */
    double seconds_left; /* estimate; 0 when done */
    int epoch_done;      /* 1: this call ends an epoch */
} enhope_progress;
/* Called after each batch and during long ones. Non-zero stops training; the best model is kept. */
typedef int (*enhope_progress_fn)(const enhope_progress *progress, void *user);

/* Trains a model. settings NULL: all defaults. progress may be NULL. Returns ENHOPE_STOPPED, and a
 * model, if progress asked to stop. */
ENHOPE_API enhope_status enhope_train(enhope_context *ctx, const enhope_dataset *data, const enhope_settings *settings,
                                      enhope_progress_fn progress, void *user, enhope_model **out);

/* ---- models ---- */

/* Writes the file atomically: path holds the old file or the whole new one. */
ENHOPE_API enhope_status enhope_model_save(enhope_context *ctx, const enhope_model *model, const char *path);
ENHOPE_API enhope_status enhope_model_load(enhope_context *ctx, const char *path, enhope_model **out);
ENHOPE_API void enhope_model_free(enhope_model *model);

typedef struct enhope_model_info {
    const char *method;           /* "en-hope" */
    const char *map;              /* "hope", "mlp", "linear", "identity" */
    int64_t inputs, outputs;      /* H, h */
    int64_t factors, hidden;      /* F, m; F is 0 unless the map has factors */
    int32_t order;                /* O; 0 unless the map has factors */
    int64_t parameters;           /* of the map */
    int64_t references;           /* exemplars, or embedded training points, that new points are compared with */
    int references_are_exemplars; /* 1: exemplars */
    int32_t classes;              /* c; 0: trained without labels, so the model embeds but does not classify */
    int32_t neighbours, votes;    /* default k; votes 0: without k, the label is the most probable class */
    int64_t epochs;               /* rows of the history */
    int64_t earlier;              /* rows at its start that belong to the models this one was updated from */
    int64_t best; /* row of the history that was kept: lowest validation error, then loss; else the last; -1: none */
    double temperature;                /* of the probabilities, fitted on the validation part; 1: unchanged */
    int64_t valid_n, valid_errors;     /* validation samples, and errors among them; n is 0: not known */
    int64_t train_n, train_errors;     /* the same for a sample of the training part */
    int64_t image_rows, image_columns; /* 0: not known to be images */
} enhope_model_info;
ENHOPE_API void enhope_model_get_info(const enhope_model *model, enhope_model_info *info);
ENHOPE_API const char *enhope_model_class_name(const enhope_model *model, int32_t k);     /* NULL outside 0..c-1 */
ENHOPE_API const char *enhope_model_setting(const enhope_model *model, const char *name); /* NULL: unknown */

/* ---- using a model. The caller provides all arrays. ---- */

/* Embeds data: Y (n, h). The values are scaled as in training. */
ENHOPE_API enhope_status enhope_model_embed(enhope_context *ctx, const enhope_model *model, const enhope_dataset *data,
                                            float *Y);
typedef struct enhope_prediction {
    int32_t *label;            /* (n) class numbers of the model */
    float *proba;              /* (n, c) class probabilities: the share of the class in the similarity to all exemplars,
                                  tempered; without exemplars its share in the votes of the k nearest points */
    int64_t *winner;           /* (n) the nearest reference */
    float *distance;           /* (n) Euclidean distance to it in the embedding */
    float *margin;             /* (n) distance to the nearest exemplar of another class minus that to the nearest one of
                                  the label's class; only for models with exemplars */
    float *Y;                  /* (n, h) */
    int64_t *neighbour;        /* (n, k) the k nearest references, nearest first */
    float *neighbour_distance; /* (n, k) their distances */
} enhope_prediction;
/* Fills the arrays that are not NULL. k: neighbors that vote; 0: the rule of the model. */
ENHOPE_API enhope_status enhope_model_predict(enhope_context *ctx, const enhope_model *model,
                                              const enhope_dataset *data, int32_t k, const enhope_prediction *out);

typedef struct enhope_evaluation {
    int64_t n, errors;  /* labeled samples, and errors among them */
    double seconds;     /* time to embed and classify all n, without transfers to the device */
    int64_t *confusion; /* input: (c, c) to fill, row = true class, column = predicted; may be NULL */
    int64_t unknown;    /* samples of classes that the model does not know: errors, not in confusion */
    struct enhope_calibration *calibration; /* input: to fill; may be NULL (enhope_advanced.h) */
    struct enhope_rejection *rejection;     /* likewise */
    struct enhope_metrics *metrics;         /* likewise */
} enhope_evaluation;
/* Classifies labeled data and counts errors. Classes are matched by name. k: as for _predict. */
ENHOPE_API enhope_status enhope_model_evaluate(enhope_context *ctx, const enhope_model *model,
                                               const enhope_dataset *data, int32_t k, enhope_evaluation *out);

/* ---- predictor: a model prepared for many calls on the CPU ---- */

typedef struct enhope_predictor enhope_predictor;
typedef struct enhope_predictor_options { /* every field may be zero: the default */
    const char *precision; /* "float32" or "int8"; default: int8 if the model is stored in int8, else float32 */
    int32_t k;             /* neighbors that vote; 0: the rule of the model */
} enhope_predictor_options;
/* Packs the weights and embeds the exemplars. The model must outlive the predictor. options NULL:
 * all defaults. Batches are divided among the threads of the context. */
ENHOPE_API enhope_status enhope_predictor_create(enhope_context *ctx, const enhope_model *model,
                                                 const enhope_predictor_options *options, enhope_predictor **out);
ENHOPE_API void enhope_predictor_free(enhope_predictor *predictor);
typedef struct enhope_rows { /* rows of the model's H inputs, encoded but not scaled, as in enhope_dataset_view_* */
    int64_t n;
    enhope_kind kind;
    const void *values;       /* U8: uint8_t (n, H); F32: float (n, H); CSR: float (row_start[n]) */
    const int64_t *row_start; /* CSR: (n + 1) */
    const int32_t *column;    /* CSR: (row_start[n]), ascending within a row */
} enhope_rows;
/* label (n), proba (n, c), Y (n, h). No allocation, no locks: threads may share a predictor. The
 * bits of a row do not depend on other rows. ENHOPE_ERROR_DATA: a value or an embedding is not
 * finite, or a column out of order; outputs are then undefined. Searches (kNN) may allocate. */
ENHOPE_API enhope_status enhope_predictor_label(const enhope_predictor *p, const enhope_rows *rows, int32_t *label);
ENHOPE_API enhope_status enhope_predictor_proba(const enhope_predictor *p, const enhope_rows *rows, float *proba);
ENHOPE_API enhope_status enhope_predictor_embed(const enhope_predictor *p, const enhope_rows *rows, float *Y);
/* All outputs for a data set, which may be streamed. */
ENHOPE_API enhope_status enhope_predictor_predict(enhope_context *ctx, const enhope_predictor *p,
                                                  const enhope_dataset *data, const enhope_prediction *out);

#ifdef __cplusplus
}
#endif
#endif /* ENHOPE_H */
