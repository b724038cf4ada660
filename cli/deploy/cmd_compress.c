/* enhope compress: trains a model on to a file of a given size, error or speed. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/cli.h"

/* ---- settings ---- */

/* A small map needs less noise than a large one: on MNIST, 0.05 gave a lower error than 0.1 and
 * than 0.025. */
static int limit_noise(const cli_session *session, enhope_settings *settings)
{
    static const double max_noise = 0.05;
    static const char *const noise[] = {"noise", "dropout", "adversarial_step"};
    for (size_t i = 0; i < sizeof noise / sizeof *noise; i++) {
        const char *value = enhope_model_setting(session->model, noise[i]);
        char limited[40];
        if (!value) continue;
        snprintf(limited, sizeof limited, "%.15g", fmin(atof(value), max_noise));
        const enhope_status status = enhope_settings_set(session->ctx, settings, noise[i], limited);
        if (status) return cli_fail(session->ctx, status);
    }
    return 0;
}

/* The settings of the model, without those of the solver and the length of training, then those of
 * the command line. */
static int make_settings(const cli_session *session, const cli_options *options, enhope_settings **out)
{
    static const char *const others[] = {"n_epochs", "time_limit", "patience",         "solver", "line_searches",
                                         "noise",    "dropout",    "adversarial_step", NULL};
    int code = cli_settings_of_model(session, others, out);
    if (!code) code = limit_noise(session, *out);
    return code ? code : cli_settings_add(session, options, *out);
}

/* ---- limits ---- */

static int parse_limits(const cli_options *options, enhope_compress_options *limit)
{
    const cli_deploy_options *o = &options->deploy;
    *limit = (enhope_compress_options){.error = o->error / 100, .operations = o->operations, .bits = (int32_t)o->bits};
    if (!o->size && !(o->error > 0) && !o->operations)
        return cli_usage_error(options->command, "missing option: --size BYTES, --error PERCENT or --operations N");
    if (o->size && (!cli_parse_bytes(o->size, &limit->size) || limit->size < 1))
        return cli_usage_error(options->command, "--size is '%s': expected a size, such as 64kB or 30000", o->size);
    return 0;
}

/* ---- the result ---- */

static void put_line(const char *name, int64_t errors, int64_t n, int64_t bytes, int64_t weights, int64_t operations)
{
    double low, high;
    char size[32];
    cli_interval(errors, n, &low, &high);
    cli_bytes_text((double)bytes, size, sizeof size);
    printf("%-7s validation error %.2f %% of %lld (%.2f to %.2f %%), %s, %lld weights, %lld multiplications\n", name,
           cli_percent(errors, n), (long long)n, low, high, size, (long long)weights, (long long)operations);
}

static void put_report(const cli_options *options, const enhope_model *small, const enhope_compression *r)
{
    enhope_model_info info;
    enhope_model_get_info(small, &info);
    if (options->json) {
        cli_json(stdout,
                 "{\n  \"n\": %lld,\n  \"before\": {\"errors\": %lld, \"error_percent\": %g, \"bytes\": %lld, "
                 "\"weights\": %lld, \"operations\": %lld},\n",
                 (long long)r->samples, (long long)r->errors_before, cli_percent(r->errors_before, r->samples),
                 (long long)r->bytes_before, (long long)r->weights_before, (long long)r->operations_before);
        cli_json(stdout,
                 "  \"after\": {\"errors\": %lld, \"error_percent\": %g, \"bytes\": %lld, \"weights\": %lld, "
                 "\"operations\": %lld},\n  \"factors\": %lld,\n  \"hidden\": %lld,\n  \"inputs\": %lld\n}\n",
                 (long long)r->errors, cli_percent(r->errors, r->samples), (long long)r->bytes, (long long)r->weights,
                 (long long)r->operations, (long long)info.factors, (long long)info.hidden, (long long)r->inputs);
        return;
    }
    if (options->quiet) return;
    put_line("before", r->errors_before, r->samples, r->bytes_before, r->weights_before, r->operations_before);
    put_line("after", r->errors, r->samples, r->bytes, r->weights, r->operations);
    printf("%s has %lld factors, %lld hidden units and weights for %lld of %lld inputs. It has no history, no settings "
           "that the recipe gives, and a smaller sample of the training rows.\n",
           options->output, (long long)info.factors, (long long)info.hidden, (long long)r->inputs,
           (long long)info.inputs);
}

static int compress(cli_session *session, const cli_options *options, const enhope_settings *settings,
                    const enhope_compress_options *limit)
{
    enhope_model *small = NULL;
    enhope_compression report;
    cli_progress progress = {0};
    int code = cli_progress_open(&progress, options->quiet || options->json || cli_rank(), NULL, false);
    if (code) return code;
    enhope_context_set_log(session->ctx, cli_progress_log, &progress);
    enhope_status status = enhope_model_compress(session->ctx, session->model, session->data, settings, limit,
                                                 cli_progress_step, &progress, &report, &small);
    cli_progress_clear(&progress);
    enhope_context_set_log(session->ctx, NULL, NULL);
    cli_progress_close(&progress);
    if (status == ENHOPE_STOPPED && !cli_rank()) cli_error("stopped; no model is saved");
    if (status == ENHOPE_STOPPED) return 128 + cli_caught_signal();
    if (!status && !cli_rank()) status = enhope_model_save(session->ctx, small, options->output);
    if (!status && !cli_rank()) put_report(options, small, &report);
    enhope_model_free(small);
    return status ? cli_fail(session->ctx, status) : 0;
}

int cmd_compress(const cli_options *options)
{
    cli_session session;
    enhope_settings *settings = NULL;
    enhope_compress_options limit;
    cli_catch_signals();
    int code = cli_session_open(&session, options);
    if (!code && !options->data) code = cli_usage_error(options->command, "missing option: --data SPEC");
    if (!code && !options->output) code = cli_usage_error(options->command, "missing option: -o FILE");
    if (!code) code = parse_limits(options, &limit);
    if (!code) code = cli_session_model(&session, options->positional[0]);
    if (!code) code = cli_output_differs(options->output, options->positional[0]);
    if (!code) code = cli_output_differs(options->output, options->data);
    if (!code && !cli_rank()) code = cli_output_check(options->output);
    if (!code) code = make_settings(&session, options, &settings);
    if (!code) code = cli_session_data(&session, options, options->data, "train");
    if (!code) code = compress(&session, options, settings, &limit);
    enhope_settings_free(settings);
    cli_session_close(&session);
    return code;
}
