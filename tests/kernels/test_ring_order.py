"""Window buffers on the GPU: memory that no pending work uses, whatever else runs on the device."""

import numpy as np
import pytest
import scipy.sparse
from busy_stream import made_ready, spin

import hpgraph as hpg
from hpgraph.core.device import cuda_available
from hpgraph.kernels.backend import windows
from hpgraph.kernels.out_of_core.runs import most_stored
from hpgraph.kernels.pages import cut

pytestmark = pytest.mark.skipif(not cuda_available(), reason="no CUDA GPU here")


@pytest.fixture(scope="module")
def pages():
    matrix = scipy.sparse.random_array((900, 900), density=0.2, format="csr", rng=np.random.default_rng(4))
    return cut(hpg.Graph(matrix, directed=True).out_csr.with_data(None), arcs_per_page=8000)


@pytest.fixture
def store(pages):
    """A store that has everything but its ring, and keeps no page; of a window there is a page."""
    import cupy

    made = windows("cuda").PageStore(pages, windows("cuda").least_memory(pages), window_bytes=1)
    # Whatever is made only when it is asked for, and would wait for the device.
    made_ready()
    _ = made.host.addresses, made._tables, made._memory, made._damaged, made._streams
    cupy.cuda.Device().synchronize()
    yield made
    made.close()


def brought(tiles):
    """The first page of a window, as it lies on the device once all that the current stream has to do is done."""
    import cupy

    page = tiles.run[0]
    found = np.empty(int(np.diff(tiles.pages.offset)[page]), np.uint8)
    cupy.cuda.runtime.memcpy(found.ctypes.data, int(tiles.places[0]), found.nbytes, 2)
    return bytes(found), bytes(tiles.pages.payload(page))


def test_memory_that_is_still_written_to(store, pages):
    """A ring is made of memory that has been freed, though kernels that were launched before still write there."""
    import cupy

    freed = [cupy.zeros(most_stored(pages, store.window_arcs), np.uint8) for _ in range(8)]
    addresses = {array.data.ptr for array in freed}
    for array in freed:
        array.fill(255)
    cupy.cuda.Device().synchronize()
    spin()
    for array in freed:
        array.fill(255)
    del array, freed
    for tiles in store.windows(store.survey(None)):
        found, expected = brought(tiles)
        assert found == expected, tiles.run
    assert {slot.stored.data.ptr for slot in store._ring} <= addresses


def test_a_window_that_is_left_while_it_is_read(store, pages):
    """A caller that stops iterating over windows has launched kernels that still read the last one."""
    import cupy

    parts = store.windows(store.survey(None))
    tiles = next(parts)
    size = int(np.diff(pages.offset)[0])
    seen = cupy.empty(size, np.uint8)
    cupy.cuda.Device().synchronize()
    spin()
    cupy.cuda.runtime.memcpyAsync(seen.data.ptr, int(tiles.places[0]), size, 3, cupy.cuda.get_current_stream().ptr)
    # Python 3.12 keeps what a closed generator refers to.
    del parts
    later = store._loaded(np.arange(1, pages.n_pages), True)
    next(later)
    assert bytes(seen.get()) == bytes(pages.payload(0))


def test_abandoned_windows(store):
    """A copy in flight when iteration stops completes before the next use of its buffer."""
    import cupy

    # The fourth window goes into the first one's buffer, over the other stream.
    store._slots = 3
    parts = store.windows(store.survey(None))
    next(parts)
    cupy.cuda.Device().synchronize()
    with store._streams[1]:
        spin()
    next(parts)
    del parts
    again = store.windows(store.survey(None))
    tiles = next(again)
    cupy.cuda.Device().synchronize()
    found, expected = brought(tiles)
    assert found == expected
