"""safe_open: reading single tensors of a file."""

from __future__ import annotations

import os
from typing import Any

from .. import _core
from .._tensor import Tensor
from ..errors import Error
from ._errors import SafetensorError
from ._frameworks import convert, device_of, framework_of
from ._slices import selection_of

_COMPATIBLE, _COPY_ON_WRITE, _STORED = 1, 4, 8
_BACKENDS = {"mmap": 0, "pread": 1}


class _Model(_core.Model):
    """A safetensors file as it is: each stored tensor by itself."""


def _open_model(descriptor: int, label: str, backend: str) -> _core.Model:
    try:
        model = _core.open(_Model, Tensor, fd=descriptor, label=label, access=_BACKENDS[backend],
                           flags=_COMPATIBLE | _COPY_ON_WRITE | _STORED)
    except Error as error:
        raise SafetensorError(f"Error while deserializing header: {error}") from error
    if model.format != "safetensors":
        raise SafetensorError("Error while deserializing header: this is not a safetensors file, "
                              f"but a file in the format {model.format}")
    return model


def array_of(tensor: Tensor) -> _core.Array:
    """Return the values of a tensor: mapped, so that they may be changed, or read."""
    return tensor.map(False) or tensor.read(None, -1, None)


class PySafeSlice:
    """A tensor of a file, of which indexing reads a part."""

    def __init__(self, tensor: Tensor, framework: str, device: Any) -> None:
        self._tensor = tensor
        self._framework = framework
        self._device = device

    def get_shape(self) -> list[int]:
        """Return the shape of the tensor."""
        return list(self._tensor.shape)

    def get_dtype(self) -> str:
        """Return the dtype of the tensor, such as "F32"."""
        return self._tensor.dtype

    def __getitem__(self, key: Any) -> Any:
        if self._framework == "pytorch":
            part = convert(array_of(self._tensor), "pytorch", "cpu")[key]
            return part if self._device == "cpu" else part.to(self._device)
        index = selection_of(key, self._tensor.shape)
        return convert(self._tensor.read(index, -1, None), self._framework, self._device)


class safe_open:  # noqa: N801 - the name of the original
    """Open a safetensors file and return its tensors when they are asked for.

    Args:
        filename: path of the file
        framework: "pt", "np", "tf", "flax", "mlx" or "paddle", or a longer name of these
        device: the device of the tensors; other devices than "cpu" only with torch and paddle
        backend: "mmap": tensors show the mapped file; "pread": they are read
    """

    def __init__(self, filename: str | os.PathLike, framework: str, device: Any = "cpu", *,
                 backend: str = "mmap") -> None:
        if backend not in _BACKENDS:
            raise SafetensorError(f'backend "{backend}" is invalid (expected one of: "mmap", '
                                  '"pread")')
        path = os.fspath(filename)
        try:
            descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_CLOEXEC", 0))
        except OSError:
            raise FileNotFoundError(f"No such file or directory: {path}") from None
        try:
            self._begin(descriptor, str(path), framework, device, backend)
        finally:
            os.close(descriptor)

    def _begin(self, descriptor: int, label: str, framework: str, device: Any,
               backend: str) -> None:
        self._model: _core.Model | None = None
        self._framework = framework_of(framework)
        self._device = device_of(device, self._framework)
        self._model = _open_model(descriptor, label, backend)

    def _opened(self) -> _core.Model:
        if self._model is None:
            raise SafetensorError("File is closed")
        return self._model

    def _find(self, name: str) -> Tensor:
        model = self._opened()
        try:
            return model[name]
        except KeyError:
            raise SafetensorError(f"File does not contain tensor {name}") from None

    def __enter__(self) -> safe_open:
        return self

    def __exit__(self, *exception: object) -> None:
        if self._model is not None:
            self._model.close()
        self._model = None

    def keys(self) -> list[str]:
        """Return the names of the tensors, sorted."""
        return sorted(self._opened())

    def offset_keys(self) -> list[str]:
        """Return the names of the tensors in the order of their bytes."""
        model = self._opened()
        tensors = [model.tensor_at(i) for i in range(len(model))]
        return [tensor.name for tensor in sorted(tensors, key=lambda one: one.offset)]

    def metadata(self) -> dict[str, str] | None:
        """Return the metadata, or None if there is none."""
        model = self._opened()
        entries: dict[str, str] = {}
        index = 0
        while (row := model.meta_at(index)) is not None and row[5] is not None:
            entries[row[0]] = model.meta_get(row[0])
            index += 1
        return entries or None

    def get_tensor(self, name: str) -> Any:
        """Return a tensor."""
        return convert(array_of(self._find(name)), self._framework, self._device)

    def get_tensors(self) -> dict[str, Any]:
        """Return all tensors by name, in the order of their bytes."""
        return {name: self.get_tensor(name) for name in self.offset_keys()}

    def get_slice(self, name: str) -> PySafeSlice:
        """Return a tensor of which indexing reads a part."""
        return PySafeSlice(self._find(name), self._framework, self._device)


class _safe_open_handle(safe_open):  # noqa: N801 - the name of the original
    """Open a safetensors file from a file object."""

    def __init__(self, file: Any, framework: str, device: Any = "cpu", *,
                 backend: str = "mmap") -> None:
        if backend not in _BACKENDS:
            raise SafetensorError(f'backend "{backend}" is invalid (expected one of: "mmap", '
                                  '"pread")')
        name = getattr(file, "name", "file object")
        self._begin(file.fileno(), str(name), framework, device, backend)
