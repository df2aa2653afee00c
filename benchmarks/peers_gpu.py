"""Other libraries on the GPU: CuPy. The rest stand in published.json, measured before on the same graphs."""

from typing import Any

from .library import Library


class CuPy(Library):
    """cuSPARSE through CuPy's CSR matrices."""

    name = "CuPy"
    distribution = "cupy"

    def spmv(self) -> Any:
        return self.case.matrix @ self.case.vector

    spmv_hyb = spmv

    def spmv64(self) -> Any:
        return self.case.wide_matrix @ self.case.wide_vector


PEERS: tuple[type[Library], ...] = (CuPy,)
