# The library, the command and the Python module are built with the flags of cmake/harden.cmake, by default. The
# checks find each fault in a program that is built without the flags.
set -eu
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# Prints what a linked file lacks: lacks FILE
lacks() {
    readelf -W -h -l -d "$1" >"$scratch/elf"
    readelf -W --dyn-syms "$1" >"$scratch/symbols"
    grep -q 'Type: *DYN' "$scratch/elf" || echo "position independence"
    grep -q GNU_RELRO "$scratch/elf" || echo "relro"
    grep -Eq '\(FLAGS(_1)?\).*(BIND_NOW|NOW)' "$scratch/elf" || echo "now"
    grep -Eq 'GNU_STACK .* RW ' "$scratch/elf" || echo "noexecstack"
    ! grep -Eq 'LOAD .* RWE ' "$scratch/elf" || echo "pages that are either writable or executable"
    ! grep -q TEXTREL "$scratch/elf" || echo "code without relocations"
    grep -q ' __stack_chk_fail' "$scratch/symbols" || echo "stack protector"
    grep -Eq ' __[a-z]*_chk(@|$)' "$scratch/symbols" || echo "_FORTIFY_SOURCE"
}

# Reads paths of object files, and prints those that lack a property of GNU_PROPERTY notes: unmarked PROPERTY
unmarked() {
    while IFS= read -r object; do
        readelf -n "$object" | grep -q "$1" || echo "$object"
    done
}

status=0
for file in "$WB" "$BUILD/libweighbridge.so" "$BUILD/libweighbridge-net.so" "$BUILD"/python/weighbridge/_core*.so; do
    missing=$(lacks "$file")
    # The module copies into no buffer of known size, so it calls no function that _FORTIFY_SOURCE replaces.
    case $file in
    */_core*) missing=$(echo "$missing" | grep -v _FORTIFY_SOURCE || true) ;;
    esac
    [ -z "$missing" ] || { printf '%s lacks:\n%s\n' "$file" "$missing" >&2; status=1; }
done
readelf -W -d "$WB" | grep -q 'FLAGS_1.*PIE' || { echo "$WB is not a PIE" >&2; status=1; }

expect_marks() { # PROPERTY PATHS; a path per line
    missing=$(echo "$2" | unmarked "$1")
    [ -z "$missing" ] || { printf 'without %s:\n%s\n' "$1" "$missing" >&2; status=1; }
}
objects=$(find "$BUILD/CMakeFiles/objects.dir" "$BUILD/CMakeFiles/command.dir" -name '*.o' | LC_ALL=C sort)
[ "$(echo "$objects" | wc -l)" -gt 100 ] || { echo "$BUILD has no object files" >&2; exit 1; }
case $(uname -m) in
x86_64) expect_marks 'IBT, SHSTK' "$objects" ;;
aarch64) expect_marks 'BTI, PAC' "$objects" ;;
esac
if command -v aarch64-linux-gnu-gcc >/dev/null; then
    cmake -S . -B "$scratch/arm" -DCMAKE_SYSTEM_NAME=Linux -DCMAKE_SYSTEM_PROCESSOR=aarch64 \
        -DCMAKE_C_COMPILER=aarch64-linux-gnu-gcc >"$scratch/log" || { cat "$scratch/log" >&2; exit 1; }
    make -C "$scratch/arm" src/core/memory.o >"$scratch/log" 2>&1 || { cat "$scratch/log" >&2; exit 1; }
    expect_marks 'BTI, PAC' "$(find "$scratch/arm" -name 'memory*.o')"
fi

# Without the flags.
printf '#include <string.h>\nint main(int c, char **v) { char b[9]; return strcpy(b, v[c - 1])[0]; }\n' \
    >"$scratch/weak.c"
${CC:-cc} -O2 -fno-pie -no-pie -fno-stack-protector -U_FORTIFY_SOURCE -Wl,-z,norelro,-z,lazy \
    -Wl,-z,execstack "$scratch/weak.c" -o "$scratch/weak" 2>"$scratch/log" || { cat "$scratch/log" >&2; exit 1; }
found=$(lacks "$scratch/weak" | wc -l)
[ "$found" -eq 6 ] || { echo "6 faults of a weak program, found $found" >&2; lacks "$scratch/weak" >&2; status=1; }
exit $status
