#!/bin/sh
# Builds the command and the example engine, and runs them on a real model: a llama of 2.9 million
# parameters, trained on Python code.
set -eu
cd "$(dirname "$0")/.."
top=$PWD
cmake --preset release >/dev/null
cmake --build --preset release -j "$(nproc)" >build/release/build.log 2>&1 ||
    { cat build/release/build.log >&2; exit 1; }
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
cc -std=c11 -O2 -Iinclude examples/llama/*.c build/release/libweighbridge.a -lm -ldl -pthread -o "$out/llama"
PATH=$PWD/build/release:$out:$PATH
cd "$out"
ln -s "$top/demo/tiny-pycode" tiny-pycode

show() {
    printf '\n$'
    for word; do
        case $word in
        *[!A-Za-z0-9._:/-]*) printf ' "%s"' "$word" ;;
        *) printf ' %s' "$word" ;;
        esac
    done
    echo
    "$@"
}
show wb inspect tiny-pycode
show wb verify --deep tiny-pycode
show wb export tiny-pycode model.norm.weight --dtype f32 --format text --slice 0:8 -o -
show wb convert tiny-pycode tiny.gguf --quant Q4_K_M
show llama -n 48 "def add(" tiny-pycode
show llama -n 48 "def add(" tiny.gguf
