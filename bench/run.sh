#!/bin/sh
# Runs the benchmarks: bench/run.sh [-n SAMPLES] [CASE…], all cases if none is named. Prints a table and updates
# bench/results.json. bench/peers.sh installs the peers.
set -eu
cd "$(dirname "$0")/.."
top=$PWD
samples=
if [ "${1:-}" = -n ]; then
    samples="-n $2"
    shift 2
fi
# A file whose name ends in ".@" describes all cases that its line "each:" lists.
all_cases() {
    (
        cd bench/cases
        for case in *; do
            case $case in
            *.@) for word in $(sed -n 's/^each: *//p' "$case"); do echo "${case%@}$word"; done ;;
            *) echo "$case" ;;
            esac
        done | sort -u
    )
}
[ $# -gt 0 ] || set -- $(all_cases)
cmake --preset release -DWEIGHBRIDGE_BENCH=ON -DWEIGHBRIDGE_PYTHON=ON >/dev/null
cmake --build build/release --target bench_all >/dev/null
mkdir -p build/bench
cd build/bench
PATH=$top/build/release/bench:$PATH
unset WB_CPU_DISABLE
exec driver -c "$top/bench/cases" -p "$top/build/peers" -o "$top/bench/results.json" $samples "$@"
