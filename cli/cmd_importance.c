/* enhope importance: permutation importance of the columns. */
#include <math.h>
#include <stdlib.h>

#include "measure/measure.h"

enum { LISTED = 20, DEFAULT_REPEATS = 5, MAX_WIDTH = 60 };

static void put_table(const cli_importance *x, bool all)
{
    const int64_t listed = all || x->columns < LISTED ? x->columns : LISTED;
    int width = 6;
    for (int64_t j = 0; j < listed; j++) {
        const int wide = cli_text_width(x->column[j].name);
        if (wide > width) width = wide < MAX_WIDTH ? wide : MAX_WIDTH;
    }
    printf("error: %.2f %% of %lld samples, log loss %.4f; increase if a column is permuted, mean of %d repeat%s:\n\n",
           100 * x->base.error, (long long)x->n, x->base.log_loss, x->repeats, x->repeats == 1 ? "" : "s");
    cli_put_text(stdout, "column", -width);
    fputs("   error %       sd  log loss        sd\n", stdout);
    for (int64_t j = 0; j < listed; j++) {
        const cli_column *c = &x->column[j];
        cli_put_text(stdout, c->name, -width);
        printf("  %8.2f  %7.2f  %8.4f  %8.4f\n", 100 * c->error, isfinite(c->error_sd) ? 100 * c->error_sd : 0, c->loss,
               isfinite(c->loss_sd) ? c->loss_sd : 0);
    }
    if (listed < x->columns) printf("\n%lld more columns; use --all to print them\n", (long long)(x->columns - listed));
}

static void put_json(const cli_importance *x)
{
    cli_json(stdout,
             "{\n  \"n\": %lld,\n  \"repeats\": %d,\n  \"error_percent\": %g,\n  \"log_loss\": %g,\n  \"columns\": [",
             (long long)x->n, x->repeats, 100 * x->base.error, x->base.log_loss);
    for (int64_t j = 0; j < x->columns; j++) {
        const cli_column *c = &x->column[j];
        fputs(j ? ",\n" : "\n", stdout);
        cli_json(stdout,
                 "    {\"column\": %s, \"inputs\": %lld, \"error_percent\": %g, \"error_percent_sd\": %g, "
                 "\"log_loss\": %g, \"log_loss_sd\": %g}",
                 c->name, (long long)c->inputs, 100 * c->error, 100 * c->error_sd, c->loss, c->loss_sd);
    }
    fputs("\n  ]\n}\n", stdout);
}

static int put_csv(const cli_importance *x, const char *path)
{
    cli_output output = {0};
    const int code = cli_output_open(&output, path);
    if (code) return code;
    fputs("column,error_percent,error_percent_sd,log_loss,log_loss_sd\n", output.file);
    for (int64_t j = 0; j < x->columns; j++) {
        const cli_column *c = &x->column[j];
        const double value[] = {100 * c->error, 100 * c->error_sd, c->loss, c->loss_sd};
        cli_put_csv(output.file, c->name);
        for (int i = 0; i < 4; i++)
            isfinite(value[i]) ? fprintf(output.file, ",%.6g", value[i]) : fprintf(output.file, ",");
        putc('\n', output.file);
    }
    return cli_output_close(&output);
}

/* Columns that help to memorize look important on the rows that trained the model. */
static int warn_of_training_rows(const cli_session *session)
{
    enhope_overlap overlap = {0};
    const enhope_status status = enhope_model_overlap(session->ctx, session->model, session->data, &overlap);
    if (status) return cli_fail(session->ctx, status);
    if (overlap.trained)
        fputs(
            "warning: the data has rows that trained the model; columns that it has only memorized look important; use "
            "other rows\n",
            stderr);
    return 0;
}

static int show_progress(double share, int64_t columns, double left, void *user)
{
    cli_progress_share(user, "columns", share, columns, left);
    return cli_caught_signal() ? 128 + cli_caught_signal() : 0;
}

int cmd_importance(const cli_options *options)
{
    cli_session session;
    cli_options reading = *options;
    cli_importance x = {0};
    cli_progress progress = {0};
    const int32_t repeats = options->measure.repeats ? (int32_t)options->measure.repeats : DEFAULT_REPEATS;
    reading.source.limit = 0; /* samples are chosen from all the data */
    cli_catch_signals();
    int code = cli_session_open(&session, options);
    if (!code) code = cli_session_model(&session, options->positional[0]);
    if (!code) code = cli_output_differs(options->output, options->data);
    if (!code) code = cli_output_differs(options->output, options->positional[0]);
    if (!code) code = cli_session_data(&session, &reading, options->data, "test");
    if (!code) code = cli_session_in_memory(&session, options);
    if (!code) code = warn_of_training_rows(&session);
    if (!code) code = cli_progress_open(&progress, options->quiet, NULL, false);
    if (!code)
        code = cli_importance_compute(&session, options->source.limit, repeats, options->answer.random_state,
                                      show_progress, &progress, &x);
    cli_progress_clear(&progress);
    if (!code && options->output) code = put_csv(&x, options->output);
    if (!code && options->json) put_json(&x);
    if (!code && !options->json) put_table(&x, options->measure.all);
    cli_progress_close(&progress);
    cli_importance_free(&x);
    cli_session_close(&session);
    return code;
}
