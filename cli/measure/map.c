/* eval --map: how well the map keeps what is near in the inputs. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "measure/measure.h"

/* The embedding of data by the session's model; free it. */
static int embed(const cli_session *session, const cli_session *of, float **Y)
{
    *Y = cli_alloc("the embedding", of->data_info.n, session->model_info.outputs, sizeof **Y);
    if (!*Y) return CLI_FAILED;
    const enhope_status status = enhope_model_embed(session->ctx, session->model, of->data, *Y);
    return status ? cli_fail(session->ctx, status) : 0;
}

static int refuse_parts(const cli_options *options)
{
    return cli_usage_error(options->command,
                           "--map training needs data with a train and a test part; use a folder or --split, "
                           "without --part");
}

int cli_map_check(const cli_options *options)
{
    const char *to = options->answer.map;
    if (!to || !strcmp(to, "rows")) return 0;
    if (strcmp(to, "training"))
        return cli_usage_error(options->command, "--map is '%s': expected rows or training", to);
    if (options->source.part || cli_data_parts(options, options->data) == CLI_WITHOUT_PARTS)
        return refuse_parts(options);
    return 0;
}

int cli_map_measure(const cli_session *session, const cli_options *options, enhope_map_measures *out)
{
    const bool training = !strcmp(options->answer.map, "training");
    cli_session train = {.ctx = session->ctx, .model = session->model, .model_info = session->model_info};
    float *Y = NULL, *train_Y = NULL;
    if (training && !session->part) return refuse_parts(options); /* only the file shows that it has none */
    *out = (enhope_map_measures){.seed = options->answer.random_state};
    int code = cli_session_in_memory(session, options);
    if (!code) code = embed(session, session, &Y);
    if (!code && training) code = cli_session_data(&train, options, options->data, "train");
    if (!code && training) code = embed(session, &train, &train_Y);
    if (!code) {
        const enhope_map rows = {session->data, Y}, references = {train.data, train_Y};
        const enhope_status status = enhope_map_measure(session->ctx, session->model, session->model_info.outputs,
                                                        &rows, training ? &references : NULL, out);
        if (status) code = cli_fail(session->ctx, status);
    }
    enhope_dataset_free(train.data);
    free(Y);
    free(train_Y);
    return code;
}

void cli_put_map(const cli_session *session, const cli_options *options, const enhope_map_measures *m)
{
    const bool training = !strcmp(options->answer.map, "training");
    printf("map: %lld", (long long)m->rows);
    if (m->rows < session->data_info.n) printf(" of %lld", (long long)session->data_info.n);
    printf(" rows, each compared with %lld %s\n", (long long)m->references, training ? "training rows" : "others");
    printf("  trustworthiness (%d neighbors)  %.4f\n", (int)m->k, m->trustworthiness);
    printf("  continuity (%d neighbors)       %.4f\n", (int)m->k, m->continuity);
    printf("  preserved of %d neighbors       %.4f\n", (int)m->k, m->preservation);
    if (!isnan(m->accuracy[0]))
        printf("  accuracy of 1, 5, 15 neighbors  %.4f, %.4f, %.4f\n", m->accuracy[0], m->accuracy[1], m->accuracy[2]);
    printf("  random triplets                 %.4f\n", m->triplets);
    printf("  rank correlation of distances   %.4f\n", m->spearman);
}

void cli_put_json_map(const cli_options *options, const enhope_map_measures *m)
{
    cli_json(stdout,
             "  \"map\": {\"compared_with\": %s, \"rows\": %lld, \"references\": %lld, \"neighbors\": %lld, "
             "\"trustworthiness\": %g, \"continuity\": %g, \"preservation\": %g, \"triplets\": %g, \"spearman\": %g, "
             "\"accuracy\": {\"1\": %g, \"5\": %g, \"15\": %g}}",
             options->answer.map, (long long)m->rows, (long long)m->references, (long long)m->k, m->trustworthiness,
             m->continuity, m->preservation, m->triplets, m->spearman, m->accuracy[0], m->accuracy[1], m->accuracy[2]);
}
