/* The table of settings that earlier versions had under another name or that were removed. Settings, command line,
 * Python and model files use it. */
#include <string.h>

#include "base/json.h"
#include "enhope_advanced.h"
#include "model/model.h"

/* The values of an old setting that a model may have. */
enum { ANY = 0, NEUTRAL, ODD, BALANCE, ONE_ORDER, GRAPH };

static const struct {
    const char *old, *now; /* now NULL: removed */
    int rule;
    const char *neutral; /* for NEUTRAL: the only accepted value */
    const char *expected;
} table[] = {
    {"dims", "n_components", ANY, NULL, NULL},
    {"factors", "n_factors", ANY, NULL, NULL},
    {"hidden", "n_hidden", ANY, NULL, NULL},
    {"layers", "hidden_layer_sizes", ANY, NULL, NULL},
    {"unit", "activation", ANY, NULL, NULL},
    {"start", "init_scale", ANY, NULL, NULL},
    {"z", "n_exemplars", ANY, NULL, NULL},
    {"form", "normalizer", ANY, NULL, NULL},
    {"weight", "target_weight", ANY, NULL, NULL},
    {"graph", "graph_k", GRAPH, NULL, NULL},
    {"links", "graph_k", ANY, NULL, NULL},
    {"targets", "lmnn_k", ANY, NULL, NULL},
    {"epochs", "n_epochs", ANY, NULL, NULL},
    {"batch", "batch_size", ANY, NULL, NULL},
    {"parts", "n_chunks", ANY, NULL, NULL},
    {"iterations", "line_searches", ANY, NULL, NULL},
    {"rate", "learning_rate", ANY, NULL, NULL},
    {"adversary", "adversarial_step", ANY, NULL, NULL},
    {"valid", "validation_fraction", ANY, NULL, NULL},
    {"time", "time_limit", ANY, NULL, NULL},
    {"scale", "scaling", ANY, NULL, NULL},
    {"neighbours", "n_neighbors", ANY, NULL, NULL},
    {"seed", "random_state", ANY, NULL, NULL},
    {"smooth", "label_smoothing", ANY, NULL, NULL},
    {"balance", "class_weight", BALANCE, NULL, "class_weight is none or balanced (0 or 1)"},
    {"freedom", "dof", ODD, NULL, "dof is an odd number from 1 to 15"},
    {"order", "order", ONE_ORDER, NULL, "all factors have one order"},
    {"average", NULL, NEUTRAL, "0", "parameters are no longer averaged"},
    {"mix", NULL, NEUTRAL, "0", "samples are no longer mixed"},
    {"norm", NULL, NEUTRAL, "linf", "the adversarial step changes each input by the same amount"},
    {"push", NULL, ANY, NULL, NULL},
    {"warmup", NULL, ANY, NULL, NULL},
    {"beta1", NULL, ANY, NULL, NULL},
    {"beta2", NULL, ANY, NULL, NULL},
    {"pairs", NULL, ANY, NULL, NULL},
};
enum { COUNT = sizeof table / sizeof *table };
_Static_assert(EH_DOF_MAX == 15, "the table states it");

static int find(const char *name)
{
    int i = 0;
    while (i < COUNT && strcmp(table[i].old, name) != 0) i++;
    return i;
}

const char *eh_old_setting_name(int i)
{
    return i >= 0 && i < COUNT ? table[i].old : NULL;
}

const char *enhope_setting_current_name(const char *old)
{
    const int i = find(old);
    if (i == COUNT || (table[i].now && !strcmp(table[i].now, old))) return NULL;
    return table[i].now ? table[i].now : "";
}

static bool accepted(int rule, const char *neutral, const char *value)
{
    double number = 0;
    switch (rule) {
    case NEUTRAL: return !strcmp(value, neutral);
    case BALANCE: return !strcmp(value, "0") || !strcmp(value, "1");
    case ODD:
        if (eh_number_parse(value, strlen(value), &number) != EH_NUMBER || !(number >= 1 && number <= EH_DOF_MAX))
            return false;
        return number == (int)number && (int)number % 2;
    case ONE_ORDER: return !strchr(value, '+');
    default: return true;
    }
}

/* Whether a file has the setting `graph` with the value `class`, which is now graph_k 0. */
static bool has_class_graph(const cJSON *settings)
{
    const cJSON *graph = settings ? cJSON_GetObjectItemCaseSensitive(settings, "graph") : NULL;
    return cJSON_IsString(graph) && !strcmp(graph->valuestring, "class");
}

enhope_status eh_old_setting(enhope_context *ctx, const char *version, const cJSON *settings, eh_pair_view *setting)
{
    const int i = find(setting->name);
    if (i < COUNT) {
        char quote[EH_QUOTE], by[EH_QUOTE];
        if (!accepted(table[i].rule, table[i].neutral, setting->value))
            return eh_fail(
                ctx, ENHOPE_ERROR_MODEL,
                "the model was trained with %s %s, which this version does not have (%s): train it again, or use "
                "enhope %s, which wrote it",
                table[i].old, eh_json_quote(setting->value, quote), table[i].expected, eh_json_quote(version, by));
        setting->name = table[i].rule == GRAPH ? NULL : table[i].now;
        if (table[i].rule == BALANCE) setting->value = *setting->value == '1' ? "balanced" : "none";
    }
    if (setting->name && !strcmp(setting->name, "graph_k") && has_class_graph(settings)) setting->value = "0";
    return ENHOPE_OK;
}
