# The include rules hold, and the checker reports violations.
set -eu
sh scripts/check_law.sh

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
