/* enhope completion: prints a script that completes commands, options and choices in bash, zsh or
 * fish. The script is written from the tables of the command, so it never runs enhope. */
#include <ctype.h>
#include <string.h>

#include "core/cli.h"

/* An option or a setting of a command. */
typedef struct entry {
    char name[CLI_NAME];
    char letter;       /* 0: none */
    const char *value; /* of the usage, "train|test"; NULL: a flag */
    char brief[256];
} entry;

/* The entry at index *at, which is advanced; false after the last one. */
static bool next_entry(const cli_command *command, int *at, entry *out)
{
    int options = 0;
    for (const cli_option *o = cli_self.options; o->name; o++, options++) {
        if (options < *at || !o->help || !cli_option_serves(o, command)) continue;
        *at = options + 1;
        *out = (entry){.letter = o->letter, .value = o->value};
        snprintf(out->name, sizeof out->name, "%s", o->name);
        cli_help_brief(o->help, out->brief, sizeof out->brief);
        return true;
    }
    if (*at < options) *at = options;
    if (!command->takes_settings || *at - options >= enhope_setting_count()) return false;
    const enhope_setting_info *setting = enhope_setting_get((*at)++ - options);
    *out = (entry){.letter = cli_setting_letter(setting), .value = setting->choices ? setting->choices : "N"};
    cli_option_name(setting->name, out->name, sizeof out->name);
    cli_help_brief(setting->help, out->brief, sizeof out->brief);
    return true;
}

/* The choices in a text such as "cpu|cuda|cuda:N|auto", separated by spaces: the words without
 * capital letters. Empty: there are none. */
static void find_choices(const char *text, char *buffer, size_t size)
{
    size_t used = 0;
    buffer[0] = '\0';
    while (text && *text && *text != ' ') {
        const size_t length = strcspn(text, "| ");
        bool word = length > 0;
        for (size_t i = 0; i < length; i++)
            if (!islower((unsigned char)text[i]) && !isdigit((unsigned char)text[i]) && !strchr("_+-", text[i]))
                word = false;
        if (word && used + length + 2 < size)
            used += (size_t)snprintf(buffer + used, size - used, "%s%.*s", used ? " " : "", (int)length, text);
        text += length + (text[length] == '|');
    }
}

/* The choices of the first argument that is not an option. */
static void find_arguments(const cli_command *command, char *buffer, size_t size)
{
    find_choices(command->arguments, buffer, size);
    if (strcmp(command->name, "help") != 0) return;
    size_t used = 0;
    for (const cli_command *c = cli_self.commands; c->name; c++)
        used += (size_t)snprintf(buffer + used, size - used, "%s%s", used ? " " : "", c->name);
}

/* Text between single quotes; `special` characters get a backslash, and quotes are left out. */
static void put_quoted(const char *text, const char *special)
{
    for (; *text; text++) {
        if (*text == '\'') continue;
        if (strchr(special, *text)) putchar('\\');
        putchar(*text);
    }
}

/* ---- bash: the script ends with file names if it has found no words ---- */

static void put_bash_command(const cli_command *command)
{
    char choices[1024];
    entry e;
    printf("    %s)\n        options='", command->name);
    for (int at = 0; next_entry(command, &at, &e);) printf("--%s ", e.name);
    find_arguments(command, choices, sizeof choices);
    printf("' words='%s'\n        case $before in\n", choices);
    for (int at = 0; next_entry(command, &at, &e);) {
        if (!e.value) continue;
        find_choices(e.value, choices, sizeof choices);
        printf("        --%s", e.name);
        if (e.letter) printf("|-%c", e.letter);
        printf(") words='%s' ;;\n", choices);
    }
    puts("        esac ;;");
}

static void put_bash(void)
{
    puts("# bash completion for enhope, written by 'enhope completion bash'\n_enhope()\n{\n"
         "    local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} options='' words=''\n"
         "    if [[ $word == = ]]; then word=''\n"
         "    elif [[ $before == = ]]; then before=${COMP_WORDS[COMP_CWORD-2]}; fi\n"
         "    case ${COMP_WORDS[1]} in");
    for (const cli_command *c = cli_self.commands; c->name; c++) put_bash_command(c);
    fputs("    esac\n    if [ \"$COMP_CWORD\" = 1 ]; then\n        words='--help --version", stdout);
    for (const cli_command *c = cli_self.commands; c->name; c++) printf(" %s", c->name);
    puts("'\n    elif [[ $word == -* ]]; then\n        words=$options\n    fi\n"
         "    # shellcheck disable=SC2207\n"
         "    COMPREPLY=($(compgen -W \"$words\" -- \"$word\"))\n}\n"
         "complete -o bashdefault -o default -F _enhope enhope");
}

/* ---- zsh ---- */

static void put_zsh_entry(const entry *e)
{
    char choices[1024];
    if (e->letter)
        printf(" \\\n            '(-%c --%s)'{-%c%s,--%s%s}'[", e->letter, e->name, e->letter, e->value ? "+" : "",
               e->name, e->value ? "=" : "");
    else
        printf(" \\\n            '--%s%s[", e->name, e->value ? "=" : "");
    put_quoted(e->brief, "[]:\\");
    putchar(']');
    if (e->value) {
        find_choices(e->value, choices, sizeof choices);
        fputs(":value:", stdout);
        if (*choices)
            printf("(%s)", choices);
        else
            fputs("_files", stdout);
    }
    putchar('\'');
}

static void put_zsh(void)
{
    char choices[1024];
    entry e;
    puts("#compdef enhope\n# zsh completion for enhope, written by 'enhope completion zsh'\n_enhope()\n{\n"
         "    local -a commands\n    commands=(");
    for (const cli_command *c = cli_self.commands; c->name; c++) {
        printf("        '%s:", c->name);
        put_quoted(c->summary, ":\\");
        puts("'");
    }
    puts("    )\n    if (( CURRENT == 2 )); then\n        _describe command commands\n        return\n    fi\n"
         "    shift words\n    (( CURRENT-- ))\n    case $words[1] in");
    for (const cli_command *c = cli_self.commands; c->name; c++) {
        printf("    %s)\n        _arguments", c->name);
        for (int at = 0; next_entry(c, &at, &e);) put_zsh_entry(&e);
        find_arguments(c, choices, sizeof choices);
        if (*choices)
            printf(" \\\n            '*:argument:(%s)' ;;\n", choices);
        else
            puts(" \\\n            '*:file:_files' ;;");
    }
    puts("    esac\n}\nif [ \"$funcstack[1]\" = _enhope ]; then _enhope \"$@\"; else compdef _enhope enhope; fi");
}

/* ---- fish ---- */

static void put_fish(void)
{
    char choices[1024];
    entry e;
    puts("# fish completion for enhope, written by 'enhope completion fish'");
    for (const cli_command *c = cli_self.commands; c->name; c++) {
        printf("complete -c enhope -n __fish_use_subcommand -f -a %s -d '", c->name);
        put_quoted(c->summary, "\\");
        puts("'");
    }
    for (const cli_command *c = cli_self.commands; c->name; c++) {
        char start[CLI_NAME + 64];
        snprintf(start, sizeof start, "complete -c enhope -n '__fish_seen_subcommand_from %s'", c->name);
        find_arguments(c, choices, sizeof choices);
        if (*choices) printf("%s -f -a '%s'\n", start, choices);
        for (int at = 0; next_entry(c, &at, &e);) {
            printf("%s -l %s", start, e.name);
            if (e.letter) printf(" -s %c", e.letter);
            find_choices(e.value, choices, sizeof choices);
            if (*choices)
                printf(" -x -a '%s'", choices);
            else if (e.value)
                fputs(" -r", stdout);
            fputs(" -d '", stdout);
            put_quoted(e.brief, "\\");
            puts("'");
        }
    }
}

int cmd_completion(const cli_options *options)
{
    static const struct {
        const char *name;
        void (*put)(void);
    } shells[] = {{"bash", put_bash}, {"zsh", put_zsh}, {"fish", put_fish}};
    for (size_t i = 0; i < sizeof shells / sizeof *shells; i++)
        if (!strcmp(options->positional[0], shells[i].name)) {
            shells[i].put();
            return 0;
        }
    return cli_usage_error(options->command, "unknown shell '%s'; expected bash, zsh or fish", options->positional[0]);
}
