#!/bin/sh
# The codecs give the same bits with every compiler, optimisation level, instruction set and machine. The script
# compiles them with gcc and clang from -O0 to -O3, without the build's own options, and at -O3 also for the
# processor of this machine, whose fused multiply-add the code must not use (every AArch64 has one). It runs each
# build with every instruction set, AArch64 under qemu. Without the argument "all" it tests only -O0 and the builds
# with the most optimisation.
set -eu
cd "$(dirname "$0")/../.."
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export work

cat >"$work/one" <<'END'
# one N RUNNER DISABLED COMPILER...: builds and runs, and writes $work/N.DISABLED
number=$1 runner=$2 disabled=$3
shift 3
folders="src/quant src/quant/scalar src/quant/x86 src/quant/arm src/quant/mlx src/quant/mlx/x86
         src/quant/mlx/arm src/dtype src/dtype/x86 src/core src/cpu"
sources=$(for folder in $folders; do ls "$folder"/*.c; done)
# shellcheck disable=SC2086
nice "$@" -std=c11 -w -Isrc -Iinclude tests/tools/quant_bits.c $sources -lm -o "$work/$number" || exit 255
for without in $(echo "$disabled" | tr , ' '); do
    [ "$runner" != none ] || runner=
    # shellcheck disable=SC2086
    WB_CPU_DISABLE=$without $runner "$work/$number" >"$work/$number.$without" || exit 255
    echo "$* without $without" >"$work/$number.$without.is"
done
END

native=none,avx512,avx2
[ "$(uname -m)" != aarch64 ] || native=none,neon
number=0
{
    echo "none $native gcc -O0"
    echo "none $native clang-19 -O3 -march=native"
    echo "qemu-aarch64 none,neon aarch64-linux-gnu-gcc -static -O3"
    if [ "${1:-}" = all ]; then
        for optimisation in -O1 -O2; do
            for compiler in gcc clang-19; do
                echo "none $native $compiler $optimisation"
            done
        done
        echo "none $native gcc -O3 -march=native"
        echo "none $native clang-19 -O0"
        for optimisation in -O0 -O1 -O2 -O3; do
            [ $optimisation = -O3 ] ||
                echo "qemu-aarch64 none,neon aarch64-linux-gnu-gcc -static $optimisation"
            echo "qemu-aarch64 none,neon clang-19 --target=aarch64-linux-gnu -static $optimisation"
        done
    fi
} | while read -r line; do
    number=$((number + 1))
    echo "$number $line"
done | xargs -P 2 -L 1 sh "$work/one"

first=$work/1.none
[ "$(grep -c ' ' "$first")" -ge 60 ] || { echo "too few codecs"; exit 1; }
! grep contracted "$first" || exit 1
runs=0
for now in "$work"/*.is; do
    runs=$((runs + 1))
    diff -u "$first" "${now%.is}" || { cat "$now"; exit 1; }
done
sets=$(echo "$native" | tr , ' ' | wc -w)
[ $runs -eq $([ "${1:-}" = all ] && echo $((8 * sets + 16)) || echo $((2 * sets + 2))) ] || { echo "only $runs runs"; exit 1; }
