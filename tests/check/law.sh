# The dependency law holds for includes and for symbols, and the checker reports violations.
set -eu
sh scripts/check_law.sh . "$BUILD/CMakeFiles/objects.dir/src" "$BUILD/CMakeFiles/net_objects.dir/src"

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
mkdir -p "$scratch/src/core" "$scratch/src/io" "$scratch/cli"
breaks() { # FILE INCLUDE
    printf '#include "%s"\n' "$2" >"$scratch/$1"
    if sh scripts/check_law.sh "$scratch" >/dev/null; then
        echo "not seen: $1 includes $2" >&2
        exit 1
    fi
    rm "$scratch/$1"
}
printf '#include "core/core.h"\n' >"$scratch/src/io/good.c"
sh scripts/check_law.sh "$scratch"
breaks src/core/a.c io/io.h
breaks src/io/a.h json/json.h
breaks src/io/a.c core.h
breaks src/io/a.c weighbridge.h
breaks src/io/a.c ../core/core.h
breaks cli/a.c core/core.h
breaks cli/a.c ../src/core/core.h

# Calls: io may call core, core may not call io, and two files of io may not call each other.
compile() { # FILE CODE
    printf '%s\n' "$2" >"$scratch/src/$1"
    mkdir -p "$scratch/objects/${1%/*}"
    cc -c "$scratch/src/$1" -o "$scratch/objects/$1.o"
}
compile core/low.c 'int wb__low(void) { return 1; }'
compile io/one.c 'int wb__low(void), wb__one(void); int wb__one(void) { return wb__low(); }'
printf '#include "core/core.h"\n' >"$scratch/src/io/good.c"
sh scripts/check_law.sh "$scratch" "$scratch/objects"
compile core/up.c 'int wb__one(void), wb__up(void); int wb__up(void) { return wb__one(); }'
if sh scripts/check_law.sh "$scratch" "$scratch/objects" >"$scratch/said"; then
    echo "not seen: a call from core to io" >&2
    exit 1
fi
grep -q 'core may not use wb__one' "$scratch/said"
rm "$scratch/src/core/up.c"
compile io/two.c 'int wb__one(void), wb__two(void); int wb__two(void) { return wb__one(); }'
compile io/one.c 'int wb__two(void), wb__one(void); int wb__one(void) { return wb__two(); }'
compile core/low.c 'int wb__low(void); int wb__low(void) { return 1; }'
if sh scripts/check_law.sh "$scratch" "$scratch/objects" >"$scratch/said"; then
    echo "not seen: a cycle between two files" >&2
    exit 1
fi
grep -q 'is in a cycle' "$scratch/said"
