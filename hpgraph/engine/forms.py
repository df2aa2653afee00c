"""Choice of a run's loop, with its reason, from the form of the program, the parts of the arcs, and the options.

Three loops keep all supersteps in one kernel, for arcs in one part in memory: in a *traversal* the first message
settles a vertex, in a *relaxation* one monotone property is updated in place, in a *sweep* every vertex sends and is
updated.
"""

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from hpgraph.core.device import array_module, to_device
from hpgraph.core.errors import DeviceMemoryError
from hpgraph.core.number import real
from hpgraph.engine import multi_gpu
from hpgraph.engine.declarations import Declarations
from hpgraph.engine.edge_run import go_along
from hpgraph.engine.state import ENDLESS, Run
from hpgraph.engine.superstep import supersteps
from hpgraph.kernels.backend import teams
from hpgraph.kernels.runtime.direction import PULL
from hpgraph.kernels.runtime.functions import ProgramFunctions
from hpgraph.kernels.runtime.program import ProgramCode
from hpgraph.kernels.runtime.techniques import techniques
from hpgraph.semiring.monotone import Course, course
from hpgraph.semiring.reads import reads_properties
from hpgraph.semiring.tracing import traced

TRAVERSAL, RELAXATION, SWEEP, SUPERSTEPS = "traversal", "relaxation", "sweep", "supersteps"
# Monoids that select by order, which adding a weight preserves.
_ORDERS = ("min", "max")


class Form(NamedTuple):
    """The loop of a program, the code that it runs, and why; `recognized`: a relaxation although it has an `update`."""

    loop: str
    code: ProgramCode
    why: str
    recognized: bool = False

    @property
    def in_words(self) -> str:
        """The loop and the reason, for `Trace.explain`."""
        return f"{self.loop}: {self.why}"


def form_of(declared: Declarations, code: ProgramCode) -> Form:
    """The form of a program, cached."""
    form = declared.forms.get(code)
    if form is None:
        form = declared.forms[code] = _form(declared, code)
    return form


def form_for(run: Run) -> Form:
    """The form for this run's loops: the program's own, unless its arcs or its options exclude that."""
    if run.code.has_edges:
        return Form(SUPERSTEPS, run.code, _reason_for_edges(run.code))
    form = run.declared.forms.get(run.code) or form_of(run.declared, run.code)
    if form.loop == SUPERSTEPS:
        return form
    if run.arcs.in_shards:
        form = _in_shards(run, form)
    elif not run.arcs.in_one_part:
        return Form(SUPERSTEPS, run.code, "the arcs come in several parts")
    return _for_options(run, form) if form.recognized else form


def _reason_for_edges(code: Any) -> str:
    """The explanation in `Trace.explain` for a program with edge properties."""
    changed = [code.edge_properties[i][0] for i in code.changes]
    if not changed:
        return "edge_compute makes messages"
    twice = ", each kept twice, since an arc's reverse is read" if code.keeps_two else ""
    return f"edge_compute changes {', '.join(changed)} of every arc it passes{twice}"


def _in_shards(run: Run, form: Form) -> Form:
    """The form of a program whose arcs lie on several devices."""
    if form.loop == SWEEP:
        return form
    why = multi_gpu.unserved(run, form.code, from_source=form.loop == RELAXATION)
    if why is None:
        return form
    # The general loop has the same result, in any order of updates.
    return Form(SUPERSTEPS, form.code if form.loop == RELAXATION else run.code, why, form.recognized)


def _for_options(run: Run, form: Form) -> Form:
    """The form, or the general loop for a recognized relaxation if an option of the run needs supersteps."""
    if form.loop == RELAXATION and run.delta is None and run.ceiling is None:
        if run.limit < ENDLESS:
            why = "update is its reduce, but with a limit to the supersteps it matters what each of them sees"
            return Form(SUPERSTEPS, run.code, why)
        if run.policy.mode == "pull":
            return Form(SUPERSTEPS, run.code, "update is its reduce, but a relaxation does not pull")
    return form


def _form(declared: Declarations, code: ProgramCode) -> Form:
    if code.updates_alone:
        within = "a step of vertices alone runs within hpgraph.Phases([...])"
        raise TypeError(f"{code.name} has no gather(source, weight, target): {within}")
    if code.is_shaped:
        if code.reduce.ends_on_anything:
            raise ValueError(f'{code.name}.reduce is "any", which combines no tuples: use "plus", "min" or "max"')
        return Form(SUPERSTEPS, code, "properties or messages are tuples of several numbers")
    if code.cells:
        return Form(SUPERSTEPS, code, "gather, cond or edge_cond reads the world, which each superstep changes")
    if code.pair is not None:
        return Form(SUPERSTEPS, code, f"messages are pairs {code.pair}")
    if declared.activity == "all" and code.cond is None:
        return Form(SWEEP, code, "every vertex sends and is updated in every superstep")
    if code.sends is not None:
        return Form(SUPERSTEPS, code, "sends selects the active vertices")
    if declared.runs_alone and code.reduce.ends_on_anything:
        return Form(TRAVERSAL, code, "the first message settles a vertex (reduce is any)")
    why = _no_relaxation(declared, code)
    if why is not None:
        return Form(SUPERSTEPS, code, why)
    reduce = code.reduce.name
    if code.update is None:
        return Form(RELAXATION, code, f"no update, and reduce ({reduce}) is idempotent: the property improves in place")
    why = _no_recognition(code)
    if why is not None:
        return Form(SUPERSTEPS, code, why)
    name = code.properties[0][0]
    same = f"update is its reduce ({reduce}), compared as compiled code, and gather rises with {name}"
    return Form(RELAXATION, replace(code, update=None), same, recognized=True)


def _no_relaxation(declared: Declarations, code: ProgramCode) -> str | None:
    """The reason why the program's property cannot be updated in place, or None."""
    if declared.activity == "all":
        return "every vertex is active, and cond is asked before every message"
    for name, why in (("aggregate", "its sums reach the next superstep"), ("converged", "it is asked after each")):
        if declared.functions[name] is not None:
            return f"there is {name}: {why}"
    if len(code.properties) > 1:
        return f"there are {len(code.properties)} properties"
    if not code.reduce.idempotent:
        return f"reduce ({code.reduce.name}) is not idempotent"
    dtype = code.properties[0][1]
    if code.message != dtype:
        return f"messages are {code.message}, the property is {dtype}"
    # The kernels swap whole words.
    if dtype.kind not in "iuf" or dtype.itemsize not in (4, 8):
        return f"the property is {dtype}, not a number of 4 or 8 bytes"
    return None


def _no_recognition(code: ProgramCode) -> str | None:
    """The reason why a program with an `update` is no relaxation, where better values make no worse message."""
    assert code.update is not None
    name = code.properties[0][0]
    for function, called in ((code.cond, "cond"), (code.edge_cond, "edge_cond")):
        # Properties other than the id that it reads of the first or the last vertex.
        if function is not None and (read := reads_properties(function)) and (read[0] or read[-1]):
            return f"{called} reads the property"
    if code.takes_world(code.update, 2):
        return "update reads the world"
    if course(code.gather, name) > (Course.RISES_OR_NAN if code.reduce.name in _ORDERS else Course.ITSELF):
        return f"gather is not seen to rise with {name} (leave update out if it need not see supersteps apart)"
    translated = _translated(code)
    if translated is None or translated != _translated(replace(code, update=None)):
        # Imported here: it loads Numba and compiles two small functions.
        from hpgraph.kernels.relaxation.recognition import update_is_reduce

        if not update_is_reduce(code):
            return f"update is not its reduce ({code.reduce.name}), compared as compiled code"
    return None


def _translated(code: ProgramCode) -> str | None:
    """The update of a vertex as C++ text: equal text computes the same. None if it is left to Numba."""
    state, update = (f"{code.properties[0][1]}*",), ProgramFunctions(code).update
    return traced(update.python, (state, np.int64, code.message, (), np.int64), np.dtype(bool), "update")


def check_order(form: Form, delta: float | None, ceiling: float | None) -> None:
    """Refuse `delta` or `ceiling`, of which one is given, for a program that is no relaxation."""
    if form.loop != RELAXATION or form.code.reduce.name != "min":
        for name, value in (("delta", delta), ("ceiling", ceiling)):
            if value is not None:
                only = 'relaxations whose reduce is "min", as programs without update'
                raise ValueError(f"{name} is for {only}, not for {form.code.name} ({form.loop}: {form.why})")


def order_bounds(delta: Any, ceiling: Any) -> tuple[float | None, float | None]:
    """`delta` and `ceiling` as numbers or None; integers that a float can hold stay exact."""
    bounds: dict[str, float | None] = {"delta": delta, "ceiling": ceiling}
    for name, value in bounds.items():
        if value is not None:
            number = real(value, name, "a number or None")
            bounds[name] = number if math.isinf(number) else value
    if delta is not None and not delta > 0:
        raise ValueError(f"delta must be positive, not {delta!r}")
    if ceiling is not None and ceiling != ceiling:
        raise ValueError("ceiling must be a number, not NaN")
    return bounds["delta"], bounds["ceiling"]


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
    """Run the supersteps of a sweep; returns the reason if the run's form excludes it."""
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
    # All vertices are active: usually the start vertices themselves.
    if len(run.sources) == run.n:
        return rows, to_device(run.sources, run.device)
    return rows, array_module(run.device).arange(run.n, dtype=run.sources.dtype)
