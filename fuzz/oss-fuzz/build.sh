#!/bin/bash -eu
# Builds the targets, their seeds and dictionaries for OSS-Fuzz, which sets CC, CFLAGS, OUT and
# LIB_FUZZING_ENGINE. Not run there yet.
#
# CFLAGS have the sanitizers and the coverage. Only the C library exists where the targets run, so
# the shared libraries and the plug-in for images are copied beside them.
build=$WORK/build
cmake -S "$SRC/enhope" -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=None -DENHOPE_FUZZ=ON -DENHOPE_FUZZ_COVERAGE= \
    -DENHOPE_FUZZ_ENGINE="$LIB_FUZZING_ENGINE" -DENHOPE_TESTS=OFF -DENHOPE_BENCH=OFF -DENHOPE_CUDA=OFF -DENHOPE_MPI=OFF \
    -DENHOPE_PYTHON=OFF -DENHOPE_CHECKS=OFF
cmake --build "$build" --target fuzz
"$build/fuzz/fuzz-seeds" "$WORK/seeds"
mkdir -p "$OUT/lib"
for source in "$SRC"/enhope/fuzz/targets/*.c; do
    target=$(basename "$source" .c)
    cp "$build/fuzz/fuzz-$target" "$OUT/"
    patchelf --force-rpath --set-rpath '$ORIGIN/lib' "$OUT/fuzz-$target"
    ldd "$build/fuzz/fuzz-$target" | awk '$3 ~ /^\// && $1 !~ /^lib(c|m|pthread|dl|rt|gcc_s)\.so/ { print $3 }' |
        xargs -r cp -n -t "$OUT/lib"
    folders=("$WORK/seeds/$target")
    [ ! -d "$SRC/enhope/fuzz/regress/$target" ] || folders+=("$SRC/enhope/fuzz/regress/$target")
    zip -q -j "$OUT/fuzz-${target}_seed_corpus.zip" $(find "${folders[@]}" -type f)
    [ ! -f "$SRC/enhope/fuzz/dict/$target.dict" ] || cp "$SRC/enhope/fuzz/dict/$target.dict" "$OUT/fuzz-$target.dict"
done
[ ! -f "$build/libenhope_image.so" ] || cp "$build/libenhope_image.so" "$OUT/lib/"
