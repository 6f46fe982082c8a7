# NAME.scale of weights that are not NVFP4, as llama-quantize leaves it when it converts NVFP4 to other types.
# Weights for targets other than GGUF are multiplied by it. GGUF keeps it, because llama.cpp multiplies by it.
PYTHONPATH=$SOURCE/tests/cli python3 -B - <<'P'
import array, json, os, pathlib, random, struct, subprocess
from engine import TYPES, distance, llama, read, write
from nvfp4 import EXPERTS, layer, make, near, rows_of, stored, values, wb
from zoo import string

random.seed(11)
floats = lambda raw: list(struct.unpack(f"<{len(raw) // 4}f", raw))


def save(path, like, tensors):
    """With the key-values of another file; tensors as stored() has them."""
    data = open(like, "rb").read()
    pairs = data[24:min(data.index(string(name)) for name in stored(like))]
    infos, body = b"", b""
    for name, (kind, shape, raw) in tensors.items():
        infos += string(name) + struct.pack(f"<I{len(shape)}QIQ", len(shape), *shape[::-1], TYPES[kind], len(body))
        body += raw + bytes(-len(raw) % 32)
    head = b"GGUF" + struct.pack("<I", 3) + struct.pack("<Q", len(tensors)) + data[16:24] + pairs + infos
    pathlib.Path(path).write_bytes(head + bytes(-len(head) % 32) + body)


def requantized(source, target, kind):
    """What llama-quantize makes of it: blocks in another type, and factors as they were."""
    made = {}
    for name, (was, shape, raw) in stored(source).items():
        if was == "NVFP4":
            pathlib.Path("blocks").write_bytes(raw)
            wb("codec", "decode", "--type", "NVFP4", "--cols", shape[-1], "blocks", "floats")
            if kind != "F32":
                wb("codec", "encode", "--type", kind, "--cols", shape[-1], "floats", "other")
            raw, was = pathlib.Path("floats" if kind == "F32" else "other").read_bytes(), kind
        made[name] = (was, shape, raw)
    save(target, source, made)
    return made


def products(path, stem, factors):
    """The values of a weight times its factor, or those of its experts."""
    plain = values(path, stem + ".weight")
    each = len(plain) // len(factors)
    return array.array("f", [x * factors[i // each] for i, x in enumerate(plain)])


make("model", "modelopt", True)
wb("convert", "model", "model.gguf")
names = {"attn_q": "self_attn.q_proj", "attn_k": "self_attn.k_proj", "attn_v": "self_attn.v_proj", "attn_output": "self_attn.o_proj"}
llama("model", "-l", "model.npy", tokens="3 7 1 0 23 12".split())
for kind in "F32", "Q8_0":
    path = kind + ".gguf"
    made = requantized("model.gguf", path, kind)
    factor = {n[:-len(".scale")]: floats(t[2]) for n, t in made.items() if n.endswith(".scale")}
    assert len(factor) == 8 and len(factor["blk.0.ffn_up_exps"]) == EXPERTS and 1 not in factor["output"]

    # To GGUF nothing changes, whatever becomes of the weights.
    wb("convert", path, kind + ".same.gguf")
    assert stored(kind + ".same.gguf") == made
    wb("convert", path, kind + ".q.gguf", "--quant", "Q5_0")
    other = stored(kind + ".q.gguf")
    assert other["blk.0.attn_q.weight"][0] == "Q5_0" and all(other[n] == made[n] for n in made if n.endswith(".scale"))

    # Everywhere else the values are the products, and nothing is left to multiply with.
    told = rows_of(path, kind + ".hf", "--to", "safetensors", "--quant", "F32")
    wb("convert", path, kind + ".mlx", "--to", "mlx", "--rule", ".*=F32")
    wb("convert", path, kind + ".npz", "--to", "npz", "--quant", "F32")
    wb("convert", path, "me/" + kind.lower(), "--to", "ollama", "--store", "store", "--quant", "F32")
    for result in kind + ".hf", kind + ".mlx", kind + ".npz":
        assert not any(t["name"].endswith("scale") for t in json.loads(wb("inspect", result, "--json"))["tensors"])
    wants = {layer + b + ".weight": products(path, "blk.0." + a, factor["blk.0." + a]) for a, b in names.items()}
    wants |= {"lm_head.weight": products(path, "output", factor["output"])}
    for name, want in wants.items():
        assert told[name]["fidelity"] == "exact", told[name]
        for result in kind + ".hf", kind + ".mlx", kind + ".npz":
            assert values(result, name) == want, (result, name)
    for name in "gate", "up", "down":
        want = products(path, f"blk.0.ffn_{name}_exps", factor[f"blk.0.ffn_{name}_exps"])
        assert values(kind + ".mlx", layer + f"mlp.switch_mlp.{name}_proj.weight") == want
        one = len(want) // EXPERTS
        for e in range(EXPERTS):
            assert values(kind + ".hf", layer + f"mlp.experts.{e}.{name}_proj.weight") == want[e * one:(e + 1) * one]
    wb("convert", "me/" + kind.lower(), kind + ".back", "--to", "safetensors", "--store", "store")
    assert values(kind + ".back", "lm_head.weight") == wants["lm_head.weight"]
    llama(kind + ".hf", "-l", kind + ".npy", tokens="3 7 1 0 23 12".split())
    assert distance(kind + ".npy", "model.npy") < (1e-5 if kind == "F32" else 2e-2)

    # Encoded, too; and never as the blocks that were there.
    wb("convert", path, kind + ".4", "--to", "mlx", "--quant", "affine8:32")
    name, want = layer + "self_attn.q_proj.weight", wants[layer + "self_attn.q_proj.weight"]
    assert max(abs(x - y) for x, y in zip(values(kind + ".4", name), want)) < max(map(abs, want)) / 64
    told = rows_of(path, kind + ".plain", "--to", "mlx")
    assert told[name]["to"] == ("F32" if kind == "F32" else "BF16"), told[name]

    # llama.cpp loads them all but the output's, which is of another type.
    wb("verify", path, code=1)
    save("loaded.gguf", path, {n: t for n, t in made.items() if n != "output.scale"})
    wb("verify", "loaded.gguf")

# An adapter is added to the multiplied weight, also for GGUF.
made, rank = stored("F32.gguf"), 2
rows, columns = made["blk.0.attn_v.weight"][1]
a = [[random.uniform(-1, 1) for _ in range(columns)] for _ in range(rank)]
b = [[random.uniform(-1, 1) for _ in range(rank)] for _ in range(rows)]
flat = lambda m: array.array("f", [x for row in m for x in row]).tobytes()
os.mkdir("peft")
stem = f"base_model.model.{layer}self_attn.v_proj."
write("peft/adapter_model.safetensors", {stem + "lora_A.weight": ("F32", [rank, columns], flat(a)), stem + "lora_B.weight": ("F32", [rows, rank], flat(b))})
pathlib.Path("peft/adapter_config.json").write_text(json.dumps({"r": rank, "lora_alpha": rank}))
before = products("F32.gguf", "blk.0.attn_v", floats(made["blk.0.attn_v.scale"][2]))
want = [x + sum(b[i // columns][r] * a[r][i % columns] for r in range(rank)) for i, x in enumerate(before)]
for result, name, *args in ("merged.gguf", "blk.0.attn_v.weight"), ("merged", layer + "self_attn.v_proj.weight", "--to", "safetensors"):
    wb("convert", "F32.gguf", result, *args, "--lora", "peft")
    assert not any(n["name"].endswith(".scale") for n in json.loads(wb("inspect", result, "--json"))["tensors"])
    assert max(abs(x - y) for x, y in zip(values(result, name), want)) < 1e-6
assert values("merged.gguf", "output.weight") == products("F32.gguf", "output", floats(made["output.scale"][2]))

# Tensors named like scales that are not scales: another type, a wrong number of values, no weight, or an embedding.
plain = {n: t for n, t in made.items() if not n.endswith(".scale")}
for name, kind, count in ("blk.0.attn_q", "F16", 1), ("blk.0.attn_q", "F32", 2), ("blk.0.ffn_up_exps", "F32", 2), ("blk.7.attn_q", "F32", 1), ("token_embd", "F32", 1):
    save("odd.gguf", "F32.gguf", plain | {name + ".scale": (kind, [count], bytes(4 * count)[:count * (2 if kind == "F16" else 4)])})
    assert subprocess.run(["wb", "convert", "odd.gguf", "odd", "--to", "safetensors"], capture_output=True).returncode == 3, (name, kind, count)
    wb("verify", "odd.gguf", code=1)

# One scale for all experts is used for each expert.
save("one.gguf", "F32.gguf", plain | {"blk.0.ffn_up_exps.scale": ("F32", [1], struct.pack("<f", 3))})
wb("convert", "one.gguf", "one", "--to", "safetensors")
for e in range(EXPERTS):
    name = layer + f"mlp.experts.{e}.up_proj.weight"
    each = values("one", name)
    assert each == products("F32.gguf", "blk.0.ffn_up_exps", [3])[e * len(each):(e + 1) * len(each)]
P
