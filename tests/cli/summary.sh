# The summary names the quantization and the bits per weight; a filter that matches nothing ends with 1.
model=$DATA/twins/llama.gguf
big=$DATA/models/qwen3-bf16
expect() {
    want=$1
    shift
    wb inspect "$@" | grep -q "^  weights     $want\$" || { wb inspect "$@" | head -8; echo "no $want"; exit 1; }
}
expect 'F32, 32\.00 bits/weight' "$model"
wb convert "$big" q8.gguf --quant Q8_0 >log 2>&1
wb convert "$big" q4.gguf --quant Q4_K_M >log 2>&1
expect 'Q8_0, [0-9.]* bits/weight' q8.gguf
expect 'Q4_K_M, [0-9.]* bits/weight' q4.gguf
expect 'affine4:64, [0-9.]* bits/weight' "$DATA/models/llama-tied-float16-4bit"
wb inspect --json q4.gguf >answer
python3 - <<'P'
import json
a = json.load(open("answer"))
t = a["totals"]
assert t["quantization"] == "Q4_K_M", t
bits = 8 * t["bytes"] / t["parameters"]
assert abs(t["bits_per_weight"] - bits) < 1e-12, (t, bits)
P
# A filter
code=0
wb inspect "$model" --filter 'no such*' >answer || code=$?
[ $code = 1 ]
grep -q '^  tensors     0 of ' answer
! grep -q '^  weights' answer || exit 1
wb inspect "$model" --filter 'blk.0.*' >answer
code=0
wb inspect --json "$model" --filter 'no such*' >answer || code=$?
[ $code = 1 ]
grep -q '"bits_per_weight":null' answer
