#!/bin/sh
# Builds the command and shows its output for a real model: a Llama model with 2.9 million parameters,
# trained on Python code.
set -eu
cd "$(dirname "$0")/.."
model=demo/tiny-pycode
cmake --preset release >/dev/null
cmake --build --preset release -j "$(nproc)" >build/release/build.log 2>&1 ||
    { cat build/release/build.log >&2; exit 1; }
PATH=$PWD/build/release:$PATH
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT

show() {
    printf '\n$ %s\n' "$*"
    "$@"
}
show wb inspect "$model"
show wb verify --deep "$model"
show wb export "$model" model.norm.weight --dtype f32 --format text --slice 0:8 -o -
