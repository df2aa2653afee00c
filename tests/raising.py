"""Calls that must raise, each checked in one line."""

from collections.abc import Callable
from typing import Any

import pytest


def raises(error: type[Exception], match: str, function: Callable[..., Any], /, *args: Any, **options: Any) -> None:
    """Check that a call raises an error whose message matches."""
    __tracebackhide__ = True
    with pytest.raises(error, match=match):
        function(*args, **options)
