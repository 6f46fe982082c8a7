#!/bin/sh
# The codecs give the same bits whatever compiler, optimisation and instruction set: compiles them with
# two compilers, if they are there, from -O0 to -O3, without the build's own options, also for this very processor,
# whose fused multiplication the code must not use; runs each for every set of instructions.
set -eu
cd "$(dirname "$0")/../.."
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
sources="tests/tools/quant_bits.c src/quant/*.c src/quant/scalar/*.c src/quant/x86/*.c
         src/dtype/*.c src/core/*.c src/cpu/*.c"
compilers=0
for cc in gcc clang-19 clang cc; do
    command -v $cc >/dev/null || continue
    compilers=$((compilers + 1))
    [ $compilers -le 2 ] || break # two of them will do
    for options in -O0 -O1 -O2 "-O3 -march=native"; do
        # shellcheck disable=SC2086
        nice $cc -std=c11 $options -w -Isrc -Iinclude $sources -lm -o "$work/bits"
        for disabled in none avx512 avx2; do
            WB_CPU_DISABLE=$disabled "$work/bits" >"$work/now"
            [ "$(wc -l <"$work/now")" -ge 27 ] || { echo "$cc $options: too few codecs"; exit 1; }
            [ -e "$work/first" ] || cp "$work/now" "$work/first"
            diff -u "$work/first" "$work/now" || { echo "$cc $options without $disabled"; exit 1; }
        done
    done
done
[ $compilers -gt 0 ]
