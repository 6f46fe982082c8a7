# A link in a model's folder that leads outside of it is not followed: nothing outside reaches an output. Links that
# the user names, links inside the folder, and the links of Hugging Face caches are followed.
secret=5e2c3f71
mkdir -p outside/1_Pooling
echo "{\"secret\": \"$secret\", \"chat_template\": \"$secret\"}" >outside/secret
cp outside/secret outside/1_Pooling/config.json
refused() { # code, command: a finding says why; no output has bytes of the file outside
    wanted=$1
    shift
    code=0
    wb "$@" >answer 2>message || code=$?
    [ $code = "$wanted" ] || { echo "$code, not $wanted: wb $*"; cat message; exit 1; }
    grep -Eq 'link-outside|leads outside' answer message || { echo "no finding: wb $*"; cat answer message; exit 1; }
    if grep -rq "$secret" answer message; then echo "leaked: wb $*"; exit 1; fi
}
accepted() {
    code=0
    wb "$@" >answer 2>message || code=$?
    [ $code = 0 ] || { echo "$code: wb $*"; cat message; exit 1; }
    if grep -rq link-outside answer message; then echo "finding: wb $*"; exit 1; fi
}
no_secret() {
    if grep -rq "$secret" "$1"; then echo "leaked into $1"; exit 1; fi
    rm -r "$1"
}
fresh() {
    rm -rf m
    cp -r "$DATA/twins/llama" m
}

# Sidecar files count as missing, and are not copied.
for target in ../outside/secret "$PWD/outside/secret" /proc/self/environ sub/../../outside/secret; do
    for name in chat_template.jinja generation_config.json tokenizer_config.json tokenizer.json notes.txt README.md; do
        fresh
        mkdir m/sub
        ln -sf "$target" m/$name
        case $name in notes.txt | README.md) ;; *) refused 1 verify m ;; esac
        for to in mlx safetensors ollama; do
            case $name$to in *.jinjaollama | *.txtollama | *.mdollama) continue ;; esac
            [ $to = ollama ] && out=a || out=out
            refused 0 convert m $out --to $to --store out
            no_secret out
        done
        case $name in notes.txt | README.md) continue ;; esac
        code=0
        wb convert m out.gguf >answer 2>message || code=$?
        grep -q link-outside answer message
        [ ! -e out.gguf ] || no_secret out.gguf
    done
done
fresh
ln -sf ../outside/secret m/config.json
refused 1 verify m
refused 2 edit m --set a=b
mv m/config.json m/other.json
ln -s other.json m/config.json # a chain of links
refused 1 verify m
fresh
ln -s ../outside/1_Pooling m/1_Pooling # a directory on the way
refused 1 verify m
fresh
ln -s ../outside m/sub
refused 0 convert m out --to mlx
no_secret out

# Weights and indexes
cp -r "$DATA/models/qwen3-4bit-3shards" set
cp -r set whole
mv set/model-00002-of-00003.safetensors outside
ln -s ../outside/model-00002-of-00003.safetensors set
for command in 'inspect' 'verify' 'doctor' 'hash' 'convert --dry-run --to gguf'; do
    for path in set set/model-00001-of-00003.safetensors; do
        case $command in convert*) path="$path out" ;; esac
        refused 2 $command $path
    done
done
# The named shard is followed, and its links do not make the other files more trusted.
accepted verify set/model-00002-of-00003.safetensors
(cd set && accepted verify model-00002-of-00003.safetensors)
mv set/model-00001-of-00003.safetensors outside
ln -s ../outside/model-00001-of-00003.safetensors set
refused 2 verify set/model-00002-of-00003.safetensors
rm -r set
cp -r whole set
ln -sf ../outside/secret set/model.safetensors.index.json
refused 2 verify set
wb convert whole split.gguf --max-shard-size 100K >/dev/null
mkdir parts
mv split-*.gguf parts
mv parts/split-00002-of-*.gguf outside
ln -s ../outside/$(cd outside && ls split-*) parts
refused 2 verify parts
refused 2 verify parts/split-00001-of-*.gguf
accepted verify --follow-links parts

# Manifests of digests
accepted hash --manifest made.json whole
cp -r whole copy
mv copy/model-00003-of-00003.safetensors outside
ln -s ../outside/model-00003-of-00003.safetensors copy
refused 2 verify --manifest made.json copy

# A link inside the folder, also to a directory, and every link that the user names or permits
fresh
mkdir m/data
mv m/model.safetensors m/data
ln -s data/../data//model.safetensors m/model.safetensors
ln -s data m/1_Pooling
accepted verify m
mv m/tokenizer.json m/data
ln -s "$PWD/m/data/tokenizer.json" m # an absolute link
accepted convert m out --to mlx
cmp out/tokenizer.json m/data/tokenizer.json
rm -r out
ln -sf "$PWD/m/../outside/secret" m/tokenizer.json
refused 1 verify m
ln -sf data/tokenizer.json m/tokenizer.json
ln -s m named
accepted verify named
ln -s named/model.safetensors named.safetensors
accepted verify named.safetensors
accepted verify named/model.safetensors
fresh
mv m/tokenizer.json outside
ln -s ../outside/tokenizer.json m
accepted verify --follow-links m
accepted convert --follow-links m out --to mlx
cmp out/tokenizer.json outside/tokenizer.json
rm -r out
mv m/config.json outside
ln -s ../outside/config.json m
accepted edit --follow-links m --set note=kept
grep -q kept outside/config.json

# Hugging Face caches
hub() {
    rm -rf hub
    mkdir -p hub/models--o--n/blobs hub/models--o--n/snapshots/abc/1_Pooling hub/models--o--n/refs
    for file in config.json tokenizer.json model.safetensors; do
        cp "$DATA/twins/llama/$file" hub/models--o--n/blobs/0$file
        ln -s ../../blobs/0$file hub/models--o--n/snapshots/abc/$file
    done
    echo '{}' >hub/models--o--n/blobs/1
    ln -s ../../../blobs/1 hub/models--o--n/snapshots/abc/1_Pooling/config.json
    at=hub/models--o--n/snapshots/abc
}
hub
accepted verify --deep $at
(cd $at && accepted verify .)
(cd $at/1_Pooling && accepted verify ..)
ln -s "$PWD/$at" of-hub
accepted convert of-hub out --to mlx
cmp out/tokenizer.json "$DATA/twins/llama/tokenizer.json"
rm -r out
mkdir -p hub/blobs/ab # the blobs that repositories share
mv hub/models--o--n/blobs/0model.safetensors hub/blobs/ab/cdef
ln -s ../../blobs/ab/cdef hub/models--o--n/blobs/0model.safetensors
accepted verify $at
for target in ../../../../outside/secret ../../blobs/../refs/main ../../refs/main ../../blobs/2 ../../blobs/3/secret \
    "$PWD/hub/models--o--n/blobs/0tokenizer.json" ../../../blobs/ab/cdef; do
    hub
    cp outside/secret hub/models--o--n/refs/main
    ln -s ../../../outside/secret hub/models--o--n/blobs/2
    ln -s ../../../outside hub/models--o--n/blobs/3
    ln -sf "$target" $at/tokenizer.json
    refused 1 verify $at
done
hub
mv hub/models--o--n/blobs elsewhere
ln -s ../../elsewhere hub/models--o--n/blobs
refused 2 verify $at
hub
mv hub/models--o--n hub/other # no name of a cache
refused 2 verify hub/other/snapshots/abc

# Adapters
fresh
PYTHONPATH=$SOURCE/tests/cli python3 -B - <<'P'
import json, struct
data = struct.pack("<f", 0.5) * 2
head = json.dumps({"base_model.model.x.lora_A.weight": {"dtype": "F32", "shape": [1, 2], "data_offsets": [0, 8]}}).encode()
import os
os.mkdir("adapter")
open("adapter/adapter_model.safetensors", "wb").write(struct.pack("<Q", len(head)) + head + data)
P
ln -s ../outside/secret adapter/adapter_config.json
refused 2 convert m out.gguf --lora adapter

# Stores of Ollama
fresh
wb convert m llama --to ollama --store store >/dev/null
accepted verify --store store llama
manifest=$(cd store && find manifests -name latest)
for kind in json tensor; do
    cp -r store stolen
    digest=$(python3 - "$kind" "stolen/$manifest" <<'P'
import json, sys
for layer in json.load(open(sys.argv[2]))["layers"]:
    if layer["mediaType"].endswith(sys.argv[1]) and layer.get("name") not in ("config.json",):
        print(layer["digest"].replace(":", "-"))
        break
P
)
    ln -sf "$PWD/outside/secret" "stolen/blobs/$digest"
    [ $kind = json ] || refused 2 verify --store stolen llama
    [ $kind = tensor ] || { refused 0 convert llama out --to mlx --store stolen; no_secret out; }
    rm -r stolen
done
cp -r store stolen
ln -sf "$PWD/outside/secret" "stolen/$manifest"
refused 2 verify --store stolen llama
refused 1 list --store stolen
rm -r stolen
cp -r store stolen
mkdir outside/tags
ln -s "$PWD/outside/tags" stolen/manifests/outside
touch outside/tags/$secret
wb list --store stolen >answer
if grep -q $secret answer; then exit 1; fi
