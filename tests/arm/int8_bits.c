/* Prints the bits of the int8 arithmetic, so that processors can be compared: tests/arm/run.
 *
 *   int8_bits [FILE]
 *
 * Without FILE: a line for each of some random maps, with a hash of the embedding. FILE has the
 * numbers of the golden model as tests/arm/run writes them; prints the embedding of 24 rows in
 * hexadecimal. Every kernel that the processor supports must agree, else the exit status is 1. The
 * names of the kernels are printed to standard error. */
#include <inttypes.h>
#include <stdio.h>

#include "int8_support.h"

static uint64_t hash(const void *bytes, size_t count)
{
    uint64_t h = 14695981039346656037u; /* FNV-1a */
    for (size_t i = 0; i < count; i++) h = (h ^ ((const uint8_t *)bytes)[i]) * 1099511628211u;
    return h;
}

/* Y (n, h) by every kernel; false if they differ or one fails. */
static bool by_all(const sample_map *s, const eh_matrix *x, float *Y)
{
    const size_t size = (size_t)(x->n * s->shape.h) * sizeof *Y;
    float *other = malloc(size);
    bool good = other != NULL, first = true;
    for (int i = 0; good && eh_int8_kernel_get(i); i++) {
        const eh_int8_kernel *kernel = eh_int8_kernel_get(i);
        if (!kernel->supported()) continue;
        for (int64_t rows = 1; rows <= 7; rows += 3) {
            good &= embed_with(kernel, s, x, rows, first ? Y : other) && (first || !memcmp(Y, other, size));
            first = false;
        }
    }
    free(other);
    return good;
}

static bool random_maps(void)
{
    static const int shape[][5] = {{1, 1, 1, 1, 1}, {7, 13, 5, 2, 3}, {65, 81, 70, 2, 2}, {131, 100, 33, 3, 5}};
    bool good = true;
    for (size_t i = 0; i < sizeof shape / sizeof *shape; i++)
        for (int zeros = 0; zeros < 8; zeros += 6) {
            const int *d = shape[i];
            sample_map s = make_map(d[0], d[1], d[2], d[3], d[4], zeros, false, i);
            const eh_matrix x = {.kind = ENHOPE_F32, .n = s.n, .H = s.shape.H, .f32 = s.f32};
            const size_t size = (size_t)(s.n * s.shape.h) * sizeof(float);
            float *Y = malloc(size);
            good &= by_all(&s, &x, Y) && !memcmp(Y, s.wanted, size);
            printf("%d %d %d %d %d %d: %016" PRIx64 "\n", d[0], d[1], d[2], d[3], d[4], zeros, hash(Y, size));
            free(Y);
            free_map(&s);
        }
    return good;
}

static bool read_array(FILE *file, int64_t count, size_t size, void *out)
{
    void *block = calloc((size_t)count, size);
    memcpy(out, &block, sizeof block);
    return block && fread(block, size, (size_t)count, file) == (size_t)count;
}

/* Row i of the golden inputs, x (H): multiples of 1/16. */
static void golden_row(int64_t i, int64_t H, float *x)
{
    for (int64_t k = 0; k < H; k++) x[k] = (float)((i * 37 + k * 101 + i * k * 13) % 256) / 16 - 8;
}

static bool golden(const char *path)
{
    enum { ROWS = 24 };
    FILE *file = fopen(path, "rb");
    int32_t size[5];
    sample_map s = {.n = ROWS};
    if (!file || fread(size, sizeof *size, 5, file) != 5) return false;
    const int64_t H = size[0], F = size[1], m = size[2], h = size[3];
    s.shape = (eh_map_shape){.H = H, .F = F, .m = m, .h = h, .order = size[4]};
    bool good = read_array(file, H, 4, &s.q.low) && read_array(file, H, 4, &s.q.step) &&
                read_array(file, F, 4, &s.q.power_low) && read_array(file, F, 4, &s.q.power_step) &&
                read_array(file, F, 4, &s.q.C_scale) && read_array(file, F, 4, &s.q.C_bias) &&
                read_array(file, m, 4, &s.q.W_scale) && read_array(file, m, 4, &s.q.W_bias) &&
                read_array(file, h * m, 4, &s.V) && read_array(file, H * F, 1, &s.q.C) &&
                read_array(file, F * m, 1, &s.q.W);
    s.f32 = calloc((size_t)(ROWS * H), sizeof *s.f32);
    s.wanted = calloc((size_t)(ROWS * h), sizeof *s.wanted);
    for (int64_t i = 0; i < ROWS; i++) golden_row(i, H, s.f32 + i * H);
    const eh_matrix x = {.kind = ENHOPE_F32, .n = ROWS, .H = H, .f32 = s.f32};
    good = good && by_all(&s, &x, s.wanted);
    for (int64_t i = 0; i < ROWS && good; i++)
        for (int64_t o = 0; o < h; o++) {
            uint32_t bits;
            memcpy(&bits, &s.wanted[i * h + o], sizeof bits);
            printf("%08" PRIx32 "%c", bits, o + 1 < h ? ' ' : '\n');
        }
    fclose(file);
    free_map(&s);
    return good;
}

int main(int argc, char **argv)
{
    for (int i = 0; eh_int8_kernel_get(i); i++)
        if (eh_int8_kernel_get(i)->supported()) fprintf(stderr, "%s\n", eh_int8_kernel_get(i)->name);
    return (argc > 1 ? golden(argv[1]) : random_maps()) ? 0 : 1;
}
