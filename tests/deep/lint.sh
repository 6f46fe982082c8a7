# clang-tidy has nothing to say, with the paths that its static analyser follows.
exec nice sh scripts/lint.sh "$BUILD" all
