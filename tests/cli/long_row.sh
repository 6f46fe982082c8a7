# Checks that the commands that write an array of a compressed .npz file need little memory, although
# the file is small and the array is a single row of 96 MiB.
ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}quarantine_size_mb=1 # freed memory stays in the quarantine
export ASAN_OPTIONS
PYTHONDONTWRITEBYTECODE=1 python3 - <<'P'
import os, struct, subprocess, sys, zlib

def save(path, columns):
    head = b"{'descr': '<f4', 'fortran_order': False, 'shape': (1, %d), }" % columns
    head = b"\x93NUMPY\1\0\x76\0" + head.ljust(117) + b"\n"
    piece = struct.pack("<f", 1.5) * min(columns, 1 << 18)  # this process must need little memory, too
    packer, packed, crc, size = zlib.compressobj(9, zlib.DEFLATED, -15), b"", 0, 0
    for part in [head] + [piece] * (4 * columns // len(piece)):
        packed += packer.compress(part)
        crc, size = zlib.crc32(part, crc), size + len(part)
    packed += packer.flush()
    facts = struct.pack("<HHHHHIIIH", 20, 0, 8, 0, 0, crc, len(packed), size, 5)
    local = b"PK\3\4" + facts + struct.pack("<H", 0) + b"w.npy" + packed
    entry = b"PK\1\2" + struct.pack("<H", 20) + facts + struct.pack("<HHHHII", 0, 0, 0, 0, 0, 0) + b"w.npy"
    end = b"PK\5\6" + struct.pack("<HHHHIIH", 0, 0, 1, 1, len(entry), len(local), 0)
    with open(path, "wb") as f:
        f.write(local + entry + end)

def memory(*args):
    """Runs wb and returns the peak of its memory in KiB, or that of this process if it is larger."""
    process = subprocess.Popen(["wb", *args], stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    said = process.stdout.read()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = status
    if status != 0 and b"zlib" in said:
        print("well")
        sys.exit()
    assert status == 0, (args, said)
    return usage.ru_maxrss

columns = 24 << 20
save("long.npz", columns)
save("short.npz", 8)
assert os.path.getsize("long.npz") < 120000
for command in (["get", "w", "--policy", "keep", "-o", "out"],
                ["get", "w", "-o", "out"],
                ["export", "w", "-o", "out"],
                ["convert", "out.safetensors", "--force", "--max-memory", "16MiB"],
                ["hash"],
                ["verify", "--deep"]):
    base, most = [memory(command[0], path, *command[1:]) for path in ("short.npz", "long.npz")]
    assert most < base + (32 << 10), (command, base, most)
    for path in ("out", "out.safetensors"):
        if os.path.exists(path):
            with open(path, "rb") as f:
                f.seek(-4, 2)
                last = f.read()
            assert last in (struct.pack("<f", 1.5), struct.pack("<ee", 1.5, 1.5)), (command, last)
            os.unlink(path)
print("well")
P
