"""python-graphblas beside ours: small matrices and vectors, masks and outputs at random, compared entry by entry.

Where it is not installed, as on most machines with a GPU, `definition` takes its place.
"""

import os
from dataclasses import dataclass
from typing import Any

import numpy as np
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st

import hpgraph as hpg
from hpgraph.core.device import cuda_available, to_device
from hpgraph.formats import CSR

gb: Any
try:
    import graphblas as gb
except ImportError:
    import definition as gb

KINDS = {
    "bool": "BOOL", "int8": "INT8", "int16": "INT16", "int32": "INT32", "int64": "INT64", "uint8": "UINT8",
    "uint16": "UINT16", "uint32": "UINT32", "uint64": "UINT64", "float32": "FP32", "float64": "FP64",
}  # fmt: skip
SHAPE = (4, 5)
DTYPES = ("bool", "int8", "float64")
# One that sums, one that tells its operands apart.
ACCUMULATORS = ("plus", "second")


# How many times as many examples, no longer the same in each run: what `make fuzz` asks for.
MORE = int(os.environ.get("HPGRAPH_EXAMPLES", "1"))


def examples(count: int) -> settings:
    """So many examples, the same in each run, as each new operator is compiled; fewer on CUDA: that takes long."""
    return settings(
        max_examples=MORE * (count // 4 if cuda_available() else count),
        deadline=None,
        derandomize=MORE == 1,
        database=None,
        # One device serves all examples of a test.
        suppress_health_check=[HealthCheck.function_scoped_fixture],
        phases=[Phase.generate],
    )


def values_of(dtype: str) -> Any:
    """Small values, zeros among them: no sum or product of a few of them leaves the type."""
    if dtype == "bool":
        return st.booleans()
    return st.integers(-3, 3) if dtype[0] in "if" else st.integers(0, 3)


@dataclass
class Entries:
    """Entries by place, of a matrix or (column 0) of a vector."""

    shape: tuple[int, ...]
    dtype: str
    values: dict[tuple[int, int], Any]

    @property
    def places(self) -> Any:
        return np.array(sorted(self.values), dtype=np.int64).reshape(-1, 2)

    @property
    def data(self) -> Any:
        return np.array([self.values[place] for place in sorted(self.values)], dtype=self.dtype)

    def ours(self, device: str) -> Any:
        row, column = self.places.T
        if len(self.shape) == 1:
            return hpg.Vector.from_indices(row, self.data, self.shape[0]).to(device)
        return hpg.Matrix(CSR.from_coo(row, column, self.data, self.shape)).to(device)

    def theirs(self) -> Any:
        row, column = self.places.T
        kind = KINDS[self.dtype]
        if len(self.shape) == 1:
            return gb.Vector.from_coo(row, self.data, size=self.shape[0], dtype=kind)
        return gb.Matrix.from_coo(row, column, self.data, nrows=self.shape[0], ncols=self.shape[1], dtype=kind)


@st.composite
def entries(draw: Any, shape: tuple[int, ...] = SHAPE, dtype: str | None = None, least: int = 0) -> Entries:
    """A sparse matrix, or a vector, of at least so many entries."""
    kind = draw(st.sampled_from(DTYPES)) if dtype is None else dtype
    columns = st.integers(0, shape[1] - 1) if len(shape) == 2 else st.just(0)
    places = st.tuples(st.integers(0, shape[0] - 1), columns)
    return Entries(shape, kind, draw(st.dictionaries(places, values_of(kind), min_size=least, max_size=14)))


@dataclass
class Writing:
    """How a result is written."""

    mask: Entries | None
    structural: bool
    complement: bool
    accum: str | None
    replace: bool
    out: Entries | None


@st.composite
def writing(draw: Any, shape: tuple[int, ...] = SHAPE) -> Writing:
    """Mask, accumulator, replace and output in any combination that there is."""
    mask = draw(st.none() | entries(shape, "int8"))
    out = draw(st.none() | entries(shape, "float64"))
    masked = mask is not None
    return Writing(
        mask,
        masked and draw(st.booleans()),
        masked and draw(st.booleans()),
        draw(st.sampled_from((None, *ACCUMULATORS))) if out is not None else None,
        masked and out is not None and draw(st.booleans()),
        out,
    )


def options(how: Writing, device: str) -> dict[str, Any]:
    """Our keywords."""
    mask = None if how.mask is None else how.mask.ours(device)
    out = None if how.out is None else how.out.ours(device)
    if how.structural:
        mask = mask.structure
    return {"mask": mask, "complement": how.complement, "accum": how.accum, "replace": how.replace, "out": out}


def expected(how: Writing, expression: Any) -> Any:
    """What python-graphblas makes of its own expression."""
    mask = None if how.mask is None else how.mask.theirs()
    if mask is not None:
        mask = mask.S if how.structural else mask.V
        mask = ~mask if how.complement else mask
    if how.out is None:
        return expression.new(mask=mask)
    out = how.out.theirs()
    accum = None if how.accum is None else getattr(gb.binary, how.accum)
    out(mask=mask, accum=accum, replace=how.replace) << expression
    return out


def agree(found: Any, wanted: Any, *, dtype: bool = True, rtol: float = 1e-12) -> None:
    """The same entries at the same places, and of the same type."""
    if hasattr(found, "csr"):
        csr = found.to("cpu").csr
        assert csr.is_canonical()
        ours = dict(zip(zip(csr.expand_rows().tolist(), csr.indices.tolist(), strict=True), _data(csr), strict=True))
        row, column, data = wanted.to_coo()
        theirs = dict(zip(zip(row.tolist(), column.tolist(), strict=True), data.tolist(), strict=True))
    else:
        indices, values = found.to("cpu").to_indices()
        ours = dict(zip(indices.tolist(), values.tolist(), strict=True))
        indices, values = wanted.to_coo()
        theirs = dict(zip(indices.tolist(), values.tolist(), strict=True))
    assert ours.keys() == theirs.keys()
    for place, value in theirs.items():
        np.testing.assert_allclose(ours[place], value, rtol=rtol, err_msg=str(place))
    if dtype:
        assert found.dtype == np.dtype(wanted.dtype.np_type)


def number(found: Any, wanted: Any) -> None:
    """The same number; theirs is None of nothing."""
    found = to_device(found, "cpu") if hasattr(found, "dtype") and found.ndim else found
    np.testing.assert_allclose(float(found), float(wanted), rtol=1e-12)


def _data(csr: CSR) -> list[Any]:
    return [True] * csr.nnz if csr.data is None else csr.data.tolist()
