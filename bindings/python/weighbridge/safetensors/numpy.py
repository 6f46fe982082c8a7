"""A drop-in for ``safetensors.numpy``."""

from __future__ import annotations

import os
from collections.abc import Mapping

import numpy

from .._numpy import from_array
from .._writer import as_bytes
from ._open import safe_open
from ._serialize import Row, read_bytes, write_bytes, write_file

__all__ = ["load", "load_file", "save", "save_file"]


def _rows(tensors: Mapping[str, numpy.ndarray]) -> list[Row]:
    return [(name, *as_bytes(value)) for name, value in tensors.items()]


def save(tensor_dict: Mapping[str, numpy.ndarray],
         metadata: Mapping[str, str] | None = None) -> bytes:
    """Return the bytes of a file with these arrays, which may have any strides."""
    return write_bytes(_rows(tensor_dict), metadata)


def save_file(tensor_dict: Mapping[str, numpy.ndarray], filename: str | os.PathLike,
              metadata: Mapping[str, str] | None = None) -> None:
    """Write these arrays, which may have any strides, to a file."""
    write_file(_rows(tensor_dict), filename, metadata)


def load(data: bytes) -> dict[str, numpy.ndarray]:
    """Return the arrays of a file in memory, each with memory of its own."""
    return {name: from_array(tensor.read(None, -1, None)) for name, tensor in read_bytes(data)}


def load_file(filename: str | os.PathLike, *, backend: str = "mmap") -> dict[str, numpy.ndarray]:
    """Return the arrays of a file.

    Args:
        filename: path of the file
        backend: "mmap": the arrays show the file, and may be changed without changing it; "pread":
            they have memory of their own
    """
    with safe_open(filename, framework="np", backend=backend) as file:
        return file.get_tensors()
