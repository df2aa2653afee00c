"""Going on with a run from its checkpoint, where its client is lost."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
from distributed import Client

from hpgraph.cluster.checkpoints import TABLE, Folder
from hpgraph.cluster.errors import ClusterError
from hpgraph.cluster.graph import Graph
from hpgraph.cluster.grid import Grid
from hpgraph.cluster.limits import Limits
from hpgraph.cluster.sources import source_of
from hpgraph.containers.vertices import id
from hpgraph.core.device import Device


def resume(
    client: Client, path: Any, program: Any = None, *, device: Device | None = None, limits: Limits | None = None,
    **run: Any,
) -> Any:
    """Go on with a run from its last checkpoint, on whatever workers there are.

    Parameters
    ----------
    client : distributed.Client
    path : str or os.PathLike
        What the run had as `checkpoint`; it goes on being one.
    program : VertexProgram, optional
        For a run of a program of one's own, the same program: a checkpoint holds no code. An algorithm's is known.
    device : {"cpu", "cuda"}, optional
        What works on blocks; default, what did before.
    limits : Limits, optional
    **run
        ``gather``, ``every``, ``restarts`` and ``threads``, as for `Graph.run`.

    Returns
    -------
    object
        What the call that was interrupted would have returned.

    Raises
    ------
    ClusterError
        If there is no checkpoint, or it is damaged.
    TypeError, ValueError
        If the program is missing, or another one.

    Examples
    --------
    >>> import hpgraph as hpg
    >>> hpg.cluster.resume(client, "s3://bucket/ranks").rank  # doctest: +SKIP
    """
    path = str(path)
    try:
        table = json.loads(Folder(path).read(TABLE))
    except FileNotFoundError:
        raise ClusterError(f"{path} holds no checkpoint ({TABLE} is not there)") from None
    facts = table["graph"]
    graph = Graph(
        client, source_of(table["source"]), Grid.of_table(facts["grid"]), arcs=None, directed=facts["directed"],
        weight=None if facts["dtype"] is None else np.dtype(facts["dtype"]), limits=limits,
        device=facts["device"] if device is None else device,
    )  # fmt: skip
    run = {**run, "checkpoint": path, "saved": table}
    call = table["call"]
    if call is not None:
        arguments = dict(call["arguments"])
        if "source" in arguments:
            arguments["source"] = id(arguments["source"])
        return getattr(graph, call["name"])(**arguments, **run)
    if program is None:
        raise TypeError(f"the checkpoint is of a program, {table['program']}: give it as program=")
    return graph.run(program, **run)
