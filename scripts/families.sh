#!/bin/sh
# Compiles the family tables to C: src/arch/families/*.family -> src/arch/families/*.c. The C files are committed, so
# the build needs only a C compiler. With --check, fails if one of them is not up to date.
set -eu
cd "$(dirname "$0")/.."
build=$(mktemp -d)
trap 'rm -rf "$build"' EXIT
mkdir "$build/c"
# The generator consists of the parser and of what the parser needs; it does not need the compiled tables.
sources="src/core/*.c src/json/*.c src/arch/expr.c src/arch/families.c src/arch/spelling_list.c
    src/arch/family_expr.c src/arch/family_lexer.c src/arch/family_parser.c src/arch/family_rows.c
    src/arch/family_tensor.c src/arch/family_text.c src/arch/config_rows.c src/arch/config_words.c src/arch/model_facts.c"
# shellcheck disable=SC2086
"${CC:-cc}" -std=c11 -ffp-contract=off -D_POSIX_C_SOURCE=200809L -Iinclude -Isrc -o "$build/families" \
    scripts/families.c $sources -lm
"$build/families" "$build/c" src/arch/families/*.family
for file in "$build"/c/*.c; do
    clang-format-19 --style=file:.clang-format -i "$file"
done
if [ "${1:-}" != --check ]; then
    rm -f src/arch/families/*.c
    cp "$build"/c/*.c src/arch/families/
elif ! diff -rq --exclude='*.family' "$build/c" src/arch/families; then
    echo "src/arch/families is not up to date: run scripts/families.sh" >&2
    exit 1
fi
