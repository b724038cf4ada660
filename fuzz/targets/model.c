/* Model files of all format versions: loading, and everything that a loaded model offers.
 *
 * Input: a safetensors file without the length of its header (fuzz_safetensors). */
#include "fuzz.h"

FUZZ_TARGET(model)
{
    size_t size;
    const uint8_t *file = fuzz_safetensors(in, &size);
    enhope_model *const unset = (enhope_model *)(uintptr_t)file, *model = unset;
    if (fuzz_good(enhope_model_load_bytes(fuzz_ctx, file, size, &model))) {
        FUZZ_MUST(model && model != unset);
        fuzz_check_model(model);
        enhope_model_free(model);
    } else {
        FUZZ_MUST(model == unset);
    }
}
