#!/bin/sh
# Checks of the Python package that need PyTorch (5 GB), run by hand: torch.sh PYTHON PACKAGES
#
#   PYTHON    an interpreter that has torch, transformers, numpy, pytest and ml_dtypes
#   PACKAGES  the directory that has the package weighbridge
#
# 1. The tests of the source distribution of safetensors run with weighbridge.safetensors in place of safetensors.
# 2. transformers loads a model of tests/data with and without weighbridge.patch(), with the same parameters.
# 3. Tensors of torch through DLPack have the bytes of those that safetensors.torch loads, for every file of tests/data.
set -eu
tests=$(cd "$(dirname "$0")" && pwd)
data=$tests/../../../tests/data
python=$1
export PYTHONPATH="$2" PYTHONDONTWRITEBYTECODE=1
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

"$python" -m pip download --quiet --no-deps --no-binary :all: --dest "$scratch" safetensors==0.8.0
tar -xf "$scratch"/safetensors-0.8.0.tar.gz -C "$scratch"
cat >"$scratch/drop_in.py" <<'EOF'
"""Puts weighbridge.safetensors in place of safetensors."""
import importlib, sys
for name in ("", ".numpy", ".torch"):
    sys.modules["safetensors" + name] = importlib.import_module("weighbridge.safetensors" + name)
EOF
(cd "$scratch"/safetensors-0.8.0/bindings/python &&
    PYTHONPATH="$scratch:$PYTHONPATH" "$python" -m pytest -q -p drop_in -p no:cacheprovider -rs \
        tests/test_simple.py tests/test_handle.py tests/test_pt_comparison.py tests/test_pt_model.py \
        tests/test_threadable.py tests/test_multithreaded.py tests/test_pread_backend.py)

"$python" - "$data" <<'EOF'
import pathlib, sys
import safetensors.torch, torch, transformers
import weighbridge

data = pathlib.Path(sys.argv[1])


def parameters():
    model = transformers.AutoModelForCausalLM.from_pretrained(data / "models/qwen3-bf16")
    return {name: value.clone() for name, value in model.state_dict().items()}


without = parameters()
weighbridge.patch()
through = parameters()
weighbridge.unpatch()
assert without.keys() == through.keys()
assert all(torch.equal(without[name], through[name]) for name in without)
print(f"transformers {transformers.__version__}: {len(without)} equal parameters")

files = tensors = 0
for path in sorted(data.rglob("*.safetensors")):
    try:
        theirs = safetensors.torch.load_file(path)
        ours = weighbridge.open(path)
    except Exception:
        continue
    files += 1
    for name, value in theirs.items():
        # Frameworks get up to 64 dimensions. Packed weights with scales are one tensor here.
        if value.numel() and value.dim() <= 64 and name in ours and ours[name].encoding.is_plain:
            mine = ours[name].torch()
            assert mine.dtype == value.dtype and mine.shape == value.shape, (path, name)
            assert mine.reshape(-1).view(torch.uint8).equal(value.reshape(-1).view(torch.uint8)), (path, name)
            tensors += 1
assert files > 10 and tensors > 100
print(f"torch {torch.__version__}: {tensors} equal tensors of {files} files")
EOF
