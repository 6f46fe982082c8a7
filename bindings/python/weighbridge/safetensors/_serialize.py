"""Writing safetensors files, and reading them from memory."""

from __future__ import annotations

import ctypes
import os
import tempfile
from collections.abc import Iterable, Mapping
from typing import Any

from .. import _core
from .._dtypes import OTHER_NAMES, number_of
from .._tensor import Tensor
from ..errors import Error
from ._errors import SafetensorError

_FORCE = 1  # WB_WRITE_FORCE

#: The order of the original, from the first tensors of a file to the last.
_ORDER = {name: i for i, name in enumerate((
    "U64", "I64", "F64", "C64", "F32", "U32", "I32", "BF16", "F16", "U16", "I16", "F8_E5M2FNUZ",
    "F8_E4M3FNUZ", "F8_E8M0", "F8_E4M3", "F8_E5M2", "I8", "U8", "F6_E3M2", "F6_E2M3", "F4",
    "BOOL"))}

_SPEC_NAMES = {**OTHER_NAMES, "float4_e2m1fn_x2": "F4"}
_SUPPORTED = ("bool, int8, uint8, int16, uint16, int32, uint32, int64, uint64, float16, float32, "
              "float64, bfloat16, float8_e4m3fn, float8_e4m3fnuz, float8_e5m2, float8_e5m2fnuz, "
              "float8_e8m0fnu, float4_e2m1fn_x2, complex64")

Row = tuple[str, str, tuple[int, ...], Any]  # name, dtype, shape, bytes


class TensorSpec:
    """Describes a tensor in memory. The memory must stay valid while it is written."""

    __slots__ = ("_dtype", "_length", "_pointer", "_shape")

    def __init__(self, *, dtype: str, shape: Iterable[int], data_ptr: int, data_len: int) -> None:
        if dtype not in _SPEC_NAMES:
            raise SafetensorError(f'Unknown dtype "{dtype}". Supported dtypes: {_SUPPORTED}')
        self._dtype = _SPEC_NAMES[dtype]
        self._shape = [length.__index__() for length in shape]
        if self._dtype == "F4" and self._shape:
            self._shape[-1] *= 2  # two values in a byte
        self._pointer = data_ptr.__index__()
        self._length = data_len.__index__()

    @property
    def dtype(self) -> str:
        """Name of the dtype in the file."""
        return self._dtype

    @property
    def shape(self) -> list[int]:
        """Shape in elements."""
        return list(self._shape)

    @property
    def data_ptr(self) -> int:
        """Address of the first byte."""
        return self._pointer

    @property
    def data_len(self) -> int:
        """Size in bytes."""
        return self._length

    def __repr__(self) -> str:
        return (f"TensorSpec(dtype='{self._dtype}', shape={self._shape}, "
                f"data_ptr={self._pointer}, data_len={self._length})")


def _rows(specs: Mapping[str, TensorSpec]) -> list[Row]:
    rows = []
    for name, spec in specs.items():
        if not isinstance(spec, TensorSpec):
            raise TypeError(f"argument 'tensor_dict': '{type(spec).__name__}' object is not an "
                            "instance of 'TensorSpec'")
        memory = (ctypes.c_ubyte * spec.data_len).from_address(spec.data_ptr) if spec.data_len \
            else b""
        rows.append((name, spec.dtype, tuple(spec.shape), memory))
    return rows


def _declared(rows: list[Row], metadata: Mapping[str, str] | None) -> tuple[Any, list]:
    """Return a writer that knows all tensors, and the bytes in the order of the file."""
    writer = _core.writer("safetensors", flags=_FORCE)  # safetensors replaces files, too
    for key, text in (metadata or {}).items():
        writer.set(key, (1, 0, 0, text))
    order = sorted(rows, key=lambda row: (_ORDER[row[1]], row[0].encode("utf-8", "surrogatepass")))
    return writer, [(writer.add(name, number_of(dtype), shape), data)
                    for name, dtype, shape, data in order]


def write_file(rows: list[Row], path: str | os.PathLike,
               metadata: Mapping[str, str] | None = None) -> None:
    """Write tensors to a file, which appears complete or not at all."""
    try:
        writer, parts = _declared(rows, metadata)
        writer.plan(path)
        writer.begin(-1, "")
        for index, data in parts:
            writer.put(index, 0, data)
        writer.commit(None)
    except Error as error:
        raise SafetensorError(f"Error while serializing: {error}") from error


def write_bytes(rows: list[Row], metadata: Mapping[str, str] | None = None) -> bytes:
    """Return the bytes of a file with these tensors."""
    try:
        with tempfile.TemporaryFile() as file:
            writer, parts = _declared(rows, metadata)
            writer.plan(None)
            writer.begin(file.fileno(), "memory")
            for index, data in parts:
                writer.put(index, 0, data)
            writer.commit(None)
            file.seek(0)
            return file.read()
    except Error as error:
        raise SafetensorError(f"Error while serializing: {error}") from error


def serialize(tensor_dict: Mapping[str, TensorSpec],
              metadata: Mapping[str, str] | None = None) -> bytes:
    """Return the bytes of a file with these tensors."""
    return write_bytes(_rows(tensor_dict), metadata)


def serialize_file(tensor_dict: Mapping[str, TensorSpec], filename: str | os.PathLike,
                   metadata: Mapping[str, str] | None = None) -> None:
    """Write these tensors to a file."""
    write_file(_rows(tensor_dict), filename, metadata)


class _Model(_core.Model):
    """A file in memory, each stored tensor by itself."""


def read_bytes(data: bytes) -> list[tuple[str, Tensor]]:
    """Return names and tensors of a file in memory, in the order of their bytes."""
    try:
        model = _core.open(_Model, Tensor, memory=data, label="data", flags=1 | 8)
    except Error as error:
        raise SafetensorError(f"Error while deserializing: {error}") from error
    tensors = [model.tensor_at(i) for i in range(len(model))]
    return [(tensor.name, tensor) for tensor in sorted(tensors, key=lambda one: one.offset)]


def deserialize(bytes: bytes) -> list[tuple[str, dict[str, Any]]]:  # noqa: A002
    """Return names and tensors of a file in memory, with copies of their bytes."""
    return [(name, {"shape": list(tensor.shape), "dtype": tensor.dtype,
                    "data": bytearray(tensor.raw())})
            for name, tensor in read_bytes(bytes)]
