"""A drop-in for the common use of the package ``gguf``: GGUFReader, GGUFWriter and the codecs.

It differs from the original in this:

- Opening takes the time of reading the header once. Fields and tensors are made on use.
- Arrays with any strides are written right, and a file appears complete or not at all.
- ``GGUFReader(mode="r+")`` is not supported: :func:`weighbridge.edit` changes files.
- Every type can be quantized and dequantized.
"""

from __future__ import annotations

from typing import Any

from ._constants import (GGML_QUANT_SIZES, GGML_QUANT_VERSION, GGUF_DEFAULT_ALIGNMENT, GGUF_MAGIC,
                         GGUF_VERSION, GGMLQuantizationType, GGUFEndian, GGUFValueType)
from ._reader import (GGUFReader, ReaderField, ReaderTensor, quant_shape_from_byte_shape,
                      quant_shape_to_byte_shape)
from ._writer import GGUFWriter, TensorInfo

__all__ = [
    "GGML_QUANT_SIZES", "GGML_QUANT_VERSION", "GGUF_DEFAULT_ALIGNMENT", "GGUF_MAGIC",
    "GGUF_VERSION", "GGMLQuantizationType", "GGUFEndian", "GGUFReader", "GGUFValueType",
    "GGUFWriter", "ReaderField", "ReaderTensor", "TensorInfo", "dequantize",
    "quant_shape_from_byte_shape", "quant_shape_to_byte_shape", "quantize",
]


def quantize(data: Any, qtype: GGMLQuantizationType) -> Any:
    """Encode values: F32 and F16 as floats, other types as the bytes of their rows."""
    from .._codec import quantize as encode

    kind = GGMLQuantizationType(qtype)
    if kind.name in ("F32", "F16"):
        return data.astype("f4" if kind.name == "F32" else "f2", copy=False)
    return encode(data, kind.name)


def dequantize(data: Any, qtype: GGMLQuantizationType) -> Any:
    """Decode values to float32."""
    from .._codec import dequantize as decode

    kind = GGMLQuantizationType(qtype)
    if kind.name in ("F32", "F16"):
        return data.view("f4" if kind.name == "F32" else "f2").astype("f4", copy=False)
    return decode(data, kind.name)
