"""How the result of a function moves with an attribute, checked against what it does to rising numbers."""

import itertools
import math

import numpy as np
import pytest
from new_process import printed

from hpgraph.semiring.monotone import Course, course

TWICE, BACK, TABLE = 2.0, -1.0, np.arange(9)


class _Vertex:
    def __init__(self, x, id_):
        self.x, self.id = x, id_


def _by_weight(source, weight, target):
    if weight > 2:
        return source.x
    return source.x + weight


def _by_property(source, weight, target):
    if source.x > 2:
        return 0.0
    return source.x


def _in_a_try(source, weight, target):
    try:
        return -source.x if source.x > 0 else 0.0
    except Exception:
        return 0.0


def _until_it_falls(source, weight, target):
    value = source.x
    while value > 0:
        value = value - weight
    return value


def _assigned_twice(source, weight, target):
    factor = 3.0
    if weight > 2:
        factor = -3.0
    return source.x * factor


RISING = [
    (lambda source, weight, target: weight + target.id, Course.CONSTANT),
    (lambda source, weight, target: source.x, Course.ITSELF),
    (lambda source, weight, target: source.x if weight > 2 else weight, Course.ITSELF),
    (lambda source, weight, target: min(source.x, weight), Course.RISES),
    (lambda source, weight, target: max(2, source.x, weight), Course.RISES),
    (lambda source, weight, target: np.minimum(source.x, weight), Course.RISES),
    (lambda source, weight, target: np.float32(source.x), Course.RISES),
    (lambda source, weight, target: source.x * TWICE / 3, Course.RISES),
    (lambda source, weight, target: source.x + weight, Course.RISES_OR_NAN),
    (lambda source, weight, target: 2 * (source.x - math.sqrt(weight)) + source.id, Course.RISES_OR_NAN),
    (lambda source, weight, target: source.x + TABLE[source.id], Course.RISES_OR_NAN),
    (_by_weight, Course.RISES_OR_NAN),
]
NOT_SEEN_TO = [
    lambda source, weight, target: -source.x,
    lambda source, weight, target: weight - source.x,
    lambda source, weight, target: source.x * weight,
    lambda source, weight, target: source.x * BACK,
    lambda source, weight, target: 2 / source.x,
    lambda source, weight, target: source.x % 3,
    lambda source, weight, target: source.x + TABLE[source.x],
    lambda source, weight, target: source.x + max([*TABLE]),
    lambda source, weight, target: source.x if source == target else 0.0,
    lambda source, weight, target: (source.x, weight),
    lambda source, weight, target: abs(source.x),
    lambda source, weight, target: source.x - source.x,
    lambda source, weight, target: min(source.x, target.x),
    # Where infinities meet, the sum is no number, and what min makes of that depends on their order.
    lambda source, weight, target: min(source.x + weight, 3.0),
    lambda source, weight, target: int(source.x),
    lambda source, weight, target: (lambda value: -value)(source.x),
    _by_property,
    _in_a_try,
    _until_it_falls,
    _assigned_twice,
]


@pytest.mark.parametrize(("function", "expected"), RISING)
def test_what_rises(function, expected):
    assert course(function, "x") == expected
    for weight in (-3.0, 0.5, 7.0) if expected < Course.RISES_OR_NAN else (0.5, 7.0):
        found = [function(_Vertex(x, 4), weight, _Vertex(1.0, 5)) for x in (-math.inf, -5, -0.5, 0.0, 1.0, 2.0, 9.0)]
        assert all(a <= b for a, b in itertools.pairwise(found))


@pytest.mark.parametrize("function", NOT_SEEN_TO)
def test_what_is_not_seen_to(function):
    assert course(function, "x") == Course.UNKNOWN


def test_numba_is_not_imported():
    function = "lambda source, weight, target: min(source.x, weight)"
    program = f"import sys; from hpgraph.semiring.monotone import course; print(course({function}, 'x').name)"
    assert printed(f"{program}; print('numba' in sys.modules)").split() == ["RISES", "False"]
