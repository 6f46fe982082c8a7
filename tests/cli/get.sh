# Compares the output of 'wb get' with the stored bytes; shards of ranks, also with 'wb export'.
M=$DATA/models/qwen3-4bit-3shards
T=$DATA/twins
PYTHONDONTWRITEBYTECODE=1 python3 - "$M" "$T" <<'P'
import json, os, resource, struct, subprocess, sys
model, twins = sys.argv[1:]

def wb(*args, code=0, err=None):
    p = subprocess.run(["wb", *args], capture_output=True)
    assert p.returncode == code, (args, p)
    if err is not None:
        assert err in p.stderr.decode(), (args, p.stderr)
    return p.stdout

def get(*args, **how):
    return wb("get", *args, "-o", "-", **how)

def stored(about, name):
    """The bytes of the parts of a tensor, as they lie in the files."""
    parts = [t["parts"] for t in about["tensors"] if t["name"] == name][0]
    out = []
    for part in parts:
        with open(os.path.join(model, about["files"][part["file"]]["path"]), "rb") as f:
            f.seek(part["offset"])
            out.append(f.read(part["bytes"]))
    return out

def f16(bf16):
    out = b""
    for i in range(0, len(bf16), 2):
        value, = struct.unpack("<f", b"\0\0" + bf16[i:i + 2])
        out += struct.pack("<e", value)
    return out

# The layout is [all W | all S | all B]; scales are converted to F16 through F32.
stem = "model.layers.0.self_attn."
names = ["layers.0.attention.%s.weight" % n for n in "qkv"]
about = json.loads(wb("inspect", "--json", model).splitlines()[0])
for n in range(1, 4):
    want = [b"", b"", b""]
    for letter in "qkv"[:n]:
        parts = stored(about, stem + letter + "_proj.weight")
        for i, part in enumerate(parts):
            want[i] += part
    keep = get(model, *names[:n], "--policy", "keep")
    assert keep == b"".join(want), n
    half = get(model, *names[:n])
    assert half == want[0] + f16(want[1]) + f16(want[2]), n
    said = json.loads(wb("get", model, *names[:n], "-o", "out.bin", "--json"))
    assert open("out.bin", "rb").read() == half
    assert said["code"] == 100 and said["dtype"] == "affine4" and said["bytes"] == len(half)
    assert [s["offset"] for s in said["sections"]] == [0, len(want[0]), len(want[0]) + len(want[1])]
    assert len(said["part_rows"]) == n and said["shape"][0] == sum(said["part_rows"])

# The parts of all ranks together are the complete tensor.
whole = get(model, "layers.0.ffn.gate.weight", "--policy", "keep")
info = json.loads(wb("get", model, "layers.0.ffn.gate.weight", "--policy", "keep", "--dry-run", "--json", "-o", "x"))
assert not os.path.exists("x") and not info["written"]
sections = [whole[s["offset"]:s["offset"] + s["bytes"]] for s in info["sections"]]
again = [b"" for _ in sections]
for rank in range(2):
    args = ["layers.0.ffn.gate.weight", "--policy", "keep", "--part", "0:%d/2" % rank]
    part = get(model, *args)
    about = json.loads(wb("get", model, *args, "--dry-run", "--json", "-o", "x"))
    for i, s in enumerate(about["sections"]):
        again[i] += part[s["offset"]:s["offset"] + s["bytes"]]
assert again == sections

# A plan reads no data and allocates no memory for it. The tensor is a hole of 64 GiB, whose reading would take
# minutes.
size = 64 << 30
header = b'{"t":{"dtype":"BF16","shape":[2,%d],"data_offsets":[0,%d]}}' % (size // 4, size)
with open("hole.safetensors", "wb") as f:
    f.write(len(header).to_bytes(8, "little") + header)
    f.truncate(8 + len(header) + size)
for args, rows in ([], 2), (["--part", "0:1/2"], 1):
    said = subprocess.run(["wb", "get", "hole.safetensors", "t", "--dry-run", "--json", "-o", "x", *args], timeout=20,
                          capture_output=True, check=True, preexec_fn=lambda: resource.setrlimit(
                              resource.RLIMIT_CPU, (5, 5))).stdout
    about = json.loads(said)
    assert about["bytes"] == size // 2 * rows and about["shape"] == [rows, size // 4] and not about["written"]
    assert about["dtype"] == "F16" and "overflowed" not in about and not os.path.exists("x")
os.unlink("hole.safetensors")

# q, k and v in one tensor are cut separately; also compared with the values that export decodes.
path, name = os.path.join(twins, "phi3"), "layers.0.attention.qkv.weight"
info = json.loads(wb("inspect", "--json", path).splitlines()[0])
rows, columns = [t["shape"] for t in info["tensors"] if t["name"].endswith("0.self_attn.qkv_proj.weight")][0]
config = info["config"]
q, kv = config["q_dim"], config["kv_dim"]
values = wb("export", path, name, "--dtype", "f32", "--format", "raw", "-o", "-")
row = columns * 4
for rank in range(2):
    want = b""
    for start, count in (0, q), (q, kv), (q + kv, kv):
        begin = start + count // 2 * rank
        want += values[begin * row:(begin + count // 2) * row]
    part = "0:%d/2" % rank
    assert get(path, name, "--part", part, "--policy", "f32") == want
    assert wb("export", path, name, "--part", part, "--dtype", "f32", "--format", "raw", "-o", "-") == want
    npy = wb("export", path, name, "--part", part, "--dtype", "f32", "-o", "-")
    assert npy.endswith(want) and b"(%d, %d)" % ((q + 2 * kv) // 2, columns) in npy
    gguf = get(path + ".gguf", name, "--part", part, "--policy", "f32")
    assert len(gguf) == len(want)

# Rejected requests.
get(model, "nothing", code=4, err="no tensor with this native or canonical name")
get(model, names[0], "model.norm.weight", code=3, err="model.norm.weight")
get(model, names[0], "--part", "0:2/2", code=4, err="AXIS:RANK/OF")
get(model, names[0], "--part", "0:1", code=4, err="AXIS:RANK/OF")
get(model, names[0], "--part", "5:0/2", code=4, err="does not have this axis")
get(model, names[0], "--part", "1:0/200", code=3, err="divided among")
get(model, names[0], "--policy", "f64", code=4, err="f16|keep|f32|bf16")
wb("get", model, names[0], code=4, err="-o is missing")
wb("get", model, "-o", "x", code=4, err="Missing argument")
wb("get", "nowhere", names[0], "-o", "x", code=5)
wb("export", model, names[0], "--part", "0:0/2", "--slice", "0", "-o", "x", code=4, err="--slice and --part")
wb("export", model, names[0], "--part", "1:0/200", "--dtype", "f32", "-o", "x.npy", code=3, err="divided among")
assert not os.path.exists("x") and not os.path.exists("x.npy")

# Values that overflow or underflow are counted.
header = json.dumps({"t": {"dtype": "F32", "shape": [4], "data_offsets": [0, 16]}}).encode()
open("odd.safetensors", "wb").write(struct.pack("<Q", len(header)) + header + struct.pack("<4f", 1, 1e6, -1e9, 1e-12))
assert get("odd.safetensors", "t", err="2 values are too large for F16") == struct.pack("<4e", 1, float("inf"), float("-inf"), 0)
get("odd.safetensors", "t", err="1 values are too small for F16")
assert wb("get", "odd.safetensors", "t", "-o", "odd.safetensors", code=4, err="would overwrite") == b""
print("well")
P
