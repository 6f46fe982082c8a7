#!/bin/sh
# Measures the cost of the hardening options (cmake/harden.cmake): bench/harden.sh [-n SAMPLES] [CASE…]. Runs the
# benchmark programs with and without these options in turn, with the program without them as the peer of each case;
# the ratios are the times with the options, divided by those without.
# "median of ratios" is the median of the ratios of all rounds.
set -eu
cd "$(dirname "$0")/.."
top=$PWD
samples=
if [ "${1:-}" = -n ]; then
    samples="-n $2"
    shift 2
fi
[ $# -gt 0 ] || set -- open.safetensors.300 open.safetensors.92160 tokenizer.json.pairs get.cached hash.values \
    decode.Q4_K decode.Q8_0 encode.Q4_K encode.Q8_0 convert.q8_0
common='-DCMAKE_BUILD_TYPE=Release -DWEIGHBRIDGE_BENCH=ON'
for kind in hardened plain; do
    on=ON
    [ $kind = hardened ] || on=OFF
    # Both options are passed, because the cache of cmake keeps them.
    cmake -S . -B build/bench-$kind $common -DWEIGHBRIDGE_HARDEN=$on >/dev/null
    cmake --build build/bench-$kind --target bench_all >/dev/null
done
made=build/bench-harden
rm -rf $made/cases $made/peers
mkdir -p $made/cases $made/peers/plain
ln -s "$top/build/bench-plain/bench/worker" $made/peers/plain/run
# Replaces the peer of each case by the program without the options.
for case in bench/cases/*; do
    sed -e '/^peer:/d' -e 's/^ours: worker \(.*\)/&\npeer: plain \1/' "$case" >"$made/cases/${case##*/}"
done
cd $made
PATH=$top/build/bench-hardened/bench:$PATH
unset WB_CPU_DISABLE
printf '[\n]\n' >results.json
driver -c "$top/$made/cases" -p "$top/$made/peers" -o results.json $samples "$@" >log || { cat log; exit 1; }
python3 - <<'P'
import json
import statistics

print(f"{'case':28} {'hardened':>10} {'plain':>10}  unit  median of ratios  ratio of fastest samples")
for case in json.load(open("results.json")):
    ours, plain = case["samples_ours"], case["samples_peer"]
    pairs = statistics.median(a / b for a, b in zip(ours, plain))
    print(f"{case['case']:28} {case['ours']:10.4g} {case['peer']:10.4g}  {case['unit']:4}  {pairs:16.3f}"
          f"  {min(ours) / min(plain):24.3f}")
P
