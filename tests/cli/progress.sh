# Progress on standard error: bytes, rate and time left on a terminal, JSON for programs, nothing otherwise.
python3 -B - <<'P'
import json, os, struct
elements = 8_000_000
text = json.dumps({"t": {"dtype": "F32", "shape": [elements], "data_offsets": [0, 4 * elements]}}).encode()
with open("slow.safetensors", "wb") as f:
    f.write(struct.pack("<Q", len(text)) + text)
    f.truncate(8 + len(text) + 4 * elements)
P
wb hash slow.safetensors >/dev/null 2>message
[ ! -s message ]
wb hash slow.safetensors --progress never >/dev/null 2>silent
[ ! -s silent ]
wb export slow.safetensors t -o slow.txt --progress json 2>message
python3 -B - <<'P'
import json
lines = [json.loads(line) for line in open("message")]
assert len(lines) >= 2, lines
for line in lines:
    assert line["event"] == "progress" and  line["path"] == "slow.txt" and line["done"] <= line["total"], line
    assert set(line) == {"event", "path", "done", "total", "bytes_per_second", "seconds", "seconds_left"}, line
done = [line["done"] for line in lines]
assert done == sorted(done) and lines[-1]["done"] == lines[-1]["total"] == 32000000, lines
assert lines[-1]["seconds_left"] == 0 and lines[-1]["bytes_per_second"] > 0, lines[-1]
P
# Progress and messages do not mix.
wb convert slow.safetensors slow.gguf --quant F16 --progress json --json >answer 2>message || true
python3 -B - <<'P'
import json
for line in open("message"):
    if line.startswith("{"):
        json.loads(line)
P
cat >terminal.py <<'P'
import fcntl, os, pty, re, struct, subprocess, sys, termios
def tty(columns, *args):
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 25, columns, 0, 0))
    p = subprocess.Popen(["wb", *args], stdin=subprocess.DEVNULL, stdout=slave, stderr=slave, env={**os.environ, "TERM": "xterm"})
    os.close(slave)
    data = b""
    while True:
        try:
            data += os.read(master, 65536)
        except OSError:
            break
    return p.wait(), data
code, data = tty(100, "export", "slow.safetensors", "t", "-o", "slow.txt")
assert code == 0, data
assert re.search(rb"\r\[#*\.*\] +\d+%  [\d.]+ MiB of 30.5 MiB  [\d.]+ MiB/s  \d:\d\d left  slow.txt\x1b\[K", data), data
assert data.endswith(b"\r\x1b[K"), data
os.remove("slow.txt")
# The line is never longer than the terminal is wide.
code, data = tty(40, "export", "slow.safetensors", "t", "-o", "slow.txt")
lines = [line for line in data.split(b"\r") if line.startswith(b"[")]
assert lines and all(len(line.split(b"\x1b")[0]) < 40 for line in lines), lines
# Names are cut between characters.
for columns in range(60, 90):
    code, data = tty(columns, "export", "slow.safetensors", "t", "-o", "a" + 40 * "\u00f6" + ".txt")
    assert code == 0, data
    data.decode()
    os.remove("a" + 40 * "\u00f6" + ".txt")
code, data = tty(100, "hash", "slow.safetensors", "--progress", "never")
assert b"[#" not in data, data
# Colours and threads on request.
for when, has in (("always", True), ("never", False), ("auto", False)):
    p = subprocess.run(["wb", "verify", "slow.safetensors", "--color", when], capture_output=True)
    assert (b"\x1b[" in p.stdout) == has, p
assert b"\x1b[1" not in tty(100, "verify", "slow.safetensors", "--color", "never")[1]
for jobs in "1", "3":
    p = subprocess.run(["wb", "hash", "slow.safetensors", "-j", jobs, "-v"], capture_output=True)
    assert p.returncode == 0 and re.fullmatch(rb"wb: \d+\.\d\d s, %s threads?\n" % jobs.encode(), p.stderr), p
for jobs in "0", "-1", "x", "1x", "99999":
    p = subprocess.run(["wb", "hash", "slow.safetensors", "--jobs=" + jobs], capture_output=True)
    assert p.returncode == 4 and b"--jobs" in p.stderr, p
P
python3 -B terminal.py
rm -f slow.*
