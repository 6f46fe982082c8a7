# NVFP4 of others: byte for byte to MLX and GGUF where these can say the same, and decoded where they cannot.
PYTHONPATH=$SOURCE/tests/cli python3 -B - <<'P'
import array, json, os, random, struct, subprocess, zoo
from engine import read

DIM, FFN, EXPERTS = 64, 128, 3
random.seed(4)
config = {"model_type": "qwen3_moe", "vocab_size": 24, "hidden_size": DIM, "intermediate_size": 64, "num_hidden_layers": 1,
          "num_attention_heads": 4, "max_position_embeddings": 16, "torch_dtype": "bfloat16", "num_key_value_heads": 2,
          "rms_norm_eps": 1e-05, "rope_theta": 500000.0, "tie_word_embeddings": False, "head_dim": 16,
          "num_experts": EXPERTS, "num_experts_per_tok": 2, "moe_intermediate_size": FFN}
noise = lambda n: bytes(random.randrange(256) for _ in range(n))
bf16 = lambda n: b"".join(struct.pack("<f", random.uniform(-1, 1))[2:] for _ in range(n))
e4m3 = lambda n: bytes(random.randrange(40, 90) for _ in range(n))
layer = "model.layers.0."

def wb(*args, code=0):
    p = subprocess.run(["wb", *map(str, args)], capture_output=True)
    assert p.returncode == code, (args, p)
    return p.stdout

def make(folder, kind, has_global):
    """kind: ModelOpt's names or those of compressed-tensors."""
    os.mkdir(folder)
    tensors, packed = [], {}
    def plain(name, *shape):
        n = 1
        for d in shape:
            n *= d
        tensors.append((name, "BF16", list(shape), bf16(n)))
    def pack(stem, rows, cols):
        words, scales, factor = noise(rows * cols // 2), e4m3(rows * cols // 16), random.uniform(0.001, 0.01)
        one = kind == "modelopt"
        factor = struct.unpack("<f", struct.pack("<f", factor if one else 1 / factor))[0]
        packed[stem] = (words, scales, factor)
        tensors.append((stem + (".weight" if one else ".weight_packed"), "U8", [rows, cols // 2], words))
        tensors.append((stem + ".weight_scale", "F8_E4M3", [rows, cols // 16], scales))
        if has_global:
            end, shape = (".weight_scale_2", []) if one else (".weight_global_scale", [1])
            tensors.append((stem + end, "F32", shape, struct.pack("<f", factor)))
    for name in ("model.embed_tokens.weight", "lm_head.weight"):
        plain(name, 24, DIM)
    for name in ("model.norm.weight", layer + "input_layernorm.weight", layer + "post_attention_layernorm.weight"):
        plain(name, DIM)
    for name in "qk":
        plain(layer + f"self_attn.{name}_norm.weight", 16)
    for name, rows in ("q", 64), ("k", 32), ("v", 32), ("o", 64):
        pack(layer + f"self_attn.{name}_proj", rows, 64)
    plain(layer + "mlp.gate.weight", EXPERTS, DIM)
    for e in range(EXPERTS):
        for name, rows, cols in ("gate", FFN, DIM), ("up", FFN, DIM), ("down", DIM, FFN):
            pack(layer + f"mlp.experts.{e}.{name}_proj", rows, cols)
    zoo.save(folder + "/model.safetensors", tensors)
    said = {"quant_algo": "NVFP4", "quant_method": "modelopt"} if kind == "modelopt" else \
        {"quant_method": "compressed-tensors", "format": "nvfp4-pack-quantized"}
    json.dump(config | {"quantization_config": said}, open(folder + "/config.json", "w"))
    return packed

def values(model, name):
    return array.array("f", wb("export", model, name, "--dtype", "f32", "--format", "raw", "-o", "-"))

def near(a, b):
    return len(a) == len(b) > 0 and max(abs(x - y) for x, y in zip(a, b)) <= 2e-7 * max(map(abs, a))

def rows_of(*args):
    return {t["name"]: t for t in json.loads(wb("convert", *args, "--json"))["tensors"]}

for kind in "modelopt", "compressed":
    # With a factor for each expert MLX keeps the experts, stacked; single matrices, which it has no factor for, are decoded.
    packed = make(kind, kind, True)
    told = rows_of(kind, kind + ".mlx", "--to", "mlx")
    mlx = read(kind + ".mlx/model.safetensors")
    for name in "gate", "up", "down":
        stem = layer + f"mlp.switch_mlp.{name}_proj"
        parts = [packed[layer + f"mlp.experts.{e}.{name}_proj"] for e in range(EXPERTS)]
        assert mlx[stem + ".weight"][0] == "U32" and mlx[stem + ".weight"][2] == b"".join(p[0] for p in parts)
        assert mlx[stem + ".scales"][0] == "U8" and mlx[stem + ".scales"][2] == b"".join(p[1] for p in parts)
        assert mlx[stem + ".global_scale"][:2] == ("F32", [EXPERTS])
        want = [2688 * p[2] if kind == "modelopt" else 2688 / p[2] for p in parts]
        got = struct.unpack(f"<{EXPERTS}f", mlx[stem + ".global_scale"][2])
        assert all(abs(a - b) <= 1e-7 * a for a, b in zip(want, got)), (want, got)
        assert told[stem + ".weight"]["fidelity"] == "exact" and told[stem + ".global_scale"]["nmse"] < 1e-14
    assert told[layer + "self_attn.q_proj.weight"]["to"] == "BF16"
    assert json.load(open(kind + ".mlx/config.json"))["quantization"] == {"group_size": 16, "bits": 4, "mode": "nvfp4"}
    for name in "mlp.experts.2.up_proj", "mlp.experts.0.down_proj":
        stored = layer + name + (".weight" if kind == "modelopt" else ".weight_packed")
        at = int(name.split(".")[2])
        want = values(kind, stored)
        got = values(kind + ".mlx", layer + "mlp.switch_mlp." + name.split(".")[3] + ".weight")
        assert near(want, got[at * len(want):(at + 1) * len(want)])
    # From MLX to MLX they stay, and to Hugging Face, GGUF and by a rule they are decoded.
    wb("convert", kind + ".mlx", kind + ".again", "--to", "mlx")
    again = read(kind + ".again/model.safetensors")
    assert {n: t[2] for n, t in again.items()} == {n: t[2] for n, t in mlx.items()}
    assert rows_of(kind, kind + ".gguf")["blk.0.ffn_up_exps.weight"]["to"] == "BF16"
    ruled = rows_of(kind, kind + ".rule", "--to", "mlx", "--rule", "up_proj=affine4:64")
    assert ruled[layer + "mlp.switch_mlp.up_proj.weight"]["to"] == "affine4:64"
    assert layer + "mlp.switch_mlp.up_proj.global_scale" not in ruled
    assert ruled[layer + "mlp.switch_mlp.down_proj.weight"]["to"] == "nvfp4"

    # Without a factor both targets have the same blocks.
    packed = make(kind + "-1", kind, False)
    told = rows_of(kind + "-1", kind + "-1.mlx", "--to", "mlx")
    assert told[layer + "self_attn.q_proj.weight"]["to"] == "nvfp4" and {t["fidelity"] for t in told.values()} == {"exact"}
    told = rows_of(kind + "-1", kind + "-1.gguf")
    for name in "attn_q", "ffn_up_exps":
        assert (told[f"blk.0.{name}.weight"]["to"], told[f"blk.0.{name}.weight"]["fidelity"]) == ("NVFP4", "repacked")
    wb("convert", kind + "-1.gguf", kind + "-1.back", "--to", "mlx")
    a, b = read(kind + "-1.mlx/model.safetensors"), read(kind + "-1.back/model.safetensors")
    assert all(a[n][2] == b[n][2] for n in a if "_proj" in n) and set(a) == set(b)
P
