"""mxv and vxm, against the definition, on each device and layout."""

from typing import Any
from unittest import mock

import numpy as np
import pytest
import scipy.sparse
from arrays import host
from hypothesis import given
from hypothesis import strategies as st
from oracle import Writing, agree, entries, examples, expected, gb, options, writing
from raising import raises

import hpgraph as hpg
from hpgraph.algebra import mxv as products
from hpgraph.core.device import array_module, cuda_available, to_device
from hpgraph.core.errors import CompileError
from hpgraph.formats import Bitmask
from hpgraph.kernels.spmv.product_plan import swapped
from hpgraph.semiring import BinaryOp, Monoid, Semiring, get_semiring

# Each compiles kernels of its own: enough to tell the operands apart, a monoid from another, and terminals.
RINGS = [
    ("plus_times", "csr"), ("plus_times", "hyb"), ("plus_times", "sell"), ("max_minus", "csr"), ("min_secondi", "hyb"),
]  # fmt: skip


@examples(60)
@given(data=st.data(), ring=st.sampled_from(RINGS), left=st.booleans(), how=writing((5,)))
def test_vectors_with_absent_entries(
    data: st.DataObject, ring: tuple[str, Any], left: bool, how: Writing, device: str
) -> None:
    """Whatever is absent, in all combinations of mask, accumulator and output, pushed and pulled."""
    name, layout = ring
    matrix, vector = data.draw(entries((7, 5) if left else (5, 7), "int64")), data.draw(entries((7,), "int64"))
    A, X, y = hpg.Matrix(matrix.ours(device), format=layout), matrix.theirs(), vector.theirs()
    assert A.T.csr.nnz == A.csr.nnz, "with columns at hand, vectors of few entries are pushed"
    theirs = getattr(gb.semiring, name)
    product = y.vxm(X, theirs) if left else X.mxv(y, theirs)
    for push in (False, True):
        with mock.patch.object(products, "product_pushes", lambda leaving, arcs, push=push: push):
            found = (A.vxm if left else A.mxv)(vector.ours(device), name, **options(how, device))
        agree(found, expected(how, product))


def as_dict(result: hpg.Vector) -> dict[int, int]:
    indices, held = (host(array) for array in result.to_indices())
    return dict(zip(indices.tolist(), held.tolist(), strict=True))


class TestMxv:
    """mxv and vxm on arrays."""

    def test_arrays_hold_identities_where_no_entries_match(self, device: str) -> None:
        M = hpg.Matrix([[0, 2.0], [0, 0]]).to(device)
        x = to_device(np.array([1.0, 10.0]), device)
        assert host(M.mxv(x)).tolist() == [20, 0]
        assert host(M.mxv(x, "min_plus")).tolist() == [12, np.inf]
        assert host(M.vxm(x, "min_plus")).tolist() == [np.inf, 3]
        assert host(M.mxv(x, "min_plus", mask=to_device(np.array([False, True]), device))).tolist() == [np.inf] * 2

    def test_operands_keep_their_sides(self, device: str) -> None:
        M = hpg.Matrix([[0, 2.0], [5.0, 0]]).to(device)
        x = to_device(np.array([1.0, 10.0]), device)
        assert host(M.mxv(x, "max_minus")).tolist() == [2 - 10, 5 - 1]
        assert host(M.vxm(x, "max_minus")).tolist() == [10 - 5, 1 - 2]
        assert host(M.vxm(x, "min_secondi")).tolist() == [1, 0]
        assert host(M.vxm(x, "min_firsti")).tolist() == [0, 0]

    def test_operators_of_the_user(self, device: str) -> None:
        halve = BinaryOp("halve", lambda a, b: a - b / 2, "float")
        semiring = Semiring(Monoid(hpg.semiring.get_binary("max"), -np.inf, name="most"), halve)
        M = hpg.Matrix([[0, 2.0], [5.0, 0]]).to(device)
        x = to_device(np.array([1.0, 10.0]), device)
        assert host(M.mxv(x, semiring)).tolist() == [2 - 5, 5 - 0.5]
        assert host(M.vxm(x, semiring)).tolist() == [10 - 2.5, 1 - 1]

    def test_masks_of_every_kind(self, device: str) -> None:
        M = hpg.Matrix(np.eye(4)).to(device)
        x = to_device(np.arange(1.0, 5), device)
        flags = np.array([True, False, True, False])
        by_value = hpg.Vector(np.array([1.0, 0, 7, 0])).to(device)
        structural = hpg.Vector.from_indices([0, 2], [0.0, 1.0], 4).to(device)
        for mask in (to_device(flags, device), Bitmask.from_bool(flags).to(device), by_value, structural.structure):
            assert host(M.mxv(x, mask=mask)).tolist() == [1, 0, 3, 0]
            assert host(M.mxv(x, mask=mask, complement=True)).tolist() == [0, 2, 0, 4]
        assert host(M.mxv(x, mask=structural)).tolist() == [0, 0, 3, 0], "present, but zero"

    def test_out_and_accum(self, device: str) -> None:
        M = hpg.Matrix([[0, 2.0], [0, 0]]).to(device)
        x = to_device(np.array([1.0, 10.0]), device)
        out = to_device(np.array([3.0, 4.0]), device)
        assert M.mxv(x, "min_plus", accum="plus", out=out) is out and host(out).tolist() == [15, 4]
        assert M.mxv(x, accum=lambda a, b: a * b, out=out) is out and host(out).tolist() == [300, 4]
        assert M.mxv(x, "min_plus", out=out) is out and host(out).tolist() == [12, np.inf]

    def test_out_that_is_the_operand(self, device: str) -> None:
        M = hpg.Matrix([[0, 1.0, 0], [0, 0, 1.0], [1.0, 0, 0]]).to(device)
        x = to_device(np.array([1.0, 2.0, 3.0]), device)
        assert host(M.mxv(x, out=x)).tolist() == [2, 3, 1]
        assert host(M.mxv(x, accum="plus", out=x)).tolist() == [2 + 3, 3 + 1, 1 + 2]

    def test_out_of_another_type_or_layout(self, device: str) -> None:
        M = hpg.Matrix(np.array([[1, 2], [0, 3]], np.int32)).to(device)
        x = to_device(np.array([1, 1], np.int32), device)
        out = to_device(np.array([0.5, 0.5]), device)
        assert host(M.mxv(x, accum="plus", out=out)).tolist() == [3.5, 3.5]
        assert host(M.mxv(x, out=out)).tolist() == [3, 3]
        strided = to_device(np.zeros(4, np.int32), device)
        M.mxv(x, out=strided[::2])
        assert host(strided).tolist() == [3, 0, 3, 0]

    def test_bool_is_logical(self, device: str) -> None:
        M = hpg.Matrix(np.array([[1, 1], [0, 1]], bool)).to(device)
        x = to_device(np.array([True, True]), device)
        assert host(M.mxv(x, "lor_land")).tolist() == [True, True]
        assert host(M.mxv(x)).dtype == np.bool_
        out = to_device(np.zeros(2), device)
        assert host(M.mxv(x, out=out)).tolist() == [1, 1], "or, not a sum, whatever the type of out"
        assert host(M.mxv(x, "plus_pair")).tolist() == [2, 1]

    def test_patterns_count_one_an_arc(self, device: str) -> None:
        G = hpg.Graph.from_edges([0, 0, 1], [1, 2, 2])
        M = hpg.Matrix(G).to(device)
        hops = to_device(np.array([0.0, np.inf, np.inf]), device)
        assert host(M.vxm(hops, "min_plus")).tolist() == [np.inf, 1, 1]

    def test_vectors_multiply_by_the_operator(self, device: str) -> None:
        M = hpg.Matrix([[0, 2.0], [5.0, 0]]).to(device)
        v = hpg.Vector.from_indices([1], [10.0], 2).to(device)
        assert as_dict(M @ v) == {0: 20.0} and as_dict(v @ M) == {0: 50.0}

    def test_bfs_in_algebra(self, device: str) -> None:
        """Levels by vxm with a complemented mask, as textbooks write it."""
        R = scipy.sparse.random_array((60, 60), density=0.03, rng=8, format="csr").astype(bool)
        M = hpg.Matrix(R).to(device)
        frontier = hpg.Vector.from_indices([0], [True], 60).to(device)
        level = np.full(60, -1)
        level[0], depth = 0, 0
        seen = frontier.structure
        while frontier.nvals:
            depth += 1
            frontier = frontier.copy()
            frontier = M.vxm(frontier, "any_pair", mask=seen, complement=True)
            reached = host(frontier.to_indices()[0])
            level[reached] = depth
            seen = seen | frontier.structure
        expected = scipy.sparse.csgraph.dijkstra(R, indices=0, unweighted=True)
        np.testing.assert_array_equal(level, np.where(np.isinf(expected), -1, expected))

    def test_refused_and_nothing_written(self, device: str) -> None:
        M = hpg.Matrix([[0, 2.0], [5.0, 0]]).to(device)
        xp = array_module(device)
        x, out = xp.ones(2), xp.full(2, 7.0)
        refused: list[tuple[type[Exception], str, dict[str, Any]]] = [
            (ValueError, r"no semiring is called 'plus_tims'; similar: plus_times", {"semiring": "plus_tims"}),
            (TypeError, r"semiring or its name is expected", {"semiring": 3}),
            (TypeError, r"bits of integers", {"semiring": "bor_band"}),
            (ValueError, r"x must have shape \(2,\) .* not \(3,\)", {"x": xp.ones(3)}),
            (ValueError, r"x must have shape \(2,\) .* not \(2, 1\)", {"x": xp.ones((2, 1))}),
            (TypeError, r"not defined on complex", {"x": xp.ones(2, dtype=complex), "semiring": "min_plus"}),
            (ValueError, r"mask must have length 2, that of the result, not 3", {"mask": xp.ones(3, dtype=bool)}),
            (ValueError, r"mask must have one dimension", {"mask": xp.ones((2, 2), dtype=bool)}),
            (TypeError, r"mask must be a Bitmask, .* give mask != 0", {"mask": xp.ones(2)}),
            (ValueError, r"complement=True needs a mask", {"complement": True}),
            (ValueError, r"no binary operator is called 'pluss'; similar: plus", {"accum": "pluss"}),
            (TypeError, r"gives an index", {"accum": "secondi"}),
            (ValueError, r"out must have shape \(2,\)", {"out": xp.ones(3)}),
            (TypeError, r"cannot be written to out, which is int64: give float64", {"out": xp.ones(2, dtype=int)}),
            (TypeError, r"out must be an array or a Vector, not list", {"out": [1.0, 2.0]}),
        ]
        for kind, message, arguments in refused:
            for multiply in (M.mxv, M.vxm):
                raises(kind, message, multiply, **{"x": x, "out": out, **arguments})
                assert host(out).tolist() == [7, 7]
        raises(ValueError, r"give out, too", M.mxv, x, accum="plus")
        if device == "cpu":
            out.flags.writeable = False
            raises(ValueError, r"out is read-only", M.mxv, x, out=out)

    def test_functions_that_do_not_compile(self, device: str) -> None:
        M = hpg.Matrix([[0, 2.0], [5.0, 0]]).to(device)
        xp = array_module(device)
        out = xp.full(2, 7.0)
        with pytest.raises(CompileError, match=r"lambda.* cannot be compiled: .*undefined_name"):
            M.mxv(xp.ones(2), accum=lambda a, b: undefined_name(a, b), out=out)  # type: ignore[name-defined]  # noqa: F821
        assert host(out).tolist() == [7, 7]

    @pytest.mark.skipif(not cuda_available(), reason="takes two devices")
    def test_devices_that_differ(self) -> None:
        M = hpg.Matrix([[0, 2.0], [5.0, 0]])
        there = hpg.Vector([1.0, 2.0]).to("cuda")
        for arguments in ({"x": there}, {"x": there.values}):
            raises(TypeError, r"x lies on the GPU", M.mxv, **arguments)
        for mask in (there, there.structure, there.values > 1):
            raises(TypeError, r'mask lies on "cuda"', M.mxv, np.ones(2), mask=mask)
        raises(TypeError, r"out must lie where the matrix lies", M.mxv, np.ones(2), out=there)


@pytest.mark.parametrize(
    ("name", "turned"),
    [
        ("plus_times", "plus_times"),
        ("min_first", "min_second"),
        ("plus_div", "plus_rdiv"),
        ("min_plus", "min_plus"),
        ("max_minus", "max_rminus"),
    ],
)
def test_built_in_operators_are_swapped_for_built_in_ones(name: str, turned: str) -> None:
    assert swapped(get_semiring(name)).multiply is get_semiring(turned).multiply
    assert swapped(swapped(get_semiring(name))).multiply is get_semiring(name).multiply
