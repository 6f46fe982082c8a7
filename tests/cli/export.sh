# Exported bytes, compared with the same values packed by Python's struct module.
python3 -B "$SOURCE/tests/cli/zoo.py"
PYTHONPATH=$SOURCE/tests/cli python3 -B - <<'P'
import ast, os, struct, subprocess, zoo

def wb(*args, code=0, stdin=None):
    p = subprocess.run(["wb", "export", *args], capture_output=True, input=stdin)
    assert p.returncode == code, (args, p)
    return p.stdout

def npy(data):
    assert data[:8] == b"\x93NUMPY\x01\x00"
    n, = struct.unpack("<H", data[8:10])
    assert (10 + n) % 64 == 0 and data[10 + n - 1:10 + n] == b"\n"
    header = ast.literal_eval(data[10:10 + n].decode())
    assert sorted(header) == ["descr", "fortran_order", "shape"] and header["fortran_order"] is False
    return header["descr"], header["shape"], data[10 + n:]

stored = {t[0]: t for t in zoo.ONE}
descr = {"F64": "<f8", "I64": "<i8", "C64": "<c8", "F32": "<f4", "U32": "<u4", "F16": "<f2", "I16": "<i2",
         "U8": "|u1", "BOOL": "|b1"}
for name, dtype, shape, raw in zoo.ONE:
    wb("one.safetensors", name, "-o", "out.raw")
    assert open("out.raw", "rb").read() == raw, name
    assert wb("one.safetensors", name, "--format", "raw", "-o", "-") == raw
    wb("one.safetensors", name, "-o", "out.npy")
    got = npy(open("out.npy", "rb").read())
    if dtype in descr:
        assert got == (descr[dtype], tuple(shape), raw), (name, got)
    else:
        assert got[:2] == ("<f4", tuple(shape)), (name, got)

def f32(*v): return struct.pack("<%df" % len(v), *v)
most = 2.0**128 - 2.0**120
assert npy(wb("one.safetensors", "brain", "-o", "-")) == ("<f4", (2, 2), f32(1, -2, most, 0.099609375))
assert npy(wb("one.safetensors", "eight", "-o", "-")) == ("<f4", (4,), f32(1, -1, 448, 2**-9))
assert npy(wb("one.safetensors", "four", "-o", "-")) == ("<f4", (2, 4), f32(0, .5, 1, 1.5, 2, 3, 4, 6))
assert npy(wb("one.safetensors", "scale", "-o", "-")) == ("<f4", (2,), f32(1, 8))
# Dtypes that NumPy does not have are exported as raw bytes if requested.
assert npy(wb("one.safetensors", "brain", "--dtype", "bf16", "-o", "-")) == ("|V2", (2, 2), stored["brain"][3])
assert npy(wb("one.safetensors", "eight", "--dtype=F8_e4m3", "-o-")) == ("|V1", (4,), stored["eight"][3])
# Conversion; the name of the dtype is case-insensitive.
assert wb("one.safetensors", "half", "--dtype", "F32", "--format", "raw", "-o", "-") == f32(1, -2.5, 65504, 2**-24)
assert wb("one.safetensors", "weight", "--dtype", "i8", "--format=raw", "-o", "-") == bytes([0] * 4 + [0, 1, 1, 1] + [1] * 4)
# Slices.
weight = [i / 8 for i in range(12)]
for text, values, shape in (
        ("1", weight[4:8], (4,)), ("-1,::2", weight[8::2], (2,)), ("...,0", weight[::4], (3,)),
        ("::-1,1:3", [weight[i] for i in (9, 10, 5, 6, 1, 2)], (3, 2)), ("1:1", [], (0, 4)), ("2,3", weight[11:], ())):
    assert npy(wb("one.safetensors", "weight", "--slice", text, "-o", "-")) == ("<f4", shape, f32(*values)), text
# Tensor numbers in place of names; a tensor whose name is such a number takes precedence.
assert wb("one.safetensors", "@12", "--format", "raw", "-o", "-") == stored["byte"][3]
assert wb("odd.safetensors", "@1", "--format", "raw", "-o", "-") == b"g"
assert wb("odd.safetensors", "@4", "--format", "raw", "-o", "-") == b"e"
assert wb("odd.safetensors", "", "--format", "raw", "-o", "-") == b"f"
assert wb("odd.safetensors", "bell\a\x1b[31m", "--format", "raw", "-o", "-") == b"a"
# From standard input, and from one of several shards.
assert wb("-", "u", "--format", "raw", "-o", "-", stdin=open("one.safetensors", "rb").read()) == stored["u"][3]
assert wb("set/model-00002-of-00002.safetensors", "layers.0.weight", "--format", "raw", "-o", "-") == f32(1, 2, 3, 4)

# Tensors longer than a chunk: complete, and with a slice and a conversion.
n = 700001
values = struct.pack("<%dI" % n, *range(n))
zoo.save("long.safetensors", [("t", "U32", [n], values), ("f", "F4", [1 << 22], bytes(range(256)) * 8192)])
wb("long.safetensors", "t", "-o", "long.raw")
assert open("long.raw", "rb").read() == values
wb("long.safetensors", "t", "--slice", "::-3", "--dtype", "i64", "-o", "long.npy")
assert npy(open("long.npy", "rb").read()) == ("<i8", (233334,), struct.pack("<233334q", *range(n - 1, -1, -3)))
assert wb("long.safetensors", "f", "--format", "raw", "-o", "-") == bytes(range(256)) * 8192
wb("long.safetensors", "f", "-o", "f.npy")
table = [0, .5, 1, 1.5, 2, 3, 4, 6, -0.0, -.5, -1, -1.5, -2, -3, -4, -6]
assert npy(open("f.npy", "rb").read())[2] == f32(*[table[x] for b in range(256) for x in (b & 15, b >> 4)]) * 8192
lines = wb("long.safetensors", "t", "--format", "text", "-o", "-").decode().split("\n")
assert lines[0] == '# "t" U32 [700001]' and lines[1:] == [str(i) for i in range(n)] + [""]

# Output files are replaced atomically: after a failure the existing file is unchanged.
open("keep.npy", "w").write("old")
wb("one.safetensors", "weight", "--slice", "5", "-o", "keep.npy", code=4)
assert open("keep.npy").read() == "old"
wb("one.safetensors", "weight", "-o", "keep.npy", "--dry-run")
assert open("keep.npy").read() == "old"
wb("one.safetensors", "weight", "-o", "keep.npy")
assert npy(open("keep.npy", "rb").read())[0] == "<f4"
wb("one.safetensors", "weight", "-o", "nowhere/x.npy", code=5)
model = open("one.safetensors", "rb").read()
os.symlink("one.safetensors", "link.npy")
wb("one.safetensors", "weight", "-o", "./one.safetensors", code=4)
wb("one.safetensors", "weight", "-o", "link.npy", code=4)
assert open("one.safetensors", "rb").read() == model
wb("one.safetensors", "weight", "-o", "set", code=5)
wb("foreign/empty.safetensors", "weight", "-o", "x.npy", code=2)
wb("nowhere.safetensors", "weight", "-o", "x.npy", code=5)
assert not [f for f in os.listdir(".") if "tmp" in f or f == "x.npy"], os.listdir(".")
P
