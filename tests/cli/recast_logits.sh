# Converted models give the logits of their source: the example engine computes the stored logits (data/logits) from
# converted models, and from models converted back.
PYTHONPATH=$SOURCE/tests/cli python3 -B - <<'P'
import os, pathlib, subprocess
from engine import distance, llama

data, demo = pathlib.Path(os.environ["DATA"]), pathlib.Path(os.environ["SOURCE"]) / "demo"
logits = data / "logits"
tokens = (logits / "tokens.txt").read_text().split()
few = "3 7 1 0 23 12 7 3 15 9 20 4 2 11 18 6".split()

def convert(source, target, *options):
    p = subprocess.run(["wb", "convert", str(source), target, "--force", *options], capture_output=True)
    assert p.returncode == 0, (source, target, options, p.stderr)

def check(path, name, tokens, limit):
    llama(path, "-l", "out.npy", tokens=tokens)
    far = distance("out.npy", logits / (name + ".npy"))
    assert far < limit, (path, far)

# Every family is converted to GGUF in F32 and F16, and back to Hugging Face and MLX folders.
for path in sorted((logits / "twins").glob("*.npy")):
    name, twin = path.stem, "twins/" + path.stem
    convert(data / "twins" / name, name + ".gguf", "--quant", "F32")
    check(name + ".gguf", twin, few, 1e-4)
    convert(data / "twins" / name, name + ".f16.gguf", "--quant", "F16")
    check(name + ".f16.gguf", twin, few, 1e-2)
    convert(name + ".f16.gguf", name + ".hf", "--to", "safetensors")
    check(name + ".hf", twin, few, 1e-2)
    convert(name + ".f16.gguf", name + ".mlx", "--to", "mlx")
    check(name + ".mlx", twin, few, 1e-2)

# Repacked weights give the logits of the weights packed by MLX.
for name in ("llama-tied-float16-4bit", "qwen3-4bit-3shards", "qwen3-mxfp4", "qwen3_moe-nvfp4"):
    convert(data / "models" / name, name + ".gguf")
    check(name + ".gguf", name, tokens, 1e-4)
    convert(name + ".gguf", name + ".back", "--to", "mlx")
    check(name + ".back", name, tokens, 1e-4)

# A trained model keeps most of its quality.
for quant, limit in (("BF16", 1e-4), ("Q8_0", 0.02), ("Q5_K_M", 0.1), ("Q4_K_M", 0.2)):
    convert(demo / "tiny-pycode", "tiny.gguf", "--quant", quant)
    check("tiny.gguf", "tiny-pycode", tokens, limit)
P
