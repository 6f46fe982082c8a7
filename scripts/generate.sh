#!/bin/sh
# Writes every file that is generated from a table in the source. With --check, fails if one of them
# is not up to date. The generated files are committed, so the build needs only a compiler.
#
#   src/dtype/dtypes.def    -> include/weighbridge/dtypes.h, docs/dtypes.md
#   src/core/findings.def   -> docs/findings.md
#   include/weighbridge.h   -> cmake/weighbridge.map, the symbols the shared library shows
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

Generated from `src/dtype/dtypes.def`. Names are case-insensitive in options and function arguments. The
number is the value of `wb_dtype`; numbers below 96 are ggml's type numbers. Plain types have 1 value per
block. Plain types of fewer than 8 bits are packed without gaps: element *i* begins at bit *i · bits*, lowest
bit first. For all other types, a block holds the given number of values in the given number of bits.

| name | number | values per block | bits per block | description |
|---|---|---|---|---|
H
    rows src/dtype/dtypes.def |
        awk -F'\t' '{ printf "| %s | %s | %s | %s | %s |\n", $1, $2, $3, $4, $9 }'
} >"$out/docs/dtypes.md"

{
    cat <<'H'
# Findings

Generated from `src/core/findings.def`. The code is in `wb_error.code`, `wb_finding.code` and the `code`
field of `--json`. Codes are never renamed.

| code | advice |
|---|---|
H
    rows src/core/findings.def | awk -F'\t' '{ printf "| `%s` | %s |\n", $2, $3 }'
} >"$out/docs/findings.md"

{
    printf '# Generated from include/weighbridge.h by scripts/generate.sh.\nWEIGHBRIDGE_0.1 {\nglobal:\n'
    sed -n 's/^WB_API .*[ *]\(wb_[a-z0-9_]*\)(.*/    \1;/p' include/weighbridge.h | LC_ALL=C sort
    printf 'local:\n    *;\n};\n'
} >"$out/cmake/weighbridge.map"

if [ "$out" != . ]; then
    status=0
    for file in include/weighbridge/dtypes.h docs/dtypes.md docs/findings.md \
        cmake/weighbridge.map; do
        if ! cmp -s "$out/$file" "$file"; then
            echo "$file is not up to date: run scripts/generate.sh" >&2
            status=1
        fi
    done
    exit $status
fi
