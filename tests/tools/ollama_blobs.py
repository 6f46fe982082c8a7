#!/usr/bin/env python3
"""Encodes the BF16 weights that Ollama quantized and compares with its blobs, byte for byte.

    tests/tools/ollama_blobs.py LIBRARY STORE SOURCE=MODEL...

LIBRARY is libweighbridge.so, STORE an Ollama store, SOURCE a folder of BF16 safetensors, MODEL the
name in the store of what `ollama create --quantize` made of it. By hand: the store is not in the
repository.
"""
import ctypes as c
import glob
import json
import os
import sys

F32, F16, BF16 = 0, 1, 30
DTYPES = {"F32": (F32, 4), "F16": (F16, 2), "BF16": (BF16, 2)}
TYPES = {"int4": (1, 4, 64), "int8": (1, 8, 64), "mxfp4": (2, 4, 32), "mxfp8": (3, 8, 32), "nvfp4": (4, 4, 16)}
NEAREST = 1  # Ollama's MLX rounds the exponents of E8M0 scales to nearest


class Type(c.Structure):
    _fields_ = [("size", c.c_size_t), ("mode", c.c_int), ("bits", c.c_uint32), ("group_size", c.c_uint32),
                ("e8m0", c.c_int), ("glob", c.c_int), ("global_scale", c.c_float), ("flags", c.c_uint32)]


class Buffers(c.Structure):
    _fields_ = [("size", c.c_size_t), ("weight", c.c_void_p), ("scales", c.c_void_p), ("biases", c.c_void_p),
                ("weight_bytes", c.c_uint64), ("scales_bytes", c.c_uint64), ("biases_bytes", c.c_uint64)]


def load(path):
    data = open(path, "rb").read()
    n = int.from_bytes(data[:8], "little")
    header = json.loads(data[8:8 + n])
    meta = header.pop("__metadata__", None) or {}
    tensors = {}
    for name, t in header.items():
        begin, end = t["data_offsets"]
        tensors[name] = (t["dtype"], t["shape"], data[8 + n + begin:8 + n + end])
    return tensors, meta


def source_of(tensors, name):
    """A weight by its name, or a stack of the experts' weights."""
    if name in tensors:
        return tensors[name]
    head, _, tail = name.partition(".experts.")
    parts, e = [], 0
    while f"{head}.experts.{e}.{tail}" in tensors:
        parts.append(tensors[f"{head}.experts.{e}.{tail}"])
        e += 1
    return (parts[0][0], [e] + parts[0][1], b"".join(p[2] for p in parts)) if parts else None


def encode(lib, kind, tensor, sizes):
    dtype, shape, data = tensor
    mode, bits, group = TYPES[kind]
    out = [c.create_string_buffer(n) for n in sizes]
    kind_struct = Type(c.sizeof(Type), mode, bits, group, NEAREST, 0, 0.0, 0)
    buffers = Buffers(c.sizeof(Buffers), *[c.cast(b, c.c_void_p) for b in out], *sizes)
    rows = len(data) // DTYPES[dtype][1] // shape[-1]
    status = lib.wb_mlx_quantize(c.byref(kind_struct), DTYPES[dtype][0], data, c.c_uint64(rows),
                                 c.c_uint64(shape[-1]), c.byref(buffers), None, None)
    assert status == 0, (kind, status)
    return [bytes(b.raw[:n]) for b, n in zip(out, sizes)]


def main():
    lib = c.CDLL(sys.argv[1])
    store, same, different, counts = sys.argv[2], 0, 0, {}
    for pair in sys.argv[3:]:
        folder, model = pair.split("=")
        source = {}
        for path in glob.glob(folder + "/*.safetensors"):
            source.update(load(path)[0])
        manifest = json.load(open(f"{store}/manifests/registry.ollama.ai/library/{model}/latest"))
        for layer in manifest["layers"]:
            if not layer["mediaType"].endswith(".tensor"):
                continue
            blob, meta = load(os.path.join(store, "blobs", layer["digest"].replace(":", "-")))
            for name in blob:
                if name + ".scale" not in blob:
                    continue
                kind = meta.get(name + ".quant_type", meta.get("quant_type"))
                tensor = source_of(source, name)
                parts = [blob[name][2], blob[name + ".scale"][2], blob.get(name + ".bias", ("", [], b""))[2]]
                got = encode(lib, kind, tensor, [len(p) for p in parts])
                counts[kind] = counts.get(kind, 0) + 1
                if got == parts:
                    same += 1
                else:
                    different += 1
                    print("differs:", model, name, kind)
    print(f"{same} weights equal, {different} differ", counts)
    return 1 if different or not same else 0


sys.exit(main())
