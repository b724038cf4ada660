/* The split "N@SEED": the samples, in the order of the file, are shuffled; the first N are the
 * train part, the others the test part. The shuffle is Fisher-Yates from the end, driven by
 * SplitMix64, so that other programs can reproduce it. */
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

enhope_status eh_split_rows(enhope_context *ctx, const char *split, const char *part, int64_t n, int64_t **rows,
                            int64_t *count)
{
    uint64_t first, seed;
    const char *text = split;
    if (!parse_digits(&text, '@', &first) || !parse_digits(&text, '\0', &seed))
        return eh_fail(ctx, ENHOPE_ERROR_ARGUMENT, "invalid split '%.60s': expected N@SEED, e.g. 8000@1", split);
    if (first < 1 || first > (uint64_t)n)
        return eh_fail(ctx, ENHOPE_ERROR_ARGUMENT, "split '%.60s' takes %llu samples to train: expected 1 to %lld",
                       split, (unsigned long long)first, (long long)n);
    const bool test = part && strcmp(part, "test") == 0;
    if (part && !test && strcmp(part, "train") != 0)
        return eh_fail(ctx, ENHOPE_ERROR_ARGUMENT, "unknown part '%.60s': expected train or test", part);
    const int64_t train = (int64_t)first;
    if (test && train == n)
        return eh_fail(ctx, ENHOPE_ERROR_ARGUMENT, "split '%.60s' leaves no sample of %lld for the test part", split,
                       (long long)n);

    int64_t *order = NULL;
    EH_TRY(eh_new(ctx, "the order of the split", n, sizeof *order, (void **)&order));
    for (int64_t i = 0; i < n; i++) order[i] = i;
    for (int64_t i = n - 1; i > 0; i--) {
        const int64_t j = (int64_t)(splitmix64(&seed) % (uint64_t)(i + 1));
        const int64_t t = order[i];
        order[i] = order[j];
        order[j] = t;
    }
    if (test) memmove(order, order + train, (size_t)(n - train) * sizeof *order);
    *rows = order;
    *count = test ? n - train : train;
    return ENHOPE_OK;
}
