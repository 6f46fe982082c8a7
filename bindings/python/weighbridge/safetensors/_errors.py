"""The exception of the package safetensors."""

from __future__ import annotations


class SafetensorError(Exception):
    """An operation on a safetensors file failed."""


SafetensorError.__module__ = "weighbridge.safetensors"
