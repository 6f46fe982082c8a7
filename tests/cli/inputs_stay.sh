# Nothing that is read is ever written over, by whatever name, and what is refused leaves nothing behind.
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

# What lies beside the weights is read, too.
code 4 convert m m/config.json --to gguf
code 4 convert m m/other.json --to npz
code 4 convert m/model.safetensors m/config.json --to gguf --quant F32
for name in m/config.json m/other.json; do
    code 4 export m model.norm.weight -o "$name"
    code 4 get m model.norm.weight -o "$name"
    code 4 hash --manifest "$name" m
done
code 4 convert m m --to mlx --quant affine4:64 --force
code 5 convert m nowhere/g.gguf
code 4 convert m '' --to gguf
mkdir folder
snapshot >before
code 5 convert m folder --to gguf

# An option that would change nothing is refused rather than passed over.
code 4 convert m x.gguf --alignment 64
grep -q 'convert first' message
code 4 convert m x --to mlx --align-tensors
code 4 convert m x.npz --max-shard-tensors 5
code 4 convert m x --to safetensors --max-shard-tensors 0
grep -q 'a number from 1 on' message

# A file that is a value has an end.
code 2 edit g.gguf --set-file key=/dev/zero
code 5 edit g.gguf --set-file key=folder
grep -q 'folder: cannot read the file: Is a directory' message
esc=$(printf '\033')
code 5 edit g.gguf --set-file "key=${esc}[2J"
! grep -q "$esc" message

