/* Prints the manual pages from the same tables as the help. man/enhope.1 is the output of
 * `enhope help --man`; the pages of the commands are written when enhope is built. */
#include <string.h>

#include "core/cli.h"

/* Escapes and wraps text for roff: '-' is a minus sign, '\' is \e, and no line starts with a
 * request. */
static void put_roff(FILE *out, const char *text)
{
    enum { LINE = 90 };
    int column = 0;
    for (; *text; text++) {
        if (column == 0 && (*text == '.' || *text == '\'')) fputs("\\&", out);
        column++;
        switch (*text) {
        case '\\': fputs("\\e", out); break;
        case '-': fputs("\\-", out); break;
        case '\n':
            fputs("\n.PP\n", out);
            column = 0;
            break;
        case ' ':
            if (column + (int)strcspn(text + 1, " \n") > LINE) column = 0;
            putc(column ? ' ' : '\n', out);
            break;
        default: putc(*text, out);
        }
    }
    putc('\n', out);
}

static void put_example(FILE *out, const char *lines)
{
    fputs(".PP\n.EX\n", out);
    for (const char *s = lines; *s; s++)
        if (*s == '-')
            fputs("\\-", out);
        else
            putc(*s, out);
    fputs("\n.EE\n", out);
}

/* A usage: the option in bold, its value in italics. */
static void put_term(FILE *out, const char *usage)
{
    fputs(".TP\n", out);
    const char *value = NULL; /* after the last space, unless that follows a comma */
    for (const char *s = usage; *s; s++)
        if (*s == ' ' && s > usage && s[-1] != ',') value = s + 1;
    fputs("\\fB", out);
    for (const char *s = usage; *s && s + 1 != value; s++) {
        if (*s == '-')
            fputs("\\-", out);
        else
            putc(*s, out);
    }
    fputs("\\fR", out);
    if (value) fprintf(out, " \\fI%s\\fR", value);
    putc('\n', out);
}

/* The options of a command; of all commands, and which these are, if it is NULL. */
static void put_options(FILE *out, const cli_command *command)
{
    char usage[128];
    fputs(".SH OPTIONS\n", out);
    put_roff(out, command ? "The value of an option is the next word or follows '='."
                          : "The value of an option is the next word or follows '='. Each entry ends with the "
                            "commands that accept it.");
    for (const cli_option *option = cli_self.options; option->name; option++) {
        if (!option->help || (command && !cli_option_serves(option, command))) continue;
        cli_option_usage(option, usage, sizeof usage);
        put_term(out, usage);
        put_roff(out, option->help);
        if (command) continue;
        fputs("(", out);
        const char *between = "";
        for (const cli_command *c = cli_self.commands; c->name && option->commands; c++)
            if (cli_option_serves(option, c)) {
                fprintf(out, "%s%s", between, c->name);
                between = ", ";
            }
        fprintf(out, "%s)\n", option->commands ? "" : "all commands");
    }
}

static void put_settings(FILE *out, const cli_command *command)
{
    char usage[128], note[768], line[sizeof note + 4];
    fputs(".SH SETTINGS\n", out);
    put_roff(out, command ? "Options of training. Each entry ends with the methods it applies to, its range or choices "
                            "and its default. The model file contains all settings."
                          : "Options of train, update and tune. Each entry ends with the methods it applies to, its "
                            "range or choices and its default. The model file contains all settings.");
    for (int i = 0; i < enhope_setting_count(); i++) {
        const enhope_setting_info *setting = enhope_setting_get(i);
        cli_setting_usage(setting, usage, sizeof usage);
        cli_setting_note(setting, note, sizeof note);
        put_term(out, usage);
        put_roff(out, setting->help);
        snprintf(line, sizeof line, "(%s)", note);
        put_roff(out, line);
    }
}

static void put_methods(FILE *out)
{
    fputs(".SH METHODS\n", out);
    for (int i = 0; i < enhope_method_count(); i++) {
        const enhope_method_info *method = enhope_method_get(i);
        put_term(out, method->name);
        put_roff(out, method->summary);
    }
}

static void put_exit_status(FILE *out)
{
    fputs(".SH EXIT STATUS\n", out);
    static const char *const codes[][2] = {
        {"0", "Done."},
        {"1", "The data, a model, a file or the device caused an error, which is printed to standard error."},
        {"2", "The command line is invalid: an unknown option or a value out of range."},
        {"130, 143, 129",
         "Training was stopped by Ctrl-C (SIGINT), SIGTERM or SIGHUP; the best model so far is saved, or a checkpoint "
         "with --checkpoint."},
        {"141", "The reader of standard output closed the pipe."},
    };
    for (size_t i = 0; i < sizeof codes / sizeof *codes; i++) {
        fprintf(out, ".TP\n\\fB%s\\fR\n", codes[i][0]);
        put_roff(out, codes[i][1]);
    }
}

void cli_manual_command(FILE *out, const cli_command *command)
{
    fprintf(out, ".\\\" Written by 'enhope help %s --man'.\n", command->name);
    fputs(".TH ENHOPE\\-", out);
    for (const char *c = command->name; *c; c++) putc(*c - 'a' + 'A', out);
    fprintf(out, " 1 \"\" \"enhope %s\" \"User Commands\"\n.SH NAME\nenhope\\-%s \\- ", enhope_version(),
            command->name);
    put_roff(out, command->summary);
    fprintf(out, ".SH SYNOPSIS\n\\fBenhope %s\\fR ", command->name);
    put_roff(out, command->arguments);
    fputs(".SH DESCRIPTION\n", out);
    put_roff(out, command->text);
    put_options(out, command);
    if (command->takes_settings) put_settings(out, command);
    fputs(".SH EXAMPLES\n", out);
    put_example(out, command->example);
    put_exit_status(out);
    fputs(".SH SEE ALSO\n.BR enhope (1)\n", out);
}

void cli_manual(FILE *out)
{
    fprintf(out, ".\\\" Written by 'enhope help --man'.\n.TH ENHOPE 1 \"\" \"enhope %s\" \"User Commands\"\n",
            enhope_version());
    fputs(".SH NAME\nenhope \\- supervised embedding and classification with a few exemplars\n.SH SYNOPSIS\n", out);
    for (const cli_command *c = cli_self.commands; c->name; c++) {
        fprintf(out, "%s\\fBenhope %s\\fR ", c > cli_self.commands ? ".br\n" : "", c->name);
        put_roff(out, c->arguments);
    }
    fputs(".SH DESCRIPTION\n", out);
    put_roff(
        out,
        "enhope learns a map from many inputs to a few dimensions in which points of a class are close together (HOPE: "
        "high-order parametric embedding), together with a few exemplars of each class (en-HOPE). A new point is "
        "placed "
        "by the map and gets the class of the nearest exemplars.");
    fputs(".SH COMMANDS\n", out);
    for (const cli_command *command = cli_self.commands; command->name; command++) {
        fprintf(out, ".SS enhope %s\n", command->name);
        put_roff(out, command->text);
        put_example(out, command->example);
    }
    put_options(out, NULL);
    put_settings(out, NULL);
    put_methods(out);
    fputs(".SH ENVIRONMENT\n", out);
    static const char *const variables[][2] = {
        {"OMP_NUM_THREADS", "Number of CPU threads without --threads."},
        {"LD_LIBRARY_PATH", "Search path for the plug-ins, such as libenhope_cuda.so and libenhope_mpi.so, besides the "
                            "folder of libenhope."},
        {"CUDA_VISIBLE_DEVICES", "The GPUs that the program may use, as for all CUDA programs."},
        {"ENHOPE_GPU_MEMORY", "Maximum bytes of data in the memory of a GPU; larger data is streamed. Default: three "
                              "quarters of the free memory."},
        {"ENHOPE_MPI_TIMEOUT", "Seconds that a rank waits for the others before it ends the run; default 600; 0: for "
                               "ever."},
    };
    for (size_t i = 0; i < sizeof variables / sizeof *variables; i++) {
        fprintf(out, ".TP\n\\fB%s\\fR\n", variables[i][0]);
        put_roff(out, variables[i][1]);
    }
    put_exit_status(out);
    fputs(".SH FILES\n", out);
    put_roff(out, "A model is one safetensors file: an 8-byte length, a JSON header, raw little-endian tensors. It is "
                  "written to "
                  "a temporary file and renamed, so that an old model is intact until the new one is complete.");
}
