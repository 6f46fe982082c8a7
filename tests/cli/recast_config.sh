# A config.json made from a GGUF file contains the settings that llama.cpp implies and other programs do not.
# Without them, mlx-lm would not load the folder, and transformers would run another model (found by
# tests/tools/compare_mlx.py).
twins=$DATA/twins
for name in gemma2 gemma3 qwen3moe phi3; do
    wb convert "$twins/$name" $name.gguf
    wb convert $name.gguf $name --to mlx
done
cp -r "$twins/phi3" long
chmod -R u+w long
python3 -B - "$twins" <<'P'
import json, sys
twin = lambda n: json.load(open(f"{sys.argv[1]}/{n}/config.json"))
made = lambda n: json.load(open(f"{n}/config.json"))
for name in "gemma2", "gemma3":
    c = made(name)
    assert c["query_pre_attn_scalar"] == c["head_dim"], c
c = made("qwen3moe")
assert (c["norm_topk_prob"], c["decoder_sparse_step"], c["mlp_only_layers"]) == (True, 1, []), c
c = made("phi3")
assert not c.get("rope_scaling"), c
config = twin("phi3")
half = config["hidden_size"] // config["num_attention_heads"] // 2
config["original_max_position_embeddings"] = 8
config["rope_scaling"] = {"type": "longrope", "long_factor": [1.5 + i / 3 for i in range(half)],
                          "short_factor": [1.0 + i / 7 for i in range(half)]}
json.dump(config, open("long/config.json", "w"))
P
wb convert long long.gguf
mkdir two
wb convert long.gguf two/long --to safetensors
wb convert two/long again.gguf
for factors in rope_factors_long rope_factors_short; do
    for file in long again; do
        wb export $file.gguf $factors.weight --format raw -o $file.raw
    done
    cmp long.raw again.raw
done
python3 -B - <<'P'
import json
a, b = (json.load(open(f"{f}/config.json")) for f in ("long", "two/long"))
assert a["original_max_position_embeddings"] == b["original_max_position_embeddings"], b
a, b = a["rope_scaling"], b["rope_scaling"]
assert sorted(a) == sorted(b) and a["type"] == b["type"], (a, b)
for key in "long_factor", "short_factor":
    assert len(a[key]) == len(b[key]) and all(abs(x - y) < 1e-6 for x, y in zip(a[key], b[key])), (a, b)
P
# The mixed recipes of mlx-lm do not treat routers specially; its other modes do.
mkdir wide
PYTHONPATH=$SOURCE/tests/cli python3 -B - "$twins" <<'P'
import json, subprocess, sys, zoo
config = json.load(open(f"{sys.argv[1]}/qwen3moe/config.json"))
config.update(hidden_size=64, num_hidden_layers=1)
zoo.save("wide/model.safetensors", [("model.layers.0.mlp.gate.weight", "BF16", [3, 64], bytes(384)),
                                    ("model.embed_tokens.weight", "BF16", [24, 64], bytes(3072))])
json.dump(config, open("wide/config.json", "w"))
for quant, want in ("mixed_3_6", "affine3:64"), ("affine4:32", "affine8:64"), ("mxfp4", "affine8:64"):
    p = subprocess.run(["wb", "convert", "wide", "x", "--to", "mlx", "--quant", quant, "--dry-run", "--json"], capture_output=True)
    assert p.returncode == 0, p
    rows = {t["name"]: t["to"] for t in json.loads(p.stdout)["tensors"]}
    assert rows["model.layers.0.mlp.gate.weight"] == want, (quant, rows)
P

# If the norms of q are multiplied to compensate for the attention scale, the reported loss is measured against
# (weight + 1) times the factor.
cp -r "$twins/gemma3" scaled
chmod -R u+w scaled
python3 -B - <<'P'
import json
config = json.load(open("scaled/config.json"))
config["query_pre_attn_scalar"] = 4 * config["head_dim"]
json.dump(config, open("scaled/config.json", "w"))
P
wb convert scaled scaled.gguf --quant F32 --json >report
python3 -B - <<'P'
import json
lost = {t["name"]: t for t in json.load(open("report"))["tensors"]}
for name in "attn_q_norm", "attn_k_norm", "attn_q":
    t = lost[f"blk.0.{name}.weight"]
    assert t["nmse"] < 1e-12 and t["cosine"] > 0.999999, t
P

# Numbers as Python writes them and members with long names are copied; subfolders are reported.
cp -r "$twins/llama" odd
chmod -R u+w odd
python3 -B - <<'P'
import json
config = json.load(open("odd/config.json"))
config |= {"limits": [0.0, float("inf"), float("-inf")], "none": float("nan"), "n" * 300: {"kept": True}, "torch_dtype": "x"}
json.dump(config, open("odd/config.json", "w"))
P
wb convert odd odd-mlx --to mlx
wb convert odd odd-f32 --to safetensors --quant F32
python3 -B - <<'P'
import json
was = json.load(open("odd/config.json"))
for name in "odd-mlx", "odd-f32":
    now = json.load(open(f"{name}/config.json"))
    for key in "limits", "none", "n" * 300:
        assert repr(now[key]) == repr(was[key]), key
assert now["torch_dtype"] == "float32"
P
wb convert "$twins/bert" bert --to safetensors --quant F32 --json >answer
wb convert "$twins/bert" bert-mlx --to mlx --quant F16 --json >answer.mlx
for file in answer answer.mlx; do
    grep -q '"code":"convert-left-out"[^}]*"name":"1_Pooling/config.json"' $file
done
wb convert "$twins/bert" bert-copy --to safetensors 2>said
grep -q '1_Pooling/config.json: files in subfolders are not copied' said
