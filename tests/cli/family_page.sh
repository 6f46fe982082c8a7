# The example of docs/dev/family-in-30-minutes.md: with the table on the page, a model of Tern gives the same GGUF file
# as the equal Llama.
page=$SOURCE/docs/dev/family-in-30-minutes.md
awk '/^```$/ { inside = !inside; next } inside && /^# Tern/ { found = 1 } !inside { found = 0 } found' "$page" >tern.family
[ "$(grep -c '^tensor' tern.family)" = 12 ]
mkdir llama new
cp -r "$SOURCE/demo/tiny-pycode" llama/model
python3 -B - <<'P'
import json, os, struct
os.makedirs("new/model")
source = "llama/model/"
raw = open(source + "model.safetensors", "rb").read()
n = struct.unpack("<Q", raw[:8])[0]
header = json.loads(raw[8:8 + n])
words = [("model.embed_tokens", "tern.embed"), ("model.norm", "tern.norm_f"), ("lm_head", "tern.head"),
         ("model.layers.", "tern.blocks."), ("self_attn.q_proj", "attn.wq"), ("self_attn.k_proj", "attn.wk"),
         ("self_attn.v_proj", "attn.wv"), ("self_attn.o_proj", "attn.wo"), ("mlp.gate_proj", "mlp.w1"),
         ("mlp.down_proj", "mlp.w2"), ("mlp.up_proj", "mlp.w3"), ("input_layernorm", "norm1"),
         ("post_attention_layernorm", "norm2")]
def rename(name):
    for old, new in words:
        name = name.replace(old, new)
    return name
text = json.dumps({rename(k): v for k, v in header.items()}).encode()
open("new/model/model.safetensors", "wb").write(struct.pack("<Q", len(text)) + text + raw[8 + n:])
for name in "tokenizer.json", "tokenizer_config.json", "generation_config.json":
    open("new/model/" + name, "wb").write(open(source + name, "rb").read())
members = {"n_embd": "hidden_size", "n_layer": "num_hidden_layers", "n_head": "num_attention_heads",
           "n_kv_head": "num_key_value_heads", "ffn_size": "intermediate_size", "n_ctx": "max_position_embeddings",
           "layer_norm_eps": "rms_norm_eps", "rope_base": "rope_theta", "vocab_size": "vocab_size",
           "tie_word_embeddings": "tie_word_embeddings", "bos_token_id": "bos_token_id",
           "eos_token_id": "eos_token_id", "torch_dtype": "torch_dtype"}
known = json.load(open(source + "config.json"))
config = {new: known[old] for new, old in members.items()}
json.dump(dict(config, model_type="tern", architectures=["TernForCausalLM"]), open("new/model/config.json", "w"))
P
code=0
wb convert new/model new.gguf 2>message || code=$?
[ "$code" = 3 ]
grep -q '"tern" is unknown, and no known family has any of its tensor names' message
grep -q '"family tern : decoder"' message
wb verify new/model --family tern.family
wb convert new/model new.gguf --family tern.family
wb convert llama/model llama.gguf
cmp llama.gguf new.gguf
wb inspect new/model --family tern.family --names canonical --tensors >names
[ "$(grep -c '(tern' names)" = 0 ]
