python3 -m venv "$OUT/venv" || { echo "python3-venv is missing" >&2; exit 1; }
"$OUT/venv/bin/pip" install --quiet safetensors==0.8.0 numpy ml_dtypes
cp worker.py ../../python/common.py "$OUT"
printf '#!/bin/sh\nhere=$(dirname "$0")\nexec "$here/venv/bin/python" "$here/worker.py" "$@"\n' >"$OUT/run"
chmod +x "$OUT/run"
