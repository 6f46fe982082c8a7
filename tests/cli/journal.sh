# An interrupted edit: verify and doctor report it, and wb edit restores the file.
PYTHONPATH=$SOURCE/tests/cli python3 -B - <<'P'
import fcntl, json, os, shutil, struct, subprocess, zoo

def wb(*args, code=0):
    p = subprocess.run(["wb", *args], capture_output=True, text=True)
    assert p.returncode == code, (args, p)
    return p.stdout

def siphash(data, key):
    """SipHash-1-3."""
    mask = (1 << 64) - 1
    k0, k1 = struct.unpack("<QQ", key)
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
def journal_of(key, before, length, old, new, in_place=1, index=b"", old_index=b"", new_index=b""):
    body = b"WBEDIT03" + struct.pack("<8Q", in_place, before, length, len(old), len(new), len(index), len(old_index),
                                     len(new_index)) + old + new + index + old_index + new_index
    return body + struct.pack("<Q", siphash(body, key))

# The secret of the user is made by the first edit in place, and only the user can read it.
key_file = os.environ["XDG_STATE_HOME"] + "/weighbridge/journal-key"
assert not os.path.exists(key_file)
shutil.copy("m.safetensors", "first.safetensors")
wb("edit", "first.safetensors", "--set", "a=b", "--in-place")
key = open(key_file, "rb").read()
assert len(key) == 16 and os.stat(key_file).st_mode & 0o777 == 0o600
assert os.stat(os.path.dirname(key_file)).st_mode & 0o777 == 0o700
journal = journal_of(key, len(whole), len(whole), header, after)

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

# A journal that came with the model: its author does not know the secret. It is refused and changes nothing, and so
# is every journal if the secret is missing, is that of another user, or is readable by others.
open("m.safetensors", "wb").write(whole)
evil = header.replace(b'"a"', b'"z"')
open("index", "w").write("x")
forged = [journal_of(bytes(16), len(whole), len(whole), evil, header),
          journal_of(struct.pack("<QQ", 0x7765696768627269, 0x6467652e65646974), len(whole), len(whole), evil, header),
          journal_of(bytes(16), len(whole), len(whole), header, evil, 0, b"index", b"x", b"y"),
          journal[:-8] + bytes(8), journal[:-1], journal + b"\0", b"WBEDIT02" + journal[8:], b"WBEDIT03"]
def refuses(text):
    open(".m.safetensors.wb-journal", "wb").write(text)
    p = subprocess.run(["wb", "edit", "m.safetensors", "--set", "x=y"], capture_output=True, text=True)
    assert p.returncode == 5 and "was not written by this user" in p.stderr and ".wb-journal" in p.stderr, p
    assert open("m.safetensors", "rb").read() == whole and open("index").read() == "x"
    assert open(".m.safetensors.wb-journal", "rb").read() == text
for text in forged:
    refuses(text)
for change in (lambda: os.rename(key_file, "kept"), lambda: open(key_file, "wb").write(b"x" * 16),
               lambda: (os.remove(key_file), os.symlink(os.path.abspath("kept"), key_file)),
               lambda: (os.remove(key_file), shutil.copy("kept", key_file), os.chmod(key_file, 0o640))):
    change()
    refuses(journal)
os.chmod(key_file, 0o600)
# A path that would leave the folder is refused, even with the right checksum.
for name in b"../index", b"/index", b"a\0b", b"n" * 256:
    refuses(journal_of(key, len(whole), len(whole), evil, header, 0, name, b"x", b"y"))
# Without a secret there is no edit in place.
os.remove(".m.safetensors.wb-journal")
for home in "", "relative", "/proc/none":
    env = dict(os.environ, XDG_STATE_HOME=home, HOME=home)
    p = subprocess.run(["wb", "edit", "m.safetensors", "--set", "x=y", "--in-place", "--json"], capture_output=True, env=env)
    assert json.loads(p.stdout)["way"] == "new file", p
    open("m.safetensors", "wb").write(whole)

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
