"""The commands that spread what is known of some vertices to the others: labels, heat, beliefs.

What is known comes as a table in a CSV file: a column ``vertex``, and the others as each command says.
"""

from __future__ import annotations

import csv
from typing import Any

import hpgraph as hpg
from hpgraph.cli.graph_input import load, source_of, vertex_of
from hpgraph.cli.output import on_cpu, plural, print_top, save, timed


def labels(arguments: Any) -> None:
    """Labels of some vertices for all of them."""
    import numpy as np

    graph = load(arguments, arguments.device)
    columns, known = _table(arguments.labels, "--labels")
    if "label" not in columns:
        raise ValueError(f"--labels {arguments.labels}: there must be a column label, not only {', '.join(columns)}")
    given = {hpg.id(vertex_of(graph, row["vertex"], "--labels")): row["label"] for row in known if row["label"]}
    call = hpg.label_propagation if arguments.keep else hpg.label_spreading
    found, seconds = timed(arguments.device, lambda: call(graph, given, weight=arguments.weighted))
    print(
        f"{plural(len(given), 'label')} spread on {arguments.device}: "
        f"{'converged' if found.converged else 'NOT converged'} after {plural(found.iterations, 'iteration')}; "
        f"{seconds:.3g} s with loading the kernels"
    )
    label = np.asarray(found)
    named, count = np.unique(label[label != None].astype(str), return_counts=True)  # noqa: E711
    for name, vertices in zip(named.tolist(), count.tolist(), strict=True):
        print(f"  {name}: {plural(vertices, 'vertex')}")
    save(arguments.output, graph, label=np.where(label == None, "", label))  # noqa: E711


def heat(arguments: Any) -> None:
    """Heat that spreads from one vertex."""
    graph = load(arguments, arguments.device)
    source = source_of(graph, arguments)
    found, seconds = timed(
        arguments.device,
        lambda: hpg.heat_kernel(
            graph, {hpg.id(source): 1.0}, arguments.time, laplacian=arguments.laplacian, weight=arguments.weighted
        ),
    )
    values = on_cpu(found)
    print(f"heat after {arguments.time:g} on {arguments.device}; {seconds:.3g} s with loading the kernels")
    print_top(graph, values, arguments.top, "heat", "{:.6g}")
    save(arguments.output, graph, heat=values)


def beliefs(arguments: Any) -> None:
    """Loopy belief propagation."""
    import numpy as np

    graph = load(arguments, arguments.device)
    columns, known = _table(arguments.unary, "--unary")
    states = [name for name in columns if name != "vertex"]
    unary = {
        hpg.id(vertex_of(graph, row["vertex"], "--unary")): _numbers([row[name] for name in states], "--unary")
        for row in known
    }
    potential = [_numbers(row.split(","), "--potential") for row in arguments.potential.split(";")]
    if {len(row) for row in potential} != {len(states)} or len(potential) != len(states):
        raise ValueError(
            f"--potential must have {len(states)} rows of {len(states)} numbers, as there are states in --unary "
            f"({', '.join(states)}): '2,1;1,2' says two of two"
        )
    found, seconds = timed(
        arguments.device,
        lambda: hpg.belief_propagation(
            graph, unary, potential, product=arguments.product, damping=arguments.damping, weight=arguments.weighted
        ),
    )
    print(
        f"beliefs on {arguments.device}: {'converged' if found.converged else 'NOT converged'} after "
        f"{plural(found.iterations, 'iteration')}; {seconds:.3g} s with loading the kernels"
    )
    belief, state = on_cpu(found.belief), np.array(states)[on_cpu(found.state)]
    for name in states:
        print(f"  {name}: {plural(int((state == name).sum()), 'vertex')}")
    save(arguments.output, graph, **{name: belief[:, at] for at, name in enumerate(states)}, state=state)


def _table(path: str, argument: str) -> tuple[list[str], list[dict[str, str]]]:
    """The columns and rows of a CSV file that begins with the columns' names."""
    with open(path, newline="", encoding="utf-8") as file:
        reader = csv.DictReader(file, strict=True)
        columns = list(reader.fieldnames or [])
        if "vertex" not in columns or len(columns) < 2:
            raise ValueError(f"{argument} {path}: the first line must name a column vertex and at least one other")
        rows = list(reader)
    for line, row in enumerate(rows, 2):
        if None in row or None in row.values():
            raise ValueError(f"{argument} {path}, row {line}: {plural(len(columns), 'field')} expected")
    return columns, rows


def _numbers(texts: list[str], argument: str) -> list[float]:
    try:
        return [float(text) for text in texts]
    except ValueError as error:
        raise ValueError(f"{argument}: {error}") from None
