# Quantized tensors: stored bytes and decoded values, compared with golden vectors.
PYTHONPATH=$SOURCE/tests/cli python3 -B - <<'P'
import json, math, os, struct, subprocess, stores, zoo

def wb(*args, code=0):
    p = subprocess.run(["wb", *args], capture_output=True)
    assert p.returncode == code, (args, p.returncode, p.stderr)
    return p.stdout if code == 0 else p.stderr.decode()

def raw(path, name, *args, code=0):
    return wb("export", path, name, "--format", "raw", "-o", "-", *args, code=code)

def npy(data):
    n, = struct.unpack("<H", data[8:10])
    return eval(data[10:10 + n]), data[10 + n:]

def same(a, b):  # floats; any NaN equals any NaN
    if a == b:
        return True
    a, b = (struct.unpack("<%df" % (len(v) // 4), v) for v in (a, b))
    return len(a) == len(b) and all(x == y and math.copysign(1, x) == math.copysign(1, y) or x != x and y != y
                                    for x, y in zip(a, b))

def read(path):
    data = open(path, "rb").read()
    n = int.from_bytes(data[:8], "little")
    header = json.loads(data[8:8 + n])
    return {k: (v["dtype"], v["shape"], data[8 + n + v["data_offsets"][0]:8 + n + v["data_offsets"][1]])
            for k, v in header.items() if k != "__metadata__"}

# GGML types.
golden = os.environ["DATA"] + "/golden/ggml/"
rows = [line.split("\t") for line in open(golden + "manifest.tsv") if line[0].isdigit()]
types = {}
for number, name, block, size, kind, *_ in rows:
    if kind == "rb" and os.path.exists(golden + name + ".rb.deq"):
        types[name] = (int(number), int(block), int(size))
assert len(types) > 25, types
tensors = []
for name, (number, block, size) in types.items():
    data = open(golden + name + ".rb", "rb").read()
    tensors.append((name, number, [1024, len(data) * block // size // 1024], data))
zoo.save_gguf("types.gguf", [("general.architecture", 8, zoo.string("llama"))], tensors)
for name, number, shape, data in tensors:
    floats = open(golden + name + ".rb.deq", "rb").read()
    assert raw("types.gguf", name) == data, name
    got = raw("types.gguf", name, "--dtype", "f32")
    assert same(got, floats), name
    header, values = npy(wb("export", "types.gguf", name, "-o", "-"))
    want = "<f2" if name == "F16" else "<f4"
    assert header["descr"] == want and header["shape"] == tuple(shape[::-1]), (name, header)
    assert name == "F16" or values == got, name
    row = raw("types.gguf", name, "--slice", "1, 3:7", "--dtype", "F32")
    assert row == got[4 * 1027:4 * 1031], name
assert "block" in raw("types.gguf", "Q4_K", "--slice", "...,:4", code=3)
assert raw("types.gguf", "Q4_K", "--slice", "0", code=0) == tensors[[t[0] for t in tensors].index("Q4_K")][3][:576]
assert "--format raw" in wb("export", "types.gguf", "Q4_K", "--dtype", "q4_k", "-o", "x.npy", code=3)
wb("export", "types.gguf", "Q4_K", "--dtype", "q8_0", "--format", "raw", "-o", "x", code=3)
assert "0 " not in wb("export", "types.gguf", "Q8_0", "--slice", "0,:2", "--format", "text", "-o", "-").decode()[:3]

# Several parts: Ollama's int4.
stores.main()
up = "model.layers.0.mlp.up_proj.weight"
want = [q * stores.SCALES[r][c // 64] + stores.BIASES[r][c // 64] for r, row in enumerate(stores.INT4)
        for c, q in enumerate(row)]
args = ["--store", "store"]
assert npy(wb("export", "four", up, "-o", "-", *args))[1] == zoo.floats(*want)
assert raw("ollama://four", up, "--slice", "1,::-1", "--dtype", "f64", *args) == struct.pack("<128d", *want[:127:-1])
message = raw("four", up, *args, code=4)
assert "--dtype" in message and up + ".scale" in message, message
assert raw("four", up + ".scale", *args) == stores.bf16(sum(stores.SCALES, []))
t, = json.loads(wb("inspect", "--json", "four", *args))["tensors"]
assert (t["shape"], t["elements"], t["dtype"]) == ([2, 128], 256, "U32"), t
assert t["encoding"] == {"type": "int4", "bits": 4, "group_size": 64}, t
assert [(p["role"], p["name"]) for p in t["parts"]] == [
    ("values", up), ("scales", up + ".scale"), ("biases", up + ".bias")], t
assert t["bytes"] == sum(p["bytes"] for p in t["parts"]) == 144
assert raw("four", "@1", *args) == read(stores.path_of(stores.layer("x", stores.int4())))[up][2]

# AWQ, GPTQ and FP8 with block scales, which config.json declares.
hub = os.environ["DATA"] + "/golden/hub/"
for name, config, renames in (
        ("awq_g32_bf16", {"quant_method": "awq", "bits": 4, "group_size": 32, "zero_point": True}, {}),
        ("gptq", {"quant_method": "gptq", "bits": 4, "group_size": 32, "desc_act": False}, {}),
        ("gptq_act_order", {"quant_method": "gptq", "bits": 4, "group_size": 32, "desc_act": True}, {}),
        ("gptq_v2", {"quant_method": "gptq", "bits": 4, "group_size": 32, "checkpoint_format": "gptq_v2"}, {}),
        ("fp8_128", {"quant_method": "fp8", "weight_block_size": [128, 128]}, {})):
    stored = read(hub + name + ".safetensors")
    os.mkdir(name)
    zoo.save(name + "/model.safetensors",
             [("model.x." + k, *v) for k, v in stored.items() if k != "values"])
    with open(name + "/config.json", "w") as f:
        json.dump({"model_type": "llama", "quantization_config": config}, f)
    answer = json.loads(wb("inspect", "--json", name, code=0))
    t, = [t for t in answer["tensors"] if "parts" in t]
    assert t["shape"] == stored["values"][1] and t["encoding"]["type"] == {"fp8_128": "fp8_block"}.get(
        name, name.split("_")[0]), (name, t)
    assert answer["totals"]["parameters"] == t["elements"], name
    assert same(raw(name, t["name"], "--dtype", "f32"), stored["values"][2]), name
    raw(name, t["name"], code=4)
    half = raw(name, t["name"], "--slice", "2:4,:8", "--dtype", "f16")
    assert half == struct.pack("<16e", *(x for r in (2, 3) for x in struct.unpack_from(
        "<8f", stored["values"][2], 4 * r * t["shape"][1]))), name

# FP8 with blocks of other sizes, which config.json must declare and the shape of the scales must match.
def e4m3(code):
    e, m = code >> 3 & 15, code & 7
    return math.copysign(math.ldexp(m if e == 0 else m + 8, max(e, 1) - 10), -1 if code & 128 else 1)

def fp8(folder, rows, columns, size, said, code=0):
    codes = [(7 * r + 13 * c + r * c) % 255 % 127 | (r ^ c) % 2 << 7 for r in range(rows) for c in range(columns)]
    high, wide = size
    blocks = [-(-rows // high), -(-columns // wide)]
    scales = [1 + k / 8 for k in range(blocks[0] * blocks[1])]
    os.mkdir(folder)
    zoo.save(folder + "/model.safetensors", [
        ("x.weight", "F8_E4M3", [rows, columns], bytes(codes)),
        ("x.weight_scale_inv", "F32", blocks, zoo.floats(*scales))])
    with open(folder + "/config.json", "w") as f:
        json.dump({"quantization_config": {"quant_method": "fp8", "weight_block_size": said}}, f)
    p = subprocess.run(["wb", "inspect", "--json", folder], capture_output=True)
    assert p.returncode == code, (folder, p)
    tensors = json.loads(p.stdout)["tensors"]
    if len(tensors) == 1:
        assert tensors[0]["encoding"] == {"type": "fp8_block", "bits": 8, "group_size": wide}, tensors
        want = [e4m3(codes[r * columns + c]) * scales[r // high * blocks[1] + c // wide]
                for r in range(rows) for c in range(columns)]
        assert raw(folder, "x.weight", "--dtype", "f32") == zoo.floats(*want), folder
        part = raw(folder, "x.weight", "--dtype", "f32", "--slice", "%d:,::3" % (high + 1))
        assert part == zoo.floats(*[v for r in range(high + 1, rows) for v in want[r * columns:(r + 1) * columns:3]])
    return len(tensors)

assert fp8("fp8_32", 70, 100, (32, 32), [32, 32]) == 1
assert fp8("fp8_flat", 9, 300, (1, 128), [1, 128]) == 1
assert fp8("fp8_odd", 50, 75, (20, 24), [20, 24]) == 1
assert fp8("fp8_unsaid", 200, 300, (128, 128), None) == 1
assert fp8("fp8_said_wrong", 200, 300, (128, 128), [64, 64], code=1) == 1
assert fp8("fp8_unfit", 200, 300, (64, 64), [32, 32], code=1) == 2
assert fp8("fp8_nonsense", 70, 100, (32, 32), [0, 32], code=1) == 2

# Scales and other parts with wrong shapes are separate tensors, and are not read past their ends.
stored = read(hub + "gptq_act_order.safetensors")
for number, (part, dtype, shape, data) in enumerate((
        ("g_idx", "I32", [4], bytes(16)), ("qzeros", "I32", [3, 1], bytes(12)), ("qzeros", "I8", [3, 3], bytes(9)),
        ("qweight", "I8", [12, 24], bytes(288)), ("g_idx", "I8", [96], bytes(96)))):
    folder = "unfit%d" % number
    os.mkdir(folder)
    parts = {**{k: v for k, v in stored.items() if k != "values"}, part: (dtype, shape, data)}
    zoo.save(folder + "/model.safetensors", [("x." + k, *v) for k, v in parts.items()])
    with open(folder + "/config.json", "w") as f:
        json.dump({"quantization_config": {"quant_method": "gptq", "bits": 4, "group_size": 32}}, f)
    p = subprocess.run(["wb", "inspect", "--json", folder], capture_output=True)
    tensors = json.loads(p.stdout)["tensors"]
    assert p.returncode == (part != "qweight") and len(tensors) == 4 and not any("parts" in t for t in tensors), (folder, tensors)

# MLX: a real folder, and every slice of its tensors.
mlx = os.environ["DATA"] + "/models/llama-tied-float16-4bit"
t = [t for t in json.loads(wb("inspect", "--json", mlx))["tensors"] if "parts" in t][0]
whole = raw(mlx, t["name"], "--dtype", "bf16")
assert len(whole) == 2 * t["elements"]
assert raw(mlx, t["name"], "--dtype", "bf16", "--slice", "3") == whole[6 * t["shape"][1]:8 * t["shape"][1]]

# Experts that are stored as separate tensors are one tensor under their canonical name.
os.mkdir("experts")
zoo.save("experts/model.safetensors", [
    ("model.layers.0.mlp.experts.%d.up_proj.weight" % e, "F32", [2, 3], zoo.floats(*range(6 * e, 6 * e + 6)))
    for e in range(3)])
with open("experts/config.json", "w") as f:
    json.dump({"model_type": "qwen3_moe", "num_experts": 3, "num_hidden_layers": 1}, f)
header, values = npy(wb("export", "experts", "layers.0.ffn.experts.up.weight", "-o", "-"))
assert header["shape"] == (3, 2, 3) and values == zoo.floats(*range(18)), header

# Tied embeddings are counted once.
both = [("model.embed_tokens.weight", "F32", [2, 2], zoo.floats(1, 2, 3, 4)),
        ("lm_head.weight", "F32", [2, 2], zoo.floats(1, 2, 3, 4))]
for tie in (True, False):
    folder = "tie-%s" % tie
    os.mkdir(folder)
    zoo.save(folder + "/model.safetensors", both)
    with open(folder + "/config.json", "w") as f:
        json.dump({"model_type": "llama", "tie_word_embeddings": tie}, f)
    totals = json.loads(wb("inspect", "--json", folder))["totals"]
    assert (totals["tensors"], totals["parameters"], totals["bytes"]) == (2, 4 if tie else 8, 32), totals
P
