#!/bin/sh
# Converts a tiny model of each family that transformers wrote to GGUF, to MLX and back, with tests/tools/families.py, in
# the environment of check/readers.sh: names are those of the gguf package, and the GGUF file is the one with which
# llama.cpp gave the logits of transformers.
set -eu
venv=$BUILD/venv-readers
if [ ! -e "$venv/ready" ]; then
    rm -rf "$venv"
    if python3 -m venv "$venv" >/dev/null 2>&1 &&
        "$venv/bin/pip" install --quiet safetensors==0.8.0 gguf==0.19.0 ml_dtypes numpy >/dev/null 2>&1; then
        touch "$venv/ready"
    else
        echo "skipped: the gguf package is not there"
        exit 0
    fi
fi
exec "$venv/bin/python" -B tests/tools/families.py check "$WB" tests/data/families
