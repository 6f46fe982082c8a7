"""Arrays of the frameworks that safetensors supports. Each is imported on use."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from ..errors import Error
from .._core import Array
from ._errors import SafetensorError

_NAMES = {
    "pt": "pytorch", "torch": "pytorch", "pytorch": "pytorch", "np": "numpy", "numpy": "numpy",
    "tf": "tensorflow", "tensorflow": "tensorflow", "jax": "flax", "flax": "flax", "mlx": "mlx",
    "paddle": "paddle",
}

#: The module that a framework needs, which is imported when a file is opened.
_MODULES = {"pytorch": "torch", "paddle": "paddle"}

_DEVICES = ("cuda", "musa", "npu", "xpu", "xla", "mlu", "hpu")


def framework_of(name: str) -> str:
    """Return the framework with this name, and import its module."""
    framework = _NAMES.get(name)
    if framework is None:
        raise SafetensorError(f"framework {name} is invalid")
    import_module(_MODULES.get(framework, "numpy"))
    return framework


def device_of(device: Any, framework: str) -> Any:
    """Return a device as torch takes it: "cpu", "cuda:0", or a number."""
    if isinstance(device, bool) or not isinstance(device, (str, int)) or \
            isinstance(device, int) and device < 0:
        raise SafetensorError(f"device {device!r} is invalid")
    place = _named_device(device) if isinstance(device, str) else device
    if place != "cpu" and framework not in ("pytorch", "paddle"):
        raise SafetensorError(f"Device {place} is not supported for framework {framework}")
    return place


def _named_device(name: str) -> str:
    if name in ("cpu", "mps"):
        return name
    kind, colon, number = name.partition(":")
    if name in _DEVICES:
        return f"{name}:0"
    if kind == "mps" and colon and number.isdigit():
        if int(number) == 0:
            return "mps"
        raise SafetensorError(f"device {name} is invalid: only mps or mps:0 is supported")
    if kind in _DEVICES and colon and ":" not in number:
        return f"{kind}:{int(number)}"
    raise SafetensorError(f"device {name} is invalid")


def _numpy(array: Array) -> Any:
    from .._numpy import from_array

    try:
        return from_array(array)
    except TypeError as error:
        raise SafetensorError(f"Dtype not understood: {array.dtype}") from error


def _torch(array: Array, device: Any) -> Any:
    from .._torch import from_array

    if array.dtype == "F4" and array.shape and array.shape[-1] % 2:
        raise SafetensorError("f4_x2 dtype requires that the last dim be divisible by 2 in torch: "
                              f"got {list(array.shape)}")
    tensor = from_array(array)
    return tensor if device == "cpu" else tensor.to(device)


def _paddle(array: Array, device: Any) -> Any:
    place = device.replace("cuda", "gpu") if isinstance(device, str) else device
    return import_module("paddle").to_tensor(_numpy(array), place=place)


def convert(array: Array, framework: str, device: Any) -> Any:
    """Return the tensor of a framework for an array, without a copy where that is possible."""
    if framework == "pytorch":
        return _torch(array, device)
    if framework == "paddle":
        return _paddle(array, device)
    values = _numpy(array)
    if framework == "flax":
        return import_module("jax.numpy").array(values)
    if framework == "tensorflow":
        return import_module("tensorflow").convert_to_tensor(values)
    if framework == "mlx":
        return import_module("mlx.core").array(values)
    return values


__all__ = ["Error", "convert", "device_of", "framework_of"]
