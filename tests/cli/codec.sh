# Encoding and decoding, compared with golden vectors.
python3 -B - <<'P'
import json, math, os, struct, subprocess

golden = os.environ["DATA"] + "/golden/"
ggml = golden + "ggml/"

def wb(*args, code=0, stdin=None):
    p = subprocess.run(["wb", "codec", *args], capture_output=True, input=stdin)
    assert p.returncode == code, (args, p.returncode, p.stderr)
    return p.stdout if code == 0 else p.stderr.decode()

def data(path):
    return open(path, "rb").read()

def same(a, b):
    if a == b:
        return True
    a, b = (struct.unpack("<%df" % (len(v) // 4), v) for v in (a, b))
    return len(a) == len(b) and all(x == y and math.copysign(1, x) == math.copysign(1, y) or x != x and y != y
                                    for x, y in zip(a, b))

kinds = [json.loads(line) for line in wb("list", "--json").splitlines()]
kinds = {k["type"]: k for k in kinds}
assert kinds["IQ2_XXS"]["importance"] == "required" and kinds["Q4_K"]["importance"] == "optional"
assert kinds["Q4_K"]["bits_per_weight"] == 4.5 and kinds["affine3:G"]["code"] == 99
assert len(wb("list").splitlines()) == len(kinds) + 1

done = set()
for line in open(ggml + "manifest.tsv"):
    fields = line.rstrip("\n").split("\t")
    if not fields[0].isdigit():
        continue
    name, kind = fields[1], fields[4]
    path = ggml + name + "." + kind
    if not os.path.exists(path):
        continue
    if kind in ("q", "qi"):
        imatrix = ["--imatrix", ggml + "imatrix.f32"] if kind == "qi" else []
        got = wb("encode", "--type", name.lower(), "--cols", "1024", *imatrix, ggml + "input.f32", "-")
        assert got == data(path), (name, kind)
    elif kind == "rb.deq":
        got = wb("decode", "--type", name, "--cols", "1024", ggml + name + ".rb", "-")
        assert same(got, data(path)), (name, kind)
    done.add((name, kind))
assert len(done) > 60, len(done)

# Input and output by files and pipes. An existing output file is replaced when the new one is complete.
text = data(ggml + "input.f32")
open("out.q", "wb").write(b"old")
answer = json.loads(wb("encode", "--type", "Q8_0", "--cols", "1024", ggml + "input.f32", "out.q", "--json"))
assert answer == {"schema": "weighbridge.codec", "version": 1, "type": "Q8_0", "columns": 1024, "rows": 12,
                  "output": "out.q", "bytes": 12 * 32 * 34, "written": True}, answer
assert data("out.q") == data(ggml + "Q8_0.q")
assert wb("encode", "--type", "Q8_0", "--cols", "1024", "-", "-", stdin=text) == data("out.q")
long = os.urandom(40 << 10) * 128  # more than a batch
long = struct.pack("<%df" % (len(long) // 4), *((b % 251) / 16 - 7 for b in range(len(long) // 4)))
packed = wb("encode", "--type", "q5_1", "--cols", "1280", "-", "-", stdin=long)
assert len(packed) == len(long) // 4 // 32 * 24
whole = wb("decode", "--type", "q5_1", "--cols", "1280", "-", "-", stdin=packed)
assert whole == wb("decode", "--type", "q5_1", "--cols", "32", "-", "-", stdin=packed) and len(whole) == len(long)
assert wb("encode", "--type", "bf16", "--cols", "3", "-", "-", stdin=struct.pack("<3f", 1, -2, 0.1)) == \
    bytes.fromhex("803f00c0cd3d")
assert wb("encode", "--type", "Q4_K", "--cols", "256", "-", "-", stdin=b"") == b""
said = wb("encode", "--type", "Q4_0", "--cols", "1024", ggml + "input.f32", "out.q", "--dry-run").decode()
assert said == "would write 6,912 bytes to out.q: 12 rows of 1,024 values as Q4_0\n", said
assert data("out.q") == data(ggml + "Q8_0.q")

# Rejected requests, which write nothing.
files = sorted(os.listdir("."))
f = ggml + "input.f32"
for code, word, args in (
        (4, "importance", ("encode", "--type", "IQ2_XXS", "--cols", "1024", f, "x")),
        (4, "256", ("encode", "--type", "Q4_K", "--cols", "128", f, "x")),
        (4, "type 'q4_k_m'", ("encode", "--type", "q4_k_m", "--cols", "256", f, "x")),
        (3, "C64", ("decode", "--type", "c64", "--cols", "256", f, "x")),
        (2, "whole number of rows", ("encode", "--type", "Q8_0", "--cols", "1056", f, "x")),
        (2, "whole number of rows", ("decode", "--type", "Q8_0", "--cols", "1024", f, "x")),
        (4, "--cols", ("encode", "--type", "Q8_0", "--cols", "12x", f, "x")),
        (4, "--cols", ("encode", "--type", "Q8_0", f, "x")),
        (4, "IN and OUT", ("encode", "--type", "Q8_0", "--cols", "1024", f)),
        (4, "one row", ("encode", "--type", "Q4_K", "--cols", "512", "--imatrix", ggml + "imatrix.f32", f, "x")),
        (4, "one row", ("encode", "--type", "Q4_K", "--cols", "2048", "--imatrix", ggml + "imatrix.f32", f, "x")),
        (4, "importance", ("decode", "--type", "Q4_K", "--cols", "1024", "--imatrix", ggml + "imatrix.f32", f, "x")),
        (5, "nowhere", ("encode", "--type", "Q8_0", "--cols", "1024", "nowhere", "x")),
        (5, "directory", ("encode", "--type", "Q8_0", "--cols", "1024", ".", "x")),
        (4, "input", ("encode", "--type", "F32", "--cols", "1024", "out.q", "out.q")),
        (4, "group", ("encode", "--type", "affine4:48", "--cols", "96", f, "x")),
        (4, "group", ("encode", "--type", "affine4:64", "--cols", "96", f, "x")),
        (4, "affine7", ("encode", "--type", "affine7:64:1", "--cols", "128", f, "x")),
        (2, "weight", ("decode", "--type", "mxfp8", "--cols", "256", golden + "mlx/e4m3.safetensors", "x")),
        (2, "columns", ("decode", "--type", "affine4:64", "--cols", "512",
                        golden + "mlx/affine_b8_g64_f32.safetensors", "x"))):
    message = wb(*args, code=code)
    assert word in message, (args, message)
assert sorted(os.listdir(".")) == files

# MLX modes.
def read(path):
    whole = data(path)
    n = int.from_bytes(whole[:8], "little")
    header = json.loads(whole[8:8 + n])
    meta = header.pop("__metadata__", {})
    return meta, {k: (v["dtype"], v["shape"], whole[8 + n + v["data_offsets"][0]:8 + n + v["data_offsets"][1]])
                  for k, v in header.items()}

mlx = golden + "mlx/"
_, inputs = read(mlx + "inputs.safetensors")
open("x.f32", "wb").write(inputs["x_f32"][2])
rows, count = inputs["x_f32"][1][0], 0
names = json.loads(read(mlx + "inputs.safetensors")[0]["row_names"])
for name in sorted(os.listdir(mlx)):
    if not name.endswith("_f32.safetensors") or not name.startswith(("affine", "mxfp", "nvfp")) or "global" in name:
        continue
    meta, want = read(mlx + name)
    kind = "affine%s:%s" % (meta["bits"], meta["group_size"]) if meta["mode"] == "affine" else meta["mode"]
    wb("encode", "--type", kind, "--cols", "256", "x.f32", "out.safetensors")
    own, got = read("out.safetensors")
    assert own == {k: meta[k] for k in ("mode", "bits", "group_size")}, own
    parts = ["weight", "scales"] + ["biases"] * (meta["mode"] == "affine")
    assert sorted(got) == sorted(parts)
    edges = [names.index(r) for r in json.loads(meta.get("edge_rows", "[]"))]
    for part in parts:
        assert got[part][:2] == want[part][:2], (name, part)
        n = len(want[part][2]) // rows
        for r in set(range(rows)) - set(edges):
            assert got[part][2][n * r:n * r + n] == want[part][2][n * r:n * r + n], (name, part, names[r])
    wb("decode", "--type", kind.upper(), "--cols", "256", mlx + name, "out.f32")
    assert same(data("out.f32"), want.get("dequant", want.get("dequant_f32"))[2]), name
    count += 1
assert count >= 6, count
assert wb("encode", "--type", "int8", "--cols", "256", "-", "-", stdin=inputs["x_f32"][2]) == (
    wb("encode", "--type", "affine8:64", "--cols", "256", "x.f32", "a.safetensors"), data("a.safetensors"))[1]
meta, want = read(mlx + "nvfp4_global_bf16.safetensors")
wb("decode", "--type", "nvfp4", "--cols", "256", mlx + "nvfp4_global_bf16.safetensors", "out.f32")
assert same(data("out.f32"), want["dequant_f32"][2])
scales = []
for rule in ("up", "nearest"):
    wb("encode", "--type", "mxfp4", "--e8m0", rule, "--cols", "256", "x.f32", "m.safetensors")
    scales.append(read("m.safetensors")[1]["scales"][2])
assert scales[0] != scales[1]
assert len(wb("encode", "--type", "mxfp4", "--cols", "256", "x.f32", "-")) == rows * 8 * 17  # GGML's
P
# A closed pipe ends the command without a message; Ctrl-C and full disks leave no files.
{ got=0; wb codec decode --type f32 --cols 1024 "$DATA/golden/ggml/input.f32" - 2>err || got=$?; echo $got >code; } |
    head -c 1 >/dev/null
[ "$(cat code)" = 0 ] && [ ! -s err ] || exit 1
got=0
wb codec decode --type f32 --cols 1024 "$DATA/golden/ggml/input.f32" /dev/full 2>err || got=$?
[ $got = 5 ]
