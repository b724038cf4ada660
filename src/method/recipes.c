/* The table of recipes: settings that belong together, under one name. The first is the default, whose values stand in the
 * table of settings; the others tell what they change. */
#include <string.h>

#include "method/method.h"

static const enhope_recipe_info recipes[] = {
    {"fast", "a good map in a minute on two cores: the default", ""},
    {"paper", "the en-HOPE paper's settings: order 2, joint form, conjugate gradients",
     "order 2 factors 800 hidden 400 start 1 form published weight pair noise 0 dropout 0 solver cg epochs 30 "
     "batch 1000 iterations 3 rate 0.003 patience 10"},
    {"best", "the lowest error: a larger map, adversarial inputs, many epochs",
     "factors 800 hidden 400 noise 0.1 dropout 0 adversary 0.1 rate 0.001 epochs 300"},
};
enum { RECIPES = sizeof recipes / sizeof *recipes };

int enhope_recipe_count(void)
{
    return RECIPES;
}

const enhope_recipe_info *enhope_recipe_get(int i)
{
    return i >= 0 && i < RECIPES ? &recipes[i] : NULL;
}

/* The next word of a text, without its blank; false: there is none. */
static bool next_word(const char **text, char *word, size_t size)
{
    *text += strspn(*text, " ");
    const size_t length = strcspn(*text, " ");
    if (length == 0 || length >= size) return false;
    memcpy(word, *text, length);
    word[length] = '\0';
    *text += length;
    return true;
}

enhope_status eh_settings_recipe(enhope_context *ctx, enhope_settings *settings, int64_t recipe)
{
    char setting[32], value[64];
    const char *text = recipes[recipe].settings;
    eh_settings_reset(settings);
    settings->recipe = recipe;
    while (next_word(&text, setting, sizeof setting) && next_word(&text, value, sizeof value))
        EH_TRY(enhope_settings_set(ctx, settings, setting, value));
    settings->explicit = 0;
    return ENHOPE_OK;
}

bool eh_recipe_sets(int64_t recipe, const char *name)
{
    char setting[32], value[64];
    const char *text = recipes[recipe].settings;
    while (next_word(&text, setting, sizeof setting) && next_word(&text, value, sizeof value))
        if (!strcmp(setting, name)) return true;
    return false;
}
