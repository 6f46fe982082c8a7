# The example engine gives the logits of mlx-lm and of a forward pass in NumPy (data/logits;
# tests/tools/reference_logits.py), for every format and encoding of the test data.
PYTHONPATH=$SOURCE/tests/cli python3 -B - <<'P'
import json, os, pathlib, shutil, subprocess
from engine import distance, llama

data, demo = pathlib.Path(os.environ["DATA"]), pathlib.Path(os.environ["SOURCE"]) / "demo"
logits = data / "logits"
tokens = (logits / "tokens.txt").read_text().split()

# The reference of gemma3-4bit rounds the scale of the embedding to BF16.
limits = {"gemma3-4bit": 1e-3}
names = [p.stem for p in sorted(logits.glob("*.npy"))]
assert len(names) >= 7
for name in names:
    folder = demo / name if (demo / name).exists() else data / "models" / name
    llama(folder, "-l", "out.npy", tokens=tokens)
    far = distance("out.npy", logits / (name + ".npy"))
    assert far < limits.get(name, 1e-4), (name, far)

# Every family, as a folder and as GGUF.
families = [p.stem for p in sorted((logits / "twins").glob("*.npy"))]
assert len(families) >= 10
for name in families:
    for path in (data / "twins" / name, data / "twins" / (name + ".gguf")):
        llama(path, "-l", "out.npy", tokens="3 7 1 0 23 12 7 3 15 9 20 4 2 11 18 6".split())
        far = distance("out.npy", logits / "twins" / (name + ".npy"))
        assert far < 1e-4, (path, far)

# The weights of Qwen 3's experts are normalized to a sum of 1 only if config.json specifies it. Those of Mixtral,
# and those in GGUF files, are always normalized.
def said(name, folder, **config):
    shutil.copytree(data / "twins" / name, folder)
    kept = json.loads((data / "twins" / name / "config.json").read_text())
    kept.pop("norm_topk_prob", None)
    os.chmod(folder, 0o755)
    os.unlink(folder + "/config.json")
    pathlib.Path(folder, "config.json").write_text(json.dumps(kept | config))
    llama(folder, "-l", folder + ".npy", tokens=tokens)
    return folder + ".npy"

tokens = "3 7 1 0 23 12 7 3".split()
silent, false, true = (said("qwen3moe", f"qwen-{i}", **c)
                       for i, c in enumerate(({}, {"norm_topk_prob": False}, {"norm_topk_prob": True})))
assert distance(silent, false) == 0 and distance(silent, true) > 1e-3
assert distance(said("mixtral", "mixtral-0"), said("mixtral", "mixtral-1", norm_topk_prob=False)) == 0
subprocess.run(["wb", "convert", "qwen-0", "silent.gguf"], check=True, stdout=subprocess.DEVNULL)
llama("silent.gguf", "-l", "gguf.npy", tokens=tokens)
assert distance("gguf.npy", true) < 1e-4

# Unsupported models are reported.
assert "bert: not one of those" in llama(data / "twins/bert", code=1)
assert "no such" in llama("nowhere", code=1).lower()
assert "does not have so many tokens" in llama(data / "twins/llama", tokens=[24], code=1)
assert "/full" in llama(data / "twins/llama", "-l", "/dev/full", tokens=[3], code=1)
assert "usage" in llama(data / "twins/llama", "-n", "-3", code=2)
P
