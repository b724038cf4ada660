/* A trained model: parameters of a map, references, scaling, class names, settings and history. */
#ifndef EH_MODEL_H
#define EH_MODEL_H

#include "base/base.h"
#include "map/map.h"

typedef struct eh_pair_text {
    char *name, *value;
} eh_pair_text;

typedef struct eh_texts {
    eh_pair_text *pair; /* (count) */
    int32_t count;
} eh_texts;

/* Errors of the kept state in the validation part and among training samples. n 0: not known. */
typedef struct eh_model_errors {
    int64_t valid, valid_n, train, train_n;
} eh_model_errors;

struct enhope_model {
    char *method;      /* "en-hope" */
    const eh_map *map; /* its name is in the file */
    eh_map_shape shape;
    bool gaussian;      /* similarity for probabilities; false: student ... */
    int dof;            /* ... with these degrees of freedom */
    int32_t k;          /* neighbors that vote */
    float *theta;       /* (eh_map_parameters) */
    float *shift, *mul; /* (H) scaling */
    int64_t r;          /* references */
    bool exemplars;     /* true: reference is (r, H) in scaled input space; false: (r, h) in the embedding */
    float *reference;
    int32_t *reference_label; /* (r) */
    int32_t c;
    char **class_name; /* (c) */
    char **input_name; /* (H) or NULL */
    int64_t image_rows, image_columns;
    eh_texts setting; /* every setting as text */
    enhope_history *history;
    int64_t epochs;
    int64_t earlier;    /* rows that come from models that this model continues, at the start */
    eh_texts note;      /* notes of callers of the library */
    double temperature; /* temperature of the probabilities; 1 unless fitted */
    eh_model_errors errors;
};

/* Creates an empty model with every array allocated for these sizes. Numbers are zero and names
 * NULL; input_name itself is NULL. Texts are set with eh_strdup. enhope_model_free also frees an
 * incomplete model. */
enhope_status eh_model_create(enhope_context *ctx, const char *method, const eh_map *map, const eh_map_shape *shape,
                              int64_t r, bool exemplars, int32_t c, int32_t settings, int64_t epochs,
                              enhope_model **out);
/* Copies `count` names. On failure, `to` keeps the names copied so far. */
enhope_status eh_model_copy_names(enhope_context *ctx, char *const *from, int64_t count, char **to);
/* Columns of reference: H for exemplars, h for embedded points. */
int64_t eh_model_reference_width(const enhope_model *model);
/* A hash of parameters, references with their classes, and scaling. */
uint64_t eh_model_hash(const enhope_model *model);

/* Returns the data as input of the model. Fails if its inputs are not the model's (predict.c). */
enhope_status eh_model_inputs(enhope_context *ctx, const enhope_model *model, const enhope_dataset *data, eh_matrix *x);
/* enhope_model_predict for the samples rows[0..n), ascending; NULL: the first n. *seconds,
 * unless NULL, is the time to embed and classify, without loading model and data and without
 * probabilities and margins (predict.c). */
enhope_status eh_model_predict(enhope_context *ctx, const enhope_model *model, const enhope_dataset *data,
                               const int64_t *rows, int64_t n, int32_t k, const enhope_prediction *out,
                               double *seconds);
/* The model's number for class k of the data; -1: none. Models from files have names in UTF-8
 * (evaluate.c). */
enhope_status eh_model_match_class(enhope_context *ctx, const enhope_model *model, const enhope_dataset *data,
                                   int32_t k, int32_t *out);

/* Names that model_save.c and model_load.c share (docs/reference/model-format.md). */
#define EH_MODEL_FORMAT         "enhope"
#define EH_MODEL_FORMAT_VERSION "1"
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
 * the setting was removed and had no effect. Fails if it had an effect that this version cannot
 * reproduce. `version` wrote the file. */
enhope_status eh_old_setting(enhope_context *ctx, const char *version, eh_pair_view *setting);
/* Index of the first value that is not finite; -1: none. */
int64_t eh_model_not_finite(const float *x, int64_t count);

#endif
