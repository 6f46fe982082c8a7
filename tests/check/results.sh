# Recorded results: a changed byte of code makes a result stale, a comment or an unrelated file does not. A failed
# test is not recorded. A test without a current record runs.
set -eu
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
mkdir -p "$scratch/scripts" "$scratch/src/core" "$scratch/src/io" "$scratch/src/convert" "$scratch/include" \
    "$scratch/tests/unit" "$scratch/tests/data" "$scratch/docs"
cp scripts/results.py scripts/if_stale.sh "$scratch/scripts"
cd "$scratch"
printf 'core\nio core\nconvert core io\n' >scripts/law.txt
echo 'int wb__low(void);' >src/core/core.h
echo '#include "core/core.h"
int wb__low(void) { return 1; /* one */ }' >src/core/low.c
echo '#include "core/core.h"' >src/io/io.h
echo 'int wb_convert(void) { return 2; }' >src/convert/convert_public.c
echo '#include "core/core.h"
int main(void) { return wb__low(); }' >tests/unit/low.c
echo 'int wb_convert(void);
int main(void) { return wb_convert(); }' >tests/unit/high.c
results() { python3 scripts/results.py "$@"; }
stale() { results stale preset.msan | paste -sd ' '; }
want() { # WHAT EXPECTED GOT
    [ "$2" = "$3" ] || { echo "$1: '$2' expected, '$3' found" >&2; exit 1; }
}

want "no record" "all high low" "$(stale)"
results record preset.msan
want "a record" "" "$(stale)"
results check preset.msan >/dev/null
sed -i 's/one/two/' src/core/low.c
echo text >docs/page.md
want "a comment and a page" "" "$(stale)"
sed -i 's/wb__low(void) {/wb__low( \/* none *\/ void )\n{/' src/core/low.c
want "white space" "" "$(stale)"
echo 'int wb_convert(void) { return 3; }' >src/convert/convert_public.c
want "code that one test reaches" "all high" "$(stale)"
echo '# A comment with an apostrophe: don'"'t"'
text="
# one
"' >scripts/preset.sh
results record preset.msan
sed -i 's/A comment/Another comment/' scripts/preset.sh
want "a comment of a script" "" "$(stale)"
sed -i 's/# one/# two/' scripts/preset.sh
want "a line of a string" "all high low" "$(stale)"
printf '# %s\ncat <<E\n# one\nE\n' title >scripts/preset.sh
results record preset.msan
sed -i 's/# one/# two/' scripts/preset.sh
want "a line of a here-document" "all high low" "$(stale)"
results record preset.msan
sed -i 's/return 1/return 4/' src/core/low.c
want "code that every test reaches" "all high low" "$(stale)"
results record preset.msan
printf '/* wraps: wb_convert\n * pread64 */\n' >>tests/unit/high.c
want "a comment that a tool reads" "all high" "$(stale)"
results record preset.msan
sed -i 's/pread64/pread/' tests/unit/high.c
want "a changed comment that a tool reads" "all high" "$(stale)"
results record preset.msan
echo byte >tests/data/file
want "data" "all high low" "$(stale)"
results record preset.msan
sed -i 's/^..../0000/' tests/results/preset.msan
want "a record that is not true" "all high low" "$(stale)"

# if_stale.sh records only a pass, and runs a test that has no current record.
run() { WEIGHBRIDGE_STALE_ONLY=1 WEIGHBRIDGE_RECORD=1 sh scripts/if_stale.sh plain_cc "$@"; }
if run false; then
    echo "a failure passed" >&2
    exit 1
fi
[ ! -e tests/results/plain_cc ]
run touch ran
[ -e ran ]
rm ran
run touch ran | grep -q 'passed before'
[ ! -e ran ]
WEIGHBRIDGE_STALE_ONLY=0 sh scripts/if_stale.sh plain_cc touch ran
[ -e ran ]

# A changed source file makes its own analysis stale; a changed header makes the analysis of every file stale that
# includes it.
results record analyzer
sed -i 's/return 4/return 5/' src/core/low.c
want "one file" "src/core/low.c" "$(results stale analyzer | paste -sd ' ')"
echo 'int wb__lower(void);' >>src/core/core.h
want "a header" "src/core/low.c" "$(results stale analyzer | paste -sd ' ')"
