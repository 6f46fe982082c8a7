# golden: diagnoses of what is given in place of a model, and of metadata that programs refuse
python3 -B - <<'P'
import os, struct

def string(s):
    return struct.pack("<Q", len(s)) + s.encode()

def array(kind, items):
    return struct.pack("<IIQ", 9, kind, len(items)) + b"".join(items)

def gguf(name, values, tensors=("t",)):
    out = b"GGUF" + struct.pack("<IQQ", 3, len(tensors), len(values))
    for key, raw in values:
        out += string(key) + raw
    for i, tensor in enumerate(tensors):
        out += string(tensor) + struct.pack("<IQIQ", 1, 8, 0, 32 * i)
    open(name, "wb").write(out + b"\0" * (-len(out) % 32) + b"\0" * 32 * len(tensors))

arch = ("general.architecture", struct.pack("<I", 8) + string("none"))
tokens = ("tokenizer.ggml.tokens", array(8, [string("a"), string("b"), string("c")]))
scores = ("tokenizer.ggml.scores", array(6, [struct.pack("<f", 0)] * 2))
types = ("tokenizer.ggml.token_type", array(5, [struct.pack("<i", 1)] * 4))
gguf("lengths.gguf", [arch, tokens, scores, types])
gguf("equal.gguf", [arch, tokens, ("tokenizer.ggml.scores", array(6, [struct.pack("<f", 0)] * 3))])
gguf("type.gguf", [arch, ("general.file_type", struct.pack("<I", 8) + string("Q4_K_M"))])
gguf("type64.gguf", [arch, ("general.file_type", struct.pack("<IQ", 10, 15))])
gguf("type32.gguf", [arch, ("general.file_type", struct.pack("<II", 4, 15))])
gguf("names.gguf", [arch], ["ok.weight", "../../up", "a/b"])
P
try() {
    echo "\$ wb $*"
    code=0
    wb "$@" >answer 2>message || code=$?
    cat message
    grep -Ev 'config-absent|config.json into|architecture-unknown|no canonical names|: (valid|refused)' answer |
        head -4 || true
    echo "code $code"
}
# Answers of a server that were saved as weights
echo '{"error":"Access to model o/n is restricted. You must be authenticated to access it."}' >a.safetensors
echo 'Access to model o/n is restricted. You must have access to it and be authenticated to access it.' >b.safetensors
printf 'Entry not found' >c.gguf
printf '{"error":"%0300d\033[31m"}' 0 >d.safetensors
echo '{"errors":["other JSON"]}' >e.safetensors
for f in a.safetensors b.safetensors c.gguf d.safetensors e.safetensors; do try verify $f; done
# A Git LFS pointer with the name of a shard, and no other file
mkdir lfs
printf 'version https://git-lfs.github.com/spec/v1\noid sha256:%064d\nsize 12345\n' 0 >lfs/model-00001-of-00002.safetensors
try verify lfs/model-00001-of-00002.safetensors
# A shard of weights without the others is reported as before.
mkdir set
cp "$DATA/twins/llama/model.safetensors" set/model-00001-of-00002.safetensors
try verify set/model-00001-of-00002.safetensors
mkdir pt
printf 'PK\003\004' >pt/pytorch_model.bin
try verify pt
# A truncated file: the number of missing bytes is right.
size=$(wc -c <"$DATA/twins/llama.gguf")
for missing in 1 500 4000; do
    head -c $((size - missing)) "$DATA/twins/llama.gguf" >cut.gguf
    wb verify cut.gguf 2>&1 | grep -q ", $missing too few" || { wb verify cut.gguf; exit 1; }
done
# A Hugging Face cache: the folder of the repository opens the snapshot of `main`.
repository=hub/models--o--n
mkdir -p $repository/blobs $repository/refs $repository/snapshots
for revision in 0123abc 4567def; do mkdir $repository/snapshots/$revision; done
for f in "$DATA"/twins/llama/*; do
    [ -f "$f" ] || continue
    cp "$f" $repository/blobs/
    ln -s ../../blobs/"$(basename "$f")" $repository/snapshots/4567def/
done
try inspect $repository # no refs/main
printf 4567def >$repository/refs/main
wb inspect $repository --config >answer
wb inspect "$DATA/twins/llama" --config >wanted
tail -n +3 wanted >a
tail -n +3 answer >b
cmp a b
for path in $repository "$DATA/twins/llama"; do
    wb hash "$path" | grep -A1 '^all values' | tail -1 >>digests
done
[ "$(sort -u digests | wc -l)" = 1 ] || { echo "the snapshot has other values"; cat digests; }
# A conversion takes also the other files from the snapshot.
wb convert $repository copy --to safetensors >/dev/null
wb convert "$DATA/twins/llama" other --to safetensors >/dev/null
diff -r copy other && [ -e copy/tokenizer.json ] || exit 1
for odd in ../../x 9999999 '' "$(printf '%080d' 0)" .; do
    printf '%s' "$odd" >$repository/refs/main
    try inspect $repository
done
# An Ollama store, and folders near it
mkdir -p home/models/manifests home/models/blobs
for p in home home/models home/models/blobs; do try inspect $p; done
try inspect some --store home
try inspect some --store home/models
# Metadata and names
for f in lengths type type64 type32 names equal; do try verify $f.gguf; done
# In an archive, '/' is usual in names, but not at their start.
python3 -B - <<'P'
import struct, zipfile
for name, keys in (("usual", ["deep/name"]), ("odd", ["/deep/name", "a/../b"])):
    with zipfile.ZipFile(name + ".npz", "w") as z:
        for key in keys:
            head = b"{'descr': '<f4', 'fortran_order': False, 'shape': (1,), }".ljust(117) + b"\n"
            z.writestr(key + ".npy", b"\x93NUMPY\1\0" + struct.pack("<H", len(head)) + head + struct.pack("<f", 1))
P
for f in usual odd; do try verify $f.npz; done
