"""What the kernels of all rooms share: how a vertex program becomes code, threads, compilers, launches."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import Any, Protocol


class Runtime(Protocol):
    """What either backend offers besides kernels."""

    def interruptible(self) -> AbstractContextManager[None]:
        """Within it, Ctrl-C ends the kernels that run."""

    def in_python(self) -> AbstractContextManager[None]:
        """Within that, it is Python's again, for what may take long and is no kernel."""

    def minimum_at(self, target: Any, at: Any, values: Any) -> None:
        """``target[at] = min(target[at], values)``, where places may come several times."""

    def rescale(self, values: Any, factor: float, before: Any) -> float:
        """``values *= factor``, and the sum of all |values - before|; on a GPU waits for it."""
