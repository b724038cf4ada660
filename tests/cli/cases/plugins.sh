# Damaged plug-ins and those of another version: the message has the cause and the remedy, no file remains.
blobs=synthetic:blobs,n=60,classes=3,inputs=5,seed=3
enhope train --data $blobs --n-factors 4 --n-hidden 3 --n-epochs 1 --quiet -o m.safetensors || exit
try() { "$@" 2>&1 | sed "s|/[^ ]*/libenhope_|.../libenhope_|"; }
before=${LD_LIBRARY_PATH-}
export LD_LIBRARY_PATH=$PWD
: > libenhope_cairo.so
: > libenhope_image.so
mkdir -p photos/cat && : > photos/cat/1.png
try enhope data photos
try enhope plot m.safetensors --data $blobs -o map.png
try enhope plot m.safetensors --data $blobs -o map.pdf
libz=$(ldd "$(command -v enhope)" | sed -n 's/.*libz\.so[^ ]* => \([^ ]*\).*/\1/p')
cp "$libz" libenhope_cairo.so
cp "$libz" libenhope_image.so
try enhope data photos
try enhope plot m.safetensors --data $blobs -o map.png
cat > old.c <<'C'
#include <stddef.h>
const void *eh_image_table(size_t size)
{
    (void)size;
    return NULL;
}
C
rm libenhope_image.so
cc -std=c17 -shared -fPIC old.c -o libenhope_image.so || exit
try enhope data photos
LD_LIBRARY_PATH=$before
try enhope data photos
ls | grep "^map" || echo "no file remains"
