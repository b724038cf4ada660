/* The parser of command lines. Options are in the table of the program, settings of training in the
 * table of the library. */
#define _DEFAULT_SOURCE 1
#include <errno.h>
#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "core/cli.h"

bool cli_option_serves(const cli_option *option, const cli_command *command)
{
    char word[32];
    if (!option->commands) return true;
    snprintf(word, sizeof word, " %s ", command->name);
    return strstr(option->commands, word) != NULL;
}

char cli_setting_letter(const enhope_setting_info *setting)
{
    for (const cli_option *o = cli_self.options; o->name; o++)
        if (o->type == CLI_SETTING && !strcmp(o->name, setting->name)) return o->letter;
    return 0;
}

void cli_option_name(const char *setting, char *buffer, size_t size)
{
    snprintf(buffer, size, "%s", setting);
    for (char *at = strchr(buffer, '_'); at; at = strchr(at, '_')) *at = '-';
}

static bool same_name(const char *setting, const char *option)
{
    char name[CLI_NAME];
    cli_option_name(setting, name, sizeof name);
    return !strcmp(name, option) || !strcmp(setting, option);
}

static const enhope_setting_info *find_setting(const char *name)
{
    for (int i = 0; i < enhope_setting_count(); i++)
        if (same_name(enhope_setting_get(i)->name, name)) return enhope_setting_get(i);
    return NULL;
}

/* ---- suggestions for misspelled names ---- */

typedef struct guess {
    const char *name;
    int distance;
} guess;

/* The prefix "n_" of a name need not be in `written`. */
static void consider(guess *best, const char *written, const char *name)
{
    int distance = cli_edit_distance(written, name);
    if (!strncmp(name, "n_", 2)) {
        const int rest = cli_edit_distance(written, name + 2);
        if (rest < distance) distance = rest;
    }
    if (distance < best->distance) *best = (guess){name, distance};
}

/* The start of a search for the nearest name. A name is suggested if at most a third of the letters
 * differ, or two letters of a short name. */
static guess start_guess(const char *written)
{
    const int length = (int)strnlen(written, 64);
    return (guess){NULL, (length < 6 ? 2 : length / 3) + 1};
}

void cli_suggest_command(const char *name, char *buffer, size_t size)
{
    guess best = start_guess(name);
    for (const cli_command *c = cli_self.commands; c->name; c++) consider(&best, name, c->name);
    if (!strcmp(name, "reproduce"))
        snprintf(buffer, size, "; use the program enhope-reproduce");
    else if (best.name)
        snprintf(buffer, size, "; did you mean '%s'?", best.name);
    else
        snprintf(buffer, size, "; run 'enhope help' for the list of commands");
}

/* Options other than settings that had another name in version 0.1. */
static const struct {
    const char *old, *now;
} renamed[] = {{"against", "references"}, {"centres", "centers"}};

static bool serves(const cli_command *command, const char *name)
{
    if (command->takes_settings && find_setting(name)) return true;
    for (const cli_option *o = cli_self.options; o->name; o++)
        if (!strcmp(o->name, name) && cli_option_serves(o, command)) return true;
    return false;
}

/* An option of an earlier version: 0 if there is none of this name. */
static int old_option(const cli_command *command, const char *written, const char *name)
{
    char now[CLI_NAME] = "";
    const char *setting = enhope_setting_current_name(name);
    if (setting && !*setting && command->takes_settings)
        return cli_usage_error(command, "%s was removed: leave it out", written);
    if (setting) cli_option_name(setting, now, sizeof now);
    for (size_t i = 0; i < sizeof renamed / sizeof *renamed; i++)
        if (!strcmp(renamed[i].old, name)) snprintf(now, sizeof now, "%s", renamed[i].now);
    return *now && serves(command, now) ? cli_usage_error(command, "%s is now --%s", written, now) : 0;
}

static int unknown_option(const cli_command *command, const char *written, const char *name)
{
    const int code = written[1] == '-' ? old_option(command, written, name) : 0;
    if (code) return code;
    if (find_setting(name) && !command->takes_settings)
        return cli_usage_error(command, "unknown option '%s'; it is an option of 'enhope train'", written);
    for (const cli_option *o = cli_self.options; o->name; o++)
        if (!strcmp(o->name, name) && o->commands) {
            const char *owner = o->commands + 1; /* the first command with this option */
            return cli_usage_error(command, "unknown option '%s'; it is an option of 'enhope %.*s'", written,
                                   (int)strcspn(owner, " "), owner);
        }
    guess best = start_guess(name);
    for (const cli_option *o = cli_self.options; o->name; o++)
        if (cli_option_serves(o, command)) consider(&best, name, o->name);
    if (command->takes_settings)
        for (int i = 0; i < enhope_setting_count(); i++) consider(&best, name, enhope_setting_get(i)->name);
    if (best.name && name[1]) {
        char meant[CLI_NAME];
        cli_option_name(best.name, meant, sizeof meant);
        return cli_usage_error(command, "unknown option '%s'; did you mean '--%s'?", written, meant);
    }
    return cli_usage_error(command, "unknown option '%s'; run '%s %s%s' for the list of options", written,
                           cli_self.name, cli_many_commands() ? "help " : "--help",
                           cli_many_commands() ? command->name : "");
}

/* ---- parsing ---- */

static int store_number(const cli_command *command, const cli_option *option, const char *written, const char *value,
                        cli_options *out)
{
    char *end = NULL;
    errno = 0;
    const double number = strtod(value, &end);
    const bool whole = option->type == CLI_INTEGER;
    const bool bad = end == value || *end || errno || !isfinite(number) || (whole && number != floor(number));
    if (bad || number < option->minimum || number > option->maximum) {
        char bounds[64] = "";
        if (option->maximum >= CLI_INTEGER_MAX)
            snprintf(bounds, sizeof bounds, "from %g", option->minimum);
        else
            snprintf(bounds, sizeof bounds, "from %.10g to %.10g", option->minimum, option->maximum);
        return cli_usage_error(command, "%s is '%s': expected a %s %s", written, value,
                               whole ? "whole number" : "number", bounds);
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

/* An option as written on the command line. */
typedef struct word {
    const char *written; /* for sentences */
    const char *name;    /* "n-factors" or "z" */
    const char *value;   /* after '=' or after the letter; NULL: none */
    bool letter;
} word;

static const cli_option *find_option(const cli_command *command, const word *w)
{
    for (const cli_option *o = cli_self.options; o->name; o++)
        if (cli_option_serves(o, command) &&
            (w->letter ? o->letter && o->letter == w->name[0] : !strcmp(o->name, w->name)))
            return o;
    return NULL;
}

/* Parses one option. *next is the index of the next word, and is advanced if that word is the
 * value. */
static int parse_option(const cli_command *command, const word *w, char **argv, int argc, int *next, cli_options *out)
{
    const cli_option *option = find_option(command, w);
    const enhope_setting_info *setting = NULL;
    if (!option && command->takes_settings) setting = find_setting(w->name);
    if (option && option->type == CLI_SETTING) setting = find_setting(option->name);
    if ((!option && !setting) || (option && option->type == CLI_SETTING && !setting))
        return unknown_option(command, w->written, w->name);

    if (option && option->type == CLI_FLAG) {
        if (w->value) return cli_usage_error(command, "option '%s' takes no value; remove it", w->written);
        *(bool *)(void *)((char *)out + option->offset) = true;
        return 0;
    }
    const char *value = w->value;
    if (!value) {
        if (*next >= argc) return cli_usage_error(command, "option '%s' needs a value", w->written);
        value = argv[(*next)++];
    }
    if (setting) return store_setting(command, setting->name, value, out);
    if (option->type == CLI_TEXT) {
        *(const char **)(void *)((char *)out + option->offset) = value;
        return 0;
    }
    return store_number(command, option, w->written, value, out);
}

static int parse_long(const cli_command *command, char **argv, int argc, int *next, cli_options *out)
{
    const char *text = argv[(*next)++];
    char written[80], *equals;
    snprintf(written, sizeof written, "%s", text);
    if ((equals = strchr(written, '='))) *equals = '\0';
    const char *value = strchr(text, '=');
    const word w = {written, written + 2, value ? value + 1 : NULL, false};
    return parse_option(command, &w, argv, argc, next, out);
}

/* "-q", "-z 20", "-z20" and "-qz20": other letters may follow the letter of a flag. */
static int parse_letters(const cli_command *command, char **argv, int argc, int *next, cli_options *out)
{
    const char *text = argv[(*next)++] + 1;
    while (*text) {
        const char written[3] = {'-', *text, '\0'}, name[2] = {*text, '\0'};
        word w = {written, name, NULL, true};
        const cli_option *option = find_option(command, &w);
        text++;
        const bool flag = option && option->type == CLI_FLAG;
        if (!flag && *text) w.value = *text == '=' ? text + 1 : text;
        const int code = parse_option(command, &w, argv, argc, next, out);
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
            code = parse_long(command, argv, argc, &next, out);
        } else if (!only_positionals && text[0] == '-' && text[1]) {
            code = parse_letters(command, argv, argc, &next, out);
        } else if (out->positionals >= command->max_positionals) {
            return cli_usage_error(command, "unexpected argument '%s'; usage: %s %s", text, cli_title(command),
                                   command->arguments);
        } else {
            out->positional[out->positionals++] = text;
            next++;
        }
        if (code) return code;
    }
    if (out->help || out->version || out->positionals >= command->min_positionals) return 0;
    return cli_usage_error(command, "missing argument; usage: %s %s", cli_title(command), command->arguments);
}

void cli_options_free(cli_options *options)
{
    free(options->setting);
    options->setting = NULL;
    options->settings = 0;
}
