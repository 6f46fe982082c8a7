# wb convert of a model on a hub: the result is the same as that of the local model, the tensors are fetched once, nothing
# is stored on the disk but the result, the memory is limited, and a conversion that was killed continues.
. "$SOURCE/tests/net/servers.sh"
has_network || exit 77
mkdir -p hub/o/m
python3 - "$DATA/models/qwen3-bf16" hub/o/m <<'P'
import json, random, shutil, struct, sys
source, folder = sys.argv[1:]
random.seed(4)
config = json.load(open(source + "/config.json"))
config.update(hidden_size=1024, intermediate_size=3072, num_attention_heads=16, num_key_value_heads=8)
json.dump(config, open(folder + "/config.json", "w"))
H, F, K = 1024, 3072, 512
shapes = [{"model.embed_tokens.weight": [512, H], "model.norm.weight": [H]}]
for i in range(3):
    p = f"model.layers.{i}."
    shapes.append({p + "input_layernorm.weight": [H], p + "post_attention_layernorm.weight": [H],
                   p + "self_attn.q_norm.weight": [64], p + "self_attn.k_norm.weight": [64],
                   p + "self_attn.q_proj.weight": [H, H], p + "self_attn.k_proj.weight": [K, H],
                   p + "self_attn.v_proj.weight": [K, H], p + "self_attn.o_proj.weight": [H, H],
                   p + "mlp.gate_proj.weight": [F, H], p + "mlp.up_proj.weight": [F, H],
                   p + "mlp.down_proj.weight": [H, F]})
signs = bytes(0x3C if i % 2 else 0xBC for i in range(256))
index = {}
for n, part in enumerate(shapes, 1):
    name, header, data = f"model-{n:05}-of-00004.safetensors", {}, b""
    for tensor, shape in part.items():
        count = shape[0] * (shape[1] if len(shape) > 1 else 1)
        values = bytearray(2 * count)
        values[0::2], values[1::2] = random.randbytes(count), random.randbytes(count).translate(signs)
        header[tensor] = {"dtype": "BF16", "shape": shape, "data_offsets": [len(data), len(data) + len(values)]}
        data, index[tensor] = data + bytes(values), name
    text = json.dumps(header).encode()
    open(f"{folder}/{name}", "wb").write(struct.pack("<Q", len(text)) + text + data)
json.dump({"metadata": {}, "weight_map": index}, open(folder + "/model.safetensors.index.json", "w"))
P
start_hub hub
size=$(cat hub/o/m/*.safetensors | wc -c)

sent() { # the number of bytes that the content server has sent
    control /_log | python3 -c 'import json, sys; print(sum(e["sent"] for e in json.load(sys.stdin) if e["where"] == "cdn"))'
}
convert() { # OUTPUT: prints the peak of the memory in KiB
    python3 - "$1" <<'P'
import resource, subprocess, sys
subprocess.run(["wb", "convert", "hf://o/m", sys.argv[1], "--to", "gguf", "--quant", "Q4_K_M", "--max-memory", "32M"],
               check=True, stdout=subprocess.DEVNULL)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
P
}
wb convert hub/o/m local.gguf --to gguf --quant Q4_K_M >/dev/null
ls >before
rules '[]'
peak=$(convert remote.gguf)
cmp local.gguf remote.gguf
n=$(sent)
echo "fetched $n of $size bytes; peak $peak KiB"
[ "$n" -le $((size * 105 / 100)) ]
# The limit, the cache of 64 MiB for fetched bytes, and the program itself. Sanitizers need memory of their own.
case $PWD in
*/build/dev/*) [ "$peak" -le $(((32 + 64 + 48) * 1024)) ] ;;
esac
rm remote.gguf
if ls -A | grep -v -x -F -f before | grep -v -x before; then exit 1; fi

# Killed at about half of the bytes, and continued: what was converted is not fetched again.
rules '[{"where":"cdn","fault":"slow","rate":5e6}]'
wb convert hf://o/m killed.gguf --to gguf --quant Q4_K_M --max-memory 32M >/dev/null 2>&1 &
pid=$!
i=0
while [ "$(sent)" -lt $((size / 2)) ]; do
    i=$((i + 1))
    [ $i -lt 600 ] || { echo "nothing arrives"; exit 1; }
    sleep 0.05
done
kill -9 $pid
wait $pid || true
[ ! -e killed.gguf ]
rest=$(sent)
control /_rules '[]' >/dev/null
wb convert hf://o/m killed.gguf --to gguf --quant Q4_K_M --max-memory 32M >/dev/null
cmp local.gguf killed.gguf
n=$(sent)
echo "killed after $rest bytes: fetched $n of $size bytes in total"
# Bytes that were fetched ahead, but not converted yet, are lost.
[ "$n" -le $((size * 5 / 4)) ]
