#!/bin/sh
# Copies the counts in docs/counts, which the test runs write, to the table in docs/reliability.md: in a row
# with <!--NAME-->…<!---->, the text between the marks is replaced. With --check, only reports if table and
# counts differ.
set -eu
cd "$(dirname "$0")/.."
page=docs/reliability.md
made=$(mktemp)
trap 'rm -f "$made" "$made.next"' EXIT
cp "$page" "$made"
for file in docs/counts/*; do
    [ -f "$file" ] || continue
    name=$(basename "$file")
    # Insert thousands separators; use the first line only.
    text=$(sed -n '1s/^[a-z_]*: //p' "$file" |
        sed -E ':a; s/([0-9])([0-9]{3})($|[^0-9])/\1,\2\3/; ta; s/, 0 failed//')
    awk -v open="<!--$name-->" -v text="$text" '{
        at = index($0, open)
        rest = at ? substr($0, at + length(open)) : ""
        end = index(rest, "<!---->")
        if (end) $0 = substr($0, 1, at + length(open) - 1) text substr(rest, end)
        print
    }' "$made" >"$made.next"
    mv "$made.next" "$made"
done
if [ "${1:-}" = --check ]; then
    cmp -s "$made" "$page" || { echo "$page differs from docs/counts; run scripts/reliability.sh" >&2; exit 1; }
else
    cp "$made" "$page"
fi
