"""Arguments under the names that they had a minor version ago."""

from __future__ import annotations

import warnings


def gathers(apart: bool) -> bool:
    """`gather`, where it was given under its former name; for functions under `naming_arguments`."""
    warnings.warn("apart is called gather now: apart=True is gather=False", DeprecationWarning, stacklevel=4)
    return not apart
