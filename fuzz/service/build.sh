#!/bin/sh
# Builds every fuzz target for OSS-Fuzz, which sets these variables:
#
#   CC, CFLAGS           the compiler and its options, with those of the sanitizer
#   LIB_FUZZING_ENGINE   option or library that links the fuzzing engine
#   SRC, WORK, OUT       the folders of the sources, of temporary files, and of the result
#
# The result is, for each target, the program OUT/NAME, its seeds OUT/NAME_seed_corpus.zip, and, if there is one, the
# dictionary OUT/NAME.dict. scripts/fuzz.sh runs the same targets on this machine.
set -eu
source=${SOURCE:-$SRC/weighbridge}
build=$WORK/weighbridge
mkdir -p "$build" "$OUT"
cmake -S "$source" -B "$build" -DCMAKE_BUILD_TYPE=None -DCMAKE_C_COMPILER="$CC" \
    -DCMAKE_C_FLAGS="$CFLAGS" -DWEIGHBRIDGE_FUZZ=ON -DWEIGHBRIDGE_FUZZ_ENGINE="$LIB_FUZZING_ENGINE"
for path in "$source"/fuzz/*.c; do
    set -- "$@" "fuzz_$(basename "$path" .c)"
done
cmake --build "$build" -j "$(nproc)" --target "$@"
for target; do
    name=${target#fuzz_}
    cp "$build/fuzz/$target" "$OUT/$name"
    dict=$source/fuzz/$name.dict
    [ -f "$dict" ] || dict=$source/fuzz/${name%%_*}.dict
    [ ! -f "$dict" ] || cp "$dict" "$OUT/$name.dict"
    python3 -m zipfile -c "$OUT/${name}_seed_corpus.zip" "$source/fuzz/seeds/$name"
    printf '[libfuzzer]\nmax_len = 2048\ntimeout = 10\n' >"$OUT/$name.options"
done
