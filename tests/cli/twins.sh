# The same model as a Hugging Face folder, an MLX folder, a GGUF file and two kinds of Ollama models has the same
# config, canonical names, shapes and metadata, except for the differences listed in docs/format/metadata.md.
PYTHONPATH=$SOURCE/tests/cli python3 -B - <<'P'
import json, os, subprocess, twins

folder = os.environ["DATA"] + "/twins"
families = twins.main(folder)
assert len(families) == 11, families

def ask(*args):
    p = subprocess.run(["wb", "inspect", "--json", "--names", "both", "--metadata", "--store", "store", *args],
                       capture_output=True)
    assert p.returncode in (0, 1), (args, p.stderr)
    return json.loads(p.stdout)

wrong = []

def names(answer):
    """Canonical name: how many tensors have it, and the elements of all of them."""
    out = {}
    for t in answer["tensors"]:
        n, elements = out.get(t["canonical"], (0, 0))
        out[t["canonical"]] = (n + 1, elements + t["elements"])
    return out

def same(what, a, b, but=()):
    for key in sorted(set(a) | set(b)):
        if key not in but and a.get(key) != b.get(key):
            wrong.append((what, key, a.get(key), b.get(key)))

MLX = {"format"}
OLLAMA = {"ollama.config"}
GGUF = {"rope_layout", "norm_offset"}

for family in families:
    hf = ask(folder + "/" + family)
    mlx = ask(family + ".mlx")
    same((family, "mlx config"), hf["config"], mlx["config"])
    same((family, "mlx metadata"), hf["metadata"], mlx["metadata"], MLX)
    a, b = names(hf), names(mlx)
    assert {n: e for n, (_, e) in a.items()} == {n: e for n, (_, e) in b.items()}, (family, a, b)

    ollama = ask(family)
    same((family, "ollama config"), hf["config"], ollama["config"])
    same((family, "ollama metadata"), hf["metadata"], ollama["metadata"], OLLAMA)
    assert a == names(ollama), (family, a, names(ollama))

    gguf, entry = ask(folder + "/" + family + ".gguf"), ask(family + "-gguf")
    same((family, "gguf entry config"), gguf["config"], entry["config"])
    same((family, "gguf entry metadata"), gguf["metadata"], entry["metadata"], OLLAMA)
    assert names(gguf) == names(entry)
    same((family, "gguf config"), hf["config"], gguf["config"], GGUF)
    # What GGUF has no place for: the pooler of BERT, which no canonical name is for.
    a.pop(None, None)
    b = names(gguf)
    assert {n: e for n, (_, e) in a.items()} == {n: e for n, (_, e) in b.items()}, (family, a, b)

hf = ask("./whisper")
for form in ("./whisper.mlx", "./whisper.npz", "whisper.gguf", "whisper"):
    other = ask(form)
    same((form, "config"), hf["config"], other["config"])
    assert names(hf) == names(other), (form, names(hf), names(other))
    # The keys of whisper.* answer everywhere; those of config.json as far as each form has them.
    keys = {k for k in hf["metadata"] if k.startswith("whisper.")}
    assert len(keys) > 8, hf["metadata"]
    for key in keys - ({"whisper.attention.layer_norm_epsilon"} if form == "whisper.gguf" else set()):
        same((form, "metadata"), {key: hf["metadata"][key]}, {key: other["metadata"].get(key)})
assert ask("./whisper.npz")["format"] == "npz"
assert not wrong, "\n".join(map(str, wrong))
P
