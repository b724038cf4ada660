/* The kernels of this program, and the choice for the processor. */
#include "predict/int8/int8.h"

const eh_int8_kernel *eh_int8_kernel_get(int i)
{
    static const eh_int8_kernel *const kernel[] = {
#if defined(__x86_64__)
        &eh_int8_avx512_vnni,
        &eh_int8_avx_vnni,
        &eh_int8_avx2,
#elif defined(__aarch64__)
        &eh_int8_dotprod,
#endif
        &eh_int8_plain,
    };
    return i >= 0 && i < (int)(sizeof kernel / sizeof *kernel) ? kernel[i] : NULL;
}

const eh_int8_kernel *eh_int8_kernel_choose(void)
{
    int i = 0;
    while (!eh_int8_kernel_get(i)->supported()) i++;
    return eh_int8_kernel_get(i);
}
