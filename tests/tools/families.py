#!/usr/bin/env python3
"""Tiny models of every family, and what the real programs make of them.

    families.py make DATA [NAME…]  writes DATA/NAME with transformers (needs torch); run by hand
    families.py logits WB DATA [NAME…]
                                   compares the logits of transformers with those of llama.cpp, of mlx-lm, and of
                                   transformers after the way back, loads the file quantized to Q8_0, and records
                                   digests of the GGUF files in DATA/gguf.sums; run by hand (needs torch,
                                   llama_cpp_py_sync, mlx_lm)
    families.py check WB DATA      converts each folder to GGUF, to MLX and back; compares the tensor names with those of
                                   the gguf package, and the GGUF file with DATA/gguf.sums; a part of the tests

The weights are random numbers of BF16. The names of the families are those of their tables.
"""
import hashlib, json, os, pathlib, shutil, subprocess, sys, tempfile
import numpy as np

VOCAB, IDS = 32, [int(i) for i in np.random.default_rng(1).integers(3, 32, 24)]
USUAL = dict(hidden_size=16, intermediate_size=24, num_hidden_layers=2, num_attention_heads=4, num_key_value_heads=2,
             vocab_size=VOCAB, max_position_embeddings=64, bos_token_id=1, eos_token_id=2, pad_token_id=None,
             tie_word_embeddings=False)
EXPERTS = dict(num_experts_per_tok=2, moe_intermediate_size=8)
ROUTED = dict(EXPERTS, n_routed_experts=4, n_shared_experts=1, first_k_dense_replace=1, n_group=2, topk_group=1)
YARN = dict(rope_type="yarn", rope_theta=1000000.0, factor=4.0, original_max_position_embeddings=16, beta_fast=32.0,
            beta_slow=1.0, mscale=1.0, mscale_all_dim=1.0, llama_4_scaling_beta=0.1)
SCALES = dict(attention_multiplier=0.2, embedding_multiplier=12.0, residual_multiplier=0.22, logits_scaling=8.0)
NOT = ...  # a member of USUAL that the config does not have
GPT = dict(n_embd=16, n_layer=2, n_head=4, intermediate_size=NOT, num_hidden_layers=NOT, num_attention_heads=NOT,
           num_key_value_heads=NOT, max_position_embeddings=NOT, hidden_size=NOT, tie_word_embeddings=True)
FALCON = dict(num_key_value_heads=NOT, intermediate_size=NOT)
FAMILIES = {  # the class of transformers, and what differs from USUAL
    "arcee": ("Arcee", dict(head_dim=4)),
    "bloom": ("Bloom", dict(GPT, seq_length=64, n_embd=NOT, hidden_size=16)),
    "chatglm": ("Glm", dict(head_dim=4)),
    "cohere": ("Cohere", dict(tie_word_embeddings=True)),
    "cohere2": ("Cohere2", dict(tie_word_embeddings=True, head_dim=4, sliding_window=8, num_hidden_layers=4)),
    "dots1": ("Dots1", dict(ROUTED, num_key_value_heads=4)),
    "ernie4_5": ("Ernie4_5", dict(head_dim=4)),
    "ernie4_5_moe": ("Ernie4_5_Moe", dict(moe_num_experts=4, moe_k=2, moe_intermediate_size=8, moe_num_shared_experts=1)),
    "exaone4": ("Exaone4", dict(sliding_window=None, layer_types=["full_attention"] * 2)),
    "glm4": ("Glm4", dict(head_dim=4)),
    "glm4_moe": ("Glm4Moe", dict(ROUTED, head_dim=4, use_qk_norm=True)),
    "falcon": ("Falcon", dict(FALCON, num_kv_heads=4, multi_query=True, ffn_hidden_size=24, max_position_embeddings=2048,
                              tie_word_embeddings=True)),
    "falcon40": ("Falcon", dict(FALCON, num_kv_heads=2, new_decoder_architecture=True, ffn_hidden_size=24,
                                max_position_embeddings=2048, tie_word_embeddings=True)),
    "gpt2": ("GPT2LMHeadModel", dict(GPT, n_positions=64)),
    "gptneox": ("GPTNeoX", dict(num_attention_heads=2)),
    "granite": ("Granite", SCALES),
    "granitemoe": ("GraniteMoe", dict(SCALES, num_local_experts=4, num_experts_per_tok=2)),
    "granitemoe_shared": ("GraniteMoeShared", dict(SCALES, num_local_experts=4, num_experts_per_tok=2,
                                                   shared_intermediate_size=12)),
    "hunyuan_dense": ("HunYuanDenseV1", dict(head_dim=4)),
    "hunyuan_moe": ("HunYuanMoEV1", dict(head_dim=4, num_experts=4, moe_topk=2)),
    "llama4": ("Llama4", dict(head_dim=4, num_local_experts=4, num_experts_per_tok=1, intermediate_size=8,
                              intermediate_size_mlp=24, num_hidden_layers=4, interleave_moe_layer_step=2)),
    "minimax_m2": ("MiniMaxM2", dict(head_dim=4, num_local_experts=4, num_experts_per_tok=2)),
    "ministral3": ("Ministral3", dict(head_dim=4, rope_parameters=YARN)),
    "mpt": ("Mpt", dict(d_model=16, n_layers=2, n_heads=4, max_seq_len=64, vocab_size=VOCAB,
                        attn_config=dict(clip_qkv=0.5), tie_word_embeddings=True)),
    "nemotron": ("Nemotron", dict(head_dim=4)),
    "olmo2": ("Olmo2", {}),
    "olmo3": ("Olmo3", dict(sliding_window=8, num_hidden_layers=4)),
    "olmo": ("Olmo", dict(clip_qkv=0.5, num_key_value_heads=4)),
    "olmoe": ("Olmoe", dict(num_experts=4, num_experts_per_tok=2, num_key_value_heads=4)),
    "phi": ("Phi", dict(num_attention_heads=2, num_key_value_heads=2)),
    "qwen2moe": ("Qwen2Moe", dict(EXPERTS, num_experts=4, shared_expert_intermediate_size=12)),
    "seed_oss": ("SeedOss", dict(head_dim=4)),
    "smollm3": ("SmolLM3", dict(num_hidden_layers=4)),
    "stablelm": ("StableLm", dict(num_attention_heads=2, num_key_value_heads=2)),
    "starcoder": ("GPTBigCode", dict(GPT, n_positions=64)),
    "starcoder2": ("Starcoder2", dict(tie_word_embeddings=True)),
}


# Families that transformers does not have: a class of transformers that computes the same, what differs from USUAL,
# config.json of the family, and the names of its tensors, where they differ. If the family stores q, k and v as one
# tensor: its name, the names of its parts, and the numbers of groups of rows and of heads of k and v.
SMALL = dict(hidden_size=8, intermediate_size=8, num_attention_heads=2, num_key_value_heads=2)
DEPTH, BASE = 1.4, 8
LLAMA3 = dict(rope_type="llama3", factor=8.0, low_freq_factor=1.0, high_freq_factor=4.0,
              original_max_position_embeddings=16)
PEERS = {
    "baichuan": ("Llama", dict(SMALL, num_hidden_layers=32),
                 dict(model_type="baichuan", architectures=["BaichuanForCausalLM"], hidden_act="silu", vocab_size=VOCAB,
                      num_hidden_layers=32, hidden_size=8, intermediate_size=8, num_attention_heads=2,
                      max_position_embeddings=64, rms_norm_eps=1e-6,
                      tie_word_embeddings=False, bos_token_id=1, eos_token_id=2),
                 {}, ("self_attn.W_pack", "self_attn.{}_proj", lambda c: (1, c["num_attention_heads"]))),
    "chatglm_model": ("Glm", dict(head_dim=4, rms_norm_eps=1e-5, attention_bias=True,
                                  rope_parameters=dict(rope_type="default", rope_theta=50000.0, partial_rotary_factor=0.5)),
                      dict(model_type="chatglm", architectures=["ChatGLMModel"], num_layers=2, hidden_size=16,
                           ffn_hidden_size=24, num_attention_heads=4, multi_query_attention=True,
                           multi_query_group_num=2, kv_channels=4, seq_length=64, padded_vocab_size=VOCAB, rope_ratio=5,
                           layernorm_epsilon=1e-5, rmsnorm=True, post_layer_norm=True, tie_word_embeddings=False),
                      {"model.embed_tokens": "transformer.embedding.word_embeddings",
                       "model.norm": "transformer.encoder.final_layernorm", "lm_head": "transformer.output_layer",
                       "model.layers": "transformer.encoder.layers", "self_attn.o_proj": "self_attention.dense",
                       "mlp.gate_up_proj": "mlp.dense_h_to_4h", "mlp.down_proj": "mlp.dense_4h_to_h"},
                      ("self_attention.query_key_value", "self_attn.{}_proj", lambda c: (1, c["multi_query_group_num"]))),
    "exaone": ("Llama", dict(rope_parameters=dict(LLAMA3, rope_theta=10000.0)),
               dict(model_type="exaone", architectures=["ExaoneForCausalLM"], activation_function="silu", hidden_size=16,
                    intermediate_size=24, num_layers=2, num_attention_heads=4, num_key_value_heads=2, vocab_size=VOCAB,
                    max_position_embeddings=64, layer_norm_epsilon=1e-6, rope_theta=10000.0, rope_scaling=LLAMA3,
                    tie_word_embeddings=False, bos_token_id=1, eos_token_id=2),
               {"model.embed_tokens": "transformer.wte", "model.norm": "transformer.ln_f", "model.layers": "transformer.h",
                "input_layernorm": "ln_1", "post_attention_layernorm": "ln_2", "self_attn.o_proj": "attn.attention.out_proj",
                "self_attn": "attn.attention", "mlp.gate_proj": "mlp.c_fc_0", "mlp.up_proj": "mlp.c_fc_1",
                "mlp.down_proj": "mlp.c_proj"}),
    "internlm2": ("Llama", {},
                  dict(USUAL, model_type="internlm2", architectures=["InternLM2ForCausalLM"], hidden_act="silu",
                       rms_norm_eps=1e-6, rope_theta=10000.0, rope_scaling=None, bias=False),
                  {"lm_head": "output", "model.embed_tokens": "model.tok_embeddings", "self_attn.o_proj": "attention.wo",
                   "input_layernorm": "attention_norm", "post_attention_layernorm": "ffn_norm",
                   "mlp.gate_proj": "feed_forward.w1", "mlp.up_proj": "feed_forward.w3", "mlp.down_proj": "feed_forward.w2"},
                  ("attention.wqkv", "self_attn.{}_proj", lambda c: (c["num_key_value_heads"],) * 2)),
    "internlm3": ("Llama", {},
                  dict(USUAL, model_type="internlm3", architectures=["InternLM3ForCausalLM"], head_dim=4, hidden_act="silu",
                       rms_norm_eps=1e-6, rope_theta=10000.0, rope_scaling=None, bias=False, qkv_bias=False), {}),
    "qwen3vlmoe": ("Qwen3Moe", dict(EXPERTS, moe_intermediate_size=12, num_experts=4, head_dim=4, norm_topk_prob=True),
                   dict(USUAL, model_type="qwen3_vl_moe_text", architectures=["Qwen3VLMoeForConditionalGeneration"],
                        num_experts_per_tok=2, moe_intermediate_size=12, num_experts=4, head_dim=4, hidden_act="silu", rms_norm_eps=1e-6, decoder_sparse_step=1,
                        mlp_only_layers=[], rope_theta=10000.0, rope_scaling=dict(rope_type="default", mrope_section=[1, 1, 0])),
                   {}),
    "minicpm": ("Granite", dict(embedding_multiplier=12.0, residual_multiplier=DEPTH / 2 ** 0.5, attention_multiplier=0.5,
                                logits_scaling=16 / BASE),
                dict(USUAL, model_type="minicpm", architectures=["MiniCPMForCausalLM"], hidden_act="silu",
                     rms_norm_eps=1e-6, rope_theta=10000.0, rope_scaling=None, scale_emb=12, scale_depth=DEPTH,
                     dim_model_base=BASE), {}),
}


# llama.cpp takes GELU from a table of binary16 values: less weight of the feed-forward makes its error smaller.
GELU = {"bloom", "falcon", "falcon40", "gpt2", "gptneox", "mpt", "starcoder"}
OTHER_BACK = {"chatglm_model"}  # families that the way back gives another class
NOT_IN_MLX = {"chatglm", "chatglm_model", "gpt2"}  # families whose conversion to MLX is refused


def run(*command, check=True):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    assert done.returncode == 0 or not check, f"{' '.join(map(str, command))}: {done.stdout}"
    return done.returncode


def tensors(folder):
    """The bytes, type and shape of each tensor of a folder."""
    found = {}
    for path in sorted(pathlib.Path(folder).glob("*.safetensors")):
        data = path.read_bytes()
        n = int.from_bytes(data[:8], "little")
        for name, t in json.loads(data[8:8 + n]).items():
            if name != "__metadata__":
                begin, end = t["data_offsets"]
                found[name] = (t["dtype"], t["shape"], data[8 + n + begin:8 + n + end])
    return found


# ---- make ----

def model_from(of, path):
    import torch
    return of.from_pretrained(path, dtype=torch.float32, attn_implementation="eager", pad_token_id=None).eval()


def model_of(name, path=None):
    import transformers
    transformers.utils.logging.disable_progress_bar()
    kind, differences = (FAMILIES.get(name) or PEERS[name])[:2]
    of = getattr(transformers, kind if kind.endswith("Model") else kind + "ForCausalLM")
    if path and name in PEERS:
        return peer_of(name, path)
    if path:
        return model_from(of, path)
    said = {k: v for k, v in dict({} if name == "mpt" else USUAL, **differences).items() if v is not NOT}
    config = kind.removesuffix("LMHeadModel") + ("TextConfig" if kind == "Llama4" else "Config")
    return of(getattr(transformers, config)(**said))


def renamed(name, tensor, back=False):
    """The name that a tensor of a peer has in the family, or the reverse."""
    for theirs, own in PEERS[name][3].items():
        old, new = (own, theirs) if back else (theirs, own)
        if f".{old}." in f".{tensor}":
            tensor = f".{tensor}".replace(f".{old}.", f".{new}.").removeprefix(".")
    return tensor


def fused(name, state):
    """The tensors of a peer, with q, k and v, or the experts, as the family stores them."""
    import torch
    if name == "qwen3vlmoe":
        return {k: v.transpose(1, 2) if v.ndim == 3 else v for k, v in state.items()}
    if len(PEERS[name]) == 4:
        return state
    whole, part, numbers = PEERS[name][4]
    groups = numbers(PEERS[name][2])[0]
    for key in [k for k in state if part.format("q") in k]:
        parts = [state.pop(key.replace(part.format("q"), part.format(p))) for p in "qkv"]
        rows = torch.cat([p.reshape(groups, -1, *p.shape[1:]) for p in parts], 1)
        state[key.replace(part.format("q"), whole)] = rows.reshape(-1, *rows.shape[2:])
    return state


def divided(name, state):
    """The reverse of fused."""
    if name == "qwen3vlmoe":
        return fused(name, state)
    if len(PEERS[name]) == 4:
        return state
    whole, part, numbers = PEERS[name][4]
    groups, heads = numbers(PEERS[name][2])
    for key in [k for k in state if whole in k]:
        rows = state.pop(key)
        rows = rows.reshape(groups, -1, *rows.shape[1:])
        n = heads * PEERS[name][2]["hidden_size"] // PEERS[name][2]["num_attention_heads"] // groups
        for p, tensor in zip("qkv", rows.split([rows.shape[1] - 2 * n, n, n], 1)):
            state[key.replace(whole, part.format(p))] = tensor.reshape(-1, *rows.shape[2:])
    return state


def peer_of(name, path):
    """The peer of a family, with the tensors of a folder of this family."""
    import torch, safetensors.torch
    peer, said = model_of(name), json.loads((pathlib.Path(path) / "config.json").read_text())
    if said["model_type"] in ("llama", "glm"):  # the way back gives the class of the peer
        return model_from(type(peer), path)
    faults = {k: (v, said.get(k)) for k, v in PEERS[name][2].items()
              if isinstance(v, (int, float)) and abs(v - said.get(k, 1e9)) > 1e-6 * abs(v)}
    assert said["model_type"] == PEERS[name][2]["model_type"] and not faults, faults
    stored = {}
    for file in pathlib.Path(path).glob("*.safetensors"):
        stored |= safetensors.torch.load_file(file)
    peer.load_state_dict({renamed(name, k, back=True): v for k, v in divided(name, stored).items()})
    return peer.to(torch.float32).eval()


def save_peer(name, model, folder):
    import safetensors.torch
    folder.mkdir()
    state = fused(name, {renamed(name, k): v for k, v in model.state_dict().items()})
    safetensors.torch.save_file({k: v.contiguous() for k, v in state.items()},
                                folder / "model.safetensors", metadata={"format": "pt"})
    (folder / "config.json").write_text(json.dumps(PEERS[name][2], indent=2) + "\n")


def make(data, *names):
    import torch
    for name in names or [*FAMILIES, *PEERS]:
        model, numbers = model_of(name), torch.Generator().manual_seed(3)
        is_offset = name == "nemotron"  # norm weights are stored minus 1
        for key, p in [*model.named_parameters(), *model.named_buffers()]:
            if not p.is_floating_point() or "inv_freq" in key:
                continue
            random = torch.randn(p.shape, generator=numbers)
            if p.ndim == 1 or "norm" in key:
                random = 0.2 * random + (key.endswith("weight") and not is_offset)
            elif "embed" in key or "bias" in key:
                random = 0.5 * random
            else:
                random = random / p.shape[-1] ** 0.5
            if name in GELU and p.ndim == 2 and ("mlp" in key or "ffn" in key):
                random = random / 2
            p.data.copy_(random)
        folder = pathlib.Path(data) / name
        shutil.rmtree(folder, ignore_errors=True)
        model = model.to(torch.bfloat16)
        if name in PEERS:
            save_peer(name, model, folder)
            continue
        model.save_pretrained(folder)
        (folder / "generation_config.json").unlink(missing_ok=True)


# ---- check ----

def digest(path):
    """A digest of the tensors of a GGUF file and of the keys of its architecture."""
    import gguf
    reader, sha = gguf.GGUFReader(path), hashlib.sha256()
    for t in sorted(reader.tensors, key=lambda t: t.name):
        sha.update(f"{t.name} {t.tensor_type.name} {[int(n) for n in t.shape]}".encode() + t.data.tobytes())
    for key, field in sorted(reader.fields.items()):
        if not key.startswith(("general.", "GGUF.", "tokenizer.")):
            sha.update(f"{key} {field.types} {field.contents()}".encode())
    return sha.hexdigest()


# Tensors that GGUF files do not have, but their parts: the part of the name, and the names of the parts.
DIVIDED = {"self_attn.W_pack": ["attn_q", "attn_k", "attn_v"], "attention.wqkv": ["attn_q", "attn_k", "attn_v"],
           "block_sparse_moe.input_linear": ["ffn_gate_exps", "ffn_up_exps"],
           "shared_mlp.input_linear": ["ffn_gate_shexp", "ffn_up_shexp"],
           "experts.gate_up_proj": ["ffn_gate_exps", "ffn_up_exps"]}


def divided_names(name):
    """The GGUF names of the parts of a tensor, or nothing if GGUF files have the tensor itself."""
    layer, suffix = name.split(".")[2:3], "bias" if name.endswith(".bias") else "weight"
    return [f"blk.{layer[0]}.{part}.{suffix}" for whole, parts in DIVIDED.items() if f".{whole}" in name for part in parts]


def names_of_gguf(folder, arch, layers):
    """The GGUF names of the tensors of a folder, by the name map of the gguf package."""
    import gguf
    kind = next(k for k, v in gguf.MODEL_ARCH_NAMES.items() if v == arch)
    names, found = gguf.get_tensor_name_map(kind, layers), set()
    for name in tensors(folder):
        words = name.replace("e_score_correction_bias", "e_score_correction.bias").split(".")
        if "experts" in words and words[words.index("experts") + 1].isdigit():
            del words[words.index("experts") + 1]
        name = ".".join(words) + ("" if words[-1] in ("weight", "bias") else ".weight")
        spelt = names.get_name(name, (".weight", ".bias")) or names.get_name(name.removeprefix("transformer."),
                                                                           (".weight", ".bias"))
        found.update(divided_names(name) or [spelt])
    return found


def check(wb, data):
    import gguf
    sums = dict(line.split() for line in (data / "gguf.sums").read_text().splitlines())
    faults = 0
    for name in sorted([*FAMILIES, *PEERS]):
        with tempfile.TemporaryDirectory() as out:
            folder, file = data / name, f"{out}/model.gguf"
            run(wb, "convert", folder, file)
            reader = gguf.GGUFReader(file)
            arch = reader.fields["general.architecture"].contents()
            expected = names_of_gguf(folder, arch, reader.fields[arch + ".block_count"].contents())
            made = {t.name for t in reader.tensors} - {"rope_freqs.weight"}  # which is computed
            problems = [f"names: {sorted(map(str, made ^ expected))}"] if made != expected else []
            if digest(file) != sums.get(name):
                problems.append("the GGUF file is not the one that llama.cpp ran")
            run(wb, "convert", file, f"{out}/back", "--to", "safetensors")
            if name not in NOT_IN_MLX:
                run(wb, "convert", folder, f"{out}/mlx", "--to", "mlx")
                run(wb, "convert", f"{out}/mlx", f"{out}/again", "--to", "safetensors")
            for way in [w for w, no in (("back", OTHER_BACK), ("again", NOT_IN_MLX)) if name not in no]:
                made = tensors(f"{out}/{way}")
                differ = [k for k, v in tensors(folder).items() if made.pop(k, None) != v] + list(made)
                if differ:
                    problems.append(f"{way}: {differ[:4]}")
            for problem in problems:
                print(f"{name}: {problem}")
            faults += len(problems)
    print(f"{len(FAMILIES) + len(PEERS)} families, {faults} problems")
    return faults


# ---- logits ----

def logits_of_hf(name, folder):
    import torch
    with torch.no_grad():
        return model_of(name, folder)(torch.tensor([IDS])).logits[0].numpy()


def logits_of_llama(path):
    from llama_cpp_py_sync._cffi_bindings import get_ffi, get_lib
    ffi, lib = get_ffi(), get_lib()
    model = lib.llama_model_load_from_file(path.encode(), lib.llama_model_default_params())
    assert model != ffi.NULL, path
    params = lib.llama_context_default_params()
    params.n_ctx = params.n_batch = params.n_ubatch = len(IDS) + 8
    params.type_k = params.type_v = params.flash_attn_type = 0  # F32, no flash attention
    context, batch = lib.llama_init_from_model(model, params), lib.llama_batch_init(len(IDS), 0, 1)
    batch.n_tokens = len(IDS)
    for i, token in enumerate(IDS):
        batch.token[i], batch.pos[i], batch.n_seq_id[i], batch.logits[i] = token, i, 1, 1
        batch.seq_id[i][0] = 0
    assert lib.llama_decode(context, batch) == 0
    got = np.frombuffer(ffi.buffer(lib.llama_get_logits(context), 4 * VOCAB * len(IDS)), "<f4")
    return got.reshape(len(IDS), VOCAB).copy()


def logits_of_mlx(folder):
    import mlx.core as mx
    from mlx_lm.utils import load_model
    mx.set_default_device(mx.cpu)
    model, _ = load_model(pathlib.Path(folder))
    model.set_dtype(mx.float32)
    return np.array(model(mx.array([IDS]))[0].astype(mx.float32))


def compare(what, expected, function, *arguments):
    """Returns the largest difference of the logits, in units of their standard deviation."""
    try:
        difference = np.abs(function(*arguments) - expected).max() / expected.std()
        return f"{what} {difference:.1e}", difference
    except (Exception, SystemExit) as e:  # mlx-lm exits where it needs another package
        return f"{what} -: {str(e).splitlines()[-1][:60]}", 1


def changed_config(folder, back):
    """The members of config.json that the way back changes."""
    before, after = (json.loads((pathlib.Path(f) / "config.json").read_text()) for f in (folder, back))
    return {k: after.get(k) for k, v in before.items() if k in after and after[k] != v}


def logits(wb, data, *names):
    path = data / "gguf.sums"
    sums = dict(line.split() for line in path.read_text().splitlines()) if names else {}
    names = sorted(names or [*FAMILIES, *PEERS])
    for name in names:
        with tempfile.TemporaryDirectory() as out:
            folder, file, f32, q8 = data / name, f"{out}/model.gguf", f"{out}/f32.gguf", f"{out}/q8.gguf"
            run(wb, "convert", folder, file)
            run(wb, "convert", folder, f32, "--quant", "F32")
            run(wb, "convert", folder, q8, "--quant", "Q8_0")
            for path_of in f32, q8:
                run(wb, "edit", path_of, "--set", "tokenizer.ggml.model=no_vocab", "--in-place")
            run(wb, "convert", file, f"{out}/back", "--to", "safetensors")
            if name not in NOT_IN_MLX:
                run(wb, "convert", folder, f"{out}/mlx", "--to", "mlx")
            expected = logits_of_hf(name, folder)
            llama, far = compare("llama.cpp", expected, logits_of_llama, f32)
            quantized, far_quantized = compare("Q8_0", expected, logits_of_llama, q8)
            back, far_back = compare("back", expected, logits_of_hf, name, f"{out}/back")
            mlx, _ = compare("mlx-lm", expected, logits_of_mlx, f"{out}/mlx")
            print(f"{name}: {llama}; {quantized}; {back}; {mlx}", changed_config(folder, f"{out}/back") or "", flush=True)
            sums.pop(name, None)
            if far < 1e-3 and far_back < 1e-3 and far_quantized < 0.2:
                sums[name] = digest(file)
    path.write_text("".join(f"{name} {sums[name]}\n" for name in sorted(sums)))
    return len(set(names) - set(sums))


if __name__ == "__main__":
    if sys.argv[1] == "make":
        make(*sys.argv[2:])
    else:
        of = {"check": check, "logits": logits}[sys.argv[1]]
        sys.exit(1 if of(sys.argv[2], pathlib.Path(sys.argv[3]), *sys.argv[4:]) else 0)
