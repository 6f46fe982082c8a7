# clang-tidy reports nothing. Its static analyser, which takes long, runs in deep.lint.
exec nice sh scripts/lint.sh "$BUILD" quick
