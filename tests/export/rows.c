/* Embeds and classifies the rows of x.f32, and of bytes x.u8 if the program has an argument. Writes
 * label.i32, proba.f32 and y.f32. */
#include <stdint.h>
#include <stdio.h>

#include "digits.h"

int main(int argc, char **argv)
{
    static float x[digits_INPUTS], p[digits_CLASSES], y[digits_OUTPUTS];
    static uint8_t byte[digits_INPUTS];
    const int bytes = argc > 1;
    FILE *in = fopen(bytes ? "x.u8" : "x.f32", "rb"), *labels = fopen("label.i32", "wb");
    FILE *proba = fopen("proba.f32", "wb"), *places = fopen("y.f32", "wb");
    (void)argv;
    if (!in || !labels || !proba || !places) return 1;
    while (bytes ? fread(byte, sizeof byte, 1, in) == 1 : fread(x, sizeof x, 1, in) == 1) {
        const int32_t label = bytes ? digits_predict_u8(byte) : digits_predict(x);
        const int again = bytes ? digits_proba_u8(byte, p) : digits_proba(x, p);
        if (again != label || (bytes ? digits_embed_u8(byte, y) : digits_embed(x, y)) != 0) return 2;
        fwrite(&label, sizeof label, 1, labels);
        fwrite(p, sizeof p, 1, proba);
        fwrite(y, sizeof y, 1, places);
    }
    x[3] = 1e30f;
    x[3] = x[3] * x[3] - x[3] * x[3]; /* NaN */
    if (digits_predict(x) != -1 || digits_embed(x, y) != -1) return 3;
    x[3] = -3e38f; /* overflows float maps; codes of int8 saturate */
    if ((digits_predict(x) < 0) != (digits_embed(x, y) < 0)) return 5;
    return fclose(labels) || fclose(proba) || fclose(places) ? 4 : 0;
}
