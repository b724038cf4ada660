/* enhope, for applications with more needs than enhope.h covers: data in blocks and shards, devices
 * and memory, the tables behind the settings, the trainer step by step, checkpoints, other
 * references, calibration and rejection, ranks. The rules of enhope.h hold here as well. */
#ifndef ENHOPE_ADVANCED_H
#define ENHOPE_ADVANCED_H

#include "enhope.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- devices and memory ---- */

typedef struct enhope_device_info {
    char name[16];  /* for enhope_context_set_device: "cpu", "cuda:0" */
    int available;  /* 1: it can be used */
    char text[256]; /* description, "2 threads, x86-64-v4", or why it is not available */
} enhope_device_info;
/* Device 0 is the cpu, the GPUs follow. If there is no usable GPU, one entry "cuda" gives the
 * reason. The list is made anew by each call. */
ENHOPE_API int enhope_device_count(enhope_context *ctx);
ENHOPE_API enhope_status enhope_device_get(enhope_context *ctx, int i, enhope_device_info *out); /* 0..count-1 */

/* Precision of the inputs of matrix products on a GPU: "fp32" (24 bits, the default), "tf32" (16
 * bits) or "bf16" (8 bits). Less is faster. Sums are float32; the cpu always uses float32. */
ENHOPE_API enhope_status enhope_context_set_precision(enhope_context *ctx, const char *name);

/* Limit, in bytes, of the data that is read into memory: 1000 or more; 0, the default: half of the
 * machine's memory. Larger data is streamed from its files if their format allows it (shards, plain
 * IDX and NPY). */
ENHOPE_API enhope_status enhope_context_set_memory(enhope_context *ctx, int64_t bytes);

/* Memory functions of the process. Call before anything is created. NULL, NULL: malloc and free,
 * the default. */
typedef void *(*enhope_malloc_fn)(size_t bytes);
typedef void (*enhope_free_fn)(void *block);
ENHOPE_API void enhope_set_allocator(enhope_malloc_fn alloc, enhope_free_fn release);

/* ---- data: details, blocks and shards ---- */

/* Declares the samples to be images of rows * columns inputs, as settings that move images
 * require. */
ENHOPE_API enhope_status enhope_dataset_set_image(enhope_context *ctx, enhope_dataset *data, int64_t rows,
                                                  int64_t columns);
/* names (H), copied. */
ENHOPE_API enhope_status enhope_dataset_set_input_names(enhope_context *ctx, enhope_dataset *data,
                                                        const char *const *names);
ENHOPE_API const char *enhope_dataset_input_name(const enhope_dataset *data, int64_t j); /* NULL: not known */

/* The values in memory, valid as long as the data set. Fields of other kinds are NULL; all are NULL
 * if streamed. */
typedef struct enhope_values {
    const uint8_t *u8;        /* (n, H) */
    const float *f32;         /* (n, H) */
    const int64_t *row_start; /* CSR, as in enhope_dataset_view_csr */
    const int32_t *column;
    const float *value;
} enhope_values;
ENHOPE_API void enhope_dataset_get_values(const enhope_dataset *data, enhope_values *values);
/* Rows first .. first + count - 1 as a data set of its own, in memory, with the same classes and
 * names. This is how streamed data is read. Values that are not finite are errors. */
ENHOPE_API enhope_status enhope_dataset_block(enhope_context *ctx, const enhope_dataset *data, int64_t first,
                                              int64_t count, enhope_dataset **out);
/* Row i, unscaled: x (H). */
ENHOPE_API enhope_status enhope_dataset_row(enhope_context *ctx, const enhope_dataset *data, int64_t i, float *x);

typedef struct enhope_conversion {
    int64_t rows;        /* written to shards, or checked */
    int64_t resumed;     /* of these, written by an earlier conversion that was stopped */
    double share;        /* fraction of the source that is done; NaN: not known */
    double seconds;      /* since it began */
    double seconds_left; /* estimate; NaN: not known */
} enhope_conversion;
/* Called every few megabytes. Non-zero stops. */
typedef int (*enhope_conversion_fn)(const enhope_conversion *progress, void *user);

/* Writes data as a folder of shards, NPY files and shards.json with checksums, which
 * enhope_dataset_read accepts as a path. A shard has shard_rows rows or about shard_bytes bytes; 0
 * and 0: 256 MB. Memory is constant except for sources that must be read as a whole (MAT, NPZ, NPY
 * in column order, a split). After a stop (ENHOPE_STOPPED) or a failure the same call resumes after
 * the last complete shard; if the folder is complete, it does nothing. */
ENHOPE_API enhope_status enhope_convert(enhope_context *ctx, const enhope_source *source, const char *folder,
                                        int64_t shard_rows, int64_t shard_bytes, enhope_conversion_fn progress,
                                        void *user);
/* Reads all files of a folder of shards and compares sizes and checksums. *files: their number.
 * progress may be NULL. */
ENHOPE_API enhope_status enhope_shards_check(enhope_context *ctx, const char *folder, enhope_conversion_fn progress,
                                             void *user, int64_t *files);

/* ---- the tables of methods, settings and recipes: static, NULL outside 0..count-1 ---- */

/* What a run with default settings does. */
typedef struct enhope_method_info {
    const char *name;       /* "en-hope" */
    const char *summary;    /* one line */
    const char *map;        /* "hope(F, m, O)" */
    const char *similarity; /* "student", "gaussian", "-" */
    const char *normalizer; /* "joint", "row", "-" */
    const char *target;     /* "same class", "NCA", "-" */
    const char *compared;   /* "z exemplars", "the batch itself", ... */
    const char *solver;     /* "adam", "eigen", ..., "-" */
    const char *published;  /* normalizer and solver of the publication where they differ, "joint, cg"; else "-" */
} enhope_method_info;
ENHOPE_API int enhope_method_count(void);
ENHOPE_API const enhope_method_info *enhope_method_get(int i);

typedef enum enhope_setting_type {
    ENHOPE_SETTING_INTEGER = 0,
    ENHOPE_SETTING_REAL = 1,
    ENHOPE_SETTING_CHOICE = 2,
    ENHOPE_SETTING_TEXT = 3 /* of the form that its help describes */
} enhope_setting_type;
typedef struct enhope_setting_info {
    const char *name; /* "n_factors" */
    enhope_setting_type type;
    const char *initial;     /* the default as text */
    double minimum, maximum; /* inclusive bounds of numbers */
    const char *choices;     /* "joint|row" for a choice, "N-N-..." for the form of a text, else NULL */
    const char *help;        /* one line */
    uint64_t methods;        /* bit i: it applies to method i, perhaps with some solvers only */
    const char *applies;     /* the same in words: "hope map", "gradient methods; solver adam", ... */
    int fixed;               /* 1: a model fixes it, and an update cannot change it */
} enhope_setting_info;
ENHOPE_API int enhope_setting_count(void);
ENHOPE_API const enhope_setting_info *enhope_setting_get(int i);
/* The current name of a setting of an earlier version: "learning_rate" for "rate". "": it was
 * removed. NULL: no setting of another version had this name. */
ENHOPE_API const char *enhope_setting_current_name(const char *old);

typedef struct enhope_recipe_info {
    const char *name;     /* "paper" */
    const char *summary;  /* one line */
    const char *settings; /* "order 2 n_factors 800 ...": names and values that differ from the defaults */
} enhope_recipe_info;
ENHOPE_API int enhope_recipe_count(void);
ENHOPE_API const enhope_recipe_info *enhope_recipe_get(int i); /* 0: the default */

/* ---- training step by step, and checkpoints ---- */

typedef struct enhope_trainer enhope_trainer;
/* model NULL: training starts anew; else it continues from the model, as enhope_model_update does.
 * settings NULL: all defaults. ctx, model and data must outlive the trainer. */
ENHOPE_API enhope_status enhope_trainer_create(enhope_context *ctx, const enhope_model *model,
                                               const enhope_dataset *data, const enhope_settings *settings,
                                               enhope_trainer **out);
ENHOPE_API void enhope_trainer_free(enhope_trainer *trainer);
/* Trains one batch. *done is set to 1 when training is over (epochs, time, no improvement).
 * progress may be NULL. */
ENHOPE_API enhope_status enhope_trainer_step(enhope_trainer *trainer, enhope_progress *progress, int *done);
/* Trains all remaining batches. progress as for enhope_train; it may write checkpoints. */
ENHOPE_API enhope_status enhope_trainer_run(enhope_trainer *trainer, enhope_progress_fn progress, void *user);
/* The best state so far as a new model, with its errors and its temperature: takes a pass over the
 * validation part and over at most 10,000 training samples. */
ENHOPE_API enhope_status enhope_trainer_model(enhope_trainer *trainer, enhope_model **out);
/* The state after the last step as a new model, for watching training. Nothing is measured. */
ENHOPE_API enhope_status enhope_trainer_snapshot(enhope_trainer *trainer, enhope_model **out);

/* Writes the state of training to a file, atomically. Call between steps or from a progress
 * function; during a batch the state before the batch is written. path NULL: only reports whether
 * the method has a state (those that are not trained in steps have none). With several ranks all of
 * them call it, and rank 0 writes. */
ENHOPE_API enhope_status enhope_trainer_checkpoint(enhope_trainer *trainer, const char *path);
/* Restores the state of a checkpoint in a trainer of the same data, settings and model. Training
 * then continues exactly as it would have, for any number of threads and ranks; another device
 * continues in its own rounding. ENHOPE_ERROR_ARGUMENT or _DATA: settings (other than time), model
 * or data differ, and the message names which. _MODEL or _IO: the file is damaged or is no
 * checkpoint. The trainer is unchanged on failure. */
ENHOPE_API enhope_status enhope_trainer_resume(enhope_trainer *trainer, const char *path);

/* ---- models: in memory, notes, other references ---- */

/* The bytes of the model's file. *bytes is set to their number; to NULL: only that. capacity: bytes
 * of `to`. */
ENHOPE_API enhope_status enhope_model_save_bytes(enhope_context *ctx, const enhope_model *model, void *to,
                                                 size_t capacity, size_t *bytes);
ENHOPE_API enhope_status enhope_model_load_bytes(enhope_context *ctx, const void *bytes, size_t size,
                                                 enhope_model **out);

/* Text that the caller stores with the model and in its file, under a name; the library does not
 * use it. Copied; an existing name gets the new text. Updated models start without notes. */
ENHOPE_API enhope_status enhope_model_set_note(enhope_context *ctx, enhope_model *model, const char *name,
                                               const char *text);
ENHOPE_API const char *enhope_model_note(const enhope_model *model, const char *name); /* NULL: none */
ENHOPE_API const char *enhope_model_input_name(const enhope_model *model, int64_t j);  /* NULL: not known */

/* The exemplars of a model that has them: X (references, H), in units of the data. */
ENHOPE_API enhope_status enhope_model_exemplars(enhope_context *ctx, const enhope_model *model, float *X);
/* A new model with the same map and other references. to: "kmeans", z centres of the data's classes
 * (0: two a class), which become exemplars; or "training", all labeled samples. Classes are
 * matched by name. Errors and temperature depend on the references and are not taken over. */
ENHOPE_API enhope_status enhope_model_with_references(enhope_context *ctx, const enhope_model *model,
                                                      const enhope_dataset *data, const char *to, int64_t z,
                                                      int64_t seed, enhope_model **out);

/* ---- evaluation: calibration and rejection ---- */

enum { ENHOPE_BINS = 15 };
typedef struct enhope_bin {
    int64_t n;         /* samples whose label has a probability from i/15 to (i + 1)/15 */
    double confidence; /* mean of that probability */
    double accuracy;   /* fraction of the samples that is classified correctly */
} enhope_bin;
typedef struct enhope_calibration {
    double nll; /* mean of -log(probability of the true class), the probability being at least 1.2e-7 */
    double ece; /* expected calibration error: mean over samples of |confidence - accuracy| of their bin */
    enhope_bin bin[ENHOPE_BINS];
} enhope_calibration;

/* Confidence measure used for rejection. */
typedef enum enhope_confidence {
    ENHOPE_CONFIDENCE_PROBABILITY = 0, /* of the label */
    ENHOPE_CONFIDENCE_MARGIN = 1,      /* as in enhope_prediction */
    ENHOPE_CONFIDENCE_DISTANCE = 2     /* to the nearest reference; smaller is more confident */
} enhope_confidence;
typedef struct enhope_coverage {
    double share;      /* input: fraction of samples to keep, the most confident ones, 0 to 1 */
    int64_t n, errors; /* samples kept, including those as confident as the last of them; errors among them */
    double threshold;  /* of the samples kept: lowest probability or margin, largest distance */
} enhope_coverage;
typedef struct enhope_rejection {
    enhope_confidence by; /* input */
    enhope_coverage *row; /* (rows) input; the caller's */
    int rows;             /* input */
    double area;          /* under the curve of error against coverage: mean error over all coverages */
} enhope_rejection;

/* ---- ranks: processes, started by mpirun, that train or evaluate one model together ---- */

/* "self" (this process alone, the default), "mpi" (all processes of the MPI job; needs the plug-in
 * libenhope_mpi) or "auto" (mpi if several processes were started, else self). All ranks make the
 * same calls with the same data and settings, share the work and get the same model; on the cpu it
 * is byte-identical to that of one process. Training, enhope_model_evaluate and
 * enhope_model_with_references are shared. Time limits and answers of progress functions are those
 * of rank 0. Device "cuda" is another GPU for each rank of a machine. A rank that waits for the
 * others longer than ENHOPE_MPI_TIMEOUT seconds (environment; default 600; 0: no limit) gets
 * ENHOPE_ERROR_COMPUTE. */
ENHOPE_API enhope_status enhope_context_set_ranks(enhope_context *ctx, const char *name);
ENHOPE_API int enhope_context_rank(const enhope_context *ctx);  /* of this process, from 0 */
ENHOPE_API int enhope_context_ranks(const enhope_context *ctx); /* their number; 1: alone */
/* Copies rank 0's block to all ranks. All ranks call it with the same size; a progress function
 * may. */
ENHOPE_API void enhope_context_broadcast(enhope_context *ctx, void *block, size_t bytes);
/* Call after a failure, before the process exits. 1: all ranks have called it within so many
 * seconds, so that each ends by itself; always 1 for a process alone. 0: others may be waiting for
 * this rank; when this process calls exit(), MPI ends them (MPI_Abort), and no further call with
 * ranks is possible. */
ENHOPE_API int enhope_context_all_failed(enhope_context *ctx, double seconds);

#ifdef __cplusplus
}
#endif
#endif /* ENHOPE_ADVANCED_H */
