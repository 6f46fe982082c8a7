"""Tensors of torch. Importing this module imports torch."""

from __future__ import annotations

from typing import Any

import torch

from ._core import Array
from ._dtypes import NUMPY_NAMES, name_of

_EXTRA = {"F4": "float4_e2m1fn_x2"}


def dtype_of(name: str) -> torch.dtype:
    """Return the dtype of torch for a dtype of weighbridge."""
    dtype = getattr(torch, NUMPY_NAMES.get(name) or _EXTRA.get(name, ""), None)
    if dtype is None:
        raise TypeError(f"this version of torch has no dtype for {name}")
    return dtype


def from_array(array: Array) -> torch.Tensor:
    """Return a tensor that shares the memory of `array`, or has a copy if that is read-only."""
    if array.device != "cpu":
        return torch.utils.dlpack.from_dlpack(array)
    dtype, shape = dtype_of(array.dtype), list(array.shape)
    if array.dtype == "F4":
        shape[-1] //= 2
    if array.nbytes == 0:
        return torch.empty(shape, dtype=dtype)
    raw: Any = bytearray(array.raw()) if array.readonly else array.raw()
    return torch.frombuffer(raw, dtype=dtype).reshape(shape)


def to_bytes(tensor: torch.Tensor) -> tuple[str, tuple[int, ...], Any]:
    """Return dtype, shape and bytes of a tensor on any device with any strides."""
    tensor = tensor.detach().cpu().contiguous()
    shape = tuple(tensor.shape)
    flat = tensor.reshape(-1).view(torch.uint8)
    if tensor.dtype == getattr(torch, _EXTRA["F4"], None):
        return "F4", (*shape[:-1], shape[-1] * 2), flat.numpy()
    return name_of(tensor.dtype), shape, flat.numpy()
