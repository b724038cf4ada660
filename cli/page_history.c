/* Training as a film: the same training once more, watched. */
#include "page_history.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { FRAMES = 240 };           /* at most */
static const double apart = 1.1; /* steps from frame to frame grow by this factor */

void cli_page_history_free(cli_page_history *history)
{
    free(history->Y);
    free(history->progress);
    *history = (cli_page_history){0};
}

static int settings_of(const cli_session *session, enhope_settings **out)
{
    *out = enhope_settings_create();
    if (!*out) return cli_error("out of memory");
    for (int i = 0; i < enhope_setting_count(); i++) {
        const char *name = enhope_setting_get(i)->name, *value = enhope_model_setting(session->model, name);
        if (!value || !strcmp(name, "recipe")) continue; /* all that it set is among the others */
        const enhope_status status = enhope_settings_set(session->ctx, *out, name, value);
        if (status) return cli_fail(session->ctx, status);
    }
    return 0;
}

static int take_frame(const cli_session *session, enhope_trainer *trainer, const enhope_dataset *sample,
                      const enhope_progress *at, float *Y /* (points, h) */, cli_page_history *out)
{
    enhope_model *model = NULL;
    enhope_status status = enhope_trainer_model(trainer, &model);
    if (!status) status = enhope_model_embed(session->ctx, model, sample, Y);
    enhope_model_free(model);
    if (status) return cli_fail(session->ctx, status);
    const int64_t h = session->model_info.outputs;
    float *to = out->Y + out->frames * out->points * 2;
    for (int64_t i = 0; i < out->points; i++) memcpy(to + i * 2, Y + i * h, 2 * sizeof *to);
    double *progress = out->progress + out->frames++ * 3;
    const double part = at->batches && !at->epoch_done ? (double)at->batch / (double)at->batches : 0;
    progress[0] = (double)at->epoch + part;
    progress[1] = at->loss;
    progress[2] = at->valid_error;
    return 0;
}

static int watch(const cli_session *session, enhope_trainer *trainer, const enhope_dataset *sample, float *Y,
                 cli_page_history *out)
{
    int done = 0, code = 0;
    double next = 1;
    for (int64_t step = 1; !done && !code; step++) {
        enhope_progress at = {0};
        const enhope_status status = enhope_trainer_step(trainer, &at, &done);
        if (status) return cli_fail(session->ctx, status);
        if (out->frames == FRAMES - 1 && !done) continue; /* the last place is for the end */
        if (!done && (double)step < next) continue;
        next = fmax((double)step + 1, (double)step * apart);
        code = take_frame(session, trainer, sample, &at, Y, out);
    }
    return code;
}

int cli_page_history_record(const cli_session *session, const cli_options *options, const float *X, int64_t points,
                            cli_page_history *out)
{
    const int64_t h = session->model_info.outputs;
    cli_session training = {.ctx = session->ctx, .model = session->model, .model_info = session->model_info};
    cli_options of_training = *options;
    enhope_dataset *sample = NULL;
    enhope_settings *settings = NULL;
    enhope_trainer *trainer = NULL;
    of_training.part = NULL;
    out->points = points;
    out->Y = cli_alloc("frames", FRAMES, points * 2, sizeof *out->Y);
    out->progress = out->Y ? cli_alloc("frames", FRAMES, 3, sizeof *out->progress) : NULL;
    float *Y = out->progress ? cli_alloc("a frame", points, h, sizeof *Y) : NULL;
    int code = Y ? 0 : CLI_FAILED;
    if (!code) code = cli_session_data(&training, &of_training, options->data, "train");
    if (!code) code = settings_of(session, &settings);
    if (!code) {
        enhope_status status =
            enhope_dataset_view_f32(session->ctx, points, session->model_info.inputs, X, NULL, 0, NULL, &sample);
        if (!status) status = enhope_trainer_create(session->ctx, training.data, settings, &trainer);
        if (status) code = cli_fail(session->ctx, status);
    }
    if (!code) code = watch(session, trainer, sample, Y, out);
    enhope_trainer_free(trainer);
    enhope_settings_free(settings);
    enhope_dataset_free(sample);
    enhope_dataset_free(training.data);
    free(Y);
    return code;
}
