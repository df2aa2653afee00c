"""Storage of a Matrix: layouts of it and of its transpose, each built on first use."""

from typing import Any, Literal, Self

import numpy as np

from hpgraph.containers.graph import Graph
from hpgraph.containers.layout_choice import choose, explain
from hpgraph.containers.layouts import Layouts
from hpgraph.containers.matrix_source import (
    csr_from_tuple,
    csr_of_dense,
    csr_of_tensor,
    is_older_matrix,
    is_sparse_tensor,
)
from hpgraph.containers.public import public
from hpgraph.core.device import Device, array_module, check_memory, is_sparse_matrix
from hpgraph.core.devices import Devices, device_index, move_array, require_current
from hpgraph.core.number import value_type
from hpgraph.formats import COO, CSR, ELL, HYB, ROW_FORMATS, SELL, RowFormat
from hpgraph.formats.checks import as_shape, as_value_dtype
from hpgraph.kernels.backend import kernels
from hpgraph.kernels.runtime.techniques import techniques
from hpgraph.kernels.spmv.product_plan import value_dtype

Format = Literal["auto", "csr", "hyb", "sell"]


class MatrixStorage:
    """Entries, shape, layouts and place of a `hpgraph.Matrix`, which describes the arguments."""

    ndim = 2

    # Whether the source was a `spmatrix`, whose ``*`` is the matrix product; results for CuPy then are one too.
    _as_matrix = False

    # Writable arrays handed to users; see `hpgraph.containers.writable_views`.
    _copies: Any = None

    def __init__(
        self, source: Any, shape: Any = None, dtype: Any = None, copy: bool = True, *, format: Format = "auto"
    ) -> None:
        if format != "auto" and format not in ROW_FORMATS:
            *names, last = (f'"{name}"' for name in ("auto", *ROW_FORMATS))
            raise ValueError(f"format must be {', '.join(names)} or {last}, not {format!r}")
        kind = None if dtype is None else as_value_dtype(dtype, "dtype")
        if isinstance(source, tuple):
            layouts, transposed = new_layouts(csr_from_tuple(source, shape, kind, copy)), False
        else:
            layouts, transposed = _layouts_of(source, copy)
            if source._as_matrix if isinstance(source, MatrixStorage) else is_older_matrix(source):
                self._as_matrix = True
        if kind is not None and kind != layouts["dtype"]:
            layouts, transposed = new_layouts(built(layouts, "csr", transposed).astype(kind)), False
        self._set(layouts, transposed, format)
        if shape is not None and as_shape(shape) != self.shape:
            raise ValueError(f"shape is {as_shape(shape)}, and the matrix given has {self.shape}: use A.resize(shape)")

    def _set(self, layouts: Layouts, transposed: bool, format: Format) -> Self:
        if self._copies is not None:
            self._copies = None
        self._layouts: Any = layouts
        self._transposed = transposed
        self._format = format
        rows, columns = layouts["shape"]
        self._shape = (columns, rows) if transposed else (rows, columns)
        # Plans of A @ x by type of x, kept with the layouts, so that each A.T shares them.
        plans: dict[tuple[Format, bool], dict[Any, Any]] = layouts.once("plans", dict)
        self._plans: Any = plans.setdefault((format, transposed), {})
        self._array_type: Any = array_module(self.device).ndarray
        self._index = device_index(layouts["csr"].indptr)
        if layouts["device"] == "cuda":
            # On the instance, so that CuPy's arrays defer array + matrix to us; NumPy reads the class, and its method.
            self.__dict__["__array_ufunc__"] = None
        return self

    def _settle(self) -> Layouts:
        """The layouts, for another matrix to share."""
        return self._layouts

    @classmethod
    def _of(cls, csr: CSR, format: Format = "auto") -> Self:
        """The matrix of a CSR with sorted rows free of duplicates, unchecked."""
        return object.__new__(cls)._set(new_layouts(csr), False, format)

    def _with(self, csr: CSR) -> Self:
        """Another matrix of the same kind."""
        return self._blank()._set(new_layouts(csr), False, self._format)

    def _blank(self) -> Self:
        """An uninitialized matrix of the same class and options."""
        matrix = object.__new__(type(self))
        if self._as_matrix:
            matrix._as_matrix = True
        return matrix

    def _rebind(self, csr: CSR) -> Self:
        """Replace the entries; views and copies taken before keep theirs."""
        return self._set(new_layouts(csr), False, self._format)

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        return self._shape

    @property
    def dtype(self) -> np.dtype[Any]:
        """Type of the values; bool for a pattern."""
        return value_dtype(self._layouts["dtype"])

    @property
    def nnz(self) -> int:
        """Stored entries, explicit zeros among them."""
        return int(self._layouts["nnz"])

    @property
    def size(self) -> int:
        """Stored entries, as in SciPy."""
        return self.nnz

    @property
    def device(self) -> Device:
        """The matrix's device: "cpu" or "cuda"."""
        return self._layouts["device"]

    @property
    def format(self) -> str:
        """The format for SciPy's functions, "csr": `data`, `indices` and `indptr` are those of CSR."""
        return "csr"

    @property
    def layout(self) -> str:
        """The layout that products read: "csr", "hyb" or "sell"."""
        if not self.is_auto:
            return self._format
        if not techniques.hyb:
            return "csr"
        return self._layouts.once(self._choice, lambda: choose(self))

    @property
    def _choice(self) -> str:
        return f"choice on {self.device}{'_t' if self._transposed else ''}"

    @property
    def is_auto(self) -> bool:
        """Whether the layout that products read was left to be chosen."""
        return self._format == "auto"

    def layout_if_built(self, name: str) -> Any:
        """The layout "csr", "hyb" or "sell" of the matrix; None if it is not built yet."""
        return self._layouts.get(f"{name}_t" if self._transposed else name)

    def explain(self, measure: bool = False) -> str:
        """A table of the layouts that products could read, predicted and measured times, memory, and why one is chosen.

        Parameters
        ----------
        measure : bool, default False
            Whether to build every layout and time ``A @ x`` in it. "blocks", by blocks of columns, is listed where it
            is used: on CUDA, where gathering would take longest. `hpgraph.kernels.spmv.layout_cost` has the constants.

        Examples
        --------
        >>> print(hpg.Matrix([[0, 1.0], [2.0, 0]]).explain().splitlines()[-1])
        A @ x, x of float64: csr, in which the CPU multiplies
        """
        return explain(self, measure)

    @property
    def is_pattern(self) -> bool:
        """Whether entries have no values."""
        return self._layouts["dtype"] is None

    @property
    def structure(self) -> Self:
        """The pattern of the entries, without values, as for a structural mask; arrays are shared if possible."""
        return self if self.is_pattern else self._with(self.csr.with_data(None))

    @property
    def nbytes(self) -> int:
        """Bytes of all layouts built so far, of the transpose too; arrays that they share count once."""
        return self._layouts.nbytes

    @property
    def csr(self) -> CSR:
        """The matrix as CSR."""
        return self._rows_in("csr")

    @property
    def hyb(self) -> HYB:
        """The matrix as HYB."""
        return self._rows_in("hyb")

    @property
    def sell(self) -> SELL:
        """The matrix as SELL-32-σ."""
        return self._rows_in("sell")

    @property
    def rows(self) -> RowFormat:
        """The layout that products read."""
        return self._rows_in(self.layout)

    def _rows_in(self, name: str) -> Any:
        """The matrix in one of `hpgraph.formats.ROW_FORMATS`; a DeviceError on another GPU than CuPy's current one."""
        self.require_here()
        return built(self._layouts, name, self._transposed)

    def require_here(self) -> None:
        """Raise a DeviceError if the matrix lies on another GPU than CuPy's current one."""
        if self._index >= 0:
            require_current(self._index, "the matrix")

    @property
    def place(self) -> Devices:
        """The matrix's device, with its number."""
        return Devices("cuda", (self._index,)) if self._index >= 0 else Devices("cpu")

    @property
    def csr_there(self) -> CSR:
        """The matrix as CSR, whichever GPU is the current one."""
        with self.place.here:
            return self.csr

    @property
    def stored_dtype(self) -> np.dtype[Any] | None:
        """Type of the stored values; None for a pattern."""
        return self._layouts["dtype"]

    @property
    def columns_if_built(self) -> CSR | None:
        """The matrix by columns, as CSR of the transpose, if it is built already; else None."""
        return self._layouts.get("csr" if self._transposed else "csr_t")

    @property
    def T(self) -> Self:
        """The transpose: a view that shares every layout with the matrix."""
        return self._blank()._set(self._settle(), not self._transposed, self._format)

    @property
    def mT(self) -> Self:
        """The transpose, under the array API's name."""
        return self.T

    @property
    def H(self) -> Self:
        """The conjugate transpose: for real values the transpose itself, for complex ones a new matrix."""
        transposed = self.T
        if self.dtype.kind != "c":
            return transposed
        return transposed._with(transposed.csr.with_data(transposed.csr.data.conj()))

    def to(self, device: Any) -> Any:
        """The matrix on a device, with every layout built so far; itself if it is there already.

        Devices and errors are those of `Graph.to`; between several GPUs its rows are divided, as a `DividedMatrix`.
        """
        devices = Devices.of(device)
        if len(devices) > 1:
            return public("DividedMatrix").of(self, devices)
        if devices.kind == self.device and (not devices.indices or devices == self.place):
            return self
        if devices.kind == self.device:
            # From one GPU to another: other layouts are built again there.
            csr = self.csr_there
            indptr, indices, data = (move_array(array, devices) for array in (csr.indptr, csr.indices, csr.data))
            moved = new_layouts(CSR(csr.shape, indptr, indices, data, validate=False))
            return self._blank()._set(moved, False, self._format)
        with devices.here:
            layouts = self._layouts.to(devices.kind, "the matrix")
        layouts["device"] = devices.kind
        layouts["plans"] = {}
        return self._blank()._set(layouts, self._transposed, self._format)

    def copy(self) -> Self:
        """A copy over the same arrays; assignment to one matrix does not change the other."""
        return self._blank()._set(self._settle(), self._transposed, self._format)

    def astype(self, dtype: Any, casting: str = "unsafe", copy: bool = True) -> Self:
        """The matrix with values of another type.

        Parameters
        ----------
        dtype : dtype
            bool, an integer or a float type.
        casting : str, optional
            What may be lost, as for `numpy.ndarray.astype`; a TypeError where it forbids the type.
        copy : bool, default True
            False returns the matrix itself where it has the type already.

        Warns
        -----
        numpy.exceptions.ComplexWarning
            When the imaginary part of complex values is lost, as NumPy warns.
        """
        csr = self.csr
        kind = value_type(dtype)
        if not np.can_cast(self.dtype, kind, casting=casting):  # type: ignore[arg-type]
            raise TypeError(f"values of type {self.dtype} cannot be cast to {kind} with casting={casting!r}")
        if kind == self.dtype and not copy:
            return self
        return self._with(csr.astype(kind))

    def toarray(self, order: str | None = None, out: Any = None) -> Any:
        """The matrix as a dense array, if it fits.

        Parameters
        ----------
        order : {"C", "F"}, optional
            Order in memory.
        out : array, optional
            Where to write: of the same shape, type and device.

        Examples
        --------
        >>> hpg.Matrix([[0, 2], [1, 0]]).toarray()
        array([[0, 2],
               [1, 0]])
        """
        xp = array_module(self.device)
        if out is None:
            check_memory(self.shape[0] * self.shape[1] * self.dtype.itemsize, "a dense matrix", self.device)
            out = xp.zeros(self.shape, dtype=self.dtype, order=order or "C")
        else:
            if getattr(out, "shape", None) != self.shape or out.dtype != self.dtype or not isinstance(out, xp.ndarray):
                raise ValueError(f"out must be an array of shape {self.shape} and type {self.dtype} on {self.device}")
            out[...] = 0
        csr = self.csr
        out[csr.expand_rows(), csr.indices] = True if csr.data is None else csr.data
        return out

    def __getstate__(self) -> dict[str, Any]:
        # Other layouts can be rebuilt.
        return {"csr": self.csr_there, "format": self._format}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self._set(new_layouts(state["csr"]), False, state["format"])


def _layouts_of(source: Any, copy: bool) -> tuple[Layouts, bool]:
    """Layouts that hold the source, and whether they hold its transpose."""
    if isinstance(source, MatrixStorage):
        return source._settle(), source._transposed
    if isinstance(source, Graph):
        source = source.simple("sum")
        transposed = source._layouts.get("in_csr")
        return new_layouts(source.out_csr, **({} if transposed is None else {"csr_t": transposed})), False
    if isinstance(source, COO):
        return new_layouts(CSR.from_coo(source.row, source.col, source.data, source.shape, copy=False)), False
    if isinstance(source, RowFormat | ELL):
        csr = source.to_csr()
        layouts = new_layouts(csr.canonical())
        if isinstance(source, RowFormat) and layouts["csr"] is csr:
            layouts[source.name] = source.keep(csr)
        return layouts, False
    if is_sparse_matrix(source):
        return new_layouts(CSR.from_scipy(source, copy=copy)), False
    return new_layouts(csr_of_tensor(source) if is_sparse_tensor(source) else csr_of_dense(source)), False


def new_layouts(csr: CSR, **others: Any) -> Layouts:
    """The layouts of a new matrix: a CSR, and others that exist already."""
    return Layouts(shape=csr.shape, nnz=csr.nnz, dtype=csr.dtype, device=csr.device, csr=csr, **others)


def built(layouts: Layouts, name: str, transposed: bool) -> Any:
    """The matrix, or its transpose, in one of `ROW_FORMATS`."""
    if not transposed:
        return layouts.once(name, lambda: ROW_FORMATS[name].of(layouts["csr"]))
    if name == "csr":
        return layouts.once("csr_t", lambda: kernels(layouts["device"]).transpose(layouts["csr"]))
    return layouts.once(f"{name}_t", lambda: ROW_FORMATS[name].of(built(layouts, "csr", True)))
