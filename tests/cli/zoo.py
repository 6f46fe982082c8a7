"""Writes the files that the tests of the command look at into the current folder.

one.safetensors     plain tensors of many dtypes, and metadata
odd.safetensors     names and metadata that a terminal must not be given as they are
nan.safetensors     values that are NaN and infinite
empty-model.safetensors  no tensors
meta.gguf           metadata of every type
set/                a model in two shards with an index
lost/               the same with a shard missing
stray/              one file, and one beside it that does not belong
foreign/            what is found in the place of weights
"""
import json
import os
import struct


def save(path, tensors, metadata=None):
    """tensors: (name, dtype, shape, bytes) in the order of the file."""
    header, at = {}, 0
    if metadata is not None:
        header["__metadata__"] = metadata
    for name, dtype, shape, data in tensors:
        header[name] = {"dtype": dtype, "shape": shape, "data_offsets": [at, at + len(data)]}
        at += len(data)
    text = json.dumps(header, ensure_ascii=False, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as f:
        f.write(struct.pack("<Q", len(text)) + text + b"".join(t[3] for t in tensors))


def floats(*values):
    return struct.pack("<%df" % len(values), *values)


def string(text, order="<"):
    data = text.encode()
    return struct.pack(order + "Q", len(data)) + data


def array(kind, values):
    return struct.pack("<IQ", kind, len(values)) + b"".join(values)


# key, type, bytes
META = [
    ("general.architecture", 8, string("llama")), ("empty", 8, string("")), ("u8", 0, b"\xff"), ("i8", 1, b"\xff"),
    ("u16", 2, b"\xff\xff"), ("i16", 3, b"\xfe\xff"), ("u32", 4, b"\xff" * 4), ("i32", 5, struct.pack("<i", -70000)),
    ("f32", 6, floats(0.1)), ("bool", 7, b"\1"), ("u64", 10, b"\xff" * 8), ("i64", 11, struct.pack("<q", -(2**63))),
    ("f64", 12, struct.pack("<d", 0.1)), ("nan", 6, floats(float("nan"))),
    ("bools", 9, array(7, [b"\0", b"\1"])), ("none", 9, array(5, [])),
    ("ints", 9, array(5, [struct.pack("<i", i) for i in range(-300, 300)])),
    ("reals", 9, array(6, [floats(x) for x in (0.5, 0.1, 1e-5)])),
    ("words", 9, array(8, [string("w%d\n" % i) for i in range(600)])),
]


def save_gguf(path, metadata, tensors=(), order="<"):
    """tensors: (name, type, shape with the innermost dimension first, bytes)."""
    infos, data = b"", b""
    for name, kind, shape, content in tensors:
        data += b"\0" * (-len(data) % 32)
        infos += string(name, order) + struct.pack(order + "I%dQIQ" % len(shape), len(shape), *shape, kind, len(data))
        data += content
    with open(path, "wb") as f:
        f.write(b"GGUF" + struct.pack(order + "IQQ", 3, len(tensors), len(metadata)))
        for key, kind, value in metadata:
            f.write(string(key, order) + struct.pack(order + "I", kind) + value)
        f.write(infos)
        if tensors:
            f.write(b"\0" * (-f.tell() % 32) + data + b"\0" * (-len(data) % 32))


ONE = [
    ("wide", "F64", [2], struct.pack("<2d", 0.1, -1e300)),
    ("count", "I64", [], struct.pack("<q", -(2**63))),
    ("pair", "C64", [2], floats(1, -2, 0.5, 1e-3)),
    ("weight", "F32", [3, 4], floats(*[i / 8 for i in range(12)])),
    ("exact", "F32", [6], floats(0.1, 1e-45, 3.4028234663852886e38, -0.0, 16777216, 1 / 3)),
    ("u", "U32", [2], struct.pack("<2I", 0, 2**32 - 1)),
    ("none", "F32", [0, 5], b""),
    ("half", "F16", [4], struct.pack("<4e", 1, -2.5, 65504, 6e-8)),
    ("brain", "BF16", [2, 2], struct.pack("<4H", 0x3F80, 0xC000, 0x7F7F, 0x3DCC)),
    ("short", "I16", [2], struct.pack("<2h", -1, 32767)),
    ("eight", "F8_E4M3", [4], bytes([0x38, 0xB8, 0x7E, 0x01])),
    ("scale", "F8_E8M0", [2], bytes([127, 130])),
    ("byte", "U8", [3], bytes([0, 128, 255])),
    ("flag", "BOOL", [2], bytes([0, 1])),
    ("four", "F4", [2, 4], bytes([0x10, 0x32, 0x54, 0x76])),
]


def main():
    save("one.safetensors", ONE, {"format": "pt", "note": "x" * 300})
    save_gguf("meta.gguf", META)
    save("empty-model.safetensors", [])
    save("odd.safetensors",
         [("bell\a\u001b[31m", "U8", [1], b"a"), ("back\\slash", "U8", [1], b"b"),
          ("\u202eevil\u2066", "U8", [1], b"c"), ("重み.😀", "U8", [1], b"d"),
          ("nul\0nul", "U8", [1], b"e"), ("", "U8", [1], b"f"), ("@1", "U8", [1], b"g"),
          ("c1\u009b31m", "U8", [1], b"h")], {"key\n": "line\r\nline\u2028"})
    save("nan.safetensors",
         [("good", "F32", [2], floats(1, 2)),
          ("bad", "F32", [4], floats(float("nan"), 1, float("inf"), float("-inf"))),
          ("badpair", "C64", [2], floats(float("nan"), 1, 1, float("-inf"))),
          ("bad64", "F64", [2], struct.pack("<2d", float("nan"), float("-inf")))])
    for folder in ("set", "lost", "stray", "foreign"):
        os.mkdir(folder)
    a = ("layers.0.weight", "F32", [4], floats(1, 2, 3, 4))
    b = ("layers.1.weight", "F32", [2], floats(5, 6))
    index = {"metadata": {"total_size": 24},
             "weight_map": {a[0]: "model-00001-of-00002.safetensors",
                            b[0]: "model-00002-of-00002.safetensors"}}
    for folder in ("set", "lost"):
        save(folder + "/model-00001-of-00002.safetensors", [a])
        save(folder + "/model-00002-of-00002.safetensors", [b])
        with open(folder + "/model.safetensors.index.json", "w") as f:
            json.dump(index, f)
    os.unlink("lost/model-00002-of-00002.safetensors")
    save("stray/model.safetensors", [a])
    save("stray/model-old.safetensors", [b])
    whole = open("one.safetensors", "rb").read()
    foreign = {
        "lfs": b"version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 123\n",
        "html": b"<!DOCTYPE html><html><body>Log in</body></html>\n",
        "xml": b"<?xml version='1.0'?><Error><Code>AccessDenied</Code></Error>",
        "pickle": b"\x80\x02}q\x00(X\x06\x00\x00\x00weightq\x01K\x01u.",
        "zip": b"PK\x03\x04" + bytes(60),
        "gzip": b"\x1f\x8b\x08" + bytes(60),
        "zstd": b"\x28\xb5\x2f\xfd" + bytes(60),
        "tar": bytes(257) + b"ustar\x0000" + bytes(300),
        "hdf5": b"\x89HDF\r\n\x1a\n" + bytes(60),
        "json": b'{"architectures": ["LlamaForCausalLM"]}\n',
        "text": b"Too many requests, please try again later.\n",
        "zeros": bytes(4096),
        "empty": b"",
        "short-header": whole[:100],
        "short-data": whole[:-9],
        "long": whole + b"tail",
        "noise": bytes((i * 37 + 200) & 255 for i in range(64)),
    }
    for name, data in foreign.items():
        with open("foreign/" + name + ".safetensors", "wb") as f:
            f.write(data)


if __name__ == "__main__":
    main()
