# The object that inspect --json prints, key by key.
python3 -B "$SOURCE/tests/cli/zoo.py"
set +e
wb inspect --json one.safetensors set foreign/empty.safetensors stray odd.safetensors >out.json 2>err
[ $? = 2 ] || exit 1
set -e
PYTHONPATH=$SOURCE/tests/cli python3 -B - <<'P'
import json, zoo
lines = open("out.json").read().split("\n")
assert lines.pop() == "" and len(lines) == 5, len(lines)
one, pair, empty, stray, odd = map(json.loads, lines)

assert lines[0] == json.dumps(one, separators=(",", ":"))  # compact
assert list(one) == ["schema", "version", "path", "format", "files", "config", "config_sources", "metadata",
                     "tensors", "totals", "findings"], list(one)
assert one["path"] == "one.safetensors" and one["format"] == "safetensors"
assert one["metadata"] == {"format": "pt", "note": "x" * 300}
file, = one["files"]
data = open("one.safetensors", "rb").read()
assert file == {"path": "one.safetensors", "format": "safetensors", "bytes": len(data),
                "data_offset": 8 + int.from_bytes(data[:8], "little"), "tensors": len(zoo.ONE)}, file
bits = {"F4": 4, "F64": 64, "I64": 64, "C64": 64, "F32": 32, "U32": 32, "F16": 16, "BF16": 16, "I16": 16}
assert [t["name"] for t in one["tensors"]] == [t[0] for t in zoo.ONE]
for number, (t, (name, dtype, shape, raw)) in enumerate(zip(one["tensors"], zoo.ONE)):
    elements = 1
    for n in shape:
        elements *= n
    assert list(t) == ["index", "name", "dtype", "shape", "elements", "file", "offset", "bytes", "encoding"]
    assert (t["index"], t["dtype"], t["shape"], t["elements"]) == (number, dtype, shape, elements), t
    assert t["file"] == 0 and t["bytes"] == len(raw)
    assert data[t["offset"]:t["offset"] + t["bytes"]] == raw, t
    assert t["encoding"] == {"type": "plain", "bits": bits.get(dtype, 8)}, t
assert one["totals"]["tensors"] == len(zoo.ONE)
assert one["totals"]["bytes"] == sum(len(t[3]) for t in zoo.ONE)
assert one["totals"]["by_dtype"]["F32"] == {"tensors": 3, "parameters": 18, "bytes": 72}
assert sum(d["parameters"] for d in one["totals"]["by_dtype"].values()) == one["totals"]["parameters"]
assert one["findings"] == []

assert [f["tensors"] for f in pair["files"]] == [1, 1]
for t in pair["tensors"]:
    path = pair["files"][t["file"]]["path"]
    assert ("layers.0" in t["name"]) == ("00001" in path)

assert empty["path"] == "foreign/empty.safetensors" and empty["error"]["code"] == "file-empty"
assert empty["error"]["severity"] == "fatal" and "tensors" not in empty
finding, = stray["findings"]
assert finding["severity"] == "warning" and finding["code"] == "shard-stray", finding
assert [t["name"] for t in odd["tensors"]] == [
    "bell\a\x1b[31m", "back\\slash", "\u202eevil\u2066", "重み.😀", "nul\0nul", "", "@1", "c1\x9b31m"]
assert odd["metadata"] == {"key\n": "line\r\nline\u2028"}
P
grep -q 'foreign/empty.safetensors' err
# Options select sections of the output; totals are those of the tensors that match.
wb inspect --json --no-tensors --no-metadata --filter 'w*' one.safetensors >out.json
python3 -c '
import json
o = json.load(open("out.json"))
assert "tensors" not in o and "metadata" not in o
assert o["totals"]["tensors"] == 2 and o["totals"]["parameters"] == 14, o'
# Metadata keeps its types.
wb inspect --json meta.gguf >meta.json || [ $? = 1 ]
python3 - <<'P'
import json, struct
f = lambda x: struct.unpack("<f", struct.pack("<f", x))[0]
meta = json.load(open("meta.json"))["metadata"]
want = {"general.architecture": "llama", "empty": "", "u8": 255, "i8": -1, "u16": 65535, "i16": -2, "u32": 2**32 - 1,
        "i32": -70000, "f32": f(0.1), "bool": True, "u64": 2**64 - 1, "i64": -(2**63), "f64": 0.1, "nan": None,
        "bools": [False, True], "none": [], "ints": list(range(-300, 300)), "reals": [0.5, f(0.1), f(1e-5)],
        "words": ["w%d\n" % i for i in range(600)]}
assert meta == want, {k: (meta.get(k), want[k]) for k in want if meta.get(k) != want[k]}
assert [type(meta[k]) for k in ("bool", "u8", "f64")] == [bool, int, float]
P
# Patterns match the same names as with Python's fnmatch.
python3 - <<'P'
import fnmatch, json, subprocess
def names(*args):
    out = subprocess.run(["wb", "inspect", "--json", *args, "one.safetensors"], capture_output=True)
    found = [t["name"] for t in json.loads(out.stdout)["tensors"]]
    assert out.returncode == (0 if found else 1), (args, out)
    return found
every = names()
for pattern in ("*", "", "w*", "?", "??", "*e*", "*e*e*", "[a-f]*", "[!a-f]*", "[]u]", "four", "*t", "*[", "[uz", "*a*r",
                "s*t*", "**e", "w?[d]e", "[w-]*", "*z*"):
    want = [n for n in every if fnmatch.fnmatchcase(n, pattern)]
    assert names("--filter", pattern) == want, (pattern, want, names("--filter", pattern))
P
