"""Work stealing, and barriers between supersteps inside one parallel region for a whole run.

Each worker has a range of the superstep's work. It takes chunks off its own range by an atomic addition, and steals
from the others' once its own is empty (R. Blumofe, C. Leiserson, "Scheduling multithreaded computations by work
stealing", JACM 46(5), 1999; nothing is added to a range, so a counter per range replaces the deque).

Entering a parallel region costs some 10 µs, this barrier a few hundred nanoseconds: a road network has thousands of
supersteps of a few µs. One worker, the first to arrive, is the leader. It sets up a superstep, works on it, and opens a
gate if there is enough work for several; workers waiting at the gate then help. The leader waits for helpers inside the
gate only, so that a descheduled thread delays no other, and a threading library may run the workers sequentially.

The gate is one word, so that entering and closing have a single order: its lower half counts the helpers inside, its
upper half is incremented at each opening and closing, odd while open; negative once the run has ended.

The board is the memory that the workers share: an int64 array, in which words that different threads write are on
different cache lines.
"""

import platform
import sys
from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils

from hpgraph.kernels.runtime.cpu.part import part
from hpgraph.semiring.atomics import atomic_load, atomic_or, compare_and_swap, fetch_add
from hpgraph.semiring.intrinsic import instruction
from hpgraph.semiring.stop import is_stopped

# Two cache lines, as processors fetch them in pairs.
LINE = 16
LEADER, GATE, TAIL, TALLY, JOB = (LINE * line for line in range(5))
# Start of a kernel's own shared words, and of the workers' ranges of work: one line each.
OTHER, HEAPS = 5 * LINE, 8 * LINE
# In the line that the leader writes: the number of ranges, the chunk size, whether it works alone.
_COUNT, _GRAIN, ALONE = range(JOB, JOB + 3)
_TURN = 1 << 32
_OVER = -(1 << 63)
# Spins on the gate before the thread yields its core between two of them.
_MAX_SPINS = 2000


@instruction(lambda: types.none(), lambda: None)
def cpu_pause(context: Any, builder: Any, sig: Any, args: Any) -> None:
    """The processor's spin-wait hint."""
    machine = platform.machine().lower()
    void, number = ir.VoidType(), ir.IntType(32)
    if machine in ("x86_64", "amd64"):
        builder.call(builder.module.declare_intrinsic("llvm.x86.sse2.pause", fnty=ir.FunctionType(void, [])), [])
    elif machine in ("aarch64", "arm64"):
        hint = builder.module.declare_intrinsic("llvm.aarch64.hint", fnty=ir.FunctionType(void, [number]))
        builder.call(hint, [ir.Constant(number, 1)])


@instruction(lambda: types.none(), lambda: None)
def yield_core(context: Any, builder: Any, sig: Any, args: Any) -> None:
    """Yield the core to another thread."""
    name = "SwitchToThread" if sys.platform == "win32" else "sched_yield"
    builder.call(cgutils.get_or_insert_function(builder.module, ir.FunctionType(ir.IntType(32), []), name), [])


@part
def wait(spins):
    """Spin once more, and yield the core after many; the number of spins."""
    if spins < _MAX_SPINS:
        cpu_pause()
    else:
        yield_core()
    return spins + 1


@part
def leads(board):
    """Whether the caller is the leader: the first to call."""
    return fetch_add(board, LEADER, 1) == 0


@part
def _enter(board, last):
    """Wait for an opening of the gate other than ``last``, and go in; its number from 1, negative at the end."""
    spins = 0
    while True:
        gate = atomic_load(board, GATE)
        if gate < 0:
            return gate
        turn = gate // _TURN
        if turn & 1 and turn != last:
            if compare_and_swap(board, GATE, gate, gate + 1):
                return turn
        else:
            spins = wait(spins)


@part(forceinline=True)
def begin_together(board, leading, goes_on, turn):
    """The beginning of a superstep, called by all workers: the leader opens the gate if there is work for several.

    Returns the number of the gate's opening, negative once the run has ended; ``turn`` is the last call's result, 0 at
    first.
    """
    if not leading:
        return _enter(board, turn)
    if not goes_on:
        atomic_or(board, GATE, _OVER)
        return -1
    if not board[ALONE]:
        # Open the gate (release): helpers see the leader's writes.
        fetch_add(board, GATE, _TURN)
    return turn


@part(forceinline=True)
def end_together(board, leading):
    """The end of a superstep, called by all workers: afterwards the leader sees their writes."""
    if not leading:
        fetch_add(board, GATE, -1)
    elif not board[ALONE]:
        # Close the gate, and wait until all helpers have left.
        fetch_add(board, GATE, _TURN)
        spins = 0
        while atomic_load(board, GATE) & (_TURN - 1):
            spins = wait(spins)


@part
def is_single(board):
    """Whether there is only one worker."""
    return board.size == HEAPS + LINE


@part
def set_out(board, begin, end, grain, alone):
    """Divide begin..end into a range of work for each worker, or a single one if the leader is ``alone``.

    A single worker always is: its claims need no atomic operation, which costs some 6 ns even without contention.
    """
    workers = (board.size - HEAPS) // LINE
    alone = alone or is_single(board)
    heaps = 1 if alone else workers
    board[_COUNT], board[_GRAIN], board[ALONE] = heaps, grain, alone
    grains = (end - begin + grain - 1) // grain
    for heap in range(heaps):
        board[HEAPS + heap * LINE] = begin + grains * heap // heaps * grain
        board[HEAPS + heap * LINE + 1] = min(begin + grains * (heap + 1) // heaps * grain, end)


@part
def take(board, heap, alone):
    """Work stealing: the next chunk of the own range, then of the others'; (0, 0) if none is left.

    Also (0, 0) once kernels are stopped. A worker has the same range in each superstep, so that what it wrote in the
    last one is still in its cache.
    """
    if is_stopped():
        return 0, 0
    heaps, grain = board[_COUNT], board[_GRAIN]
    for k in range(heaps):
        place = HEAPS + (heap + k) % heaps * LINE
        begin, end = board[place], board[place + 1]
        if begin < end:
            if alone:
                board[place] = begin + grain
            else:
                begin = fetch_add(board, place, grain)
            if begin < end:
                return begin, min(begin + grain, end)
    return 0, 0


@part
def report(board, column, amount, alone):
    """Add to a tally."""
    if alone:
        board[TALLY + column] += amount
    else:
        fetch_add(board, TALLY + column, amount)


@part
def collect(board, column):
    """Read and clear a tally."""
    amount = board[TALLY + column]
    board[TALLY + column] = 0
    return amount
