# An output never becomes part of the folder that is converted.
cp -r "$DATA/twins/llama" in
find in -type f -exec sha256sum {} + | sort >before
refused() {
    code=0
    wb convert "$@" >answer 2>message || code=$?
    [ $code = 4 ] || { echo "$code: $*"; cat message; exit 1; }
    grep -q 'inside the folder of the model' message
    find in -type f -exec sha256sum {} + | sort >after
    cmp before after
    [ -z "$(find in -mindepth 1 -type d)" ]
}
ln -s in link
mkdir elsewhere
for option in '' --dry-run --force; do
    for to in mlx safetensors; do
        for out in in/sub in/../in/sub ./in//sub link/sub "$PWD/in/sub"; do
            refused in "$out" --to $to $option
            refused link "$out" --to $to $option
        done
        (cd in && refused() { code=0; wb convert "$@" 2>../message || code=$?; [ $code = 4 ]; grep -q 'inside the folder' ../message; } &&
            refused . sub --to $to $option)
    done
    refused in in/other.safetensors $option
    refused in in/model-2.safetensors $option --quant F16
done
# Allowed: next to the folder, a folder whose name begins with the same text, files of other formats, files as input
wb convert in insub --to mlx
wb convert in in/../sub --to mlx
wb convert in in/model.gguf --quant F16
(cd in && wb convert . m.gguf)
rm in/*.gguf
wb convert in/model.safetensors in/copy.safetensors
rm in/copy.safetensors
wb convert in elsewhere/out --to safetensors
find in -type f -exec sha256sum {} + | sort >after
cmp before after
