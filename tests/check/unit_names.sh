# Every unit test compiles without cmocka: where there is none (32 bits, MemorySanitizer, which only the deep tests
# build), unit/unit.h knows few of its names.
set -eu
count=0
for source in tests/unit/*.c; do
    gcc -std=c11 -Werror=implicit-function-declaration -Iinclude -Isrc -Itests/unit '-DTEST_DATA=""' \
        '-DFAKE_DRIVERS=""' -fsyntax-only "$source"
    count=$((count + 1))
done
[ "$count" -gt 100 ]
