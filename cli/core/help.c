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

void cli_help_overview(FILE *out)
{
    fprintf(out,
            "enhope %s: supervised embedding and classification with a few exemplars (en-HOPE, HOPE)\n\n"
            "usage: enhope COMMAND [OPTIONS]\n\n",
            enhope_version());
    for (const cli_command *c = cli_self.commands; c->name; c++) fprintf(out, "  %-11s%s\n", c->name, c->summary);
    fprintf(out, "\nRun 'enhope help COMMAND' for the options of a command.\n"
                 "\nfor example\n"
                 "  enhope train --data synthetic:digits,n=3000,seed=1 -o digits.safetensors\n"
                 "  enhope eval digits.safetensors --data synthetic:digits,n=1000,seed=1\n");
}

void cli_help_command(FILE *out, const cli_command *command)
{
    char left[128], text[1024], note[768];
    fprintf(out, "%s: %s\n\nusage: %s %s\n\n", cli_title(command), command->summary, cli_title(command),
            command->arguments);
    cli_put_wrapped(out, command->text, 0, 0, WIDTH);
    fputs("\noptions\n", out);
    for (const cli_option *option = cli_self.options; option->name; option++) {
        if (!option->help || !cli_option_serves(option, command)) continue;
        cli_option_usage(option, left, sizeof left);
        put_entry(out, left, option->help);
    }
    if (command->takes_settings) {
        fputs("\nsettings\n", out);
        for (int i = 0; i < enhope_setting_count(); i++) {
            const enhope_setting_info *setting = enhope_setting_get(i);
            cli_setting_usage(setting, left, sizeof left);
            cli_setting_note(setting, note, sizeof note);
            snprintf(text, sizeof text, "%s (%s)", setting->help, note);
            put_entry(out, left, text);
        }
    }
    fputs("\nfor example\n", out);
    for (const char *line = command->example; *line;) {
        const size_t length = strcspn(line, "\n");
        fprintf(out, "  %.*s\n", (int)length, line);
        line += length + (line[length] == '\n');
    }
}

int cmd_help(const cli_options *options)
{
    if (options->list.manual) {
        cli_manual(stdout);
        return 0;
    }
    if (!options->positionals) {
        cli_help_overview(stdout);
        return 0;
    }
    const char *name = options->positional[0];
    const cli_command *command = cli_command_find(name);
    if (!command) {
        char meant[64];
        cli_suggest_command(name, meant, sizeof meant);
        return cli_usage_error(options->command, "unknown command '%s'%s", name, meant);
    }
    cli_help_command(stdout, command);
    return 0;
}
