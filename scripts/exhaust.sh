#!/bin/sh
# Runs every small mutation (fuzz/support/exhaust.h) of every seed of each fuzz target.
# Usage: exhaust.sh [PRESET]
#
# The default preset is dev; asan takes about ten times as long. EXHAUST_MOST is the maximum size of a
# seed in bytes (default 600).
set -eu
cd "$(dirname "$0")/.."
preset=${1:-dev}
cmake --preset "$preset" >/dev/null
cmake --build --preset "$preset" -j "$(nproc)" >"build/$preset/build.log" 2>&1 ||
    { cat "build/$preset/build.log" >&2; exit 1; }
total=0
for source in fuzz/*.c; do
    target=$(basename "$source" .c)
    [ "$target" != codecs ] || continue # its input is not a file: all bytes are equally valid
    count=$("build/$preset/fuzz/fuzz_$target" --exhaust --most="${EXHAUST_MOST:-600}" "fuzz/seeds/$target" |
        sed -n 's/ inputs replayed$//p')
    printf '%-20s %12d\n' "$target" "$count"
    total=$((total + count))
done
printf '%-20s %12d\n' all "$total"
