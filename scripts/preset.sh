#!/bin/sh
# Configures, builds and tests one preset of CMakePresets.json.
# Usage: preset.sh NAME [ctest arguments]
set -eu
cd "$(dirname "$0")/.."
preset=$1
shift
# With WEIGHBRIDGE_STALE_ONLY=1, unit tests with current results (scripts/results.py) do not run; if nothing changed
# at all, no other test runs either.
if [ "${WEIGHBRIDGE_STALE_ONLY:-}" = 1 ] && grep -q "\"preset.$preset\"" scripts/results.py; then
    stale=$(python3 scripts/results.py stale "preset.$preset")
    [ -n "$stale" ] || { echo "preset.$preset: passed before with the same inputs"; exit 0; }
    units=$(echo "$stale" | grep -vx all | paste -sd '|')
    current=$(ls tests/unit | sed -n 's/[.]c$//p' | grep -vxE "${units:-none at all}" | paste -sd '|')
    if ! echo "$stale" | grep -qx all; then
        set -- "$@" -R "^unit[.]($units)\$"
    elif [ -n "$current" ]; then
        set -- "$@" -E "^unit[.]($current)\$"
    fi
fi
cmake --preset "$preset" >/dev/null
cmake --build --preset "$preset" -j "$(nproc)" -- --no-print-directory >"build/$preset/build.log" 2>&1 ||
    { cat "build/$preset/build.log"; exit 1; }
ctest --test-dir "build/$preset" --output-on-failure -j "$(nproc)" "$@"
if [ "${WEIGHBRIDGE_RECORD:-}" = 1 ] && grep -q "\"preset.$preset\"" scripts/results.py; then
    python3 scripts/results.py record "preset.$preset"
fi
