"""The sparsity pattern of a matrix of PyTorch, by rows and by columns, and the number by which operators know it."""

from __future__ import annotations

import contextlib
import functools
import itertools
import weakref
from collections.abc import Iterator
from typing import Any

import numpy as np
import torch
from torch import Tensor

from hpgraph.core.device import array_module, require_cupy
from hpgraph.formats import CSR, index_dtype
from hpgraph.kernels.backend import kernels

_NUMBERS = itertools.count(1)
_ALIVE: weakref.WeakValueDictionary[int, Pattern] = weakref.WeakValueDictionary()


class Pattern:
    """The sparsity pattern of a matrix.

    Operators of `torch.library` take numbers and tensors alone: there `number` stands for the structure, and the
    function `structure` finds it, as long as it is alive. What operations look at beside is an attribute, which
    `torch.compile` can read: shape, nnz and device; and `entries_number`, for `entries`.
    """

    def __init__(self, csr: CSR) -> None:
        self.csr = csr.pattern
        self.number, self.entries_number = next(_NUMBERS), next(_NUMBERS)
        self.shape, self.nnz, self.device = csr.shape, csr.nnz, tensor(csr.indptr).device
        self._numbered: dict[str, CSR] = {}
        self._by_entry: dict[bool, CSR] = {}
        # A tensor of values, its version, the stream, and the copy in the order of the transpose.
        self._ordered: tuple[Any, ...] | None = None
        _ALIVE[self.number] = _ALIVE[self.entries_number] = self

    def __reduce__(self) -> tuple[Any, ...]:
        return Pattern, (self.csr,)

    @functools.cached_property
    def _transpose(self) -> tuple[CSR, Any]:
        numbers = array_module(self.csr.device).arange(self.csr.nnz, dtype=np.int64)
        both = kernels(self.csr.device).transpose(self.csr.with_data(numbers, copy=False))
        return both.pattern, both.data

    def numbered(self, over: str) -> CSR:
        """A matrix whose values are the numbers of entries, by rows of "target", of "source", or with one an "edge"."""
        if over not in self._numbered:
            self._numbered[over] = self._made_numbered(over)
        return self._numbered[over]

    def _made_numbered(self, over: str) -> CSR:
        if over == "source":
            csr, numbers = self._transpose
            return csr.with_data(numbers, copy=False)
        numbers = array_module(self.csr.device).arange(self.csr.nnz + 1, dtype=np.int64)
        if over == "target":
            return self.csr.with_data(numbers[:-1], copy=False)
        shape = self.csr.nnz, self.csr.shape[1]
        return CSR(shape, numbers, self.csr.indices, numbers[:-1], validate=False)

    def oriented(self, transposed: bool) -> CSR:
        """The pattern by rows, or by columns."""
        return self._transpose[0] if transposed else self.csr

    @functools.cached_property
    def order(self) -> Any:
        """The index in `csr` of each entry of the transpose."""
        return self._transpose[1].astype(index_dtype(self.csr.nnz))

    def weights(self, transposed: bool, values: Tensor) -> tuple[Any, Any]:
        """Values in the order of `csr`, and where `pattern` has its entries, None if in order; kept if used again."""
        if not transposed:
            return array(values), None
        if not values.is_cuda or values.requires_grad:
            return array(values), self.order
        key = values._version, torch.cuda.current_stream(values.device).cuda_stream
        # A local reference, since another thread may replace the attribute.
        ordered = self._ordered
        if ordered is None or ordered[0]() is not values or ordered[1] != key:
            self._ordered = ordered = weakref.ref(values), key, array(values)[self.order]
        return ordered[2], None

    def matrix(self, transposed: bool, values: Tensor | None) -> CSR:
        """The matrix, or its transpose, with values in the order of `csr`."""
        pattern = self.oriented(transposed)
        if values is None:
            return pattern
        ordered, order = self.weights(transposed, values)
        return pattern.with_data(ordered if order is None else ordered[order], copy=False)

    def by_entry(self, transposed: bool) -> CSR:
        """The rows, or columns, with each entry in a column of its own: a product reduces what entries have."""
        if transposed not in self._by_entry:
            pattern = self.oriented(transposed)
            shape = pattern.shape[0], pattern.nnz
            kind = index_dtype(max(shape))
            indices = (
                self.order.astype(kind, copy=False)
                if transposed
                else array_module(pattern.device).arange(pattern.nnz, dtype=kind)
            )
            self._by_entry[transposed] = CSR(shape, pattern.indptr, indices, validate=False)
        return self._by_entry[transposed]

    @functools.cached_property
    def row(self) -> Tensor:
        """The row of each entry: int64 tensor of shape (nnz,)."""
        return tensor(self.csr.expand_rows().astype(np.int64))

    @functools.cached_property
    def column(self) -> Tensor:
        """The column of each entry: int64 tensor of shape (nnz,)."""
        return tensor(self.csr.indices.astype(np.int64))

    @functools.cached_property
    def keys(self) -> Tensor:
        """Row times columns plus column of each entry, ascending: int64 tensor of shape (nnz,)."""
        return (self.row * self.csr.shape[1] + self.column).sort().values

    @functools.cached_property
    def degree(self) -> Tensor:
        """How many entries each row has: int64 tensor of shape (rows,)."""
        return tensor(self.csr.degrees)

    @functools.cached_property
    def entries(self) -> Pattern:
        """`by_entry` by rows."""
        return Pattern(self.by_entry(False))


def pattern_of(number: int) -> Pattern:
    """The live pattern of a number."""
    # `torch.compile` may see the numbers of several matrices as one variable: each has a compilation of its own.
    pattern = _ALIVE[number := int(number)]
    return pattern if pattern.number == number else pattern.entries


# Kernels' names of 16-bit types, on the GPU only; the CPU computes them in float32.
HALVES = {torch.float16: "half", torch.bfloat16: "bfloat"}


def widened(given: Any) -> Any:
    """A tensor, of a 16-bit type as float32; or None."""
    return given.float() if given is not None and given.dtype in HALVES else given


def array(given: Tensor) -> Any:
    """A tensor's memory as a NumPy or CuPy array, contiguous."""
    # A contiguous view may have negation pending, as that of the imaginary part of a conjugate.
    plain = given.contiguous().resolve_neg()
    # 16-bit floats as integers, since CuPy lacks bfloat16.
    if not plain.is_cuda:
        plain = plain.detach()
        return (plain.view(torch.uint16) if plain.dtype in HALVES else plain).numpy()
    # DLPack costs some ten microseconds more, in which streams are compared: here there is one, that of `stream_of`.
    cupy = require_cupy()
    memory = cupy.cuda.UnownedMemory(plain.data_ptr(), plain.nbytes, plain, plain.get_device())
    return cupy.ndarray(tuple(plain.shape), _dtype(plain.dtype), cupy.cuda.MemoryPointer(memory, 0))


@functools.cache
def _dtype(kind: torch.dtype) -> np.dtype[Any]:
    return np.dtype(np.uint16) if kind in HALVES else torch.empty(0, dtype=kind).numpy().dtype


def plain_tensor(given: Any) -> Tensor:
    """The tensor itself of a subclass, such as PyTorch Geometric's ``EdgeIndex``, whose arithmetic differs."""
    made: Tensor = given.as_tensor() if hasattr(given, "as_tensor") else given.as_subclass(Tensor)
    return made


def tensor(given: Any) -> Tensor:
    """An array's memory as a tensor."""
    return torch.from_numpy(given) if isinstance(given, np.ndarray) else torch.from_dlpack(given)


@contextlib.contextmanager
def stream_of(given: Tensor) -> Iterator[None]:
    """Work on the device of a tensor, on PyTorch's current stream there."""
    if not given.is_cuda:
        yield
        return
    index, cuda = given.get_device(), require_cupy().cuda
    address = torch.cuda.current_stream(index).cuda_stream
    if cuda.runtime.getDevice() == index and cuda.get_current_stream().ptr == address:
        yield
        return
    with cuda.Device(index), _stream(index, address):
        yield


@functools.lru_cache(maxsize=64)
def _stream(index: int, address: int) -> Any:
    """A stream of PyTorch as one of CuPy's."""
    cuda = require_cupy().cuda
    # CuPy 14 warns of the other.
    external = getattr(cuda.Stream, "from_external", None)
    return cuda.ExternalStream(address, index) if external is None else external(_Address(address))


class _Address:
    """A stream as CUDA's protocol for them describes it, by version and address."""

    def __init__(self, address: int) -> None:
        self.address = address

    def __cuda_stream__(self) -> tuple[int, int]:
        return 0, self.address
