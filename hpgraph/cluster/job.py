"""The description of a run that workers receive through Dask, once, when it begins."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from types import FunctionType
from typing import Any

import cloudpickle  # type: ignore[import-untyped]
import numpy as np

from hpgraph.cluster.errors import ClusterError
from hpgraph.cluster.limits import Limits
from hpgraph.engine.declarations import Declarations, declarations_of
from hpgraph.engine.definition import Parameter, Property
from hpgraph.semiring.fingerprint import fingerprint

# Programs received by this process, by fingerprint: each is read and compiled once.
_PROGRAMS: dict[str, Any] = {}
_MAX_PROGRAMS = 256


@dataclass(frozen=True)
class Share:
    """The initial data of one block.

    Attributes
    ----------
    arrays : dict
        Values of the block's own vertices, for properties given as arrays.
    active : uint32 array or None
        Own vertices that are active at first, counted from the first of the range; None for all, or if the
        program's `starts` selects them.
    saved : str or None
        Path of its part of a checkpoint.
    """

    arrays: dict[str, np.ndarray]
    active: np.ndarray | None
    saved: str | None = None


@dataclass(frozen=True)
class Job:
    """One run of a program, as sent to each of its workers.

    Attributes
    ----------
    token : bytes
        Identifies the run's epoch.
    graph : str
        Identifies the graph.
    program : bytes
        The class or instance, as Dask would send it: functions are bytecode, not machine code.
    key : str
        Its fingerprint.
    dtypes : tuple of numpy.dtype
        Of its properties.
    beginnings : tuple
        For each property its initial value, and that of initially active vertices; or None.
    world : dict
        Parameters and sums.
    backwards : bool
        Whether messages go against the arcs.
    starts : bool
        Whether the program's `starts` selects the initially active vertices.
    mode : str
        "auto", "push" or "pull".
    alpha : float
        Share of all arcs up to which supersteps push.
    limit : int
        Maximum number of supersteps.
    arcs : int
        Number of arcs of the whole graph.
    counted : bool
        Whether all blocks know the degrees of their vertices, from an earlier run.
    prepare : str or None
        Name of the function of `hpgraph.cluster.programs` that fills properties.
    peers : list of (str, int)
        The listener of each block.
    limits : Limits
    checkpoint : str or None
        A folder, or a URL of an object store.
    every : float
        Seconds between checkpoints.
    details : dict
        Description of the run in a checkpoint's table.
    topic : str or None
        Where to report progress.
    threads : int or None
    delta, ceiling : float or None
        Of a relaxation: first width of a bucket, and the value above which nothing is sent.
    kind : {"program", "triangles"}
        Whether the program runs, or triangles are counted.
    """

    token: bytes
    graph: str
    program: bytes
    key: str
    dtypes: tuple[np.dtype, ...]
    beginnings: tuple[tuple[Any, Any] | None, ...]
    world: dict[str, Any]
    backwards: bool
    starts: bool
    mode: str
    alpha: float
    limit: int
    arcs: int
    peers: list[tuple[str, int]]
    limits: Limits
    checkpoint: str | None = None
    every: float = 60.0
    details: dict[str, Any] = field(default_factory=dict)
    topic: str | None = None
    prepare: str | None = None
    counted: bool = False
    threads: int | None = None
    delta: float | None = None
    ceiling: float | None = None
    kind: str = "program"


def sent(program: Any) -> bytes:
    """A program for sending: its class without compiled code."""
    kind = program if isinstance(program, type) else type(program)
    held = [(one, one.__dict__["_held"]) for one in kind.__mro__ if "_held" in one.__dict__]
    kept = [list(found) for _, found in held]
    for _, found in held:
        found.clear()
    try:
        names = [name for one in reversed(kind.__mro__) for name in one.__dict__ if one.__module__ != "builtins"]
        made: bytes = cloudpickle.dumps((names, program))
    finally:
        for (_, found), before in zip(held, kept, strict=True):
            found[:] = before
    return made


def received(data: bytes, key: str) -> Declarations:
    """The declarations of a received program; read once."""
    found = _PROGRAMS.get(key)
    if found is None:
        names, found = cloudpickle.loads(data)
        _reorder(found if isinstance(found, type) else type(found), names)
        here = key_of(declarations_of(found))
        if here != key:
            raise ClusterError(
                f"{declarations_of(found).name} is not the same program here as at the client: a module that it comes "
                "from, or refers to, differs; install the same versions on all workers"
            )
        if len(_PROGRAMS) >= _MAX_PROGRAMS:
            _PROGRAMS.clear()
        _PROGRAMS[key] = found
    return declarations_of(found)


def _reorder(kind: type, names: list[str]) -> None:
    """Restore the order of a class's attributes, which is that of its properties.

    cloudpickle sorts the attributes of classes that it sends by value.
    """
    place = {name: k for k, name in enumerate(names)}
    for one in kind.__mro__:
        own = [name for name, value in one.__dict__.items() if isinstance(value, Property | Parameter)]
        wanted = sorted(own, key=lambda name: place.get(name, len(place)))
        if own != wanted:
            for name in wanted:
                value = one.__dict__[name]
                delattr(one, name)
                setattr(one, name, value)


def key_of(declared: Declarations) -> str:
    """A program's fingerprint: of its functions and of what it declares."""
    parts = [declared.name, declared.edges, declared.activity, str(declared.weighted), str(declared.message)]
    parts += [repr(declared.aggregators), declared.reduce.name]
    parts += [f"{name}:{prop.dtype}:{prop.length}" for name, prop in declared.properties.items()]
    parts += [f"{name}:{parameter.dtype}" for name, parameter in declared.parameters.items()]
    functions = {**declared.functions, "reduce": getattr(declared.reduce.op, "python", None)}
    for name, function in sorted(functions.items()):
        parts.append(f"{name}={fingerprint(function) if isinstance(function, FunctionType) else function}")
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:40]
