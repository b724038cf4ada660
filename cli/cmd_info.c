/* enhope info: describes a model file, or lists the devices. */
#include <math.h>
#include <stdlib.h>

#include "core/cli.h"

/* The number of columns if more is known about them than that they are numbers, else 0. */
static int64_t known_columns(const enhope_model *model)
{
    enhope_column_info info;
    const int64_t columns = enhope_model_column_count(model);
    for (int64_t j = 0; j < columns && enhope_model_column(model, j, &info); j++)
        if (info.name || info.offset != 0 || info.inputs != 1 || *info.type != 'n') return columns;
    return 0;
}

static void put_json_column(const enhope_column_info *c)
{
    cli_json(stdout, "{\"name\": %s, \"type\": %s, \"inputs\": %lld", c->name, c->type, (long long)c->inputs);
    if (isfinite(c->fill)) cli_json(stdout, ", \"fill\": %g", c->fill);
    if (c->offset != 0) cli_json(stdout, ", \"offset\": %g", c->offset);
    for (int32_t k = 0; k < c->categories; k++) cli_json(stdout, k ? ", %s" : ", \"categories\": [%s", c->category[k]);
    if (c->categories) putchar(']');
    cli_json(stdout, ", \"other\": %i, \"missing\": %i, \"constant\": %i}", c->other, c->missing, c->constant);
}

/* The columns if they are more than unnamed numbers, else null. */
static void put_json_columns(const enhope_model *model)
{
    const int64_t columns = known_columns(model);
    cli_json(stdout, ",\n  \"label_column\": %s,\n  \"columns\": ", enhope_model_label_column(model));
    if (!columns) fputs("null", stdout);
    for (int64_t j = 0; j < columns; j++) {
        enhope_column_info info;
        (void)enhope_model_column(model, j, &info);
        fputs(j ? ",\n    " : "[\n    ", stdout);
        put_json_column(&info);
    }
    if (columns) fputs("\n  ]", stdout);
}

static void put_json_data(const enhope_model *model)
{
    enhope_training_data data;
    if (!enhope_model_training_data(model, &data)) {
        fputs(",\n  \"training_data\": null", stdout);
        return;
    }
    cli_json(stdout,
             ",\n  \"training_data\": {\"rows\": %lld, \"split\": %s, \"part\": %s, \"limit\": %lld, \"label\": %s, "
             "\"label_found\": %s}",
             (long long)data.rows, data.split, data.part, (long long)data.limit, data.label, data.label_found);
}

static void put_json(const cli_session *session, const int64_t *count)
{
    const enhope_model_info *info = &session->model_info;
    int64_t rows = 0;
    const enhope_history *history = enhope_model_history(session->model, &rows);
    const enhope_history *best = cli_session_best(session);
    cli_json(stdout,
             "{\n  \"method\": %s,\n  \"map\": %s,\n  \"inputs\": %lld,\n  \"outputs\": %lld,\n  \"factors\": %lld,\n"
             "  \"hidden\": %lld,\n  \"order\": %d,\n  \"parameters\": %lld,\n  \"references\": %lld,\n"
             "  \"references_are_exemplars\": %i,\n  \"neighbours\": %d,\n  \"epochs\": %lld,\n  \"classes\": [",
             info->method, info->map, (long long)info->inputs, (long long)info->outputs, (long long)info->factors,
             (long long)info->hidden, (int)info->order, (long long)info->parameters, (long long)info->references,
             info->references_are_exemplars, (int)info->neighbours, (long long)info->epochs);
    for (int32_t k = 0; k < info->classes; k++) {
        fputs(k ? "," : "", stdout);
        cli_json(stdout, "\n    {\"class\": %s, \"references\": %lld}", enhope_model_class_name(session->model, k),
                 (long long)count[k]);
    }
    fputs("\n  ],\n  \"settings\": {", stdout);
    const char *between = "";
    for (int i = 0; i < enhope_setting_count(); i++) {
        const char *name = enhope_setting_get(i)->name, *value = enhope_model_setting(session->model, name);
        if (!value) continue;
        fputs(between, stdout);
        cli_json(stdout, "\n    %s: %s", name, value);
        between = ",";
    }
    cli_json(stdout, "\n  },\n  \"stored_in_int8\": %i,\n  \"temperature\": %g", enhope_model_int8(session->model) == 2,
             info->temperature);
    put_json_columns(session->model);
    cli_put_json_errors("validation", info->valid_errors, info->valid_n);
    cli_put_json_errors("training", info->train_errors, info->train_n);
    cli_put_json_epoch("best", best && isfinite(best->valid_error) ? best : NULL);
    cli_put_json_epoch("last", rows > 0 ? &history[rows - 1] : NULL);
    put_json_data(session->model);
    puts("\n}");
}

static void put_epoch(const char *title, const enhope_history *row, const char *error_name)
{
    printf("%-11sepoch %lld: loss %.5g", title, (long long)row->epoch, row->loss);
    if (isfinite(row->valid_error)) printf(", %s %.2f %%", error_name, 100 * row->valid_error);
    if (row->seconds > 0) printf(", after %.1f s", row->seconds);
    putchar('\n');
}

/* "red, green, blue, ...", at most 8. */
static void put_categories(const enhope_column_info *c)
{
    enum { LISTED = 8 };
    for (int32_t k = 0; k < c->categories && k < LISTED; k++) {
        fputs(k ? ", " : ": ", stdout);
        cli_put_text(stdout, c->category[k], 0);
    }
    if (c->categories > LISTED) printf(", ... (%d)", (int)c->categories);
    if (c->other) fputs(" or other", stdout);
}

static void put_column(const enhope_column_info *c, int width)
{
    fputs("  ", stdout);
    cli_put_text(stdout, c->name ? c->name : "-", -width);
    printf(" %s", c->type);
    if (c->constant) fputs(", constant: not used", stdout);
    put_categories(c);
    if (c->missing && isfinite(c->fill))
        printf(", %g if missing", c->fill);
    else if (c->missing)
        fputs(" or missing", stdout);
    putchar('\n');
}

static void put_columns(const enhope_model *model)
{
    enum { LISTED = 30 };
    const int64_t columns = known_columns(model);
    const char *label = enhope_model_label_column(model);
    int width = 5;
    enhope_column_info info;
    if (label) {
        fputs("label      ", stdout);
        cli_put_text(stdout, label, 0);
        putchar('\n');
    }
    if (!columns) return;
    printf("columns    %lld\n", (long long)columns);
    for (int64_t j = 0; j < columns && j < LISTED && enhope_model_column(model, j, &info); j++) {
        const int wide = info.name ? cli_text_width(info.name) : 1;
        if (wide > width) width = wide;
    }
    for (int64_t j = 0; j < columns && j < LISTED && enhope_model_column(model, j, &info); j++)
        put_column(&info, width);
    if (columns > LISTED) printf("  and %lld more\n", (long long)(columns - LISTED));
}

/* "trained on 8000 rows, split 8000@1, part train, label column species (the last column)" */
static void put_data(const enhope_model *model)
{
    enhope_training_data data;
    if (!enhope_model_training_data(model, &data)) return;
    printf("trained on %lld rows", (long long)data.rows);
    const struct {
        const char *name, *text;
    } texts[] = {{"split", data.split}, {"part", data.part}, {"label column", data.label}};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        if (!texts[i].text) continue;
        printf(", %s ", texts[i].name);
        cli_put_text(stdout, texts[i].text, 0);
    }
    if (data.label && data.label_found && *data.label_found) cli_print(stdout, " (%s)", data.label_found);
    if (data.limit) printf(", limit %lld", (long long)data.limit);
    putchar('\n');
}

static void put_report(const cli_session *session, const int64_t *count)
{
    const enhope_model_info *info = &session->model_info;
    const char *reference = info->references_are_exemplars ? "exemplar" : "point";
    const char *scale = enhope_model_setting(session->model, "scaling");
    cli_print(stdout, "method     %s\nmap        %s: %lld inputs, ", info->method, info->map, (long long)info->inputs);
    if (info->factors > 0) printf("%lld factors, ", (long long)info->factors);
    if (info->hidden > 0) printf("%lld hidden, ", (long long)info->hidden);
    printf("%lld outputs", (long long)info->outputs);
    if (info->factors > 0) printf(", order %d", (int)info->order);
    printf("\nparameters %lld%s\ncompares   with %lld %s%s, ", (long long)info->parameters,
           enhope_model_int8(session->model) == 2 ? ", stored in int8" : "", (long long)info->references, reference,
           info->references == 1 ? "" : "s");
    if (info->votes)
        printf("%d neighbor%s vote\n", (int)info->neighbours, info->neighbours == 1 ? "" : "s");
    else
        printf("the most probable class\n");
    if (scale) cli_print(stdout, "scaling    %s\n", scale);

    int64_t rows = 0;
    const enhope_history *history = enhope_model_history(session->model, &rows);
    const enhope_history *best = cli_session_best(session);
    const char *error_name = cli_error_name(enhope_model_setting(session->model, "class_weight"), NULL);
    if (best && isfinite(best->valid_error)) put_epoch("best", best, error_name);
    if (rows > 0) put_epoch("last", &history[rows - 1], error_name);

    put_data(session->model);
    char errors[256];
    if (cli_errors_text(session->model, info, errors, sizeof errors)) printf("errors     %s\n", errors);
    if (info->valid_n && info->references_are_exemplars) printf("calibrated at temperature %.4g\n", info->temperature);

    int width = 5;
    for (int32_t k = 0; k < info->classes; k++) {
        const int wide = cli_text_width(enhope_model_class_name(session->model, k));
        if (wide > width) width = wide;
    }
    printf("classes    %d\n", (int)info->classes);
    for (int32_t k = 0; k < info->classes; k++) {
        fputs("  ", stdout);
        cli_put_text(stdout, enhope_model_class_name(session->model, k), -width);
        printf(" %7lld %s%s\n", (long long)count[k], reference, count[k] == 1 ? "" : "s");
    }
    put_columns(session->model);
    puts("settings");
    for (int i = 0; i < enhope_setting_count(); i++) {
        const char *name = enhope_setting_get(i)->name, *value = enhope_model_setting(session->model, name);
        if (value) cli_print(stdout, "  %-19s %s\n", name, value);
    }
}

static void put_device_json(const enhope_device_info *device, bool first)
{
    fputs(first ? "[" : ",", stdout);
    cli_json(stdout, "\n  {\"name\": %s, \"available\": %i, \"text\": %s}", device->name, device->available,
             device->text);
}

static void put_device(const enhope_device_info *device)
{
    cli_put_text(stdout, device->name, -8);
    fputs(device->available ? " " : " not available: ", stdout);
    cli_put_text(stdout, device->text, 0);
    putchar('\n');
}

static int list_devices(const cli_options *options)
{
    cli_session session;
    int code = cli_session_open(&session, options);
    const int count = code ? 0 : enhope_device_count(session.ctx);
    for (int i = 0; i < count && !code; i++) {
        enhope_device_info device;
        const enhope_status status = enhope_device_get(session.ctx, i, &device);
        if (status)
            code = cli_fail(session.ctx, status);
        else if (options->json)
            put_device_json(&device, i == 0);
        else
            put_device(&device);
    }
    if (!code && options->json) puts("\n]");
    cli_session_close(&session);
    return code;
}

int cmd_info(const cli_options *options)
{
    if (options->list.devices && options->positionals)
        return cli_usage_error(options->command, "--devices takes no model; remove '%s'", options->positional[0]);
    if (options->list.devices) return list_devices(options);
    if (!options->positionals)
        return cli_usage_error(options->command, "missing argument; usage: enhope info %s",
                               options->command->arguments);
    cli_session session;
    int64_t *count = NULL; /* (c) number of references of each class */
    int32_t *label = NULL; /* (references) */
    int code = cli_session_open(&session, options);
    if (!code) code = cli_session_model(&session, options->positional[0]);
    if (!code) {
        count = cli_alloc("counts", session.model_info.classes, 1, sizeof *count);
        label = cli_alloc("labels", session.model_info.references, 1, sizeof *label);
        if (!count || !label) code = CLI_FAILED;
    }
    if (!code) {
        const enhope_status status = enhope_model_references(session.ctx, session.model, NULL, label);
        if (status) code = cli_fail(session.ctx, status);
    }
    if (!code) {
        for (int64_t i = 0; i < session.model_info.references; i++) count[label[i]]++;
        (options->json ? put_json : put_report)(&session, count);
    }
    free(count);
    free(label);
    cli_session_close(&session);
    return code;
}
