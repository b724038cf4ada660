/* main() of enhope and enhope-reproduce: selects the command in the table and runs it. */
#define _DEFAULT_SOURCE 1
#include <signal.h>
#include <string.h>

#include "core/cli.h"

bool cli_many_commands(void)
{
    return cli_self.commands[1].name != NULL;
}

const cli_command *cli_command_find(const char *name)
{
    for (const cli_command *c = cli_self.commands; c->name; c++)
        if (!strcmp(c->name, name)) return c;
    return NULL;
}

const char *cli_title(const cli_command *command)
{
    static char title[64];
    if (!cli_many_commands()) return cli_self.name;
    snprintf(title, sizeof title, "%s %s", cli_self.name, command->name);
    return title;
}

static int print_version(void)
{
    printf("%s %s\n", cli_self.name, enhope_version());
    return 0;
}

/* argv: the words after the name of the command. */
static int run_command(const cli_command *command, int argc, char **argv)
{
    if (cli_ranks() > 1 && command->sharing == CLI_ALONE)
        return cli_usage_error(command, "cannot run under mpirun; start it as one process, or as a job array");
    if (cli_rank() && command->sharing == CLI_BY_RANK_0) return 0; /* rank 0 runs it */
    cli_options options = {0};
    int code = cli_options_parse(command, argc, argv, &options);
    if (!code && options.help)
        cli_help_command(stdout, command);
    else if (!code && options.version)
        code = print_version();
    else if (!code)
        code = command->run(&options);
    cli_options_free(&options);
    return code;
}

static int run(int argc, char **argv)
{
    if (!cli_many_commands()) return run_command(cli_self.commands, argc - 1, argv + 1);
    if (argc < 2) {
        if (!cli_rank()) cli_help_overview(stderr);
        return CLI_USAGE;
    }
    const char *name = argv[1];
    if (!strcmp(name, "--version") || !strcmp(name, "-V")) return print_version();
    if (!strcmp(name, "--help") || !strcmp(name, "-h")) {
        cli_help_overview(stdout);
        return 0;
    }
    const cli_command *command = cli_command_find(name);
    if (command) return run_command(command, argc - 2, argv + 2);
    char meant[64];
    cli_suggest_command(name, meant, sizeof meant);
    cli_error("unknown command '%s'%s", name, meant);
    return CLI_USAGE;
}

int main(int argc, char **argv)
{
    cli_threads_begin();
    /* Report closed pipes and file size limits as errors of write instead of ending the program. */
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN);
    int code = cli_ranks_join();
    if (!code) code = run(argc, argv);
    return cli_ranks_leave(cli_stdout_finish(code));
}
