"""One superstep on the CPU: messages along arcs (`push_messages`, `pull_messages`), then APPLY."""

from __future__ import annotations

from typing import Any

import numpy as np

from hpgraph.formats import CSR, HYB, Bitmask
from hpgraph.kernels.runtime.cpu.threads import team
from hpgraph.kernels.runtime.functions import functions_of
from hpgraph.kernels.runtime.program import ProgramCode
from hpgraph.kernels.spmv.cpu import pull
from hpgraph.kernels.spmv.cpu_spmspv import push
from hpgraph.kernels.superstep import cpu_apply as _apply


def apply(
    code: ProgramCode,
    state: tuple[np.ndarray, ...],
    message: np.ndarray,
    received: Bitmask,
    world: tuple[Any, ...],
    step: int,
    active: Bitmask,
) -> tuple[np.ndarray, int, int]:
    """Update the vertices that received a message.

    Parameters
    ----------
    code : ProgramCode
        The program.
    state : tuple of arrays of length n
        The properties; changed in place.
    message : array of length n
        Combined messages.
    received : Bitmask
        Who is updated.
    world : tuple of scalars
        Parameters and last sums.
    step : int
        Number of the superstep, from 1.
    active : Bitmask
        Overwritten: who changed.

    Returns
    -------
    sums : float64 array
        What `aggregate` contributed, added up over the updated vertices.
    changed, updated : int
        How many vertices changed, and were updated.
    """
    program = functions_of(code)
    blocks = -(-message.size // _apply.BLOCK)
    sums, counts = np.zeros((blocks, code.aggregates)), np.zeros((blocks, 2), np.int64)
    with team():
        _apply.apply_update(
            program.update, program.aggregate, program.load, state, message, received.words, world, step, active.words,
            sums, counts,
        )  # fmt: skip
    changed, updated = counts.sum(axis=0).tolist()
    return sums.sum(axis=0), changed, updated


def aggregate(code: ProgramCode, state: tuple[np.ndarray, ...], world: tuple[Any, ...]) -> np.ndarray:
    """The sums of `aggregate` over all vertices as they are.

    Parameters
    ----------
    code : ProgramCode
        The program.
    state : tuple of arrays of length n
        The properties.
    world : tuple of scalars
        Parameters and sums.

    Returns
    -------
    float64 array
    """
    program = functions_of(code)
    n = state[0].size
    sums = np.zeros((-(-n // _apply.BLOCK), code.aggregates))
    with team():
        _apply.apply_aggregate(program.aggregate, program.load, state, world, n, sums)
    return sums.sum(axis=0)


def pull_messages(
    code: ProgramCode,
    rows: CSR | HYB,
    state: tuple[np.ndarray, ...],
    active: Bitmask | None,
    message: np.ndarray,
    received: Bitmask,
) -> None:
    """Every vertex that may receive combines the messages of its active in-neighbours.

    Parameters
    ----------
    code : ProgramCode
        The program.
    rows : CSR or HYB
        Arcs by the vertex that gathers.
    state : tuple of arrays of length n
        The properties.
    active : Bitmask or None
        Who sends; None: all.
    message : array of length n
        Written: the combined message, the monoid's identity where none came.
    received : Bitmask
        Overwritten: who got one.
    """
    program = functions_of(code)
    pull(rows, program.offer, code.reduce, state, message, active=active, received=received, **_closed(code, state))


def push_messages(
    code: ProgramCode,
    arcs: CSR,
    state: tuple[np.ndarray, ...],
    frontier: np.ndarray,
    message: np.ndarray,
    received: Bitmask,
) -> None:
    """The active vertices send along the arcs that leave them; the same outcome as `pull_messages`.

    Parameters
    ----------
    code : ProgramCode
        The program.
    arcs : CSR
        Arcs by the vertex that sends.
    state : tuple of arrays of length n
        The properties.
    frontier : array of vertex ids
        Who sends.
    message : array of length n
        Written where a message came.
    received : Bitmask
        Overwritten: who got one.
    """
    program = functions_of(code)
    message.fill(code.reduce.identity_for(code.message))
    touched = push(arcs, program.offer, code.reduce, state, frontier, message, **_closed(code, state))
    received.words[:] = Bitmask.from_indices(touched, received.n).words


def _closed(code: ProgramCode, state: tuple[np.ndarray, ...]) -> dict[str, Any]:
    """The mask of a product: whoever `cond` keeps from receiving is left out."""
    if code.cond is None:
        return {}
    n = state[0].size
    with team():
        words = settled_words(code, state, n)
    if n % 64:
        words[-1] &= ~past(n)
    return {"mask": Bitmask(n, words), "complement": True}


def settled_words(code: ProgramCode, state: tuple[np.ndarray, ...], n: int) -> np.ndarray:
    """Bitmask of the vertices that may not receive; bits past the last vertex are set."""
    words = np.zeros((n + 63) // 64, np.uint64)
    if code.cond is not None:
        _apply.settle(functions_of(code).cond, state, n, words)
    elif n:
        words[-1] = past(n)
    return words


def past(n: int) -> np.uint64:
    """The bits of the last word that lie past the last of n vertices."""
    return ~np.uint64(0) << np.uint64(n % 64) if n % 64 else np.uint64(0)
