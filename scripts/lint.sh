#!/bin/sh
# Runs clang-tidy, with the checks of .clang-tidy, over the sources of a build: lint.sh BUILD [FILE...]
# Two processes; the result of a file is kept in BUILD/lint until it or a header changes.
set -eu
cd "$(dirname "$0")/.."
build=$1
shift
[ $# -gt 0 ] || set -- $(find src cli -name '*.c' | LC_ALL=C sort)
mkdir -p "$build/lint"
# Without the flags of gcc that clang does not know.
sed 's/ -mmem[a-z]*-strategy=[^ ]*//g; s/ [^ ]*-mmem[a-z]*-strategy=[^ ]*"//g' "$build/compile_commands.json" >"$build/lint/compile_commands.json"
headers=$( (cat .clang-tidy; find src cli include -name '*.h' -o -name '*.def' | LC_ALL=C sort | xargs cat) | cksum)
for file; do
    stamp=$build/lint/$(echo "$file" | tr / _)
    echo "$headers $(cksum <"$file")" >"$stamp.now"
    cmp -s "$stamp.now" "$stamp.ok" || echo "$file"
done | xargs -P 2 -n 4 sh -c '
    build=$1
    shift
    clang-tidy-19 -p "$build/lint" --quiet "$@" 2>/dev/null || exit 1
    for file; do
        stamp=$build/lint/$(echo "$file" | tr / _)
        mv "$stamp.now" "$stamp.ok"
    done' sh "$build"
