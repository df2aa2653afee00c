"""Whose memory an array is: what a container keeps is its own, and what it hands out nobody can write through.

A container keeps several layouts of the same entries. If one of them lay in a caller's array, writing to that array
would leave the layouts at odds: ``A @ x`` would see the new values and ``A.T @ x`` the old ones.
"""

from __future__ import annotations

from typing import Any

from hpgraph.core.device import array_module, is_cuda


def own(array: Any, given: Any) -> Any:
    """An array made of what a caller gave, copied where it still is the caller's memory.

    Parameters
    ----------
    array : numpy.ndarray, cupy.ndarray or None
        What is to be kept.
    given : object
        What it was made of: an array, a sequence, an array of another library.

    Returns
    -------
    numpy.ndarray, cupy.ndarray or None
        The same array where conversion has copied already.

    Examples
    --------
    >>> import numpy as np
    >>> x = np.arange(3)
    >>> own(x, x) is x, own(x.astype(float), x).dtype
    (False, dtype('float64'))
    """
    if array is None:
        return None
    xp = array_module(array)
    if array is not given:
        elsewhere = isinstance(given, list | tuple | range) or array_module(given) is not xp
        if elsewhere or not xp.may_share_memory(array, xp.asarray(given)):
            return array
    made = xp.empty(array.shape, array.dtype)
    # Unlike its method `copy`, this takes CuPy no kernel, which would have to be compiled.
    xp.copyto(made, array)
    return made


def read_only(array: Any) -> Any:
    """What shows an array and lets nobody write to it: a read-only view, or on CUDA, which has none, a copy.

    Parameters
    ----------
    array : numpy.ndarray, cupy.ndarray or None

    Returns
    -------
    numpy.ndarray, cupy.ndarray or None

    Examples
    --------
    >>> import numpy as np
    >>> read_only(np.arange(3)).flags.writeable
    False
    """
    if array is None or is_cuda(array):
        return None if array is None else array.copy()
    view = array.view()
    view.flags.writeable = False
    return view


def hand_out(array: Any, copy: bool) -> Any:
    """An array for a caller: one of its own, or a read-only view.

    Parameters
    ----------
    array : numpy.ndarray, cupy.ndarray or None
    copy : bool

    Returns
    -------
    numpy.ndarray, cupy.ndarray or None
    """
    return array.copy() if copy and array is not None else read_only(array)
