# A command whose input file another program shortens during the read ends with an error, never with a signal,
# whether the command reads the file, reads it past the page cache or maps it.
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

def shorten_during(args, delay):
    """The exit code of wb ARGS, where another program shortens the file `delay` seconds after wb opened it."""
    make()
    p = subprocess.Popen(["wb", *args, "big.safetensors"], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    while not has_it(p, args[-1] == "map") and p.poll() is None:
        time.sleep(0.0005)
    time.sleep(delay)
    os.truncate("big.safetensors", 8 + len(header) + 100000)
    code, said = p.wait(100), p.stderr.read().decode()
    assert code in (0, 2, 5), (args, code, said)
    assert code != 5 or said.startswith("wb: "), (args, said)
    return code

# A file that becomes shorter before wb gets its size is unsound (exit code 2). A file that becomes shorter after
# its last read is sound (exit code 0). The test needs a file that becomes shorter between these two, so it repeats
# with another delay until the exit code is 5.
for args in (["load", "--verify", "--io", "map"], ["load", "--verify", "--io", "read"],
             ["load", "--io", "direct"], ["hash"], ["verify", "--deep"]):
    delay = 0
    for attempt in range(50):
        code = shorten_during(args, delay)
        if code == 5:
            break
        delay = delay + 0.005 if code == 2 else 0
    assert code == 5, (args, delay)
P
