/* The table of recipes, which are named presets of settings. The first is the default: its values
 * are those of the table of settings. The others list only the values that differ. */
#include <string.h>

#include "method/method.h"

static const enhope_recipe_info recipes[] = {
    {"fast", "the default: a good map within a minute on two cores", ""},
    {"paper", "the settings of the en-HOPE paper: order 2, joint normalizer, conjugate gradients",
     "order 2 n_factors 800 n_hidden 400 init_scale 1 normalizer published target_weight pair noise 0 dropout 0 solver "
     "cg n_epochs 30 "
     "batch_size 1000 line_searches 3 learning_rate 0.003 patience 10"},
    {"best", "the lowest error: a larger map, adversarial inputs and many epochs",
     "n_factors 800 n_hidden 400 noise 0.1 dropout 0 adversarial_step 0.1 learning_rate 0.001 n_epochs 300"},
    {"small", "a small map with a low error, for enhope compress",
     "n_factors 200 n_hidden 100 aux_components 10 noise 0.05 dropout 0 adversarial_step 0.05 n_epochs 200"},
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

/* Reads the next word of a text; false: there is none. */
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
