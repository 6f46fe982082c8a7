"""GGUFWriter: collects metadata and tensors, and writes them."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy

from .. import _core
from .._values import Value
from . import _keys
from ._constants import (GGUF_DEFAULT_ALIGNMENT, VALUE_TYPES, GGMLQuantizationType, GGUFEndian,
                         GGUFValueType)
from ._reader import quant_shape_from_byte_shape

_log = logging.getLogger(__name__)
_PLAIN = {"float16": "F16", "float32": "F32", "float64": "F64", "int8": "I8", "int16": "I16",
          "int32": "I32", "int64": "I64"}


@dataclass
class TensorInfo:
    """A declared tensor."""

    shape: tuple[int, ...]
    dtype: GGMLQuantizationType
    nbytes: int
    tensor: Any = None


def _text(value: Any) -> str:
    return value if isinstance(value, str) else bytes(value).decode("utf-8", "surrogateescape")


def _packed_array(values: Any, element: GGUFValueType | None) -> tuple:
    """Return an array as the extension module takes it."""
    if isinstance(values, (bytes, bytearray)) and element is None:
        element = GGUFValueType.UINT8
    if len(values) == 0:
        raise ValueError("Invalid GGUF metadata array. Empty array")
    if element is None:
        element = GGUFValueType.get_type(values[0])
        if any(GGUFValueType.get_type(value) is not element for value in values):
            raise ValueError("All items in a GGUF array should be of the same type")
    if element == GGUFValueType.ARRAY:
        return 6, 0, 6, [_packed_array(value, None) for value in values]
    if element == GGUFValueType.STRING:
        return 6, 0, 1, [_text(value) for value in values]
    return Value(VALUE_TYPES[element][0] + "[]", values).packed()


def _packed(value: Any, kind: GGUFValueType, element: GGUFValueType | None) -> tuple:
    if kind == GGUFValueType.ARRAY:
        return _packed_array(value, element)
    if kind == GGUFValueType.STRING:
        return 1, 0, 0, _text(value)
    return Value(VALUE_TYPES[kind][0], value.item() if hasattr(value, "item") else value).packed()


class GGUFWriter:
    """Writes a GGUF file, which appears complete or not at all.

    The file gets its name when all tensors are written, or at :meth:`close`.

    Args:
        path: path of the file
        arch: architecture of the model
        use_temp_file: ignored: tensors stay in memory until they are written
        endianess: byte order of the file; tensors are given in the order of this machine
        split_max_tensors, split_max_size: limits of a file; 0: none
        dry_run, small_first_shard: not supported
    """

    def __init__(self, path: os.PathLike | str | None, arch: str, use_temp_file: bool = False,
                 endianess: GGUFEndian = GGUFEndian.LITTLE, split_max_tensors: int = 0,
                 split_max_size: int = 0, dry_run: bool = False,
                 small_first_shard: bool = False) -> None:
        if dry_run or small_first_shard:
            raise ValueError("dry_run and small_first_shard are not supported")
        self.path = Path(path) if path else None
        self.arch = arch
        self.endianess = endianess
        self.data_alignment = GGUF_DEFAULT_ALIGNMENT
        self.kv_data: dict[str, tuple[Any, GGUFValueType, GGUFValueType | None]] = {}
        self.tensors: dict[str, TensorInfo] = {}
        self._limits = split_max_tensors, split_max_size
        self._writer: Any = None
        self._left: list[tuple[int, TensorInfo]] = []
        self.add_string("general.architecture", arch)

    # ---- metadata ----

    def add_key_value(self, key: str, val: Any, vtype: GGUFValueType,
                      sub_type: GGUFValueType | None = None) -> None:
        """Set a metadata entry."""
        if key in self.kv_data:
            _log.warning("Duplicated key name %r, overwriting it with new value %r", key, val)
        self.kv_data[key] = val, vtype, sub_type

    def add_string(self, key: str, val: str) -> None:
        """Set an entry to a string, unless it is empty."""
        if val:
            self.add_key_value(key, val, GGUFValueType.STRING)

    def add_array(self, key: str, val: Sequence[Any]) -> None:
        """Set an entry to an array, unless it is empty."""
        if len(val):
            self.add_key_value(key, val, GGUFValueType.ARRAY)

    def add_custom_alignment(self, alignment: int) -> None:
        """Set the alignment of the tensor data, in bytes."""
        if alignment <= 0 or alignment & (alignment - 1):
            raise ValueError("Invalid alignment: must be a non-zero power of two")
        self.data_alignment = alignment
        self.add_key_value("general.alignment", alignment, GGUFValueType.UINT32)

    def add_chat_template(self, value: str | Sequence[Mapping[str, str]]) -> None:
        """Set the chat template, or several named ones."""
        if isinstance(value, str):
            return self.add_string("tokenizer.chat_template", value)
        names, default = [], None
        for choice in value:
            name = "".join(c if c.isascii() and c.isalnum() else "_"
                           for c in choice.get("name", ""))
            template = choice.get("template")
            if name == "default":
                default = template
            elif name and template is not None:
                names.append(name)
                self.add_string(f"tokenizer.chat_template.{name}", template)
        if names:
            self.add_array("tokenizer.chat_templates", names)
        return None if default is None else self.add_string("tokenizer.chat_template", default)

    # ---- tensors ----

    def add_tensor_info(self, name: str, tensor_shape: Sequence[int], tensor_dtype: Any,
                        tensor_nbytes: int,
                        raw_dtype: GGMLQuantizationType | None = None) -> None:
        """Declare a tensor whose data follows with :meth:`write_tensor_data`."""
        self._check_open()
        if name in self.tensors:
            raise ValueError(f"Duplicated tensor name {name!r}")
        shape = tuple(map(int, tensor_shape))
        if raw_dtype is not None:
            kind = GGMLQuantizationType(raw_dtype)
            if numpy.dtype(tensor_dtype) == numpy.uint8:
                shape = quant_shape_from_byte_shape(shape, kind)
        elif numpy.dtype(tensor_dtype).name in _PLAIN:
            kind = GGMLQuantizationType[_PLAIN[numpy.dtype(tensor_dtype).name]]
        else:
            raise ValueError("Only F16, F32, F64, I8, I16, I32, I64 tensors are supported for now")
        self.tensors[name] = TensorInfo(shape, kind, tensor_nbytes)

    def add_tensor(self, name: str, tensor: Any, raw_shape: Sequence[int] | None = None,
                   raw_dtype: GGMLQuantizationType | None = None,
                   tensor_endianess: GGUFEndian | None = None) -> None:
        """Add a tensor, which may have any strides."""
        if tensor_endianess == GGUFEndian.BIG:
            tensor = tensor.byteswap()
        self.add_tensor_info(name, tensor.shape if raw_shape is None else raw_shape, tensor.dtype,
                             tensor.nbytes, raw_dtype)
        self.tensors[name].tensor = tensor

    # ---- writing ----

    def _check_open(self) -> None:
        if self._writer is not None:
            raise ValueError("Expected output file to be not yet opened")

    def write_header_to_file(self, path: os.PathLike | str | None = None) -> None:
        """Begin to write: nothing can be added afterwards."""
        self._check_open()
        self.path = Path(path) if path is not None else self.path
        if self.path is None:
            raise ValueError("the writer has no path")
        count, size = self._limits
        writer = _core.writer(
            "gguf", flags=2 if self.endianess == GGUFEndian.BIG else 0,
            alignment=max(8, self.data_alignment), max_file_tensors=count, max_file_bytes=size)
        for key, (value, kind, element) in self.kv_data.items():
            writer.set(key, _packed(value, kind, element))
        self._left = [(writer.add(name, int(info.dtype), info.shape), info)
                      for name, info in self.tensors.items()]
        writer.plan(self.path)
        writer.begin(-1, "")
        self._writer = writer

    def write_kv_data_to_file(self) -> None:
        """Do nothing: the metadata is written with the header."""

    def write_ti_data_to_file(self) -> None:
        """Do nothing: the descriptions of the tensors are written with the header."""

    def write_tensor_data(self, tensor: Any, tensor_endianess: GGUFEndian | None = None) -> None:
        """Write the data of the next tensor that was declared."""
        if self._writer is None:
            raise ValueError("Expected output file to contain tensor info or weights")
        if tensor_endianess == GGUFEndian.BIG:
            tensor = tensor.byteswap()
        index, info = self._left.pop(0)
        data = numpy.ascontiguousarray(tensor).reshape(-1).view(numpy.uint8)
        if data.nbytes != info.nbytes:
            raise ValueError(f"the tensor has {data.nbytes} bytes instead of {info.nbytes}")
        self._writer.put(index, 0, data)

    def write_tensors_to_file(self, *, progress: bool = False) -> None:
        """Write all tensors, and give the file its name."""
        for _, info in list(self._left):
            self.write_tensor_data(info.tensor)
            info.tensor = None
        self.close()

    def flush(self) -> None:
        """Do nothing: the file is flushed to the disk when it gets its name."""

    def close(self) -> None:
        """Give the file its name, if all tensors are written."""
        if self._writer is not None and not self._left:
            self._writer.commit(None)
            self._writer = None

    # ---- for all the methods that set one key (_keys.py) ----

    def add_expert_gating_func(self, value: Any) -> None:
        """Set the gating function of the experts."""
        self.add_uint32(f"{self.arch}.expert_gating_func", value.value)  # type: ignore[attr-defined]

    def add_pooling_type(self, value: Any) -> None:
        """Set the pooling of an embedding model."""
        self.add_uint32(f"{self.arch}.pooling_type", value.value)  # type: ignore[attr-defined]

    def add_rope_scaling_type(self, value: Any) -> None:
        """Set the kind of RoPE scaling."""
        self.add_string(f"{self.arch}.rope.scaling.type", value.value)


def _setter(key: str, kind: str) -> Callable[..., None]:
    """Return the method that sets a key."""

    def add(self: GGUFWriter, *args: Any) -> None:
        *number, value = args
        name = key.format(arch=self.arch, id=number[0] if number else "")
        if kind == "STRING":
            self.add_string(name, value)
        elif kind == "ARRAY" or kind == "UINT32_OR_ARRAY" and not isinstance(value, int):
            self.add_array(name, value)
        else:
            self.add_key_value(name, value, GGUFValueType[kind.removesuffix("_OR_ARRAY")])

    add.__doc__ = f"Set ``{key}``."
    return add


def _plain_setter(kind: GGUFValueType) -> Callable[..., None]:
    def add(self: GGUFWriter, key: str, val: Any) -> None:
        self.add_key_value(key, val, kind)

    add.__doc__ = f"Set an entry to a value of the type {kind.name}."
    return add


def _add_setters() -> None:
    for kind in VALUE_TYPES:
        if kind != GGUFValueType.STRING:
            setattr(GGUFWriter, f"add_{kind.name.lower()}", _plain_setter(kind))
    for group in ("UINT32", "INT32", "FLOAT32", "BOOL", "STRING", "ARRAY", "UINT32_OR_ARRAY"):
        for line in getattr(_keys, group).split("\n"):
            if line:
                method, key = line.split(" ")
                setattr(GGUFWriter, f"add_{method}", _setter(key, group))


_add_setters()
