# Converts tensors that GGUF stores in another layout, with matrices of several tiles: transposed, divided, fused, and
# with other groups of rows. The expected values are computed here. The way back must give the same bytes.
PYTHONDONTWRITEBYTECODE=1 python3 - <<'P'
import array, json, os, random, struct, subprocess

random.seed(5)

def save(path, config, tensors, dtype="F32"):
    os.makedirs(path)
    head, data = {}, b""
    for name, (shape, values) in tensors.items():
        code = {"F32": "f", "F64": "d"}[dtype]
        raw = array.array(code, values).tobytes()
        head[name] = dict(dtype=dtype, shape=shape, data_offsets=[len(data), len(data) + len(raw)])
        data += raw
    text = json.dumps(head).encode()
    with open(f"{path}/model.safetensors", "wb") as f:
        f.write(struct.pack("<Q", len(text)) + text + data)
    with open(f"{path}/config.json", "w") as f:
        json.dump(config, f)

def made(*shape):
    """Values that BF16 and binary16 represent, too."""
    n = 1
    for s in shape:
        n *= s
    return list(shape), [random.randrange(-127, 128) / 64 for _ in range(n)]

def wb(*args):
    done = subprocess.run(["wb", *args], stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    assert done.returncode == 0, (args, done.stdout.decode())

def read(path, tensor):
    wb("export", path, tensor, "--format", "raw", "--dtype", "f32", "-o", "raw")
    return array.array("f", open("raw", "rb").read()).tolist()

def transposed(shape, values):
    """The matrices of a stack, or one matrix, transposed."""
    rows, columns = shape[-2:]
    out = []
    for at in range(0, len(values), rows * columns):
        for c in range(columns):
            out += values[at + c:at + rows * columns:columns]
    return out

def rows_of(values, columns, order):
    return [v for r in order for v in values[r * columns:(r + 1) * columns]]

def check(name, config, tensors, expected, dtype="F32", *options):
    """`expected`: name in GGUF -> values."""
    path = f"{name}{dtype}{len(options)}"
    save(path, config, tensors, dtype)
    wb("convert", path, f"{path}.gguf", *options)
    for tensor, values in expected.items():
        got = read(f"{path}.gguf", tensor)
        wrong = [i for i, (a, b) in enumerate(zip(got, values)) if a != b][:3]
        assert len(got) == len(values) and not wrong, (path, tensor, len(got), len(values), wrong)
    wb("convert", f"{path}.gguf", f"{path}.back", "--to", "safetensors", *options)
    for tensor, (shape, values) in tensors.items():
        if not (config.get("tie_word_embeddings") and "lm_head" in tensor):
            assert read(f"{path}.back", tensor) == values, (path, tensor, "on the way back")

# Transposed matrices, larger than a tile and with a number of rows that is no multiple of the tile's
d, f = 200, 701
gpt2 = dict(model_type="gpt2", architectures=["GPT2LMHeadModel"], n_embd=d, n_head=4, n_layer=1, n_inner=f,
            n_positions=8, vocab_size=4, tie_word_embeddings=True)
h = "transformer.h.0."
tensors = {"transformer.wte.weight": made(4, d), "transformer.wpe.weight": made(8, d),
           h + "attn.c_attn.weight": made(d, 3 * d), h + "attn.c_attn.bias": made(3 * d),
           h + "attn.c_proj.weight": made(d, d), h + "mlp.c_fc.weight": made(d, f), h + "mlp.c_proj.weight": made(f, d)}
expected = {f"blk.0.{gguf}.weight": transposed(*tensors[h + hf + ".weight"])
            for gguf, hf in {"attn_qkv": "attn.c_attn", "attn_output": "attn.c_proj", "ffn_up": "mlp.c_fc",
                             "ffn_down": "mlp.c_proj"}.items()}
expected["blk.0.attn_qkv.bias"] = tensors[h + "attn.c_attn.bias"][1]
check("gpt2", gpt2, tensors, expected)
check("gpt2", gpt2, tensors, expected, "F64")
check("gpt2", gpt2, tensors, expected, "F32", "--max-memory", "16M")
check("gpt2", gpt2, tensors, expected, "F32", "--quant", "BF16", "--jobs", "1")

# A stack of transposed matrices with two parts
d, f, e = 130, 300, 3
llama4 = dict(model_type="llama4_text", architectures=["Llama4ForCausalLM"], hidden_size=d, intermediate_size=f,
              intermediate_size_mlp=f, num_attention_heads=2, num_key_value_heads=2, head_dim=65, num_hidden_layers=1,
              num_local_experts=e, vocab_size=4, max_position_embeddings=8, tie_word_embeddings=False)
h = "model.layers.0.feed_forward.experts."
tensors = {"model.embed_tokens.weight": made(4, d), h + "gate_up_proj": made(e, d, 2 * f), h + "down_proj": made(e, f, d)}
both = transposed(*tensors[h + "gate_up_proj"])
expected = {"blk.0.ffn_gate_exps.weight": rows_of(both, d, [m * 2 * f + r for m in range(e) for r in range(f)]),
            "blk.0.ffn_up_exps.weight": rows_of(both, d, [m * 2 * f + f + r for m in range(e) for r in range(f)]),
            "blk.0.ffn_down_exps.weight": transposed(*tensors[h + "down_proj"])}
check("llama4", llama4, tensors, expected)

# Experts that are stored transposed or not, as their shape tells
qwen = dict(model_type="qwen3_vl_moe_text", architectures=["Qwen3VLMoeForConditionalGeneration"], hidden_size=d,
            intermediate_size=f, moe_intermediate_size=f, num_attention_heads=2, num_key_value_heads=2, head_dim=65,
            num_hidden_layers=1, num_experts=e, num_experts_per_tok=1, vocab_size=4, max_position_embeddings=8)
h = "model.layers.0.mlp.experts."
tensors = {"model.embed_tokens.weight": made(4, d), h + "gate_up_proj": made(e, d, 2 * f), h + "down_proj": made(e, f, d)}
both = transposed(*tensors[h + "gate_up_proj"])
expected = {"blk.0.ffn_gate_exps.weight": rows_of(both, d, [m * 2 * f + r for m in range(e) for r in range(f)]),
            "blk.0.ffn_up_exps.weight": rows_of(both, d, [m * 2 * f + f + r for m in range(e) for r in range(f)]),
            "blk.0.ffn_down_exps.weight": transposed(*tensors[h + "down_proj"])}
check("qwen", qwen, tensors, expected)
save("plain", qwen, {"model.embed_tokens.weight": tensors["model.embed_tokens.weight"],
                     h + "gate_up_proj": ([e, 2 * f, d], both),
                     h + "down_proj": ([e, d, f], expected["blk.0.ffn_down_exps.weight"])})
wb("convert", "plain", "plain.gguf")
for tensor, values in expected.items():
    assert read("plain.gguf", tensor) == values, tensor

# Groups of rows, which are divided and permuted within heads; 4 heads of q for 2 of k and v
d, n = 256, 64
internlm2 = dict(model_type="internlm2", architectures=["InternLM2ForCausalLM"], hidden_size=d, intermediate_size=64,
                 num_attention_heads=4, num_key_value_heads=2, num_hidden_layers=1, vocab_size=4,
                 max_position_embeddings=8, tie_word_embeddings=False)
h = "model.layers.0.attention."
for rows in made(512, d), made(512, 1):
    columns = rows[0][1]
    kind = "weight" if columns > 1 else "bias"
    if columns == 1:
        rows[0].pop()
    tensors = {"model.tok_embeddings.weight": made(4, d), h + f"wqkv.{kind}": rows}
    pairs = [r // 2 + r % 2 * (n // 2) for r in range(n)]
    order = {"attn_q": [g * 4 * n + head * n + r for g in range(2) for head in range(2) for r in pairs],
             "attn_k": [g * 4 * n + 2 * n + r for g in range(2) for r in pairs],
             "attn_v": [g * 4 * n + 3 * n + r for g in range(2) for r in range(n)]}
    check("internlm2" + kind, internlm2, tensors,
          {f"blk.0.{k}.{kind}": rows_of(rows[1], columns, v) for k, v in order.items()})

# Blocks of quantized rows move without change: a quantized fused tensor has the blocks of its quantized rows.
neox = dict(model_type="gpt_neox", architectures=["GPTNeoXForCausalLM"], hidden_size=d, intermediate_size=64,
            num_attention_heads=4, num_hidden_layers=1, vocab_size=4, max_position_embeddings=8)
h = "gpt_neox.layers.0.attention.query_key_value."
tensors = {"gpt_neox.embed_in.weight": made(4, d), h + "weight": made(3 * d, d), h + "bias": made(3 * d)}
order = [head * 3 * n + part * n + r for part in range(3) for head in range(4) for r in range(n)]
check("gptneox", neox, tensors, {"blk.0.attn_qkv.weight": rows_of(tensors[h + "weight"][1], d, order),
                                 "blk.0.attn_qkv.bias": rows_of(tensors[h + "bias"][1], 1, order)})
wb("convert", "gptneoxF320", "q8.gguf", "--quant", "Q8_0")
values = read("q8.gguf", "blk.0.attn_qkv.weight")
wb("convert", "q8.gguf", "q8.back", "--to", "safetensors", "--quant", "F32")
assert rows_of(read("q8.back", h + "weight"), d, order) == values
wb("convert", "gpt2F320", "q8_2.gguf", "--quant", "Q8_0")
P
echo "layouts as expected"
