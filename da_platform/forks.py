"""Do independent work in several processes at once."""

import gc
from collections.abc import Callable, Iterator, Sequence
from multiprocessing import get_context
from typing import Any, TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")


def in_forks(
    work: Callable[[Item], Result], items: Sequence[Item], processes: int
) -> Iterator[Result]:
    """Yield the result for each item, in order; with more than one process, several at a time.

    Forks have the function and the items already, so only results are pickled. They are safe only while this
    process has no other active threads.
    """
    if processes <= 1 or len(items) <= 1:
        yield from map(work, items)
        return
    _inherited.append((work, items))
    # The collector would touch every object, and so copy the pages that the forks share.
    gc.collect()
    gc.freeze()
    try:
        with get_context("fork").Pool(min(processes, len(items))) as pool:
            yield from pool.imap(_work_on, range(len(items)))
    finally:
        gc.unfreeze()
        _inherited.pop()


_inherited: list[tuple[Callable[[Any], Any], Sequence[Any]]] = []


def _work_on(place: int) -> Any:
    work, items = _inherited[-1]
    return work(items[place])
