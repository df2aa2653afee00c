"""Shared by all kernels: code generation for vertex programs, threads, compilers, launches."""

from contextlib import AbstractContextManager
from types import ModuleType
from typing import Any, Protocol


class Runtime(Protocol):
    """Interface of a backend besides kernels; `xp`: NumPy or CuPy."""

    xp: ModuleType

    def interruptible(self) -> AbstractContextManager[None]:
        """Context manager in which Ctrl-C stops running kernels."""

    def in_python(self) -> AbstractContextManager[None]:
        """Context manager inside `interruptible` in which Python handles Ctrl-C, for long work outside kernels."""

    def minimum_at(self, target: Any, at: Any, values: Any) -> None:
        """``target[at] = min(target[at], values)``, of int64 numbers not negative; indices may repeat."""

    def three_term_step(
        self, product: Any, gain: Any, stay: Any, now: Any, before: Any, weight: float, total: Any
    ) -> Any:  # fmt: skip
        """Next member of a three-term recurrence, ``gain * product + stay * now - before``.

        It replaces `product`; `weight` times it is added to `total`.
        """
