/* NPY files (arrays.h). */
#include "arrays.h"

FUZZ_TARGET(npy)
{
    fuzz_arrays(in, "x.npy", "y.npy");
}
