"""Arrays of numpy from arrays of weighbridge. Importing this module imports numpy."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy

from ._dtypes import NUMPY_NAMES

if TYPE_CHECKING:
    from ._core import Array

_FROM_NUMPY = {name: numpy.dtype(theirs) for name, theirs in NUMPY_NAMES.items()
               if hasattr(numpy, theirs) or theirs == "bool"}


def dtype_of(name: str) -> numpy.dtype:
    """Return the dtype of numpy for a dtype of weighbridge; BF16 and FP8 come from ml_dtypes."""
    dtype = _FROM_NUMPY.get(name)
    if dtype is None:
        dtype = _FROM_NUMPY[name] = numpy.dtype(_of_ml_dtypes(name))
    return dtype


def _of_ml_dtypes(name: str) -> type:
    if name not in NUMPY_NAMES:
        raise TypeError(f"numpy has no dtype for {name}; use decode(), raw() or DLPack")
    try:
        import ml_dtypes
    except ImportError:
        raise ImportError(f"numpy has no dtype for {name} by itself; install the package "
                          "ml_dtypes, or call decode('F32')") from None
    return getattr(ml_dtypes, NUMPY_NAMES[name])


def from_array(array: Array) -> numpy.ndarray:
    """Return a numpy array that shares the memory of `array` and keeps it alive."""
    dtype = dtype_of(array.dtype)
    if array.nbytes == 0:
        return numpy.empty(array.shape, dtype)
    raw: Any = array.raw()  # of a type with the buffer protocol
    return numpy.frombuffer(raw, dtype).reshape(array.shape)


def array_protocol(array: Array, dtype: Any = None, copy: bool | None = None) -> numpy.ndarray:
    """Answer numpy.asarray: the method __array__ of Array."""
    result = from_array(array)
    wanted = result.dtype if dtype is None else numpy.dtype(dtype)
    if wanted == result.dtype:
        return result.copy() if copy else result
    if copy is False:
        raise ValueError(f"an array of {array.dtype} needs a copy to become {wanted}")
    return result.astype(wanted)
