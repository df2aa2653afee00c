"""Products by rows on every device, held against NumPy and SciPy; masks of every kind: `algebra/test_mxv.py`."""

import numpy as np
import pytest
import scipy.sparse as sp
from arrays import host, put

from hpgraph import config
from hpgraph.formats import CSR, HYB, Bitmask
from hpgraph.kernels.backend import kernels
from hpgraph.semiring import get_binary, get_semiring


def random_values(rng, count, dtype):
    dtype = np.dtype(dtype)
    if dtype.kind == "b":
        return rng.random(count) < 0.6
    if dtype.kind == "c":
        return (rng.integers(-20, 20, count) + 1j * rng.integers(-20, 20, count)).astype(dtype)
    if dtype.kind == "f":
        # Halves add up exactly, so that the order of a sum does not matter.
        return (rng.integers(-20, 20, count) / 2).astype(dtype)
    return rng.integers(0 if dtype.kind == "u" else -50, 100, count).astype(dtype)


def random_rows(rng, shape, dtype, density=0.1, ids=np.int32):
    """A CSR with some empty rows, one long row and values of any kind, zero included."""
    pattern = rng.random(shape) < density
    pattern[::7] = False
    if shape[0] > 3:
        pattern[3] = rng.random(shape[1]) < 0.9
    indptr = np.concatenate(([0], np.cumsum(pattern.sum(axis=1)))).astype(np.int64)
    indices = np.nonzero(pattern)[1].astype(ids)
    data = None if dtype is None else random_values(rng, len(indices), dtype)
    return CSR(shape, indptr, indices, data)


def run(device, csr, semiring, x, out, *, form="csr", active=None, mask=None):
    """`pull` on a device, sets given as flags; returns the result and the rows that received, on the host."""
    ring = get_semiring(semiring)
    rows = (HYB.from_csr(csr, width=3) if form == "hyb" else csr).to(device)
    weight = out.dtype if csr.data is None else csr.data.dtype
    gather = ring.gather(weight, x.dtype, out.dtype)
    moved = {name: put(device, value) for name, value in (("x", x), ("out", out.copy()))}
    received = Bitmask.full(len(out), device=device)
    flags = {name: None if given is None else Bitmask.from_bool(given).to(device) for name, given in
             (("active", active), ("mask", mask))}  # fmt: skip
    kernels(device).pull(rows, gather, ring.add, (moved["x"],), moved["out"], received=received, **flags)
    return host(moved["out"]), host(received.to_bool())


@pytest.mark.parametrize(("form", "semiring"), [("csr", "plus_times"), ("hyb", "min_plus")])
def test_hub(device, form, semiring):
    rng = np.random.default_rng(6)
    hub, n = 200_000, 200_100
    others = rng.integers(0, 20, 99)
    lengths = np.concatenate((others[:50], [hub], others[50:]))
    indptr = np.concatenate(([0], np.cumsum(lengths))).astype(np.int64)
    indices = np.concatenate([np.sort(rng.choice(n, size, replace=False)) for size in lengths]).astype(np.int32)
    csr = CSR((100, n), indptr, indices, random_values(rng, len(indices), np.float32))
    x = random_values(rng, n, np.float32)
    result, received = run(device, csr, semiring, x, np.zeros(100, np.float32), form=form)
    with np.errstate(all="ignore"):
        sent = csr.data * x[indices] if semiring == "plus_times" else csr.data + x[indices]
    for v in range(100):
        mine = sent[indptr[v] : indptr[v + 1]]
        if semiring == "plus_times":
            assert result[v] == mine.astype(np.float64).sum()
        else:
            assert result[v] == (mine.min() if len(mine) else np.inf)
    np.testing.assert_array_equal(received, lengths > 0)
    # A mask that forbids the hub, and an active set that leaves it one message.
    mask = np.arange(100) != 50
    active = np.zeros(n, bool)
    active[indices[indptr[50] + hub // 2]] = True
    forbidden, _ = run(device, csr, semiring, x, np.full(100, 7, np.float32), form=form, mask=mask)
    assert forbidden[50] == 7
    lone, received = run(device, csr, semiring, x, np.zeros(100, np.float32), form=form, active=active)
    assert lone[50] == sent[indptr[50] + hub // 2]
    assert received[50]


@pytest.mark.parametrize("some", [False, True])
def test_kernels_for_few_entries_find_the_same(monkeypatch, some):
    rng = np.random.default_rng(3)
    csr = random_rows(rng, (60, 200), "float32")
    x, out = random_values(rng, 200, "float32"), random_values(rng, 60, "float32")
    sets = {"active": rng.random(200) < 0.4, "mask": rng.random(60) < 0.7} if some else {}
    found = [run("cpu", csr, "min_plus", x, out, **sets)]
    for bound in ("FEW", "SERIAL"):
        monkeypatch.setattr(f"hpgraph.kernels.spmv.cpu.{bound}", 0)
        found.append(run("cpu", csr, "min_plus", x, out, **sets))
    for result, received in found[1:]:
        np.testing.assert_array_equal(result, found[0][0])
        np.testing.assert_array_equal(received, found[0][1])


@pytest.mark.parametrize("form", ["csr", "hyb"])
def test_same_bits_every_time(device, form):
    rng = np.random.default_rng(9)
    lengths = np.concatenate(([90_000], rng.integers(0, 60, 3000)))
    indptr = np.concatenate(([0], np.cumsum(lengths))).astype(np.int64)
    indices = rng.integers(0, 5000, indptr[-1]).astype(np.int32)
    csr = CSR((3001, 5000), indptr, indices, rng.random(len(indices)).astype(np.float32))
    x = rng.random(5000).astype(np.float32)
    results = []
    for threads in (1, 2, 2):
        with config(threads=threads):
            results.append(run(device, csr, "plus_times", x, np.zeros(3001, np.float32), form=form)[0])
    for other in results[1:]:
        np.testing.assert_array_equal(results[0], other)
    exact = np.add.reduceat(csr.data.astype(float) * x[indices], indptr[:-1][lengths > 0])
    np.testing.assert_allclose(results[0][lengths > 0], exact, rtol=1e-5)


@pytest.mark.parametrize(
    ("semiring", "dtype"),
    [
        ("plus_pair", "bool"), ("plus_pair", "uint8"), ("any_pair", "int64"), ("max_pair", "float32"),
    ],
)  # fmt: skip
def test_ones_from_lengths_of_rows(device, semiring, dtype):
    rng = np.random.default_rng(5)
    for width in (40, 400):
        csr = random_rows(rng, (70, width), dtype)
        if width == 400:
            # No row is empty.
            pattern = np.ones((70, width), bool)
            pattern[:, 1:] = rng.random((70, width - 1)) < 0.2
            indptr = np.concatenate(([0], np.cumsum(pattern.sum(axis=1)))).astype(np.int64)
            csr = CSR((70, width), indptr, np.nonzero(pattern)[1].astype(np.int32), None)
        ring = get_semiring(semiring)
        x = put(device, np.ones(width, dtype))
        gather = ring.gather("bool" if csr.data is None else dtype, dtype)
        out = put(device, random_values(rng, 70, gather.dtype))
        kernels(device).pull(csr.to(device), gather, ring.add, (x,), out)
        identity, counts = ring.add.identity_for(gather.dtype), np.diff(csr.indptr)
        wanted = np.where(counts > 0, gather.dtype.type(1), identity)
        if semiring == "plus_pair" and gather.dtype.kind != "b":
            wanted = counts.astype(gather.dtype)
        np.testing.assert_array_equal(host(out), wanted.astype(gather.dtype))


@pytest.mark.parametrize(("semiring", "dtype"), [("plus_pair", "int8"), ("min_pair", "float32")])
@pytest.mark.parametrize("kind", ["long rows", "short rows", "hubs"])
def test_pairs_with_some_active(device, semiring, dtype, kind):
    """Counts that wrap around to the identity, and identities other than 0, still mark the rows that received."""
    rng = np.random.default_rng(9)
    rows, columns, density = {"long rows": (3000, 2000, 0.03), "short rows": (20_000, 2000, 0.001),
                              "hubs": (1500, 40_000, 0.001)}[kind]  # fmt: skip
    active = rng.random(columns) < 0.2
    pattern = sp.random(rows, columns, density, "lil", bool, rng)
    pattern[1234] = False
    pattern[1234, np.flatnonzero(active)[:256]] = True
    if kind == "hubs":
        # More than one task, one of them of inactive sources alone.
        pattern[70], pattern[71] = True, ~active
    pattern = pattern.tocsr()
    pattern.eliminate_zeros()
    csr = CSR(pattern.shape, pattern.indptr.astype(np.int64), pattern.indices.astype(np.int32), None)
    count = pattern.astype(np.int64) @ active.astype(np.int64)
    assert count[1234] == 256
    identity = get_semiring(semiring).add.identity_for(dtype)
    expected = count.astype(dtype) if semiring == "plus_pair" else np.where(count > 0, 1, identity).astype(dtype)
    result, received = run(device, csr, semiring, active, np.empty(rows, dtype), active=active)
    np.testing.assert_array_equal(result, expected)
    np.testing.assert_array_equal(received, count > 0)


@pytest.mark.parametrize(("n", "accum"), [(130, "min"), (40_000, None)], ids=["one thread", "many tasks"])
def test_rows_of_one_entry(device, n, accum):
    """Every third group of rows has a longer one, and the last rows are empty."""
    rng = np.random.default_rng(n)
    lengths = rng.integers(0, 2, n)
    lengths[::192] = 3
    lengths[-5:] = 0
    csr = CSR(
        (n, 50),
        np.concatenate(([0], np.cumsum(lengths))),
        rng.integers(0, 50, lengths.sum()).astype(np.int32),
        rng.integers(-9, 9, lengths.sum()),
    )
    x, out = rng.integers(-9, 9, 50), rng.integers(-9, 9, n)
    expected = np.full(n, np.iinfo(np.int64).max)
    np.minimum.at(expected, np.repeat(np.arange(n), lengths), csr.data + x[csr.indices])
    if accum == "min":
        expected = np.minimum(expected, out)
    ring, rows = get_semiring("min_plus"), csr.to(device)
    gather = ring.gather(csr.data.dtype, x.dtype, out.dtype)
    accum = None if accum is None else get_binary(accum)
    # The second time with what the first has found out about overflow.
    for _ in range(2):
        found = put(device, out.copy())
        kernels(device).pull(rows, gather, ring.add, (put(device, x),), found, accum=accum)
        np.testing.assert_array_equal(host(found), expected)
