"""The enumerations of the package gguf."""

from __future__ import annotations

from enum import IntEnum
from typing import Any

from .._dtypes import TABLE

GGUF_MAGIC = 0x46554747
GGUF_VERSION = 3
GGUF_DEFAULT_ALIGNMENT = 32
GGML_QUANT_VERSION = 2

class GGMLQuantizationType(IntEnum):
    """The element types of ggml."""

    F32 = 0
    F16 = 1
    Q4_0 = 2
    Q4_1 = 3
    Q5_0 = 6
    Q5_1 = 7
    Q8_0 = 8
    Q8_1 = 9
    Q2_K = 10
    Q3_K = 11
    Q4_K = 12
    Q5_K = 13
    Q6_K = 14
    Q8_K = 15
    IQ2_XXS = 16
    IQ2_XS = 17
    IQ3_XXS = 18
    IQ1_S = 19
    IQ4_NL = 20
    IQ3_S = 21
    IQ2_S = 22
    IQ4_XS = 23
    I8 = 24
    I16 = 25
    I32 = 26
    I64 = 27
    F64 = 28
    IQ1_M = 29
    BF16 = 30
    TQ1_0 = 34
    TQ2_0 = 35
    MXFP4 = 39
    NVFP4 = 40
    Q1_0 = 41
    Q2_0 = 42


#: Number of elements and of bytes of a block, for each type.
GGML_QUANT_SIZES = {kind: (TABLE[kind.name][1], TABLE[kind.name][2] // 8)
                    for kind in GGMLQuantizationType}


class GGUFEndian(IntEnum):
    """The byte order of a file."""

    LITTLE = 0
    BIG = 1


class GGUFValueType(IntEnum):
    """The type of a metadata value."""

    UINT8 = 0
    INT8 = 1
    UINT16 = 2
    INT16 = 3
    UINT32 = 4
    INT32 = 5
    FLOAT32 = 6
    BOOL = 7
    STRING = 8
    ARRAY = 9
    UINT64 = 10
    INT64 = 11
    FLOAT64 = 12

    @staticmethod
    def get_type(val: Any) -> GGUFValueType:
        """Return the type that the writer chooses for an element of an array."""
        for types, kind in (((str, bytes, bytearray), GGUFValueType.STRING),
                            (list, GGUFValueType.ARRAY), (float, GGUFValueType.FLOAT32),
                            (bool, GGUFValueType.BOOL), (int, GGUFValueType.INT32)):
            if isinstance(val, types):
                return kind
        raise ValueError(f"Unknown type: {type(val)}")


#: GGUF type -> name of a type of weighbridge.Value, and dtype of numpy
VALUE_TYPES: dict[GGUFValueType, tuple[str, str]] = {
    GGUFValueType.UINT8: ("u8", "u1"), GGUFValueType.INT8: ("i8", "i1"),
    GGUFValueType.UINT16: ("u16", "u2"), GGUFValueType.INT16: ("i16", "i2"),
    GGUFValueType.UINT32: ("u32", "u4"), GGUFValueType.INT32: ("i32", "i4"),
    GGUFValueType.FLOAT32: ("f32", "f4"), GGUFValueType.BOOL: ("bool", "?"),
    GGUFValueType.STRING: ("str", "u1"), GGUFValueType.UINT64: ("u64", "u8"),
    GGUFValueType.INT64: ("i64", "i8"), GGUFValueType.FLOAT64: ("f64", "f8"),
}

#: Name of a type of weighbridge.Value -> GGUF type
TYPES_BY_NAME = {name: kind for kind, (name, _) in VALUE_TYPES.items()}
