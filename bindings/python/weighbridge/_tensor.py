"""Tensors: lazy, until their values are asked for."""

from __future__ import annotations

from . import _core
from ._core import Array
from ._dtypes import is_plain, number_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    import numpy as np

    from ._types import Encoding, File


class Tensor(_core.Tensor):
    """A tensor of a :class:`Model`. It has no values until they are asked for.

    A quantized weight that is stored as several tensors (packed values, scales, biases) is one
    tensor; ``parts`` has the stored ones. A tensor of a plain dtype supports the buffer protocol,
    DLPack and ``numpy.asarray``; these show the bytes of the file without a copy if the model is
    mapped. The memory of such a view stays valid after the model is closed.
    """

    __slots__ = ("__weakref__",)

    # ---- descriptions ----

    @property
    def ndim(self) -> int:
        """Number of dimensions."""
        return len(self.shape)

    @property
    def encoding(self) -> Encoding:
        """How the values are stored."""
        from ._types import Encoding

        return Encoding(*self.encoding_fields())

    @property
    def parts(self) -> list[tuple[str, Tensor]]:
        """The stored tensors that make up this one, as (role, tensor).

        Roles are ``"values"``, ``"scales"``, ``"biases"``, ``"global_scale"``, ``"order"``, and
        ``"expert"`` for experts that are stored as separate tensors.
        """
        return self.part_list()

    @property
    def file(self) -> File:
        """The file that has the values."""
        return self.model.files[self.file_index]

    def __repr__(self) -> str:
        if self.model.closed:
            return "<Tensor of a closed model>"
        dims = ", ".join(map(str, self.shape))
        return f"<Tensor {self.name!r} {self.encoding if self._packed() else self.dtype} [{dims}]>"

    # ---- values ----

    def _packed(self) -> bool:
        """Whether the values must be decoded to become numbers of numpy."""
        return self.encoding_fields()[0] != "plain" or not is_plain(self.dtype)

    def _value_dtype(self, dtype: object) -> int:
        return number_of("F32" if dtype is None and self._packed() else dtype)

    def raw(self) -> Array:
        """Return the stored bytes, one after the other, without a copy if possible.

        For a tensor of several parts these are the bytes of all parts.

        Raises:
            UnsupportedError: the tensor has several parts; call this for each of ``parts``
        """
        return self.map(True) or self.read(None, -1, None).raw()

    def numpy(self, dtype: object = None, *, copy: bool | None = None) -> np.ndarray:
        """Return the values as a numpy array of the tensor's shape.

        Args:
            dtype: dtype of the result; None: the stored dtype, or float32 for quantized tensors
            copy: True: always a new array, which may be changed. None: a read-only view of the file
                if the model is mapped and the stored dtype is asked for, otherwise a new array.
                False: a view, or ValueError

        BF16 and FP8 become dtypes of the package ml_dtypes.
        """
        from ._numpy import from_array

        wanted = self._value_dtype(dtype)
        stored = not self._packed() and wanted in (-1, number_of(self.dtype))
        view = self.map(False) if stored and not copy else None
        if view is None and copy is False:
            raise ValueError("the values are not available without a copy")
        return from_array(view or self.read(None, wanted, None))

    def __array__(self, dtype: object = None, copy: bool | None = None) -> np.ndarray:
        return self.numpy(dtype, copy=copy)

    def decode(self, dtype: object = "F32", *, out: Any = None) -> Any:
        """Return the values, converted to `dtype`, in new memory.

        Args:
            dtype: name of a plain dtype, or a dtype of numpy or torch. Quantized values are decoded
                to F32 and then rounded to nearest, ties to even
            out: a writable, contiguous buffer of exactly the right size, such as a numpy array or a
                torch tensor on the CPU; it gets the values and is returned

        Returns:
            `out`, or a numpy array; an :class:`Array` if numpy has no such dtype
        """
        result = self.read(None, number_of(dtype), out)
        return result if out is not None else _to_numpy(result)

    def select(self, key: Any, dtype: object = None, *, out: Any = None) -> Any:
        """Return selected values, and read only those: ``tensor[key]`` with a dtype.

        Args:
            key: an index expression of integers, slices, None and an ellipsis, as for numpy
            dtype: dtype of the result; None: the stored dtype, or float32 for quantized tensors
            out: as in :meth:`decode`
        """
        result = self.read(key, self._value_dtype(dtype), out)
        return result if out is not None else _to_numpy(result)

    def __getitem__(self, key: Any) -> Any:
        """Return selected values with numpy's rules, and read only those."""
        return self.select(key)[()]

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError("a scalar has no length")
        return self.shape[0]

    def torch(self) -> Any:
        """Return the stored values as a torch tensor, without a copy if possible (DLPack)."""
        from ._torch import from_array

        return from_array(self.array())

    def _repr_html_(self) -> str:
        from ._html import tensor_summary

        return tensor_summary(self)


def _to_numpy(array: Array) -> Any:
    from ._numpy import from_array

    return from_array(array) if is_plain(array.dtype) else array
