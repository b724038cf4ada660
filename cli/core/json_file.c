/* Small JSON files in which processes store results, their folders, and settings as words. */
#define _DEFAULT_SOURCE 1
#include <cjson/cJSON.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "core/pool.h"

cJSON *cli_json_read(const char *path)
{
    enum { MAX_BYTES = 1 << 16 };
    FILE *file = fopen(path, "rb");
    if (!file) return NULL;
    char *words = malloc(MAX_BYTES);
    const size_t length = words ? fread(words, 1, MAX_BYTES, file) : 0;
    cJSON *object = length && length < MAX_BYTES ? cJSON_ParseWithLength(words, length) : NULL;
    free(words);
    fclose(file);
    return object;
}

double cli_json_number(const cJSON *object, const char *name)
{
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(object, name);
    return cJSON_IsNumber(item) ? item->valuedouble : NAN;
}

int64_t cli_json_count(const cJSON *object, const char *name)
{
    const double value = cli_json_number(object, name);
    return value > 0 && value < 1e15 ? (int64_t)value : 0;
}

const char *cli_json_text(const cJSON *object, const char *name)
{
    const char *value = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(object, name));
    return value ? value : "";
}

int cli_apply_settings(enhope_context *ctx, enhope_settings *settings, char *words)
{
    for (char *rest = words, *name; (name = strtok_r(rest, " ", &rest));) {
        const char *value = strtok_r(rest, " ", &rest);
        const enhope_status status = enhope_settings_set(ctx, settings, name, value ? value : "");
        if (status) return cli_fail(ctx, status);
    }
    return 0;
}

int cli_make_folders(const char *folder, const char *const *inner, int count)
{
    char path[1024];
    for (int i = -1; i < count; i++) {
        snprintf(path, sizeof path, "%s%s%s", folder, i < 0 ? "" : "/", i < 0 ? "" : inner[i]);
        if (mkdir(path, 0777) != 0 && errno != EEXIST)
            return cli_error("%s: cannot create the folder: %s", path, strerror(errno));
    }
    return 0;
}
