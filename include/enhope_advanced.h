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
 * bits) or "bf16" (8 bits). Less is faster. Sums are float32. On the cpu, "float32" or "int8" is
 * the precision of predictors that do not choose one; training always uses float32. */
ENHOPE_API enhope_status enhope_context_set_precision(enhope_context *ctx, const char *name);

/* Limit, in bytes, of the data that is read into memory: 1000 or more; 0, the default: half of the
 * machine's memory. Larger data is streamed from its files if their format allows it (shards, plain
 * IDX and NPY). Packed and column-major arrays above a limit that is set are refused. */
ENHOPE_API enhope_status enhope_context_set_memory(enhope_context *ctx, int64_t bytes);

/* Called while a function waits for the text of a pipe or of standard input, or for a writer to
 * open a FIFO: about five times a second and after each signal. If it returns a value other than 0,
 * the function fails with ENHOPE_STOPPED. NULL, the default: the wait ends with the input. */
typedef int (*enhope_stop_fn)(void *user);
ENHOPE_API void enhope_context_set_stop(enhope_context *ctx, enhope_stop_fn fn, void *user);

/* Memory functions of the process. Call before anything is created. NULL, NULL: malloc and free,
 * the default. */
typedef void *(*enhope_malloc_fn)(size_t bytes);
typedef void (*enhope_free_fn)(void *block);
ENHOPE_API void enhope_set_allocator(enhope_malloc_fn alloc, enhope_free_fn release);

/* ---- data: tables, details and blocks ---- */

/* How a CSV file is read. NULL or 0: the default. Columns are names or numbers from 1, separated by
 * commas; a name that contains a comma is quoted. */
typedef struct enhope_table_options {
    const char *header;                /* "yes", "no"; default: detected */
    const char *delimiter;             /* a character, or "tab"; default: detected */
    const char *decimal;               /* "." or ","; default: ".", or detected if the delimiter is not a comma */
    const char *ignore;                /* columns that are not used */
    const char *id;                    /* columns that identify a row: not used as inputs, but kept as texts */
    const char *group;                 /* a column like those of id, and before them: rows that belong together */
    const char *keep;                  /* columns whose texts are kept, see enhope_dataset_text */
    const char *weight;                /* a column of enhope_dataset_set_weights; no input, kept as the last text */
    const char *categorical;           /* columns of numbers that are categories */
    const char *numeric;               /* columns that are numbers, also if they look like ids */
    const char *missing;               /* "impute" (the default), "drop" (rows with missing inputs), "error" */
    int skip_bad;                      /* 1: rows that cannot be read are skipped */
    int label_optional;                /* 1: a table without a column that can be the label is unlabeled */
    const struct enhope_dataset *like; /* columns are found and encoded as in this data set; default: fitted */
    const int64_t *fit; /* (fit_count) the encoding is fitted to these rows of the file, numbered as by */
    int64_t fit_count;  /* enhope_dataset_source_row; NULL: to the train part */
} enhope_table_options;
/* Texts of the id columns, then of the columns to keep. Column k of 0..count-1. */
ENHOPE_API int64_t enhope_dataset_text_count(const enhope_dataset *data);
ENHOPE_API const char *enhope_dataset_text_name(const enhope_dataset *data, int64_t k);       /* NULL outside */
ENHOPE_API const char *enhope_dataset_text(const enhope_dataset *data, int64_t k, int64_t i); /* of row i */
/* How many of them are ids, the first ones. */
ENHOPE_API int64_t enhope_dataset_id_count(const enhope_dataset *data);
typedef struct enhope_table_column {
    const char *name;        /* from the header, or "column 3" */
    const char *type;        /* "number", "boolean", "category", "date", "id", "empty" */
    const char *use;         /* "input", "label", "id", "ignored" */
    const char *reason;      /* for its use: "a counter", "the last column"; "": none */
    int64_t values, missing; /* number of rows with and without a value */
    double minimum, maximum; /* of numbers, and of dates in days since 1970-01-01; NaN: none */
    int64_t inputs;          /* inputs that it becomes, with one for missing values and one for rare categories */
    int32_t categories;      /* categories with an input of their own; 0: none */
    int marked, grouped;     /* 1: it has an input for missing values, for rare categories */
} enhope_table_column;
/* The columns of the CSV file that the data was read from; 0: another source. */
ENHOPE_API int64_t enhope_dataset_column_count(const enhope_dataset *data);
ENHOPE_API enhope_status enhope_dataset_column(enhope_context *ctx, const enhope_dataset *data, int64_t j,
                                               enhope_table_column *info);
/* Category k of column j, the most frequent first; NULL outside. */
ENHOPE_API const char *enhope_dataset_category(const enhope_dataset *data, int64_t j, int32_t k);
/* Number of row i among the rows of its CSV file, or of the data that it is a block of, from 0. */
ENHOPE_API int64_t enhope_dataset_source_row(const enhope_dataset *data, int64_t i);

/* Declares the samples to be images of rows * columns inputs, as settings that move images
 * require. */
ENHOPE_API enhope_status enhope_dataset_set_image(enhope_context *ctx, enhope_dataset *data, int64_t rows,
                                                  int64_t columns);
/* names (H), copied. */
ENHOPE_API enhope_status enhope_dataset_set_input_names(enhope_context *ctx, enhope_dataset *data,
                                                        const char *const *names);
ENHOPE_API const char *enhope_dataset_input_name(const enhope_dataset *data, int64_t j); /* NULL: not known */

/* Weights of the samples in training: weight (n), finite and not below 0, copied. Only their ratios
 * count. Weight 2 counts like two such samples; weight 0 leaves the sample out. NULL: all are
 * equal, the default. For methods with exemplars and data in memory. */
ENHOPE_API enhope_status enhope_dataset_set_weights(enhope_context *ctx, enhope_dataset *data, const double *weight);

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

/* The rows rows[0..n) in this order as a data set of its own, in memory, with the same classes and
 * names. */
ENHOPE_API enhope_status enhope_dataset_select(enhope_context *ctx, const enhope_dataset *data, const int64_t *rows,
                                               int64_t n, enhope_dataset **out);
/* A copy in which the values of inputs[0..count) of row i are those of row rows[i]; rows (n). */
ENHOPE_API enhope_status enhope_dataset_permute(enhope_context *ctx, const enhope_dataset *data, const int64_t *inputs,
                                                int64_t count, const int64_t *rows, enhope_dataset **out);
/* Folds of cross-validation, a function of the seed: fold (n) is 0..folds-1, or -1 for unlabeled
 * samples. Every class is divided evenly. group (n), 0..n-1: samples of a group get the same fold;
 * NULL: none. */
ENHOPE_API enhope_status enhope_dataset_folds(enhope_context *ctx, const enhope_dataset *data, int32_t folds,
                                              int64_t seed, const int64_t *group, int32_t *fold);
/* Appends the rows of valid, which has the same inputs, as the validation part of training,
 * instead of a fraction of data that training draws. Its classes are matched by name; one that
 * data has not is an error. Data in memory only. */
ENHOPE_API enhope_status enhope_dataset_add_validation(enhope_context *ctx, enhope_dataset *data,
                                                       const enhope_dataset *valid);
/* The last n rows of data are the validation part of training; 0: training draws one. */
ENHOPE_API enhope_status enhope_dataset_set_validation(enhope_context *ctx, enhope_dataset *data, int64_t n);

/* ---- frames: tables of named columns of different types ---- */

/* A frame becomes a data set of numbers. Categories (texts) become one input each, dates several,
 * missing numbers the median of their column with a further input that marks them; columns with one
 * value are left out. The model stores how, and encodes other frames in the same way. */
typedef struct enhope_frame enhope_frame;
ENHOPE_API enhope_status enhope_frame_create(enhope_context *ctx, int64_t n, enhope_frame **out); /* n rows */
ENHOPE_API void enhope_frame_free(enhope_frame *frame);
/* Each call adds a column; name and values (n) are copied. name NULL: columns have no names and are
 * found by their position; then all are NULL. Missing values are NaN, and texts NULL or "". */
ENHOPE_API enhope_status enhope_frame_add_numbers(enhope_context *ctx, enhope_frame *frame, const char *name,
                                                  const double *x);
ENHOPE_API enhope_status enhope_frame_add_booleans(enhope_context *ctx, enhope_frame *frame, const char *name,
                                                   const double *x); /* 0 and 1 */
ENHOPE_API enhope_status enhope_frame_add_dates(enhope_context *ctx, enhope_frame *frame, const char *name,
                                                const double *days); /* since 1970-01-01, with fractions */
ENHOPE_API enhope_status enhope_frame_add_texts(enhope_context *ctx, enhope_frame *frame, const char *name,
                                                const char *const *text); /* UTF-8 */
/* H columns of numbers: x (n, H); names (H) or NULL. */
ENHOPE_API enhope_status enhope_frame_add_matrix(enhope_context *ctx, enhope_frame *frame, int64_t H,
                                                 const char *const *names, const double *x);
/* The rows of a frame as a data set. model NULL: the encoding is fitted to the frame; else it is
 * that of the model: its columns are found by name, in any order, others are dropped from the
 * frame, and missing ones are an error. labels, c, class_names: as for enhope_dataset_view_f32. */
ENHOPE_API enhope_status enhope_dataset_from_frame(enhope_context *ctx, enhope_frame *frame, const enhope_model *model,
                                                   const int32_t *labels, int32_t c, const char *const *class_names,
                                                   enhope_dataset **out);

/* A column of the training data of a model. Texts belong to the model. */
typedef struct enhope_column_info {
    const char *name;            /* NULL: not known */
    const char *type;            /* "number", "boolean", "category", "date" */
    double fill;                 /* replaces missing numbers and dates; NaN: none */
    double offset;               /* subtracted from numbers and dates */
    int32_t categories;          /* number of categories */
    const char *const *category; /* (categories), most frequent first */
    int other;                   /* 1: an input for all other texts follows those of the categories */
    int missing;                 /* 1: the last input of the column marks missing values */
    int constant;                /* 1: the value was constant in training and is not used */
    int64_t first, inputs;       /* its inputs are first .. first + inputs */
} enhope_column_info;
ENHOPE_API int64_t enhope_model_column_count(const enhope_model *model);
/* Column j of 0..count-1; returns 0 outside. */
ENHOPE_API int enhope_model_column(const enhope_model *model, int64_t j, enhope_column_info *info);
ENHOPE_API const char *enhope_model_label_column(const enhope_model *model); /* its name; NULL: not known */

/* ---- readers: tables whose text arrives in chunks ---- */

/* CSV, or JSON lines: one object with the names of columns, or one array of fields per line; plain
 * or gzip. The columns are found and encoded as in the training of the model. */
typedef struct enhope_reader enhope_reader;
/* Of source: path (a name for messages), model, label, limit and table, which must outlive the
 * reader. */
ENHOPE_API enhope_status enhope_reader_create(enhope_context *ctx, const enhope_source *source, enhope_reader **out);
ENHOPE_API void enhope_reader_free(enhope_reader *reader);
/* Adds text. *out has rows whose lines are complete, without labels, valid until the next call;
 * enhope_dataset_source_row counts from the first row of the text. Call it with size 0 until *out
 * is NULL. A line that cannot be read is an error of the call after the rows before it were
 * returned; the message has its number. */
ENHOPE_API enhope_status enhope_reader_take(enhope_context *ctx, enhope_reader *reader, const char *text, size_t size,
                                            const enhope_dataset **out);
/* No more text follows. Call it until *out is NULL. Then the log has the number of skipped lines,
 * and a text without rows is an error. */
ENHOPE_API enhope_status enhope_reader_end(enhope_context *ctx, enhope_reader *reader, const enhope_dataset **out);

/* ---- data: shards ---- */

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
    int unlabeled;          /* 1: also trains without labels; the model then embeds but does not classify */
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

/* Writes the value as text into buffer, always terminated. */
ENHOPE_API enhope_status enhope_settings_get(enhope_context *ctx, const enhope_settings *settings, const char *name,
                                             char *buffer, size_t size);
/* 1: it has an effect beside the others; one that was set and has none is an error of training. */
ENHOPE_API int enhope_settings_applies(const enhope_settings *settings, const char *name);

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

/* ---- continued training ---- */

/* Continues training from the map, scaling and exemplars of a model, which is not changed. Classes
 * are matched by name: new ones get exemplars, those that the data lacks are kept. A model without
 * exemplars refers to the new training points. Methods without training steps cannot be updated. */
ENHOPE_API enhope_status enhope_model_update(enhope_context *ctx, const enhope_model *model, const enhope_dataset *data,
                                             const enhope_settings *settings, enhope_progress_fn progress, void *user,
                                             enhope_model **out);

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
/* The exemplars as a data set, with their classes and the columns of the model. */
ENHOPE_API enhope_status enhope_model_exemplar_data(enhope_context *ctx, const enhope_model *model,
                                                    enhope_dataset **out);
/* A new model with the same map and other references. to: "kmeans", z centres of the data's classes
 * (0: two a class), which become exemplars; or "training", all labeled samples. Classes are
 * matched by name. Errors and temperature depend on the references and are not taken over. */
ENHOPE_API enhope_status enhope_model_with_references(enhope_context *ctx, const enhope_model *model,
                                                      const enhope_dataset *data, const char *to, int64_t z,
                                                      int64_t seed, enhope_model **out);

/* The references: Y (references, h) embedded, labels (references); either may be NULL.
 * ENHOPE_ERROR_MODEL: the map is not finite at one of them. */
ENHOPE_API enhope_status enhope_model_references(enhope_context *ctx, const enhope_model *model, float *Y,
                                                 int32_t *labels);

typedef struct enhope_history {
    int64_t epoch;
    double seconds;     /* NaN: the model was read from a file */
    double loss;        /* mean over the epoch */
    double valid_error; /* NaN: no validation part */
} enhope_history;
ENHOPE_API const enhope_history *enhope_model_history(const enhope_model *model, int64_t *rows);

/* What a model was trained on. Texts belong to the model; NULL: not known. */
typedef struct enhope_training_data {
    int64_t rows;  /* labeled samples of the training and the validation part, of the last update */
    int64_t limit; /* as in enhope_source, as are the next two; 0: none */
    const char *split, *part;
    const char *label;       /* name of the label column */
    const char *label_found; /* how it was found: "the last column" */
} enhope_training_data;
/* Returns 0 if it is not known, as of models of earlier versions. */
ENHOPE_API int enhope_model_training_data(const enhope_model *model, enhope_training_data *out);

/* How many rows of data have trained the model, estimated from a sample of its training rows that
 * the model holds (256 hashes of values and class). */
typedef struct enhope_overlap {
    int64_t sampled, found; /* labeled rows of data that the sample can tell about; those that trained the model */
    double share;           /* found / sampled; NaN: not known, as of models and data that are streamed */
    double expected;        /* share for other rows of the same kind: of training rows that have an equal one */
    int trained;            /* 1: share is clearly above expected: data has training rows, and its error is too low */
} enhope_overlap;
ENHOPE_API enhope_status enhope_model_overlap(enhope_context *ctx, const enhope_model *model,
                                              const enhope_dataset *data, enhope_overlap *out);

/* ---- measures of a map: how well it keeps what is near in the inputs ---- */

/* Rows of data and their embedding, by a model or by another method. */
typedef struct enhope_map {
    const enhope_dataset *data; /* in memory */
    const float *Y;             /* (n, h) */
} enhope_map;
typedef struct enhope_map_measures {
    int32_t k;                          /* input: number of neighbors; 0: 15, or fewer for few rows */
    int64_t sample;                     /* input: compare at most so many rows; 0: 10,000 */
    int64_t seed;                       /* input: of the sample and of the random pairs */
    int64_t rows, references;           /* rows that were measured, and the rows each was compared with */
    double trustworthiness, continuity; /* 1: the k nearest in the map are near in the inputs, and the reverse */
    double preservation;                /* fraction of the k nearest in the inputs that are among those in the map */
    double triplets;                    /* fraction of random pairs of which the same one is nearer in both */
    double spearman;                    /* rank correlation of the distances of random pairs */
    double accuracy[3];                 /* of the label of the 1, 5 and 15 nearest in the map; NaN: no labels */
} enhope_map_measures;
/* Measures an embedding in h dimensions. Rows are compared with references, or with each other if
 * references is NULL. Distances of inputs are Euclidean, after the scaling of the model unless it
 * is NULL. If there are more rows, a seeded sample is measured: at most `sample` rows, and ten
 * times as many references. Classes of rows and references are matched by name. */
ENHOPE_API enhope_status enhope_map_measure(enhope_context *ctx, const enhope_model *model, int64_t h,
                                            const enhope_map *rows, const enhope_map *references,
                                            enhope_map_measures *out);

/* ---- int8: small models of the map hope, and fast predictors of them ---- */

/* 2: the weights of the model are stored in int8, and its predictors use int8 by default; 1: it has
 * the ranges that predictors with precision "int8" need, as all newly trained models of the map
 * hope have; 0: neither. */
ENHOPE_API int enhope_model_int8(const enhope_model *model);
/* A new model with weights stored in int8, about a quarter of the size. Ranges are measured on a
 * sample of data, which should be training samples, in memory. Errors are those of the given model;
 * compare both with enhope_model_evaluate. */
ENHOPE_API enhope_status enhope_model_quantize(enhope_context *ctx, const enhope_model *model,
                                               const enhope_dataset *data, enhope_model **out);

/* ---- compression: models of a few kilobytes ---- */

/* Limits of a compressed model; 0: no limit. At least one of the first three is set. */
typedef struct enhope_compress_options {
    int64_t size;       /* bytes of the file */
    double error;       /* fraction of errors in the validation part: the file becomes as small as it allows */
    int64_t operations; /* multiplications for a row: factors and hidden units are removed */
    int32_t bits;       /* of a weight, 4 to 8; 0: 5 */
} enhope_compress_options;
/* A model before and after compression. */
typedef struct enhope_compression {
    int64_t bytes_before, bytes;           /* of the file */
    int64_t errors_before, errors;         /* in the validation part, of `samples` */
    int64_t samples;                       /* of the validation part */
    int64_t weights_before, weights;       /* of C and W that are not 0 */
    int64_t operations_before, operations; /* multiplications for a row, by weights that are 0 included */
    int64_t inputs;                        /* that have a weight */
} enhope_compression;
/* Trains a model of the map hope with exemplars further, while it removes weights and rounds the
 * others to a few values: a new model, stored in a smaller form that every function reads. settings
 * as for enhope_model_update, with the solver adam and a validation part; n_epochs (60 unless set)
 * is the length of one compression, of which a limit of the error takes several. Data are training
 * samples. progress: non-zero stops; there is no model then (ENHOPE_STOPPED).
 * ENHOPE_ERROR_ARGUMENT: a limit cannot be met, and the message states what can. report may be
 * NULL. */
ENHOPE_API enhope_status enhope_model_compress(enhope_context *ctx, const enhope_model *model,
                                               const enhope_dataset *data, const enhope_settings *settings,
                                               const enhope_compress_options *options, enhope_progress_fn progress,
                                               void *user, enhope_compression *report, enhope_model **out);

/* ---- exports: a model as a graph or as source text that needs no enhope ---- */

/* Every field may be zero: the default. */
typedef struct enhope_export_options {
    const char *precision; /* "float32" or "int8"; default: as for enhope_predictor_options */
    const char *name;      /* prefix of the functions of C, an identifier; default "model" */
    int32_t k;             /* neighbors that vote; 0: the rule of the model */
    int encoded;           /* 1: the inputs are the H encoded ones; 0: the columns of the training data, which the
                              export encodes */
} enhope_export_options;
/* Writes the model to path, atomically. Its ending is the format: .onnx (ONNX, opset 17), .c (C99,
 * and its header .h beside it), .js (an ES module) or .json (docs/reference/export-format.md).
 * Exemplars are embedded; only their places are written. options NULL: all defaults. */
ENHOPE_API enhope_status enhope_model_export(enhope_context *ctx, const enhope_model *model, const char *path,
                                             const enhope_export_options *options);
/* The bytes of such a file; format: "onnx", "c", "h", "js" or "json". *bytes is set to their
 * number; to NULL: only that. capacity: bytes of `to`. */
ENHOPE_API enhope_status enhope_model_export_bytes(enhope_context *ctx, const enhope_model *model, const char *format,
                                                   const enhope_export_options *options, void *to, size_t capacity,
                                                   size_t *bytes);

/* ---- evaluation: calibration, rejection, metrics and costs ---- */

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

/* Metrics of one class. A ratio with divisor 0 is 0, an area that is not defined NaN. */
typedef struct enhope_class_metrics {
    int64_t n; /* samples of the class */
    double precision, recall, f1;
    double auc; /* area under the ROC curve of its probability, against all other classes */
} enhope_class_metrics;
typedef struct enhope_metrics {
    const float *cost;         /* input: (c), as for enhope_labels_by_cost: labels and errors are those of these costs;
                                  may be NULL */
    enhope_class_metrics *row; /* input: (c) to fill; may be NULL */
    double balanced_accuracy;  /* mean recall of the classes with samples */
    double precision, recall, f1; /* means over the classes with samples or predictions */
    double auc; /* of two classes: of the second; else the mean over all classes; NaN: not defined, or more than 2^25
                   probabilities */
} enhope_metrics;
/* Labels that consider costs: label (n) is the class k of largest proba (n, c) * cost_k. cost (c):
 * cost of a sample of the class with another label; 1, 1, ...: the most probable class. */
ENHOPE_API void enhope_labels_by_cost(const float *proba, int64_t n, int32_t c, const float *cost, int32_t *label);

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
