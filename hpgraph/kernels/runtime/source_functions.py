"""A vertex program's functions for multi-source kernels: with the index of a vertex's values beside its id.

The kernel computes the index: in C order of (vertices, sources) it is ``v * sources + source``, in Fortran order
``source * vertices + v``. Arrays are flat.
"""

from functools import cached_property, lru_cache

from hpgraph.kernels.runtime.functions import ProgramFunctions
from hpgraph.kernels.runtime.program import ProgramCode
from hpgraph.semiring.function import Function


class SourceFunctions(ProgramFunctions):
    """`ProgramFunctions` whose vertices ``u`` and ``v`` have their values at the indices ``at_u`` and ``at_v``."""

    def __init__(self, code: ProgramCode) -> None:
        super().__init__(code, own="at_v")

    def _vertex(self, id_: str) -> str:
        return self._vertex_of(id_, [f"state[{i}][at_{id_}]" for i in self._each])

    @cached_property
    def gather(self) -> Function:
        """``gather(state, u, at_u, weight, v, at_v) -> message``."""
        body = f"return cast(gather({self._vertex('u')}, weight, {self._vertex('v')}))"
        names = {"gather": self.code.gather, "cast": self.code.message.type}
        return self.code.wrap("gather_at", "state, u, at_u, weight, v, at_v", body, **names)

    @cached_property
    def edge_cond(self) -> Function:
        """``edge_cond(state, u, at_u, weight, v, at_v) -> bool``; only where the program has one."""
        assert self.code.edge_cond is not None
        body = f"return edge_cond({self._vertex('u')}, weight, {self._vertex('v')})"
        return self.code.wrap(
            "edge_cond_at", "state, u, at_u, weight, v, at_v", body, edge_cond=self.code.edge_cond
        )

    @cached_property
    def cond(self) -> Function:
        """``cond(state, v, at_v) -> bool``; only where the program has one."""
        assert self.code.cond is not None
        return self.code.wrap("cond_at", "state, v, at_v", f"return cond({self._vertex('v')})", cond=self.code.cond)

    @cached_property
    def update(self) -> Function:
        """``update(state, v, at_v, message, world, step) -> bool``: writes the properties; whether any changed."""
        text, names = self._renewal([f"state[{i}][at_v]" for i in self._each])
        writes = "".join(f"\nstate[{i}][at_v] = new{i}" for i in self._each)
        return self.code.wrap(
            "update_at", "state, v, at_v, message, world, step", f"{text}{writes}\nreturn changed", **names
        )

    @cached_property
    def settle(self) -> Function:
        """``settle(state, v, at_v, message, world, step, received) -> bool``: `update` masked by `received`.

        Returns whether v received without changing. Branch-free if `update` is, so that a loop over 64 consecutive
        vertices is vectorized.
        """
        old = "".join(f"old{i} = state[{i}][at_v]\n" for i in self._each)
        text, names = self._renewal([f"old{i}" for i in self._each])
        writes = "".join(f"\nstate[{i}][at_v] = new{i} if received else old{i}" for i in self._each)
        parameters = "state, v, at_v, message, world, step, received"
        return self.code.wrap(
            "update_at", parameters, f"{old}{text}{writes}\nreturn received and not changed", **names
        )

    @cached_property
    def row(self) -> Function:
        """``row(state, source) -> state``: one source's rows of arrays of shape (sources, vertices)."""
        rows = "".join(f"state[{i}][source], " for i in self._each)
        return self.code.wrap("row_at", "state, source", f"return ({rows})")


@lru_cache(maxsize=256)
def source_functions_of(code: ProgramCode) -> SourceFunctions:
    """The functions of a program; cached."""
    return SourceFunctions(code)
