# The parts of a split GGUF file become one blob of a store, with the bytes of the file before the split.
wb convert "$SOURCE/demo/tiny-pycode" whole.gguf --quant Q4_K_M >/dev/null
wb convert "$DATA/twins/qwen3moe.gguf" aligned.gguf --alignment 256 # padding between tensors
mkdir parts
for file in aligned whole; do
    digest=$(sha256sum $file.gguf | cut -d ' ' -f 1)
    for size in 5 20; do
        rm -rf parts store
        mkdir parts
        wb convert $file.gguf parts/$file.gguf --max-shard-tensors $size
        last=$(ls parts | tail -1)
        for path in parts parts/"$last"; do
            rm -rf store
            wb convert "$path" m --to ollama --store store --json >answer
            python3 -c 'import json; a = json.load(open("answer"))["totals"]; assert a["exact"] == a["tensors"] > 20, a'
            [ -e store/blobs/sha256-"$digest" ] && [ "$(ls store/blobs | wc -l)" = 2 ] || exit 1
        done
    done
    wb convert ollama://m back.gguf --store store --force
    cmp back.gguf $file.gguf
done
# One part is missing: the model is not opened. With --quant, the tensors are converted one by one.
wb convert parts q --to ollama --store store --quant int8 --json | grep -q '"to":"affine8:64"'
rm parts/"$last"
code=0
wb convert parts n --to ollama --store store 2>message || code=$?
[ $code = 2 ] && grep -q 'missing from the folder' message || exit 1
