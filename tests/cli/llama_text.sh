# The example engine generates Python code with the model tiny-pycode from safetensors, MLX and GGUF. The distance
# of its logits from those of the model is explained by the encoding of the weights.
PYTHONPATH=$SOURCE/tests/cli python3 -B - <<'P'
import json, os, pathlib, shutil, subprocess
from engine import distance, gguf, llama, mlx

demo = pathlib.Path(os.environ["SOURCE"]) / "demo/tiny-pycode"
logits = os.environ["DATA"] + "/logits/"
tokens = pathlib.Path(logits + "tokens.txt").read_text().split()
start = [315, 461, 592, 517, 272, 11, 220]  # "def __init__(self, "

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

# The text gives the same tokens, behind the one with which a text begins.
assert llama(demo, "-T", text="def __init__(self, ") == " ".join(map(str, [1022, *start])) + "\n"
assert llama(demo, "-n", 20, text="def add(") == llama(demo, "-n", 20, tokens=[1022, 315, 734, 7])
assert llama(demo, "-n", 20, text="") == llama(demo, "-n", 20, tokens=[1022]) != "\n"
read = subprocess.run([os.environ["LLAMA"], "-n", "20", "-", str(demo)], input=b"def add(", capture_output=True)
assert read.stdout.decode() == llama(demo, "-n", 20, text="def add("), read

# Sampling: one token, or tokens of hardly any probability together, are as greedy as no temperature.
assert sampled != text(demo, "-t", 0.7, "-s", 3, "-k", 3) and sampled != text(demo, "-t", 0.7, "-s", 3, "-p", 0.5)
assert wanted == text(demo, "-t", 5, "-k", 1) == text(demo, "-t", 5, "-p", 0) != text(demo, "-t", 5)

# A token that ends a text ends the generation: here the first new one after ten tokens.
ids = llama(demo, "-T", text=wanted.rstrip("\n")).split()[1:]
end = next(i for i in range(17, len(ids)) if ids[i] not in ids[:i])
ends = pathlib.Path("ends")
shutil.copytree(demo, ends, copy_function=shutil.copyfile)
config = json.loads((ends / "config.json").read_text())
(ends / "config.json").write_text(json.dumps({**config, "eos_token_id": [1023, int(ids[end])]}))
assert ids[:7] == list(map(str, start)), ids
assert text(ends) == llama(demo, tokens=ids[:end]), text(ends)

# Characters are printed when they are complete. Others, and control characters, are replaced.
whole = llama(demo, "-T", text="é中👍\x1b").split()[1:]
assert len(whole) == 10 and llama(demo, tokens=whole) == "é中👍\ufffd\n"
assert llama(demo, tokens=whole[:1] + whole[2:5]) == "\ufffd中\n"
assert llama(demo, tokens=whole[5:8]) == "\ufffd\ufffd\ufffd\n"

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
