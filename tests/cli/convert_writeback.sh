# A conversion that is large enough for direct I/O is killed during a write. The next run continues with the written
# data, and the file equals that of an uninterrupted run.
strace -o /dev/null true 2>/dev/null || { echo "skipped: strace cannot trace here"; exit 0; }
python3 -B - <<'P'
import json, os, struct, subprocess

# Only one thread, because strace counts the calls of each thread.
os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})

def wb(*args, code=0):
    p = subprocess.run(["wb", *args], capture_output=True)
    assert p.returncode == code, (args, code, p)
    return p.stdout

rows, columns = 8500, 8192
header = json.dumps({"t": {"dtype": "F8_E4M3", "shape": [rows, columns], "data_offsets": [0, rows * columns]}}).encode()
line = bytes(i * 37 % 120 for i in range(2 * columns))
with open("m.safetensors", "wb") as file:
    file.write(struct.pack("<Q", len(header)) + header)
    for row in range(rows):
        file.write(line[row % columns:][:columns])
args = "convert", "m.safetensors", "out.gguf", "--rule", ".*=F16"
wb(*args)
expected = open("out.gguf", "rb").read()
resumed = 0
for when in 5, 1060:  # reads of 65,536 values; the journal is written after rounds of several
    inject = f"inject=pread64:signal=SIGKILL:when={when}"
    for attempt in range(9):  # a source that the page cache forgets is read past it, by other calls
        if os.path.exists("out.gguf"):
            os.remove("out.gguf")
        open("m.safetensors", "rb").read()
        p = subprocess.run(["strace", "-f", "-qq", "-o", "trace", "-e", "trace=pread64", "-e", inject, "wb", *args],
                           capture_output=True)
        if p.returncode != 0:
            break
    assert p.returncode == -9 and not os.path.exists("out.gguf"), p
    found = [f["code"] for f in json.loads(wb(*args, "--json"))["findings"]]
    resumed += "convert-resumed" in found
    assert open("out.gguf", "rb").read() == expected
    assert not [n for n in os.listdir() if n.startswith(".")], os.listdir()
assert resumed == 1, resumed
P
