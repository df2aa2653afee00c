"""What is measured: each work's title, how often it is called, and where it is measured by default."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Work:
    """One row of a table.

    ``calls`` is how often it is timed, an odd number, so that the median is one of them; None means once a source.
    ``preparation`` says that others' times include what hpgraph keeps with a graph after its first call, so that the
    first call on a new graph is what compares.
    """

    title: str
    calls: int | None = None
    devices: tuple[str, ...] = ("cpu", "cuda")
    preparation: bool = False


WORKS = {
    "bfs": Work("BFS"),
    "bfs_smallest": Work("BFS, smallest parents", devices=("cuda",)),
    "bfs_row": Work("BFS, 64 sources in a row", 3, devices=("cuda",)),
    "sssp": Work("SSSP"),
    "pagerank": Work("PageRank, 20 iterations", 5),
    "pagerank32": Work("PageRank float32, 20", 5),
    "spmv": Work("SpMV float32", 51),
    "spmv_hyb": Work("SpMV float32, hyb_array", 51),
    "spmv64": Work("SpMV float64", 51),
    "min_plus": Work("SpMV min_plus float32", 51, devices=("cpu",)),
    "lor_land": Work("SpMV lor_land bool", 51, devices=("cpu",)),
    "any_pair": Work("SpMV any_pair, half a vector", 51, devices=("cpu",)),
    "plus_pair": Work("SpMV plus_pair, half a vector", 51, devices=("cpu",)),
    "triangles": Work("triangles", 3, preparation=True),
    "build": Work("graph from CSR", 5),
}
SEMIRINGS = ("min_plus", "lor_land", "any_pair", "plus_pair")


def default(device: str) -> list[str]:
    """The works measured on a device when none are named."""
    return [name for name, work in WORKS.items() if device in work.devices]
