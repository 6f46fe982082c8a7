# Every unit test compiles without cmocka. The 32-bit and MemorySanitizer builds, which only the deep tests make,
# have no cmocka; there unit/unit.h defines the few names that the tests use.
set -eu
count=0
for source in tests/unit/*.c; do
    gcc -std=c11 -Werror=implicit-function-declaration -Iinclude -Isrc -Itests/unit '-DTEST_DATA=""' \
        '-DFAKE_DRIVERS=""' -fsyntax-only "$source"
    count=$((count + 1))
done
[ "$count" -gt 100 ]
