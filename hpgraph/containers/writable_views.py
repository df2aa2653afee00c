"""``A.data``, ``A.indices`` and ``A.indptr``: readable and writable arrays, as SciPy's.

A matrix keeps several layouts, so no writable array can be one of them. The property returns a copy; while it, or a
view of it, exists, the matrix compares it with its entries before each use, and adopts changes.
"""

import threading
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np

from hpgraph.containers.layouts import Layouts
from hpgraph.containers.matrix import MatrixStorage
from hpgraph.core.device import array_module, everywhere, unmasked
from hpgraph.formats import CSR, index_dtype
from hpgraph.formats.interchange import own

_settling = threading.RLock()


class WritableViews(MatrixStorage):
    """The writable arrays of a `Matrix`."""

    # Each returned copy by name, and the layouts and plans, which are not used until the copies are compared.
    _copies: "tuple[dict[str, _Copy], Any, Any] | None" = None

    @property
    def data(self) -> Any:
        """Value of each entry, by rows; bool all true for a pattern.

        As with SciPy's arrays, writing to it changes the matrix, which compares before its next use. ``A.csr.data`` is
        the array that products read, without a copy; do not write to it.
        """
        return self._copy_of("data")

    @data.setter
    def data(self, values: Any) -> None:
        given = unmasked(values, "data")
        array = array_module(self.device).asarray(given)
        self._rebind(self.csr.with_data(own(array, given), copy=False))

    @property
    def indices(self) -> Any:
        """Column of each entry, by rows; as `data`."""
        return self._copy_of("indices")

    @property
    def indptr(self) -> Any:
        """Where each row begins in `data` and `indices`, in the type that SciPy would have; as `data`."""
        return self._copy_of("indptr")

    def _copy_of(self, name: str) -> Any:
        with _settling:
            csr = self.csr  # what was written before counts first
            copies = self._copies[0] if self._copies else self._set_aside({})
            if name not in copies:
                copies[name] = _Copy(_shown(csr, name).copy())
            return copies[name].view()

    def _set_aside(self, copies: "dict[str, _Copy]") -> "dict[str, _Copy]":
        self._copies = copies, self._layouts, self._plans
        # Each access to layouts or plans now compares the copies first; a matrix without copies has no extra check.
        self._layouts, self._plans = _Layouts(self), _Plans(self)
        return copies

    def _settle(self) -> Layouts:
        return super()._settle() if self._copies is None else self._settled()[0]

    def _settled(self) -> tuple[Layouts, dict[Any, Any]]:
        """Layouts and plans of the current values of the returned arrays."""
        with _settling:
            if self._copies is None:
                return self._layouts, self._plans  # another thread was faster
            copies, self._layouts, self._plans = self._copies
            self._copies = None
            any_alive = any(copy_.is_held for copy_ in copies.values())
            csr = self.csr
            written = {name for name, copy_ in copies.items() if not _same(copy_.array, _shown(csr, name))}
            if written:
                arrays = {name: getattr(csr, name) for name in ("indptr", "indices", "data")}
                arrays |= {name: copy_.array for name, copy_ in copies.items()}
                # Raises if the arrays are no valid CSR, and leaves the matrix unchanged.
                self._rebind(CSR.from_rows(csr.shape, **arrays))
            result = self._layouts, self._plans
            if any_alive and written <= {"data"}:
                self._set_aside(copies)
            return result


class _Holder:
    """The owner of the memory of an array, as NumPy or CuPy see it: all views of the array keep it alive."""

    def __init__(self, array: Any) -> None:
        self._array = array
        interface = "__array_interface__" if isinstance(array, np.ndarray) else "__cuda_array_interface__"
        described = dict(getattr(array, interface))
        # The caller's work on the same stream runs after the pending work on the array.
        described.pop("stream", None)
        setattr(self, interface, described)


class _Copy:
    """A writable copy that was returned."""

    def __init__(self, array: Any) -> None:
        self.array = array
        self._holder: Callable[[], _Holder | None] = lambda: None

    def view(self) -> Any:
        """The array that the caller gets."""
        holder = self._holder()
        if holder is None:
            holder = _Holder(self.array)
            self._holder = weakref.ref(holder)
        return array_module(self.array).asarray(holder)

    @property
    def is_held(self) -> bool:
        """Whether the returned array, or a view of it, still exists."""
        return self._holder() is not None


class _Layouts:
    """Proxy of a matrix's layouts while writable copies of its arrays exist."""

    def __init__(self, matrix: WritableViews) -> None:
        self._matrix = matrix

    def __getitem__(self, name: str) -> Any:
        return self._matrix._settle()[name]

    def __contains__(self, name: str) -> bool:
        return name in self._matrix._settle()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._matrix._settle(), name)


class _Plans(dict[Any, Any]):
    """Proxy of a matrix's plans while writable copies of its arrays exist; empty, so that every lookup compares."""

    def __init__(self, matrix: WritableViews) -> None:
        self._matrix = matrix

    def __missing__(self, key: Any) -> Any:
        return self._matrix._settled()[1][key]

    def __setitem__(self, key: Any, plan: Any) -> None:
        self._matrix._settled()[1][key] = plan


def _shown(csr: CSR, name: str) -> Any:
    """An array of a CSR as SciPy would have it."""
    if name == "data" and csr.data is None:
        return array_module(csr.device).ones(csr.nnz, dtype=np.bool_)
    if name == "indptr":
        fits = csr.indices.dtype == np.int32 and index_dtype(max(csr.nnz, *csr.shape)) == np.int32
        return csr.indptr.astype(np.int32 if fits else np.int64, copy=False)
    return getattr(csr, name)


def _same(a: Any, b: Any) -> bool:
    """Whether two arrays of one type hold the same bits, NaN or not. On CUDA this waits for the stream."""
    bits = np.dtype(f"u{min(a.dtype.itemsize, 8)}")
    return a.shape == b.shape and everywhere(a.view(bits) == b.view(bits))
