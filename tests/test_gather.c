/* Gathering rows into a batch: scaling, bias, augmentation, image warps. Compares every backend
 * with the reference. */
#include "backend_support.h"
#include "base/philox.h"

/* ---- data ---- */

static void append_bias_adds_a_one_and_zeros(void **state)
{
    (void)state;
    static const int64_t shapes[][3] = {{0, 4, 5}, {1, 1, 2}, {7, 13, 14}, {20, 784, 800}, {3, 15, 16}};
    for (int s = 0; s < 5; s++) {
        const int64_t n = shapes[s][0], H = shapes[s][1], ld = shapes[s][2];
        twin E = make(n * H, 29, 1), X = make_packed(n, ld, 30, 1);
        ON_EACH(c->op->append_bias(c, n, H, T(E), T(X), ld));
        close_enough(X), same_bits(X);
        for (int64_t i = 0; i < n; i++)
            for (int64_t j = 0; j < ld; j++)
                assert_true(((double *)X.ref)[i * ld + j] == (j < H ? ((double *)E.ref)[i * H + j] : j == H));
        drop(E), drop(X);
    }
}

/* The gradient of one row is zero; some gradients are tiny. */
static void adversarial_steps_follow_the_sign_of_the_gradient(void **state)
{
    (void)state;
    static const int64_t shapes[][3] = {{0, 4, 5}, {1, 1, 2}, {7, 13, 16}, {40, 784, 800}, {5, 256, 272}};
    for (int s = 0; s < 5; s++) {
        const int64_t n = shapes[s][0], H = shapes[s][1], ld = shapes[s][2];
        float *g = calloc((size_t)(n * H + 1), sizeof *g);
        for (int64_t i = 0; i < n * H; i++)
            g[i] = i / H == 2 ? 0 : (float)((i / H % 3 ? 1 : 1e-25) * eh_random_normal(2, 31, (uint64_t)i));
        if (n) g[0] = H > 1 ? 0 : -1e-30f;
        twin dX = from_host(g, n * H), E = make(n * H, 29, 1), X = make_packed(n, ld, 30, 1);
        twin to = make_packed(n, ld, 32, 1);
        ON_EACH(c->op->append_bias(c, n, H, T(E), T(X), ld));
        ON_EACH(c->op->adversarial_step(c, n, H, 0.23, T(X), ld, T(dX), T(to)));
        close_enough(to), same_bits(to);
        float *from = on_host(cpu, X.cpu, n * ld, ld), *there = on_host(cpu, to.cpu, n * ld, ld);
        for (int64_t i = 0; i < n; i++) {
            for (int64_t j = 0; j < ld; j++) {
                const double by = (double)there[i * ld + j] - from[i * ld + j];
                if (j >= H) assert_true(there[i * ld + j] == (j == H));
                if (j < H && (i == 2 || g[i * H + j] == 0)) assert_true(by == 0);
                if (j >= H || i == 2 || g[i * H + j] == 0) continue;
                assert_true(by * g[i * H + j] >= 0 &&
                            fabs(fabs(by) / 0.23 - 1) < 1e-4 + 10 * tolerance); /* relative error */
            }
        }
        free(g), free(from), free(there);
        drop(dX), drop(E), drop(X), drop(to);
    }
}

static void gather_scales_rows_of_every_kind(void **state)
{
    (void)state;
    enum { n = 9, H = 37, take = 6, ld = 48 };
    uint8_t bytes[n * H];
    float numbers[n * H], value[n * H], shift[H], mul[H];
    int64_t row_start[n + 1] = {0};
    int32_t column[n * H], label[n];
    for (int i = 0; i < n * H; i++) {
        bytes[i] = (uint8_t)eh_random_u64(3, 1, (uint64_t)i);
        numbers[i] = (float)eh_random_normal(3, 2, (uint64_t)i);
    }
    for (int j = 0; j < H; j++) shift[j] = 0.3f * (float)j, mul[j] = 1.0f / (float)(j + 2);
    for (int i = 0; i < n; i++) {
        label[i] = i % 4;
        row_start[i + 1] = row_start[i];
        for (int j = 0; j < H; j++)
            if (eh_random_unit(3, 3, (uint64_t)(i * H + j)) < 0.2) {
                column[row_start[i + 1]] = j;
                value[row_start[i + 1]++] = numbers[i * H + j];
            }
    }
    const int64_t row[take] = {8, 0, 3, 3, 5, 1};
    for (int kind = 0; kind < 3; kind++) {
        const eh_matrix x = {.kind = (enhope_kind)kind,
                             .n = n,
                             .H = H,
                             .u8 = bytes,
                             .f32 = numbers,
                             .row_start = row_start,
                             .column = column,
                             .value = value};
        float none[H] = {0};
        const float *by = kind == ENHOPE_CSR ? none : shift;
        eh_table tables[3];
        const twin t = {.cpu = tables, .ref = tables + 1, .one = tables + 2};
        ON_EACH(assert_int_equal(c->op->place(c, ctx, &x, label, by, mul, T(t)), 0));
        twin X = make(take * ld, 1, 1), O = make_packed(take, ld, 2, 1);
        twin rows = sent(row, take, sizeof *row), class = sent(label, take, sizeof *label);
        twin class2 = sent(label, take, sizeof *label);
        if (cpu->op->prefetch) cpu->op->prefetch(cpu, t.cpu, 0, n);
        ON_EACH(c->op->gather(c, T(t), T(rows), take, T(X), ld, T(class)));
        ON_EACH(c->op->gather_packed(c, T(t), T(rows), take, T(O), ld, T(class2), NULL));
        close_enough(X), same_bits(X), close_enough(O), same_bits(O);
        int32_t *got = fetched(cpu, class.cpu, take, sizeof *got), *got2 = fetched(cpu, class2.cpu, take, sizeof *got);
        ON_EACH(c->op->gather_packed(c, T(t), T(rows), take, T(O), ld, NULL, NULL));
        for (int i = 0; i < take; i++) {
            float want[H];
            eh_matrix_row(&x, row[i], want);
            assert_true(got[i] == label[row[i]] && got2[i] == got[i]);
            for (int j = 0; j < H; j++)
                assert_true(fabs(((double *)X.ref)[i * ld + j] - ((double)want[j] - by[j]) * mul[j]) < 1e-6);
            for (int j = H; j < ld; j++) assert_true(((double *)X.ref)[i * ld + j] == (j == H));
        }
        if (kind == ENHOPE_CSR) { /* sparse products equal the dense products of gathered rows */
            enum { F = 29 };
            twin C = make((H + 1) * F, 5, 1), U = make(take * F, 6, 1), D = make(take * F, 7, 1);
            twin dU = as_packed(D, F);
            twin dC = make((H + 1) * F, 8, 1), dense = make((H + 1) * F, 8, 1);
            ON_EACH(c->op->sparse_apply(c, T(t), T(rows), take, T(C), F, T(U)));
            close_enough(U), same_bits(U);
            ON_EACH(c->op->gemm(c, false, false, take, F, H + 1, -1, T(X), ld, T(C), F, 1, T(U), F));
            for (int i = 0; i < take * F; i++) assert_true(fabs(((double *)U.ref)[i]) < 1e-12);
            ON_EACH(c->op->sparse_grad(c, T(t), T(rows), take, T(dU), F, T(dC)));
            check_close(dC, tolerance);
            ON_EACH(c->op->gemm(c, true, false, H + 1, F, take, 1, T(X), ld, T(D), F, 1, T(dense), F));
            for (int i = 0; i < (H + 1) * F; i++)
                assert_true(fabs(((double *)dC.ref)[i] - ((double *)dense.ref)[i]) < 1e-12);
            drop(C), drop(U), drop(D), drop(dU), drop(dC), drop(dense);
        }
        ON_EACH(c->op->unplace(c, T(t)));
        drop(X), drop(O), drop(rows), drop(class), drop(class2);
        free(got), free(got2);
    }
}

/* ---- augmented rows ---- */

/* The test vectors of the authors of Philox. */
/* Changes rows 2 to 5: their values, their classes and, if they are sparse, their lengths. */
static void refresh_updates_changed_rows(void **state)
{
    (void)state;
    enum { n = 9, H = 12, ld = 16, first = 2, changed = 4, each = 3 };
    uint8_t bytes[n * H];
    float numbers[n * H], value[n * each], shift[H] = {0}, mul[H];
    int64_t row_start[n + 1] = {0}, row[n];
    int32_t column[n * each], label[n];
    for (int kind = 0; kind < 3; kind++) {
        const eh_matrix x = {.kind = (enhope_kind)kind,
                             .n = n,
                             .H = H,
                             .u8 = bytes,
                             .f32 = numbers,
                             .row_start = row_start,
                             .column = column,
                             .value = value};
        for (int i = 0; i < n * H; i++) bytes[i] = (uint8_t)(3 * i), numbers[i] = (float)(i % 7) - 2.385f;
        for (int j = 0; j < H; j++) mul[j] = 1.0f / (float)(j + 2);
        for (int i = 0; i < n * each; i++) column[i] = i % each * 4, value[i] = 0.7f * (float)(i + 1);
        for (int i = 0; i < n; i++) label[i] = i % 4, row[i] = n - 1 - i, row_start[i + 1] = row_start[i] + each;
        eh_table tables[3];
        const twin t = {.cpu = tables, .ref = tables + 1, .one = tables + 2};
        ON_EACH(assert_int_equal(c->op->place(c, ctx, &x, label, shift, mul, T(t)), 0));
        for (int i = first * H; i < (first + changed) * H; i++) bytes[i] ^= 85, numbers[i] *= -1.5f;
        for (int i = first * each; i < (first + changed) * each; i++) value[i] += 10;
        for (int i = first; i < first + changed; i++) label[i] = 7;
        row_start[first + 2] -= 1;                                            /* its last value moves to the next row */
        for (int i = 0; i <= each; i++) column[row_start[first + 2] + i] = i; /* columns stay ascending */
        twin X = make(n * ld, 1, 1), rows = sent(row, n, sizeof *row), class = sent(label, n, sizeof *label);
        ON_EACH(c->op->refresh ? c->op->refresh(c, T(t), &x, label, first, changed) : (void)0);
        ON_EACH(c->op->gather(c, T(t), T(rows), n, T(X), ld, T(class)));
        close_enough(X), same_bits(X);
        int32_t *got = fetched(cpu, class.cpu, n, sizeof *got);
        for (int i = 0; i < n; i++) assert_int_equal(got[i], label[row[i]]);
        free(got);
        drop(X), drop(rows), drop(class);
        ON_EACH(c->op->unplace(c, T(t)));
    }
}

static void philox_gives_the_published_words(void **state)
{
    (void)state;
    static const struct {
        uint64_t seed, index;
        uint32_t stream, part, want[4];
    } known[] = {
        {0, 0, 0, 0, {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}},
        {UINT64_MAX, UINT64_MAX, UINT32_MAX, UINT32_MAX, {0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}},
        {0x299f31d0a4093822,
         0x85a308d3243f6a88,
         0x13198a2e,
         0x03707344,
         {0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}},
    };
    for (int i = 0; i < 3; i++) {
        uint32_t got[4];
        eh_philox(known[i].seed, known[i].stream, known[i].index, known[i].part, got);
        assert_memory_equal(got, known[i].want, sizeof got);
    }
}

/* A table of every kind on each backend with irregular values, of which one fifth is stored in
 * the sparse table; or with equal values. */
typedef struct rows_of_a_kind {
    eh_table tables[3];
    uint8_t *bytes;
    float *numbers, *value, *shift, *mul;
    int64_t *row_start;
    int32_t *column;
} rows_of_a_kind;

static rows_of_a_kind *place_rows(int kind, int64_t n, int64_t H, bool same)
{
    rows_of_a_kind *r = calloc(1, sizeof *r);
    const size_t all = (size_t)(n * H);
    r->bytes = malloc(all), r->numbers = malloc(all * 4), r->value = malloc(all * 4), r->column = malloc(all * 4);
    r->shift = calloc((size_t)H, 4), r->mul = malloc((size_t)H * 4), r->row_start = calloc((size_t)n + 1, 8);
    for (int64_t j = 0; j < H; j++) r->mul[j] = same ? 1 : 1.0f / (float)(j % 11 + 2);
    for (int64_t j = 0; j < H && kind != ENHOPE_CSR && !same; j++) r->shift[j] = 0.3f * (float)(j % 7);
    for (int64_t i = 0; i < n; i++) {
        int64_t *end = r->row_start + i + 1;
        *end = r->row_start[i];
        for (int64_t j = 0; j < H; j++) {
            const uint64_t at = (uint64_t)(i * H + j);
            r->bytes[at] = same ? 1 : (uint8_t)(eh_random_u64(3, 1, at) % 8);
            r->numbers[at] = same ? 1 : (float)eh_random_normal(3, 2, at);
            if (!same && eh_random_unit(3, 3, at) > 0.2) continue;
            r->column[*end] = (int32_t)j;
            r->value[(*end)++] = r->numbers[at];
        }
    }
    const eh_matrix x = {(enhope_kind)kind, n, H, r->bytes, r->numbers, r->row_start, r->column, r->value};
    const twin t = {.cpu = r->tables, .ref = r->tables + 1, .one = r->tables + 2};
    ON_EACH(assert_int_equal(c->op->place(c, ctx, &x, NULL, r->shift, r->mul, T(t)), 0));
    return r;
}

static void unplace_rows(rows_of_a_kind *r)
{
    const twin t = {.cpu = r->tables, .ref = r->tables + 1, .one = r->tables + 2};
    ON_EACH(c->op->unplace(c, T(t)));
    free(r->bytes), free(r->numbers), free(r->value), free(r->column);
    free(r->shift), free(r->mul), free(r->row_start), free(r);
}

static twin gather_augmented(rows_of_a_kind *r, const int64_t *row, int64_t n, int64_t ld, const eh_augment *with)
{
    const twin t = {.cpu = r->tables, .ref = r->tables + 1, .one = r->tables + 2};
    twin X = make_packed(n, ld, 2, 1), rows = sent(row, n, sizeof *row);
    ON_EACH(c->op->gather_packed(c, T(t), T(rows), n, T(X), ld, NULL, with));
    drop(rows);
    return X;
}

static const eh_augment AUGMENT[] = {{.noise = 0.37, .seed = 5, .pass = 3},
                                     {.dropout = 0.21, .seed = 5, .pass = 3},
                                     {.noise = 1.4, .dropout = 0.6, .seed = 1234567890123456, .pass = 999999}};

/* A row is augmented independently of the other rows of the batch. */
static void augmented_rows_match_the_reference_and_are_independent(void **state)
{
    (void)state;
    static const int64_t wide[][2] = {{1, 2}, {4, 16}, {37, 48}, {300, 304}, {523, 530}};
    enum { n = 9, take = 6 };
    static const int64_t row[take] = {8, 0, 3, 3, 5, 1}, fewer[2] = {5, 8};
    for (int kind = 0; kind < 3; kind++)
        for (int w = 0; w < 5; w++)
            for (int d = 0; d < 3; d++) {
                const int64_t H = wide[w][0], ld = wide[w][1];
                rows_of_a_kind *r = place_rows(kind, n, H, false);
                const eh_augment *with = AUGMENT + d;
                twin X = gather_augmented(r, row, take, ld, with), Z = gather_augmented(r, fewer, 2, ld, with);
                twin plain = gather_augmented(r, row, take, ld, NULL);
                twin none = gather_augmented(r, row, take, ld, &(eh_augment){.seed = 5});
                close_enough(X), same_bits(X);
                const double *want = X.ref, *before = plain.ref;
                float *got = on_host(cpu, X.cpu, take * ld, ld), *other = on_host(cpu, Z.cpu, 2 * ld, ld);
                float *a = on_host(cpu, plain.cpu, take * ld, ld), *b = on_host(cpu, none.cpu, take * ld, ld);
                assert_memory_equal(a, b, (size_t)(take * ld) * sizeof *a);
                assert_memory_equal(got + 2 * ld, got + 3 * ld, (size_t)ld * sizeof *got);
                assert_memory_equal(got + 4 * ld, other, (size_t)ld * sizeof *got);
                assert_memory_equal(got, other + ld, (size_t)ld * sizeof *got);
                for (int64_t i = 0; i < take; i++)
                    for (int64_t j = 0; j < ld; j++) {
                        const double x = want[i * ld + j];
                        assert_true((x == 0) == (got[i * ld + j] == 0)); /* the same inputs are dropped */
                        if (j >= H) assert_true(x == (j == H) && got[i * ld + j] == (float)x);
                        if (j < H && with->noise == 0 && x != 0)
                            assert_true(fabs(x * (1 - with->dropout) - before[i * ld + j]) < 1e-12);
                    }
                free(got), free(other), free(a), free(b);
                drop(X), drop(Z), drop(plain), drop(none);
                unplace_rows(r);
            }
}

enum { MANY = 400, BROAD = 257 }; /* rows, inputs: enough to estimate moments */

/* The noise that is added to ones, divided by its standard deviation. */
static float *noise_of(rows_of_a_kind *r, const eh_augment *with)
{
    static int64_t row[MANY];
    for (int64_t i = 0; i < MANY; i++) row[i] = i;
    const twin X = gather_augmented(r, row, MANY, BROAD + 1, with);
    float *x = on_host(cpu, X.cpu, MANY * (BROAD + 1), BROAD + 1);
    for (int64_t i = 0; i < MANY; i++)
        for (int64_t j = 0; j < BROAD; j++)
            x[i * BROAD + j] = (x[i * (BROAD + 1) + j] - 1) / (with->noise > 0 ? (float)with->noise : 1);
    drop(X);
    return x;
}

/* The mean of a_i b_(i + by). */
static double together(const float *a, const float *b, int64_t by)
{
    double sum = 0;
    for (int64_t i = 0; i < MANY * BROAD - by; i++) sum += (double)a[i] * b[i + by];
    return sum / (double)(MANY * BROAD - by);
}

/* Bounds are five standard deviations of the estimate. */
static void noise_is_normal_and_independent(void **state)
{
    (void)state;
    const double root = sqrt((double)MANY * BROAD);
    rows_of_a_kind *r = place_rows(ENHOPE_F32, MANY, BROAD, true);
    eh_augment with = {.noise = 2.5, .seed = 11, .pass = 7};
    float *x = noise_of(r, &with);
    double sums[5] = {0}, lowest = 0, highest = 0;
    int64_t within = 0;
    for (int64_t i = 0; i < MANY * BROAD; i++) {
        double power = 1;
        for (int p = 0; p < 5; p++, power *= x[i]) sums[p] += power / MANY / BROAD;
        within += fabsf(x[i]) < 0.6744898f;
        lowest = fmin(lowest, x[i]), highest = fmax(highest, x[i]);
    }
    assert_true(fabs(sums[1]) < 5 / root && fabs(sums[2] - 1) < 5 * sqrt(2) / root);
    assert_true(fabs(sums[3]) < 5 * sqrt(15) / root && fabs(sums[4] - 3) < 5 * sqrt(96) / root);
    assert_true(fabs((double)within / MANY / BROAD - 0.5) <
                2.5 / root); /* half of the values are within the quartiles */
    assert_true(lowest < -3.8 && lowest > -5.8 && highest > 3.8 && highest < 5.8);
    static const int64_t by[] = {1, 2, 3, 4, BROAD, 2 * BROAD}; /* distances in columns and in rows */
    for (int i = 0; i < 6; i++) assert_true(fabs(together(x, x, by[i])) < 5 / root);
    for (int64_t j = 0; j < BROAD; j++) { /* each column separately */
        double sum = 0, square = 0;
        for (int64_t i = 0; i < MANY; i++) sum += x[i * BROAD + j], square += x[i * BROAD + j] * x[i * BROAD + j];
        assert_true(fabs(sum / MANY) < 5 / sqrt(MANY) && fabs(square / MANY - 1) < 5 * sqrt(2.0 / MANY));
    }
    with.pass++;
    float *next = noise_of(r, &with);
    with.pass--, with.seed++;
    float *seeded = noise_of(r, &with);
    assert_true(fabs(together(x, next, 0)) < 5 / root && fabs(together(x, seeded, 0)) < 5 / root);
    free(x), free(next), free(seeded);
    unplace_rows(r);
}

static void inputs_are_dropped_at_their_rate_and_keep_their_mean(void **state)
{
    (void)state;
    static const double rates[] = {0.03, 0.5, 0.95};
    rows_of_a_kind *r = place_rows(ENHOPE_U8, MANY, BROAD, true);
    for (int d = 0; d < 3; d++) {
        const double p = rates[d], deviation = sqrt(p * (1 - p) / MANY / BROAD);
        eh_augment with = {.dropout = p, .seed = 11, .pass = 0};
        float *x = noise_of(r, &with);
        with.pass = 1;
        float *next = noise_of(r, &with);
        double dropped = 0, mean = 0, both = 0;
        for (int64_t i = 0; i < MANY * BROAD; i++) {
            dropped += x[i] == -1, both += x[i] == -1 && next[i] == -1, mean += x[i];
            assert_true(x[i] == -1 || fabs((x[i] + 1) * (1 - p) - 1) < 1e-2);
        }
        assert_true(fabs(dropped / MANY / BROAD - p) < 5 * deviation);
        assert_true(fabs(both / MANY / BROAD - p * p) < 5 * sqrt(p * p * (1 - p * p) / MANY / BROAD));
        assert_true(fabs(mean / MANY / BROAD) < 5 * deviation / (1 - p) + 4e-3); /* the last term is for bfloat16 */
        free(x), free(next);
    }
    unplace_rows(r);
}

/* ---- warped images ---- */

/* Images of noise are as rough as possible: the rounding error of a position, some 1e-7 of the
 * side of the image, is multiplied by the difference of adjacent pixels. */
static void warped_images_match_the_reference_and_are_independent(void **state)
{
    (void)state;
    static const int64_t sides[][3] = {{1, 1, 2},     {1, 37, 40},     {5, 3, 17},
                                       {28, 28, 800}, {19, 131, 2490}, {150, 2, 304}};
    static const eh_augment by[] = {
        {.shift = 1.7, .seed = 5, .pass = 3},
        {.affine = 1.3, .seed = 5, .pass = 3},
        {.elastic = 1.1, .seed = 6, .pass = 0},
        {.shift = 900, .affine = 5, .elastic = 2.5, .seed = 1234567890123456, .pass = 999999},
        {.shift = 0.4, .affine = 0.8, .noise = 0.3, .dropout = 0.1, .seed = 2, .pass = 1}};
    enum { n = 9, take = 6, BY = sizeof by / sizeof *by };
    static const int64_t row[take] = {8, 0, 3, 3, 5, 1}, fewer[2] = {5, 8};
    for (int kind = 0; kind < 3; kind++)
        for (int w = 0; w < 6; w++)
            for (int d = 0; d < BY; d++) {
                const int64_t H = sides[w][0] * sides[w][1], ld = sides[w][2];
                rows_of_a_kind *r = place_rows(kind, n, H, false);
                eh_augment with = by[d];
                with.image_rows = sides[w][0], with.image_columns = sides[w][1];
                twin X = gather_augmented(r, row, take, ld, &with), Z = gather_augmented(r, fewer, 2, ld, &with);
                close_within(X, tolerance > EXACT ? tolerance : 10 * EXACT);
                same_bits(X);
                float *got = on_host(cpu, X.cpu, take * ld, ld), *other = on_host(cpu, Z.cpu, 2 * ld, ld);
                assert_memory_equal(got + 2 * ld, got + 3 * ld, (size_t)ld * sizeof *got);
                assert_memory_equal(got + 4 * ld, other, (size_t)ld * sizeof *got);
                assert_memory_equal(got, other + ld, (size_t)ld * sizeof *got);
                for (int64_t i = 0; i < take; i++)
                    for (int64_t j = H; j < ld; j++) assert_true(got[i * ld + j] == (j == H));
                free(got), free(other);
                drop(X), drop(Z);
                unplace_rows(r);
            }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(append_bias_adds_a_one_and_zeros),
        cmocka_unit_test(adversarial_steps_follow_the_sign_of_the_gradient),
        cmocka_unit_test(gather_scales_rows_of_every_kind),
        cmocka_unit_test(refresh_updates_changed_rows),
        cmocka_unit_test(philox_gives_the_published_words),
        cmocka_unit_test(augmented_rows_match_the_reference_and_are_independent),
        cmocka_unit_test(noise_is_normal_and_independent),
        cmocka_unit_test(inputs_are_dropped_at_their_rate_and_keep_their_mean),
        cmocka_unit_test(warped_images_match_the_reference_and_are_independent),
    };
    return run_on_each(tests, sizeof tests / sizeof *tests);
}
