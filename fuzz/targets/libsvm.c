/* LIBSVM files: sparse rows with labels.
 *
 * Input: a byte of choices; the file. */
#include "fuzz.h"

FUZZ_TARGET(libsvm)
{
    const int choice = fuzz_byte(in);
    enhope_source source = {.label = choice & 2 ? "none" : NULL};
    if (choice & 1)
        source.path = fuzz_gzip("a.svm.gz", in->at, in->left);
    else
        source.path = fuzz_file(choice & 4 ? "a.unknown" : "a.svm", in->at, in->left);
    fuzz_read_all(&source, choice >> 4);
}
