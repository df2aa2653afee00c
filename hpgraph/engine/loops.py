"""The loops over supersteps behind one interface: from a run to trace rows and the vertices still active."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from hpgraph.core.device import array_module, to_device
from hpgraph.core.errors import DeviceMemoryError
from hpgraph.engine import multi_gpu
from hpgraph.engine.edge_run import go_along
from hpgraph.engine.forms import RELAXATION, SUPERSTEPS, SWEEP, TRAVERSAL, Form
from hpgraph.engine.superstep import supersteps
from hpgraph.kernels.backend import teams
from hpgraph.kernels.runtime.direction import PULL
from hpgraph.kernels.runtime.techniques import techniques

if TYPE_CHECKING:
    from hpgraph.engine.state import Run


class Outcome(NamedTuple):
    """How a run ended: the trace, or what fetches it; ids of active vertices, or None; which loop it was, and why."""

    rows: Callable[[], np.ndarray] | np.ndarray
    active: Any
    form: Form


def go(run: Run, form: Form) -> Outcome:
    """Run a program by the loop of its form; on one device, where supersteps are too small for several."""
    if run.code.has_edges:
        return Outcome(*go_along(run, run.arcs.graph), form)
    shards = run.arcs if run.arcs.in_shards else None
    searches = form.loop in (TRAVERSAL, RELAXATION)
    if shards is not None and (searches or (form.loop == SWEEP and techniques.multi_gpu and teams(run.device))):
        run, form = _where(run, form)
        if run.arcs is not shards:
            outcome = go(run, form)
            if searches and techniques.multi_gpu:
                multi_gpu.supersteps_of(shards).note(outcome.rows, form.loop == TRAVERSAL)
            return outcome
    if form.loop == TRAVERSAL:
        if shards is not None:
            return Outcome(multi_gpu.traverse(run, form.code), None, form)
        return Outcome(run.backend.traverse(run.search(form.code, run.arcs.by_target)), None, form)
    if form.loop == RELAXATION:
        divided = shards is not None
        rows, active = multi_gpu.relax(run, form.code) if divided else run.backend.relax(run.search(form.code))
        return Outcome(rows, active if len(active) else None, form)
    if form.loop == SWEEP and len(run.state[0]):
        run.fill()
        swept = _sweep(run)
        if not isinstance(swept, str):
            return Outcome(*swept, form)
        form = Form(SUPERSTEPS, form.code, f"every vertex is active, but {swept}")
    frontier, settled = run.begin()
    run.begin_sums()
    return Outcome(*supersteps(run, frontier, settled), form)


def _is_worth_it(run: Run, form: Form) -> bool:
    arcs: Any = run.arcs
    if form.loop == SWEEP:
        return multi_gpu.sweeps_are_worth_it(arcs)
    # A relaxation's values are copied to the first device in any case, since kernels keep theirs for the next run.
    traverses, size = form.loop == TRAVERSAL, sum(values.itemsize for values in run.state)
    return multi_gpu.is_worth_it(arcs, traverses, size, run.apart and traverses)


def _where(run: Run, form: Form) -> tuple[Run, Form]:
    """A run on shards: on all devices, or on the first if supersteps are too small for several."""
    arcs: Any = run.arcs
    together = techniques.multi_gpu
    if not together or not _is_worth_it(run, form):
        try:
            alone = replace(run, arcs=arcs.on_one_device(form.code))
        except DeviceMemoryError:
            if together:
                return run, form
            code = form.code if form.loop == RELAXATION else run.code
            return run, Form(SUPERSTEPS, code, "the graph does not fit one device", form.recognized)
        why = "supersteps are too small for several" if together else "kernels side by side are switched off"
        return alone, form._replace(why=f"{form.why}; on one device, as {why}")
    return run, form._replace(why=f"{form.why}; on {len(arcs.graph.shards)} devices side by side")


def _sweep(run: Run) -> tuple[np.ndarray, Any] | str:
    """Every vertex active from the first superstep to the last; or why it cannot be so."""
    if run.arcs.in_shards:
        swept, entries = multi_gpu.sweep(run), run.arcs.sending.nnz
    else:
        arcs, stop = run.arcs.gathering, run.declared.functions["converged"]
        swept = run.backend.sweeps(run.code, arcs, run.state, tuple(run.world.values()), stop, run.limit)
        entries = arcs.nnz
    if isinstance(swept, str):
        return swept
    run.note_sums(swept.sums)
    rows = np.empty((len(swept.nanoseconds), 4), np.int64)
    rows[:, :3] = PULL, run.n, entries
    rows[:, 3] = swept.nanoseconds
    if swept.stopped:
        return rows, None
    # All vertices, which mostly were active from the start.
    if len(run.sources) == run.n:
        return rows, to_device(run.sources, run.device)
    return rows, array_module(run.device).arange(run.n, dtype=run.sources.dtype)
