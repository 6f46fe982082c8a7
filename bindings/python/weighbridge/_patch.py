"""Making other programs load models through weighbridge."""

from __future__ import annotations

import sys
from collections.abc import Callable
from importlib import import_module
from types import ModuleType
from typing import Any

__all__ = ["patch", "unpatch"]

#: Module of the original -> names that the module with the same place here replaces.
_NAMES: dict[str, tuple[str, ...]] = {
    "safetensors": ("safe_open", "serialize", "serialize_file", "deserialize", "TensorSpec"),
    "safetensors.numpy": ("load", "load_file", "save", "save_file"),
    "safetensors.torch": ("load", "load_file", "load_model", "save", "save_file", "save_model"),
}

#: (module, name, original) of everything that is replaced now.
_replaced: list[tuple[ModuleType, str, Any]] = []


def _pairs() -> dict[int, tuple[Any, Any]]:
    """Return original and replacement of each function, by the identity of the original."""
    pairs = {}
    for module_name, names in _NAMES.items():
        try:
            module = import_module(module_name)
            ours = import_module(f"weighbridge.{module_name}")
        except ImportError:  # torch or the original is not installed
            continue
        for name in names:
            original = getattr(module, name, None)
            if original is not None:
                pairs[id(original)] = original, getattr(ours, name)
    return pairs


def _replace(module: ModuleType, pairs: dict[int, tuple[Any, Any]]) -> None:
    for name, value in list(vars(module).items()):
        original, ours = pairs.get(id(value), (None, None))
        if original is value and original is not None and ours is not value:
            _replaced.append((module, name, original))
            setattr(module, name, ours)


def patch() -> Callable[[], None]:
    """Make transformers, diffusers and other programs load safetensors files through weighbridge.

    Replaces the functions of the package ``safetensors`` by those of :mod:`weighbridge.safetensors`,
    in that package and in all modules that have imported them. Models are then loaded without a copy
    of the weights. Modules that are imported later get the replacements too.

    Returns:
        a function that puts the originals back: :func:`unpatch`
    """
    pairs = _pairs()
    for name, module in list(sys.modules.items()):
        if isinstance(module, ModuleType) and name.partition(".")[0] != "weighbridge":
            _replace(module, pairs)
    return unpatch


def unpatch() -> None:
    """Put the originals back that :func:`patch` replaced."""
    while _replaced:
        module, name, original = _replaced.pop()
        setattr(module, name, original)
