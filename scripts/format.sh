#!/bin/sh
# Formats every C source file; with --check, lists the files that are not formatted.
# Usage: format.sh [--check]
set -eu
cd "$(dirname "$0")/.."
if [ "${1:-}" = --check ]; then
    set -- --dry-run -Werror
else
    set -- -i
fi
find src cli include bindings tests fuzz bench examples \( -name "*.[ch]" -o -name "*.cc" \) 2>/dev/null |
    grep -v include/weighbridge/dtypes.h | # generated
    LC_ALL=C sort | xargs clang-format-19 "$@"
