# golden
# The GGUF file of a multimodal model has its text model: the same as that of a folder without the other parts.
make() { # a folder of a text model, the model_type of the whole, prefix of text, prefix of vision, config of vision
    rm -rf model && python3 -B - "$@" <<'P'
import json, os, sys
folder, kind, text, vision, more = sys.argv[1:]
data = open(folder + "/model.safetensors", "rb").read()
n = int.from_bytes(data[:8], "little")
header = json.loads(data[8:8 + n])
header.pop("__metadata__", None)
blob = data[8 + n:]
renamed = {(text + k.removeprefix("model.") if text != "language_model." else text + k) if k != "lm_head.weight"
           else (text + k if text == "language_model." else k): v for k, v in header.items()}
for name, shape in {"patch_embed.proj.weight": [4, 3, 2, 2, 2], "blocks.0.norm1.weight": [4]}.items():
    size = 2
    for side in shape:
        size *= side
    renamed[vision + name] = {"dtype": "BF16", "shape": shape, "data_offsets": [len(blob), len(blob) + size]}
    blob += b"\0" * size
head = json.dumps(renamed).encode()
os.mkdir("model")
open("model/model.safetensors", "wb").write(len(head).to_bytes(8, "little") + head + blob)
config = json.load(open(folder + "/config.json"))
if kind != "mistral3":
    config["model_type"] = kind + "_text"
    config.setdefault("rope_parameters", {})["mrope_section"] = [1, 1, 0]
json.dump({"model_type": kind, "text_config": config, "vision_config": json.loads(more)},
          open("model/config.json", "w"))
P
}
show() {
    wb convert model whole.gguf --force --json | python3 -c '
import json, sys
print([f["message"].split(":")[0] for f in json.load(sys.stdin)["findings"] if f["code"] == "convert-left-out"])'
    wb convert "$1" text.gguf --force >/dev/null 2>&1
    wb diff text.gguf whole.gguf | tail -1
}
make "$DATA/families/ministral3" mistral3 language_model. vision_tower. '{}'
show "$DATA/families/ministral3"
make "$DATA/twins/qwen3" qwen3_vl model.language_model. model.visual. '{"deepstack_visual_indexes": [5, 11, 17]}'
show "$DATA/twins/qwen3"
wb inspect whole.gguf --metadata | grep -E "architecture|dimension_sections|deepstack"
make "$DATA/twins/qwen2" qwen2_5_vl model. visual. '{}'
show "$DATA/twins/qwen2"
wb inspect whole.gguf --metadata | grep -E "architecture|dimension_sections"
