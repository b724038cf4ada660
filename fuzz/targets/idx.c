/* IDX files, those of MNIST (arrays.h). */
#include "arrays.h"

FUZZ_TARGET(idx)
{
    fuzz_arrays(in, "x-ubyte", "y-ubyte");
}
