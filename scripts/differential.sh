#!/bin/sh
# Compares verdicts and contents with those of other readers.
# Usage: differential.sh [SAFETENSORS [GGUF]], the numbers of files
#
#   scripts/differential.sh                 900,000 safetensors and 100,000 GGUF files
#   SEED=7 scripts/differential.sh 5000 500
#
# PYTHON is an interpreter with the packages safetensors 0.8.0, gguf and numpy. The numbers of compared
# files are written to docs/counts, from which scripts/reliability.sh updates the table in
# docs/reliability.md. Needs the shared library of the dev preset.
set -eu
cd "$(dirname "$0")/.."
python=${PYTHON:-python3}
library=${BUILD:-build/dev}/libweighbridge.so
status=0
compare() { # NAME TOOL COUNT; a count is only written after a run without differences
    if "$python" "tests/tools/$2" "$library" "$3" "${SEED:-1}"; then
        echo "$1: $3 files, 0 failed" >"docs/counts/$1"
    else
        status=1
    fi
}
compare differential differential.py "${1:-900000}"
compare differential_gguf differential_gguf.py "${2:-100000}"
exit $status
