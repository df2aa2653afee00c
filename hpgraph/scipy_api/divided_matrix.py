"""A matrix partitioned by rows over devices: products with dense vectors and matrices, for solvers."""

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np

from hpgraph.algebra.mxv import multiply, product_dtype
from hpgraph.algebra.operands import as_operand
from hpgraph.containers.divided_array import DividedArray, gathered
from hpgraph.containers.public import matrix_of_csr
from hpgraph.containers.shards import rows_on
from hpgraph.core.device import Device, array_module
from hpgraph.core.devices import Devices, copy_between, even_ranges, follow, move_array, place_of, reach_each_other
from hpgraph.formats import CSR
from hpgraph.kernels.spmv.cuda_choice import remote_overhead
from hpgraph.scipy_api.matrix import Matrix
from hpgraph.semiring import Semiring, get_semiring


class Block(NamedTuple):
    """Rows of a divided matrix, from `first` up to and without `last`, on one device."""

    device: Devices
    first: int
    last: int
    matrix: Matrix


class DividedMatrix:
    """A matrix partitioned by rows over several GPUs, about equally many entries each, by ``A.to("cuda:0,1")``.

    ``A @ x`` multiplies vectors and dense matrices on the first device, and the product is on that device, too. SciPy's
    and CuPy's solvers accept it as a linear operator.

    Attributes
    ----------
    shape : (int, int)
    dtype : numpy.dtype
    nnz : int
    blocks : tuple of Block
        One a device.

    Examples
    --------
    >>> A = hpg.Matrix(np.array([[1.0, 2.0], [0.0, 3.0]]))
    >>> D = divide_matrix(A, ["cpu", "cpu"])
    >>> D @ np.array([1.0, 10.0])
    array([21., 30.])
    >>> D
    <DividedMatrix 2x2, 3 entries, float64, cpu, cpu>
    """

    ndim = 2

    def __init__(self, shape: tuple[int, int], dtype: np.dtype[Any], blocks: Iterable[Block]) -> None:
        self.shape, self.dtype, self.blocks = shape, dtype, tuple(blocks)
        self.nnz = sum(block.matrix.nnz for block in self.blocks)
        devices = Devices(self.device, tuple(dict.fromkeys(i for block in self.blocks for i in block.device.indices)))
        # Then a GPU writes its part of a product directly into the result.
        self._writes_there = len(devices.indices) <= 1 or reach_each_other(devices)

    @classmethod
    def of(cls, A: Matrix, devices: Devices) -> "DividedMatrix":
        """`divide_matrix`, for modules that cannot import it."""
        return divide_matrix(A, devices)

    @property
    def device(self) -> Device:
        """The type of the devices; the first of them holds the products."""
        return self.blocks[0].device.kind

    def __matmul__(self, x: Any) -> Any:
        """The product with a vector or a dense matrix: `mxv` over plus and times."""
        return self.mxv(x)

    matvec = matmat = dot = __matmul__

    def mxv(self, x: Any, semiring: Semiring | str = "plus_times") -> Any:
        """The product over a semiring: ``A ⊕.⊗ x``; products with a dense matrix are over plus and times only.

        The operand is an array on the first device, of shape (columns,) or (columns, k), and so is the product. For a
        `DividedArray` the product is a `DividedArray`, each piece with its rows.

        Examples
        --------
        >>> divide_matrix(hpg.Matrix([[0, 4.0], [2.0, 0]]), ["cpu", "cpu"]).mxv(np.array([1.0, 5.0]), "min_plus")
        array([9., 3.])
        """
        if isinstance(x, DividedArray):
            return self._apart(x, get_semiring(semiring))
        x, ring, target = as_operand(x, "x", self.device), get_semiring(semiring), self.blocks[0].device
        if x.ndim == 2 and ring is not get_semiring("plus_times"):
            raise ValueError("semiring must be plus_times for a dense matrix: multiply column by column")
        if x.ndim not in (1, 2) or len(x) != self.shape[1]:
            raise ValueError(f"x must have length {self.shape[1]} for a matrix of shape {self.shape}, not {x.shape}")
        with target.here:
            xp = array_module(target.kind)
            x = xp.ascontiguousarray(x)
            dtype = product_dtype(self.blocks[0].matrix, x, ring)
            out = xp.empty((self.shape[0], *x.shape[1:]), dtype)
        # Devices that wait for a copy of x are given their work first.
        for block in reversed(self.blocks):
            own = out[block.first : block.last]
            with block.device.here:
                # The first device computes its own part during the copy, and waits at the end.
                there = move_array(x, block.device, hold=False)
                if x.ndim == 1 and self._writes_there:
                    multiply(block.matrix, there, ring, own)
                else:
                    copy_between(block.matrix @ there if x.ndim == 2 else multiply(block.matrix, there, ring), own)
        for block in self.blocks[1:]:
            follow(target, block.device)
        return out

    def _apart(self, x: DividedArray, ring: Semiring) -> DividedArray:
        """The product with a divided vector; each block's part stays on its device."""
        if x.ndim != 1 or len(x) != self.shape[1]:
            raise ValueError(f"x must have shape ({self.shape[1]},) for a matrix of shape {self.shape}, not {x.shape}")
        pieces = []
        for block in self.blocks:
            with block.device.here:
                there = as_operand(x.gather(block.device), "x", self.device)
                pieces.append(multiply(block.matrix, there, ring))
        return DividedArray(pieces)

    def rmatvec(self, x: Any) -> Any:
        """The product of the transpose with a vector, both on the first device.

        Examples
        --------
        >>> divide_matrix(hpg.Matrix([[0, 4.0], [2.0, 0]]), ["cpu", "cpu"]).rmatvec(np.array([1.0, 5.0]))
        array([10.,  4.])
        """
        x, target = as_operand(gathered(x), "x", self.device), self.blocks[0].device
        if x.shape != (self.shape[0],):
            raise ValueError(f"x must have shape ({self.shape[0]},) for a matrix of shape {self.shape}, not {x.shape}")
        parts = []
        for block in self.blocks:
            with block.device.here:
                parts.append(block.matrix.T @ move_array(x[block.first : block.last], block.device))
        with target.here:
            total = parts[0]
            for part in parts[1:]:
                total += move_array(part, target)
        return total

    def __repr__(self) -> str:
        where = ", ".join(str(block.device) for block in self.blocks)
        return f"<DividedMatrix {self.shape[0]}x{self.shape[1]}, {self.nnz:,} entries, {self.dtype}, {where}>"


def _shares(csr: CSR, parts: int) -> list[float]:
    """Shares of the entries that balance the devices' times, given that x and the product are on the first."""
    size = 8 if csr.dtype is None else csr.dtype.itemsize
    with place_of(csr.indptr).here:
        others = max(0.0, (1 - remote_overhead(csr, size, size, parts)) / parts)
    return [1 - others * (parts - 1), *[others] * (parts - 1)]


def divide_matrix(A: Matrix, devices: Iterable[Any]) -> DividedMatrix:
    """A matrix partitioned by rows over devices."""
    places, csr = [Devices.of(one) for one in devices], A.csr_there
    shares = None if csr.device == "cpu" or len(set(places)) == 1 else _shares(csr, len(places))
    with A.place.here:
        bounds = even_ranges(csr.indptr, len(places), shares=shares).tolist()
    blocks = []
    for device, first, last in zip(places, bounds[:-1], bounds[1:], strict=True):
        with device.here:
            blocks.append(Block(device, first, last, matrix_of_csr(rows_on(csr, first, last, device))))
    return DividedMatrix(A.shape, A.dtype, blocks)
