"""Layouts of nonzeros and active sets in memory.

Frozen containers over NumPy or CuPy arrays, the same class for both: `CSR`, `COO`, `ELL`, `HYB`, `SELL` for matrices,
`Bitmask` and `Frontier` for sets of vertices; `Pages`, in host memory or a file, for larger matrices. Nothing here
depends on products or algorithms. Values are optional in every matrix: without them it is a pattern.
"""

from hpgraph.formats.bitmask import Bitmask
from hpgraph.formats.checks import index_dtype
from hpgraph.formats.coo import COO
from hpgraph.formats.csr import CSR
from hpgraph.formats.ell import ELL
from hpgraph.formats.frontier import Frontier
from hpgraph.formats.hyb import HYB, hyb_width
from hpgraph.formats.lengths import Lengths, lengths_of, occurrences
from hpgraph.formats.pages import Pages
from hpgraph.formats.protocol import ROW_FORMATS, Division, RowFormat, Tail
from hpgraph.formats.sell import SELL
from hpgraph.formats.storage import Storage
from hpgraph.formats.storage import attached as attached

__all__ = [
    "COO", "CSR", "ELL", "HYB", "ROW_FORMATS", "SELL", "Bitmask", "Division", "Frontier", "Lengths", "Pages",
    "RowFormat", "Storage", "Tail", "hyb_width", "index_dtype", "lengths_of", "occurrences",
]  # fmt: skip

ROW_FORMATS.update({kind.name: kind for kind in (CSR, HYB, SELL)})
