"""GGUFReader: the fields and tensors of a file, made when they are asked for."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import Any, Literal

import numpy

from .. import _core
from .._metadata import Metadata, MetadataEntry
from .._numpy import from_array
from .._tensor import Tensor
from ..errors import FormatError, MissingFileError
from ._constants import (GGML_QUANT_SIZES, GGUF_DEFAULT_ALIGNMENT, TYPES_BY_NAME, VALUE_TYPES,
                         GGMLQuantizationType, GGUFEndian, GGUFValueType)

_COMPATIBLE, _COPY_ON_WRITE, _STORED = 1, 4, 8
_NUMPY = {"F32": "f4", "F16": "f2", "F64": "f8", "I8": "i1", "I16": "i2", "I32": "i4", "I64": "i8"}
_HEADER_BYTES = 24


class _Model(_core.Model):
    """A GGUF file as it is."""


def _encoded(text: str) -> numpy.ndarray:
    return numpy.frombuffer(text.encode("utf-8", "surrogateescape"), numpy.uint8)


def _number(value: int, dtype: str) -> numpy.ndarray:
    return numpy.array([value], dtype)


def _kind_of(name: str, bits: int) -> GGUFValueType:
    short = {"string": "str", "bool": "bool"}.get(name) or f"{name[0]}{bits}"
    return TYPES_BY_NAME[short]


class ReaderField:
    """A metadata entry.

    Attributes:
        name: the key
        types: its type; for an array the type of the elements behind it
        parts: numpy arrays that make up the entry in the file
        data: indices of the parts with the values
        offset: offset of the entry in the file, in bytes
    """

    def __init__(self, reader: GGUFReader, entry: MetadataEntry) -> None:
        self._reader = reader
        self._entry = entry
        self.name = entry.key

    @cached_property
    def types(self) -> list[GGUFValueType]:
        entry = self._entry
        if entry.type != "array":
            return [_kind_of(entry.type, entry.bits)]
        if not entry.count:
            return [GGUFValueType.ARRAY]
        return [GGUFValueType.ARRAY, self._element]

    @property
    def _element(self) -> GGUFValueType:
        if self._entry.element == "array":
            return GGUFValueType.ARRAY
        return _kind_of(self._entry.element, self._entry.bits)

    @cached_property
    def _value(self) -> Any:
        return self._reader._metadata[self.name]

    def _key_parts(self) -> list[numpy.ndarray]:
        key = _encoded(self.name)
        return [_number(len(key), "u8"), key, _number(self.types[0], "u4")]

    @cached_property
    def parts(self) -> list[numpy.ndarray]:
        parts = self._key_parts()
        if self._entry.type != "array":
            return parts + self._scalar_parts(self.types[0], self._value)
        parts += [_number(self._element, "u4"), _number(self._entry.count, "u8")]
        for value in self._value:
            parts += self._scalar_parts(self._element, value)
        return parts

    def _scalar_parts(self, kind: GGUFValueType, value: Any) -> list[numpy.ndarray]:
        if kind == GGUFValueType.ARRAY:
            raise ValueError("Unknown/unhandled field type: an array of arrays; use contents()")
        if kind == GGUFValueType.STRING:
            text = _encoded(value)
            return [_number(len(text), "u8"), text]
        return [_number(value, VALUE_TYPES[kind][1])]

    @cached_property
    def data(self) -> list[int]:
        if self._entry.type != "array":
            return [4 if self.types[0] == GGUFValueType.STRING else 3]
        step = 2 if self._element == GGUFValueType.STRING else 1
        return [5 + step * i + step - 1 for i in range(self._entry.count)]

    @property
    def offset(self) -> int:
        return self._reader._offsets[self.name]

    @property
    def nbytes(self) -> int:
        """Size of the entry in the file, in bytes."""
        return sum(part.nbytes for part in self.parts)

    def contents(self, index_or_slice: int | slice = slice(None)) -> Any:
        """Return the value, or some elements of an array."""
        return self._value[index_or_slice] if self._entry.type == "array" else self._value

    def __repr__(self) -> str:
        return f"ReaderField(name={self.name!r}, types={self.types})"


class _HeaderField(ReaderField):
    """A number of the header of the file, which is no metadata."""

    def __init__(self, name: str, offset: int, kind: GGUFValueType, value: int) -> None:
        self.name = name
        self._at = offset
        self.__dict__.update(types=[kind], data=[0], _value=value,
                             parts=[_number(value, VALUE_TYPES[kind][1])])

    @property
    def offset(self) -> int:
        return self._at

    def contents(self, index_or_slice: int | slice = slice(None)) -> Any:
        return self._value


class _Fields(Mapping[str, ReaderField]):
    """The fields of a file by name. The first three are those of the header."""

    def __init__(self, reader: GGUFReader, version: int, tensors: int, count: int) -> None:
        self._reader = reader
        self._known: dict[str, ReaderField] = {
            "GGUF.version": _HeaderField("GGUF.version", 4, GGUFValueType.UINT32, version),
            "GGUF.tensor_count": _HeaderField("GGUF.tensor_count", 8, GGUFValueType.UINT64,
                                              tensors),
            "GGUF.kv_count": _HeaderField("GGUF.kv_count", 16, GGUFValueType.UINT64, count)}

    def __getitem__(self, name: str) -> ReaderField:
        field = self._known.get(name)
        if field is None:
            entry = self._reader._metadata.entry(name)
            if entry.file is None:
                raise KeyError(name)  # derived, not in the file
            field = self._known[name] = ReaderField(self._reader, entry)
        return field

    def __iter__(self) -> Iterator[str]:
        yield from ("GGUF.version", "GGUF.tensor_count", "GGUF.kv_count")
        yield from self._reader._keys

    def __len__(self) -> int:
        return 3 + len(self._reader._keys)


class ReaderTensor:
    """A tensor of a file.

    Attributes:
        name: name of the tensor
        tensor_type: its type
        shape: dimensions in the order of ggml, innermost first
        n_elements, n_bytes: number of elements, size in bytes
        data_offset: offset in the file, in bytes
        data: values of plain types; bytes of the rows of others
    """

    _fields = ("name", "tensor_type", "shape", "n_elements", "n_bytes", "data_offset", "data")

    def __init__(self, tensor: Tensor) -> None:
        self._tensor = tensor
        self.name = tensor.name

    @property
    def tensor_type(self) -> GGMLQuantizationType:
        return GGMLQuantizationType[self._tensor.dtype]

    @property
    def shape(self) -> numpy.ndarray:
        return numpy.array(self._tensor.shape[::-1], numpy.uint64)

    @property
    def n_elements(self) -> int:
        return self._tensor.size

    @property
    def n_bytes(self) -> int:
        return self._tensor.nbytes

    @property
    def data_offset(self) -> int:
        return self._tensor.offset

    @cached_property
    def data(self) -> numpy.ndarray:
        tensor = self._tensor
        raw = from_array(tensor.raw())
        if tensor.dtype in _NUMPY:
            return raw.view(_NUMPY[tensor.dtype]).reshape(tensor.shape)
        return raw.reshape(quant_shape_to_byte_shape(tensor.shape, self.tensor_type))

    def __iter__(self) -> Iterator[Any]:
        return (getattr(self, name) for name in self._fields)

    def __repr__(self) -> str:
        return f"ReaderTensor({self.name!r}, {self.tensor_type.name}, {self.shape.tolist()})"


def quant_shape_to_byte_shape(shape: Any, quant_type: GGMLQuantizationType) -> tuple[int, ...]:
    """Return the shape of the bytes of a quantized tensor."""
    block, size = GGML_QUANT_SIZES[GGMLQuantizationType(quant_type)]
    if shape[-1] % block:
        raise ValueError(f"Quantized tensor row size ({shape[-1]}) is not a multiple of "
                         f"{GGMLQuantizationType(quant_type).name} block size ({block})")
    return (*shape[:-1], shape[-1] // block * size)


def quant_shape_from_byte_shape(shape: Any, quant_type: GGMLQuantizationType) -> tuple[int, ...]:
    """Return the shape of a quantized tensor whose bytes have the shape `shape`."""
    block, size = GGML_QUANT_SIZES[GGMLQuantizationType(quant_type)]
    if shape[-1] % size:
        raise ValueError(f"Quantized tensor bytes per row ({shape[-1]}) is not a multiple of "
                         f"{GGMLQuantizationType(quant_type).name} type size ({size})")
    return (*shape[:-1], shape[-1] // size * block)


class GGUFReader:
    """Reads a GGUF file.

    Args:
        path: path of the file
        mode: "r", or "c" for tensor data that may be changed in memory. "r+", which changes the
            file, is not supported: see :func:`weighbridge.edit`
    """

    def __init__(self, path: os.PathLike | str, mode: Literal["r", "r+", "c"] = "r") -> None:
        if mode not in ("r", "c"):
            raise ValueError(f"mode {mode!r} is not supported; use weighbridge.edit to change a "
                             "file")
        flags = _COMPATIBLE | _STORED | (_COPY_ON_WRITE if mode == "c" else 0)
        try:
            with open(path, "rb") as file:
                self._model = _core.open(_Model, Tensor, fd=file.fileno(), label=os.fspath(path),
                                         flags=flags)
        except FormatError as error:
            raise ValueError(str(error)) from error
        except MissingFileError as error:
            raise FileNotFoundError(str(error)) from error
        if self._model.format != "gguf":
            raise ValueError("GGUF magic invalid")
        [[_, _, _, self._data_offset, self._count, version, big]] = self._model.files_at()
        self.endianess = GGUFEndian.BIG if big else GGUFEndian.LITTLE
        self.byte_order: Literal["I", "S"] = "S" if big else "I"
        self._metadata = Metadata(self._model)
        self.fields = _Fields(self, version, self._count, len(self._keys))

    @cached_property
    def _keys(self) -> list[str]:
        keys = []
        for entry in self._metadata.entries():
            if entry.file is None:
                break
            keys.append(entry.key)
        return keys

    @cached_property
    def _offsets(self) -> dict[str, int]:
        at, offsets = _HEADER_BYTES, {}
        for key in self._keys:
            offsets[key] = at
            at += self.fields[key].nbytes
        return offsets

    @cached_property
    def alignment(self) -> int:
        """Alignment of the tensor data, in bytes."""
        return self._metadata.get("general.alignment", GGUF_DEFAULT_ALIGNMENT)

    @property
    def data_offset(self) -> int:
        """Offset of the tensor data, in bytes, also of a file that ends before it."""
        return -(-self._data_offset // self.alignment) * self.alignment

    @cached_property
    def tensors(self) -> list[ReaderTensor]:
        """The tensors, in the order of the file."""
        return [ReaderTensor(self._model.tensor_at(i)) for i in range(self._count)]

    def get_field(self, key: str) -> ReaderField | None:
        """Return a field, or None."""
        return self.fields.get(key)

    def get_tensor(self, idx: int) -> ReaderTensor:
        """Return the tensor with this index."""
        return self.tensors[idx]
