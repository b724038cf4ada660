/* Settings of earlier versions and their current names, in one table. A model that was trained
 * with a removed setting in effect is refused, because this version cannot continue it. */
#include <string.h>

#include "base/json.h"
#include "model/model.h"

enum { ANY = 0, NEUTRAL, ODD, BALANCE, ONE_ORDER };

static const struct {
    const char *old, *now; /* now NULL: removed */
    int rule;              /* which values are accepted */
    const char *neutral;   /* NEUTRAL: this one alone */
    const char *expected;
} table[] = {
    {"average", NULL, NEUTRAL, "0", "parameters are no longer averaged"},
    {"mix", NULL, NEUTRAL, "0", "samples are no longer mixed"},
    {"norm", NULL, NEUTRAL, "linf", "the adversary moves each input by the same step"},
    {"push", NULL, ANY, NULL, NULL},
    {"warmup", NULL, ANY, NULL, NULL},
    {"beta1", NULL, ANY, NULL, NULL},
    {"beta2", NULL, ANY, NULL, NULL},
    {"pairs", NULL, ANY, NULL, NULL},
    {"smooth", "label_smoothing", ANY, NULL, NULL},
    {"balance", "class_weight", BALANCE, NULL, "class_weight is none or balanced (0 or 1)"},
    {"freedom", "dof", ODD, NULL, "dof is an odd number from 1 to 15"},
    {"order", "order", ONE_ORDER, NULL, "all factors have one order"},
};
_Static_assert(EH_DOF_MAX == 15, "the table defines it");

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

enhope_status eh_old_setting(enhope_context *ctx, const char *version, eh_pair_view *setting)
{
    size_t i = 0;
    while (i < sizeof table / sizeof *table && strcmp(table[i].old, setting->name) != 0) i++;
    if (i == sizeof table / sizeof *table) return ENHOPE_OK;
    char quote[EH_QUOTE], by[EH_QUOTE];
    if (!accepted(table[i].rule, table[i].neutral, setting->value))
        return eh_fail(
            ctx, ENHOPE_ERROR_MODEL,
            "the model was trained with %s %s, which this version does not have (%s): train it again, or use "
            "enhope %s, which wrote it",
            table[i].old, eh_json_quote(setting->value, quote), table[i].expected, eh_json_quote(version, by));
    setting->name = table[i].now;
    if (table[i].rule == BALANCE) setting->value = *setting->value == '1' ? "balanced" : "none";
    return ENHOPE_OK;
}
