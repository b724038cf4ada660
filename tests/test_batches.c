/* Samples and batches: the split, each sample once per epoch, batches in any order, chunks, and
 * target neighbors. */
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <cmocka.h>

#include "ref_support.h"
#include "train/batches.h"

enum { N = 61, H = 2, C = 3, COUNT = 7, CHUNKS = 3 };

static float X[N * H];
static int32_t LABEL[N];
static char *NAME[C] = {"a", "b", "c"};
static enhope_dataset DATA;

static eh_samples split(double valid, uint64_t seed)
{
    eh_samples s;
    assert_int_equal(eh_samples_create(ctx, &DATA, &(eh_samples_settings){.seed = seed, .valid = valid}, &s),
                     ENHOPE_OK);
    return s;
}

static eh_batches batches(const eh_samples *s, int64_t past, int64_t targets)
{
    eh_batches b = {.ctx = ctx,
                    .cp = ref,
                    .samples = s,
                    .seed = 11,
                    .past = past,
                    .epochs = 5,
                    .count = COUNT,
                    .targets = targets,
                    .candidates = targets,
                    .drawn = s->n,
                    .chunks = eh_chunks_of(CHUNKS, 0, 1)};
    assert_int_equal(eh_batches_create(&b), ENHOPE_OK);
    return b;
}

static eh_batch get(eh_batches *b, int64_t epoch, int64_t number)
{
    eh_batch batch;
    assert_int_equal(eh_batches_get(b, epoch, number, &batch), ENHOPE_OK);
    return batch;
}

static void the_validation_part_takes_its_share_of_every_class(void **state)
{
    (void)state;
    eh_samples s = split(0.2, 3), other = split(0.2, 4);
    int seen[N] = {0};
    int64_t classes[C] = {0}, labelled = 0;
    for (int i = 0; i < N; i++) labelled += LABEL[i] >= 0;
    assert_int_equal(s.valid_n, (int64_t)(0.2 * (double)labelled));
    assert_int_equal(s.n + s.valid_n, labelled);
    assert_int_equal(s.present, C);
    for (int64_t i = 0; i < labelled; i++) {
        assert_int_equal(seen[s.rows[i]]++, 0);
        assert_true(LABEL[s.rows[i]] >= 0 && eh_samples_class(&s, i) == LABEL[s.rows[i]]);
        if (i < s.n) classes[LABEL[s.rows[i]]]++;
    }
    for (int k = 0; k < C; k++) assert_true(classes[k] == s.class_n[k] && classes[k] == s.class_resident[k]);
    assert_memory_not_equal(s.rows, other.rows, (size_t)labelled * sizeof *s.rows);
    eh_samples_free(ref, &s), eh_samples_free(ref, &other);
}

static void a_class_keeps_a_training_sample(void **state)
{
    (void)state;
    eh_samples s = split(0.95, 3);
    for (int k = 0; k < C; k++) assert_in_range(s.class_n[k], 1, N);
    eh_samples_free(ref, &s);
}

static void an_epoch_has_every_training_sample_once(void **state)
{
    (void)state;
    eh_samples s = split(0.2, 3);
    eh_batches b = batches(&s, 0, 0);
    int64_t order[2][N];
    for (int epoch = 0; epoch < 2; epoch++) {
        int seen[N] = {0};
        int64_t count = 0;
        for (int64_t i = s.n; i < s.n + s.valid_n; i++) seen[s.rows[i]] = 1; /* not in batches */
        for (int number = 0; number < COUNT; number++) {
            const eh_batch batch = get(&b, epoch, number);
            assert_in_range(batch.n, s.n / COUNT, s.n / COUNT + 1);
            assert_int_equal(batch.pass, epoch);
            for (int64_t i = 0; i < batch.n; i++) {
                const int64_t row = ((const int64_t *)batch.rows)[i];
                assert_int_equal(seen[row]++, 0);
                assert_int_equal(((const int32_t *)batch.label)[i], LABEL[row]);
                order[epoch][count++] = row;
            }
        }
        assert_int_equal(count, s.n);
    }
    assert_memory_not_equal(order[0], order[1], (size_t)s.n * sizeof **order);
    eh_batches_free(&b), eh_samples_free(ref, &s);
}

static void a_batch_does_not_depend_on_earlier_batches(void **state)
{
    (void)state;
    eh_samples s = split(0.1, 5);
    eh_batches b = batches(&s, 0, 0), later = batches(&s, 2, 0);
    int64_t rows[N];
    for (int trial = 0; trial < 12; trial++) {
        const int64_t epoch = trial * 5 % 3, number = trial * 11 % COUNT;
        const eh_batch first = get(&b, epoch, number);
        memcpy(rows, first.rows, (size_t)first.n * sizeof *rows);
        if (trial % 2) eh_batches_prepare(&b, (epoch + 1) % 3);
        get(&b, (epoch + 1) % 3, 0), get(&b, (epoch + trial) % 3, COUNT - 1);
        const eh_batch again = get(&b, epoch, number);
        assert_true(again.n == first.n && again.pass == first.pass);
        assert_memory_equal(again.rows, rows, (size_t)first.n * sizeof *rows);
        if (epoch < 2) continue;
        /* epoch 2 is epoch 0 of training that continues two epochs */
        const eh_batch continued = get(&later, epoch - 2, number);
        assert_int_equal(continued.pass, 2);
        assert_memory_equal(continued.rows, rows, (size_t)first.n * sizeof *rows);
    }
    eh_batches_free(&b), eh_batches_free(&later), eh_samples_free(ref, &s);
}

static void chunks_cover_a_batch(void **state)
{
    (void)state;
    eh_samples s = split(0, 3);
    eh_batches b = batches(&s, 0, 0);
    assert_int_equal(s.valid_n, 0);
    for (int number = 0; number < COUNT; number++) {
        const eh_batch batch = get(&b, 0, number);
        assert_int_equal(batch.chunk_start[0], 0);
        for (int p = 0; p < CHUNKS; p++)
            assert_in_range(batch.chunk_start[p + 1] - batch.chunk_start[p], batch.n / CHUNKS, batch.n / CHUNKS + 1);
        assert_int_equal(batch.chunk_start[CHUNKS], batch.n);
    }
    eh_batches_free(&b), eh_samples_free(ref, &s);
}

static void ranks_take_successive_chunks(void **state)
{
    (void)state;
    for (int ranks = 1; ranks < 9; ranks++) {
        int64_t next = 0;
        for (int rank = 0; rank < ranks; rank++) {
            const eh_chunks own = eh_chunks_of(5, rank, ranks);
            assert_int_equal(own.own_first, next);
            assert_true(own.count == 5 && own.own_last >= own.own_first);
            next = own.own_last;
        }
        assert_int_equal(next, 5);
    }
}

/* Sample i has the targets i + 1 and i + 5; the last five samples have none. */
static void targets_follow_the_samples_of_their_batch(void **state)
{
    (void)state;
    enum { EACH = 2 };
    eh_samples s = split(0.2, 3);
    eh_batches b = batches(&s, 0, EACH);
    assert_int_equal(eh_new(ctx, "targets", s.n * EACH, sizeof *b.target, (void **)&b.target), ENHOPE_OK);
    for (int64_t i = 0; i < s.n; i++) {
        b.target[i * EACH] = i + 5 < s.n ? i + 1 : -1 - i;
        b.target[i * EACH + 1] = i + 5 < s.n ? i + 5 : -1 - i;
    }
    int64_t position[N], missing = 0, all = 0;
    for (int64_t i = 0; i < s.n; i++) position[s.rows[i]] = i;
    for (int number = 0; number < COUNT; number++) {
        const eh_batch batch = get(&b, 1, number);
        const int64_t *rows = (const int64_t *)batch.rows, n = batch.n / (1 + EACH);
        const int32_t *label = (const int32_t *)batch.label;
        assert_int_equal(batch.n, n * (1 + EACH));
        for (int64_t i = 0; i < n * EACH; i++) {
            const int64_t at = position[rows[i / EACH]], target = b.target[at * EACH + i % EACH];
            assert_int_equal(rows[n + i], s.rows[target < 0 ? at : target]);
            assert_int_equal(label[n + i], target < 0 ? -1 : LABEL[s.rows[target]]);
            missing += target < 0, all++;
        }
    }
    assert_int_equal(missing, 5 * EACH);
    assert_int_equal(all, s.n * EACH);
    eh_batches_free(&b), eh_samples_free(ref, &s);
}

/* Of the neighbors i + 1 to i + 4 of sample i, two follow it in each epoch. All three have the
 * number of the sample in its batch as class. An epoch has all but five samples. */
static void neighbors_drawn_in_each_epoch_have_the_class_of_their_sample(void **state)
{
    (void)state;
    enum { CANDIDATES = 4, EACH = 2 };
    eh_samples s = split(0.2, 3);
    eh_batches b = batches(&s, 0, EACH), later = batches(&s, 2, EACH);
    b.candidates = later.candidates = CANDIDATES;
    b.drawn = later.drawn = s.n - 5;
    b.own_class = later.own_class = true;
    int64_t position[N], drawn[3][N] = {{0}}, seen[CANDIDATES] = {0}, all = 0;
    eh_batches *const both[] = {&b, &later};
    for (int k = 0; k < 2; k++) {
        assert_int_equal(eh_new(ctx, "targets", s.n * CANDIDATES, sizeof *b.target, (void **)&both[k]->target),
                         ENHOPE_OK);
        for (int64_t i = 0; i < s.n * CANDIDATES; i++)
            both[k]->target[i] = (int32_t)((i / CANDIDATES + 1 + i % CANDIDATES) % s.n);
    }
    for (int64_t i = 0; i < s.n; i++) position[s.rows[i]] = i;
    for (int epoch = 0; epoch < 3; epoch++)
        for (int number = 0; number < COUNT; number++) {
            const eh_batch batch = get(&b, epoch, number);
            const int64_t *rows = (const int64_t *)batch.rows, n = batch.n / (1 + EACH);
            const int32_t *label = (const int32_t *)batch.label;
            for (int64_t i = 0; i < n; i++) {
                const int64_t at = position[rows[i]];
                int64_t draw[EACH];
                assert_int_equal(label[i], i);
                for (int k = 0; k < EACH; k++) {
                    draw[k] = (position[rows[n + i * EACH + k]] - at + s.n) % s.n;
                    assert_in_range(draw[k], 1, CANDIDATES);
                    assert_int_equal(label[n + i * EACH + k], i);
                    seen[draw[k] - 1]++;
                }
                assert_true(draw[0] < draw[1]);
                assert_int_equal(drawn[epoch][at], 0);
                drawn[epoch][at] = draw[0] * 10 + draw[1];
                all++;
            }
        }
    assert_int_equal(all, 3 * (s.n - 5));
    for (int k = 0; k < CANDIDATES; k++) assert_true(seen[k] > s.n);
    assert_memory_not_equal(drawn[0], drawn[1], sizeof *drawn);
    /* epoch 2 is epoch 0 of training that continues two epochs */
    const eh_batch last = get(&b, 2, 1), continued = get(&later, 0, 1);
    assert_memory_equal(last.rows, continued.rows, (size_t)last.n * sizeof(int64_t));
    eh_batches_free(&b), eh_batches_free(&later), eh_samples_free(ref, &s);
}

static int setup(void **state)
{
    for (int i = 0; i < N; i++) {
        LABEL[i] = i % 10 == 3 ? -1 : i % 7 % C;
        X[i * H] = (float)i;
    }
    DATA = (enhope_dataset){
        .x = {.kind = ENHOPE_F32, .n = N, .H = H, .f32 = X}, .label = LABEL, .c = C, .class_name = NAME};
    return open_ref(state);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_validation_part_takes_its_share_of_every_class),
        cmocka_unit_test(a_class_keeps_a_training_sample),
        cmocka_unit_test(an_epoch_has_every_training_sample_once),
        cmocka_unit_test(a_batch_does_not_depend_on_earlier_batches),
        cmocka_unit_test(chunks_cover_a_batch),
        cmocka_unit_test(ranks_take_successive_chunks),
        cmocka_unit_test(targets_follow_the_samples_of_their_batch),
        cmocka_unit_test(neighbors_drawn_in_each_epoch_have_the_class_of_their_sample),
    };
    return cmocka_run_group_tests(tests, setup, close_ref);
}
