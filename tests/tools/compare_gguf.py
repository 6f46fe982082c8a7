#!/usr/bin/env python3
"""Compares our reading of GGUF files with that of the public gguf package, value for value.

    compare_gguf.py libweighbridge.so [file.gguf ...]

Needs numpy and gguf. Without files it writes some: every type of metadata and of tensors, in both
orders of bytes, split, aligned otherwise. Run by hand; prints what differs and ends with 1 if anything
does.
"""
import ctypes as c
import os
import subprocess
import sys
import tempfile

import gguf
import numpy as np

STRING, INT, UINT, FLOAT, BOOL, ARRAY = 1, 2, 3, 4, 5, 6


class Error(c.Structure):
    _fields_ = [("status", c.c_int), ("os_error", c.c_uint32), ("offset", c.c_uint64),
                ("code", c.c_char_p), ("file", c.c_char * 512), ("name", c.c_char * 256),
                ("message", c.c_char * 512), ("advice", c.c_char * 256)]


class Meta(c.Structure):
    _fields_ = [("size", c.c_size_t), ("key", c.c_void_p), ("key_len", c.c_size_t),
                ("type", c.c_int), ("file", c.c_uint32), ("element", c.c_int),
                ("bits", c.c_uint32), ("count", c.c_uint64)]


class Array(c.Structure):
    _fields_ = [("size", c.c_size_t), ("element", c.c_int), ("bits", c.c_uint32),
                ("count", c.c_uint64), ("data", c.c_void_p), ("array", c.c_void_p),
                ("base", c.c_void_p)]


class Tensor(c.Structure):
    _fields_ = [("size", c.c_size_t), ("name", c.c_void_p), ("name_len", c.c_size_t),
                ("dtype", c.c_int), ("rank", c.c_uint32), ("shape", c.POINTER(c.c_uint64)),
                ("elements", c.c_uint64), ("bytes", c.c_uint64), ("file", c.c_uint64),
                ("offset", c.c_uint64), ("storing", c.c_uint32)]


class Ours:
    """A file as the library shows it."""

    def __init__(self, lib, path):
        self.lib, self.model, self.error = lib, c.c_void_p(), Error()
        self.call("wb_open", path.encode(), None, c.byref(self.model))

    def close(self):
        self.lib.wb_close(self.model)

    def call(self, name, *arguments, error=True):
        arguments += (c.byref(self.error),) if error else ()
        status = getattr(self.lib, name)(*arguments)
        if status != 0:
            raise ValueError(f"{name}: status {status}, {self.error.message.decode()}")

    def metadata(self):
        self.lib.wb_meta_count.restype = c.c_uint64
        for i in range(self.lib.wb_meta_count(self.model)):
            meta = Meta(size=c.sizeof(Meta))
            self.call("wb_meta_at", self.model, c.c_uint64(i), c.byref(meta))
            if meta.file == 2**32 - 1:  # worked out, not written there
                continue
            key = c.string_at(meta.key, meta.key_len)
            yield key.decode(), meta, self.value(key, meta)

    def value(self, key, meta):
        kinds = {INT: ("int", c.c_int64), UINT: ("uint", c.c_uint64), FLOAT: ("float", c.c_double),
                 BOOL: ("bool", c.c_int)}
        k = (self.model, key, c.c_size_t(len(key)))
        if meta.type == STRING:
            text, n = c.c_void_p(), c.c_size_t()
            self.call("wb_meta_get_string", *k, c.byref(text), c.byref(n))
            assert c.string_at(text.value, n.value + 1)[-1] == 0
            return c.string_at(text.value, n.value)
        if meta.type == ARRAY:
            array = Array(size=c.sizeof(Array))
            self.call("wb_meta_get_array", *k, c.byref(array))
            return self.elements(array)
        name, kind = kinds[meta.type]
        value = kind()
        self.call("wb_meta_get_" + name, *k, c.byref(value))
        return value.value

    def elements(self, array):
        n = array.count
        if array.element == ARRAY:
            inner = [Array(size=c.sizeof(Array)) for _ in range(n)]
            for i, a in enumerate(inner):
                self.call("wb_meta_array_at", c.byref(array), c.c_uint64(i), c.byref(a), error=False)
            return [self.elements(a) for a in inner]
        if array.element == STRING:
            values, lens = (c.c_void_p * n)(), (c.c_size_t * n)()
            self.call("wb_meta_strings", c.byref(array), c.c_uint64(0), c.c_uint64(n), values, lens,
                      error=False)
            texts = [c.string_at(values[i], lens[i]) for i in range(n)]
            for i in range(0, n, max(1, n // 50)):  # one by one as well
                text, length = c.c_void_p(), c.c_size_t()
                self.call("wb_meta_string_at", c.byref(array), c.c_uint64(i), c.byref(text),
                          c.byref(length), error=False)
                assert c.string_at(text.value, length.value + 1) == texts[i] + b"\0"
            return texts
        name, kind = {INT: ("ints", c.c_int64), UINT: ("uints", c.c_uint64),
                      FLOAT: ("floats", c.c_double), BOOL: ("ints", c.c_int64)}[array.element]
        values = (kind * n)()
        self.call("wb_meta_" + name, c.byref(array), c.c_uint64(0), c.c_uint64(n), values, error=False)
        return list(values)

    def tensors(self):
        self.lib.wb_tensor_count.restype = c.c_uint64
        for i in range(self.lib.wb_tensor_count(self.model)):
            t = Tensor(size=c.sizeof(Tensor))
            self.call("wb_tensor_at", self.model, c.c_uint64(i), c.byref(t))
            data = c.create_string_buffer(t.bytes or 1)
            self.call("wb_tensor_read", self.model, c.c_uint64(i), None, c.c_int32(-1), data,
                      c.c_uint64(t.bytes))
            yield (c.string_at(t.name, t.name_len).decode(), t.dtype,
                   [t.shape[d] for d in range(t.rank)], t.offset, data.raw[:t.bytes])


KIND = {gguf.GGUFValueType.UINT8: (UINT, 8), gguf.GGUFValueType.INT8: (INT, 8),
        gguf.GGUFValueType.UINT16: (UINT, 16), gguf.GGUFValueType.INT16: (INT, 16),
        gguf.GGUFValueType.UINT32: (UINT, 32), gguf.GGUFValueType.INT32: (INT, 32),
        gguf.GGUFValueType.FLOAT32: (FLOAT, 32), gguf.GGUFValueType.BOOL: (BOOL, 8),
        gguf.GGUFValueType.STRING: (STRING, 0), gguf.GGUFValueType.ARRAY: (ARRAY, 0),
        gguf.GGUFValueType.UINT64: (UINT, 64), gguf.GGUFValueType.INT64: (INT, 64),
        gguf.GGUFValueType.FLOAT64: (FLOAT, 64)}


def their_metadata(reader):
    for name, field in reader.fields.items():
        if name.startswith("GGUF."):
            continue
        if field.types[0] != gguf.GGUFValueType.ARRAY:
            value = field.parts[field.data[0]]
            yield name, KIND[field.types[0]], bytes(value) if field.types[0] == 8 else value[0].item()
        elif len(field.types) > 1 and field.types[1] == gguf.GGUFValueType.STRING:
            yield name, (ARRAY, 0), [bytes(field.parts[i]) for i in field.data]
        elif gguf.GGUFValueType.ARRAY in field.types[1:]:
            yield name, (ARRAY, 0), None  # the package flattens these
        else:
            yield name, (ARRAY, KIND[field.types[1]][1] if len(field.types) > 1 else None), \
                [field.parts[i][0].item() for i in field.data]


def same(a, b):
    if isinstance(a, list):
        return len(a) == len(b) and all(map(same, a, b))
    return a == b or (a != a and b != b)


def compare(lib, path, swapped=None):
    """The number of differences. `swapped`: the little-endian file that a big-endian one came from."""
    ours, bad = Ours(lib, path), 0
    reader = gguf.GGUFReader(path)
    mine = {k: (m, v) for k, m, v in ours.metadata()}
    theirs = list(their_metadata(reader))
    if list(mine) != [t[0] for t in theirs]:
        print(path, "keys differ"); bad += 1
    for name, (kind, bits), value in theirs:
        meta, got = mine[name]
        if meta.type != kind or (bits is not None and meta.bits != bits) or \
                (value is not None and not same(got, value)):
            print(path, name, "ours", str(got)[:80], "theirs", str(value)[:80]); bad += 1
    tensors = list(ours.tensors())
    source = gguf.GGUFReader(swapped) if swapped else reader
    if len(tensors) != len(reader.tensors):
        print(path, "number of tensors"); bad += 1
    for (name, dtype, shape, offset, data), t, s in zip(tensors, reader.tensors, source.tensors):
        if name != t.name or dtype != t.tensor_type or shape != [int(d) for d in reversed(t.shape)] or \
                offset != t.data_offset or data != s.data.tobytes():
            print(path, name, "tensor differs"); bad += 1
    ours.close()
    print(f"{os.path.basename(path)}: {len(mine)} entries, {len(tensors)} tensors, {bad} differences")
    return bad


def write_all(path, **options):
    """Every type of metadata and every type of tensor that the package knows."""
    rng = np.random.default_rng(3)
    w = gguf.GGUFWriter(path, "llama", **options)
    scalars = {"u8": (w.add_uint8, 255), "i8": (w.add_int8, -128), "u16": (w.add_uint16, 65535),
               "i16": (w.add_int16, -32768), "u32": (w.add_uint32, 2**32 - 1),
               "i32": (w.add_int32, -2**31), "f32": (w.add_float32, 0.1), "b": (w.add_bool, True),
               "no": (w.add_bool, False), "s": (w.add_string, "h\u00e9llo \u4e16"),
               "u64": (w.add_uint64, 2**64 - 1), "i64": (w.add_int64, -2**63),
               "f64": (w.add_float64, 1 / 3)}
    for name, (add, value) in scalars.items():
        add("t." + name, value)
    T = gguf.GGUFValueType
    for sub, values in [(T.UINT8, [0, 255]), (T.INT8, [-1, 1, 0]), (T.UINT16, [65535]),
                        (T.INT16, [-5] * 9), (T.UINT32, [2**32 - 1]), (T.INT32, list(range(-40, 40))),
                        (T.FLOAT32, [0.5, float("inf"), float("nan")]), (T.BOOL, [True, False]),
                        (T.UINT64, [2**64 - 1]), (T.INT64, [-2**63, 5]), (T.FLOAT64, [1e300])]:
        w.add_key_value(f"a.{sub.name.lower()}", values, T.ARRAY, sub)
    w.add_array("a.strings", [("\u0120tok" * (i % 5)) + str(i) for i in range(777)])
    w.add_array("a.nested", [[1, 2], [3]])
    for kind in gguf.GGMLQuantizationType:
        if kind.name == "Q8_1":
            continue  # the package takes its blocks for 40 bytes long; ggml's have 36
        elements, size = gguf.GGML_QUANT_SIZES[kind]
        plain = {"F32": np.float32, "F16": np.float16, "F64": np.float64, "I8": np.int8,
                 "I16": np.int16, "I32": np.int32, "I64": np.int64}.get(kind.name)
        raw = rng.integers(0, 256, (4, 3 * size * (1 if elements > 1 else 16)), dtype=np.uint8)
        if plain is not None:
            w.add_tensor("t." + kind.name, np.nan_to_num(raw.view(plain)))
        else:
            w.add_tensor("t." + kind.name, raw, raw_dtype=kind)
    w.write_header_to_file()
    w.write_kv_data_to_file()
    w.write_tensors_to_file()
    w.close()


def main():
    lib = c.CDLL(os.path.abspath(sys.argv[1]))
    if len(sys.argv) > 2:
        return sum(compare(lib, p) for p in sys.argv[2:])
    bad = 0
    with tempfile.TemporaryDirectory() as folder:
        p = lambda name: os.path.join(folder, name)
        write_all(p("all.gguf"))
        bad += compare(lib, p("all.gguf"))
        write_all(p("big.gguf"), endianess=gguf.GGUFEndian.BIG)
        # The writer swaps what it knows as numbers, and leaves raw blocks as they are: the order of
        # their bytes is that of the machine it ran on. Only the metadata can be compared.
        ours, little = Ours(lib, p("big.gguf")), Ours(lib, p("all.gguf"))
        for (k, m, v), (l, n, u) in zip(ours.metadata(), little.metadata()):
            if k != l or m.type != n.type or m.bits != n.bits or not same(v, u):
                print("big.gguf", k, str(v)[:60], str(u)[:60]); bad += 1
        ours.close(), little.close()
        # What the package's own converter turns round must read as before.
        for kind in ["F32", "F16", "Q4_0", "Q8_0", "Q4_K", "Q6_K", "MXFP4"]:
            little, big = p(f"{kind}.gguf"), p(f"{kind}-big.gguf")
            w = gguf.GGUFWriter(little, "llama")
            k = gguf.GGMLQuantizationType[kind]
            elements, size = gguf.GGML_QUANT_SIZES[k]
            raw = np.random.default_rng(1).integers(0, 256, (5, 7 * size * (1 if elements > 1 else 32)),
                                                    dtype=np.uint8)
            if kind in ("F32", "F16"):
                w.add_tensor("blk.0.attn_q.weight",
                             np.nan_to_num(raw.view(np.float32 if kind == "F32" else np.float16)))
            else:
                w.add_tensor("blk.0.attn_q.weight", raw, raw_dtype=k)
            w.write_header_to_file(); w.write_kv_data_to_file(); w.write_tensors_to_file(); w.close()
            with open(little, "rb") as f, open(big, "wb") as g:
                g.write(f.read())
            done = subprocess.run([sys.executable, "-c", "from gguf.scripts.gguf_convert_endian import "
                                   "main; main()", big, "big"], input="YES\n", text=True,
                                  capture_output=True)
            if done.returncode != 0:
                print(kind, "not converted:", done.stderr.strip().splitlines()[-1:])
                continue
            bad += compare(lib, big, swapped=little)
        write_all(p("split.gguf"), split_max_tensors=10)
        shards = sorted(n for n in os.listdir(folder) if n.startswith("split-"))
        ours = Ours(lib, p(shards[1]))
        whole = Ours(lib, p("all.gguf"))
        strip = lambda o: sorted((n, d, s, b) for n, d, s, _, b in o.tensors())
        if strip(ours) != strip(whole):
            print("split: tensors differ"); bad += 1
        print(f"split: {len(shards)} parts, opened from the second")
        ours.close(), whole.close()
    return bad


if __name__ == "__main__":
    sys.exit(1 if main() else 0)
