#!/bin/sh
# Configures, builds and tests one preset of CMakePresets.json.
# Usage: preset.sh NAME [ctest arguments]
set -eu
cd "$(dirname "$0")/.."
preset=$1
shift
# With WEIGHBRIDGE_STALE_ONLY=1, tests with current results (scripts/results.py) do not run. Tests without a result of
# their own share the result "all".
if [ "${WEIGHBRIDGE_STALE_ONLY:-}" = 1 ] && grep -q "\"preset.$preset\"" scripts/results.py; then
    tests() { # names of results, one per line, to a regular expression of tests
        sed -e '/^all$/d' -e '/^exhaust[.]/!s/^/unit./' -e 's/[.]/[.]/g' | paste -sd '|'
    }
    stale=$(python3 scripts/results.py stale "preset.$preset")
    [ -n "$stale" ] || { echo "preset.$preset: passed before with the same inputs"; exit 0; }
    if echo "$stale" | grep -qx all; then
        current=$(python3 scripts/results.py current "preset.$preset" | tests)
        [ -z "$current" ] || set -- "$@" -E "^($current)\$"
    else
        set -- "$@" -R "^($(echo "$stale" | tests))\$"
    fi
fi
cmake --preset "$preset" >/dev/null
cmake --build --preset "$preset" -j "$(nproc)" -- --no-print-directory >"build/$preset/build.log" 2>&1 ||
    { cat "build/$preset/build.log"; exit 1; }
ctest --test-dir "build/$preset" --output-on-failure -j "$(nproc)" "$@"
if [ "${WEIGHBRIDGE_RECORD:-}" = 1 ] && grep -q "\"preset.$preset\"" scripts/results.py; then
    python3 scripts/results.py record "preset.$preset"
fi
