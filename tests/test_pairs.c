/* Compares losses of pairs and triples, and affinities, of every backend with the reference. */
#include "backend_support.h"
#include "objective/objective.h"

/* ---- pairs ---- */

enum { CLASSES = 3 }; /* of labels; -1: no label */

/* The weight of sample i; every 11th is 0. */
static float weight_of(int64_t i)
{
    return i % 11 == 5 ? 0 : (float)(0.3 + 2.385 * eh_random_unit(2, 37, (uint64_t)i));
}

/* The smoothing for compared points with classes `other` (z). Fills share (z). */
static eh_smoothing smoothing_of(const int32_t *other, int64_t z, float *share)
{
    eh_smoothing s = {.part = 0.2};
    int64_t count[CLASSES] = {0};
    for (int64_t j = 0; j < z; j++) s.classes += count[other[j]]++ == 0;
    for (int64_t j = 0; j < z; j++) {
        const double one = 1 / (s.classes * (double)count[other[j]]);
        s.neg_entropy += one * log(one);
        share[j] = (float)one;
    }
    return s;
}

/* Compares all results of one problem on each backend. target: P (n, z), or NULL; with it there
 * are no labels. weighted: with weights of the samples; smooth: with label smoothing. */
static void check_pairs(const eh_pairs *flags, const float *Y_host, const float *G_host, const int32_t *label,
                        const int32_t *other, const float *target, bool weighted, bool smooth, double part)
{
    const bool self = flags->self;
    const int64_t n = flags->n, z = flags->z, h = flags->h;
    float *shares = calloc((size_t)z + 1, sizeof *shares), *weights = calloc((size_t)n + 1, sizeof *weights);
    for (int64_t i = 0; i < n; i++) weights[i] = weight_of(i);
    const eh_smoothing smoothing = smooth ? smoothing_of(other, z, shares) : (eh_smoothing){0};
    twin Y = from_host(Y_host, n * h), G = from_host(self ? Y_host : G_host, z * h);
    twin dY = make(n * h, 18, 1), dG = make(z * h, 19, 1),
         loss = sent(&(eh_loss_value){7.7, 7.7}, 1, sizeof(eh_loss_value));
    twin labels = sent(label, n, sizeof *label), others = sent(self ? label : other, z, sizeof *other);
    twin P = target ? from_host(target, n * z) : (twin){0}, share = from_host(shares, z);
    twin weight = from_host(weights, n);
    for (int which = 0; which < 3; which++) {
        eh_compute *c = which == 0 ? cpu : which == 1 ? ref : one;
        eh_pairs p = *flags;
        p.Y = T(Y), p.G = self ? T(Y) : T(G), p.target_probs = T(P);
        p.label = target ? NULL : T(labels);
        p.other_label = target ? NULL : self ? T(labels) : T(others);
        p.weight = weighted ? T(weight) : NULL;
        p.smoothing = smoothing;
        p.smoothing.share = T(share);
        eh_neighbor_loss(&p, c, T(loss), T(dY), self ? NULL : T(dG));
    }
    const eh_loss_value want = value_of(ref, loss.ref), got = value_of(cpu, loss.cpu), again = value_of(one, loss.one);
    if (!(fabs(want.value - got.value) <= EXACT * (1 + fabs(want.value))) || want.nonfinite != 0 || got.nonfinite != 0)
        fail_msg("gaussian %d dof %d row %d nca %d self %d indicator %d weighted %d smooth %d, n %lld: loss %.9g, "
                 "expected %.9g",
                 flags->gaussian, flags->dof, flags->row, flags->nca, self, flags->indicator, weighted, smooth,
                 (long long)n, got.value, want.value);
    assert_true(got.value == again.value);
    check_close(dY, part);
    if (!self) check_close(dG, part);
    drop(Y), drop(G), drop(dY), drop(dG), drop(loss), drop(labels), drop(others), drop(P), drop(share), drop(weight);
    free(shares), free(weights);
}

/* The bits of a number select a problem; the first bit and the value / 32 select the similarity. */
enum { PROBLEMS = 3 * 32 };

static eh_pairs problem(int bits, int64_t n, int64_t z, int64_t h)
{
    static const int dofs[] = {1, 0, 3, 5, 7, EH_DOF_MAX};
    const int dof = dofs[bits / 32 * 2 + bits % 2];
    const bool self = bits & 8;
    return (eh_pairs){.gaussian = dof == 0,
                      .dof = dof,
                      .row = bits & 2,
                      .nca = bits & 4,
                      .self = self,
                      .indicator = bits & 16,
                      .n = n,
                      .z = self ? n : z,
                      .h = h};
}

/* Tolerance of gradients. A power has more rounding error, which matters if attraction and
 * repulsion nearly cancel. */
static double rounding(const eh_pairs *p)
{
    return (p->dof > 1 ? 5 : 2) * EXACT;
}

static void neighbor_problems_match_the_reference_in_every_combination(void **state)
{
    (void)state;
    static const int64_t shapes[][3] = {{1, 2, 1}, {7, 13, 2}, {200, 20, 2}, {33, 300, 3}, {520, 520, 2}, {65, 9, 17}};
    enum { MAX_COUNT = 520 * 17 };
    static float Y[MAX_COUNT], G[MAX_COUNT];
    int32_t label[520], other[520];
    for (int i = 0; i < MAX_COUNT; i++) Y[i] = (float)(1.5 * eh_random_normal(2, 16, (uint64_t)i));
    for (int i = 0; i < MAX_COUNT; i++) G[i] = (float)(1.5 * eh_random_normal(2, 17, (uint64_t)i));
    for (int i = 0; i < 520; i++)
        label[i] = (int32_t)(eh_random_u64(2, 20, (uint64_t)i) % 4) - 1; /* some samples have no label */
    for (int j = 0; j < 520; j++) other[j] = j % 3;
    for (int s = 0; s < 6; s++)
        for (int bits = 0; bits < PROBLEMS; bits++) {
            const eh_pairs p = problem(bits, shapes[s][0], shapes[s][1], shapes[s][2]);
            const int all = s == 4 ? 1 : p.nca || p.self ? 2 : 4; /* the largest shape once */
            for (int targets = 0; targets < all; targets++)
                check_pairs(&p, Y, G, label, other, NULL, targets & 1, targets & 2, rounding(&p));
        }
}

/* A target of which one fifth is zero. */
static void target_probs_match_the_reference_in_every_combination(void **state)
{
    (void)state;
    static const int64_t shapes[][2] = {{1, 1}, {7, 2}, {33, 3}, {300, 2}, {65, 17}};
    enum { MAX_COUNT = 300 * 17 };
    static float Y[MAX_COUNT], P[300 * 300];
    const int32_t label[300] = {0};
    for (int i = 0; i < MAX_COUNT; i++) Y[i] = (float)(1.5 * eh_random_normal(2, 16, (uint64_t)i));
    for (int s = 0; s < 5; s++)
        for (int bits = 0; bits < PROBLEMS; bits++) {
            const eh_pairs p = problem(bits, shapes[s][0], 0, shapes[s][1]);
            double sum = 0;
            if (!p.self) continue;
            for (int64_t i = 0; i < p.n * p.n; i++) {
                const int64_t row = i / p.n, column = i % p.n, less = row < column ? row : column;
                const uint64_t at = (uint64_t)(less * p.n + row + column);
                P[i] = row == column ? 0 : (float)fmax(0, eh_random_unit(2, 33, at) - 0.2);
                sum += P[i];
            }
            for (int64_t i = 0; i < p.n * p.n && sum > 0; i++) P[i] = (float)(P[i] / sum);
            check_pairs(&p, Y, NULL, label, label, P, false, false, rounding(&p));
        }
}

/* The same for compared points apart from the samples, whose target is not symmetric. */
static void target_probs_of_exemplars_match_the_reference(void **state)
{
    (void)state;
    static const int64_t shapes[][3] = {{3, 5, 1}, {7, 13, 2}, {300, 20, 3}, {33, 300, 17}};
    static float Y[300 * 17], G[300 * 17], P[300 * 300];
    const int32_t label[300] = {0};
    for (int i = 0; i < 300 * 17; i++) Y[i] = (float)(1.5 * eh_random_normal(2, 16, (uint64_t)i));
    for (int i = 0; i < 300 * 17; i++) G[i] = (float)(1.5 * eh_random_normal(2, 17, (uint64_t)i));
    for (int s = 0; s < 4; s++)
        for (int bits = 0; bits < PROBLEMS; bits++) {
            const eh_pairs p = problem(bits, shapes[s][0], shapes[s][1], shapes[s][2]);
            for (int64_t i = 0; i < p.n * p.z; i++)
                P[i] = (float)(fmax(0, eh_random_unit(2, 33, (uint64_t)i) - 0.2) / (double)(p.n * p.z));
            if (!p.self) check_pairs(&p, Y, G, label, label, P, false, false, rounding(&p));
        }
}

/* Targets of batches in which some samples have no label, with weights and smoothing or not. */
static void own_targets_match_the_reference(void **state)
{
    (void)state;
    static const int64_t shapes[][3] = {{1, 2, 1}, {7, 13, 2}, {200, 20, 2}, {33, 300, 17}};
    static const int dofs[] = {0, 1, 3, EH_DOF_MAX};
    static float Y_host[300 * 17], G_host[300 * 17], weights[200], shares[300];
    int32_t label[200], other[300];
    for (int i = 0; i < 300 * 17; i++) Y_host[i] = (float)(1.5 * eh_random_normal(2, 16, (uint64_t)i));
    for (int i = 0; i < 300 * 17; i++) G_host[i] = (float)(1.5 * eh_random_normal(2, 17, (uint64_t)i));
    for (int i = 0; i < 200; i++)
        label[i] = (int32_t)(eh_random_u64(2, 20, (uint64_t)i) % 5) - 1, weights[i] = weight_of(i);
    for (int j = 0; j < 300; j++) other[j] = j % 3; /* class 3 has no compared point */
    for (int s = 0; s < 4; s++)
        for (int bits = 0; bits < 16; bits++) {
            const int64_t n = shapes[s][0], z = shapes[s][1], h = shapes[s][2];
            const eh_smoothing smoothing = smoothing_of(other, z, shares);
            twin Y = from_host(Y_host, n * h), G = from_host(G_host, z * h), P = make(n * z, 18, 1);
            twin labels = sent(label, n, sizeof *label), others = sent(other, z, sizeof *other);
            twin weight = from_host(weights, n), share = from_host(shares, z);
            for (int which = 0; which < 3; which++) {
                eh_compute *c = which == 0 ? cpu : which == 1 ? ref : one;
                eh_pairs p = {.gaussian = !dofs[bits / 4], .dof = dofs[bits / 4], .row = true, .n = n, .z = z, .h = h};
                p.Y = T(Y), p.G = T(G), p.label = T(labels), p.other_label = T(others);
                p.weight = bits & 1 ? T(weight) : NULL;
                p.smoothing = bits & 2 ? smoothing : (eh_smoothing){0};
                p.smoothing.share = T(share);
                eh_neighbor_targets(&p, c, 0.7, T(P));
            }
            check_close(P, 2 * EXACT);
            drop(Y), drop(G), drop(P), drop(labels), drop(others), drop(weight), drop(share);
        }
}

/* Pairs of points far apart: the slope of a point with itself would be infinite. */
static void points_far_from_all_others_have_finite_gradients(void **state)
{
    (void)state;
    static const float Y[] = {0, 30, 0.5f, 31}, G[] = {-21, 47};
    static const int32_t label[] = {0, 0, 1, 1}, other[] = {0, 1};
    for (int bits = 0; bits < PROBLEMS; bits++) {
        const eh_pairs p = problem(bits, 4, 2, 1);
        check_pairs(&p, Y, G, label, other, NULL, false, false, 1e-3); /* exp(x - 900) has three digits less than x */
    }
}

/* One degree of freedom at squared distances of 1e30; the maximum at 6e5, where w is 1e-37. */
static void far_students_have_finite_gradients(void **state)
{
    (void)state;
    static const float far[] = {0, 1, 2, 1.001f}, other_far[] = {-0.9f, 0.95f};
    static const int32_t label[] = {0, 0, 1, 1}, other[] = {0, 1};
    for (int bits = 0; bits < PROBLEMS; bits++) {
        const eh_pairs p = problem(bits, 4, 2, 1);
        const float scale = p.dof == 1 ? 1e15f : 400;
        float Y[4], G[2];
        for (int i = 0; i < 4; i++) Y[i] = scale * far[i];
        for (int j = 0; j < 2; j++) G[j] = scale * other_far[j];
        if (!p.gaussian) check_pairs(&p, Y, G, label, other, NULL, false, false, 1e-4);
    }
}

static void loss_and_gradient_are_zero_without_a_target(void **state)
{
    (void)state;
    static const float Y[] = {0.3f, 1.2f, -0.7f}, G[] = {-0.2f, 0.4f};
    static const int32_t label[] = {0, -1, 1}, other[] = {2, 2};
    for (int bits = 0; bits < PROBLEMS; bits++) {
        const eh_pairs p = problem(bits, 3, 2, 1);
        check_pairs(&p, Y, G, label, other, NULL, false, false, 0); /* test_objective checks ref */
    }
}

static void a_nonfinite_embedding_gives_a_nan_loss(void **state)
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
            twin loss = sent(&(eh_loss_value){7.7, 7.7}, 1, sizeof(eh_loss_value));
            for (int which = 0; which < 3; which++) {
                eh_compute *c = which == 0 ? cpu : which == 1 ? ref : one;
                eh_pairs p = flags;
                p.Y = T(Y), p.G = p.self ? T(Y) : T(compared);
                p.label = T(labels), p.other_label = p.self ? T(labels) : T(others);
                eh_neighbor_loss(&p, c, T(loss), T(dY), p.self ? NULL : T(dG));
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
    twin loss = sent(&(eh_loss_value){7.7, 7.7}, 1, sizeof(eh_loss_value)), labels = sent(label, rows, sizeof *label);
    for (int which = 0; which < 3; which++) {
        eh_compute *c = which == 0 ? cpu : which == 1 ? ref : one;
        eh_triples p = *sizes;
        p.Y = T(Y), p.label = T(labels);
        eh_triples_loss(&p, c, T(loss), T(dY));
    }
    const eh_loss_value want = value_of(ref, loss.ref), got = value_of(cpu, loss.cpu), again = value_of(one, loss.one);
    if (!(fabs(want.value - got.value) <= EXACT * (1 + fabs(want.value))) || want.nonfinite != 0 || got.nonfinite != 0)
        fail_msg("n %lld, targets %lld: loss %.9g, expected %.9g", (long long)sizes->n, (long long)sizes->targets,
                 got.value, want.value);
    assert_true(got.value == again.value);
    check_close(dY, EXACT);
    drop(Y), drop(dY), drop(loss), drop(labels);
}

/* Points on a grid have exact distances in float, so backends agree on the points within a
 * margin. Classes have several sizes, one has a single sample; some samples have fewer targets,
 * some none. */
static void large_margin_problems_match_the_reference(void **state)
{
    (void)state;
    static const int64_t shapes[][3] = {{0, 2, 2}, {1, 1, 1}, {7, 2, 3}, {200, 3, 2}, {130, 1, 17}, {520, 9, 2}};
    enum { MAX_COUNT = 520 * 10 * 2 };
    static float Y[MAX_COUNT];
    static int32_t label[520 * 10];
    for (int i = 0; i < MAX_COUNT; i++) Y[i] = (float)(round(96 * eh_random_normal(2, 16, (uint64_t)i)) / 64);
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

static void a_nonfinite_embedding_gives_a_nonfinite_large_margin_loss(void **state)
{
    (void)state;
    static const float bad[] = {NAN, INFINITY, -INFINITY};
    static const int32_t label[] = {0, 0, 1, 0, 0, -1};
    for (int b = 0; b < 3; b++)
        for (int at = 0; at < 5; at++) {
            if (at == 2) continue; /* not a target: an impostor that is infinitely far has no effect */
            float Y_host[] = {0.3f, 0.8f, -0.7f, 0.8f, 0.3f, -0.7f};
            Y_host[at] = bad[b];
            twin Y = from_host(Y_host, 6), dY = make(6, 18, 1), labels = sent(label, 6, sizeof *label);
            twin loss = sent(&(eh_loss_value){7.7, 7.7}, 1, sizeof(eh_loss_value));
            for (int which = 0; which < 3; which++) {
                eh_compute *c = which == 0 ? cpu : which == 1 ? ref : one;
                const eh_triples p = {
                    .n = 3, .targets = 1, .h = 1, .pull = 0.2, .push = 0.3, .Y = T(Y), .label = T(labels)};
                eh_triples_loss(&p, c, T(loss), T(dY));
                if (isfinite(value_of(c, T(loss)).value)) fail_msg("%s: %g at %d", c->op->name, (double)bad[b], at);
            }
            drop(Y), drop(dY), drop(labels), drop(loss);
        }
}

/* ---- affinities ---- */

/* P from its definition, by bisection. */
static void plain_affinities(int64_t n, int64_t dims, const float *X, double perplexity, double *P)
{
    double *given = calloc((size_t)(n * n + 1), sizeof *given), *d = malloc((size_t)(n + 1) * sizeof *d);
    for (int64_t i = 0; i < n; i++) {
        double low = 0, high = 1e12, entropy = 0, min_distance = INFINITY;
        for (int64_t j = 0; j < n; j++) {
            d[j] = 0;
            for (int64_t k = 0; k < dims; k++) d[j] += pow((double)X[i * dims + k] - X[j * dims + k], 2);
            if (j != i) min_distance = fmin(min_distance, d[j]);
        }
        for (int step = 0; step < 200; step++) {
            const double beta = (low + high) / 2;
            double sum = 0;
            for (int64_t j = 0; j < n; j++) sum += given[i * n + j] = j == i ? 0 : exp(-beta * (d[j] - min_distance));
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
    check_close(P, 2 * EXACT);
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

/* All rows equal; many equal rows, fewer and more than the perplexity; rows far from the origin. */
static void affinities_accept_equal_rows(void **state)
{
    (void)state;
    enum { n = 70, dims = 5 };
    float X[n * dims] = {0};
    check_affinities(n, dims, X, 10);
    for (int twins = 3; twins <= 35; twins += 16) {
        for (int i = 0; i < n * dims; i++) {
            const int row = i / dims % (n - twins); /* the last rows repeat the first */
            X[i] = row < 2 ? (float)(i % dims) : (float)eh_random_normal(2, 36, (uint64_t)(row * dims + i % dims));
        }
        check_affinities(n, dims, X, 10);
    }
    for (int i = 0; i < n * dims; i++) X[i] = i / dims < 30 ? 2.385f : (float)(1000 + i % 7);
    check_affinities(n, dims, X, 10);
}

/* ---- label smoothing ---- */

/* Two compared points at +-1 and samples (u, v): u sets the ratio of the q of a sample, v their
 * size. If q equals p, the loss is zero. */
static void a_smoothed_loss_is_zero_if_q_equals_p(void **state)
{
    (void)state;
    enum { n = 40 };
    static const float G[] = {1, 0, -1, 0};
    static const int32_t other[] = {0, 1};
    float Y[n * 2], share[2], weights[n];
    int32_t label[n];
    const eh_smoothing smoothing = smoothing_of(other, 2, share);
    const double own = 1 - smoothing.part / 2, far = smoothing.part / 2;
    for (int k = 0; k < n; k++) {
        weights[k] = weight_of(k), label[k] = k % 3 == 1;
        const double p = label[k] ? far : own, u = log(label[k] ? far / own : own / far) / 4;
        Y[2 * k] = (float)u, Y[2 * k + 1] = (float)sqrt(10 - log(p) - (u - 1) * (u - 1));
    }
    for (int row = 0; row < 2; row++) {
        twin y = from_host(Y, 2 * n), g = from_host(G, 4), loss = allocate(1, 16, 16), dY = allocate(2 * n, 4, 8);
        twin dG = allocate(4, 4, 8), labels = sent(label, n, 4), others = sent(other, 2, 4),
             shares = from_host(share, 2);
        twin weight = from_host(weights, n);
        for (int which = 0; which < 3; which++) {
            eh_compute *c = which == 0 ? cpu : which == 1 ? ref : one;
            eh_pairs p = {.gaussian = true,
                          .row = row,
                          .n = n,
                          .z = 2,
                          .h = 2,
                          .Y = T(y),
                          .G = T(g),
                          .label = T(labels),
                          .other_label = T(others),
                          .weight = T(weight),
                          .smoothing = smoothing};
            p.smoothing.share = T(shares);
            eh_neighbor_loss(&p, c, T(loss), T(dY), T(dG));
            const double value = value_of(c, T(loss)).value;
            if (!(fabs(value) < 1e-5)) fail_msg("row %d on %s: %g", row, c->op->name, value);
        }
        drop(y), drop(g), drop(loss), drop(dY), drop(dG), drop(labels), drop(others), drop(shares), drop(weight);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(neighbor_problems_match_the_reference_in_every_combination),
        cmocka_unit_test(target_probs_match_the_reference_in_every_combination),
        cmocka_unit_test(target_probs_of_exemplars_match_the_reference),
        cmocka_unit_test(own_targets_match_the_reference),
        cmocka_unit_test(points_far_from_all_others_have_finite_gradients),
        cmocka_unit_test(far_students_have_finite_gradients),
        cmocka_unit_test(loss_and_gradient_are_zero_without_a_target),
        cmocka_unit_test(a_nonfinite_embedding_gives_a_nan_loss),
        cmocka_unit_test(large_margin_problems_match_the_reference),
        cmocka_unit_test(a_nonfinite_embedding_gives_a_nonfinite_large_margin_loss),
        cmocka_unit_test(affinities_match_their_definition),
        cmocka_unit_test(affinities_accept_equal_rows),
        cmocka_unit_test(a_smoothed_loss_is_zero_if_q_equals_p),
    };
    return run_on_each(tests, sizeof tests / sizeof *tests);
}
