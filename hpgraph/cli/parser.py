"""The command line: commands and their arguments."""

import argparse
import difflib
import re
from typing import Any, NoReturn

from hpgraph import __version__


class _Parser(argparse.ArgumentParser):
    """Suggests the choices nearest to an invalid one; argparse lists them all."""

    def error(self, message: str) -> NoReturn:
        match = re.search(r"invalid choice: '([^']*)' \(choose from (.*)\)", message)
        near = difflib.get_close_matches(match[1], re.findall(r"[\w-]+", match[2]), n=2) if match else []
        if match and near:
            message = f"{message[: match.start()]}no {match[1]!r} is known: did you mean {' or '.join(near)}?"
        super().error(message)


def _count(text: str) -> int:
    """How many: a whole number that is not negative."""
    if not re.fullmatch(r"[0-9]{1,18}", text):
        raise argparse.ArgumentTypeError(f"must be a whole number from 0 on, not {text!r}")
    return int(text)


def _flag(about: str) -> dict[str, Any]:
    return {"action": "store_true", "help": about}


def _value(metavar: str, default: Any, about: str, kind: Any = None) -> dict[str, Any]:
    kind = kind or type(default)
    return {"metavar": metavar, "default": default, "type": kind, "help": f"{about} (default: %(default)s)"}


def _given(metavar: str, about: str) -> dict[str, Any]:
    return {"required": True, "metavar": metavar, "help": about}


def _choice(about: str, *choices: str) -> dict[str, Any]:
    """One of some words; by default the first."""
    return {"choices": choices, "default": choices[0], "help": f"{about} (default: %(default)s)"}


_DEVICES = ("cpu", "cuda")
# Options by name; what follows a colon distinguishes those of one name.
_OPTIONS = {
    "alpha": _value("A", 0.1, "what each arc counts"),
    "compression": {"choices": ["gaps", "none"], "help": "how ids are stored (default: gaps)"},
    "count": _value("N", 1000, "how many walks"),
    "damping": _value("D", 0.85, "damping factor, of messages too"),
    "device": {"choices": _DEVICES, "help": "for one device only (default: all there are)"},
    "explain": _flag("print what each superstep did"),
    "fanouts": _value("K", "10,10", "how many at each hop"),
    "form": _choice("of directed graphs", "networkx", "ldbc"),
    "harmonic": _flag("harmonic centrality: the sum of 1 / distance"),
    "incoming": _flag("by arcs that reach a vertex"),
    "jobs": {"type": int, "metavar": "N", "help": "processes that compile (default: one a thread)"},
    "keep": _flag("vertices keep the labels they have"),
    "labels": _given("CSV", "what is known: columns vertex and label"),
    "laplacian": _choice("what heat follows", "combinatorial", "normalized", "random-walk"),
    "largest": _flag("of the largest connected component alone"),
    "length": _value("N", 10, "steps of each walk"),
    "links": _flag("only vertices that no edge joins to it yet"),
    "max-iteration": _value("N", 100, "give up after N"),
    "measure": _choice("what is compared", "jaccard", "overlap", "sorensen", "cosine", "common_neighbors",
                       "adamic_adar", "resource_allocation"),
    "method": _choice("how they are found", "leiden", "louvain", "labels", "cdlp"),
    "p": _value("P", 1.0, "divides the chance to return"),
    "potential": _given("P", "of neighbours' states: 2,1;1,2 say"),
    "product": _choice("marginals, or the likeliest", "sum", "max"),
    "q": _value("Q", 1.0, "divides the chance to go on away"),
    "replace": _flag("an arc may be drawn more than once"),
    "resolution": _value("R", 1.0, "above 1, smaller ones"),
    "seed": _value("S", 0, "of chance"),
    "source:path": _given("V", "where it begins: a name, or a number"),
    "sources": {"type": int, "metavar": "N", "help": "only N vertices, or paths from N vertices, drawn"},
    "strategy": _choice("the order of the vertices", "largest_first", "smallest_last", "random_sequential"),
    "strong": _flag("by arcs as they point, there and back"),
    "target": _given("V", "where it ends"),
    "time": _value("T", 1.0, "for how long"),
    "tol": _value("T", 1e-6, "change to stop at"),
    "top": _value("N", 10, "print the N first", _count),
    "unary": _given("CSV", "weight of each state: vertex, a column a state"),
    "weighted": _flag("weights count, where there are any"),
    "weighted:drawn": _flag("arcs are drawn by their weights"),
    "weighted:lengths": _flag("an arc counts its weight, not 1"),
    "weighted:sent": _flag("weights multiply the values sent along arcs"),
}  # fmt: skip
# Name, what the command is about, what it takes (FILE and reading, a device, an output for
# each vertex too) and its options: "start" are those of a vertex to start from, "top=0" has another default.
_COMMANDS = (
    ("info", "what a graph file holds", "graph", ""),
    ("convert", "write a graph in another format; as .hpg it need not fit into memory", "graph", "OUT compression"),
    ("bfs", "steps from a source to every vertex", "compute", "start explain"),
    ("sssp", "lengths of the shortest paths from a source", "compute", "start explain"),
    ("path", "a shortest path from one vertex to another", "placed", "source:path target weighted:lengths"),
    ("degree", "degree centrality of every vertex", "compute", "top"),
    ("heat", "heat that spreads from a vertex along arcs", "compute", "start time laplacian top weighted:sent"),
    ("similar", "the most similar vertices, by common neighbours", "compute", "start measure links incoming top"),
    ("walks", "where random walks from a vertex lead", "compute", "start count length p q seed weighted:drawn top"),
    ("sample", "neighbours of a vertex, drawn hop by hop", "compute",
     "start fanouts replace incoming seed weighted:drawn"),
    ("labels", "labels of some vertices for all of them", "compute", "labels keep weighted"),
    ("beliefs", "how likely vertices are in each of some states", "compute",
     "unary potential product damping=0.0 weighted"),
    ("pagerank", "PageRank of every vertex", "compute", "top damping tol max-iteration explain"),
    ("triangles", "the number of triangles", "compute", "top=0"),
    ("closeness", "closeness of vertices: how near they are to all", "compute",
     "harmonic sources seed=7 top weighted:lengths"),
    ("betweenness", "betweenness: shortest paths by way of vertices", "compute", "sources seed=7 top weighted:lengths"),
    ("diameter", "the largest distance, the least eccentricity", "placed", "largest weighted:lengths"),
    ("eigenvector", "eigenvector centrality of every vertex", "compute", "tol max-iteration top weighted:sent"),
    ("katz", "Katz centrality of every vertex: walks that end there", "compute",
     "alpha tol max-iteration=1000 top weighted:sent"),
    ("hits", "hubs and authorities", "compute", "tol=1e-8 max-iteration top weighted:sent"),
    ("clustering", "clustering coefficients: are neighbours joined", "compute", "form weighted top=0"),
    ("cores", "core numbers: the largest k of a k-core with the vertex", "compute", "top=0"),
    ("colors", "a colour for each vertex, other than its neighbours'", "compute", "strategy seed"),
    ("communities", "groups with many edges inside, few between", "compute", "method resolution seed weighted top"),
    ("truss", "truss numbers: edges that lie in many triangles", "compute", "top=0"),
    ("independent", "a set without neighbours that cannot grow", "compute", "seed"),
    ("matching", "pairs of neighbours, until no two are left", "compute", "seed"),
    ("forest", "the edges of least weight that join all there is to join", "placed", ""),
    ("components", "connected components", "compute", "strong top=5"),
    ("cuts", "bridges and articulation points", "compute", ""),
    ("bipartite", "whether the graph has two sides", "compute", ""),
    ("order", "a topological order of a graph without cycles", "compute", "weighted:lengths"),
    ("warmup", "compile the built-in kernels, so that no later call waits", "run", "device jobs"),
    ("completion", 'what makes a shell complete commands: eval "$(hpgraph completion bash)"', "run", "SHELL"),
)  # fmt: skip


def parser() -> argparse.ArgumentParser:
    """The argument parser of the command line."""
    top = _Parser(
        prog="hpgraph",
        description="Graph analytics on CPU and GPU.",
        epilog="FILE: .mtx (Matrix Market), .el .wel .txt .tsv .csv (edge lists), .parquet .arrow .feather, "
        ".graphml, .dot .gv (Graphviz), .gml .gexf .net (Pajek) .json (by NetworkX), .gt, .graph (METIS), .gr .col "
        "(DIMACS), .sg .wsg (GAPBS), .v .e (Graphalytics), text also with .gz or .zst, .npz "
        "(SciPy sparse array), .hpg (hpgraph's own); a URL; - for an edge list on standard input; or the word debian "
        "for the bundled graph. 'hpgraph COMMAND --help' says more.",
    )
    top.add_argument("--version", action="version", version=f"hpgraph {__version__}")
    names = top.add_subparsers(title="commands", metavar="COMMAND", required=True)

    run = argparse.ArgumentParser(add_help=False)
    run.add_argument("--debug", action="store_true", help="show the traceback of an error")
    run.add_argument("--no-progress", action="store_true", help="no progress bar on long reads")
    run.add_argument("--threads", type=int, metavar="N", help="threads of the CPU kernels (default: all cores)")

    graph = argparse.ArgumentParser(add_help=False, parents=[run])
    graph.add_argument("file", metavar="FILE", help="graph file, URL, - or debian")
    direction = graph.add_mutually_exclusive_group()
    direction.add_argument("--directed", dest="directed", action="store_true", default=None, help="take edges as arcs")
    direction.add_argument("--undirected", dest="directed", action="store_false", help="take arcs in both directions")
    graph.add_argument("--reverse", "--transpose", action="store_true", help="turn all arcs round")
    graph.add_argument("--memory", metavar="M", help="what reading may take, 4GiB say (default: 3/4 of what is free)")
    graph.add_argument(
        "--duplicates", choices=["min", "max", "sum", "first", "keep", "error"],
        help="weight of edges given twice (default: min)",
    )  # fmt: skip
    graph.add_argument("--delimiter", metavar="C", help="what separates the fields of an edge list (default: found)")
    graph.set_defaults(device="cpu", output=None, weighted=False, explain=False, top=0)

    placed = argparse.ArgumentParser(add_help=False, parents=[graph])
    placed.add_argument("--device", choices=_DEVICES, default="cpu", help="where to compute (default: cpu)")
    compute = argparse.ArgumentParser(add_help=False, parents=[placed])
    compute.add_argument(
        "-o", "--output", metavar="OUT",
        help="write a value per vertex: .csv, .csv.gz, .npz, .parquet, .feather; - is standard output",
    )  # fmt: skip

    parents: dict[str, Any] = {"run": run, "graph": graph, "placed": placed, "compute": compute}
    for name, about, takes, options in _COMMANDS:
        parent, description = parents[takes], f"{about[0].upper()}{about[1:]}."
        one = names.add_parser(name, help=about, description=description, parents=[parent])
        one.set_defaults(command=name, parser=top)
        for option in options.split():
            _add(one, option)
        if name in ("sssp", "forest"):
            # These commands read the weights of the bundled graph.
            one.set_defaults(weighted=True)
    return top


def _add(command: argparse.ArgumentParser, option: str) -> None:
    word, _, default = option.partition("=")
    if word == "start":
        start = command.add_mutually_exclusive_group(required=True)
        start.add_argument("--source", metavar="V", help="where to start: a name, or a number if there are no names")
        start.add_argument("--source-id", type=int, metavar="I", help="where to start: the I-th vertex, counted from 0")
    elif word == "OUT":
        command.add_argument("target", metavar="OUT", help="the file; its suffix selects the format")
    elif word == "SHELL":
        command.add_argument("shell", choices=["bash", "zsh", "fish"])
    else:
        settings = _OPTIONS[word]
        changed = {"default": settings["type"](default)} if default else {}
        command.add_argument(f"--{word.partition(':')[0]}", **{**settings, **changed})
