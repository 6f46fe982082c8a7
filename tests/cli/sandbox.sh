# --sandbox: every command that has this option gives the same output as without it, and writes no files.
case $(uname -m) in x86_64 | aarch64) ;; *) exit 0 ;; esac
ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0 # looking for leaks takes another process
export ASAN_OPTIONS
wb inspect --sandbox --json "$DATA/bad/gguf" >/dev/null 2>err || true
! grep -q 'no sandbox\|--sandbox needs' err || exit 0
for command in inspect verify doctor hash; do
    for path in "$DATA"/models/* "$DATA"/npy/*.npz "$DATA"/bad/safetensors/a0* "$DATA"/listings/store; do
        code=0
        wb $command "$path" >plain.out 2>plain.err || code=$?
        confined=0
        wb $command --sandbox "$path" >out 2>told || confined=$?
        grep -v Landlock told >err || true # the warning of systems without Landlock
        [ $code = $confined ] || { echo "wb $command $path: $code, in the sandbox $confined"; exit 1; }
        cmp plain.out out
        cmp plain.err err
    done
done
model=$(find "$DATA/models" -name '*.safetensors' | LC_ALL=C sort | head -n 1)
wb inspect - <"$model" >plain.out || true
wb inspect --sandbox - <"$model" >out || true
cmp plain.out out
wb hash --manifest manifest.json "$DATA/models/qwen3-bf16"
wb verify --sandbox --manifest - "$DATA/models/qwen3-bf16" <manifest.json | grep sound
# A model in a Hugging Face cache, a model in a store, patterns, and a file that is named alone
same() {
    code=0
    wb "$@" >plain.out 2>plain.err || code=$?
    command=$1
    shift
    confined=0
    wb "$command" --sandbox "$@" >out 2>told || confined=$?
    grep -v Landlock told >err || true
    [ $code = $confined ] || { echo "$command $*: $code, in the sandbox $confined"; cat told; exit 1; }
    cmp plain.out out
    cmp plain.err err
}
repository=hub/models--o--n
mkdir -p $repository/snapshots/r1 $repository/blobs store
for file in "$DATA"/models/gemma3-4bit/*; do
    cp "$file" "$repository/blobs/${file##*/}.etag"
    ln -s "../../blobs/${file##*/}.etag" "$repository/snapshots/r1/${file##*/}"
done
for path in $repository/snapshots/r1 $repository/snapshots/r1/model.safetensors 'hub/*/snapshots/r1/*.safetensors' \
    none "$DATA/models/gemma3-4bit/model.safetensors"; do
    same inspect "$path"
    same verify "$path"
done
(cd $repository/snapshots/r1 && for path in . model.safetensors; do wb inspect --sandbox $path >../out && wb inspect $path | cmp - ../out; done)
# Names of folders that occur twice in the path, and a repository whose blobs are shared with others
mkdir -p snapshots manifests/in
mv hub snapshots/
cp -r "$DATA/listings/store" manifests/in/
repository=snapshots/$repository
same inspect $repository/snapshots/r1
find manifests/in/store/manifests -type f | LC_ALL=C sort | while read -r path; do
    same inspect "$path"
done
mkdir -p $repository/../blobs/shared
for file in $repository/blobs/*; do
    mv "$file" $repository/../blobs/shared/
    ln -s "../../blobs/shared/${file##*/}" "$file"
done
mkdir -p $repository/refs
printf r1 >$repository/refs/main
same inspect $repository/snapshots/r1
same inspect $repository
same list --store "$DATA/listings/store"
same diff $repository/snapshots/r1 "$DATA/models/gemma3-4bit"
# A link to another file is not readable, even if the library followed it.
cp -r "$DATA/models/gemma3-4bit" linked
mv linked/config.json kept.json
ln -s "$PWD/kept.json" linked/config.json
wb inspect --sandbox linked >out 2>&1 || true
grep -q 'link-outside' out || { cat out; exit 1; }
same inspect --follow-links linked
# A command without an output writes nothing.
code=0
wb hash --sandbox --manifest made.json "$DATA/models/gemma3-4bit" >/dev/null 2>err || code=$?
[ $code = 5 ] && [ ! -e made.json ] || { cat err; exit 1; }
# Commands with an output write the same files as without the sandbox, and also replace them.
writes() {
    command=$1
    shift
    for option in "" --sandbox; do
        mkdir -p "made$option"
        (cd "made$option" && wb "$command" $option "$@" >out 2>err) || { echo "$command $*"; cat "made$option/err"; exit 1; }
        sed -i '/Landlock/d' "made$option/err"
    done
    diff -r made made--sandbox
}
twin=$DATA/twins/llama
umask 022
for again in 1 2; do
    force=$([ $again = 1 ] || echo --force)
    writes convert $force "$twin" model.gguf --quant Q8_0
    writes convert $force "$twin" folder/ --to safetensors
    writes convert $force "$twin" mlx --to mlx
    writes convert $force "$twin" shards --to safetensors --max-shard-size 1KiB
    writes convert $force "$twin" model.npz
    writes convert $force "$twin" "$PWD/made/../unused.gguf" --dry-run
    writes get "$twin" model.embed_tokens.weight --policy keep -o get.bin
    writes export "$twin" model.norm.weight -o norm.npy
    for folder in made made--sandbox; do # a folder of the user in the replaced folder
        mkdir -p $folder/mlx/onnx
        echo text >$folder/mlx/onnx/notes
    done
done
writes convert --force model.gguf copy.gguf
writes convert "$twin" - --to safetensors
writes export "$twin" model.norm.weight -o /dev/null --format raw
mkdir peft
PYTHONPATH=$SOURCE/tests/cli python3 -B - "$twin/config.json" <<'P'
import json, sys
from engine import write
n = json.load(open(sys.argv[1]))["hidden_size"]
name = "base_model.model.model.layers.0.self_attn.q_proj.lora_"
write("peft/adapter_model.safetensors", {name + "A.weight": ("F32", [1, n], b"\0\0\0?" * n),
                                         name + "B.weight": ("F32", [n, 1], b"\0\0\0?" * n)})
json.dump({"r": 1, "lora_alpha": 1}, open("peft/adapter_config.json", "w"))
P
writes convert "$twin" lora.gguf --quant F32 --lora "$PWD/peft:0.5"
wb convert --sandbox "$twin" kept.gguf --discard
# The output replaces the target of a link.
mkdir target
: >target/model.gguf
ln -s target/model.gguf link.gguf
wb convert --sandbox --force "$twin" link.gguf >/dev/null 2>&1
wb convert "$twin" plain.gguf >/dev/null 2>&1
cmp target/model.gguf plain.gguf
[ -L link.gguf ]
# An Ollama store
mkdir store1 store2 # the sandbox cannot create the folder of a store
wb convert "$twin" test:1 --to ollama --store store1 >/dev/null 2>&1
wb convert --sandbox "$twin" test:1 --to ollama --store store2 >/dev/null 2>&1
diff -r store1 store2
