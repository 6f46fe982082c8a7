# Conversion into an Ollama store: every tensor, and every file that Ollama writes without MLX, equals the one that
# Ollama made from the same folder (data/ollama/make.py).
from=$DATA/ollama
wb convert "$from/bf16" c-bf16 --to ollama --store store
wb convert "$from/bf16" c-bf16-int4 --to ollama --store store --quant int4
wb convert "$from/bf16" c-bf16-nvfp4 --to ollama --store store --quant NVFP4
wb convert "$from/moe-bf16" c-moe-int4 --to ollama --store store --quant int4 --json >answer
# The same weights as F32, and packed by MLX; packed bytes are copied unchanged.
wb convert "$from/bf16" f32 --to safetensors --quant F32
wb convert "$from/bf16" mlx --to mlx --quant affine4:64 --rule 'embed_tokens=BF16'
python3 -B - "$from/bf16/config.json" <<'P'
import json, sys
text = open(sys.argv[1]).read()
open("f32/config.json", "w").write(text.replace("bfloat16", "float32"))
config = json.loads(text) | {k: {"group_size": 64, "bits": 4, "mode": "affine"}
                             for k in ("quantization", "quantization_config")}
open("mlx/config.json", "w").write(json.dumps(config, indent=2))
P
wb convert f32 c-f32 --to ollama --store store
wb convert mlx c-mlx-int4 --to ollama --store store
PYTHONPATH=$from python3 -B - "$from/expected.tsv" <<'P'
import json, sys, make
want = open(sys.argv[1]).read().splitlines()
got = make.rows("store", ["c-bf16", "c-bf16-int4", "c-bf16-nvfp4", "c-moe-int4", "c-f32", "c-mlx-int4"])
odd = [w for w in want if w not in set(got)]
assert not odd and len(want) == 367, odd[:3]
assert json.load(open("answer"))["totals"]["lossy"] == 19
P
# An existing model is replaced only with --force, and every stored model is valid.
code=0
wb convert "$from/bf16" c-bf16 --to ollama --store store 2>message || code=$?
[ "$code" -ne 0 ]
wb convert "$from/bf16" c-bf16 --to ollama --store store --force
wb verify --store store c-moe-int4 c-bf16 c-bf16-nvfp4 >verdict 2>&1 || { cat verdict; exit 1; }
# The models are converted out of the store again.
wb convert ollama://c-bf16 back --store store --to safetensors --quant BF16
wb convert "$from/bf16" there --to safetensors --quant BF16
cmp there/model.safetensors back/model.safetensors
# The format of February 2026.
wb convert "$from/moe-bf16" feb --to ollama --store store --quant int4 --generation feb2026
wb inspect --store store feb >listing
grep -q ' model.layers.0.mlp.experts.3.up_proj.weight .*int4:32' listing
