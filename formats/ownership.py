"""Ownership of arrays: containers own what they keep, and return copies or read-only views.

A container keeps several layouts of the same entries. If one of them lay in a caller's array, writing to that array
would leave the layouts at odds: ``A @ x`` would see the new values and ``A.T @ x`` the old ones.
"""

from typing import Any

from hpgraph.core.device import array_module, is_cuda


def own(array: Any, given: Any) -> Any:
    """`array`, converted from the argument `given`; copied if it still shares the caller's memory."""
    if array is None:
        return None
    xp = array_module(array)
    if array is not given:
        elsewhere = isinstance(given, list | tuple | range) or array_module(given) is not xp
        if elsewhere or not xp.may_share_memory(array, xp.asarray(given)):
            return array
    made = xp.empty(array.shape, array.dtype)
    # Unlike `array.copy()`, this compiles no kernel in CuPy.
    xp.copyto(made, array)
    return made


def read_only(array: Any) -> Any:
    """A read-only view of an array, or on CUDA, which has none, a copy."""
    if array is None or is_cuda(array):
        return None if array is None else array.copy()
    view = array.view()
    view.flags.writeable = False
    return view


def hand_out(array: Any, copy: bool) -> Any:
    """An array for a caller: one of its own, or a read-only view."""
    return array.copy() if copy and array is not None else read_only(array)
