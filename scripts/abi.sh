#!/bin/sh
# Compares the ABI of a shared library with that of the last release.
#
#   abi.sh check LIBRARY [HEADERS]   with the newest tests/abi/weighbridge-MAJOR.MINOR.abi, by abidiff
#   abi.sh stub OUT [HEADERS [MAP]]  makes a library that has the declared functions, all empty
#   abi.sh write                     writes the baseline of this version: only before its release
#
# Compatible are new functions, new enumerators, and new members at the end of structs that begin with
# their size. Everything else fails, with abidiff's report. LIBRARY needs debug information.
set -eu
cd "$(dirname "$0")/.."
version=$(sed -n 's/^#define WB_VERSION_M[AI][JN]OR //p' include/weighbridge/base.h | paste -sd.)
baseline=$(ls tests/abi/weighbridge-*.abi 2>/dev/null | sort -V | tail -n 1)

stub() { # OUT HEADERS MAP
    folder=$(mktemp -d)
    {
        echo '#include "weighbridge.h"'
        for header in "$2"/weighbridge/*.h; do
            [ "${header##*/}" = experimental.h ] || [ "${header##*/}" = net.h ] ||
                awk '/^WB_API / { inside = 1; sub(/^WB_API /, "") }
                     inside { last = /;$/
                              sub(/ *WB_MUST_CHECK;$|;$/, "\n{\n    __builtin_trap();\n}")
                              print
                              if (last) inside = 0 }' "$header"
        done
    } >"$folder/stub.c"
    headers=$(realpath "$2") map=$(realpath "$3") out=$(realpath "$1")
    (cd "$folder" && gcc -std=c11 -g -w -shared -fPIC "-I$headers" "-Wl,--version-script=$map" \
        -Wl,-soname,libweighbridge.so.0 -Wl,--undefined-version stub.c -o "$out")
    rm -r "$folder"
}

case $1 in
check)
    report=$(mktemp)
    trap 'rm -f "$report"' EXIT
    abidiff --leaf-changes-only --no-added-syms --drop-private-types \
        --headers-dir2 "${3:-include}" "$baseline" "$2" >"$report" || [ $? -lt 128 ]
    grep -q '^Leaf changes summary' "$report" || [ ! -s "$report" ]
    # Its exit status does not distinguish growth from other changes, so the report is read.
    awk -v structs="$(sed -n 's/^WB__STRUCT(\(wb_[a-z0-9_]*\),.*/\1/p' src/core/abi.def | paste -sd' ')" '
        BEGIN { n = split(structs, name, " "); for (i = 1; i <= n; i++) grows[name[i]] = 1 }
        /^$/ || /^Leaf changes summary/ || /^Changed leaf types summary/ { next }
        /^Removed\/Changed\/Added/ { if ($0 !~ / 0 Removed, 0 Changed/) bad = 1; next }
        /^.struct / { type = $2; size = 0; if (!(type in grows)) bad = 1; next }
        /^.enum / { type = "enum"; next }
        /^  type size changed from/ { size = $5; if ($7 < size) bad = 1; next }
        /^  type size hasn.t changed/ { next }
        /^  [0-9]+ data member insertions?:/ { next }
        # A new member in the padding of the old struct holds any bytes in older programs.
        /^    .*, at offset [0-9]+ \(in bits\)/ {
            match($0, /at offset [0-9]+/)
            if (size == 0 || substr($0, RSTART + 10, RLENGTH - 10) + 0 < size) bad = 1
            next
        }
        type == "enum" && (/^  [0-9]+ enumerator insertions?:/ || /^    .* value /) { next }
        { bad = 1 }
        END { exit bad }' "$report" || { cat "$report" >&2; exit 1; }
    ;;
stub)
    stub "$2" "${3:-include}" "${4:-cmake/weighbridge.map}"
    ;;
write)
    baseline=tests/abi/weighbridge-$version.abi
    library=$(mktemp)
    stub "$library" include cmake/weighbridge.map
    mkdir -p tests/abi
    abidw --headers-dir include --drop-private-types --short-locs --no-comp-dir-path \
        --no-corpus-path --no-elf-needed --no-parameter-names --out-file "$baseline" "$library"
    rm "$library"
    ;;
*)
    sed -n '2,10s/^# \{0,1\}//p' "$0" >&2
    exit 4
    ;;
esac
