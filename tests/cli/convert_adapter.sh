# An adapter alone is not converted to a model that no program can load; adapters of PEFT, mlx-lm and llama.cpp.
python3 -B - <<'P'
import json, os, struct
def write(path, names):
    header, at = {}, 0
    for name in names:
        header[name] = {"dtype": "F32", "shape": [8, 8], "data_offsets": [at, at + 256]}
        at += 256
    text = json.dumps(header).encode()
    os.makedirs(os.path.dirname(path), exist_ok=True)
    open(path, "wb").write(struct.pack("<Q", len(text)) + text + bytes(at))
peft = "base_model.model.model.layers.0.self_attn.q_proj"
write("peft/adapter_model.safetensors", [f"{peft}.lora_A.weight", f"{peft}.lora_B.weight", "base_model.model.lm_head.weight"])
json.dump({"peft_type": "LORA", "r": 8, "lora_alpha": 16}, open("peft/adapter_config.json", "w"))
write("mlx/adapters.safetensors", ["model.layers.0.self_attn.q_proj.lora_a", "model.layers.0.self_attn.q_proj.lora_b"])
json.dump({"lora_parameters": {"scale": 1, "rank": 8}}, open("mlx/adapter_config.json", "w"))
write("plain/a.safetensors", ["blk.0.attn_q.weight.lora_a", "blk.0.attn_q.weight.lora_b"])
write("mixed/a.safetensors", ["model.layers.0.self_attn.q_proj.lora_a", "model.norm.weight"])
P
wb convert plain/a.safetensors llama.npz
for adapter in peft mlx plain; do
    for target in gguf mlx ollama; do
        for more in '' --dry-run '--quant F16'; do
            code=0
            wb convert $adapter out --to $target --store store $more >out.txt 2>&1 || code=$?
            [ $code = 3 ] && grep -q 'LoRA adapter, which is not a model' out.txt && grep -q -e '--lora ADAPTER' out.txt ||
                { echo "$adapter $target $more: $code"; cat out.txt; exit 1; }
            [ ! -e out ] && [ -z "$(find . -path './store/*' -type f)" ] || exit 1
        done
    done
    wb convert $adapter $adapter.npz
    wb convert $adapter $adapter.out --to safetensors
done
wb convert mixed mixed.gguf 2>&1 | grep -q 'name no architecture' # a model with one such name is not an adapter
