"""Edge-vertex programs superstep by superstep, in plain Python: their definition, with no thought of speed."""

from types import SimpleNamespace


def run_slowly(program, arcs, vertices, edges, join, active=None, weights=None, world=None, limit=1000):
    """Run a program's own functions over lists.

    `vertices` and `edges` hold a list a property, `arcs` the pairs (source, target) in order; `join` combines two
    messages. Returns the final lists, the vertices still active, and the number of supersteps.
    """
    n = len(next(iter(vertices.values())))
    vertices, edges = ({name: list(values) for name, values in held.items()} for held in (vertices, edges))
    number = {arc: e for e, arc in enumerate(arcs)}
    changed = [name for name in edges if not getattr(program, name).constant]
    active, step = set(range(n)) if active is None else set(active), 0
    everyone = program.activity == "all"
    while active and step < limit:
        step += 1
        seen = SimpleNamespace(superstep=step, **(world or {}))
        inbox, after = {}, {name: list(edges[name]) for name in edges}
        for e, (u, v) in enumerate(arcs):
            if u not in active and not everyone:
                continue
            source, target = vertex_of(vertices, u), vertex_of(vertices, v)
            edge = edge_of(edges, number, arcs, weights, e)
            if hasattr(program, "reply") and (
                not hasattr(program, "reply_cond") or ask(program.reply_cond, source, edge, target, seen)
            ):
                said = ask(program.reply, source, edge, target, seen)
                inbox[u] = join(inbox[u], said) if u in inbox else said
            if hasattr(program, "edge_cond") and not ask(program.edge_cond, source, edge, target, seen):
                continue
            result = ask(program.edge_compute, source, edge, target, seen)
            if changed:
                values = result[-len(changed) :]
                # What is left is the message; a pair stays one.
                result = result[: -len(changed)] if len(result) > 1 + len(changed) else result[0]
                for name, value in zip(changed, values, strict=True):
                    after[name][e] = value
            inbox[v] = join(inbox[v], result) if v in inbox else result
        edges, following, active = after, {name: list(vertices[name]) for name in vertices}, set()
        for v in range(n) if everyone else inbox:
            message = inbox.get(v, program.identity if program.identity is not None else 0)
            before = vertex_of(vertices, v)
            if hasattr(program, "vertex_compute"):
                arguments = message if program.combiner in ("argmin", "argmax") else (message,)
                result = ask(program.vertex_compute, before, *arguments, seen)
            else:
                result = join(getattr(before, next(iter(vertices))), message)
            for name, value in zip(vertices, result if isinstance(result, tuple) else (result,), strict=True):
                following[name][v] = value
            now = vertex_of(following, v)
            rests = ask(program.vote_to_halt, before, now, seen) if hasattr(program, "vote_to_halt") else now == before
            if not rests:
                active.add(v)
        vertices = following
    return {**vertices, **edges}, sorted(active), step


def ask(function, *arguments):
    """Call a function with the world, which comes last, if it takes it."""
    return function(*arguments[: function.__code__.co_argcount])


def vertex_of(vertices, v):
    return SimpleNamespace(id=v, **{name: values[v] for name, values in vertices.items()})


def edge_of(edges, number, arcs, weights, e):
    u, v = arcs[e]
    back = number.get((v, u))
    there = {name: 0 if back is None else values[back] for name, values in edges.items()}
    heavy = 0 if back is None else 1 if weights is None else weights[back]
    reverse = SimpleNamespace(exists=back is not None, weight=heavy, **there)
    weight = 1 if weights is None else weights[e]
    return SimpleNamespace(id=e, weight=weight, reverse=reverse, **{name: values[e] for name, values in edges.items()})
