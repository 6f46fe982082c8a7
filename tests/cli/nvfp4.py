"""NVFP4 as ModelOpt and compressed-tensors store it, made for the tests, and what wb makes of it."""
import array, json, os, random, struct, subprocess, zoo

DIM, FFN, EXPERTS = 64, 128, 3
layer = "model.layers.0."


def config(family, experts):
    made = {"model_type": family, "vocab_size": 24, "hidden_size": DIM, "intermediate_size": FFN, "num_hidden_layers": 1,
            "num_attention_heads": 4, "max_position_embeddings": 16, "torch_dtype": "bfloat16", "num_key_value_heads": 2,
            "rms_norm_eps": 1e-05, "rope_theta": 500000.0, "tie_word_embeddings": False, "head_dim": 16}
    if family.endswith("moe"):
        made |= {"num_experts": experts, "num_experts_per_tok": min(2, experts), "moe_intermediate_size": FFN, "norm_topk_prob": True}
    return made


def f32(x):
    return struct.unpack("<f", struct.pack("<f", x))[0]


def noise(n):
    """Codes; -0 is not among them: in blocks of GGML's it is 0."""
    nibble = lambda: random.choice((0, 1, 2, 3, 4, 5, 6, 7, 9, 10, 11, 12, 13, 14, 15))
    return bytes(nibble() | nibble() << 4 for _ in range(n))


def make(folder, kind, has_global, family="qwen3_moe", factor=None, bias=False, inputs=False, experts=EXPERTS):
    """kind: ModelOpt's names or those of compressed-tensors. What was packed: codes, scales and factor by name."""
    os.mkdir(folder)
    tensors, packed = [], {}
    one = kind == "modelopt"

    def plain(name, *shape):
        n = 1
        for d in shape:
            n *= d
        values = b"".join(struct.pack("<f", random.uniform(-1, 1))[2:] for _ in range(n))
        tensors.append((name, "BF16", list(shape), values))

    def pack(stem, rows, cols):
        words, scales = noise(rows * cols // 2), bytes(random.randrange(40, 90) for _ in range(rows * cols // 16))
        said = random.uniform(0.001, 0.01) if factor is None else factor
        said = f32(said if one else 1 / said)
        packed[stem] = (words, scales, said)
        tensors.append((stem + (".weight" if one else ".weight_packed"), "U8", [rows, cols // 2], words))
        tensors.append((stem + ".weight_scale", "F8_E4M3", [rows, cols // 16], scales))
        if has_global:
            end, shape = (".weight_scale_2", []) if one else (".weight_global_scale", [1])
            tensors.append((stem + end, "F32", shape, struct.pack("<f", said)))
        if inputs:
            tensors.append((stem + (".input_scale" if one else ".input_global_scale"), "F32", [1], struct.pack("<f", random.uniform(2, 4))))

    plain("model.embed_tokens.weight", 24, DIM)
    pack("lm_head", 24, DIM)
    for name in ("model.norm.weight", layer + "input_layernorm.weight", layer + "post_attention_layernorm.weight"):
        plain(name, DIM)
    for name in "qk" if family.startswith("qwen3") else "":
        plain(layer + f"self_attn.{name}_norm.weight", 16)
    for name, rows in ("q", 64), ("k", 32), ("v", 32), ("o", 64):
        pack(layer + f"self_attn.{name}_proj", rows, 64)
        if family == "qwen2" and name != "o":
            plain(layer + f"self_attn.{name}_proj.bias", rows)
    matrices = ("gate", FFN, DIM), ("up", FFN, DIM), ("down", DIM, FFN)
    if family.endswith("moe"):
        plain(layer + "mlp.gate.weight", experts, DIM)
        for e in range(experts):
            for name, rows, cols in matrices:
                pack(layer + f"mlp.experts.{e}.{name}_proj", rows, cols)
    else:
        for name, rows, cols in matrices:
            pack(layer + f"mlp.{name}_proj", rows, cols)
            if bias:
                plain(layer + f"mlp.{name}_proj.bias", rows)
    zoo.save(folder + "/model.safetensors", tensors)
    said = {"quant_algo": "NVFP4", "quant_method": "modelopt"} if one else \
        {"quant_method": "compressed-tensors", "format": "nvfp4-pack-quantized"}
    json.dump(config(family, experts) | {"quantization_config": said}, open(folder + "/config.json", "w"))
    return packed


def blocks(words, scales):
    """The same as blocks of GGML's: four scales, then 8 bytes for each 16 values, halves side by side."""
    out = bytearray()
    for i in range(0, len(scales), 4):
        out += scales[i:i + 4]
        for group in range(i, i + 4):
            plain = words[8 * group:8 * group + 8]
            codes = [b >> s & 15 for b in plain for s in (0, 4)]
            out += bytes(codes[j] | codes[j + 8] << 4 for j in range(8))
    return bytes(out)


def wb(*args, code=0):
    p = subprocess.run(["wb", *map(str, args)], capture_output=True)
    assert p.returncode == code, (args, p)
    return p.stdout


def stored(path):
    """The tensors of a file as they are stored: dtype, shape and bytes by name."""
    data = open(path, "rb").read()
    found = {}
    for tensor in json.loads(wb("inspect", path, "--json"))["tensors"]:
        for part in tensor.get("parts", [tensor]):
            at = part["offset"]
            found[part["name"]] = (part["dtype"], part["shape"], data[at:at + part["bytes"]])
    return found


def values(model, name):
    return array.array("f", wb("export", model, name, "--dtype", "f32", "--format", "raw", "-o", "-"))


def near(a, b):
    return len(a) == len(b) > 0 and max(abs(x - y) for x, y in zip(a, b)) <= 2e-7 * max(map(abs, a))


def rows_of(*args):
    return {t["name"]: t for t in json.loads(wb("convert", *args, "--json"))["tensors"]}


def digests(model):
    """Of the values of each tensor."""
    return {t["name"]: t["sha256"] for t in json.loads(wb("hash", model, "--json"))["tensors"]}
