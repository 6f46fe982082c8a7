# Inputs are never overwritten, under whatever name they are given, and rejected commands leave no files.
cp -r "$DATA/models/qwen3-bf16" m
wb convert m g.gguf >/dev/null
ln g.gguf hard.gguf
ln -s g.gguf link.gguf
ln -s config.json m/other.json
head -c 512 g.gguf >rows.f32
ln -s rows.f32 matrix
snapshot() {
    find . ! -name message ! -name before | sort
    find . -type f ! -name message ! -name before | sort | xargs sha256sum
}
snapshot >before
code() {
    want=$1
    shift
    result=0
    wb "$@" >/dev/null 2>message || result=$?
    [ "$result" -eq "$want" ] || { echo "$* ended with $result"; cat message; exit 1; }
    snapshot | cmp - before || { echo "after $*"; exit 1; }
}
for name in g.gguf hard.gguf link.gguf ./m/../g.gguf; do
    code 4 hash --manifest "$name" g.gguf
    code 4 convert g.gguf "$name"
    code 4 convert g.gguf "$name" --quant Q8_0
    code 4 convert m "$name" --quant Q4_0 --imatrix g.gguf
    code 4 convert m "$name" --lora g.gguf
    code 4 export g.gguf output_norm.weight -o "$name"
    code 4 get g.gguf output_norm.weight -o "$name"
done
code 4 hash --manifest m/model.safetensors m
code 4 codec encode --type Q4_0 --cols 32 --imatrix rows.f32 g.gguf matrix

# Sidecar files are inputs, too.
code 4 convert m m/config.json --to gguf
code 4 convert m m/other.json --to npz
code 4 convert m/model.safetensors m/config.json --to gguf --quant F32
for name in m/config.json m/other.json; do
    code 4 export m model.norm.weight -o "$name"
    code 4 get m model.norm.weight -o "$name"
    code 4 hash --manifest "$name" m
done
code 4 convert m m --to mlx --quant affine4:64 --force

# Adapters (folder or file, with or without a scale) and importance matrices are inputs, too. No output replaces
# them or a folder that contains them.
mkdir adapter matrices
python3 - <<'P'
import json, struct
def save(path, tensors):
    head, data = {}, b""
    for name, shape in tensors.items():
        values = struct.pack("<f", 0.5) * (shape[0] * shape[1])
        head[name] = {"dtype": "F32", "shape": shape, "data_offsets": [len(data), len(data) + len(values)]}
        data += values
    text = json.dumps(head).encode()
    open(path, "wb").write(struct.pack("<Q", len(text)) + text + data)
file = open("m/model.safetensors", "rb")
shapes = json.loads(file.read(struct.unpack("<Q", file.read(8))[0]))
name = "model.layers.0.self_attn.q_proj"
rows, columns = shapes[name + ".weight"]["shape"]
save("adapter/adapter_model.safetensors", {"base_model.model.%s.lora_A.weight" % name: [2, columns],
                                           "base_model.model.%s.lora_B.weight" % name: [rows, 2]})
json.dump({"r": 2, "lora_alpha": 2}, open("adapter/adapter_config.json", "w"))
entry = b"blk.0.attn_q.weight"
open("matrices/m.dat", "wb").write(struct.pack("<ii", 1, len(entry)) + entry + struct.pack("<ii", 1, columns) +
                                   struct.pack("<f", 1.0) * columns)
P
wb convert m merged.gguf --lora adapter:0.5 >/dev/null
ln -s adapter/adapter_model.safetensors adapter.link
ln -s adapter folder.link
snapshot >before
for lora in adapter adapter:0.5 adapter/adapter_model.safetensors ./m/../adapter:2; do
    code 4 convert m adapter/adapter_model.safetensors --lora "$lora"
    grep -q 'an input file' message
    code 4 convert m adapter.link --to gguf --lora "$lora"
    code 4 convert m adapter/adapter_config.json --to gguf --lora "$lora"
    code 4 convert m adapter --to mlx --force --lora "$lora"
    code 4 convert m folder.link --to safetensors --force --lora "$lora"
done
code 4 convert m matrices/m.dat --to gguf --imatrix matrices/m.dat

# A folder that contains an input under another name (hard link or symbolic link, as in caches) is not replaced.
mkdir blobs links adapters lora hard
mv m/model.safetensors blobs/0123
ln -s ../blobs/0123 links/model.safetensors
cp m/*.json links
ln blobs/0123 m/model.safetensors
ln blobs/0123 hard/other
cp adapter/adapter_model.safetensors adapters/4567
ln -s ../adapters/4567 lora/adapter_model.safetensors
cp adapter/adapter_config.json lora
mkdir beside configs
cp m/model.safetensors beside
cp m/config.json configs/89ab
ln -s ../configs/89ab beside/config.json
snapshot >before
for to in mlx safetensors; do
    code 4 convert m links --to $to --force --follow-links
    grep -q 'the output folder contains an input file: choose another output path' message
    code 4 convert links m --to $to --force --follow-links
done
# In these folders the inputs have names that no model has, so they stay.
find . -type f ! -name message ! -name before ! -name sums -exec sha256sum {} + >sums
for to in mlx safetensors; do
    wb convert beside configs --to $to --force --follow-links
    wb convert links blobs --to $to --force --follow-links
    wb convert m hard --to $to --force --follow-links
    wb convert m adapters --to $to --force --follow-links --lora lora 2>message || grep -q 'an input file' message
    sha256sum --quiet -c sums
done
rm -r blobs links adapters lora hard beside configs sums
snapshot >before
code 5 convert m nowhere/g.gguf
code 4 convert m '' --to gguf
mkdir folder
snapshot >before
code 4 convert m folder --to gguf
grep -q 'this path is a folder, but the output is a single file' message

# An option that has no effect is refused, not ignored.
code 4 convert m x.gguf --alignment 64
grep -q 'convert first' message
code 4 convert m x --to mlx --align-tensors
code 4 convert m x --to mlx --quant affine4:64 --imatrix matrices/m.dat
grep -q 'only on the format gguf' message
code 4 convert m x.gguf --generation feb2026
code 4 convert g.gguf x.gguf --align-tensors

# A scale of NaN would make every value of a weight NaN.
for scale in nan inf -inf 1e300; do
    code 4 convert m x.gguf --lora "adapter:$scale"
done
code 3 convert m x.gguf --lora g.gguf
grep -q 'the GGUF file is not an adapter' message
code 5 convert m x.gguf --lora m
grep -q 'adapter_config.json, which contains the scale, is missing' message
code 4 convert m x.npz --max-shard-tensors 5
code 4 convert m x --to safetensors --max-shard-tensors 0
grep -q 'a number of at least 1' message

# A value can be read only from a file that ends, not from a device.
code 2 edit g.gguf --set-file key=/dev/zero
code 5 edit g.gguf --set-file key=folder
grep -q 'folder: cannot read the file: Is a directory' message
esc=$(printf '\033')
code 5 edit g.gguf --set-file "key=${esc}[2J"
! grep -q "$esc" message || exit 1

# Unused inputs are reported: a rule that matches no tensor, an importance matrix of another model.
wb convert m ruled.gguf --quant Q8_0 --rule 'attn_w=Q4_0' --rule 'attn_v|v_proj=Q4_0' --rule 'q_proj=Q5_0' >message 2>&1
[ "$(grep -c 'convert-rule' message)" = 1 ]
grep -q '"attn_w": this rule matches no tensor' message
sed 's/blk.0/blk.x/' matrices/m.dat >other.dat
none='the importance matrix contains none of the tensors'
wb convert m other.gguf --quant Q4_0 --imatrix other.dat 2>&1 | grep -q "$none"
wb convert m other.gguf --quant Q4_0 --imatrix matrices/m.dat --force >message 2>&1
! grep -q "$none" message || exit 1
