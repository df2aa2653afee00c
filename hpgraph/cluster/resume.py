"""Resume a run from its checkpoint after its client is lost."""

import inspect
from typing import Any

import numpy as np
from distributed import Client

from hpgraph.cluster.algorithms import RESUMED
from hpgraph.cluster.checkpoints import TABLE, Folder, read_table
from hpgraph.cluster.errors import CheckpointError, Limits
from hpgraph.cluster.graph import Graph
from hpgraph.cluster.grid import Grid
from hpgraph.cluster.sources import source_of
from hpgraph.containers.vertices import id
from hpgraph.core.device import Device, normalize_device


def resume(
    client: Client, path: Any, program: Any = None, *, device: Device | None = None, limits: Limits | None = None,
    **run: Any,
) -> Any:  # fmt: skip
    """Resume a run from its last checkpoint, on the present workers.

    Parameters
    ----------
    client : distributed.Client
    path : str or os.PathLike
        The run's `checkpoint`, to which later checkpoints are written, too.
    program : VertexProgram, optional
        For a run of a user's program, the same program: a checkpoint contains no code. Not needed for an algorithm.
    device : {"cpu", "cuda"}, optional
        Device on which blocks are computed; default, that of the interrupted run.
    limits : Limits, optional
    **run
        ``gather``, ``every``, ``restarts`` and ``threads``, as for `Graph.run`.

    Returns
    -------
    object
        The result of the interrupted call.

    Raises
    ------
    CheckpointError, TypeError, ValueError
        If there is no checkpoint, or it is damaged; if the program is missing, or another one.

    Examples
    --------
    >>> hpg.cluster.resume(client, "s3://bucket/ranks").rank  # doctest: +SKIP
    """
    path = str(path)
    table = read_table(Folder(path))
    if program is None and table["call"] is None:
        raise TypeError(f"the checkpoint is of a program, {table['program']}: give it as program=")
    facts, device = table["graph"], None if device is None else normalize_device(device)
    try:
        source, grid, directed = source_of(path, table["source"]), Grid.of_table(facts["grid"]), bool(facts["directed"])
        weight = None if facts["dtype"] is None else np.dtype(facts["dtype"])
        where = normalize_device(facts["device"]) if device is None else device
        name, arguments = ("run", {"program": program}) if table["call"] is None else _called(**table["call"])
    except (ValueError, TypeError, LookupError, AttributeError, ArithmeticError) as error:
        raise CheckpointError(f"{path}/{TABLE} is of no run of this release ({error!r})") from error
    graph = Graph(client, source, grid, directed=directed, weight=weight, limits=limits, device=where)
    return getattr(graph, name)(**arguments, **run, checkpoint=path, saved=table, call=table["call"])


def _called(name: str, arguments: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    """The algorithm of a checkpoint, and its arguments."""
    own = list(inspect.signature(RESUMED[name]).parameters)[1:]
    if not arguments.keys() <= set(own):
        raise ValueError(f"{name} takes no {', '.join(arguments.keys() - set(own))}")
    if "source" in arguments:
        arguments = {**arguments, "source": id(arguments["source"])}
    return name, arguments
