#!/bin/sh
# The configuration for a fuzzing service builds every target with its seeds, with the variables that OSS-Fuzz sets.
set -eu
if [ "${1:-}" != run ]; then
    exec sh scripts/if_stale.sh fuzz_service sh "$0" run
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export CC=clang-19 LIB_FUZZING_ENGINE=-fsanitize=fuzzer SOURCE="$PWD" WORK="$work" OUT="$work/out"
export CFLAGS="-O1 -gline-tables-only -fsanitize=address,fuzzer-no-link"
sh fuzz/service/build.sh >"$work/log" 2>&1 || { tail -n 40 "$work/log"; exit 1; }
for source in fuzz/*.c; do
    name=$(basename "$source" .c)
    mkdir "$work/$name"
    python3 -m zipfile -e "$OUT/${name}_seed_corpus.zip" "$work/$name"
    set -- "$work/$name"
    [ ! -f "$OUT/$name.dict" ] || set -- "$@" "-dict=$OUT/$name.dict"
    "$OUT/$name" -runs=1 "$@" >"$work/log" 2>&1 || { tail -n 40 "$work/log"; echo "$name failed"; exit 1; }
    # libFuzzer reports how many seeds it has run.
    seeds=$(find "fuzz/seeds/$name" -type f -size +0 | wc -l)
    grep -q "seed corpus: files: $seeds " "$work/log" || { tail -n 20 "$work/log"; echo "$name: not $seeds seeds"; exit 1; }
done
