# The digest of all values stays the same in every lossless conversion: to each format, and back.
values() {
    wb hash --no-tensors --json "$1" | sed 's/.*"values":"\([0-9a-f]*\)".*/\1/'
}
same() {
    [ "$(values "$1")" = "$2" ] || { echo "$1: other values"; wb diff --only names,shapes,values "$DATA/twins/$family" "$1"; exit 1; }
}
for family in llama mixtral gemma3 qwen2 qwen3moe phi3 bert; do
    twin=$DATA/twins/$family
    digest=$(values "$twin")
    [ ${#digest} = 64 ]
    same "$twin.gguf" "$digest"
    wb convert "$twin" $family.gguf --to gguf >/dev/null
    same $family.gguf "$digest"
    wb convert $family.gguf $family.back --to safetensors >/dev/null
    same $family.back "$digest"
    wb convert "$twin" $family.mlx --to mlx >/dev/null
    same $family.mlx "$digest"
    # A .npz file contains no config: config.json is a sidecar file, as for a single .safetensors file.
    mkdir $family.npz
    wb convert $family.gguf $family.npz/weights.npz >/dev/null
    cp "$twin/config.json" $family.npz
    same $family.npz "$digest"
    wb convert $family.npz $family.again --to safetensors >/dev/null
    same $family.again "$digest"
    wb convert "$twin" $family.f32 --to safetensors --quant F32 >/dev/null
    same $family.f32 "$digest"
done
family=llama
digest=$(values "$DATA/twins/llama")
wb convert "$DATA/twins/llama" parts --to safetensors --max-shard-size 2K >/dev/null
[ "$(ls parts/*.safetensors | wc -l)" -gt 1 ]
same parts "$digest"
# With every instruction set.
WB_CPU_DISABLE=sha,avx512,avx2 same parts "$digest"
# A lossy conversion changes the digest.
wb convert "$DATA/twins/llama" bf16 --to safetensors --quant BF16 >/dev/null
[ "$(values bf16)" != "$digest" ]
