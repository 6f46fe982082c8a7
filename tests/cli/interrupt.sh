# Ctrl-C: exit code 130, at once, and nothing left behind.
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

# While a file is being written: text of many values takes long enough.
n = 1 << 20
zoo.save("big.safetensors", [("t", "F32", [n], bytes(i * 7 & 0x3F for i in range(4)) * n)])
def is_writing(p):
    """Waits until the command has something open in this folder besides the model."""
    for _ in range(3000):
        for fd in os.listdir("/proc/%d/fd" % p.pid):
            try:
                link = os.readlink("/proc/%d/fd/%s" % (p.pid, fd))
            except OSError:
                continue
            if link.startswith(os.getcwd() + "/") and not link.endswith("big.safetensors"):
                return
        time.sleep(0.01)
    raise AssertionError("nothing is written")
have = sorted(os.listdir("."))
interrupt(["export", "big.safetensors", "t", "-o", "out.txt"], is_writing)
assert sorted(os.listdir(".")) == have, os.listdir(".")

# A model that changes meanwhile: nothing is written.
p = subprocess.Popen(["wb", "export", "big.safetensors", "t", "-o", "out.txt"], stderr=subprocess.PIPE)
is_writing(p)
os.utime("big.safetensors", (1, 1))
assert p.wait(60) == 5 and b"big.safetensors" in p.stderr.read()
assert sorted(os.listdir(".")) == have, os.listdir(".")

# A command that was started with SIGINT ignored, as a shell's background job, goes on ignoring it.
p = subprocess.Popen(["wb", "verify", "-"], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL,
                     preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_IGN))
feed(p)
p.send_signal(signal.SIGINT)
p.stdin.write(open("one.safetensors", "rb").read()[50:])
p.stdin.close()
assert p.wait(30) == 0
P
