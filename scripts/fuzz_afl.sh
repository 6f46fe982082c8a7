#!/bin/sh
# Fuzzes with AFL++ in persistent mode, without sanitizers, for speed. Usage: fuzz_afl.sh TARGET [RUNS]
#
# The default is ten million executions. Only the generation of inputs differs from fuzz.sh. Replay failing
# inputs (build/afl/out/TARGET/default/crashes) with `build/fuzz/fuzz/fuzz_TARGET FILE`.
set -eu
cd "$(dirname "$0")/.."
[ $# -ge 1 ] || { sed -n '2,5s/^# \{0,1\}//p' "$0" >&2; exit 4; }
sh scripts/need.sh fuzz
target=$1
runs=${2:-10000000}
export AFL_QUIET=1 AFL_NO_UI=1 AFL_SKIP_CPUFREQ=1 AFL_I_DONT_CARE_ABOUT_MISSING_CRASHES=1
export AFL_NO_AFFINITY=1 # binding to a processor fails if all processors are in use
export AFL_BENCH_UNTIL_CRASH=1 AFL_AUTORESUME=1
cmake --preset afl >/dev/null 2>&1
cmake --build --preset afl -j "$(nproc)" >build/afl/build.log 2>&1 ||
    { cat build/afl/build.log >&2; exit 1; }
dict=fuzz/$target.dict
[ -f "$dict" ] || dict=fuzz/${target%%_*}.dict
[ -f "$dict" ] && dict="-x $dict" || dict=
[ "$target" != safetensors ] ||
    export AFL_CUSTOM_MUTATOR_LIBRARY="$PWD/build/afl/fuzz/libafl_safetensors.so"
mkdir -p build/afl/out
afl-fuzz -i "fuzz/seeds/$target" -o "build/afl/out/$target" $dict -E "$runs" -t 1000 -G 2048 \
    -- "build/afl/fuzz/fuzz_$target" >"build/afl/$target.log" 2>&1 ||
    { tail -n 40 "build/afl/$target.log" >&2; exit 1; }
grep -E '^(execs_done|execs_per_sec|saved_crashes|saved_hangs|corpus_count)' \
    "build/afl/out/$target/default/fuzzer_stats"
[ -z "$(ls "build/afl/out/$target/default/crashes" 2>/dev/null)" ]
