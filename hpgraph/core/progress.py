"""Progress bars: tqdm's, imported when the first is drawn."""

import contextlib
import threading
import warnings
from collections.abc import Iterator
from typing import Any

_TICK = 0.2  # seconds


def progress_bar(**arguments: Any) -> Any:
    """A bar of `tqdm.auto` that disappears when it is done; a text bar in a notebook without widgets."""
    with warnings.catch_warnings():
        # No warning in a notebook without widgets: tqdm falls back to a text bar.
        warnings.simplefilter("ignore")
        from tqdm.auto import tqdm

        return tqdm(leave=False, **arguments)


@contextlib.contextmanager
def ticking(bar: Any) -> Iterator[None]:
    """Context manager: the bar's clock keeps running between updates, and the bar is closed at the end."""
    done = threading.Event()

    def tick() -> None:
        while not done.wait(_TICK):
            bar.refresh()

    thread = threading.Thread(target=tick, daemon=True)
    with contextlib.closing(bar):
        if not bar.disable:
            thread.start()
        try:
            yield
        finally:
            done.set()
            if not bar.disable:
                thread.join()
