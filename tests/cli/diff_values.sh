# The measures of wb diff, compared with sums computed in Python: equal models, noise, NaN and infinity, quantized
# weights.
cp -r "$DATA/twins/llama" a
cp -r "$DATA/twins/llama" noisy
cp -r "$DATA/models/llama-tied-float16-4bit" small
python3 -B - <<'P'
import json, random, struct
random.seed(5)
data = bytearray(open("noisy/model.safetensors", "rb").read())
n, = struct.unpack("<Q", data[:8])
header = json.loads(data[8:8 + n])
for k, (name, t) in enumerate(header.items()):
    if name == "__metadata__":
        continue
    begin, end = (8 + n + x for x in t["data_offsets"])
    for at in range(begin, end, 2):
        v, = struct.unpack_from("<e", data, at)
        struct.pack_into("<e", data, at, v + random.gauss(0, 0.001 * k) if random.random() < 0.3 else v)
    if k % 5 == 1:
        struct.pack_into("<ee", data, begin, float("nan"), float("inf"))
    if k == 4:
        data[begin:end] = bytes(end - begin)
open("noisy/model.safetensors", "wb").write(data)
P
compare() {
    python3 -B "$SOURCE/tests/tools/compare_diff.py" "$@"
}
for twin in llama mistral gemma3 qwen2 phi3; do
    compare "$DATA/twins/$twin" "$DATA/twins/$twin.gguf"
done
compare a noisy
compare noisy a
compare noisy "$DATA/twins/llama.gguf"
compare "$DATA/twins/llama.gguf" noisy
compare noisy noisy
# Exit codes for equal and for different values, in all formats.
wb diff --only values,shapes,names a "$DATA/twins/llama.gguf"
wb diff a a
wb diff noisy noisy
code=0
wb diff noisy a >said || code=$?
[ $code = 1 ]
grep -q 'not finite' said
