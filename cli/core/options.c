/* The parser of command lines. Options come from the program's table, settings of training from the library's. */
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

/* ---- what was meant ---- */

typedef struct guess {
    const char *name;
    int distance;
} guess;

/* The prefix "n_" of a name need not be in `said`. */
static void consider(guess *best, const char *said, const char *name)
{
    int distance = cli_edit_distance(said, name);
    if (!strncmp(name, "n_", 2)) {
        const int rest = cli_edit_distance(said, name + 2);
        if (rest < distance) distance = rest;
    }
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
    for (const cli_command *c = cli_self.commands; c->name; c++) consider(&best, name, c->name);
    if (!strcmp(name, "reproduce"))
        snprintf(buffer, size, "; it is a program of its own: enhope-reproduce");
    else if (best.name)
        snprintf(buffer, size, "; did you mean '%s'?", best.name);
    else
        snprintf(buffer, size, "; 'enhope help' lists the commands");
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
static int old_option(const cli_command *command, const char *said, const char *name)
{
    char now[CLI_NAME] = "";
    const char *setting = enhope_setting_current_name(name);
    if (setting && !*setting && command->takes_settings)
        return cli_usage_error(command, "%s was removed: leave it out", said);
    if (setting) cli_option_name(setting, now, sizeof now);
    for (size_t i = 0; i < sizeof renamed / sizeof *renamed; i++)
        if (!strcmp(renamed[i].old, name)) snprintf(now, sizeof now, "%s", renamed[i].now);
    return *now && serves(command, now) ? cli_usage_error(command, "%s is now --%s", said, now) : 0;
}

static int unknown_option(const cli_command *command, const char *said, const char *name)
{
    const int code = said[1] == '-' ? old_option(command, said, name) : 0;
    if (code) return code;
    if (find_setting(name) && !command->takes_settings)
        return cli_usage_error(command, "unknown option '%s'; it is an option of 'enhope train'", said);
    for (const cli_option *o = cli_self.options; o->name; o++)
        if (!strcmp(o->name, name) && o->commands) {
            const char *owner = o->commands + 1; /* the first that takes it */
            return cli_usage_error(command, "unknown option '%s'; it is an option of 'enhope %.*s'", said,
                                   (int)strcspn(owner, " "), owner);
        }
    guess best = no_guess(name);
    for (const cli_option *o = cli_self.options; o->name; o++)
        if (cli_option_serves(o, command)) consider(&best, name, o->name);
    if (command->takes_settings)
        for (int i = 0; i < enhope_setting_count(); i++) consider(&best, name, enhope_setting_get(i)->name);
    if (best.name && name[1]) {
        char meant[CLI_NAME];
        cli_option_name(best.name, meant, sizeof meant);
        return cli_usage_error(command, "unknown option '%s'; did you mean '--%s'?", said, meant);
    }
    return cli_usage_error(command, "unknown option '%s'; '%s %s%s' lists the options", said, cli_self.name,
                           cli_many_commands() ? "help " : "--help", cli_many_commands() ? command->name : "");
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
        if (option->maximum >= CLI_WHOLE_MOST)
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

/* An option as said on the command line: "--n-factors" and the rest of its word. */
typedef struct word {
    const char *said;  /* for sentences */
    const char *name;  /* "n-factors", or "z" */
    const char *value; /* joined by '=' or to its letter; NULL: none */
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
            return cli_usage_error(command, "unexpected argument '%s'; usage: %s %s", text, cli_title(command),
                                   command->arguments);
        } else {
            out->positional[out->positionals++] = text;
            next++;
        }
        if (code) return code;
    }
    if (out->help || out->version || out->positionals >= command->least) return 0;
    return cli_usage_error(command, "an argument is missing; usage: %s %s", cli_title(command), command->arguments);
}

void cli_options_free(cli_options *options)
{
    free(options->setting);
    options->setting = NULL;
    options->settings = 0;
}
