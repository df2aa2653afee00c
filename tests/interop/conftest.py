"""NetworkX with hpgraph for a backend."""

from collections.abc import Iterator
from importlib.metadata import EntryPoint

import networkx as nx
import pytest

from hpgraph.core.device import cuda_available
from hpgraph.interop.networkx_backend.info import get_info


@pytest.fixture
def jax_backend() -> str:
    """Where JAX works by default; of several GPUs it leaves the last the current one when it first looks for them."""
    jax = pytest.importorskip("jax")
    if not cuda_available():
        return str(jax.default_backend())
    import cupy

    with cupy.cuda.Device():
        return str(jax.default_backend())


@pytest.fixture(scope="module")
def networkx_backend() -> Iterator[None]:
    """The backend as NetworkX has it where the installed metadata name it; entered by hand where they are older."""
    backends = nx.utils.backends
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(
            backends.backends,
            "hpgraph",
            EntryPoint("hpgraph", "hpgraph.interop.networkx_backend.interface", "networkx.backends"),
        )
        patch.setitem(backends.backend_info, "hpgraph", get_info())
        patch.setattr(nx.config, "backends", nx.utils.Config(hpgraph=nx.utils.Config(least_edges=0)))
        # NetworkX 3.4 always dispatches.
        if hasattr(backends._dispatchable, "_call_if_any_backends_installed"):
            patch.setattr(backends._dispatchable, "__call__", backends._dispatchable._call_if_any_backends_installed)
        patch.setattr(nx.config, "warnings_to_ignore", {"cache"})
        yield
