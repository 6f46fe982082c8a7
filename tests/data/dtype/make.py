#!/usr/bin/env python3
"""Makes convert.tsv and traps.tsv, the expected results of conversions. Needs numpy and ml_dtypes 0.6.

convert.tsv: every pattern of every type of up to 16 bits, to every type, as NumPy and ml_dtypes
convert it: from, to, number of a block of 4096 patterns, FNV-1a hash of the result's bytes, NaNs
replaced by one of them. Sub-byte results are packed, lowest bits first.

traps.tsv: single values of the wide types that are easily rounded twice, or wrongly, with results
worked out in exact fractions: from, to, pattern, result.
"""
import os
import random
from fractions import Fraction

import ml_dtypes
import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
FLOATS = dict(F32=np.float32, F16=np.float16, BF16=ml_dtypes.bfloat16, F64=np.float64,
              F8_E4M3=ml_dtypes.float8_e4m3fn, F8_E5M2=ml_dtypes.float8_e5m2,
              F8_E8M0=ml_dtypes.float8_e8m0fnu, F8_E4M3FNUZ=ml_dtypes.float8_e4m3fnuz,
              F8_E5M2FNUZ=ml_dtypes.float8_e5m2fnuz, F6_E2M3=ml_dtypes.float6_e2m3fn,
              F6_E3M2=ml_dtypes.float6_e3m2fn, F4=ml_dtypes.float4_e2m1fn)
INTS = dict(I8=np.int8, I16=np.int16, I32=np.int32, I64=np.int64,
            U8=np.uint8, U16=np.uint16, U32=np.uint32, U64=np.uint64)
BITS = dict(F64=64, F32=32, F16=16, BF16=16, F6_E2M3=6, F6_E3M2=6, F4=4, BOOL=8,
            I8=8, I16=16, I32=32, I64=64, U8=8, U16=16, U32=32, U64=64)
for name in FLOATS:
    BITS.setdefault(name, 8)


def patterns(name):
    bits = BITS[name]
    codes = np.arange(1 << bits, dtype=np.uint16 if bits == 16 else np.uint8)
    if name == "BOOL":
        return (codes != 0).astype(np.float32)
    return codes.view(FLOATS.get(name) or INTS[name]).astype(np.float32)  # exact


def pack(codes, bits):
    out = np.unpackbits(codes[:, None], axis=1, bitorder="little")[:, :bits].reshape(-1)
    return np.packbits(out, bitorder="little").tobytes()


def to_integers(values, name):
    info = np.iinfo(INTS[name])
    out = []
    values = np.where(np.isnan(values), np.float32(0), values)
    for v in np.rint(values.astype(np.float64)):
        if np.isinf(v):
            out.append(info.max if v > 0 else info.min)
        else:
            out.append(min(max(int(v), info.min), info.max))
    return np.array(out, dtype=INTS[name]).tobytes()


def converted(values, name):
    if name == "BOOL":
        return (values != 0).astype(np.uint8).tobytes()
    if name in INTS:
        return to_integers(values, name)
    with np.errstate(all="ignore"):
        # ml_dtypes keeps a NaN's sign where there is no NaN, as that of a zero; we do not
        values = np.where(np.isnan(values), np.float32(np.nan), values)
        out = values.astype(FLOATS[name])
        if name == "F8_E8M0":
            # ml_dtypes 0.6 rounds every subnormal of float32 up: let it round them scaled
            small = (values > 0) & (values < 2.0**-100)
            scaled = (values * np.float32(2.0**64)).astype(FLOATS[name]).view(np.uint8).astype(int)
            out.view(np.uint8)[small] = np.maximum(scaled - 64, 0)[small]
    nan = np.isnan(out)
    if nan.any():
        out[nan] = np.array([np.nan], dtype=np.float32).astype(FLOATS[name])[0]
        # one NaN, whatever its sign and payload were
        width = {1: np.uint8, 2: np.uint16, 4: np.uint32, 8: np.uint64}[out.dtype.itemsize]
        codes = out.view(width)
        codes[nan] = codes[nan][0]
    if BITS[name] < 8:
        return pack(out.view(np.uint8), BITS[name])
    return out.tobytes()


def fnv(data):
    h = 0xCBF29CE484222325
    for b in data:
        h = (h ^ b) * 0x100000001B3 & 0xFFFFFFFFFFFFFFFF
    return h


def make_convert():
    small = [n for n in BITS if BITS[n] <= 16]
    with open(os.path.join(HERE, "convert.tsv"), "w", newline="\n") as f:
        for source in small:
            values = patterns(source)
            for target in BITS:
                for block in range(0, len(values), 4096):
                    data = converted(values[block:block + 4096], target)
                    if source == target == "BOOL":      # stays as it is
                        data = bytes(range(256))
                    f.write(f"{source}\t{target}\t{block // 4096}\t{fnv(data):016x}\n")


# ---- traps ----

#        exponent, mantissa, bias, codes of finite values without sign, what follows them
SHAPES = dict(F32=(8, 23, 127, 0x7F800000, "inf"), F16=(5, 10, 15, 0x7C00, "inf"),
              BF16=(8, 7, 127, 0x7F80, "inf"), F8_E4M3=(4, 3, 7, 0x7F, "nan"),
              F8_E5M2=(5, 2, 15, 0x7C, "inf"), F8_E4M3FNUZ=(4, 3, 8, 0x80, "neg0"),
              F8_E5M2FNUZ=(5, 2, 16, 0x80, "neg0"), F6_E2M3=(2, 3, 1, 0x20, "max"),
              F6_E3M2=(3, 2, 3, 0x10 * 2, "max"), F4=(2, 1, 1, 8, "max"))


def value_of(code, shape):
    e_bits, m_bits, bias = shape[:3]
    e, m = code >> m_bits, code & (1 << m_bits) - 1
    if e == 0:
        return Fraction(m) * Fraction(2) ** (1 - bias - m_bits)
    return (1 + Fraction(m, 1 << m_bits)) * Fraction(2) ** (e - bias)


def nearest(value, name):
    """The code nearest to a fraction: one search, no rounding on the way."""
    shape = SHAPES[name]
    sign_bit = 1 << (shape[0] + shape[1])
    sign = sign_bit if value < 0 else 0
    value = abs(value)
    low, high = 0, shape[3]             # value_of(low) <= value; shape[3] is what would come next
    if value >= value_of(high, shape):
        low = high
    while high - low > 1:
        middle = (low + high) // 2
        if value_of(middle, shape) <= value:
            low = middle
        else:
            high = middle
    if low < shape[3]:
        below, above = value - value_of(low, shape), value_of(low + 1, shape) - value
        if above < below or above == below and low % 2:
            low += 1
    if low < shape[3]:
        return 0 if low == 0 and shape[4] == "neg0" else sign | low
    return {"inf": sign | shape[3], "nan": sign | 0x7F, "neg0": 0x80, "max": sign | shape[3] - 1}[shape[4]]


def double_bits(x):
    return int(np.array([x], dtype=np.float64).view(np.uint64)[0])


def double_of(bits):
    return np.array([bits], dtype=np.uint64).view(np.float64)[0]


def make_traps():
    r = random.Random(7)
    rows = []
    for name, shape in SHAPES.items():
        top = shape[3]
        codes = {0, 1, 2, 3, top - 2, top - 1, (1 << shape[1]) - 1, 1 << shape[1]}
        codes |= {r.randrange(top) for _ in range(12)}
        for code in sorted(codes):
            middle = (value_of(code, shape) + value_of(code + 1, shape)) / 2
            bits = double_bits(float(middle))
            for b in (bits, bits - 1, bits + 1):
                for sign in (0, 1 << 63) if r.random() < 0.3 else (0,):
                    x = double_of(b | sign)
                    rows.append(("F64", name, f"{b | sign:016x}", nearest(Fraction(x), name)))
            # the same for 32 bits, where they hold the tie
            f = np.float32(float(middle)) if middle < 2**127 else np.float32(np.inf)
            if name != "F32" and np.isfinite(f) and Fraction(float(f)) == middle:
                bits = int(f.view(np.uint32))
                for b in (bits, bits - 1, bits + 1):
                    x = np.array([b], dtype=np.uint32).view(np.float32)[0]
                    rows.append(("F32", name, f"{b:08x}", nearest(Fraction(float(x)), name)))
            # and integers a little above and below a tie
            for integer, width in (("I64", 64), ("U64", 64), ("I32", 32), ("U32", 32)):
                limit = 1 << (width - (integer[0] == "I"))
                if middle.denominator == 1 and middle > 2**24:
                    for d in (-1, 0, 1):
                        v = int(middle) + d
                        if v < limit:
                            rows.append((integer, name, f"{v:0{width // 4}x}", nearest(Fraction(v), name)))
    for integer, width in (("I64", 64), ("U64", 64)):
        for _ in range(30):
            v = r.getrandbits(width - 1) >> r.randrange(30)
            for name in ("F32", "F16", "BF16"):
                rows.append((integer, name, f"{v:016x}", nearest(Fraction(v), name)))
                if integer == "I64":
                    rows.append((integer, name, f"{(1 << 64) - v:016x}", nearest(Fraction(-v), name)))
            rows.append((integer, "F64", f"{v:016x}", double_bits(float(v))))
    for source, bits, value in [("F64", double_bits(x), x) for x in (
            0.5, 1.5, 2.5, -0.5, -1.5, 127.5, 128.5, -128.5, -129.0, 255.5, 254.5, 2.0**31 - 0.5,
            2.0**31, -2.0**31 - 0.5, 2.0**32 - 0.5, 2.0**53 + 2, 2.0**62, 2.0**63, -2.0**63, 2.0**64,
            1e300, -1e300, 0.49999999999999994, float("inf"), float("-inf"), float("nan"), 5e-324)]:
        for name, t in INTS.items():
            info = np.iinfo(t)
            if value != value:
                v = 0
            elif value in (float("inf"), float("-inf")):
                v = info.max if value > 0 else info.min
            else:
                v = min(max(round(Fraction(value)), info.min), info.max)    # ties to even
            rows.append((source, name, f"{bits:016x}", v & (1 << BITS[name]) - 1))
    seen = set()
    with open(os.path.join(HERE, "traps.tsv"), "w", newline="\n") as f:
        for source, target, pattern, code in rows:
            line = f"{source}\t{target}\t{pattern}\t{code:0{max(BITS[target] // 4, 2)}x}\n"
            if line not in seen:
                f.write(line)
            seen.add(line)


make_convert()
make_traps()
