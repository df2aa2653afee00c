"""Values computed once from a container and cached for its lifetime."""

import functools
import weakref
from collections.abc import Callable
from typing import Any, TypeVar

from hpgraph.core.locks import Lock

Made = TypeVar("Made")


def attached(make: Callable[[Any], Made]) -> Callable[[Any], Made]:
    """Decorator: call `make` once for each container, which is immutable, hashed by identity and weakly referable."""
    kept: weakref.WeakKeyDictionary[Any, Made] = weakref.WeakKeyDictionary()
    lock = Lock()

    @functools.wraps(make)
    def get(container: Any) -> Made:
        try:
            return kept[container]
        except KeyError:
            made = make(container)
            with lock:
                # All threads get the value that was stored first.
                return kept.setdefault(container, made)

    return get
