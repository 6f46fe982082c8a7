"""Opening models."""

from __future__ import annotations

import os
from collections.abc import ItemsView, KeysView, Mapping, Sequence

from . import _core
from ._tensor import Tensor

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any, Literal

    from ._metadata import Metadata
    from ._types import Config, File, Findings

_ACCESS = {"map": 0, "read": 1, "snapshot": 2}
_COMPATIBLE, _FOLLOW_LINKS, _COPY_ON_WRITE = 1, 2, 4


class _Names(KeysView[str]):
    """The names of a model, each made when it is asked for."""

    _mapping: Mapping[str, Any]

    def __iter__(self) -> Iterator[str]:
        return iter(self._mapping)


class Model(_core.Model, Mapping[str, Tensor]):
    """A model: a mapping of the names of its tensors to lazy tensors.

    :func:`weighbridge.open` makes it. Iteration gives the names in the order of the files. Lookups
    accept native and canonical names. A model never changes; any number of threads may use it, and
    so may child processes after a fork. It can be pickled if it was opened from a path: the copy
    opens the path again.

    A model is a context manager. After :meth:`close`, questions about it raise
    :class:`~weighbridge.errors.ClosedError`, but arrays that show its memory stay valid.
    """

    __slots__ = ("_again", "_by_canonical_name", "__weakref__")

    _again: tuple | None
    _by_canonical_name: list[str] | None

    # ---- the mapping ----

    def __iter__(self) -> Iterator[str]:
        names = self._by_canonical_name
        return _core.Model.__iter__(self) if names is None else iter(names)

    def __len__(self) -> int:
        names = self._by_canonical_name
        return _core.Model.__len__(self) if names is None else len(names)

    def keys(self) -> KeysView[str]:
        """Return the names of all tensors."""
        return _Names(self)

    def items(self) -> ItemsView[str, Tensor]:
        """Return the names with the tensors."""
        return ItemsView(self)

    def __getitem__(self, name: str) -> Tensor:
        return _core.Model.__getitem__(self, name)

    def __contains__(self, name: object) -> bool:
        return _core.Model.__contains__(self, name)

    def __eq__(self, other: object) -> bool:
        return self is other

    def __hash__(self) -> int:
        return id(self)

    # ---- what the model says about itself ----

    @property
    def path(self) -> str | None:
        """The path by which the model was opened, or None."""
        return self._again[0] if self._again else None

    @property
    def files(self) -> list[File]:
        """The files of the model."""
        from ._types import File

        return [File(*row) for row in self.files_at()]

    @property
    def config(self) -> Config:
        """The hyperparameters, the same for the same model in any format."""
        from ._types import Config

        return Config._from_fields(self.config_fields())

    @property
    def metadata(self) -> Metadata:
        """Key-value pairs of the weight files, followed by those derived from sidecar files."""
        from ._metadata import Metadata

        return Metadata(self)

    @property
    def findings(self) -> Findings:
        """What opening the model found."""
        from ._types import Findings

        return Findings(self.findings_at())

    @property
    def nbytes(self) -> int:
        """Stored size of all tensors, in bytes."""
        return sum(self.tensor_at(i).nbytes for i in range(_core.Model.__len__(self)))

    @property
    def parameters(self) -> int:
        """Number of logical elements of all tensors."""
        return sum(self.tensor_at(i).size for i in range(_core.Model.__len__(self)))

    # ---- lifetime ----

    def __enter__(self) -> Model:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def __reduce__(self) -> tuple:
        if self._again is None:
            raise TypeError("only a model that was opened from a path can be pickled")
        path, options = self._again
        return _open_again, (path, options)

    def __repr__(self) -> str:
        if self.closed:
            return "<Model, closed>"
        where = f" {self.path!r}" if self.path else ""
        return f"<Model{where} {self.format}, {_core.Model.__len__(self)} tensors>"

    def _repr_html_(self) -> str:
        from ._html import model_tree

        return model_tree(self)


def _canonical_names(model: Model) -> list[str]:
    """Return the canonical names, once each, and the native name of tensors without one."""
    pairs = zip(_core.Model.__iter__(model), model.canonical_names())
    return list(dict.fromkeys(canonical or native for native, canonical in pairs))


def open(  # noqa: A001 - the name is the one that people expect
    source: str | os.PathLike | int | bytes | bytearray | memoryview,
    *,
    access: Literal["map", "read", "snapshot"] = "map",
    names: Literal["native", "canonical"] = "native",
    compatible: bool = False,
    follow_links: bool = False,
    writable: bool = False,
    store: str | os.PathLike | None = None,
    limits: dict[str, int] | None = None,
    families: Sequence[str | os.PathLike | bytes] | None = None,
) -> Model:
    """Open a model. The time depends on the size of the headers, not on that of the weights.

    Args:
        source: path of a file, of a directory or of one shard of a model; its address
            (``https://``, ``hf://owner/name``, ``s3://bucket/key``), of which only what is needed
            is fetched; name of a model in an Ollama store; a file descriptor; or the bytes of a
            file
        access: how values are read. ``"map"``: files are mapped, which is fastest. ``"read"``:
            files are read, so that a file that shrinks is an exception instead of SIGBUS.
            ``"snapshot"``: files are copied to memory now
        names: the names that iteration gives: those in the files, or those that are the same in
            every format
        compatible: accept files that violate the specification but that the reference
            implementation accepts
        follow_links: follow symbolic links that lead outside of the folder of the model
        writable: mapped arrays may be changed (copy on write); files are never changed
        store: directory of an Ollama store; None: the default store
        limits: upper limits for headers, see wb_limits in weighbridge/base.h
        families: tables of model families that the library does not have: paths of files, or
            texts as bytes; docs/dev/adding-a-family.md describes the tables

    Raises:
        MissingFileError: there is no such file
        FormatError: the file violates its format
        Error: for other reasons, see :mod:`weighbridge.errors`
    """
    if access not in _ACCESS or names not in ("native", "canonical"):
        raise ValueError("access is 'map', 'read' or 'snapshot'; names is 'native' or 'canonical'")
    options: dict[str, Any] = {
        "access": _ACCESS[access], "store": store, "limits": limits, "families": families,
        "flags": (_COMPATIBLE * compatible | _FOLLOW_LINKS * follow_links |
                  _COPY_ON_WRITE * writable)}
    again = None
    if isinstance(source, int):
        options.update(fd=source, label=f"descriptor {source}")
    elif isinstance(source, (str, os.PathLike)):
        options["path"] = source
        again = (os.fspath(source), dict(access=access, names=names, compatible=compatible,
                                         follow_links=follow_links, writable=writable, store=store,
                                         limits=limits, families=families))
    else:
        options.update(memory=source, label="memory")
    model: Any = _core.open(Model, Tensor, **options)
    model._again = again
    model._by_canonical_name = None
    if names == "canonical":
        model._by_canonical_name = _canonical_names(model)
    return model


def _open_again(path: str, options: dict) -> Model:
    """Open an unpickled model."""
    return open(path, **options)
