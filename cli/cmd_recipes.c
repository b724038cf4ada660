/* enhope recipes: prints the purpose of each recipe and the settings in which they differ. */
#include <stdlib.h>
#include <string.h>

#include "core/cli.h"

enum { CAPACITY = 64 };

/* (settings, recipes) values of the settings in all recipes */
typedef struct table {
    int settings, recipes;
    char (*value)[CAPACITY];
} table;

static const char *value(const table *t, int setting, int recipe)
{
    return t->value[setting * t->recipes + recipe];
}

/* Whether the recipes differ in a setting other than recipe. */
static bool differs(const table *t, int setting)
{
    if (!strcmp(enhope_setting_get(setting)->name, "recipe")) return false;
    for (int i = 1; i < t->recipes; i++)
        if (strcmp(value(t, setting, 0), value(t, setting, i)) != 0) return true;
    return false;
}

static int fill(enhope_context *ctx, table *t)
{
    enhope_settings *s = enhope_settings_create();
    if (!s) return cli_error("out of memory");
    enhope_status status = ENHOPE_OK;
    for (int i = 0; i < t->recipes && !status; i++) {
        status = enhope_settings_set(ctx, s, "recipe", enhope_recipe_get(i)->name);
        for (int k = 0; k < t->settings && !status; k++)
            status = enhope_settings_get(ctx, s, enhope_setting_get(k)->name, t->value[k * t->recipes + i], CAPACITY);
    }
    enhope_settings_free(s);
    return status ? cli_fail(ctx, status) : 0;
}

static void put_json(const table *t)
{
    putchar('[');
    for (int i = 0; i < t->recipes; i++) {
        const enhope_recipe_info *recipe = enhope_recipe_get(i);
        fputs(i ? "," : "", stdout);
        cli_json(stdout, "\n  {\"name\": %s, \"summary\": %s, \"settings\": {", recipe->name, recipe->summary);
        for (int k = 0, listed = 0; k < t->settings; k++) {
            if (!differs(t, k)) continue;
            if (listed++) fputs(", ", stdout);
            cli_json(stdout, "%s: %s", enhope_setting_get(k)->name, value(t, k, i));
        }
        fputs("}}", stdout);
    }
    puts("\n]");
}

static void put_text(const table *t)
{
    enum { LEFT = 18, COLUMN = 12 };
    for (int i = 0; i < t->recipes; i++)
        printf("%-*s%s\n", LEFT, enhope_recipe_get(i)->name, enhope_recipe_get(i)->summary);
    printf("\n%-*s", LEFT, "setting");
    for (int i = 0; i < t->recipes; i++)
        printf("%-*s%s", i + 1 < t->recipes ? COLUMN : 0, enhope_recipe_get(i)->name, i + 1 < t->recipes ? "" : "\n");
    for (int k = 0; k < t->settings; k++) {
        if (!differs(t, k)) continue;
        printf("%-*s", LEFT, enhope_setting_get(k)->name);
        for (int i = 0; i < t->recipes; i++)
            printf("%-*s%s", i + 1 < t->recipes ? COLUMN : 0, value(t, k, i), i + 1 < t->recipes ? "" : "\n");
    }
    puts("\nAll other settings are the same in all recipes; run 'enhope methods --settings' to list them.");
}

int cmd_recipes(const cli_options *options)
{
    table t = {.settings = enhope_setting_count(), .recipes = enhope_recipe_count()};
    enhope_context *ctx = enhope_context_create();
    t.value = cli_alloc("values", t.settings, t.recipes, sizeof *t.value);
    int code = ctx && t.value ? fill(ctx, &t) : CLI_FAILED;
    if (!code) (options->json ? put_json : put_text)(&t);
    free(t.value);
    enhope_context_free(ctx);
    return code;
}
