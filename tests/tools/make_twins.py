#!/usr/bin/env python3
"""Makes GGUF twins of Hugging Face folders, with the public gguf package, and the tiny folders they
are made of. Run by hand; what it makes is in tests/data/twins.

    make_twins.py tiny OUT             writes OUT/NAME/ and OUT/NAME.gguf for every family
    make_twins.py convert FOLDER FILE  writes a twin of a folder

The rules are those of llama.cpp's converter, written anew: this is what the library's answers are
compared with. Weights are stored as they come, in float32.
"""
import json, pathlib, re, struct, sys
import numpy as np
import gguf

FAMILY = {"llama": "llama", "mistral": "llama", "mixtral": "llama", "qwen2": "qwen2", "qwen3": "qwen3",
          "qwen3_moe": "qwen3moe", "gemma": "gemma", "gemma2": "gemma2", "gemma3_text": "gemma3",
          "phi3": "phi3", "bert": "bert"}

# ---- safetensors ----

def load(folder):
    tensors = {}
    for path in sorted(folder.glob("*.safetensors")):
        data = path.read_bytes()
        n, = struct.unpack("<Q", data[:8])
        header = json.loads(data[8:8 + n])
        for name, t in header.items():
            if name == "__metadata__":
                continue
            raw = data[8 + n + t["data_offsets"][0]:8 + n + t["data_offsets"][1]]
            if t["dtype"] == "BF16":
                array = (np.frombuffer(raw, "<u2").astype("<u4") << 16).view("<f4")
            else:
                array = np.frombuffer(raw, {"F32": "<f4", "F16": "<f2"}[t["dtype"]]).astype("<f4")
            tensors[name] = array.reshape(t["shape"])
    return tensors

def save(path, tensors):
    header, at, blobs = {}, 0, []
    for name, array in sorted(tensors.items()):
        raw = array.astype("<f2").tobytes()
        header[name] = {"dtype": "F16", "shape": list(array.shape), "data_offsets": [at, at + len(raw)]}
        at += len(raw)
        blobs.append(raw)
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    path.write_bytes(struct.pack("<Q", len(text)) + text + b"".join(blobs))

# ---- names ----

BLOCK = {"input_layernorm": "attn_norm", "self_attn.q_proj": "attn_q", "self_attn.k_proj": "attn_k",
         "self_attn.v_proj": "attn_v", "self_attn.o_proj": "attn_output", "self_attn.qkv_proj": "attn_qkv",
         "self_attn.q_norm": "attn_q_norm", "self_attn.k_norm": "attn_k_norm",
         "post_attention_layernorm": "ffn_norm", "mlp.gate_proj": "ffn_gate", "mlp.up_proj": "ffn_up",
         "mlp.down_proj": "ffn_down", "mlp.gate_up_proj": "ffn_up", "mlp.gate": "ffn_gate_inp",
         "block_sparse_moe.gate": "ffn_gate_inp"}
GEMMA = {"post_attention_layernorm": "post_attention_norm", "pre_feedforward_layernorm": "ffn_norm",
         "post_feedforward_layernorm": "post_ffw_norm"}
EXPERT = {"gate_proj": "gate", "w1": "gate", "up_proj": "up", "w3": "up", "down_proj": "down", "w2": "down"}
TOP = {"model.embed_tokens": "token_embd", "model.norm": "output_norm", "lm_head": "output"}
BERT = {"embeddings.word_embeddings": "token_embd", "embeddings.position_embeddings": "position_embd",
        "embeddings.token_type_embeddings": "token_types", "embeddings.LayerNorm": "token_embd_norm"}
BERT_BLOCK = {"attention.self.query": "attn_q", "attention.self.key": "attn_k",
              "attention.self.value": "attn_v", "attention.output.dense": "attn_output",
              "attention.output.LayerNorm": "attn_output_norm", "intermediate.dense": "ffn_up",
              "output.dense": "ffn_down", "output.LayerNorm": "layer_output_norm"}

def rename(arch, tensors):
    out, experts = {}, {}
    for name, array in tensors.items():
        stem, suffix = name.rsplit(".", 1)
        if stem in TOP:
            out[TOP[stem] + "." + suffix] = array
        elif stem in BERT:
            out[BERT[stem] + "." + suffix] = array
        elif m := re.fullmatch(r"encoder\.layer\.(\d+)\.(.*)", stem):
            out[f"blk.{m[1]}.{BERT_BLOCK[m[2]]}.{suffix}"] = array
        elif m := re.fullmatch(r"model\.layers\.(\d+)\.(?:mlp|block_sparse_moe)\.experts\.(\d+)\.(\w+)", stem):
            experts.setdefault(f"blk.{m[1]}.ffn_{EXPERT[m[3]]}_exps.{suffix}", {})[int(m[2])] = array
        elif m := re.fullmatch(r"model\.layers\.(\d+)\.(.*)", stem):
            names = {**BLOCK, **GEMMA} if arch in ("gemma2", "gemma3") else BLOCK
            out[f"blk.{m[1]}.{names[m[2]]}.{suffix}"] = array
        elif not stem.startswith("pooler"):
            raise SystemExit("what is " + name)
    for name, parts in experts.items():
        out[name] = np.stack([parts[i] for i in range(len(parts))])
    return out

def permute(array, heads):
    return array.reshape(heads, 2, array.shape[0] // heads // 2, *array.shape[1:]).swapaxes(1, 2).reshape(array.shape)

# ---- tokenizers ----

def looks_special(t):
    return (t in ("<pad>", "<mask>", "<2mass>", "[@BOS@]") or (t.startswith("<|") and t.endswith("|>"))
            or (t.startswith("<unused") and t.endswith(">")))

def varint(data, at):
    value = shift = 0
    while True:
        b = data[at]; at += 1
        value |= (b & 127) << shift; shift += 7
        if b < 128:
            return value, at

def fields(data):
    at = 0
    while at < len(data):
        tag, at = varint(data, at)
        if tag & 7 == 0:
            value, at = varint(data, at)
        elif tag & 7 == 2:
            n, at = varint(data, at)
            value, at = data[at:at + n], at + n
        elif tag & 7 == 5:
            value, at = struct.unpack("<f", data[at:at + 4])[0], at + 4
        else:
            value, at = data[at:at + 8], at + 8
        yield tag >> 3, value

def pieces(path):
    rows, dummy = [], True
    for number, value in fields(path.read_bytes()):
        if number == 1:
            row = dict(fields(value))
            rows.append((row.get(1, b"").decode(), row.get(2, 0.0), row.get(3, 1)))
        elif number == 3:
            dummy = bool(dict(fields(value)).get(3, 1))
    return rows, dummy

def tokenizer(folder, arch, config, w):
    def read(name):
        path = folder / name
        return json.loads(path.read_text()) if path.exists() else None
    tj, tc = read("tokenizer.json"), read("tokenizer_config.json") or {}
    added = {a["id"]: a for a in (tj or {}).get("added_tokens", [])}
    size = config["vocab_size"]
    phi = arch == "phi3"

    def kind(a):
        return 3 if a.get("special") or (not phi and looks_special(a["content"])) else 4
    def text(a):
        return a["content"] if phi or kind(a) == 3 else a["content"].replace("\u2581", " ")

    tokens = [f"[PAD{i}]" for i in range(size)]
    types, scores, merges = [5] * size, [-10000.0] * size, []
    if (folder / "tokenizer.model").exists():
        model, rows_dummy = "llama", pieces(folder / "tokenizer.model")
        rows, dummy = rows_dummy
        for i, (t, s, k) in enumerate(rows):
            tokens[i], scores[i], types[i] = t, s, 1 if k == 4 else k
        late = {int(i): a for i, a in tc.get("added_tokens_decoder", {}).items()}
        for i, a in added.items():
            if i not in late and (i >= len(rows) or phi):
                late[i] = a
        for i, a in late.items():
            tokens[i], scores[i], types[i] = text(a), -1000.0, kind(a)
        w.add_add_space_prefix(dummy)
    else:
        m = tj["model"]
        model = {"BPE": "gpt2", "WordPiece": "bert"}[m["type"]]
        for t, i in m["vocab"].items():
            tokens[i], types[i] = t, 1
        for i, a in added.items():
            tokens[i], types[i] = text(a), kind(a)
        if model == "bert":
            for i in range(size):
                if types[i] not in (3, 5):
                    tokens[i] = tokens[i][2:] if tokens[i].startswith("##") else "\u2581" + tokens[i]
        for p in m.get("merges", []):
            merges.append(p if isinstance(p, str) else " ".join(q.replace(" ", "\u0120") for q in p))
    split = json.dumps((tj or {}).get("pre_tokenizer") or {})
    pre = "default"
    if model == "gpt2":
        pre = ("llama-bpe" if "{1,3}" in split else "qwen2" if "p{N}|" in split else "gpt-2")
    w.add_tokenizer_model(model)
    w.add_tokenizer_pre(pre)
    w.add_token_list(tokens)
    w.add_token_types(types)
    if model == "llama":
        w.add_token_scores(scores)
    if model == "bert":
        w.add_token_type_count(config["type_vocab_size"])
    if merges:
        w.add_token_merges(merges)

    ids, flags = {}, {}
    names = {n: (tc[n + "_token"]["content"] if isinstance(tc.get(n + "_token"), dict) else tc.get(n + "_token"))
             for n in ("bos", "eos", "unk", "sep", "pad", "cls", "mask")}
    names["bos"] = names["bos"] or names["cls"]
    names["eos"] = names["eos"] or names["sep"]
    for n, t in names.items():
        found = [i for i, a in added.items() if a["content"] == t]
        if t and found:
            ids[n] = found[0]
        elif isinstance(config.get(n + "_token_id"), int):
            ids[n] = config[n + "_token_id"]
    for n in ("bos", "eos"):
        if isinstance(tc.get(f"add_{n}_token"), bool):
            flags[n] = tc[f"add_{n}_token"]
    post = (tj or {}).get("post_processor") or {}
    if post.get("type") == "TemplateProcessing" and len(post["single"]) > 1:
        first = post["single"][0].get("SpecialToken", {}).get("id")
        last = post["single"][-1].get("SpecialToken", {}).get("id")
        if first:
            flags["bos"] = first in (names["bos"], names["cls"])
        if last:
            flags["eos"] = last == names["eos"]
        middle = [e for e in post["pair"]][1 if first else 0:-1 if last else None][1:-1]
        if middle:
            flags["sep"] = all(e.get("SpecialToken", {}).get("id") in (names["sep"], names["eos"]) for e in middle)
    for n, i in ids.items():
        key = {"unk": "unknown", "sep": "seperator", "pad": "padding"}.get(n, n)
        w.add_uint32(f"tokenizer.ggml.{key}_token_id", i)
    for n, v in flags.items():
        w.add_bool(f"tokenizer.ggml.add_{n}_token", v)
    template = tc.get("chat_template")
    if template is None and (folder / "chat_template.jinja").exists():
        template = (folder / "chat_template.jinja").read_text()
    if template is not None:
        w.add_chat_template(template)

# ---- a folder to a file ----

def convert(folder, out):
    config = json.loads((folder / "config.json").read_text())
    arch = FAMILY[config["model_type"]]
    w = gguf.GGUFWriter(str(out), arch)
    w.add_type("model")
    w.add_quantization_version(2)
    w.add_file_type(0)
    heads = config["num_attention_heads"]
    head_dim = config.get("head_dim") or config["hidden_size"] // heads
    kv = config.get("num_key_value_heads", heads)
    w.add_block_count(config["num_hidden_layers"])
    w.add_context_length(config["max_position_embeddings"])
    w.add_embedding_length(config["hidden_size"])
    w.add_feed_forward_length(config["intermediate_size"])
    w.add_head_count(heads)
    if arch == "bert":
        w.add_layer_norm_eps(config["layer_norm_eps"])
        w.add_causal_attention(False)
    else:
        w.add_head_count_kv(kv)
        w.add_layer_norm_rms_eps(config["rms_norm_eps"])
        w.add_key_length(head_dim)
        w.add_value_length(head_dim)
        w.add_rope_freq_base(config["rope_theta"])
    if arch == "llama":
        w.add_vocab_size(config["vocab_size"])
        w.add_rope_dimension_count(head_dim)
    if arch in ("gemma2", "gemma3", "phi3") and config.get("sliding_window"):
        w.add_sliding_window(config["sliding_window"])
    if arch == "gemma2":
        w.add_attn_logit_softcapping(config["attn_logit_softcapping"])
        w.add_final_logit_softcapping(config["final_logit_softcapping"])
    experts = config.get("num_experts") or config.get("num_local_experts")
    if experts:
        w.add_expert_count(experts)
        w.add_expert_used_count(config["num_experts_per_tok"])
        if "moe_intermediate_size" in config:
            w.add_expert_feed_forward_length(config["moe_intermediate_size"])
    if (folder / "1_Pooling/config.json").exists():
        modes = json.loads((folder / "1_Pooling/config.json").read_text())
        w.add_pooling_type(gguf.PoolingType.CLS if modes.get("pooling_mode_cls_token") else gguf.PoolingType.MEAN)
    if (folder / "tokenizer_config.json").exists():
        tokenizer(folder, arch, config, w)
    tensors = load(folder)
    if config.get("tie_word_embeddings", arch.startswith("gemma")):
        tensors.pop("lm_head.weight", None)
    for name, array in rename(arch, tensors).items():
        if arch == "llama" and re.search(r"attn_[qk]\.", name):
            array = permute(array, heads if "attn_q." in name else kv)
        if arch.startswith("gemma") and name.endswith("norm.weight"):
            array = array + 1
        w.add_tensor(name, np.ascontiguousarray(array, dtype=np.float32))
    w.write_header_to_file(); w.write_kv_data_to_file(); w.write_tensors_to_file(); w.close()

# ---- tiny models ----

D, F, H, KV, HD, V, N = 8, 12, 4, 2, 2, 24, 2

def weights(kind, config):
    rng = np.random.default_rng(1)
    t = {}
    def add(name, *shape):
        t[name] = rng.standard_normal(shape).astype(np.float32)
    if kind == "bert":
        for n, rows in (("word", V), ("position", 16), ("token_type", 2)):
            add(f"embeddings.{n}_embeddings.weight", rows, D)
        for s in ("weight", "bias"):
            add("embeddings.LayerNorm." + s, D)
            add("pooler.dense." + s, *((D, D) if s == "weight" else (D,)))
        for i in range(N):
            for n, o, ins in (("attention.self.query", D, D), ("attention.self.key", D, D),
                              ("attention.self.value", D, D), ("attention.output.dense", D, D),
                              ("intermediate.dense", F, D), ("output.dense", D, F)):
                add(f"encoder.layer.{i}.{n}.weight", o, ins)
                add(f"encoder.layer.{i}.{n}.bias", o)
            for n in ("attention.output.LayerNorm", "output.LayerNorm"):
                add(f"encoder.layer.{i}.{n}.weight", D)
                add(f"encoder.layer.{i}.{n}.bias", D)
        return t
    add("model.embed_tokens.weight", V, D)
    add("model.norm.weight", D)
    if not config["tie_word_embeddings"]:
        add("lm_head.weight", V, D)
    for i in range(N):
        p = f"model.layers.{i}."
        norms = ["input_layernorm", "post_attention_layernorm"]
        if kind in ("gemma2", "gemma3"):
            norms += ["pre_feedforward_layernorm", "post_feedforward_layernorm"]
        for n in norms:
            add(p + n + ".weight", D)
        if kind == "phi3":
            add(p + "self_attn.qkv_proj.weight", (H + 2 * KV) * HD, D)
            add(p + "mlp.gate_up_proj.weight", 2 * F, D)
            add(p + "mlp.down_proj.weight", D, F)
        else:
            for n, rows in (("q", H * HD), ("k", KV * HD), ("v", KV * HD)):
                add(f"{p}self_attn.{n}_proj.weight", rows, D)
                if kind == "qwen2":
                    add(f"{p}self_attn.{n}_proj.bias", rows)
        add(p + "self_attn.o_proj.weight", D, H * HD)
        if kind in ("qwen3", "qwen3moe", "gemma3"):
            add(p + "self_attn.q_norm.weight", HD)
            add(p + "self_attn.k_norm.weight", HD)
        if kind == "mixtral":
            add(p + "block_sparse_moe.gate.weight", 3, D)
            for e in range(3):
                for n, o, ins in (("w1", F, D), ("w2", D, F), ("w3", F, D)):
                    add(f"{p}block_sparse_moe.experts.{e}.{n}.weight", o, ins)
        elif kind == "qwen3moe":
            add(p + "mlp.gate.weight", 3, D)
            for e in range(3):
                for n, o, ins in (("gate", 6, D), ("down", D, 6), ("up", 6, D)):
                    add(f"{p}mlp.experts.{e}.{n}_proj.weight", o, ins)
        elif kind != "phi3":
            for n, o, ins in (("gate", F, D), ("down", D, F), ("up", F, D)):
                add(f"{p}mlp.{n}_proj.weight", o, ins)
    return t

LLAMA3 = (r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*"
          r"|\s*[\r\n]+|\s+(?!\S)|\s+")

def added(i, text, special):
    return {"id": i, "content": text, "single_word": False, "lstrip": False, "rstrip": False,
            "normalized": False, "special": special}

def bpe(folder, pattern, extra):
    letters = list("abcdefgh") + ["\u0120", "\"", "\\", "\u00e9"]
    vocab = {t: i for i, t in enumerate(letters + ["ab", "\u0120a", "abc", "\u0120ab"])}
    merges = [["a", "b"], ["\u0120", "a"], ["ab", "c"], ["\u0120", "ab"]]
    n = len(vocab)
    tj = {"version": "1.0", "added_tokens": [added(n, "<|bos|>", True), added(n + 1, "<|eos|>", True),
                                             added(n + 2, "my\u2581token", False)],
          "normalizer": None,
          "pre_tokenizer": {"type": "Sequence", "pretokenizers": [
              {"type": "Split", "pattern": {"Regex": pattern}, "behavior": "Isolated", "invert": False},
              {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": False}]},
          "post_processor": {"type": "TemplateProcessing",
                             "single": [{"SpecialToken": {"id": "<|bos|>", "type_id": 0}},
                                        {"Sequence": {"id": "A", "type_id": 0}}],
                             "pair": [{"SpecialToken": {"id": "<|bos|>", "type_id": 0}},
                                      {"Sequence": {"id": "A", "type_id": 0}}, {"Sequence": {"id": "B", "type_id": 1}}],
                             "special_tokens": {}},
          "decoder": {"type": "ByteLevel"},
          "model": {"type": "BPE", "unk_token": None, "byte_fallback": False, "vocab": vocab,
                    "merges": merges if extra else [" ".join(m) for m in merges]}}
    (folder / "tokenizer.json").write_text(json.dumps(tj, ensure_ascii=not extra, indent=1))
    tc = {"bos_token": "<|bos|>", "eos_token": {"content": "<|eos|>", "special": True}, "add_bos_token": False}
    if extra:
        (folder / "chat_template.jinja").write_text("{% for m in messages %}{{ m.content }}\n{% endfor %}")
    else:
        tc["chat_template"] = "{{ messages }}"
    (folder / "tokenizer_config.json").write_text(json.dumps(tc, indent=1))

def key(number, wire, payload):
    return bytes([number << 3 | wire]) + payload

def sized(number, payload):
    assert len(payload) < 128
    tag = number << 3 | 2
    head = bytes([tag]) if tag < 128 else bytes([tag & 127 | 128, tag >> 7])
    return head + bytes([len(payload)]) + payload

def spm(folder, dummy, phi):
    rows = [("<unk>", 0.0, 2), ("<s>", 0.0, 3), ("</s>", 0.0, 3), ("<0x0A>", 0.0, 6), ("\u2581", -1.0, 1),
            ("a", -2.5, 1), ("b", -3.25, 1), ("\u2581a", -0.5, 1), ("told", -4.0, 4)]
    data = b""
    for text, score, kind in rows:
        piece = sized(1, text.encode()) + key(2, 5, struct.pack("<f", score))
        data += sized(1, piece + (key(3, 0, bytes([kind])) if kind != 1 else b""))
    data += sized(2, key(3, 0, b"\x02")) + sized(3, sized(1, b"identity") + key(3, 0, bytes([dummy])))
    (folder / "tokenizer.model").write_bytes(data)
    tc = {"bos_token": "<s>", "eos_token": "</s>", "unk_token": "<unk>", "pad_token": None, "add_bos_token": True,
          "add_eos_token": False,
          "added_tokens_decoder": {"1": added(1, "<s>", True), "2": added(2, "</s>", True),
                                   "10": added(10, "<|end|>", False), "11": added(11, "two\u2581words", False)}}
    for a in tc["added_tokens_decoder"].values():
        del a["id"]
    (folder / "tokenizer_config.json").write_text(json.dumps(tc, indent=1, ensure_ascii=False))
    tj = {"version": "1.0", "added_tokens": [added(0, "<unk>", True), added(1, "<s>", True), added(2, "</s>", True),
                                             added(10, "<|end|>", False), added(11, "two\u2581words", False)],
          "model": {"type": "BPE", "byte_fallback": True, "vocab": {t: i for i, (t, _, _) in enumerate(rows)},
                    "merges": ["\u2581 a"]}}
    (folder / "tokenizer.json").write_text(json.dumps(tj, indent=1))

def word_piece(folder):
    words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "a", "##b", "the", "##\u00e9"]
    (folder / "vocab.txt").write_text("\n".join(words) + "\n")
    special = lambda t: {"SpecialToken": {"id": t, "type_id": 0}}
    a, b = {"Sequence": {"id": "A", "type_id": 0}}, {"Sequence": {"id": "B", "type_id": 1}}
    tj = {"version": "1.0", "added_tokens": [added(i, words[i], True) for i in range(5)],
          "normalizer": {"type": "BertNormalizer", "lowercase": True},
          "pre_tokenizer": {"type": "BertPreTokenizer"},
          "post_processor": {"type": "TemplateProcessing", "single": [special("[CLS]"), a, special("[SEP]")],
                             "pair": [special("[CLS]"), a, special("[SEP]"), b, special("[SEP]")], "special_tokens": {}},
          "model": {"type": "WordPiece", "unk_token": "[UNK]", "continuing_subword_prefix": "##",
                    "vocab": {t: i for i, t in enumerate(words)}}}
    (folder / "tokenizer.json").write_text(json.dumps(tj, indent=1))
    (folder / "tokenizer_config.json").write_text(json.dumps(
        {"cls_token": "[CLS]", "sep_token": "[SEP]", "pad_token": "[PAD]", "unk_token": "[UNK]", "mask_token": "[MASK]"}))
    (folder / "1_Pooling").mkdir(exist_ok=True)
    (folder / "1_Pooling/config.json").write_text(json.dumps({"pooling_mode_cls_token": True}))

def tiny(out):
    kinds = ["llama", "mistral", "mixtral", "qwen2", "qwen3", "qwen3moe", "gemma", "gemma2", "gemma3", "phi3", "bert"]
    for kind in kinds:
        folder = out / kind
        folder.mkdir(parents=True, exist_ok=True)
        tied = kind.startswith("gemma") or kind == "qwen2"
        config = {"model_type": {"qwen3moe": "qwen3_moe", "gemma3": "gemma3_text"}.get(kind, kind),
                  "vocab_size": V, "hidden_size": D, "intermediate_size": F, "num_hidden_layers": N,
                  "num_attention_heads": H, "max_position_embeddings": 16, "torch_dtype": "float16"}
        if kind == "bert":
            config.update(layer_norm_eps=1e-12, type_vocab_size=2, hidden_act="gelu")
        else:
            config.update(num_key_value_heads=KV, rms_norm_eps=1e-5, rope_theta=5e5, tie_word_embeddings=tied)
        if kind in ("qwen3", "qwen3moe", "gemma", "gemma2", "gemma3"):
            config["head_dim"] = HD
        if kind == "mixtral":
            config.update(num_local_experts=3, num_experts_per_tok=2)
        if kind == "qwen3moe":
            config.update(num_experts=3, num_experts_per_tok=2, moe_intermediate_size=6, norm_topk_prob=True)
        if kind == "gemma2":
            config.update(attn_logit_softcapping=50.0, final_logit_softcapping=30.0)
        if kind in ("gemma2", "gemma3", "phi3"):
            config["sliding_window"] = 8
        if kind == "gemma3":
            config.update(rope_local_base_freq=10000.0, sliding_window_pattern=6)
        (folder / "config.json").write_text(json.dumps(config, indent=1))
        save(folder / "model.safetensors", weights(kind, config))
        if kind == "bert":
            word_piece(folder)
        elif kind in ("mistral", "gemma", "gemma2", "phi3"):
            spm(folder, kind not in ("gemma", "gemma2"), kind == "phi3")
        else:
            bpe(folder, LLAMA3 if kind in ("llama", "mixtral") else LLAMA3.replace("{1,3}", ""), kind != "llama")
        convert(folder, out / (kind + ".gguf"))

if __name__ == "__main__":
    if sys.argv[1] == "tiny":
        tiny(pathlib.Path(sys.argv[2]))
    else:
        convert(pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3]))
