"""What functions read of their parameters."""

import pytest

from hpgraph.semiring.reads import reads, unread


def _both(source, weight, target):
    return source.width * target.width + source.depth


def _assigned(source, weight, target):
    source = target
    return source.width


def _in_a_loop(source, weight, target):
    total = 0.0
    for _ in range(3):
        total += source.width
    return total


@pytest.mark.parametrize(
    ("function", "expected"),
    [
        (_both, {"source": {"width", "depth"}, "weight": set(), "target": {"width"}}),
        (_assigned, {"source": None, "weight": set(), "target": None}),
        (_in_a_loop, {"source": {"width"}, "weight": set(), "target": set()}),
        (lambda source, weight: weight if source.left else source.right, {"source": {"left", "right"}, "weight": None}),
        (lambda source, weight: min(source, weight), {"source": None, "weight": None}),
        (lambda source, weight: (source.width, source), {"source": None, "weight": set()}),
        (lambda a, b: lambda: a.width, {"a": None, "b": set()}),
        (lambda a, b: locals(), {"a": None, "b": None}),
    ],
)
def test_attributes(function, expected):
    assert dict(reads(function)) == expected


def test_unread():
    assert unread(lambda state, source, weight, target: state[0][source] * weight) == {"target"}
    assert unread(lambda a, b: locals()) == frozenset()
    assert unread(lambda a, b: lambda: a) == {"b"}
