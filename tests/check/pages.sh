# The C code of the README and the pages compiles without a warning and runs under valgrind. A page has complete
# programs, functions, which a program of tests/pages calls, or single lines within a function.
set -eu
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
strict="-std=c11 -g -Wall -Wextra -Werror -Iinclude -I$scratch"
count=0
for page in README.md docs/*.md; do
    awk -v to="$scratch/$(basename "$page")." '/^```c$/ { file = to (++n) ".part"; next }
        /^```/ { file = "" } file != "" { print > file }' "$page"
done
for part in "$scratch"/*.part; do
    page=$(basename "$part" | sed 's/[.]md[.].*//')
    if grep -q '^int main' "$part"; then
        cp "$part" "$scratch/$page.main.c"
        gcc $strict "$scratch/$page.main.c" "$BUILD/libweighbridge-net.a" "$BUILD/libweighbridge.a" -lm -ldl -lpthread -o "$scratch/$page.main"
    elif grep -q '^static' "$part"; then
        cat "$part" >>"$scratch/$page.h"
    else
        printf '#include <stdio.h>\n#include <weighbridge.h>\nvoid lines(void);\nvoid lines(void)\n{\n%s\n}\n' \
            "$(cat "$part")" >"$part.c"
        gcc $strict -fsyntax-only "$part.c"
    fi
    count=$((count + 1))
done
[ "$count" -ge 7 ]

run() { # EXPECTED STATUS, COMMAND...
    expected=$1
    shift
    status=0
    valgrind -q --error-exitcode=99 --leak-check=full "$@" >"$scratch/output" 2>&1 || status=$?
    [ "$status" = "$expected" ] || { cat "$scratch/output"; exit 1; }
}
model=tests/data/twins/llama
run 0 "$scratch/quick-start.main" "$model"
grep -q '^model.norm.weight F16 8$' "$scratch/output"
run 1 "$scratch/quick-start.main" "$scratch/none"
run 2 "$scratch/quick-start.main"
grep -qx 'usage: list PATH' "$scratch/output"

run 0 "$scratch/net.main" "$model"
grep -qx '[0-9]* tensors' "$scratch/output"
run 1 "$scratch/net.main" https://
grep -q 'the address is not valid' "$scratch/output"

# Every page with functions has a program that calls them.
for functions in "$scratch"/*.h; do
    page=$(basename "$functions" .h)
    gcc $strict "tests/pages/$page.c" "$BUILD/libweighbridge.a" -lm -ldl -lpthread -o "$scratch/$page"
    run 0 "$scratch/$page" "$model" "$scratch/written.gguf"
    cp "$scratch/output" "$scratch/$page.output"
done
grep -qx 'attention.v.weight: rows 12 to 16 of attention.qkv.weight, scales 0 bytes behind the values' \
    "$scratch/provider.output"
