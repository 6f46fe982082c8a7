# The C code of the README and the pages compiles: a program as it is, and single lines within a function that
# declares the variables of the surrounding text.
set -eu
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cat >"$scratch/around.h" <<'H'
#include <stdio.h>
#include <stdlib.h>
#include <weighbridge.h>

typedef unsigned long long CUdeviceptr;
void use(const void *bytes);
void launch(CUdeviceptr at, uint64_t section);
extern wb_model *model;
extern wb_error error;
extern uint64_t rows, columns, i;
extern const void *bytes;
extern size_t n;
H
count=0
for page in README.md docs/*.md; do
    awk -v to="$scratch/$(basename "$page")." '/^```c$/ { file = to (++n) ".part"; next }
        /^```/ { file = "" } file != "" { print > file }' "$page"
done
for part in "$scratch"/*.part; do
    if grep -q '^int main' "$part"; then
        cp "$part" "$part.c"
    else
        printf '#include "around.h"\nvoid lines(void);\nvoid lines(void)\n{\n%s\n}\n' "$(cat "$part")" >"$part.c"
    fi
    gcc -std=c11 -Wall -Wextra -Werror -Wno-unused-variable -Wno-unused-but-set-variable -Iinclude -I"$scratch" \
        -fsyntax-only "$part.c"
    count=$((count + 1))
done
[ "$count" -ge 7 ]
