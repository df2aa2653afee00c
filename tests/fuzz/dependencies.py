"""Random functions over random dependencies: one changes, and the answer must be that of a cold start.

A case is a small graph of Python functions. Each adds up constants that it finds in the most various places: among its
globals, in its closure, in an array, in a module of a module, in an enum, in what another function returns. The case
knows its own value by arithmetic, without calling any of it. Then one constant changes where it lies, or one function
is defined again.

    python -m tests.fuzz.dependencies --cases 1000 --seed 0
"""

from __future__ import annotations

import argparse
import collections
import enum
import random
import types
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from hpgraph.semiring.function import Function
from hpgraph.semiring.snapshot import Snapshot, copy_function

Pair = collections.namedtuple("Pair", "first second")
# Where a function may find a number: an expression of the name, by kind. Numba compiles all but the last.
EXPRESSIONS = {
    "global": "{0}",
    "numpy scalar": "{0}",
    "closure": "{0}",
    "closure array": "{0}[2]",
    "global array": "{0}[1, 0]",
    "tuple": "{0}[1][0]",
    "named tuple": "{0}.second",
    "array in a tuple": "{0}[0][1]",
    "default": "{0}",
    "keyword default": "{0}",
    "enum": "{0}.RATE.value",
    "module": "{0}.value",
    "nested module": "{0}.inner.value",
    "module as argument": "read_{0}({0})",
    "function of a module": "{0}.value()",
    "jitted": "{0}(x)",
    "vectorized": "{0}(x)",
    "vectorized over a global": "{0}(x)",
    "shadowed builtin": "abs(0)",
    "class": "{0}.value",
}
UNCOMPILED = ("class",)
# These multiply their argument by the number.
_OF_ARGUMENT = ("jitted", "vectorized", "vectorized over a global")
# These live in the function's own closure or signature.
_OWN = ("closure", "closure array", "default", "keyword default")


@dataclass
class Constant:
    """A number and where it lies."""

    kind: str
    name: str
    value: float

    @property
    def expression(self) -> str:
        """What a function writes to read it."""
        return EXPRESSIONS[self.kind].format(self.name)

    def of(self, x: float) -> float:
        """What the expression is worth."""
        return self.value * x if self.kind in _OF_ARGUMENT else self.value

    def made(self) -> Any:
        """A new object that holds the number."""
        value, kind = self.value, self.kind
        if kind in ("global", "closure", "default", "keyword default"):
            return value
        if kind == "numpy scalar":
            return np.float64(value)
        if kind in ("closure array", "global array"):
            return np.array([[1.0, 2.0], [value, 3.0]]) if kind == "global array" else np.array([1.0, 2.0, value])
        if kind == "array in a tuple":
            return (np.array([0.0, value]), 7)
        if kind == "enum":
            return enum.Enum(self.name, {"OTHER": -1.0, "RATE": value})
        if kind == "class":
            return type(self.name, (), {"value": value})
        if kind in ("module", "nested module", "module as argument", "function of a module"):
            return self._module()
        texts = {
            "tuple": "made = (1, (value, 2))",
            "named tuple": "made = Pair(1, value)",
            "jitted": "import numba\n@numba.njit\ndef made(x): return x * value",
            "vectorized": f"import numba\n@numba.vectorize\ndef made(x): return x * {value!r}",
            "vectorized over a global": "import numba\n@numba.vectorize\ndef made(x): return x * value",
            "shadowed builtin": "def made(x): return value",
        }
        namespace: dict[str, Any] = {"value": value, "Pair": Pair, "__name__": "fuzz"}
        exec(texts[kind], namespace)
        return namespace["made"]

    def _module(self) -> types.ModuleType:
        module = types.ModuleType(self.name)
        if self.kind == "nested module":
            module.inner = types.ModuleType("inner")
            module.inner.value = self.value
        elif self.kind == "function of a module":
            module.rate = self.value
            exec("def value(): return rate", vars(module))
        else:
            module.value = self.value
        return module

    def plant(self, namespace: dict[str, Any]) -> None:
        """Put it among the globals."""
        namespace["abs" if self.kind == "shadowed builtin" else self.name] = self.made()
        if self.kind == "module as argument":
            exec(f"def read_{self.name}(module): return module.value", namespace)

    def change(self, value: float, namespace: dict[str, Any], rng: random.Random) -> None:
        """Change the number where it lies: in place where that can be done and chance wills, else a new object."""
        self.value = value
        live = namespace.get(self.name)
        if rng.random() < 0.3 and self.kind not in _OWN:
            self.plant(namespace)
        elif self.kind == "global array":
            live[1, 0] = value
        elif self.kind == "array in a tuple":
            live[0][1] = value
        elif self.kind in ("module", "module as argument", "class"):
            live.value = value
        elif self.kind == "nested module":
            live.inner.value = value
        elif self.kind == "function of a module":
            live.rate = value
        elif self.kind == "jitted":
            live.py_func.__globals__["value"] = value
        elif self.kind == "vectorized over a global":
            live.__wrapped__.__globals__["value"] = value
        else:
            self.plant(namespace)


@dataclass
class Part:
    """One of the functions: ``factor * x``, its constants, and the functions it calls."""

    name: str
    factor: float
    constants: list[Constant] = field(default_factory=list)
    callees: list[Part] = field(default_factory=list)

    def of(self, x: float) -> float:
        """What it returns."""
        own = self.factor * x + sum(constant.of(x) for constant in self.constants)
        return own + sum(callee.of(x + 1) for callee in self.callees)

    def define(self, namespace: dict[str, Any]) -> None:
        """Define it, and nothing that it refers to, among the globals."""
        by_kind: dict[str, list[Constant]] = collections.defaultdict(list)
        for constant in self.constants:
            by_kind[constant.kind].append(constant)
        cells = {c.name: c.made() for kind in ("closure", "closure array") for c in by_kind[kind]}
        defaults = [f"{c.name}={c.value!r}" for c in by_kind["default"]]
        if by_kind["keyword default"]:
            defaults += ["*", *(f"{c.name}={c.value!r}" for c in by_kind["keyword default"])]
        terms = [f"{self.factor!r} * x", *(c.expression for c in self.constants)]
        terms += [f"{callee.name}(x + 1)" for callee in self.callees]
        text = f"def factory({', '.join(cells)}):\n    def {self.name}({', '.join(['x', *defaults])}):\n"
        text += f"        return {' + '.join(terms)}\n    return {self.name}\n"
        made: dict[str, Any] = {}
        exec(text, namespace, made)
        namespace[self.name] = made["factory"](**cells)

    def change(self, constant: Constant, value: float, namespace: dict[str, Any], rng: random.Random) -> None:
        """Change one of its constants where it lies."""
        if constant.kind not in _OWN:
            constant.change(value, namespace, rng)
            return
        constant.value = value
        function = namespace[self.name]
        if constant.kind == "default":
            function.__defaults__ = tuple(c.value for c in self.constants if c.kind == "default")
        elif constant.kind == "keyword default":
            function.__kwdefaults__[constant.name] = value
        else:
            cell = function.__closure__[function.__code__.co_freevars.index(constant.name)]
            if constant.kind == "closure array" and rng.random() < 0.5:
                cell.cell_contents[2] = value
            else:
                cell.cell_contents = constant.made()


class Case:
    """A random graph of functions and its globals; `live` is the function at its root.

    Parameters
    ----------
    seed : int
    kinds : iterable of str, optional
        Where constants may lie. Default: anywhere.
    """

    def __init__(self, seed: int, kinds: Iterable[str] = tuple(EXPRESSIONS)) -> None:
        self.rng = random.Random(seed)
        kinds = list(kinds)
        self.parts = [Part(f"f{i}", self.number()) for i in range(self.rng.randint(1, 4))]
        for i, part in enumerate(self.parts):
            for j in range(self.rng.randint(0, 3)):
                part.constants.append(Constant(self.rng.choice(kinds), f"c{i}_{j}", self.number()))
            part.callees = [other for other in self.parts[i + 1 :] if self.rng.random() < 0.5]
        # Every part is reached, and something can change.
        for before, after in zip(self.parts, self.parts[1:], strict=False):
            if not any(after in part.callees for part in self.parts):
                before.callees.append(after)
        shadowing = [(p, c) for p in self.parts for c in p.constants if c.kind == "shadowed builtin"]
        for part, constant in shadowing[1:]:  # there is but one abs
            part.constants.remove(constant)
        self.namespace = self.cold()

    def number(self) -> float:
        """A number whose sums and small products are exact."""
        return float(self.rng.randint(-1000, 1000)) / 4

    def cold(self) -> dict[str, Any]:
        """All of it made anew."""
        namespace: dict[str, Any] = {"__name__": "fuzz"}
        for part in self.parts:
            for constant in part.constants:
                if constant.kind not in _OWN:
                    constant.plant(namespace)
            part.define(namespace)
        return namespace

    @property
    def live(self) -> Any:
        """The root, as the globals have it now."""
        return self.namespace["f0"]

    def of(self, x: float) -> float:
        """What the root returns, by arithmetic."""
        return self.parts[0].of(x)

    def change(self) -> str:
        """Change one thing that changes the answer; returns what."""
        choices = [(part, constant) for part in self.parts for constant in part.constants]
        part, constant = self.rng.choice([*choices, (self.rng.choice(self.parts), None)])
        if constant is not None:
            part.change(constant, constant.value + self.rng.choice((-8.0, 0.25, 3.0)), self.namespace, self.rng)
            return f"{constant.kind} of {part.name}"
        part.factor += 1.5
        part.define(self.namespace)
        return f"{part.name}, defined again"


def check(seed: int, kernel: Any = None) -> None:
    """One case.

    Parameters
    ----------
    seed : int
    kernel : function, optional
        ``kernel(function, x)``: runs it compiled. Default: Python alone, which is quick.

    Raises
    ------
    AssertionError
        If a change was not seen, or seen where there was none.
    """
    case = Case(seed, [kind for kind in EXPRESSIONS if kernel is None or kind not in UNCOMPILED])
    x = 3.0
    for _ in range(3):
        expected, snapshot = case.of(x), Snapshot()
        copy_function(case.live, snapshot=snapshot)
        before = Function(case.live)
        lasting = before.is_lasting
        assert snapshot.holds() == (not snapshot.unreadable) == lasting, f"seed {seed}: unchanged, but does not hold"
        again = Function(case.cold()["f0"])
        assert not lasting or again.key == before.key, f"seed {seed}: the same twice, but two keys"
        assert _run(before, x, kernel) == expected, f"seed {seed}: wrong before any change"
        root = case.live
        changed = f"seed {seed}: {case.change()}"
        after = Function(case.live)
        assert case.live is not root or not snapshot.holds(), f"{changed} was not noticed"
        assert after.key != before.key, f"{changed} left the key as it was"
        cold = Function(case.cold()["f0"])
        assert not after.is_lasting or after.key == cold.key, f"{changed}: not the key of a cold start"
        assert _run(after, x, kernel) == case.of(x), f"{changed}: stale"
        # A class, which cannot be copied, is the one thing that a Function sees change.
        assert not lasting or _run(before, x, kernel) == expected, f"{changed} reached what was made before"


def _run(function: Function, x: float, kernel: Any) -> float:
    return float(function(x) if kernel is None else kernel(function, x))


def compiled_kernel() -> Any:
    """``kernel(function, x)``, compiled for each function."""
    from numba import njit

    from hpgraph.semiring.jit import call

    @njit
    def kernel(function: Any, x: float) -> float:
        return call(function, x)

    return kernel


def main(cases: int, seed: int, compiled: int) -> None:
    """Check so many cases in Python, and so many compiled.

    Parameters
    ----------
    cases, seed, compiled : int
    """
    for number in range(seed, seed + cases):
        check(number)
    kernel = compiled_kernel()
    for number in range(seed, seed + compiled):
        check(number, kernel)
    print(f"{cases} cases in Python and {compiled} compiled, from seed {seed}: no stale answer")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cases", type=int, default=1000, help="cases checked in Python")
    parser.add_argument("--compiled", type=int, default=50, help="cases checked compiled, seconds each")
    parser.add_argument("--seed", type=int, default=0, help="seed of the first case")
    given = parser.parse_args()
    main(given.cases, given.seed, given.compiled)
