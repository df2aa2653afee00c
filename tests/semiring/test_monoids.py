"""Laws of the built-in monoids, and how a user's are checked."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from raising import raises
from reference_operators import DTYPES, samples, takes

from hpgraph.semiring import BinaryOp, Monoid, get_binary, get_monoid, get_semiring, register_monoid
from hpgraph.semiring.monoid import ANY_INDEX, BUILTIN

MONOIDS = [*BUILTIN.values(), ANY_INDEX]
PAIRS = [
    pytest.param(monoid, dtype, id=f"{monoid.op.name}-{dtype}")
    for monoid in MONOIDS
    for dtype in DTYPES
    if takes(monoid.op.name, dtype)
]
LOGICAL = ("lor", "land", "lxor", "lxnor")


def domain(monoid: Monoid, dtype: np.dtype) -> np.ndarray:
    """Values that obey the laws: the logical monoids know 0 and 1 only, min and max pass over NaN."""
    if monoid.name in LOGICAL:
        return np.array([0, 1]).astype(dtype)
    values = samples(dtype)
    return values[values == values] if monoid.name in ("min", "max") else values


def same(a, b) -> bool:
    return bool(a == b or (a != a and b != b))


@pytest.mark.parametrize("monoid, dtype", PAIRS)
def test_identity_and_terminal(monoid, dtype):
    f = monoid.reduce_for(dtype)
    identity = monoid.identity_for(dtype)
    assert identity.dtype == dtype
    with np.errstate(all="ignore"):
        for value in domain(monoid, dtype):
            assert same(f(identity, value), value) and same(f(value, identity), value)
            assert f(identity, value).dtype == dtype
        terminal = monoid.terminal_for(dtype)
        if terminal is not None:
            assert terminal.dtype == dtype
            assert all(f(terminal, value) == terminal for value in domain(monoid, dtype))
            assert all(f(value, terminal) == terminal for value in domain(monoid, dtype))
        if monoid.idempotent:
            assert all(same(f(value, value), value) for value in domain(monoid, dtype))
    done = monoid.terminal_test(dtype)
    assert monoid.has_terminal(dtype) == any(
        done(value) for value in [*domain(monoid, dtype), terminal] if value is not None
    )
    if identity != terminal:
        assert not done(identity)


@pytest.mark.parametrize("monoid, dtype", [p for p in PAIRS if p.values[0].op.name not in ("any", "any_index")])
@given(data=st.data())
@settings(max_examples=30, deadline=None)
def test_associative_and_commutative(monoid, dtype, data):
    if dtype.kind in "fc":
        # Whole numbers of moderate size, which floats combine exactly.
        numbers = st.integers(-(2**6), 2**6)
    elif dtype.kind == "b" or monoid.name in LOGICAL:
        numbers = st.integers(0, 1)
    else:
        numbers = st.integers(int(np.iinfo(dtype).min), int(np.iinfo(dtype).max))
    a, b, c = (dtype.type(data.draw(numbers)) for _ in range(3))
    f = monoid.reduce_for(dtype)
    with np.errstate(all="ignore"):
        assert f(a, b) == f(b, a)
        assert f(f(a, b), c) == f(a, f(b, c))


def test_bool_and_integers_have_no_infinity():
    assert get_monoid("min").identity_for("bool") == np.True_
    assert get_monoid("min").identity_for("int16") == np.int16(32767)
    assert get_monoid("max").identity_for("uint64") == np.uint64(0)
    assert get_monoid("min").identity_for("uint64") == np.uint64(2**64 - 1)
    assert get_monoid("band").identity_for("uint8") == 255 and get_monoid("band").identity_for("int8") == -1


def test_terminals():
    assert get_monoid("plus").terminal_for("int32") is None
    assert get_monoid("plus").terminal_for("bool") == np.True_
    assert get_monoid("times").terminal_for("int32") == 0 and get_monoid("times").terminal_for("float32") is None
    assert get_monoid("any").terminal_for("int32") is None and get_monoid("any").has_terminal("int32")
    assert not get_monoid("lxor").has_terminal("bool")


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_a_reduction_passes_over_nan(dtype):
    from kernels_of_functions import fold

    values = np.array([np.nan, 3, -np.inf, np.nan, 7, np.inf], dtype)
    for name, ufunc in (("min", np.fmin), ("max", np.fmax)):
        monoid = get_monoid(name)
        f, identity = monoid.reduce_for(dtype), monoid.identity_for(dtype)
        assert fold(f, identity, values) == ufunc.reduce(values)
        assert fold(f, identity, values[[0, 1, 4]]) == ufunc(3, 7)
        assert fold(f, identity, values[[0, 3]]) == identity


@pytest.mark.parametrize(
    "monoid, dtype", [p for p in PAIRS if p.values[1].name in ("bool", "int8", "uint64", "float32")]
)
def test_terminal_tests_compile(monoid, dtype):
    from kernels_of_functions import apply

    values = samples(dtype)
    out = np.empty(values.size, bool)
    apply(monoid.terminal_test(dtype), values, out)
    terminal = monoid.terminal_for(dtype)
    if monoid.ends_on_anything:
        expected = values != monoid.identity_for(dtype)
    else:
        expected = np.zeros(values.size, bool) if terminal is None else values == terminal
    assert np.array_equal(out, expected)


def test_a_users_monoid_holds_identity_and_terminal_for_every_dtype():
    gcd = Monoid(
        lambda a, b: math.gcd(int(a), int(b)),
        identity=0,
        terminal=1,
        idempotent=True,
        name="gcd",
        samples=[0, 1, 2, 12, 18, 35],
    )
    assert gcd.identity_for("uint8") == 0 and gcd.terminal_for("int64") == 1
    longest = Monoid(lambda a, b: a if a > b else b, identity=-math.inf, idempotent=True)
    assert longest.identity_for("int8") == -128 and longest.identity_for("float32") == -np.inf


@pytest.mark.parametrize(
    "function, arguments, message",
    [
        (lambda a, b: a + b, {"identity": 1}, r"1 is not its identity: f\(1, 0\) = 1, not 0|True is not its identity"),
        (lambda a, b: a - b, {"identity": 0}, r"0 is not its identity: f\(0, 1\) = -1, not 1"),
        (
            lambda a, b: (a + b) / 2 if a != 0 and b != 0 else a + b,
            {"identity": 0.0},
            r"not associative: f\(f\(.*\) = ",
        ),
        (lambda a, b: a + b, {"identity": 0, "idempotent": True}, r"not idempotent: f\(1, 1\) = 2"),
        (lambda a, b: a + b, {"identity": 0, "terminal": 5}, r"5 is not terminal: f\(5, 1\) = 6"),
        (lambda a, b: a if b == 0 else b, {"identity": 0}, r"not commutative: f\(1, 2\) = 2, f\(2, 1\) = 1"),
        (lambda a, b: max(a, b), {"identity": 0}, r"0 is not its identity: f\(0, -1\) = 0, not -1"),
        (lambda a, b: a + b, {"identity": "0"}, "type of number: the identity of .* must be a number, or a f"),
    ],
)
def test_what_is_no_monoid_is_refused_with_a_counterexample(function, arguments, message):
    raises(ValueError, message, Monoid, function, **arguments)


def test_rounding_is_no_violation_of_associativity():
    Monoid(lambda a, b: a + b, identity=0.0, samples=[0.1, 0.2, 0.3, 1e9, -1e9])
    Monoid(lambda a, b: math.hypot(a, b), identity=0.0, samples=[0.0, 0.1, 3.0, 7.7])


def test_a_monoid_on_part_of_the_numbers_needs_samples():
    with pytest.raises(ValueError, match="not its identity"):
        Monoid(lambda a, b: max(a, b), identity=0)
    positive = Monoid(lambda a, b: max(a, b), identity=0, idempotent=True, samples=[0, 1, 2.5, 7])
    assert positive.identity_for("float32") == 0


def test_an_identity_that_a_dtype_cannot_hold_is_refused():
    longest = Monoid(lambda a, b: a if a > b else b, identity=-1, samples=[0, 3, 7])
    assert longest.identity_for("int8") == -1
    raises(ValueError, r"identity of monoid .* is -1, which uint8 cannot hold", longest.identity_for, "uint8")


def test_registered_monoids_have_semirings():
    monoid = register_monoid("furthest", lambda a, b: a if a > b else b, identity=-math.inf, idempotent=True)
    assert get_monoid("furthest") is monoid
    assert get_semiring("furthest_plus").add is monoid
    again = register_monoid("furthest", get_binary("max"), identity=-math.inf)
    assert get_semiring("furthest_plus").add is again


def test_names_that_cannot_be_registered():
    with pytest.raises(ValueError, match="'min' is built in"):
        register_monoid("min", lambda a, b: min(a, b), identity=math.inf)
    raises(ValueError, "no underscore", register_monoid, "my_max", "max", identity=-math.inf)
    raises(ValueError, "identifier", register_monoid, "my max", "max", identity=-math.inf)


def test_positional_operators_make_no_monoid():
    with pytest.raises(ValueError, match="makes no monoid"):
        Monoid(get_binary("secondi"), 0)


def test_a_raising_operator_is_shown():
    def picky(a, b):
        if a == 7 or b == 7:
            raise RuntimeError("seven")
        return a + b

    raises(ValueError, "raised RuntimeError: seven", Monoid, picky, identity=0, samples=[1, 7])


def test_a_monoid_of_an_operator_object():
    op = BinaryOp("smaller", lambda a, b: a if a < b else b)
    assert Monoid(op, identity=math.inf).name == "smaller"
