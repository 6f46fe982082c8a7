"""A drop-in for ``safetensors.torch``."""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Collection, Mapping
from typing import Any

import torch

from .._torch import from_array, to_bytes
from ._open import safe_open
from ._serialize import Row, read_bytes, write_bytes, write_file

__all__ = ["load", "load_file", "load_model", "save", "save_file", "save_model"]


# ---- tensors that share memory ----


def storage_ptr(tensor: torch.Tensor) -> int:
    """Return the address of the storage of a tensor; 0 if it has none."""
    return tensor.untyped_storage().data_ptr()


def storage_size(tensor: torch.Tensor) -> int:
    """Return the size of the storage of a tensor, in bytes."""
    return tensor.untyped_storage().nbytes()


def _end_ptr(tensor: torch.Tensor) -> int:
    """Return the address behind the last element of a tensor."""
    if not tensor.nelement():
        return tensor.data_ptr()
    steps = sum((length - 1) * stride for length, stride in zip(tensor.shape, tensor.stride()))
    return tensor.data_ptr() + (steps + 1) * tensor.element_size()


def _overlapping(names: Collection[str], tensors: Mapping[str, torch.Tensor]) -> list[set[str]]:
    """Split names of tensors in one storage into groups whose memory overlaps."""
    groups: list[set[str]] = []
    end = 0
    for start, stop, name in sorted((tensors[name].data_ptr(), _end_ptr(tensors[name]), name)
                                    for name in names):
        if groups and start < end:
            groups[-1].add(name)
        else:
            groups.append({name})
        end = stop
    return groups


def _find_shared_tensors(state_dict: Mapping[str, torch.Tensor]) -> list[set[str]]:
    """Return groups of names whose tensors share memory; a group of one shares none."""
    storages: defaultdict[tuple, set[str]] = defaultdict(set)
    for name, tensor in state_dict.items():
        if tensor.device.type != "meta" and storage_ptr(tensor) and storage_size(tensor):
            storages[tensor.device, storage_ptr(tensor), storage_size(tensor)].add(name)
    return [group for names in storages.values()
            for group in (_overlapping(names, state_dict) if len(names) > 1 else [names])]


def _is_complete(tensor: torch.Tensor) -> bool:
    """Return whether a tensor covers its whole storage."""
    return tensor.data_ptr() == storage_ptr(tensor) and \
        tensor.nelement() * tensor.element_size() == storage_size(tensor)


def _remove_duplicate_names(
    state_dict: Mapping[str, torch.Tensor],
    *,
    preferred_names: Collection[str] | None = None,
    discard_names: Collection[str] | None = None,
) -> dict[str, list[str]]:
    """Return, for each tensor to keep, the names of those that share its memory."""
    removed: dict[str, list[str]] = {}
    for shared in _find_shared_tensors(state_dict):
        complete = {name for name in shared if _is_complete(state_dict[name])}
        if not complete:
            raise RuntimeError(
                "Error while trying to find names to remove to save state dict, but found no "
                f"suitable name to keep for saving amongst: {shared}. None is covering the entire "
                "storage.Refusing to save/load the model since you could be storing much more "
                "memory than needed. Please refer to https://huggingface.co/docs/safetensors/"
                "torch_shared_tensors for more information. Or open an issue.")
        choices = (set(preferred_names or ()) & complete, complete - set(discard_names or ()),
                   complete)
        kept = min(next(filter(None, choices)))
        others = sorted(shared - {kept})
        if others:
            removed[kept] = others
    return removed


# ---- saving ----


def _check(tensors: Any) -> None:
    if not isinstance(tensors, dict):
        raise ValueError(f"Expected a dict of [str, torch.Tensor] but received {type(tensors)}")
    for name, tensor in tensors.items():
        if not isinstance(tensor, torch.Tensor):
            raise ValueError(f"Key `{name}` is invalid, expected torch.Tensor but received "
                             f"{type(tensor)}")
    sparse = [name for name, tensor in tensors.items() if tensor.layout != torch.strided]
    if sparse:
        raise ValueError(
            f"You are trying to save a sparse tensors: `{sparse}` which this library does not "
            "support. You can make it a dense tensor before saving with `.to_dense()` but be aware "
            "this might make a much larger file than needed.")
    shared = [names for names in _find_shared_tensors(tensors) if len(names) > 1]
    if shared:
        raise RuntimeError(
            "\n            Some tensors share memory, this will lead to duplicate memory on disk "
            f"and potential differences when loading them again: {shared}.\n            A potential "
            "way to correctly save your model is to use `save_model`.\n            More information "
            "at https://huggingface.co/docs/safetensors/torch_shared_tensors\n            ")
    for name, tensor in tensors.items():
        if not tensor.is_contiguous():
            raise ValueError(
                f"You are trying to save a non contiguous tensor: `{name}` which is not allowed. It "
                "either means you are trying to save tensors which are reference of each other in "
                "which case it's recommended to save only the full tensors, and reslice at load "
                "time, or simply call `.contiguous()` on your tensor to pack it before saving.")


def _rows(tensors: Any) -> list[Row]:
    _check(tensors)
    return [(name, *to_bytes(tensor)) for name, tensor in tensors.items()]


def save(tensors: dict[str, torch.Tensor], metadata: Mapping[str, str] | None = None) -> bytes:
    """Return the bytes of a file with these tensors."""
    return write_bytes(_rows(tensors), metadata)


def save_file(tensors: dict[str, torch.Tensor], filename: str | os.PathLike,
              metadata: Mapping[str, str] | None = None) -> None:
    """Write these tensors to a file."""
    write_file(_rows(tensors), filename, metadata)


def save_model(model: torch.nn.Module, filename: str | os.PathLike,
               metadata: dict[str, str] | None = None, force_contiguous: bool = True) -> None:
    """Write the parameters of a module to a file, those that share memory once.

    Args:
        model: the module
        filename: path of the file
        metadata: metadata of the file; gets the names of the parameters that are not written
        force_contiguous: write parameters that are not contiguous as contiguous ones
    """
    state_dict = model.state_dict()
    for kept, names in _remove_duplicate_names(state_dict).items():
        metadata = {} if metadata is None else metadata
        for name in names:
            metadata.setdefault(name, kept)
            del state_dict[name]
    if force_contiguous:
        state_dict = {name: tensor.contiguous() for name, tensor in state_dict.items()}
    try:
        save_file(state_dict, filename, metadata=metadata)
    except ValueError as error:
        raise ValueError(f"{error} Or use save_model(..., force_contiguous=True), read the docs for "
                         "potential caveats.") from error


# ---- loading ----


def load(data: bytes) -> dict[str, torch.Tensor]:
    """Return the tensors of a file in memory, each with memory of its own."""
    return {name: from_array(tensor.read(None, -1, None)) for name, tensor in read_bytes(data)}


def load_file(filename: str | os.PathLike, device: str | int = "cpu", *,
              backend: str = "mmap") -> dict[str, torch.Tensor]:
    """Return the tensors of a file.

    Args:
        filename: path of the file
        device: the device of the tensors
        backend: "mmap": tensors on the CPU show the file, and may be changed without changing it;
            "pread": they have memory of their own
    """
    with safe_open(filename, framework="pt", device=device, backend=backend) as file:
        return file.get_tensors()


def _told(names: Collection[str]) -> str:
    return ", ".join(f'"{name}"' for name in sorted(names))


def load_model(model: torch.nn.Module, filename: str | os.PathLike, strict: bool = True,
               device: str | int = "cpu", *, backend: str = "mmap") -> tuple[Any, list[str]]:
    """Load the parameters of a module from a file of :func:`save_model`.

    Returns:
        the names of parameters that the file lacks, and of tensors that the module lacks

    Raises:
        RuntimeError: there are such names, and `strict` is True
    """
    tensors = load_file(filename, device=device, backend=backend)
    removed = _remove_duplicate_names(model.state_dict(), preferred_names=tensors.keys())
    absent, unexpected = model.load_state_dict(tensors, strict=False)
    missing = set(absent)
    for name in (name for names in removed.values() for name in names):
        if name in missing:
            missing.remove(name)
        else:
            unexpected.append(name)
    if strict and (missing or unexpected):
        text = f"Error(s) in loading state_dict for {model.__class__.__name__}:"
        if missing:
            text += f"\n    Missing key(s) in state_dict: {_told(missing)}"
        if unexpected:
            text += f"\n    Unexpected key(s) in state_dict: {_told(unexpected)}"
        raise RuntimeError(text)
    return missing, unexpected
