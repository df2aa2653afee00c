"""Running a vertex program: PREPROCESS, then (SPMV, APPLY) until nobody is active (HPGraph, 2018, Section 3).

Three loops serve all programs, and the program's own form says which. Where the first message wins ("any") or one
property only ever moves one way (no `update`, an idempotent `reduce`), the whole loop over supersteps is one kernel and
nothing returns to Python before the end. Everything else goes superstep by superstep: a product over the active set,
then an update.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

import numpy as np

from hpgraph.containers.graph import Graph, as_graph
from hpgraph.containers.vertices import id
from hpgraph.core.device import array_module, native, to_device, unmasked
from hpgraph.core.number import real, whole
from hpgraph.engine.arcs import Arcs
from hpgraph.engine.complaint import naming_what_does_not_compile
from hpgraph.engine.declarations import Declarations, beginning, declarations_of
from hpgraph.engine.direction import Direction
from hpgraph.engine.superstep import supersteps
from hpgraph.engine.trace import Trace
from hpgraph.engine.values import array, scalar
from hpgraph.formats import Bitmask
from hpgraph.kernels.backend import kernels
from hpgraph.kernels.runtime.program import Beginning, begin
from hpgraph.semiring.operators import check_dtype

if TYPE_CHECKING:
    from hpgraph.engine.program import VertexProgram
    from hpgraph.kernels.runtime.program import ProgramCode

_ENDLESS = int(np.iinfo(np.int64).max)


class RunResult:
    """Where a vertex program ended.

    Attributes
    ----------
    trace : Trace
        What each superstep did.
    supersteps : int
        How many there were.
    active : array of vertex ids
        Who was still active when the limit of supersteps ended the run; empty otherwise, and where the first message
        wins. By index, as all results are: on a graph with names ``hpgraph.id(result.active)`` goes on from there.
    world : dict
        Parameters and last sums.
    <property> : array of length n
        Each property under its own name.
    """

    def __init__(
        self, properties: dict[str, Any], trace: Trace, active: Callable[[], Any], world: dict[str, Any]
    ) -> None:
        self.properties = properties
        self.trace = trace
        self._active = active
        self.world = world

    @cached_property
    def active(self) -> Any:
        """Who was still active; made when first asked for."""
        return self._active()

    @property
    def supersteps(self) -> int:
        """Number of supersteps."""
        return len(self.trace)

    def __getattr__(self, name: str) -> Any:
        properties = self.__dict__.get("properties", {})
        if name in properties:
            return properties[name]
        raise AttributeError(f"the result has no {name!r}; it has {', '.join([*properties, 'trace', 'supersteps'])}")

    def __repr__(self) -> str:
        return f"<RunResult: {', '.join(self.properties)}; {self.trace!r}>"


def run(
    program: VertexProgram | type[VertexProgram],
    graph: Any,
    *,
    active: Any = None,
    direction: str | Direction = "auto",
    max_iteration: int | None = None,
    delta: float | None = None,
    ceiling: float | None = None,
    **initial: Any,
) -> RunResult:
    """Run a vertex program on a graph, on the graph's device.

    Parameters
    ----------
    program : VertexProgram
        The program, or its class.
    graph : Graph or what `hpgraph.as_graph` takes
        The graph.
    active : array or sequence of vertices, hpgraph.id, bool array of length n, or None
        Who sends in the first superstep: vertex ids, or names where the graph has names; ``hpgraph.id(array)`` says
        indices. None means everyone.
    direction : {"auto", "push", "pull"} or Direction
        How supersteps find the arcs of active vertices, where there is a choice: programs without `update` always push,
        and sums of floats are pulled on the GPU, where pushed messages are joined in any order.
    max_iteration : int, optional
        Supersteps at the most; default, the program's `max_iteration`.
    delta : float, optional
        Only for programs without `update` whose `reduce` is "min": vertices with a value beyond the current bucket,
        `delta` wide, wait until those below have settled.
    ceiling : float, optional
        Likewise: a vertex with a value beyond it sends nothing.
    **initial
        Initial properties (arrays of length n, or scalars) and parameters (scalars) by name.

    Returns
    -------
    RunResult
        Its arrays lie on the graph's device.

    Raises
    ------
    TypeError, ValueError, IndexError
        If an argument does not fit the program or the graph.
    CompileError
        If Numba cannot compile one of the program's functions; it says which and why.

    Examples
    --------
    >>> import hpgraph as hpg
    >>> class Component(hpg.VertexProgram):
    ...     label = hpg.Property("int64", initial=lambda G: range(G.n_vertices))
    ...     edges = "all"
    ...     reduce = "min"
    ...     def gather(source, weight, target):
    ...         return source.label
    >>> G = hpg.Graph.from_edges([0, 2], [1, 3], n_vertices=5)
    >>> hpg.run(Component, G).label.tolist()
    [0, 0, 2, 2, 4]
    """
    declared = declarations_of(program)
    graph = as_graph(graph)
    policy = Direction.of(direction)
    limit = _limit(declared.max_iteration if max_iteration is None else max_iteration)
    state, beginnings = _initial_state(declared, graph, initial)
    world = _parameters(declared, initial)
    if initial:
        known = ", ".join([*declared.properties, *declared.parameters])
        raise TypeError(f"{declared.name} has no property or parameter {next(iter(initial))!r}; it has {known}")
    code = declared.code(tuple(values.dtype for values in state.values()))
    arcs = Arcs(graph, declared.edges, declared.weighted)
    sources = _sources(active, graph)
    arrays = tuple(state.values())
    left = None
    backend = kernels(graph.device)
    if not (_is_relaxation(declared, code) and code.reduce.name == "min"):
        for name, value in (("delta", delta), ("ceiling", ceiling)):
            if value is not None:
                only = 'programs without update whose reduce is "min"'
                raise ValueError(f"{name} is for {only}, not for {declared.name}")
    if delta is not None and not real(delta, "delta", "a number or None") > 0:
        raise ValueError(f"delta must be positive, not {delta!r}")
    if ceiling is not None and math.isnan(real(ceiling, "ceiling", "a number or None")):
        raise ValueError("ceiling must be a number, not NaN")
    with backend.interruptible(), naming_what_does_not_compile(code, lambda: arcs.sending.dtype):
        if _is_first(declared, code):
            if policy.gamma is not None and graph.device == "cpu":
                raise ValueError("gamma is a policy of the GPU: give alpha, or move the graph there")
            by_hubs = {} if policy.gamma is None else {"gamma": policy.gamma}
            rows = backend.first(
                code, arcs.sending, arcs.by_target, arrays, beginnings, tuple(world.values()), sources,
                alpha=policy.alpha, beta=policy.beta, forced=policy.forced, limit=limit, **by_hubs,
            )  # fmt: skip
        elif _is_relaxation(declared, code):
            rows, active = backend.relax(
                code, arcs.sending, arrays, beginnings, tuple(world.values()), sources,
                delta=delta, ceiling=ceiling, limit=limit,
            )  # fmt: skip
            left = active if len(active) else None
        else:
            sources = to_device(sources, graph.device)
            begin(arrays, beginnings, sources)
            rows, left = supersteps(declared, code, arcs, arrays, world, sources, policy, limit)
    ids = arcs.sending.indices.dtype
    nobody = partial(array_module(graph.device).empty, 0, ids)
    return RunResult(state, Trace(rows), nobody if left is None else lambda: left, world)


def _is_first(declared: Declarations, code: ProgramCode) -> bool:
    return declared.runs_alone and code.reduce.ends_on_anything


def _is_relaxation(declared: Declarations, code: ProgramCode) -> bool:
    in_place = code.update is None and code.reduce.idempotent and code.message == code.properties[0][1]
    # The kernels swap whole words.
    words = code.message.kind in "iuf" and code.message.itemsize in (4, 8)
    return in_place and words and declared.runs_alone


def _limit(max_iteration: int | None) -> int:
    if max_iteration is None:
        return _ENDLESS
    limit = whole(max_iteration, "max_iteration", "a whole number or None")
    if limit < 0:
        raise ValueError(f"max_iteration must not be negative, not {max_iteration}")
    return min(limit, _ENDLESS)


def _initial_state(
    declared: Declarations, graph: Graph, initial: dict[str, Any]
) -> tuple[dict[str, Any], tuple[Beginning | None, ...]]:
    """One fresh array a property, on the graph's device, and what those not given yet are to be filled with.

    Takes what it uses out of `initial`.
    """
    xp = array_module(graph.device)
    n = graph.n_vertices
    state: dict[str, Any] = {}
    beginnings: list[Beginning | None] = []
    for name, prop in declared.properties.items():
        given = name in initial
        if not given and name in declared.beginnings:
            dtype, usual = declared.beginnings[name]
            state[name] = xp.empty(n, dtype)
            beginnings.append(usual)
            continue
        value = initial.pop(name) if given else prop.initial
        if callable(value):
            value = value(graph)
        value = unmasked(value, name)
        if not hasattr(value, "dtype") and not np.isscalar(value):
            value = np.array(value)
        wanted = prop.dtype if prop.dtype is not None else getattr(value, "dtype", np.float64)
        dtype = check_dtype(wanted, name, real=True)
        if np.ndim(value) == 0:
            state[name] = xp.empty(n, dtype)
            beginnings.append(beginning(value, None if given else prop.start, dtype, name))
            continue
        if value.shape != (n,):
            lengths = f"one value for each of the {n} vertices"
            raise ValueError(f"{name} must be a scalar or have {lengths}, not shape {value.shape}")
        state[name] = array(to_device(value, graph.device), value, dtype, name)
        beginnings.append(None)
    return state, tuple(beginnings)


def _parameters(declared: Declarations, initial: dict[str, Any]) -> dict[str, Any]:
    world = {
        name: scalar(initial.pop(name, parameter.default), np.dtype(parameter.dtype), name)
        for name, parameter in declared.parameters.items()
    }
    world.update({name: np.float64(0) for name in declared.aggregators})
    return world


def _sources(active: Any, graph: Graph) -> Any:
    """Active vertices as an array of distinct indices: on the graph's device, or, where it is but one, in NumPy."""
    csr = graph.out_csr
    n, ids = csr.shape[0], csr.indices.dtype
    one = None
    if type(active) is id:
        one = active.index
    elif type(active) is list and len(active) == 1 and graph.names is None:
        one = active[0]
    if type(one) is int and 0 <= one < n:
        return np.array([one], ids)
    xp = array_module(graph.device)
    if active is None:
        return xp.arange(n, dtype=ids)
    if isinstance(active, Bitmask):
        return active.to(graph.device).to_indices().astype(ids)
    active = unmasked(active, "active")
    mask = _mask(active)
    if mask is not None:
        if mask.shape != (n,):
            raise ValueError(f"active must have one bool for each of the {n} vertices, not shape {mask.shape}")
        return to_device(mask, graph.device).nonzero()[0].astype(ids)
    listed = graph.indices_of(active, "active")
    listed = np.unique(listed) if isinstance(listed, np.ndarray) else xp.unique(listed)
    return to_device(listed, graph.device).astype(ids)


def _mask(active: Any) -> Any:
    """An array of bools, or None where it holds anything else."""
    if isinstance(active, list | tuple):
        return np.array(active) if active and all(isinstance(value, bool | np.bool_) for value in active) else None
    array = native(active)
    return array if getattr(array, "dtype", None) == np.bool_ else None
