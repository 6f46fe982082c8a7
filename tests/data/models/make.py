#!/usr/bin/env python3
"""Makes expected.tsv: what NumPy reads of the models here and of demo/tiny-pycode. Needs numpy,
safetensors and ml_dtypes.

Columns: folder, tensor, dtype, shape, then FNV-1a hashes of the stored bytes, of the values as F32, as
BF16, and of the slice [::-2] of the first dimension as stored. Packed weights (U32) are only listed: how
many numbers a word holds is for the tests of quantized tensors to say.
"""
import glob
import json
import os
import struct

import ml_dtypes
import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
TYPES = dict(F32=np.float32, F16=np.float16, BF16=ml_dtypes.bfloat16, U32=np.uint32, I64=np.int64,
             U8=np.uint8)


def fnv(data):
    h = 0xCBF29CE484222325
    for word in np.frombuffer(data + bytes(-len(data) % 8), dtype="<u8").tolist():  # eight at a time
        h = (h ^ word) * 0x100000001B3 & 0xFFFFFFFFFFFFFFFF
    return f"{h:016x}"


def tensors(path):
    with open(path, "rb") as f:
        n, = struct.unpack("<Q", f.read(8))
        header = json.loads(f.read(n))
        data = f.read()
    for name, t in header.items():
        if name != "__metadata__":
            begin, end = t["data_offsets"]
            yield name, t["dtype"], t["shape"], data[begin:end]


def main():
    with open(os.path.join(HERE, "expected.tsv"), "w", newline="\n") as out:
        for folder in ("llama-tied-float16-4bit", "qwen3-4bit-3shards", "../../../demo/tiny-pycode"):
            for path in sorted(glob.glob(os.path.join(HERE, folder, "*.safetensors"))):
                for name, dtype, shape, data in tensors(path):
                    if dtype == "U32":
                        out.write("\t".join([folder, name] + ["-"] * 6) + "\n")
                        continue
                    a = np.frombuffer(data, dtype=TYPES[dtype]).reshape(shape)
                    out.write("\t".join([
                        folder, name, dtype, "x".join(map(str, shape)), fnv(data),
                        fnv(a.astype(np.float32).tobytes()),
                        fnv(a.astype(np.float32).astype(ml_dtypes.bfloat16).tobytes())
                        if dtype in ("F16", "BF16", "F32") else "-",
                        fnv(a[::-2].tobytes())]) + "\n")


main()
