# Ctrl-C: the command ends immediately with exit code 130 and leaves no files.
PYTHONPATH=$SOURCE/tests/cli python3 -B - <<'P'
import os, signal, subprocess, time, zoo
def interrupt(args, after, **streams):
    p = subprocess.Popen(["wb", *args], stderr=subprocess.PIPE, **streams)
    after(p)
    p.send_signal(signal.SIGINT)
    try:
        code = p.wait(30)
    finally:
        p.kill()
    assert code == 130, (args, code)
    assert p.stderr.read() == b"", args

zoo.save("one.safetensors", zoo.ONE)
def feed(p):
    # Once the pipe has been emptied, the command reads and its handler is there.
    p.stdin.write(open("one.safetensors", "rb").read()[:50])
    p.stdin.flush()
    import fcntl, struct, termios
    for _ in range(3000):
        if struct.unpack("i", fcntl.ioctl(p.stdin, termios.FIONREAD, b"\0" * 4))[0] == 0:
            break
        time.sleep(0.01)
    time.sleep(0.1)
for args in (["inspect", "-"], ["verify", "--json", "-"], ["export", "-", "u", "-o", "out.npy"]):
    interrupt(args, feed, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL)

# Ctrl-C during a write: the export of many values as text takes long enough.
n = 1 << 20
zoo.save("big.safetensors", [("t", "F32", [n], bytes(i * 7 & 0x3F for i in range(4)) * n)])
def is_writing(p):
    """Waits until the command has something open in this folder besides the model, or has ended."""
    folder = "/proc/%d/fd" % p.pid
    for _ in range(3000):
        if p.poll() is not None:
            return
        for fd in os.listdir(folder):
            try:
                link = os.readlink(folder + "/" + fd)
            except OSError:
                continue
            if link.startswith(os.getcwd() + "/") and not link.endswith("big.safetensors"):
                return
        time.sleep(0.01)
    raise AssertionError("nothing is written")
have = sorted(os.listdir("."))
def write_text(then):
    """Calls THEN(process) while text is written; again where the command was done before it came to that."""
    for _ in range(20):
        p = subprocess.Popen(["wb", "export", "big.safetensors", "t", "-o", "out.txt"], stderr=subprocess.PIPE)
        is_writing(p)
        then(p)
        code = p.wait(60)
        if code != 0:
            return code, p.stderr.read()
        os.remove("out.txt")
    raise AssertionError("the text is always written already")
code, said = write_text(lambda p: p.send_signal(signal.SIGINT))
assert code == 130 and said == b"", (code, said)
assert sorted(os.listdir(".")) == have, os.listdir(".")

# If the model changes during the command, nothing is written.
changes = iter(range(1, 100))
code, said = write_text(lambda p: os.utime("big.safetensors", (1, next(changes))))
assert code == 5 and b"big.safetensors" in said, (code, said)
assert sorted(os.listdir(".")) == have, os.listdir(".")

# A command that was started with SIGINT ignored, for example as a background job, continues to ignore it.
p = subprocess.Popen(["wb", "verify", "-"], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL,
                     preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_IGN))
feed(p)
p.send_signal(signal.SIGINT)
p.stdin.write(open("one.safetensors", "rb").read()[50:])
p.stdin.close()
assert p.wait(30) == 0

# SIGTERM and SIGHUP end the command after it has removed its temporary files.
values = 1 << 19
zoo.save("many.safetensors", [("t%d" % i, "F32", [values], b"\0" * (4 * values)) for i in range(24)])
have = sorted(os.listdir("."))
PARTS = sorted("parts-%05d-of-00024.safetensors" % (i + 1) for i in range(24)) + ["parts.safetensors.index.json"]
for number in (signal.SIGTERM, signal.SIGHUP):
    for wait in (0.02, 0.05, 0.1):
        p = subprocess.Popen(["wb", "convert", "many.safetensors", "parts.safetensors", "--max-shard-tensors", "1"],
                             stderr=subprocess.PIPE)
        time.sleep(wait)
        p.send_signal(number)
        code = p.wait(60)
        assert p.stderr.read() == b"" and code in (0, -number), code
        # All parts or none: a signal that comes when they are there ends the command, and they stay.
        parts = sorted(name for name in os.listdir(".") if name not in have)
        assert parts == PARTS or (parts == [] and code != 0), (wait, code, parts)
        for name in parts:
            os.remove(name)

# An in-place edit is completed, not interrupted halfway.
for number in (signal.SIGINT, signal.SIGTERM):
    for wait in (0.005, 0.01, 0.02, 0.04):
        p = subprocess.Popen(["wb", "edit", "many.safetensors", "--in-place", "--set", "k=" + "v" * 9000],
                             stderr=subprocess.PIPE)
        time.sleep(wait)
        p.send_signal(number)
        assert p.wait(60) in (0, 130, -number)
        assert sorted(os.listdir(".")) == have, (wait, os.listdir("."))
P
