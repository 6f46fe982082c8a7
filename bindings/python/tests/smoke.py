"""Uses an installed package without numpy or any other package: smoke.py DIRECTORY."""

import struct
import sys
from pathlib import Path

import weighbridge as wb

folder = Path(sys.argv[1])
source, target = folder / "smoke.safetensors", folder / "smoke.gguf"
header = b'{"t":{"dtype":"F32","shape":[2,2],"data_offsets":[0,16]}}'
source.write_bytes(struct.pack("<Q", len(header)) + header + struct.pack("<4f", 1, -2, 3, 4))

with wb.open(source) as model:
    assert list(model) == ["t"]
    assert memoryview(model["t"]).tolist() == [[1, -2], [3, 4]]
assert wb.verify(source).ok

wb.convert(source, target, "gguf")
with wb.open(target) as model:
    assert model.format == "gguf" and memoryview(model["t"]).tolist() == [[1, -2], [3, 4]]

source.write_bytes(source.read_bytes()[:-1])
try:
    wb.open(source)
except wb.Error as error:
    assert error.code and error.advice and error.file == str(source), repr(error)
else:
    raise AssertionError("a truncated file was opened")
assert not {"numpy", "torch"} & set(sys.modules)
print("weighbridge", wb.__version__, "works")
