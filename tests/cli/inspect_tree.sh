# golden: wb inspect --tree shows tensors by the components of their names, with equal layers merged
show() {
    echo "\$ wb inspect --tree $*"
    wb inspect --tree "$@" | sed '1,/^$/d'
}
ln -s "$DATA/twins/llama.gguf" m.gguf
ln -s "$DATA/twins/llama" hf
ln -s "$DATA/twins/qwen3moe" moe
show m.gguf
show hf --follow-links
show moe --follow-links --names canonical
show m.gguf --filter '*attn*'
python3 -B - <<'P'
import json, struct
names = ["a", "a.b", "a.b.c", "x..y", "x.", ".z", "deep" + ".d" * 40, "l.0.w", "l.2.w", "l.3.w", "l.3.v"]
header, at = {}, 0
for n in names:
    header[n] = {"dtype": "F32", "shape": [2, 3], "data_offsets": [at, at + 24]}
    at += 24
text = json.dumps(header).encode()
open("odd.safetensors", "wb").write(struct.pack("<Q", len(text)) + text + bytes(at))
P
show odd.safetensors
# JSON has no tree.
wb inspect --json m.gguf >plain
wb inspect --tree --json m.gguf | cmp - plain && echo "the same JSON"
