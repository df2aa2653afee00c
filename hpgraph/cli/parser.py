"""The command line: commands, their arguments, and what runs them."""

from __future__ import annotations

import argparse
import difflib
import re
from collections.abc import Callable
from typing import Any, NoReturn

from hpgraph import __version__
from hpgraph.cli import centralities, commands, connectivity, propagation, random_choices, rankings, structures
from hpgraph.cli.completion import script


class _Parser(argparse.ArgumentParser):
    """Of a word that is no choice it says which was meant; argparse lists them all."""

    def error(self, message: str) -> NoReturn:
        said = re.search(r"invalid choice: '([^']*)' \(choose from (.*)\)", message)
        near = difflib.get_close_matches(said[1], re.findall(r"[\w-]+", said[2]), n=2) if said else []
        if said and near:
            message = f"{message[: said.start()]}no {said[1]!r} is known: did you mean {' or '.join(near)}?"
        super().error(message)


def _count(text: str) -> int:
    """How many: a whole number that is not negative."""
    if not re.fullmatch(r"[0-9]{1,18}", text):
        raise argparse.ArgumentTypeError(f"must be a whole number from 0 on, not {text!r}")
    return int(text)


def parser() -> argparse.ArgumentParser:
    """What reads the command line."""
    top = _Parser(
        prog="hpgraph",
        description="Graph analytics on CPU and GPU.",
        epilog="FILE: .mtx (Matrix Market), .el .wel .txt .tsv .csv (edge lists), .parquet .arrow .feather, .graphml, "
        ".graph (METIS), .gr .col (DIMACS), .sg .wsg (GAPBS), .v .e (Graphalytics), text also with .gz or .zst, .npz "
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
        "--duplicates", choices=["min", "max", "sum", "first", "error"],
        help="weight of edges given twice (default: min)",
    )  # fmt: skip
    graph.add_argument("--delimiter", metavar="C", help="what separates the fields of an edge list (default: found)")

    placed = argparse.ArgumentParser(add_help=False, parents=[graph])
    placed.add_argument("--device", choices=["cpu", "cuda"], default="cpu", help="where to compute (default: cpu)")
    compute = argparse.ArgumentParser(add_help=False, parents=[placed])
    compute.add_argument(
        "-o", "--output", metavar="OUT",
        help="write a value per vertex: .csv, .csv.gz, .npz, .parquet, .feather; - is standard output",
    )  # fmt: skip

    def command(name: str, about: str, action: Callable[[Any], None], parent: Any) -> argparse.ArgumentParser:
        one = names.add_parser(name, help=about, description=f"{about[0].upper()}{about[1:]}.", parents=[parent])
        one.set_defaults(run=action, weighted=False)
        return one

    command("info", "what a graph file holds", commands.info, graph)
    convert = command("convert", "write a graph in another format; as .hpg it need not fit into memory",
                      commands.convert, graph)  # fmt: skip
    convert.add_argument("target", metavar="OUT", help="the file; its suffix selects the format")
    convert.add_argument("--compression", choices=["gaps", "none"], help="how ids are stored (default: gaps)")

    bfs = command("bfs", "steps from a source to every vertex", commands.bfs, compute)
    sssp = command("sssp", "lengths of the shortest paths from a source", commands.sssp, compute)
    sssp.set_defaults(weighted=True)
    path = command("path", "a shortest path from one vertex to another", commands.path, placed)
    path.add_argument("--source", required=True, metavar="V", help="where it begins: a name, or a number")
    path.add_argument("--target", required=True, metavar="V", help="where it ends")
    path.add_argument("--weighted", action="store_true", help="an arc counts its weight, not 1")
    degree = command("degree", "degree centrality of every vertex", structures.degree, compute)
    degree.add_argument("--top", type=_count, default=10, metavar="N", help="print the N first vertices (default: 10)")
    heat = command("heat", "heat that spreads from a vertex along arcs", propagation.heat, compute)
    heat.add_argument("--time", type=float, default=1.0, metavar="T", help="for how long (default: 1)")
    heat.add_argument("--laplacian", choices=["combinatorial", "normalized", "random-walk"], default="combinatorial")
    heat.add_argument("--top", type=_count, default=10, metavar="N", help="print the N hottest vertices (default: 10)")
    heat.add_argument("--weighted", action="store_true", help="weights multiply the values sent along arcs")
    similar = command("similar", "the most similar vertices, by common neighbours", random_choices.similar, compute)
    similar.add_argument(
        "--measure", default="jaccard", help="what is compared (default: jaccard)",
        choices=["jaccard", "overlap", "sorensen", "cosine", "common_neighbors", "adamic_adar", "resource_allocation"],
    )  # fmt: skip
    similar.add_argument("--links", action="store_true", help="only vertices that no edge joins to it yet")
    walks = command("walks", "where random walks from a vertex lead", random_choices.walks, compute)
    walks.add_argument("--count", type=int, default=1000, metavar="N", help="how many walks (default: 1000)")
    walks.add_argument("--length", type=int, default=10, metavar="N", help="steps of each (default: 10)")
    for name, what in (("--p", "divides the chance to return"), ("--q", "divides the chance to go on away")):
        walks.add_argument(name, type=float, default=1.0, metavar=name[-1].upper(), help=f"{what} (default: 1)")
    sample = command("sample", "neighbours of a vertex, drawn hop by hop", random_choices.sample, compute)
    sample.add_argument("--fanouts", default="10,10", metavar="K", help="how many at each hop (default: 10,10)")
    sample.add_argument("--replace", action="store_true", help="an arc may be drawn more than once")
    for one in (similar, sample):
        one.add_argument("--incoming", action="store_true", help="by arcs that reach a vertex")
    for one in (walks, sample):
        one.add_argument("--seed", type=int, default=0, metavar="S", help="of chance (default: 0)")
        one.add_argument("--weighted", action="store_true", help="arcs are drawn by their weights")
    for one in (similar, walks):
        one.add_argument("--top", type=_count, default=10, metavar="N", help="print the N first vertices (default: 10)")
    for one in (bfs, sssp, heat, similar, walks, sample):
        start = one.add_mutually_exclusive_group(required=True)
        start.add_argument("--source", metavar="V", help="where to start: a name, or a number if there are no names")
        start.add_argument("--source-id", type=int, metavar="I", help="where to start: the I-th vertex, counted from 0")
    for one in (bfs, sssp):
        one.add_argument("--explain", action="store_true", help="print what each superstep did")

    labels = command("labels", "labels of some vertices for all of them", propagation.labels, compute)
    labels.add_argument("--labels", required=True, metavar="CSV", help="what is known: columns vertex and label")
    labels.add_argument("--keep", action="store_true", help="vertices keep the labels they have")
    beliefs = command("beliefs", "how likely vertices are in each of some states", propagation.beliefs, compute)
    beliefs.add_argument("--unary", required=True, metavar="CSV", help="weight of each state: vertex, a column a state")
    beliefs.add_argument("--potential", required=True, metavar="P", help="of neighbours' states: 2,1;1,2 say")
    beliefs.add_argument("--product", choices=["sum", "max"], default="sum", help="marginals, or the likeliest")
    beliefs.add_argument("--damping", type=float, default=0.0, metavar="D", help="of messages (default: 0)")
    for one in (labels, beliefs):
        one.add_argument("--weighted", action="store_true", help="weights count, where there are any")

    pagerank = command("pagerank", "PageRank of every vertex", commands.pagerank, compute)
    pagerank.add_argument("--top", type=_count, default=10, metavar="N", help="print the N first (default: 10)")
    pagerank.add_argument("--damping", type=float, default=0.85, metavar="D", help="damping factor (default: 0.85)")
    pagerank.add_argument("--tol", type=float, default=1e-6, metavar="T", help="L1 change to stop at (default: 1e-6)")
    pagerank.add_argument("--max-iteration", type=int, default=100, metavar="N", help="give up after N (default: 100)")
    pagerank.add_argument("--explain", action="store_true", help="print what each iteration did")

    triangles = command("triangles", "the number of triangles", commands.triangles, compute)
    triangles.add_argument("--top", type=_count, default=0, metavar="N", help="print the N vertices in most triangles")

    closeness = command("closeness", "closeness of vertices: how near they are to all", centralities.closeness, compute)
    closeness.add_argument("--harmonic", action="store_true", help="harmonic centrality: the sum of 1 / distance")
    betweenness = command(
        "betweenness", "betweenness: shortest paths by way of vertices", centralities.betweenness, compute
    )
    for one, what in ((closeness, "only N vertices, drawn"), (betweenness, "paths from N vertices only, drawn")):
        one.add_argument("--sources", type=int, metavar="N", help=what)
        one.add_argument("--seed", type=int, default=7, metavar="S", help="of the draw (default: 7)")
        one.add_argument("--top", type=_count, default=10, metavar="N", help="print the N first vertices (default: 10)")

    diameter = command("diameter", "the largest distance, the least eccentricity", centralities.diameter, graph)
    diameter.add_argument("--device", choices=["cpu", "cuda"], default="cpu", help="where to compute (default: cpu)")
    diameter.add_argument("--largest", action="store_true", help="of the largest connected component alone")
    for one in (closeness, betweenness, diameter):
        one.add_argument("--weighted", action="store_true", help="an arc counts its weight, not 1")

    eigenvector = command("eigenvector", "eigenvector centrality of every vertex", rankings.eigenvector, compute)
    katz = command("katz", "Katz centrality of every vertex: walks that end there", rankings.katz, compute)
    katz.add_argument("--alpha", type=float, default=0.1, metavar="A", help="what each arc counts (default: 0.1)")
    hits = command("hits", "hubs and authorities", rankings.hits, compute)
    for one, tol, limit in ((eigenvector, 1e-6, 100), (katz, 1e-6, 1000), (hits, 1e-8, 100)):
        one.add_argument("--tol", type=float, default=tol, metavar="T", help=f"change to stop at (default: {tol:g})")
        one.add_argument("--max-iteration", type=int, default=limit, metavar="N", help=f"give up after N ({limit})")
        one.add_argument("--top", type=_count, default=10, metavar="N", help="print the N first vertices (default: 10)")
        one.add_argument("--weighted", action="store_true", help="weights multiply the values sent along arcs")
    clustering = command("clustering", "clustering coefficients: are neighbours joined", rankings.clustering, compute)
    clustering.add_argument("--form", choices=["networkx", "ldbc"], default="networkx", help="of directed graphs")
    clustering.add_argument("--weighted", action="store_true", help="triangles count by their weights")
    clustering.add_argument("--top", type=_count, default=0, metavar="N", help="print the N first vertices")

    cores = command("cores", "core numbers: the largest k of a k-core with the vertex", structures.cores, compute)
    cores.add_argument("--top", type=_count, default=0, metavar="N", help="print the N first vertices")
    colors = command("colors", "a colour for each vertex, other than its neighbours'", structures.colors, compute)
    colors.add_argument(
        "--strategy", choices=["largest_first", "smallest_last", "random_sequential"], default="largest_first",
        help="the order of the vertices (default: largest_first)",
    )  # fmt: skip
    colors.add_argument("--seed", type=int, default=0, metavar="S", help="of the order among equals (default: 0)")
    colors.set_defaults(top=0)
    communities = command("communities", "groups with many edges inside, few between", structures.communities, compute)
    communities.add_argument(
        "--method", choices=["louvain", "leiden", "labels", "cdlp"], default="leiden", help="(default: leiden)"
    )
    communities.add_argument("--resolution", type=float, default=1.0, metavar="R", help="above 1, smaller ones")
    communities.add_argument("--seed", type=int, default=0, metavar="S", help="another seed, others (default: 0)")
    communities.add_argument("--weighted", action="store_true", help="edges count their weights")
    communities.add_argument("--top", type=_count, default=10, metavar="N", help="print the sizes of the N largest")
    truss = command("truss", "truss numbers: edges that lie in many triangles", structures.truss, compute)
    truss.add_argument("--top", type=_count, default=0, metavar="N", help="print the N first vertices")
    independent = command("independent", "a set without neighbours that cannot grow", structures.independent, compute)
    matching = command("matching", "pairs of neighbours, until no two are left", structures.matching, compute)
    for one in (independent, matching):
        one.add_argument("--seed", type=int, default=0, metavar="S", help="of the random order (default: 0)")
        one.set_defaults(top=0)
    forest = command("forest", "the edges of least weight that join all there is to join", structures.forest, graph)
    forest.add_argument("--device", choices=["cpu", "cuda"], default="cpu", help="where to compute (default: cpu)")
    forest.set_defaults(weighted=True)

    components = command("components", "connected components", connectivity.components, compute)
    components.add_argument("--strong", action="store_true", help="by arcs as they point, there and back")
    components.add_argument("--top", type=_count, default=5, metavar="N", help="print the N largest sizes (default: 5)")
    command("cuts", "bridges and articulation points", connectivity.cuts, compute)
    command("bipartite", "whether the graph has two sides", connectivity.bipartite, compute)
    order = command("order", "a topological order of a graph without cycles", connectivity.order, compute)
    order.add_argument("--weighted", action="store_true", help="the longest path by weights, not by arcs")

    warmup = command("warmup", "compile the built-in kernels, so that no later call waits", commands.warmup, run)
    warmup.add_argument("--device", choices=["cpu", "cuda"], help="for one device only (default: all there are)")
    warmup.add_argument("--jobs", type=int, metavar="N", help="processes that compile (default: one a thread)")
    completion = command("completion", "what makes a shell complete commands: eval \"$(hpgraph completion bash)\"",
                         lambda arguments: print(script(top, arguments.shell)), run)  # fmt: skip
    completion.add_argument("shell", choices=["bash", "zsh", "fish"])
    return top
