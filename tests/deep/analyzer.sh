# gcc's static analyser reports nothing in the library. With WEIGHBRIDGE_STALE_ONLY=1 it analyses only files that
# have no current result. The version is fixed at gcc 12, because other versions report other findings. The vector
# kernels are left out: they own no memory, and the analyser does not finish on their unrolled loops.
set -eu
case $(gcc -dumpversion) in
12 | 12.*) ;;
*) echo "no gcc 12: nothing was analysed" && exit 0 ;;
esac
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
# __clang_analyzer__ enables the declarations of core/context.h that tell analysers which calls fail.
analyse() {
    xargs -P "$(nproc)" -n 1 nice gcc -std=c11 -O2 -fanalyzer -D__clang_analyzer__ -ffp-contract=off \
        -Isrc -Iinclude -S -o /dev/null 2>&1
}
# The analyser finds a known use after free.
printf '#include <stdlib.h>\nint f(void) { int *p = malloc(4); free(p); return *p; }\n' >"$scratch/bad.c"
echo "$scratch/bad.c" | analyse | grep -q 'Wanalyzer-use-after-free'
files=$(find src -name '*.c' ! -path '*/x86/*' ! -path '*/arm/*' | LC_ALL=C sort)
if [ "${WEIGHBRIDGE_STALE_ONLY:-}" = 1 ]; then
    python3 scripts/results.py stale analyzer >"$scratch/stale"
    files=$(echo "$files" | grep -Fx -f "$scratch/stale" || true)
fi
[ -n "$files" ] || { echo "analyzer: all files passed before with the same inputs"; exit 0; }
echo "$files" | analyse >"$scratch/log" || true
if grep -E 'warning:|error:' "$scratch/log"; then
    exit 1
fi
[ "${WEIGHBRIDGE_RECORD:-}" != 1 ] || python3 scripts/results.py record analyzer $files
