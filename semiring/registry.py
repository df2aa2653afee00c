"""Operators, monoids and semirings by name: built-in and registered ones.

Semirings need no list of their own: every ``<monoid>_<operator>`` is one.
"""

import difflib
from collections.abc import Callable, Iterable
from typing import Any, TypeVar, cast

from hpgraph.semiring.arithmetic import BINARY, BINARY_ALIASES, INDEX_UNARY, SATURATED, UNARY
from hpgraph.semiring.fingerprint import shallow_key
from hpgraph.semiring.function import Function
from hpgraph.semiring.index_binary import IndexBinaryOp
from hpgraph.semiring.monoid import ANY_INDEX, BUILTIN, Element, Monoid, Value
from hpgraph.semiring.operators import BY_NAME, BinaryOp, IndexUnaryOp, Kind, Python, UnaryOp
from hpgraph.semiring.semiring import Semiring

T = TypeVar("T")
# Names in other libraries, for messages.
_ELSEWHERE = {
    "sum": "plus", "add": "plus", "subtract": "minus", "sub": "minus", "product": "times", "prod": "times",
    "multiply": "times", "mul": "times", "or": "lor", "and": "land", "xor": "lxor",
}  # fmt: skip

_unary: dict[str, UnaryOp] = dict(UNARY)
_binary: dict[str, BinaryOp] = dict(BINARY)
_index_unary: dict[str, IndexUnaryOp] = dict(INDEX_UNARY)
_monoids: dict[str, Monoid] = dict(BUILTIN)
_semirings: dict[str, Semiring] = {}
# A function passed twice is one operator, so that its compiled code is reused.
_anonymous: dict[tuple[Any, ...], Any] = {}
_by_shallow_key: dict[tuple[Any, ...], Any] = {}


def get_unary(op: UnaryOp | str | Python | Function) -> UnaryOp:
    """A unary operator from its name, from a Python function of one argument, or from itself.

    Raises
    ------
    ValueError
        If there is none of that name; the message has those of similar name.
    TypeError
        If it is something else.
    """
    if isinstance(op, UnaryOp):
        return op
    if isinstance(op, str):
        return _look_up(op, _unary, "unary operator")
    return _from_function(op, UnaryOp, 1)


def get_binary(op: BinaryOp | str | Python | Function | Monoid) -> BinaryOp:
    """A binary operator from its name, from a Python function of two arguments, from a monoid, or from itself.

    Raises as `get_unary`.

    Examples
    --------
    >>> get_binary("mins")
    Traceback (most recent call last):
    ...
    ValueError: no binary operator is called 'mins'; similar: minus, min, rminus
    """
    if isinstance(op, BinaryOp):
        return op
    if isinstance(op, Monoid):
        return op.op
    if isinstance(op, str):
        return _look_up(BINARY_ALIASES.get(op, op), _binary, "binary operator")
    return _from_function(op, BinaryOp, 2)


def get_index_unary(op: IndexUnaryOp | str | Python | Function, result: Kind = "returned") -> IndexUnaryOp:
    """An index-unary operator from its name, from a Python function, or from itself.

    A function takes (value), (value, thunk), (value, row, column) or (value, row, column, thunk); `result` is the type
    of its result, as for `IndexUnaryOp`. Raises as `get_unary`.

    Examples
    --------
    >>> get_index_unary("tril")(5, 1, 2)
    np.False_
    """
    if isinstance(op, IndexUnaryOp):
        return op
    if isinstance(op, str):
        return _look_up(op, _index_unary, "index-unary operator")
    if isinstance(op, (type, Monoid, Semiring, UnaryOp, BinaryOp)) or not callable(op):
        raise TypeError(f"an operator, its name or a Python function is expected, not {op!r}")
    return _once(op, (IndexUnaryOp, result), lambda compiled: IndexUnaryOp(compiled.name, compiled, result))


def index_unary_names() -> list[str]:
    """Names of all index-unary operators, sorted."""
    return sorted(_index_unary)


def get_monoid(monoid: Monoid | str) -> Monoid:
    """A monoid from its name or from itself.

    Raises
    ------
    ValueError
        If there is none of that name; the message has those of similar name.
    TypeError
        If it is a bare function, since its identity is unknown, or something else.
    """
    if isinstance(monoid, Monoid):
        return monoid
    if isinstance(monoid, str):
        return _look_up(monoid, _monoids, "monoid")
    if callable(monoid):
        raise TypeError("a function alone makes no monoid, its identity is missing: Monoid(function, identity=...)")
    raise TypeError(f"a monoid or its name is expected, not {type(monoid).__name__}")


def get_semiring(semiring: Semiring | str) -> Semiring:
    """A semiring from its name, ``<monoid>_<operator>`` or a registered one, or from itself.

    Raises as `get_unary`.

    Examples
    --------
    >>> get_semiring("max_min")
    <Semiring max_min>
    """
    if isinstance(semiring, Semiring):
        return semiring
    if not isinstance(semiring, str):
        raise TypeError(f"a semiring or its name is expected, not {type(semiring).__name__}")
    if semiring not in _semirings:
        add, _, multiply = semiring.partition("_")
        multiply = BINARY_ALIASES.get(multiply, multiply)
        if add not in _monoids or multiply not in _binary or multiply == "any_index":
            _look_up(semiring, dict.fromkeys(semiring_names()), "semiring")
        _semirings.setdefault(semiring, Semiring(_monoids[add], _binary[multiply]))
    return _semirings[semiring]


def semiring_names() -> list[str]:
    """Names of all semirings, sorted.

    Examples
    --------
    >>> names = semiring_names()
    >>> "lor_land" in names, "any_secondi" in names, len(names) > 300
    (True, True, True)
    """
    multiply = [name for name in _binary if name != "any_index"]
    return sorted({f"{add}_{name}" for add in _monoids for name in multiply} | set(_semirings))


def register_unary(name: str, function: Python, result: Kind = "returned") -> UnaryOp:
    """Register a unary operator made from a Python function.

    Parameters
    ----------
    name : str
        An identifier that is not the name of a built-in operator; an earlier registration is replaced.
    function : function
        ``f(a)``, which Numba can compile for the CPU and the GPU.
    result : str
        Type of the result, as for `UnaryOp`.
    """
    return _register(name, UnaryOp(name, function, result), _unary, UNARY, "unary operator")


def register_index_unary(name: str, function: Python, result: Kind = "returned") -> IndexUnaryOp:
    """Register an index-unary operator made from a Python function, as `register_unary`.

    The function takes (value), (value, thunk), (value, row, column) or (value, row, column, thunk).
    """
    return _register(name, IndexUnaryOp(name, function, result), _index_unary, INDEX_UNARY, "index-unary operator")


def register_binary(name: str, function: Python, result: Kind = "returned") -> BinaryOp:
    """Register a binary operator made from a Python function ``f(a, b)``, as `register_unary`.

    Examples
    --------
    >>> import numpy as np
    >>> damped = register_binary("damped", lambda weight, x: 0.5 * weight * x, result="float")
    >>> get_semiring("plus_damped").multiply(np.float32(3), np.float32(4))
    np.float32(6.0)
    """
    _forget_semirings(lambda semiring: semiring.multiply.name == name)
    return _register(name, BinaryOp(name, function, result), _binary, BINARY, "binary operator")


def register_index_binary(name: str, function: Python, result: Kind = "returned") -> IndexBinaryOp:
    """Register an `IndexBinaryOp` made from a Python function ``f(a, i, j, b, k, l, theta)``.

    As for `register_binary`, operations accept the name, and names of semirings may contain it; theta is 0.
    """
    _forget_semirings(lambda semiring: semiring.multiply.name == name)
    made = IndexBinaryOp(name, function, result)
    _register(name, made, _binary, BINARY, "binary operator")
    return made


def register_monoid(
    name: str,
    op: BinaryOp | str | Python | Function,
    identity: Element,
    terminal: Element | None = None,
    idempotent: bool = False,
    samples: Iterable[Value] | None = None,
) -> Monoid:
    """Register a monoid after a check of its laws on a sample; parameters and errors are those of `Monoid`.

    ``name`` is an identifier without underscore, not of a built-in monoid; an earlier registration is replaced.

    Examples
    --------
    >>> register_monoid("product", lambda a, b: a * b, identity=0)
    Traceback (most recent call last):
    ...
    ValueError: 'product' is no monoid: False is not its identity: f(False, True) = False, not True
    """
    operator = get_binary(op) if isinstance(op, (BinaryOp, str)) else BinaryOp(name, op)
    monoid = Monoid(operator, identity, terminal, idempotent, name=name, samples=samples)
    if "_" in name:
        raise ValueError(
            f"name is {name!r}; a monoid's name has no underscore: <monoid>_<operator> names its semirings"
        )
    _forget_semirings(lambda semiring: semiring.add.name == name)
    return _register(name, monoid, _monoids, BUILTIN, "monoid")


def register_semiring(name: str, add: Monoid | str, multiply: BinaryOp | str | Python | Function) -> Semiring:
    """Register a semiring; an earlier registration of the name is replaced.

    Examples
    --------
    >>> register_semiring("reliability", "max", lambda weight, x: weight * x)
    <Semiring reliability>
    >>> get_semiring("reliability").add.name
    'max'
    """
    taken = {f"{m}_{b}": None for m in BUILTIN for b in BINARY}
    return _register(name, Semiring(get_monoid(add), get_binary(multiply), name), _semirings, taken, "semiring")


def name_of_built_in(one: Any) -> tuple[str, str] | None:
    """The key of a built-in operator, monoid or semiring for `built_in`; None for a user's."""
    if not isinstance(one, Semiring):
        return _key(one) if _BUILT_IN.get(_key(one)) is one else None
    # A registered semiring may have a name of its own.
    named = one.name == f"{one.add.name}_{one.multiply.name}" and _semirings.get(one.name) is one
    parts = name_of_built_in(one.add), name_of_built_in(one.multiply)
    return ("Semiring", one.name) if named and None not in parts else None


def built_in(kind: str, name: str) -> Any:
    """Unpickle a built-in operator, monoid or semiring from its `name_of_built_in`."""
    return get_semiring(name) if kind == "Semiring" else _BUILT_IN[kind, name]


def _key(one: Any) -> tuple[str, str]:
    return type(one).__name__, one.cpp or one.name


_BUILT_IN = {
    _key(one): one
    for table in (UNARY, BINARY, SATURATED, INDEX_UNARY, BUILTIN, {"any_index": ANY_INDEX})
    for one in table.values()
}


def _reduced(one: Any) -> Any:
    name = name_of_built_in(one)
    return None if name is None else (built_in, name)


BY_NAME.append(_reduced)


def _look_up(name: str, table: dict[str, T], what: str) -> T:
    if name not in table:
        meant = _ELSEWHERE.get(name)
        near = [meant] if meant in table else difflib.get_close_matches(name, table, n=3, cutoff=0.5)
        similar = f"; similar: {', '.join(near)}" if near else ""
        raise ValueError(f"no {what} is called {name!r}{similar}")
    return table[name]


def _from_function(function: Any, kind: type[T], n_arguments: int) -> T:
    if isinstance(function, (type, Monoid, Semiring)) or not callable(function):
        raise TypeError(f"an operator, its name or a Python function is expected, not {function!r}")

    def make(compiled: Function) -> T:
        if compiled.n_arguments != n_arguments:
            raise TypeError(f"{compiled.name}() takes {compiled.n_arguments} arguments; the operator has {n_arguments}")
        constructor: Callable[..., T] = kind
        return constructor(compiled.name, compiled)

    return _once(function, (kind, n_arguments), make)


def _once(function: Any, kind: tuple[Any, ...], make: Callable[[Function], T]) -> T:
    """The operator made of a function; the same operator for functions with equal code."""
    # Reading all references of a function takes longer than a small product.
    key = shallow_key(function)
    if key is not None and (kind, key) in _by_shallow_key:
        return cast(T, _by_shallow_key[kind, key])
    compiled = Function(function)
    if not compiled.is_lasting:
        return make(compiled)
    found: T = _anonymous.setdefault((kind, compiled.key), make(compiled))
    if key is not None:
        _by_shallow_key[kind, key] = found
    return found


def _register(name: str, value: T, table: dict[str, T], builtin: dict[str, Any], what: str) -> T:
    if not name.isidentifier():
        raise ValueError(f"name is {name!r}; it must be a Python identifier")
    if name in builtin:
        raise ValueError(f"{what} {name!r} is built in; choose another name")
    table[name] = value
    return value


def _forget_semirings(outdated: Callable[[Semiring], bool]) -> None:
    """A semiring made from the name of an operator must not outlive that operator's registration."""
    for name in [name for name, semiring in _semirings.items() if outdated(semiring)]:
        del _semirings[name]
