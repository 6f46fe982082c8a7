#!/usr/bin/env python3
"""Compares models, tensor by tensor, with what the official safetensors library and NumPy read.

    compare_models.py LIBWEIGHBRIDGE.SO [--wb COMMAND] FOLDER…

Of each folder all tensors are listed; of each tensor the stored bytes, the values as F32, F16, BF16 and
F64, and a slice are compared, and with --wb also what `wb export` writes as .npy and raw. Needs numpy,
ml_dtypes and safetensors. Exit code 1 after a difference.
"""
import ctypes
import glob
import io
import os
import subprocess
import sys

import ml_dtypes
import numpy as np
import safetensors

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from differential import Error, Tensor, Options  # noqa: E402

TYPES = dict(F64=np.float64, F32=np.float32, F16=np.float16, BF16=ml_dtypes.bfloat16, U32=np.uint32,
             U16=np.uint16, U8=np.uint8, I64=np.int64, I32=np.int32, I16=np.int16, I8=np.int8,
             BOOL=np.bool_, F8_E4M3=ml_dtypes.float8_e4m3fn, F8_E5M2=ml_dtypes.float8_e5m2,
             F8_E8M0=ml_dtypes.float8_e8m0fnu)
FLOATS = ("F32", "F16", "BF16", "F64")


class Axis(ctypes.Structure):
    _fields_ = [("start", ctypes.c_uint64), ("count", ctypes.c_uint64), ("step", ctypes.c_int64),
                ("drop", ctypes.c_uint32), ("reserved", ctypes.c_uint32)]


class Slice(ctypes.Structure):
    _fields_ = [("size", ctypes.c_size_t), ("rank", ctypes.c_uint32), ("axes", ctypes.c_void_p),
                ("first", ctypes.c_uint64), ("count", ctypes.c_uint64)]


class Library:
    def __init__(self, path):
        self.lib = lib = ctypes.CDLL(path)
        u64, ptr = ctypes.c_uint64, ctypes.c_void_p
        lib.wb_tensor_count.restype = u64
        lib.wb_tensor_count.argtypes = [ptr]
        lib.wb_tensor_at.argtypes = [ptr, u64, ptr, ptr]
        lib.wb_dtype_name.restype = ctypes.c_char_p
        lib.wb_close.argtypes = [ptr]
        lib.wb_open.argtypes = [ctypes.c_char_p, ptr, ptr, ptr]
        lib.wb_tensor_read_size.argtypes = [ptr, u64, ptr, ctypes.c_int32, ptr, ptr, ptr]
        lib.wb_tensor_read.argtypes = [ptr, u64, ptr, ctypes.c_int32, ptr, u64, ptr]
        lib.wb_slice_parse.argtypes = [ctypes.c_char_p, ctypes.c_size_t, ptr, ctypes.c_uint32, ptr, ptr]
        self.error = Error()

    def open(self, path, access):
        model = ctypes.c_void_p()
        options = Options(size=ctypes.sizeof(Options), access=access)
        if self.lib.wb_open(path.encode(), ctypes.byref(options), ctypes.byref(model),
                            ctypes.byref(self.error)):
            raise RuntimeError(self.error.message.decode())
        return model

    def read(self, model, index, dtype=-1, text=None, shape=None):
        part = None
        if text is not None:
            axes = (Axis * len(shape))()
            dims = (ctypes.c_uint64 * len(shape))(*shape)
            assert self.lib.wb_slice_parse(text.encode(), len(text), dims, len(shape), axes, None) == 0
            part = ctypes.byref(Slice(size=ctypes.sizeof(Slice), rank=len(shape),
                                      axes=ctypes.cast(axes, ctypes.c_void_p), count=2**64 - 1))
        elements, size = ctypes.c_uint64(), ctypes.c_uint64()
        assert self.lib.wb_tensor_read_size(model, index, part, dtype, ctypes.byref(elements),
                                            ctypes.byref(size), None) == 0
        out = ctypes.create_string_buffer(size.value)
        assert self.lib.wb_tensor_read(model, index, part, dtype, out, size.value,
                                       ctypes.byref(self.error)) == 0, self.error.message
        return out.raw[:size.value]


def official(folder):
    tensors = {}
    for path in sorted(glob.glob(os.path.join(folder, "*.safetensors"))):
        with open(path, "rb") as f:
            for name, t in safetensors.deserialize(f.read()):
                tensors[name] = np.frombuffer(bytes(t["data"]), dtype=TYPES[t["dtype"]]).reshape(t["shape"]), \
                    t["dtype"]
    return tensors


def same(a, b, dtype):
    """Bytes agree, or both are NaN."""
    if a == b:
        return True
    if dtype not in FLOATS:
        return False
    x, y = (np.frombuffer(v, dtype=TYPES[dtype]) for v in (a, b))
    return len(x) == len(y) and bool(np.all((x.view(f"u{x.itemsize}") == y.view(f"u{y.itemsize}")) |
                                            np.isnan(x) & np.isnan(y)))


def compare_exports(wb, folder, name, array, dtype):
    problems = 0
    raw = subprocess.run([wb, "export", folder, name, "--format", "raw", "-o", "-"],
                         capture_output=True, check=False)
    if raw.returncode or raw.stdout != array.tobytes():
        print(f"{folder} {name}: raw export: {raw.returncode} {raw.stderr.decode()[:200]}")
        problems += 1
    npy = subprocess.run([wb, "export", folder, name, "--dtype", "f32", "-o", "-"], capture_output=True,
                         check=False)
    if npy.returncode:
        print(f"{folder} {name}: npy export: {npy.stderr.decode()[:200]}")
        return problems + 1
    loaded = np.load(io.BytesIO(npy.stdout))
    want = array.astype(np.float32)
    if loaded.shape != want.shape or not same(loaded.tobytes(), want.tobytes(), "F32"):
        print(f"{folder} {name}: npy export differs")
        problems += 1
    return problems


def compare(library, folder, wb):
    want = official(folder)
    problems = compared = 0
    for access in (0, 1, 2):
        model = library.open(folder, access)
        t = Tensor(size=ctypes.sizeof(Tensor))
        seen = set()
        for i in range(library.lib.wb_tensor_count(model)):
            library.lib.wb_tensor_at(model, i, ctypes.byref(t), None)
            name = ctypes.string_at(t.name, t.name_len).decode()
            shape = [t.shape[k] for k in range(t.rank)]
            seen.add(name)
            array, dtype = want[name]
            checks = [(-1, dtype, array)]
            if access == 1:
                # NumPy takes integers to 16-bit floats through float32, and so rounds them twice
                for target in FLOATS if dtype in FLOATS else ("F32", "F64"):
                    number = next(k for k in range(200)
                                  if library.lib.wb_dtype_name(k) == target.encode())
                    with np.errstate(all="ignore"):
                        checks.append((number, target, array.astype(TYPES[target])))
            for number, target, expected in checks:
                compared += 1
                if not same(library.read(model, i, number), expected.tobytes(), target):
                    print(f"{folder} {name} as {target}: differs")
                    problems += 1
            text = ",".join(["::-3", "1:"][:len(shape)])
            part = array[tuple((slice(None, None, -3), slice(1, None))[:len(shape)])]
            compared += 1
            if shape and library.read(model, i, -1, text, shape) != part.tobytes():
                print(f"{folder} {name}[{text}]: differs")
                problems += 1
            # (of a packed tensor `export` gives the values, not the words it is stored in)
            if access == 1 and wb and dtype != "U32" and compared % 9 == 0:
                problems += compare_exports(wb, folder, name, array, dtype)
        if seen != set(want):
            print(f"{folder}: {sorted(set(want) ^ seen)[:5]} not in both")
            problems += 1
        library.lib.wb_close(model)
    print(f"{folder}: {len(want)} tensors, {compared} comparisons, {problems} differences")
    return problems


def main():
    args = sys.argv[1:]
    wb = None
    if "--wb" in args:
        at = args.index("--wb")
        wb = args[at + 1]
        del args[at:at + 2]
    library = Library(args[0])
    return sum(compare(library, folder, wb) for folder in args[1:]) != 0


if __name__ == "__main__":
    sys.exit(main())
