"""Encoding and decoding of values in memory."""

from __future__ import annotations

from typing import Any

import numpy

from . import _core
from ._dtypes import TABLE, name_of, number_of
from ._numpy import dtype_of, from_array

__all__ = ["dequantize", "dequantize_mlx", "quantize", "quantize_mlx"]

_MODES = {"affine": 1, "mxfp4": 2, "mxfp8": 3, "nvfp4": 4}


def _matrix(shape: tuple[int, ...]) -> tuple[int, int]:
    """Return rows and columns: a row is the last dimension."""
    if not shape:
        raise ValueError("a scalar has no rows to quantize")
    rows = 1
    for length in shape[:-1]:
        rows *= length
    return rows, shape[-1]


def quantize(values: Any, dtype: object, *, importance: Any = None) -> numpy.ndarray:
    """Encode values in a type of ggml, with the bytes that ggml writes, or in a plain dtype.

    Args:
        values: array of floats; the last dimension is a multiple of the block size
        dtype: name of the type, such as ``"Q4_K"``; :func:`weighbridge.dtypes` lists all
        importance: one non-negative weight for each column; None: none

    Returns:
        uint8 array with the shape of `values`, except that the last dimension is the number of bytes
        of a row
    """
    array = numpy.asarray(values, numpy.float32, order="C")
    rows, columns = _matrix(array.shape)
    weights = None if importance is None else numpy.ascontiguousarray(importance, numpy.float32)
    if weights is not None and weights.shape != (columns,):
        raise ValueError(f"importance has the shape {weights.shape} instead of ({columns},)")
    blocks = _core.quantize(number_of(dtype), array, rows, columns, weights)
    return from_array(blocks).reshape(*array.shape[:-1], -1 if array.size else 0)


def dequantize(blocks: Any, dtype: object, shape: tuple[int, ...] | None = None) -> numpy.ndarray:
    """Decode the bytes of a type of ggml, or of a plain dtype, to float32.

    Args:
        blocks: bytes, or a uint8 array whose last dimension is a row
        dtype: name of the type
        shape: shape of the result; None: that of `blocks` with rows of values
    """
    array = numpy.ascontiguousarray(
        blocks if hasattr(blocks, "dtype") else numpy.frombuffer(blocks, numpy.uint8))
    array = array.view(numpy.uint8) if array.dtype != numpy.uint8 else array
    if shape is None:
        _, block_size, block_bits, *_ = TABLE[name_of(dtype)]
        columns = array.shape[-1] * 8 // block_bits * block_size
        shape = (*array.shape[:-1], columns)
    rows, columns = _matrix(shape)
    values = _core.dequantize(number_of(dtype), array, rows, columns)
    return from_array(values).reshape(shape)


def quantize_mlx(values: Any, mode: str = "affine", *, bits: int = 0, group_size: int = 0,
                 nearest_scale: bool = False) -> tuple[numpy.ndarray, ...]:
    """Encode values in a mode of MLX, with the bytes of ``mlx.core.quantize``.

    Args:
        values: array of float32, float16 or bfloat16 with rows of whole groups
        mode: ``"affine"``, ``"mxfp4"``, ``"mxfp8"`` or ``"nvfp4"``
        bits, group_size: for affine; 0: 4 bits and groups of 64
        nearest_scale: round E8M0 scales to nearest, as MLX up to 0.32.1

    Returns:
        weight (uint32), scales, and for affine biases
    """
    array = numpy.asarray(values, order="C")
    rows, columns = _matrix(array.shape)
    dtype = name_of(array.dtype)
    if mode == "affine":
        bits, group_size = bits or 4, group_size or 64
    parts = _core.mlx_quantize(_MODES[mode], bits, group_size, int(nearest_scale),
                               number_of(dtype), array.view(numpy.uint8), rows, columns)
    rows_of = [from_array(part).reshape(*array.shape[:-1], -1) for part in parts if part.nbytes]
    weight = rows_of[0].view(numpy.uint32)
    if mode != "affine":
        return weight, rows_of[1]
    return weight, rows_of[1].view(array.dtype), rows_of[2].view(array.dtype)


def dequantize_mlx(weight: Any, scales: Any, biases: Any = None, mode: str = "affine", *,
                   bits: int = 0, group_size: int = 0, dtype: object = "F32",
                   native: bool = False) -> numpy.ndarray:
    """Decode a weight of MLX.

    Args:
        weight: uint32 array; its last dimension is a packed row
        scales, biases: arrays of the groups; biases only for affine
        mode, bits, group_size: as for :func:`quantize_mlx`
        dtype: dtype of the result
        native: decode affine weights to float32 with the rounding of ``mlx.core.dequantize``
    """
    packed = numpy.ascontiguousarray(weight).view(numpy.uint8)
    of_scales = numpy.ascontiguousarray(scales)
    width = {"affine": bits or 4, "mxfp8": 8}.get(mode, 4)
    groups = {"affine": group_size or 64, "nvfp4": 16}.get(mode, 32)
    shape = (*packed.shape[:-1], packed.shape[-1] * 8 // width)
    rows, columns = _matrix(shape)
    scales_dtype = name_of(of_scales.dtype) if mode == "affine" else "U8"
    of_biases = None
    if mode == "affine":
        of_biases = numpy.ascontiguousarray(biases, of_scales.dtype).view(numpy.uint8)
    values = _core.mlx_dequantize(
        _MODES[mode], width, groups, int(native), number_of(dtype), number_of(scales_dtype), packed,
        of_scales.view(numpy.uint8), of_biases, rows, columns)
    return from_array(values).view(dtype_of(name_of(dtype))).reshape(shape)
