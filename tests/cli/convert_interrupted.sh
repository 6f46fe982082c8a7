# Conversions that strace kills or interrupts at a chosen system call. The next run continues with the data of the
# first, and the result is the same, byte for byte. Ctrl-C works until the first file has its final name.
strace -o /dev/null true 2>/dev/null || { echo "skipped: strace cannot trace here"; exit 0; }
export ASAN_OPTIONS="${ASAN_OPTIONS:-}:detect_leaks=0" # which LeakSanitizer does by tracing, too
models=$DATA/models
PYTHONPATH=$SOURCE/tests/cli python3 -B - "$models" <<'P'
import glob, json, os, re, shutil, struct, subprocess, sys

# Only one thread, because strace counts the calls of each thread, and a second Ctrl-C ends the command immediately.
os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})

def wb(*args, code=0, trace=None, inject=None, answers=False):
    """Runs the command; *inject* is an injection of strace's. Gives the results of the calls that *trace* names."""
    calls = inject.split(":")[0] if inject else trace
    tracer = ["strace", "-f", "-qq", "-o", "trace"] + (["-e", "inject=" + inject] if inject else [])
    p = subprocess.run((tracer + ["-e", "trace=" + calls] if calls else []) + ["wb", *args], capture_output=True)
    assert p.returncode == code, (args, code, p)
    if code == 130:
        assert p.stderr.startswith(b"wb: the partial result is kept: "), p
    results = [int(n) for n in re.findall(r"\) += (\d+)$", open("trace").read(), re.M)] if calls else []
    return (results, p.stdout) if answers else results if calls else p.stdout

def is_resumed(answer):
    return "convert-resumed" in [f["code"] for f in json.loads(answer)["findings"]]

def temporaries():
    return [n for n in glob.glob("**/.*", recursive=True, include_hidden=True) if ".wb" in n]

# ---- a file copied unchanged into a store and out of it ----
def text(t):
    return struct.pack("<Q", len(t)) + t
rows = 4500  # three pieces of 8 MiB
head = b"GGUF" + struct.pack("<IQQ", 3, 1, 1) + text(b"general.architecture") + struct.pack("<I", 8) + text(b"none")
head += text(b"t.weight") + struct.pack("<IQQIQ", 2, 1024, rows, 0, 0)
line = struct.pack("<1024f", *range(1024))
data = head + b"\0" * (-len(head) % 32) + line * rows
open("m.gguf", "wb").write(data)
wb("convert", "m.gguf", "m", "--to", "ollama", "--store", "from")
kept = "into/blobs/.registry.ollama.ai+library+m+latest.wb-partial/"
ways = ((["m.gguf", "m", "--to", "ollama", "--store", "into"], kept + ".00000.wb-partial"),
        (["ollama://m", "out.gguf", "--store", "from"], ".out.gguf.wb-partial"))
copies = wb("convert", *ways[1][0], trace="copy_file_range")
if sum(copies) == len(data):  # else the file system shares, or copies some other way
    os.remove("out.gguf")
    for args, partial in ways:
        for signal, when, code in (("SIGKILL", 3, -9), ("SIGINT", 2, 130)):
            wb("convert", *args, inject=f"copy_file_range:signal={signal}:when={when}", code=code)
            left = os.path.getsize(partial)
            assert 0 < left < len(data), left
            # Anything else about the source, and nothing of it is taken up.
            if signal == "SIGINT":
                for file in ["m.gguf"] + glob.glob("from/blobs/*"):
                    os.utime(file, (1, 1))
                left = 0
            calls, answer = wb("convert", *args, "--json", trace="copy_file_range", answers=True)
            assert sum(calls) == len(data) - left, (args, signal, calls, left)
            assert is_resumed(answer) == (left > 0), answer
            assert temporaries() == [], temporaries()
            if args[1] == "m":
                assert data in [open(b, "rb").read() for b in glob.glob("into/blobs/sha256-*")]
                shutil.rmtree("into")
            else:
                assert open("out.gguf", "rb").read() == data
                os.remove("out.gguf")

# ---- Ctrl-C while the result is synced to the disk ----
model = sys.argv[1] + "/qwen3-bf16"
wb("convert", model, "whole.safetensors", "--to", "safetensors")
before = sorted(os.listdir("."))
def fsyncs(*args):
    n = len(wb(*args, trace="fsync"))
    for made in set(os.listdir(".")) - set(before) - {"trace"}:
        shutil.rmtree(made) if os.path.isdir(made) else os.remove(made)
    return n

def results():
    return sorted(n for n in os.listdir(".") if n not in before and n[0] != "." and n != "trace")

def interrupt_all(args, resumes):
    """Interrupts at each fsync; with *resumes* the next run goes on, else nothing is left."""
    n, stopped = fsyncs(*args), 0
    for when in range(1, n + 1):
        p = subprocess.run(["strace", "-f", "-qq", "-o", "trace", "-e", "trace=fsync", "-e",
                            f"inject=fsync:signal=SIGINT:when={when}", "wb", *args], capture_output=True)
        kept = p.stderr.startswith(b"wb: the partial result is kept: ")
        assert p.returncode in (0, 130) and kept == (resumes and p.returncode == 130) and (kept or p.stderr == b""), p
        if p.returncode == 130:
            stopped += 1
            assert results() == [], (args, when, results())
            assert not resumes or is_resumed(wb(*args, "--json")), (args, when)
        assert results() != [] or p.returncode == 130 and not resumes, (args, when)
        assert temporaries() == [], temporaries()
        for made in results():
            shutil.rmtree(made) if os.path.isdir(made) else os.remove(made)
    return n, stopped

for args, resumes in ((["convert", model, "a.gguf", "--quant", "Q8_0"], True),
                      (["convert", model, "folder", "--to", "safetensors", "--quant", "F16", "--max-shard-size", "300KB"], True),
                      (["convert", "whole.safetensors", "copy.safetensors"], False),
                      (["convert", "whole.safetensors", "part.safetensors", "--max-shard-tensors", "20"], False)):
    n, stopped = interrupt_all(args, resumes)
    # Of the last, of the folder of what has its name by then, nobody is asked.
    assert 0 < stopped < n, (args, stopped, n)
P
