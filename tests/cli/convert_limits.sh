# Conversions to GGUF refuse or warn about configs for which llama.cpp computes something else than transformers, or with
# which it does not load the file. All cases were run with both programs.
python3 -B - "$DATA" <<'P'
import json, os, shutil, subprocess, sys

def convert(*more):
    return subprocess.run(["wb", "convert", "model", "model.gguf", "--force", "--json", *more],
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

def told(answer):
    return [f["name"] for f in json.loads(answer.stdout)["findings"] if f["code"] == "convert-granted"]

def alter(folder, changes):
    shutil.rmtree("model", ignore_errors=True)
    shutil.copytree(sys.argv[1] + "/" + folder, "model", copy_function=shutil.copyfile)
    c = json.load(open("model/config.json"))
    for key, value in changes.items():
        if value == "absent":
            c.pop(key, None)
        else:
            c[key] = value
    json.dump(c, open("model/config.json", "w"))

def check(folder, *members, **changes):
    alter(folder, changes)
    assert told(convert()) == list(members), (folder, changes)

def refuse(folder, member, **changes):
    alter(folder, changes)
    answer = convert()
    assert answer.returncode == 3 and "--force-lossy" in answer.stdout + answer.stderr, (folder, changes, answer)
    assert told(convert("--force-lossy")) == [member], (folder, changes)

for family in sorted(os.listdir(sys.argv[1] + "/families")):
    if os.path.isdir(sys.argv[1] + "/families/" + family):
        check("families/" + family)
check("families/smollm3", no_rope_layers="absent")
refuse("families/smollm3", "no_rope_layers", no_rope_layers=[1, 0, 1, 0])
refuse("families/smollm3", "no_rope_layers", no_rope_layers=[1, 1, 1, 1])
refuse("families/smollm3", "no_rope_layer_interval", no_rope_layers="absent", no_rope_layer_interval=2)
check("families/smollm3", "sliding_window", sliding_window=8, use_sliding_window=True)
check("families/smollm3", sliding_window=8, use_sliding_window=False)
check("families/ministral3", "sliding_window", sliding_window=8)
refuse("families/qwen2moe", "norm_topk_prob", norm_topk_prob=True)
refuse("families/qwen2moe", "decoder_sparse_step", decoder_sparse_step=2)
refuse("families/qwen2moe", "mlp_only_layers", mlp_only_layers=[1])
refuse("families/ernie4_5_moe", "moe_layer_end_index", moe_layer_end_index=0)
check("families/ernie4_5_moe", moe_layer_end_index=-1)
check("families/cohere2", layer_types="absent")
refuse("families/cohere2", "layer_types", layer_types=["full_attention"] + ["sliding_attention"] * 2 + ["full_attention"])
refuse("families/cohere2", "layer_types", layer_types=["sliding_attention"] * 4)
check("families/starcoder2", sliding_window=64)
check("families/starcoder2", "sliding_window", sliding_window=8)
refuse("families/olmoe", "norm_topk_prob", norm_topk_prob=True)
refuse("families/olmoe", "clip_qkv", clip_qkv=8.0)
refuse("families/exaone4", "sliding_window", sliding_window=8)

# Activations. The forms of GELU differ little.
refuse("twins/llama", "hidden_act", hidden_act="gelu")
refuse("twins/llama", "hidden_act", hidden_act="mish")
refuse("twins/bert", "hidden_act", hidden_act="relu")
check("twins/gemma", "hidden_act", hidden_act="gelu", hidden_activation="absent")

# Sliding windows that llama.cpp ignores, and patterns that it does not know.
check("twins/mistral", "sliding_window", sliding_window=4)
check("twins/mistral", sliding_window=16)
check("twins/qwen3", "sliding_window", sliding_window=4, use_sliding_window=True)
check("twins/qwen3", sliding_window=4, use_sliding_window=False)
check("twins/phi3", "sliding_window", sliding_window=4)
check("twins/gemma2")
check("twins/gemma2", layer_types=["sliding_attention", "full_attention"])
refuse("twins/gemma2", "layer_types", layer_types=["full_attention", "sliding_attention"])
check("twins/gemma3")

# Attention in both directions: llama.cpp has a key for it, but not together with sliding windows.
refuse("twins/gemma2", "is_causal", use_bidirectional_attention=True)
refuse("twins/gemma3", "is_causal", use_bidirectional_attention=True)
check("twins/llama", is_causal=False)
P
wb inspect model.gguf --metadata | grep -q 'llama.attention.causal *false'
wb convert model.gguf back --to safetensors
grep -q '"is_causal": false' back/config.json
