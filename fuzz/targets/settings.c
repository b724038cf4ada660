/* Names and values of settings: what was set is returned, as a text that sets the same value.
 *
 * Input: lines NAME=VALUE. */
#include <math.h>

#include "fuzz.h"
#include "method/method.h"

static void check_weights(const char *text)
{
    char name[EH_CLASS_WEIGHTS];
    double weight;
    if (!strcmp(text, "none") || !strcmp(text, "balanced")) return;
    while (*text) {
        FUZZ_MUST(eh_class_weights_next(&text, name, sizeof name, &weight));
        FUZZ_MUST(*name && weight > 0 && isfinite(weight));
    }
}

static void check_value(enhope_settings *settings, const char *name, size_t buffer_size)
{
    static char text[8192], again[8192];
    char *little = fuzz_alloc(buffer_size);
    fuzz_succeed(enhope_settings_get(fuzz_ctx, settings, name, text, sizeof text));
    FUZZ_MUST(*text);
    if (!strcmp(name, "class_weight")) check_weights(text);
    if (strcmp(name, "recipe") != 0) { /* a recipe sets the others */
        fuzz_succeed(enhope_settings_set(fuzz_ctx, settings, name, text));
        fuzz_succeed(enhope_settings_get(fuzz_ctx, settings, name, again, sizeof again));
        FUZZ_MUST(!strcmp(text, again));
    }
    (void)fuzz_good(enhope_settings_get(fuzz_ctx, settings, name, little, buffer_size));
    FUZZ_MUST(memchr(little, '\0', buffer_size));
}

FUZZ_TARGET(settings)
{
    enhope_settings *settings = enhope_settings_create();
    FUZZ_MUST(settings);
    for (int lines = 0; in->left > 0 && lines < 64; lines++) {
        char *name = fuzz_line(in), *value = strchr(name, '=');
        if (value) *value++ = '\0';
        const char *current = enhope_setting_current_name(name);
        FUZZ_MUST(!current || !*current || !enhope_setting_current_name(current));
        if (!value) continue;
        if (fuzz_good(enhope_settings_set(fuzz_ctx, settings, name, value)))
            check_value(settings, name, 1 + strlen(value) % 9);
        const int applies = enhope_settings_applies(settings, name);
        FUZZ_MUST(applies == 0 || applies == 1);
    }
    enhope_settings_free(settings);
}
