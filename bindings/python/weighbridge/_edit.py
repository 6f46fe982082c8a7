"""Editing the header of a file, and listing an Ollama store."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from . import _core
from ._model import open
from ._values import value_of

__all__ = ["Edited", "StoreEntry", "edit", "list_store", "recover"]

_SET, _DELETE, _RENAME_KEY, _RENAME, _DROP = 1, 2, 3, 4, 5
_DRY_RUN, _IN_PLACE, _ALIGN_TENSORS = 1, 2, 4
_WAYS: tuple = ("nothing", "header", "insert", "new file")


@dataclass(frozen=True, slots=True)
class Edited:
    """How a file was edited.

    Attributes:
        way: ``"nothing"``: no change was necessary; ``"header"``: the header was overwritten in
            place; ``"insert"``: space was inserted before the data; ``"new file"``: the file was
            replaced atomically
        header_bytes: size of the new header
        inserted: number of bytes inserted before the data
        nbytes: size of the file after the edit
    """

    way: Literal["nothing", "header", "insert", "new file"]
    header_bytes: int
    inserted: int
    nbytes: int


def edit(
    path: str | os.PathLike,
    *,
    set: Mapping[str, Any] | None = None,  # noqa: A002 - the name of the command's option
    delete: Iterable[str] = (),
    rename_keys: Mapping[str, str] | None = None,
    rename: Mapping[str, str] | None = None,
    drop: Iterable[str] = (),
    alignment: int = 0,
    align_tensors: bool = False,
    in_place: bool = False,
    dry_run: bool = False,
) -> Edited:
    """Edit metadata and tensor names of a safetensors or GGUF file. All edits apply, or none.

    Args:
        path: the file, which may be one of several of a model
        set: metadata keys and values. A value gets the type of the key that it replaces; a new one
            gets a type that fits, or that of a :class:`weighbridge.Value`
        delete: metadata keys to delete; it is no error if they do not exist
        rename_keys: metadata keys and their new names
        rename: tensor names and their new names
        drop: names of tensors to remove
        alignment: new alignment of the data, in bytes; 0: unchanged
        align_tensors: safetensors: align each tensor
        in_place: change the file in place even if it could be replaced atomically
        dry_run: report how the file would be edited, without changing it

    Raises:
        NotFoundError: a tensor, or a key to rename, does not exist
        ArgumentError: a new name already exists
    """
    edits: list[tuple] = [(_RENAME_KEY, key, new, None) for key, new in (rename_keys or {}).items()]
    edits += [(_DELETE, key, None, None) for key in delete]
    edits += _sets(path, set or {})
    edits += [(_RENAME, name, new, None) for name, new in (rename or {}).items()]
    edits += [(_DROP, name, None, None) for name in drop]
    flags = _DRY_RUN * dry_run | _IN_PLACE * in_place | _ALIGN_TENSORS * align_tensors
    way, header, inserted, nbytes = _core.edit(path, edits, flags=flags, alignment=alignment)
    return Edited(_WAYS[way], header, inserted, nbytes)


def _sets(path: str | os.PathLike, values: Mapping[str, Any]) -> list[tuple]:
    if not values:
        return []
    with open(path, access="read") as model:
        metadata = model.metadata
        return [(_SET, key, None, value_of(value, metadata.entry(key) if key in metadata else None)
                 .packed()) for key, value in values.items()]


def recover(path: str | os.PathLike) -> bool:
    """Revert an edit that a crash interrupted. Return whether there was one."""
    return _core.edit_recover(path)


@dataclass(frozen=True, slots=True)
class StoreEntry:
    """A model of an Ollama store.

    Attributes:
        name: name that :func:`weighbridge.open` accepts
        path: path of the manifest
        nbytes: size of all layers, in bytes
        layers: number of layers
        tensors: number of layers that are tensors; 0 for a model in GGUF
        error: None, or why the manifest could not be read
    """

    name: str
    path: str
    nbytes: int
    layers: int
    tensors: int
    error: str | None


def list_store(store: str | os.PathLike | None = None) -> list[StoreEntry]:
    """List the models of an Ollama store; None: the default store. Reads only the manifests."""
    return [StoreEntry(*row) for row in _core.store_list(store)]
