/* Common code of the programs enhope and enhope-reproduce. They use only the public headers of the
 * library.
 *
 * Each program defines its commands and options in cli_self. program.c has main() and selects the
 * command, options.c parses the command line, and cmd_*.c execute the commands. help.c and manual.c
 * print the tables. */
#ifndef ENHOPE_CLI_H
#define ENHOPE_CLI_H

#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "plot/canvas.h"
#include "enhope_advanced.h"

/* Exit codes, beside 0 and 128 + signal. */
enum { CLI_FAILED = 1, CLI_USAGE = 2, CLI_BROKEN_PIPE = 141 };

/* ---- options (options.c) ---- */

enum { CLI_POSITIONALS = 2 };

typedef struct cli_pair {
    const char *name, *value;
} cli_pair;

/* Options, grouped. Zero or NULL: not given. */
typedef struct cli_table_options { /* of CSV, as enhope_table_options */
    const char *header, *delimiter, *decimal, *ignore, *id, *keep, *weight, *categorical, *numeric, *missing;
    bool skip_bad, label_optional;
} cli_table_options;

typedef struct cli_source_options {
    const char *part, *split, *label, *variables, *classes, *memory;
    int64_t limit;
    cli_table_options table;
} cli_source_options;

typedef struct cli_compute_options {
    int64_t threads, jobs;
    const char *device, *precision;
} cli_compute_options;

typedef struct cli_training_options {
    const char *checkpoint, *every, *log, *valid_data;
    int64_t keep;
    bool resume, in_place;
} cli_training_options;

typedef struct cli_tune_options {
    const char *for_time;
    int64_t trials, series, size;
    double latency;
} cli_tune_options;

typedef struct cli_answer_options { /* eval and predict */
    const char *references, *reject, *cost, *format, *map;
    int64_t centers, random_state;
    double keep;
    bool proba, winner, reliability, latency;
} cli_answer_options;

typedef struct cli_measure_options { /* cv and importance */
    const char *group;
    int64_t folds, repeats;
    bool verbose, all;
} cli_measure_options;

typedef struct cli_picture_options {
    int64_t width, height;
    double point, font_size, scale;
    const char *format, *font, *title, *labels;
    bool mark_errors, regions, no_legend;
} cli_picture_options;

typedef struct cli_page_options {
    int64_t sample, detail;
    bool bare, transpose, history;
} cli_page_options;

typedef struct cli_serve_options {
    const char *host, *port, *name, *log, *max_body, *timeout;
    int64_t connections;
} cli_serve_options;

typedef struct cli_shards_options {
    const char *size;
    int64_t rows;
    bool check;
} cli_shards_options;

typedef struct cli_deploy_options { /* export, quantize and compress */
    const char *precision, *name, *max_loss, *size;
    bool encoded;
    double error;
    int64_t operations, bits;
} cli_deploy_options;

typedef struct cli_list_options {
    bool settings, devices, markdown, manual;
} cli_list_options;

typedef struct cli_reproduce_options {
    const char *only, *cells;
    int64_t seeds;
    bool quick, ablation;
} cli_reproduce_options;

/* A parsed command line. */
typedef struct cli_options {
    const struct cli_command *command;
    const char *positional[CLI_POSITIONALS];
    int positionals;
    cli_pair *setting; /* settings in the order given */
    int settings;
    const char *data, *output;
    int64_t n_neighbors;
    bool quiet, json, help, version;
    cli_source_options source;
    cli_compute_options compute;
    cli_training_options training;
    cli_tune_options tune;
    cli_answer_options answer;
    cli_measure_options measure;
    cli_picture_options picture;
    cli_page_options page;
    cli_serve_options serve;
    cli_shards_options shards;
    cli_deploy_options deploy;
    cli_list_options list;
    cli_reproduce_options reproduce;
} cli_options;

/* How a command runs under mpirun: on rank 0 only, on all ranks together, or not at all. */
typedef enum cli_sharing { CLI_BY_RANK_0, CLI_TOGETHER, CLI_ALONE } cli_sharing;

typedef struct cli_command {
    const char *name;
    const char *arguments;                /* of the usage line: "MODEL --data SPEC" */
    const char *summary;                  /* one line */
    const char *text;                     /* paragraphs, separated by newlines */
    const char *example;                  /* lines of shell */
    int min_positionals, max_positionals; /* positional arguments */
    bool takes_settings;
    cli_sharing sharing;
    int (*run)(const cli_options *options);
} cli_command;

/* ---- the program (program.c) ---- */

/* Commands under one heading of the help. */
typedef struct cli_group {
    const char *title;
    const char *commands; /* " train eval " */
} cli_group;

typedef struct cli_program {
    const char *name;                   /* "enhope" */
    const struct cli_command *commands; /* the tables end with a row without a name or title */
    const struct cli_option *options;
    const cli_group *groups; /* NULL: one command */
    const char *common;      /* options and settings that the help prints first: " data label " */
} cli_program;
extern const cli_program cli_self;

bool cli_many_commands(void);                          /* a program with one command does not show its name */
const cli_command *cli_command_find(const char *name); /* NULL: unknown */
const char *cli_title(const cli_command *command);     /* "enhope train"; valid until the next call */

/* ---- ranks.c ---- */

/* threads.c: the first call of main(). Makes idle OpenMP threads sleep instead of spin, unless the
 * user has configured how they wait. */
void cli_threads_begin(void);

/* Join initializes the ranks that mpirun has started. Leave reports deferred errors, ends the
 * communication and returns the exit code. */
int cli_ranks_join(void);
int cli_rank(void);
int cli_ranks(void);
int cli_ranks_leave(int code);
/* The value of rank 0, on all ranks. */
int cli_rank_0_value(enhope_context *ctx, int value);

typedef enum cli_type { CLI_FLAG, CLI_TEXT, CLI_INTEGER, CLI_REAL, CLI_SETTING } cli_type;

typedef struct cli_option {
    const char *name;
    char letter; /* 0: none */
    const char *value;
    cli_type type;
    size_t offset; /* of the field in cli_options */
    double minimum, maximum;
    const char *commands; /* " train eval "; NULL: all */
    const char *help;     /* NULL: the letter of a setting, which has its own help */
} cli_option;

#define CLI_INTEGER_MAX 9007199254740992.0 /* 2^53: a double represents every integer up to it */

bool cli_option_serves(const cli_option *option, const cli_command *command);
enum { CLI_NAME = 64 };
/* The option of a setting: "n-factors" for "n_factors". */
void cli_option_name(const char *setting, char *buffer, size_t size);
/* The letter of a setting; 0: none. */
char cli_setting_letter(const enhope_setting_info *setting);

/* Parses the arguments after the name of the command. Returns 0, or prints a message and returns an
 * exit code. */
int cli_options_parse(const cli_command *command, int argc, char **argv, cli_options *out);
void cli_options_free(cli_options *options);
/* The end of the message "unknown command 'trian'": "; did you mean 'train'?". */
void cli_suggest_command(const char *name, char *buffer, size_t size);

/* ---- help (help.c), the manual pages (manual.c) ---- */

void cli_help_overview(FILE *out);
void cli_help_command(FILE *out, const cli_command *command);
/* "-z N", "--n-factors N" */
void cli_option_usage(const cli_option *option, char *buffer, size_t size);
void cli_setting_usage(const enhope_setting_info *setting, char *buffer, size_t size);
/* "1 to 100000", "joint|row" */
void cli_setting_range(const enhope_setting_info *setting, char *buffer, size_t size);
/* "hope map; 1 to 100000; default 800" */
void cli_setting_note(const enhope_setting_info *setting, char *buffer, size_t size);
/* A help text up to its first clause: up to a colon, semicolon or full stop. */
void cli_help_brief(const char *help, char *buffer, size_t size);
/* The page enhope(1), or that of one command, as enhope-train(1). */
void cli_manual(FILE *out);
void cli_manual_command(FILE *out, const cli_command *command);

/* ---- sessions: a context, data, a model (session.c, common.c) ---- */

/* Prints "enhope: MESSAGE" to stderr; returns the exit code for the status. */
int cli_fail(const enhope_context *ctx, enhope_status status);
/* Prints "enhope: ..." to stderr; returns CLI_FAILED. */
int cli_error(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Prints "PREFIX: ..." to stderr. A rank other than 0 stores it until it leaves (ranks.c). */
void cli_print_message(const char *prefix, const char *format, va_list args) __attribute__((format(printf, 2, 0)));
/* Prints "enhope COMMAND: ..." to stderr; returns CLI_USAGE. */
int cli_usage_error(const cli_command *command, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Allocates zeroed memory; prints a message and returns NULL on failure. */
void *cli_alloc(const char *what, int64_t rows, int64_t columns, size_t size);

/* The objects that most commands need. Functions return 0, or print a message and return an exit
 * code. */
typedef struct cli_session {
    enhope_context *ctx;
    enhope_dataset *data;
    enhope_model *model;
    const char *part; /* of the data: "train" or "test"; NULL: no parts */
    enhope_dataset_info data_info;
    enhope_model_info model_info;
} cli_session;
int cli_session_open(cli_session *session, const cli_options *options);
/* default_part is read without --part if the data has parts. */
int cli_session_data(cli_session *session, const cli_options *options, const char *spec, const char *default_part);
int cli_session_model(cli_session *session, const char *path);
/* The source of the data according to the options; its options of tables are valid until the next
 * call. */
enhope_source cli_source(const cli_options *options, const char *spec);
/* Whether the data has a train and a test part. For an .npz file this is known only after
 * reading. */
typedef enum cli_parts { CLI_WITHOUT_PARTS, CLI_WITH_PARTS, CLI_MAYBE_PARTS } cli_parts;
cli_parts cli_data_parts(const cli_options *options, const char *spec);
/* Replaces the references of the model according to --references, from the train part of the
 * data. */
int cli_session_set_references(cli_session *session, const cli_options *options);
/* The row of the history at which the model was saved; NULL: none. */
const enhope_history *cli_session_best(const cli_session *session);
void cli_session_close(cli_session *session);
/* For commands that cannot stream: 0 if the data is in memory, else an exit code after a
 * message. */
int cli_session_in_memory(const cli_session *session, const cli_options *options);

/* Iterates over the data in blocks of rows. Data in memory is one block. Initialize to zero; n is 0
 * after the last block. A block is valid until the next call. */
typedef struct cli_block {
    const enhope_dataset *data;
    int64_t first, n;
    enhope_dataset *own;
} cli_block;
int cli_block_next(const cli_session *session, cli_block *block);
void cli_block_close(cli_block *block);
/* The class of each sample in the numbering of the model, matched by name; -1: unlabeled, -2: a
 * class that the model does not know. */
int cli_session_true_classes(const cli_session *session, int32_t **out /* (n) */);

/* ---- output (output.c) ---- */

typedef struct cli_output {
    FILE *file;
    const char *name; /* as given, for messages; NULL: stdout */
    char *path;       /* with links resolved; NULL: stdout */
    char *temporary;  /* NULL: written directly (stdout, a device, a pipe) */
} cli_output;
/* NULL or "-" is stdout. A regular file is written to a temporary file, which close renames. */
int cli_output_open(cli_output *output, const char *path);
int cli_output_close(cli_output *output);
/* Flushes the output; returns 0, or an exit code after a message. */
int cli_output_flush(cli_output *output);
/* Closes without replacing the file. Allowed on a closed or zeroed output. */
void cli_output_abandon(cli_output *output);
/* Fails if path is the same file as input, which would be overwritten. Either may be NULL. */
int cli_output_differs(const char *path, const char *input);
/* 0 if a file can be created in the folder of path, or path is a writable device. */
int cli_output_check(const char *path);
/* Flushes stdout at the end of a command; returns code, or an exit code if writing failed. */
int cli_stdout_finish(int code);

/* ---- text (text.c) ---- */

/* The next code point. Bytes that are not UTF-8 are read as Latin-1, as in model files. */
uint32_t cli_utf8_next(const char **text);
bool cli_same_text(const char *a, const char *b);
int cli_text_width(const char *text);
/* Padded to width columns (negative: left-aligned), control characters as '?'. */
void cli_put_text(FILE *out, const char *text, int width);
/* printf for JSON. %s prints a quoted string, or null for NULL; %g a number, or null for NaN and
 * infinity; %i true or false; %d, %lld and %.6g are those of printf. */
void cli_json(FILE *out, const char *format, ...) __attribute__((format(printf, 2, 3)));
void cli_put_csv(FILE *out, const char *text);
/* Prints to a terminal: control characters, except ends of lines and tabs, become '?'. For every
 * line with a text from a file. */
void cli_print(FILE *out, const char *format, ...) __attribute__((format(printf, 2, 3)));
void cli_vprint(FILE *out, const char *format, va_list args) __attribute__((format(printf, 2, 0)));
void cli_put_xml(FILE *out, const char *text);
/* Wraps text to width columns. The first line begins at column `at`, the others are indented. */
void cli_put_wrapped(FILE *out, const char *text, int at, int indent, int width);
void cli_bytes_text(double bytes, char *buffer, size_t size);     /* "1.4 MB" */
void cli_seconds_text(double seconds, char *buffer, size_t size); /* "1:07" */
double cli_seconds_parse(const char *text);                       /* "90s", "10m", "2h"; -1: invalid */
/* "300M", "1.5GB", "4096": bytes, in powers of 1000, or of 1024 for KiB and MiB; false: invalid. */
bool cli_parse_bytes(const char *text, int64_t *bytes);
int cli_edit_distance(const char *a, const char *b);

/* ---- intervals, calibration, rejection, costs (confidence.c) ---- */

double cli_percent(int64_t part, int64_t whole);
/* Wilson's 95 % interval of a proportion, in percent. */
void cli_interval(int64_t errors, int64_t n, double *low, double *high);
/* Whether the validation error was estimated by cross-validation: no epoch has one. */
bool cli_cross_validated(const enhope_model *model, const enhope_model_info *info);
/* "validation 2.10 % of 6000 (1.77 to 2.49 %), training 0.35 % of 10000 (0.25 to 0.49 %)", or one
 * of them; false: neither is known. */
bool cli_errors_text(const enhope_model *model, const enhope_model_info *info, char *buffer, size_t size);
/* Whether the validation error is clearly above the training error: the intervals do not overlap,
 * and one error is twice the other. */
bool cli_errors_differ(const enhope_model_info *info);
/* ",\n  "KEY": {...}", or null without samples or a row. */
void cli_put_json_errors(const char *key, int64_t errors, int64_t n);
void cli_put_json_epoch(const char *key, const enhope_history *row);
void cli_put_reliability(const enhope_calibration *calibration);
void cli_put_json_calibration(const enhope_calibration *calibration);
/* Parses the kind in the first `length` characters of text, the value of --reject. */
int cli_confidence_parse(const cli_options *options, const char *text, size_t length, enhope_confidence *out);
void cli_put_rejection(const enhope_rejection *rejection);
void cli_put_json_rejection(const enhope_rejection *rejection);

/* Parses --cost: cost (c) of each class of the model, 1 if it is not named. *out stays NULL without
 * the option. */
int cli_costs_parse(const cli_session *session, const cli_options *options, float **out);

/* ---- progress (progress.c) ---- */

typedef struct cli_progress {
    bool quiet, bar;
    FILE *log;
    const char *log_path;
    double drawn;           /* time at which the bar was last drawn */
    double seconds;         /* of training so far */
    const char *error_name; /* of cli_error_name; "validation error" unless set */
} cli_progress;
/* Catches SIGINT, SIGTERM and SIGHUP. A second signal of the same kind ends the program. */
void cli_catch_signals(void);
/* Whether signals are caught, so that a file can be written completely. */
bool cli_signals_caught(void);
/* The signal that was caught; 0: none. */
int cli_caught_signal(void);
void cli_keep_signal(int number); /* from a handler */
/* log_path may be NULL. append keeps the rows of an existing log, see cli_progress_keep. */
/* The error that training minimizes with this class_weight and column of weights: "validation
 * error", or a weighted one. NULL: none. */
const char *cli_error_name(const char *class_weight, const char *weight);
int cli_progress_open(cli_progress *progress, bool quiet, const char *log_path, bool append);
/* Truncates an appended log to its first rows. */
void cli_progress_keep(cli_progress *progress, int64_t rows);
int cli_progress_step(const enhope_progress *at, void *user); /* an enhope_progress_fn */
/* Two enhope_log_fn. Both print lines, warnings with the prefix "warning: ". The first prints
 * warnings only if user is not NULL. The second takes a cli_progress as user: it clears the
 * progress bar, and prints warnings only if quiet is set. */
void cli_put_log(enhope_log_level level, const char *line, void *user);
void cli_progress_log(enhope_log_level level, const char *line, void *user);
/* Draws "WHAT [=====>    ] 12 %, 2400000 rows, 0:42 left" on a terminal. share is NaN if
 * unknown. */
void cli_progress_share(cli_progress *progress, const char *what, double share, int64_t rows, double left);
void cli_progress_clear(cli_progress *progress);
void cli_progress_close(cli_progress *progress);

/* ---- checkpoints (train/checkpoint.c) ---- */

typedef struct cli_checkpoint {
    const char *folder; /* NULL: no checkpoints */
    double every;       /* seconds */
    int64_t keep;
    int lock; /* file descriptor of the folder */
    enhope_context *ctx;
    enhope_trainer *trainer;
    cli_progress *progress;
    int64_t epoch, batch; /* current position of training */
    double last;          /* cli_now() of the last attempt to write one */
    char *newest;         /* the last one written or resumed from; NULL: none */
    bool failed;          /* the last attempt to write one failed */
    bool stepped;         /* a batch is done since the start or resume */
    bool safe;            /* the checkpoint for a signal is written */
} cli_checkpoint;
/* Opens and checks the folder before training. output is the file of the model. */
int cli_checkpoint_open(cli_checkpoint *checkpoint, const cli_options *options, const char *output);
/* With --resume, restores the trainer from the newest intact checkpoint. */
int cli_checkpoint_begin(cli_checkpoint *checkpoint, enhope_context *ctx, enhope_trainer *trainer,
                         cli_progress *progress);
/* An enhope_progress_fn: calls cli_progress_step and writes due checkpoints. */
int cli_checkpoint_step(const enhope_progress *at, void *user);
void cli_checkpoint_end(cli_checkpoint *checkpoint); /* after training */
void cli_checkpoint_close(cli_checkpoint *checkpoint);

/* ---- training a model and saving it (train/training.c) ---- */

/* Reads the data, trains, and saves the model to path. If the session has a model, training
 * continues from it. The new model replaces it. Progress, checkpoints and summary follow the
 * options. */
int cli_train(cli_session *session, const cli_options *options, const enhope_settings *settings, const char *path);
/* The settings of the command line; the recipe comes first. */
int cli_settings_of_options(enhope_context *ctx, const cli_options *options, enhope_settings **out);
/* The settings of the session's model without `others`, a list that ends with NULL. */
int cli_settings_of_model(const cli_session *session, const char *const *others, enhope_settings **out);
/* Adds the settings of the command line. Those that a model fixes are an error. */
int cli_settings_add(const cli_session *session, const cli_options *options, enhope_settings *settings);

/* ---- the figure (plot/figure.c) ---- */

typedef enum cli_labels { CLI_LABELS_AUTO, CLI_LABELS_ON, CLI_LABELS_OFF } cli_labels;

typedef struct cli_figure {
    int64_t n, r;
    int64_t h;            /* outputs; the first two are drawn */
    const float *Y;       /* (n, h) */
    const int32_t *group; /* (n) 0..groups-1: the classes, then others, in gray */
    int32_t classes, groups;
    const char *const *name;        /* (groups) */
    const bool *wrong;              /* (n) misclassified points to mark; NULL: none */
    int64_t errors;                 /* number of misclassified points */
    const float *reference;         /* (r, h) references; NULL: not needed */
    bool circles;                   /* whether references are drawn */
    const int32_t *reference_label; /* (r) for regions; NULL: no regions */
    int32_t k;                      /* number of neighbors that vote, for regions */
    canvas_format format;
    const char *title, *font; /* "": no title */
    double font_size;
    int64_t width, height; /* in pixels */
    double scale;          /* of PNG */
    double point;          /* diameter of a dot; 0: depends on the number of points */
    bool legend;
    cli_labels labels; /* names of classes on the map; AUTO: instead of the legend, if all have a place */
} cli_figure;
enum { CLI_PICTURE_WIDTH = 760, CLI_PICTURE_HEIGHT = 640, CLI_PICTURE_LETTERS = 13 }; /* defaults, in pixels */
int cli_figure_draw(FILE *out, const cli_figure *request);
/* Reads --labels. Prints a message and returns false if it is unknown. */
bool cli_labels_of_options(const cli_options *options, cli_labels *out);
/* Draws the embedding of the session's data according to the options (plot/draw.c). */
int cli_draw(const cli_session *session, const cli_options *options, canvas_format format, FILE *out);

/* ---- commands (cmd_*.c) ---- */

int cmd_train(const cli_options *options);
int cmd_update(const cli_options *options);
int cmd_embed(const cli_options *options);
int cmd_predict(const cli_options *options);
int cmd_eval(const cli_options *options);
int cmd_plot(const cli_options *options);
int cmd_view(const cli_options *options);
int cmd_cv(const cli_options *options);
int cmd_importance(const cli_options *options);
int cmd_quantize(const cli_options *options);
int cmd_compress(const cli_options *options);
int cmd_tune(const cli_options *options);
int cmd_info(const cli_options *options);
int cmd_serve(const cli_options *options);
int cmd_data(const cli_options *options);
int cmd_completion(const cli_options *options);
int cmd_convert(const cli_options *options);
int cmd_examples(const cli_options *options);
int cmd_export(const cli_options *options);
int cmd_methods(const cli_options *options);
int cmd_recipes(const cli_options *options);
int cmd_help(const cli_options *options);

#endif
