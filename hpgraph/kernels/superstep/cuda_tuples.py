"""Messages along arcs on the GPU that are short tuples of numbers.

A pull uses the kernels of spmv.cuh, for which a tuple is one value; a push combines number by number.
"""

from typing import Any

import numpy as np

from hpgraph.core.device import cupy
from hpgraph.formats import Bitmask, Frontier
from hpgraph.kernels.runtime.cuda.persistent import load_program, weight_dtype
from hpgraph.kernels.runtime.cuda.row_bins import BLOCK, address, words
from hpgraph.kernels.runtime.cuda.specialization import launch
from hpgraph.kernels.runtime.functions import functions_of
from hpgraph.kernels.spmv.cuda import directly, pull
from hpgraph.kernels.superstep import Part
from hpgraph.kernels.superstep.cuda_apply import APPLY_THREADS, masked, shaped_program
from hpgraph.kernels.superstep.cuda_steps import Steps
from hpgraph.semiring import get_monoid
from hpgraph.semiring.c_types import c_type

# Largest grid of `send`, whose warps loop over vertices.
_BLOCKS = 4096


def push_tuples(steps: Steps, part: Part, frontier: Frontier) -> Bitmask:
    """Send messages along the arcs that leave the frontier; the vertices that received."""
    out, count = part.sending, frontier.size
    _clear_arrivals(steps)
    _gather_replies(steps, part, frontier)
    received = Bitmask.zeros(steps.n, "cuda")
    ids = out.indices.dtype
    program: Any = shaped_program(steps.code, weight_dtype(out), ids)
    name = f"hpgraph::send<Program, {c_type(ids)}>"
    blocks = min(-(-count // (APPLY_THREADS // 32)), _BLOCKS)
    if blocks:
        load_program(program, "shaped.cuh", name).function(name)(
            (blocks,), (APPLY_THREADS,),
            (
                program.struct(steps.state), np.int64(count), frontier.ids.astype(ids, copy=False),
                out.indptr, out.indices, np.uint64(address(out.data)), received.words, steps.messages,
            ),
        )  # fmt: skip
    return _arrivals(steps, received)


def pull_tuples(steps: Steps, part: Part, frontier: Frontier) -> Bitmask:
    """Combine messages from the frontier at each vertex that may receive; the vertices that received."""
    code, rows, n = steps.code, part.gathering, steps.n
    _clear_arrivals(steps)
    _gather_replies(steps, part, frontier)
    ids = rows.index_dtype
    closed = masked(code, steps.state, n)
    active, received = frontier.bits, Bitmask.zeros(n, "cuda")
    # Rows without a message are written too, with the neutral one: so not over replies.
    product, replies = shaped_program(code, weight_dtype(rows), ids).product, functions_of(code).replies[0] is not None
    sent = cupy.empty_like(steps.messages) if replies else steps.messages
    shut = 0 if closed is None else address(closed.words)
    sets = words(address(active.words), shut, address(received.words), 0 if code.has_edges else 1)
    directly(rows, product, sets)(steps.state, sent)
    if replies:
        module = product.load("spmv.cuh", "accumulate")
        launch(module, "accumulate", -(-n // BLOCK), sent, received.words, np.int64(n), steps.messages)
    received = _arrivals(steps, received)
    if code.edge_cond is not None and not code.notes_arrivals:
        passes = cupy.zeros(n, np.uint8)
        condition = functions_of(code).edge_cond
        pull(rows, condition, get_monoid("lor"), steps.state, passes, active=active, mask=received)
        received = Bitmask.from_bool(passes != 0)
    return received


def _gather_replies(steps: Steps, part: Part, frontier: Frontier) -> None:
    """Gather replies at active vertices, by rows of out-arcs. Other messages stay neutral."""
    if functions_of(steps.code).replies[0] is None:
        return
    rows = part.sending
    program = shaped_program(steps.code, weight_dtype(rows), rows.indices.dtype, True)
    full, received = Bitmask.full(steps.n, device="cuda"), Bitmask.zeros(steps.n, "cuda")
    sets = words(*(address(one.words) for one in (full, frontier.bits, received)), 0)
    directly(rows, program.product, sets)(steps.state, steps.messages)


def _clear_arrivals(steps: Steps) -> None:
    if steps.code.notes:
        steps.state[-1].fill(0)


def _arrivals(steps: Steps, received: Bitmask) -> Bitmask:
    """Receivers, by the marks that messages left on passing `edge_cond`, if any: edges have changed since."""
    return Bitmask.from_bool(steps.state[-1] != 0) if steps.code.notes else received
