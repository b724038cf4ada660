/* Splits into a train and a test part.
 *
 * "N@SEED": the samples, in the order of the file, are shuffled; the first N are the train part,
 * the others the test part. The shuffle is Fisher-Yates from the end, driven by SplitMix64, so that
 * other programs can reproduce it.
 *
 * "0.8@SEED": the same shuffle, but every class is divided in this proportion: the train part has
 * the first samples of each class. Unlabeled samples are divided like a class. */
#include <string.h>

#include "data/data.h"

static uint64_t splitmix64(uint64_t *state)
{
    uint64_t z = *state += 0x9E3779B97F4A7C15u;
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9u;
    z = (z ^ z >> 27) * 0x94D049BB133111EBu;
    return z ^ z >> 31;
}

/* Parses digits that are followed by the character `end`. */
static bool parse_digits(const char **text, char end, uint64_t *out)
{
    const char *at = *text;
    uint64_t value = 0;
    if (*at < '0' || *at > '9') return false;
    for (; *at >= '0' && *at <= '9'; at++)
        if (__builtin_mul_overflow(value, (uint64_t)10, &value) ||
            __builtin_add_overflow(value, (uint64_t)(*at - '0'), &value))
            return false;
    if (*at != end) return false;
    *text = at + 1;
    *out = value;
    return true;
}

/* A parsed split. */
typedef struct split {
    bool fraction;         /* the train part is first / whole of every class; else `first` samples */
    uint64_t first, whole; /* whole is a power of ten */
    uint64_t seed;
} split;

/* Parses the digits of a fraction, after the point: "8@" of "0.8@1". */
static bool parse_fraction(const char **text, split *out)
{
    enum { MAX_DIGITS = 6 };
    const char *digits = *text;
    if (!parse_digits(text, '@', &out->first)) return false;
    out->fraction = true;
    out->whole = 1;
    for (const char *at = digits; *at != '@'; at++) out->whole *= 10;
    return *text - 1 - digits <= MAX_DIGITS;
}

static enhope_status parse_split(enhope_context *ctx, const char *text, split *out)
{
    const char *at = text;
    *out = (split){.fraction = false};
    const bool fraction = !strncmp(at, "0.", 2);
    if (fraction) at += 2;
    const bool good = fraction ? parse_fraction(&at, out) : parse_digits(&at, '@', &out->first);
    if (!good || !parse_digits(&at, '\0', &out->seed))
        return eh_fail(ctx, ENHOPE_ERROR_ARGUMENT,
                       "invalid split '%.60s': expected N@SEED, e.g. 8000@1, or a fraction from 0 to 1, e.g. 0.8@1",
                       text);
    if (out->fraction && out->first == 0)
        return eh_fail(ctx, ENHOPE_ERROR_ARGUMENT, "split '%.60s': expected a fraction above 0 and below 1", text);
    return ENHOPE_OK;
}

static void shuffle(uint64_t seed, int64_t n, int64_t *order)
{
    for (int64_t i = 0; i < n; i++) order[i] = i;
    for (int64_t i = n - 1; i > 0; i--) {
        const int64_t j = (int64_t)(splitmix64(&seed) % (uint64_t)(i + 1));
        const int64_t t = order[i];
        order[i] = order[j];
        order[j] = t;
    }
}

/* quota (c + 1): samples of each class, then of the unlabeled, in the train part. Each has its
 * fraction, rounded down. The largest remainders then take one more until the part is full; of
 * equal ones, the first class. */
static void share_classes(const split *s, const int64_t *counts, int64_t kinds, int64_t n, int64_t *quota)
{
    const int64_t whole = (int64_t)s->whole, part = (int64_t)s->first;
    int64_t left = (n / whole) * part + ((n % whole) * part + whole / 2) / whole;
    for (int64_t k = 0; k < kinds; k++) left -= quota[k] = counts[k] / whole * part + counts[k] % whole * part / whole;
    for (; left > 0; left--) {
        int64_t best = -1, largest = 0;
        for (int64_t k = 0; k < kinds; k++) {
            const int64_t floor = counts[k] / whole * part + counts[k] % whole * part / whole;
            const int64_t remainder = quota[k] > floor ? 0 : counts[k] % whole * part % whole;
            if (remainder > largest) best = k, largest = remainder;
        }
        if (best < 0) return;
        quota[best]++;
    }
}

/* Moves the train part of every class to the front of the order; returns its size. */
static enhope_status divide_classes(enhope_context *ctx, const split *s, const int32_t *label, int32_t c, int64_t n,
                                    int64_t *order, int64_t *train)
{
    const int64_t kinds = (int64_t)c + 1;            /* the last: unlabeled */
    int64_t *counts = NULL, *test = NULL, tests = 0; /* (2 kinds) counts, then quota; (n) */
    enhope_status status;
    EH_CHECK(eh_new(ctx, "class counts", 2 * kinds, sizeof *counts, (void **)&counts));
    EH_CHECK(eh_new(ctx, "the test part", n, sizeof *test, (void **)&test));
    for (int64_t i = 0; i < n; i++) counts[label && label[i] >= 0 ? label[i] : c]++;
    share_classes(s, counts, kinds, n, counts + kinds);
    *train = 0;
    for (int64_t i = 0; i < n; i++) {
        const int64_t row = order[i], k = label && label[row] >= 0 ? label[row] : c;
        if (counts[kinds + k] > 0) {
            counts[kinds + k]--;
            order[(*train)++] = row;
        } else {
            test[tests++] = row;
        }
    }
    memcpy(order + *train, test, (size_t)tests * sizeof *test);
cleanup:
    eh_free(counts);
    eh_free(test);
    return status;
}

enhope_status eh_split_rows(enhope_context *ctx, const char *text, const char *part, const int32_t *label, int32_t c,
                            int64_t n, int64_t **rows, int64_t *count)
{
    enhope_status status;
    int64_t *order = NULL, train;
    split s;
    EH_TRY(parse_split(ctx, text, &s));
    if (!s.fraction && (s.first < 1 || s.first > (uint64_t)n))
        return eh_fail(ctx, ENHOPE_ERROR_ARGUMENT, "split '%.60s' takes %llu samples to train: expected 1 to %lld",
                       text, (unsigned long long)s.first, (long long)n);
    const bool test = part && strcmp(part, "test") == 0;
    if (part && !test && strcmp(part, "train") != 0)
        return eh_fail(ctx, ENHOPE_ERROR_ARGUMENT, "unknown part '%.60s': expected train or test", part);
    EH_CHECK(eh_new(ctx, "the order of the split", n, sizeof *order, (void **)&order));
    shuffle(s.seed, n, order);
    train = (int64_t)s.first;
    if (s.fraction) EH_CHECK(divide_classes(ctx, &s, label, c, n, order, &train));
    if (test ? train == n : train == 0)
        EH_CHECK(eh_fail(ctx, ENHOPE_ERROR_ARGUMENT, "split '%.60s' leaves no sample of %lld for the %s part", text,
                         (long long)n, test ? "test" : "train"));
    if (test) memmove(order, order + train, (size_t)(n - train) * sizeof *order);
    *rows = order;
    *count = test ? n - train : train;
    order = NULL;
cleanup:
    eh_free(order);
    return status;
}
