# llama.cpp in Python, for tests/check/readers.sh. Building it takes ten minutes. `run` is its Python.
for tool in cmake cc c++; do
    command -v $tool >/dev/null || { echo "$tool is missing: CMake and compilers are needed" >&2; exit 1; }
done
python3 -m venv "$OUT/venv" || { echo "python3-venv is missing" >&2; exit 1; }
CMAKE_ARGS="-DGGML_NATIVE=OFF -DLLAVA_BUILD=OFF" "$OUT/venv/bin/pip" install --quiet llama-cpp-python==0.3.36 numpy
printf '#!/bin/sh\nexec "$(dirname "$0")/venv/bin/python" "$@"\n' >"$OUT/run"
chmod +x "$OUT/run"
