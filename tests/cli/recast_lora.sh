# Merged adapters of PEFT, mlx-lm and llama.cpp, compared with sums computed in Python, for every format of the
# model, the adapter and the result.
PYTHONPATH=$SOURCE/tests/cli python3 -B - <<'P'
import array, json, os, pathlib, random, struct, subprocess
from engine import read, write

twin = pathlib.Path(os.environ["DATA"]) / "twins" / "llama"
config = json.loads((twin / "config.json").read_text())
dim, heads, ffn = config["hidden_size"], config["num_attention_heads"], config["intermediate_size"]
kv = dim // heads * config["num_key_value_heads"]
rank, alpha, scale = 2, 6, 0.5
modules = {"model.layers.0.self_attn.q_proj": (dim, dim, "blk.0.attn_q"),
           "model.layers.1.self_attn.k_proj": (kv, dim, "blk.1.attn_k"),
           "model.layers.1.mlp.down_proj": (dim, ffn, "blk.1.ffn_down")}
random.seed(1)
halves = {m: ([[random.uniform(-1, 1) for _ in range(ins)] for _ in range(rank)],
              [[random.uniform(-1, 1) for _ in range(rank)] for _ in range(outs)])
          for m, (outs, ins, _) in modules.items()}
flat = lambda rows: array.array("f", [x for row in rows for x in row]).tobytes()

def wb(*args, code=0):
    p = subprocess.run(["wb", *map(str, args)], capture_output=True)
    assert p.returncode == code, (args, p)
    return p.stderr.decode()

# An adapter of PEFT.
os.mkdir("peft")
tensors = {}
for m, (a, b) in halves.items():
    tensors[f"base_model.model.{m}.lora_A.weight"] = ("F32", [rank, len(a[0])], flat(a))
    tensors[f"base_model.model.{m}.lora_B.weight"] = ("F32", [len(b), rank], flat(b))
write("peft/adapter_model.safetensors", tensors)
pathlib.Path("peft/adapter_config.json").write_text(json.dumps({"r": rank, "lora_alpha": alpha}))

# A GGUF adapter, whose rows of q and k are interleaved.
def pairs(rows, size):
    out = []
    for head in range(0, len(rows), size):
        for i in range(size // 2):
            out += [rows[head + i], rows[head + size // 2 + i]]
    return out
text = lambda s: struct.pack("<Q", len(s)) + s.encode()
def write_gguf(path, architecture, tensors):
    infos, data = b"", b""
    for name, shape, raw in tensors:
        infos += text(name) + struct.pack(f"<I{len(shape)}QIQ", len(shape), *shape, 0, len(data))
        data += raw + bytes(-len(raw) % 32)
    head = b"GGUF" + struct.pack("<IQQ", 3, len(tensors), 3)
    head += text("general.architecture") + struct.pack("<I", 8) + text(architecture)
    head += text("general.type") + struct.pack("<I", 8) + text("adapter")
    head += text("adapter.lora.alpha") + struct.pack("<If", 6, alpha) + infos
    pathlib.Path(path).write_bytes(head + bytes(-len(head) % 32) + data)
tensors_of = []
for m, (outs, ins, name) in modules.items():
    a, b = halves[m]
    b = pairs(b, dim // heads) if "attn" in name else b
    tensors_of += [(name + ".weight.lora_a", (ins, rank), flat(a)), (name + ".weight.lora_b", (rank, outs), flat(b))]
write_gguf("adapter.gguf", "llama", tensors_of)

wb("convert", twin, "base.gguf", "--quant", "F32")
wb("convert", twin, "plain.safetensors", "--quant", "F32")
wb("convert", twin, "peft.safetensors", "--quant", "F32", "--lora", f"peft:{scale}")
wb("convert", twin, "peft.gguf", "--quant", "F32", "--lora", f"peft:{scale}")
wb("convert", twin, "other.gguf", "--quant", "F32", "--lora", f"adapter.gguf:{scale}")
wb("convert", "base.gguf", "again.gguf", "--quant", "F32", "--lora", f"peft:{scale}")
wb("convert", "peft.gguf", "back.safetensors", "--to", "safetensors", "--quant", "F32")
for name in ("other", "again"):
    assert pathlib.Path(name + ".gguf").read_bytes()[-4096:] == pathlib.Path("peft.gguf").read_bytes()[-4096:], name
plain, merged, back = (read(n + ".safetensors") for n in ("plain", "peft", "back"))
for name, (_, shape, raw) in plain.items():
    want, got = array.array("f", raw), array.array("f", merged[name][2])
    a, b = halves.get(name[:-len(".weight")], ((), ()))
    for i in range(len(want)):
        row, column = divmod(i, shape[-1])
        more = sum(b[row][k] * a[k][column] for k in range(rank)) * scale * alpha / rank if b else 0
        assert abs(want[i] + more - got[i]) < 1e-5, (name, i)
    assert merged[name][2] == back[name][2], name

# Modules with an alpha of their own (alpha_pattern): a key matches the end of a name, the first matching key is
# used, and regular expressions are refused.
def patterned(own, code=0):
    pathlib.Path("peft/adapter_config.json").write_text(
        json.dumps({"r": rank, "lora_alpha": alpha, "alpha_pattern": own}))
    return wb("convert", twin, "own.safetensors", "--force", "--quant", "F32", "--lora", f"peft:{scale}", code=code)
for own, alphas in (
        ({}, (alpha, alpha, alpha)), (None, (alpha, alpha, alpha)),
        ({"q_proj": 12, "proj": 50, "layers.1.mlp.down_proj": 3, "own_proj": 60}, (12, alpha, 3)),
        ({r"model\.layers\.1\.self_attn\.k_proj": 2.5, "k_proj": 9, "down_proj": 7, "mlp.down_proj": 8},
         (alpha, 2.5, 7))):
    patterned(own)
    merged = read("own.safetensors")
    for (m, (a, b)), mine in zip(halves.items(), alphas):
        _, shape, raw = merged[m + ".weight"]
        want, got = array.array("f", plain[m + ".weight"][2]), array.array("f", raw)
        for i in range(len(want)):
            row, column = divmod(i, shape[-1])
            more = sum(b[row][k] * a[k][column] for k in range(rank)) * scale * mine / rank
            assert abs(want[i] + more - got[i]) < 1e-5, (own, m, i)
for own, code, word in (({"layers.*.q_proj": 1}, 3, "regular expression"), ({"q_proj": "1"}, 2, "not a number"),
                        ([1], 2, "not an object")):
    assert word in patterned(own, code), own
# Other kinds of adapters with the same tensors as plain LoRA are refused; so is a matrix A or B without the other.
plain_config = {"r": rank, "lora_alpha": alpha, "peft_type": "LORA", "use_dora": False, "alora_invocation_tokens": None}
for change, code, word in (({"use_dora": True}, 3, "use_dora"), ({"peft_type": "LOHA"}, 3, "peft_type"),
                           ({"alora_invocation_tokens": [1, 2]}, 3, "alora_invocation_tokens"),
                           ({"alora_invocation_tokens": []}, 3, "alora_invocation_tokens"),
                           ({"lora_alpha": "16"}, 2, "scale"), ({"r": None}, 2, "rank")):
    pathlib.Path("peft/adapter_config.json").write_text(json.dumps(plain_config | change))
    assert word in wb("convert", twin, "x.gguf", "--lora", "peft", code=code)
pathlib.Path("peft/adapter_config.json").write_text(json.dumps(plain_config))
wb("convert", twin, "x.safetensors", "--quant", "F32", "--lora", f"peft:{scale}")
assert pathlib.Path("x.safetensors").read_bytes() == pathlib.Path("peft.safetensors").read_bytes()
os.mkdir("half")
pathlib.Path("half/adapter_config.json").write_text(json.dumps(plain_config))
for letter in "AB":
    one = f"base_model.model.model.layers.1.self_attn.k_proj.lora_{letter}.weight"
    write("half/adapter_model.safetensors", {n: t for n, t in tensors.items() if n != one})
    assert "only one of the matrices" in wb("convert", twin, "y.gguf", "--lora", "half", code=2)

# Two pairs in an adapter for one weight are an error that names the weight; two adapters for one weight are
# allowed.
twice = dict(tensors)
for letter in "AB":
    one = f"model.layers.1.self_attn.k_proj.lora_{letter}.weight"
    twice[one] = tensors["base_model.model." + one]
os.mkdir("twice")
write("twice/adapter_model.safetensors", twice)
pathlib.Path("twice/adapter_config.json").write_text(json.dumps(plain_config))
for model in twin, "base.gguf":
    told = wb("convert", model, "y.gguf", "--lora", "twice", code=2)
    assert "several pairs" in told and ("layers.1.self_attn.k_proj" in told or "blk.1.attn_k" in told), told
wb("convert", twin, "y.gguf", "--lora", "peft", "--lora", "peft")

# Adapters of MLX have transposed matrices, and a scale that is not divided by the rank.
def turn(rows):
    return [list(column) for column in zip(*rows)]
os.mkdir("mlx")
mlx = {}
for m, (a, b) in halves.items():
    mlx[m + ".lora_a"] = ("F32", [len(a[0]), rank], flat(turn(a)))
    mlx[m + ".lora_b"] = ("F32", [rank, len(b)], flat(turn(b)))
write("mlx/adapters.safetensors", mlx)
says = {"fine_tune_type": "lora", "num_layers": 2, "lora_parameters": {"rank": rank, "scale": alpha / rank, "dropout": 0.0}}
pathlib.Path("mlx/adapter_config.json").write_text(json.dumps(says))
wb("convert", twin, "mlx.gguf", "--quant", "F32", "--lora", f"mlx:{scale}")
assert pathlib.Path("mlx.gguf").read_bytes()[-4096:] == pathlib.Path("peft.gguf").read_bytes()[-4096:]
for change, code, word in (({"fine_tune_type": "dora"}, 3, "fine_tune_type"), ({"lora_parameters": {}}, 2, "scale")):
    pathlib.Path("mlx/adapter_config.json").write_text(json.dumps(says | change))
    assert word in wb("convert", twin, "x.gguf", "--lora", "mlx", code=code)

# Adapters of experts, separate or stacked as in MLX, are merged into stacked and into separate experts.
moe = twin.parent / "qwen3moe"
wb("convert", moe, "moe.hf", "--to", "safetensors", "--quant", "F32")
plain = read("moe.hf/model.safetensors")
up = "model.layers.1.mlp.experts.{}.up_proj"
count = sum(n.startswith("model.layers.1.mlp.experts.") and "up_proj" in n for n in plain)
outs, ins = plain[up.format(0) + ".weight"][1]
pair = [([[random.uniform(-1, 1) for _ in range(ins)] for _ in range(rank)],
         [[random.uniform(-1, 1) for _ in range(rank)] for _ in range(outs)]) for _ in range(count)]
pair[1] = ([[0.0] * ins for _ in range(rank)], pair[1][1])  # which PEFT leaves out below
os.mkdir("each")
write("each/adapter_model.safetensors",
      {f"base_model.model.{up.format(e)}.lora_{h}.weight": ("F32", [len(m), len(m[0])], flat(m))
       for e in range(count) if e != 1 for h, m in zip("AB", pair[e])})
pathlib.Path("each/adapter_config.json").write_text(json.dumps({"r": rank, "lora_alpha": alpha}))
os.mkdir("stacked")
stack = "model.layers.1.mlp.switch_mlp.up_proj"
write("stacked/adapters.safetensors",
      {stack + ".lora_a": ("F32", [count, rank, ins], b"".join(flat(a) for a, _ in pair)),
       stack + ".lora_b": ("F32", [count, outs, rank], b"".join(flat(b) for _, b in pair))})
pathlib.Path("stacked/adapter_config.json").write_text(json.dumps(says))
wb("convert", moe, "each.gguf", "--quant", "F32", "--lora", "each")
wb("convert", moe, "stacked.gguf", "--quant", "F32", "--lora", "stacked")
assert pathlib.Path("each.gguf").read_bytes() == pathlib.Path("stacked.gguf").read_bytes()
# Adapters of llama.cpp with a matrix for each expert are merged into stacks of a GGUF file, and into separate
# experts.
up_exps = "blk.1.ffn_up_exps.weight.lora_"
halves_of = [(up_exps + "a", (ins, rank, count), b"".join(flat(a) for a, _ in pair)),
             (up_exps + "b", (rank, outs, count), b"".join(flat(b) for _, b in pair))]
write_gguf("exps.gguf", "qwen3moe", halves_of)
wb("convert", moe, "exps-stacked.gguf", "--quant", "F32", "--lora", "exps.gguf")
assert pathlib.Path("each.gguf").read_bytes() == pathlib.Path("exps-stacked.gguf").read_bytes()
wb("convert", moe, "moe.gguf", "--quant", "F32")
wb("convert", "moe.gguf", "exps-again.gguf", "--quant", "F32", "--lora", "exps.gguf")
wb("convert", moe, "exps.hf", "--to", "safetensors", "--quant", "F32", "--lora", "exps.gguf")
wb("convert", "exps-again.gguf", "exps-again.hf", "--to", "safetensors", "--quant", "F32")
merged, again = (read(f"{n}.hf/model.safetensors") for n in ("exps", "exps-again"))
assert all(merged[n][2] == again[n][2] for n in plain) and merged[up.format(2) + ".weight"][2] != plain[up.format(2) + ".weight"][2]
# An adapter with fewer or other experts than the weight is rejected.
for k, bad in enumerate(([(n, s[:2] + (count - 1,), r[:len(r) // count * (count - 1)]) for n, s, r in halves_of],
                         [(n, s[:2], r[:len(r) // count]) for n, s, r in halves_of], halves_of[:1])):
    write_gguf("bad.gguf", "qwen3moe", bad)
    wb("convert", moe, "x.gguf", "--lora", "bad.gguf", code=2 if k == 2 else 4)
wb("convert", moe, "each.hf", "--to", "safetensors", "--quant", "F32", "--lora", "each")
wb("convert", "each.gguf", "back.hf", "--to", "safetensors", "--quant", "F32")
merged, back = (read(f"{n}.hf/model.safetensors") for n in ("each", "back"))
changed = 0
for name, (_, shape, raw) in plain.items():
    want, got = array.array("f", raw), array.array("f", merged[name][2])
    for e in range(count):
        if name == up.format(e) + ".weight":
            a, b = pair[e]
            changed += raw != merged[name][2]
            for i in range(len(want)):
                row, column = divmod(i, ins)
                want[i] += sum(b[row][k] * a[k][column] for k in range(rank)) * alpha / rank
    assert max(abs(x - y) for x, y in zip(want, got)) < 1e-5, name
    assert merged[name][2] == back[name][2], name
assert changed == count - 1 > 1
once = {f"{front}{up.format(2)}.lora_{h}.weight": ("F32", [len(m), len(m[0])], flat(m))
        for front in ("", "base_model.model.") for h, m in zip("AB", pair[0])}
write("each/adapter_model.safetensors", once)
for to in "x.gguf", "x.hf":  # an expert of a stack, and one by itself
    assert "several pairs" in wb("convert", moe, to, "--to", "gguf" if to == "x.gguf" else "safetensors", "--lora", "each", code=2)
write("each/adapter_model.safetensors", {f"base_model.model.{up.format(99)}.lora_{h}.weight": ("F32", [len(m), len(m[0])], flat(m))
                                         for h, m in zip("AB", pair[0])})
assert "does not contain the weight" in wb("convert", moe, "x.gguf", "--lora", "each", code=3)

# Pairs that match no weight, incomplete pairs, and adapters without a scale.
bad = dict(tensors)
bad["base_model.model.model.layers.9.self_attn.q_proj.lora_A.weight"] = ("F32", [rank, dim], bytes(4 * rank * dim))
write("peft/adapter_model.safetensors", bad)
assert "does not contain the weight" in wb("convert", twin, "x.gguf", "--lora", "peft", code=3)
bad = dict(tensors)
del bad[next(k for k in bad if "lora_B" in k)]
write("peft/adapter_model.safetensors", bad)
assert "only one of the matrices" in wb("convert", twin, "x.gguf", "--lora", "peft", code=2)
write("peft/adapter_model.safetensors", {**tensors, "x.lora_magnitude_vector": ("F32", [1], bytes(4))})
assert "cannot be merged" in wb("convert", twin, "x.gguf", "--lora", "peft", code=3)
os.remove("peft/adapter_config.json")
assert "adapter_config.json" in wb("convert", twin, "x.gguf", "--lora", "peft", code=5)
assert not os.path.exists("x.gguf")
P
