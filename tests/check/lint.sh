# clang-tidy has nothing to say; what takes it long, looking along paths, is deep.lint's.
exec nice sh scripts/lint.sh "$BUILD" quick
