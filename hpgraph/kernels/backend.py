"""The one place that chooses a backend: which kernels serve a device, and what both of them offer."""

from __future__ import annotations

import functools
import importlib
from typing import TYPE_CHECKING, Protocol, cast

from hpgraph.core.device import Device, normalize_device, require_cupy
from hpgraph.kernels.betweenness import Betweenness
from hpgraph.kernels.communities import Communities
from hpgraph.kernels.entries import Entries
from hpgraph.kernels.lanes import JointRelaxation, JointTraversal, LanesTogether
from hpgraph.kernels.lanes.ranks import JointRanks
from hpgraph.kernels.layout import Layout
from hpgraph.kernels.out_of_core import Windows
from hpgraph.kernels.relaxation import Relaxation
from hpgraph.kernels.runtime import Runtime
from hpgraph.kernels.sampling import Sampling
from hpgraph.kernels.similarity import Similarity
from hpgraph.kernels.spgemm import MatrixProducts
from hpgraph.kernels.spmv import Products
from hpgraph.kernels.structure import Structure
from hpgraph.kernels.superstep import General
from hpgraph.kernels.sweep import DividedSweeps, Sweep
from hpgraph.kernels.traversal import Traversal


class Backend(
    Traversal, Relaxation, Sweep, General, Products, MatrixProducts, Entries, Structure, Betweenness,
    Communities, Runtime, Protocol,
):  # fmt: skip
    """The contracts of all rooms: `hpgraph.kernels.cpu` and `hpgraph.kernels.cuda` both keep to them."""


if TYPE_CHECKING:
    from hpgraph.kernels import cpu, cuda
    from hpgraph.kernels.lanes import cpu as joint_cpu
    from hpgraph.kernels.lanes import cpu_ranks, cpu_relax, cuda_ranks, cuda_relax
    from hpgraph.kernels.lanes import cuda as joint_cuda

    # Here a type checker says where one of them does not.
    _both: tuple[Backend, Backend] = cpu, cuda
    _traversals: tuple[JointTraversal, JointTraversal] = joint_cpu, joint_cuda
    _relaxations: tuple[JointRelaxation, JointRelaxation] = cpu_relax, cuda_relax
    _ranks: tuple[JointRanks, JointRanks] = cpu_ranks, cuda_ranks


def kernels(device: str) -> Backend:
    """The kernels for a device."""
    return _kernels(normalize_device(device))


@functools.cache
def _kernels(device: Device) -> Backend:
    if device == "cuda":
        require_cupy()
    return cast(Backend, importlib.import_module(f"hpgraph.kernels.{device}"))


# The rooms of lanes are imported when a run has lanes, not with the others: a single search pays nothing for them.


def joint_traversal(device: str) -> JointTraversal:
    """The kernels that traverse in many lanes together."""
    return cast(JointTraversal, importlib.import_module(f"hpgraph.kernels.lanes.{normalize_device(device)}"))


def lanes_together(device: str) -> LanesTogether | None:
    """The kernels by which several devices share the searches of many lanes."""
    if normalize_device(device) == "cpu":
        return None
    return cast(LanesTogether, importlib.import_module("hpgraph.kernels.lanes.cuda_together"))


def joint_relaxation(device: str) -> JointRelaxation:
    """The kernels that relax many lanes together."""
    return cast(JointRelaxation, importlib.import_module(f"hpgraph.kernels.lanes.{normalize_device(device)}_relax"))


def windows(device: str) -> Windows:
    """The kernels of products over windows, for topology that is not in memory."""
    return cast(Windows, importlib.import_module(f"hpgraph.kernels.out_of_core.{normalize_device(device)}"))


def divided_sweeps(device: str) -> DividedSweeps | None:
    """What sweeps over the shards of several devices."""
    if normalize_device(device) == "cpu":
        return None
    module = importlib.import_module("hpgraph.kernels.sweep.cuda_divided")
    return cast(DividedSweeps, module.divided_sweeps)


def joint_ranks(device: str) -> JointRanks:
    """The kernels of one step of ranks in many lanes."""
    return cast(JointRanks, importlib.import_module(f"hpgraph.kernels.lanes.{normalize_device(device)}_ranks"))


def similarity(device: str) -> Similarity:
    """The kernels that compare rows."""
    return cast(Similarity, importlib.import_module(f"hpgraph.kernels.similarity.{normalize_device(device)}"))


def sampling(device: str) -> Sampling:
    """The kernels that draw neighbours and walk at random."""
    return cast(Sampling, importlib.import_module(f"hpgraph.kernels.sampling.{normalize_device(device)}"))


def layouts(device: str) -> Layout:
    """The kernels that lay out graphs."""
    return cast(Layout, importlib.import_module(f"hpgraph.kernels.layout.{normalize_device(device)}"))
