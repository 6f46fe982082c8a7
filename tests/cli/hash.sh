# golden: digests as text, JSON and a manifest, and verifying against one
cp -r "$DATA/twins/llama" llama
cp "$DATA/twins/llama.gguf" llama.gguf
run() {
    wb "$@"
    echo "code $?"
}
run hash llama llama.gguf
run hash --no-tensors --json llama.gguf
run hash --files llama
run hash --json llama | python3 -c '
import hashlib, json, sys
answer = json.loads(sys.stdin.readline())
print(sorted(answer), sorted(answer["files"][0]), sorted(answer["tensors"][0]))
print(answer["tensors"][0]["native"], answer["tensors"][0]["shape"])
for file in answer["files"]:
    assert hashlib.sha256(open(file["path"], "rb").read()).hexdigest() == file["sha256"]'
run hash nowhere llama
run hash --manifest m.json llama llama.gguf
run hash --manifest llama.json llama
python3 -c '
import json
m = json.load(open("llama.json"))
parts = m["files"][0]["parts"]
print(sorted(m), m["weighbridge_manifest"], m["chunk_bytes"], len(m["files"]), len(parts))
print(sorted(m["files"][0]), sorted(parts[0]), sorted(parts[1]), sorted(m["values"]))'
run verify --manifest llama.json llama
run verify --manifest nowhere.json llama
echo '{"weighbridge_manifest":1,"chunk_bytes":1048576,"files":[{"name":"../x","bytes":0,"chunks":[]}]}' >bad.json
run verify --manifest bad.json llama
run verify --manifest llama.json llama llama.gguf
# Damaged bytes are reported with the part of the file: the last tensor, the header, the missing end.
python3 - <<'P'
import struct
data = open("llama/model.safetensors", "rb").read()
open("whole", "wb").write(data)
changed = bytearray(data)
changed[-1] ^= 1
open("llama/model.safetensors", "wb").write(changed)
P
run verify --manifest llama.json llama
cp whole llama/model.safetensors
printf '\377' | dd of=llama/model.safetensors bs=1 seek=20 conv=notrunc 2>/dev/null
wb verify --manifest llama.json llama >said
echo "code $?"
grep -c manifest-damage said
grep -v manifest-damage said | head -3
head -c 3000 whole >llama/model.safetensors
wb verify --manifest llama.json llama/model.safetensors >said
echo "code $?"
grep manifest-length said
cp whole llama/model.safetensors
mv llama/model.safetensors llama/other.safetensors
run verify --manifest llama.json llama
# A manifest from standard input gives the same verdict as from a file.
mv llama/other.safetensors llama/model.safetensors
run verify --manifest - llama <llama.json
wb hash --manifest - llama | run verify --manifest - llama
printf '\377' | dd of=llama/model.safetensors bs=1 seek=2700 conv=notrunc 2>/dev/null
for manifest in llama.json -; do
    wb verify --manifest $manifest llama <llama.json >said.$manifest
    echo "code $?"
done
cmp said.llama.json said.-
run verify --manifest - llama <bad.json
run verify --manifest - llama </dev/null
run verify --manifest - - <llama/model.safetensors
run verify --manifest - llama </
