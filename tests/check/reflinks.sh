#!/bin/sh
# On real XFS and Btrfs file systems, each mounted from a file, tensors that are copied unchanged take no disk
# space, and an edit that moves the data takes none for it. The script tests nothing where it may not mount.
set -eu
if [ "${1:-}" != mounted ]; then
    unshare -m true 2>/dev/null || { echo "skipped: no mount namespace of our own"; exit 0; }
    exec unshare -m sh "$0" mounted
fi
scratch=$(mktemp -d)
trap 'umount "$scratch/disk" 2>/dev/null || :; rm -rf "$scratch"' EXIT
trap 'exit 1' INT TERM HUP
mkdir "$scratch/disk"
shown=

for system in xfs btrfs; do
    rm -f "$scratch/image"
    truncate -s 640M "$scratch/image"
    if ! mkfs."$system" -q "$scratch/image" >/dev/null 2>&1 ||
        ! mount -o loop "$scratch/image" "$scratch/disk" 2>/dev/null; then
        echo "skipped: $system cannot be made or mounted here"
        continue
    fi
    (cd "$scratch/disk" && python3 -B - <<'P'
import os, struct, subprocess
MIB = 1 << 20
def used():
    os.sync()
    fs = os.statvfs(".")
    return (fs.f_blocks - fs.f_bfree) * fs.f_frsize
def wb(*args):
    """The bytes that the disk has less of when the command is done."""
    before = used()
    p = subprocess.run([os.environ["WB"], *args], capture_output=True)
    assert p.returncode == 0, (args, p)
    return used() - before
def text(t):
    return struct.pack("<Q", len(t)) + t
rows = 80 * MIB // 4096
head = b"GGUF" + struct.pack("<IQQ", 3, 1, 1) + text(b"general.name") + struct.pack("<I", 8) + text(b"none")
head += text(b"t.weight") + struct.pack("<IQQIQ", 2, 1024, rows, 0, 0)
with open("m.gguf", "wb") as f:
    f.write(head + b"\0" * (-len(head) % 32))
    for _ in range(80):
        f.write(os.urandom(MIB))
assert wb("convert", "m.gguf", "m", "--to", "ollama", "--store", "store") < 4 * MIB
assert wb("convert", "ollama://m", "out.gguf", "--store", "store") < 4 * MIB
assert open("m.gguf", "rb").read() == open("out.gguf", "rb").read()
# Partial files of a killed run do not prevent the next run from sharing data.
os.remove("out.gguf")
p = subprocess.run(["strace", "-f", "-qq", "-o", "/dev/null", "-e", "inject=fsync:signal=SIGKILL:when=1", os.environ["WB"],
                    "convert", "ollama://m", "out.gguf", "--store", "store"], capture_output=True)
if p.returncode == -9:
    os.truncate(".out.gguf.wb-partial", 9 * MIB)
    assert wb("convert", "ollama://m", "out.gguf", "--store", "store") < 4 * MIB
    assert open("m.gguf", "rb").read() == open("out.gguf", "rb").read()
    assert wb("edit", "out.gguf", "--set", "general.name=" + "long" * 4000) < 4 * MIB
    assert open("out.gguf", "rb").read()[-80 * MIB:] == open("m.gguf", "rb").read()[-80 * MIB:]
P
    )
    umount "$scratch/disk"
    shown="$shown $system"
done
echo "shared:${shown:- nothing}"
