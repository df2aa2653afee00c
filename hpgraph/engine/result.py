"""Results of a run of a vertex program, from one start or from many sources."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING, Any

from hpgraph.containers.result_table import ResultTable

if TYPE_CHECKING:
    import numpy as np

    from hpgraph.engine.trace import Trace


METHODS = frozenset(name for name in vars(ResultTable) if not name.startswith("_"))
"""Methods of a result; properties of the same name hide them."""


class RunResult(ResultTable):
    """Result of a run of a vertex program: each property, an array of length n, under its own name.

    Attributes
    ----------
    trace : Trace
        What each superstep did.
    supersteps : int
        Number of supersteps.
    active : array of vertex ids
        Vertices still active when the limit of supersteps ended the run; empty otherwise, and where the first message
        wins. By index, as all results: on a graph with names pass ``hpgraph.id(result.active)`` to continue.
    world : dict
        Parameters and last sums.
    """

    def __init__(
        self, properties: dict[str, Any], trace: Trace, active: Callable[[], Any], world: dict[str, Any]
    ) -> None:
        self.properties = properties
        self.trace = trace
        self._active = active
        self.world = world
        if not METHODS.isdisjoint(properties):
            self._hide_methods()

    def _hide_methods(self) -> None:
        """A program's properties hide methods of the same name."""
        self.__dict__.update({name: self.properties[name] for name in METHODS.intersection(self.properties)})

    def __getstate__(self) -> dict[str, Any]:
        _ = self.active
        return {name: value for name, value in self.__dict__.items() if name != "_active"}

    def _values(self) -> dict[str, Any]:
        # A table of vertices has no columns for edge properties.
        n = self.__dict__.get("_n")
        return {name: values for name, values in self.properties.items() if n is None or values.shape[-1] == n}

    @cached_property
    def active(self) -> Any:
        """The vertices still active; computed on first access."""
        return self._active()

    @property
    def supersteps(self) -> int:
        """Number of supersteps."""
        return self.trace.supersteps

    def __getattr__(self, name: str) -> Any:
        properties = self.__dict__.get("properties", {})
        if name in properties:
            return properties[name]
        raise AttributeError(f"the result has no {name!r}; it has {', '.join([*properties, 'trace', 'supersteps'])}")

    def __repr__(self) -> str:
        return f"<RunResult: {', '.join(self.properties)}; {self.trace!r}>"


class MultiSourceResult(RunResult):
    """Result of a run of a vertex program from many sources: each property, an array of shape (k, n).

    Attributes
    ----------
    traces, groups : list of Trace, list of int64 arrays
        What each superstep of each group of sources did, and the sources of each; ``trace`` is that of the only group.
    active : list of arrays of vertex ids
        For each source, the vertices still active when the limit of supersteps ended its run.
    unfinished : bool
        Whether the limit of supersteps may have ended some source's run.
    world : dict
        Parameters and last sums by name: a list each, of one value a source.
    """

    def __init__(self, properties: dict[str, Any]) -> None:
        self.properties = properties
        self.world = {}
        self.traces: list[Trace] = []
        self.groups: list[np.ndarray] = []
        self.unfinished = False
        self._of_sources: list[Any] = []
        self._hide_methods()

    @property
    def active(self) -> list[Any]:  # type: ignore[override]
        """For each source, the vertices still active."""
        return self._of_sources

    @property
    def trace(self) -> Trace:  # type: ignore[override]
        """The trace of the only group."""
        if len(self.traces) != 1:
            raise AttributeError(f"there are {len(self.traces)} groups of sources, each with a trace: see traces")
        return self.traces[0]

    def __repr__(self) -> str:
        groups = f"{len(self.active)} sources in {len(self.traces)} groups"
        return f"<MultiSourceResult: {', '.join(self.properties)}; {groups}>"
