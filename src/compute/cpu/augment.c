/* Noise and dropout on the cpu. Many blocks of random words are processed at once, so that every
 * step is one SIMD loop. */
#include "compute/cpu/cpu.h"

enum { WIDE = EH_CPU_NORMALS / 4 }; /* blocks of four columns each */

/* word[k][b]: word k of block first + b. */
EH_SIMD static void draw(uint64_t seed, uint32_t stream, uint64_t index, uint32_t first,
                         uint32_t word[restrict 4][WIDE])
{
    for (uint32_t b = 0; b < WIDE; b++) {
        uint32_t out[4];
        eh_philox(seed, stream, index, first + b, out);
        word[0][b] = out[0], word[1][b] = out[1], word[2][b] = out[2], word[3][b] = out[3];
    }
}

EH_SIMD static void make_normal(float scale, const uint32_t word[restrict 4][WIDE], float *restrict out)
{
    for (int b = 0; b < WIDE; b++) {
        float g[4];
        eh_normal_pair(word[0][b], word[1][b], g, g + 1);
        eh_normal_pair(word[2][b], word[3][b], g + 2, g + 3);
        for (int k = 0; k < 4; k++) out[4 * b + k] = scale * g[k];
    }
}

/* The factor of each input: 0 if it is dropped. */
EH_SIMD static void make_keep(int32_t below, float kept, const uint32_t word[restrict 4][WIDE], float *restrict out)
{
    for (int b = 0; b < WIDE; b++)
        for (int k = 0; k < 4; k++) out[4 * b + k] = (int32_t)(word[k][b] >> 8) < below ? 0 : kept;
}

EH_SIMD static void add_to(int64_t count, const float *restrict by, float *restrict x)
{
    for (int64_t j = 0; j < count; j++) x[j] += by[j];
}

EH_SIMD static void multiply(int64_t count, const float *restrict by, float *restrict x)
{
    for (int64_t j = 0; j < count; j++) x[j] *= by[j];
}

void eh_cpu_normals(uint64_t seed, uint32_t stream, uint64_t index, float scale, float *out)
{
    uint32_t word[4][WIDE];
    draw(seed, stream, index, 0, word);
    make_normal(scale, word, out);
}

void eh_cpu_augment(const eh_augment *with, int64_t row, int64_t H, float *x)
{
    const uint64_t index = eh_augment_index(with->pass, row);
    const int32_t below = eh_drop_below(with->dropout);
    const float kept = (float)(1 / (1 - with->dropout));
    uint32_t word[4][WIDE];
    float by[4 * WIDE];
    for (int64_t j = 0; j < H; j += 4 * WIDE) {
        const int64_t count = H - j < 4 * WIDE ? H - j : 4 * WIDE;
        if (with->noise > 0) {
            draw(with->seed, EH_STREAM_NOISE, index, (uint32_t)(j / 4), word);
            make_normal((float)with->noise, word, by);
            add_to(count, by, x + j);
        }
        if (with->dropout > 0) {
            draw(with->seed, EH_STREAM_DROPOUT, index, (uint32_t)(j / 4), word);
            make_keep(below, kept, word, by);
            multiply(count, by, x + j);
        }
    }
}
