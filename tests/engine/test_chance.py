"""Random numbers by seed, vertex and superstep: published values, the same in kernels, and programs that repeat."""

import numba
import numpy as np
import pytest
from reference_algorithms import SMALL

import hpgraph as hpg
from hpgraph import Parameter, Property
from hpgraph.core.device import to_device
from hpgraph.semiring.function import Function
from hpgraph.semiring.jit import call


def philox(seed, vertex, superstep):
    """The lower 64 bits of Philox4x32 of ten rounds, in Python's integers."""
    mask, key = 2**32 - 1, [seed & 2**32 - 1, seed >> 32 & 2**32 - 1]
    x = [vertex & mask, vertex >> 32 & mask, superstep & mask, superstep >> 32 & mask]
    for _ in range(10):
        high0, low0 = divmod(0xD2511F53 * x[0], 2**32)
        high1, low1 = divmod(0xCD9E8D57 * x[2], 2**32)
        x = [high1 ^ x[1] ^ key[0], low1, high0 ^ x[3] ^ key[1], low0]
        key = [(key[0] + 0x9E3779B9) & mask, (key[1] + 0xBB67AE85) & mask]
    return x[0] | x[1] << 32


@pytest.mark.parametrize(
    ("seed", "vertex", "superstep", "expected"),
    [
        # The known answers of Random123 1.14 for philox4x32 with 10 rounds.
        (0, 0, 0, 0xE169C58D6627E8D5),
        (-1, -1, -1, 0x41C83B0E408F276D),
        (0x299F31D0A4093822, 0x85A308D3243F6A88, 0x0370734413198A2E, 0x94FDCCEBD16CFE09),
    ],
)
def test_published_numbers(seed, vertex, superstep, expected):
    wrapped = (np.uint64(number % 2**64) for number in (seed, vertex, superstep))
    assert int(hpg.random_bits(*wrapped)) == expected == philox(seed, vertex, superstep)


def test_compiled_numbers_are_those_of_python():
    drawn = numba.njit(lambda f, g, h, a, b, c: (call(f, a, b, c), call(g, a, b, c), call(h, a, b, c)))
    functions = [Function(function) for function in (hpg.random_bits, hpg.uniform, hpg.uniform32)]
    for seed, vertex, superstep in ((7, 3, 0), (-5, 2**40, 1), (2**62, 0, 2**33)):
        bits = philox(seed, vertex, superstep)
        expected = bits, (bits >> 11) / 2**53, (bits >> 40) / 2**24
        assert drawn(*functions, seed, vertex, superstep) == expected


def test_numbers_are_uniform():
    numbers = hpg.uniform(3, np.arange(100_000), 9)
    assert numbers.min() >= 0 and numbers.max() < 1
    counts = np.histogram(numbers, 100, (0, 1))[0]
    assert ((counts - 1000) ** 2 / 1000).sum() < 160, "χ² of 99 degrees of freedom exceeds 160 once in 10 000 times"
    assert abs(np.corrcoef(numbers, hpg.uniform(3, np.arange(100_000), 10))[0, 1]) < 0.02
    assert hpg.uniform32(3, np.arange(1000)).dtype == np.float32


class Rumour(hpg.VertexProgram):
    """Rumour spreading with a probability for each arc, until a superstep without messages. All functions draw."""

    arrived = Property("int64", initial=-1, start=0)
    drawn = Property("float64")
    seed = Parameter("int64", 1)
    chance = Parameter("float32", 0.5)
    weighted = False
    reduce = "max"
    message = "uint64"

    def gather(source, weight, target, world):
        return hpg.random_bits(world.seed, source.id, world.superstep)

    def edge_cond(source, weight, target, world):
        return hpg.uniform32(world.seed + 1, source.id * 1000 + target.id, world.superstep) < world.chance

    def cond(vertex, world):
        return vertex.arrived < 0 and vertex.id % 7 != world.superstep

    def update(vertex, message, world):
        return world.superstep, float(message >> 11) + hpg.uniform(world.seed, vertex.id, world.superstep)

    def sends(before, vertex, world):
        return hpg.uniform(world.seed + 2, vertex.id, world.superstep) < 0.9


def rumour(graph, seed):
    """The same in plain Python."""
    arrived, drawn = np.full(200, -1), np.zeros(200)
    arrived[3], active, step = 0, [3], 0
    while active:
        step += 1
        best = {}
        for u in active:
            for v in graph.indices[graph.indptr[u] : graph.indptr[u + 1]].tolist():
                chance = (philox(seed + 1, u * 1000 + v, step) >> 40) / 2**24
                if chance < 0.5 and arrived[v] < 0 and v % 7 != step:
                    best[v] = max(best.get(v, 0), philox(seed, u, step))
        for v, message in best.items():
            arrived[v], drawn[v] = step, float(message >> 11) + (philox(seed, v, step) >> 11) / 2**53
        active = [v for v in best if (philox(seed + 2, v, step) >> 11) / 2**53 < 0.9]
    return arrived, drawn


@pytest.mark.parametrize("direction", ["push", "pull"])
def test_a_program_that_draws_repeats_for_a_seed(direction, device):
    G = hpg.Graph(SMALL, directed=True).to(device)
    for seed in (1, 2**40 + 5):
        found = hpg.run(Rumour, G, active=[3], direction=direction, seed=seed)
        arrived, drawn = rumour(SMALL, seed)
        assert (to_device(found.arrived, "cpu") == arrived).all() and (to_device(found.drawn, "cpu") == drawn).all()
        assert (arrived > 1).any()
    assert "reads the world" in found.trace.loop
