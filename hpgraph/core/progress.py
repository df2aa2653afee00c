"""Progress bars: tqdm's, imported when the first is drawn."""

from __future__ import annotations

import warnings
from typing import Any


def progress_bar(**arguments: Any) -> Any:
    """A bar of `tqdm.auto`, which goes away when it is done; in a notebook without widgets one of text.

    Parameters
    ----------
    **arguments
        As for ``tqdm.tqdm``.

    Returns
    -------
    tqdm.tqdm
        To `update` and to `close`, or to use as a context manager.

    Examples
    --------
    >>> with progress_bar(total=2, disable=True) as bar:
    ...     bar.update(2)
    """
    with warnings.catch_warnings():
        # That a notebook has no widgets is no news to who runs it: the bar is of text then.
        warnings.simplefilter("ignore")
        from tqdm.auto import tqdm

        return tqdm(leave=False, **arguments)
