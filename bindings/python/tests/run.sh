#!/bin/sh
# Runs the tests of the Python package: run.sh PYTHON PACKAGES [ARGUMENT…]
#
#   PYTHON    the interpreter; its packages come from requirements.txt, in a virtual environment in build/python
#   PACKAGES  the directory that has the package weighbridge
#   ARGUMENT  of pytest
set -eu
tests=$(cd "$(dirname "$0")" && pwd)
top=$(cd "$tests/../../.." && pwd)
python=$1
packages=$2
shift 2
venv=$top/build/python/$("$python" -c 'import sys, sysconfig
print("%d.%d%s" % (*sys.version_info[:2], sysconfig.get_config_var("abiflags") or ""))')

# Other presets use the same environment at the same time.
mkdir -p "$venv"
exec 9>"$venv.lock"
flock 9
if ! cmp -s "$tests/requirements.txt" "$venv/requirements.txt"; then
    rm -rf "$venv"
    "$python" -m venv "$venv"
    "$venv/bin/pip" install --quiet --disable-pip-version-check -r "$tests/requirements.txt"
    cp "$tests/requirements.txt" "$venv"
fi
exec 9>&-

# A module with a sanitizer needs its runtime in the process from the start. Python itself leaks by design, and its
# threads synchronise by means that ThreadSanitizer sees.
if [ -n "${SANITIZER_RUNTIME:-}" ]; then
    export LD_PRELOAD="$SANITIZER_RUNTIME"
    export ASAN_OPTIONS="detect_leaks=0:${ASAN_OPTIONS:-}"
    export TSAN_OPTIONS="report_bugs=1:halt_on_error=1:${TSAN_OPTIONS:-}"
fi
export DATA="$top/tests/data" PYTHONPATH="$packages" PYTHONDONTWRITEBYTECODE=1
# Each thread of OpenBLAS reserves memory, and the tests measure memory.
export OPENBLAS_NUM_THREADS=1
cd "$tests"
exec "$venv/bin/python" -m pytest -q -p no:cacheprovider "$@" .
