#!/bin/sh
# Compares the values that other programs read from written files, with tests/tools/readers.py, in the environment
# of check/writers.sh and in those that `make peers` creates. The script skips a missing reader and says so.
set -eu
venv=$BUILD/venv-readers
peers=$PWD/build/peers
if [ ! -e "$venv/ready" ]; then
    rm -rf "$venv"
    if python3 -m venv "$venv" >/dev/null 2>&1 &&
        "$venv/bin/pip" install --quiet safetensors==0.8.0 gguf==0.19.0 ml_dtypes numpy >/dev/null 2>&1; then
        touch "$venv/ready"
    fi
fi
with() {
    python=$1
    shift
    if [ -x "$python" ]; then
        "$python" -B tests/tools/readers.py "$WB" tests/data "$@"
    else
        echo "skipped: $*: $python is not there"
    fi
}
with "$venv/bin/python" safetensors numpy gguf
with "$peers/mlx/venv/bin/python" mlx
with "$peers/llama-cpp/venv/bin/python" llama
