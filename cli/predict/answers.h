/* The answers of enhope predict: a table with a row for each point (answers.c), for data that is
 * read as a whole (cmd_predict.c) or line by line (stream.c). */
#ifndef ENHOPE_CLI_ANSWERS_H
#define ENHOPE_CLI_ANSWERS_H

#include "table/table.h"

/* The threshold of --reject. */
typedef struct answers_bound {
    bool enabled;
    enhope_confidence by;
    float value; /* float as in the library, so that thresholds of eval select the same points */
} answers_bound;

typedef struct answers {
    const cli_session *session;
    const cli_options *options;
    const cli_table_format *format;
    answers_bound bound;
    enhope_predictor *predictor; /* NULL: the device is not the CPU */
    enhope_prediction p;         /* of a block of `capacity` rows */
    int64_t capacity;
    float *cost;             /* (c), or NULL */
    const char **class_name; /* (c) */
    int64_t rows;            /* of the data; 0: not known */
    int64_t skipped;         /* rows without a prediction */
    cli_table *table;        /* NULL: no rows yet */
} answers;

/* Functions return 0, or print a message and return an exit code. Parse reads the options, before
 * there is a model. */
int answers_parse(answers *a, const cli_options *options);
int answers_open(answers *a, const cli_session *session, int64_t rows);
/* Classifies the n rows of data and writes them. */
int answers_put(answers *a, const enhope_dataset *data, int64_t n);
int answers_close(answers *a);
void answers_free(answers *a); /* abandons a table that is not closed */

/* True if the data can be read line by line. */
bool predict_can_stream(const answers *a, const cli_options *options);
/* Answers each line of standard input as soon as it is complete. */
int predict_stream(answers *a, const cli_session *session, const cli_options *options);

#endif
