/* The objectives: cases computed by hand, invariances, and gradients against central differences
 * in double. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <cmocka.h>

#include "objective/objective.h"

static enhope_context *ctx;
static eh_compute *ref;

#define R(p) ((eh_real *)(p))

/* Loss and gradients of explicit points; a NULL gradient is not returned. */
static double loss_of(const eh_pairs *o, int64_t n, int64_t z, int64_t h, const double *Y, const int32_t *label,
                      const double *G, const int32_t *other, double *dY, double *dG)
{
    double spare_y[256], spare_g[256];
    eh_loss_value loss = {-7.7, 1};
    eh_pairs p = *o;
    assert_true(n * h <= 256 && z * h <= 256);
    p.n = n, p.z = o->self ? n : z, p.h = h;
    p.Y = (const eh_real *)Y, p.G = (const eh_real *)(o->self ? Y : G);
    p.label = (const eh_label *)label, p.other_label = (const eh_label *)(o->self ? label : other);
    eh_neighbor_loss(&p, ref, (eh_loss *)&loss, R(dY ? dY : spare_y), o->self ? NULL : R(dG ? dG : spare_g));
    assert_true(loss.nonfinite == 0);
    return loss.value;
}

static void one_sample_one_dimension_is_log_one_and_a_half(void **state)
{
    (void)state;
    const eh_pairs o = {.row = true};
    const double Y[] = {0}, G[] = {0, 1};
    const int32_t label[] = {0}, other[] = {0, 1};
    double dY[1], dG[2];
    assert_true(fabs(loss_of(&o, 1, 2, 1, Y, label, G, other, dY, dG) - log(1.5)) < 1e-12);
    assert_true(fabs(dY[0] - 1.0 / 3) < 1e-12);
}

static void one_sample_in_the_plane_matches_the_case_by_hand(void **state)
{
    (void)state;
    const double Y[] = {0, 0}, G[] = {1, 0, 0, 2};
    const int32_t label[] = {0}, other[] = {0, 1};
    for (int row = 0; row < 2; row++) { /* with one sample, both normalizers are the same */
        const eh_pairs o = {.row = row};
        double dY[2], dG[4];
        assert_true(fabs(loss_of(&o, 1, 2, 2, Y, label, G, other, dY, dG) - .3364722366) < 1e-9);
        const double want_y[] = {-.2857142857, .2285714286}, want_g[] = {.2857142857, 0, 0, -.2285714286};
        for (int k = 0; k < 2; k++) assert_true(fabs(dY[k] - want_y[k]) < 1e-9);
        for (int k = 0; k < 4; k++) assert_true(fabs(dG[k] - want_g[k]) < 1e-9);
    }
}

static void three_points_on_a_line_match_the_pairwise_cases(void **state)
{
    (void)state;
    const double Y[] = {0, 1, 3};
    const int32_t label[] = {0, 0, 1};
    double dY[3];
    const eh_pairs hope = {.self = true};
    assert_true(fabs(loss_of(&hope, 3, 3, 1, Y, label, NULL, NULL, dY, NULL) - .4700036292) < 1e-9);
    const double want[] = {-.3, .575, -.275};
    for (int k = 0; k < 3; k++) assert_true(fabs(dY[k] - want[k]) < 1e-12);

    /* by hand: the same-class mass of rows one and two is 5/6 and 5/7 (Student); the third has
     * none and is left out */
    const eh_pairs dt_nca = {.self = true, .row = true, .nca = true};
    assert_true(fabs(loss_of(&dt_nca, 3, 3, 1, Y, label, NULL, NULL, NULL, NULL) - -(log(5.0 / 6) + log(5.0 / 7)) / 2) <
                1e-12);
    const eh_pairs mcml = {.self = true, .row = true, .gaussian = true};
    assert_true(fabs(2 * loss_of(&mcml, 3, 3, 1, Y, label, NULL, NULL, NULL, NULL) - .0489227579) < 1e-9);
}

/* Row masses of Gaussian NCA on 0, 1, 3: the sum of 1 - mass is the classical objective. */
static void gaussian_nca_matches_its_masses(void **state)
{
    (void)state;
    const double Y[] = {0, 1, 3};
    const int32_t label[] = {0, 0, 1};
    const eh_pairs nca = {.self = true, .row = true, .gaussian = true, .nca = true};
    const double one = exp(-1), nine = exp(-9), four = exp(-4);
    const double masses[] = {one / (one + nine), one / (one + four)};
    assert_true(fabs(masses[0] + masses[1] - 1.9522387767) < 1e-9);
    assert_true(fabs(loss_of(&nca, 3, 3, 1, Y, label, NULL, NULL, NULL, NULL) -
                     -(log(masses[0]) + log(masses[1])) / 2) < 1e-12);
}

static void exemplars_in_input_space_match_the_compression_case(void **state)
{
    (void)state;
    const eh_pairs snc = {.row = true, .gaussian = true, .nca = true};
    const double Y[] = {0}, G[] = {0, 1};
    const int32_t label[] = {0}, other[] = {0, 1};
    double dY[1], dG[2];
    assert_true(fabs(loss_of(&snc, 1, 2, 1, Y, label, G, other, dY, dG) - .3132616875) < 1e-9);
    assert_true(fabs(dG[1] - -.5378828427) < 1e-9);
}

static void a_perfect_collapse_has_the_loss_of_its_leak(void **state)
{
    (void)state;
    /* two classes at squared distance 3, three samples each, every sample on its exemplar */
    const double root = sqrt(3), Y[] = {0, 0, 0, root, root, root}, G[] = {0, root};
    const int32_t label[] = {0, 0, 0, 1, 1, 1}, other[] = {0, 1};
    for (int row = 0; row < 2; row++) {
        const eh_pairs o = {.row = row};
        assert_true(fabs(loss_of(&o, 6, 2, 1, Y, label, G, other, NULL, NULL) - .2231435513) < 1e-9);
    }
}

static void equal_points_have_the_log_of_exemplars_per_class_as_loss(void **state)
{
    (void)state;
    const double Y[10] = {0}, G[12] = {0};
    const int32_t label[] = {0, 1, 2, 1, 0}, other[] = {0, 0, 1, 1, 2, 2};
    for (int row = 0; row < 2; row++) {
        const eh_pairs o = {.row = row};
        assert_true(fabs(loss_of(&o, 5, 6, 2, Y, label, G, other, NULL, NULL) - log(6.0 / 2)) < 1e-12);
    }
}

/* Irregular points: n samples of c classes, z compared points. */
enum { N = 17, Z = 7, DIMS = 3, CLASSES = 3 };

/* Weights of the samples; shares for compared points of classes j % 3: three of the first, two of
 * the others. */
static const double WEIGHT[N] = {0.7,  2.385, 1.1, 0,    0.31, 1.9,  1,   3.02, 0.55,
                                 1.27, 0.08,  2,   0.93, 1.4,  0.61, 0.2, 1.77};
static const double SHARE[Z] = {1.0 / 9, 1.0 / 6, 1.0 / 6, 1.0 / 9, 1.0 / 6, 1.0 / 6, 1.0 / 9};

/* The objectives of the family: bits select everything except the degrees of freedom, which the
 * bits from DOF on select; every second has weights, every third label smoothing. */
enum { DOF = 32, MEMBERS = 4 * DOF };

static eh_pairs member(int bits)
{
    static const int dofs[] = {0, 3, 5, 15};
    eh_pairs p = {.gaussian = bits & 1,
                  .dof = dofs[bits / DOF],
                  .row = bits & 2,
                  .nca = bits & 4,
                  .self = bits & 8,
                  .indicator = bits & 16,
                  .weight = bits / DOF % 2 ? (const eh_real *)WEIGHT : NULL};
    if (bits / DOF < 2 || p.nca || p.self) return p;
    p.smoothing = (eh_smoothing){.part = 0.2, .classes = CLASSES, .share = (const eh_real *)SHARE};
    for (int j = 0; j < Z; j++) p.smoothing.neg_entropy += SHARE[j] * log(SHARE[j]);
    return p;
}

static void irregular(double *Y, int32_t *label, double *G, int32_t *other)
{
    for (int i = 0; i < N * DIMS; i++) Y[i] = 1.3 * eh_random_normal(5, 9, (uint64_t)i);
    for (int i = 0; i < Z * DIMS; i++) G[i] = 0.9 * eh_random_normal(5, 10, (uint64_t)i);
    for (int i = 0; i < N; i++) label[i] = (int32_t)(eh_random_u64(5, 11, (uint64_t)i) % CLASSES);
    for (int j = 0; j < Z; j++) other[j] = j % CLASSES;
}

static void gradients_match_central_differences(void **state)
{
    (void)state;
    double Y[N * DIMS], G[Z * DIMS], dY[N * DIMS], dG[Z * DIMS];
    int32_t label[N], other[Z];
    irregular(Y, label, G, other);
    label[4] = -1; /* unlabeled */
    for (int bits = 0; bits < MEMBERS; bits++) {
        const eh_pairs o = member(bits);
        loss_of(&o, N, Z, DIMS, Y, label, G, other, dY, dG);
        const double step = 1e-5;
        double worst = 0, size = 0;
        for (int v = 0; v < (o.self ? N : N + Z) * DIMS; v++) {
            double *x = v < N * DIMS ? Y + v : G + v - N * DIMS;
            const double kept = *x, got = v < N * DIMS ? dY[v] : dG[v - N * DIMS];
            *x = kept + step;
            const double up = loss_of(&o, N, Z, DIMS, Y, label, G, other, NULL, NULL);
            *x = kept - step;
            const double down = loss_of(&o, N, Z, DIMS, Y, label, G, other, NULL, NULL);
            *x = kept;
            worst = fmax(worst, fabs(got - (up - down) / (2 * step)));
            size = fmax(size, fabs(got));
        }
        assert_true(worst < 1e-6 * size);
    }
}

static double similarity(const eh_pairs *o, double d)
{
    const double nu = o->dof ? o->dof : 1;
    return o->gaussian ? exp(-d) : pow(1 + d / nu, -(nu + 1) / 2);
}

/* The loss from its definition: q and p as tables, then sums over them. */
static double plain_loss(const eh_pairs *o, const double *Y, const int32_t *label, const double *G,
                         const int32_t *other)
{
    const int z = o->self ? N : Z;
    const double s = o->smoothing.part;
    double w[N][N] = {{0}}, Z_all = 0, Z_row[N] = {0}, kin[N] = {0}, weight[N], weights = 0, loss = 0;
    const double *omega = (const double *)o->weight;
    for (int i = 0; i < N; i++) {
        for (int j = 0; j < z; j++) {
            if (o->self && i == j) continue;
            double d = 0;
            for (int k = 0; k < DIMS; k++) d += pow(Y[i * DIMS + k] - (o->self ? Y : G)[j * DIMS + k], 2);
            w[i][j] = similarity(o, d);
            Z_row[i] += w[i][j];
            kin[i] += label[i] == (o->self ? label : other)[j];
        }
        Z_all += omega ? omega[i] * Z_row[i] : Z_row[i];
        weight[i] = kin[i] > 0 ? omega ? omega[i] : 1 : 0;
        if (o->indicator && !o->row && !o->nca) weight[i] *= kin[i];
        weights += weight[i];
    }
    for (int i = 0; i < N; i++) {
        double same_mass = 0;
        for (int j = 0; j < z && weight[i] > 0; j++) {
            if (w[i][j] == 0) continue;
            const bool same = label[i] == (o->self ? label : other)[j];
            const double q = w[i][j] / (o->row ? Z_row[i] : Z_all), m = weight[i] / weights;
            const double p = (same ? (1 - s) / kin[i] : 0) + (s > 0 ? s * SHARE[j] : 0);
            if (same) same_mass += q;
            if (!o->nca && p > 0) loss += m * p * log((o->row ? p : m * p / (omega ? omega[i] : 1)) / q);
        }
        if (o->nca && weight[i] > 0) loss -= weight[i] / weights * log(same_mass);
    }
    return loss;
}

static void losses_match_their_definition_on_irregular_points(void **state)
{
    (void)state;
    double Y[N * DIMS], G[Z * DIMS];
    int32_t label[N], other[Z];
    irregular(Y, label, G, other);
    for (int bits = 0; bits < MEMBERS; bits++) {
        const eh_pairs o = member(bits);
        const double want = plain_loss(&o, Y, label, G, other);
        const double got = loss_of(&o, N, Z, DIMS, Y, label, G, other, NULL, NULL);
        assert_true(fabs(want - got) < 1e-9 * (1 + fabs(want)));
    }
}

/* A target P of a batch: symmetric with sum 1 and diagonal 0. */
static void irregular_target(double *P)
{
    double sum = 0;
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) {
            const int at = j < i ? j * N + i : i * N + j;
            P[i * N + j] = i == j ? 0 : fmax(0, eh_random_unit(5, 12, (uint64_t)at) - 0.2);
            sum += P[i * N + j];
        }
    for (int i = 0; i < N * N; i++) P[i] /= sum;
}

/* sum p log(p / q); with the row normalizer of p_j|i, weighted by the row sums of P. */
static double plain_divergence(const eh_pairs *o, const double *Y, const double *P)
{
    double w[N][N] = {{0}}, Z_all = 0, Z_row[N] = {0}, mass[N] = {0}, loss = 0;
    for (int i = 0; i < N; i++) {
        for (int j = 0; j < N; j++) {
            if (i == j) continue;
            double d = 0;
            for (int k = 0; k < DIMS; k++) d += pow(Y[i * DIMS + k] - Y[j * DIMS + k], 2);
            Z_row[i] += w[i][j] = similarity(o, d);
            mass[i] += P[i * N + j];
        }
        Z_all += Z_row[i];
    }
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) {
            const double p = P[i * N + j];
            if (p > 0) loss += p * log(o->row ? p / mass[i] / (w[i][j] / Z_row[i]) : p / (w[i][j] / Z_all));
        }
    return loss;
}

static void target_probs_match_their_divergence_and_differences(void **state)
{
    (void)state;
    double Y[N * DIMS], G[Z * DIMS], dY[N * DIMS], P[N * N];
    int32_t label[N], other[Z];
    irregular(Y, label, G, other);
    irregular_target(P);
    for (int bits = 0; bits < MEMBERS; bits++) {
        eh_pairs o = member(bits);
        if (!o.self) continue;
        o.target_probs = R(P);
        const double want = plain_divergence(&o, Y, P);
        const double got = loss_of(&o, N, N, DIMS, Y, NULL, NULL, NULL, dY, NULL); /* labels are not read */
        assert_true(fabs(want - got) < 1e-12 * (1 + fabs(want)));
        const double step = 1e-5;
        double worst = 0, size = 0;
        for (int v = 0; v < N * DIMS; v++) {
            const double kept = Y[v];
            Y[v] = kept + step;
            const double up = plain_divergence(&o, Y, P);
            Y[v] = kept - step;
            const double down = plain_divergence(&o, Y, P);
            Y[v] = kept;
            worst = fmax(worst, fabs(dY[v] - (up - down) / (2 * step)));
            size = fmax(size, fabs(dY[v]));
        }
        assert_true(worst < 1e-6 * size);
    }
}

static void two_points_match_any_target_distance(void **state)
{
    (void)state;
    const double Y[] = {0.3, -1.2, 2.385, 0.7};
    double P[] = {0, 0.5, 0.5, 0}, dY[4];
    for (int bits = 0; bits < 4; bits++) {
        const eh_pairs o = {.gaussian = bits & 1, .row = bits & 2, .self = true, .target_probs = R(P)};
        assert_true(fabs(loss_of(&o, 2, 2, 2, Y, NULL, NULL, NULL, dY, NULL)) < 1e-12);
        for (int k = 0; k < 4; k++) assert_true(fabs(dY[k]) < 1e-12);
    }
}

static void losses_are_invariant_to_rotation_translation_and_order(void **state)
{
    (void)state;
    double Y[N * DIMS], G[Z * DIMS], Y2[N * DIMS], G2[Z * DIMS], dY[N * DIMS], dG[Z * DIMS];
    int32_t label[N], other[Z], label2[N];
    irregular(Y, label, G, other);
    const double s = sin(0.7), k = cos(0.7), shift[] = {2.385, -0.617, 11.02};
    for (int i = 0; i < N + Z; i++) {
        const double *from = i < N ? Y + i * DIMS : G + (i - N) * DIMS;
        const int to_row = (i + 5) % N; /* samples are permuted too */
        double *to = i < N ? Y2 + to_row * DIMS : G2 + (i - N) * DIMS;
        if (i < N) label2[to_row] = label[i];
        to[0] = k * from[0] - s * from[1] + shift[0];
        to[1] = s * from[0] + k * from[1] + shift[1];
        to[2] = from[2] + shift[2];
    }
    for (int bits = 0; bits < 16; bits++) {
        const eh_pairs o = {.gaussian = bits & 1, .row = bits & 2, .nca = bits & 4, .self = bits & 8};
        const double a = loss_of(&o, N, Z, DIMS, Y, label, G, other, dY, dG);
        const double b = loss_of(&o, N, Z, DIMS, Y2, label2, G2, other, NULL, NULL);
        assert_true(fabs(a - b) < 1e-9 * (1 + fabs(a)));
        for (int d = 0; d < DIMS; d++) { /* the gradients sum to zero */
            double sum = 0;
            for (int i = 0; i < N; i++) sum += dY[i * DIMS + d];
            for (int j = 0; j < Z && !o.self; j++) sum += dG[j * DIMS + d];
            assert_true(fabs(sum) < 1e-12);
        }
    }
}

static void doubling_all_samples_or_all_exemplars_changes_nothing(void **state)
{
    (void)state;
    double Y[2 * N * DIMS], G[2 * Z * DIMS];
    int32_t label[2 * N], other[2 * Z];
    irregular(Y, label, G, other);
    memcpy(Y + N * DIMS, Y, N * DIMS * sizeof *Y);
    memcpy(G + Z * DIMS, G, Z * DIMS * sizeof *G);
    memcpy(label + N, label, sizeof *label * N);
    memcpy(other + Z, other, sizeof *other * Z);
    for (int row = 0; row < 2; row++) {
        const eh_pairs o = {.row = row};
        const double one = loss_of(&o, N, Z, DIMS, Y, label, G, other, NULL, NULL);
        assert_true(fabs(one - loss_of(&o, 2 * N, Z, DIMS, Y, label, G, other, NULL, NULL)) < 1e-12);
        assert_true(fabs(one - loss_of(&o, N, 2 * Z, DIMS, Y, label, G, other, NULL, NULL)) < 1e-12);
    }
}

/* Weights 0, 1, 2 and 3 against as many copies of each sample: the same loss and gradients. */
static void a_whole_weight_equals_copies_of_the_sample(void **state)
{
    (void)state;
    double Y[N * DIMS], G[Z * DIMS], dY[N * DIMS], dG[Z * DIMS], weight[N];
    double Y2[3 * N * DIMS], dY2[3 * N * DIMS], dG2[Z * DIMS];
    int32_t label[N], other[Z], label2[3 * N];
    int from[3 * N], n = 0;
    irregular(Y, label, G, other);
    label[6] = -1;
    for (int i = 0; i < N; i++) {
        weight[i] = i % 4;
        for (int copy = 0; copy < i % 4; copy++, n++) {
            from[n] = i, label2[n] = label[i];
            memcpy(Y2 + n * DIMS, Y + i * DIMS, DIMS * sizeof *Y);
        }
    }
    for (int bits = 0; bits < MEMBERS; bits++) {
        eh_pairs o = member(bits);
        if (o.self) continue; /* copies would be compared with each other */
        o.weight = NULL;
        const double want = loss_of(&o, n, Z, DIMS, Y2, label2, G, other, dY2, dG2);
        o.weight = (const eh_real *)weight;
        assert_true(fabs(loss_of(&o, N, Z, DIMS, Y, label, G, other, dY, dG) - want) < 1e-12 * (1 + fabs(want)));
        for (int k = 0; k < n * DIMS; k++) dY[from[k / DIMS] * DIMS + k % DIMS] -= dY2[k];
        for (int k = 0; k < N * DIMS; k++) assert_true(fabs(dY[k]) < 1e-12);
        for (int k = 0; k < Z * DIMS; k++) assert_true(fabs(dG[k] - dG2[k]) < 1e-12);
    }
}

/* With the joint normalizer, the factor adds its logarithm to the loss of NCA, as copies of all
 * samples do. */
static void a_common_factor_of_all_weights_changes_no_gradient(void **state)
{
    (void)state;
    double Y[N * DIMS], G[Z * DIMS], dY[N * DIMS], dG[Z * DIMS] = {0}, dY1[N * DIMS], dG1[Z * DIMS] = {0}, more[N];
    int32_t label[N], other[Z];
    irregular(Y, label, G, other);
    for (int i = 0; i < N; i++) more[i] = 2.385e-3 * WEIGHT[i];
    for (int bits = DOF; bits < 2 * DOF; bits++) {
        eh_pairs o = member(bits);
        const double loss = loss_of(&o, N, Z, DIMS, Y, label, G, other, dY, dG) + (o.nca && !o.row ? log(2.385e-3) : 0);
        o.weight = (const eh_real *)more;
        assert_true(fabs(loss_of(&o, N, Z, DIMS, Y, label, G, other, dY1, dG1) - loss) < 1e-12 * (1 + fabs(loss)));
        for (int k = 0; k < N * DIMS; k++) assert_true(fabs(dY[k] - dY1[k]) < 1e-12);
        for (int k = 0; k < Z * DIMS; k++) assert_true(fabs(dG[k] - dG1[k]) < 1e-12);
    }
}

/* dof = 0 equals dof = 1, and weights of 1 equal none, bit for bit. */
static void neutral_values_change_nothing(void **state)
{
    (void)state;
    double Y[N * DIMS], G[Z * DIMS], dY[N * DIMS], dG[Z * DIMS] = {0}, dY1[N * DIMS], dG1[Z * DIMS] = {0}, equal[N];
    int32_t label[N], other[Z];
    irregular(Y, label, G, other);
    for (int i = 0; i < N; i++) equal[i] = 1;
    for (int bits = 0; bits < DOF; bits++) {
        eh_pairs o = member(bits);
        const double loss = loss_of(&o, N, Z, DIMS, Y, label, G, other, dY, dG);
        o.dof = 1;
        o.weight = (const eh_real *)equal;
        assert_true(loss_of(&o, N, Z, DIMS, Y, label, G, other, dY1, dG1) == loss);
        assert_memory_equal(dY, dY1, sizeof dY);
        assert_memory_equal(dG, dG1, sizeof dG);
    }
}

static void far_gaussian_points_neither_overflow_nor_underflow(void **state)
{
    (void)state;
    const double Y[] = {0, 2000}, G[] = {300, 1500};
    const int32_t label[] = {0, 1}, other[] = {0, 1};
    for (int bits = 0; bits < 4; bits++) {
        const eh_pairs o = {.gaussian = true, .row = bits & 1, .nca = bits & 2};
        double dY[2], dG[2];
        const double loss = loss_of(&o, 2, 2, 1, Y, label, G, other, dY, dG);
        assert_true(isfinite(loss) && isfinite(dY[0]) && isfinite(dY[1]) && isfinite(dG[0]) && isfinite(dG[1]));
    }
}

static void without_a_target_loss_and_gradient_are_zero(void **state)
{
    (void)state;
    const double Y[] = {0.3, 1.7}, G[] = {0.2, -0.9};
    const int32_t label[] = {0, -1}, other[] = {1, 2};
    for (int bits = 0; bits < MEMBERS; bits++) {
        const eh_pairs o = member(bits);
        double dY[] = {7.7, 7.7}, dG[] = {7.7, 7.7};
        assert_true(loss_of(&o, 2, 2, 1, Y, label, G, other, dY, dG) == 0);
        assert_true(dY[0] == 0 && dY[1] == 0 && (o.self || (dG[0] == 0 && dG[1] == 0)));
    }
}

/* ---- large margins ---- */

enum { TARGETS = 2 };

/* Samples who[0..n) of the points Y (-, h) with labels and targets (-, each); -1: absent. */
static double hinge_of(const eh_hinge *o, int64_t n, int64_t h, const int *who, const double *Y, const int32_t *label,
                       const int (*targets)[TARGETS], double *gradient)
{
    double rows[256], spare[256];
    int32_t labels[128];
    eh_loss_value loss = {-7.7, 1};
    const int64_t each = o->targets;
    assert_true(n * (1 + each) * h <= 256 && n * (1 + each) <= 128);
    for (int64_t i = 0; i < n; i++) {
        memcpy(rows + i * h, Y + who[i] * h, (size_t)h * sizeof *rows);
        labels[i] = label[who[i]];
        for (int64_t t = 0; t < each; t++) {
            const int at = targets[who[i]][t];
            memcpy(rows + (n + i * each + t) * h, Y + (at < 0 ? who[i] : at) * h, (size_t)h * sizeof *rows);
            labels[n + i * each + t] = at < 0 ? -1 : label[at];
        }
    }
    eh_hinge_loss(o, ref, n, h, R(rows), (eh_label *)labels, (eh_loss *)&loss, R(spare));
    assert_true(loss.nonfinite == 0);
    if (!gradient) return loss.value;
    memset(gradient, 0, (size_t)(n * h) * sizeof *gradient); /* if the batch has all samples: who[i] = i */
    for (int64_t r = 0; r < n * (1 + each); r++) {
        const int64_t i = (r - n) / each, at = r < n ? r : targets[i][(r - n) % each];
        for (int64_t k = 0; k < h && at >= 0; k++) gradient[at * h + k] += spare[r * h + k];
        for (int64_t k = 0; k < h && at < 0; k++) assert_true(spare[r * h + k] == 0);
    }
    return loss.value;
}

static void large_margins_match_the_case_by_hand(void **state)
{
    (void)state;
    const eh_hinge o = {.targets = 1, .all = 3};
    const double Y[] = {0, 1, 1.5};
    const int32_t label[] = {0, 0, 1};
    const int who[] = {0, 1, 2}, targets[][TARGETS] = {{1}, {0}, {-1}};
    double d[3];
    assert_true(fabs(3 * hinge_of(&o, 3, 1, who, Y, label, targets, d) - 1.875) < 1e-12);
    /* by hand: two pulls of slope .5 on a difference of one, and one push of slope .5: d_10 -
     * d_12 */
    assert_true(fabs(3 * d[0] - -3) < 1e-12 && fabs(3 * d[1] - 3.5) < 1e-12 && fabs(3 * d[2] - -0.5) < 1e-12);
}

/* Irregular points of classes of 9, 5, 2 and 1, so some samples have fewer targets or none. */
static void irregular_classes(double *Y, int32_t *label, int (*targets)[TARGETS])
{
    double G[Z * DIMS];
    int32_t other[Z];
    irregular(Y, label, G, other);
    for (int i = 0; i < N; i++) label[i] = i < 9 ? 0 : i < 14 ? 1 : i < 16 ? 2 : 3;
    for (int i = 0; i < N; i++) {
        int count = 0;
        for (int s = 3; s < N + 3 && count < TARGETS; s++) {
            const int j = (i + s) % N;
            if (j != i && label[j] == label[i]) targets[i][count++] = j;
        }
        while (count < TARGETS) targets[i][count++] = -1;
    }
}

static double squared(const double *Y, int i, int j)
{
    double d = 0;
    for (int k = 0; k < DIMS; k++) d += pow(Y[i * DIMS + k] - Y[j * DIMS + k], 2);
    return d;
}

static void large_margins_match_their_triple_sum(void **state)
{
    (void)state;
    double Y[N * DIMS], sum = 0;
    int32_t label[N];
    int targets[N][TARGETS], who[N];
    irregular_classes(Y, label, targets);
    const eh_hinge o = {.targets = TARGETS, .all = N};
    for (int i = 0; i < N; i++) {
        who[i] = (5 * i + 3) % N; /* any order */
        for (int t = 0; t < TARGETS; t++) {
            if (targets[i][t] < 0) continue;
            const double near = squared(Y, i, targets[i][t]);
            sum += 0.5 * near;
            for (int j = 0; j < N; j++)
                if (label[j] != label[i]) sum += 0.5 * fmax(0, 1 + near - squared(Y, i, j));
        }
    }
    assert_true(fabs(hinge_of(&o, N, DIMS, who, Y, label, targets, NULL) - sum / N) < 1e-12 * sum);
}

static void large_margin_gradients_match_central_differences_and_sum_to_zero(void **state)
{
    (void)state;
    double Y[N * DIMS], gradient[N * DIMS], worst = 0, size = 0, all = 0;
    int32_t label[N];
    int targets[N][TARGETS], who[N];
    irregular_classes(Y, label, targets);
    for (int i = 0; i < N; i++) who[i] = i;
    const eh_hinge o = {.targets = TARGETS, .all = 3 * N};
    hinge_of(&o, N, DIMS, who, Y, label, targets, gradient);
    for (int v = 0; v < N * DIMS; v++) {
        const double kept = Y[v], step = 1e-6;
        Y[v] = kept + step;
        const double up = hinge_of(&o, N, DIMS, who, Y, label, targets, NULL);
        Y[v] = kept - step;
        const double down = hinge_of(&o, N, DIMS, who, Y, label, targets, NULL);
        Y[v] = kept;
        worst = fmax(worst, fabs(gradient[v] - (up - down) / (2 * step)));
        size = fmax(size, fabs(gradient[v]));
        all += gradient[v];
    }
    assert_true(worst < 1e-7 * size && size > 0 && fabs(all) < 1e-10 * size);
}

/* The mean over all batches of four equals the loss of all samples. */
static void mini_batches_give_the_large_margin_loss_in_expectation(void **state)
{
    (void)state;
    double Y[N * DIMS], sum = 0, batches = 0;
    int32_t label[N];
    int targets[N][TARGETS], who[N];
    irregular_classes(Y, label, targets);
    for (int i = 0; i < N; i++) who[i] = i;
    const eh_hinge o = {.targets = TARGETS, .all = N};
    const double whole = hinge_of(&o, N, DIMS, who, Y, label, targets, NULL);
    for (int a = 0; a < N; a++)
        for (int b = 0; b < a; b++)
            for (int c = 0; c < b; c++)
                for (int d = 0; d < c; d++, batches++)
                    sum += hinge_of(&o, 4, DIMS, (const int[]){a, b, c, d}, Y, label, targets, NULL);
    assert_true(fabs(sum / batches - whole) < 1e-12 * whole);
}

int main(void)
{
    ctx = enhope_context_create();
    if (enhope_context_set_device(ctx, "ref") || eh_compute_open(ctx, false, &ref)) return 1;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_sample_one_dimension_is_log_one_and_a_half),
        cmocka_unit_test(one_sample_in_the_plane_matches_the_case_by_hand),
        cmocka_unit_test(three_points_on_a_line_match_the_pairwise_cases),
        cmocka_unit_test(gaussian_nca_matches_its_masses),
        cmocka_unit_test(exemplars_in_input_space_match_the_compression_case),
        cmocka_unit_test(a_perfect_collapse_has_the_loss_of_its_leak),
        cmocka_unit_test(equal_points_have_the_log_of_exemplars_per_class_as_loss),
        cmocka_unit_test(gradients_match_central_differences),
        cmocka_unit_test(losses_match_their_definition_on_irregular_points),
        cmocka_unit_test(target_probs_match_their_divergence_and_differences),
        cmocka_unit_test(two_points_match_any_target_distance),
        cmocka_unit_test(losses_are_invariant_to_rotation_translation_and_order),
        cmocka_unit_test(doubling_all_samples_or_all_exemplars_changes_nothing),
        cmocka_unit_test(a_whole_weight_equals_copies_of_the_sample),
        cmocka_unit_test(a_common_factor_of_all_weights_changes_no_gradient),
        cmocka_unit_test(neutral_values_change_nothing),
        cmocka_unit_test(far_gaussian_points_neither_overflow_nor_underflow),
        cmocka_unit_test(without_a_target_loss_and_gradient_are_zero),
        cmocka_unit_test(large_margins_match_the_case_by_hand),
        cmocka_unit_test(large_margins_match_their_triple_sum),
        cmocka_unit_test(large_margin_gradients_match_central_differences_and_sum_to_zero),
        cmocka_unit_test(mini_batches_give_the_large_margin_loss_in_expectation),
    };
    const int failed = cmocka_run_group_tests_name("objective", tests, NULL, NULL);
    eh_compute_close(ref);
    enhope_context_free(ctx);
    return failed;
}
