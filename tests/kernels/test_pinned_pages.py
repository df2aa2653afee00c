"""What the GPU is to read of pages: the right bytes, out of memory that is pinned by itself."""

import ctypes
import gc
import weakref

import numpy as np
import pytest
import scipy.sparse

import hpgraph as hpg
from hpgraph.core.device import cuda_available
from hpgraph.kernels.out_of_core import cuda_host
from hpgraph.kernels.out_of_core.runs import Run
from hpgraph.kernels.pages import cut
from hpgraph.kernels.sweep.cuda import _captured


@pytest.fixture
def pages():
    matrix = scipy.sparse.random_array((90, 90), density=0.1, format="csr", rng=np.random.default_rng(4))
    return cut(hpg.Graph(matrix).out_csr, arcs_per_page=64)


def bytes_at(address, nbytes):
    return ctypes.string_at(int(address), int(nbytes))


@pytest.mark.parametrize("host_memory", [None, 0])
def test_the_bytes_of_runs(pages, host_memory, monkeypatch):
    monkeypatch.setattr(cuda_host, "addressed", lambda nbytes: np.full(nbytes, 255, np.uint8))
    given, buffers = cuda_host.HostPages(pages, host_memory), [np.full(1 << 13, 255, np.uint8) for _ in range(2)]
    assert given.resident == (host_memory is None)
    run, offset, first_arc = Run(2, 7), pages.offset, pages.first_arc
    at = given.place(run, [(2, 4), (5, 7)], buffers[0])
    for page in (2, 3, 5, 6):
        assert bytes_at(at + offset[page] - offset[2], offset[page + 1] - offset[page]) == bytes(pages.payload(page))
    expected = pages.values[first_arc[2] : first_arc[7]].tobytes()
    at_values = given.place_of_values(run, buffers[1])
    assert bytes_at(at_values, len(expected)) == expected
    if host_memory == 0:
        assert (at, at_values) == tuple(buffer.ctypes.data for buffer in buffers)


@pytest.mark.skipif(not cuda_available(), reason="no CUDA GPU here")
def test_arrays_are_copied_rather_than_pinned_where_they_are(pages, monkeypatch):
    import cupy

    def is_pinned(address):
        return cupy.cuda.runtime.pointerGetAttributes(int(address)).type == 1  # cudaMemoryTypeHost

    unpin, unpinned = cuda_host._unpin, []
    monkeypatch.setattr(cuda_host, "_unpin", lambda *what: (unpin(*what), unpinned.append(what[0])))
    given = cuda_host.HostPages(pages, None)
    at = given.addresses[0], given.values.data.ptr
    assert all(map(is_pinned, at))
    assert not is_pinned(pages.stored.ctypes.data) and not is_pinned(pages.values.ctypes.data)
    assert (cupy.asarray(pages.values).get() == pages.values).all()
    del given
    gc.collect()
    assert len(unpinned) == 2, "it is given back"


@pytest.mark.skipif(not cuda_available(), reason="no CUDA GPU here")
def test_nothing_is_unpinned_while_launches_are_captured():
    """It would wait for the device, and so end the capture; garbage may hold pages whenever it is collected."""
    import cupy

    pinned, array, limits = [cuda_host.Pinned(8)], cupy.zeros(5), gc.get_threshold()
    array += 1
    seen = weakref.ref(pinned[0])
    there = []

    def work():
        cycle = [pinned.pop()]
        cycle.append(cycle)
        del cycle
        there.append([[] for _ in range(100)])
        there.append(seen() is not None)
        array.__iadd__(1)

    gc.set_threshold(10)
    try:
        graph, _ = _captured(work)
    finally:
        gc.set_threshold(*limits)
    graph.launch(cupy.cuda.get_current_stream())
    gc.collect()
    assert there[1] and seen() is None and (array == 2).all()
