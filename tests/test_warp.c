/* Image warps in training batches: the source positions of pixels, the distribution of the
 * random parameters, and which batches are warped. test_gather.c compares the backends. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "compute/cpu/cpu.h"
#include "data/data.h"
#include "train/trainer.h"
#include "settings_support.h"

static enhope_context *ctx;

/* ---- one image ---- */

enum { CAPACITY = 9 * 140 };

/* Irregular values in a frame of zeros. */
static void make_framed(int64_t rows, int64_t columns, float *image)
{
    memset(image, 0, (size_t)eh_cpu_warp_scratch(rows, columns) * sizeof *image);
    for (int64_t i = 0; i < rows * columns; i++)
        image[(i / columns + 1) * (columns + 3) + i % columns + 1] =
            (float)(1 + eh_random_unit(3, 1, (uint64_t)i) * 254);
}

static float framed(const float *image, int64_t rows, int64_t columns, int64_t i, int64_t j)
{
    return i < 0 || i >= rows || j < 0 || j >= columns ? 0 : image[(i + 1) * (columns + 3) + j + 1];
}

static void a_shift_by_whole_pixels_is_that_shift(void **state)
{
    (void)state;
    static const int64_t sides[][2] = {{1, 1}, {5, 7}, {6, 64}, {3, 130}};
    static float image[CAPACITY], out[CAPACITY], zero[CAPACITY], unit[CAPACITY];
    for (int i = 0; i < CAPACITY; i++) unit[i] = 1;
    for (int s = 0; s < 4; s++)
        for (int dy = -7; dy <= 7; dy++)
            for (int dx = -9; dx <= 9; dx++) {
                const int64_t rows = sides[s][0], columns = sides[s][1];
                const eh_warp by = {.y = (float)dy, .yy = 1, .x = (float)dx, .xx = 1};
                make_framed(rows, columns, image);
                eh_cpu_warp_by(&by, NULL, rows, columns, image, zero, unit, out);
                for (int64_t i = 0; i < rows; i++)
                    for (int64_t j = 0; j < columns; j++)
                        assert_true(out[i * columns + j] == framed(image, rows, columns, i + dy, j + dx));
            }
}

static void quarter_turns_half_pixels_and_scaling_are_exact(void **state)
{
    (void)state;
    enum { S = 7 };
    static float image[CAPACITY], out[S * S], shift[S * S], mul[S * S];
    for (int i = 0; i < S * S; i++) shift[i] = 3, mul[i] = 0.5f;
    make_framed(S, S, image);
    const eh_warp turn = {.y = S - 1, .yx = -1, .xy = 1}, half = {.y = 0.5f, .yy = 1, .x = -0.5f, .xx = 1};
    eh_cpu_warp_by(&turn, NULL, S, S, image, shift, mul, out);
    for (int i = 0; i < S; i++)
        for (int j = 0; j < S; j++) assert_true(out[i * S + j] == (framed(image, S, S, S - 1 - j, i) - 3) * 0.5f);
    eh_cpu_warp_by(&half, NULL, S, S, image, shift, mul, out);
    for (int i = 0; i < S; i++)
        for (int j = 0; j < S; j++) {
            double four = 0;
            for (int k = 0; k < 4; k++) four += framed(image, S, S, i + k / 2, j - k % 2) / 4;
            assert_true(fabs(out[i * S + j] - (four - 3) * 0.5) < 1e-4);
        }
}

/* ---- random parameters, measured on ramp images, where interpolation returns the position
 * itself ---- */

enum { SIDE = 41, ALL = SIDE * SIDE, MANY = 2000, MIDDLE = SIDE / 2 };

/* place (MANY, 2): the source position of pixel (i, j) of a row in MANY passes. */
static void places(const eh_augment *by, int64_t row, int64_t i, int64_t j, double (*place)[2])
{
    static float ramp[2][2 * ALL], out[ALL + 1], shift[ALL], mul[ALL];
    eh_compute *c = NULL;
    assert_int_equal(eh_compute_open(ctx, false, &c), 0);
    for (int p = 0; p < ALL; p++) mul[p] = 1;
    for (int p = 0; p < 2 * ALL; p++) ramp[0][p] = (float)(p % ALL / SIDE), ramp[1][p] = (float)(p % SIDE);
    eh_augment with = *by;
    with.image_rows = with.image_columns = SIDE;
    for (int d = 0; d < 2; d++) {
        const eh_matrix x = {.kind = ENHOPE_F32, .n = 2, .H = ALL, .f32 = ramp[d]};
        eh_table t;
        assert_int_equal(c->op->place(c, ctx, &x, NULL, shift, mul, &t), 0);
        for (with.pass = 0; with.pass < MANY; with.pass++) {
            c->op->gather_packed(c, &t, (const eh_row *)&row, 1, (eh_packed *)out, ALL + 1, NULL, &with);
            place[with.pass][d] = out[i * SIDE + j];
        }
        c->op->unplace(c, &t);
    }
    eh_compute_close(c);
}

/* Mean 0 and the given variance, within five standard deviations of the estimate for a uniform
 * or normal number (kurtosis 1.8, 3). */
static void check_moments(const char *what, const double *v, double variance, double kurtosis)
{
    double mean = 0, square = 0;
    for (int k = 0; k < MANY; k++) mean += v[k] / MANY, square += v[k] * v[k] / MANY;
    const double root = sqrt(MANY);
    if (fabs(mean) > 5 * sqrt(variance) / root || fabs(square - variance) > 5 * variance * sqrt(kurtosis - 1) / root)
        fail_msg("%s: mean %g, variance %g for %g", what, mean, square, variance);
}

static void check_uniform(const char *what, const double *v, double bound)
{
    double far = 0;
    for (int k = 0; k < MANY; k++) far = fmax(far, fabs(v[k]));
    if (far > bound + 1e-5 || far < 0.99 * bound) fail_msg("%s: largest value %g, expected %g", what, far, bound);
    check_moments(what, v, bound * bound / 3, 1.8);
}

static void check_apart(const double *a, const double *b)
{
    double both = 0, aa = 0, bb = 0;
    for (int k = 0; k < MANY; k++) both += a[k] * b[k], aa += a[k] * a[k], bb += b[k] * b[k];
    assert_true(fabs(both) < 5 * sqrt(aa * bb / MANY));
}

static double middle[MANY][2], below[MANY][2], right[MANY][2];

static void shifts_are_uniform(void **state)
{
    (void)state;
    static double v[2][MANY], other[MANY];
    const eh_augment by = {.shift = 3.5, .seed = 4};
    places(&by, 0, MIDDLE, MIDDLE, middle);
    for (int k = 0; k < MANY; k++)
        for (int d = 0; d < 2; d++) v[d][k] = middle[k][d] - MIDDLE;
    check_uniform("down", v[0], 3.5), check_uniform("right", v[1], 3.5);
    places(&by, 1, MIDDLE, MIDDLE, middle);
    for (int k = 0; k < MANY; k++) other[k] = middle[k][0] - MIDDLE;
    check_apart(v[0], v[1]), check_apart(v[0], other);
}

/* The matrix, column by column, gives the rotation, then the scaling and shear before it. */
static void rotations_scales_and_shears_are_uniform(void **state)
{
    (void)state;
    static double angle[MANY], tall[MANY], wide[MANY], slant[MANY];
    const double strength = 1.5;
    const eh_augment by = {.affine = strength, .seed = 4};
    places(&by, 0, MIDDLE, MIDDLE, middle), places(&by, 0, MIDDLE + 8, MIDDLE, below),
        places(&by, 0, MIDDLE, MIDDLE + 8, right);
    for (int k = 0; k < MANY; k++) {
        double down[2], across[2];
        for (int d = 0; d < 2; d++) {
            assert_true(fabs(middle[k][d] - MIDDLE) < 1e-4); /* the center does not move */
            down[d] = (below[k][d] - middle[k][d]) / 8, across[d] = (right[k][d] - middle[k][d]) / 8;
        }
        angle[k] = atan2(-across[0], across[1]);
        wide[k] = hypot(across[0], across[1]) - 1;
        tall[k] = cos(angle[k]) * down[0] + sin(angle[k]) * down[1] - 1;
        slant[k] = -sin(angle[k]) * down[0] + cos(angle[k]) * down[1];
    }
    check_uniform("turn", angle, strength * 12 * acos(-1) / 180);
    check_uniform("tall", tall, strength * 0.12), check_uniform("wide", wide, strength * 0.12);
    check_uniform("slant", slant, strength * 0.15);
    double *const all[] = {angle, tall, wide, slant};
    for (int a = 0; a < 4; a++)
        for (int b = 0; b < a; b++) check_apart(all[a], all[b]);
}

/* The variance at a position is that of its weights: a product of the row's and the column's,
 * with mean (151 / 315)^2. */
static double spread(int64_t i)
{
    float w[4];
    double sum = 0;
    eh_warp_weights(i, SIDE, w);
    for (int k = 0; k < 4; k++) sum += (double)w[k] * w[k];
    return sum * 315 / 151;
}

static void the_field_is_smooth_and_normal(void **state)
{
    (void)state;
    static double v[2][MANY], w[MANY], far[MANY];
    const double elastic = 1.2;
    const eh_augment by = {.elastic = elastic, .seed = 4};
    places(&by, 0, 12, 17, middle), places(&by, 0, 13, 17, below), places(&by, 0, 36, 17, right);
    double step = 0;
    for (int k = 0; k < MANY; k++) {
        for (int d = 0; d < 2; d++) v[d][k] = middle[k][d] - (d ? 17 : 12);
        w[k] = below[k][0] - 13;
        far[k] = right[k][1] - 17;
        step += (w[k] - v[0][k]) * (w[k] - v[0][k]) / MANY;
    }
    check_moments("down", v[0], elastic * elastic * spread(12) * spread(17), 3);
    check_moments("right", v[1], elastic * elastic * spread(12) * spread(17), 3);
    check_apart(v[0], v[1]), check_apart(v[1], far); /* no node has weight at both positions */
    assert_true(sqrt(step) < 0.2 * elastic);         /* a cell has ten pixels here */
    double mean = 0;
    for (int i = 0; i < SIDE; i++) mean += spread(i) / SIDE;
    assert_true(fabs(mean - 1) < 1e-3);
}

/* The sum of an image with a border is preserved: exactly under a shift, otherwise on average. */
static void images_keep_their_mean(void **state)
{
    (void)state;
    static float blob[ALL], out[ALL + 1], shift[ALL], mul[ALL];
    static const struct {
        eh_augment by;
        double each, mean;
    } cases[] = {{{.shift = 2}, 1e-5, 1e-5}, {{.affine = 1}, 0.35, 0.03}, {{.elastic = 1}, 0.5, 0.03}};
    double ink = 0;
    for (int p = 0; p < ALL; p++) {
        const double y = p / SIDE - MIDDLE - 2, x = p % SIDE - MIDDLE + 1;
        blob[p] = (float)(255 * exp(-(y * y + 2 * x * x) / 30)), mul[p] = 1;
        ink += blob[p];
    }
    eh_compute *c = NULL;
    assert_int_equal(eh_compute_open(ctx, false, &c), 0);
    for (int i = 0; i < 3; i++) {
        eh_augment with = cases[i].by;
        with.image_rows = with.image_columns = SIDE;
        double mean = 0;
        enum { TIMES = 500 };
        for (int k = 0; k < TIMES; k++) {
            static const int64_t row;
            const eh_matrix x = {.kind = ENHOPE_F32, .n = 1, .H = ALL, .f32 = blob};
            eh_table t;
            with.pass = (uint64_t)k;
            assert_int_equal(c->op->place(c, ctx, &x, NULL, shift, mul, &t), 0);
            c->op->gather_packed(c, &t, (const eh_row *)&row, 1, (eh_packed *)out, ALL + 1, NULL, &with);
            c->op->unplace(c, &t);
            double sum = 0;
            for (int p = 0; p < ALL; p++) sum += out[p];
            assert_true(fabs(sum / ink - 1) < cases[i].each);
            mean += sum / ink / TIMES;
        }
        if (fabs(mean - 1) > cases[i].mean) fail_msg("case %d: %g", i, mean);
    }
    eh_compute_close(c);
}

/* ---- training ---- */

static enhope_dataset *digits, *floats, *sparse; /* the same images: bytes, floats, nonzero values */
static float *pixels, *value;
static int64_t *row_start;
static int32_t *column;

static void make_kinds(void)
{
    const int64_t n = digits->x.n, H = digits->x.H;
    pixels = malloc((size_t)(n * H) * sizeof *pixels), value = malloc((size_t)(n * H) * sizeof *value);
    column = malloc((size_t)(n * H) * sizeof *column), row_start = calloc((size_t)n + 1, sizeof *row_start);
    for (int64_t i = 0; i < n; i++) {
        row_start[i + 1] = row_start[i];
        for (int64_t j = 0; j < H; j++) {
            const float v = pixels[i * H + j] = digits->x.u8[i * H + j];
            if (v == 0) continue;
            column[row_start[i + 1]] = (int32_t)j;
            value[row_start[i + 1]++] = v;
        }
    }
    assert_int_equal(enhope_dataset_view_f32(ctx, n, H, pixels, digits->label, digits->c, NULL, &floats), 0);
    assert_int_equal(
        enhope_dataset_view_csr(ctx, n, H, row_start, column, value, digits->label, digits->c, NULL, &sparse), 0);
    floats->image_rows = floats->image_columns = sparse->image_rows = sparse->image_columns = digits->image_rows;
}

static enhope_settings *with(const char *first, ...)
{
    static const char *const small[] = {"n_factors", "20",    "n_hidden", "10",   "batch_size",         "100",
                                        "n_epochs",  "2",     "solver",   "adam", "hidden_layer_sizes", "24-12",
                                        "scaling",   "range", NULL};
    va_list args;
    va_start(args, first);
    enhope_settings *s = settings_with(ctx, small, first, args);
    va_end(args);
    return s;
}

static enhope_trainer *trainer(const enhope_dataset *data, enhope_settings *s)
{
    enhope_trainer *t = NULL;
    if (enhope_trainer_create(ctx, NULL, data, s, &t)) fail_msg("%s", enhope_error(ctx));
    enhope_settings_free(s);
    return t;
}

static void step(enhope_trainer *t)
{
    int done;
    if (enhope_trainer_step(t, NULL, &done)) fail_msg("%s", enhope_error(ctx));
}

/* The loss of the last of `steps` steps. */
static double loss_after(const enhope_dataset *data, enhope_settings *s, int steps)
{
    enhope_trainer *t = trainer(data, s);
    for (int i = 0; i < steps; i++) step(t);
    const double loss = t->state.loss;
    enhope_trainer_free(t);
    return loss;
}

static void zero_strengths_change_nothing(void **state)
{
    (void)state;
    enhope_trainer *a = trainer(digits, with(NULL));
    enhope_trainer *b = trainer(digits, with("shift", "0", "affine", "0", "elastic", "0", NULL));
    for (int i = 0; i < 6; i++) step(a), step(b);
    assert_false(b->loss.augmented);
    assert_memory_equal(a->parameters.theta, b->parameters.theta, (size_t)a->parameters.count * sizeof(float));
    enhope_trainer_free(a), enhope_trainer_free(b);
}

#define MOVED "shift", "1", "affine", "0.8", "elastic", "0.6"

static void batches_are_the_same_for_every_kind_and_backend(void **state)
{
    (void)state;
    const enhope_dataset *const data[] = {digits, floats, sparse};
    double loss[6];
    for (int i = 0; i < 6; i++) {
        assert_int_equal(enhope_context_set_device(ctx, i / 3 ? "ref" : "cpu"), 0);
        loss[i] = loss_after(data[i % 3], with(MOVED, "noise", "0.1", NULL), 4);
        assert_true(fabs(loss[i] - loss[0]) < 1e-4 * loss[0]);
    }
    assert_int_equal(enhope_context_set_device(ctx, "cpu"), 0);
    assert_true(fabs(loss_after(digits, with("noise", "0.1", NULL), 4) - loss[0]) > 1e-3 * loss[0]);
}

/* Stores the rows of the batches of an epoch in seen (n, ld). */
static void see_epoch(enhope_trainer *t, float *seen)
{
    for (int64_t b = 0; b < t->batches.count; b++) {
        step(t);
        const int64_t first = t->samples.n * b / t->batches.count,
                      n = t->samples.n * (b + 1) / t->batches.count - first;
        const int64_t *rows = (const int64_t *)t->batches.rows + first;
        for (int64_t i = 0; i < n; i++) /* X is in host memory */
            memcpy(seen + rows[i] * t->embedder.ld, (const float *)t->embedder.X + i * t->embedder.ld,
                   (size_t)t->embedder.ld * sizeof *seen);
    }
}

static void a_warp_depends_on_image_and_epoch_but_not_on_the_batch(void **state)
{
    (void)state;
    enhope_trainer *a = trainer(digits, with(MOVED, "validation_fraction", "0", "learning_rate", "0", NULL));
    enhope_trainer *b =
        trainer(digits, with(MOVED, "validation_fraction", "0", "learning_rate", "0", "batch_size", "37", NULL));
    const size_t all = (size_t)(digits->x.n * a->embedder.ld), bytes = all * sizeof(float);
    float *one = malloc(bytes), *other = malloc(bytes), *next = malloc(bytes);
    see_epoch(a, one), see_epoch(b, other), see_epoch(a, next);
    assert_memory_equal(one, other, bytes);
    double apart = 0, size = 0;
    for (size_t i = 0; i < all; i++) apart += (one[i] - next[i]) * (one[i] - next[i]), size += one[i] * one[i];
    assert_true(apart > 0.05 * size);
    free(one), free(other), free(next);
    enhope_trainer_free(a), enhope_trainer_free(b);
}

/* With a learning rate of zero, parameters, exemplars and embeddings do not change. */
static void only_training_batches_are_warped(void **state)
{
    (void)state;
    enhope_trainer *t[2] = {trainer(digits, with("learning_rate", "0", "batch_size", "0", NULL)),
                            trainer(digits, with("learning_rate", "0", "batch_size", "0", MOVED, NULL))};
    static float Y[2][300][2];
    for (int i = 0; i < 2; i++) {
        step(t[i]);
        eh_embedder_embed(&t[i]->embedder, t[i]->parameters.theta, t[i]->samples.placed_rows, t[i]->samples.n,
                          t[i]->embedder.Y);
        t[i]->cp->op->read(t[i]->cp, Y[i][0], t[i]->embedder.Y, 2 * t[i]->samples.n);
    }
    assert_memory_equal(t[0]->parameters.theta, t[1]->parameters.theta, (size_t)t[0]->parameters.count * sizeof(float));
    assert_memory_equal(Y[0], Y[1], sizeof Y[0]);
    assert_true(t[0]->state.valid_error == t[1]->state.valid_error && t[0]->state.loss != t[1]->state.loss);
    enhope_trainer_free(t[0]), enhope_trainer_free(t[1]);
}

static void every_iterative_method_accepts_warps(void **state)
{
    (void)state;
    for (int i = 0; i < enhope_method_count(); i++) {
        enhope_model *m = NULL;
        enhope_settings *s = with("method", enhope_method_get(i)->name, MOVED, NULL);
        if (!eh_method_learns(eh_method_get(i))) {
            enhope_settings_free(s);
            continue;
        }
        if (enhope_train(ctx, digits, s, NULL, NULL, &m)) fail_msg("%s", enhope_error(ctx));
        enhope_settings_free(s);
        int found = 0;
        for (int k = 0; k < m->setting.count; k++) {
            found += !strcmp(m->setting.pair[k].name, "shift") && !strcmp(m->setting.pair[k].value, "1");
            found += !strcmp(m->setting.pair[k].name, "affine") && !strcmp(m->setting.pair[k].value, "0.8");
            found += !strcmp(m->setting.pair[k].name, "elastic") && !strcmp(m->setting.pair[k].value, "0.6");
        }
        assert_int_equal(found, 3);
        enhope_model_free(m);
    }
}

static void data_without_an_image_shape_is_refused(void **state)
{
    (void)state;
    static const char *const names[] = {"shift", "affine", "elastic"};
    for (int i = 0; i < 4; i++) {
        enhope_trainer *t = NULL;
        enhope_settings *s = with(names[i % 3], "0.25", NULL);
        char sentence[64];
        floats->image_rows = i == 3 ? 28 * 28 * 1000 : 0;
        const enhope_status status = enhope_trainer_create(ctx, NULL, floats, s, &t);
        floats->image_rows = 28;
        assert_int_equal(status, ENHOPE_ERROR_ARGUMENT);
        assert_null(t);
        snprintf(sentence, sizeof sentence, "%s is 0.25, but the data is not known to be images", names[i % 3]);
        assert_non_null(strstr(enhope_error(ctx), i == 3 ? "are too large for shift, affine and elastic" : sentence));
        enhope_settings_free(s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_shift_by_whole_pixels_is_that_shift),
        cmocka_unit_test(quarter_turns_half_pixels_and_scaling_are_exact),
        cmocka_unit_test(shifts_are_uniform),
        cmocka_unit_test(rotations_scales_and_shears_are_uniform),
        cmocka_unit_test(the_field_is_smooth_and_normal),
        cmocka_unit_test(images_keep_their_mean),
        cmocka_unit_test(zero_strengths_change_nothing),
        cmocka_unit_test(batches_are_the_same_for_every_kind_and_backend),
        cmocka_unit_test(a_warp_depends_on_image_and_epoch_but_not_on_the_batch),
        cmocka_unit_test(only_training_batches_are_warped),
        cmocka_unit_test(every_iterative_method_accepts_warps),
        cmocka_unit_test(data_without_an_image_shape_is_refused),
    };
    ctx = enhope_context_create();
    if (enhope_context_set_device(ctx, "cpu") ||
        enhope_dataset_read(ctx, &(enhope_source){.path = "synthetic:digits,n=300,seed=1"}, &digits))
        return 1;
    make_kinds();
    const int failed = cmocka_run_group_tests_name("warp", tests, NULL, NULL);
    enhope_dataset_free(digits), enhope_dataset_free(floats), enhope_dataset_free(sparse);
    free(pixels), free(value), free(column), free(row_start);
    enhope_context_free(ctx);
    return failed;
}
