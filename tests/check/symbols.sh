# The globals, prefixes, exported symbols and needed libraries of the build are as scripts/check_symbols.sh
# requires, and the script reports violations.
set -eu
sh scripts/check_symbols.sh "$BUILD"

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
told() { # WHAT: a library with this in it beside ours
    cp "$BUILD/libweighbridge.a" "$BUILD/libweighbridge.so" "$scratch"
    printf '%s\n' "$1" >"$scratch/extra.c"
    cc -c "$scratch/extra.c" -o "$scratch/extra.o"
    ar rs "$scratch/libweighbridge.a" "$scratch/extra.o"
    if sh scripts/check_symbols.sh "$scratch" 2>/dev/null; then
        echo "not seen: $1" >&2
        exit 1
    fi
}
told 'static int counter; int wb__next(void) { return ++counter; }'
told '_Thread_local int wb__mode = 1;'
told 'int connect(int, void *, unsigned); int wb__call(void) { return connect(0, 0, 0); }'
told 'int wb_net_open(void) { return 0; }'
told 'int weigh(void) { return 0; }'
