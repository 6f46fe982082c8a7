python3 -m venv "$OUT/venv" || { echo "python3-venv is missing" >&2; exit 1; }
# Without PyTorch, which only the Python layer above the binding needs.
"$OUT/venv/bin/pip" install --quiet --no-deps runai-model-streamer==0.17.0
"$OUT/venv/bin/pip" install --quiet numpy humanize
cp worker.py "$OUT"
printf '#!/bin/sh\nhere=$(dirname "$0")\nexec "$here/venv/bin/python" "$here/worker.py" "$@"\n' >"$OUT/run"
chmod +x "$OUT/run"
