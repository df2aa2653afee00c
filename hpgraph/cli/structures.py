"""The commands that say how a graph hangs together: cores, spanning forests, colours."""

from __future__ import annotations

from typing import Any

from hpgraph.cli.graph_input import load
from hpgraph.cli.output import check_output, plural, print_top, save, timed


def cores(arguments: Any) -> None:
    """Core numbers."""
    import hpgraph as hpg

    numbers = _of_vertices(arguments, hpg.core_number, "core")
    largest = int(numbers.max()) if len(numbers) else 0
    inside = int((numbers == largest).sum())
    print(f"largest core number {largest:,}, of {plural(inside, 'vertex')}")


def colors(arguments: Any) -> None:
    """A greedy colouring."""
    import hpgraph as hpg

    found = _of_vertices(arguments, lambda graph: hpg.greedy_color(graph, arguments.strategy, arguments.seed), "color")
    print(plural(int(found.max()) + 1 if len(found) else 0, "colour"))


def forest(arguments: Any) -> None:
    """A spanning forest of least weight."""
    import hpgraph as hpg

    graph = load(arguments, arguments.device)
    found, seconds = timed(arguments.device, lambda: hpg.minimum_spanning_forest(graph))
    print(
        f"spanning forest on {arguments.device}: {plural(len(found.source), 'edge')}, {plural(found.count, 'tree')}, "
        f"total weight {found.total:,.10g}; {seconds:.3g} s with loading the kernels"
    )


def _of_vertices(arguments: Any, call: Any, name: str) -> Any:
    from hpgraph.core.device import to_device

    check_output(arguments.output)
    graph = load(arguments, arguments.device)
    found, seconds = timed(arguments.device, lambda: call(graph))
    each = to_device(found, "cpu")
    print(f"{name} of every vertex on {arguments.device}: {seconds:.3g} s with loading the kernels")
    if arguments.top > 0:
        print_top(graph, each, arguments.top, name, "{:,}")
    save(arguments.output, graph, **{name: each})
    return each
