#!/bin/sh
# Measures the coverage of the reader modules by unit tests and replayed seeds with clang-19: lines,
# branches and MC/DC.
#
#   scripts/coverage.sh             one line per module, and the total
#   scripts/coverage.sh FILE...     the uncovered parts of these source files in the last run
#
# COVERAGE_RUN=0 reports on the last run without running anything.
set -eu
cd "$(dirname "$0")/.."
sh scripts/need.sh test
build=build/coverage
profile=$build/all.profdata
if [ $# -eq 0 ] && [ "${COVERAGE_RUN:-1}" = 1 ] || [ ! -f $profile ]; then
    cmake --preset coverage >/dev/null
    cmake --build --preset coverage -j "$(nproc)" >$build/build.log 2>&1 ||
        { cat $build/build.log >&2; exit 1; }
    rm -rf $build/raw
    # Excludes the tests that limit what the command may write: they also prevent writing the profile.
    LLVM_PROFILE_FILE="$PWD/$build/raw/%p-%m.profraw" ctest --test-dir $build -j "$(nproc)" \
        -R '^(unit|fuzz|exhaust|cli)\.' -E '^cli\.(convert|recast|sandbox)$' >$build/ctest.log 2>&1 ||
        { tail -n 40 $build/ctest.log >&2; exit 1; }
    # Killed commands leave incomplete profiles.
    llvm-profdata-19 merge -failure-mode=all -sparse $build/raw/*.profraw -o $profile 2>$build/merge.log
fi
objects=$(find $build -maxdepth 3 -type f -executable \( -name 'unit_*' -o -name 'fuzz_*' -o -name weighbridge \) |
    sed '2,$s/^/-object /')
if [ $# -gt 0 ]; then
    llvm-cov-19 show $objects -instr-profile $profile -show-branches=count -show-mcdc "$@"
    exit
fi
printf '%-12s %8s %8s %8s\n' module lines branches MC/DC
rooms='core json model formats bundles arch'
for room in $rooms "$rooms"; do
    sources=
    for r in $room; do sources="$sources $(find src/$r -name '*.[ch]')"; done
    llvm-cov-19 report $objects -instr-profile $profile -show-branch-summary -show-mcdc-summary -sources $sources 2>/dev/null |
        awk -v room="$(echo "$room" | sed 's/ .*/&/; s/.* .*/all/')" \
            '$1 == "TOTAL" { printf "%-12s %8s %8s %8s\n", room, $10, $13, $16 }'
done
