# Any valid file is still valid after an edit and keeps its other contents.
PYTHONPATH=$SOURCE/tests/cli python3 -B - <<'P'
import glob, json, os, shutil, subprocess

def wb(*args):
    return subprocess.run(["wb", *args], capture_output=True, text=True, timeout=60)

def state(path):
    """What verify says, and the digests of all values and of each tensor's."""
    code = wb("verify", path).returncode
    if code > 1:
        return code, None
    answer = json.loads(wb("hash", path, "--json").stdout)
    return code, (answer["values"], answer.get("tensors"))

data = os.environ["DATA"]
files = sorted(glob.glob(data + "/bad/gguf/*.gguf") + glob.glob(data + "/bad/safetensors/*.safetensors") +
               glob.glob(data + "/golden/**/*.gguf", recursive=True))
tried = 0
EDITS = [["--set", "zz=1"], ["--set", "zz=" + "x" * 5000, "--in-place"], ["--set", "general.alignment=64"],
         ["--set", "general.alignment=4096", "--in-place"]]
for path in files:
    was, hashes = state(path)
    if was > 1 or os.path.getsize(path) > 1 << 20:
        continue
    for more in EDITS:
        if not path.endswith(".gguf") and "alignment" in more[1]:
            continue
        copy = "m" + os.path.splitext(path)[1]
        shutil.copyfile(path, copy)
        p = wb("edit", copy, *more)
        if p.returncode != 0:
            assert p.stderr and open(copy, "rb").read() == open(path, "rb").read(), (path, more, p)
            continue
        now, after = state(copy)
        assert now <= was and after == hashes, (path, more, wb("verify", copy))
        tried += 1
assert tried > 100, tried

# Also a model whose tensors already have the new alignment.
assert wb("convert", data + "/twins/llama", "l.gguf", "--to", "gguf").returncode == 0
for alignment in 64, 128, 256, 512, 32:
    p = wb("edit", "l.gguf", "--set", f"general.alignment={alignment}")
    assert p.returncode == 0 and wb("verify", "l.gguf").returncode == 0, (alignment, p, wb("verify", "l.gguf"))

# The key that pads headers cannot be edited.
whole = open("l.gguf", "rb").read()
for args in ["--set", "weighbridge.padding=x"], ["--rename", "general.architecture=weighbridge.padding"]:
    p = wb("edit", "l.gguf", *args)
    assert p.returncode == 4 and "weighbridge.padding" in p.stderr, p
assert open("l.gguf", "rb").read() == whole
assert wb("edit", "l.gguf", "--delete", "weighbridge.padding").returncode in (0, 4)
assert wb("verify", "l.gguf").returncode == 0
P
