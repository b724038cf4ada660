/* Prints the help from the tables of commands, options and settings, wrapped to the terminal. */
#include <string.h>

#include "core/cli.h"

enum { WIDTH = 100, COLUMN = 26 }; /* of a line; of the text of an option */

void cli_option_usage(const cli_option *option, char *buffer, size_t size)
{
    char letter[8] = "";
    if (option->letter) snprintf(letter, sizeof letter, "-%c, ", option->letter);
    snprintf(buffer, size, "%s--%s%s%s", letter, option->name, option->value ? " " : "",
             option->value ? option->value : "");
}

void cli_setting_usage(const enhope_setting_info *setting, char *buffer, size_t size)
{
    const char letter = cli_setting_letter(setting);
    const char *value = setting->type == ENHOPE_SETTING_INTEGER ? "N"
                        : setting->type == ENHOPE_SETTING_REAL  ? "X"
                        : setting->type == ENHOPE_SETTING_TEXT  ? setting->choices
                                                                : "NAME";
    char start[8] = "";
    char name[CLI_NAME];
    if (letter) snprintf(start, sizeof start, "-%c, ", letter);
    cli_option_name(setting->name, name, sizeof name);
    snprintf(buffer, size, "%s--%s %s", start, name, value);
}

/* Choices. A long list is separated by spaces, so that lines can wrap. */
static void put_choices(const char *choices, char *buffer, size_t size)
{
    enum { MANY = 60 };
    const bool wide = strlen(choices) > MANY;
    size_t used = 0;
    for (; *choices && used + 4 < size; choices++)
        used += (size_t)snprintf(buffer + used, size - used, wide && *choices == '|' ? " %c " : "%c", *choices);
    buffer[used] = '\0';
}

void cli_setting_range(const enhope_setting_info *setting, char *buffer, size_t size)
{
    if (setting->type == ENHOPE_SETTING_CHOICE)
        put_choices(setting->choices ? setting->choices : "", buffer, size);
    else if (setting->type == ENHOPE_SETTING_TEXT)
        snprintf(buffer, size, "text");
    else
        snprintf(buffer, size, "%.15g to %.15g", setting->minimum, setting->maximum);
}

void cli_setting_note(const enhope_setting_info *setting, char *buffer, size_t size)
{
    char range[512];
    cli_setting_range(setting, range, sizeof range);
    snprintf(buffer, size, "%s; %s; default %s", setting->applies, range, setting->initial);
}

static void put_entry(FILE *out, const char *left, const char *text)
{
    const int wide = fprintf(out, "  %s", left);
    if (wide + 2 > COLUMN)
        fprintf(out, "\n%*s", COLUMN, "");
    else
        fprintf(out, "%*s", COLUMN - wide, "");
    cli_put_wrapped(out, text, COLUMN, COLUMN, WIDTH);
}

void cli_help_brief(const char *help, char *buffer, size_t size)
{
    size_t length = strcspn(help, ":;");
    const char *stop = strstr(help, ". ");
    if (stop && (size_t)(stop - help) < length) length = (size_t)(stop - help);
    snprintf(buffer, size, "%.*s", (int)length, help);
}

static bool is_common(const char *name)
{
    char word[CLI_NAME + 2];
    snprintf(word, sizeof word, " %s ", name);
    return cli_self.common && strstr(cli_self.common, word);
}

/* The first option or the setting of each name in the list of common ones, with brief texts. */
static void put_common(FILE *out)
{
    char left[128], text[256];
    for (const cli_option *o = cli_self.options; o->name; o++) {
        if (!o->help || !is_common(o->name)) continue;
        bool repeated = false; /* several rows describe one option for different commands */
        for (const cli_option *before = cli_self.options; before < o; before++)
            if (!strcmp(before->name, o->name)) repeated = true;
        if (repeated) continue;
        cli_option_usage(o, left, sizeof left);
        cli_help_brief(o->help, text, sizeof text);
        put_entry(out, left, text);
    }
    for (int i = 0; i < enhope_setting_count(); i++) {
        const enhope_setting_info *setting = enhope_setting_get(i);
        if (!is_common(setting->name)) continue;
        cli_setting_usage(setting, left, sizeof left);
        cli_help_brief(setting->help, text, sizeof text);
        put_entry(out, left, text);
    }
}

void cli_help_overview(FILE *out)
{
    fprintf(out,
            "enhope %s: supervised embedding and classification with a few exemplars (en-HOPE, HOPE)\n\n"
            "usage: enhope COMMAND [OPTIONS]\n\n",
            enhope_version());
    for (const cli_group *group = cli_self.groups; group->title; group++) {
        fprintf(out, "%s\n", group->title);
        for (const char *name = group->commands + 1; *name; name += strcspn(name, " ") + 1) {
            char word[CLI_NAME];
            snprintf(word, sizeof word, "%.*s", (int)strcspn(name, " "), name);
            const cli_command *c = cli_command_find(word);
            if (c) fprintf(out, "  %-11s%s\n", c->name, c->summary);
        }
        putc('\n', out);
    }
    fputs("common options\n", out);
    put_common(out);
    fprintf(out, "\nRun 'enhope help COMMAND' for the options of a command.\n"
                 "\nfor example\n"
                 "  enhope examples .\n"
                 "  enhope train --data iris.csv --label species -o iris.safetensors\n"
                 "  enhope eval iris.safetensors --data test.csv\n");
}

static void put_settings(FILE *out, bool common, bool heading)
{
    char left[128], text[1024], note[768];
    for (int i = 0; i < enhope_setting_count(); i++) {
        const enhope_setting_info *setting = enhope_setting_get(i);
        if (is_common(setting->name) != common) continue;
        if (heading) fputs("\nsettings\n", out);
        heading = false;
        cli_setting_usage(setting, left, sizeof left);
        cli_setting_note(setting, note, sizeof note);
        snprintf(text, sizeof text, "%s (%s)", setting->help, note);
        put_entry(out, left, text);
    }
}

/* The common options of a command, or the others, and its settings. */
static void put_options(FILE *out, const cli_command *command, bool common)
{
    char left[128];
    bool heading = true;
    for (const cli_option *option = cli_self.options; option->name; option++) {
        if (!option->help || !cli_option_serves(option, command) || is_common(option->name) != common) continue;
        if (heading) fprintf(out, "\n%s\n", common ? "common options" : "options");
        heading = false;
        cli_option_usage(option, left, sizeof left);
        put_entry(out, left, option->help);
    }
    if (command->takes_settings) put_settings(out, common, !common);
}

void cli_help_command(FILE *out, const cli_command *command)
{
    fprintf(out, "%s: %s\n\nusage: %s %s\n\n", cli_title(command), command->summary, cli_title(command),
            command->arguments);
    cli_put_wrapped(out, command->text, 0, 0, WIDTH);
    put_options(out, command, true);
    put_options(out, command, false);
    fputs("\nfor example\n", out);
    for (const char *line = command->example; *line;) {
        const size_t length = strcspn(line, "\n");
        fprintf(out, "  %.*s\n", (int)length, line);
        line += length + (line[length] == '\n');
    }
}

int cmd_help(const cli_options *options)
{
    if (!options->positionals) {
        (options->list.manual ? cli_manual : cli_help_overview)(stdout);
        return 0;
    }
    const char *name = options->positional[0];
    const cli_command *command = cli_command_find(name);
    if (!command) {
        char meant[64];
        cli_suggest_command(name, meant, sizeof meant);
        return cli_usage_error(options->command, "unknown command '%s'%s", name, meant);
    }
    (options->list.manual ? cli_manual_command : cli_help_command)(stdout, command);
    return 0;
}
