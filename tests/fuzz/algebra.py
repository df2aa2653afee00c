"""The algebra on random small matrices and vectors against python-graphblas.

    python -m tests.fuzz.algebra --cases 20000 --seed 1 --seconds 600

Every operation with new operators or types compiles a kernel, which takes seconds, so such a choice (a subject) is
drawn once and serves many cases. A disagreement is printed with what repeats it: --seed and --subject.
"""

from __future__ import annotations

import argparse
import sys
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1] / "algebra"))

import graphblas as gb
from oracle import KINDS, Entries, Writing, agree, expected, number, options

import hpgraph as hpg

ANY = tuple(KINDS)
WHOLE = tuple(name for name in ANY if "int" in name)
UNSIGNED = tuple(name for name in WHOLE if name[0] == "u")
FLOAT = ("float32", "float64")
NUMBER = WHOLE + FLOAT
# Our name, theirs, and the types for which both give a result of the same type (of integers theirs gives lor as one).
BINARY = {
    "plus": ("plus", ANY), "minus": ("minus", ANY), "rminus": ("rminus", ANY), "times": ("times", ANY),
    "min": ("min", ANY), "max": ("max", ANY), "first": ("first", ANY), "second": ("second", ANY),
    "div": ("truediv", ("int64", "float32", "float64")), "rdiv": ("rtruediv", ("int64", "float32", "float64")),
    "lt": ("lt", ANY), "le": ("le", ANY), "gt": ("gt", ANY), "ge": ("ge", ANY), "eq": ("eq", ANY), "ne": ("ne", ANY),
    "lor": ("lor", ("bool",)), "land": ("land", ("bool",)), "lxor": ("lxor", ("bool",)), "lxnor": ("lxnor", ("bool",)),
    "bor": ("bor", WHOLE), "band": ("band", WHOLE), "bxor": ("bxor", WHOLE), "bxnor": ("bxnor", WHOLE),
    "hypot": ("hypot", FLOAT), "atan2": ("atan2", FLOAT),
}  # fmt: skip
UNARY = {
    "identity": ANY, "ainv": ANY, "abs": ANY, "lnot": ("bool",), "minv": FLOAT, "bnot": WHOLE, "isnan": FLOAT,
    "isinf": FLOAT, "isfinite": FLOAT, "floor": FLOAT, "ceil": FLOAT, "trunc": FLOAT, "sqrt": FLOAT, "exp": FLOAT,
    "expm1": FLOAT, "log": FLOAT, "log1p": FLOAT, "sin": FLOAT, "cos": FLOAT, "tanh": FLOAT,
}  # fmt: skip
PLACES = ("rowindex", "colindex", "diagindex")
SELECT = ("tril", "triu", "diag", "offdiag", "rowle", "rowgt", "colle", "colgt")
COMPARE = ("valueeq", "valuene", "valuelt", "valuele", "valuegt", "valuege")
MONOIDS = {
    "plus": NUMBER, "times": NUMBER, "min": NUMBER, "max": NUMBER, "lor": ("bool",), "land": ("bool",),
    "lxor": ("bool",), "lxnor": ("bool",), "bor": UNSIGNED, "band": UNSIGNED, "bxor": UNSIGNED,
}  # fmt: skip
AGGREGATORS = {
    "sum": "sum", "prod": "prod", "min": "min", "max": "max", "any": "any", "all": "all", "mean": "mean", "std": "stdp",
    "argmin": "ss.argmin", "argmax": "ss.argmax", "first": "ss.first", "last": "ss.last",
}  # fmt: skip
RINGS = {
    "plus_times": NUMBER, "plus_first": NUMBER, "plus_second": NUMBER, "plus_minus": NUMBER, "min_plus": NUMBER,
    "max_plus": NUMBER, "min_times": NUMBER, "max_first": NUMBER, "min_second": NUMBER, "max_min": NUMBER,
    "min_max": NUMBER, "lor_land": ("bool",), "land_lor": ("bool",), "lxor_land": ("bool",), "lor_eq": ANY,
    "lor_lt": NUMBER, "bor_band": UNSIGNED, "band_bor": UNSIGNED, "plus_div": ("float32", "float64"),
    "min_firsti": NUMBER, "plus_secondj": NUMBER, "max_firstj": NUMBER, "min_secondi": NUMBER,
}  # fmt: skip
POSITIONAL = ("firsti", "firstj", "secondi", "secondj")
ACCUMULATORS = ("plus", "times", "min", "max", "first", "second", "minus")
Shape = tuple[int, ...]


@dataclass(frozen=True)
class Subject:
    """What a kernel is compiled for."""

    operation: str
    op: str
    dtype: str
    accum: str | None
    out: str | None
    device: str


class Case:
    """Draws operands, and how the result is written, for one case."""

    def __init__(self, rng: np.random.Generator, subject: Subject) -> None:
        self.rng, self.subject = rng, subject

    def size(self) -> int:
        return int(self.rng.choice([0, 1, 2, 3, 5, 8], p=[0.04, 0.1, 0.16, 0.3, 0.3, 0.1]))

    def coin(self) -> bool:
        return bool(self.rng.integers(2))

    def value(self, dtype: str, plain: bool = False) -> Any:
        """A small number, or one of those where arithmetic is peculiar; theirs takes no scalar of 64 bits all set."""
        kind = np.dtype(dtype)
        if dtype == "bool":
            return self.coin()
        odd = not plain and self.rng.random() < 0.15
        if kind.kind == "f":
            # Multiples of a quarter: sums and products of a few are exact in any order.
            return float(self.rng.choice([np.nan, np.inf, -np.inf, -0.0]) if odd else self.rng.integers(-12, 13) / 4)
        if odd:
            return int(np.iinfo(kind).min if self.coin() else np.iinfo(kind).max)
        return int(self.rng.integers(0 if kind.kind == "u" else -4, 5))

    def entries(self, shape: Shape, dtype: str | None = None, plain: bool = False) -> Entries:
        """A matrix or a vector: empty, sparse or full, often with empty rows."""
        dtype = dtype or self.subject.dtype
        places = np.argwhere(self.rng.random(shape) < self.rng.choice([0.0, 0.2, 0.5, 1.0], p=[0.05, 0.4, 0.45, 0.1]))
        held = {(int(at[0]), int(at[1]) if len(shape) == 2 else 0): self.value(dtype, plain) for at in places}
        return Entries(shape, dtype, held)

    def indices(self, length: int, once: bool = False) -> list[int]:
        if once:
            return [int(i) for i in self.rng.permutation(length)[: self.rng.integers(1, length + 1)]]
        return [int(i) for i in self.rng.integers(0, length, self.rng.integers(1, 6))]

    def writing(self, shape: Shape) -> Writing:
        mask = self.entries(shape, "int8", plain=True) if self.coin() else None
        held = self.subject.out
        out_entries = None if held is None else self.entries(shape, held)
        masked = mask is not None
        replace = masked and held is not None and self.coin()
        return Writing(mask, masked and self.coin(), masked and self.coin(), self.subject.accum, replace, out_entries)


Pair = tuple[Any, Any]


def _binary(name: str) -> Any:
    return getattr(gb.binary, BINARY[name][0])


def elementwise(case: Case) -> Pair:
    """Union, intersection, union with fills; of matrices and of vectors."""
    s = case.subject
    shape = (case.size(), case.size()) if "matrix" in s.operation else (case.size(),)
    A, B = case.entries(shape), case.entries(shape)
    how = case.writing(shape)
    a, b, keywords = A.ours(s.device), B.ours(s.device), options(how, s.device)
    x, y, op = A.theirs(), B.theirs(), _binary(s.op)
    if "add" in s.operation:
        return hpg.ewise_add(a, b, s.op, **keywords), expected(how, x.ewise_add(y, op))
    if "mult" in s.operation:
        return hpg.ewise_mult(a, b, s.op, **keywords), expected(how, x.ewise_mult(y, op))
    kind = np.dtype(s.dtype).type
    fill, other = kind(case.value(s.dtype, plain=True)), kind(case.value(s.dtype, plain=True))
    scalars = [gb.Scalar.from_value(value.item(), dtype=KINDS[s.dtype]) for value in (fill, other)]
    theirs = x.ewise_union(y, op, *scalars)
    return hpg.ewise_union(a, fill, b, other, s.op, **keywords), expected(how, theirs)


def apply(case: Case) -> Pair:
    """A unary operator, a binary one with a number bound to it, or a function of the place."""
    s = case.subject
    shape = (case.size(), case.size()) if case.coin() else (case.size(),)
    A, how = case.entries(shape), case.writing(shape)
    a, x, keywords = A.ours(s.device), A.theirs(), options(how, s.device)
    if s.op in UNARY:
        return hpg.apply(a, s.op, **keywords), expected(how, x.apply(getattr(gb.unary, s.op)))
    if s.op in PLACES:
        thunk = int(case.rng.integers(-3, 4))
        return hpg.apply(a, s.op, thunk=thunk, **keywords), expected(how, x.apply(getattr(gb.indexunary, s.op), thunk))
    value = np.dtype(s.dtype).type(case.value(s.dtype, plain=s.dtype == "uint64"))
    bound = {"left" if s.operation == "apply left" else "right": value}
    theirs = {side: gb.Scalar.from_value(value.item(), dtype=KINDS[s.dtype]) for side in bound}
    return hpg.apply(a, s.op, **bound, **keywords), expected(how, x.apply(_binary(s.op), **theirs))


def select(case: Case) -> Pair:
    """Entries by place or by value."""
    s = case.subject
    shape = (case.size(), case.size()) if s.op in SELECT or case.coin() else (case.size(),)
    A, how = case.entries(shape), case.writing(shape)
    kind = np.dtype(s.dtype).type
    thunk: Any = int(case.rng.integers(-3, 4)) if s.op in SELECT else kind(case.value(s.dtype, plain=True))
    theirs = thunk if s.op in SELECT else gb.Scalar.from_value(thunk.item(), dtype=KINDS[s.dtype])
    found = hpg.select(A.ours(s.device), s.op, thunk, **options(how, s.device))
    return found, expected(how, getattr(gb.select, s.op)(A.theirs(), theirs))


def reduce(case: Case) -> Pair:
    """By rows or by columns."""
    s = case.subject
    shape = case.size(), case.size()
    axis = int(case.coin())
    A, how = case.entries(shape), case.writing((shape[1 - axis],))
    x = A.theirs()
    op = getattr(gb.monoid, s.op)
    whole = x.reduce_rowwise(op) if axis == 1 else x.reduce_columnwise(op)
    return hpg.reduce(A.ours(s.device), hpg.semiring.get_monoid(s.op), axis, **options(how, s.device)), expected(
        how, whole
    )


def aggregate(case: Case) -> Pair:
    """Aggregators by rows or by columns."""
    s = case.subject
    shape = case.size(), case.size()
    axis = int(case.coin())
    A = case.entries(shape, plain=True)
    op: Any = gb.agg
    for part in AGGREGATORS[s.op].split("."):
        op = getattr(op, part)
    x = A.theirs()
    return hpg.reduce(A.ours(s.device), s.op, axis), (
        x.reduce_rowwise(op) if axis == 1 else x.reduce_columnwise(op)
    ).new()


def reduce_all(case: Case) -> None:
    """To a number."""
    s = case.subject
    A = case.entries((case.size(), case.size()) if case.coin() else (case.size(),))
    x, op = A.theirs(), getattr(gb.monoid, s.op)
    monoid = hpg.semiring.get_monoid(s.op)
    found = hpg.reduce(A.ours(s.device), monoid)
    wanted = (x.reduce(op) if len(A.shape) == 1 else x.reduce_scalar(op)).new().value
    number(found, monoid.identity_for(found.dtype) if wanted is None else wanted)


def product(case: Case) -> Pair:
    """Of two matrices, or of a matrix and a vector on either side; either matrix turned."""
    s = case.subject
    m, k, n = case.size(), case.size(), case.size()
    add, _, multiply = s.op.partition("_")
    rings = gb.semiring.ss if multiply in POSITIONAL else gb.semiring
    ring = getattr(rings, f"{add}_{BINARY.get(multiply, (multiply,))[0]}")

    def matrix(rows: int, columns: int) -> Pair:
        turned = case.coin()
        M = case.entries((columns, rows) if turned else (rows, columns))
        ours, theirs = M.ours(s.device), M.theirs()
        return (ours.T, theirs.T) if turned else (ours, theirs)

    if s.operation == "mxm":
        (a, x), (b, y), how = matrix(m, k), matrix(k, n), case.writing((m, n))
        return hpg.mxm(a, b, s.op, **options(how, s.device)), expected(how, x.mxm(y, ring))
    v = case.entries((k,))
    if s.operation == "mxv":
        (a, x), how = matrix(m, k), case.writing((m,))
        return hpg.mxv(a, v.ours(s.device), s.op, **options(how, s.device)), expected(how, x.mxv(v.theirs(), ring))
    (a, x), how = matrix(k, n), case.writing((n,))
    return hpg.vxm(v.ours(s.device), a, s.op, **options(how, s.device)), expected(how, v.theirs().vxm(x, ring))


def kronecker(case: Case) -> Pair:
    s = case.subject
    A, B = case.entries((case.size(), case.size())), case.entries((case.size(), case.size()))
    how = case.writing((A.shape[0] * B.shape[0], A.shape[1] * B.shape[1]))
    found = hpg.kronecker(A.ours(s.device), B.ours(s.device), s.op, **options(how, s.device))
    return found, expected(how, A.theirs().kronecker(B.theirs(), _binary(s.op)))


def transpose(case: Case) -> Pair:
    s = case.subject
    A = case.entries((case.size(), case.size()))
    how = case.writing(A.shape[::-1])
    return hpg.transpose(A.ours(s.device), **options(how, s.device)), expected(how, A.theirs().T)


def extract(case: Case) -> Pair:
    """Rows and columns in any order, and more than once."""
    s = case.subject
    shape = tuple(max(1, case.size()) for _ in range(1 + case.coin()))
    A = case.entries(shape)
    chosen = [case.indices(length) for length in shape]
    how = case.writing(tuple(map(len, chosen)))
    part = A.theirs()[tuple(chosen) if len(chosen) == 2 else chosen[0]]
    return hpg.extract(A.ours(s.device), *chosen, **options(how, s.device)), expected(how, part)


def assign(case: Case) -> Pair:
    """A matrix, a vector or a number into a part; the mask is that of the whole, or of the part (subassign)."""
    s = case.subject
    shape = tuple(max(1, case.size()) for _ in range(1 + case.coin()))
    C = case.entries(shape)
    chosen = [case.indices(length, once=True) for length in shape]
    region = tuple(map(len, chosen))
    A = case.entries(region) if case.coin() else None
    within = s.operation == "subassign"
    mask = case.entries(region if within else shape, "int8", plain=True) if case.coin() else None
    structural, complement, replace = (mask is not None and case.coin() for _ in range(3))
    wanted, found = C.theirs(), C.ours(s.device)
    keywords: dict[str, Any] = {"accum": None if s.accum is None else getattr(gb.binary, s.accum), "replace": replace}
    if mask is not None:
        theirs = mask.theirs().S if structural else mask.theirs().V
        keywords["mask"] = ~theirs if complement else theirs
    at = tuple(chosen) if len(chosen) == 2 else chosen[0]
    value = np.dtype(s.dtype).type(case.value(s.dtype, plain=s.dtype == "uint64"))
    source = gb.Scalar.from_value(value.item(), dtype=KINDS[s.dtype]) if A is None else A.theirs()
    if within:
        wanted[at](**keywords) << source
    else:
        wanted(**keywords)[at] << source
    ours = None if mask is None else mask.ours(s.device).structure if structural else mask.ours(s.device)
    function = hpg.subassign if within else hpg.assign
    function(
        found, value if A is None else A.ours(s.device), *chosen, mask=ours, complement=complement, accum=s.accum,
        replace=replace,
    )  # fmt: skip
    return found, wanted


Runner = Callable[[Case], Pair | None]
_ELEMENTWISE = [f"{kind} {what}" for kind in ("matrix", "vector") for what in ("add", "mult", "union")]
# Every operation, what runs a case of it, and its operators with their types.
OPERATIONS: dict[str, tuple[Runner, dict[str, tuple[str, ...]]]] = {
    **dict.fromkeys(_ELEMENTWISE, (elementwise, {name: types for name, (_, types) in BINARY.items()})),
    "apply": (apply, UNARY),
    "apply place": (apply, {"rowindex": ANY, "colindex": ANY, "diagindex": ("bool", *WHOLE[:-1])}),
    "apply left": (apply, {name: types for name, (_, types) in BINARY.items()}),
    "apply right": (apply, {name: types for name, (_, types) in BINARY.items()}),
    "select place": (select, dict.fromkeys(SELECT, ANY)),
    "select value": (select, dict.fromkeys(COMPARE, ANY)),
    "reduce": (reduce, MONOIDS),
    "aggregate": (aggregate, dict.fromkeys(AGGREGATORS, ("int64", "float64"))),
    "reduce to a number": (reduce_all, MONOIDS),
    **dict.fromkeys(("mxm", "mxv", "vxm"), (product, RINGS)),
    "kronecker": (kronecker, {name: types for name, (_, types) in BINARY.items()}),
    "transpose": (transpose, {"": ANY}),
    "extract": (extract, {"": ANY}),
    "assign": (assign, {"": ANY}),
    "subassign": (assign, {"": ANY}),
}
WRITTEN = {name for name in OPERATIONS if name not in ("aggregate", "reduce to a number")}


def draw_subject(seed: int, index: int, device: str) -> Subject:
    """The operation, its operator and types; operations take turns, so that a short run has each."""
    rng = np.random.default_rng([seed, index])
    names = sorted(OPERATIONS)
    operation = names[(index + seed) % len(names)]
    _, operators = OPERATIONS[operation]
    op = str(rng.choice(sorted(operators)))
    dtype = str(rng.choice(operators[op]))
    accum, out = None, None
    if operation in ("assign", "subassign"):
        accum = str(rng.choice(ACCUMULATORS)) if rng.random() < 0.5 else None
    elif operation in WRITTEN and rng.random() < 0.6:
        out = "result" if rng.random() < 0.7 else "float64"
        accum = str(rng.choice(ACCUMULATORS)) if rng.random() < 0.6 else None
    if out == "result":
        out = kind_of_result(Subject(operation, op, dtype, None, None, "cpu"))
    return Subject(operation, op, dtype, accum, out, device)


def kind_of_result(subject: Subject) -> str:
    """The type that theirs gives the result."""
    runner, _ = OPERATIONS[subject.operation]
    drawn = runner(Case(np.random.default_rng(0), subject))
    assert drawn is not None
    return np.dtype(drawn[1].dtype.np_type).name


def run_case(subject: Subject, seed: list[int]) -> None:
    """One case; AssertionError where the two differ."""
    runner, _ = OPERATIONS[subject.operation]
    drawn = runner(Case(np.random.default_rng(seed), subject))
    if drawn is not None:
        single = "float32" in (subject.dtype, subject.out)
        agree(*drawn, rtol=1e-5 if single else 1e-12)


@dataclass
class Found:
    """What a run did."""

    cases: int
    subjects: int
    operations: Counter[str]
    disagreements: list[str]


def fuzz(
    cases: int, seed: int, seconds: float, *, per_subject: int = 50, device: str = "cpu", only: int | None = None
) -> Found:
    """Draw subjects, and cases of each, until there were so many or the time is over; always at least one subject."""
    began = time.monotonic()
    found = Found(0, 0, Counter(), [])
    for index in subjects(only):
        subject = draw_subject(seed, index, device)
        found.subjects += 1
        found.operations[subject.operation] += 1
        for k in range(per_subject):
            found.cases += 1
            try:
                run_case(subject, [seed, index, k])
            except Exception:
                again = f"--seed {seed} --subject {index}"
                found.disagreements.append(f"{subject}, case {k}; {again}\n{traceback.format_exc(limit=-3)}")
                break
        if found.cases >= cases or time.monotonic() - began > seconds:
            break
    return found


def subjects(only: int | None) -> Iterator[int]:
    """The numbers of the subjects to draw."""
    index = 0 if only is None else only
    while True:
        yield index
        if only is not None:
            return
        index += 1


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cases", type=int, default=1000, help="cases to run (default 1000)")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--seconds", type=float, default=float("inf"), help="draw no new subject after so long")
    parser.add_argument("--per-subject", type=int, default=50, help="cases of each subject (default 50)")
    parser.add_argument("--subject", type=int, help="run this one alone")
    parser.add_argument("--device", default="cpu")
    given = parser.parse_args()
    found = fuzz(
        given.cases, given.seed, given.seconds, per_subject=given.per_subject, device=given.device, only=given.subject
    )
    for text in found.disagreements:
        print(text)
    print(f"{found.cases} cases of {found.subjects} subjects, {len(found.disagreements)} disagreements")
    return 1 if found.disagreements else 0


if __name__ == "__main__":
    sys.exit(main())
