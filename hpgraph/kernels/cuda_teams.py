"""Kernels that run on several GPUs as a team; see `hpgraph.kernels.backend.teams`."""

from hpgraph.kernels.relaxation.cuda import relax_divided
from hpgraph.kernels.runtime.cuda.multi_gpu_barrier import Parts
from hpgraph.kernels.runtime.cuda.part import MAX_PARTS, Rows
from hpgraph.kernels.structure.cuda_divided_components import components
from hpgraph.kernels.sweep.cuda_divided import divided_sweeps
from hpgraph.kernels.traversal.cuda import traverse_divided

__all__ = ["MAX_PARTS", "Parts", "Rows", "components", "divided_sweeps", "relax_divided", "traverse_divided"]
