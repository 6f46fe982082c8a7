"""Element types: their numbers, and the names that numpy, torch and others have for them."""

from __future__ import annotations

from . import _core

#: name -> number, block_size, block_bits, is_float, is_complex, is_signed, decodes, encodes,
#: importance, description
TABLE: dict[str, tuple] = {row[1]: (row[0], *row[2:]) for row in _core.dtypes()}

#: Names of the same types in numpy, ml_dtypes and torch.
OTHER_NAMES: dict[str, str] = {
    "float32": "F32", "float16": "F16", "float64": "F64", "bfloat16": "BF16", "int8": "I8",
    "int16": "I16", "int32": "I32", "int64": "I64", "uint8": "U8", "uint16": "U16",
    "uint32": "U32", "uint64": "U64", "bool": "BOOL", "complex64": "C64",
    "float8_e4m3fn": "F8_E4M3", "float8_e5m2": "F8_E5M2", "float8_e8m0fnu": "F8_E8M0",
    "float8_e4m3fnuz": "F8_E4M3FNUZ", "float8_e5m2fnuz": "F8_E5M2FNUZ",
}

#: The names of numpy and ml_dtypes for each type that has one.
NUMPY_NAMES: dict[str, str] = {ours: theirs for theirs, ours in OTHER_NAMES.items()}


def name_of(dtype: object) -> str:
    """Return the name of a dtype: of its name in any spelling, or of a dtype of numpy or torch."""
    text = dtype if isinstance(dtype, str) else getattr(dtype, "name", None)
    if text is None:
        text = getattr(dtype, "__name__", None) or str(dtype)
    text = text.removeprefix("torch.")
    known = OTHER_NAMES.get(text)
    if known is None and text.upper() in TABLE:
        known = text.upper()
    if known is None:
        raise ValueError(f"{dtype!r} is not an element type; weighbridge.dtypes() lists them")
    return known


def number_of(dtype: object) -> int:
    """Return the wb_dtype number of a dtype; -1, the stored dtype, for None."""
    return -1 if dtype is None else TABLE[name_of(dtype)][0]


def is_plain(name: str) -> bool:
    """Return whether each element is stored by itself, in whole bytes."""
    row = TABLE[name]
    return row[1] == 1 and row[2] % 8 == 0
