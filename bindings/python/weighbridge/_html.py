"""What notebooks show: a folded tree of the layers of a model, tables of findings and tensors."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ._convert import Conversion
    from ._model import Model
    from ._tensor import Tensor
    from ._types import Findings

#: A notebook becomes slow with more rows than this.
MOST_ROWS = 2000

#: Names are divided at no more dots than this, so that the depth of the tree is bounded.
MOST_LEVELS = 32

_UNITS = ("B", "KiB", "MiB", "GiB", "TiB")


def size_text(nbytes: float) -> str:
    """Return a size with a unit: "1.5 GiB"."""
    unit = 0
    while nbytes >= 1024 and unit + 1 < len(_UNITS):
        nbytes /= 1024
        unit += 1
    return f"{nbytes:.0f} B" if unit == 0 else f"{nbytes:.1f} {_UNITS[unit]}"


def count_text(count: float) -> str:
    """Return a number of elements with a unit: "1.5 M"."""
    for limit, unit in ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k")):
        if count >= limit:
            return f"{count / limit:.1f} {unit}"
    return f"{count:.0f}"


def kind_text(tensor: Tensor) -> str:
    """Return the dtype of a tensor, or the encoding of a quantized one."""
    return tensor.dtype if tensor.encoding.is_plain else str(tensor.encoding)


def _shape_text(tensor: Tensor) -> str:
    return " × ".join(map(str, tensor.shape)) or "scalar"


# ---- the tree ----


class _Node:
    """A part of names between dots: its children, and tensors whose names end here."""

    def __init__(self) -> None:
        self.children: dict[str, _Node] = {}
        self.tensors: list[tuple[str, Tensor]] = []
        self.nbytes = 0
        self.count = 0

    def add(self, parts: list[str], tensor: Tensor) -> None:
        node = self
        nbytes = tensor.nbytes
        for part in parts[:-1]:
            node.nbytes += nbytes
            node.count += 1
            node = node.children.setdefault(part, _Node())
        node.nbytes += nbytes
        node.count += 1
        node.tensors.append((parts[-1], tensor))


class _Page:
    """Collects lines of HTML, and leaves rows out above MOST_ROWS."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.rows = 0

    def tensor(self, label: str, tensor: Tensor) -> None:
        if self.rows < MOST_ROWS:
            self.lines.append(f"<div style='margin-left:1em'>{escape(label)} "
                              f"<code>{escape(kind_text(tensor))}</code> [{_shape_text(tensor)}] "
                              f"{size_text(tensor.nbytes)}</div>")
        self.rows += 1

    def node(self, label: str, node: _Node) -> None:
        while len(node.children) == 1 and not node.tensors:  # a chain becomes one line
            [(part, node)] = node.children.items()
            label += f".{part}"
        if self.rows >= MOST_ROWS:
            self.rows += node.count
            return
        if node.count == 1 and node.tensors:
            [(part, tensor)] = node.tensors
            self.tensor(f"{label}.{part}", tensor)
            return
        self.lines.append(f"<details style='margin-left:1em'><summary>{escape(label)} "
                          f"<small>{node.count} tensors, {size_text(node.nbytes)}</small>"
                          "</summary>")
        self.inside(node)
        self.lines.append("</details>")

    def inside(self, node: _Node) -> None:
        for part, child in node.children.items():
            self.node(part, child)
        for part, tensor in node.tensors:
            self.tensor(part, tensor)


def model_tree(model: Model) -> str:
    """Return a folded tree of the tensors of a model."""
    if model.closed:
        return "<i>closed model</i>"
    root = _Node()
    elements = 0
    for name, tensor in model.items():
        root.add(name.split(".", MOST_LEVELS), tensor)
        elements += tensor.size
    config = model.config
    page = _Page()
    page.inside(root)
    if page.rows > MOST_ROWS:
        page.lines.append(f"<div>… and {page.rows - MOST_ROWS} more tensors</div>")
    title = escape(model.path or "model")
    facts = [model.format, config.architecture or "unknown architecture",
             f"{count_text(elements)} parameters", size_text(root.nbytes),
             f"{len(model)} tensors"]
    return (f"<div style='font-family:monospace'><b>{title}</b><br>{escape(', '.join(facts))}"
            + "".join(page.lines) + "</div>")


# ---- tables ----


def _table(head: Iterable[str], rows: Iterable[Iterable[object]]) -> str:
    def cells(tag: str, row: Iterable[object]) -> str:
        return "".join(f"<{tag} style='text-align:left'>{escape(str(cell))}</{tag}>"
                       for cell in row)

    lines = [f"<tr>{cells('td', row)}</tr>" for row in rows]
    more = f"<div>… and {len(lines) - MOST_ROWS} more rows</div>" if len(lines) > MOST_ROWS else ""
    return (f"<table><thead><tr>{cells('th', head)}</tr></thead><tbody>"
            + "".join(lines[:MOST_ROWS]) + f"</tbody></table>{more}")


def tensor_summary(tensor: Tensor) -> str:
    """Return a table that describes a tensor."""
    if tensor.model.closed:
        return "<i>tensor of a closed model</i>"
    encoding = tensor.encoding
    rows: list[tuple[str, object]] = [
        ("name", tensor.name), ("canonical name", tensor.canonical_name or "–"),
        ("shape", _shape_text(tensor)), ("dtype", tensor.dtype),
        ("encoding", encoding), ("size", size_text(tensor.nbytes)), ("file", tensor.file.path),
        ("offset", tensor.offset)]
    if encoding.parts > 1:
        rows.append(("parts", ", ".join(f"{role} {part.dtype}" for role, part in tensor.parts)))
    return _table(("tensor", ""), rows)


def findings_table(findings: Findings) -> str:
    """Return a table of findings."""
    if not findings:
        return "<div>no findings</div>"
    return _table(("severity", "about", "message", "advice", "place"), (
        (one.severity.name.lower(), one.name, one.message, one.advice,
         one.file + (f":{one.offset}" if one.offset is not None else "")) for one in findings))


def conversion_table(conversion: Conversion) -> str:
    """Return a table of the tensors of a conversion."""
    return _table(("tensor", "from", "to", "fidelity", "NMSE", "largest error"), (
        (row.name, row.before, row.after, row.fidelity.name.lower(), f"{row.nmse:.3g}",
         f"{row.max_error:.3g}") for row in conversion.tensors))
