# The three commands of the README build and install without options. The examples build against the installed
# package with CMake, pkg-config and plain cc, and run. DESTDIR works, and so does an installed tree that was moved.
set -eu
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
model=$scratch/model.safetensors
printf '\070\0\0\0\0\0\0\0{"t":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}}  \0\0\200\077\0\0\0\300' >"$model"

fail() {
    echo "$*" >&2
    exit 1
}
expect() { # TEXT COMMAND...: the command's output has the text
    wanted=$1
    shift
    output=$("$@" 2>&1) || fail "$*: $output"
    case $output in
    *"$wanted"*) ;;
    *) fail "$*: expected $wanted, got $output" ;;
    esac
}
quietly() {
    "$@" >"$scratch/log" 2>&1 || { cat "$scratch/log" >&2; exit 1; }
}

version=$(sed -n 's/^project(weighbridge VERSION \([0-9.]*\).*/\1/p' CMakeLists.txt)
quietly cmake -S . -B "$scratch/b"
quietly cmake --build "$scratch/b" -j "$(nproc)"
! grep -q 'cmocka' "$scratch/b/CMakeCache.txt" || fail "a plain build looks for test packages"

# Installs below a directory (DESTDIR), as packages are built.
quietly env DESTDIR="$scratch/destdir" cmake --install "$scratch/b"
root=$scratch/destdir/usr/local
expect "$version" "$root/bin/wb" --version
python3 -m json.tool "$root/share/weighbridge/wb.schema.json" >/dev/null || fail "the JSON Schema is not installed"
[ "$(readlink "$root/bin/wb")" = weighbridge ] || fail "wb is no relative link to weighbridge"
[ "$(readlink "$root"/lib*/libweighbridge.so || readlink "$root"/lib/*/libweighbridge.so)" = libweighbridge.so.0 ] ||
    fail "libweighbridge.so is no link to its soname"
! grep -r "$scratch" "$root" || fail "the place of the build got into what is installed"

# Installs into a prefix, which is then moved.
quietly cmake --install "$scratch/b" --prefix "$scratch/first"
mv "$scratch/first" "$scratch/prefix"
prefix=$scratch/prefix
expect "$version" "$prefix/bin/wb" --version
expect "$version" "$prefix/bin/weighbridge" --version
libdir=$(dirname "$(find "$prefix" -name libweighbridge.a)")
export PKG_CONFIG_PATH="$libdir/pkgconfig" LD_LIBRARY_PATH="$libdir"
[ "$(pkg-config --modversion weighbridge)" = "$version" ] || fail "pkg-config has another version"

run_all() { # SUFFIX
    expect "F32" "$scratch/list$1" "$model"
    expect "[2] 8 bytes" "$scratch/list$1" "$model"
    expect "t                                                  2" "$scratch/zero_copy$1" "$model"
    expect "first values: 1 -2" "$scratch/own_source$1" "$model"
    expect "F32      2" "$scratch/totals$1" "$model"
    expect "layer 0 attention.qkv.weight" "$scratch/engine$1" demo/tiny-pycode
    expect "def add(" "$scratch/llama$1" -n 1 "def add(" demo/tiny-pycode
}
strict="-O1 -Wall -Wextra -Wpedantic -Werror"
build_all() { # SUFFIX FLAGS...
    suffix=$1
    shift
    for example in list zero_copy own_source engine; do
        cc -std=c11 $strict "examples/$example.c" "$@" -lm -o "$scratch/$example$suffix"
    done
    cc -std=c11 $strict examples/llama/*.c "$@" -lm -o "$scratch/llama$suffix"
    c++ -std=c++17 $strict examples/totals.cc "$@" -o "$scratch/totals$suffix"
    run_all "$suffix"
}
build_all _pc $(pkg-config --cflags --libs weighbridge)
ldd "$scratch/list_pc" | grep -q "libweighbridge.so.0 => $libdir" || fail "not linked to the shared library"
build_all _pcs -static $(pkg-config --static --cflags --libs weighbridge)

quietly cmake -S examples -B "$scratch/examples" -DCMAKE_PREFIX_PATH="$prefix"
quietly cmake --build "$scratch/examples" -j "$(nproc)"
cp "$scratch/examples/"*_weighbridge "$scratch/examples/"*_static "$scratch"
run_all _weighbridge
run_all _static
! ldd "$scratch/list_static" | grep -q libweighbridge || fail "weighbridge::static is not static"
