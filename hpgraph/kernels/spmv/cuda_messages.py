"""Messages as a function of column, entry and row data, reduced on the GPU: code from the function's text."""

import functools
from typing import Any

import numpy as np

from hpgraph.formats import CSR
from hpgraph.kernels.runtime.cuda.specialization import DeviceGather, Specialization, specialize
from hpgraph.kernels.runtime.cuda.structs import struct
from hpgraph.kernels.spmv.cuda_spmm import IN_FLIGHT, Rows, launch_sums, width_of
from hpgraph.semiring.c_types import c_type

# Index of an operand, by the meaning of the matrix's rows: u is the column, w the value and v the row of an entry.
PLACES = {
    "target": {"source": "u", "edge": "w", "target": "v"}, "source": {"source": "v", "edge": "w", "target": "u"},
    "edge": {"source": "u", "edge": "v", "target": "rows[v]"},
}  # fmt: skip


@functools.lru_cache(maxsize=256)
def specialize_message(
    message: Any, reduce: Any, dtype: np.dtype[Any], index_dtype: np.dtype[Any], wide: tuple[bool, ...], width: int
) -> Specialization:
    """The specialization of spmm.cuh and messages.cuh; `wide` operands have a column for each of the result."""
    kind, names, types, loads = c_type(dtype), [], [], []
    for i, (of, columns) in enumerate(zip(message.kinds, wide, strict=True)):
        place = PLACES[message.over][of]
        names.append(f"loaded.p{i}" + (".of[c]" if columns else ""))
        types.append(f"hpgraph::Pack<{kind}, {width}> p{i};" if columns else f"{kind} p{i};")
        loads.append(f"*(const hpgraph::Pack<{kind}, {width}>*)(s{i} + {place} * columns + column)" if columns
                     else f"s{i}[{place}]")  # fmt: skip
    members = "\n".join(f"    const {kind}* s{i};" for i in range(len(wide)))
    lines = message.cpp(names, kind).replace("\n", "\n        ")
    source = f"""#include "dense_rows.cuh"
struct Gather {{
    typedef {kind} Out;
    typedef void Order;
    static constexpr int width = {width}, loads = 1, batch = {IN_FLIGHT};
    static constexpr bool headed = false;
    struct Loaded {{ {" ".join(types)} }};
{members}
    const long long* rows;
    long long columns;
    __device__ Loaded load(long long u, long long w, long long v, long long column) const {{
        return {{{", ".join(loads)}}};
    }}
    __device__ {kind} operator()(long long u, long long w, const Loaded& loaded, int c, long long v,
                                 long long column) const {{
        {lines}
    }}
}};
"""
    weight = np.dtype(np.int64)
    made = DeviceGather(source, (), (dtype,) * len(wide), weight, dtype)
    return specialize(made, reduce, None, weight, index_dtype, made.state_dtypes, dtype, False)


def reduce_messages(csr: CSR, message: Any, reduce: Any, state: tuple[Any, ...], rows: Any, out: Any) -> None:
    """`hpgraph.kernels.spmv.Products.reduce_messages`."""
    if not out.size:
        return
    wide = tuple(one.ndim == 2 for one in state)
    matrices = [one for one in (*state, out) if one.ndim == 2]
    columns = max((one.shape[1] for one in matrices), default=1)
    width = width_of(columns, *matrices) if matrices else 1
    special = specialize_message(message, reduce, out.dtype, csr.indices.dtype, wide, width)
    gather = struct(*state, rows, columns)
    if out.ndim == 1 and any(wide):
        launch_sums(special, csr, csr.data, gather, out, width, columns)
    else:
        Rows(special, csr, columns, (width, 1)).launch(csr, csr.data, gather, out.reshape(len(out), -1))
