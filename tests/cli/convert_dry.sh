# --dry-run fails where the run fails, with the same exit code, and leaves no files.
PYTHONPATH=$SOURCE/tests/cli python3 -B - <<'P'
import json, os, pathlib, shutil, struct, subprocess
from engine import write

data = pathlib.Path(os.environ["DATA"])
llama, gguf = data / "twins" / "llama", data / "twins" / "llama.gguf"
qwen = data / "models" / "qwen3-bf16"
write("deep.safetensors", {"x.weight": ("F32", [1, 2, 1, 2, 1], bytes(16))})
write("long.safetensors", {"x" * 300: ("F32", [4], bytes(16))})
write("plain.safetensors", {"x": ("F32", [4], bytes(16)), "y": ("F32", [4], bytes(16))})
os.mkdir("there")
pathlib.Path("there/file").write_text("x")
os.symlink("nowhere/x.gguf", "dangling.gguf")
os.mkdir("loose")
os.symlink("nowhere", "loose/blobs")
pathlib.Path("set-00001-of-00002.gguf").write_text("x")
store = ["--to", "ollama", "--store", "store"]
subprocess.run(["wb", "convert", llama, "q", *store], check=True, stdout=subprocess.PIPE)

def listing():
    return sorted((str(p), p.lstat().st_mtime_ns) for p in pathlib.Path(".").rglob("*"))

def wb(*args):
    p = subprocess.run(["wb", "convert", *map(str, args)], capture_output=True)
    return p.returncode, p.stderr.decode()

refused = [
    (3, "deep.safetensors", "x.gguf"), (3, "long.safetensors", "x.gguf"),
    (4, llama, "there", "--to", "mlx", "--quant", "affine4:32"), (4, llama, "there", "--to", "safetensors"),
    (5, llama, "nowhere/x.gguf"), (5, gguf, "nowhere/x.gguf"), (5, llama, "dangling.gguf"),
    (5, llama, "nowhere/x", "--to", "mlx"), (5, gguf, "x", "--to", "ollama", "--store", "loose"), (4, gguf, gguf), (4, llama, "q", *store), (4, gguf, "q", *store),
    (4, "plain.safetensors", "set.gguf", "--max-shard-size", "16"),
]
for code, *args in refused:
    before = listing()
    dry, run = wb(*args, "--dry-run"), wb(*args)
    same = dry[1] == run[1] if code != 5 else "No such file" in dry[1] and "No such file" in run[1]
    assert dry[0] == run[0] == code and same, (args, dry, run)
    p = subprocess.run(["wb", "convert", *map(str, args), "--dry-run", "--json"], capture_output=True)
    assert p.returncode == code and "error" in json.loads(p.stdout), p
    assert [name for name, _ in listing()] == [name for name, _ in before], args

# The dry run also checks the output path.
os.mkdir("folder.gguf")
os.mkdir("folder.npz")
os.mkdir("folder.safetensors")
pathlib.Path("program").write_text("x")
os.chmod("program", 0o755)
for args in ([llama, "folder.gguf"], [llama, "folder.npz"], [llama, "folder.safetensors"], [gguf, "folder.gguf"],
             [llama, "folder.safetensors", "--quant", "F16"], [llama, "program/o.gguf"], [llama, "program/o", "--to", "safetensors"],
             [llama, "a" * 300 + ".gguf"], [llama, "a" * 240 + ".gguf", "--max-shard-size", "1K"],
             [llama, "a" * 240 + ".safetensors", "--max-shard-size", "1K"]):
    before = listing()
    dry, run = wb(*args, "--dry-run"), wb(*args)
    assert dry[0] == run[0] == (4 if "folder" in args[1] else 5), (args, dry, run)
    why = [said.splitlines()[0].split(": ")[-1] for _, said in (dry, run)]
    assert why[0] == why[1], (args, dry, run)
    assert str(llama) not in dry[1] and str(llama) not in run[1], (args, dry, run)
    assert [name for name, _ in listing()] == [name for name, _ in before], args

# A store that cannot be created: below a file, and in a folder without write permission.
os.mkdir("odd")
pathlib.Path("odd/blobs").write_text("x")
os.mkdir("strange")
pathlib.Path("strange/manifests").write_text("x")
for where in "deep.safetensors/s", "/proc/nope/s", "deep.safetensors", "odd", "strange":
    for source in llama, gguf:
        args = source, "x", "--to", "ollama", "--store", where
        before = listing()
        dry = wb(*args, "--dry-run")
        assert listing() == before, args
        run = wb(*args)
        assert dry[0] == run[0] == 5, (args, dry, run)

# The dry run plans all steps and creates nothing: neither directories of a store nor a journal.
for args in ([llama, "new", "--to", "mlx", "--quant", "affine4:32"], [llama, "there", "--to", "safetensors", "--force"],
             [llama, "x.gguf", "--quant", "Q8_0"], [gguf, "x.gguf"], [gguf, "g", "--to", "ollama", "--store", "other/s"],
             [llama, "g", "--to", "ollama", "--store", "other/s"], [llama, "q", *store, "--force"],
             ["plain.safetensors", "free.gguf", "--max-shard-size", "16"]):
    before = listing()
    assert wb(*args, "--dry-run")[0] == 0, args
    assert listing() == before, args

# The totals of a dry run contain what is known: unchanged tensors have no loss, and the loss of encoded tensors is
# unknown.
def totals(*args):
    return json.loads(subprocess.run(["wb", "convert", *args, "--json"], check=True, stdout=subprocess.PIPE).stdout)["totals"]
dry = totals(qwen, "x.gguf", "--quant", "Q8_0", "--dry-run")
assert dry["worst_nmse"] is None and dry["overflowed"] is None, dry
run = totals(qwen, "x.gguf", "--quant", "Q8_0")
assert run["worst_nmse"] > 0 and run["overflowed"] == 0, run
assert {k: run[k] for k in ("tensors", "bytes", "fallbacks")} == {k: dry[k] for k in ("tensors", "bytes", "fallbacks")}
dry = totals(llama, "y.gguf", "--dry-run")
assert dry["worst_nmse"] == 0 and dry["overflowed"] == 0, dry

# A run killed while it renamed a set leaves final names, which the next run removes.
os.mkdir("parts")
for name in ".set-00002-of-00002.gguf.wb-partial",:
    pathlib.Path("parts", name).write_text("x")
    os.link("parts/" + name, "parts/set-00002-of-00002.gguf")
split = ["plain.safetensors", "parts/set.gguf", "--quant", "F16", "--max-shard-size", "8"]
for args in split + ["--dry-run"], split:
    code, said = wb(*args)
    assert code == 0, (args, said)
P
