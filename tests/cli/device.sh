# Devices of the command, with fake drivers: the uploaded bytes, the reported figures, and errors.
LD_LIBRARY_PATH=$FAKE_DRIVERS PYTHONDONTWRITEBYTECODE=1 python3 - <<'P'
import json, os, subprocess

folder = os.environ["DATA"] + "/models/qwen3-4bit-3shards"

def wb(*args, code=0, **more):
    p = subprocess.run(["wb", *args], capture_output=True, **more)
    assert p.returncode == code, (args, p.returncode, p.stderr)
    assert b"fake" not in p.stderr, p.stderr  # the drivers tell what they miss, and what was wrong
    return p.stdout, p.stderr.decode()

def load(*args):
    return json.loads(wb("load", "--json", *args, folder)[0])

for device, how in (("cuda", ["--io", "map"]), ("cuda", ["--dtype", "f32"]),
                    ("opencl", ["--io", "direct", "--cold"])):
    answer = load("--device", device, "--verify", *how)
    assert answer["device"] == device and answer["borrowed"] == 0
    assert answer["uploaded"] == answer["compared"] > 0
    assert answer["upload_ns"] > 0 and answer["buffers_ns"] > 0 and answer["consume_ns"] == 0
    assert answer["limits"]["upload"] > 0
assert load("--device", "opencl")["compared"] == 0
text = wb("load", "--device", "cuda", "--verify", folder)[0].decode()
assert "uploading, all threads" in text and "read back and verified" in text
assert "limit: copies to the device" in text and "checksums, all" not in text
answer = load()
assert answer["device"] is None and answer["uploaded"] == 0 and answer["consume_ns"] > 0

# The bytes of a weight are the same on every device.
names = ["layers.0.attention.%s.weight" % n for n in "qkv"]
for more in (names[:1], names, [names[0], "--part", "0:1/2"], ["output_norm.weight", "--policy", "f32"]):
    here = wb("get", folder, *more, "-o", "-")[0]
    for device in ("host", "cuda", "opencl"):
        assert wb("get", "--device", device, folder, *more, "-o", "-")[0] == here, (device, more)
    assert len(here) > 100
dry = wb("get", "--device", "cuda", folder, names[0], "--dry-run", "-o", "x")[0]
assert b"would write" in dry and not os.path.exists("x")
wb("get", "--device", "cuda", folder, "nothing", "-o", "x", code=4)

assert "host|opencl|cuda" in wb("load", "--device", "abacus", folder, code=4)[1]
nothing = dict(os.environ, LD_LIBRARY_PATH=os.getcwd())
for library in "libcuda.so.1", "libOpenCL.so.1":
    open(library, "w").write("no library")  # not the real one, should there be one
for device in ("cuda", "opencl"):
    for command in (["load", folder], ["get", folder, names[0], "-o", "x"]):
        # dlopen goes on looking where a file is no library, and may find a real driver
        p = subprocess.run(["wb", *command, "--device", device], capture_output=True, env=nothing)
        assert p.returncode == 0 or (p.returncode == 3 and b"Install the driver" in p.stderr), p
P
