"""Loops over numbers that are compiled if Numba is installed, and otherwise run as they are."""

from collections.abc import Callable
from functools import cached_property
from typing import Any


class compiled:  # noqa: N801 - a decorator
    """Compile a function when it is first called, because importing Numba takes a second."""

    def __init__(self, py_func: Callable[..., Any]) -> None:
        self.py_func = py_func

    def __call__(self, *arguments: Any) -> Any:
        return self._function(*arguments)

    @cached_property
    def _function(self) -> Callable[..., Any]:
        try:
            from numba import njit
        except ImportError:  # the extra "fast" is not installed
            return self.py_func
        try:
            function: Callable[..., Any] = njit(cache=True)(self.py_func)
        except RuntimeError:  # there is no folder to keep the compiled code in
            function = njit(self.py_func)
        return function
