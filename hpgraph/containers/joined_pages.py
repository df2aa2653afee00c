"""Pages, or some of their arcs, as one matrix whose rows are what kernels rely on."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np

from hpgraph.core.config import config
from hpgraph.core.errors import FileFormatError
from hpgraph.formats import CSR, Pages
from hpgraph.kernels.backend import kernels
from hpgraph.kernels.pages import decode


def joined(pages: Pages, *, symmetric: bool = False) -> CSR:
    """The whole matrix, which is checked: checksums, ids, order, and on demand symmetry."""
    indptr = pages.indptr
    ids = np.empty(pages.nnz, pages.id_dtype)
    values = None if pages.dtype is None else np.empty(pages.nnz, pages.dtype)

    def bring(page: int) -> None:
        arcs = slice(int(pages.first_arc[page]), int(pages.first_arc[page + 1]))
        stored = pages.payload(page)
        pages.check(page, stored)
        decode(pages, page, ids[arcs], payload=stored)
        held = pages.values_of(page)
        if values is not None and held is not None:
            pages.check(page, held, values=True)
            values[arcs] = held

    with ThreadPoolExecutor(config.threads) as threads:
        for _ in threads.map(bring, range(pages.n_pages)):
            pass
    return checked(CSR(pages.shape, indptr, ids, values, validate=False), symmetric, pages.origin)


def checked(csr: CSR, symmetric: bool, origin: str) -> CSR:
    """A matrix that was put together from pages, if its rows are what kernels rely on."""
    if not (kernels(csr.device).is_symmetric(csr) if symmetric else csr.is_canonical()):
        wrong = "ids do not rise within every row"
        if csr.is_canonical():
            wrong = "it is called undirected, and some arc lacks its reverse of the same weight"
        raise FileFormatError(origin, f"{wrong}: it is damaged; save the graph again, or convert its source")
    return csr
