"""Graphs in pages for tests: in arrays, in files, and encoded, with so little memory that pages must come and go."""

import hpgraph as hpg
from hpgraph.formats import Pages
from hpgraph.formats.file_stretch import FileStretch


def in_file(pages, folder, name):
    """The same pages, in files."""
    made = {}
    for which in ("stored", "values"):
        array = getattr(pages, which)
        if array is not None:
            path = folder / f"{name}.{which}"
            path.write_bytes(b"x" * 8 + array.tobytes())
            made[which] = FileStretch(open(path, "rb"), 8, len(array), array.dtype)  # noqa: SIM115
    return Pages(
        pages.shape, lambda: pages.indptr, pages.first_arc, pages.offset, made["stored"], pages.checksum,
        pages.id_dtype, pages.encoding, made.get("values"), pages.value_checksum, pages.first_row, pages.last_row,
        name,
    )  # fmt: skip


def streamed(matrix, device, place, folder, directed, **budgets):
    """A graph in many pages; by default with room for a few of them."""
    whole = hpg.Graph(matrix, directed=directed)
    options = {"memory": 20_000} | budgets
    encoding = "gaps" if place == "gaps" else "none"
    kept = {} if place == "file" else options
    G = hpg.StreamedGraph.of(whole, arcs_per_page=64, encoding=encoding, device=device, **kept)
    if place != "file":
        return G
    out, into = in_file(G._out, folder, "out"), in_file(G._in, folder, "in") if directed else None
    return hpg.StreamedGraph(out, into, directed=directed, device=device, **options)
