"""The generalized product on the GPU: what `product.cuh` is compiled for, and its launches.

Work runs on CuPy's current device and stream, and temporaries come from CuPy's pool. Nothing here waits for the device,
except the first call with a matrix, which bins its rows.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from hpgraph.formats import CSR, HYB, Bitmask
from hpgraph.kernels.cuda.bins import BLOCK, Bins, address, bins, words
from hpgraph.kernels.cuda.blocked import by_blocks
from hpgraph.kernels.cuda.compile import Module, load
from hpgraph.semiring.cuda import LinkedCode, binary_functor, c_type, gather_functor, monoid_functor

PULL_ROWS = ("pull_slab", "pull_tail", "pull_long")


@dataclass(frozen=True)
class DeviceGather:
    """A gather as a C++ struct: ``struct Gather { const S0* s0; ...; M operator()(i64 u, W w, i64 v) const; }``.

    Attributes
    ----------
    source : str
        C++ text that defines it, and what it calls, in the global namespace.
    ltoir : tuple of LinkedCode
        To be linked with the kernel.
    state_dtypes : tuple of numpy.dtype
        Of the arrays whose pointers are its members, in their order.
    weight_dtype, message_dtype : numpy.dtype
        W and M.
    """

    source: str
    ltoir: tuple[LinkedCode, ...]
    state_dtypes: tuple[np.dtype[Any], ...]
    weight_dtype: np.dtype[Any]
    message_dtype: np.dtype[Any]

    @classmethod
    def from_function(cls, gather: Any, weight_dtype: Any, state_dtypes: Any, message_dtype: Any) -> DeviceGather:
        """From ``gather(state, source, weight, target)``, `state` being a tuple of arrays.

        Parameters
        ----------
        gather : Function
            That of a semiring becomes C++; any other Python function becomes LTO-IR.
        weight_dtype : dtype-like
        state_dtypes : sequence of dtype-like
        message_dtype : dtype-like
            What the result is converted to.

        Returns
        -------
        DeviceGather

        Examples
        --------
        >>> from hpgraph.semiring import get_semiring
        >>> gather = get_semiring("min_plus").gather("float32", "float32")
        >>> "s0[source]" in DeviceGather.from_function(gather, "float32", ("float32",), "float32").source
        True
        """
        state = tuple(np.dtype(dtype) for dtype in state_dtypes)
        code = gather_functor(gather, weight_dtype, state, message_dtype, np.int64, "GatherFunction")
        members = "".join(f"    const {c_type(dtype)}* s{i};\n" for i, dtype in enumerate(state))
        arguments = "".join(f"s{i}, " for i in range(len(state)))
        source = f"""{code.source}struct Gather {{
{members or "    const void* nothing;" + chr(10)}\
    __device__ {c_type(message_dtype)} operator()(long long u, {c_type(weight_dtype)} w, long long v) const {{
        return GatherFunction::apply({arguments}u, w, v);
    }}
}};
"""
        return cls(source, code.ltoir, state, np.dtype(weight_dtype), np.dtype(message_dtype))

    def arguments(self, state: tuple[Any, ...]) -> Any:
        """The struct itself, to be passed by value.

        Parameters
        ----------
        state : tuple of CuPy arrays
            Contiguous, of `state_dtypes`.

        Returns
        -------
        numpy.ndarray, shape (1,)
        """
        return words(*(address(array) for array in state)) if state else words(0)


@dataclass(frozen=True)
class Specialization:
    """One instance of the templates: the prologue that says what is computed, and the code to link with it."""

    prologue: str
    ltoir: tuple[LinkedCode, ...]
    gather: DeviceGather
    title: str
    loaded: dict[tuple[Any, ...], Module] = field(default_factory=dict, compare=False, repr=False)

    def load(self, source: str, *names: str) -> Module:
        """Kernels of a source file for this instance, on the current device.

        Parameters
        ----------
        source : str
            A ``.cuh`` file.
        *names : str
            Templates, without namespace and parameters.

        Returns
        -------
        Module
        """
        import cupy

        key = cupy.cuda.runtime.getDevice(), source, names
        module = self.loaded.get(key)
        if module is None:
            expressions = tuple(f"hpgraph::{name}<Product>" for name in names)
            module = load(source, prologue=self.prologue, ltoir=self.ltoir, names=expressions, title=self.title)
            self.loaded[key] = module
        return module


def launch(module: Module, name: str, blocks: int, *arguments: Any) -> None:
    """Launch a kernel with blocks of the usual size; no blocks, no launch.

    Parameters
    ----------
    module : Module
    name : str
        Of the template, without namespace and parameters.
    blocks : int
    *arguments
        As CuPy's kernels take them.
    """
    if blocks:
        module.function(f"hpgraph::{name}<Product>")((blocks,), (BLOCK,), arguments)


@functools.lru_cache(maxsize=512)
def specialize(
    gather: Any,
    reduce: Any,
    accum: Any,
    weight_dtype: np.dtype[Any] | None,
    index_dtype: np.dtype[Any],
    state_dtypes: tuple[np.dtype[Any], ...],
    message_dtype: np.dtype[Any],
    filtered: bool,
) -> Specialization:
    """What the templates are compiled for.

    Parameters
    ----------
    gather : Function or DeviceGather
    reduce : Monoid
    accum : BinaryOp or None
    weight_dtype : dtype or None
        None for a pattern, whose weights are 1 in the type of the messages.
    index_dtype : dtype
    state_dtypes : tuple of dtype
    message_dtype : dtype
    filtered : bool
        Whether only some columns send.

    Returns
    -------
    Specialization
    """
    weight = message_dtype if weight_dtype is None else weight_dtype
    if not isinstance(gather, DeviceGather):
        gather = DeviceGather.from_function(gather, weight, state_dtypes, message_dtype)
    elif (gather.weight_dtype, gather.state_dtypes, gather.message_dtype) != (weight, state_dtypes, message_dtype):
        raise TypeError(
            f"gather was made for weights of {gather.weight_dtype}, a state of {gather.state_dtypes} and results of "
            f"{gather.message_dtype}, not for {weight}, {state_dtypes} and {message_dtype}"
        )
    monoid = monoid_functor(reduce, message_dtype, "Reduce")
    codes = [monoid]
    accumulate = "return b;"
    if accum is not None:
        codes.append(binary_functor(accum, message_dtype, message_dtype, "Accumulate", message_dtype))
        accumulate = "return Accumulate::apply(a, b);"
    message = c_type(message_dtype)
    prologue = f"""{gather.source}{"".join(code.source for code in codes)}
struct Product {{
    typedef {message} Message;
    typedef {c_type(index_dtype)} Index;
    typedef {c_type(weight)} Weight;
    typedef ::Gather Gather;
    static constexpr bool pattern = {_cpp(weight_dtype is None)};
    static constexpr bool filtered = {_cpp(filtered)};
    static constexpr bool terminates = Reduce::has_terminal;
    __device__ static Message identity() {{ return Reduce::identity(); }}
    __device__ static bool terminal(Message a) {{ return Reduce::is_terminal(a); }}
    __device__ static Message reduce(Message a, Message b) {{ return Reduce::apply(a, b); }}
    __device__ static bool atomic_reduce(Message* where, Message a) {{ return Reduce::atomic_combine(where, a); }}
    __device__ static Message accumulate(Message a, Message b) {{ {accumulate} }}
}};
"""
    ltoir = tuple(dict.fromkeys((*gather.ltoir, *(linked for code in codes for linked in code.ltoir))))
    title = f"products over {reduce.name} in {message_dtype}"
    return Specialization(prologue, ltoir, gather, title)


def _cpp(flag: bool) -> str:
    return "true" if flag else "false"


def contiguous(state: tuple[Any, ...]) -> tuple[Any, ...]:
    """The arrays of a state, in C order."""
    import cupy

    return tuple(cupy.ascontiguousarray(array) for array in state)


def check(
    rows: CSR | HYB, out: Any, active: Bitmask | None, mask: Bitmask | None, complement: bool, received: Bitmask | None
) -> None:
    """Lengths that a product's arguments must have.

    Parameters
    ----------
    rows, out, active, mask, complement, received
        As for `pull`.

    Raises
    ------
    ValueError
        When one does not.
    """
    n, m = rows.shape
    for name, found, expected in (
        ("out", len(out), n),
        ("active", m if active is None else active.n, m),
        ("mask", n if mask is None else mask.n, n),
        ("received", n if received is None else received.n, n),
    ):
        if found != expected:
            raise ValueError(f"{name} must have length {expected} for a matrix of shape {rows.shape}, not {found}")
    if not out.flags.c_contiguous:
        raise ValueError("out must be contiguous: give a whole array, not a strided view")
    if complement and mask is None:
        raise ValueError("complement=True needs a mask to complement")


def pull(
    rows: CSR | HYB,
    gather: Any,
    reduce: Any,
    state: tuple[Any, ...],
    out: Any,
    *,
    active: Bitmask | None = None,
    mask: Bitmask | None = None,
    complement: bool = False,
    accum: Any = None,
    received: Bitmask | None = None,
    sources_only: bool = False,
) -> None:
    """Let every row reduce its messages: ``out[v] = reduce over entries (u, w) of row v of gather(state, u, w, v)``.

    Parameters
    ----------
    rows : CSR or HYB, shape (n, m)
        Row v lists where v pulls from: the transpose of a graph's adjacency matrix.
    gather : Function or DeviceGather
        ``gather(state, source, weight, target)`` makes a message; source and target are int64, weight is the matrix
        entry, or 1 in the type of `out` for a pattern. The message is converted to the type of `out`.
    reduce : Monoid
        Joins messages.
    state : tuple of arrays
        What `gather` reads. Arrays indexed by source have length m, those by target n.
    out : array, shape (n,)
        Written in place. A row without messages gets the monoid's identity, or, with `accum`, is left alone.
    active : Bitmask of length m, optional
        Sources that send; all by default.
    mask : Bitmask of length n, optional
        Rows to write; the others keep what they hold.
    complement : bool, default False
        Write the rows that `mask` does not hold instead.
    accum : BinaryOp, optional
        Write ``accum(out[v], result)`` rather than the result.
    received : Bitmask of length n, optional
        Overwritten with the rows to which at least one entry contributed.
    sources_only : bool, default False
        Whether `gather`, where it is no semiring's, is known to read neither target nor weight.

    Raises
    ------
    ValueError
        When lengths do not match.
    CompileError
        When a Python function cannot be compiled for the GPU.

    Notes
    -----
    A whole product (no active set, mask, accumulator or `received`) of a large matrix goes by blocks of columns where
    that is quicker: see `blocked.by_blocks`. Else reduction of a row stops when the monoid's terminal value is
    reached. Results repeat bit for bit. Two launches for a CSR matrix, three for HYB, two more with `accum`, which
    takes memory for another `out`.
    """
    import cupy

    check(rows, out, active, mask, complement, received)
    state = contiguous(state)
    whole = active is None and mask is None and accum is None and received is None
    if whole and by_blocks(rows, gather, reduce, state, out, sources_only):
        return
    indices, data = (rows.indices, rows.data) if isinstance(rows, CSR) else (rows.tail_indices, rows.tail_data)
    special = specialize(
        gather,
        reduce,
        accum,
        None if data is None else data.dtype,
        indices.dtype,
        tuple(array.dtype for array in state),
        out.dtype,
        active is not None,
    )
    result, bits = out, None if received is None else received.words
    if accum is not None:
        result = cupy.empty_like(out)
        bits = cupy.empty((len(out) + 63) // 64, np.uint64) if bits is None else bits
    if bits is not None:
        bits.fill(0)
    sets = words(
        0 if active is None else address(active.words),
        0 if mask is None else address(mask.words),
        address(bits),
        int(complement),
    )
    arguments = special.gather.arguments(state)
    module = special.load("product.cuh", *PULL_ROWS, *(("accumulate",) if accum is not None else ()))
    n = rows.shape[0]
    if isinstance(rows, CSR):
        tail = words(0, address(rows.indptr), address(indices), address(data), 0)
    else:
        slab = words(address(rows.ell.indices), address(rows.ell.data))
        width = np.int64(len(rows.ell.indices))
        launch(module, "pull_slab", -(-n // BLOCK), arguments, slab, np.int64(n), width, sets, result)
        tail = words(address(rows.tail_rows), address(rows.tail_indptr), address(indices), address(data), 1)
    pull_rows(module, arguments, tail, bins(rows), sets, result)
    if accum is not None:
        launch(module, "accumulate", -(-n // BLOCK), result, bits, np.int64(n), out)


def pull_rows(module: Module, gather: Any, tail: Any, binned: Bins, sets: Any, out: Any) -> None:
    """Launch what follows the slab: the binned rows, and the joining of long ones.

    Parameters
    ----------
    module : Module
        Of product.cuh.
    gather, tail, sets : numpy void
        Structs of product.cuh.
    binned : Bins
    out : CuPy array
    """
    import cupy

    part = cupy.empty(binned.pieces, out.dtype)
    found = cupy.empty(binned.pieces, np.bool_)
    launch(module, "pull_tail", binned.blocks, gather, tail, binned.arguments, sets, out, part, found)
    joiners = -(-binned.long_rows // (BLOCK // 32))
    long_rows = np.int64(binned.long_rows)
    launch(module, "pull_long", joiners, tail, binned.long_slots, binned.first_piece, long_rows, sets, out, part, found)
