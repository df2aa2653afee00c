"""Where Numba keeps what it compiles, and the one line that says that it compiles."""

from __future__ import annotations

import functools
import os
from typing import Any

from hpgraph.config import config
from hpgraph.kernels.cpu.threads import prepare


@functools.cache
def set_up() -> None:
    """Prepare Numba for the kernels of this package; to be called before any of them is defined.

    Compiled code goes to ``config.cache_dir`` (unless NUMBA_CACHE_DIR says otherwise), so that a read-only
    installation has a cache too, and the threading library is made ready.
    """
    prepare()
    import numba
    from numba.core import event

    if not os.environ.get("NUMBA_CACHE_DIR"):
        numba.config.CACHE_DIR = os.fspath(config.cache_dir / "numba")

    class Notice(event.Listener):
        def on_start(self, started: Any) -> None:
            # Numba announces a compilation only after it has looked in its cache in vain.
            function = getattr(started.data.get("dispatcher"), "py_func", None)
            if (getattr(function, "__module__", None) or "").startswith("hpgraph.kernels"):
                config.announce("kernels for the CPU")

        def on_end(self, ended: Any) -> None:
            pass

    event.register("numba:compile", Notice())
