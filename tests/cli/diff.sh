# golden: the output of wb diff
cp -r "$DATA/twins/llama" a
cp -r "$DATA/twins/llama" b
python3 -B - <<'P'
import json, struct
path = "b/model.safetensors"
data = open(path, "rb").read()
n, = struct.unpack("<Q", data[:8])
header, body = json.loads(data[8:8 + n]), bytearray(data[8 + n:])
t = header["model.layers.1.mlp.up_proj.weight"]
struct.pack_into("<e", body, t["data_offsets"][0], 100.0)
t = header["model.layers.0.mlp.up_proj.weight"]
struct.pack_into("<e", body, t["data_offsets"][0], float("inf"))
header["model.norm.weight"]["dtype"] = "BF16"
header["more.weight"] = header.pop("model.layers.0.self_attn.k_proj.weight")
t = header["model.layers.1.mlp.down_proj.weight"]
t["shape"] = t["shape"][::-1]
header["__metadata__"] = {"made by": "a\033[31m test"}
text = json.dumps(header).encode()
open(path, "wb").write(struct.pack("<Q", len(text)) + text + body)
config = json.load(open("b/config.json"))
config["rope_theta"] = 12345.5
config["num_hidden_layers"] = 3
json.dump(config, open("b/config.json", "w"))
P
run() {
    wb diff "$@"
    echo "code $?"
}
run a a
run a b
run --only values,names a b
run --only encodings a b
run --only shape a b
run --only '' a b
run a nowhere
run a
run - -
run --json --only config,metadata a b
wb diff --json a b | python3 -c '
import json, sys
answer = json.loads(sys.stdin.read())
print(sorted(answer), answer["differs"])
for t in answer["tensors"][:5]:
    print(t["name"], t["differs"], t["a"] and t["a"]["encoding"], t["b"] and t["b"]["shape"], t.get("nmse"))
print(sorted(answer["totals"]))'
cat a/model.safetensors | wb diff --only values - a
echo "code $?"
