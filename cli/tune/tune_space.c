/* The search space of tune. The settings of a trial depend on the seed, the series and the number
 * of the trial only, so that a resumed search has the same trials. */
#define _DEFAULT_SOURCE 1
#include <math.h>
#include <string.h>

#include "tune/tune.h"

/* clang-format off */
static const tune_dimension space[] = {
    {"noise", TUNE_ONE_OF, 0, 0, "0|0.05|0.1|0.2|0.3", ""},
    {"dropout", TUNE_ONE_OF, 0, 0, "0|0|0.1|0.2|0.3", "0 for two trials of five"},
    {"order", TUNE_ONE_OF, 0, 0, "2|3|3", "3 for two trials of three"},
    {"normalizer", TUNE_ONE_OF, 0, 0, "joint|row", ""},
    {"n_factors n_hidden", TUNE_ONE_OF, 0, 0, "100 50|200 100|400 200|800 400", "together"},
    {"learning_rate", TUNE_LOG, 0.0005, 0.005, NULL, ""},
    {"batch_size", TUNE_LOG_WHOLE, 50, 1000, NULL, "at most a quarter of the samples of the first round"},
    {"n_exemplars", TUNE_ONE_OF, 0, 0, "1|2|3|5", "times the number of classes"},
    {"exemplars", TUNE_ONE_OF, 0, 0, "kmeans|learned|learned", "learned for two trials of three"},
    {"init_scale", TUNE_LOG, 0.1, 3, NULL, ""},
    {"adversarial_step", TUNE_ONE_OF, 0, 0, "0|0|0|0.03|0.1", "0 for three trials of five: it doubles the time"},
    {"label_smoothing", TUNE_ONE_OF, 0, 0, "0|0|0.05|0.1", "0 for half of the trials"},
    {"aux_components", TUNE_ONE_OF, 0, 0, "0|10", ""},
};
/* clang-format on */
enum { DIMENSIONS = sizeof space / sizeof *space };

const tune_dimension *tune_dimension_get(int i)
{
    return i >= 0 && i < DIMENSIONS ? &space[i] : NULL;
}

/* A random number in [0, 1) for (seed, trial, dimension): splitmix64. */
static double uniform(int64_t seed, int64_t trial, int dimension)
{
    uint64_t x = (uint64_t)seed * 0x9e3779b97f4a7c15u + (uint64_t)trial * 0xd1342543de82ef95u + (uint64_t)dimension;
    for (int i = 0; i < 2; i++) {
        x += 0x9e3779b97f4a7c15u;
        x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
        x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
        x ^= x >> 31;
    }
    return (double)(x >> 11) * 0x1p-53;
}

static void pick(const char *values, double u, char *buffer, size_t size)
{
    int count = 1;
    for (const char *at = values; *at; at++) count += *at == '|';
    for (int skip = (int)(u * count); skip > 0; skip--) values += strcspn(values, "|") + 1;
    snprintf(buffer, size, "%.*s", (int)strcspn(values, "|"), values);
}

static const char *explicit_value(const cli_options *options, const char *name)
{
    for (int i = 0; i < options->settings; i++)
        if (!strcmp(options->setting[i].name, name)) return options->setting[i].value;
    return NULL;
}

unsigned tune_dimensions(const enhope_settings *settings)
{
    unsigned drawn = 0;
    for (int i = 0; i < DIMENSIONS; i++) {
        char first[32];
        snprintf(first, sizeof first, "%.*s", (int)strcspn(space[i].setting, " "), space[i].setting);
        if (enhope_settings_applies(settings, first)) drawn |= 1u << i;
    }
    return drawn;
}

static void add(char *buffer, size_t size, const char *name, const char *value)
{
    const size_t used = strlen(buffer);
    snprintf(buffer + used, size - used, " %s %s", name, value);
}

static void add_drawn(const tuning *t, int draw, int i, char *buffer, size_t size)
{
    const tune_dimension *d = &space[i];
    enum { SERIES = 10000 }; /* more than the trials of a search */
    const double u = uniform(t->seed, draw + SERIES * (t->series - 1), i);
    char value[64];
    if (d->kind == TUNE_ONE_OF) {
        pick(d->values, u, value, sizeof value);
    } else {
        double low = d->low, high = d->high;
        if (!strcmp(d->setting, "batch_size")) {
            high = fmax(10, fmin(high, floor((double)tune_rows(t, 0) / 4)));
            low = fmin(low, high);
        }
        const double drawn = low * pow(high / low, u);
        snprintf(value, sizeof value, d->kind == TUNE_LOG_WHOLE ? "%.0f" : "%.2g", drawn);
    }
    if (!strcmp(d->setting, "n_factors n_hidden")) {
        char *hidden = strchr(value, ' ');
        *hidden++ = '\0';
        if (!explicit_value(t->options, "n_factors")) add(buffer, size, "n_factors", value);
        if (!explicit_value(t->options, "n_hidden")) add(buffer, size, "n_hidden", hidden);
        return;
    }
    if (explicit_value(t->options, d->setting)) return;
    if (!strcmp(d->setting, "n_exemplars")) {
        long long each = 0;
        sscanf(value, "%lld", &each);
        snprintf(value, sizeof value, "%lld", each * (long long)t->data.facts.classes);
    }
    add(buffer, size, d->setting, value);
}

void tune_settings(const tuning *t, int draw, char *buffer, size_t size)
{
    enum { DEFAULT, BEST, DEFAULT_LONGER, DRAWN };
    snprintf(buffer, size, "recipe %s", draw == BEST ? "best" : "fast");
    for (int i = 0; i < DIMENSIONS && draw >= DRAWN; i++)
        if (t->drawn >> i & 1) add_drawn(t, draw, i, buffer, size);
    for (int i = 0; i < t->options->settings; i++) { /* explicit settings apply to all trials */
        const cli_pair *s = &t->options->setting[i];
        if (draw == DEFAULT || strcmp(s->name, "n_epochs") != 0) add(buffer, size, s->name, s->value);
    }
}

int64_t tune_epochs(const tuning *t, int trial)
{
    return trial == 0 ? 0 : t->epochs;
}
