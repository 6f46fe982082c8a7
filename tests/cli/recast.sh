# Conversion to other formats and types: the results of llama.cpp and mlx-lm, and the report.
models=$DATA/models
twins=$DATA/twins
code() {
    want=$1
    shift
    result=0
    wb "$@" >answer 2>message || result=$?
    [ "$result" -eq "$want" ] || { echo "$* ended with $result"; cat answer message; exit 1; }
}

# A folder is converted to GGUF, back to a folder, and to MLX; every result is valid.
wb convert "$models/qwen3-bf16" q.gguf >answer
grep -q '^q.gguf: gguf, 35 tensors, .*: 35 exact$' answer
wb verify -q q.gguf
wb convert q.gguf back --to safetensors
wb verify -q back
wb convert q.gguf q4 --to mlx --quant affine4:64
wb verify -q q4
wb inspect --config q4 | grep -q 'quant_bits *4'
for from in q4 "$models/qwen3-4bit-3shards"; do
    wb export "$from" model.layers.1.mlp.down_proj.weight --dtype f32 -o "$(basename "$from").raw"
done
cmp q4.raw qwen3-4bit-3shards.raw

# A file type and its fallbacks for short rows; the numbers in the header.
wb convert "$models/qwen3-bf16" k.gguf --quant q4_k_m --json >answer
python3 -B - <<'P'
import json
a = json.load(open("answer"))
rows = {t["name"]: t for t in a["tensors"]}
assert a["written"] is True and a["to"] == "gguf" and a["quant"] == "q4_k_m"
q, norm = rows["blk.0.attn_q.weight"], rows["output_norm.weight"]
assert (q["from"], q["to"], q["in_place_of"], q["fidelity"]) == ("BF16", "Q5_0", "Q4_K", "lossy"), q
assert 0 < q["nmse"] < 0.01 and 0.99 < q["cosine"] < 1 and q["max_error"] > 0
assert (norm["to"], norm["fidelity"], norm["nmse"]) == ("F32", "exact", 0)
total = a["totals"]
assert total["tensors"] == len(rows) == total["exact"] + total["lossy"] + total["repacked"]
assert total["bytes"] == sum(t["bytes"] for t in a["tensors"]) and total["fallbacks"] > 0
P
[ "$(wb inspect --metadata general.file_type k.gguf)" = 15 ]
code 3 convert "$models/qwen3-bf16" no.gguf --quant Q4_K_M --strict
grep -q 'blk\.\|token_embd\|output' message
[ ! -e no.gguf ]

# Rules, the plan alone, and less memory with the same result.
wb convert "$models/qwen3-bf16" r.gguf --quant Q8_0 --rule 'attn_(q|k)=Q4_0' --rule 'blk\.0\.attn_k=Q5_0' --dry-run >plan
[ ! -e r.gguf ]
grep -q 'blk.1.attn_k.weight .* BF16  Q4_0' plan
grep -q 'blk.0.attn_k.weight .* BF16  Q5_0' plan
grep -q 'nothing written' plan
wb convert "$models/qwen3-bf16" a.gguf --quant Q8_0
wb convert "$models/qwen3-bf16" b.gguf --quant Q8_0 --max-memory 1KiB
cmp a.gguf b.gguf

# Several output files, and a file that is replaced.
code 5 convert "$models/qwen3-bf16" parts/q.gguf --quant F32
mkdir parts
wb convert "$models/qwen3-bf16" parts/q.gguf --quant F32 --max-shard-size 1MB
[ "$(ls parts | wc -l)" -gt 1 ]
wb verify -q parts/*.gguf
wb convert "$models/qwen3-bf16" q.gguf --quant F32 --force
wb convert parts/q-00001-of-*.gguf whole.gguf
for from in q.gguf whole.gguf; do
    wb export $from blk.1.ffn_down.weight --format raw -o $from.raw
done
cmp q.gguf.raw whole.gguf.raw

# RoPE scaling of Llama 3.1 (four numbers in config.json, a tensor in GGUF) survives a round trip.
cp -r "$models/llama-tied-float16-4bit" rope
chmod -R u+w rope
for numbers in '8.0 8192' '32.0 8192' '4.0 3000'; do
    python3 -B - "$models/llama-tied-float16-4bit/config.json" $numbers <<'P'
import json, sys
config = json.load(open(sys.argv[1])) | {"rope_theta": 500000.0}
config["rope_scaling"] = {"factor": float(sys.argv[2]), "high_freq_factor": 4.0, "low_freq_factor": 1.0,
                          "original_max_position_embeddings": int(sys.argv[3]), "rope_type": "llama3"}
json.dump(config, open("rope/config.json", "w"))
P
    rm -rf rope.back
    wb convert rope rope.gguf --force
    wb convert rope.gguf rope.back --to safetensors --force
    wb convert rope.back again.gguf --force
    for file in rope again; do
        wb export $file.gguf rope_freqs.weight --format raw -o $file.raw
    done
    cmp rope.raw again.raw
    python3 -B - <<'P'
import json
a, b = (json.load(open(f"{f}/config.json"))["rope_scaling"] for f in ("rope", "rope.back"))
assert a == b, (a, b)
P
done

# Weights packed by other programs are decoded.
python3 -B - "$DATA/golden/hub" <<'P'
import json, os, struct, sys
kinds = {"awq_g64_f16": {"quant_method": "awq", "bits": 4, "group_size": 64},
         "gptq_act_order": {"quant_method": "gptq", "bits": 4, "group_size": 32, "desc_act": True},
         "fp8_128": {"quant_method": "fp8", "weight_block_size": [128, 128]}}
for kind, config in kinds.items():
    raw = open(os.path.join(sys.argv[1], kind + ".safetensors"), "rb").read()
    n, = struct.unpack("<Q", raw[:8])
    header = {"m.v" if k == "values" else "m." + k: v for k, v in json.loads(raw[8:8 + n]).items()}
    text = json.dumps(header).encode()
    os.mkdir(kind)
    with open(kind + "/model.safetensors", "wb") as f:
        f.write(struct.pack("<Q", len(text)) + text + raw[8 + n:])
    json.dump({"quantization_config": config}, open(kind + "/config.json", "w"))
P
for kind in awq_g64_f16 gptq_act_order fp8_128; do
    wb convert $kind $kind.f32 --to safetensors --quant F32
    wb export $kind.f32 m.weight --format raw -o got.raw
    stored=m.qweight
    [ $kind != fp8_128 ] || stored=m.weight
    wb export $kind $stored --dtype f32 --format raw -o want.raw
    cmp got.raw want.raw
    ! grep -q quantization_config $kind.f32/config.json || exit 1
done

# A killed run continues when the command runs again, and reports this; the result is the same.
mkdir killed
code=0
( ulimit -f 100; wb convert "$models/qwen3-bf16" killed/a.gguf --quant F32 ) >answer 2>message || code=$?
[ "$code" = 5 ]
grep -q 'killed/a.gguf' message
wb convert "$models/qwen3-bf16" killed/a.gguf --quant F32
cmp q.gguf killed/a.gguf
[ "$(ls -A killed)" = a.gguf ]

# Rejected requests.
code 4 convert "$twins/llama" x --to gguf --quant Q4_K_X
grep -q 'unknown quantization "Q4_K_X"' message
code 4 convert "$twins/llama" x.gguf --rule 'attn'
code 4 convert "$twins/llama" x.gguf --rule '(=Q4_0'
grep -q 'not a valid regular expression' message
code 4 convert "$twins/llama" - --to mlx
code 4 convert "$twins/llama" x.safetensors --to mlx
code 4 convert "$twins/llama" q4 --to mlx
grep -q 'exists' message
code 5 convert "$twins/llama" x.gguf --imatrix nowhere.dat
wb convert "$twins/llama" q4 --to mlx --force
[ ! -e q4/model-00001-of-00003.safetensors ] && [ -e q4/config.json ] || exit 1

# Weights without a config.
cp "$twins/qwen3moe/model.safetensors" lone.safetensors
wb convert lone.safetensors lone --to mlx --quant affine4:32
wb convert lone.safetensors lone.gguf --quant Q8_0
wb verify -q lone lone.gguf

# A tensor without a name in the architecture is reported, not omitted silently.
cp -r "$twins/llama" odd
chmod -R u+w odd
python3 -B - <<'P'
import json, struct
raw = open("odd/model.safetensors", "rb").read()
n, = struct.unpack("<Q", raw[:8])
header = json.loads(raw[8:8 + n])
name = next(k for k in header if k.endswith("mlp.up_proj.weight"))
header["model.layers.0.mlp.side_proj.weight"] = header.pop(name)
text = json.dumps(header).encode()
open("odd/model.safetensors", "wb").write(struct.pack("<Q", len(text)) + text + raw[8 + n:])
P
code 3 convert odd x.gguf
grep -q 'side_proj' message
[ -z "$(ls -A | grep '^\.wb')" ]
