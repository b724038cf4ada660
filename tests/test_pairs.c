/* Losses and targets of pairs and triples: every backend against the reference. */
#include "backend_support.h"
#include "base/philox.h"

/* ---- pairs ---- */

/* All of one problem's results, on each backend. target: P (n, z), or NULL; with it there are no labels. */
static void check_pairs(const eh_pairs *flags, const float *Y_host, const float *G_host, const int32_t *label,
                        const int32_t *other, const float *target, double part)
{
    const bool self = flags->self;
    const int64_t n = flags->n, z = flags->z, h = flags->h;
    twin Y = from_host(Y_host, n * h), G = from_host(self ? Y_host : G_host, z * h);
    twin dY = make(n * h, 18, 1), dG = make(z * h, 19, 1), loss = sent(&(eh_value){7.7, 7.7}, 1, sizeof(eh_value));
    twin labels = sent(label, n, sizeof *label), others = sent(self ? label : other, z, sizeof *other);
    twin P = target ? from_host(target, n * z) : (twin){0};
    for (int which = 0; which < 3; which++) {
        eh_compute *c = which == 0 ? cpu : which == 1 ? ref : one;
        eh_pairs p = *flags;
        p.Y = T(Y), p.G = self ? T(Y) : T(G), p.P = T(P);
        p.label = target ? NULL : T(labels);
        p.other_label = target ? NULL : self ? T(labels) : T(others);
        c->op->pairs(c, &p, T(loss), T(dY), self ? NULL : T(dG));
    }
    const eh_value want = value_of(ref, loss.ref), got = value_of(cpu, loss.cpu), again = value_of(one, loss.one);
    if (!(fabs(want.value - got.value) <= EXACT * (1 + fabs(want.value))) || want.spoilt != 0 || got.spoilt != 0)
        fail_msg("gaussian %d freedom %g row %d nca %d self %d indicator %d, n %lld: loss %.9g, expected %.9g",
                 flags->gaussian, flags->freedom, flags->row, flags->nca, self, flags->indicator, (long long)n,
                 got.value, want.value);
    assert_true(got.value == again.value);
    agree(dY, part);
    if (!self) agree(dG, part);
    drop(Y), drop(G), drop(dY), drop(dG), drop(loss), drop(labels), drop(others), drop(P);
}

/* Bits choose: the similarity is the first bit's and those from 32 on. */
enum { PROBLEMS = 3 * 32 };

static eh_pairs problem(int bits, int64_t n, int64_t z, int64_t h)
{
    static const double freedoms[] = {1, 0, 0.1, 0.5, 7.9, 1000};
    const double freedom = freedoms[bits / 32 * 2 + bits % 2];
    const bool self = bits & 8;
    return (eh_pairs){.gaussian = freedom == 0,
                      .freedom = freedom,
                      .row = bits & 2,
                      .nca = bits & 4,
                      .self = self,
                      .indicator = bits & 16,
                      .n = n,
                      .z = self ? n : z,
                      .h = h};
}

/* Of gradients; an energy has the rounding of a logarithm, which counts where attraction and repulsion nearly cancel. */
static double rounding(const eh_pairs *p)
{
    return (p->gaussian || p->freedom == 1 ? 2 : 10) * EXACT;
}

static void neighbour_problems_agree_in_every_combination(void **state)
{
    (void)state;
    static const int64_t shapes[][3] = {{1, 2, 1}, {7, 13, 2}, {200, 20, 2}, {33, 300, 3}, {520, 520, 2}, {65, 9, 17}};
    enum { MOST = 520 * 17 };
    static float Y[MOST], G[MOST];
    int32_t label[520], other[520];
    for (int i = 0; i < MOST; i++) Y[i] = (float)(1.5 * eh_random_normal(2, 16, (uint64_t)i));
    for (int i = 0; i < MOST; i++) G[i] = (float)(1.5 * eh_random_normal(2, 17, (uint64_t)i));
    for (int i = 0; i < 520; i++) label[i] = (int32_t)(eh_random_u64(2, 20, (uint64_t)i) % 4) - 1; /* some have none */
    for (int j = 0; j < 520; j++) other[j] = j % 3;
    for (int s = 0; s < 6; s++)
        for (int bits = 0; bits < PROBLEMS; bits++) {
            const eh_pairs p = problem(bits, shapes[s][0], shapes[s][1], shapes[s][2]);
            check_pairs(&p, Y, G, label, other, NULL, rounding(&p));
        }
}

/* A target of which a fifth is zero. */
static void given_problems_agree_in_every_combination(void **state)
{
    (void)state;
    static const int64_t shapes[][3] = {{1, 2, 1}, {7, 13, 2}, {33, 300, 3}, {300, 7, 2}, {65, 9, 17}};
    enum { MOST = 300 * 17 };
    static float Y[MOST], G[MOST], P[300 * 300];
    const int32_t label[300] = {0};
    for (int i = 0; i < MOST; i++) Y[i] = (float)(1.5 * eh_random_normal(2, 16, (uint64_t)i));
    for (int i = 0; i < MOST; i++) G[i] = (float)(1.5 * eh_random_normal(2, 17, (uint64_t)i));
    for (int s = 0; s < 5; s++)
        for (int bits = 0; bits < PROBLEMS; bits++) {
            const eh_pairs p = problem(bits, shapes[s][0], shapes[s][1], shapes[s][2]);
            double sum = 0;
            for (int64_t i = 0; i < p.n * p.z; i++) {
                const int64_t row = i / p.z, column = i % p.z, less = row < column ? row : column;
                const uint64_t at = (uint64_t)(p.self ? less * p.z + row + column : i);
                P[i] = p.self && row == column ? 0 : (float)fmax(0, eh_random_unit(2, 33, at) - 0.2);
                sum += P[i];
            }
            for (int64_t i = 0; i < p.n * p.z && sum > 0; i++) P[i] = (float)(P[i] / sum);
            check_pairs(&p, Y, G, label, label, P, rounding(&p));
        }
}

/* Two by two, far apart: the slope of a point with itself would be infinite. */
static void points_far_from_all_others_have_finite_gradients(void **state)
{
    (void)state;
    static const float Y[] = {0, 30, 0.5f, 31}, G[] = {-21, 47};
    static const int32_t label[] = {0, 0, 1, 1}, other[] = {0, 1};
    for (int bits = 0; bits < PROBLEMS; bits++) {
        const eh_pairs p = problem(bits, 4, 2, 1);
        check_pairs(&p, Y, G, label, other, NULL, 1e-3); /* exp(x - 900) has three digits less than x */
    }
}

/* At squared distances of 1e30, where w of much freedom is e^-31000: energies of that size have three digits behind the
 * point in float. The gaussian's would have none. */
static void students_farther_than_a_float_s_w_have_finite_gradients(void **state)
{
    (void)state;
    static const float Y[] = {0, 1e15f, 2e15f, 1.001e15f}, G[] = {-3e15f, 2.5e15f};
    static const int32_t label[] = {0, 0, 1, 1}, other[] = {0, 1};
    for (int bits = 0; bits < PROBLEMS; bits++) {
        const eh_pairs p = problem(bits, 4, 2, 1);
        if (!p.gaussian) check_pairs(&p, Y, G, label, other, NULL, 1e-2);
    }
}

static void without_a_target_there_is_no_loss_and_no_gradient(void **state)
{
    (void)state;
    static const float Y[] = {0.3f, 1.2f, -0.7f}, G[] = {-0.2f, 0.4f};
    static const int32_t label[] = {0, -1, 1}, other[] = {2, 3};
    for (int bits = 0; bits < PROBLEMS; bits++) {
        const eh_pairs p = problem(bits, 3, 2, 1);
        check_pairs(&p, Y, G, label, other, NULL, 0); /* ref is proved in test_objective */
    }
}

static void an_embedding_that_is_not_finite_has_no_loss(void **state)
{
    (void)state;
    static const float bad[] = {NAN, INFINITY, -INFINITY}, G[] = {-0.2f, 0.4f};
    static const int32_t label[] = {0, 1, 1}, other[] = {0, 1};
    for (int bits = 0; bits < PROBLEMS; bits++)
        for (int b = 0; b < 3; b++) {
            const float Y_host[] = {0.3f, bad[b], -0.7f};
            const eh_pairs flags = problem(bits, 3, 2, 1);
            twin Y = from_host(Y_host, 3), compared = from_host(G, 2), dY = make(3, 18, 1), dG = make(2, 19, 1);
            twin labels = sent(label, 3, sizeof *label), others = sent(other, 2, sizeof *other);
            twin loss = sent(&(eh_value){7.7, 7.7}, 1, sizeof(eh_value));
            for (int which = 0; which < 3; which++) {
                eh_compute *c = which == 0 ? cpu : which == 1 ? ref : one;
                eh_pairs p = flags;
                p.Y = T(Y), p.G = p.self ? T(Y) : T(compared);
                p.label = T(labels), p.other_label = p.self ? T(labels) : T(others);
                c->op->pairs(c, &p, T(loss), T(dY), p.self ? NULL : T(dG));
                if (isfinite(value_of(c, T(loss)).value))
                    fail_msg("%s, case %d: %g", c->op->name, bits, (double)bad[b]);
            }
            drop(Y), drop(compared), drop(dY), drop(dG), drop(labels), drop(others), drop(loss);
        }
}

/* ---- triples ---- */

static void check_triples(const eh_triples *sizes, const float *Y_host, const int32_t *label)
{
    const int64_t rows = sizes->n * (1 + sizes->targets);
    twin Y = from_host(Y_host, rows * sizes->h), dY = make(rows * sizes->h, 18, 1);
    twin loss = sent(&(eh_value){7.7, 7.7}, 1, sizeof(eh_value)), labels = sent(label, rows, sizeof *label);
    for (int which = 0; which < 3; which++) {
        eh_compute *c = which == 0 ? cpu : which == 1 ? ref : one;
        eh_triples p = *sizes;
        p.Y = T(Y), p.label = T(labels);
        c->op->triples(c, &p, T(loss), T(dY));
    }
    const eh_value want = value_of(ref, loss.ref), got = value_of(cpu, loss.cpu), again = value_of(one, loss.one);
    if (!(fabs(want.value - got.value) <= EXACT * (1 + fabs(want.value))) || want.spoilt != 0 || got.spoilt != 0)
        fail_msg("n %lld, targets %lld: loss %.9g, expected %.9g", (long long)sizes->n, (long long)sizes->targets,
                 got.value, want.value);
    assert_true(got.value == again.value);
    agree(dY, EXACT);
    drop(Y), drop(dY), drop(loss), drop(labels);
}

/* Points on a grid have exact distances in float, so that backends agree on who is within a margin. Classes of several
 * sizes, one of a single sample; some have fewer targets, some none. */
static void large_margin_problems_agree(void **state)
{
    (void)state;
    static const int64_t shapes[][3] = {{0, 2, 2}, {1, 1, 1}, {7, 2, 3}, {200, 3, 2}, {130, 1, 17}, {520, 9, 2}};
    enum { MOST = 520 * 10 * 2 };
    static float Y[MOST];
    static int32_t label[520 * 10];
    for (int i = 0; i < MOST; i++) Y[i] = (float)(round(96 * eh_random_normal(2, 16, (uint64_t)i)) / 64);
    for (int s = 0; s < 6; s++) {
        const int64_t n = shapes[s][0], targets = shapes[s][1];
        for (int64_t i = 0; i < n; i++) {
            const uint64_t draw = eh_random_u64(2, 20, (uint64_t)i) % 8;
            label[i] = i == n / 2 ? 3 : draw < 5 ? 0 : draw < 7 ? 1 : 2;
            for (int64_t t = 0; t < targets; t++) {
                const bool none = label[i] == 3 || (uint64_t)t > eh_random_u64(2, 21, (uint64_t)i) % 12;
                label[n + i * targets + t] = none ? -1 : label[i];
            }
        }
        check_triples(&(eh_triples){.n = n, .targets = targets, .h = shapes[s][2], .pull = 0.013, .push = 0.71}, Y,
                      label);
    }
}

static void a_large_margin_embedding_that_is_not_finite_has_no_loss(void **state)
{
    (void)state;
    static const float bad[] = {NAN, INFINITY, -INFINITY};
    static const int32_t label[] = {0, 0, 1, 0, 0, -1};
    for (int b = 0; b < 3; b++)
        for (int at = 0; at < 5; at++) {
            if (at == 2) continue; /* no target: an impostor that is infinitely far is none */
            float Y_host[] = {0.3f, 0.8f, -0.7f, 0.8f, 0.3f, -0.7f};
            Y_host[at] = bad[b];
            twin Y = from_host(Y_host, 6), dY = make(6, 18, 1), labels = sent(label, 6, sizeof *label);
            twin loss = sent(&(eh_value){7.7, 7.7}, 1, sizeof(eh_value));
            for (int which = 0; which < 3; which++) {
                eh_compute *c = which == 0 ? cpu : which == 1 ? ref : one;
                const eh_triples p = {
                    .n = 3, .targets = 1, .h = 1, .pull = 0.2, .push = 0.3, .Y = T(Y), .label = T(labels)};
                c->op->triples(c, &p, T(loss), T(dY));
                if (isfinite(value_of(c, T(loss)).value)) fail_msg("%s: %g at %d", c->op->name, (double)bad[b], at);
            }
            drop(Y), drop(dY), drop(labels), drop(loss);
        }
}

/* ---- affinities ---- */

/* P again, from its definition, by bisection. */
static void plain_affinities(int64_t n, int64_t dims, const float *X, double perplexity, double *P)
{
    double *given = calloc((size_t)(n * n + 1), sizeof *given), *d = malloc((size_t)(n + 1) * sizeof *d);
    for (int64_t i = 0; i < n; i++) {
        double low = 0, high = 1e12, entropy = 0, least = INFINITY;
        for (int64_t j = 0; j < n; j++) {
            d[j] = 0;
            for (int64_t k = 0; k < dims; k++) d[j] += pow((double)X[i * dims + k] - X[j * dims + k], 2);
            if (j != i) least = fmin(least, d[j]);
        }
        for (int step = 0; step < 200; step++) {
            const double beta = (low + high) / 2;
            double sum = 0;
            for (int64_t j = 0; j < n; j++) sum += given[i * n + j] = j == i ? 0 : exp(-beta * (d[j] - least));
            entropy = 0;
            for (int64_t j = 0; j < n; j++) {
                const double p = given[i * n + j] /= n > 1 ? sum : 1;
                if (p > 0) entropy -= p * log(p);
            }
            if (entropy > log(perplexity))
                low = beta;
            else
                high = beta;
        }
    }
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < n; j++) P[i * n + j] = (given[i * n + j] + given[j * n + i]) / (2 * (double)n);
    free(given), free(d);
}

static void check_affinities(int64_t n, int64_t dims, const float *host, double perplexity)
{
    twin X = from_host(host, n * dims), P = make(n * n, 34, 1);
    double *want = malloc((size_t)(n * n + 1) * sizeof *want);
    ON_EACH(c->op->affinities(c, n, dims, T(X), perplexity, T(P)));
    agree(P, 2 * EXACT);
    plain_affinities(n, dims, host, perplexity, want);
    float *mine = on_host(cpu, P.cpu, n * n, false);
    double sum = 0;
    for (int64_t i = 0; i < n * n; i++) {
        if (!(fabs(((double *)P.ref)[i] - want[i]) <= 1e-7 / (double)n))
            fail_msg("n %lld at %lld: %.9g, expected %.9g", (long long)n, (long long)i, ((double *)P.ref)[i], want[i]);
        assert_true(mine[i] == mine[i % n * n + i / n]);
        assert_true(mine[i] >= 0 && (i / n != i % n || mine[i] == 0));
        sum += mine[i];
    }
    assert_true(n == 1 ? sum == 0 : fabs(sum - 1) < 1e-5);
    free(want), free(mine);
    drop(X), drop(P);
}

static void affinities_match_their_definition(void **state)
{
    (void)state;
    static const struct {
        int64_t n, dims;
        double perplexity, scale;
    } cases[] = {{1, 3, 1, 1},     {2, 5, 1, 1},     {3, 2, 1.5, 1},   {7, 13, 2, 40},  {65, 17, 20, 1e-3},
                 {130, 1, 5, 1e3}, {300, 30, 30, 1}, {300, 30, 99, 1}, {64, 4, 1.2, 1}, {90, 2, 29.7, 0.1}};
    for (size_t t = 0; t < sizeof cases / sizeof *cases; t++) {
        const int64_t count = cases[t].n * cases[t].dims;
        float *X = malloc((size_t)count * sizeof *X);
        for (int64_t i = 0; i < count; i++)
            X[i] = (float)(cases[t].scale * eh_random_normal(2, 35, (uint64_t)i) * (i % 3 + 1));
        check_affinities(cases[t].n, cases[t].dims, X, cases[t].perplexity);
        free(X);
    }
}

/* All the same; many twins, fewer and more than the perplexity asks for; far from the origin. */
static void affinities_bear_rows_that_are_the_same(void **state)
{
    (void)state;
    enum { n = 70, dims = 5 };
    float X[n * dims] = {0};
    check_affinities(n, dims, X, 10);
    for (int twins = 3; twins <= 35; twins += 16) {
        for (int i = 0; i < n * dims; i++) {
            const int row = i / dims % (n - twins); /* the last rows are the first again */
            X[i] = row < 2 ? (float)(i % dims) : (float)eh_random_normal(2, 36, (uint64_t)(row * dims + i % dims));
        }
        check_affinities(n, dims, X, 10);
    }
    for (int i = 0; i < n * dims; i++) X[i] = i / dims < 30 ? 2.385f : (float)(1000 + i % 7);
    check_affinities(n, dims, X, 10);
}

/* ---- targets ---- */

/* A batch and compared points with classes; the tables that a target is made from. Class 3 has no compared point, class 4
 * no sample. */
enum { CLASSES = 5, T_MOST = 330 };
typedef struct target_case {
    int64_t n, z;
    int32_t label[T_MOST], other[T_MOST];
    int64_t row[T_MOST];
    float weight[CLASSES], crowd[T_MOST];
    bool pair;
    double smooth;
    eh_disturb with;
} target_case;

static target_case *make_target_case(int64_t n, int64_t z, bool unlabelled, bool pair)
{
    static const int32_t order[] = {0, 1, 2, 1, 4};
    target_case *t = calloc(1, sizeof *t);
    t->n = n, t->z = z, t->pair = pair;
    int64_t count[CLASSES] = {0};
    for (int64_t i = 0; i < n; i++)
        t->label[i] = (int32_t)(eh_random_u64(2, 40, (uint64_t)i) % (4 + unlabelled)) - unlabelled,
        t->row[i] = 3 * i + 1;
    for (int64_t j = 0; j < z; j++) count[t->other[j] = order[j % 5]]++;
    for (int k = 0; k < CLASSES; k++) t->weight[k] = count[k] ? 1 : 0;
    for (int64_t j = 0; j < z; j++) t->crowd[j] = pair ? 1 : (float)count[t->other[j]];
    return t;
}

static int64_t classes_of(const target_case *t)
{
    int64_t classes = 0;
    for (int k = 0; k < CLASSES; k++) classes += t->weight[k] != 0;
    return classes;
}

static twin make_targets(const target_case *t)
{
    twin P = make(t->n * t->z, 41, 1), label = sent(t->label, t->n, 4), other = sent(t->other, t->z, 4);
    twin rows = sent(t->row, t->n, 8), weight = from_host(t->weight, CLASSES), crowd = from_host(t->crowd, t->z);
    for (int which = 0; which < 3; which++) {
        eh_compute *c = which == 0 ? cpu : which == 1 ? ref : one;
        c->op->targets(c,
                       &(eh_targets){.n = t->n,
                                     .z = t->z,
                                     .label = T(label),
                                     .other_label = T(other),
                                     .weight = T(weight),
                                     .crowd = T(crowd),
                                     .smooth = t->smooth,
                                     .classes = classes_of(t),
                                     .with = &t->with,
                                     .rows = T(rows)},
                       T(P));
    }
    drop(label), drop(other), drop(rows), drop(weight), drop(crowd);
    return P;
}

/* P again, class by class: the distributions first, then what a compared point has of its class. */
static void plain_targets(const target_case *t, double *P)
{
    double count[CLASSES] = {0}, sum = 0, classes = (double)classes_of(t);
    for (int64_t j = 0; j < t->z; j++) count[t->other[j]]++;
    for (int64_t i = 0; i < t->n; i++) {
        uint32_t word[4];
        eh_philox(t->with.seed, EH_STREAM_MIX, t->with.pass << 44 ^ (uint64_t)t->row[i], 0, word);
        const double l = t->with.mix * ((word[0] >> 9) + 0.5) / (1 << 23);
        double pi[CLASSES] = {0};
        for (int side = 0; side < 2; side++) {
            const int32_t y = t->label[side ? (i + 1) % t->n : i];
            for (int k = 0; k < CLASSES && y >= 0; k++)
                if (count[k] > 0)
                    pi[k] += (side ? l : 1 - l) * t->weight[y] * ((1 - t->smooth) * (k == y) + t->smooth / classes);
        }
        for (int64_t j = 0; j < t->z; j++)
            sum += P[i * t->z + j] = t->pair ? pi[t->other[j]] : pi[t->other[j]] / count[t->other[j]];
    }
    for (int64_t k = 0; k < t->n * t->z && sum > 0; k++) P[k] /= sum;
}

static const int64_t TARGET_SHAPES[][2] = {{1, 1}, {1, 5}, {7, 13}, {300, 20}, {33, 300}, {130, 3}};

static void targets_match_their_definition(void **state)
{
    (void)state;
    for (int i = 0; i < 6 * 32; i++) {
        target_case *t = make_target_case(TARGET_SHAPES[i / 32][0], TARGET_SHAPES[i / 32][1], i & 1, i & 2);
        t->smooth = i & 4 ? 0.3 : 0;
        t->with = (eh_disturb){.mix = i & 8 ? 0.4 : 0, .seed = 77, .pass = 5};
        for (int k = 0; k < CLASSES && i & 16; k++) t->weight[k] *= 0.3f + 2.1f * (float)k;
        twin P = make_targets(t);
        agree(P, EXACT);
        double *want = malloc((size_t)(t->n * t->z) * sizeof *want), sum = 0, most = 0;
        plain_targets(t, want);
        for (int64_t k = 0; k < t->n * t->z; k++) {
            const double got = ((double *)P.ref)[k];
            assert_true(fabs(got - want[k]) < 1e-12 && got >= 0);
            sum += got, most = fmax(most, got);
        }
        assert_true(most == 0 || fabs(sum - 1) < 1e-12);
        assert_true(most > 0 || t->n == 1);
        free(want);
        drop(P);
        free(t);
    }
}

static void no_label_that_is_known_is_no_target(void **state)
{
    (void)state;
    target_case *t = make_target_case(7, 13, false, false);
    for (int i = 0; i < 7; i++) t->label[i] = i % 2 ? -1 : 3;
    t->smooth = 0.2, t->with.mix = 0.3;
    twin P = make_targets(t);
    agree(P, 0);
    for (int k = 0; k < 7 * 13; k++) assert_true(((double *)P.ref)[k] == 0);
    drop(P);
    free(t);
}

/* Losses and gradients by a target that is not soft are those by class, on every backend: of samples that have labels,
 * whether or not their class has a compared point. */
static void a_hard_target_is_the_one_by_class(void **state)
{
    (void)state;
    enum { h = 2 };
    static float Y[T_MOST * h], G[T_MOST * h];
    for (int i = 0; i < T_MOST * h; i++) Y[i] = (float)(1.5 * eh_random_normal(2, 16, (uint64_t)i));
    for (int i = 0; i < T_MOST * h; i++) G[i] = (float)(1.5 * eh_random_normal(2, 17, (uint64_t)i));
    for (int i = 0; i < 6 * 8; i++) {
        const bool row = i & 2, pair = i & 4 && !row; /* rows weigh the same in the row form */
        target_case *t = make_target_case(TARGET_SHAPES[i / 8][0], TARGET_SHAPES[i / 8][1], false, pair);
        const int64_t n = t->n, z = t->z;
        twin P = make_targets(t), y = from_host(Y, n * h), g = from_host(G, z * h);
        twin label = sent(t->label, n, 4), other = sent(t->other, z, 4), loss = room(2, 16, 16);
        twin dY[2] = {make(n * h, 18, 1), make(n * h, 18, 1)}, dG[2] = {make(z * h, 18, 1), make(z * h, 18, 1)};
        for (int which = 0; which < 3; which++) {
            eh_compute *c = which == 0 ? cpu : which == 1 ? ref : one;
            float *mine[2][2];
            eh_value value[2];
            for (int soft = 0; soft < 2; soft++) {
                const eh_pairs p = {.gaussian = i & 1,
                                    .row = row,
                                    .indicator = i & 4,
                                    .n = n,
                                    .z = z,
                                    .h = h,
                                    .Y = T(y),
                                    .G = T(g),
                                    .label = T(label),
                                    .other_label = T(other),
                                    .P = soft ? T(P) : NULL};
                c->op->pairs(c, &p, T(loss), T(dY[soft]), T(dG[soft]));
                value[soft] = value_of(c, T(loss));
                mine[soft][0] = on_host(c, T(dY[soft]), n * h, 0), mine[soft][1] = on_host(c, T(dG[soft]), z * h, 0);
            }
            const double near = which == 1 ? 1e-7 : 2 * EXACT; /* gradients are read as floats */
            assert_true(fabs(value[0].value - value[1].value) < (which == 1 ? 1e-12 : near) * (1 + value[0].value));
            for (int side = 0; side < 2; side++) {
                double most = 1e-30, worst = 0;
                for (int64_t k = 0; k < (side ? z : n) * h; k++) {
                    most = fmax(most, fabs(mine[0][side][k]));
                    worst = fmax(worst, fabs(mine[0][side][k] - mine[1][side][k]));
                }
                if (worst > 2 * near * most) fail_msg("case %d on %s: %g of %g", i, c->op->name, worst, most);
                free(mine[0][side]), free(mine[1][side]);
            }
        }
        drop(P), drop(y), drop(g), drop(label), drop(other), drop(loss);
        drop(dY[0]), drop(dY[1]), drop(dG[0]), drop(dG[1]);
        free(t);
    }
}

/* Two compared points at +-1 and samples (u, v): u makes the ratio of a sample's q, v their size. Where q is a soft p, the
 * loss is 0. */
static void a_soft_loss_is_zero_where_q_is_p(void **state)
{
    (void)state;
    enum { n = 40 };
    static const float G[] = {1, 0, -1, 0};
    for (int i = 0; i < 4; i++) {
        target_case *t = make_target_case(n, 2, false, false);
        for (int k = 0; k < n; k++) t->label[k] = k % 3 == 1;
        t->smooth = 0.1, t->with.mix = i & 2 ? 0.4 : 0, t->weight[1] = 2.385f;
        twin P = make_targets(t);
        float Y[n * 2];
        for (int k = 0; k < n; k++) {
            const double *p = (double *)P.ref + 2 * k, u = log(p[0] / p[1]) / 4;
            Y[2 * k] = (float)u, Y[2 * k + 1] = (float)sqrt(10 - log(p[0] * n) - (u - 1) * (u - 1));
        }
        twin y = from_host(Y, 2 * n), g = from_host(G, 4), loss = room(1, 16, 16), dY = room(2 * n, 4, 8),
             dG = room(4, 4, 8);
        for (int which = 0; which < 3; which++) {
            eh_compute *c = which == 0 ? cpu : which == 1 ? ref : one;
            const eh_pairs p = {
                .gaussian = true, .row = i & 1, .n = n, .z = 2, .h = 2, .Y = T(y), .G = T(g), .P = T(P)};
            c->op->pairs(c, &p, T(loss), T(dY), T(dG));
            const double value = value_of(c, T(loss)).value;
            if (!(fabs(value) < 1e-5)) fail_msg("case %d on %s: %g", i, c->op->name, value);
        }
        drop(P), drop(y), drop(g), drop(loss), drop(dY), drop(dG);
        free(t);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(neighbour_problems_agree_in_every_combination),
        cmocka_unit_test(given_problems_agree_in_every_combination),
        cmocka_unit_test(points_far_from_all_others_have_finite_gradients),
        cmocka_unit_test(students_farther_than_a_float_s_w_have_finite_gradients),
        cmocka_unit_test(without_a_target_there_is_no_loss_and_no_gradient),
        cmocka_unit_test(an_embedding_that_is_not_finite_has_no_loss),
        cmocka_unit_test(large_margin_problems_agree),
        cmocka_unit_test(a_large_margin_embedding_that_is_not_finite_has_no_loss),
        cmocka_unit_test(affinities_match_their_definition),
        cmocka_unit_test(affinities_bear_rows_that_are_the_same),
        cmocka_unit_test(targets_match_their_definition),
        cmocka_unit_test(no_label_that_is_known_is_no_target),
        cmocka_unit_test(a_hard_target_is_the_one_by_class),
        cmocka_unit_test(a_soft_loss_is_zero_where_q_is_p),
    };
    return run_on_each(tests, sizeof tests / sizeof *tests);
}
