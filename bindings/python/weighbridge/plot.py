"""Plots of models, with matplotlib.

Each function draws on `axes`, or on new ones, and returns them.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING, Any

from ._html import kind_text, size_text

if TYPE_CHECKING:
    from ._convert import Conversion
    from ._model import Model
    from ._tensor import Tensor
    from ._verify import Diff

__all__ = ["dtypes", "errors", "histogram", "layers"]

_LAYER = re.compile(r"(?:^|\.)(?:layers|blk|blocks|h)\.(\d+)\.")


def _axes(axes: Any, width: float = 8.0, height: float = 4.0) -> Any:
    if axes is not None:
        return axes
    try:
        from matplotlib import pyplot
    except ImportError:
        raise ImportError("plots need the package matplotlib: pip install matplotlib") from None
    return pyplot.subplots(figsize=(width, height))[1]


def dtypes(model: Model, axes: Any = None) -> Any:
    """Draw which share of the bytes of a model each dtype or encoding has."""
    sizes: Counter[str] = Counter()
    for tensor in model.values():
        sizes[kind_text(tensor)] += tensor.nbytes
    axes = _axes(axes, 5, 5)
    axes.pie([size for _, size in sizes.most_common()],
             labels=[f"{name}, {size_text(size)}" for name, size in sizes.most_common()])
    axes.set_title("bytes by encoding")
    return axes


def layers(model: Model, axes: Any = None) -> Any:
    """Draw the bytes of each layer of a model; tensors outside of layers are at -1."""
    sizes: dict[str, Counter[int]] = {}
    for name, tensor in model.items():
        found = _LAYER.search(name)
        layer = int(found[1]) if found else -1
        sizes.setdefault(kind_text(tensor), Counter())[layer] += tensor.nbytes
    axes = _axes(axes)
    below: Counter[int] = Counter()
    for kind, of_kind in sorted(sizes.items()):
        places = sorted(of_kind)
        axes.bar(places, [of_kind[place] / 2**20 for place in places],
                 bottom=[below[place] / 2**20 for place in places], label=kind)
        below.update(of_kind)
    axes.set_xlabel("layer")
    axes.set_ylabel("MiB")
    axes.legend()
    return axes


def histogram(tensor: Tensor, axes: Any = None, *, bins: int = 200) -> Any:
    """Draw the distribution of the values of a tensor; the counts are logarithmic."""
    values = tensor.decode("F32").reshape(-1)
    axes = _axes(axes)
    axes.hist(values[abs(values) != float("inf")], bins=bins, log=True)
    axes.set_title(tensor.name)
    axes.set_xlabel("value")
    axes.set_ylabel("number of values")
    return axes


def errors(result: Conversion | Diff, axes: Any = None, *, most: int = 40) -> Any:
    """Draw the normalised squared error of the tensors with the largest ones.

    Args:
        result: a conversion that ran, or the difference between two models
        axes: axes of matplotlib; None: new ones
        most: number of tensors
    """
    from ._verify import Diff

    if isinstance(result, Diff):
        rows = [(row.name, row.distance.nmse) for row in result.tensors if row.distance]
    else:
        rows = [(row.name, row.nmse) for row in result.tensors]
    rows = sorted((row for row in rows if row[1] > 0), key=lambda row: row[1])[-most:]
    axes = _axes(axes, 8, 1 + len(rows) / 5)
    axes.barh([name for name, _ in rows], [error for _, error in rows])
    axes.set_xscale("log")
    axes.set_xlabel("sum of squared errors / sum of squares")
    return axes
