# An interrupted edit: verify and doctor report it, and wb edit restores the file.
PYTHONPATH=$SOURCE/tests/cli python3 -B - <<'P'
import fcntl, json, os, struct, subprocess, zoo

def wb(*args, code=0):
    p = subprocess.run(["wb", *args], capture_output=True, text=True)
    assert p.returncode == code, (args, p)
    return p.stdout

def siphash(data):
    """SipHash-1-3 under the key of journals."""
    mask = (1 << 64) - 1
    k0, k1 = 0x7765696768627269, 0x6467652e65646974
    v = [k0 ^ 0x736f6d6570736575, k1 ^ 0x646f72616e646f6d, k0 ^ 0x6c7967656e657261, k1 ^ 0x7465646279746573]
    def turn(x, n):
        return (x << n | x >> (64 - n)) & mask
    def rounds(n):
        for _ in range(n):
            v[0] = (v[0] + v[1]) & mask; v[1] = turn(v[1], 13) ^ v[0]; v[0] = turn(v[0], 32)
            v[2] = (v[2] + v[3]) & mask; v[3] = turn(v[3], 16) ^ v[2]
            v[0] = (v[0] + v[3]) & mask; v[3] = turn(v[3], 21) ^ v[0]
            v[2] = (v[2] + v[1]) & mask; v[1] = turn(v[1], 17) ^ v[2]; v[2] = turn(v[2], 32)
    padded = data + b"\0" * (7 - len(data) % 8) + bytes([len(data) & 255])
    for at in range(0, len(padded), 8):
        m, = struct.unpack_from("<Q", padded, at)
        v[3] ^= m
        rounds(C)
        v[0] ^= m
    v[2] ^= 255
    rounds(D)
    return v[0] ^ v[1] ^ v[2] ^ v[3]

zoo.save("m.safetensors", [("a", "F32", [2], struct.pack("<ff", 1, 2))])
whole = open("m.safetensors", "rb").read()
header = whole[:8 + int.from_bytes(whole[:8], "little")]
after = whole[:8] + b"{}" + b" " * (len(header) - 10)  # as long as the one before, since no room is made
C, D = 1, 3
body = b"WBEDIT02" + struct.pack("<QQQ", len(whole), 0, len(header)) + header + after
journal = body + struct.pack("<Q", siphash(body))

# Only half of the header is written: the file is refused because of its journal, not because of an invalid header.
torn = after[:20] + whole[20:]
open("m.safetensors", "wb").write(torn)
assert "edit" not in wb("verify", "m.safetensors", code=2)
open(".m.safetensors.wb-journal", "wb").write(journal)
os.symlink("m.safetensors", "link.safetensors")
for path in "m.safetensors", "link.safetensors", "./m.safetensors":
    answer = json.loads(wb("verify", "--json", path, code=2))
    fatal = [f for f in answer["findings"] if f["severity"] == "fatal"]
    assert [f["code"] for f in fatal] == ["edit-journal"], answer
    told = wb("doctor", path, code=2)
    assert "an interrupted edit left the file incomplete" in told and "wb edit PATH" in told, told

# wb edit restores the old header, also through a symbolic link.
wb("edit", "link.safetensors")
assert open("m.safetensors", "rb").read() == whole
assert not os.path.exists(".m.safetensors.wb-journal")
assert "edit" not in wb("verify", "m.safetensors")

# The journal is also reported for a file that still opens, and for a shard of a folder.
open(".m.safetensors.wb-journal", "wb").write(journal)
assert "[edit-journal]" in wb("verify", "m.safetensors", code=1)
assert "wb edit PATH" in wb("doctor", "m.safetensors", code=1)
os.mkdir("folder")
os.rename("m.safetensors", "folder/model.safetensors")
os.rename(".m.safetensors.wb-journal", "folder/.model.safetensors.wb-journal")
assert "folder/model.safetensors" in wb("verify", "folder", code=1)
wb("edit", "folder/model.safetensors")
assert "edit" not in wb("verify", "folder")

# If another file was put at the path, it is not changed, whether or not it has the same length.
os.rename("folder/model.safetensors", "m.safetensors")
other = whole.replace(b'"a"', b'"b"')
for found, message in (other, "does not match the file"), (whole + b"\0" * 8, "does not match the file"):
    open("m.safetensors", "wb").write(found)
    open(".m.safetensors.wb-journal", "wb").write(journal)
    p = subprocess.run(["wb", "edit", "m.safetensors", "--set", "x=y"], capture_output=True, text=True)
    assert p.returncode == 5 and message in p.stderr and ".wb-journal" in p.stderr, p
    assert open("m.safetensors", "rb").read() == found
# Changes after the header do not affect the recovery of the header.
for left in torn, whole:
    data = left[:-1] + bytes([left[-1] ^ 1])
    open("m.safetensors", "wb").write(data)
    open(".m.safetensors.wb-journal", "wb").write(journal)
    wb("edit", "m.safetensors")
    assert not os.path.exists(".m.safetensors.wb-journal")
    assert open("m.safetensors", "rb").read()[-1] == data[-1]

# Only one process can edit a file at a time.
open("m.safetensors", "wb").write(whole)
with open("m.safetensors") as held:
    fcntl.flock(held, fcntl.LOCK_EX)
    for args in ["edit", "m.safetensors"], ["edit", "m.safetensors", "--set", "x=y", "--in-place"]:
        p = subprocess.run(["wb", *args], capture_output=True, text=True)
        assert p.returncode == 5 and "another process is editing the file" in p.stderr, p
    wb("edit", "m.safetensors", "--set", "x=y", "--dry-run")
    assert open("m.safetensors", "rb").read() == whole
wb("edit", "m.safetensors", "--set", "x=y")
os.rename("m.safetensors", "folder/model.safetensors")

# A file with a journal's name and other contents is not a journal.
open("folder/.model.safetensors.wb-journal", "wb").write(b"WBEDI")
assert "edit" not in wb("verify", "folder")
P
