"""Open, verify, read and convert files of model weights.

    import weighbridge as wb

    with wb.open("path/to/model") as model:
        print(model.config.n_layers, list(model)[:3])
        weight = model["layers.0.attention.q.weight"].numpy()

The package is a thin layer over the C library of the same name. Importing it imports neither numpy
nor any framework.
"""

from __future__ import annotations

from . import errors
from ._core import Array, get_threads, set_threads, version as library_version
from ._model import Model, open
from ._tensor import Tensor
from .errors import Error

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ._codec import dequantize, dequantize_mlx, quantize, quantize_mlx
    from ._convert import Conversion, Converted, Fidelity, convert, plan
    from ._edit import Edited, StoreEntry, edit, list_store, recover
    from ._metadata import Metadata, MetadataEntry
    from ._patch import patch, unpatch
    from ._provider import Buffer, Provider, Section, load
    from ._types import Config, DType, Encoding, File, Finding, Findings, Origin, Severity
    from ._values import Value
    from ._verify import (Diff, Distance, Hashes, MetadataDiff, TensorDiff, TensorHash, diff, hash,
                          verify)
    from ._writer import Writer, save

__version__ = library_version()

#: Names that are imported from other modules when they are first used.
_LAZY = {
    "Config": "_types", "DType": "_types", "Encoding": "_types", "File": "_types",
    "Finding": "_types", "Findings": "_types", "Origin": "_types", "Severity": "_types",
    "Metadata": "_metadata", "MetadataEntry": "_metadata",
    "Diff": "_verify", "Distance": "_verify", "Hashes": "_verify", "MetadataDiff": "_verify",
    "TensorDiff": "_verify", "TensorHash": "_verify",
    "diff": "_verify", "hash": "_verify", "verify": "_verify",
    "Conversion": "_convert", "Converted": "_convert", "Fidelity": "_convert",
    "convert": "_convert", "plan": "_convert",
    "Edited": "_edit", "StoreEntry": "_edit", "edit": "_edit", "list_store": "_edit",
    "recover": "_edit", "Value": "_values", "Writer": "_writer", "save": "_writer",
    "dequantize": "_codec", "dequantize_mlx": "_codec", "quantize": "_codec",
    "quantize_mlx": "_codec",
    "patch": "_patch", "unpatch": "_patch",
    "Buffer": "_provider", "Provider": "_provider", "Section": "_provider", "load": "_provider",
}

__all__ = [
    "Array", "Buffer", "Config", "Conversion", "Converted", "DType", "Diff", "Distance", "Edited",
    "Encoding", "Error", "Fidelity", "File", "Finding", "Findings", "Hashes", "Metadata",
    "MetadataDiff", "MetadataEntry", "Model", "Origin", "Provider", "Section", "Severity",
    "StoreEntry", "Tensor", "TensorDiff", "TensorHash", "Value", "Writer", "convert",
    "dequantize", "dequantize_mlx", "diff", "dtypes", "edit", "errors", "get_threads", "hash",
    "library_version", "list_store", "load", "open", "patch", "plan", "quantize", "quantize_mlx",
    "recover", "save", "set_threads", "unpatch", "verify",
]


def dtypes() -> dict[str, DType]:
    """Return all element types by name."""
    from ._core import dtypes as rows
    from ._types import DType

    return {row[1]: DType(*row[:4], *map(bool, row[4:9]), *row[9:]) for row in rows()}


def __getattr__(name: str) -> object:
    module = _LAZY.get(name)
    if module is None:
        raise AttributeError(f"module 'weighbridge' has no attribute {name!r}")
    from importlib import import_module

    value = getattr(import_module(f"weighbridge.{module}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
