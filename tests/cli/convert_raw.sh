# A model whose config names an unknown architecture is converted to another format only with --raw, which copies the
# tensors under their own names. The message without --raw names the family that has most of the tensor names.
rename() { # a family; its model becomes one of the architecture "newmodel"
    rm -rf model
    cp -r "$DATA/families/$1" model
    chmod -R u+w model
    python3 -B - <<'P'
import json
c = json.load(open("model/config.json"))
json.dump(dict(c, model_type="newmodel", architectures=["NewModelForCausalLM"]), open("model/config.json", "w"))
P
}
refused() { # a family, then the arguments of wb convert
    family=$1
    shift
    code=0
    wb convert "$@" 2>message || code=$?
    [ "$code" = 3 ]
    grep -q "\"newmodel\" is unknown; the most similar family is $family, which has" message
    grep -q -e --raw message
}
for family in cohere glm4 nemotron olmo2 phi starcoder2; do
    rename $family
    refused $family model model.gguf
done

# The tensors of all formats keep name, dtype and bytes.
rename qwen2moe
refused llama model mlx --to mlx
wb convert model model.gguf --raw >answer
grep -q architecture-unknown answer
refused llama model.gguf back --to safetensors
refused llama model.gguf model.npz
wb convert model.gguf back --to safetensors --raw
wb convert model mlx --to mlx --raw
for copy in model.gguf back mlx; do
    wb diff model "$copy" | tail -1 | grep '; 0 of 7,088 values differ'
    wb inspect "$copy" --json >answer
    python3 -B - <<'P'
import json, subprocess
of = lambda path: {t["name"]: (t["dtype"], t["shape"]) for t in json.loads(
    subprocess.run(["wb", "inspect", path, "--json"], stdout=subprocess.PIPE, check=True).stdout)["tensors"]}
assert of("model") == {t["name"]: (t["dtype"], t["shape"]) for t in json.load(open("answer"))["tensors"]}
P
done

# An Ollama store has every name and every value without --raw, since nothing is renamed.
for source in model model.gguf; do
    wb convert $source "$source-copy" --to ollama --store store >answer
    grep -q ' exact$' answer
    wb diff model "store/manifests/registry.ollama.ai/library/$source-copy/latest" | tail -1 |
        grep '; 0 of 7,088 values differ'
done

# Other values are allowed, and conversions within a format need no --raw.
wb convert model.gguf small.gguf --quant Q8_0
wb convert model half --to safetensors --quant F16
wb convert model single.gguf --raw --quant F32
wb diff model single.gguf | tail -1 | grep '; 0 of 7,088 values differ'

# Tensors without common names
python3 -B - <<'P'
import json, struct
header = json.dumps({"alpha": {"dtype": "F32", "shape": [2], "data_offsets": [0, 8]}}).encode()
open("model/model.safetensors", "wb").write(struct.pack("<Q", len(header)) + header + bytes(8))
P
code=0
wb convert model other.gguf 2>message || code=$?
[ "$code" = 3 ]
grep -q '"newmodel" is unknown, and no known family has any of its tensor names' message
wb convert model other.gguf --raw

# Files that name no architecture
cp "$DATA/families/qwen2moe/model.safetensors" bare.safetensors
wb convert bare.safetensors bare.gguf | grep 'the files name no architecture'
wb inspect bare.gguf | grep -q blk.0.attn_q.weight

# --raw changes nothing for known architectures.
wb convert "$DATA/families/olmo2" known.gguf --raw
wb inspect known.gguf | grep -q blk.0.attn_q.weight
