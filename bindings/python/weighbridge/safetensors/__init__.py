"""A drop-in for the package ``safetensors``: the same names, arguments and errors.

``import weighbridge.safetensors as safetensors``, or :func:`weighbridge.patch`, which makes programs
that import ``safetensors`` use it. It differs from the original in this:

- Arrays of numpy and tensors of torch on the CPU show the bytes of the file without a copy (copy on
  write: changing them does not change the file), unless ``backend="pread"`` is given.
- Arrays with any strides are saved right.
- A saved file appears complete or not at all.
- Files are checked more strictly: see docs/format/safetensors.md.
"""

from __future__ import annotations

from ._errors import SafetensorError
from ._open import PySafeSlice, _safe_open_handle, safe_open
from ._serialize import TensorSpec, deserialize, serialize, serialize_file

__version__ = "0.8.0"  # of the interface

__all__ = ["PySafeSlice", "SafetensorError", "TensorSpec", "deserialize", "safe_open", "serialize",
           "serialize_file"]
