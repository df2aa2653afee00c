"""Reductions of values of entries over the rows of a matrix, and the softmax of attention."""

import math
from typing import Any

from torch import Tensor

import hpgraph.torch.operators as operators
from hpgraph.torch.adjacency import Adjacency
from hpgraph.torch.pattern import widened
from hpgraph.torch.products import checked_dense


def _sums(A: Adjacency, source: Tensor) -> Tensor:
    checked_dense(A, source, "source", A.nnz)
    return operators.collect(A.pattern.number, False, source.contiguous())


def _extremes(A: Adjacency, source: Tensor, largest: bool) -> Tensor:
    checked_dense(A, source, "source", A.nnz)
    flat = widened(source).reshape(A.nnz, math.prod(source.shape[1:])).contiguous()
    result = operators.extremes(A.pattern.entries_number, largest, None, flat)[0]
    return result.reshape(A.shape[0], *source.shape[1:]).to(source.dtype)


def segment_sum(A: Any, source: Tensor) -> Tensor:
    """The sum of values over the entries of each row.

    Parameters
    ----------
    A : Adjacency, or what `Adjacency.of` takes, shape (n, m)
        Its values play no part.
    source : tensor of shape (nnz, ...)
        For each entry, in the order of A.

    Returns
    -------
    tensor of shape (n, ...)
        0 for a row without entries.

    Examples
    --------
    >>> import torch
    >>> import hpgraph as hpg, hpgraph.torch
    >>> G = hpg.from_edges([0, 0, 1], [1, 2, 2])
    >>> hpgraph.torch.segment_sum(G, torch.tensor([1.0, 2.0, 4.0])).tolist()
    [3.0, 4.0, 0.0]
    """
    return _sums(Adjacency.of(A), source)


def segment_mean(A: Any, source: Tensor) -> Tensor:
    """The mean of values over the entries of each row, as `segment_sum`."""
    A = Adjacency.of(A)
    # The sum may overflow a 16-bit float, although the mean does not.
    result = _sums(A, widened(source))
    return operators.means(A.pattern.number, result).to(source.dtype)


def segment_max(A: Any, source: Tensor) -> Tensor:
    """The maximum of values over the entries of each row, as `segment_sum`."""
    return _extremes(Adjacency.of(A), source, True)


def segment_min(A: Any, source: Tensor) -> Tensor:
    """The minimum of values over the entries of each row, as `segment_sum`."""
    return _extremes(Adjacency.of(A), source, False)


def edge_softmax(A: Any, scores: Tensor) -> Tensor:
    """The softmax of the scores of each row's entries: attention weights.

    Parameters
    ----------
    A : Adjacency, or what `Adjacency.of` takes, shape (n, m)
        Its values play no part.
    scores : tensor of shape (nnz,) or (nnz, heads)
        In the order of A.

    Returns
    -------
    tensor of the shape of scores
        Positive, of sum 1 in each row: values for `Adjacency.with_values`.

    References
    ----------
    P. Veličković et al., "Graph Attention Networks", ICLR'18.

    Examples
    --------
    >>> import torch
    >>> import hpgraph as hpg, hpgraph.torch
    >>> G = hpg.from_edges([0, 0, 1], [1, 2, 2])
    >>> hpgraph.torch.edge_softmax(G, torch.tensor([0.0, 0.0, 5.0])).tolist()
    [0.5, 0.5, 1.0]
    """
    A = Adjacency.of(A)
    checked_dense(A, scores, "scores", A.nnz)
    by_head = scores.reshape(A.nnz, math.prod(scores.shape[1:])).contiguous()
    return operators.softmax(A.pattern.number, by_head).reshape(scores.shape)
