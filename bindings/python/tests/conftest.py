"""Paths of the test data, and small models that the tests make."""

import json
import os
import struct
from pathlib import Path

import pytest

DATA = Path(os.environ.get("DATA") or Path(__file__).parents[3] / "tests" / "data")


def safetensors_bytes(tensors, metadata=None):
    """Return a safetensors file. `tensors` is a dict of name -> (dtype, shape, bytes)."""
    header, data = {}, b""
    if metadata:
        header["__metadata__"] = metadata
    for name, (dtype, shape, values) in tensors.items():
        header[name] = {"dtype": dtype, "shape": list(shape),
                        "data_offsets": [len(data), len(data) + len(values)]}
        data += values
    text = json.dumps(header).encode("utf-8", "surrogateescape")
    text += b" " * (-len(text) % 8)
    return struct.pack("<Q", len(text)) + text + data


@pytest.fixture
def data():
    return DATA


@pytest.fixture
def models():
    return DATA / "models"


@pytest.fixture
def make(tmp_path):
    """Return a function that writes a safetensors file and returns its path."""

    def write(tensors, metadata=None, name="model.safetensors"):
        path = tmp_path / name
        path.write_bytes(safetensors_bytes(tensors, metadata))
        return path

    return write


@pytest.fixture
def floats(make):
    """A file with the tensor "a", F32 [4, 6], of the numbers 0 to 23."""
    return make({"a": ("F32", (4, 6), struct.pack("<24f", *range(24)))})
