#!/usr/bin/env python3
"""Alters each member of config.json of tiny models, and converts each altered model to GGUF.

    alter_configs.py WB DATA

The models are those in DATA/families and DATA/twins. The conversion must refuse the altered model, warn about it, or
write another GGUF file. Otherwise llama.cpp would compute the same with both models, although transformers does not.
IRRELEVANT has the members on which the results of transformers do not depend, either.
"""
import concurrent.futures, copy, json, os, pathlib, shutil, subprocess, sys, tempfile

IRRELEVANT = {
    # training
    "attention_dropout", "attention_probs_dropout_prob", "attn_pdrop", "classifier_dropout", "emb_pdrop", "embd_pdrop", "embedding_dropout",
    "hidden_dropout", "hidden_dropout_prob", "initializer_range", "moe_norm_min", "output_router_logits", "pretraining_tp",
    "resid_pdrop", "residual_dropout", "router_aux_loss_coef", "router_jitter_noise",
    # programs and files
    "_name_or_path", "architectures", "dtype", "torch_dtype", "transformers_version", "use_cache",
    # what the tensors tell: if config.json contradicts them, transformers invents the missing tensors
    "attention_bias", "attention_out_bias", "bias", "mlp_bias", "qk_layernorm", "qkv_bias", "tie_word_embeddings",
    "use_bias", "use_qk_norm", "use_qkv_bias",
    # not used by the model's code in transformers
    "add_cross_attention", "embedding_fraction", "eod_token_id", "init_device", "learned_pos_emb", "no_bias",
    "num_nextn_predict_layers",
    # the same results in another way
    "attention_softmax_in_fp32", "reorder_and_upcast_attn", "scale_attention_softmax_in_fp32", "slow_but_exact",
    # the heads of classifiers that are made from GPT-2
    "summary_activation", "summary_first_dropout", "summary_proj_to_labels", "summary_type", "summary_use_proj",
    # members that transformers adds to attn_config of MPT
    "attn_impl", "attn_uses_sequence_id", "chunk_size_feed_forward", "id2label", "is_encoder_decoder", "label2id",
    "output_attentions", "output_hidden_states", "problem_type", "return_dict",
}
def has_no_window(config):
    return not config.get("sliding_window") or config["sliding_window"] >= config["max_position_embeddings"] or \
        config.get("use_sliding_window") is False


UNUSED_IF = {  # a member that transformers uses only if another one is absent or true
    "no_rope_layer_interval": lambda c: "no_rope_layers" in c,
    "sliding_window_pattern": lambda c: "layer_types" in c,
    "_sliding_window_pattern": lambda c: "layer_types" in c,
    "max_window_layers": lambda c: "layer_types" in c,
    "layer_types": has_no_window,
    "sliding_window": lambda c: c.get("use_sliding_window") is False,
    "is_decoder": lambda c: c["model_type"] == "gpt_neox",
    "model_type": lambda c: c["model_type"] == "mpt",
    "multi_query": lambda c: c.get("new_decoder_architecture"),
    "num_key_value_heads": lambda c: c.get("multi_query"),
    "num_kv_heads": lambda c: c.get("multi_query") and not c.get("new_decoder_architecture"),
    "parallel_attn": lambda c: c.get("new_decoder_architecture"),
    "use_sliding_window": lambda c: has_no_window(dict(c, use_sliding_window=True)),
}
ABSENT = {  # members that config.json of a twin lacks, with the value that they have then in transformers
    "llama": dict(hidden_act="silu"),
    "mistral": dict(hidden_act="silu"),
    "mixtral": dict(hidden_act="silu", sliding_window=None),
    "qwen2": dict(hidden_act="silu", use_sliding_window=False, sliding_window=None),
    "qwen3": dict(hidden_act="silu", use_sliding_window=False, sliding_window=None),
    "qwen3moe": dict(hidden_act="silu", use_sliding_window=False, sliding_window=None, decoder_sparse_step=1,
                     mlp_only_layers=[]),
    "gemma": dict(hidden_act="gelu_pytorch_tanh", use_bidirectional_attention=None),
    "gemma2": dict(hidden_activation="gelu_pytorch_tanh", use_bidirectional_attention=None),
    "gemma3": dict(hidden_activation="gelu_pytorch_tanh", final_logit_softcapping=None,
                   attn_logit_softcapping=None, use_bidirectional_attention=False),
    "phi3": dict(hidden_act="silu"),
    "bert": dict(is_decoder=False),
}
WORDS = {"silu": "gelu", "gelu": "relu", "full_attention": "sliding_attention", "sliding_attention": "full_attention",
         "default": "linear"}
WINDOW = dict(sliding_window=6, use_sliding_window=True)
HAS_WINDOWS = {"cohere2", "gemma2", "gemma3", "olmo3"}  # families whose sliding windows llama.cpp applies


def altered(name, value):
    """Another value of a member."""
    if name == "rope_scaling":
        return {"type": "linear", "factor": 4.0}
    if value is None:
        return True if name.startswith("use_") else 8
    if isinstance(value, bool):
        return not value
    if name == "moe_layer_end_index":
        return 0
    if isinstance(value, int):
        return value + 1 if name.endswith("_id") or value < 2 else value // 2
    if isinstance(value, float):
        return value * 2 + 0.5
    if isinstance(value, str):
        return WORDS.get(value, "silu")
    return [altered(name, x) for x in value] or [0]


def changes(config, whole, path=()):
    """The path and the other value of each member."""
    for name, value in config.items():
        if isinstance(value, dict) and name not in IRRELEVANT:
            yield from changes(value, whole, (*path, name))
        elif name not in IRRELEVANT and not UNUSED_IF.get(name, lambda c: False)(whole):
            yield (*path, name), altered(name, value)


def change(config, path, value):
    config = copy.deepcopy(config)
    part = config
    for name in path[:-1]:
        part = part[name]
    part[path[-1]] = value
    return config


def outcome(wb, folder, config, usual):
    """Returns "refused", "warned", "expressed" or "silent"."""
    with tempfile.TemporaryDirectory() as work:
        os.mkdir(f"{work}/model")
        for file in folder.iterdir():
            if file.is_file() and file.name != "config.json":
                shutil.copyfile(file, f"{work}/model/{file.name}")
        pathlib.Path(f"{work}/model/config.json").write_text(json.dumps(config))
        done = subprocess.run([wb, "convert", f"{work}/model", f"{work}/model.gguf", "--json"], stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True)
        if done.returncode:
            assert done.returncode in (1, 3), done
            return "refused", (b"", [])
        data = pathlib.Path(f"{work}/model.gguf").read_bytes()
        told = sorted(f["code"] + f["message"] for f in json.loads(done.stdout)["findings"])
        if usual is not None and told != usual[1]:
            return "warned", (data, told)
        return ("silent" if usual and data == usual[0] else "expressed"), (data, told)


def windowed(config):
    """The config with a sliding window in every layer."""
    return dict(config, **WINDOW, layer_types=["sliding_attention"] * config["num_hidden_layers"])


def check(wb, folder):
    config = json.loads((folder / "config.json").read_text())
    _, usual = outcome(wb, folder, config, None)
    config = dict(ABSENT.get(folder.name, {}), **config)
    counts, faults = {}, []
    if outcome(wb, folder, config, usual)[0] != "silent":
        faults.append("the values of ABSENT are not the usual ones")
    for path, value in changes(config, config):
        result, _ = outcome(wb, folder, change(config, path, value), usual)
        counts[result] = counts.get(result, 0) + 1
        if result == "silent":
            faults.append(f"{'.'.join(path)}={json.dumps(value)}")
    if folder.name not in HAS_WINDOWS and "sliding_window" in config:
        result, (_, told) = outcome(wb, folder, windowed(config), usual)
        if result != "refused" and not any("sliding window" in t for t in told):
            faults.append("nothing tells that llama.cpp ignores the sliding window")
    return folder.name, counts, faults


def main(wb, data):
    wb, data = str(pathlib.Path(wb).resolve()), pathlib.Path(data)
    folders = sorted([*(data / "families").glob("*/config.json"), *(data / "twins").glob("*/config.json")])
    found = 0
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        for name, counts, faults in pool.map(lambda path: check(wb, path.parent), folders):
            found += len(faults)
            print(name, counts, *faults)
    return 1 if found or not folders else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
