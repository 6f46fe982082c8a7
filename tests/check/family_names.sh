# Knowledge about families is in their tables (scripts/check_families.sh). The script itself is tested with trees that
# violate its rules.
set -eu
sh scripts/check_families.sh
tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT
mkdir -p "$tree/src/arch/families" "$tree/scripts"
printf 'family fox : llama\ntype fox_text # a comment\nclass FoxModel\n' >"$tree/src/arch/families/fox.family"
echo 'src/a.c fox a hook' >"$tree/scripts/families.allow"
printf 'hint("fox"); /* "FoxModel" */\n/* "fox_text" */\n * "fox_text"\n' >"$tree/src/a.c"
sh scripts/check_families.sh "$tree" >"$tree/answer"
refused() { # text
    if sh scripts/check_families.sh "$tree" >"$tree/answer" 2>&1; then
        echo "accepted: $1" >&2
        exit 1
    fi
    grep -qF "$1" "$tree/answer"
}
echo 'is("fox_text.")' >"$tree/src/b.c"
refused 'a line of C names a family: src/b.c fox_text.'
echo 'src/b.c * other words' >>"$tree/scripts/families.allow"
sh scripts/check_families.sh "$tree" >"$tree/answer"
echo 'nothing' >"$tree/src/b.c"
refused 'a row that no line needs: src/b.c *'
sed -i '$d' "$tree/scripts/families.allow"
i=0
while [ $i -lt 79 ]; do
    i=$((i + 1))
    echo "let x$i = 1" >>"$tree/src/arch/families/fox.family"
done
refused 'the median of the lines per table exceeds 80'
