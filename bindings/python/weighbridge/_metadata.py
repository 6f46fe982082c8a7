"""The metadata of a model as a mapping."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ._core import Array
    from ._model import Model

_KINDS = ("any", "string", "int", "uint", "float", "bool", "array")


@dataclass(frozen=True, slots=True)
class MetadataEntry:
    """Describes a metadata entry.

    Attributes:
        key: the key
        type: ``"string"``, ``"int"``, ``"uint"``, ``"float"``, ``"bool"`` or ``"array"``
        element: type of the elements of an array, otherwise ``"any"``
        bits: size of the number, or of each number of an array; otherwise 0
        count: number of elements of an array, of bytes of a string; otherwise 1
        file: index of the file that has the entry; None if it is derived
    """

    key: str
    type: str
    element: str
    bits: int
    count: int
    file: int | None


def _entry(row: Any) -> MetadataEntry:
    key, kind, element, bits, count, file = row
    return MetadataEntry(key, _KINDS[kind], _KINDS[element], bits, count, file)


class Metadata(Mapping[str, Any]):
    """Key-value pairs. Values are str, int, float, bool, and lists of them.

    The entries of the weight files come first, in their order. Derived entries follow: those of
    config.json and of the tokenizer files, under their own names and under the keys of GGUF.
    """

    __slots__ = ("_model",)

    def __init__(self, model: Model) -> None:
        self._model = model

    def __getitem__(self, key: str) -> Any:
        return self._model.meta_get(key)

    def __contains__(self, key: object) -> bool:
        return isinstance(key, str) and self._model.meta_find(key) is not None

    def __iter__(self) -> Iterator[str]:
        return (entry.key for entry in self.entries())

    def __len__(self) -> int:
        return sum(1 for _ in self.entries())

    def entries(self) -> Iterator[MetadataEntry]:
        """Describe all entries without reading their values."""
        index = 0
        while (row := self._model.meta_at(index)) is not None:
            yield _entry(row)
            index += 1

    def entry(self, key: str) -> MetadataEntry:
        """Describe the entry with this key. KeyError if there is none."""
        index = self._model.meta_find(key)
        if index is None:
            raise KeyError(key)
        return _entry(self._model.meta_at(index))

    def array(self, key: str) -> Array:
        """Return an array of numbers or booleans as an :class:`Array`, without a list."""
        return self._model.meta_array(key)

    def __repr__(self) -> str:
        return f"<Metadata of {self._model!r}>"
