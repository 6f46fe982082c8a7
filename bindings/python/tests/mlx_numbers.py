"""Compares the numbers of weighbridge with those of MLX, run by hand: mlx_numbers.py MODELS…

Each of MODELS is a folder of MLX. Every quantized tensor is decoded by weighbridge and by mlx.core.dequantize, and every
other tensor is loaded by both. The numbers must have the same bits. Needs the packages mlx and numpy, and weighbridge in
PYTHONPATH.
"""

import json
import sys
from pathlib import Path

import mlx.core as mx
import numpy as np

import weighbridge as wb

DTYPES = {mx.bfloat16: "BF16", mx.float16: "F16", mx.float32: "F32"}


def modes_of(folder):
    """Return a function that gives the settings of mlx.core.dequantize for a module."""
    entry = json.loads((folder / "config.json").read_text())["quantization"]

    def settings(module):
        own = entry.get(module)
        chosen = own if isinstance(own, dict) else entry
        return {name: chosen[name] for name in ("group_size", "bits", "mode") if name in chosen}

    return settings


def values_of(stored, name, settings):
    """Return what MLX makes of a tensor, in the dtype that MLX uses for it."""
    module = name.removesuffix(".weight")
    if module + ".scales" not in stored:
        return stored[name]
    return mx.dequantize(stored[name], stored[module + ".scales"], stored.get(module + ".biases"),
                         **settings(module))


def compare(folder):
    mx.set_default_device(mx.cpu)
    stored = {}
    for path in sorted(folder.glob("*.safetensors")):
        stored.update(mx.load(str(path)))
    settings, count = modes_of(folder), 0
    for tensor in wb.open(folder).values():
        values = values_of(stored, tensor.name, settings)
        theirs = np.array(values.astype(mx.float32))
        ours = tensor.decode(DTYPES[values.dtype]).astype("f4")
        assert np.array_equal(ours.view("u4"), theirs.view("u4")), (folder, tensor.name)
        count += 1
    print(f"{folder.name}: {count} equal tensors")


for argument in sys.argv[1:]:
    compare(Path(argument))
