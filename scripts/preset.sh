#!/bin/sh
# Configures, builds and tests one preset of CMakePresets.json.
# Usage: preset.sh NAME [ctest arguments]
set -eu
cd "$(dirname "$0")/.."
preset=$1
shift
cmake --preset "$preset" >/dev/null
cmake --build --preset "$preset" -j "$(nproc)" -- --no-print-directory >"build/$preset/build.log" 2>&1 ||
    { cat "build/$preset/build.log"; exit 1; }
exec ctest --test-dir "build/$preset" --output-on-failure -j "$(nproc)" "$@"
