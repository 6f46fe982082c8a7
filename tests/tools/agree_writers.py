"""What weighbridge writes against the public packages of the formats: agree_writers.py WB FOLDER

Random models are written by the packages, written anew by weighbridge, and compared: byte for byte where
the layout is the package's own, value for value where it is another (alignment, shards, splits).
"""
import io
import json
import os
import random
import shutil
import subprocess
import sys

import gguf
import numpy as np
from safetensors import TensorSpec, safe_open, serialize_file
from safetensors.numpy import save_file

WB, FOLDER = sys.argv[1], sys.argv[2]
ST_DTYPES = {  # as the package names them: bits
    "bool": 8, "uint8": 8, "int8": 8, "float8_e5m2": 8, "float8_e4m3fn": 8, "float8_e8m0fnu": 8,
    "int16": 16, "uint16": 16, "float16": 16, "bfloat16": 16, "int32": 32, "uint32": 32,
    "float32": 32, "complex64": 64, "float64": 64, "int64": 64, "uint64": 64,
}
NAMES = ["a", "b.weight", "B", "model.layers.0.x", "model.layers.10.x", "model.layers.2.x", "é", "\n\t\x01\"\\",
         "", " ", "日本", "\x7f", "\U0001F600", "z" * 300]
compared = 0


def wb(*arguments, code=0):
    done = subprocess.run([WB, *arguments], capture_output=True)
    assert done.returncode == code, (arguments, done.returncode, done.stderr.decode())
    return done.stdout


def read(path):
    with open(path, "rb") as f:
        return f.read()


def same(a, b):
    global compared
    compared += 1
    assert read(a) == read(b), (a, b)


def fresh(name):
    path = os.path.join(FOLDER, name)
    shutil.rmtree(path, ignore_errors=True)
    if os.path.exists(path):
        os.unlink(path)
    return path


# ---- safetensors ----

def st_model(rng):
    tensors, alive = {}, []  # the package keeps nothing but addresses
    for name in rng.sample(NAMES, rng.randint(0, len(NAMES))):
        dtype = rng.choice(list(ST_DTYPES))
        shape = [rng.choice([0, 1, 2, 3, 7, 64]) for _ in range(rng.randint(0, 4))]
        n = int(np.prod(shape, dtype=np.int64)) * ST_DTYPES[dtype] // 8
        data = np.frombuffer(rng.randbytes(n) or b"x", np.uint8)
        alive.append(data)
        tensors[name] = TensorSpec(dtype=dtype, shape=shape, data_ptr=data.ctypes.data, data_len=n)
    return tensors, alive


def st_read(paths):
    found = {}
    for path in paths:
        data = read(path)
        n = int.from_bytes(data[:8], "little")
        header = json.loads(data[8:8 + n])
        with safe_open(path, "np") as f:  # the package's own checks
            keys = set(f.keys())
        for name, entry in header.items():
            if name == "__metadata__":
                continue
            assert name in keys and name not in found
            begin, end = entry["data_offsets"]
            found[name] = (entry["dtype"], entry["shape"], data[8 + n + begin:8 + n + end])
    return found


def shards_of(folder):
    index = json.load(open(os.path.join(folder, "model.safetensors.index.json")))
    files = sorted(set(index["weight_map"].values()))
    found = st_read([os.path.join(folder, file) for file in files])
    assert set(found) == set(index["weight_map"])
    assert sum(len(value[2]) for value in found.values()) == index["metadata"]["total_size"]
    return found


def check_safetensors(seed):
    rng = random.Random(seed)
    official, ours = fresh("official.safetensors"), fresh("ours.safetensors")
    metadata = rng.choice([None, {"format": "pt"}, {"a\n\"\\é\x01\x7f": "\b\f\r"}])
    tensors, alive = st_model(rng)
    serialize_file(tensors, official, metadata)
    del alive
    wb("convert", official, ours, "--to", "safetensors")
    same(official, ours)
    expected = st_read([official])
    aligned = fresh("aligned.safetensors")
    wb("convert", official, aligned, "--to", "safetensors", "--align-tensors", "--alignment", "4096")
    found = {k: v for k, v in st_read([aligned]).items() if not k.startswith("__padding__.")}
    assert found == expected
    back = fresh("back.safetensors")
    wb("convert", aligned, back, "--to", "safetensors")
    same(official, back)
    if len(expected) < 2:
        return
    folder, again, whole = fresh("shards"), fresh("again"), fresh("whole.safetensors")
    wb("convert", official, folder, "--to", "safetensors", "--max-shard-tensors", "1")
    assert shards_of(folder) == expected
    wb("convert", folder, whole, "--to", "safetensors")
    same(official, whole)
    wb("convert", whole, again, "--to", "safetensors", "--max-shard-tensors", "1")
    assert sorted(os.listdir(folder)) == sorted(os.listdir(again))
    for name in os.listdir(folder):
        same(os.path.join(folder, name), os.path.join(again, name))


# ---- GGUF ----

GGUF_VALUES = [("u8", "uint8", 200), ("i8", "int8", -7), ("u16", "uint16", 60000), ("i16", "int16", -300),
               ("u32", "uint32", 4000000000), ("i32", "int32", -5), ("f32", "float32", 0.25),
               ("bool", "bool", True), ("s", "string", "text é"), ("u64", "uint64", 1 << 63),
               ("i64", "int64", -(1 << 62)), ("f64", "float64", 0.1), ("empty", "string", "x")]
GGUF_TYPES = [gguf.GGMLQuantizationType[name] for name in
              ("F32", "F16", "BF16", "Q4_0", "Q8_0", "Q4_K", "Q6_K", "I8", "I16", "I32", "I64", "F64")]


def gguf_write(path, rng, endian, alignment, values=True):
    writer = gguf.GGUFWriter(path, "llama", endianess=endian)
    if alignment != 32:
        writer.add_custom_alignment(alignment)
    for key, kind, value in GGUF_VALUES if values else []:
        getattr(writer, "add_" + kind)("t." + key, value)
    writer.add_array("t.strings", ["a", "", "é" * 100, "\u0000x"])
    writer.add_array("t.ints", [1, -2, 3])
    writer.add_array("t.floats", [0.5, -1.5])
    writer.add_array("t.bools", [True, False])
    for i in range(rng.randint(1, 9)):
        dtype = rng.choice(GGUF_TYPES if endian == gguf.GGUFEndian.LITTLE else GGUF_TYPES[:2])
        block, size = gguf.GGML_QUANT_SIZES[dtype]
        rows = [rng.randint(1, 4) for _ in range(rng.randint(0, 2))]
        n = int(np.prod(rows, dtype=np.int64)) * rng.randint(1, 3)
        columns = n // max(1, int(np.prod(rows, dtype=np.int64))) * size
        data = np.frombuffer(rng.randbytes(int(np.prod(rows, dtype=np.int64)) * columns), np.uint8)
        if endian == gguf.GGUFEndian.BIG:
            kind = np.float32 if dtype == gguf.GGMLQuantizationType.F32 else np.float16
            writer.add_tensor(f"blk.{i}.w", data.view(kind).reshape(rows + [-1]).copy())
        else:
            writer.add_tensor(f"blk.{i}.w", data.reshape(rows + [columns]), raw_dtype=dtype)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def gguf_read(paths):
    fields, tensors = {}, {}
    for path in paths:
        reader = gguf.GGUFReader(path)
        for key, field in reader.fields.items():
            if key.startswith("GGUF.") or key.startswith("split."):
                continue
            assert key not in fields or key == "general.alignment"  # which holds for a file
            fields[key] = (field.types, [bytes(part) for part in field.parts])
        for tensor in reader.tensors:
            tensors[tensor.name] = (tensor.tensor_type, list(tensor.shape), tensor.data.tobytes())
    return fields, tensors


def split_keys(path):
    reader = gguf.GGUFReader(path)
    return [(key, reader.fields[key].types[0].name, int(reader.fields[key].contents()))
            for key in reader.fields if key.startswith("split.")]


def check_gguf(seed):
    rng = random.Random(seed)
    endian = gguf.GGUFEndian.BIG if seed % 3 == 0 else gguf.GGUFEndian.LITTLE
    alignment = rng.choice([8, 32, 32, 64, 4096])
    theirs, ours = fresh("theirs.gguf"), fresh("ours.gguf")
    gguf_write(theirs, rng, endian, alignment)
    wb("convert", theirs, ours, "--to", "gguf")
    same(theirs, ours)
    expected = gguf_read([theirs])
    other = fresh("other.gguf")
    wb("convert", theirs, other, "--to", "gguf", "--alignment", "256")
    assert gguf_read([other])[1] == expected[1]
    assert gguf.GGUFReader(other).alignment == 256
    count = len(expected[1])
    if count < 2:
        return
    folder, whole = fresh("parts"), fresh("whole.gguf")
    os.mkdir(folder)
    wb("convert", theirs, os.path.join(folder, "m.gguf"), "--to", "gguf", "--max-shard-tensors", "1")
    parts = sorted(os.listdir(folder))
    assert parts == [f"m-{i + 1:05}-of-{count:05}.gguf" for i in range(count)]
    paths = [os.path.join(folder, part) for part in parts]
    assert gguf_read(paths) == expected
    for i, path in enumerate(paths):
        assert split_keys(path) == [("split.no", "UINT16", i), ("split.tensors.count", "INT32", count),
                                    ("split.count", "UINT16", count)]
    wb("convert", paths[-1], whole, "--to", "gguf")
    same(theirs, whole)
    again = fresh("again")
    os.mkdir(again)
    wb("convert", whole, os.path.join(again, "m.gguf"), "--to", "gguf", "--max-shard-tensors", "1")
    for part in parts:
        same(os.path.join(folder, part), os.path.join(again, part))


# ---- npz ----

NPZ_DTYPES = [np.bool_, np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16, np.uint32, np.uint64,
              np.float16, np.float32, np.float64, np.complex64]


class Pipe(io.RawIOBase):
    """What cannot be written a second time: zipfile then puts checksums behind the members."""

    def __init__(self):
        super().__init__()
        self.bytes = b""

    def writable(self):
        return True

    def seekable(self):
        return False

    def write(self, piece):
        self.bytes += bytes(piece)
        return len(piece)


def check_npz(seed):
    rng = random.Random(seed)
    source, ours, theirs, back = (fresh(name) for name in ("s.safetensors", "o.npz", "t.npz", "b.safetensors"))
    tensors = {}
    for name in rng.sample(NAMES, rng.randint(0, len(NAMES))):
        dtype = np.dtype(rng.choice(NPZ_DTYPES))
        shape = [rng.choice([0, 1, 2, 3, 7, 64]) for _ in range(rng.randint(0, 4))]
        n = int(np.prod(shape, dtype=np.int64)) * dtype.itemsize
        data = np.frombuffer(rng.randbytes(n), np.uint8)
        tensors[name] = (data & 1 if dtype == np.bool_ else data).view(dtype).reshape(shape)
    save_file(tensors, source, {"format": "pt"})
    wb("convert", source, ours)
    with np.load(ours) as archive:
        found = {name: archive[name] for name in archive.files}
    assert set(found) == set(tensors)
    for name, array in tensors.items():
        assert found[name].dtype == array.dtype and found[name].shape == array.shape, name
        assert found[name].tobytes() == array.tobytes(), name
    np.savez(theirs, **found)
    same(ours, theirs)
    pipe = Pipe()
    np.savez(pipe, **found)
    assert wb("convert", ours, "-", "--to", "npz") == pipe.bytes
    wb("convert", ours, back)
    same(source, back)


def main():
    rounds = int(os.environ.get("ROUNDS", "60"))
    for seed in range(rounds):
        try:
            check_safetensors(seed)
            check_gguf(seed)
            check_npz(seed)
        except BaseException:
            print("seed", seed, file=sys.stderr)
            raise
    print(f"{rounds} models of each format, {compared} files equal to the byte")
    assert compared > 2 * rounds


main()
