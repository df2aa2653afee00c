"""Arguments under the names that they had a minor version ago."""

from __future__ import annotations

import warnings


def gathers(gather: bool, apart: bool | None) -> bool:
    """`gather`, or what `apart` says, which it was called; for functions under `naming_arguments`."""
    if apart is None:
        return gather
    warnings.warn("apart is called gather now: apart=True is gather=False", DeprecationWarning, stacklevel=4)
    return not apart
