# Importance matrices as large as those of the largest models: their contents are used, and there is no limit on
# their size below 16 GiB.
PYTHONPATH=$SOURCE/tests/cli python3 -B - <<'P'
import os, pathlib, struct, subprocess

model = pathlib.Path(os.environ["DATA"]) / "models" / "qwen3-bf16"
name, columns = b"blk.0.attn_output.weight", 256
sums = [float(1 + i * i % 97) for i in range(columns)]
floats = struct.pack(f"<{columns}f", *sums)

def wb(to, matrix, quant="Q4_1"):
    p = subprocess.run(["wb", "convert", model, to, "--quant", quant] + (["--imatrix", matrix] if matrix else []),
                       stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    return p.returncode, p.stderr.decode()

def entry(name, calls, count):
    return struct.pack("<I", len(name)) + name + struct.pack("<II", calls, count)

def dat(path, before, after):
    """Zeros, which take no room on the disk, with what is looked for between them."""
    with open(path, "wb") as f:
        f.write(struct.pack("<I", 1 + (before > 0) + (after > 0)))
        for count, what in (before, b"before"), (0, name), (after, b"after"):
            if what == name:
                f.write(entry(name, 1, columns) + floats)
            elif count > 0:
                f.write(entry(what, 1, count))
                f.truncate(f.tell() + 4 * count)
                f.seek(0, 2)

text = lambda s: struct.pack("<Q", len(s)) + s
def gguf(path, rest):
    tensors = [(name + b".in_sum2", (columns, 1), 0), (name + b".counts", (1, 1), 4 * columns), (b"other", (rest,), 4 * columns + 32)]
    head = b"GGUF" + struct.pack("<IQQ", 3, len(tensors), 1)
    head += text(b"general.type") + struct.pack("<I", 8) + text(b"imatrix")
    for n, shape, at in tensors:
        head += text(n) + struct.pack(f"<I{len(shape)}QIQ", len(shape), *shape, 0, at)
    with open(path, "wb") as f:
        f.write(head + bytes(-len(head) % 32) + floats + struct.pack("<f", 1))
        f.truncate(f.tell() + 28 + 4 * rest)

large = 70 << 20
dat("small.dat", 0, 0)
dat("large.dat", large, 20000)
gguf("large.gguf", large)
for to, matrix in ("none.gguf", None), ("small", "small.dat"), ("large", "large.dat"), ("as.gguf", "large.gguf"):
    code, said = wb(f"{to}.q.gguf", matrix)
    assert code == 0, (matrix, said)
none, small, large, as_gguf = (pathlib.Path(f"{n}.q.gguf").read_bytes() for n in ("none.gguf", "small", "large", "as.gguf"))
assert small == large == as_gguf and small != none

# A matrix above the limit is refused, and so is a matrix that is truncated at any byte.
with open("huge.dat", "wb") as f:
    f.truncate(17 << 30)
code, said = wb("x.gguf", "huge.dat")
assert code == 2 and "the limit is 17179869184" in said and "matrix" in said and "without what it says" not in said, (code, said)
whole = pathlib.Path("small.dat").read_bytes()
for n in [*range(0, 48), len(whole) - 4, len(whole) - 1]:
    pathlib.Path("cut.dat").write_bytes(whole[:n])
    code, said = wb("x.gguf", "cut.dat")
    assert code == 2 and "not a valid importance matrix" in said, (n, code, said)
many = struct.pack("<I", 3000) + b"".join(entry(b"t%d" % i, 1, 30 + i % 7) + bytes(4 * (30 + i % 7)) for i in range(2999))
pathlib.Path("many.dat").write_bytes(many + entry(name, 1, columns) + floats)
assert wb("many.q.gguf", "many.dat")[0] == 0 and pathlib.Path("many.q.gguf").read_bytes() == small
for bad in (-1.0, float("nan"), float("inf")):
    pathlib.Path("bad.dat").write_bytes(whole[:-4] + struct.pack("<f", bad))
    assert wb("x.gguf", "bad.dat")[0] == 2
os.mkdir("folder.dat")
assert wb("x.gguf", "folder.dat")[0] == 2
assert not os.path.exists("x.gguf")
P
