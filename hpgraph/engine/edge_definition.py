"""What an edge-vertex program declares; refused where it does not fit."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from hpgraph.engine.definition import Definition, Parameter, Property, SeenAsNumber, declared

EDGE_FUNCTIONS = {
    "edge_compute": ("source", "edge", "target"),
    "edge_cond": ("source", "edge", "target"),
    "reply": ("source", "edge", "target"),
    "reply_cond": ("source", "edge", "target"),
    "vertex_compute": ("vertex", "message"),
    "vote_to_halt": ("before", "vertex"),
    "starts": ("vertex",),
    "aggregate": ("before", "vertex"),
    "converged": ("world",),
}
# What an edge has besides its properties, and what the run calls its own arrays.
_OF_EDGES = {"weight", "reverse", "exists", "stamp"}


# Without ==: what begins with 0.0 is another declaration than what begins with -0.0.
@dataclass(frozen=True, eq=False)
class EdgeProperty(SeenAsNumber):
    """A value every arc has, declared in the body of an `EdgeVertexProgram`: one array, in the order of the arcs.

    Parameters
    ----------
    dtype : dtype-like, optional
        Type of the array. None takes the type of the array given to the run.
    initial : scalar or callable, default 0
        What a run starts from where it is given no array: a value for all, or a function of the graph that returns an
        array of its `n_edges` values.
    constant : bool, default False
        Whether `edge_compute` only reads it.

    Examples
    --------
    >>> EdgeProperty("float32", initial=0.5).initial
    0.5
    """

    dtype: Any = None
    initial: Any = 0
    constant: bool = False


class EdgeDefinition(Definition):
    """What the body of an `EdgeVertexProgram` says."""

    combiner: ClassVar[Any] = None
    _functions = EDGE_FUNCTIONS
    _kinds = (Property, EdgeProperty, Parameter)
    _combines = "combiner"
    _updates = "vertex_compute"

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        for name in declared(cls, EdgeProperty):
            if name in _OF_EDGES:
                raise ValueError(f"{cls.__name__}.{name} cannot be called that; choose another name")
