/* What the files of the programs enhope and enhope-reproduce share. They use the public headers of the library only.
 *
 * Each program defines its tables, cli_self. program.c has main() and finds the command, options.c parses, the command's own
 * file acts; help.c and manual.c print the tables. */
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

/* Options by what they belong to. Zero or NULL: not given. */
typedef struct cli_source_options {
    const char *part, *split, *label, *variables, *memory;
    int64_t limit;
} cli_source_options;

typedef struct cli_compute_options {
    int64_t threads;
    const char *device, *precision;
} cli_compute_options;

typedef struct cli_training_options {
    const char *checkpoint, *every, *log;
    int64_t kept;
    bool resume, in_place;
} cli_training_options;

typedef struct cli_tune_options {
    const char *for_time;
    int64_t trials, series, size;
    double latency;
} cli_tune_options;

typedef struct cli_answer_options { /* eval and predict */
    const char *references, *reject;
    int64_t centers, random_state;
    double keep;
    bool proba, winner, reliability;
} cli_answer_options;

typedef struct cli_picture_options {
    int64_t width, height;
    double point, font_size, scale;
    const char *format, *font;
    bool mark_errors, regions, no_legend;
} cli_picture_options;

typedef struct cli_page_options {
    int64_t sample, detail;
    bool bare, transpose, history;
} cli_page_options;

typedef struct cli_shards_options {
    const char *size;
    int64_t rows;
    bool check;
} cli_shards_options;

typedef struct cli_list_options {
    bool settings, devices, markdown, manual;
} cli_list_options;

typedef struct cli_reproduce_options {
    const char *only, *cells;
    int64_t seeds;
    bool quick, ablation;
} cli_reproduce_options;

/* All that a command line may contain. */
typedef struct cli_options {
    const struct cli_command *command;
    const char *positional[CLI_POSITIONALS];
    int positionals;
    cli_pair *setting; /* settings in the order given */
    int settings;
    const char *data, *output, *title;
    int64_t n_neighbors, jobs;
    bool quiet, json, help, version;
    cli_source_options source;
    cli_compute_options compute;
    cli_training_options training;
    cli_tune_options tune;
    cli_answer_options answer;
    cli_picture_options picture;
    cli_page_options page;
    cli_shards_options shards;
    cli_list_options list;
    cli_reproduce_options reproduce;
} cli_options;

/* What several ranks do with a command: rank 0 runs it alone, all run it together, or they refuse it. */
typedef enum cli_sharing { CLI_BY_RANK_0, CLI_TOGETHER, CLI_ALONE } cli_sharing;

typedef struct cli_command {
    const char *name;
    const char *arguments; /* "MODEL --data SPEC", after the name in the usage line */
    const char *summary;   /* one line */
    const char *text;      /* paragraphs, separated by newlines */
    const char *example;   /* lines of shell */
    int least, most;       /* positional arguments */
    bool takes_settings;
    cli_sharing sharing;
    int (*run)(const cli_options *options);
} cli_command;

/* ---- the program (program.c) ---- */

typedef struct cli_program {
    const char *name;                   /* "enhope" */
    const struct cli_command *commands; /* both tables end with a row without a name */
    const struct cli_option *options;
} cli_program;
extern const cli_program cli_self;

bool cli_many_commands(void);                          /* a program of one command does not name it */
const cli_command *cli_command_find(const char *name); /* NULL: unknown */
const char *cli_title(const cli_command *command);     /* "enhope train"; valid until the next call */

/* ---- ranks.c ---- */

/* threads.c: at the beginning of main(): idle OpenMP threads do not spin, unless the user has chosen how they wait. */
void cli_threads_begin(void);

/* Joins the ranks that mpirun has started: this process among them, and how many there are. leave() returns the exit code
 * when all is done. */
int cli_ranks_join(void);
int cli_rank(void);
int cli_ranks(void);
int cli_ranks_leave(int code);
/* The value that rank 0 passes. */
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
    const char *help;     /* NULL: a letter for a setting, which brings its own help */
} cli_option;

#define CLI_WHOLE_MOST 9007199254740992.0 /* 2^53: every whole number up to it is a double */

bool cli_option_serves(const cli_option *option, const cli_command *command);
enum { CLI_NAME = 64 };
/* The option of a setting: "n-factors" for "n_factors". */
void cli_option_name(const char *setting, char *buffer, size_t size);
/* The letter of a setting, 0 where it has none. */
char cli_setting_letter(const enhope_setting_info *setting);

/* Parses argv[0..argc) after the subcommand's name. 0, or an exit code after a sentence on stderr. */
int cli_options_parse(const cli_command *command, int argc, char **argv, cli_options *out);
void cli_options_free(cli_options *options);
/* "; did you mean 'train'?": what follows "unknown command 'trian'". */
void cli_suggest_command(const char *name, char *buffer, size_t size);

/* ---- help (help.c), the manual page (manual.c) ---- */

void cli_help_overview(FILE *out);
void cli_help_command(FILE *out, const cli_command *command);
/* "-z N", "--n-factors N": how an option is written. */
void cli_option_usage(const cli_option *option, char *buffer, size_t size);
void cli_setting_usage(const enhope_setting_info *setting, char *buffer, size_t size);
/* "1 to 100000", "joint|row" */
void cli_setting_range(const enhope_setting_info *setting, char *buffer, size_t size);
/* "hope map; 1 to 100000; default 800" */
void cli_setting_note(const enhope_setting_info *setting, char *buffer, size_t size);
void cli_manual(FILE *out);

/* ---- sessions: a context, data, a model (session.c) ---- */

/* "enhope: SENTENCE" on stderr; the exit code that the status stands for. */
int cli_fail(const enhope_context *ctx, enhope_status status);
/* "enhope: ..." on stderr; returns CLI_FAILED. */
int cli_error(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* WHO: the sentence, on standard error; of another rank than 0 it is kept (ranks.c). */
void cli_say(const char *who, const char *format, va_list args) __attribute__((format(printf, 2, 0)));
/* "enhope COMMAND: ..." on stderr; returns CLI_USAGE. */
int cli_usage_error(const cli_command *command, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Zeroed; NULL after a sentence on stderr. */
void *cli_alloc(const char *what, int64_t rows, int64_t columns, size_t size);

/* What most commands need; each function returns 0 or an exit code after a sentence. */
typedef struct cli_session {
    enhope_context *ctx;
    enhope_dataset *data;
    enhope_model *model;
    const char *part; /* of the data: "train", "test", NULL: it has none */
    enhope_dataset_info data_info;
    enhope_model_info model_info;
} cli_session;
int cli_session_open(cli_session *session, const cli_options *options);
/* other_part is what an unsaid --part means where the data has parts. */
int cli_session_data(cli_session *session, const cli_options *options, const char *spec, const char *other_part);
int cli_session_model(cli_session *session, const char *path);
/* What the options say of where data comes from; part is theirs. */
enhope_source cli_source(const cli_options *options, const char *spec);
/* Whether data has a train and a test part of its own, or by --split; of an .npz file only reading tells. */
typedef enum cli_parts { CLI_WITHOUT_PARTS, CLI_WITH_PARTS, CLI_PERHAPS_PARTS } cli_parts;
cli_parts cli_find_parts(const cli_options *options, const char *spec);
/* Replaces what the model compares with as --references says, from the train part of the same data. */
int cli_session_refer(cli_session *session, const cli_options *options);
/* The row of the history that the model was kept at; NULL: none. */
const enhope_history *cli_session_best(const cli_session *session);
void cli_session_close(cli_session *session);
/* 0, or a sentence where the session's data is streamed, which the command cannot take. */
int cli_session_in_memory(const cli_session *session, const cli_options *options);

/* The session's data run by run: as one where it is in memory. Begins zeroed; n is 0 when there is no more. A run is valid
 * until the next. */
typedef struct cli_block {
    const enhope_dataset *data;
    int64_t first, n;
    enhope_dataset *own;
} cli_block;
int cli_block_next(const cli_session *session, cli_block *block);
void cli_block_close(cli_block *block);
/* The class of each sample by the model's numbering, matched by name; -1: unlabelled, -2: a class that the model does
 * not know. */
int cli_session_true_classes(const cli_session *session, int32_t **out /* (n) */);

/* ---- output (output.c) ---- */

typedef struct cli_output {
    FILE *file;
    const char *name; /* as given, for sentences; NULL: stdout */
    char *path;       /* behind links; NULL: stdout */
    char *temporary;  /* NULL: written in place (stdout, a device, a pipe) */
} cli_output;
/* path NULL or "-" is stdout. A regular file is written beside itself and renamed by close. */
int cli_output_open(cli_output *output, const char *path);
int cli_output_close(cli_output *output);
/* What was written so far goes on its way; 0, or an exit code after a sentence. */
int cli_output_flush(cli_output *output);
/* Closes without replacing the file; fine on a closed or never opened one that is zeroed. */
void cli_output_abandon(cli_output *output);
/* 0 unless path is the very file `input`: then a sentence, since it would be lost. Either may be NULL. */
int cli_output_differs(const char *path, const char *input);
/* 0 where a file can be created beside path, or path is a device that can be written; otherwise a sentence. */
int cli_output_check(const char *path);
/* Flushes stdout at the end of a command: code, or a failure that came up in writing. */
int cli_stdout_finish(int code);

/* ---- text (text.c) ---- */

/* Next code point; a byte that is not UTF-8 is taken as Latin-1, as model files take it. */
uint32_t cli_utf8_next(const char **text);
bool cli_same_text(const char *a, const char *b);
int cli_text_width(const char *text);
/* Padded to width columns (negative: left-aligned), control characters as '?'. */
void cli_put_text(FILE *out, const char *text, int width);
/* printf for JSON: %s is a text with its quotes, NULL is null; %g a number, NaN and infinity are null; %i is true or false;
 * %d, %lld and %.6g are as they are. */
void cli_json(FILE *out, const char *format, ...) __attribute__((format(printf, 2, 3)));
void cli_put_csv(FILE *out, const char *text);
void cli_put_xml(FILE *out, const char *text);
/* Filled to width columns; every line but the first is indented, and the first is taken to begin at column `at`. */
void cli_put_wrapped(FILE *out, const char *text, int at, int indent, int width);
void cli_bytes_text(double bytes, char *buffer, size_t size);     /* "1.4 MB" */
void cli_seconds_text(double seconds, char *buffer, size_t size); /* "1:07" */
double cli_seconds_parse(const char *text);                       /* "90s", "10m", "2h"; -1: it is none of these */
/* "300M", "1.5GB", "4096": bytes, in powers of 1000, or of 1024 where written KiB, MiB; false: it is none. */
bool cli_parse_bytes(const char *text, int64_t *bytes);
int cli_edit_distance(const char *a, const char *b);

/* ---- what may be believed (confidence.c) ---- */

double cli_percent(int64_t part, int64_t whole);
/* Wilson's 95 % interval of a proportion, in percent. */
void cli_interval(int64_t errors, int64_t n, double *low, double *high);
/* "validation 2.10 % of 6000 (1.77 to 2.49 %), training 0.35 % of 10000 (0.25 to 0.49 %)", or what is known of it; false:
 * nothing is. */
bool cli_errors_text(const enhope_model_info *info, char *buffer, size_t size);
/* Whether the validation error is clearly above the training error: the intervals are apart, and one is twice the other. */
bool cli_errors_part(const enhope_model_info *info);
void cli_put_reliability(const enhope_calibration *calibration);
void cli_put_json_calibration(const enhope_calibration *calibration);
/* The kind that the first `length` characters of --reject's value, text, name; 0 or an exit code after a sentence. */
int cli_sureness_parse(const cli_options *options, const char *text, size_t length, enhope_confidence *out);
void cli_put_rejection(const enhope_rejection *rejection);
void cli_put_json_rejection(const enhope_rejection *rejection);

/* ---- progress (progress.c) ---- */

typedef struct cli_progress {
    bool quiet, bar;
    FILE *log;
    const char *log_path;
    double drawn;   /* when the bar was last drawn */
    double seconds; /* of training so far */
} cli_progress;
/* Catches SIGINT, SIGTERM and SIGHUP; a second one of a kind ends the program. */
void cli_catch_signals(void);
/* Whether they are caught, so that a result may be written to its end. */
bool cli_signals_wait(void);
/* The signal that asked to stop; 0: none. */
int cli_caught_signal(void);
/* log_path may be NULL; go_on: what is in that file stays, until cli_progress_keep. */
int cli_progress_open(cli_progress *progress, bool quiet, const char *log_path, bool go_on);
/* Of a log that goes on, the first so many rows stay. */
void cli_progress_keep(cli_progress *progress, int64_t rows);
int cli_progress_step(const enhope_progress *at, void *user); /* an enhope_progress_fn */
/* Two enhope_log_fn that print lines of the log, warnings with "warning: " before them. The second clears the progress bar of its
 * user, a cli_progress, and if that is quiet prints warnings alone. */
void cli_put_log(enhope_log_level level, const char *line, void *user);
void cli_progress_log(enhope_log_level level, const char *line, void *user);
/* "WHAT [=====>    ] 12 %, 2400000 rows, 0:42 left" on a terminal, nothing elsewhere; share is NaN where not known. */
void cli_progress_share(cli_progress *progress, const char *what, double share, int64_t rows, double left);
void cli_progress_clear(cli_progress *progress);
void cli_progress_close(cli_progress *progress);

/* ---- checkpoints (train/checkpoint.c) ---- */

typedef struct cli_checkpoint {
    const char *folder; /* NULL: none are wanted */
    double every;       /* seconds */
    int64_t keep;
    int lock; /* the folder, open */
    enhope_context *ctx;
    enhope_trainer *trainer;
    cli_progress *progress;
    int64_t epoch, batch; /* where training is */
    double last;          /* cli_now() when one was written or tried */
    char *newest;         /* the last that was written or resumed from; NULL: none */
    bool failed;          /* the last could not be written */
    bool stepped;         /* since training began or was resumed */
    bool safe;            /* the one that was asked for by a signal is written */
} cli_checkpoint;
/* Looks at the folder, before the work; output: the model's file. */
int cli_checkpoint_open(cli_checkpoint *checkpoint, const cli_options *options, const char *output);
/* Takes the trainer to the newest checkpoint, where --resume finds one. */
int cli_checkpoint_begin(cli_checkpoint *checkpoint, enhope_context *ctx, enhope_trainer *trainer,
                         cli_progress *progress);
int cli_checkpoint_step(const enhope_progress *at,
                        void *user);                 /* an enhope_progress_fn: cli_progress_step, and these */
void cli_checkpoint_end(cli_checkpoint *checkpoint); /* training is over */
void cli_checkpoint_close(cli_checkpoint *checkpoint);

/* ---- training a model and saving it (train/training.c) ---- */

/* Reads the data and trains, on from the session's model where it has one; the session's model becomes the new one and is saved
 * at path. With progress, checkpoints and a summary as the options say. */
int cli_train(cli_session *session, const cli_options *options, const enhope_settings *settings, const char *path);
/* Settings as the session's model was trained, but for `others`, a list that ends with NULL. */
int cli_settings_of_model(const cli_session *session, const char *const *others, enhope_settings **out);

/* ---- the figure (plot/figure.c) ---- */

typedef struct cli_figure {
    int64_t n, r;
    int64_t h;            /* outputs; the first two are drawn */
    const float *Y;       /* (n, h) */
    const int32_t *group; /* (n) 0..groups-1: first the classes, then others, in grey */
    int32_t classes, groups;
    const char *const *name;        /* (groups) */
    const bool *wrong;              /* (n) misclassified, to be marked; NULL: none are */
    int64_t errors;                 /* how many are */
    const float *reference;         /* (r, h) what points are compared with; NULL: not needed */
    bool circles;                   /* whether these are drawn */
    const int32_t *reference_label; /* (r) for regions; NULL: no regions */
    int32_t k;                      /* neighbours that vote, for regions */
    canvas_format format;
    const char *title, *font; /* "": no title */
    double font_size;
    int64_t width, height; /* of the whole, in pixels */
    double scale;          /* of PNG */
    double point;          /* diameter of a dot; 0: what suits their number */
    bool legend;
} cli_figure;
enum { CLI_PICTURE_WIDTH = 760, CLI_PICTURE_HEIGHT = 640, CLI_PICTURE_LETTERS = 13 }; /* defaults, in pixels */
int cli_figure_draw(FILE *out, const cli_figure *asked);
/* The session's data as its model places it; options: how it looks, neighbours (plot/draw.c). */
int cli_draw(const cli_session *session, const cli_options *options, canvas_format format, FILE *out);

/* ---- subcommands (cmd_*.c) ---- */

int cmd_train(const cli_options *options);
int cmd_update(const cli_options *options);
int cmd_embed(const cli_options *options);
int cmd_predict(const cli_options *options);
int cmd_eval(const cli_options *options);
int cmd_plot(const cli_options *options);
int cmd_view(const cli_options *options);
int cmd_tune(const cli_options *options);
int cmd_info(const cli_options *options);
int cmd_data(const cli_options *options);
int cmd_convert(const cli_options *options);
int cmd_methods(const cli_options *options);
int cmd_recipes(const cli_options *options);
int cmd_help(const cli_options *options);

#endif
