"""Converting models."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from enum import IntEnum
from typing import Any, Literal

from . import _core
from ._model import Model, open
from ._progress import Progress, reporting
from ._types import Findings

__all__ = ["Conversion", "Converted", "Fidelity", "convert", "plan"]

Target = Literal["gguf", "safetensors", "mlx", "ollama", "npz"]
_TARGETS = {"gguf": 1, "safetensors": 2, "mlx": 3, "ollama": 4, "npz": 5}
_STRICT, _FORCE, _FEB2026, _RESUME, _FORCE_LOSSY, _RAW = 1, 2, 4, 8, 16, 32


class Fidelity(IntEnum):
    """How a conversion changed the values of a tensor."""

    UNKNOWN = 0  #: known after the conversion
    EXACT = 1  #: the same values
    REPACKED = 2  #: the same codes and scales in another layout
    LOSSY = 3  #: some values changed


@dataclass(frozen=True, slots=True)
class Converted:
    """A tensor of the result.

    Attributes:
        name: name in the result
        source: name in the model, ``""`` for a computed tensor
        shape: logical shape
        nbytes: size of all parts in the result, in bytes
        before, after: encoding in the model and in the result
        wanted: requested encoding if it could not be used, otherwise ``""``
        fidelity: how the values changed
        nmse: sum of the squared errors / sum of the squared source values
        max_error: largest absolute error
        cosine: cosine similarity with the source
        overflowed: number of values outside the range of the type
    """

    name: str
    source: str
    shape: tuple[int, ...]
    nbytes: int
    before: str
    after: str
    wanted: str
    fidelity: Fidelity
    nmse: float
    max_error: float
    cosine: float
    overflowed: int


def _converted(*fields: Any) -> Converted:
    return replace(Converted(*fields), fidelity=Fidelity(fields[7]))


class Conversion:
    """A planned conversion. :func:`plan` makes it."""

    def __init__(self, inner: _core.Conversion) -> None:
        self._inner = inner

    @property
    def tensors(self) -> list[Converted]:
        """The tensors of the result; errors are known after :meth:`run`."""
        return [_converted(*row) for row in self._inner.rows()]

    @property
    def findings(self) -> Findings:
        """Data that the result cannot represent, and doubtful data."""
        return Findings(self._inner.findings_at())

    def check(self, path: str | os.PathLike) -> None:
        """Raise the exception that :meth:`run` would raise, as far as it is known before."""
        self._inner.check(path)

    def run(self, path: str | os.PathLike, *, progress: Progress = None) -> Conversion:
        """Convert, and write the result to `path`. It appears complete or not at all.

        An exception of `progress` and Ctrl-C cancel the conversion.
        """
        with reporting(progress, "convert") as report:
            self._inner.run(path, report)
        return self

    def _repr_html_(self) -> str:
        from ._html import conversion_table

        return conversion_table(self)


def plan(
    source: Any,
    to: Target,
    *,
    quant: str | None = None,
    rules: Mapping[str, str] | Iterable[tuple[str, str]] = (),
    importance: str | os.PathLike | None = None,
    loras: Iterable[str | os.PathLike | tuple[str | os.PathLike, float]] = (),
    max_memory: int = 0,
    max_file_bytes: int = 0,
    strict: bool = False,
    force: bool = False,
    resume: bool = False,
    force_lossy: bool = False,
    raw: bool = False,
    generation: Literal["current", "feb2026"] = "current",
    store: str | os.PathLike | None = None,
) -> Conversion:
    """Plan a conversion from the headers. Nothing is written.

    Args:
        source: a path, or an open model
        to: format of the result
        quant: quantization: a dtype, a file type of llama.cpp such as ``"Q4_K_M"``,
            ``"affine4:64"``, ``"mxfp4"``, … as for ``wb convert --quant``; None: unchanged
        rules: patterns of tensor names with the type that they get; the last match applies
        importance: importance matrix of llama.cpp
        loras: adapters to merge, each a path or a path with a scale
        max_memory: memory for tensors being converted, in bytes; 0: 256 MiB
        max_file_bytes: split the result into files of at most this many bytes; 0: no limit
        strict: raise UnsupportedError if a type cannot be used for a tensor
        force: replace an existing directory or model
        resume: keep the partial result of an interrupted conversion, and continue it
        force_lossy: convert also if programs that read the result compute something else than
            config.json specifies, with a finding, instead of raising UnsupportedError
        raw: copy the tensors of an unknown architecture under their own names, instead of raising
            UnsupportedError
        generation: format of Ollama blobs
        store: directory of the Ollama store for the result; None: the default store

    Raises:
        UnsupportedError: the target cannot represent a tensor or the architecture
        ArgumentError: an option is invalid
    """
    if to not in _TARGETS:
        raise ValueError(f"to is one of {', '.join(_TARGETS)}, not {to!r}")
    model = source if isinstance(source, Model) else open(source, access="read")
    pairs: Any = tuple(rules.items() if isinstance(rules, Mapping) else rules)
    adapters = tuple(one if isinstance(one, tuple) else (one, 1.0) for one in loras)
    flags = (_STRICT * strict | _FORCE * force | _RESUME * resume |
             _FORCE_LOSSY * force_lossy | _RAW * raw | _FEB2026 * (generation == "feb2026"))
    return Conversion(_core.plan(
        model, _TARGETS[to], quant=quant, rules=pairs, importance=importance, loras=adapters,
        max_memory=max_memory, max_file_bytes=max_file_bytes, flags=flags, store=store))


def convert(
    source: Any,
    path: str | os.PathLike,
    to: Target,
    *,
    progress: Progress = None,
    force: bool = False,
    **options: Any,
) -> Conversion:
    """Convert a model to another format or quantization: :func:`plan` and :meth:`Conversion.run`.

    Args:
        source: a path, or an open model
        path: path of the result, or the name of a model in an Ollama store
        to: format of the result
        progress: True, or a function of the bytes done and in total
        force: replace what exists at `path`
        options: those of :func:`plan`

    Raises:
        FileExistsError: `path` exists, and `force` is False
    """
    if to != "ollama" and not force and os.path.lexists(path):
        raise FileExistsError(17, "the result exists already; pass force=True to replace it",
                              os.fspath(path))
    return plan(source, to, force=force, **options).run(path, progress=progress)
