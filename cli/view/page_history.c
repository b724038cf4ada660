/* Records an animation of training: repeats the training and embeds the points at intervals. */
#include "view/page_history.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "view/page.h"

enum {
    FRAMES = 200,    /* maximum */
    FRAMES_SLOW = 60 /* maximum if each frame embeds all training points */
};

/* Buffers for one frame. */
typedef struct camera {
    const cli_session *session;
    const cli_page_watched *watched;
    enhope_trainer *trainer;
    enhope_dataset *sample;
    int64_t max_frames; /* frames */
    float *Y;           /* (points, h) */
    int32_t *label;     /* (points); NULL: the model does not classify */
    cli_page_history *out;
} camera;

static void find_box(const camera *k, cli_page_frame *frame)
{
    const int64_t h = k->session->model_info.outputs;
    for (int d = 0; d < 2; d++) {
        frame->low[d] = INFINITY;
        frame->high[d] = -INFINITY;
        for (int64_t i = 0; i < k->watched->points; i++) {
            const double y = (double)k->Y[i * h + d];
            if (!isfinite(y)) continue;
            frame->low[d] = fmin(frame->low[d], y);
            frame->high[d] = fmax(frame->high[d], y);
        }
    }
}

static void keep_places(const camera *k, const cli_page_frame *frame)
{
    const int64_t h = k->session->model_info.outputs, points = k->watched->points;
    uint16_t *to = k->out->place + k->out->frames * points * 2;
    for (int64_t i = 0; i < points; i++)
        for (int d = 0; d < 2; d++)
            to[i * 2 + d] = cli_page_place((double)k->Y[i * h + d], frame->low[d], frame->high[d]);
}

static double error_of(const camera *k)
{
    int64_t labeled = 0, wrong = 0;
    for (int64_t i = 0; i < k->watched->points; i++) {
        if (!k->label || k->watched->truth[i] < 0) continue;
        labeled++;
        wrong += k->watched->truth[i] != k->label[i];
    }
    return labeled ? (double)wrong / (double)labeled : NAN;
}

static int take_frame(camera *k, const enhope_progress *at, bool last)
{
    enhope_model *model = NULL;
    enhope_status status = (last ? enhope_trainer_model : enhope_trainer_snapshot)(k->trainer, &model);
    enhope_prediction p = {.label = k->label, .Y = k->Y};
    if (!status && k->label) status = enhope_model_predict(k->session->ctx, model, k->sample, 0, &p);
    if (!status && !k->label) status = enhope_model_embed(k->session->ctx, model, k->sample, k->Y);
    enhope_model_free(model);
    if (status) return cli_fail(k->session->ctx, status);
    const double part = at->batches && !at->epoch_done ? (double)at->batch / (double)at->batches : 0;
    cli_page_frame *frame = &k->out->frame[k->out->frames];
    *frame = (cli_page_frame){.epoch = (double)at->epoch + part,
                              .loss = at->loss,
                              .valid_error = last ? at->best_error : at->valid_error,
                              .error = error_of(k)};
    find_box(k, frame);
    keep_places(k, frame);
    k->out->frames++;
    return 0;
}

/* Frame f of F follows after a fraction (f / F)^2 of all steps, and at least one step after frame f
 * - 1. */
static int watch(camera *k)
{
    int done = 0, code = 0;
    int64_t next = 1;
    for (int64_t step = 1; !done && !code; step++) {
        enhope_progress at = {0};
        const enhope_status status = enhope_trainer_step(k->trainer, &at, &done);
        if (status) return cli_fail(k->session->ctx, status);
        if (!done && (step < next || k->out->frames == k->max_frames - 1))
            continue; /* the last frame is the end of training */
        code = take_frame(k, &at, done);
        const double share = (double)(k->out->frames + 1) / (double)k->max_frames;
        const double planned = (double)at.epochs * (double)at.batches;
        next = step + 1 > (int64_t)(planned * share * share) ? step + 1 : (int64_t)(planned * share * share);
    }
    return code;
}

/* Distance between the points of the last frame and those of the model. */
static double gap_of(const camera *k)
{
    const cli_page_frame *last = &k->out->frame[k->out->frames - 1];
    const int64_t h = k->session->model_info.outputs;
    const double size = fmax(last->high[0] - last->low[0], last->high[1] - last->low[1]);
    double gap = 0;
    for (int64_t i = 0; i < k->watched->points; i++)
        for (int d = 0; d < 2; d++) gap = fmax(gap, fabs((double)k->Y[i * h + d] - (double)k->watched->Y[i * 2 + d]));
    return size > 0 ? gap / size : 0;
}

int cli_page_history_record(const cli_session *session, const cli_options *options, const cli_page_watched *watched,
                            cli_page_history *out)
{
    const int64_t points = watched->points;
    cli_session training = {.ctx = session->ctx, .model = session->model, .model_info = session->model_info};
    cli_options of_training = *options;
    enhope_settings *settings = NULL;
    camera k = {.session = session, .watched = watched, .out = out};
    k.max_frames = session->model_info.references_are_exemplars ? FRAMES : FRAMES_SLOW;
    of_training.source.part = NULL;
    out->points = points;
    out->place = cli_alloc("frames", k.max_frames, points * 2, sizeof *out->place);
    out->frame = out->place ? cli_alloc("frames", k.max_frames, 1, sizeof *out->frame) : NULL;
    k.Y = out->frame ? cli_alloc("a frame", points, session->model_info.outputs, sizeof *k.Y) : NULL;
    if (k.Y && session->model_info.classes) k.label = cli_alloc("a frame", points, 1, sizeof *k.label);
    int code = k.Y && (k.label || !session->model_info.classes) ? 0 : CLI_FAILED;
    if (!code) code = cli_session_data(&training, &of_training, options->data, "train");
    if (!code) code = cli_settings_of_model(session, (const char *const[]){NULL}, &settings);
    if (!code) {
        enhope_status status = enhope_dataset_view_f32(session->ctx, points, session->model_info.inputs, watched->X,
                                                       NULL, 0, NULL, &k.sample);
        if (!status) status = enhope_trainer_create(session->ctx, NULL, training.data, settings, &k.trainer);
        if (status) code = cli_fail(session->ctx, status);
    }
    if (!code) code = watch(&k);
    if (!code) out->gap = gap_of(&k);
    enhope_trainer_free(k.trainer);
    enhope_settings_free(settings);
    enhope_dataset_free(k.sample);
    enhope_dataset_free(training.data);
    free(k.Y);
    free(k.label);
    return code;
}
