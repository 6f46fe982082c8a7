"""Progress of long calls: a callback, or a bar of tqdm."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Union

#: None: no progress. True: a bar of tqdm if tqdm is installed. A function: it is called with the
#: number of bytes done and in total; an exception of it cancels the call.
Progress = Union[None, bool, Callable[[int, int], object]]


@contextmanager
def reporting(progress: Progress, what: str) -> Iterator[Callable[[int, int], object] | None]:
    """Give the callback for the extension module, and close the bar afterwards."""
    if progress is not True:
        yield progress or None
        return
    try:
        from tqdm.auto import tqdm
    except ImportError:
        yield None
        return
    with tqdm(unit="B", unit_scale=True, unit_divisor=1024, desc=what) as bar:

        def report(done: int, total: int) -> None:
            bar.total = total
            bar.update(done - bar.n)

        yield report
