# The text of a float has the fewest digits that read back as the same float.
PYTHONPATH=$SOURCE/tests/cli python3 -B - <<'P'
import random, struct, subprocess, zoo
random.seed(1)
def f32(bits): return struct.unpack("<f", struct.pack("<I", bits))[0]
bits = [random.getrandbits(32) for _ in range(3000)] + [1, 2, 0x7FFFFF, 0x800000, 0x7F7FFFFF, 0x80000000, 0xFF800000]
bits = [b for b in bits if b & 0x7FFFFFFF <= 0x7F800000]
doubles = [struct.unpack("<d", random.randbytes(8))[0] for _ in range(1000)] + [5e-324, 1e23, 2.0**53, -0.0]
doubles = [d for d in doubles if d == d]
zoo.save("t.safetensors", [("d", "F64", [len(doubles)], struct.pack("<%dd" % len(doubles), *doubles)),
                           ("f", "F32", [len(bits)], struct.pack("<%dI" % len(bits), *bits))])
def lines(name):
    text = subprocess.run(["wb", "export", "t.safetensors", name, "--format", "text", "-o", "-"],
                          check=True, capture_output=True, text=True).stdout
    return text.split("\n")[1:-1]
def digits(text): return len(text.lower().lstrip("-").split("e")[0].replace(".", "").strip("0"))
for text, d in zip(lines("d"), doubles):
    assert struct.pack("<d", float(text)) == struct.pack("<d", d), (text, d)
    assert text in ("inf", "-inf") or digits(text) <= max(digits(repr(d)), 1), (text, d)
assert len(lines("f")) == len(bits)
for text, b in zip(lines("f"), bits):
    assert struct.pack("<f", float(text)) == struct.pack("<I", b), (text, hex(b))
    fewer = digits(text) - 1
    if fewer >= 1 and "inf" not in text:
        short = "%.*e" % (fewer - 1, f32(b))
        try:
            same = struct.pack("<f", float(short)) == struct.pack("<I", b)
        except OverflowError:
            same = False
        assert not same, (text, short)
P
