#!/bin/sh
# Tests the Python package with several versions of Python: python_versions.sh PYTHON…
#
# Builds a wheel with the first PYTHON that is not free-threaded, which serves all others of this kind, and one wheel for
# each free-threaded PYTHON. Installs each wheel in a new virtual environment and runs the tests of the package there.
# Packages of requirements.txt that a version of Python has no binary of are left out, and named; the tests that need
# them are skipped. WB is the command `weighbridge` (default: build/dev/weighbridge).
set -eu
cd "$(dirname "$0")/.."
top=$PWD
[ $# -gt 0 ] || { sed -n '2,7s/^# \{0,1\}//p' "$0" >&2; exit 4; }
WB=${WB:-$top/build/dev/weighbridge}
export WB DATA="$top/tests/data" PYTHONDONTWRITEBYTECODE=1 OPENBLAS_NUM_THREADS=1
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
abi3=
failed=0

# numpy==2.4.6: any version 2. Older versions of Python have no binary of the newest version.
minor() { # PACKAGE==VERSION
    version=${1##*==}
    echo "${1%%==*}>=${version%%.*},<$((${version%%.*} + 1))"
}

wheel_for() { # PYTHON VENV
    if [ "$("$1" -c "import sysconfig; print(sysconfig.get_config_var('Py_GIL_DISABLED') or 0)")" = 1 ]; then
        "$2/bin/pip" wheel --quiet --no-deps --wheel-dir "$2/wheel" .
        echo "$2"/wheel/*.whl
    elif [ -z "$abi3" ]; then
        "$2/bin/pip" wheel --quiet --no-deps --wheel-dir "$scratch/abi3" .
        echo "$scratch"/abi3/*.whl
    else
        echo "$abi3"
    fi
}
for python; do
    version=$("$python" -c 'import platform, sys; print(platform.python_version() + getattr(sys, "abiflags", ""))')
    venv=$scratch/$version
    "$python" -m venv "$venv"
    "$venv/bin/pip" install --quiet --disable-pip-version-check --upgrade pip
    sed 's/#.*//; /^ *$/d' bindings/python/tests/requirements.txt | while read -r package; do
        "$venv/bin/pip" install --quiet --only-binary :all: "$package" 2>/dev/null ||
            "$venv/bin/pip" install --quiet --only-binary :all: "$(minor "$package")" 2>/dev/null ||
            echo "$version: left out $package"
    done
    wheel=$(wheel_for "$python" "$venv")
    case $wheel in *abi3*) abi3=$wheel ;; esac
    "$venv/bin/pip" install --quiet --no-deps "$wheel"
    echo "$version: $(basename "$wheel")"
    (cd bindings/python/tests && "$venv/bin/python" -m pytest -q -p no:cacheprovider . 2>&1) | tail -40 >"$venv/log"
    tail -1 "$venv/log"
    ! grep -q "failed\|error" "$venv/log" || { cat "$venv/log"; failed=1; }
done
exit $failed
