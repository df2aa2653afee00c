"""Messages of a run through Dask: the job that workers receive once, and the results; the state of a block."""

import hashlib
from collections.abc import Callable
from dataclasses import dataclass, field
from types import FunctionType
from typing import Any

import cloudpickle  # type: ignore[import-untyped]
import numpy as np

from hpgraph.cluster.errors import ClusterError, Limits
from hpgraph.engine.declarations import Declarations, declarations_of
from hpgraph.engine.definition import Parameter, Property
from hpgraph.engine.direction import Direction
from hpgraph.formats import Bitmask
from hpgraph.semiring.fingerprint import fingerprint

# Programs received by this process, by fingerprint: each is read and compiled once.
_PROGRAMS: dict[str, Any] = {}
_MAX_PROGRAMS = 256
# Columns of the table of supersteps.
COLUMNS = 7


@dataclass(frozen=True)
class Share:
    """The initial data of one block's own vertices, counted from the first of the range."""

    # Values of properties that are given as arrays.
    arrays: dict[str, np.ndarray]
    # uint32; None for all, or if the program's `starts` selects them.
    active: np.ndarray | None
    # Path of its part of a checkpoint.
    saved: str | None = None


@dataclass(frozen=True)
class Job:
    """One run of a program, as sent to each of its workers."""

    graph: str
    limits: Limits
    # Number of arcs of the whole graph.
    arcs: int
    # Maximum number of supersteps.
    limit: int
    # "program" or "triangles".
    kind: str = "program"
    # The class or instance, as Dask would send it (functions are bytecode, not machine code), and its fingerprint.
    program: bytes = b""
    key: str = ""
    dtypes: tuple[np.dtype, ...] = ()
    # For each property its initial value, and that of initially active vertices; or None.
    beginnings: tuple[tuple[Any, Any] | None, ...] = ()
    # Functions that compute properties from the degrees of a block's own vertices.
    of_degrees: dict[str, Callable[[np.ndarray], np.ndarray]] = field(default_factory=dict)
    # Parameters and sums.
    world: dict[str, Any] = field(default_factory=dict)
    # Whether messages go against the arcs, and whether `starts` selects the initially active vertices.
    backwards: bool = False
    starts: bool = False
    policy: Direction = field(default_factory=Direction)
    # For a relaxation: initial width of a bucket, and the value above which nothing is sent.
    delta: float | None = None
    ceiling: float | None = None
    # A folder, or a URL of an object store; seconds between checkpoints; description of the run in their table.
    checkpoint: str | None = None
    every: float = 60.0
    details: dict[str, Any] = field(default_factory=dict)
    # Destination of progress reports.
    topic: str | None = None
    threads: int | None = None
    # For an epoch: its identity, the listener of each block, and whether all blocks know their vertices' degrees.
    token: bytes = b""
    peers: list[tuple[str, int]] = field(default_factory=list)
    counted: bool = False


@dataclass
class BlockResult:
    """The result of a run for the vertices that a block owns."""

    properties: dict[str, np.ndarray]
    # Vertices that are still active, counted from the first of the range: uint32.
    active: np.ndarray
    # Parameters and last sums; the same for all blocks.
    world: dict[str, Any]
    # Of shape (supersteps, COLUMNS), those before the checkpoint included: direction, active vertices, arcs visited,
    # nanoseconds; bytes, and messages to vertices, that this block sent; number of times the bound was raised.
    rows: np.ndarray
    # Bytes sent before the first superstep.
    begun: int


@dataclass
class BlockState:
    """The state of a block between two supersteps: the content of a checkpoint."""

    step: int
    active: np.ndarray | None
    world: dict[str, Any]
    counts: np.ndarray
    # As in `BlockResult`.
    rows: np.ndarray
    # Own vertices that receive no more, if each receives once.
    settled: Bitmask | None = None


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
        try:
            names, found = cloudpickle.loads(data)
        except (ImportError, AttributeError) as error:
            raise ClusterError(
                f"a worker cannot import the module of the program ({error}): install it there, send it by "
                "client.upload_file, or define the program in the script itself"
            ) from error
        _reorder(found if isinstance(found, type) else type(found), names)
        own_key = key_of(declarations_of(found))
        if own_key != key:
            raise ClusterError(
                f"{declarations_of(found).name} is not the same program here as at the client: a module that it comes "
                "from, or refers to, differs; install the same versions on all workers"
            )
        if len(_PROGRAMS) >= _MAX_PROGRAMS:
            _PROGRAMS.clear()
        _PROGRAMS[key] = found
    return declarations_of(found)


def _reorder(kind: type, names: list[str]) -> None:
    """Restore the order of a class's attributes, that of its properties, which cloudpickle sorts."""
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
    """A program's fingerprint: of its functions and declarations."""
    parts = [declared.name, declared.edges, declared.activity, str(declared.weighted), str(declared.message)]
    parts += [repr(declared.aggregators), declared.reduce.name]
    parts += [f"{name}:{prop.dtype}:{prop.length}" for name, prop in declared.properties.items()]
    parts += [f"{name}:{parameter.dtype}" for name, parameter in declared.parameters.items()]
    functions = {**declared.functions, "reduce": getattr(declared.reduce.op, "python", None)}
    for name, function in sorted(functions.items()):
        parts.append(f"{name}={fingerprint(function) if isinstance(function, FunctionType) else function}")
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:40]
