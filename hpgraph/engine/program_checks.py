"""Checks of a program's class, before anything is compiled."""

import inspect

from hpgraph.core.number import one_of
from hpgraph.engine.definition import (
    TAKEN,
    Definition,
    Property,
    declared,
    function_of,
    is_plain,
    reduces_pairs,
    updates_alone,
)

_EDGES = ("in", "out", "all")


def check_attributes(program: type[Definition]) -> None:
    """Refuse a vertex program whose attributes and functions do not go together."""
    name = program.__name__
    one_of(program.edges, f"{name}.edges", _EDGES)
    check_properties(program)
    if updates_alone(program):
        _check_step(program)
    elif function_of(program, "gather") is None:
        raise TypeError(f"{name} has no gather(source, weight, target)")
    elif program.reduce is None:
        raise TypeError(f'{name} has no reduce; set it to a monoid\'s name such as "min", or to a function')
    check_aggregators(program)
    if function_of(program, "sends") is not None and program.activity == "all":
        raise ValueError(f'{name}.sends selects the active vertices: that needs activity = "changed", not "all"')
    check_update(program, "update")


def check_properties(program: type[Definition]) -> None:
    """Refuse a program without a property of vertices, and an activity that is none."""
    name = program.__name__
    one_of(program.activity, f"{name}.activity", ("changed", "all"))
    if not declared(program, Property):
        raise TypeError(f"{name} has no vertex property; declare one: value = hpg.Property('float64')")


def check_update(program: type[Definition], update: str) -> None:
    """Refuse a program without the function that updates a vertex where the message alone cannot take its place."""
    if function_of(program, update) is not None:
        return
    name, properties = program.__name__, declared(program, Property)
    if reduces_pairs(program):
        raise TypeError(f"{name} joins pairs, so it needs {update}(vertex, key, payload)")
    if isinstance(program.message, tuple) or any(prop.length for prop in properties.values()):
        raise TypeError(f"{name} has tuples at vertices or as messages, so it needs {update}(vertex, message)")
    if len(properties) > 1:
        raise TypeError(f"{name} has several properties, so it needs {update}(vertex, message)")


def check_aggregators(program: type[Definition]) -> None:
    """Refuse sums whose names are invalid or reserved."""
    name, names = program.__name__, program.aggregators
    if not isinstance(names, tuple) or not all(isinstance(a, str) and a.isidentifier() for a in names):
        raise TypeError(f"{name}.aggregators must be a tuple of names, not {names!r}")
    taken = TAKEN.union(program._functions, *(declared(program, kind) for kind in program._kinds))
    for i, aggregator in enumerate(names):
        if aggregator in taken or aggregator in names[:i] or not is_plain(aggregator):
            raise ValueError(f"{name}: no aggregator can be called {aggregator!r}; choose another name")
    if bool(names) != (function_of(program, "aggregate") is not None):
        raise TypeError(f"{name} must have both aggregators and aggregate(before, vertex), or neither")


def _check_step(program: type[Definition]) -> None:
    """Refuse attributes that have no meaning in a program without `gather` and `reduce`."""
    name, update = program.__name__, function_of(program, "update")
    if update is None or len(inspect.signature(update).parameters) > 2:
        raise TypeError(
            f"{name} has no gather(source, weight, target); without gather and reduce it is a step of vertices alone, "
            "and must have update(vertex) or update(vertex, world)"
        )
    for other in ("cond", "edge_cond"):
        if function_of(program, other) is not None:
            say = "starts(vertex) selects the vertices to update"
            raise TypeError(f"{name}.{other} is for messages, but {name} has no gather; {say}")
