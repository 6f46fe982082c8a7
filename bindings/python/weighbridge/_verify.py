"""Verifying, hashing and comparing models."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from . import _core
from ._model import Model, open
from ._progress import Progress, reporting
from ._types import Findings

__all__ = ["Diff", "Distance", "Hashes", "MetadataDiff", "TensorDiff", "TensorHash", "diff", "hash",
           "verify"]

Source = Any  # a Model, or whatever weighbridge.open accepts
_DEEP = 1


def _opened(source: Source) -> Model:
    return source if isinstance(source, Model) else open(source, access="read")


def verify(
    source: Source,
    *,
    deep: bool = False,
    budget: int = 0,
    manifest: str | os.PathLike | None = None,
    compatible: bool = False,
    store: str | os.PathLike | None = None,
    families: Sequence[str | os.PathLike | bytes] | None = None,
    progress: Progress = None,
) -> Findings:
    """Verify a model: its structure, and its values as far as `budget` permits.

    Args:
        source: a path, or an open model
        deep: read all bytes of the tensors, to find NaN and infinity
        budget: number of bytes of tensor data to read without `deep`; 0: 64 MiB
        manifest: path of a manifest of :func:`hash`, with which all files are compared
        compatible, store, families: as for :func:`weighbridge.open`
        progress: True, or a function of the bytes done and in total

    Returns:
        the findings, also if the model cannot be opened. ``findings.verdict`` is 0 if the model is
        valid, 1 if values are damaged or doubtful, 2 if it is refused
    """
    where: dict[str, Any] = {"model": source} if isinstance(source, Model) else {"path": source}
    with reporting(progress, "verify") as report:
        verdict, rows = _core.verify(
            **where, open_flags=int(compatible), store=store, flags=_DEEP if deep else 0,
            budget=budget, manifest=manifest, progress=report, families=families)
    return Findings(rows, verdict)


# ---- digests ----

_FILES, _VALUES, _CHUNKS = 1, 2, 4


@dataclass(frozen=True, slots=True)
class TensorHash:
    """The SHA-256 digest of the values of a tensor, the same for every format and dtype.

    Attributes:
        name: canonical name, or the native one if there is none
        digest: 32 bytes
        index: index of the tensor in the model
        nan, infinite: number of such values
        is_canonical: `name` is canonical
        counts: the tensor is part of the digest of all values
    """

    name: str
    digest: bytes
    index: int
    nan: int
    infinite: int
    is_canonical: bool
    counts: bool


@dataclass(frozen=True)
class Hashes:
    """Digests of a model.

    Attributes:
        values: digest of the values of all tensors, or None
        files: digest of each file, by path
        tensors: digest of each tensor, by name
        manifest: text of a manifest for :func:`verify`, or None
    """

    values: bytes | None
    files: dict[str, bytes]
    tensors: dict[str, TensorHash]
    manifest: bytes | None

    def __str__(self) -> str:
        return self.values.hex() if self.values else ""


def hash(  # noqa: A001 - the name of the command
    source: Source,
    *,
    files: bool = True,
    values: bool = True,
    manifest: bool = False,
    progress: Progress = None,
) -> Hashes:
    """Compute SHA-256 digests of the files and of the values of a model.

    Args:
        source: a path, or an open model
        files: digest each file, as sha256sum does
        values: digest the values of each tensor, as binary32 with rows in the order of Hugging Face
        manifest: also make a manifest, with digests of each MiB of the files
        progress: True, or a function of the bytes done and in total
    """
    flags = (_FILES if files or manifest else 0) | (_VALUES if values else 0)
    if not flags:
        raise ValueError("nothing to hash: files and values are both False")
    model = _opened(source)
    with reporting(progress, "hash") as report:
        total, of_files, tensors, text = _core.hash(
            model, flags=flags | (_CHUNKS if manifest else 0), progress=report)
    rows = [TensorHash(*row) for row in tensors]
    paths = [file.path for file in model.files]
    return Hashes(total, dict(zip(paths, of_files)), {row.name: row for row in rows},
                  None if text is None else b"".join(text))


# ---- differences ----

NAMES, CONFIG, METADATA, SHAPES, ENCODINGS, VALUES = 1, 2, 4, 8, 16, 32
_KINDS = {"names": NAMES, "config": CONFIG, "metadata": METADATA, "shapes": SHAPES,
          "encodings": ENCODINGS, "values": VALUES}


def _kinds_of(bits: int) -> frozenset[str]:
    return frozenset(name for name, bit in _KINDS.items() if bits & bit)


@dataclass(frozen=True, slots=True)
class Distance:
    """Distance between values of model a and values of model b.

    Attributes:
        values: number of values compared
        different: number of values with different bits
        not_finite: number of different values that are NaN or infinite in either model
        nmse: sum of (b - a)² / sum of a²
        maximum: largest absolute value of b - a
        cosine: cosine similarity
        snr: -10 log10(nmse), in decibels
    """

    values: int
    different: int
    not_finite: int
    nmse: float
    maximum: float
    cosine: float
    snr: float


@dataclass(frozen=True, slots=True)
class TensorDiff:
    """How a tensor differs.

    Attributes:
        name: canonical name, or the native one
        a, b: index of the tensor in each model; None: not in this model
        differs: which of "names", "shapes", "encodings" and "values" differ
        distance: the distance of the values, or None if they were not compared
    """

    name: str
    a: int | None
    b: int | None
    differs: frozenset[str]
    distance: Distance | None


@dataclass(frozen=True, slots=True)
class MetadataDiff:
    """A metadata entry that differs: its key, and its index in each model or None."""

    key: str
    a: int | None
    b: int | None


@dataclass(frozen=True)
class Diff:
    """The differences between two models. False if there are none.

    Attributes:
        kinds: which of "names", "config", "metadata", "shapes", "encodings", "values" differ
        distance: one distance over the values of all compared tensors
        config: names of the config fields that differ
        tensors: all tensors, the largest difference first
        metadata: the metadata entries that differ
    """

    kinds: frozenset[str]
    distance: Distance
    config: tuple[str, ...]
    tensors: list[TensorDiff]
    metadata: list[MetadataDiff]

    def __bool__(self) -> bool:
        return bool(self.kinds)


def diff(
    a: Source,
    b: Source,
    *,
    kinds: Iterable[str] | None = None,
    progress: Progress = None,
) -> Diff:
    """Compare two models of any formats and quantizations.

    Args:
        a, b: paths, or open models
        kinds: what to compare: some of "names", "config", "metadata", "shapes", "encodings" and
            "values"; None: all
        progress: True, or a function of the bytes done and in total
    """
    bits = 0 if kinds is None else sum({_KINDS[kind] for kind in kinds})
    first, second = _opened(a), _opened(b)
    with reporting(progress, "diff") as report:
        found, distance, config, tensors, metadata = _core.diff(
            first, second, kinds=bits, progress=report)
    names = [row[0] for row in first.config_fields()]
    return Diff(
        _kinds_of(found), Distance(*distance),
        tuple(names[i] for i in config),
        [TensorDiff(name, i, j, _kinds_of(differs), far and Distance(*far))
         for name, i, j, differs, far in tensors],
        [MetadataDiff(*row) for row in metadata])
