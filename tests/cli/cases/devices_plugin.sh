# The plug-in of the cuda backend: a damaged one, one of another version, and one (built here) that
# lists two GPUs and opens none.
root=$CASES/../../..
blobs=synthetic:blobs,n=60,classes=3,inputs=5,seed=3
try() { enhope "$@" 2>&1 | sed "s|/[^ ]*/libenhope_cuda.so|.../libenhope_cuda.so|; /^cpu /d; /\"cpu\"/d"; }
export LD_LIBRARY_PATH=$PWD
: > libenhope_cuda.so
try info --devices
try train --data $blobs --device cuda --quiet

cp "$(ldd "$(command -v enhope)" | sed -n 's/.*libz\.so[^ ]* => \([^ ]*\).*/\1/p')" libenhope_cuda.so
try info --devices
try train --data $blobs --device cuda --quiet

cat > plugin.c <<'C'
#include <stdio.h>
#include "compute/compute.h"

enhope_status eh_compute_cuda_describe(enhope_context *ctx, size_t table, int index, char *text, size_t size)
{
    (void)ctx;
    if (table != sizeof(eh_compute_ops) || index > 1) return ENHOPE_ERROR_ARGUMENT;
    snprintf(text, size, "GPU of the test, number %d", index);
    return ENHOPE_OK;
}

enhope_status eh_compute_cuda_open(enhope_context *ctx, eh_compute *c, size_t table, int index, int precision)
{
    (void)c;
    snprintf(ctx->error, sizeof ctx->error, "GPU %d, precision %d%s", index, precision,
             table == sizeof(eh_compute_ops) ? "" : " and another table");
    return ENHOPE_ERROR_COMPUTE;
}
C
rm libenhope_cuda.so
cc -std=c17 -shared -fPIC -I"$root/include" -I"$root/src" plugin.c -o libenhope_cuda.so || exit
try info --devices
try info --devices --json
try train --data $blobs --device cuda --quiet
try train --data $blobs --device cuda:1 --precision tf32 --quiet
try train --data $blobs --device cuda:12 --precision bf16 --quiet
try train --data $blobs --device auto --precision fp32 --recipe best --n-factors 4 --n-hidden 3 --n-epochs 1 | head -n 2
