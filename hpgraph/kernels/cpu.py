"""The kernels for the CPU, compiled by Numba."""

import numpy as np
import numpy as xp

from hpgraph.kernels.betweenness.cpu import dependencies, weighted_dependencies
from hpgraph.kernels.communities.cpu import move_vertices
from hpgraph.kernels.communities.cpu_aggregate import (
    aggregate_communities,
    in_order,
    quality_terms,
    represented,
    weight_between,
)
from hpgraph.kernels.communities.cpu_asynchronous import asynchronous_labels
from hpgraph.kernels.communities.cpu_labels import frequent_labels
from hpgraph.kernels.communities.cpu_levels import finish_levels
from hpgraph.kernels.communities.level import first_neighbours
from hpgraph.kernels.entries.cpu import keep_entries, map_entries, select_entries, zip_entries
from hpgraph.kernels.entries.cpu_extract import columns_of, positions_of, rows_of
from hpgraph.kernels.entries.cpu_induced import induced
from hpgraph.kernels.entries.cpu_kronecker import kron
from hpgraph.kernels.entries.cpu_merge import merge
from hpgraph.kernels.relaxation.cpu import relax
from hpgraph.kernels.runtime.cpu.threads import in_python, interruptible
from hpgraph.kernels.spgemm.cpu import multiply
from hpgraph.kernels.spgemm.cpu_masked import masked_work, multiply_by_dots, multiply_by_rows
from hpgraph.kernels.spmv.cpu import pull
from hpgraph.kernels.spmv.cpu_attention import row_softmax, sample_sums, softmax_derivative
from hpgraph.kernels.spmv.cpu_spmm import extreme_entries, multiply_dense, pull_dense, reduce_messages, sample_dense
from hpgraph.kernels.spmv.cpu_spmspv import push
from hpgraph.kernels.structure.cpu_both_ways import is_both_ways, rows_both_ways, with_reverses
from hpgraph.kernels.structure.cpu_components import components, components_within
from hpgraph.kernels.structure.cpu_fifo import cuthill_mckee, fifo_order, generations
from hpgraph.kernels.structure.cpu_greedy import greedy_colors, independent_set, matching
from hpgraph.kernels.structure.cpu_mirrored import mirrored
from hpgraph.kernels.structure.cpu_peeling import peel
from hpgraph.kernels.structure.cpu_spanning_forest import spanning_forest
from hpgraph.kernels.structure.cpu_symmetry import is_symmetric
from hpgraph.kernels.structure.cpu_transpose import transpose
from hpgraph.kernels.structure.cpu_triangles import count as count_triangles
from hpgraph.kernels.structure.cpu_triangles import per_vertex as triangles_of_each
from hpgraph.kernels.structure.cpu_truss import truss, truss_numbers
from hpgraph.kernels.structure.cpu_undirected import undirected
from hpgraph.kernels.superstep.cpu import Supersteps, aggregate, starting
from hpgraph.kernels.sweep.cpu import sweeps
from hpgraph.kernels.traversal.cpu import traverse


def begin_moves(arcs, weighted, total, plain):
    """Nothing: Numba compiles a loop when it first runs."""


def minimum_at(target, at, values):
    """`hpgraph.kernels.runtime.Runtime.minimum_at`."""
    np.minimum.at(target, at, values)


def three_term_step(product, gain, stay, now, before, weight, total):
    """`hpgraph.kernels.runtime.Runtime.three_term_step`."""
    product *= gain
    product += stay * now
    product -= before
    total += weight * product
    return product
