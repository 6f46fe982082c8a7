#!/usr/bin/env python3
"""Makes the vectors beside this file: weights packed as AutoAWQ, AutoGPTQ, DeepSeek (block FP8), ModelOpt
and compressed-tensors (NVFP4) publish them, and the values they stand for.

Everything starts from integer codes, zero-points and scales that are drawn at random: packing puts
them into words by the rule of each format, and the values are computed from the codes, never from
the words, in numpy. Needs numpy and ml_dtypes.
"""
import json
import os

import ml_dtypes
import numpy as np

rng = np.random.default_rng(20250831)
HERE = os.path.dirname(os.path.abspath(__file__))
NAMES = {"float32": "F32", "float16": "F16", "bfloat16": "BF16", "int32": "I32", "uint8": "U8",
         "float8_e4m3fn": "F8_E4M3", "float8_e5m2": "F8_E5M2"}
E2M1 = np.array([0, .5, 1, 1.5, 2, 3, 4, 6, -0., -.5, -1, -1.5, -2, -3, -4, -6], np.float32)


def save(name, **tensors):
    header, blobs, at = {}, [], 0
    for key, value in tensors.items():
        blob = np.ascontiguousarray(value).tobytes()
        header[key] = {"dtype": NAMES[str(value.dtype)], "shape": list(value.shape),
                       "data_offsets": [at, at + len(blob)]}
        blobs.append(blob)
        at += len(blob)
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    with open(os.path.join(HERE, name + ".safetensors"), "wb") as f:
        f.write(len(text).to_bytes(8, "little") + text + b"".join(blobs))


def words(nibbles):
    """[..., 8] nibbles, the first in the lowest bits, to I32."""
    total = np.zeros(nibbles.shape[:-1], np.uint32)
    for k in range(8):
        total |= nibbles[..., k].astype(np.uint32) << np.uint32(4 * k)
    return total.view(np.int32)


def scales_of(shape, dtype):
    return (rng.standard_normal(shape) * 0.01).astype(dtype)


def awq(inputs, outputs, group, dtype):
    q = rng.integers(0, 16, (inputs, outputs))
    z = rng.integers(0, 16, (inputs // group, outputs))
    s = scales_of((inputs // group, outputs), dtype)
    order = [0, 2, 4, 6, 1, 3, 5, 7]
    values = np.empty((outputs, inputs), np.float32)
    for o in range(outputs):
        for i in range(inputs):
            values[o, i] = np.float32(int(q[i, o]) - int(z[i // group, o])) * np.float32(s[i // group, o])
    save(f"awq_g{group}_{NAMES[str(s.dtype)].lower()}",
         qweight=words(q.reshape(inputs, -1, 8)[..., order]), qzeros=words(z.reshape(inputs // group, -1, 8)[..., order]),
         scales=s, values=values)


def gptq(name, inputs, outputs, group, dtype, act_order, plain):
    q = rng.integers(0, 16, (inputs, outputs))
    z = rng.integers(0, 16, (inputs // group, outputs))  # as stored
    s = scales_of((inputs // group, outputs), dtype)
    g_idx = np.arange(inputs, dtype=np.int32) // group
    if act_order:
        g_idx = rng.permutation(g_idx).astype(np.int32)
    values = np.empty((outputs, inputs), np.float32)
    for o in range(outputs):
        for i in range(inputs):
            zero = int(z[g_idx[i], o]) + (0 if plain else 1)
            values[o, i] = np.float32(int(q[i, o]) - zero) * np.float32(s[g_idx[i], o])
    save(name, qweight=words(q.reshape(inputs // 8, 8, outputs).transpose(0, 2, 1)),
         qzeros=words(z.reshape(inputs // group, -1, 8)), scales=s, g_idx=g_idx, values=values)


def fp8(name, rows, columns, block, code_dtype, scale_dtype):
    codes = rng.integers(0, 256, (rows, columns), dtype=np.uint8).view(code_dtype)
    s = np.exp2(rng.uniform(-12, 2, (-(-rows // block), -(-columns // block)))).astype(scale_dtype)
    values = np.empty((rows, columns), np.float32)
    for r in range(rows):
        for col in range(columns):
            values[r, col] = np.float32(codes[r, col]) * np.float32(s[r // block, col // block])
    save(name, weight=codes, weight_scale_inv=s, values=values)


def nvfp4(rows, columns):
    codes = rng.integers(0, 16, (rows, columns))
    packed = (codes[:, 0::2] | codes[:, 1::2] << 4).astype(np.uint8)
    scale = rng.integers(1, 0x7F, (rows, columns // 16), dtype=np.uint8).view(ml_dtypes.float8_e4m3fn)
    factor, divisor = np.float32(0.00137), np.float32(731.5)
    element = E2M1[codes].reshape(rows, -1, 16)
    s = scale.astype(np.float32)[..., None]
    save("nvfp4", weight=packed, weight_scale=scale, weight_scale_2=np.array([factor]), weight_global_scale=np.array([divisor]),
         modelopt=(element * (s * factor)).reshape(rows, columns),
         compressed_tensors=(element * (s / divisor)).reshape(rows, columns),
         ollama=((element * s) * factor).reshape(rows, columns))


awq(128, 48, 64, np.float16)
awq(64, 16, 32, ml_dtypes.bfloat16)
gptq("gptq", 128, 40, 32, np.float16, False, False)
gptq("gptq_act_order", 96, 24, 32, np.float16, True, False)
gptq("gptq_v2", 64, 16, 64, ml_dtypes.bfloat16, False, True)
fp8("fp8_128", 140, 300, 128, ml_dtypes.float8_e4m3fn, np.float32)
fp8("fp8_e5m2_32", 40, 72, 32, ml_dtypes.float8_e5m2, ml_dtypes.bfloat16)
nvfp4(24, 128)
