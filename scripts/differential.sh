#!/bin/sh
# Verdicts and contents held against those of other people's readers: differential.sh [SAFETENSORS [GGUF]]
#
#   scripts/differential.sh                 900,000 files of safetensors and 100,000 of GGUF
#   SEED=7 scripts/differential.sh 5000 500
#
# PYTHON is one with the packages safetensors 0.8.0, gguf and numpy. What was compared is written to
# docs/counts, from where scripts/reliability.sh makes the table of docs/reliability.md. Needs the shared
# library of the dev preset.
set -eu
cd "$(dirname "$0")/.."
python=${PYTHON:-python3}
library=${BUILD:-build/dev}/libweighbridge.so
status=0
compare() { # NAME TOOL COUNT: a count is only of a run without a disagreement
    if "$python" "tests/tools/$2" "$library" "$3" "${SEED:-1}"; then
        echo "$1: $3 files, 0 failed" >"docs/counts/$1"
    else
        status=1
    fi
}
compare differential differential.py "${1:-900000}"
compare differential_gguf differential_gguf.py "${2:-100000}"
exit $status
