# Every C source is as clang-format leaves it.
exec sh scripts/format.sh --check
