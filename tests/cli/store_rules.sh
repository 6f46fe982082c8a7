# Stores that weighbridge writes follow Ollama's rules: the names, the bytes of a manifest, the order of its layers,
# blobs that match the digests in their names, and no blobs without a model.
cat >rules.py <<'P'
import hashlib, json, os, re, sys

# The experts of a layer are in one blob, or in one blob per projection if their encodings differ.
GROUP = re.compile(r"\.(mlp|moe|mixer)\.((experts|switch_mlp)(\.\w+\.weight)?|shared_experts)$")
TEXTS = ["template", "system", "license", "params", "messages"]

def check_blob(name, data, feb):
    n = int.from_bytes(data[:8], "little")
    assert n % 8 == 0, "the header is not padded"
    header = json.loads(data[8:8 + n])
    metadata = header.pop("__metadata__", {})
    assert name in header or (GROUP.search(name) and all(t.startswith(name + ".") for t in header)), name
    lies = sorted(header, key=lambda t: header[t]["data_offsets"])
    at = 0
    for t in lies:
        begin, end = header[t]["data_offsets"]
        assert begin == at, (name, t)
        at = end
    assert 8 + n + at == len(data)
    stems = sorted({re.sub(r"\.(scale|bias|global_scale)$", "", t) for t in header if t + ".scale" in header or
                    re.search(r"\.weight\.(scale|bias|global_scale)$", t)})
    for stem in stems:
        parts = [t for t in lies if t == stem or t.startswith(stem + ".")]
        order = [stem, stem + ".scale", stem + ".bias", stem + ".global_scale"]
        assert parts == [t for t in order if t in header], parts
    if stems and not (feb and GROUP.search(name)):
        assert set(metadata) == {"quant_type", "group_size"}, metadata
        assert metadata["quant_type"] in ("int4", "int8", "nvfp4", "mxfp4", "mxfp8")
    else:
        assert metadata == {}, (name, metadata)

def check(store, models, feb=()):
    assert sorted(os.listdir(store)) == ["blobs", "manifests"]
    found, used = [], set()
    for folder, folders, files in os.walk(store + "/manifests"):
        depth = folder[len(store + "/manifests"):].count("/")
        assert (depth == 3) == bool(files) and bool(folders) == (depth < 3), folder
        found += [os.path.relpath(os.path.join(folder, f), store + "/manifests") for f in files]
    assert sorted(found) == sorted(models), found
    for blob in os.listdir(store + "/blobs"):
        assert re.fullmatch("sha256-[0-9a-f]{64}", blob), blob
        assert hashlib.sha256(open(f"{store}/blobs/{blob}", "rb").read()).hexdigest() == blob[7:]
    for model in found:
        raw = open(f"{store}/manifests/{model}", "rb").read()
        m = json.loads(raw)
        assert raw == json.dumps(m, separators=(",", ":"), ensure_ascii=False).encode() + b"\n"
        assert list(m) == ["schemaVersion", "mediaType", "config", "layers"] and m["schemaVersion"] == 2
        assert m["mediaType"] == "application/vnd.docker.distribution.manifest.v2+json"
        assert m["config"]["mediaType"] == "application/vnd.docker.container.image.v1+json"
        for layer in [m["config"], *m["layers"]]:
            assert list(layer) == ["mediaType", "digest", "size"] + (["name"] if "name" in layer else []), layer
            assert re.fullmatch("sha256:[0-9a-f]{64}", layer["digest"])
            path = f"{store}/blobs/" + layer["digest"].replace(":", "-")
            assert os.path.getsize(path) == layer["size"]
            used.add(os.path.basename(path))
        config = json.load(open(f"{store}/blobs/" + m["config"]["digest"].replace(":", "-")))
        assert "rootfs" not in config
        kinds = [l["mediaType"].removeprefix("application/vnd.ollama.image.") for l in m["layers"]]
        if "model" in kinds:  # a GGUF file, which is all of the weights
            assert kinds.count("model") == 1 and set(kinds) <= {"model", *TEXTS}, kinds
            assert config["model_format"] == "gguf" and config["model_family"] and config["file_type"], config
            continue
        assert config["model_format"] == "safetensors" and "completion" in config["capabilities"]
        names = {k: [l["name"] for l, kind in zip(m["layers"], kinds) if kind == k] for k in ("tensor", "json")}
        rank = [0 if k == "tensor" else 1 if k == "json" else 2 + TEXTS.index(k) for k in kinds]
        assert rank == sorted(rank), kinds
        groups = [n for n in names["tensor"] if GROUP.search(n)]
        plain = [n for n in names["tensor"] if n not in groups]
        assert names["tensor"] == sorted(plain) + sorted(groups), names["tensor"]
        assert names["json"] == sorted(names["json"]) and "config.json" in names["json"]
        assert not [n for n in names["json"] if n.endswith("index.json")]
        for layer, kind in zip(m["layers"], kinds):
            if kind == "tensor":
                data = open(f"{store}/blobs/" + layer["digest"].replace(":", "-"), "rb").read()
                check_blob(layer["name"], data, model in feb)
    assert used == set(os.listdir(store + "/blobs")), "blobs that belong to nothing"

check(sys.argv[1], sys.argv[2].split(), sys.argv[3:])
P
library=registry.ollama.ai/library
from=$DATA/ollama
make() { wb convert "$@" --to ollama --store store >/dev/null; }
make "$from/bf16" plain
make "$from/bf16" four:int4 --quant int4
make "$from/bf16" registry.ollama.ai/me/nv:FP4 --quant nvfp4
make "$from/moe-bf16" localhost:5000/a_b-c/moe.v1:8_bit-x --quant mxfp8
make "$from/moe-bf16" moe --quant int4
make "$from/moe-bf16" feb --quant int4 --generation feb2026
make "$DATA/twins/llama.gguf" fromgguf --quant int8 # as it is it would be a blob of GGUF
make "$DATA/twins/mixtral" mixtral
make "$DATA/models/qwen3-4bit-3shards" mlx
all="$library/plain/latest $library/four/int4 registry.ollama.ai/me/nv/FP4 localhost:5000/a_b-c/moe.v1/8_bit-x
     $library/moe/latest $library/feb/latest $library/fromgguf/latest $library/mixtral/latest $library/mlx/latest"
python3 -B rules.py store "$all" $library/feb/latest

# With an invalid name nothing is written, not even a folder.
long=$(printf '%081d' 0)
for name in '' ' ' .a -a a/b/c/d a//b a:b:c a: :b a/.b:c "$long" "a:$long" a.b/c 'a b' 'ä' ../x a/.. 'x@y'; do
    code=0
    wb convert "$from/bf16" "$name" --to ollama --store other >answer 2>&1 || code=$?
    [ "$code" = 4 ] || { echo "'$name' ended with $code"; cat answer; exit 1; }
    [ ! -e other ]
done

# Model names are case-insensitive, so a store never has two models whose names differ only in case.
code=0
wb convert "$from/bf16" PLAIN:Latest --to ollama --store store 2>message || code=$?
[ "$code" = 4 ] && grep -q 'already contains a model with this name' message || exit 1
make "$from/bf16" Plain --quant int8 --force
make "$DATA/models/qwen3-4bit-3shards" MLX:LATEST --force
ls "store/manifests/$library" >listing
[ "$(wc -l <listing)" = 7 ] || { cat listing; exit 1; }
wb inspect --store store plain --no-tensors | grep -q 'tensors'
