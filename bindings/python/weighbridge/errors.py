"""The exceptions of weighbridge.

Every failure of the library is an :class:`Error`. Its subclasses say what kind of failure it is, and
most of them are also a built-in exception, so that programs can catch whichever they know.
"""

from __future__ import annotations

import os

__all__ = [
    "ArgumentError", "CancelledError", "ChangedError", "ClosedError", "Error", "FormatError",
    "InputOutputError", "LimitError", "MissingFileError", "NotFoundError", "OutOfMemoryError",
    "UnsupportedError", "ValueTypeError",
]


class Error(Exception):
    """A failure of the library.

    Attributes:
        message: one sentence that says what is wrong
        code: stable identifier of the failure, such as ``"gguf-magic"``; see docs/findings.md
        file: path of the file, or None
        offset: offset in that file, in bytes, or None
        tensor: name of the tensor or metadata key, or None
        advice: one sentence that says what to do, or None
        os_error: errno of the failed system call, or 0
    """

    message: str = ""
    code: str | None = None
    file: str | None = None
    offset: int | None = None
    tensor: str | None = None
    advice: str | None = None
    os_error: int = 0

    def __str__(self) -> str:
        place = [f"tensor {self.tensor}"] if self.tensor else []
        if self.offset is not None:
            place.append(f"byte {self.offset}")
        text = f"{self.file}: {self.message}" if self.file else self.message
        if place:
            text += f" ({', '.join(place)})"
        return f"{text}. {self.advice}" if self.advice else text

    def __reduce__(self) -> tuple:
        return _restore, (type(self), self.__dict__)


class ArgumentError(Error, ValueError):
    """An argument is invalid."""


class OutOfMemoryError(Error, MemoryError):
    """There is not enough memory."""


class InputOutputError(Error, OSError):
    """The operating system refused or failed to read or write."""


class FormatError(Error, ValueError):
    """The file violates its format."""


class LimitError(Error):
    """The model exceeds one of the limits given to :func:`weighbridge.open`."""


class UnsupportedError(Error):
    """The input is valid, but the operation does not support it."""


class NotFoundError(Error, LookupError):
    """A tensor, key or model does not exist."""


class MissingFileError(NotFoundError, FileNotFoundError):
    """A file does not exist."""


class ChangedError(Error):
    """A file changed since the model was opened."""


class ValueTypeError(Error, TypeError):
    """A metadata value has another type than requested."""


class CancelledError(Error):
    """A callback stopped the operation."""


class ClosedError(Error, ValueError):
    """The object is closed."""


#: The exception for each number of wb_status; -1 is not a status of the library.
_TYPES: dict[int, type[Error]] = {
    -1: ClosedError, 1: ArgumentError, 2: OutOfMemoryError, 3: InputOutputError, 4: FormatError,
    5: LimitError, 6: UnsupportedError, 7: NotFoundError, 8: ChangedError, 9: ValueTypeError,
    10: CancelledError,
}


def make(status: int, code: str | None, offset: int | None, file: str, name: str, message: str,
         advice: str, os_error: int) -> Error:
    """Return the exception for the members of a wb_error. The extension module calls this."""
    kind = _TYPES.get(status, Error)
    if kind is NotFoundError and file and not name:
        kind = MissingFileError
    return _restore(kind, {
        "message": message, "code": code, "file": file or None, "offset": offset,
        "tensor": name or None, "advice": advice or None, "os_error": os_error})


def _restore(kind: type[Error], values: dict) -> Error:
    error = kind(values["message"])
    error.__dict__.update(values)
    if isinstance(error, OSError):
        error.errno = values["os_error"] or None
        error.strerror = os.strerror(values["os_error"]) if values["os_error"] else None
        error.filename = values["file"]
    return error
