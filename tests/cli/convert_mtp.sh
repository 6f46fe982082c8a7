# golden
# GLM 4.5: the layer that predicts a further token (MTP) follows the layers that config.json counts; llama.cpp counts it.
python3 -B - "$DATA/families/glm4_moe" <<'P'
import json, os, shutil, sys
shutil.copytree(sys.argv[1], "model", copy_function=shutil.copyfile)
data = open("model/model.safetensors", "rb").read()
n = int.from_bytes(data[:8], "little")
found = {}
for name, t in json.loads(data[8:8 + n]).items():
    if name != "__metadata__":
        begin, end = t["data_offsets"]
        found[name] = (t["shape"], data[8 + n + begin:8 + n + end])
for name in list(found):
    if ".layers.1." in name:
        found[name.replace(".layers.1.", ".layers.2.")] = found[name]
for name, shape in {"eh_proj": [16, 32], "enorm": [16], "hnorm": [16], "embed_tokens": [32, 16],
                    "shared_head.head": [32, 16], "shared_head.norm": [16]}.items():
    size = shape[0] * (shape[1] if len(shape) > 1 else 1)
    found[f"model.layers.2.{name}.weight"] = (shape, b"\x80\x3e" * size)
header, blob = {}, b""
for name, (shape, raw) in sorted(found.items()):
    header[name] = {"dtype": "BF16", "shape": shape, "data_offsets": [len(blob), len(blob) + len(raw)]}
    blob += raw
text = json.dumps(header).encode()
open("model/model.safetensors", "wb").write(len(text).to_bytes(8, "little") + text + blob)
P
wb verify model >verified 2>&1 || { cat verified; exit 1; }
! grep layers-beyond-config verified || exit 1
wb convert model model.gguf >/dev/null 2>&1
wb inspect model.gguf --metadata | sed -n 's/ *glm4moe.\(block_count\|nextn_predict_layers\) */\1 /p'
wb inspect model.gguf --names both | grep -c 'blk.2.nextn'
wb convert model.gguf back --to safetensors >/dev/null 2>&1
grep -E '"num_hidden_layers"|"num_nextn_predict_layers"' back/config.json
wb diff model back | sed -n "s/.*; //p"
