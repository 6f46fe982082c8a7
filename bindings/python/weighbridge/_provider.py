"""Weights in buffers on a device, as inference engines need them."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from . import _core
from ._core import Array
from ._dtypes import is_plain, name_of, number_of
from ._model import Model, open

__all__ = ["Buffer", "Provider", "Section", "load"]

_IO = {"auto": 0, "read": 2, "direct": 3}
_KEEP_SCALES, _DECODE = 1, 2
_HUGE_PAGES, _COPY = 1, 2


@dataclass(frozen=True, slots=True)
class Section:
    """The bytes of a buffer with the same role.

    Attributes:
        role: ``"values"``, ``"scales"``, ``"biases"``, ``"global_scale"`` or ``"order"``
        dtype: dtype of the elements
        offset: offset in the buffer, in bytes
        nbytes: size in bytes
        array: the section as an array on the device; None if its memory has no address (OpenCL)
    """

    role: str
    dtype: str
    offset: int
    nbytes: int
    array: Array | None


@dataclass(frozen=True)
class Buffer:
    """A weight in a buffer on the device. The buffer is in use as long as this object, or an array
    of it, exists.

    Attributes:
        shape: logical shape, after fusing and slicing
        sections: the sections
        dtype: number of the type after conversion (wb_encoding.dtype): 1 is F16
        bits, group_size, global_scale: as for :class:`weighbridge.Encoding`
        nbytes: size of the buffer
        part_rows: length of each fused part
        overflowed, underflowed: number of values that became infinite or 0 by conversion
        borrowed: the bytes of the file are used without a copy
    """

    shape: tuple[int, ...]
    sections: tuple[Section, ...]
    dtype: int
    bits: int
    group_size: int
    global_scale: int
    nbytes: int
    part_rows: tuple[int, ...]
    overflowed: int
    underflowed: int
    borrowed: bool

    def __getitem__(self, role: str) -> Section:
        for section in self.sections:
            if section.role == role:
                return section
        raise KeyError(role)

    @property
    def array(self) -> Array:
        """The values of a buffer with one section."""
        [section] = self.sections
        if section.array is None:
            raise ValueError("memory of OpenCL has no address")
        return section.array

    def numpy(self) -> Any:
        """Return the values as a numpy array, without a copy."""
        return self.array.numpy()

    def __dlpack__(self, **options: Any) -> Any:
        return self.array.__dlpack__(**options)

    def __dlpack_device__(self) -> tuple[int, int]:
        return self.array.__dlpack_device__()


def _buffer(fields: tuple) -> Buffer:
    shape, sections, *rest = fields
    return Buffer(shape, tuple(Section(*row) for row in sections), *rest)


class Provider:
    """Returns the weights of a model by name, each in one buffer on a device, cached.

    Args:
        model: an open model
        device: ``"host"``, ``"cuda"``, ``"cuda:1"`` or ``"opencl"``
        plain: what plain weights become: ``"f16"``, ``"keep"``, or a dtype (F32, F16, BF16)
        decode: decode quantized weights
        keep_scales: keep the dtype of the scales of affine weights; otherwise they become F16
        io: how files are read: ``"auto"``, ``"read"`` or ``"direct"``
        budget: upper limit of the memory for buffers, in bytes; 0: none
        vocab_multiple: pad the rows of the vocabulary to a multiple of this number
        copy: host: never use the bytes of a file without a copy
        huge_pages: host: use huge pages
        segment, segment_bytes: host: share buffers with other processes, see docs/provider.md
        name: OpenCL: part of the name of the device
        library: path of the library of the driver
    """

    def __init__(self, model: Model, device: str = "host", *,
                 plain: Literal["f16", "keep"] | str = "f16", decode: bool = False,
                 keep_scales: bool = False, io: str = "auto", budget: int = 0,
                 vocab_multiple: int = 0, copy: bool = False, huge_pages: bool = False,
                 segment: str | os.PathLike | None = None, segment_bytes: int = 0,
                 name: str | None = None, library: str | os.PathLike | None = None) -> None:
        kind, _, ordinal = device.partition(":")
        policy = {"f16": 0, "keep": 1}.get(plain, 2)
        self._inner = _core.provider(
            model, "host" if kind == "cpu" else kind, ordinal=int(ordinal or 0), name=name,
            library=library, segment=segment, segment_bytes=segment_bytes,
            host_flags=_HUGE_PAGES * huge_pages | _COPY * copy, plain=policy,
            dtype=number_of(plain) if policy == 2 else 0,
            flags=_KEEP_SCALES * keep_scales | _DECODE * decode, io=_IO[io], budget=budget,
            vocab_multiple=vocab_multiple)

    def get(self, name: str) -> Buffer:
        """Return the buffer of a weight."""
        return _buffer(self._inner.get_fields(name, 0, 0, 0))

    def fuse(self, *names: str, free_parts: bool = False) -> Buffer:
        """Return a buffer with the rows of several weights."""
        return _buffer(self._inner.fuse_fields(names, free_parts))

    def slice(self, name: str, axis: int, rank: int, of: int) -> Buffer:
        """Return the slice of a weight that one of several ranks gets (tensor parallelism)."""
        if of < 1:
            raise ValueError("of, the number of ranks, is at least 1")
        return _buffer(self._inner.get_fields(name, axis, rank, of))

    def prefetch(self, names: Iterable[str] | None = None) -> None:
        """Load weights into the cache on all processors; None: those with a canonical name."""
        self._inner.prefetch_names(None if names is None else tuple(names))

    def __contains__(self, name: str) -> bool:
        return self._inner.has(name)

    def trim(self) -> None:
        """Free all cached buffers that are not in use."""
        self._inner.trim()

    @property
    def stats(self) -> dict[str, int]:
        """Figures of the cache, see wb_cache_stats."""
        return self._inner.stats()

    def close(self) -> None:
        """Close the provider. Buffers and arrays that exist stay valid."""
        self._inner.close()

    def __enter__(self) -> Provider:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()


class Weights(Mapping[str, Any]):
    """The loaded weights of a model: a mapping of names to arrays and buffers."""

    def __init__(self, model: Model, provider: Provider, names: tuple[str, ...]) -> None:
        self.model = model
        self.provider = provider
        self._names = dict.fromkeys(names)

    def __getitem__(self, name: str) -> Array | Buffer:
        if name not in self._names:
            raise KeyError(name)
        buffer = self.provider.get(name)
        return buffer.array if len(buffer.sections) == 1 and buffer.sections[0].array else buffer

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)


def load(
    source: Any,
    device: str = "cpu",
    *,
    dtype: object = None,
    decode: bool = False,
    names: Iterable[str] | None = None,
    copy: bool = True,
    **options: Any,
) -> Weights:
    """Load weights onto a device, on all processors.

    Args:
        source: a path, or an open model
        device: ``"cpu"``, ``"cuda"``, ``"cuda:1"`` or ``"opencl"``
        dtype: F32, F16 or BF16: what plain weights of these dtypes become; None: unchanged
        decode: decode quantized weights to `dtype`, or F32
        names: the weights to load; None: all
        copy: cpu: load into memory of the process; False: show the bytes of the files if possible
        options: those of :class:`Provider`

    Returns:
        a mapping of names to :class:`weighbridge.Array`, which numpy, torch, jax and others take
        through DLPack; quantized weights are a :class:`Buffer`
    """
    model = source if isinstance(source, Model) else open(source)
    plain = "keep" if dtype is None and not decode else name_of(dtype or "F32")
    provider = Provider(model, device, plain=plain, decode=decode, copy=copy, **options)
    wanted = tuple(model) if names is None else tuple(names)
    provider.prefetch(wanted)
    return Weights(model, provider, wanted)
