# Loading: every I/O mode, digests, the reported figures, and errors.
PYTHONPATH=$SOURCE/tests/cli python3 -B - <<'P'
import hashlib, json, os, subprocess

data = os.environ["DATA"]

def wb(*args, code=0):
    p = subprocess.run(["wb", "load", *args], capture_output=True)
    assert p.returncode == code, (args, p.returncode, p.stderr)
    return p.stdout.decode() if code in (0, 1) else p.stderr.decode()

folder = data + "/models/qwen3-4bit-3shards"
files = sorted(f for f in os.listdir(folder) if f.endswith(".safetensors"))
sizes = sum(os.path.getsize(folder + "/" + f) for f in files)
ways = [("auto", ["--cold"]), ("map", []), ("read", ["--device", "host"]), ("direct", ["--verify"]),
        ("auto", ["--dtype", "f32"]), ("read", ["--warm"])]
for how, more in ways:
    answer = json.loads(wb("--json", "--io", how, *more, folder))
    assert answer["files"] == 3 and answer["file_bytes"] == sizes
    assert 0 < answer["bytes"] <= sizes
    assert answer["bytes"] == sum(answer[k] for k in ("in_memory", "mapped", "copied", "direct"))
    assert how != "map" or answer["mapped"] == answer["bytes"]
    assert how != "read" or answer["copied"] == answer["bytes"]
    assert all(answer[k] > 0 for k in ("open_ns", "load_ns", "processor_ns", "bytes_per_second"))
    assert answer["limits"]["memcpy"] > 0 and answer["limits"]["read_sum"] > 0
    assert (answer["convert_ns"] > 0) == ("--dtype" in more)
    if "--warm" in more:
        assert answer["cached_before"] in (0, sizes)
    if more == ["--verify"]:
        assert answer["bytes"] == sizes
        assert sorted(d["sha256"] for d in answer["sha256"]) == sorted(
            hashlib.sha256(open(folder + "/" + f, "rb").read()).hexdigest() for f in files)
    else:
        assert answer["sha256"] == []

text = wb("--verify", folder)
assert hashlib.sha256(open(folder + "/" + files[0], "rb").read()).hexdigest() in text
assert "loading" in text and "limit: memcpy" in text and "SHA-256" in text

# A blob whose bytes do not match the digest in its name.
blob = "sha256-" + "0" * 64
open(blob, "wb").write(open(folder + "/" + files[0], "rb").read())
wb(blob)
assert "digest" in wb("--verify", blob, code=2)
right = "sha256-" + hashlib.sha256(open(blob, "rb").read()).hexdigest()
os.rename(blob, right)
wb("--verify", right)

assert "cannot be combined" in wb("--cold", "--warm", right, code=4)
assert "dtype" in wb("--dtype", "f17", right, code=4)
assert "--io" in wb("--io", "fast", right, code=4)
assert "no such" in wb("nowhere", code=5).lower()
wb("--dtype", "q8_0", right, code=4)
P
