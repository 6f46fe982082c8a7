# Conversion into an Ollama store. The blobs are compared with the layout of Ollama's Go writer, which this test
# makes with Python's json module. The manifest is written last, no blob is written twice, and nothing is replaced
# without --force.
PYTHONPATH=$SOURCE/tests/cli python3 -B - <<'P'
import glob, hashlib, json, os, struct, subprocess, zoo

def wb(*args, code=0):
    p = subprocess.run(["wb", *args], capture_output=True)
    assert p.returncode == code, (args, p)
    return p.stdout

def blob(metadata, tensors):
    header, at, data = dict(metadata), 0, b""
    for name, dtype, shape, raw in tensors:
        header[name] = {"dtype": dtype, "shape": shape, "data_offsets": [at, at + len(raw)]}
        at, data = at + len(raw), data + raw
    text = json.dumps({k: header[k] for k in sorted(header)}, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    return len(text).to_bytes(8, "little") + text + data

def filled(n, seed):
    return bytes((i * 7 + seed) % 251 for i in range(n))

def expect(store, model, blobs, jsons, file_type):
    manifest = json.load(open(f"{store}/manifests/registry.ollama.ai/library/{model}/latest"))
    layers = []
    for name, data in blobs:
        layers.append({"mediaType": "application/vnd.ollama.image.tensor", "name": name})
        layers[-1].update(digest="sha256:" + hashlib.sha256(data).hexdigest(), size=len(data))
    for name in sorted(jsons):
        data = jsons[name].encode()
        layers.append({"mediaType": "application/vnd.ollama.image.json", "name": name})
        layers[-1].update(digest="sha256:" + hashlib.sha256(data).hexdigest(), size=len(data))
    assert manifest["layers"] == layers, (manifest["layers"], layers)
    for layer in layers + [manifest["config"]]:
        data = open(f"{store}/blobs/" + layer["digest"].replace(":", "-"), "rb").read()
        assert len(data) == layer["size"] and hashlib.sha256(data).hexdigest() == layer["digest"][7:]
    config = json.load(open(f"{store}/blobs/" + manifest["config"]["digest"].replace(":", "-")))
    assert config["model_format"] == "safetensors" and config["file_type"] == file_type, config
    assert "completion" in config["capabilities"]

os.mkdir("hf")
jsons = {"config.json": '{"architectures": ["LlamaForCausalLM"], "model_type": "llama"}',
         "tokenizer_config.json": "{}"}
for name, text in jsons.items():
    open("hf/" + name, "w").write(text)
open("hf/README.md", "w").write("not for a store")
plain = [("model.norm.weight", "BF16", [3], filled(6, 1)), ("lm_head.weight", "F32", [2, 2], filled(16, 2)),
         ("a.q_proj.bias", "F32", [1], filled(4, 3)), ("Z.weight", "F16", [1, 2], filled(4, 4))]
experts = [(f"model.layers.0.mlp.experts.{e}.{p}.weight", "BF16", [2, 3], filled(12, 10 * e + k))
           for e in range(11) for k, p in enumerate(["down_proj", "gate_proj"])]
zoo.save("hf/model.safetensors", plain + experts)
wb("convert", "hf", "one:latest", "--to", "ollama", "--store", "store")
group = "model.layers.0.mlp.experts"
stack = [(f"{group}.{p}.weight", "BF16", [11, 2, 3], b"".join(filled(12, 10 * e + k) for e in range(11)))
         for k, p in enumerate(["down_proj", "gate_proj"])]
blobs = [(t[0], blob({}, [t])) for t in sorted(plain)] + [(group, blob({}, stack))]
expect("store", "one", blobs, jsons, "")
wb("verify", "-q", "--deep", "--store", "store", "one")
before = sorted(os.listdir("store/blobs"))
stamps = [os.stat("store/blobs/" + b).st_mtime_ns for b in before]
assert b"there" not in wb("convert", "hf", "one", "--to", "ollama", "--store", "store", code=4)
wb("convert", "hf", "two", "--to", "ollama", "--store", "store")
wb("convert", "hf", "one", "--to", "ollama", "--store", "store", "--force")
assert before == sorted(os.listdir("store/blobs"))
assert stamps == [os.stat("store/blobs/" + b).st_mtime_ns for b in before]

# The first published format: experts as separate tensors in one blob.
wb("convert", "hf", "feb", "--to", "ollama", "--store", "store", "--generation", "feb2026")
feb = [(t[0], blob({}, [t])) for t in sorted(plain)] + [(group, blob({}, sorted(experts)))]
expect("store", "feb", feb, jsons, "")
# The values are the same in both formats.
for model in "one", "feb":
    wb("export", "--store", "store", model, "layers.0.ffn.experts.down.weight", "--dtype", "f32", "-o", model + ".raw")
assert open("one.raw", "rb").read() == open("feb.raw", "rb").read()

# A quantized MLX model, whose parts get Ollama's names.
os.mkdir("mlx")
jsons["config.json"] = json.dumps({"architectures": ["Qwen3ForCausalLM"], "model_type": "qwen3",
                                   "quantization": {"group_size": 64, "bits": 4, "mode": "affine"}})
for name, text in jsons.items():
    open("mlx/" + name, "w").write(text)
parts = [("lm_head.weight", "U32", [4, 16], filled(256, 5)), ("lm_head.scales", "BF16", [4, 2], filled(16, 6)),
         ("lm_head.biases", "BF16", [4, 2], filled(16, 7)), ("model.norm.weight", "BF16", [3], filled(6, 1))]
zoo.save("mlx/model.safetensors", parts)
wb("convert", "mlx", "q", "--to", "ollama", "--store", "store")
quantized = blob({"__metadata__": {"group_size": "64", "quant_type": "int4"}},
                 [("lm_head.weight", *parts[0][1:]), ("lm_head.weight.scale", *parts[1][1:]),
                  ("lm_head.weight.bias", *parts[2][1:])])
expect("store", "q", [("lm_head.weight", quantized), ("model.norm.weight", blob({}, [parts[3]]))], jsons, "int4")
wb("verify", "-q", "--store", "store", "q")
# A global scale that is a divisor becomes a factor, as Ollama stores it.
os.mkdir("nv")
jsons["config.json"] = json.dumps({"architectures": ["Qwen3ForCausalLM"], "model_type": "qwen3",
                                   "quantization_config": {"quant_method": "compressed-tensors",
                                                           "format": "nvfp4-pack-quantized"}})
for name, text in jsons.items():
    open("nv/" + name, "w").write(text)
zoo.save("nv/model.safetensors", [
    ("lm_head.weight_packed", "U8", [4, 8], filled(32, 8)), ("lm_head.weight_scale", "F8_E4M3", [4, 1], bytes([48, 56, 60, 64])),
    ("lm_head.weight_global_scale", "F32", [1], struct.pack("<f", 3.0)), ("model.norm.weight", "BF16", [3], filled(6, 1))])
report = json.loads(wb("convert", "nv", "nv", "--to", "ollama", "--store", "store", "--json"))["tensors"]
assert [t["fidelity"] for t in report] == ["exact", "lossy", "exact"] and 0 < report[1]["nmse"] < 1e-14, report
third = struct.unpack("<f", struct.pack("<f", 1 / 3))[0]
scales = [float(t.split()[0]) for t in wb("export", "--store", "store", "nv:latest", "lm_head.weight.global_scale",
                                          "--format", "text", "-o", "-").decode().split("\n") if t and t[0] != "#"]
assert len(scales) == 1 and struct.pack("<f", scales[0]) == struct.pack("<f", third), scales
values = [list(struct.unpack("<64f", wb("export", *model, "output.weight", "--dtype", "f32", "--format", "raw", "-o", "-")))
          for model in (["nv"], ["--store", "store", "nv:latest"])]
assert any(values[0]) and all(abs(a - b) <= 1e-6 * abs(a) for a, b in zip(*values)), values

# Packed weights of experts stay separate tensors in blobs of their own, with unchanged global scales.
def to_bytes(*values):
    return struct.pack(f"<{len(values)}f", *values)
os.mkdir("moe")
open("moe/config.json", "w").write(json.dumps({"model_type": "new", "quantization_config": {"quant_algo": "NVFP4"}}))
each = []
for e in range(3):
    w = f"model.layers.0.mlp.experts.{e}.up_proj.weight"
    each.append([(w, "U8", [4, 8], filled(32, e)), (w + "_scale", "F8_E4M3", [4, 1], bytes([48, 56, 60, 64 + e])),
                 (w + "_scale_2", "F32", [], to_bytes(0.1 + e))])
zoo.save("moe/model.safetensors", [t for parts in each for t in parts])
report = json.loads(wb("convert", "moe", "moe", "--to", "ollama", "--store", "store", "--json"))
assert {t["fidelity"] for t in report["tensors"]} == {"exact"} and len(report["tensors"]) == 6, report
info = {"group_size": "16", "quant_type": "nvfp4"}
blobs = [(w[0], blob({"__metadata__": info}, [(w[0], "U32", [4, 2], w[3]), (w[0] + ".scale", "U8", [4, 1], s[3]),
                                              (w[0] + ".global_scale", "F32", [], g[3])])) for w, s, g in each]
expect("store", "moe", blobs, {"config.json": open("moe/config.json").read()}, "nvfp4")
# If an unquantized type is requested, packed weights are decoded.
wb("convert", "moe", "plain", "--to", "ollama", "--store", "store", "--quant", "F32")
a, b = (wb("export", *m, "model.layers.0.mlp.experts.%s" % n, "--dtype", "f32", "--format", "raw", "-o", "-")
        for m, n in ((["moe"], "2.up_proj.weight"), (["--store", "store", "plain"], "up_proj.weight")))
assert any(a) and b[2 * len(a):] == a, (a, b)

# If experts of a layer are missing or differ in shape or dtype, they are not stacked, in any architecture.
def code_of(*tensors):
    zoo.save("moe/model.safetensors", tensors)
    return subprocess.run(["wb", "convert", "moe", "odd", "--to", "ollama", "--store", "store"],
                          capture_output=True).returncode
other = "backbone.layers.2.mixer.experts.{}.w.weight"
whole = [(other.format(e), "F16", [2, 3], filled(12, e)) for e in range(3)]
assert code_of(whole[0], whole[2]) == 3 and code_of(whole[0], whole[2], whole[1]) == 0
assert [l["name"] for l in json.load(open("store/manifests/registry.ollama.ai/library/odd/latest"))["layers"]][0] == \
    "backbone.layers.2.mixer.experts"
assert code_of(whole[0], (other.format(1), "F16", [3, 2], filled(12, 1))) == 3
assert code_of(whole[0], (other.format(1), "BF16", [2, 3], filled(12, 1))) == 3

# Block FP8 becomes mxfp8, as in Ollama.
os.mkdir("fp8")
open("fp8/config.json", "w").write(json.dumps({"model_type": "llama", "quantization_config": {
    "quant_method": "fp8", "weight_block_size": [128, 128]}}))
q = "model.layers.0.self_attn.q_proj.weight"
zoo.save("fp8/model.safetensors", [(q, "F8_E4M3", [128, 128], filled(16384, 1)), (q + "_scale_inv", "F32", [1, 1], to_bytes(0.5)),
                                   ("model.norm.weight", "BF16", [3], filled(6, 1))])
report = json.loads(wb("convert", "fp8", "fp8", "--to", "ollama", "--store", "store", "--json"))
assert [t["to"] for t in report["tensors"]] == ["mxfp8", "BF16"], report

assert wb("convert", "hf", "bad name", "--to", "ollama", "--store", "store", code=4) == b""
assert not glob.glob("store/**/.wb*", recursive=True) and not glob.glob(".wb*")
P

# A conversion from a store to a folder also copies the sidecar files.
for name in llama gemma3; do
    wb convert "$DATA/twins/$name" $name --to ollama --store both
    wb convert --store both $name $name-out --to safetensors
    for file in config.json tokenizer.json tokenizer_config.json; do
        [ -s $name-out/$file ] || { echo "$name-out has no $file"; exit 1; }
    done
    python3 -B - "$DATA/twins/$name/config.json" $name-out/config.json <<'P'
import json, sys
assert json.load(open(sys.argv[1])) == json.load(open(sys.argv[2]))
P
    wb diff --only values "$DATA/twins/$name" $name-out
done
result=0
wb convert --store both llama aligned --to safetensors --alignment 4096 2>message || result=$?
[ $result -eq 4 ] && [ ! -e aligned ] && grep -q 'convert first' message || exit 1
