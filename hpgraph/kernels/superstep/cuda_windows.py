"""Windows over pages as parts of a superstep on the GPU: whole windows are gathered by rows, sparse rows read in place.

Messages are joined to those of the windows before.
"""

from typing import Any, cast

import numpy as np

from hpgraph.core.device import cupy
from hpgraph.formats import Frontier
from hpgraph.kernels.out_of_core import MAX_PAGES, HubCache, Spread, Tiles
from hpgraph.kernels.out_of_core.cuda_visits import THREADS, visit
from hpgraph.kernels.pages.gaps import word_bits
from hpgraph.kernels.runtime.cuda.persistent import load_program
from hpgraph.kernels.runtime.cuda.program import CUDAProgram, cuda_program
from hpgraph.kernels.runtime.cuda.structs import Layout, struct
from hpgraph.kernels.superstep.cuda_steps import Steps
from hpgraph.kernels.sweep.cuda_program import ignored
from hpgraph.semiring.c_types import c_type

CARRY = Layout("Carry<{Message}>", start="*", last_row="*", first="*", last="*", found="*")


def push_spread(steps: Steps, part: Spread) -> None:
    """Push messages along the arcs of chosen rows."""
    code = steps.code
    once, numbered = code.reduce.ends_on_anything, code.has_edges
    program = cuda_program(code, cast(Any, code).places) if numbered else _program(steps, part.data)
    settled = None if steps.settled is None else steps.settled.words
    fields = _held(steps, program), settled, steps.arrived.words, steps.messages
    visit(f"hpgraph::Send<Program, {str(once).lower()}>", fields, part, program, numbered=numbered)


def pull_window(steps: Steps, part: Tiles | Spread | HubCache, frontier: Frontier) -> None:
    """Gather messages from the frontier to a window's rows, or to chosen rows if the first message suffices."""
    if isinstance(part, Tiles):
        _gather(steps, part, frontier)
    elif isinstance(part, HubCache):
        _from_hub_cache(steps, part, frontier)
    else:
        program = _program(steps, part.data)
        fields = _held(steps, program), frontier.bits.words, steps.arrived.words, steps.messages
        visit("hpgraph::Receive<Program>", fields, part, program)


def _program(steps: Steps, data: Any) -> CUDAProgram:
    return cuda_program(steps.code, None if data is None else np.dtype(data.dtype))


def _held(steps: Steps, program: CUDAProgram) -> bytes:
    world = tuple(dtype.type(0) for _, dtype in steps.code.parameters)  # no message reads it
    return program.struct(steps.state, world)


def _from_hub_cache(steps: Steps, part: HubCache, frontier: Frontier) -> None:
    program, index = _program(steps, None), c_type(steps.ids)
    name = f"hpgraph::receive_from_head<Program, {index}>"
    waiting = steps.waiting()
    assert waiting is not None
    kernel = load_program(program, "spread.cuh", name).function(name)
    kernel(
        (-(-steps.n // THREADS),), (THREADS,),
        (_held(steps, program), np.int64(steps.n), part.neighbour, frontier.bits.words, waiting.words,
         steps.arrived.words, steps.messages),
    )  # fmt: skip


def _gather(steps: Steps, tiles: Tiles, frontier: Frontier) -> None:
    code, pages = steps.code, tiles.pages
    data, (begin, end) = tiles.data, tiles.run
    program = _program(steps, data)
    weight = "hpgraph::NoWeights" if data is None else program.weight_type
    gaps, is_masked = pages.encoding == "gaps", not frontier.all_active
    aimed = code.edge_cond is not None or "target" not in ignored(code)
    flags = ", ".join(str(flag).lower() for flag in (gaps, is_masked, aimed))
    which = f"Program, {c_type(pages.id_dtype)}, {weight}, {flags}"
    names = f"hpgraph::gather_tiles<{which}>", "hpgraph::join_tiles<Program>"
    module = load_program(program, "window.cuh", *names)
    count = tiles.tiles
    fields = _carry(steps, count)
    fields[1][:count].fill(-1)
    fields[4].fill(0)
    carry = CARRY.of(Message=code.message)(*fields)
    active = frontier.bits.words if is_masked else None
    # If all vertices are updated, received bits are not needed.
    received = None if steps.all_active else steps.arrived.words
    identity = np.asarray(code.reduce.identity_for(code.message), code.message)[()]
    parameters = struct(_held(steps, program), active, received, steps.messages, identity)
    mask = np.uint32((1 << word_bits(pages.shape[1])) - 1)
    tables = struct(*tiles.tables, data, pages.shape[1], mask)
    places = np.zeros(MAX_PAGES, np.uint64)
    places[: end - begin] = tiles.places
    module.function(names[0])(
        (count,), (THREADS,),
        (parameters, tables, places.tobytes(), np.int64(begin), np.int64(end - begin), carry, tiles.damaged),
    )  # fmt: skip
    joined = parameters, tiles.tables[0], np.int64(tiles.row_before), np.int64(count), carry
    module.function(names[1])((count // (THREADS // 32) + 1,), (THREADS,), joined)


def _carry(steps: Steps, count: int) -> tuple[Any, ...]:
    """Memory for the tiles' partial results; reused."""
    if steps.carry is None or steps.carry[0] < count:
        message = steps.code.message
        steps.carry = count, (
            cupy.empty(count, np.int64), cupy.empty(count, np.int64), cupy.empty(count, message),
            cupy.empty(count, message), cupy.empty(-(-count // 8) * 8, np.uint8),
        )  # fmt: skip
    return steps.carry[1]
