"""Which layout a program's arcs are asked for in."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
import scipy.sparse

import hpgraph as hpg
from hpgraph.core.device import cuda_available, to_device
from hpgraph.engine.declarations import declarations_of
from hpgraph.placement.of_graph import arcs_of

GRAPH = hpg.Graph(scipy.sparse.random_array((300, 300), density=0.05, rng=np.random.default_rng(1), format="csr"))


class Plain(hpg.VertexProgram):
    """Messages that depend on the source only; those of subclasses depend on the arc or the target."""

    weighted = False
    activity = "all"
    max_iteration = 2
    reduce = "max"
    value = hpg.Property("float64", initial=1.0)

    def gather(source, weight, target):
        return source.value

    def update(vertex, message):
        return vertex.value + message


class Weighing(Plain):
    weighted = True

    def gather(source, weight, target):
        return source.value * weight


class Seeing(Plain):
    def gather(source, weight, target):
        return source.value - target.value


class Choosing(Plain):
    def edge_cond(source, weight, target):
        return source.id < target.id


@pytest.mark.parametrize(("program", "blocks"), [(Plain, True), (Weighing, False), (Seeing, False), (Choosing, False)])
def test_blocks_of_columns_count_where_messages_can_go_by_them(program, blocks, monkeypatch):
    from hpgraph.kernels.spmv import cuda_choice

    asked = []
    monkeypatch.setattr(
        cuda_choice, "layout_of_sweeps", lambda rows, operand, result, blocks: asked.append(blocks) or "csr"
    )
    declared = declarations_of(program)
    arcs = arcs_of(GRAPH, declared.edges, declared.weighted, declared.code((np.dtype(np.float64),)))
    # The choice is the GPU's; it can be asked for without one.
    arcs._graph = SimpleNamespace(device="cuda", out_csr=GRAPH.out_csr, in_csr=GRAPH.in_csr)
    assert arcs.gathering is arcs.by_target and asked == [blocks]


@pytest.mark.skipif(not cuda_available(), reason="no CUDA GPU here")
@pytest.mark.parametrize("program", [Plain, Weighing, Seeing, Choosing])
@pytest.mark.parametrize("slab", [False, True])
def test_answers_on_cuda_do_not_depend_on_the_layout(program, slab, monkeypatch):
    from hpgraph.kernels.spmv import cuda_choice

    monkeypatch.setattr(cuda_choice, "layout_of_sweeps", lambda *_, **__: "hyb" if slab else "csr")
    found = hpg.run(program, GRAPH.to("cuda")).value
    np.testing.assert_allclose(to_device(found, "cpu"), hpg.run(program, GRAPH).value)
