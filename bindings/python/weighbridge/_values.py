"""Metadata values with the types of GGUF."""

from __future__ import annotations

import array
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ._metadata import MetadataEntry

__all__ = ["Value"]

STRING, INT, UINT, FLOAT, BOOL, ARRAY = 1, 2, 3, 4, 5, 6

#: name of a type -> number of wb_meta_type, bits, typecode of the module array
TYPES: dict[str, tuple[int, int, str]] = {
    "u8": (UINT, 8, "B"), "i8": (INT, 8, "b"), "u16": (UINT, 16, "H"), "i16": (INT, 16, "h"),
    "u32": (UINT, 32, "I"), "i32": (INT, 32, "i"), "u64": (UINT, 64, "Q"), "i64": (INT, 64, "q"),
    "f32": (FLOAT, 32, "f"), "f64": (FLOAT, 64, "d"), "bool": (BOOL, 8, "B"), "str": (STRING, 0, ""),
}


@dataclass(frozen=True)
class Value:
    """A metadata value with an explicit type.

    Attributes:
        type: ``"u8"``, ``"i8"``, … ``"u64"``, ``"i64"``, ``"f32"``, ``"f64"``, ``"bool"``,
            ``"str"``; with ``"[]"`` behind it an array of them
        value: a str, int, float or bool, or a sequence of them
    """

    type: str
    value: Any

    def __post_init__(self) -> None:
        if self.type.removesuffix("[]") not in TYPES:
            raise ValueError(f"{self.type!r} is not a type of metadata values")

    def packed(self) -> tuple:
        """Return the value as the extension module takes it."""
        name = self.type.removesuffix("[]")
        if self.type != name:
            return _packed_array(name, self.value)
        kind, bits, code = TYPES[name]
        if kind in (INT, UINT):
            array.array(code, [self.value])  # raises OverflowError if the number does not fit
        return kind, bits if kind != BOOL else 0, 0, self.value


def _packed_array(name: str, values: Sequence) -> tuple:
    kind, bits, code = TYPES[name]
    if kind == STRING:
        return ARRAY, 0, STRING, list(values)
    if kind == BOOL:
        return ARRAY, 0, BOOL, bytes(map(bool, values))
    return ARRAY, bits, kind, array.array(code, values)


def _whole_type(values: Sequence[int]) -> str:
    low, high = min(values, default=0), max(values, default=0)
    for name, least, most in (("u32", 0, 2**32), ("i32", -2**31, 2**31), ("u64", 0, 2**64),
                              ("i64", -2**63, 2**63)):
        if least <= low and high < most:
            return name
    raise OverflowError("the integer needs more than 64 bits")


def _guess(values: Sequence) -> str:
    """Return the type of values without one: as for ``wb edit --set``."""
    if all(isinstance(value, bool) for value in values) and len(values):
        return "bool"
    if all(isinstance(value, str) for value in values):
        return "str"
    if all(isinstance(value, int) for value in values):
        return _whole_type(values)
    if all(isinstance(value, (int, float)) for value in values):
        return "f32"
    raise TypeError("a metadata value is a str, int, float or bool, or a sequence of one of them")


def _of_entry(entry: MetadataEntry) -> str:
    kind = entry.element if entry.type == "array" else entry.type
    name = {"string": "str", "bool": "bool"}.get(kind) or f"{kind[0]}{entry.bits}"
    return name + "[]" * (entry.type == "array")


def value_of(value: Any, entry: MetadataEntry | None = None) -> Value:
    """Return `value` with a type: that of the entry that it replaces, or one that fits."""
    if isinstance(value, Value):
        return value
    if hasattr(value, "tolist"):  # an array or a scalar of numpy
        value = value.tolist()
    is_array = isinstance(value, Sequence) and not isinstance(value, (str, bytes))
    if entry is not None and entry.file is not None and is_array == (entry.type == "array"):
        return Value(_of_entry(entry), value)
    return Value(_guess(value) + "[]", value) if is_array else Value(_guess([value]), value)
