"""Random vertex programs on random small graphs, against supersteps in plain Python.

The functions of a program are random expressions in whole numbers, so that answers are exact. After a first run one
thing about the class or about an instance changes, and it runs again: what was compiled before must not show.

    python -m tests.fuzz.programs --cases 100 --seed 0
"""

from __future__ import annotations

import argparse
import itertools
import random
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import numpy as np

import hpgraph as hpg

_REDUCE = {
    "plus": lambda a, b: a + b, "min": min, "max": max, "bxor": lambda a, b: a ^ b, "any": lambda a, b: a,
    "own": lambda a, b: a if a > b else b,
}  # fmt: skip
_MIN, _LARGEST = -(2**63), 2**63 - 1
_IDENTITY = {"plus": 0, "min": _LARGEST, "max": _MIN, "bxor": 0, "any": 0, "own": _MIN}


@dataclass
class Graph:
    """A list of arcs, with whatever may be wrong with it: loops, duplicates, vertices alone, nothing at all."""

    n: int
    arcs: list[tuple[int, int, int]]

    @classmethod
    def random(cls, rng: random.Random) -> Graph:
        n = rng.choice((0, 1, 2, 3, 5, 9, 20))
        count = rng.choice((0, 1, n, 3 * n)) if n else 0
        reached = rng.randint(1, n) if n else 0  # the others stand alone
        arcs = [(rng.randrange(reached), rng.randrange(reached), rng.randint(1, 9)) for _ in range(count)]
        return cls(n, arcs + rng.sample(arcs, min(len(arcs), 2)) + [(a, a, 3) for a, _, _ in arcs[:1]])

    def made(self) -> hpg.Graph:
        """The same as the library's."""
        sources, targets, weights = (np.array(column, np.int64) for column in self._columns())
        return hpg.Graph.from_edges(sources, targets, weights, n_vertices=self.n)

    def _columns(self) -> Any:
        return zip(*self.arcs, strict=True) if self.arcs else ((), (), ())

    def along(self, edges: str) -> dict[tuple[int, int], int]:
        """Weight of each arc from sender to receiver: the lightest of duplicates."""
        found: dict[tuple[int, int], int] = {}
        for a, b, weight in self.arcs:
            for pair in {"in": [(a, b)], "out": [(b, a)], "all": [(a, b), (b, a)]}[edges]:
                found[pair] = min(weight, found.get(pair, weight))
        return found


@dataclass
class Spec:
    """A program as text and attributes, from which both its class and its plain run are made."""

    texts: dict[str, str]
    attributes: dict[str, Any]
    initial: dict[str, int]
    numbers: dict[str, int]
    in_place: bool = False
    own: dict[str, Any] = field(default_factory=dict)

    def attribute(self, name: str) -> Any:
        """What the run goes by: an instance's attribute before the class's."""
        defaults = {"edges": "in", "activity": "changed", "max_iteration": None, "aggregators": ()}
        return self.own.get(name, self.attributes.get(name, defaults.get(name)))

    def functions(self) -> dict[str, Any]:
        """The functions, over globals of their own that hold the numbers they use."""
        namespace: dict[str, Any] = {"__name__": "fuzz", **self.numbers}
        for text in self.texts.values():
            exec(text, namespace)
        return {name: namespace[name] for name in self.texts}


def random_spec(rng: random.Random) -> Spec:
    """A program of any of the forms that the engine treats in ways of their own."""
    form = rng.choice(("in place", "first", "changed", "changed", "all", "all"))
    edges = rng.choice(("in", "out", "all"))
    attributes: dict[str, Any] = {"edges": edges, "message": "int64"}
    numbers = {"A": rng.randint(1, 5), "B": rng.randint(0, 7)}
    texts = {"helper": "def helper(x): return x + A"}
    initial = {"p": rng.randint(0, 9)}
    if form == "in place":
        # Only what is monotone ends at the same place in whatever order messages come.
        reduce = rng.choice(("min", "max", "own"))
        gathers = ("helper(source.p + weight)", "max(source.p, weight + B)") if reduce == "min" else (
            "min(source.p + B, weight * A)", "min(source.p, helper(weight))", "max(source.p % 1, weight)",
        )  # fmt: skip
        texts["gather"] = f"def gather(source, weight, target): return {rng.choice(gathers)}"
        attributes["reduce"] = reduce
    else:
        attributes["activity"] = "all" if form == "all" else "changed"
        attributes["max_iteration"] = rng.randint(0, 5)
        initial["q"] = rng.randint(-3, 3)
        attributes["reduce"] = "any" if form == "first" else rng.choice(("plus", "min", "max", "bxor", "own"))
        # Any message will do only where all are alike.
        senders = () if form == "first" else ("source.p", "source.q", "source.id", "weight")
        body = _expression(rng, ("target.id", "target.q", "A", "B", *senders))
        texts["gather"] = f"def gather(source, weight, target): return {body} % 101"
        terms = "vertex.p", "vertex.q", "message % 89", "vertex.id", "helper(B)", "world.k"
        new = [_expression(rng, terms) for _ in "pq"]
        late = _expression(rng, ("vertex.p", "world.superstep", "world.k", "B"))
        texts["update"] = f"def update(vertex, message, world): return ({new[0]}) % 97, ({new[1]} + {late}) % 7"
        if rng.random() < 0.3:
            attributes["aggregators"] = ("total", "count")
            texts["aggregate"] = "def aggregate(before, vertex): return vertex.p - before.q, 1"
            texts["update"] = texts["update"].replace("world.k", "(world.k + int(world.total) % 5)")
        if rng.random() < 0.3 and form != "first":
            texts["converged"] = "def converged(world): return world.superstep >= A"
    if rng.random() < 0.4:
        texts["cond"] = f"def cond(vertex): return vertex.id % {rng.randint(2, 4)} != B % 2"
    if rng.random() < 0.4:
        late = rng.randint(0, 2)
        condition = f"weight > B or source.id < target.id + {late}"
        texts["edge_cond"] = f"def edge_cond(source, weight, target): return {condition}"
    if attributes["reduce"] == "own":
        texts["reduce"] = "def reduce(a, b): return a if a > b else b"
        attributes |= {"identity": -np.inf, "idempotent": True}
    return Spec(texts, attributes, initial, numbers, form == "in place")


def _expression(rng: random.Random, terms: tuple[str, ...]) -> str:
    parts = [rng.choice(terms) for _ in range(rng.randint(1, 3))]
    text = parts[0]
    for part in parts[1:]:
        text = rng.choice(("({} + {})", "({} - {})", "({} * 3 + {})", "min({}, {})", "max({}, {})")).format(text, part)
    return text


class Live:
    """A class made of a spec, whose every part can change as its user would change it."""

    def __init__(self, spec: Spec) -> None:
        self.spec = spec
        functions = spec.functions()
        self.namespace = functions["gather"].__globals__
        body: dict[str, Any] = {name: hpg.Property("int64", initial=value) for name, value in spec.initial.items()}
        body |= {"k": hpg.Parameter("int64", 2)} | spec.attributes
        body |= {name: function for name, function in functions.items() if name != "helper"}
        self.kind = type("Random", (hpg.VertexProgram,), body)
        self.program = self.kind()

    def change(self, rng: random.Random) -> str:
        """Change one thing, in the spec and in the class; returns what."""
        spec, kind = self.spec, self.kind
        what = rng.choice(("number", "helper", "gather", "edges", "initial", "instance", "limit"))
        if what == "number":
            name = rng.choice(("A", "B"))
            spec.numbers[name] += 1
            self.namespace[name] += 1
        elif what == "helper":
            spec.texts["helper"] = "def helper(x): return x + A + 1"
            exec(spec.texts["helper"], self.namespace)
        elif what == "gather":
            old, new = rng.choice((("source.p", "(source.p + 2)"), ("weight", "(weight + 1)"), ("A", "(A + 1)")))
            first, _, rest = spec.texts["gather"].partition("return")
            spec.texts["gather"] = f"{first}return{rest.replace(old, new)}"
            exec(spec.texts["gather"], self.namespace)
            kind.gather = self.namespace["gather"]
        elif what == "edges":
            spec.attributes["edges"] = kind.edges = rng.choice(("in", "out", "all"))
        elif what == "instance":
            spec.own["edges"] = self.program.edges = rng.choice(("in", "out", "all"))
        elif what == "initial":
            spec.initial["p"] += 1
            kind.p = hpg.Property("int64", initial=spec.initial["p"])
        elif not spec.in_place:
            spec.attributes["max_iteration"] = kind.max_iteration = rng.randint(0, 4)
        return what


def plain_run(spec: Spec, graph: Graph, active: list[int]) -> dict[str, list[int]]:
    """Where the program ends, by supersteps in plain Python: every message made by itself, from values as they were."""
    functions = spec.functions()
    everyone, limit = spec.attribute("activity") == "all", spec.attribute("max_iteration")
    arcs = sorted(graph.along(spec.attribute("edges")).items())
    reduce, identity = _REDUCE[spec.attributes["reduce"]], _IDENTITY[spec.attributes["reduce"]]
    first = spec.attributes["reduce"] == "any" and not everyone
    vertices = [SimpleNamespace(id=v, **spec.initial) for v in range(graph.n)]
    names = list(spec.initial)
    cond, edge_cond = functions.get("cond", lambda vertex: True), functions.get("edge_cond", lambda *arc: True)
    world = SimpleNamespace(superstep=0, k=2, total=0, count=0)
    senders, settled = set(range(graph.n)) if everyone else set(active), set(active) if first else set()

    def sum_up(before: list[Any], among: Any) -> None:
        if "aggregate" in functions:
            parts = [functions["aggregate"](before[v], vertices[v]) for v in among]
            world.total, world.count = sum(a for a, _ in parts), sum(b for _, b in parts)

    sum_up(vertices, range(graph.n))
    for step in itertools.count(1):
        if not senders or (limit is not None and step > limit):
            break
        world.superstep = step
        messages: dict[int, int] = {}
        for (u, v), weight in arcs:
            if u not in senders or v in settled or not cond(vertices[v]):
                continue
            if edge_cond(vertices[u], weight, vertices[v]):
                message = functions["gather"](vertices[u], weight, vertices[v])
                messages[v] = reduce(messages[v], message) if v in messages else message
        settled |= set(messages) if first else set()
        before, vertices = vertices, list(vertices)
        updated = range(graph.n) if everyone else sorted(messages)
        changed = set()
        for v in updated:
            message = messages.get(v, identity)
            if "update" in functions:
                new = functions["update"](before[v], message, world)
            else:
                new = (reduce(before[v].p, message),)
            vertices[v] = SimpleNamespace(id=v, **dict(zip(names, new, strict=True)))
            if vertices[v] != before[v]:
                changed.add(v)
        sum_up(before, updated)
        if "converged" in functions and functions["converged"](world):
            break
        senders = (senders if changed else set()) if everyone else changed
    return {name: [getattr(vertex, name) for vertex in vertices] for name in names}


def check(seed: int, graphs: int = 4) -> None:
    """One program, on several graphs, before and after changes, ends as plain Python does."""
    rng = random.Random(seed)
    live = Live(random_spec(rng))
    history = "as defined"
    for _ in range(3):
        for _ in range(graphs):
            graph = Graph.random(rng)
            active = sorted(rng.sample(range(graph.n), rng.randint(0, graph.n)))
            direction = rng.choice(("auto", "push", "pull"))
            result = live.program.run(graph.made(), active=active, direction=direction)
            found = {name: values.tolist() for name, values in result.properties.items()}
            expected = plain_run(live.spec, graph, active)
            assert found == expected, (
                f"seed {seed}, {history}, {direction}: {live.spec}\non {graph} from {active}\n"
                f"gives {found}\nnot   {expected}"
            )
        history += f", then {live.change(rng)}"


def main(cases: int, seed: int) -> None:
    """Check so many programs."""
    for number in range(seed, seed + cases):
        check(number)
    print(f"{cases} programs from seed {seed}: all as in plain Python")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cases", type=int, default=20, help="programs, half a minute each")
    parser.add_argument("--seed", type=int, default=0, help="seed of the first program")
    given = parser.parse_args()
    main(given.cases, given.seed)
