# clang-tidy reports nothing, nor does its static analyser. With WEIGHBRIDGE_STALE_ONLY=1 it checks only files that
# have no current result.
set -eu
files=$(find src cli -name '*.c' | LC_ALL=C sort)
[ "${WEIGHBRIDGE_STALE_ONLY:-}" != 1 ] || files=$(python3 scripts/results.py stale lint)
[ -n "$files" ] || { echo "lint: all files passed before with the same inputs"; exit 0; }
nice sh scripts/lint.sh "$BUILD" all $files
[ "${WEIGHBRIDGE_RECORD:-}" != 1 ] || python3 scripts/results.py record lint $files
