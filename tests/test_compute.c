/* Compares vectors, Adam, products, nearest rows and votes of every backend with the reference. */
#include "backend_support.h"

static const int64_t SIZES[] = {0, 1, 7, 63, 64, 65, 1000, 20011};
enum { N_SIZES = sizeof SIZES / sizeof *SIZES };

static void bytes_come_back_as_they_were_sent(void **state)
{
    (void)state;
    int64_t rows[17];
    for (int i = 0; i < 17; i++) rows[i] = (int64_t)eh_random_u64(2, 30, (uint64_t)i);
    const twin t = sent(rows, 17, sizeof *rows);
    int64_t *back = fetched(cpu, eh_row_at(t.cpu, 3), 14, sizeof *back);
    assert_memory_equal(back, rows + 3, 14 * sizeof *rows);
    free(back);
    ON_EACH(c->op->row_range(c, 5, 17, T(t)));
    back = fetched(cpu, t.cpu, 17, sizeof *back);
    for (int i = 0; i < 17; i++) assert_int_equal(back[i], 5 + i);
    free(back);
    drop(t);
}

static void elementwise_operations_match_the_reference(void **state)
{
    (void)state;
    for (int s = 0; s < N_SIZES; s++) {
        const int64_t n = SIZES[s];
        for (int order = 1; order <= 4; order++) {
            const int64_t wide = n % 5 == 0 && n ? n / 5 : 1;
            twin u = make(n, 1, 1.3), out = make_packed(n / wide, wide, 2, 1);
            ON_EACH(c->op->power(c, n / wide, wide, order, T(u), T(out)));
            close_enough(out), same_bits(out);
            drop(u), drop(out);
        }
        twin x = make(n, 3, 1), y = make(n, 4, 2);
        ON_EACH(c->op->axpy(c, n, -1.7, T(x), T(y)));
        ON_EACH(c->op->multiply(c, n, T(x), T(y)));
        close_enough(y), same_bits(y);
        ON_EACH(c->op->scale(c, n, 0.37, T(y)));
        close_enough(y);
        twin o = as_packed(y, n ? n : 1);
        close_enough(o), same_bits(o);
        const double want = ref->op->dot(ref, n, x.ref, y.ref), got = cpu->op->dot(cpu, n, x.cpu, y.cpu);
        assert_true(fabs(want - got) <= 1e-5 * sqrt(1 + (double)n));
        assert_true(got == one->op->dot(one, n, x.one, y.one));
        ON_EACH(c->op->copy(c, n, T(x), T(y)));
        close_enough(y);
        if (n > 7) {
            ON_EACH(c->op->copy_rows(c, n / 7, 5, T(x), 6, T(y), 7));
            close_enough(y), same_bits(y);
        }
        ON_EACH(c->op->fill(c, n, -0.7, T(y)));
        close_enough(y);
        ON_EACH(c->op->fill(c, n, 0, T(y)));
        close_enough(y);
        drop(x), drop(y), drop(o);
    }
}

static void column_sums_match_the_reference(void **state)
{
    (void)state;
    static const int64_t shapes[][2] = {{0, 3}, {1, 1}, {7, 13}, {129, 67}, {2001, 5}};
    for (int s = 0; s < 5; s++) {
        const int64_t n = shapes[s][0], m = shapes[s][1];
        twin a = make(n * m, 6, 2), sums = make(m, 8, 1);
        ON_EACH(c->op->column_sums(c, n, m, T(a), 0.5, T(sums)));
        close_enough(sums), same_bits(sums);
        ON_EACH(c->op->column_sums(c, n, m, T(a), 0, T(sums)));
        close_enough(sums), same_bits(sums);
        drop(a), drop(sums);
    }
}

/* ---- adam ---- */

static void averages_match_the_reference(void **state)
{
    (void)state;
    for (int s = 0; s < N_SIZES; s++) {
        twin x = make(SIZES[s], 3, 1), y = make(SIZES[s], 4, 2);
        twin loss = sent(&(eh_loss_value){.value = 0.25}, 1, sizeof(eh_loss_value));
        twin other = sent(&(eh_loss_value){.value = 1.5, .nonfinite = s % 2}, 1, sizeof(eh_loss_value));
        ON_EACH(c->op->average(c, SIZES[s], T(x), T(other), T(y), T(loss)));
        check_close(y, EXACT);
        ON_EACH(assert_true(value_of(c, T(loss)).value == 0.875 && value_of(c, T(loss)).nonfinite == s % 2));
        drop(x), drop(y), drop(loss), drop(other);
    }
}

static void adam_steps_match_the_reference(void **state)
{
    (void)state;
    for (int s = 0; s < N_SIZES; s++) {
        const int64_t n = SIZES[s];
        twin g = make(n, 9, 0.1), m1 = make(n, 10, 0), m2 = make(n, 11, 0), x = make(n, 12, 1);
        twin loss = sent(&(eh_loss_value){.value = 0.37}, 1, sizeof(eh_loss_value));
        for (int step = 1; step <= 5; step++)
            ON_EACH(c->op->adam(c, n, 0.01, 0.9, 0.99, 1e-8, step, T(g), T(loss), T(m1), T(m2), T(x)));
        close_enough(x), close_enough(m1), close_enough(m2), same_bits(x);
        assert_true(value_of(cpu, loss.cpu).value == 0.37 && value_of(cpu, loss.cpu).nonfinite == 0);
        drop(g), drop(m1), drop(m2), drop(x), drop(loss);
    }
}

static void adam_skips_nonfinite_gradients(void **state)
{
    (void)state;
    enum { n = 20011 };
    static const float bad[] = {NAN, INFINITY, -INFINITY};
    static float host[n], before[n];
    for (int b = 0; b < 3; b++) {
        for (int i = 0; i < n; i++)
            host[i] = i % 997 == 5 ? bad[b] : (float)(0.1 * eh_random_normal(2, 9, (uint64_t)i));
        twin g = from_host(host, n), m1 = make(n, 10, 0.1), m2 = make(n, 11, 0), x = make(n, 12, 1);
        twin loss = sent(&(eh_loss_value){.value = 0.37}, 1, sizeof(eh_loss_value));
        cpu->op->read(cpu, before, x.cpu, n);
        ON_EACH(c->op->adam(c, n, 0.01, 0.9, 0.99, 1e-8, 2, T(g), T(loss), T(m1), T(m2), T(x)));
        check_close(x, EXACT), check_close(m1, EXACT), check_close(m2, EXACT);
        ON_EACH(assert_true(value_of(c, T(loss)).value == 0.37 && value_of(c, T(loss)).nonfinite != 0));
        float *after = on_host(cpu, x.cpu, n, false);
        for (int i = 0; i < n; i++) assert_int_equal(after[i] == before[i], i % 997 == 5);
        free(after);
        /* no step at all if the loss is not finite */
        for (int v = 0; v < 3; v++) {
            cpu->op->read(cpu, before, x.cpu, n);
            ON_EACH(c->op->send(c, T(loss), &(eh_loss_value){.value = (double)bad[v]}, sizeof(eh_loss_value)));
            ON_EACH(c->op->adam(c, n, 0.01, 0.9, 0.99, 1e-8, 3, T(g), T(loss), T(m1), T(m2), T(x)));
            after = on_host(cpu, x.cpu, n, false);
            assert_memory_equal(after, before, sizeof before);
            free(after);
        }
        check_close(x, EXACT), check_close(m1, EXACT), check_close(m2, EXACT);
        drop(g), drop(m1), drop(m2), drop(x), drop(loss);
    }
}

/* ---- products ---- */

static const int64_t SHAPES[][3] = {{1, 1, 1}, {7, 13, 5}, {33, 2, 129}, {2, 70, 64}, {65, 129, 17}, {300, 520, 90}};
enum { N_SHAPES = sizeof SHAPES / sizeof *SHAPES };

static void gemm_matches_the_reference_for_every_transpose_and_stride(void **state)
{
    (void)state;
    for (int s = 0; s < N_SHAPES; s++)
        for (int flags = 0; flags < 4; flags++) {
            const bool ta = flags & 1, tb = flags & 2;
            const int64_t M = SHAPES[s][0], N = SHAPES[s][1], K = SHAPES[s][2], pad = 3;
            const int64_t lda = (ta ? M : K) + pad, ldb = (tb ? K : N) + pad, ldc = N + pad;
            twin A = make((ta ? K : M) * lda, 13, 1), B = make((tb ? N : K) * ldb, 14, 1), C = make(M * ldc, 15, 1);
            ON_EACH(c->op->gemm(c, ta, tb, M, N, K, 1.3, T(A), lda, T(B), ldb, 0.6, T(C), ldc));
            close_enough(C), same_bits(C);
            ON_EACH(c->op->gemm(c, ta, tb, M, N, K, -0.4, T(A), lda, T(B), ldb, 0, T(C), ldc));
            close_enough(C);
            drop(A), drop(B), drop(C);
        }
}

/* Adding a product to C gives the same bits as computing it alone and adding it. */
static void adding_a_product_keeps_its_bits(void **state)
{
    (void)state;
    static const int64_t shapes[][3] = {{1, 1, 1}, {7, 13, 5}, {785, 40, 250}, {300, 520, 356}, {30, 70, 1000}};
    for (int s = 0; s < 5; s++)
        for (int ta = 0; ta < 2; ta++) {
            const int64_t M = shapes[s][0], N = shapes[s][1], K = shapes[s][2], lda = ta ? M : K;
            twin A = make_packed(ta ? K : M, lda, 13, 1), B = make_packed(K, N, 14, 1);
            twin C = make(M * N, 15, 1), sum = make(M * N, 15, 1), alone = make(M * N, 16, 1);
            eh_product p = {.ta = ta, .M = M, .N = N, .K = K, .lda = lda, .ldb = N, .ldc = N};
            for (int which = 0; which < 3; which++) {
                eh_compute *c = which == 0 ? cpu : which == 1 ? ref : one;
                p.A = T(A), p.B = T(B), p.C = T(C), p.add = true;
                c->op->product(c, &p);
                p.C = T(alone), p.add = false;
                c->op->product(c, &p);
                c->op->axpy(c, M * N, 1, T(alone), T(sum));
                assert_int_equal(c->op->sync(c, ctx), ENHOPE_OK);
            }
            check_close(C, tolerance), same_bits(C);
            if (cpu->op->host) assert_memory_equal(C.cpu, sum.cpu, (size_t)(M * N) * cpu->op->real_size);
            drop(A), drop(B), drop(C), drop(sum), drop(alone);
        }
}

enum { C_ONLY = 1, P_ONLY = 2, C_AND_P = 3 };

/* One product into C, P or both, with rows `pad` longer than needed. The padding must not
 * change. */
static void check_product(int64_t M, int64_t N, int64_t K, int64_t pad, bool ta, bool tb, eh_epilogue epilogue,
                          int order, int outputs, double scale)
{
    const int64_t lda = (ta ? M : K) + pad, ldb = (tb ? K : N) + pad, ldc = N + pad;
    twin A = make_packed(ta ? K : M, lda, 13, scale), B = make_packed(tb ? N : K, ldb, 14, 1);
    twin C = make(M * ldc, 15, 1), P = make_packed(M, ldc, 16, 1);
    twin with = make(epilogue == EH_EPILOGUE_SIGMOID || epilogue == EH_EPILOGUE_RELU ? N : M * ldc, 17, 0.8);
    const eh_product p = {.ta = ta,
                          .tb = tb,
                          .M = M,
                          .N = N,
                          .K = K,
                          .lda = lda,
                          .ldb = ldb,
                          .epilogue = epilogue,
                          .order = order,
                          .ldc = ldc};
    for (int which = 0; which < 3; which++) {
        eh_compute *c = which == 0 ? cpu : which == 1 ? ref : one;
        eh_product mine = p;
        mine.A = T(A), mine.B = T(B), mine.with = T(with);
        mine.C = outputs & C_ONLY ? T(C) : NULL;
        mine.P = outputs & P_ONLY ? T(P) : NULL;
        c->op->product(c, &mine);
    }
    /* a power multiplies the relative error, a sigmoid has the absolute error */
    const double part = tolerance * (epilogue == EH_EPILOGUE_POWER ? order : 1) * (scale > 1 ? scale : 1);
    check_close(C, part), check_close(P, part);
    drop(A), drop(B), drop(C), drop(P), drop(with);
}

static void products_match_the_reference_for_every_epilogue(void **state)
{
    (void)state;
    static const struct {
        eh_epilogue epilogue;
        double scale;
        int order;
    } epilogues[] = {{EH_EPILOGUE_NONE, 1, 0},         {EH_EPILOGUE_POWER, 1, 1},      {EH_EPILOGUE_POWER, 1, 2},
                     {EH_EPILOGUE_POWER, 1, 3},        {EH_EPILOGUE_SIGMOID, 0.3, 0},  {EH_EPILOGUE_SIGMOID, 40, 0},
                     {EH_EPILOGUE_POWER_GRAD, 1, 1},   {EH_EPILOGUE_POWER_GRAD, 1, 2}, {EH_EPILOGUE_POWER_GRAD, 1, 4},
                     {EH_EPILOGUE_SIGMOID_GRAD, 1, 0}, {EH_EPILOGUE_RELU, 1, 0},       {EH_EPILOGUE_RELU_GRAD, 1, 0}};
    for (int s = 0; s < N_SHAPES; s++)
        for (int flags = 0; flags < 4; flags++)
            for (size_t f = 0; f < sizeof epilogues / sizeof *epilogues; f++)
                for (int outputs = C_ONLY; outputs <= C_AND_P; outputs++) {
                    /* if sigmoids saturate, rounded inputs may change the result */
                    if (epilogues[f].scale > 1 && tolerance > EXACT) continue;
                    check_product(SHAPES[s][0], SHAPES[s][1], SHAPES[s][2], 3, flags & 1, flags & 2,
                                  epilogues[f].epilogue, epilogues[f].order, outputs, epilogues[f].scale);
                }
}

static void power_may_overwrite_the_product(void **state)
{
    (void)state;
    if (!cpu->packed_is_real) return;
    for (int s = 0; s < N_SHAPES; s++)
        for (int order = 1; order <= 3; order++) {
            const int64_t M = SHAPES[s][0], N = SHAPES[s][1], K = SHAPES[s][2];
            twin A = make_packed(M, K, 13, 1), B = make_packed(K, N, 14, 1), C = make(M * N, 15, 1);
            twin S = make(M * N, 16, 1);
            const eh_product p = {
                .M = M, .N = N, .K = K, .lda = K, .ldb = N, .epilogue = EH_EPILOGUE_POWER, .order = order, .ldc = N};
            for (int which = 0; which < 3; which++) {
                eh_compute *c = which == 0 ? cpu : which == 1 ? ref : one;
                eh_product mine = p;
                mine.A = T(A), mine.B = T(B), mine.C = T(C), mine.P = T(C);
                c->op->product(c, &mine);
                mine.C = NULL, mine.P = T(S);
                c->op->product(c, &mine);
            }
            check_close(C, tolerance * order), check_close(S, tolerance * order);
            drop(A), drop(B), drop(C), drop(S);
        }
}

static void output_layer_gradients_match_the_reference(void **state)
{
    (void)state;
    static const int64_t shapes[][3] = {{1, 1, 1}, {7, 13, 2}, {33, 5, 3}, {1019, 400, 2}, {300, 77, 30}};
    for (int s = 0; s < 2 * 5; s++) {
        const int64_t n = shapes[s / 2][0], m = shapes[s / 2][1], h = shapes[s / 2][2];
        const eh_epilogue slope = s % 2 ? EH_EPILOGUE_RELU_GRAD : EH_EPILOGUE_SIGMOID_GRAD;
        twin dY = make(n * h, 23, 0.1), V = make(h * m, 24, 1), T_ = make(n * m, 25, 0.4);
        twin dA = make_packed(n, m, 26, 1), db = make(m, 27, 1), dV = make(h * m, 28, 1);
        ON_EACH(c->op->output_grad(c, slope, n, m, h, T(dY), T(V), T(T_), s % 3 == 0, T(dA), T(db), T(dV)));
        check_close(dA, tolerance), check_close(db, tolerance), check_close(dV, tolerance);
        drop(dY), drop(V), drop(T_), drop(dA), drop(db), drop(dV);
    }
}

/* ---- nearest ---- */

static void nearest_rows_match_the_reference_in_few_and_many_dimensions(void **state)
{
    (void)state;
    static const int64_t shapes[][4] = {
        {1, 1, 1, 1}, {7, 20, 2, 5}, {3, 700, 2, 5}, {600, 1100, 23, 7}, {5, 40, 16, 40}};
    for (int s = 0; s < 5; s++) {
        const int64_t q = shapes[s][0], r = shapes[s][1], dims = shapes[s][2], k = shapes[s][3];
        twin Q = make(q * dims, 21, 1), R = make(r * dims, 22, 1), distance = make(q * k, 23, 1);
        twin index = allocate(q * k, sizeof(int64_t), sizeof(int64_t));
        ON_EACH(c->op->nearest(c, T(Q), q, T(R), r, dims, k, T(index), T(distance)));
        int64_t *mine = fetched(cpu, index.cpu, q * k, sizeof *mine);
        int64_t *again = fetched(one, index.one, q * k, sizeof *again);
        const int64_t *want = index.ref;
        float *near = on_host(cpu, distance.cpu, q * k, false);
        for (int64_t i = 0; i < q * k; i++) {
            const double wanted = ((double *)distance.ref)[i];
            assert_true(fabs(near[i] - wanted) <= 1e-5 * (1 + (double)dims));
            assert_true(i % k == 0 || near[i] >= near[i - 1]);
            assert_int_equal(mine[i], again[i]);
            /* another order is allowed only for distances that are equal in float */
            if (mine[i] != want[i]) {
                double d = 0;
                for (int64_t t = 0; t < dims; t++) {
                    const double e = ((double *)Q.ref)[i / k * dims + t] - ((double *)R.ref)[mine[i] * dims + t];
                    d += e * e;
                }
                assert_true(fabs(d - wanted) <= 1e-5 * (1 + (double)dims));
            }
        }
        free(mine), free(again), free(near);
        drop(Q), drop(R), drop(distance), drop(index);
    }
}

/* A norm expansion around the origin would lose these distances to rounding. */
static void nearest_rows_are_found_far_from_the_origin(void **state)
{
    (void)state;
    enum { q = 70, r = 1100, dims = 24, k = 3 };
    float *Q_host = malloc(sizeof *Q_host * q * dims), *R_host = malloc(sizeof *R_host * r * dims);
    for (int i = 0; i < q * dims; i++) Q_host[i] = (float)(1e4 + eh_random_normal(9, 1, (uint64_t)i));
    for (int i = 0; i < r * dims; i++) R_host[i] = (float)(1e4 + eh_random_normal(9, 2, (uint64_t)i));
    twin Q = from_host(Q_host, q * dims), R = from_host(R_host, r * dims), distance = make(q * k, 23, 1);
    twin index = allocate(q * k, sizeof(int64_t), sizeof(int64_t));
    ON_EACH(c->op->nearest(c, T(Q), q, T(R), r, dims, k, T(index), T(distance)));
    int64_t *got = fetched(cpu, index.cpu, q * k, sizeof *got), *want = index.ref;
    int other = 0;
    for (int i = 0; i < q * k; i++) other += got[i] != want[i];
    assert_true(other <= q * k / 50); /* allows near ties */
    free(Q_host), free(R_host), free(got);
    drop(Q), drop(R), drop(distance), drop(index);
}

/* bfloat16 rounds these numbers in the same direction as far as possible: an approximate
 * distance must not be taken for an exact one. */
static void the_nearest_row_is_found_under_worst_rounding(void **state)
{
    (void)state;
    enum { r = 300, dims = 512, twin_row = 200 };
    float *q = malloc(sizeof *q * dims), *rows = calloc((size_t)r * dims, sizeof *rows);
    for (int j = 0; j < dims; j++) q[j] = 1.0038f;
    for (int i = 1; i < r; i++)
        for (int j = 0; j < dims; j++) rows[i * dims + j] = i == 1 || i == twin_row ? q[j] : 10 + (float)i;
    rows[dims] += 1;
    const twin Q = from_host(q, dims), R = from_host(rows, (int64_t)r * dims), d = make(1, 1, 1);
    const twin index = allocate(1, sizeof(int64_t), sizeof(int64_t));
    ON_EACH(c->op->nearest(c, T(Q), 1, T(R), r, dims, 1, T(index), T(d)));
    int64_t *found = fetched(cpu, index.cpu, 1, sizeof *found);
    assert_int_equal(*found, twin_row);
    free(found), free(q), free(rows);
    drop(Q), drop(R), drop(index), drop(d);
}

static void equal_distances_are_ordered_by_index(void **state)
{
    (void)state;
    for (int dims = 1; dims <= 20; dims += 19) {
        float same[40 * 20] = {0}, far[20] = {0};
        far[0] = 2;
        twin R = from_host(same, 40 * dims), Q = from_host(far, dims), distance = make(5, 23, 1);
        twin index = allocate(5, sizeof(int64_t), sizeof(int64_t));
        ON_EACH(c->op->nearest(c, T(Q), 1, T(R), 40, dims, 5, T(index), T(distance)));
        for (int which = 0; which < 3; which++) {
            eh_compute *c = which == 0 ? cpu : which == 1 ? ref : one;
            int64_t *found = fetched(c, T(index), 5, sizeof *found);
            float *near = on_host(c, T(distance), 5, false);
            for (int i = 0; i < 5; i++) assert_true(found[i] == i && near[i] == 4);
            free(found), free(near);
        }
        drop(R), drop(Q), drop(distance), drop(index);
    }
}

/* ---- votes ---- */

static void the_majority_wins_and_ties_go_to_the_nearest(void **state)
{
    (void)state;
    static const int32_t label[] = {2, 0, 1, 0, 2, 1, 3};
    static const struct {
        int64_t index[6], k;
        int32_t winner;
    } cases[] = {
        {{6}, 1, 3},
        {{2, 1, 3}, 3, 0},
        {{2, 1}, 2, 1},
        {{0, 1, 3, 4}, 4, 2},
        {{6, 1, 0, 4, 3}, 5, 0},
        {{6, 0, 1, 3, 4}, 5, 2},
        {{5, 0, 2, 4, 1, 3}, 6, 1},
        {{6, 4, 1, 2}, 4, 3},
        {{6, 4, 1, 3, 5, 2}, 6, 0},
    };
    twin labels = sent(label, 7, sizeof *label);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        twin index = sent(cases[i].index, cases[i].k, sizeof(int64_t)), won = allocate(1, sizeof *label, sizeof *label);
        for (int which = 0; which < 3; which++) {
            eh_compute *c = which == 0 ? cpu : which == 1 ? ref : one;
            c->op->vote(c, T(index), 1, cases[i].k, T(labels), T(won));
            int32_t *winner = fetched(c, T(won), 1, sizeof *winner);
            assert_int_equal(*winner, cases[i].winner);
            free(winner);
        }
        drop(index), drop(won);
    }
    drop(labels);
}

/* The reference: counts the votes of each class in an array. */
static int32_t plain_vote(const int64_t *index, int64_t k, const int32_t *label)
{
    int32_t votes[5] = {0}, max_votes = 0;
    for (int64_t j = 0; j < k; j++)
        if (++votes[label[index[j]]] > max_votes) max_votes = votes[label[index[j]]];
    int64_t first = 0;
    while (votes[label[index[first]]] < max_votes) first++;
    return label[index[first]];
}

static void many_votes_match_counts_by_class(void **state)
{
    (void)state;
    static const int64_t shapes[][2] = {{1, 1}, {7, 13}, {3001, 5}, {20, 257}, {0, 3}};
    enum { r = 301 };
    int32_t label[r];
    for (int j = 0; j < r; j++) label[j] = (int32_t)(eh_random_u64(2, 31, (uint64_t)j) % 5);
    twin labels = sent(label, r, sizeof *label);
    for (int s = 0; s < 5; s++) {
        const int64_t q = shapes[s][0], k = shapes[s][1];
        int64_t *index = malloc((size_t)(q * k + 1) * sizeof *index);
        for (int64_t i = 0; i < q * k; i++) index[i] = (int64_t)(eh_random_u64(2, 32, (uint64_t)i) % r);
        twin rows = sent(index, q * k, sizeof *index), won = allocate(q, sizeof *label, sizeof *label);
        ON_EACH(c->op->vote(c, T(rows), q, k, T(labels), T(won)));
        int32_t *winner = fetched(cpu, won.cpu, q, sizeof *winner);
        for (int64_t i = 0; i < q; i++) assert_int_equal(winner[i], plain_vote(index + i * k, k, label));
        assert_memory_equal(winner, won.ref, (size_t)q * sizeof *winner);
        free(winner), free(index);
        drop(rows), drop(won);
    }
    drop(labels);
}

/* ---- memory ---- */

static void failed_allocations_return_a_message(void **state)
{
    (void)state;
    static const int64_t counts[] = {-1, INT64_C(1) << 61, INT64_C(1) << 50};
    const char *start =
        cpu->op->free_memory ? "out of memory on the CUDA device: a test needs " : "out of memory: a test needs ";
    for (int i = 0; i < 3; i++) {
        eh_real *v = NULL;
        assert_int_equal(eh_compute_new(cpu, ctx, "a test", counts[i], 16, &v), ENHOPE_ERROR_MEMORY);
        assert_null(v);
        assert_memory_equal(enhope_error(ctx), start, strlen(start));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bytes_come_back_as_they_were_sent),
        cmocka_unit_test(elementwise_operations_match_the_reference),
        cmocka_unit_test(column_sums_match_the_reference),
        cmocka_unit_test(averages_match_the_reference),
        cmocka_unit_test(adam_steps_match_the_reference),
        cmocka_unit_test(adam_skips_nonfinite_gradients),
        cmocka_unit_test(gemm_matches_the_reference_for_every_transpose_and_stride),
        cmocka_unit_test(adding_a_product_keeps_its_bits),
        cmocka_unit_test(products_match_the_reference_for_every_epilogue),
        cmocka_unit_test(power_may_overwrite_the_product),
        cmocka_unit_test(output_layer_gradients_match_the_reference),
        cmocka_unit_test(nearest_rows_match_the_reference_in_few_and_many_dimensions),
        cmocka_unit_test(nearest_rows_are_found_far_from_the_origin),
        cmocka_unit_test(the_nearest_row_is_found_under_worst_rounding),
        cmocka_unit_test(equal_distances_are_ordered_by_index),
        cmocka_unit_test(the_majority_wins_and_ties_go_to_the_nearest),
        cmocka_unit_test(many_votes_match_counts_by_class),
        cmocka_unit_test(failed_allocations_return_a_message),
    };
    return run_on_each(tests, sizeof tests / sizeof *tests);
}
