# Edits of GGUF, safetensors and config.json: an edit in place and an edit as a new file give the same result, and
# nothing else changes.
PYTHONPATH=$SOURCE/tests/cli python3 -B - <<'P'
import json, os, shutil, struct, subprocess, zoo

def wb(*args, code=0):
    p = subprocess.run(["wb", *args], capture_output=True, timeout=60)
    assert p.returncode == code, (args, p)
    return p.stdout

def string(s):
    return struct.pack("<Q", len(s.encode())) + s.encode()

VALUES = {"general.architecture": (8, string("llama")), "t.u32": (4, struct.pack("<I", 7)),
          "t.f32": (6, struct.pack("<f", 0.5)), "t.b": (7, b"\1"), "general.name": (8, string("old")),
          "t.list": (9, struct.pack("<IQ", 8, 2) + string("a") + string("b")), "split.no": (2, b"\0\0")}
TENSORS = [("b.weight", 0, [4, 2], bytes(range(32))), ("a.weight", 1, [3], b"\1\2\3\4\5\6"), ("c", 24, [70], b"z" * 70)]

def gguf(values, tensors):
    out = b"GGUF" + struct.pack("<IQQ", 3, len(tensors), len(values))
    for key, (kind, raw) in values.items():
        out += string(key) + struct.pack("<I", kind) + raw
    at, data = 0, b""
    for name, kind, dims, raw in tensors:
        out += string(name) + struct.pack("<I", len(dims)) + b"".join(struct.pack("<Q", d) for d in dims)
        out += struct.pack("<IQ", kind, len(data))
        data += raw + b"\0" * (-len(raw) % 32)
    return out + b"\0" * (-len(out) % 32) + data

def parse(data):
    """Keys with raw values, tensors with bytes, as the file has them."""
    def take(form):
        nonlocal at
        value, = struct.unpack_from(form, data, at)
        at += struct.calcsize(form)
        return value
    def text():
        nonlocal at
        n = take("<Q")
        at += n
        return data[at - n:at].decode()
    def skip(kind):
        nonlocal at
        if kind == 8:
            text()
        elif kind == 9:
            inner, n = take("<I"), take("<Q")
            for _ in range(n):
                skip(inner)
        else:
            at += [1, 1, 2, 2, 4, 4, 4, 1, 0, 0, 8, 8, 8][kind]
    at = 8
    tensors, entries = take("<Q"), take("<Q")
    values = {}
    for _ in range(entries):
        key, kind = text(), take("<I")
        start = at
        skip(kind)
        values[key] = (kind, data[start:at])
    infos = [(text(), [take("<Q") for _ in range(take("<I"))], take("<I"), take("<Q")) for _ in range(tensors)]
    at += -at % 32
    return values, [(n, k, d, data[at + o:]) for n, d, k, o in infos], at

def check(edits, values, tensors=TENSORS, way=None):
    """The same edits as a new file and in place."""
    for more in [], ["--in-place"]:
        open("m.gguf", "wb").write(gguf(VALUES, TENSORS))
        answer = json.loads(wb("edit", "m.gguf", "--json", *edits, *more))
        if more and way:
            assert answer["way"] == way, answer
        got, infos, at = parse(open("m.gguf", "rb").read())
        got.pop("weighbridge.padding", None)
        assert list(got.items()) == list(values.items()), (got, values)
        assert [(n, k, d) for n, k, d, _ in infos] == [t[:3] for t in tensors]
        for (_, _, _, data), t in zip(infos, tensors):
            assert data[:len(t[3])] == t[3]
        assert os.path.getsize("m.gguf") == answer["bytes"]
        wb("verify", "-q", "--deep", "m.gguf")
        assert not [n for n in os.listdir(".") if "journal" in n or n.startswith(".wb")]

wb_values = dict(VALUES)
wb_values["t.u32"] = (4, struct.pack("<I", 4000000000))
check(["--set", "t.u32=4000000000"], wb_values, way="header")
wb_values["general.name"] = (8, string("a much longer name " * 300))
check(["--set", "t.u32=4000000000", "--set", "general.name=" + "a much longer name " * 300], wb_values, way="insert")
typed = dict(VALUES)
for key, arg, kind, raw in (("n.a", "5", 4, struct.pack("<I", 5)), ("n.b", "-5", 5, struct.pack("<i", -5)),
                            ("n.c", "5000000000", 10, struct.pack("<Q", 5000000000)), ("n.d", "true", 7, b"\1"),
                            ("n.e", "1.5", 6, struct.pack("<f", 1.5)), ("n.f", "text=x", 8, string("text=x")),
                            ("n.g", "u8:200", 0, b"\xC8"), ("n.h", "i16:-3", 3, struct.pack("<h", -3)),
                            ("n.i", "f64:0.1", 12, struct.pack("<d", 0.1)), ("n.j", "str:7", 8, string("7")),
                            ("n.k", "i64:-9223372036854775808", 11, struct.pack("<q", -1 << 63)),
                            ("n.l", "1e-40", 6, struct.pack("<f", 1e-40)), ("n.m", "Nan", 8, string("Nan")),
                            ("n.n", "Infinity", 8, string("Infinity")), ("n.o", "3.4e38", 6, struct.pack("<f", 3.4e38)),
                            ("n.p", "f64:1e300", 12, struct.pack("<d", 1e300)),
                            ("n.q", "f32:inf", 6, struct.pack("<f", float("inf"))), ("n.r", "-9223372036854775808", 11, struct.pack("<q", -1 << 63)),
                            ("n.s", "18446744073709551615", 10, struct.pack("<Q", 2**64 - 1)), ("n.t", "0x1e", 8, string("0x1e")),
                            ("n.u", "+4930", 8, string("+4930")), ("n.v", "f64:18446744073709551616", 12, struct.pack("<d", 2.0**64)),
                            ("n.w", "str:1e300", 8, string("1e300")), ("n.x", "-0.0", 6, struct.pack("<f", -0.0))):
    typed[key] = (kind, raw)
args = []
for key, arg in (("n.a", "5"), ("n.b", "-5"), ("n.c", "5000000000"), ("n.d", "true"), ("n.e", "1.5"),
                 ("n.f", "text=x"), ("n.g", "u8:200"), ("n.h", "i16:-3"), ("n.i", "f64:0.1"), ("n.j", "str:7"),
                 ("n.k", "i64:-9223372036854775808"), ("n.l", "1e-40"), ("n.m", "Nan"), ("n.n", "Infinity"),
                 ("n.o", "3.4e38"), ("n.p", "f64:1e300"), ("n.q", "f32:inf"), ("n.r", "-9223372036854775808"),
                 ("n.s", "18446744073709551615"), ("n.t", "0x1e"), ("n.u", "+4930"), ("n.v", "f64:18446744073709551616"),
                 ("n.w", "str:1e300"), ("n.x", "-0.0")):
    args += ["--set", f"{key}={arg}"]
check(args, typed)
# Arrays have the type of the key, the type given by a prefix, or the first type that can represent all elements.
def array(kind, form, *items):
    return (9, struct.pack("<IQ", kind, len(items)) +
            b"".join(string(i) if form is None else struct.pack("<" + form, i) for i in items))
lists = dict(VALUES)
args = []
for key, arg, value in (("t.list", '["x", "", "\\u00e9\\n"]', array(8, None, "x", "", "é\n")),
                        ("a.s", '["a"]', array(8, None, "a")), ("a.b", "[true,false]", array(7, "B", 1, 0)),
                        ("a.i", "[1,-2]", array(5, "i", 1, -2)), ("a.u", "[4000000000]", array(4, "I", 4000000000)),
                        ("a.l", "[4000000000,-1]", array(11, "q", 4000000000, -1)),
                        ("a.q", "[18446744073709551615]", array(10, "Q", 2**64 - 1)),
                        ("a.f", "[1, 2.5]", array(6, "f", 1, 2.5)), ("a.z", "[-2.0]", array(6, "f", -2)),
                        ("a.c", "i8[]:[-128,127]", array(1, "b", -128, 127)), ("a.h", "u16[]:[65535]", array(2, "H", 65535)),
                        ("a.d", "f64[]:[0.1, 3]", array(12, "d", 0.1, 3)), ("a.e", "str[]:[]", array(8, None)),
                        ("a.t", "[gMASK]", (8, string("[gMASK]"))), ("a.v", "str:[1]", (8, string("[1]"))),
                        ("a.w", "[1,2] junk", (8, string("[1,2] junk"))),
                        ("a.x", "[-9007199254740993]", array(11, "q", -9007199254740993)),
                        ("a.y", "i64[]:[-9223372036854775808]", array(11, "q", -1 << 63)),
                        ("a.aa", "f32[]:[-9007199254740993]", array(6, "f", -9007199254740993)),
                        ("a.ab", "str:[18446744073709551616]", (8, string("[18446744073709551616]"))),
                        ("a.ac", '[18446744073709551616, "a"]', (8, string('[18446744073709551616, "a"]'))),
                        ("a.ad", "[0.0, 1e-40, 0e9]", array(6, "f", 0, 1e-40, 0))):
    lists[key] = value
    args += ["--set", f"{key}={arg}"]
check(args, lists)
open("list.json", "w").write(json.dumps([f"token {i}" for i in range(5000)]))
long_list = dict(VALUES)
long_list["t.list"] = array(8, None, *(f"token {i}" for i in range(5000)))
check(["--set-file", "t.list=list.json"], long_list, way="insert")
less = {k: v for k, v in VALUES.items() if k not in ("t.list", "general.name")}
check(["--delete", "t.list", "--delete", "general.name", "--delete", "is.not.there", "--ignore-missing"], less, way="header")
check(["--rename", "t.f32=t.other"], {("t.other" if k == "t.f32" else k): v for k, v in VALUES.items()})
check(["--rename", "a.weight=new.weight"], VALUES, [TENSORS[0], ("new.weight", *TENSORS[1][1:]), TENSORS[2]])
# Edits are applied in their order.
check(["--set", "n.a=5", "--delete", "n.a"], VALUES)
check(["--set", "t.u32=8", "--delete", "t.u32", "--set", "t.u32=7"],
      {k: v for k, v in VALUES.items() if k != "t.u32"} | {"t.u32": VALUES["t.u32"]})
check(["--set", "t.u32=8", "--rename", "t.u32=n.a", "--rename", "n.a=n.b", "--set", "n.c=1", "--rename", "n.c=t.u32"],
      {("n.b" if k == "t.u32" else k): ((4, struct.pack("<I", 8)) if k == "t.u32" else v) for k, v in VALUES.items()} |
      {"t.u32": (4, struct.pack("<I", 1))})
# A value gets the type that its key has after the preceding edits, also if these renamed the key.
check(["--rename", "t.f32=n.a", "--rename", "n.a=n.b", "--set", "n.b=10000"],
      {("n.b" if k == "t.f32" else k): ((6, struct.pack("<f", 10000)) if k == "t.f32" else v) for k, v in VALUES.items()})
check(["--rename", "t.u32=n.a", "--rename", "t.f32=t.u32", "--set", "t.u32=3", "--set", "t.f32=3"],
      {{"t.u32": "n.a", "t.f32": "t.u32"}.get(k, k): ((6, struct.pack("<f", 3)) if k == "t.f32" else v) for k, v in VALUES.items()} |
      {"t.f32": (4, struct.pack("<I", 3))})
check(["--set", "t.u32=f64:1", "--set", "t.u32=7"], VALUES | {"t.u32": (12, struct.pack("<d", 7))})
check(["--set", "n.a=u8[]:[1]", "--rename", "n.a=n.b", "--set", "n.b=[2]"], VALUES | {"n.b": array(0, "B", 2)})
check(["--delete", "t.f32", "--set", "t.f32=3"],
      {k: v for k, v in VALUES.items() if k != "t.f32"} | {"t.f32": (4, struct.pack("<I", 3))})
open("three", "w").write("[3]")
check(["--rename", "t.list=n.a", "--set-file", "t.list=three"],
      {("n.a" if k == "t.list" else k): v for k, v in VALUES.items()} | {"t.list": (8, string("[3]"))})
check(["--rename", "a.weight=x", "--rename", "b.weight=a.weight", "--rename", "x=b.weight"], VALUES,
      [("a.weight", *TENSORS[0][1:]), ("b.weight", *TENSORS[1][1:]), TENSORS[2]])
check(["--drop", "a.weight", "--rename", "b.weight=a.weight"], VALUES, [("a.weight", *TENSORS[0][1:]), TENSORS[2]])
check(["--drop", "a.weight"], VALUES, [TENSORS[0], TENSORS[2]])
open("chat", "w").write("{{ é }}\n" * 2000)
with_chat = dict(VALUES)
with_chat["tokenizer.chat_template"] = (8, struct.pack("<Q", len(open("chat", "rb").read())) + open("chat", "rb").read())
check(["--set-file", "tokenizer.chat_template=chat"], with_chat, way="insert")

# Dry runs and rejected edits.
open("m.gguf", "wb").write(gguf(VALUES, TENSORS))
before = open("m.gguf", "rb").read()
assert b"new file" in wb("edit", "m.gguf", "--set", "t.u32=9", "--dry-run")
assert json.loads(wb("edit", "m.gguf", "--json", "--set", "t.u32=7"))["way"] == "nothing"
for bad in (["--set", "t.u32=x"], ["--set", "t.u32=-1"], ["--set", "t.list=1"], ["--set", "t.list=[1]"],
            ["--set", 't.list=["a"'], ["--set", "t.list=[[]]"], ["--set", "k=u8[]:[256]"], ["--set", "k=i8[]:[-129]"],
            ["--set", "k=u64[]:[-1]"], ["--set", "k=f32[]:[1e99]"], ["--set", "k=f32:1e300"],
            ["--set", "t.f32=1e39"], ["--set", "k=i64[]:[-9223372036854775809]"], ["--set", "k=i64[]:[-0.99999999999999999999]"], ["--set", "k=i32[]:[0.5]"], ["--set", "k=bool[]:[1]"],
            ["--set", "k=i32[]:{}"], ["--set-file", "t.list=chat"], ["--rename", "none=x"],
            ["--drop", "none"], ["--rename", "c=a.weight"], ["--rename", "c=a.weight", "--drop", "a.weight"],
            ["--drop", "c", "--drop", "c"], ["--set", "n.a=1", "--rename", "n.a=t.u32"], ["--delete", "t.b", "--rename", "t.b=x"], ["--set", 't.list=["a"] junk'], ["--set", "k=u8[]:[1],2"], ["--rename", "t.u32=t.b"], ["--set", "novalue"],
            # Numbers that no type of new keys holds, and what f32 makes 0.
            ["--set", "k=-9223372036854775809"], ["--set", "k=18446744073709551616"], ["--set", "k=1e300"], ["--set", "k=1e-50"],
            ["--set", "k=f32:1e-50"], ["--set", "t.f32=1e-50"], ["--set", "k=f64:1e-400"], ["--set", "k=1e-400"],
            ["--set", "k=[18446744073709551616]"], ["--set", "k=[-1, 18446744073709551615]"], ["--set", "k=[1e300]"],
            ["--set", "k=[1, 1e-50]"], ["--set", "k=f32[]:[1e-50]"], ["--set", "k=f64[]:[1e-400]"],
            ["--set", "k=u8:256"], ["--set", "k=i8:128"], ["--rename", "c=" + "x" * 64]):
    assert wb("edit", "m.gguf", *bad, code=3 if "x" * 64 in bad[1] else 4) == b""
assert open("m.gguf", "rb").read() == before
wb("edit", "none.gguf", "--set", "a=b", code=5)

# Data aligned to pages.
wb("realign", "m.gguf", "--alignment", "4096")
files = json.loads(wb("inspect", "--json", "m.gguf"))
assert all(t["offset"] % 4096 == 0 for t in files["tensors"])
wb("realign", "m.gguf", "--alignment", "32")
again = parse(open("m.gguf", "rb").read())[0]
assert again.pop("general.alignment") == (4, struct.pack("<I", 32)) and again == VALUES

# safetensors: values are strings, and the order of the data stays.
zoo.save("s.safetensors", [("b", "F32", [2], b"12345678"), ("a", "U8", [3], b"abc")])
for more in [], ["--in-place"]:
    for edits in (["--set", "format=pt", "--rename", "a=z"], ["--set", "long=" + "x" * 9000],
                  ["--delete", "long"], ["--rename", "z=a"], ["--delete", "format"]):
        wb("edit", "s.safetensors", *edits, *more)
        wb("verify", "-q", "s.safetensors")
    data = open("s.safetensors", "rb").read()
    header = json.loads(data[8:8 + int.from_bytes(data[:8], "little")])
    assert list(header) == ["b", "a"] and data.endswith(b"12345678abc"), header
wb("edit", "s.safetensors", "--drop", "b")
assert open("s.safetensors", "rb").read().endswith(b"  abc")

# A symbolic link stays a link, and permissions stay.
os.symlink("s.safetensors", "link.safetensors")
os.chmod("s.safetensors", 0o640)
wb("edit", "link.safetensors", "--set", "k=v")
assert os.path.islink("link.safetensors") and os.stat("s.safetensors").st_mode & 0o777 == 0o640

# If the name of the file is too long for the name of a journal, the edit writes a new file, also with --in-place.
for n in 243, 244, 249, 255:
    name = "l" * (n - 5) + ".gguf"
    for more, way in ([], "new file"), (["--in-place"], "header" if n == 243 else "new file"):
        open(name, "wb").write(gguf(VALUES, TENSORS))
        assert json.loads(wb("edit", name, "--json", "--set", "t.u32=9", *more))["way"] == way
        assert parse(open(name, "rb").read())[0]["t.u32"] == (4, struct.pack("<I", 9))
        wb("edit", name)
        assert not [f for f in os.listdir(".") if f.startswith(".")]

# An edit of a folder changes config.json, and no other byte than requested.
os.mkdir("hf")
text = '{\n  "a": 1,\n  "rope": {"factor": 2.0, "type": "x"},\n  "list": [1, {"b": "}"}],\n  "last": "\\" ,"\n}\n'
def config(edits, expected, code=0):
    open("hf/config.json", "w").write(text)
    wb("edit", "hf", *edits, code=code)
    got = open("hf/config.json").read()
    assert got == expected, (edits, got)
    json.loads(got)
config([], text)
config(["--set", "a=2"], text.replace('"a": 1', '"a": 2'))
config(["--set", "rope.factor=4.5", "--set", "rope.type=yarn"],
       text.replace("2.0", "4.5").replace('"x"', '"yarn"'))
config(["--set", "new=true"], text.replace('"\n}', '",\n  "new": true\n}'))
config(["--set", "rope.new=[1, 2]"], text.replace('"x"}', '"x","new": [1, 2]}'))
# A value that only begins like a JSON value is a string.
for odd in ("7B", "2 clause BSD", "12-34", "true story", "[1] [2]", "1}", '1,"b":2'):
    config(["--set", "a=" + odd], text.replace('"a": 1', '"a": ' + json.dumps(odd)))
config(["--set", "a= [1] "], text.replace('"a": 1', '"a":  [1] '))
# Bytes that are not UTF-8 are refused at every place of the JSON text.
open("bytes", "wb").write(b"\xff\n")
for edits in (["--set", b"a=x\xff"], ["--set", b"\xff=1"], ["--set-file", "a=bytes"], ["--rename", b"a=\xff"], ["--rename", b"\xff=a"]):
    config(edits, text, code=3)
open("hf/config.json", "w").write('{"a":1} x')
wb("edit", "hf", "--set", "a=2", code=2)
assert open("hf/config.json").read() == '{"a":1} x'
config(["--delete", "last"], text.replace(',\n  "last": "\\" ,"', ""))
config(["--delete", "a"], text.replace('"a": 1,\n  ', ""))
config(["--rename", "list=array"], text.replace("list", "array"))
config(["--rename", "a=list"], text, code=4)
config(["--set", "a.b=1"], text, code=4)
config(["--drop", "x"], text, code=4)
# Keys are compared after their escape sequences are decoded. If a key occurs several times, the last one is edited
# and the others are removed.
for was, edits, now in (
        ('{"\\u0061":1}', ["--set", "a=2"], '{"\\u0061":2}'), ('{"\\u0061":1, "b":2}', ["--delete", "a"], '{"b":2}'),
        ('{"a":1,"a":2}', ["--set", "a=3"], '{"a":3}'), ('{"a":1,"a":2}', ["--delete", "a"], "{}"),
        ('{ "a":1,\n "\\u0061":2,\n "b":0,\n "a":3\n}', ["--delete", "a"], '{ "b":0\n}'),
        ('{ "a":1, "b":0, "\\u0061":2, "c":{} }', ["--set", "a=[]"], '{ "b":0, "\\u0061":[], "c":{} }'),
        ('{"a":1,"b":0,"a":2}', ["--rename", "a=c"], '{"b":0,"c":2}'), ('{"a":1,"a":2}', ["--rename", "a=b"], '{"b":2}'),
        ('{"x":{"a":1,"a":2},"a":3}', ["--delete", "x.a"], '{"x":{},"a":3}'),
        ('{"x":{"y":1},"x.y":2}', ["--delete", "x.y"], '{"x":{"y":1}}'),
        ('{"x":0,"\\u0078":{"\\ud83d\\ude00":1}}', ["--set", "x.😀=2"], '{"x":0,"\\u0078":{"\\ud83d\\ude00":2}}'),
        ("{}", ["--set", 'a"b=1', "--set", 'a"b=2', "--set", "c\\d=3"], '{"a\\"b": 2,"c\\\\d": 3}'),
        ('{"a\\"b":1}', ["--delete", 'a"b'], "{}"), ('{"a":1}', ["--delete", "\\u0061", "--ignore-missing"], '{"a":1}')):
    open("hf/config.json", "w").write(was)
    wb("edit", "hf", *edits)
    assert open("hf/config.json").read() == now, (was, edits, open("hf/config.json").read())
open("hf/config.json", "w").write('{"\\u0061":1,"b":2}')
wb("edit", "hf", "--rename", "b=a", code=4)
# Files that are not regular are rejected without waiting.
os.mkdir("odd")
os.mkfifo("odd/config.json")
wb("edit", "odd", "--set", "a=1", code=2)
os.remove("odd/config.json")
wb("edit", "odd", "--set", "a=1", code=5)
os.mkdir("odd/config.json")
wb("edit", "odd", "--set", "a=1", code=2)
# The report of an edit and of a dry run. Nothing is written if nothing changes.
open("hf/config.json", "w").write(text)
for more in (["--dry-run"], []):
    answer = json.loads(wb("edit", "hf", "--json", "--set", "a=22", *more))
    assert answer == {"schema": "weighbridge.edit", "version": 1, "path": "hf/config.json", "way": "new file",
                      "header_bytes": 0, "inserted": 0, "bytes": len(text) + 1, "links": 0,
                      "changes": [{"edit": "set", "name": "a", "old": 1, "new": 22}]}, answer
    assert (open("hf/config.json").read() == text) == bool(more)
was = os.stat("hf/config.json").st_ino
assert json.loads(wb("edit", "hf", "--json", "--set", "a=22"))["way"] == "nothing"
assert os.stat("hf/config.json").st_ino == was
P
