#!/bin/sh
# Fuzzes with libFuzzer, AddressSanitizer and UBSan. Usage: fuzz.sh TARGET|all [SECONDSs|RUNS]
#
#   scripts/fuzz.sh json            a minute
#   scripts/fuzz.sh json 600s       ten minutes
#   scripts/fuzz.sh json 10000000   ten million executions
#   scripts/fuzz.sh all 60s         a minute in total, divided among the targets
#
# Failing inputs are written to build/fuzz/found, the growing corpus to build/fuzz/corpus/TARGET.
# FUZZ_PRESET selects another preset, FUZZ_SEED the random seed of libFuzzer. With FUZZ_COUNT=1, which
# `make fuzz` sets, executions are added to docs/counts; the count of a target restarts at 0 when it finds
# a failure. See docs/dev/fuzzing.md.
set -eu
cd "$(dirname "$0")/.."
[ $# -ge 1 ] || { sed -n '2,12s/^# \{0,1\}//p' "$0" >&2; exit 4; }
preset=${FUZZ_PRESET:-fuzz}
amount=${2:-60s}
all=$(for source in fuzz/*.c; do basename "$source" .c; done)
if [ "$1" = all ]; then
    targets=$all
else
    targets=$1
    [ -f "fuzz/$1.c" ] || { echo "fuzz/$1.c does not exist; the targets are:" $all >&2; exit 4; }
fi
set -- $targets
case $amount in
*s) limit=-max_total_time=$((${amount%s} / $# + (${amount%s} < $#))) ;;
*) limit=-runs=$amount ;;
esac

cmake --preset "$preset" >/dev/null
cmake --build --preset "$preset" -j "$(nproc)" >"build/$preset/build.log" 2>&1 ||
    { cat "build/$preset/build.log" >&2; exit 1; }
mkdir -p "build/$preset/found" docs/counts/fuzzing
count() { # TARGET EXECUTIONS; 0 resets the count
    [ -n "${FUZZ_COUNT:-}" ] || return 0
    before=$(cat "docs/counts/fuzzing/$1" 2>/dev/null || echo 0)
    echo $((${2:-0} == 0 ? 0 : before + $2)) >"docs/counts/fuzzing/$1"
}
export ASAN_OPTIONS="quarantine_size_mb=16:malloc_context_size=5:${ASAN_OPTIONS:-}"
status=0
for target; do
    # A target without its own dictionary uses the one named by the part of its name before the first "_".
    dict=fuzz/$target.dict
    [ -f "$dict" ] || dict=fuzz/${target%%_*}.dict
    [ -f "$dict" ] && dict=-dict=$dict || dict=
    mkdir -p "build/$preset/corpus/$target"
    echo "fuzzing $target ($limit)"
    if "build/$preset/fuzz/fuzz_$target" $limit $dict -max_len=2048 -timeout=10 -seed="${FUZZ_SEED:-0}" \
        -print_final_stats=1 -artifact_prefix="build/$preset/found/$target-" \
        "build/$preset/corpus/$target" "fuzz/seeds/$target" >"build/$preset/$target.log" 2>&1; then
        grep -E 'number_of_executed_units|average_exec_per_sec' "build/$preset/$target.log"
        count "$target" "$(sed -n 's/^stat::number_of_executed_units: *//p' "build/$preset/$target.log")"
    else
        status=1
        count "$target" 0
        tail -n 60 "build/$preset/$target.log"
    fi
done
if [ -n "${FUZZ_COUNT:-}" ]; then
    cat docs/counts/fuzzing/* | sort -n |
        awk 'NR == 1 { least = $1 } { sum += $1 } END {
            printf "fuzz: %.0f executions of %d targets, none under %.0f\n", sum, NR, least }' >docs/counts/fuzz
    sh scripts/reliability.sh
fi
exit $status
