# A tied model, whose embedding is also its output matrix, never loses values silently in a conversion. Without a loss
# the example engine gives the same logits; a loss of quantization is in the totals; an output matrix that is stored
# nevertheless, and has other values than the embedding, gives a warning when it is left out.
PYTHONPATH=$SOURCE/tests/cli python3 -B - <<'P'
import glob, json, os, pathlib, shutil, subprocess
from engine import distance, llama, read, write

data, demo = pathlib.Path(os.environ["DATA"]), pathlib.Path(os.environ["SOURCE"]) / "demo/tiny-pycode"
HEAD, EMBEDDING = "lm_head.weight", "model.embed_tokens.weight"

def folder(source, name, tie, head):
    """A copy; head is "none", "same" (that of the embedding) or "own". tie is None if config.json does not say it."""
    shutil.copytree(source, name, copy_function=shutil.copyfile)
    os.chmod(name, 0o755)
    config = json.loads((source / "config.json").read_text())
    config.pop("tie_word_embeddings", None)
    pathlib.Path(name, "config.json").write_text(json.dumps(config | ({} if tie is None else {"tie_word_embeddings": tie})))
    tensors = read(source / "model.safetensors")
    own = tensors.pop(HEAD)
    if head != "none":
        tensors[HEAD] = own if head == "own" else tensors[EMBEDDING]
    write(name + "/model.safetensors", tensors)
    return name

def convert(*args):
    p = subprocess.run(["wb", "convert", *args, "--json"], capture_output=True)
    assert p.returncode == 0, (args, p)
    answer = json.loads(p.stdout)
    totals = answer.setdefault("totals", {"lossy": 0})  # none if nothing but the files changes
    if "exact" not in totals:
        return answer, []
    for fidelity in ("exact", "repacked", "lossy"):
        assert totals[fidelity] == sum(t["fidelity"] == fidelity for t in answer["tensors"]), (args, totals)
    left = [(f["severity"], f["name"]) for f in answer["findings"] if f["code"] == "convert-left-out"
            if f["name"] == HEAD]
    return answer, left

def logits(path):
    llama(path, "-l", "out.npy", tokens="3 7 1 0 23 12".split())
    return pathlib.Path("out.npy").read_bytes()

def targets(name):
    yield [name + ".gguf"], name + ".gguf"
    yield [name + "-hf", "--to", "safetensors"], name + "-hf"
    yield [name + "-mlx", "--to", "mlx"], name + "-mlx"
    yield [name, "--to", "ollama", "--store", "store"], f"store/manifests/*/*/{name}/latest"

for name, tie, head in (("tied", True, "none"), ("same", True, "same"), ("unsaid", None, "none"),
                        ("untied", False, "same"), ("two", False, "own")):
    folder(data / "twins/llama", name, tie, head)
    wanted = logits(name)
    for args, path in targets(name):
        answer, left = convert(name, *args)
        path, = glob.glob(path)
        assert answer["totals"]["lossy"] == 0 and logits(path) == wanted, (name, args)
        stores_one = name == "same" and not ("safetensors" in args or "ollama" in args)
        assert left == ([("info", HEAD)] if stores_one else []), (name, args, left)
    # And back from GGUF: config.json still says what the model is.
    convert(name + ".gguf", name + "-back", "--to", "safetensors")
    assert logits(name + "-back") == wanted, name
    assert json.loads(pathlib.Path(name + "-back/config.json").read_text())["tie_word_embeddings"] == \
        (name not in ("untied", "two")), name

# Here the stored matrix has other values. One different value, the last one, is enough.
folder(data / "twins/llama", "other", True, "own")
folder(data / "twins/llama", "last", True, "same")
tensors = read("last/model.safetensors")
dtype, shape, raw = tensors[HEAD]
tensors[HEAD] = dtype, shape, raw[:-1] + bytes([raw[-1] ^ 1])
write("last/model.safetensors", tensors)
folder(data / "twins/llama", "shorter", True, "same")
tensors[HEAD] = dtype, [shape[0] - 1, shape[1]], raw[:-2 * shape[1]]
write("shorter/model.safetensors", tensors)
for name in ("other", "last", "shorter"):
    for args, _ in targets(name):
        for more in (["--dry-run"], []):
            if name == "shorter" and args[0] not in (name + ".gguf", name + "-mlx"):
                continue
            left = convert(name, *args, *more)[1]
            kept = "safetensors" in args or "ollama" in args
            assert left == ([] if kept else [("warning", HEAD)]), (name, args, left)
p = subprocess.run(["wb", "convert", "other", "again.gguf"], capture_output=True)
assert p.returncode == 0 and b"lm_head.weight" in p.stdout and b"tie_word_embeddings to false" in p.stdout, p

# A quantized tied model: the loss is in the totals, and the text names the largest one.
folder(demo, "code", True, "none")
for args in (["code.gguf", "--quant", "Q4_K_M"], ["code", "--to", "ollama", "--store", "store", "--quant", "int4"]):
    answer, _ = convert("code", *args)
    rows = {t["source"]: t for t in answer["tensors"]}
    assert answer["totals"]["lossy"] >= 28 and answer["totals"]["worst_nmse"] > 1e-4, (args, answer["totals"])
    assert HEAD not in rows, args
    embedding = rows[EMBEDDING]
    assert embedding["fidelity"] == ("exact" if embedding["to"] == embedding["from"] else "lossy"), (args, embedding)
    p = subprocess.run(["wb", "convert", "code", *args, "--force"], capture_output=True)
    assert p.returncode == 0 and b" lossy" in p.stdout and b"largest loss in" in p.stdout, (args, p)
P
