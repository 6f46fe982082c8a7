# Tables fit into the terminal; models of many tensors are shown layer by layer; --sort, --top and --tensors.
python3 -B - <<'P'
import fcntl, json, os, pty, re, struct, subprocess, termios

def wb(*args, code=0):
    p = subprocess.run(["wb", *args], capture_output=True, text=True)
    assert p.returncode == code, (args, p)
    return p.stdout if code == 0 else p.stderr

def on_terminal(columns, *args):
    """Runs the command on a terminal of that width, without colours. Returns the lines."""
    pid, fd = pty.fork()
    if pid == 0:
        while b"go" not in os.read(0, 10):
            pass
        os.execvp("wb", ["wb", *args, "--color", "never"])
    fcntl.ioctl(fd, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    os.write(fd, b"go\n")
    out = b""
    try:
        while chunk := os.read(fd, 65536):
            out += chunk
    except OSError:
        pass
    assert os.waitpid(pid, 0)[1] == 0, out
    return out.decode().replace("\r", "").split("\n")[1:]

def gguf(path, tensors):
    text = lambda s: struct.pack("<Q", len(s.encode())) + s.encode()
    out = b"GGUF" + struct.pack("<IQQ", 3, len(tensors), 1)
    out += text("general.architecture") + struct.pack("<I", 8) + text("none")
    at = 0
    for name, kind, n, size in tensors:
        out += text(name) + struct.pack("<IQIQ", 1, n, kind, at)
        at += -(-size // 32) * 32
    open(path, "wb").write(out + b"\0" * (-len(out) % 32) + b"\0" * at)

def rows(lines, title):
    """Returns the rows of a table as lists of words."""
    at = lines.index(title)
    table = lines[at + 2:]
    return [line.split() for line in table[:table.index("")] if line.startswith("  ")]

# 70 layers of three tensors. v has another type in every second layer, as in the mixes of llama.cpp.
q4, q6, f32 = (12, 256, 144), (14, 256, 210), (0, 8, 32)
model = [("embedding.weight", *q6)]
for layer in range(70):
    model += [(f"blk.{layer}.k.weight", *q4), (f"blk.{layer}.v.weight", *(q4, q6)[layer % 2]),
              (f"blk.{layer}.norm.weight", *f32)]
gguf("many.gguf", model)
gguf("few.gguf", model[:200])
text = wb("inspect", "many.gguf").split("\n")
assert "Tensors" not in text and "  These are 211 tensors: --tensors shows each of them." in text
layers = rows(text, "Layers")
assert layers[0][:3] == ["0-69", "blk.{n}.k.weight", "Q4_K"] and layers[1][1] == "blk.{n}.norm.weight"
assert layers[2] == ["0-69", "blk.{n}.v.weight", "Q6_K|Q4_K", "[256]", "70", "17,920", f"{35 * (144 + 210):,}"], layers[2]
assert layers[3][:2] == ["embedding.weight", "Q6_K"]
for table in (("--tensors",), ("--filter", "*"), ("--names", "both")):
    text = wb("inspect", "many.gguf", *table).split("\n")
    assert "Layers" not in text and "Tensors" in text and sum("blk." in line for line in text) == 210, table
text = wb("inspect", "few.gguf")
assert "Layers" not in text and text.count("blk.") == 199
assert "Metadata" not in wb("inspect", "many.gguf", "--tensors")
assert "Layers" not in wb("inspect", "many.gguf", "--no-tensors")
answer = json.loads(wb("inspect", "many.gguf", "--json"))
assert [t["index"] for t in answer["tensors"]] == list(range(211)) and "layers" not in answer
kinds = [r["kind"] for r in json.loads(wb("inspect", "many.gguf", "--json", "--layers"))["layers"]]
assert kinds == ["Q4_K", "F32", "Q6_K|Q4_K", "Q6_K"], kinds

# Orders
def names(*args, path="many.gguf"):
    listed = [t["name"] for t in json.loads(wb("inspect", path, "--json", *args))["tensors"]]
    text = wb("inspect", path, *args).split("\n")
    assert [row[1] for row in rows(text, "Tensors") if row[-1] != "shown"] == listed
    return listed
size = {name: bytes for name, kind, n, bytes in model}
order = [name for name, *_ in model]
assert names("--sort", "offset") == order
assert names("--sort", "size") == sorted(order, key=lambda name: -size[name]) # a stable order
natural = sorted(order, key=lambda name: [int(w) if w.isdigit() else w for w in re.split(r"(\d+)", name)])
assert names("--sort", "name") == natural and natural[3] == "blk.1.k.weight" and natural[6] == "blk.2.k.weight"
assert names("--top", "3") == ["embedding.weight", "blk.1.v.weight", "blk.3.v.weight"]
assert names("--top", "2", "--sort", "name", "--filter", "*.v.*") == ["blk.0.v.weight", "blk.1.v.weight"]
assert "  208 more are not shown" in wb("inspect", "many.gguf", "--top", "3").split("\n")
assert "more are not shown" not in wb("inspect", "many.gguf", "--top", "211")
assert json.loads(wb("inspect", "many.gguf", "--json", "--top", "1"))["totals"]["tensors"] == 211
for wrong in "0", "x", "-1", "3x", "", "99999999999999999999999":
    assert "--top takes a number of at least 1" in wb("inspect", "many.gguf", "--top=" + wrong, code=4)
assert "offset" in wb("inspect", "many.gguf", "--sort", "ofset", code=4)
gguf("numbers.gguf", [(name, *f32) for name in ("a10", "a9", "a010b", "a2", "a", "a00", "b", "a9b", "a2.10", "a2.9")])
assert names("--sort", "name", path="numbers.gguf") == ["a", "a00", "a2", "a2.9", "a2.10", "a9", "a9b", "a10", "a010b", "b"]

# Widths
long = "model.vision_tower.encoder.transformer.{}.self_attention.query_key_value.lora_adapter.weight"
value = "one " * 40
header = {"__metadata__": {"a.b": value}}
for i, name in enumerate([long.format(0), long.format(1), long.format(2), "ä" * 50 + "ö" * 30, "short"]):
    header[name] = {"dtype": "F32", "shape": [8], "data_offsets": [32 * i, 32 * i + 32]}
header = json.dumps(header, ensure_ascii=False).encode()
header += b" " * (-len(header) % 8)
open("long.safetensors", "wb").write(struct.pack("<Q", len(header)) + header + b"\0" * 160)
whole = wb("inspect", "long.safetensors")
assert "..." not in whole.split("Tensors")[1] and long.format(2) in whole and "ä" * 50 + "ö" * 30 in whole
for columns in (80, 100, 60):
    lines = on_terminal(columns, "inspect", "long.safetensors")
    table = lines[lines.index("Tensors"):lines.index("Totals")]
    assert max(map(len, table)) <= columns and max(map(len, table[1:])) == columns, (columns, table)
    shown = [re.search(r"model\S*", line).group() for line in table if "model." in line]
    assert len(shown) == 3
    for name in shown:
        start, end = name.split("...")
        assert long.startswith(start) and long.endswith(end) and 0 <= len(start) - len(end) <= 1, name
    assert any(re.search(" ä+\\.\\.\\.ö+ ", line) for line in table) and any(" short " in line for line in table)
    meta = lines[lines.index("Metadata"):lines.index("Tensors")]
    assert max(map(len, meta)) <= columns
lines = on_terminal(60, "inspect", "long.safetensors", "--wide")
assert "\n".join(lines) == whole
assert any(value in line for line in on_terminal(60, "inspect", "long.safetensors", "--metadata")) # in full
assert max(map(len, on_terminal(300, "inspect", "long.safetensors"))) < 300
# A terminal that is too narrow for the other columns keeps 16 columns of each name.
lines = on_terminal(20, "inspect", "long.safetensors", "--tensors")
assert any(re.search(r" model\.v\.\.\.weight ", line) for line in lines), lines
P
