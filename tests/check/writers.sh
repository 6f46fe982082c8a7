#!/bin/sh
# Compares written files with the Python packages safetensors, gguf and NumPy: tests/tools/agree_writers.py.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
venv=$BUILD/venv-writers
if [ ! -e "$venv/ready" ]; then
    rm -rf "$venv"
    if ! { python3 -m venv "$venv" && "$venv/bin/pip" install --quiet safetensors==0.8.0 gguf==0.19.0 numpy; } \
        >"$work/log" 2>&1; then
        echo "skipped: the packages cannot be installed here"
        exit 0
    fi
    touch "$venv/ready"
fi
"$venv/bin/python" tests/tools/agree_writers.py "$WB" "$work"
