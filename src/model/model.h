/* A trained model: parameters of a map, references, scaling, class names, settings and history. */
#ifndef EH_MODEL_H
#define EH_MODEL_H

#include "base/base.h"
#include "base/json.h"
#include "data/frame/frame.h"
#include "data/sketch.h"
#include "map/map.h"

typedef struct eh_pair_text {
    char *name, *value;
} eh_pair_text;

typedef struct eh_texts {
    eh_pair_text *pair; /* (count) */
    int32_t count;
} eh_texts;

/* What was measured at the kept state: errors in the validation part and among training samples (n
 * 0: not known), and the temperature of the probabilities (1 unless fitted). */
typedef struct eh_model_errors {
    int64_t valid, valid_n, train, train_n;
    double temperature;
} eh_model_errors;

/* The int8 form of a map, or the ranges for it (quantized.h). */
typedef struct eh_quantized eh_quantized;

/* What is known about the inputs. */
typedef struct eh_model_input {
    char **name;                       /* (H) or NULL */
    eh_encoding *encoding;             /* of the columns that they are made of; NULL: of H plain numbers */
    int64_t image_rows, image_columns; /* 0: no images */
} eh_model_input;

/* What a model was trained on. NULL and 0: not known. */
typedef struct eh_provenance {
    int64_t rows;  /* labeled samples of the training and the validation part; of the last data of updates */
    int64_t limit; /* as in enhope_source, as are split and part */
    char *split, *part;
    char *label, *label_found; /* name of the label column; how it was found */
    eh_sketch sketch;          /* of all data; empty: not known, as of streamed data */
} eh_provenance;

struct enhope_model {
    char *method;      /* "en-hope" */
    const eh_map *map; /* its name is in the file */
    eh_map_shape shape;
    bool gaussian;      /* similarity for probabilities; false: student ... */
    int dof;            /* ... with these degrees of freedom */
    int32_t k;          /* neighbors that vote, if votes decide */
    bool votes;         /* the class is a vote of neighbors; false: the most probable one (exemplars only) */
    float *theta;       /* (eh_map_parameters) */
    float *shift, *mul; /* (H) scaling */
    int64_t r;          /* references */
    bool exemplars;     /* true: reference is (r, H) in scaled input space; false: (r, h) in the embedding */
    float *reference;
    int32_t *reference_label; /* (r) */
    int32_t c;
    char **class_name; /* (c) */
    eh_model_input input;
    eh_texts setting; /* every setting as text */
    enhope_history *history;
    int64_t epochs;
    int64_t earlier; /* rows that come from models that this model continues, at the start */
    eh_texts note;   /* notes of callers of the library */
    eh_model_errors errors;
    eh_quantized *int8;        /* NULL: the map is not hope, or its ranges are not known */
    eh_provenance *provenance; /* NULL: not known */
};

/* Creates an empty model with every array allocated for these sizes. Numbers are zero and names
 * NULL; the input has no names. Texts are set with eh_strdup. enhope_model_free also frees an
 * incomplete model. */
enhope_status eh_model_create(enhope_context *ctx, const char *method, const eh_map *map, const eh_map_shape *shape,
                              int64_t r, bool exemplars, int32_t c, int32_t settings, int64_t epochs,
                              enhope_model **out);
/* False if the model was trained without labels: it has a single class, whose name is empty. */
bool eh_model_classifies(const enhope_model *model);
/* Copies names and encoding of H inputs. On failure, `to` keeps what was copied so far. */
enhope_status eh_model_copy_input(enhope_context *ctx, const eh_model_input *from, int64_t H, eh_model_input *to);
/* Copies `count` names. On failure, `to` keeps the names copied so far. */
enhope_status eh_model_copy_names(enhope_context *ctx, char *const *from, int64_t count, char **to);
/* A copy with memory for r other references. Their rule (k, votes), errors and temperature are not
 * copied (copy.c). */
enhope_status eh_model_copy(enhope_context *ctx, const enhope_model *from, int64_t r, bool exemplars,
                            enhope_model **out);
enhope_status eh_model_copy_all(enhope_context *ctx, const enhope_model *from, enhope_model **out);
/* Columns of reference: H for exemplars, h for embedded points. */
int64_t eh_model_reference_width(const enhope_model *model);
/* A hash of parameters, references with their classes, and scaling. */
uint64_t eh_model_hash(const enhope_model *model);

/* Returns the data as input of the model. Fails if its inputs are not the model's (match.c). */
enhope_status eh_model_inputs(enhope_context *ctx, const enhope_model *model, const enhope_dataset *data, eh_matrix *x);
/* The model's number for class k of the data; -1: none. Models from files have names in UTF-8
 * (match.c). */
enhope_status eh_model_match_class(enhope_context *ctx, const enhope_model *model, const enhope_dataset *data,
                                   int32_t k, int32_t *out);

/* ---- provenance.c ---- */

void eh_provenance_free(eh_provenance *provenance);
/* The provenance of a model that was trained on data; from: the model that training continued, or
 * NULL. */
enhope_status eh_provenance_create(enhope_context *ctx, const enhope_dataset *data, const enhope_model *from,
                                   eh_provenance **out);
enhope_status eh_provenance_copy(enhope_context *ctx, const eh_provenance *from, eh_provenance **out);
/* JSON text, and back. */
enhope_status eh_provenance_print(enhope_context *ctx, const eh_provenance *provenance, char **out);
enhope_status eh_provenance_parse(enhope_context *ctx, const char *text, eh_provenance **out);

/* Names that model_save.c and model_load.c share (docs/reference/model-format.md). */
#define EH_MODEL_FORMAT         "enhope"
#define EH_MODEL_FORMAT_VERSION "1"
#define EH_MODEL_FORMAT_ENCODED "2"  /* inputs are made of columns; earlier versions would use the columns themselves */
#define EH_MODEL_FORMAT_INT8    "3"  /* int8 tensors instead of C and W; otherwise as 1 or 2 */
#define EH_MODEL_FORMAT_CODED   "4"  /* as 3, with tensors in smaller forms (coded/coded.h) and without b */
#define EH_MODEL_COLDEST        1e-6 /* temperatures that a file may have */
#define EH_MODEL_HOTTEST        1e6
enum {
    EH_MODEL_MAX_MAP_TENSORS = 16,
    EH_MODEL_MAX_ORDER = 1000,
    EH_MODEL_MAX_EARLIER = 200000, /* rows of history that a model copies from the model it continues */
    EH_MODEL_MAX_NOTES = 1000
};
/* A setting in a model file. */
typedef struct eh_pair_view {
    const char *name, *value;
} eh_pair_view;
/* ---- old_settings.c ---- */
/* Name i of a setting of an earlier version; NULL outside the table. */
const char *eh_old_setting_name(int i);
/* Changes a setting of an earlier version to its current name and value. The name becomes NULL if
 * the setting was removed and had no effect, or if another one contains it. Fails if it had an
 * effect that this version cannot reproduce. `version` wrote the file; settings: all of them, an
 * object of texts, or NULL. */
enhope_status eh_old_setting(enhope_context *ctx, const char *version, const cJSON *settings, eh_pair_view *setting);
/* Index of the first value that is not finite; -1: none. */
int64_t eh_model_not_finite(const float *x, int64_t count);

#endif
