#!/usr/bin/env python3
"""Compares what compatible mode accepts with what the official library accepts, on random headers.

    differential.py LIBWEIGHBRIDGE.SO [CASES [SEED]]

Needs the package safetensors (0.8.0). Makes headers that are nearly right: sound ones, with parts
exchanged for odd ones, and bytes changed. Both must agree on accept or reject, and on name, dtype,
shape and bytes of each tensor; strict mode must accept nothing that the official library rejects. Prints
each disagreement, and how often each outcome came up; exit code 1 after any.
"""
import collections
import ctypes
import json
import random
import struct
import sys

import safetensors

DTYPES = {"BOOL": 8, "F4": 4, "F6_E2M3": 6, "F6_E3M2": 6, "U8": 8, "I8": 8, "F8_E5M2": 8, "F8_E4M3": 8,
          "F8_E8M0": 8, "F8_E4M3FNUZ": 8, "F8_E5M2FNUZ": 8, "I16": 16, "U16": 16, "F16": 16, "BF16": 16,
          "I32": 32, "U32": 32, "F32": 32, "C64": 64, "F64": 64, "I64": 64, "U64": 64}


class Options(ctypes.Structure):
    _fields_ = [("size", ctypes.c_size_t), ("access", ctypes.c_int), ("flags", ctypes.c_uint32),
                ("limits", ctypes.c_void_p), ("allocator", ctypes.c_void_p),
                ("executor", ctypes.c_void_p), ("store", ctypes.c_char_p)]


class Error(ctypes.Structure):
    _fields_ = [("status", ctypes.c_int), ("os_error", ctypes.c_uint32), ("offset", ctypes.c_uint64),
                ("code", ctypes.c_char_p), ("file", ctypes.c_char * 512), ("name", ctypes.c_char * 256),
                ("message", ctypes.c_char * 512), ("advice", ctypes.c_char * 256)]


class Tensor(ctypes.Structure):
    _fields_ = [("size", ctypes.c_size_t), ("name", ctypes.c_void_p), ("name_len", ctypes.c_size_t),
                ("dtype", ctypes.c_int), ("rank", ctypes.c_uint32),
                ("shape", ctypes.POINTER(ctypes.c_uint64)), ("elements", ctypes.c_uint64),
                ("bytes", ctypes.c_uint64), ("file", ctypes.c_uint64), ("offset", ctypes.c_uint64),
                ("storing", ctypes.c_uint32)]


class Ours:
    def __init__(self, path):
        self.lib = ctypes.CDLL(path)
        self.lib.wb_tensor_count.restype = ctypes.c_uint64
        self.lib.wb_tensor_count.argtypes = [ctypes.c_void_p]
        self.lib.wb_tensor_at.argtypes = [ctypes.c_void_p, ctypes.c_uint64, ctypes.c_void_p,
                                          ctypes.c_void_p]
        self.lib.wb_dtype_name.restype = ctypes.c_char_p
        self.lib.wb_close.argtypes = [ctypes.c_void_p]
        self.lib.wb_open_memory.argtypes = [ctypes.c_char_p, ctypes.c_size_t, ctypes.c_char_p,
                                            ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p]
        self.error = Error()

    def open(self, file, flags):
        """A dictionary of tensors, or a string that says why not."""
        options = Options(size=ctypes.sizeof(Options), flags=flags)
        model = ctypes.c_void_p()
        status = self.lib.wb_open_memory(file, len(file), b"x.safetensors", ctypes.byref(options),
                                         ctypes.byref(model), ctypes.byref(self.error))
        if status != 0:
            return f"{self.error.code.decode()} at {self.error.offset}: {self.error.message.decode()}"
        tensors = {}
        t = Tensor(size=ctypes.sizeof(Tensor))
        for i in range(self.lib.wb_tensor_count(model)):
            assert 0 == self.lib.wb_tensor_at(model, i, ctypes.byref(t), None)
            name = ctypes.string_at(t.name, t.name_len).decode()
            tensors[name] = (self.lib.wb_dtype_name(t.dtype).decode(),
                             [t.shape[k] for k in range(t.rank)], file[t.offset:t.offset + t.bytes])
        self.lib.wb_close(model)
        return tensors


def official(file):
    try:
        parsed = safetensors.deserialize(file)
    except safetensors.SafetensorError as e:
        return str(e)
    return {name: (t["dtype"], list(t["shape"]), bytes(t["data"])) for name, t in parsed}


# ---- headers ----

ODD = ["null", "true", "false", "-1", "-0", "1.0", "1e0", "01", "18446744073709551615",
       "18446744073709551616", "9223372036854775808", "\"x\"", "\"\"", "{}", "[]", "[0]", "[0,0]", "[[]]", "1e400",
       "-1e400", "0.1e-400", "{\"F32\":null}", "{\"F32\":null,\"F32\":null}", "{\"F32\":0}", "[1,2,3]", "\"F32\"",
       "\"\\u0046\\u0033\\u0032\"", "\"\\ud800\"", "\"\\ud83d\\ude00\"", "\"\\u0000\"", "NaN", "nul", "[,]",
       "{\"a\":1,\"a\":2}", "\"F\\u0033\\u0032\"", "2", "0", "4294967296", "\"\u00e9\"", "\"\x7f\"", "\"a\\/b\"",
       "[" * 20 + "]" * 20, "\"\\", "\"\\x\"", "123456789012345678901234567890", "1" + "0" * 400, "-", "1.", "0e",
       "{\"F32\":null }", "{\"F32\": null}", "{\"F32\":null,}", "{\"F32\":[]}", "{\"F33\":null}", "{\"\":null}"]
SPACE = ["", "", "", "", " ", "\n", "\t", "\r", "  ", "\x0b", "\u00a0", "\ufeff", "/**/"]


class Maker:
    def __init__(self, r):
        self.r = r

    def space(self):
        r = self.r
        return "" if r.random() < 0.97 else r.choice(SPACE)

    def text(self, s):
        """A string as JSON, now and then with escapes that need not be."""
        r = self.r
        if r.random() < 0.9:
            return json.dumps(s, ensure_ascii=r.random() < 0.5)
        return '"' + "".join("\\u%04x" % ord(c) if r.random() < 0.3 and ord(c) < 0x10000 else
                             json.dumps(c)[1:-1] for c in s) + '"'

    def odd(self, s, p=0.012):
        return self.r.choice(ODD) if self.r.random() < p else s

    def numbers(self, values):
        parts = [self.odd(str(v), 0.004) for v in values]
        return self.odd("[" + ("," + self.space()).join(parts) + self.space() + "]")

    def entry(self, dtype, shape, offsets):
        r = self.r
        dtype = self.text(dtype)
        if r.random() < 0.03:
            dtype = "{%s:null}" % dtype
        fields = [("dtype", self.odd(dtype)), ("shape", self.numbers(shape)),
                  ("data_offsets", self.numbers(offsets))]
        if r.random() < 0.05:
            parts = [f[1] for f in fields]
            if r.random() < 0.1:
                r.shuffle(parts)
            if r.random() < 0.1:
                parts = parts[:r.randrange(4)] + r.sample(ODD, r.randrange(2))
            return "[" + ",".join(parts) + "]"
        if r.random() < 0.15:
            for _ in range(r.randrange(1, 4)):
                fields.append((r.choice(("x", "y", "__metadata__", "Dtype", "")), r.choice(ODD)))
        if r.random() < 0.02:
            fields.append(r.choice(fields))
        if r.random() < 0.02:
            fields.pop(r.randrange(len(fields)))
        if r.random() < 0.3:
            r.shuffle(fields)
        return self.object(fields)

    def object(self, members):
        out = "{"
        for i, (key, value) in enumerate(members):
            out += ("," if i else "") + self.space() + self.text(key) + self.space() + ":" + \
                self.space() + value + self.space()
        if self.r.random() < 0.003:
            out += ","
        return out + "}"

    def header(self):
        r = self.r
        members, at = [], 0
        tensors = []
        for i in range(r.choice((0, 1, 1, 2, 2, 3, 5, 8))):
            dtype = r.choice(list(DTYPES))
            shape = [r.choice((0, 1, 1, 2, 3, 4, 8)) for _ in range(r.choice((0, 1, 1, 2, 3)))]
            bits = DTYPES[dtype]
            for d in shape:
                bits *= d
            if bits % 8 and r.random() < 0.9:
                shape.append(4)
                bits *= 4
            size = bits // 8
            if r.random() < 0.01:
                size += r.choice((-1, 1, 4))
            name = r.choice(("a", "b", "model.layers.0.weight", "", "t%d" % i, "\u00e9", "x\ny",
                             "name%d" % r.randrange(9)))
            tensors.append((name, dtype, shape, at, at + size))
            at += size
        if r.random() < 0.3:
            r.shuffle(tensors)
        for name, dtype, shape, begin, end in tensors:
            if r.random() < 0.01:
                begin += r.choice((-1, 1))
            if r.random() < 0.01:
                end += r.choice((-1, 1, -end))
            members.append((name, self.odd(self.entry(dtype, shape, (begin, end)), 0.004)))
            if r.random() < 0.02:
                members.append(members[r.randrange(len(members))])
        if r.random() < 0.4:
            meta = [(r.choice(("k", "l", "", "format", "m%d" % r.randrange(9))),
                     self.odd(self.text(r.choice(("", "pt", "v\u00e9\u4e2d", "a\tb")))))
                    for _ in range(r.randrange(4))]
            value = self.odd(self.object(meta))
            if r.random() < 0.1:
                value = "null"
            members.insert(r.randrange(len(members) + 1), ("__metadata__", value))
            if r.random() < 0.02:
                members.insert(r.randrange(len(members) + 1), ("__metadata__", r.choice(("{}", "null"))))
        if r.random() < 0.01:
            members.append((r.choice(("deep", "__metadata__")),
                            "[" * r.randrange(120, 130) + "]" * r.randrange(120, 130)))
        text = self.object(members)
        if r.random() < 0.05:
            depth = r.randrange(118, 130)
            text = text[:-1] + (',' if members else '') + \
                '"d":{"dtype":"U8","shape":[0],"data_offsets":[%d,%d],"z":%s%s}}' % (at, at, "[" * depth, "]" * depth)
        if r.random() < 0.03:
            text = r.choice(SPACE + ["\n", " "]) + text
        if r.random() < 0.3:
            text += " " * r.randrange(9) + self.space()
        if r.random() < 0.01:
            text += r.choice(("{}", "x", "\0", ","))
        return text.encode(), at

    def file(self):
        r = self.r
        header, data = self.header()
        header = bytearray(header)
        while r.random() < 0.15 and header:
            at = r.randrange(len(header))
            what = r.random()
            if what < 0.4:
                header[at] = r.choice(b'{}[]",:0123456789.eE-+\\u truefalsn\x00\x1f\x7f\x80\xc3\xff')
            elif what < 0.6:
                del header[at:at + r.choice((1, 1, 2, 8))]
            elif what < 0.8:
                header[at:at] = r.choice((b'"', b",", b" ", b"0", b"}", b"{", b"\xc3\xa9", b"\xed\xa0\x80",
                                          b"\xf0\x9f\x98\x80", b"\\u00e9", b"1e5", b".5"))
            else:
                other = r.randrange(len(header))
                header[at:at] = header[other:other + r.randrange(20)]
        if r.random() < 0.01:
            data = max(0, data + r.choice((-1, 1, 7)))
        n = len(header)
        if r.random() < 0.005:
            n = r.choice((0, 1, n + 1, n - 1 if n else 0, 100_000_001, 2**63, 2**64 - 1))
        return struct.pack("<Q", n) + bytes(header) + r.randbytes(max(0, data))


def main():
    ours = Ours(sys.argv[1])
    cases = int(sys.argv[2]) if len(sys.argv) > 2 else 100000
    seed = int(sys.argv[3]) if len(sys.argv) > 3 else 1
    maker = Maker(random.Random(seed))
    outcomes = collections.Counter()
    wrong = 0
    for i in range(cases):
        file = maker.file()
        theirs, compatible, strict = official(file), ours.open(file, 1), ours.open(file, 0)
        agree = theirs == compatible if isinstance(theirs, dict) else isinstance(compatible, str)
        if isinstance(strict, dict) and strict != theirs:
            agree = False
        reason = "accepted" if isinstance(theirs, dict) else \
            theirs.replace("Error while deserializing: ", "").split(":")[0].split(" for tensor")[0]
        outcomes[reason] += 1
        if isinstance(theirs, dict) and isinstance(strict, str):
            outcomes["  of these strict refuses: " + strict.split(" at ")[0]] += 1
        if not agree:
            wrong += 1
            if wrong <= 20:
                print(f"case {i}\n  file {file!r}\n  official {theirs!r}\n  compatible {compatible!r}"
                      f"\n  strict {strict!r}")
    for outcome, count in outcomes.most_common():
        print(f"{count:8d}  {outcome}")
    print(f"{cases} cases, {wrong} disagreements")
    return wrong != 0


if __name__ == "__main__":
    sys.exit(main())
