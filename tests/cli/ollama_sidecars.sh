# A folder imported into an Ollama store: chat_template.jinja becomes a layer, and files without a place are reported.
cp -rL "$DATA/twins/llama" hf
python3 - <<'P'
import json
config = json.load(open("hf/tokenizer_config.json"))
config.pop("chat_template", None)
json.dump(config, open("hf/tokenizer_config.json", "w"))
P
printf '{{ messages[0].content }}\n{%% if tools %%}é{%% endif %%}\n' >hf/chat_template.jinja
echo pieces >hf/tokenizer.model
echo words >hf/vocab.txt
echo readme >hf/README.md
echo hidden >hf/.gitattributes
mkdir hf/1_Pooling
echo '{}' >hf/1_Pooling/config.json

wb convert hf m --to ollama --store store --json >answer
cat >check.py <<'P'
import glob, json, sys
answer = json.load(open("answer"))
left = {f["name"]: f["severity"] for f in answer["findings"] if f["code"] == "convert-left-out"}
assert left == {"tokenizer.model": "warning", "vocab.txt": "warning", "README.md": "info",
                "1_Pooling/config.json": "warning"}, left
manifest = json.load(open(glob.glob("store/manifests/*/*/m/latest")[0]))
layers = {l["name"]: l for l in manifest["layers"] if l["mediaType"] == "application/vnd.ollama.image.json"}
assert set(layers) == {"chat_template.jinja", "config.json", "tokenizer.json", "tokenizer_config.json"}, layers
blob = open("store/blobs/" + layers["chat_template.jinja"]["digest"].replace(":", "-"), "rb").read()
assert blob == open("hf/chat_template.jinja", "rb").read()
# Ollama parses layers of this type as templates of Go.
assert not any(l["mediaType"].endswith(".template") for l in manifest["layers"])
P
python3 check.py
# The command reads the layer, and the way back to a folder has the file.
wb inspect --template --store store m >text
cmp text hf/chat_template.jinja
wb verify --store store m | grep -q sound
wb convert ollama://m back --to safetensors --store store
cmp back/chat_template.jinja hf/chat_template.jinja
# A second import from the store keeps the layer.
wb convert ollama://m copy --to ollama --store store
wb inspect --template --store store copy | cmp - hf/chat_template.jinja
# The warnings are printed, and the info is not.
wb convert hf n --to ollama --store store 2>&1 | tee shown | grep -q 'tokenizer.model'
! grep -q README.md shown || exit 1
wb convert hf o --to ollama --store store -v 2>&1 | grep -q README.md
# The same for a source whose template is only in its metadata.
wb convert hf template.gguf --to gguf
wb convert template.gguf g --to ollama --quant F16 --store store
wb inspect --template --store store g | cmp - hf/chat_template.jinja
# -v also lists every tensor and its error.
wb convert hf p --to ollama --store store --quant F16 -v 2>&1 | grep -q 'model.layers.1.mlp.up_proj.weight .* exact$'
wb convert "$SOURCE/demo/tiny-pycode" q.gguf --quant Q4_0 -v 2>&1 | grep -q 'blk.1.ffn_up.weight .*Q4_0 .* lossy, NMSE 0.00'
