"""The index expressions of PySafeSlice, which are fewer than those of numpy."""

from __future__ import annotations

from typing import Any

from ._errors import SafetensorError


def _as_unsigned(value: Any) -> int | None:
    if value is None:
        return None
    number = value.__index__()
    if number < 0:
        raise OverflowError("can't convert negative int to unsigned")
    return number


def _parse_slice(item: slice) -> slice:
    step = 1 if item.step is None else item.step.__index__()
    if step < 1:
        raise SafetensorError(f"Slice step must be a positive integer, got {step}")
    return slice(_as_unsigned(item.start), _as_unsigned(item.stop), step)


def _parse_number(item: int, axis: int, shape: tuple[int, ...]) -> int:
    length = shape[axis] if axis < len(shape) else 0
    if item < 0 and item + length < 0:
        raise SafetensorError(f"Invalid index {item} for dimension {axis} of size {length}")
    return item + length if item < 0 else item


def _parse(key: Any, shape: tuple[int, ...]) -> list[slice | int]:
    if isinstance(key, list):
        if key:
            raise SafetensorError("Non empty lists are not implemented")
        return [slice(0, 0, 1)]
    items = key if isinstance(key, tuple) else (key,)
    ellipses = sum(item is Ellipsis for item in items)
    if ellipses > 1:
        raise SafetensorError("Only one ellipsis (...) is allowed in slice index")
    parsed: list[slice | int] = []
    for item in items:
        if item is Ellipsis:
            parsed += [slice(None, None, 1)] * max(0, len(shape) - len(items) + 1)
        elif isinstance(item, slice):
            parsed.append(_parse_slice(item))
        elif hasattr(item, "__index__"):
            parsed.append(_parse_number(item.__index__(), len(parsed), shape))
        else:
            raise SafetensorError(f"Unsupported slice index at position {len(parsed)}: expected "
                                  "slice, int, or ellipsis")
    return parsed


def _text(item: slice | int) -> str:
    if isinstance(item, int):
        return str(item)
    start = "" if item.start is None else item.start
    stop = "" if item.stop is None else item.stop
    return f"{start}:{stop}" + (f":{item.step}" if item.step != 1 else "")


def _fault(parsed: list[slice | int], shape: tuple[int, ...]) -> str | None:
    """Return what is wrong with an index. The original looks at the last dimension first."""
    if len(parsed) > len(shape):
        return "more slicing indexes than dimensions in tensor"
    for axis in reversed(range(len(parsed))):
        item, length = parsed[axis], shape[axis]
        if isinstance(item, int):
            start, stop = item, item + 1
        else:
            start, stop = item.start or 0, length if item.stop is None else item.stop
        if start >= length or stop > length:
            asked = start if start >= length else max(stop - 1, 0)
            return f"index {asked} out of bounds for tensor dimension #{axis} of size {length}"
    return None


def selection_of(key: Any, shape: tuple[int, ...]) -> tuple:
    """Return the index expression for a tensor of weighbridge."""
    parsed = _parse(key, shape)
    fault = _fault(parsed, shape)
    if fault is not None:
        told = ", ".join(map(_text, parsed))
        raise SafetensorError(f"Error during slicing [{told}] with shape {list(shape)}: {fault}")
    return tuple(parsed)
