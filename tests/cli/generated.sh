# Man pages and completion are up to date with cli/options.def; UPDATE=1 regenerates them.
if [ "${UPDATE:-0}" = 1 ]; then
    man=$SOURCE/docs/man
    completion=$SOURCE/cli/completion
else
    mkdir man completion
    man=man
    completion=completion
fi
wb --generate man $man
for shell in bash zsh fish; do
    wb --generate $shell $completion
done
diff -ru "$SOURCE/docs/man" $man
diff -ru "$SOURCE/cli/completion" $completion
# Completion offers exactly the dtypes to which a tensor can be converted.
sed -n 's/^| \([A-Z0-9_]*\) | [0-9]* | 1 |.*/\1/p' "$SOURCE/docs/dtypes.md" | tr A-Z a-z | sort >have
COLUMNS=1000 wb help export | sed -n '/--dtype/,/--slice/p' | tr ', ' '\n\n' |
    grep -x '[a-z]*[0-9][a-z0-9_]*\|bool' | sort -u >listed
diff have listed
# Every page can be formatted without a warning.
if command -v groff >/dev/null; then
    for page in "$SOURCE"/docs/man/*.1; do
        groff -ww -man -Tascii "$page" >page.txt 2>warnings
        [ ! -s warnings ] || { cat warnings; exit 1; }
        [ -s page.txt ]
    done
fi
