# The shared library is compatible with the last release, and scripts/abi.sh reports incompatible changes.
set -eu
[ "$(uname -m)" = x86_64 ] || exit 77 # the baseline is that of this architecture
command -v abidiff >/dev/null || sh scripts/need.sh test || exit 77
command -v abidiff >/dev/null || exit 77
sh scripts/abi.sh check "$BUILD/libweighbridge.so"

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
touch "$scratch/library.so"
compare() { # HEADER EDIT: an empty library with an edited header
    rm -rf "$scratch/include"
    cp -r include "$scratch/include"
    sed -i "$2" "$scratch/include/weighbridge/$1"
    if cmp -s "include/weighbridge/$1" "$scratch/include/weighbridge/$1"; then
        echo "$1 is not changed by $2" >&2
        exit 1
    fi
    sh scripts/abi.sh stub "$scratch/library.so" "$scratch/include"
    sh scripts/abi.sh check "$scratch/library.so" "$scratch/include" 2>/dev/null
}
allowed() {
    compare "$@" || { echo "refused, though it is compatible: $1 $2" >&2; exit 1; }
}
refused() {
    if compare "$@"; then
        echo "not noticed: $1 $2" >&2
        exit 1
    fi
}
allowed tensor.h 's|^    uint32_t storing;.*|&\n    uint64_t later;|'
allowed model.h 's|^WB_API const char \*wb_format(.*|&\nWB_API int wb_later(void);|'
allowed base.h 's|WB_ERROR_CANCELLED = 10|&, WB_ERROR_LATER = 11|'
refused tensor.h '/^    uint64_t elements;/d'
refused tensor.h 's|^    uint32_t storing;.*|&\n    uint32_t later;|' # in the padding of the old one
refused load.h 's|^    uint64_t upload_ns;.*|&\n    uint64_t middle;|'
refused base.h 's|^} wb_error;|    uint64_t later;\n&|'
refused base.h 's|WB_ERROR_IO = 3|WB_ERROR_IO = 33|'
refused model.h '/^WB_API const char \*wb_format(/d'
refused model.h 's|wb_file_count(const wb_model \*model)|wb_file_count(const wb_model *model, int later)|'
# The map hides a symbol.
sed '/ wb_format;/d' cmake/weighbridge.map >"$scratch/map"
sh scripts/abi.sh stub "$scratch/library.so" include "$scratch/map"
if sh scripts/abi.sh check "$scratch/library.so" 2>/dev/null; then
    echo "not noticed: a symbol is missing in the map" >&2
    exit 1
fi

# Symbols of former releases stay in their nodes of the map; new symbols are added to the node of this version.
mkdir -p "$scratch/tree/scripts"
cp -r include cmake src docs "$scratch/tree"
cp scripts/generate.sh "$scratch/tree/scripts"
cd "$scratch/tree"
sed -i 's/^#define WB_VERSION_MINOR .*/#define WB_VERSION_MINOR 99/' include/weighbridge/base.h
sed -i 's|^WB_API const char \*wb_format(.*|&\nWB_API int wb_later(void);|' include/weighbridge/model.h
sed '/^#/d' cmake/weighbridge.map >before
sh scripts/generate.sh
sed '/^#/d' cmake/weighbridge.map >after
{
    cat before
    printf 'WEIGHBRIDGE_0.99 {\nglobal:\n    wb_later;\n} %s;\n' \
        "$(sed -n 's/^\(WEIGHBRIDGE_[0-9.]*\) .*/\1/p' before | tail -n 1)"
} | cmp - after
sed -i '/^WB_API const char \*wb_format(/d' include/weighbridge/model.h
if sh scripts/generate.sh 2>/dev/null; then
    echo "not noticed: a released symbol is not declared any more" >&2
    exit 1
fi
