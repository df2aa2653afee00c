"""Selects a backend: the kernels of each device, and the contracts that both backends implement."""

import functools
import importlib
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Protocol, cast

from hpgraph.core.device import normalize_device, require_cupy
from hpgraph.kernels.betweenness import Betweenness
from hpgraph.kernels.communities import Communities
from hpgraph.kernels.entries import Entries
from hpgraph.kernels.layout import Layout
from hpgraph.kernels.matching import Matching
from hpgraph.kernels.nearest import Nearest
from hpgraph.kernels.out_of_core import Windows
from hpgraph.kernels.relaxation import JointRelaxation, Relaxation
from hpgraph.kernels.runtime import Runtime
from hpgraph.kernels.sampling import Sampling
from hpgraph.kernels.similarity import Similarity
from hpgraph.kernels.spgemm import MatrixProducts
from hpgraph.kernels.spmv import Products
from hpgraph.kernels.structure import Mappings, Structure
from hpgraph.kernels.superstep import General
from hpgraph.kernels.sweep import JointRanks, Sweep
from hpgraph.kernels.traversal import JointTraversal, SourcesTogether, Traversal


class Backend(
    Traversal, Relaxation, Sweep, General, Products, MatrixProducts, Entries, Structure, Betweenness,
    Communities, Runtime, Protocol,
):  # fmt: skip
    """All contracts that `hpgraph.kernels.cpu` and `hpgraph.kernels.cuda` implement."""


if TYPE_CHECKING:
    from hpgraph.kernels import cpu, cuda
    from hpgraph.kernels.matching import cpu as cpu_matching
    from hpgraph.kernels.matching import cuda as cuda_matching
    from hpgraph.kernels.relaxation import cpu_sources as cpu_relax
    from hpgraph.kernels.relaxation import cuda_sources as cuda_relax
    from hpgraph.kernels.sweep import cpu_ranks, cuda_ranks
    from hpgraph.kernels.traversal import cpu_sources as joint_cpu
    from hpgraph.kernels.traversal import cuda_sources as joint_cuda

    # For type checkers: each module implements its contract.
    _both: tuple[Backend, Backend] = cpu, cuda
    _traversals: tuple[JointTraversal, JointTraversal] = joint_cpu, joint_cuda
    _relaxations: tuple[JointRelaxation, JointRelaxation] = cpu_relax, cuda_relax
    _matchings: tuple[Matching, Matching] = cpu_matching, cuda_matching
    _ranks: tuple[JointRanks, JointRanks] = cpu_ranks, cuda_ranks


@functools.cache
def kernels(device: str) -> Backend:
    """The kernels for a device."""
    name = normalize_device(device)
    if name == "cuda":
        require_cupy()
    return cast(Backend, importlib.import_module(f"hpgraph.kernels.{name}"))


def _on_demand(names: str, on_cpu: bool = True) -> Callable[[str], Any]:
    """A function that imports these modules of `hpgraph.kernels` for a device on first use."""

    @functools.cache
    def load(device: str) -> Any:
        name = normalize_device(device)
        return importlib.import_module(f"hpgraph.kernels.{names.format(name)}") if on_cpu or name != "cpu" else None

    return load


# Imported on first use, so that a single search does not load them.
joint_traversal: Callable[[str], JointTraversal] = _on_demand("traversal.{}_sources")
joint_relaxation: Callable[[str], JointRelaxation] = _on_demand("relaxation.{}_sources")
joint_ranks: Callable[[str], JointRanks] = _on_demand("sweep.{}_ranks")
windows: Callable[[str], Windows] = _on_demand("out_of_core.{}")
similarity: Callable[[str], Similarity] = _on_demand("similarity.{}")
sampling: Callable[[str], Sampling] = _on_demand("sampling.{}")
matchings: Callable[[str], Matching] = _on_demand("matching.{}")
layouts: Callable[[str], Layout] = _on_demand("layout.{}")
nearest: Callable[[str], Nearest] = _on_demand("nearest.{}")
mappings: Callable[[str], Mappings] = _on_demand("structure.{}_subgraphs")
tight_arcs: Callable[[str], Any] = _on_demand("relaxation.{}_tight_arcs")
# For the GPU alone, None on the CPU: kernels that run on several devices together.
sources_together: Callable[[str], SourcesTogether | None] = _on_demand("traversal.cuda_sources_team", on_cpu=False)
teams: Callable[[str], Any] = _on_demand("cuda_teams", on_cpu=False)
