/* enhope methods: prints the tables of methods and settings as text, JSON or Markdown. */
#include <stddef.h>
#include <string.h>

#include "core/cli.h"

/* A column: its heading, its JSON key and its field. */
typedef struct column {
    const char *title, *key;
    size_t offset; /* of a const char * in enhope_method_info */
} column;

static const column columns[] = {
    {"method", "name", offsetof(enhope_method_info, name)},
    {"map", "map", offsetof(enhope_method_info, map)},
    {"similarity", "similarity", offsetof(enhope_method_info, similarity)},
    {"normalizer", "normalizer", offsetof(enhope_method_info, normalizer)},
    {"target", "target", offsetof(enhope_method_info, target)},
    {"compared with", "compared", offsetof(enhope_method_info, compared)},
    {"solver", "solver", offsetof(enhope_method_info, solver)},
    {"published", "published", offsetof(enhope_method_info, published)},
    {"summary", "summary", offsetof(enhope_method_info, summary)},
};
enum { COLUMNS = sizeof columns / sizeof *columns };

static const char *field(const enhope_method_info *method, const column *at)
{
    const char *text = *(const char *const *)(const void *)((const char *)method + at->offset);
    return text ? text : "-";
}

static void put_methods_json(void)
{
    putchar('[');
    for (int i = 0; i < enhope_method_count(); i++) {
        fputs(i ? ",\n  {" : "\n  {", stdout);
        for (int j = 0; j < COLUMNS; j++) {
            fputs(j ? ", " : "", stdout);
            cli_json(stdout, "%s: %s", columns[j].key, field(enhope_method_get(i), &columns[j]));
        }
        putchar('}');
    }
    puts("\n]");
}

static void put_methods(void)
{
    int width[COLUMNS];
    for (int j = 0; j < COLUMNS; j++) {
        width[j] = cli_text_width(columns[j].title);
        for (int i = 0; i < enhope_method_count(); i++) {
            const int wide = cli_text_width(field(enhope_method_get(i), &columns[j]));
            if (wide > width[j]) width[j] = wide;
        }
    }
    for (int i = -1; i < enhope_method_count(); i++) {
        for (int j = 0; j < COLUMNS; j++) {
            const bool last = j + 1 == COLUMNS;
            cli_put_text(stdout, i < 0 ? columns[j].title : field(enhope_method_get(i), &columns[j]),
                         last ? 0 : -width[j]);
            fputs(last ? "\n" : "  ", stdout);
        }
    }
}

static void put_methods_markdown(void)
{
    for (int i = -1; i < enhope_method_count(); i++) {
        for (int j = 0; j < COLUMNS; j++)
            printf("| %s ", i < 0 ? columns[j].title : field(enhope_method_get(i), &columns[j]));
        puts("|");
        for (int j = 0; i < 0 && j <= COLUMNS; j++) fputs(j == COLUMNS ? "|\n" : "|---", stdout);
    }
}

static const char *type_text(enhope_setting_type type)
{
    static const char *const names[] = {"integer", "real", "choice", "text"};
    return names[type];
}

static void put_settings_json(void)
{
    putchar('[');
    for (int i = 0; i < enhope_setting_count(); i++) {
        const enhope_setting_info *s = enhope_setting_get(i);
        fputs(i ? "," : "", stdout);
        cli_json(stdout, "\n  {\"name\": %s, \"type\": %s, \"default\": %s", s->name, type_text(s->type), s->initial);
        if (s->type == ENHOPE_SETTING_CHOICE)
            cli_json(stdout, ", \"choices\": %s", s->choices);
        else if (s->type != ENHOPE_SETTING_TEXT)
            cli_json(stdout, ", \"minimum\": %g, \"maximum\": %g", s->minimum, s->maximum);
        cli_json(stdout, ", \"applies\": %s, \"help\": %s}", s->applies, s->help);
    }
    puts("\n]");
}

static void put_settings(void)
{
    char range[512];
    int name = 7, initial = 7, ranges = 6, applies = 7;
    for (int i = 0; i < enhope_setting_count(); i++) {
        const enhope_setting_info *s = enhope_setting_get(i);
        cli_setting_range(s, range, sizeof range);
        const int wide[4] = {(int)strlen(s->name), (int)strlen(s->initial), (int)strlen(range),
                             (int)strlen(s->applies)};
        if (wide[0] > name) name = wide[0];
        if (wide[1] > initial) initial = wide[1];
        if (wide[2] > ranges && wide[2] <= 50) ranges = wide[2]; /* a long list of choices does not widen the column */
        if (wide[3] > applies) applies = wide[3];
    }
    printf("%-*s  %-7s  %-*s  %-*s  %-*s  %s\n", name, "setting", "type", initial, "default", ranges, "values", applies,
           "applies", "help");
    for (int i = 0; i < enhope_setting_count(); i++) {
        const enhope_setting_info *s = enhope_setting_get(i);
        cli_setting_range(s, range, sizeof range);
        printf("%-*s  %-7s  %-*s  %-*s  %-*s  %s\n", name, s->name, type_text(s->type), initial, s->initial, ranges,
               range, applies, s->applies, s->help);
    }
}

static void put_settings_markdown(void)
{
    char range[512];
    puts("| setting | default | values | applies to | meaning |\n|---|---|---|---|---|");
    for (int i = 0; i < enhope_setting_count(); i++) {
        const enhope_setting_info *s = enhope_setting_get(i);
        cli_setting_range(s, range, sizeof range);
        printf("| `%s` | %s | ", s->name, s->initial);
        for (const char *c = s->type == ENHOPE_SETTING_CHOICE ? s->choices : range; *c; c++)
            fputs(*c == '|' ? ", " : (char[2]){*c, '\0'}, stdout); /* a bar would end the cell */
        printf(" | %s | %s |\n", s->applies, s->help);
    }
}

int cmd_methods(const cli_options *options)
{
    if (options->list.markdown)
        (options->list.settings ? put_settings_markdown : put_methods_markdown)();
    else if (options->list.settings)
        (options->json ? put_settings_json : put_settings)();
    else
        (options->json ? put_methods_json : put_methods)();
    return 0;
}
