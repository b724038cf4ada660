/* The loss of a batch, in double: its gradient against central differences for every kind of
 * objective, with and without an auxiliary head, for any number of chunks, and the adversarial
 * step. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "ref_support.h"
#include "train/batch_loss.h"

enum { N = 17, H = 5, OUT = 2, Z = 4, C = 3, CAPACITY = 40 };

static float X[N * H], SHIFT[H], MUL[H], VALUE[N * H];
static int64_t ROW_START[N + 1];
static int32_t LABEL[N], COLUMN[N * H];
static const int32_t EXEMPLAR_LABEL[Z] = {0, 1, 1, 2};

#define R(p) ((eh_real *)(p))

typedef struct problem {
    eh_embedder e;
    eh_parameters p;
    eh_batch_loss loss;
    int64_t row[3 * N], start[8];
    int32_t label[3 * N];
} problem;

/* The properties of a test problem. */
typedef struct kind {
    const char *name;
    const eh_map *map;
    eh_map_shape shape;
    eh_pairs objective;
    int64_t z, targets, chunks;
    bool learned, sparse;
    double perplexity, adversary;
    int64_t aux; /* outputs of the auxiliary head */
} kind;

static void open_problem(const kind *k, problem *q)
{
    const int64_t n = N - 4, rows = n * (1 + k->targets);
    const eh_matrix dense = {.kind = ENHOPE_F32, .n = N, .H = H, .f32 = X};
    const eh_matrix sparse = {
        .kind = ENHOPE_CSR, .n = N, .H = H, .row_start = ROW_START, .column = COLUMN, .value = VALUE};
    eh_map_shape with_head = k->shape;
    with_head.h += k->aux;
    memset(q, 0, sizeof *q);
    eh_embedder_init(&q->e, ctx, ref, k->map, &k->shape);
    q->e.sparse = k->sparse;
    assert_int_equal(eh_embedder_place(&q->e, k->sparse ? &sparse : &dense, LABEL, SHIFT, MUL), ENHOPE_OK);
    const eh_embedder_sizes sizes = {.capacity = CAPACITY,
                                     .behind = k->z,
                                     .dense = k->sparse ? k->z : CAPACITY + k->z,
                                     .embedded = CAPACITY + k->z,
                                     .outputs = with_head.h,
                                     .references = k->z,
                                     .embedded_references = k->z,
                                     .keep = true};
    assert_int_equal(eh_embedder_allocate(&q->e, &sizes), ENHOPE_OK);
    assert_int_equal(
        eh_parameters_create(ctx, ref, eh_map_parameters(k->map, &with_head), k->z, H, k->learned, false, &q->p),
        ENHOPE_OK);
    for (int64_t i = 0; i < q->p.count; i++) ((double *)q->p.theta)[i] = 0.6 * eh_random_normal(3, 1, (uint64_t)i);
    if (k->z) ref->op->send(ref, q->e.reference_label, EXEMPLAR_LABEL, (size_t)k->z * sizeof *EXEMPLAR_LABEL);
    q->loss = (eh_batch_loss){.embedder = &q->e,
                              .parameters = &q->p,
                              .objective = k->objective,
                              .hinge = {.targets = k->targets, .all = N},
                              .chunks = eh_chunks_of(k->chunks, 0, 1),
                              .batch_max = rows,
                              .adversarial = {.step = k->adversary},
                              .head = {.h = k->aux},
                              .target = {.perplexity = k->perplexity}};
    assert_int_equal(eh_batch_loss_create(&q->loss), ENHOPE_OK);
    for (int64_t i = 0; i < rows; i++) { /* samples, then the next sample of the class of each */
        q->row[i] = i < n ? (i * 5 + 2) % N : (q->row[(i - n) / k->targets] + C * (1 + (i - n) % k->targets)) % N;
        q->label[i] = i >= n && q->row[i] % C != q->row[(i - n) / k->targets] % C ? -1 : LABEL[q->row[i]];
    }
    for (int64_t p = 0; p <= k->chunks; p++) q->start[p] = eh_chunk_start(rows, p, k->chunks);
    eh_batch_loss_set_batch(&q->loss, &(eh_batch){.rows = (const eh_row *)q->row,
                                                  .label = (const eh_label *)q->label,
                                                  .n = rows,
                                                  .chunk_start = q->start});
}

static void close_problem(problem *q)
{
    eh_batch_loss_free(&q->loss);
    eh_parameters_free(&q->p);
    eh_embedder_free(&q->e);
}

/* With that of the head. */
static double loss_at(problem *q, double *gradient)
{
    eh_loss_value value;
    eh_batch_loss_at(&q->loss, q->p.theta, R(gradient), (eh_loss *)&value);
    return value.value + (q->loss.head.h && !q->loss.head.off ? ((eh_loss_value *)q->loss.head.loss)->value : 0);
}

/* Macros, because clang takes no constant object as an initializer of another. */
#define HOPE_SHAPE                                   \
    {                                                \
        .H = H, .h = OUT, .F = 4, .m = 3, .order = 3 \
    }
#define DEEP_SHAPE                                       \
    {                                                    \
        .H = H, .h = OUT, .layers = 2, .width = { 4, 3 } \
    }
#define FLAT_SHAPE       \
    {                    \
        .H = H, .h = OUT \
    }

static const kind kinds[] = {
    {"learned exemplars", &eh_map_hope, HOPE_SHAPE, {.row = true}, Z, 0, 3, .learned = true},
    {"fixed exemplars, joint", &eh_map_hope, HOPE_SHAPE, {.row = false}, Z, 0, 1, .learned = false},
    {"nca", &eh_map_linear, FLAT_SHAPE, {.row = true, .nca = true, .gaussian = true}, Z, 0, 2, .learned = true},
    {"the batch itself", &eh_map_hope, HOPE_SHAPE, {.self = true}, 0, 0, 4, .learned = false},
    {"target of the inputs", &eh_map_hope, HOPE_SHAPE, {.self = true}, 0, 0, 3, .perplexity = 2.7},
    {"large margin", &eh_map_linear, FLAT_SHAPE, {.self = true}, 0, 2, 5, .learned = false},
    {"sparse rows", &eh_map_hope, HOPE_SHAPE, {.row = true}, Z, 0, 3, .learned = true, .sparse = true},
    {"a head", &eh_map_hope, HOPE_SHAPE, {.row = true}, Z, 0, 3, .learned = true, .aux = 5},
    {"a narrow head, sparse rows", &eh_map_hope, HOPE_SHAPE, {.row = true}, Z, 0, 2, .sparse = true, .aux = 1},
    {"a head of a deep map", &eh_map_mlp, DEEP_SHAPE, {.row = false}, Z, 0, 2, .learned = true, .aux = 3},
};
enum { KINDS = sizeof kinds / sizeof *kinds };

static void gradients_match_the_loss(void **state)
{
    (void)state;
    for (int i = 0; i < KINDS; i++) {
        problem q;
        open_problem(&kinds[i], &q);
        double *x = (double *)q.p.theta, *g = malloc((size_t)q.p.count * 8), *spare = malloc((size_t)q.p.count * 8);
        const double step = 1e-6, loss = loss_at(&q, g);
        double size = 0;
        assert_true(isfinite(loss) && loss > 0);
        for (int64_t v = 0; v < q.p.trained; v++) size = fmax(size, fabs(g[v]));
        for (int64_t v = 0; v < q.p.trained; v++) {
            const double kept = x[v];
            x[v] = kept + step;
            const double up = loss_at(&q, spare);
            x[v] = kept - step;
            const double down = loss_at(&q, spare);
            x[v] = kept;
            if (fabs((up - down) / (2 * step) - g[v]) > 1e-6 * size)
                fail_msg("%s: number %d is %g, differences are %g", kinds[i].name, (int)v, g[v],
                         (up - down) / (2 * step));
        }
        free(g), free(spare);
        close_problem(&q);
    }
}

static void chunks_change_neither_loss_nor_gradient(void **state)
{
    (void)state;
    for (int i = 0; i < KINDS; i++) {
        double *g[2], loss[2];
        int64_t trained = 0;
        for (int whole = 0; whole < 2; whole++) {
            problem q;
            kind k = kinds[i];
            k.chunks = whole ? 1 : 6;
            open_problem(&k, &q);
            trained = q.p.trained;
            g[whole] = malloc((size_t)q.p.count * sizeof(double));
            loss[whole] = loss_at(&q, g[whole]);
            close_problem(&q);
        }
        assert_true(loss[0] == loss[1]);
        for (int64_t v = 0; v < trained; v++) assert_true(fabs(g[0][v] - g[1][v]) < 1e-12);
        free(g[0]), free(g[1]);
    }
}

/* The parameters of the head are the last ones of the map. */
static void a_head_that_is_off_changes_neither_loss_nor_gradient_of_the_map(void **state)
{
    (void)state;
    static const struct {
        const eh_map *map;
        eh_map_shape shape;
    } maps[] = {{&eh_map_hope, HOPE_SHAPE}, {&eh_map_mlp, DEEP_SHAPE}};
    for (int i = 0; i < 2; i++) {
        kind k = {"a head", maps[i].map, maps[i].shape, {.row = true}, Z, 0, 3, .learned = true, .aux = 5}, plain = k;
        problem q, without;
        plain.aux = 0;
        open_problem(&k, &q), open_problem(&plain, &without);
        const int64_t map = without.p.map_count, all = q.p.map_count, exemplars = Z * H;
        double *x = (double *)q.p.theta, *y = (double *)without.p.theta;
        memcpy(y, x, (size_t)map * 8), memcpy(y + map, x + all, (size_t)exemplars * 8);
        double *g = malloc((size_t)q.p.count * 8), *h = malloc((size_t)without.p.count * 8);
        q.loss.head.off = true;
        assert_true(loss_at(&q, g) == loss_at(&without, h));
        assert_true(all - map == 5 * 3);
        for (int64_t v = 0; v < map; v++) assert_true(fabs(g[v] - h[v]) < 1e-12);
        for (int64_t v = map; v < all; v++) assert_true(g[v] == 0);
        for (int64_t v = 0; v < exemplars; v++) assert_true(fabs(g[all + v] - h[map + v]) < 1e-12);
        free(g), free(h);
        close_problem(&q), close_problem(&without);
    }
}

/* The mean of the losses at the batch and at the batch moved by `step` up its gradient. */
static void the_adversarial_loss_is_the_mean_of_two(void **state)
{
    (void)state;
    kind k = kinds[0], plain = kinds[0];
    problem q, two;
    k.adversary = 0.13;
    open_problem(&k, &q), open_problem(&plain, &two);
    const int64_t count = q.p.count, n = q.loss.batch.n, ld = q.e.ld;
    double *g = malloc((size_t)count * 8), *at = malloc((size_t)count * 8), *moved = malloc((size_t)count * 8);
    const double loss = loss_at(&q, g), first = loss_at(&two, at);
    double *x = (double *)two.e.X;
    const double *x_adv = (const double *)q.loss.adversarial.X_adv;
    for (int64_t i = 0; i < n; i++) {
        for (int j = 0; j < H; j++) assert_true(fabs(fabs(x_adv[i * ld + j] - x[i * ld + j]) - 0.13) < 1e-12);
        assert_true(x_adv[i * ld + H] == 1);
    }
    memcpy(x, x_adv, (size_t)(n * ld) * sizeof *x);
    const double second = loss_at(&two, moved);
    assert_true(second > first); /* the batch moved up the gradient */
    assert_true(fabs(loss - (first + second) / 2) < 1e-12);
    for (int64_t v = 0; v < count; v++) assert_true(fabs(g[v] - (at[v] + moved[v]) / 2) < 1e-12);
    free(g), free(at), free(moved);
    close_problem(&q), close_problem(&two);
}

static int setup(void **state)
{
    for (int i = 0; i < N; i++) {
        LABEL[i] = i % C;
        ROW_START[i + 1] = ROW_START[i];
        for (int j = 0; j < H; j++) {
            const float value =
                (i + j) % 3 == 1 ? 0 : (float)(eh_random_normal(7, 1, (uint64_t)(i * H + j)) + 0.4 * (i % C));
            X[i * H + j] = value;
            if (value == 0) continue;
            COLUMN[ROW_START[i + 1]] = j;
            VALUE[ROW_START[i + 1]++] = value;
        }
    }
    for (int j = 0; j < H; j++) MUL[j] = 0.8f + 0.1f * (float)j;
    return open_ref(state);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gradients_match_the_loss),
        cmocka_unit_test(chunks_change_neither_loss_nor_gradient),
        cmocka_unit_test(a_head_that_is_off_changes_neither_loss_nor_gradient_of_the_map),
        cmocka_unit_test(the_adversarial_loss_is_the_mean_of_two),
    };
    return cmocka_run_group_tests(tests, setup, close_ref);
}
