#!/usr/bin/env python3
"""Quantizes and dequantizes fresh random weights with mlx and with us: the bytes must be equal, and how
long both take is printed: GB/s of the binary32 values, best of 15, as what else runs on the machine only takes away.

    pip install 'mlx[cpu]' numpy
    tests/tools/mlx_peer.py libweighbridge.so [seed]

By hand, with mlx 0.32.4: older ones have other E8M0 scales and no affine of 1 bit.
"""
import ctypes as c
import sys
import time

import mlx.core as mx
import numpy as np

mx.set_default_device(mx.cpu)
MODES = {"affine": 1, "mxfp4": 2, "mxfp8": 3, "nvfp4": 4}
DTYPES = {"f32": (0, mx.float32, np.uint32), "f16": (1, mx.float16, np.uint16), "bf16": (30, mx.bfloat16, np.uint16)}
ROWS, COLS = 128, 4096


class Type(c.Structure):
    _fields_ = [("size", c.c_size_t), ("mode", c.c_int), ("bits", c.c_uint32), ("group_size", c.c_uint32),
                ("e8m0", c.c_int), ("glob", c.c_int), ("global_scale", c.c_float), ("flags", c.c_uint32)]


class Parts(c.Structure):
    _fields_ = [("size", c.c_size_t), ("weight", c.c_void_p), ("scales", c.c_void_p), ("biases", c.c_void_p),
                ("weight_bytes", c.c_uint64), ("scales_bytes", c.c_uint64), ("biases_bytes", c.c_uint64),
                ("scales_dtype", c.c_int32), ("biases_dtype", c.c_int32)]


class Buffers(c.Structure):
    _fields_ = Parts._fields_[:7]


def bits_of(a):
    """An mlx array as unsigned integers, for comparing and for its bytes."""
    size = a.itemsize
    return np.array(a.view({1: mx.uint8, 2: mx.uint16, 4: mx.uint32}[size]))


def best(f):
    times = []
    for _ in range(15):
        t = time.perf_counter()
        f()
        times.append(time.perf_counter() - t)
    return min(times)


def pointer(a):
    return a.ctypes.data if a is not None else None


def equal(dtype, a, b):
    """Equal bits, any NaN being equal to any."""
    same = a == b
    limit = {"f32": 0x7F800000, "f16": 0x7C00, "bf16": 0x7F80}[dtype]
    sign = {"f32": 0x7FFFFFFF, "f16": 0x7FFF, "bf16": 0x7FFF}[dtype]
    return bool((same | (((a & sign) > limit) & ((b & sign) > limit))).all())


def run(lib, mode, bits, group, dtype, rng):
    number, kind, uint = DTYPES[dtype]
    x = mx.array(rng.standard_normal((ROWS, COLS)).astype(np.float32) * np.exp2(rng.uniform(-8, 4, (ROWS, 1))).astype(np.float32)).astype(kind)
    mx.eval(x)
    q = lambda: mx.eval(mx.quantize(x, group_size=group, bits=bits, mode=mode))
    parts = mx.quantize(x, group_size=group, bits=bits, mode=mode)
    mx.eval(parts)
    theirs = [bits_of(p) for p in parts]
    mine = [np.zeros_like(p) for p in theirs] + ([None] if len(theirs) == 2 else [])
    source = bits_of(x)
    t = Type(c.sizeof(Type), MODES[mode], bits, group, 0, 0, 0.0, 0)
    sizes = [p.nbytes if p is not None else 0 for p in mine]
    b = Buffers(c.sizeof(Buffers), *[pointer(p) for p in mine], *sizes)
    encode = lambda: lib.wb_mlx_quantize(c.byref(t), number, c.c_void_p(pointer(source)), c.c_uint64(ROWS),
                                         c.c_uint64(COLS), c.byref(b), None, None)
    assert encode() == 0
    bad = [not (m == p).all() for m, p in zip(mine, theirs)]

    out = lambda: mx.dequantize(*parts, group_size=group, bits=bits, mode=mode, dtype=kind)
    d = lambda: mx.eval(out())
    expected = bits_of(out())
    values = np.zeros((ROWS, COLS), uint)
    p = Parts(c.sizeof(Parts), *[pointer(m) for m in mine], *sizes, number, number)
    decode = lambda: lib.wb_mlx_dequantize(c.byref(t), c.byref(p), c.c_uint64(ROWS), c.c_uint64(COLS), number,
                                           c.c_void_p(values.ctypes.data), c.c_uint64(values.nbytes), None, None)
    assert decode() == 0
    bad.append(not equal(dtype, values, expected))
    gb = ROWS * COLS * 4 / 1e9
    te, oe, td, od = best(q), best(encode), best(d), best(decode)
    print(f"{mode}{bits if mode == 'affine' else ''} g{group} {dtype:4}  {'DIFFERS ' + str(bad) if any(bad) else 'equal'}"
          f"  encode {gb / te:6.3f} -> {gb / oe:6.2f} ({te / oe:5.0f}x)  decode {gb / td:6.3f} -> {gb / od:6.2f} ({td / od:5.0f}x)", flush=True)
    return any(bad)


def main():
    lib = c.CDLL(sys.argv[1])
    rng = np.random.default_rng(int(sys.argv[2]) if len(sys.argv) > 2 else 1)
    cases = [("affine", b, 64) for b in (1, 2, 3, 4, 5, 6, 8)] + [("affine", 4, 32), ("affine", 4, 128)]
    cases += [("mxfp4", 4, 32), ("mxfp8", 8, 32), ("nvfp4", 4, 16)]
    return max(run(lib, *case, dtype, rng) for case in cases for dtype in DTYPES)


sys.exit(main())
