#!/usr/bin/env python3
"""Logits of a Hugging Face folder with plain weights, by a forward pass in double precision that shares
nothing with ours: what tests/cli/llama*.sh compare with. Needs numpy.

    reference_logits.py FOLDER OUT.npy TOKEN...

Run on the published folders of tiny models it agrees with mlx-lm and llama.cpp to 3e-6.
"""
import json, pathlib, struct, sys
import numpy as np


def load(folder):
    tensors = {}
    for path in sorted(folder.glob("*.safetensors")):
        data = path.read_bytes()
        n, = struct.unpack("<Q", data[:8])
        for name, t in json.loads(data[8:8 + n]).items():
            if name != "__metadata__":
                raw = data[8 + n + t["data_offsets"][0]:8 + n + t["data_offsets"][1]]
                if t["dtype"] == "BF16":
                    a = (np.frombuffer(raw, "<u2").astype("<u4") << 16).view("<f4")
                else:
                    a = np.frombuffer(raw, {"F32": "<f4", "F16": "<f2"}[t["dtype"]])
                tensors[name] = a.astype(np.float64).reshape(t["shape"])
    return tensors


def softmax(x):
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def silu(x):
    return x / (1 + np.exp(-x))


def gelu(x):
    return 0.5 * x * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x ** 3)))


def cap(x, limit):
    return limit * np.tanh(x / limit) if limit else x


def forward(c, w, tokens):
    kind, dim, heads = c["model_type"], c["hidden_size"], c["num_attention_heads"]
    kv, hd = c.get("num_key_value_heads", heads), c.get("head_dim") or dim // heads
    gemma, t = kind.startswith("gemma"), len(tokens)
    after = kind in ("gemma2", "gemma3_text")

    def norm(x, name):
        y = x / np.sqrt((x * x).mean(-1, keepdims=True) + c["rms_norm_eps"])
        return y * (w[name + ".weight"] + (1 if gemma else 0))

    def linear(x, name):
        y = x @ w[name + ".weight"].T
        return y + w[name + ".bias"] if name + ".bias" in w else y

    def rope(x, theta):
        angle = np.arange(t)[:, None, None] * theta ** (-np.arange(hd // 2) * 2 / hd)
        a, b = x[..., :hd // 2], x[..., hd // 2:]
        return np.concatenate([a * np.cos(angle) - b * np.sin(angle), b * np.cos(angle) + a * np.sin(angle)], -1)

    def mlp(x, gate, up, down):
        return ((gelu if gemma else silu)(x @ gate.T) * (x @ up.T)) @ down.T

    x = w["model.embed_tokens.weight"][tokens] * (np.sqrt(dim) if gemma else 1)
    for n in range(c["num_hidden_layers"]):
        p = f"model.layers.{n}."
        h = norm(x, p + "input_layernorm")
        if kind == "phi3":
            q, k, v = np.split(linear(h, p + "self_attn.qkv_proj"), [heads * hd, (heads + kv) * hd], -1)
        else:
            q, k, v = (linear(h, p + f"self_attn.{i}_proj") for i in "qkv")
        q, k, v = q.reshape(t, heads, hd), k.reshape(t, kv, hd), v.reshape(t, kv, hd)
        if p + "self_attn.q_norm.weight" in w:
            q, k = norm(q, p + "self_attn.q_norm"), norm(k, p + "self_attn.k_norm")
        local = bool(c.get("sliding_window")) and c.get("use_sliding_window", True)
        if kind == "gemma2":
            local = local and n % 2 == 0
        if kind == "gemma3_text":
            local = local and (n + 1) % c["sliding_window_pattern"] != 0
        theta = c["rope_local_base_freq"] if local and kind == "gemma3_text" else c["rope_theta"]
        q, k = rope(q, theta), rope(k, theta)
        k, v = (np.repeat(a, heads // kv, 1) for a in (k, v))
        scores = cap(np.einsum("ihd,jhd->hij", q, k) / np.sqrt(c.get("query_pre_attn_scalar") or hd),
                     c.get("attn_logit_softcapping"))
        i, j = np.arange(t)[:, None], np.arange(t)[None]
        seen = (j <= i) & (i - j < c["sliding_window"] if local else True)
        h = np.einsum("hij,jhd->ihd", softmax(np.where(seen, scores, -np.inf)), v).reshape(t, heads * hd)
        h = linear(h, p + "self_attn.o_proj")
        x = x + (norm(h, p + "post_attention_layernorm") if after else h)
        h = norm(x, p + ("pre_feedforward_layernorm" if after else "post_attention_layernorm"))
        experts = c.get("num_experts") or c.get("num_local_experts")
        if kind == "phi3":
            gate, up = np.split(w[p + "mlp.gate_up_proj.weight"], 2)
            h = mlp(h, gate, up, w[p + "mlp.down_proj.weight"])
        elif experts:
            block, names = ((p + "block_sparse_moe.", ("w1", "w3", "w2")) if kind == "mixtral" else
                            (p + "mlp.", ("gate_proj", "up_proj", "down_proj")))
            share = softmax(linear(h, block + "gate"))
            adds_up = kind == "mixtral" or c.get("norm_topk_prob", False)
            out = np.zeros_like(h)
            for row in range(t):
                best = np.argsort(-share[row])[:c["num_experts_per_tok"]]
                for e in best:
                    out[row] += share[row, e] / (share[row, best].sum() if adds_up else 1) * mlp(
                        h[row], *(w[f"{block}experts.{e}.{name}.weight"] for name in names))
            h = out
        else:
            h = mlp(h, *(w[p + f"mlp.{name}_proj.weight"] for name in ("gate", "up", "down")))
        x = x + (norm(h, p + "post_feedforward_layernorm") if after else h)
    head = w.get("lm_head.weight", w["model.embed_tokens.weight"])
    return cap(norm(x, "model.norm") @ head.T, c.get("final_logit_softcapping"))


folder = pathlib.Path(sys.argv[1])
logits = forward(json.loads((folder / "config.json").read_text()), load(folder), [int(t) for t in sys.argv[3:]])
np.save(sys.argv[2], logits.astype("<f4"))
