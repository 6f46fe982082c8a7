# A GGUF file is imported into an Ollama store, copied there under another name, and exported. The bytes stay the
# same.
models=$DATA/models
wb convert "$models/qwen3-bf16" q.gguf --quant Q4_K_M
wb convert q.gguf q --to ollama --store one --json >answer
python3 -B - <<'P'
import hashlib, json
data = open("q.gguf", "rb").read()
m = json.load(open("one/manifests/registry.ollama.ai/library/q/latest"))
digest = hashlib.sha256(data).hexdigest()
assert m["layers"] == [{"mediaType": "application/vnd.ollama.image.model", "digest": "sha256:" + digest, "size": len(data)}], m
assert open("one/blobs/sha256-" + digest, "rb").read() == data
raw = open("one/blobs/" + m["config"]["digest"].replace(":", "-"), "rb").read()
assert hashlib.sha256(raw).hexdigest() == m["config"]["digest"][7:] and len(raw) == m["config"]["size"]
config = json.loads(raw)
assert config["model_format"] == "gguf" and config["model_family"] == "qwen3" and config["model_families"] == ["qwen3"]
assert config["file_type"] == "Q4_K_M" and config["model_type"][-1] in "KM", config
answer = json.load(open("answer"))
assert answer["totals"]["exact"] == answer["totals"]["tensors"] == len(answer["tensors"]) > 30
P
wb verify -q --deep --store one q
wb convert ollama://q out.gguf --store one
cmp q.gguf out.gguf
# A copy under another name keeps the config; an existing model is not replaced.
python3 -B - <<'P'
import hashlib, json
path = "one/manifests/registry.ollama.ai/library/q/latest"
m = json.load(open(path))
def blob(raw):
    digest = hashlib.sha256(raw).hexdigest()
    open("one/blobs/sha256-" + digest, "wb").write(raw)
    return {"digest": "sha256:" + digest, "size": len(raw)}
m["config"] |= blob(b'{"model_format":"gguf","model_family":"qwen3","renderer":"mine"}')
m["layers"].append({"mediaType": "application/vnd.ollama.image.template"} | blob(b"{{ .Prompt }}!"))
json.dump(m, open(path, "w"))
P
cp -r one both
OLLAMA_MODELS=both wb convert ollama://q r:v2 --to ollama --dry-run | grep -q 'nothing written'
[ ! -e both/manifests/registry.ollama.ai/library/r ]
OLLAMA_MODELS=both wb convert ollama://q r:v2 --to ollama
python3 -B - <<'P'
import json
a = json.load(open("one/manifests/registry.ollama.ai/library/q/latest"))
b = json.load(open("both/manifests/registry.ollama.ai/library/r/v2"))
assert a == b, (a, b)
P
[ "$(ls one/blobs | wc -l)" = "$(ls both/blobs | wc -l)" ]
code=0
OLLAMA_MODELS=both wb convert q.gguf r:v2 --to ollama 2>message || code=$?
[ "$code" = 4 ]
grep -q 'already contains a model with this name' message
# With other types or with splitting, the file is converted and not copied.
OLLAMA_MODELS=both wb convert ollama://q f.gguf --quant F16
[ "$(wb inspect --metadata general.file_type f.gguf)" = 1 ]
! cmp -s q.gguf f.gguf || exit 1
# Ollama does not read split GGUF files, so the parts are merged.
mkdir parts
wb convert q.gguf parts/q.gguf --max-shard-size 300KB
wb convert parts/q-00001-of-*.gguf joined --to ollama --store three
wb convert ollama://joined joined.gguf --store three
cmp joined.gguf q.gguf
[ -z "$(find . -name '.wb*')" ]
# The blob is not a hard link to the file, so an edit of one does not change the other.
wb edit q.gguf --set general.name=mine
! cmp -s q.gguf out.gguf || exit 1
wb verify -q --deep --store one q
wb convert ollama://q out.gguf --store both --force
wb edit out.gguf --set general.name=yours
wb verify -q --deep --store both q
[ -z "$(find . -type f -links +1)" ]
