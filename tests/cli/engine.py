"""For the tests of examples/llama: models in other formats and encodings, made of a folder, and a look at
what the engine says. Nothing but the standard library, and `wb codec` for the encodings."""
import array, json, math, os, pathlib, struct, subprocess


def llama(path, *args, text=None, tokens=(), code=0):
    """What the engine prints for a text, or for the ids of tokens; without -n it generates nothing."""
    given = ["--", text] if text is not None else ["-i", " ".join(map(str, tokens))]
    p = subprocess.run([os.environ["LLAMA"], "-n", "0", *map(str, args), *given, str(path)], capture_output=True)
    assert p.returncode == code, (path, args, p.returncode, p.stderr)
    return p.stdout.decode(errors="replace") if code == 0 else p.stderr.decode()


def npy(path):
    data = pathlib.Path(path).read_bytes()
    n, = struct.unpack("<H", data[8:10])
    header = eval(data[10:10 + n])
    assert header["descr"] == "<f4" and not header["fortran_order"]
    values = array.array("f", data[10 + n:])
    assert len(values) == math.prod(header["shape"])
    return header["shape"], values


def distance(got, wanted):
    """The relative L2 distance."""
    (shape, a), (expected, b) = npy(got), npy(wanted)
    assert shape == expected, (shape, expected)
    return math.sqrt(sum((x - y) ** 2 for x, y in zip(a, b)) / sum(y * y for y in b))


def read(path):
    """The header and tensors of a .safetensors file: {name: (dtype, shape, bytes)}."""
    data = pathlib.Path(path).read_bytes()
    n = int.from_bytes(data[:8], "little")
    return {k: (v["dtype"], v["shape"], data[8 + n + v["data_offsets"][0]:8 + n + v["data_offsets"][1]])
            for k, v in json.loads(data[8:8 + n]).items() if k != "__metadata__"}


def write(path, tensors):
    header, at = {}, 0
    for name, (dtype, shape, raw) in tensors.items():
        header[name] = {"dtype": dtype, "shape": shape, "data_offsets": [at, at + len(raw)]}
        at += len(raw)
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    pathlib.Path(path).write_bytes(len(text).to_bytes(8, "little") + text + b"".join(t[2] for t in tensors.values()))


def widen(raw):
    """BF16 as F32."""
    out = bytearray(2 * len(raw))
    out[2::4], out[3::4] = raw[::2], raw[1::2]
    return bytes(out)


def encode(kind, columns, raw):
    """BF16 in another type, as `wb codec` has it."""
    pathlib.Path("values.f32").write_bytes(widen(raw))
    out = "values.safetensors" if kind[0] in "amn" else "values." + kind
    subprocess.run(["wb", "codec", "encode", "--type", kind, "--cols", str(columns), "values.f32", out], check=True)
    return read(out) if out.endswith("safetensors") else pathlib.Path(out).read_bytes()


def mlx(folder, out, kinds, quantization):
    """An MLX folder: each matrix as kinds(name) says; quantization is config.json's."""
    folder, out = pathlib.Path(folder), pathlib.Path(out)
    out.mkdir()
    for name in ("tokenizer.json", "tokenizer_config.json"):
        (out / name).write_bytes((folder / name).read_bytes())
    config = json.loads((folder / "config.json").read_text())
    (out / "config.json").write_text(json.dumps({**config, "quantization": quantization}))
    tensors = {}
    for name, (dtype, shape, raw) in read(folder / "model.safetensors").items():
        if len(shape) < 2:
            tensors[name] = (dtype, shape, raw)
            continue
        for part, value in encode(kinds(name), shape[-1], raw).items():
            tensors[name.replace("weight", part)] = value
    write(out / "model.safetensors", tensors)
    return out


TOP = {"model.embed_tokens": "token_embd", "model.norm": "output_norm", "lm_head": "output"}
BLOCK = {"input_layernorm": "attn_norm", "self_attn.q_proj": "attn_q", "self_attn.k_proj": "attn_k",
         "self_attn.v_proj": "attn_v", "self_attn.o_proj": "attn_output", "post_attention_layernorm": "ffn_norm",
         "mlp.gate_proj": "ffn_gate", "mlp.up_proj": "ffn_up", "mlp.down_proj": "ffn_down"}
TYPES = {"F32": 0, "F16": 1, "Q4_0": 2, "Q5_1": 7, "Q8_0": 8, "Q2_K": 10, "Q3_K": 11, "Q4_K": 12, "Q5_K": 13,
         "Q6_K": 14, "IQ4_NL": 20, "IQ3_S": 21, "IQ4_XS": 23, "BF16": 30}


def gguf(folder, path, kind):
    """The GGUF twin of a Llama folder, its matrices in a type of GGML; q and k have their rows permuted."""
    folder, infos, data, at = pathlib.Path(folder), b"", [], 0
    config = json.loads((folder / "config.json").read_text())
    heads = {"q": config["num_attention_heads"], "k": config["num_key_value_heads"]}

    def text(s):
        return struct.pack("<Q", len(s.encode())) + s.encode()

    def pair(key, value):
        code, form = {int: (4, "<I"), float: (6, "<f")}.get(type(value), (8, None))
        return text(key) + struct.pack("<I", code) + (struct.pack(form, value) if form else text(value))

    tensors = read(folder / "model.safetensors")
    for name, (dtype, shape, raw) in tensors.items():
        stem = name[:-len(".weight")]
        if stem in TOP:
            stem = TOP[stem]
        else:
            _, _, layer, rest = stem.split(".", 3)
            stem = f"blk.{layer}.{BLOCK[rest]}"
            if rest[-6:] in ("q_proj", "k_proj"):
                row, dim = 2 * shape[1], config["head_dim"]
                order = [h * dim + pair // 2 + pair % 2 * (dim // 2)
                         for h in range(heads[rest[-6]]) for pair in range(dim)]
                raw = b"".join(raw[i * row:i * row + row] for i in order)
        code = "F32" if len(shape) < 2 else kind
        if code != "BF16":
            raw = widen(raw) if code == "F32" else encode(code, shape[-1], raw)
        infos += text(stem + ".weight") + struct.pack(f"<I{len(shape)}QIQ", len(shape), *shape[::-1], TYPES[code], at)
        raw += bytes(-len(raw) % 32)
        data.append(raw)
        at += len(raw)
    pairs = [pair("general.architecture", "llama")]
    for key, name in (("block_count", "num_hidden_layers"), ("embedding_length", "hidden_size"),
                      ("feed_forward_length", "intermediate_size"), ("attention.head_count", "num_attention_heads"),
                      ("attention.head_count_kv", "num_key_value_heads"), ("rope.freq_base", "rope_theta"),
                      ("context_length", "max_position_embeddings"), ("attention.layer_norm_rms_epsilon", "rms_norm_eps"),
                      ("attention.key_length", "head_dim"), ("attention.value_length", "head_dim")):
        pairs.append(pair("llama." + key, config[name]))
    tokenizer = json.loads((folder / "tokenizer.json").read_text())
    words = [f"[PAD{i}]" for i in range(config["vocab_size"])]
    for word, i in [*tokenizer["model"]["vocab"].items(), *((t["content"], t["id"]) for t in tokenizer["added_tokens"])]:
        words[i] = word
    merges = [m if isinstance(m, str) else " ".join(m) for m in tokenizer["model"]["merges"]]
    pairs += [pair("tokenizer.ggml.model", "gpt2"), pair("tokenizer.ggml.pre", "llama-bpe")]
    for key, texts in ("tokens", words), ("merges", merges):
        pairs.append(text("tokenizer.ggml." + key) + struct.pack("<IIQ", 9, 8, len(texts)) + b"".join(map(text, texts)))
    head = b"GGUF" + struct.pack("<IQQ", 3, len(tensors), len(pairs)) + b"".join(pairs) + infos
    pathlib.Path(path).write_bytes(head + bytes(-len(head) % 32) + b"".join(data))
    return path
