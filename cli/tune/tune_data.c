/* The data of a search. It is read once; the processes of the runs inherit it.
 *
 * The labeled rows are ordered so that every class is spread evenly: in the order of (r + 1/2) /
 * n_k, for the r-th of the n_k samples of a class in a seeded shuffle. The first rows of this
 * order are the validation part, and the rows of each round are the first of the others. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tune/tune.h"

enum { FEW_SAMPLES = 2000, MIN_ROWS = 1000, FIRST_SHARE = 16 };

typedef struct place {
    double key;
    int64_t row;
} place;

static int by_key(const void *a, const void *b)
{
    const place *x = a, *y = b;
    if (x->key != y->key) return x->key < y->key ? -1 : 1;
    return x->row < y->row ? -1 : 1;
}

static uint64_t splitmix64(uint64_t *state)
{
    uint64_t z = *state += 0x9E3779B97F4A7C15u;
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9u;
    z = (z ^ z >> 27) * 0x94D049BB133111EBu;
    return z ^ z >> 31;
}

/* The labeled rows, every class spread evenly. */
static int spread(const int32_t *label, int64_t n, int32_t c, uint64_t seed, place *at, int64_t *count)
{
    int64_t *class = cli_alloc("class counts", c, 2, sizeof *class); /* (c, 2) samples, and those seen so far */
    if (!class) return CLI_FAILED;
    *count = 0;
    for (int64_t i = 0; i < n; i++) {
        if (label[i] < 0) continue;
        at[(*count)++] = (place){.key = (double)(splitmix64(&seed) >> 11), .row = i};
        class[2 * label[i]]++;
    }
    qsort(at, (size_t)*count, sizeof *at, by_key);
    for (int64_t i = 0; i < *count; i++) {
        int64_t *k = class + 2 * label[at[i].row];
        at[i].key = ((double)k[1]++ + 0.5) / (double)k[0];
    }
    qsort(at, (size_t)*count, sizeof *at, by_key);
    free(class);
    return 0;
}

static int order_rows(tuning *t, double part)
{
    tune_data *d = &t->data;
    const int32_t *label = enhope_dataset_labels(d->session.data);
    const int64_t n = d->session.data_info.n;
    int64_t samples = 0;
    if (!label) return cli_error("the data has no labels: training needs a class for each sample; add labels");
    place *at = cli_alloc("order of samples", n, 1, sizeof *at);
    d->order = at ? cli_alloc("order of samples", n, 1, sizeof *d->order) : NULL;
    int code = d->order ? spread(label, n, d->session.data_info.classes, (uint64_t)t->seed, at, &samples) : CLI_FAILED;
    const int64_t valid = samples < FEW_SAMPLES ? 0 : (int64_t)(part * (double)samples);
    for (int64_t i = 0; i < samples && !code; i++) d->order[(i + samples - valid) % samples] = at[i].row;
    free(at);
    d->facts = (tune_facts){.samples = samples,
                            .valid = valid,
                            .inputs = d->session.data_info.inputs,
                            .classes = d->session.data_info.classes};
    if (!code && samples < 2 * TUNE_FOLDS)
        code = cli_error("%lld labeled samples are too few for a search; use at least %d", (long long)samples,
                         2 * TUNE_FOLDS);
    if (!code && samples >= FEW_SAMPLES && !valid)
        code = cli_error("the validation part is empty; use a larger --validation-fraction");
    return code;
}

int tune_data_open(tuning *t, double part)
{
    cli_options reading = *t->options;
    reading.compute.threads = 1; /* no thread runs when processes are started */
    int code = cli_session_open(&t->data.session, &reading);
    if (!code) code = cli_session_data(&t->data.session, t->options, t->options->data, "train");
    if (!code) code = cli_session_in_memory(&t->data.session, t->options);
    return code ? code : order_rows(t, part);
}

void tune_data_close(tune_data *data)
{
    cli_session_close(&data->session);
    free(data->order);
    *data = (tune_data){.order = NULL};
}

bool tune_by_folds(const tuning *t)
{
    return t->data.facts.valid == 0;
}

/* 1/16, 1/4 and all of the training samples. The first has at least MIN_ROWS, and the second is the
 * geometric mean of the others. */
int64_t tune_rows(const tuning *t, int round)
{
    const int64_t all = t->data.facts.samples - t->data.facts.valid;
    if (round == LAST || tune_by_folds(t)) return all;
    const int64_t smallest = all < MIN_ROWS ? all : MIN_ROWS, share = all / FIRST_SHARE;
    const int64_t first = share > smallest ? share : smallest;
    return round == 0 ? first : llround(sqrt((double)first * (double)all));
}

enhope_status tune_select(const tuning *t, enhope_context *ctx, int round, enhope_dataset **data,
                          enhope_dataset **valid)
{
    const tune_data *d = &t->data;
    const int64_t rows = tune_rows(t, round), held_out = d->facts.valid, all = d->facts.samples - held_out;
    int64_t *chosen = calloc((size_t)(rows + held_out + 1), sizeof *chosen);
    if (!chosen) return ENHOPE_ERROR_MEMORY;
    memcpy(chosen, d->order, (size_t)rows * sizeof *chosen);
    memcpy(chosen + rows, d->order + all, (size_t)held_out * sizeof *chosen);
    enhope_status status = enhope_dataset_select(ctx, d->session.data, chosen, rows + held_out, data);
    if (!status && held_out) status = enhope_dataset_set_validation(ctx, *data, held_out);
    if (!status && held_out) status = enhope_dataset_select(ctx, d->session.data, chosen + rows, held_out, valid);
    free(chosen);
    return status;
}
