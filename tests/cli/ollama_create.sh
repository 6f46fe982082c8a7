# Into an Ollama store: every tensor, and every file that Ollama's own code writes without MLX, is what the
# real Ollama made of the same folder (data/ollama/make.py).
from=$DATA/ollama
wb convert "$from/bf16" c-bf16 --to ollama --store store
wb convert "$from/bf16" c-bf16-int4 --to ollama --store store --quant int4
wb convert "$from/bf16" c-bf16-nvfp4 --to ollama --store store --quant NVFP4
wb convert "$from/moe-bf16" c-moe-int4 --to ollama --store store --quant int4 --json >answer
PYTHONPATH=$from python3 -B - "$from/expected.tsv" <<'P'
import json, sys, make
want = open(sys.argv[1]).read().splitlines()
got = make.rows("store", ["c-bf16", "c-bf16-int4", "c-bf16-nvfp4", "c-moe-int4"])
odd = [w for w in want if w not in set(got)]
assert not odd and len(want) == 250, odd[:3]
assert json.load(open("answer"))["totals"]["lossy"] == 19
P
# A store takes a model anew only by force, and every one is sound.
code=0
wb convert "$from/bf16" c-bf16 --to ollama --store store 2>message || code=$?
[ "$code" -ne 0 ]
wb convert "$from/bf16" c-bf16 --to ollama --store store --force
wb verify --store store c-moe-int4 c-bf16 c-bf16-nvfp4 >verdict 2>&1 || { cat verdict; exit 1; }
# And out of it again.
wb convert ollama://c-bf16 back --store store --to safetensors --quant BF16
wb convert "$from/bf16" there --to safetensors --quant BF16
cmp there/model.safetensors back/model.safetensors
# As it was in February.
wb convert "$from/moe-bf16" feb --to ollama --store store --quant int4 --generation feb2026
wb inspect --store store feb >listing
grep -q ' model.layers.0.mlp.experts.3.up_proj.weight .*int4:32' listing
