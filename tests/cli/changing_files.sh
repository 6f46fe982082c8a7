# A file that another program shortens while it is read ends a command with an error, never with a signal,
# whether it is read, read past the cache or mapped.
python3 -B - <<'P'
import json, os, struct, subprocess, time

SIZE = 1 << 30
header = json.dumps({"t": {"dtype": "U8", "shape": [SIZE], "data_offsets": [0, SIZE]}}).encode()
def make():
    with open("big.safetensors", "wb") as f: # a hole, but for its header
        f.write(struct.pack("<Q", len(header)) + header)
        f.truncate(8 + len(header) + SIZE)

def has_it(p, mapped):
    try:
        if mapped:
            return "big.safetensors" in open("/proc/%d/maps" % p.pid).read()
        links = (os.readlink("/proc/%d/fd/%s" % (p.pid, fd)) for fd in os.listdir("/proc/%d/fd" % p.pid))
        return any(link.endswith("big.safetensors") for link in links)
    except OSError:
        return False

codes = {}
for args in (["load", "--verify", "--io", "map"], ["load", "--verify", "--io", "read"],
             ["load", "--io", "direct"], ["hash"], ["verify", "--deep"]):
    make()
    mapped = args[-1] == "map"
    p = subprocess.Popen(["wb", *args, "big.safetensors"], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    while not has_it(p, mapped) and p.poll() is None:
        time.sleep(0.0005)
    os.truncate("big.safetensors", 8 + len(header) + 100000)
    code, said = p.wait(100), p.stderr.read().decode()
    assert code in (0, 1, 2, 5), (args, code, said)
    assert code != 5 or said.startswith("wb: "), (args, said)
    codes[" ".join(args)] = code
assert codes["load --verify --io map"] == 5, codes
assert list(codes.values()).count(5) >= 3, codes
P
