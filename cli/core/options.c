/* The command line: one table of options, one parser. Settings of training are options too, out of the library's own
 * table, so that nothing is listed twice. */
#define _DEFAULT_SOURCE 1
#include <errno.h>
#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "core/cli.h"

#define AT(field)  offsetof(cli_options, field)
#define EVERY      " train update tune embed predict eval plot view reproduce info data convert methods recipes help "
#define WITH_DATA  " train update tune embed predict eval plot view data convert "
#define WITH_HALF  " train update tune embed predict eval plot data "
#define WITH_MODEL " embed predict eval plot view "

#define WHOLE_MOST 9007199254740992.0 /* 2^53: every whole number up to it is a double */

/* clang-format off */
static const cli_option table[] = {
    {"data", 0, "FOLDER", CLI_TEXT, AT(data), 0, 0, " reproduce ", "the folder of the data sets; default: what ENHOPE_DATA names"},
    {"data", 0, "SPEC", CLI_TEXT, AT(data), 0, 0, WITH_DATA,
     "the data: a file (IDX, CSV, TSV, LIBSVM, NPY, NPZ, MAT; .gz where usual), a folder of MNIST-named IDX files or of "
     "shards, a pair X,y of files, - for CSV on standard input, synthetic:digits,n=6000,seed=1 or "
     "synthetic:blobs,n=600,classes=3,inputs=5,seed=1"},
    {"part", 0, "train|test", CLI_TEXT, AT(part), 0, 0, WITH_HALF,
     "the half of a folder, of an .npz file, of synthetic data or of a --split; default: train for train, update, tune and data, "
     "test for the others"},
    {"part", 0, "train|test|both", CLI_TEXT, AT(part), 0, 0, " view ",
     "the half of a folder, of an .npz file, of synthetic data or of a --split; both can be told apart; default: test"},
    {"part", 0, "train|test|both", CLI_TEXT, AT(part), 0, 0, " convert ",
     "the half of a folder, of an .npz file, of synthetic data or of a --split; both become the folders train and test; "
     "default: both, of synthetic data train"},
    {"split", 0, "N@SEED", CLI_TEXT, AT(split), 0, 0, WITH_DATA,
     "shuffle with this seed; the first N samples are the train part, the rest the test part"},
    {"label", 0, "COLUMN", CLI_TEXT, AT(label), 0, 0, WITH_DATA,
     "the label column of CSV by name or number (from 1), or none; default: found by its name, else the last"},
    {"variables", 0, "X,y", CLI_TEXT, AT(variables), 0, 0, WITH_DATA,
     "the names of values and labels in a MAT or NPZ file; default: found by shape and name"},
    {"memory", 0, "SIZE", CLI_TEXT, AT(memory), 0, 0, WITH_DATA,
     "data that takes more than this, as in 800M or 4GB, is streamed from its files where it can be (shards of enhope "
     "convert, plain IDX and NPY); default: half of the machine's memory"},
    {"limit", 0, "N", CLI_INTEGER, AT(limit), 0, WHOLE_MOST, WITH_DATA, "only the first N samples; 0: all"},
    {"output", 'o', "FILE", CLI_TEXT, AT(output), 0, 0, " train update tune embed predict plot view reproduce ",
     "where the result goes: default model.safetensors for train and update, map.svg for plot, map.html for view, the folder tuning for tune, reproduction for reproduce, standard output (-) for the "
     "others; embed writes float32 NPY where the name ends in .npy"},
    {"output", 'o', "FOLDER", CLI_TEXT, AT(output), 0, 0, " convert ", "the folder of the shards; it is made where it is missing"},
    {"shard-size", 0, "SIZE", CLI_TEXT, AT(shard_size), 0, 0, " convert ",
     "bytes of a shard, as in 64M or 1GB; default 256M"},
    {"shard-rows", 0, "N", CLI_INTEGER, AT(shard_rows), 1, WHOLE_MOST, " convert ", "samples of a shard instead"},
    {"check", 0, NULL, CLI_FLAG, AT(check), 0, 0, " data ",
     "of a folder of shards: read all of it and compare its checksums"},
    {"neighbours", 'k', "N", CLI_SETTING, 0, 0, 0, " train update tune ", NULL},
    {"neighbours", 'k', "N", CLI_INTEGER, AT(neighbours), 1, 2147483647.0, " predict eval plot view ",
     "neighbours that vote; default: the model's own"},
    {"against", 0, "exemplars|kmeans|training", CLI_TEXT, AT(against), 0, 0, " eval ",
     "compare with the model's own references (the default: exemplars, where it has them), with per-class k-means centres of "
     "the train part, or with all of the train part"},
    {"centres", 0, "N", CLI_INTEGER, AT(centres), 0, WHOLE_MOST, " eval ",
     "centres of --against kmeans, shared over the classes; 0, the default: two a class"},
    {"seed", 0, "N", CLI_INTEGER, AT(seed), 0, 999999999999999.0, " eval ", "of --against kmeans; default 0"},
    {"quick", 0, NULL, CLI_FLAG, AT(quick), 0, 0, " reproduce ",
     "the whole shape in minutes: few samples, seconds for each model, one seed; default folder reproduction-quick"},
    {"ablation", 0, NULL, CLI_FLAG, AT(ablation), 0, 0, " reproduce ",
     "instead of the paper's tables, what each choice of the recipe best buys, over five seeds"},
    {"only", 0, "CELLS", CLI_TEXT, AT(only), 0, 0, " reproduce ",
     "only these: data sets, rows, or patterns of DATA/ROW/SEED, separated by commas; speed is the timing of classification"},
    {"seeds", 0, "N", CLI_INTEGER, AT(seeds), 1, 99, " reproduce ", "seeds 1 to N; default 3, with --ablation 5"},
    {"jobs", 0, "N", CLI_INTEGER, AT(jobs), 1, 64, " reproduce ",
     "cells at a time, each a process of its own; default 1"},
    {"for", 0, "TIME", CLI_TEXT, AT(for_time), 0, 0, " tune ",
     "how long to search: 90s, 10m, 2h; default 10m, or no limit where --trials is said"},
    {"trials", 0, "N", CLI_INTEGER, AT(trials), 2, 10000, " tune ", "how many settings to try, at most; default 200"},
    {"jobs", 0, "N", CLI_INTEGER, AT(jobs), 1, 64, " tune ",
     "runs at a time, each a process of its own; default one for every four cores, up to 8; one on a GPU"},
    {"size", 0, "BYTES", CLI_INTEGER, AT(size), 1, WHOLE_MOST, " tune ",
     "the largest model file that may be the best; default: any"},
    {"latency", 0, "US", CLI_REAL, AT(latency), 1e-6, 1e12, " tune ",
     "the most microseconds a point that the best may take; default: any"},
    {"proba", 0, NULL, CLI_FLAG, AT(proba), 0, 0, " predict ", "add a column with the probability of each class"},
    {"winner", 0, NULL, CLI_FLAG, AT(winner), 0, 0, " predict ",
     "add the nearest exemplar (its row in the model, from 0) and the distance to it in the embedding"},
    {"reliability", 0, NULL, CLI_FLAG, AT(reliability), 0, 0, " eval ",
     "print how often labels are right, by the probability that they are given (--json has it always)"},
    {"reject", 0, "KIND", CLI_TEXT, AT(reject), 0, 0, " eval ",
     "print the error of the surest points by probability (of the label), margin (by which the nearest exemplar of another "
     "class is farther than the label's) or distance (to the nearest exemplar), and the threshold that keeps them"},
    {"keep", 0, "SHARE", CLI_REAL, AT(keep), 0.0001, 1, " eval ",
     "the share of points that --reject keeps; default: a table of 1, 0.99, 0.95, 0.9, 0.8, 0.7 and 0.5"},
    {"reject", 0, "KIND=VALUE", CLI_TEXT, AT(reject), 0, 0, " predict ",
     "leave the label empty where the model is less sure: probability or margin below VALUE, or distance above it; eval "
     "--reject KIND tells which value keeps how many"},
    {"json", 0, NULL, CLI_FLAG, AT(json), 0, 0, " eval info data methods recipes ", "print JSON"},
    {"devices", 0, NULL, CLI_FLAG, AT(devices), 0, 0, " info ",
     "print the devices that --device can name instead, one a line; why, where a GPU cannot be used"},
    {"settings", 0, NULL, CLI_FLAG, AT(list_settings), 0, 0, " methods ", "print the table of settings instead"},
    {"markdown", 0, NULL, CLI_FLAG, AT(markdown), 0, 0, " methods ", "print the table of methods in Markdown"},
    {"errors", 0, NULL, CLI_FLAG, AT(mark_errors), 0, 0, " plot ", "mark misclassified points by a dark edge"},
    {"regions", 0, NULL, CLI_FLAG, AT(regions), 0, 0, " plot ",
     "tint the regions in which the k nearest exemplars vote for a class; exact, for up to 1,000 of them"},
    {"format", 0, "svg|png|pdf|html", CLI_TEXT, AT(format), 0, 0, " plot ",
     "kind of file, html for the page of enhope view; default: what the name of the output ends in, else svg"},
    {"width", 0, "N", CLI_INTEGER, AT(width), 200, 10000, " plot ", "width of the picture in pixels, 96 an inch; default 760"},
    {"height", 0, "N", CLI_INTEGER, AT(height), 200, 10000, " plot ", "height of the picture in pixels; default 640"},
    {"scale", 0, "X", CLI_REAL, AT(scale), 0.1, 10, " plot ", "PNG: its pixels to one of --width and --height; default 1"},
    {"point", 0, "SIZE", CLI_REAL, AT(point), 0.1, 100, " plot ",
     "diameter of a dot in pixels; default: 2.2 to 6, smaller for more points, 4 to 6 for more than ten classes; less beyond 60,000 points and in "
     "pictures below 480 pixels"},
    {"font", 0, "NAME", CLI_TEXT, AT(font), 0, 0, " plot ", "font of title and legend; default sans-serif"},
    {"font-size", 0, "SIZE", CLI_REAL, AT(font_size), 4, 100, " plot ", "size of its letters in pixels; default 13"},
    {"title", 0, "TEXT", CLI_TEXT, AT(title), 0, 0, " plot view ",
     "title, '' for none; default: the method, the points and the error"},
    {"no-legend", 0, NULL, CLI_FLAG, AT(no_legend), 0, 0, " plot ", "leave the legend out"},
    {"sample", 0, "N", CLI_INTEGER, AT(sample), 1, 10000000, " view ",
     "points that are shown, the same share of every class; default: 200000, or all where they are fewer"},
    {"detail", 0, "N", CLI_INTEGER, AT(detail), 1, 10000000, " view ",
     "points whose sample (picture, fields, words) the page carries, errors first; default 10000"},
    {"bare", 0, NULL, CLI_FLAG, AT(bare), 0, 0, " view ", "carry no samples"},
    {"history", 0, NULL, CLI_FLAG, AT(history), 0, 0, " view ",
     "train once more as the model was, on the train part of the data, and let the page play it"},
    {"transpose", 0, NULL, CLI_FLAG, AT(transpose), 0, 0, " view ",
     "images are held column by column, as MAT files often hold them, and are shown upright"},
    {"in-place", 0, NULL, CLI_FLAG, AT(in_place), 0, 0, " update ", "write the new model over MODEL, as -o MODEL does"},
    {"checkpoint", 0, "DIR", CLI_TEXT, AT(checkpoint), 0, 0, " train update ",
     "keep in this folder what is trained so far: every few minutes, and when a signal ends training"},
    {"every", 0, "TIME", CLI_TEXT, AT(every), 0, 0, " train update ",
     "time between checkpoints: 90s, 5m, 2h; default 5m; 0s: after every batch"},
    {"keep", 0, "K", CLI_INTEGER, AT(kept), 1, 1000000, " train update ", "checkpoints that stay, the newest; default 3"},
    {"resume", 0, NULL, CLI_FLAG, AT(resume), 0, 0, " train update ",
     "go on from the newest checkpoint in DIR that is whole; where there is none, begin"},
    {"log", 0, "FILE", CLI_TEXT, AT(log), 0, 0, " train update ",
     "write one JSON object per epoch (epoch, loss, valid_error, seconds) to FILE"},
    {"quiet", 'q', NULL, CLI_FLAG, AT(quiet), 0, 0, " train update convert ", "no progress and no summary; warnings are still printed"},
    {"threads", 0, "N", CLI_INTEGER, AT(threads), 0, 1024, " train update tune embed predict eval plot view reproduce convert ",
     "number of threads; 0: all cores"},
    {"device", 0, "cpu|cuda|cuda:N|auto", CLI_TEXT, AT(device), 0, 0, " train update tune embed predict eval plot view reproduce ",
     "where to compute: cpu (the default), cuda (an NVIDIA GPU), cuda:N (the N-th GPU, from 0), auto (cuda where it can "
     "be used, else cpu); ref is slow double for checks"},
    {"precision", 0, "fp32|tf32|bf16", CLI_TEXT, AT(precision), 0, 0, " train update tune embed predict eval plot view reproduce ",
     "how exactly a GPU takes the inputs of matrix products: to 24, 16 or 8 bits; default fp32"},
    {"help", 'h', NULL, CLI_FLAG, AT(help), 0, 0, EVERY, "tell what the subcommand does and takes"},
    {"version", 'V', NULL, CLI_FLAG, AT(version), 0, 0, EVERY, "print the version"},
    {"man", 0, NULL, CLI_FLAG, AT(manual), 0, 0, " help ", "print the manual page in roff"},
};
/* clang-format on */
enum { OPTIONS = sizeof table / sizeof *table };

const cli_option *cli_option_get(int i)
{
    return i >= 0 && i < OPTIONS ? &table[i] : NULL;
}

bool cli_option_serves(const cli_option *option, const cli_command *command)
{
    char word[32];
    snprintf(word, sizeof word, " %s ", command->name);
    return strstr(option->commands, word) != NULL;
}

char cli_setting_letter(const enhope_setting_info *setting)
{
    if (!setting->name[1]) return setting->name[0];
    for (int i = 0; i < OPTIONS; i++)
        if (table[i].type == CLI_SETTING && !strcmp(table[i].name, setting->name)) return table[i].letter;
    return 0;
}

static const enhope_setting_info *find_setting(const char *name)
{
    for (int i = 0; i < enhope_setting_count(); i++)
        if (!strcmp(enhope_setting_get(i)->name, name)) return enhope_setting_get(i);
    return NULL;
}

/* ---- what was meant ---- */

typedef struct guess {
    const char *name;
    int distance;
} guess;

static void consider(guess *best, const char *said, const char *name)
{
    const int distance = cli_edit_distance(said, name);
    if (distance < best->distance) *best = (guess){name, distance};
}

/* A guess is worth telling when no more than a third of the word, and at least one letter, differs. */
static guess no_guess(const char *said)
{
    const int length = (int)strnlen(said, 64);
    return (guess){NULL, (length < 6 ? 2 : length / 3) + 1};
}

void cli_suggest_command(const char *name, char *buffer, size_t size)
{
    guess best = no_guess(name);
    for (int i = 0; cli_command_get(i); i++) consider(&best, name, cli_command_get(i)->name);
    buffer[0] = '\0';
    if (best.name) snprintf(buffer, size, "; did you mean '%s'?", best.name);
}

static int unknown_option(const cli_command *command, const char *said, const char *name)
{
    if (find_setting(name) && !command->takes_settings)
        return cli_usage_error(command, "unknown option '%s'; it is an option of 'enhope train'", said);
    for (int i = 0; i < OPTIONS; i++)
        if (!strcmp(table[i].name, name)) {
            const char *owner = table[i].commands + 1; /* the first that takes it */
            return cli_usage_error(command, "unknown option '%s'; it is an option of 'enhope %.*s'", said,
                                   (int)strcspn(owner, " "), owner);
        }
    guess best = no_guess(name);
    for (int i = 0; i < OPTIONS; i++)
        if (cli_option_serves(&table[i], command)) consider(&best, name, table[i].name);
    if (command->takes_settings)
        for (int i = 0; i < enhope_setting_count(); i++)
            if (enhope_setting_get(i)->name[1]) consider(&best, name, enhope_setting_get(i)->name);
    if (best.name && name[1])
        return cli_usage_error(command, "unknown option '%s'; did you mean '--%s'?", said, best.name);
    return cli_usage_error(command, "unknown option '%s'; 'enhope help %s' lists the options", said, command->name);
}

/* ---- parsing ---- */

static int store_number(const cli_command *command, const cli_option *option, const char *said, const char *value,
                        cli_options *out)
{
    char *end = NULL;
    errno = 0;
    const double number = strtod(value, &end);
    const bool whole = option->type == CLI_INTEGER;
    const bool bad = end == value || *end || errno || !isfinite(number) || (whole && number != floor(number));
    if (bad || number < option->minimum || number > option->maximum) {
        char bounds[64] = "";
        if (option->maximum >= WHOLE_MOST)
            snprintf(bounds, sizeof bounds, "from %g", option->minimum);
        else
            snprintf(bounds, sizeof bounds, "from %.10g to %.10g", option->minimum, option->maximum);
        return cli_usage_error(command, "%s is '%s': expected a %s %s", said, value, whole ? "whole number" : "number",
                               bounds);
    }
    char *field = (char *)out + option->offset;
    if (whole)
        *(int64_t *)(void *)field = (int64_t)number;
    else
        *(double *)(void *)field = number;
    return 0;
}

static int store_setting(const cli_command *command, const char *name, const char *value, cli_options *out)
{
    cli_pair *grown = realloc(out->setting, (size_t)(out->settings + 1) * sizeof *grown);
    if (!grown) return cli_usage_error(command, "out of memory");
    out->setting = grown;
    grown[out->settings++] = (cli_pair){name, value};
    return 0;
}

/* An option as said on the command line: "--factors" and the rest of its word. */
typedef struct word {
    const char *said;  /* for sentences */
    const char *name;  /* "factors", or "z" */
    const char *value; /* joined by '=' or to its letter; NULL: none */
    bool letter;
} word;

static const cli_option *find_option(const cli_command *command, const word *w)
{
    for (int i = 0; i < OPTIONS; i++)
        if (cli_option_serves(&table[i], command) &&
            (w->letter ? table[i].letter && table[i].letter == w->name[0] : !strcmp(table[i].name, w->name)))
            return &table[i];
    return NULL;
}

/* Takes one option; *next is the word after it and is passed over where it is the value. */
static int take(const cli_command *command, const word *w, char **argv, int argc, int *next, cli_options *out)
{
    const cli_option *option = find_option(command, w);
    const enhope_setting_info *setting = NULL;
    if (!option && command->takes_settings) setting = find_setting(w->name);
    if (option && option->type == CLI_SETTING) setting = find_setting(option->name);
    if ((!option && !setting) || (option && option->type == CLI_SETTING && !setting))
        return unknown_option(command, w->said, w->name);

    if (option && option->type == CLI_FLAG) {
        if (w->value) return cli_usage_error(command, "option '%s' takes no value", w->said);
        *(bool *)(void *)((char *)out + option->offset) = true;
        return 0;
    }
    const char *value = w->value;
    if (!value) {
        if (*next >= argc) return cli_usage_error(command, "option '%s' needs a value", w->said);
        value = argv[(*next)++];
    }
    if (setting) return store_setting(command, setting->name, value, out);
    if (option->type == CLI_TEXT) {
        *(const char **)(void *)((char *)out + option->offset) = value;
        return 0;
    }
    return store_number(command, option, w->said, value, out);
}

static int take_long(const cli_command *command, char **argv, int argc, int *next, cli_options *out)
{
    const char *text = argv[(*next)++];
    char said[80], *equals;
    snprintf(said, sizeof said, "%s", text);
    if ((equals = strchr(said, '='))) *equals = '\0';
    const char *value = strchr(text, '=');
    const word w = {said, said + 2, value ? value + 1 : NULL, false};
    return take(command, &w, argv, argc, next, out);
}

/* "-q", "-z 20", "-z20" and "-qz20": a flag's letter may be followed by others. */
static int take_letters(const cli_command *command, char **argv, int argc, int *next, cli_options *out)
{
    const char *text = argv[(*next)++] + 1;
    while (*text) {
        const char said[3] = {'-', *text, '\0'}, name[2] = {*text, '\0'};
        word w = {said, name, NULL, true};
        const cli_option *option = find_option(command, &w);
        text++;
        const bool flag = option && option->type == CLI_FLAG;
        if (!flag && *text) w.value = *text == '=' ? text + 1 : text;
        const int code = take(command, &w, argv, argc, next, out);
        if (code || !flag) return code;
    }
    return 0;
}

int cli_options_parse(const cli_command *command, int argc, char **argv, cli_options *out)
{
    out->command = command;
    bool only_positionals = false;
    for (int next = 0; next < argc;) {
        const char *text = argv[next];
        int code = 0;
        if (!only_positionals && !strcmp(text, "--")) {
            only_positionals = true;
            next++;
        } else if (!only_positionals && text[0] == '-' && text[1] == '-') {
            code = take_long(command, argv, argc, &next, out);
        } else if (!only_positionals && text[0] == '-' && text[1]) {
            code = take_letters(command, argv, argc, &next, out);
        } else if (out->positionals >= command->most) {
            return cli_usage_error(command, "unexpected argument '%s'; usage: enhope %s %s", text, command->name,
                                   command->arguments);
        } else {
            out->positional[out->positionals++] = text;
            next++;
        }
        if (code) return code;
    }
    if (out->help || out->version || out->positionals >= command->least) return 0;
    return cli_usage_error(command, "an argument is missing; usage: enhope %s %s", command->name, command->arguments);
}

void cli_options_free(cli_options *options)
{
    free(options->setting);
    options->setting = NULL;
    options->settings = 0;
}
