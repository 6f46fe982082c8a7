#!/bin/sh
# Checks that knowledge about families is in their tables:
#   - the median of the lines per table is at most 80; comments and empty lines do not count
#   - no line of C outside the tables has the name of a family in quotes, except those that
#     scripts/families.allow lists; rows of this list that no line needs are refused
# Prints both numbers. Another directory with the layout of this one can be checked: check_families.sh [DIRECTORY]
set -eu
scripts=$(cd "$(dirname "$0")" && pwd)
cd "${1:-$scripts/..}"
export LC_ALL=C
status=0
set -- src/arch/families/*.family
[ -e "$1" ] || { echo "there are no tables" >&2; exit 1; }

median=$(for table; do grep -cvE '^[[:space:]]*(#|$)' "$table"; done | sort -n |
    awk '{ n[NR] = $1 } END { print n[int((NR + 1) / 2)], n[NR] }')
echo "$# tables, lines per table: median ${median% *}, maximum ${median#* }"
if [ "${median% *}" -gt 80 ]; then
    echo "the median of the lines per table exceeds 80" >&2
    status=1
fi

# The names: of tables, architectures, model types and classes. "decoder" and the like are names of tables, too.
names=$(awk '{ sub(/#.*/, "") } $1 == "family" { print $2 }
    $1 ~ /^(gguf|type|class)$/ { for (i = 2; i <= NF; i++) print $i }' "$@" | sort -u | paste -sd'|')
# FILE WORD for each line of code that has a name in quotes, also with a final dot, as in a prefix
find src -name '*.[ch]' ! -path 'src/arch/families/*' | sort | xargs grep -HnE "\"($names)\.?\"" | # file:line:text
    awk -F: '{ text = substr($0, length($1) + length($2) + 3); sub(/\/\*.*/, "", text) }
        text !~ /^[[:space:]]*\*/ { print $1 "\t" text }' |
    while IFS="$(printf '\t')" read -r file text; do
        printf '%s\n' "$text" | { grep -oE "\"($names)\.?\"" || true; } | tr -d '"' | sed "s|^|$file |"
    done | sort -u >"${TMPDIR:-/tmp}/family-names.$$"
trap 'rm -f "${TMPDIR:-/tmp}/family-names.$$"' EXIT
awk 'FNR == NR { if (/^[^#]/) allowed[$1 " " $2] = 0; next }
    $0 in allowed { allowed[$0]++; found++; next }
    $1 " *" in allowed { allowed[$1 " *"]++; found++; next }
    { print "a line of C names a family: " $0; wrong = 1 }
    END {
        for (row in allowed)
            if (!allowed[row]) { print "scripts/families.allow has a row that no line needs: " row; wrong = 1 }
        print "names of families outside the tables: " found + 0 ", all of them allowed hooks or other meanings"
        exit wrong
    }' scripts/families.allow "${TMPDIR:-/tmp}/family-names.$$" || status=1
exit $status
