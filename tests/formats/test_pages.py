"""Pages against the CSR that they were cut from."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from raising import raises

from hpgraph.core.errors import DamagedPageError
from hpgraph.formats import CSR, Bitmask, Pages
from hpgraph.formats.pages import cut_points
from hpgraph.kernels.pages import cut, decode


def matrix(seed=0, n=300, entries=4000, hub=900, dtype=None):
    """Rows of all lengths, one of them a hub's."""
    rng = np.random.default_rng(seed)
    row = np.concatenate((rng.integers(0, n, entries) ** 2 // n, np.full(hub, n // 3)))
    data = None if dtype is None else rng.integers(1, 9, row.size).astype(dtype)
    return CSR.from_coo(row, rng.integers(0, n, row.size), data, (n, n), duplicates="first")


def rows_of(csr, page_range):
    """The rows of entries, one by one."""
    owner = np.repeat(np.arange(csr.shape[0]), np.diff(csr.indptr))
    return owner[slice(*page_range)]


@pytest.mark.parametrize("encoding", ["none", "gaps"])
@pytest.mark.parametrize("per_page", [1, 3, 64, 100_000])
def test_pages_hold_the_entries_in_order(per_page, encoding):
    csr = matrix(dtype=np.float32)
    pages = cut(csr, arcs_per_page=per_page, encoding=encoding)
    ids, values = np.empty(pages.nnz, np.int32), np.empty(pages.nnz, np.float32)
    for page in range(pages.n_pages):
        begin, end = pages.first_arc[page], pages.first_arc[page + 1]
        assert 0 < end - begin <= per_page
        held = rows_of(csr, (begin, end))
        assert (pages.first_row[page], pages.last_row[page]) == (held[0], held[-1])
        pages.check(page)
        pages.check(page, values=True)
        assert decode(pages, page, ids[begin:], values[begin:]) == end - begin
    np.testing.assert_array_equal(ids, csr.indices)
    np.testing.assert_array_equal(values, csr.data)
    assert pages.first_row[-1] == csr.shape[0] and pages.nnz == csr.nnz
    if encoding == "none":
        assert pages.nbytes == csr.indices.nbytes + csr.data.nbytes


def test_pages_are_about_equally_full_and_cut_few_rows():
    indptr = np.concatenate(([0], np.random.default_rng(4).zipf(1.7, 20_000).clip(0, 50_000).cumsum()))
    first = cut_points(indptr, 4096)
    filled = np.diff(first)[:-1]
    assert filled.min() >= 4096 * 7 // 8 and filled.max() <= 4096
    # A row that is cut would have left an eighth of the page empty.
    cut_rows = np.searchsorted(indptr, first[1:-1], side="right") - 1
    inside = ~np.isin(first[1:-1], indptr)
    assert (np.diff(indptr)[cut_rows[inside]] > 4096 // 8).all() and inside.sum() < inside.size


@settings(deadline=None, max_examples=60)
@given(st.lists(st.integers(0, 40), max_size=30), st.integers(1, 30), st.sets(st.integers(0, 29)))
def test_pages_of_rows(degrees, per_page, chosen):
    indptr = np.concatenate(([0], np.cumsum(degrees))).astype(np.int64)
    n = len(degrees)
    csr = CSR((n, 40), indptr, np.concatenate([np.arange(d) for d in degrees] or [[]]).astype(np.int32))
    pages = cut(csr, arcs_per_page=per_page)
    chosen = sorted(v for v in chosen if v < n)
    wanted = np.isin(np.repeat(np.arange(n), degrees), chosen)
    expected = [p for p in range(pages.n_pages) if wanted[pages.first_arc[p] : pages.first_arc[p + 1]].any()]
    flags = np.isin(np.arange(n), chosen)
    for rows in (np.array(chosen[::-1] * 2, dtype=np.int32), flags, Bitmask.from_bool(flags)):
        assert pages.pages_of(rows).tolist() == expected


def test_rows_that_are_not_there_are_refused():
    pages = cut(matrix())
    for rows in ([300], [-1], np.zeros(299, bool), Bitmask.zeros(301)):
        raises(IndexError, "rows", pages.pages_of, rows)


def test_empty():
    for n in (0, 5):
        pages = cut(CSR((n, n), np.zeros(n + 1, np.int64), np.empty(0, np.int32)))
        assert (pages.n_pages, pages.nnz, pages.first_row.tolist(), pages.last_row.tolist()) == (0, 0, [n], [])
        assert pages.pages_of(np.arange(n)).tolist() == []


def test_damage_is_named():
    pages = cut(matrix(dtype=np.int64), arcs_per_page=50)
    page = int(pages.pages_of([100])[1])
    stored, values = pages.stored.copy(), pages.values.copy()
    stored[pages.offset[page]] ^= 16
    values[pages.first_arc[page]] += 1
    broken = Pages(
        pages.shape, pages.indptr, pages.first_arc, pages.offset, stored, pages.checksum, pages.id_dtype,
        values=values, value_checksum=pages.value_checksum, origin="web.hpg",
    )  # fmt: skip
    with pytest.raises(DamagedPageError, match=rf"web\.hpg, page {page} \(rows 100 to 100\): the ids") as caught:
        broken.check(page)
    assert (caught.value.page, caught.value.rows) == (page, (100, 100))
    raises(DamagedPageError, "the weights", broken.check, page, values=True)


def test_ids_that_are_not_there_are_refused():
    pages = cut(CSR((3, 3), [0, 2, 3, 4], [1, 2, 0, 1]))
    for id in (-1, 3):
        pages.stored.view(np.int32)[2] = id
        raises(DamagedPageError, r"page 0 .*are no ids of 0\.\.2", decode, pages, 0, np.empty(4, np.int32))


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"indptr": np.array([0, 2, 5, 4])}, "indptr must"),
        ({"first_arc": np.array([0, 2, 2, 4])}, "first_arc must ascend"),
        ({"offset": np.array([0, 8, 12])}, "offset must run"),
        ({"offset": np.array([0, 4, 16])}, "offset must leave 4 bytes"),
        ({"checksum": np.zeros(3, np.uint32)}, "checksum must be uint32"),
        ({"encoding": "zip"}, "encoding must be"),
        ({"id_dtype": np.dtype("int16")}, "id_dtype must be"),
        ({"values": np.zeros(4)}, "must both be given"),
        ({"values": np.zeros(3), "value_checksum": np.zeros(2, np.uint32)}, "values must have one value"),
        ({"first_row": np.array([0, 0, 3]), "last_row": np.array([0, 2])}, "first_row and last_row must be"),
    ],
)
def test_tables_that_do_not_fit_are_refused(changed, message):
    pages = cut(CSR((3, 3), [0, 2, 3, 4], [1, 2, 0, 1]), arcs_per_page=2)
    names = ("shape", "indptr", "first_arc", "offset", "stored", "checksum", "id_dtype")
    given = {name: getattr(pages, name) for name in names} | changed
    if len(given["first_arc"]) == 4:
        given |= {"offset": np.array([0, 8, 8, 16]), "checksum": np.zeros(3, np.uint32)}
    raises(ValueError, message, Pages, **given)


def test_arguments_of_cut():
    with pytest.raises(ValueError, match="encoding must be"):
        cut(matrix(), encoding="zstd")
    with pytest.raises(ValueError, match="arcs_per_page must be at least 1"):
        cut(matrix(), arcs_per_page=0)
