# PyTorch with its libraries for GPUs takes 5 GB: it is installed only if the peer is named, and then kept.
[ "${BENCH_TORCH:-}" = 1 ] || { echo "set BENCH_TORCH=1 to install PyTorch (5 GB)" >&2; exit 77; }
python3 -m venv "$OUT/venv" || { echo "python3-venv is missing" >&2; exit 1; }
"$OUT/venv/bin/pip" install --quiet safetensors==0.8.0 numpy ml_dtypes torch==2.15.0
cp worker.py ../../python/common.py "$OUT"
printf '#!/bin/sh\nhere=$(dirname "$0")\nexec "$here/venv/bin/python" "$here/worker.py" "$@"\n' >"$OUT/run"
chmod +x "$OUT/run"
