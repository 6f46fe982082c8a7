#!/bin/sh
# Writes every file that is generated from a table in the source. With --check, fails if one of them
# is not up to date. The generated files are committed, so the build needs only a compiler.
#
#   src/dtype/dtypes.def    -> include/weighbridge/dtypes.h, docs/dtypes.md
#   src/core/findings.def   -> docs/findings.md
#   include/weighbridge/*.h -> cmake/weighbridge.map, the symbols that the shared library exports;
#                              experimental.h is left out, it belongs to the static library alone
#   include/weighbridge/net.h -> cmake/weighbridge-net.map, those of libweighbridge-net
#
# The map has one node for each release MAJOR.MINOR. Nodes of former releases are never changed: their
# symbols stay as they are in the committed map. Symbols that no former node has make up the node of
# the version in weighbridge/base.h, which follows the former ones.
set -eu
cd "$(dirname "$0")/.."
out=.
if [ "${1:-}" = --check ]; then
    out=$(mktemp -d)
    trap 'rm -rf "$out"' EXIT
fi
mkdir -p "$out/include/weighbridge" "$out/docs" "$out/cmake"

# Table rows as fields split by tabs: WB__X(a, b, "c, d") -> a<tab>b<tab>c, d
rows() {
    sed -n 's/^WB__[A-Z]*(\(.*\))$/\1/p' "$1" | awk '{
        field = ""; quoted = 0; line = ""
        for (i = 1; i <= length($0); i++) {
            c = substr($0, i, 1)
            if (c == "\"") { quoted = !quoted; continue }
            if (c == "," && !quoted) { line = line field "\t"; field = ""; i++; continue }
            field = field c
        }
        print line field
    }'
}

{
    cat <<'H'
/*
 * weighbridge/dtypes.h: the element types. Generated from src/dtype/dtypes.def by
 * scripts/generate.sh; do not edit.
 *
 * The numbers are part of the ABI and are never reused. Numbers below 96 are ggml's type numbers.
 */
#ifndef WEIGHBRIDGE_DTYPES_H
#define WEIGHBRIDGE_DTYPES_H

typedef enum wb_dtype {
H
    rows src/dtype/dtypes.def | awk -F'\t' '{
        printf "%s    WB_DTYPE_%s = %s%s /* %s */", (NR > 1 ? "\n" : ""), $1, $2, "\001", $9
    } END { printf "\n" }' | awk '{ l[NR] = $0 } END {
        for (i = 1; i <= NR; i++) { sub("\001", i < NR ? "," : "", l[i]); print l[i] }
    }'
    printf '} wb_dtype;\n\n#endif\n'
} >"$out/include/weighbridge/dtypes.h"

{
    cat <<'H'
# Element types

This page is generated from `src/dtype/dtypes.def`. It lists the element types that weighbridge knows. Their
names are case-insensitive in options and function arguments. The number of a type is the value of `wb_dtype`;
numbers below 96 are ggml's type numbers.

A plain type has one value per block. Plain types of fewer than 8 bits are packed without gaps: element *i*
begins at bit *i · bits*, lowest bit first. A block of a quantized type holds several values and their scales.

| name of the type | number in `wb_dtype` | values per block | bits per block | description; for quantized types: bits per value and contents of a block |
|---|---|---|---|---|
H
    rows src/dtype/dtypes.def |
        awk -F'\t' '{ printf "| %s | %s | %s | %s | %s |\n", $1, $2, $3, $4, $9 }'
} >"$out/docs/dtypes.md"

{
    cat <<'H'
# Findings

This page is generated from `src/core/findings.def`. It lists the codes of errors and findings, with the advice
that weighbridge gives for each code. Programs find the code in `wb_error.code`, in `wb_finding.code` and in the
`code` field of the output of `--json`. Codes are never renamed.

| code of an error or finding | advice to the user (empty if the message is sufficient) |
|---|---|
H
    rows src/core/findings.def | awk -F'\t' '{ printf "| `%s` | %s |\n", $2, $3 }'
} >"$out/docs/findings.md"

version=$(sed -n 's/^#define WB_VERSION_M[AI][JN]OR //p' include/weighbridge/base.h | paste -sd.)
make_map() { # MAP NODE HEADER...: the symbols that the headers declare
    map=$1
    node=$2
    shift 2
    for header; do
        sed -n 's/^WB_API .*[ *]\(wb_[a-z0-9_]*\)(.*/\1/p' "$header"
    done | LC_ALL=C sort | awk -v node="${node}_$version" -v prefix="^${node}_[0-9]" -v map="$map" '
    BEGIN {
        printf "# Generated from include/weighbridge/*.h by scripts/generate.sh.\n"
        while ((getline line < map) > 0) {
            if (line ~ prefix) {
                split(line, word, " ")
                is_former = word[1] != node
                if (is_former) last = word[1]
            }
            if (line ~ /^#/ || !is_former) continue
            print line
            if (line ~ /^    wb_/) { gsub(/[ ;]/, "", line); former[line] = word[1] }
        }
        printf "%s {\nglobal:\n", node
    }
    { declared[$1] = 1; if (!($1 in former)) printf "    %s;\n", $1 }
    END {
        # The first node hides everything that no node names.
        printf "%s}%s;\n", last == "" ? "local:\n    *;\n" : "", last == "" ? "" : " " last
        for (symbol in former) {
            if (!(symbol in declared)) {
                print symbol " of " former[symbol] " is not declared any more" >"/dev/stderr"
                exit 1
            }
        }
    }' >"$out/$map.new" # the former map is read meanwhile
    mv "$out/$map.new" "$out/$map"
}
make_map cmake/weighbridge.map WEIGHBRIDGE \
    $(ls include/weighbridge/*.h | grep -v -e /experimental.h -e /net.h)
make_map cmake/weighbridge-net.map WEIGHBRIDGE_NET include/weighbridge/net.h

if [ "$out" != . ]; then
    status=0
    for file in include/weighbridge/dtypes.h docs/dtypes.md docs/findings.md \
        cmake/weighbridge.map cmake/weighbridge-net.map; do
        if ! cmp -s "$out/$file" "$file"; then
            echo "$file is not up to date: run scripts/generate.sh" >&2
            status=1
        fi
    done
    exit $status
fi
