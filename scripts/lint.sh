#!/bin/sh
# Runs clang-tidy, with the checks in .clang-tidy, on the sources of a build.
# Usage: lint.sh BUILD all|quick [FILE...]
# "quick" omits the static analyser, which takes 90 % of the time. Uses two processes. The result of a file
# is cached in BUILD/lint until the file or a header changes.
set -eu
cd "$(dirname "$0")/.."
build=$1/lint/$2
case $2 in
all) checks= ;;
quick) checks=-clang-analyzer-* ;;
*) exit 2 ;;
esac
compiled=$1/compile_commands.json
shift 2
[ $# -gt 0 ] || set -- $(find src cli -name '*.c' | LC_ALL=C sort)
mkdir -p "$build"
# Remove the gcc flags that clang does not support.
sed 's/ -mmem[a-z]*-strategy=[^ ]*//g; s/ [^ ]*-mmem[a-z]*-strategy=[^ ]*"//g' "$compiled" >"$build/compile_commands.json"
headers=$( (cat .clang-tidy; find src cli include -name '*.h' -o -name '*.def' | LC_ALL=C sort | xargs cat) | cksum)
for file; do
    stamp=$build/$(echo "$file" | tr / _)
    echo "$headers $(cksum <"$file")" >"$stamp.now"
    cmp -s "$stamp.now" "$stamp.ok" || echo "$file"
done | xargs -r -P 2 -n 4 sh -c '
    build=$1 checks=$2
    shift 2
    clang-tidy-19 -p "$build" --checks="$checks" --quiet "$@" 2>/dev/null || exit 1
    for file; do
        stamp=$build/$(echo "$file" | tr / _)
        mv "$stamp.now" "$stamp.ok"
    done' sh "$build" "$checks"
