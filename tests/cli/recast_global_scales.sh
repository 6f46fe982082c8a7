# NVFP4 with a global scale: conversion to GGUF as llama.cpp stores it, back from GGUF, and tensors that llama.cpp
# would compute wrongly.
PYTHONPATH=$SOURCE/tests/cli python3 -B - <<'P'
import json, random, struct
from engine import distance, llama, read, write
from nvfp4 import EXPERTS, blocks, digests, f32, layer, make, near, rows_of, stored, values, wb

random.seed(7)
names = {"self_attn.q_proj": "attn_q", "self_attn.k_proj": "attn_k", "self_attn.v_proj": "attn_v",
         "self_attn.o_proj": "attn_output"}
floats = lambda raw: list(struct.unpack(f"<{len(raw) // 4}f", raw))


def inputs_of(kind):
    """What scales of activations say, under GGUF's names."""
    tensors = read(kind + "-in/model.safetensors")
    end = ".input_scale" if kind == "modelopt" else ".input_global_scale"
    stems = {b: [layer + a] for a, b in names.items()}
    stems = {"blk.0." + a: b for a, b in stems.items()} | {"output": ["lm_head"]}
    for name in "gate", "up", "down":
        stems[f"blk.0.ffn_{name}_exps"] = [layer + f"mlp.experts.{e}.{name}_proj" for e in range(EXPERTS)]
    return {a + ".input_scale": [floats(tensors[s + end][2])[0] for s in b] for a, b in stems.items()}


for kind in "modelopt", "compressed":
    packed = make(kind, kind, True)
    factor = lambda stem: packed[stem][2] if kind == "modelopt" else f32(1 / packed[stem][2])
    told = rows_of(kind, kind + ".gguf")
    gguf = stored(kind + ".gguf")
    # Single matrices and the output have one factor, stacks of experts one each; blocks have the bits there were.
    one = {layer + a: "blk.0." + b for a, b in names.items()} | {"lm_head": "output"}
    for stem, name in one.items():
        words, scales, _ = packed[stem]
        assert gguf[name + ".weight"][0] == "NVFP4" and gguf[name + ".weight"][2] == blocks(words, scales), name
        assert gguf[name + ".scale"] == ("F32", [1], struct.pack("<f", factor(stem))), (name, gguf[name + ".scale"])
        assert told[name + ".weight"]["fidelity"] == "repacked"
        assert told[name + ".scale"]["fidelity"] == "exact" or told[name + ".scale"]["nmse"] < 1e-14
    for name in "gate", "up", "down":
        stems = [layer + f"mlp.experts.{e}.{name}_proj" for e in range(EXPERTS)]
        stack = f"blk.0.ffn_{name}_exps"
        assert gguf[stack + ".weight"][2] == b"".join(blocks(*packed[s][:2]) for s in stems)
        assert gguf[stack + ".scale"] == ("F32", [EXPERTS], struct.pack(f"<{EXPERTS}f", *map(factor, stems)))
    listed = json.loads(wb("inspect", kind + ".gguf", "--json"))
    assert listed["metadata"]["general.file_type"] == 39, listed["metadata"]
    assert len(listed["tensors"]) + 8 == len(gguf), (len(listed["tensors"]), sorted(gguf))
    wb("verify", kind + ".gguf")

    # The values are the same but for the rounding of a reciprocal, and ModelOpt says none.
    if kind == "modelopt":
        assert digests(kind + ".gguf") == digests(kind)
        wb("diff", kind, kind + ".gguf", "--only", "names,shapes,values")
    assert near(values(kind, "lm_head.weight" + ("" if kind == "modelopt" else "_packed")), values(kind + ".gguf", "output.weight"))

    # An engine that reads through the library thinks the same of both.
    for model in kind, kind + ".gguf":
        llama(model, "-l", model.replace(".", "-") + ".npy", tokens="3 7 1 0 23 12 7 3".split())
    assert distance(kind + "-gguf.npy", kind + ".npy") < 1e-5

    # To GGUF the file stays what it is; other types are made of the values, and nothing is left to multiply with.
    wb("convert", kind + ".gguf", kind + ".same.gguf")
    assert open(kind + ".gguf", "rb").read() == open(kind + ".same.gguf", "rb").read()
    wb("convert", kind + ".gguf", kind + ".f32.gguf", "--quant", "F32")
    assert not any(n.endswith(".scale") for n in stored(kind + ".f32.gguf")) and digests(kind + ".f32.gguf") == digests(kind + ".gguf")
    told = rows_of(kind + ".gguf", kind + ".rule.gguf", "--rule", "attn_v=F32")
    ruled = stored(kind + ".rule.gguf")
    assert ruled["blk.0.attn_v.weight"][0] == "F32" and "blk.0.attn_v.scale" not in ruled
    assert all(ruled[n] == gguf[n] for n in gguf if "attn_v" not in n)
    told = rows_of(kind, kind + ".rule2.gguf", "--rule", "ffn_up=Q8_0", "--rule", "o_proj=NVFP4")
    ruled = stored(kind + ".rule2.gguf")
    assert "blk.0.ffn_up_exps.scale" not in ruled and ruled["blk.0.ffn_up_exps.weight"][0] == "Q8_0"
    assert all(ruled[n] == gguf[n] for n in gguf if "ffn_up" not in n), "what is asked to be NVFP4 stays what it was"
    wb("convert", kind, kind + ".nv.gguf", "--quant", "NVFP4")
    assert all(stored(kind + ".nv.gguf")[n] == gguf[n] for n in gguf if n.endswith(".scale"))

    # Out of GGUF: to MLX experts keep theirs, as if they had never been there; Hugging Face's names have decoded values.
    wb("convert", kind, kind + ".mlx", "--to", "mlx")
    wb("convert", kind + ".gguf", kind + ".back", "--to", "mlx")
    a, b = read(kind + ".mlx/model.safetensors"), read(kind + ".back/model.safetensors")
    assert set(a) == set(b)
    for name in a:
        if "switch_mlp" in name and not name.endswith("global_scale"):
            assert a[name] == b[name], name
        elif name.endswith("global_scale"):
            assert all(abs(x - y) <= 1.2e-7 * x for x, y in zip(floats(a[name][2]), floats(b[name][2]))), name
    told = rows_of(kind + ".gguf", kind + ".hf", "--to", "safetensors", "--quant", "F32")
    assert near(values(kind + ".hf", layer + "mlp.experts.2.down_proj.weight"),
                values(kind, layer + "mlp.experts.2.down_proj.weight" + ("" if kind == "modelopt" else "_packed")))

    # Out of MLX into GGUF: its largest magnitude over 2688.
    wb("convert", kind + ".mlx", kind + ".again.gguf")
    again = stored(kind + ".again.gguf")
    for name in "gate", "up", "down":
        stack = f"blk.0.ffn_{name}_exps"
        assert again[stack + ".weight"] == gguf[stack + ".weight"]
        assert all(abs(x - y) <= 1.2e-7 * x for x, y in zip(floats(gguf[stack + ".scale"][2]), floats(again[stack + ".scale"][2])))
    assert again["blk.0.attn_q.weight"][0] == "BF16"

    # Scales of activations go to GGUF, said as the factors are; MLX's loaders would trip over them: they stay behind and are told of.
    left = lambda told: sum(int(f["message"].split()[0]) for f in told["findings"] if f["code"] == "convert-left-out")
    make(kind + "-in", kind, True, inputs=True)
    told = json.loads(wb("convert", kind + "-in", kind + "-in.gguf", "--json"))
    inputs, gguf = inputs_of(kind), stored(kind + "-in.gguf")
    assert left(told) == 0 and len(inputs) == 8
    for name, said in inputs.items():
        want = [f32(x if kind == "modelopt" else 1 / x) for x in said]
        assert gguf[name] == ("F32", [len(said)], struct.pack(f"<{len(said)}f", *want)), (name, gguf[name])
    by_name = {t["name"]: t for t in told["tensors"]}
    assert all(by_name[n]["fidelity"] == "exact" or by_name[n]["nmse"] < 1e-14 for n in inputs)
    wb("verify", kind + "-in.gguf")
    # So they do where the weight is decoded, and out of GGUF; from GGUF to GGUF they stay.
    told = json.loads(wb("convert", kind + "-in", kind + "-ruled.gguf", "--rule", "attn_v=F16", "--json"))
    assert left(told) == 1 and "blk.0.attn_v.input_scale" not in stored(kind + "-ruled.gguf")
    told = json.loads(wb("convert", kind + "-in", kind + "-f16.gguf", "--quant", "F16", "--json"))
    assert left(told) == 5 + 3 * EXPERTS and not any(n.endswith("input_scale") for n in stored(kind + "-f16.gguf"))
    told = json.loads(wb("convert", kind + "-in.gguf", kind + "-out", "--to", "safetensors", "--json"))
    assert left(told) == 8 and not any("input_" in n.rsplit(".", 1)[1] for n in read(kind + "-out/model.safetensors"))
    wb("convert", kind + "-in.gguf", kind + "-in2.gguf")
    assert open(kind + "-in.gguf", "rb").read() == open(kind + "-in2.gguf", "rb").read()
    told = json.loads(wb("convert", kind + "-in.gguf", kind + "-in3.gguf", "--quant", "Q8_0", "--json"))
    assert left(told) == 1 and {n for n in stored(kind + "-in3.gguf") if "input_" in n} == set(inputs) - {"output.input_scale"}
    told = json.loads(wb("convert", kind + "-in", kind + "-in.mlx", "--to", "mlx", "--json"))
    assert left(told) == 5 + 3 * EXPERTS and not any("input_" in t["name"].rsplit(".", 1)[1] for t in told["tensors"])
    wb("convert", kind + "-in", kind + "-in.hf", "--to", "safetensors")
    assert any("input_" in n.rsplit(".", 1)[1] for n in read(kind + "-in.hf/model.safetensors"))
    wb("verify", kind + "-in")

    # Experts of which one has none have none; those of 1 are left out, as llama.cpp's converter does.
    tensors = read(kind + "-in/model.safetensors")
    one = next(n for n in tensors if "experts.1.up_proj.input_" in n)
    ones = {n: (*t[:2], struct.pack("<f", 1)) if "q_proj.input_" in n else t for n, t in tensors.items() if n != one}
    write(kind + "-in/model.safetensors", ones)
    told = json.loads(wb("convert", kind + "-in", kind + "-some.gguf", "--json"))
    assert left(told) == EXPERTS - 1
    assert set(gguf) - set(stored(kind + "-some.gguf")) == {"blk.0.ffn_up_exps.input_scale", "blk.0.attn_q.input_scale"}

    # A factor of 1 is left out.
    make(kind + "-one", kind, True, factor=1.0)
    wb("convert", kind + "-one", kind + "-one.gguf")
    left = stored(kind + "-one.gguf")
    assert not any(n.endswith(".scale") for n in left) and left["blk.0.ffn_up_exps.weight"][0] == "NVFP4"
    assert kind != "modelopt" or digests(kind + "-one.gguf") == digests(kind + "-one")

# llama.cpp ignores the global scales of feed-forward tensors in most families, and multiplies the bias by it in the
# others.
for family, bias, kept in ("llama", False, True), ("qwen3", False, True), ("llama", True, False), ("qwen2", False, False):
    folder = f"{family}-{int(bias)}"
    make(folder, "modelopt", True, family=family, bias=bias)
    wb("convert", folder, folder + ".gguf")
    gguf = stored(folder + ".gguf")
    for name in "attn_q", "attn_k", "attn_v", "attn_output":
        assert gguf[f"blk.0.{name}.weight"][0] == "NVFP4" and f"blk.0.{name}.scale" in gguf
    for name in "gate", "up", "down":
        assert gguf[f"blk.0.ffn_{name}.weight"][0] == ("NVFP4" if kept else "BF16"), (folder, name)
        assert (f"blk.0.ffn_{name}.scale" in gguf) == kept
    if kept: # rows of q and k change places, and factors do not
        assert digests(folder + ".gguf") == digests(folder), folder

# A model with one expert has stacks, too.
make("single", "modelopt", True, experts=1)
wb("convert", "single", "single.gguf")
gguf = stored("single.gguf")
assert gguf["blk.0.ffn_up_exps.weight"][:2] == ("NVFP4", [1, 128, 64]) and gguf["blk.0.ffn_up_exps.scale"][:2] == ("F32", [1])
assert digests("single.gguf") == digests("single")

# In an Ollama model the global scale is multiplied last; the bits are the same.
packed = make("store-source", "modelopt", True)
wb("convert", "store-source", "me/model:latest", "--to", "ollama", "--store", "store")
wb("convert", "me/model:latest", "store.gguf", "--store", "store")
gguf = stored("store.gguf")
assert gguf["blk.0.attn_v.weight"][2] == blocks(*packed[layer + "self_attn.v_proj"][:2])
assert gguf["blk.0.attn_v.scale"][2] == struct.pack("<f", packed[layer + "self_attn.v_proj"][2])

# In an unknown architecture every tensor keeps its scale.
make("new", "modelopt", True, family="llama")
said = json.load(open("new/config.json")) | {"model_type": "new"}
json.dump(said, open("new/config.json", "w"))
wb("convert", "new", "new.gguf", "--raw")
gguf = stored("new.gguf")
assert gguf[layer + "mlp.up_proj.weight"][0] == "NVFP4" and layer + "mlp.up_proj.scale" in gguf
P
