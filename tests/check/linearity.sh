#!/bin/sh
# The time of opening is proportional to the length of the header, for valid and for hostile headers. The test
# counts instructions, so its result is the same on every machine and under any load. A header of twice the length
# costs at most 2.2 times as many instructions. A hostile header costs at most twice as many as a valid header of
# the same length, number of tensors and style of entries. (Style: either dtypes and shapes repeat, which makes a
# header cheaper to read, or each entry has its own.) The same holds for wb diff of two headers.
set -eu
if ! command -v valgrind >/dev/null; then
    echo "valgrind is not installed: nothing was counted"
    exit 0
fi
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
for tool in linearity linearity_gguf; do
    ${CC:-cc} -std=c11 -O1 -g -Iinclude tests/tools/$tool.c "$BUILD/libweighbridge.a" -lm -ldl -lpthread \
        -o "$folder/$tool"
done

# callgrind counts each byte that "rep movsb" copies, which glibc uses for long copies. This setting makes glibc
# copy with vectors at every length.
GLIBC_TUNABLES=glibc.cpu.x86_rep_movsb_threshold=1000000000
export GLIBC_TUNABLES

# Counts the instructions of opening a header: count TOOL FAMILY BYTES [compatible]
count() {
    tool=$1
    shift
    valgrind --tool=callgrind --callgrind-out-file=/dev/null --toggle-collect=wb_open_source \
        "$folder/$tool" "$@" 2>"$folder/log" ||
        { cat "$folder/log" >&2; exit 1; }
    sed -n 's/^==[0-9]*== Collected : \([0-9]*\).*/\1/p' "$folder/log"
}

# Compares a family with itself at half the length, and with the valid family HONEST: compare TOOL FAMILY HONEST
# [compatible]
small=200000
compare() {
    tool=$1 family=$2 honest=$3
    shift 3
    one=$(count "$tool" "$family" $small "$@")
    two=$(count "$tool" "$family" $((2 * small)) "$@")
    eval "cost_${tool}_${family}_${1:-}=$two"
    awk -v name="$family ${1:-}" -v one="$one" -v two="$two" 'BEGIN {
        printf "%-32s %10d  twice the length %.2f times", name, two, two / one
        exit !(one > 0 && two / one <= 2.2) }' || { printf ' (too much)'; status=1; }
    if [ "$honest" != - ]; then
        eval "base=\$cost_${tool}_${honest}_${1:-}"
        awk -v base="$base" -v two="$two" 'BEGIN {
            printf ", %.2f times an honest one", two / base
            exit !(base > 0 && two / base <= 2) }' || { printf ' (too much)'; status=1; }
    fi
    echo
}

status=0
"$folder/linearity" --list >"$folder/families"
while read -r family honest; do
    compare linearity "$family" "$honest"
    compare linearity "$family" "$honest" compatible
done <"$folder/families"
"$folder/linearity_gguf" --list >"$folder/families"
while read -r family honest; do
    compare linearity_gguf "$family" "$honest"
done <"$folder/families"

# The time of wb diff is proportional to the number of metadata keys, also if their order or all keys differ.
python3 -B - "$folder" <<'P'
import json, struct, sys
def write(name, count, key="key", value="v" * 40, step=1):
    meta = {f"{key}{i}": value for i in range(count)[::step]}
    header = json.dumps({"__metadata__": meta, "t": {"dtype": "F32", "shape": [1], "data_offsets": [0, 4]}}).encode()
    open(f"{sys.argv[1]}/{name}.{count}.safetensors", "wb").write(struct.pack("<Q", len(header)) + header + bytes(4))
for count in 2000, 4000:
    write("base", count)
    write("values", count, value="w" * 40)
    write("order", count, step=-1)
    write("keys", count, key="other")
P
for other in values order keys; do
    for n in 2000 4000; do
        code=0
        valgrind --tool=callgrind --callgrind-out-file=/dev/null "$BUILD/wb" diff "$folder/base.$n.safetensors" \
            "$folder/$other.$n.safetensors" >"$folder/out" 2>"$folder/log" || code=$?
        [ "$code" = 0 ] || [ "$code" = 1 ] || { cat "$folder/log" >&2; exit 1; }
        sed -n 's/^==[0-9]*== Collected : \([0-9]*\).*/\1/p' "$folder/log"
    done | tr '\n' ' ' | awk -v name="wb diff, $other" '{
        printf "%-32s %10d  twice the length %.2f times\n", name, $2, $2 / $1
        exit !($1 > 0 && $2 / $1 <= 2.2) }' || status=1
done
exit $status
