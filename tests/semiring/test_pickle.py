"""Operators, monoids and semirings are pickled by name or by their parts, and copied as themselves."""

import copy
import pickle
import subprocess
import sys
from typing import Any

import cloudpickle
import numpy as np
import pytest

import hpgraph as hpg
from hpgraph.semiring import (
    BinaryOp,
    IndexBinaryOp,
    Monoid,
    Semiring,
    UnaryOp,
    get_binary,
    get_index_unary,
    get_monoid,
    get_semiring,
    get_unary,
    semiring_names,
)
from hpgraph.semiring.arithmetic import BINARY, INDEX_UNARY, UNARY
from hpgraph.semiring.monoid import BUILTIN

A = hpg.Matrix([[1.0, 7.0, 0.0], [5.0, 0.0, 2.0], [0.0, 3.0, 4.0]])


def longest(a: Any, b: Any) -> Any:
    return max(a, b)


def damped(a: Any, b: Any) -> Any:
    return 0.5 * a * b


def halved(a: Any) -> Any:
    return a / 2


def weighed(a: Any, i: Any, j: Any, b: Any, k: Any, l: Any, theta: Any) -> Any:  # noqa: E741
    return theta * a - j


LARGEST = Monoid(longest, identity=-np.inf, idempotent=True)


class Farthest(hpg.VertexProgram):
    value = hpg.Property("float64", initial=0.0)
    reduce = LARGEST
    max_iteration = 2

    def gather(source, weight, target):
        return source.value + weight


def test_what_is_built_in_is_the_same_object_again() -> None:
    names = [name for name in semiring_names() if name.partition("_")[0] in BUILTIN]
    found = [get(name) for get, table in (
        (get_unary, UNARY), (get_binary, BINARY), (get_index_unary, INDEX_UNARY), (get_monoid, BUILTIN),
        (get_semiring, [name for name in names if name.partition("_")[2] in BINARY]),
    ) for name in table]  # fmt: skip
    parts = [part for one in found if isinstance(one, Semiring) for part in (one.add, one.multiply)]
    assert len(found) > 400
    for one in found + parts:
        for protocol in (0, 2, pickle.HIGHEST_PROTOCOL):
            assert pickle.loads(pickle.dumps(one, protocol)) is one
        assert pickle.loads(cloudpickle.dumps(one)) is copy.copy(one) is copy.deepcopy(one) is one


def test_what_is_made_of_importable_functions_computes_the_same() -> None:
    for ring in (
        Semiring(LARGEST, BinaryOp("damped", damped, "float")),
        Semiring(get_monoid("min"), get_binary("plus"), "tropical"),
        Semiring(LARGEST, IndexBinaryOp("weighed", weighed).with_theta(100)),
    ):
        wanted = A.mxv(hpg.Vector([1.0, 2.0, 3.0]), ring).toarray()
        again = pickle.loads(pickle.dumps(ring))
        assert again is not ring and copy.deepcopy([ring])[0] is ring and again.name == ring.name
        assert A.mxv(hpg.Vector([1.0, 2.0, 3.0]), again).toarray().tolist() == wanted.tolist()
    half = pickle.loads(pickle.dumps(UnaryOp("half", halved, "float")))
    assert half(np.float32(3)) == np.float32(1.5) and half.result == "float"
    program = pickle.loads(pickle.dumps((Farthest, Farthest())))
    G = hpg.from_edges([0, 1], [1, 2], [2.0, 3.0])
    assert hpg.run(program[0], G).value.tolist() == hpg.run(program[1], G).value.tolist() == [0, 2, 5]


def test_another_process_reads_them() -> None:
    written = pickle.dumps([get_semiring("min_plus"), get_monoid("max"), get_binary("times")])
    code = "import pickle, sys; print(pickle.load(sys.stdin.buffer))"
    done = subprocess.run([sys.executable, "-c", code], input=written, capture_output=True, check=True)
    assert done.stdout.decode().strip() == "[<Semiring min_plus>, <Monoid max>, <BinaryOp times>]"


def test_functions_that_cannot_be_imported_are_named() -> None:
    def inner(a: Any) -> Any:
        return a + 1

    for op in (BinaryOp("scaled", lambda a, b: 3 * a * b), UnaryOp("inner", inner)):
        with pytest.raises(pickle.PicklingError, match=rf"{op.name} cannot be pickled, .* imported from {__name__} "):
            pickle.dumps(op)
    again = pickle.loads(cloudpickle.dumps(BinaryOp("scaled", lambda a, b: 3 * a * b)))
    assert again(2, 5) == 30


def test_a_function_that_was_replaced_is_not_written(monkeypatch: pytest.MonkeyPatch) -> None:
    op = BinaryOp("damped", damped)
    monkeypatch.setattr(sys.modules[__name__], "damped", longest)
    with pytest.raises(pickle.PicklingError, match="as it was"):
        pickle.dumps(op)
