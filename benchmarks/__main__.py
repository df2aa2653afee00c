"""The benchmarks' command line: a word for what to measure, then its own options."""

import importlib
import sys
from collections.abc import Sequence

COMMANDS = {
    "cpu": ("compare", "hpgraph beside other libraries on the CPU"),
    "kinds": ("compare", "the same on kinds of graphs that no constant was fitted to"),
    "gpu": ("compare", "the same on the GPU"),
    "show": ("compare", "print the tables of a JSON file that was saved"),
    "memory": ("memory", "peak memory of each algorithm, by vertices and arcs"),
    "ablation": ("ablation", "each technique switched off, and the time without it"),
    "lanes": ("lanes", "many searches at once beside single ones and other libraries"),
    "centralities": ("centralities", "parts, iterated centralities and clustering beside other libraries"),
    "structures": ("structures", "cores, trusses, forests, sets, colours and searches in depth beside other libraries"),
    "communities": ("communities", "Louvain, Leiden and labels beside other libraries"),
    "planted": ("planted", "how much searches find of communities that were planted, beside other libraries"),
    "objectives": ("objectives", "objectives of communities on twenty graphs, beside other libraries"),
    "similarity": ("similarity", "neighbourhoods compared, beside other libraries"),
    "csgraph": ("csgraph", "the functions of scipy.sparse.csgraph, SciPy's and hpgraph's"),
    "embeddings": ("embeddings", "embeddings by how well they predict edges, beside other libraries"),
    "families": ("families", "flows of least cost, trees, hashes and the like beside other libraries"),
    "temporal": ("temporal", "paths and motifs in time on generated contacts"),
    "training": ("training", "GraphSAGE on sampled neighbours, by several loaders and layers"),
    "torch": ("sparse_torch", "sparse operations on PyTorch tensors beside PyTorch's and others"),
    "sampling": ("similarity", "random walks and samples of neighbours, beside other libraries"),
    "beyond-memory": ("beyond_memory", "topology larger than its memory, streamed from host memory and from a disk"),
    "layouts": ("layouts", "products of many kinds of matrices in every layout, beside cuSPARSE"),
    "pages": ("page_code", "the code of pages beside plain ids: bytes an arc, and rates"),
    "constants": ("constants", "each constant that a rule chooses, swept beside the rule"),
    "scaling": ("scaling", "times and efficiency from one thread to many"),
    "scaling-out": ("scaling_out", "graphs in blocks on the workers of a cluster, and what the model predicts"),
    "comms": ("comms", "an exchange of arrays between two workers: hpgraph's sockets and distributed's comms"),
    "all-gather": ("all_gather", "what GPUs pay for telling each other something: NCCL, copies, writes by kernels"),
    "several-gpus": ("several_gpus", "one GPU beside several: times, and how many times as fast"),
    "networkx": ("networkx_backend", "the backend of NetworkX beside NetworkX alone"),
    "startup": ("startup", "import, first calls and compilation in new processes"),
}


def main(words: Sequence[str] | None = None) -> int:
    """Run one of the `COMMANDS`; list them when none is named.

    Returns
    -------
    int
        The exit status: 1 when an answer was wrong or a bound was passed, else 0.
    """
    words = list(sys.argv[1:] if words is None else words)
    if not words or words[0] in ("-h", "--help"):
        lines = [f"  {name:15}{what}" for name, (_, what) in COMMANDS.items()]
        print("\n".join(["python -m benchmarks COMMAND [options]", *lines, "", "COMMAND --help lists its options"]))
        return 0
    if words[0] not in COMMANDS:
        print(f"no command is called {words[0]!r}; there are {', '.join(COMMANDS)}", file=sys.stderr)
        return 2
    module = importlib.import_module(f".{COMMANDS[words[0]][0]}", __package__)
    status: int = module.main(words)
    return status


if __name__ == "__main__":
    sys.exit(main())
