"""The kernels for the GPU: CUDA C++ templates, compiled at run time."""

import contextlib

from hpgraph.core.device import cupy as xp
from hpgraph.formats import CSR
from hpgraph.kernels.betweenness.cuda import dependencies, weighted_dependencies
from hpgraph.kernels.communities.cuda import (
    aggregate_communities,
    asynchronous_labels,
    begin_moves,
    finish_levels,
    frequent_labels,
    in_order,
    move_vertices,
)
from hpgraph.kernels.communities.cuda_aggregate import quality_terms, weight_between
from hpgraph.kernels.communities.cuda_members import represented
from hpgraph.kernels.communities.level import first_neighbours
from hpgraph.kernels.entries.cuda import map_entries, select_entries, zip_entries
from hpgraph.kernels.entries.cuda_extract import columns_of, induced, positions_of, rows_of
from hpgraph.kernels.entries.cuda_kronecker import kron
from hpgraph.kernels.entries.cuda_marks import keep_entries
from hpgraph.kernels.entries.cuda_merge import merge
from hpgraph.kernels.relaxation.cuda import relax
from hpgraph.kernels.runtime.cuda.compile import checked as interruptible
from hpgraph.kernels.runtime.cuda.elementwise import minimum_at, three_term_step
from hpgraph.kernels.spgemm.cuda import multiply
from hpgraph.kernels.spgemm.cuda_masked import masked_work, multiply_by_dots, multiply_by_rows
from hpgraph.kernels.spmv.cuda import pull
from hpgraph.kernels.spmv.cuda_attention import row_softmax, sample_sums, softmax_derivative
from hpgraph.kernels.spmv.cuda_messages import reduce_messages
from hpgraph.kernels.spmv.cuda_spmm import extreme_entries, multiply_dense, pull_dense, sample_dense
from hpgraph.kernels.spmv.cuda_spmspv import push
from hpgraph.kernels.structure.cuda_components import components, components_within
from hpgraph.kernels.structure.cuda_fifo import cuthill_mckee, fifo_order, rows_both_ways
from hpgraph.kernels.structure.cuda_greedy import greedy_colors, independent_set, matching
from hpgraph.kernels.structure.cuda_peeling import generations, peel
from hpgraph.kernels.structure.cuda_spanning_forest import spanning_forest
from hpgraph.kernels.structure.cuda_triangles import count as count_triangles
from hpgraph.kernels.structure.cuda_triangles import per_vertex as triangles_of_each
from hpgraph.kernels.structure.cuda_truss import truss, truss_numbers
from hpgraph.kernels.structure.cuda_undirected import mirrored, undirected, with_reverses
from hpgraph.kernels.superstep.cuda import Supersteps
from hpgraph.kernels.superstep.cuda_apply import aggregate, starting
from hpgraph.kernels.sweep.cuda import sweeps
from hpgraph.kernels.traversal.cuda import traverse

transpose = CSR.transpose
# The host waits for the GPU, and handles Ctrl-C when the kernel ends.
in_python = contextlib.nullcontext


def is_symmetric(csr: CSR) -> bool:
    """`hpgraph.kernels.structure.cpu_symmetry.is_symmetric` on the GPU; waits for it."""
    return csr.is_canonical() and csr.is_symmetric()


# Each reads all arcs there.
is_both_ways = is_symmetric
