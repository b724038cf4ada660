/* enhope: exemplar-centred supervised embedding (en-HOPE, HOPE) in C.
 *
 * The whole public interface. Read it top to bottom: a context, data, settings, training, a model.
 *
 *   enhope_context *ctx = enhope_context_create();
 *   enhope_source src = {.path = "mnist", .part = "train"};
 *   enhope_dataset *data = NULL;
 *   enhope_model *model = NULL;
 *   if (enhope_dataset_read(ctx, &src, &data) || enhope_train(ctx, data, NULL, NULL, NULL, &model) ||
 *       enhope_model_save(ctx, model, "digits.safetensors"))
 *       fprintf(stderr, "%s\n", enhope_error(ctx));
 *
 * Rules that hold everywhere:
 *  - A function that can fail returns an enhope_status; 0 is success. The context then holds a sentence that
 *    says what was wrong and where (enhope_error). Outputs are untouched on failure.
 *  - The library never prints, never exits and never aborts on input.
 *  - What a function named _create, _read, _load or _train gives you is yours: give it back to the matching _free.
 *    Every _free takes NULL.
 *  - A context serves one thread at a time; different contexts are independent.
 *  - Matrices are row-major, one sample a row. Sizes are 64-bit.
 *
 * Dimension letters, the same in all documentation: n samples, H inputs, F factors, m hidden units, h outputs,
 * O order, z exemplars, c classes.
 */
#ifndef ENHOPE_H
#define ENHOPE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define ENHOPE_VERSION_MAJOR 0
#define ENHOPE_VERSION_MINOR 1
#define ENHOPE_VERSION_PATCH 0

#if defined(__GNUC__)
#define ENHOPE_API __attribute__((visibility("default")))
#else
#define ENHOPE_API
#endif

/* ---- status ------------------------------------------------------------------------------------------------ */

/* Numbers are stable and never reused; gaps leave room for kin. */
typedef enum enhope_status {
    ENHOPE_OK = 0,
    ENHOPE_STOPPED = 1,         /* not an error: the caller's progress function asked to stop */
    ENHOPE_ERROR_ARGUMENT = 10, /* a setting or an argument is out of its bounds */
    ENHOPE_ERROR_DATA = 20,     /* the data is malformed or does not fit (a row, a label, a width) */
    ENHOPE_ERROR_FORMAT = 21,   /* a file is not what it should be (magic, truncation, lengths) */
    ENHOPE_ERROR_MODEL = 30,    /* a model file is corrupt, hostile or of another kind */
    ENHOPE_ERROR_IO = 40,       /* the system could not open, read, write or rename */
    ENHOPE_ERROR_MEMORY = 50,   /* no memory */
    ENHOPE_ERROR_COMPUTE = 60   /* the compute backend is missing or failed */
} enhope_status;

/* A short name for a status, e.g. "data error". Never NULL. */
ENHOPE_API const char *enhope_status_text(enhope_status status);

/* "0.1.0" */
ENHOPE_API const char *enhope_version(void);

/* ---- context ----------------------------------------------------------------------------------------------- */

typedef struct enhope_context enhope_context;

/* NULL only when there is no memory. */
ENHOPE_API enhope_context *enhope_context_create(void);
ENHOPE_API void enhope_context_free(enhope_context *ctx);

/* The sentence of the last failure in this context; "" when there was none. Valid until the next call. */
ENHOPE_API const char *enhope_error(const enhope_context *ctx);

typedef enum enhope_log_level {
    ENHOPE_LOG_INFO = 0,   /* what is being done */
    ENHOPE_LOG_WARNING = 1 /* the result may not be what was wanted */
} enhope_log_level;
/* Receives one line (no newline) for each event that is not an error. NULL: no log, the default. */
typedef void (*enhope_log_fn)(enhope_log_level level, const char *line, void *user);
ENHOPE_API void enhope_context_set_log(enhope_context *ctx, enhope_log_fn fn, void *user);

/* Number of threads; 0 (the default) means all cores, or OMP_NUM_THREADS where that is set, and one where training is too
 * small for more. */
ENHOPE_API enhope_status enhope_context_set_threads(enhope_context *ctx, int threads);

/* Bytes of data that are read into memory at most, 1000 or more; 0 (the default): half of the machine's. What exceeds it
 * stays in its files and is streamed, where it can be: a folder of shards (enhope_convert), plain IDX and NPY. */
ENHOPE_API enhope_status enhope_context_set_memory(enhope_context *ctx, int64_t bytes);

/* Where to compute: "cpu" (the default), "cuda" (an NVIDIA GPU, where the plug-in libenhope_cuda is installed), "cuda:1"
 * (the second GPU; "cuda" is "cuda:0"), "auto" (cuda where it can be opened, else cpu, and a log line says why), or "ref"
 * (plain loops in double: slow, the oracle). Whether the device can be used is told by the first call that computes. */
ENHOPE_API enhope_status enhope_context_set_device(enhope_context *ctx, const char *name);

/* How exactly a GPU takes the inputs of matrix products: "fp32" (24 bits, like float32 itself; the default), "tf32" (16
 * bits, more than TF32's 11) or "bf16" (8 bits); less is faster. Sums are float32 always; the cpu computes in float32
 * whatever is asked. */
ENHOPE_API enhope_status enhope_context_set_precision(enhope_context *ctx, const char *name);

/* Who trains together: "self" (this process alone, the default), "mpi" (all that mpirun, or whatever starts MPI programs, has
 * started; the plug-in libenhope_mpi is needed), "auto" (mpi where several were started, else self), or "apart" (this process
 * alone, but cores and GPUs are shared out with the others that were started on its machine). Where ranks train
 * together, each of them makes the same calls with the same data and settings, they share the work, and all get the same
 * model, which on the cpu is the one that a single process would get, to the byte. Time limits and the answers of progress
 * functions are rank 0's. Device "cuda" is then another GPU for each rank of a machine. A model is evaluated, and referred
 * to k-means centres, by all of them as well. */
ENHOPE_API enhope_status enhope_context_set_ranks(enhope_context *ctx, const char *name);
ENHOPE_API int enhope_context_rank(const enhope_context *ctx);  /* this process, from 0 */
ENHOPE_API int enhope_context_ranks(const enhope_context *ctx); /* how many they are */
ENHOPE_API int enhope_context_crowd(const enhope_context *ctx); /* how many of them are on this machine */
/* What rank 0 has; all ranks call it, within a progress function too. */
ENHOPE_API int enhope_context_agree(enhope_context *ctx, int value);
/* For work that one rank hands out to others: a few bytes (a hundred, say) are told to another rank, which may be busy, and
 * heard there when it asks, in their order. *from is who has told them; -1: there is nothing to hear now, and words stay as
 * they were. Both sides name the same number of bytes. */
ENHOPE_API enhope_status enhope_context_tell(enhope_context *ctx, int to, const void *words, int bytes);
ENHOPE_API enhope_status enhope_context_hear(enhope_context *ctx, void *words, int bytes, int *from);
/* After a failure: whether all ranks call this within so many seconds, as they do where all have failed. Where they do not,
 * others may wait for this one for ever, and abort() ends them all, with the exit code; it does nothing to a process alone. */
ENHOPE_API int enhope_context_meet(enhope_context *ctx, double seconds);
ENHOPE_API void enhope_context_abort(enhope_context *ctx, int code);

/* What this machine has: the cpu is device 0, the GPUs follow. Where no GPU can be used, one entry "cuda" says why. */
typedef struct enhope_device_info {
    char name[16];  /* as enhope_context_set_device takes it: "cpu", "cuda:0" */
    int available;  /* 1: it can be used */
    char text[256]; /* what it is, e.g. "2 threads, x86-64-v4"; or why it is not available */
} enhope_device_info;
/* Looks anew at each call. */
ENHOPE_API int enhope_device_count(enhope_context *ctx);
ENHOPE_API enhope_status enhope_device_get(enhope_context *ctx, int i, enhope_device_info *out); /* 0..count-1 */

/* Process-wide memory functions, to be set before anything is created; NULL, NULL restores malloc and free. */
typedef void *(*enhope_malloc_fn)(size_t bytes);
typedef void (*enhope_free_fn)(void *block);
ENHOPE_API void enhope_set_allocator(enhope_malloc_fn alloc, enhope_free_fn release);

/* ---- data -------------------------------------------------------------------------------------------------- */

typedef struct enhope_dataset enhope_dataset;

/* Where data comes from. Zero or NULL means the default of every field but path. */
typedef struct enhope_source {
    const char *path;      /* a file, a folder of IDX files or of shards, "X,y" (two files), "-" (CSV on stdin),
                              "synthetic:digits,n=6000,seed=1" (or strokes, for any n),
                              "synthetic:blobs,n=600,classes=3,inputs=5,seed=1" */
    const char *part;      /* "train" or "test": the half of a folder, of an .npz or of a split; NULL: train, or all
                              where there are no parts */
    const char *label;     /* CSV: label column by name or 1-based index; "none": there is none; NULL: found by name */
    const char *split;     /* "N@SEED": shuffle, the first N are the train part, the rest the test part */
    int64_t inputs;        /* CSV: inputs that are expected (a model's); a table of just so many columns has no label */
    const char *variables; /* MAT, NPZ: "X,y" names of the variables; NULL: found by shape and name */
    int64_t limit;         /* the first so many samples of the part; 0: all */
} enhope_source;

/* Reads a data set. Everything is validated here: shapes, labels, finite values. */
ENHOPE_API enhope_status enhope_dataset_read(enhope_context *ctx, const enhope_source *source, enhope_dataset **out);

/* ---- data in shards ---- */

typedef struct enhope_conversion {
    int64_t rows;        /* that are in shards, or checked */
    int64_t resumed;     /* of these, from an earlier conversion that was stopped */
    double share;        /* of the source that is done, 0 to 1; NaN: not known */
    double seconds;      /* since it began */
    double seconds_left; /* an estimate; NaN: not known */
} enhope_conversion;
/* Called every few megabytes. Non-zero stops. */
typedef int (*enhope_conversion_fn)(const enhope_conversion *at, void *user);

/* Writes the data as a folder of shards, which enhope_dataset_read takes by the folder's name: NPY files and shards.json,
 * with checksums. Memory does not grow with the data, but for sources that have to be read as a whole (MAT, NPZ, NPY in
 * column order, a split). A shard has so many rows, or about so many bytes (0 and 0: 256 MB). Where it is
 * stopped, by progress (ENHOPE_STOPPED) or otherwise, the same call goes on after the last shard that is complete; where all
 * is there already, nothing is done. */
ENHOPE_API enhope_status enhope_convert(enhope_context *ctx, const enhope_source *source, const char *folder,
                                        int64_t shard_rows, int64_t shard_bytes, enhope_conversion_fn progress,
                                        void *user);
/* Reads every file of a folder of shards and compares sizes and checksums; *files: how many. progress may be NULL. */
ENHOPE_API enhope_status enhope_shards_check(enhope_context *ctx, const char *folder, enhope_conversion_fn progress,
                                             void *user, int64_t *files);

typedef enum enhope_kind { ENHOPE_U8 = 0, ENHOPE_F32 = 1, ENHOPE_CSR = 2 } enhope_kind;

/* A view of the caller's memory: x is not copied and must outlive the data set. labels (n) hold class numbers
 * 0..c-1 (c is their maximum + 1; -1: unlabelled) and may be NULL (unlabelled); class_names (c) may be NULL ("0", "1", ...). Labels and names
 * are copied. */
ENHOPE_API enhope_status enhope_dataset_view_f32(enhope_context *ctx, int64_t n, int64_t H, const float *x,
                                                 const int32_t *labels, int32_t c, const char *const *class_names,
                                                 enhope_dataset **out);
ENHOPE_API enhope_status enhope_dataset_view_u8(enhope_context *ctx, int64_t n, int64_t H, const uint8_t *x,
                                                const int32_t *labels, int32_t c, const char *const *class_names,
                                                enhope_dataset **out);
/* row_start (n+1), column and value (row_start[n]); columns ascend within a row. */
ENHOPE_API enhope_status enhope_dataset_view_csr(enhope_context *ctx, int64_t n, int64_t H, const int64_t *row_start,
                                                 const int32_t *column, const float *value, const int32_t *labels,
                                                 int32_t c, const char *const *class_names, enhope_dataset **out);

ENHOPE_API void enhope_dataset_free(enhope_dataset *data);

/* Says of a data set that its samples are images, rows * columns inputs each, as training that moves images asks. */
ENHOPE_API enhope_status enhope_dataset_set_image(enhope_context *ctx, enhope_dataset *data, int64_t rows,
                                                  int64_t columns);
/* Names its inputs: names (H), copied. */
ENHOPE_API enhope_status enhope_dataset_set_input_names(enhope_context *ctx, enhope_dataset *data,
                                                        const char *const *names);

typedef struct enhope_dataset_info {
    int64_t n;          /* samples */
    int64_t inputs;     /* H */
    int32_t classes;    /* c; 0: unlabelled */
    enhope_kind kind;   /* how the values are held in memory */
    int64_t stored;     /* values held (n * H unless sparse) */
    int64_t bytes;      /* memory of the values */
    int64_t image_rows; /* 0: not known to be images */
    int64_t image_columns;
    double minimum, maximum, mean; /* NaN where streamed: ask for blocks */
    int streamed;                  /* 1: the values stay in files, and labels with them */
} enhope_dataset_info;
/* One pass over the data, unless it is streamed. */
ENHOPE_API void enhope_dataset_get_info(const enhope_dataset *data, enhope_dataset_info *info);
/* (n) class numbers; NULL: unlabelled, or streamed */
ENHOPE_API const int32_t *enhope_dataset_labels(const enhope_dataset *data);
ENHOPE_API const char *enhope_dataset_class_name(const enhope_dataset *data, int32_t k); /* NULL outside 0..c-1 */
ENHOPE_API const char *enhope_dataset_input_name(const enhope_dataset *data, int64_t j); /* NULL: none known */
/* The values where they lie, valid as long as the data set; NULL but for those of its kind, and where streamed. */
typedef struct enhope_values {
    const uint8_t *u8;        /* (n, H) */
    const float *f32;         /* (n, H) */
    const int64_t *row_start; /* CSR, as enhope_dataset_view_csr takes it */
    const int32_t *column;
    const float *value;
} enhope_values;
ENHOPE_API void enhope_dataset_get_values(const enhope_dataset *data, enhope_values *values);
/* The rows first .. first + count as a data set of its own, in memory, with the same classes and names: the way to walk
 * over data that is streamed. Values that are not finite are found here. */
ENHOPE_API enhope_status enhope_dataset_block(enhope_context *ctx, const enhope_dataset *data, int64_t first,
                                              int64_t count, enhope_dataset **out);
/* Row i as H floats, unscaled. */
ENHOPE_API enhope_status enhope_dataset_row(enhope_context *ctx, const enhope_dataset *data, int64_t i, float *x);

/* ---- methods, settings and recipes: the three tables -------------------------------------------------------- */

/* What a run with default settings does. */
typedef struct enhope_method_info {
    const char *name;       /* "en-hope" */
    const char *summary;    /* one line */
    const char *map;        /* "hope(F, m, O)" */
    const char *similarity; /* "student", "gaussian", "-" */
    const char *normaliser; /* "joint", "row", "-" */
    const char *target;     /* "same class", "NCA", "-" */
    const char *compared;   /* "z exemplars", "the batch itself", ... */
    const char *solver;     /* "adam", "eigen", ..., "-" */
    const char *published;  /* normaliser and solver of the publication where they differ, "joint, cg"; else "-" */
} enhope_method_info;
ENHOPE_API int enhope_method_count(void);
ENHOPE_API const enhope_method_info *enhope_method_get(int i); /* NULL outside 0..count-1 */

typedef enum enhope_setting_type {
    ENHOPE_SETTING_INTEGER = 0,
    ENHOPE_SETTING_REAL = 1,
    ENHOPE_SETTING_CHOICE = 2,
    ENHOPE_SETTING_TEXT = 3 /* of the form that its help tells */
} enhope_setting_type;

typedef struct enhope_setting_info {
    const char *name; /* "factors" */
    enhope_setting_type type;
    const char *initial;     /* the default as text */
    double minimum, maximum; /* inclusive bounds of numbers */
    const char *choices;     /* "joint|row" for a choice, "N-N-..." for the form of a text, else NULL */
    const char *applies;     /* what it belongs to: "all", "hope map", "exemplars", "cg", ... */
    const char *help;        /* one line */
} enhope_setting_info;
ENHOPE_API int enhope_setting_count(void);
ENHOPE_API const enhope_setting_info *enhope_setting_get(int i); /* NULL outside 0..count-1 */

/* Settings that belong together, under a name. */
typedef struct enhope_recipe_info {
    const char *name;     /* "paper" */
    const char *summary;  /* one line */
    const char *settings; /* "order 2 factors 800 ...": what differs from the defaults, by name and value */
} enhope_recipe_info;
ENHOPE_API int enhope_recipe_count(void);
ENHOPE_API const enhope_recipe_info *enhope_recipe_get(int i); /* NULL outside 0..count-1; 0 is the default */

typedef struct enhope_settings enhope_settings;
/* All defaults: the first recipe. NULL only when there is no memory. */
ENHOPE_API enhope_settings *enhope_settings_create(void);
ENHOPE_API void enhope_settings_free(enhope_settings *settings);
/* Values are text, as on the command line: set(ctx, s, "factors", "200"). */
ENHOPE_API enhope_status enhope_settings_set(enhope_context *ctx, enhope_settings *settings, const char *name,
                                             const char *value);
/* All settings become the recipe's, whatever was set before; what is set after it changes it. The same as setting
 * "recipe", under which the model keeps the name. */
ENHOPE_API enhope_status enhope_settings_recipe(enhope_context *ctx, enhope_settings *settings, const char *name);
/* Writes the value as text into buffer (always terminated). */
ENHOPE_API enhope_status enhope_settings_get(enhope_context *ctx, const enhope_settings *settings, const char *name,
                                             char *buffer, size_t size);

/* ---- training ---------------------------------------------------------------------------------------------- */

typedef struct enhope_model enhope_model;

typedef struct enhope_progress {
    int64_t epoch, epochs;  /* epochs done, epochs planned */
    int64_t batch, batches; /* batches done in this epoch, batches of an epoch */
    double loss;         /* mean over the batches of this epoch whose loss is known: on a GPU that is every 64th batch
                               and the epoch's end; before any is, that of the epoch before (NaN in the first) */
    double valid_error;  /* fraction of the validation part, after the last whole epoch; NaN before or without one */
    double best_error;   /* the lowest so far; NaN before or without a validation part */
    double seconds;      /* since training began */
    double seconds_left; /* an estimate; 0 when done */
    int epoch_done;      /* 1 when this call closes an epoch */
} enhope_progress;

/* Called after each batch, and between the line searches of one that takes long. Non-zero stops: the best model so far is kept. */
typedef int (*enhope_progress_fn)(const enhope_progress *progress, void *user);

/* Trains and gives the model. settings NULL: all defaults. progress may be NULL.
 * Returns ENHOPE_STOPPED, with a usable model, when progress asked to stop. */
ENHOPE_API enhope_status enhope_train(enhope_context *ctx, const enhope_dataset *data, const enhope_settings *settings,
                                      enhope_progress_fn progress, void *user, enhope_model **out);

/* Trains on from a model, which stays as it is: its map, scaling and exemplars are the start, and the settings that give
 * the map its shape are its own. Classes are matched by name; those that the model does not know follow its own and get
 * exemplars, and it keeps those that the data does not show. A model that compares with training points compares with
 * those of the new data. The history goes on, and with it the random numbers of epochs: what was drawn is not drawn again. Methods that are solved for at once, and knn, cannot go on. */
ENHOPE_API enhope_status enhope_model_update(enhope_context *ctx, const enhope_model *model, const enhope_dataset *data,
                                             const enhope_settings *settings, enhope_progress_fn progress, void *user,
                                             enhope_model **out);

/* The same in steps, for callers with a loop of their own. ctx and data must outlive the trainer. */
typedef struct enhope_trainer enhope_trainer;
ENHOPE_API enhope_status enhope_trainer_create(enhope_context *ctx, const enhope_dataset *data,
                                               const enhope_settings *settings, enhope_trainer **out);
/* One that goes on from a model, as enhope_model_update does (NULL: it begins anew); the model must outlive it as well. */
ENHOPE_API enhope_status enhope_trainer_create_from(enhope_context *ctx, const enhope_model *model,
                                                    const enhope_dataset *data, const enhope_settings *settings,
                                                    enhope_trainer **out);
/* One batch. *done becomes 1 when training is over (epochs, time, or no improvement); progress may be NULL. */
ENHOPE_API enhope_status enhope_trainer_step(enhope_trainer *trainer, enhope_progress *progress, int *done);
/* All batches that are left; progress as for enhope_train, and it may write a checkpoint. ENHOPE_STOPPED: it asked to stop. */
ENHOPE_API enhope_status enhope_trainer_run(enhope_trainer *trainer, enhope_progress_fn progress, void *user);
/* Writes all that the rest of training depends on to a file, as a model is written: whole or not at all. May be called
 * between steps and from a progress function, which, where a batch is under way, keeps the state before that batch. path
 * NULL: only tells whether there is anything to keep; methods that are not learned in steps have nothing. Where ranks train
 * together all of them call it, and rank 0 writes. */
ENHOPE_API enhope_status enhope_trainer_checkpoint(enhope_trainer *trainer, const char *path);
/* Takes a trainer that was made of the same data, settings and model to where the checkpoint was written. What follows is what
 * would have followed there, to the bit, with any number of threads and ranks; another device computes as well, in its own rounding.
 * ENHOPE_ERROR_ARGUMENT or _DATA: the settings (all but time), the model or the data are others, and the sentence says which;
 * _MODEL or _IO: the file is damaged, or no checkpoint. The trainer is then as it was. */
ENHOPE_API enhope_status enhope_trainer_resume(enhope_trainer *trainer, const char *path);
/* The best state so far as a model of its own; may be called at any time. Its errors and its temperature are measured for
 * it: a pass over the validation part and over 10,000 training samples at most. */
ENHOPE_API enhope_status enhope_trainer_model(enhope_trainer *trainer, enhope_model **out);
/* The state after the last step as a model of its own, to watch training: nothing is measured for it. */
ENHOPE_API enhope_status enhope_trainer_present(enhope_trainer *trainer, enhope_model **out);
ENHOPE_API void enhope_trainer_free(enhope_trainer *trainer);

/* ---- models ------------------------------------------------------------------------------------------------ */

/* Writes to a temporary file beside path, syncs, renames: path holds the old model or the new one, never half. */
ENHOPE_API enhope_status enhope_model_save(enhope_context *ctx, const enhope_model *model, const char *path);
ENHOPE_API enhope_status enhope_model_load(enhope_context *ctx, const char *path, enhope_model **out);
/* The same bytes in memory. `to` has room for so many; *bytes becomes their number. to NULL: only that. */
ENHOPE_API enhope_status enhope_model_save_bytes(enhope_context *ctx, const enhope_model *model, void *to, size_t room,
                                                 size_t *bytes);
ENHOPE_API enhope_status enhope_model_load_bytes(enhope_context *ctx, const void *bytes, size_t size,
                                                 enhope_model **out);
ENHOPE_API void enhope_model_free(enhope_model *model);

typedef struct enhope_model_info {
    const char *method; /* valid as long as the model */
    const char *map;    /* "hope", "linear", "identity" */
    int64_t inputs;     /* H */
    int64_t outputs;    /* h */
    int64_t factors;    /* F; 0 unless the map has them */
    int64_t hidden;     /* m */
    const char *order;  /* O, "3", or, where factors have different ones, "2+3"; "0" likewise */
    int64_t parameters; /* numbers in the map */
    int64_t references; /* exemplars, or embedded training points, that new points are compared with */
    int references_are_exemplars;
    int32_t classes;    /* c */
    int32_t neighbours; /* k used by default */
    int64_t epochs;     /* rows of the history */
    int64_t earlier;    /* of these, the first so many are of models that this one went on from */
    int64_t
        best; /* row of the history that was kept, of the last training: lowest validation error, of equal ones lowest loss; without a
                           validation part the last; -1: none */
    /* A model that went on without a validation part of its own has these two from the model before. */
    double temperature; /* of the probabilities, fitted on the validation part; 1: as they are */
    /* Errors of the kept state in the validation part, and in a sample of the training part; n is 0 where not known. */
    int64_t valid_n, valid_errors;
    int64_t train_n, train_errors;
    int64_t image_rows, image_columns; /* 0: not known to be images */
} enhope_model_info;
ENHOPE_API void enhope_model_get_info(const enhope_model *model, enhope_model_info *info);
ENHOPE_API const char *enhope_model_class_name(const enhope_model *model, int32_t k);     /* NULL outside 0..c-1 */
ENHOPE_API const char *enhope_model_input_name(const enhope_model *model, int64_t j);     /* NULL: none known */
ENHOPE_API const char *enhope_model_setting(const enhope_model *model, const char *name); /* NULL: unknown */
/* Texts that a caller keeps with the model, and in its file, under names of the caller's; nothing here reads them. Copied;
 * a name that is there gets the new text. A model that goes on from this one begins without. */
ENHOPE_API enhope_status enhope_model_set_note(enhope_context *ctx, enhope_model *model, const char *name,
                                               const char *text);
ENHOPE_API const char *enhope_model_note(const enhope_model *model, const char *name); /* NULL: none */

typedef struct enhope_history {
    int64_t epoch;
    double seconds, loss, valid_error; /* valid_error NaN: no validation part; seconds NaN: read from a file */
} enhope_history;
ENHOPE_API const enhope_history *enhope_model_history(const enhope_model *model, int64_t *rows);

/* Embeds the references: Y (references, h), labels (references); either may be NULL. */
ENHOPE_API enhope_status enhope_model_references(enhope_context *ctx, const enhope_model *model, float *Y,
                                                 int32_t *labels);
/* X (references, H): the exemplars of a model that has them, in the units of the data. */
ENHOPE_API enhope_status enhope_model_exemplars(enhope_context *ctx, const enhope_model *model, float *X);

/* Y (n, h). The data's own scaling is not asked: the model scales as it learned. */
ENHOPE_API enhope_status enhope_model_embed(enhope_context *ctx, const enhope_model *model, const enhope_dataset *data,
                                            float *Y);

typedef struct enhope_prediction {
    int32_t *label;  /* (n) class numbers of the model */
    float *proba;    /* (n, c) of each class: its share in the similarity to all exemplars, to the power of one over the
                        model's temperature, over the sum of these; where there are none, its share in the vote of k points */
    int64_t *winner; /* (n) the nearest reference */
    float *distance; /* (n) Euclidean distance to it in the embedding */
    float *margin;   /* (n) distance to the nearest exemplar of any other class less that to the nearest of the label's;
                        for models with exemplars alone */
    float *Y;        /* (n, h) */
    int64_t *neighbour;        /* (n, k) the k nearest references, nearest first */
    float *neighbour_distance; /* (n, k) their Euclidean distances in the embedding */
} enhope_prediction;
/* Fills the arrays that are not NULL. k: neighbours that vote; 0: the model's own. */
ENHOPE_API enhope_status enhope_model_predict(enhope_context *ctx, const enhope_model *model,
                                              const enhope_dataset *data, int32_t k, const enhope_prediction *out);

enum { ENHOPE_BINS = 15 };
typedef struct enhope_bin {
    int64_t n;                   /* samples whose label has a probability from i/15 to (i + 1)/15 */
    double confidence, accuracy; /* the mean of that probability; the part of the samples that is classified rightly */
} enhope_bin;
typedef struct enhope_calibration {
    double nll; /* mean of - log(probability of the true class), where one below 1.2e-7 is taken for that */
    double ece; /* expected calibration error: mean over the samples of |confidence - accuracy| of their bin */
    enhope_bin bin[ENHOPE_BINS];
} enhope_calibration;

/* By what a model may know that it is not sure: the probability of its label, the margin, the distance. */
typedef enum enhope_sureness {
    ENHOPE_BY_PROBABILITY = 0,
    ENHOPE_BY_MARGIN = 1,
    ENHOPE_BY_DISTANCE = 2
} enhope_sureness;
typedef struct enhope_coverage {
    double share;      /* of the samples, the surest, are to be kept, 0 to 1; read as input */
    int64_t n, errors; /* kept: at least the share, and all that are as sure as the last of it; errors among them */
    double threshold;  /* kept is what has this probability or margin or more; this distance or less */
} enhope_coverage;
typedef struct enhope_rejection {
    enhope_sureness by;   /* read as input, like rows and what row points to */
    enhope_coverage *row; /* (rows) the caller's */
    int rows;
    double area; /* under the curve of error against coverage: the mean error over all coverages */
} enhope_rejection;

typedef struct enhope_evaluation {
    int64_t n, errors;  /* labelled samples, and those among them that are misclassified */
    double seconds;     /* embedding and classifying all n, once model and data are where they are computed with */
    int64_t *confusion; /* (c, c), row = true class, column = predicted; the caller's, may be NULL */
    int64_t unknown;    /* samples of a class that the model never saw: counted as errors, in no row of confusion */
    enhope_calibration *calibration; /* the caller's, may be NULL */
    enhope_rejection *rejection;     /* the caller's, may be NULL */
} enhope_evaluation;
/* Classes are matched by name. The pointers are read as input, the other fields are set. */
ENHOPE_API enhope_status enhope_model_evaluate(enhope_context *ctx, const enhope_model *model,
                                               const enhope_dataset *data, int32_t k, enhope_evaluation *out);

/* A model of the same map that compares with other references. to: "kmeans", z centres of the data's classes (0: two a
 * class) as exemplars; or "training", every labelled sample of the data, embedded. Classes are matched by name. What was
 * measured with the old references, the temperature too, is not known of the new model. */
ENHOPE_API enhope_status enhope_model_refer(enhope_context *ctx, const enhope_model *model, const enhope_dataset *data,
                                            const char *to, int64_t z, int64_t seed, enhope_model **out);

#ifdef __cplusplus
}
#endif
#endif /* ENHOPE_H */
