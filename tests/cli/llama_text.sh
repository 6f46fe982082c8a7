# The example engine generates Python code with the model tiny-pycode from safetensors, MLX and GGUF. The distance
# of its logits from those of the model is explained by the encoding of the weights.
PYTHONPATH=$SOURCE/tests/cli python3 -B - <<'P'
import os, pathlib
from engine import distance, gguf, llama, mlx

demo = pathlib.Path(os.environ["SOURCE"]) / "demo/tiny-pycode"
logits = os.environ["DATA"] + "/logits/"
tokens = pathlib.Path(logits + "tokens.txt").read_text().split()
start = [315, 461, 592, 517, 272, 11, 220]

def text(path, *args):
    return llama(path, "-n", 60, *args, tokens=start)

def check(path, bits):
    """A code of so many bits is off by about 2^-bits: by more something is wrong, by less it is another."""
    llama(path, "-l", "out.npy", tokens=tokens)
    far = distance("out.npy", logits + "tiny-pycode.npy") * 2 ** bits
    assert 0.5 < far < 1.6, (path, far)
    return text(path)

wanted = text(demo)
assert wanted.startswith("def __init__(self, ") and wanted.count("def __") > 1, wanted
assert wanted.count("self") > 3 and "\n        return self" in wanted, wanted

sampled = text(demo, "-t", 0.7, "-s", 3)
assert sampled == text(demo, "-t", 0.7, "-s", 3) and sampled != text(demo, "-t", 0.7, "-s", 4)
assert sampled != wanted and sampled.count("self") > 1, sampled
assert llama(demo, "-n", 3).startswith("<|begin_of_text|>")

bf16 = gguf(demo, "bf16.gguf", "BF16")
llama(bf16, "-l", "out.npy", tokens=tokens)
assert distance("out.npy", logits + "tiny-pycode.npy") < 1e-5
assert text(bf16) == wanted

def mode(name, bits, group):
    return mlx(demo, name, lambda _: name, {"bits": bits, "group_size": group, "mode": name})

four = check(mlx(demo, "mlx4", lambda _: "affine4:64", {"bits": 4, "group_size": 64}), 4)
assert four.startswith("def __init__(self, ") and four.count("self") > 3 and "\n        return self" in four, four
assert check(mlx(demo, "mlx8", lambda _: "affine8:32", {"bits": 8, "group_size": 32}), 8) == wanted
check(mode("mxfp4", 4, 32), 4)
check(mode("nvfp4", 4, 16), 4)
for kind, bits in (("Q4_0", 4), ("Q4_K", 4), ("Q6_K", 6)):
    check(gguf(demo, kind + ".gguf", kind), bits)
assert check(gguf(demo, "Q8_0.gguf", "Q8_0"), 8) == wanted
P
