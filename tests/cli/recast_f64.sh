# Binary64 tensors: the reported loss is measured against the binary64 values, not against their binary32 values.
PYTHONPATH=$SOURCE/tests/cli python3 -B - <<'P'
import json, math, os, pathlib, random, struct, subprocess, zipfile
from engine import read, write

inf, nan = math.inf, math.nan
f32 = lambda x: struct.unpack("<f", struct.pack("<f", x))[0]
doubles = lambda values: struct.pack(f"<{len(values)}d", *values)

def told(of, to, *args):
    p = subprocess.run(["wb", "convert", of, to, "--json", "--force", *args], capture_output=True)
    assert p.returncode == 0, (of, to, args, p)
    return json.loads(p.stdout)

def only(of, to, *args):
    row, = told(of, to, *args)["tensors"]
    return row

# Three values that no smaller type can represent: one loses digits, one overflows, one underflows.
rest = [float(i) for i in range(61)]
odd = [0.1, 1e300, 1e-60] + rest
same = [inf, -inf, nan, -0.0] + rest[:-1]
small = [1e-300] * 64
for name, values in ("odd", odd), ("same", same), ("small", small):
    write(name + ".safetensors", {"x.weight": ("F64", [1, 64], doubles(values))})

def array_of(values, order):
    head = f"{{'descr': '{order}f8', 'fortran_order': False, 'shape': (1, {len(values)}), }}"
    head += " " * (-(len(head) + 11) % 64) + "\n"
    return b"\x93NUMPY\1\0" + struct.pack("<H", len(head)) + head.encode() + struct.pack(f"{order}{len(values)}d", *values)
pathlib.Path("odd.npy").write_bytes(array_of(odd, ">"))
for name, how in ("kept", zipfile.ZIP_STORED), ("deflated", zipfile.ZIP_DEFLATED):
    with zipfile.ZipFile(name + ".npz", "w", how) as z:
        z.writestr("x.weight.npy", array_of(odd, "<"))

size = sum(x * x for x in odd if x < 1e300)
sources = ["odd.safetensors", "odd.npy", "kept.npz", "deflated.npz"]
if b"no-zlib" in subprocess.run(["wb", "verify", "deflated.npz", "--json"], capture_output=True).stdout:
    sources.remove("deflated.npz")  # 32 bits, on a machine of 64
for of in sources:
    row = only(of, "o.safetensors", "--quant", "F32")
    loss = f32(0.1) - 0.1
    assert (row["from"], row["to"], row["fidelity"], row["overflowed"]) == ("F64", "F32", "lossy", 1), (of, row)
    assert math.isclose(row["max_error"], loss) and math.isclose(row["nmse"], (loss * loss + 1e-120) / size), row
    for args in (["--quant", "F32"], ["--quant", "F16"], ["--quant", "BF16"]):
        row = only(of, "o.safetensors", *args)
        assert (row["fidelity"], row["overflowed"]) == ("lossy", 1) and row["max_error"] >= loss, (of, args, row)
        row = only(of, "o.safetensors", *args, "--dry-run")
        assert row["fidelity"] is None, (of, args, row)
    for args in (["--quant", "Q4_0"], ["--quant", "Q8_0"], ["--quant", "F32"], ["--quant", "Q5_1"]):
        row = only(of, "o.gguf", *args, "--rule", "x.weight=" + args[1])
        assert row["fidelity"] == "lossy" and row["overflowed"] >= 1, (of, args, row)
    row = only(of, "o.mlx", "--to", "mlx", "--quant", "affine4:64")
    assert row["fidelity"] == "lossy" and row["overflowed"] >= 1, (of, row)

# Values that binary32 can represent are unchanged; values that become 0 count as lost, however small.
row = only("same.safetensors", "o.safetensors", "--quant", "F32")
assert (row["fidelity"], row["nmse"], row["max_error"], row["overflowed"]) == ("exact", 0, 0, 0), row
row = only("small.safetensors", "o.safetensors", "--quant", "F32")
assert (row["fidelity"], row["overflowed"]) == ("lossy", 0) and math.isclose(row["max_error"], 1e-300), row

# Complete models: permuted rows, offsets, experts stacked into one tensor.
random.seed(5)
def as_f64(twin, to):
    path = pathlib.Path(os.environ["DATA"]) / "twins" / twin
    os.mkdir(to)
    (pathlib.Path(to) / "config.json").write_text((path / "config.json").read_text())
    out = {}
    for name, (dtype, shape, raw) in read(path / "model.safetensors").items():
        n = math.prod(shape)
        out[name] = ("F64", shape, doubles([random.uniform(-1, 1) for _ in range(n)]))
    write(to + "/model.safetensors", out)
    return out
for twin in "llama", "qwen3moe", "gemma3":
    tensors = as_f64(twin, twin)
    tensors_of_llama = tensors if twin == "llama" else tensors_of_llama
    rows = told(twin, twin + ".gguf", "--quant", "F32")["tensors"]
    for row in rows:
        assert row["from"] == "F64" and row["fidelity"] == "lossy" and row["overflowed"] == 0, row
        assert 1e-18 < row["nmse"] < 1e-14 and 0 < row["max_error"] < 1.3e-7, row
    assert len(rows) > 5

# With an adapter, the loss is measured against the sum of the binary64 values and the adapter.
os.mkdir("peft")
module = "model.layers.0.self_attn.q_proj"
_, shape, raw = tensors_of_llama[module + ".weight"]
ones = lambda n: struct.pack(f"<{n}f", *[1.0] * n)
write("peft/adapter_model.safetensors", {f"base_model.model.{module}.lora_A.weight": ("F32", [1, shape[1]], ones(shape[1])),
                                         f"base_model.model.{module}.lora_B.weight": ("F32", [shape[0], 1], ones(shape[0]))})
pathlib.Path("peft/adapter_config.json").write_text('{"r": 1, "lora_alpha": 1}')
for quant, least, most in ("F32", 1e-18, 1e-14), ("F16", 1e-9, 1e-6):
    row, = [t for t in told("llama", "lora.gguf", "--quant", quant, "--lora", "peft")["tensors"] if t["name"] == "blk.0.attn_q.weight"]
    assert row["fidelity"] == "lossy" and row["overflowed"] == 0 and least < row["nmse"] < most, row
P
