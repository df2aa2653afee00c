"""The code of pages: what a slow decoder, written from its description, reads out of them, and what damage does."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from raising import raises

from hpgraph.core.errors import DamagedPageError
from hpgraph.formats import CSR
from hpgraph.kernels.pages import cut, decode, encode
from hpgraph.kernels.pages.cpu_gaps import ALL, decode_gaps
from hpgraph.kernels.pages.gaps import word_bits


def slowly(stored, count, columns):
    """The ids of a page, bit by bit."""
    bits = word_bits(columns)
    groups, blocks = -(-count // 512), -(-count // 32)
    directory = np.frombuffer(stored[: 8 * groups], "<u4").reshape(-1, 2).tolist()
    headers = np.frombuffer(stored[8 * groups : 8 * groups + 2 * blocks], "<u2").tolist()
    begin = (8 * groups + 2 * blocks + 7) // 8 * 8
    ids = []
    for block, header in enumerate(headers):
        if block % 16 == 0:
            at, id = directory[block // 16]
            at = begin + 4 * at
        width, fold, beyond, upper = header & 31, header >> 5 & 1, header >> 6 & 31, header >> 11
        low = int.from_bytes(stored[at : at + 4 * width], "little")
        at += 4 * width
        gaps = [low >> i * width & (1 << width) - 1 for i in range(32)]
        if beyond:
            which = int.from_bytes(stored[at : at + 4], "little")
            words = -(-beyond * upper // 32)
            high = int.from_bytes(stored[at + 4 : at + 4 + 4 * words], "little")
            at += 4 + 4 * words
            for k, i in enumerate(i for i in range(32) if which >> i & 1):
                gaps[i] |= (high >> k * upper & (1 << upper) - 1) << width
        for gap in gaps[: count - 32 * block]:
            if fold:
                gap = gap // 2 if gap % 2 == 0 else -(gap + 1) // 2
            id = (id + gap + 1) % (1 << bits)
            ids.append(id)
    return ids


def sequences():
    """Ids as rows of graphs give them: near each other, far apart, in runs, of any number of columns."""
    rng = np.random.default_rng(8)
    for count in (1, 31, 32, 33, 512, 513, 2000):
        for columns in (1, 2, 300, 2**20, 2**31 - 1):
            yield rng.integers(0, columns, count), columns
            yield np.sort(rng.integers(0, columns, count)), columns
            near = np.cumsum(rng.zipf(1.5, count).clip(0, 10**6) * rng.choice([1, 1, 1, -1], count)) % columns
            yield near, columns
    yield np.arange(5000), 5000
    yield np.array([2**31 - 2, 0] * 40), 2**31 - 1


def test_ids_come_back_and_the_description_is_the_format():
    for ids, columns in sequences():
        ids = ids.astype(np.int32)
        stored = encode(ids, columns, "gaps")
        assert len(stored) % 64 == 0
        out = np.full(len(ids) + 1, -7, np.int32)
        assert not decode_gaps(stored, len(ids), columns, (1 << word_bits(columns)) - 1, out, ALL)
        np.testing.assert_array_equal(out[:-1], ids)
        assert out[-1] == -7
        assert slowly(stored.tobytes(), len(ids), columns) == ids.tolist()


def test_gaps_take_fewer_bytes():
    rng = np.random.default_rng(0)
    row, col = np.repeat(np.arange(4000), 64), np.sort(rng.integers(0, 4000, (4000, 64))).ravel()
    csr = CSR.from_coo(row, col, None, (4000, 4000))
    # 64 out of 4000, in order: log2 of their number of choices is 7.4 bits an id.
    assert cut(csr, encoding="gaps").nbytes < 10 / 8 * csr.nnz


@settings(deadline=None, max_examples=300)
@given(st.data())
def test_any_bytes_are_decoded_within_bounds(data):
    count = data.draw(st.integers(1, 1100))
    columns = data.draw(st.sampled_from([1, 5, 1000, 2**31 - 1]))
    stored = encode(np.sort(np.random.default_rng(count).integers(0, columns, count)).astype(np.int32), columns, "gaps")
    if data.draw(st.booleans()):
        stored = np.random.default_rng(data.draw(st.integers(0, 99))).integers(0, 256, len(stored), dtype=np.uint8)
    room = np.zeros(len(stored) + 64, np.uint8)
    length = data.draw(st.integers(0, len(stored)))
    room[:length] = stored[:length]
    for at in data.draw(st.lists(st.integers(0, max(0, length - 1)), max_size=4)):
        room[at] ^= data.draw(st.integers(1, 255))
    out = np.full(count + 8, -7, np.int32)
    wrong = decode_gaps(room[:length], count, columns, (1 << word_bits(columns)) - 1, out[:count], ALL)
    assert (out[count:] == -7).all()
    assert wrong or (out[:count].min() >= 0 and out[:count].max() < columns)


def test_bytes_that_are_no_page_are_named():
    pages = cut(CSR.from_coo(*np.random.default_rng(0).integers(0, 100, (2, 3000)), None, (100, 100)), encoding="gaps")
    pages.stored[8 * -(-pages.nnz // 512) :] = 255
    with pytest.raises(DamagedPageError, match=r"page 0 \(rows 0 to 99\): its bytes are no ids of 0\.\.99"):
        decode(pages, 0, np.empty(pages.nnz, np.int32))


def test_wide_ids_have_no_gaps():
    raises(ValueError, r"fewer than 2\*\*31 columns", encode, np.arange(3), 2**40, "gaps")
    assert len(encode(np.arange(3), 2**40, "none")) == 24


def test_the_gpu_decodes_the_same(device):
    if device == "cpu":
        pytest.skip("compared with the CPU")
    import cupy

    from hpgraph.kernels.pages.cuda import decode_run

    rng = np.random.default_rng(1)
    for ids, columns in sequences():
        csr = CSR((1, columns), [0, len(ids)], ids.astype(np.int32), validate=False)
        pages = cut(csr, arcs_per_page=int(rng.integers(1, 2000)), encoding="gaps")
        out, damaged = cupy.full(len(ids) + 1, -7, np.int32), cupy.zeros(1, np.int32)
        tables = map(cupy.asarray, (pages.stored, pages.offset, pages.first_arc))
        decode_run(*tables, columns, out[:-1], damaged)
        assert (int(damaged[0]), int(out[-1])) == (0, -7)
        np.testing.assert_array_equal(out[:-1].get(), ids)
    for seed in range(50):
        noise = np.random.default_rng(seed).integers(0, 256, len(pages.stored), dtype=np.uint8)
        tables = map(cupy.asarray, (noise, pages.offset, pages.first_arc))
        decode_run(*tables, columns, out[:-1], damaged)
        assert int(out[-1]) == -7 and int(out.min()) >= -7 and int(out[:-1].max()) < columns
