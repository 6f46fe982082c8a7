"""Writing models."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import Any, Literal

from . import _core
from ._dtypes import name_of, number_of
from ._model import Model
from ._progress import Progress, reporting
from ._tensor import Tensor
from ._types import File
from ._values import value_of

__all__ = ["Writer", "save"]

Format = Literal["safetensors", "gguf", "mlx", "ollama", "npz"]
_FORCE, _BIG_ENDIAN, _ALIGN_TENSORS, _FOLDER, _FEB2026 = 1, 2, 4, 8, 16


class Writer:
    """Writes a model in five steps: declare, plan, begin, put, commit.

    Existing files stay unchanged until :meth:`commit`. A writer that is dropped before leaves
    nothing. :func:`weighbridge.save` is simpler for tensors that are in memory.

    Args:
        format: format of the result
        force: replace an existing file, directory or model
        big_endian: GGUF: store numbers most significant byte first
        align_tensors: safetensors: align each tensor to `alignment`
        folder: safetensors: the path is that of a directory that does not exist yet
        alignment: in bytes, a power of two of at least 8; 0: the default of the format
        max_file_bytes, max_file_tensors: limits of a file; 0: none
        source: a model whose files are not overwritten, and must be unchanged at the commit
        store: directory of an Ollama store
    """

    def __init__(self, format: Format, *, force: bool = False, big_endian: bool = False,
                 align_tensors: bool = False, folder: bool = False, feb2026: bool = False,
                 alignment: int = 0, max_file_bytes: int = 0, max_file_tensors: int = 0,
                 source: Model | None = None, store: str | os.PathLike | None = None) -> None:
        flags = (_FORCE * force | _BIG_ENDIAN * big_endian | _ALIGN_TENSORS * align_tensors |
                 _FOLDER * folder | _FEB2026 * feb2026)
        self._inner = _core.writer(
            format, flags=flags, alignment=alignment, max_file_bytes=max_file_bytes,
            max_file_tensors=max_file_tensors, source=source, store=store)

    # ---- declare ----

    def set(self, key: str, value: Any) -> None:
        """Set a metadata entry: a str, int, float, bool, a sequence, or a ``Value``."""
        self._inner.set(key, value_of(value).packed())

    def copy_metadata(self, model: Model, key: str) -> None:
        """Set a metadata entry to an unchanged copy of that of `model`."""
        index = model.meta_find(key)
        if index is None:
            raise KeyError(key)
        self._inner.copy_meta(model, index)

    def add(self, name: str, dtype: object, shape: Iterable[int]) -> int:
        """Declare a tensor, and return its index."""
        return self._inner.add(name, number_of(dtype), tuple(map(int, shape)))

    def set_packing(self, index: int, type: str, group_size: int) -> None:
        """Ollama: declare that a tensor has the packed values of a quantized weight."""
        self._inner.set_packing(index, type, group_size)

    def set_whole(self, model: Model) -> None:
        """Make the result an unchanged copy of the only file of `model`, a GGUF file."""
        self._inner.set_whole(model)

    def add_sidecar(self, name: str, content: bytes | str | os.PathLike) -> None:
        """Add a sidecar file such as config.json: its bytes, or the path of a file to copy."""
        if isinstance(content, (str, os.PathLike)):
            self._inner.add_sidecar(name, None, content)
        else:
            self._inner.add_sidecar(name, content, None)

    # ---- write ----

    def plan(self, path: str | os.PathLike | None) -> list[File]:
        """Compute the layout of all files, and return it. None: for a file descriptor."""
        self._inner.plan(path)
        return self.files

    @property
    def files(self) -> list[File]:
        """The planned files."""
        return [File(*row) for row in self._inner.files_at()]

    @property
    def order(self) -> list[int]:
        """The indices of the tensors, in the order of their bytes in the result."""
        return self._inner.order()

    def check(self) -> None:
        """Check whether the planned files can be written, without creating anything."""
        self._inner.check()

    def begin(self, fd: int = -1) -> None:
        """Create temporary files, or begin to write to a file descriptor in the order of bytes."""
        self._inner.begin(fd, f"descriptor {fd}")

    def put(self, index: int, data: Any, offset: int = 0) -> None:
        """Write bytes of a tensor, from byte `offset` on. Several threads may do so."""
        self._inner.put(index, offset, data)

    def copy(self, index: int, tensor: Tensor, offset: int = 0) -> None:
        """Copy the stored bytes of a tensor of a model, inside the file system if possible."""
        self._inner.copy(index, offset, tensor.model, tensor.index)

    def commit(self, *, progress: Progress = None) -> None:
        """Flush all files to the disk and give them their final names."""
        with reporting(progress, "write") as report:
            self._inner.commit(report)


def as_bytes(value: Any) -> tuple[str, tuple[int, ...], Any]:
    """Return dtype, shape and contiguous little-endian bytes of an array of any library."""
    if isinstance(value, (Tensor, _core.Array)):
        stored = value.array() if isinstance(value, Tensor) else value
        return stored.dtype, stored.shape, stored.raw()
    if type(value).__module__.partition(".")[0] == "torch":
        from ._torch import to_bytes

        return to_bytes(value)
    import numpy

    array = numpy.asarray(value)
    if array.dtype.byteorder == ">":
        array = array.astype(array.dtype.newbyteorder("<"))
    shape = array.shape
    return name_of(array.dtype), shape, numpy.ascontiguousarray(array).reshape(-1).view(numpy.uint8)


def save(
    path: str | os.PathLike,
    tensors: Mapping[str, Any],
    metadata: Mapping[str, Any] | None = None,
    *,
    format: Format | None = None,
    progress: Progress = None,
    **options: Any,
) -> None:
    """Write tensors that are in memory to a file, which appears complete or not at all.

    Args:
        path: path of the file. Its suffix chooses the format: .safetensors, .gguf or .npz
        tensors: arrays of numpy, torch or others that numpy understands, with any strides
        metadata: metadata; for safetensors strings
        format: format of the file, if the suffix does not say it
        progress: True, or a function of the bytes done and in total
        options: those of :class:`Writer`
    """
    suffix = os.path.splitext(os.fspath(path))[1].lstrip(".")
    if format is None and suffix not in ("safetensors", "gguf", "npz"):
        raise ValueError(f"the suffix {suffix!r} names no format; pass format=")
    writer = Writer(format or suffix, **options)  # type: ignore[arg-type]
    for key, value in (metadata or {}).items():
        writer.set(key, value)
    values = []
    for name, value in tensors.items():
        dtype, shape, data = as_bytes(value)
        values.append((writer.add(name, dtype, shape), data))
    writer.plan(path)
    writer.begin()
    for index, data in values:
        writer.put(index, data)
    writer.commit(progress=progress)
