"""Array types of results, for type checkers."""

from typing import Any, TypeAlias

import numpy as np

Array: TypeAlias = np.ndarray[Any, np.dtype[Any]]
"""An array of NumPy's or, on the GPU, of CuPy's, which has the same methods; to type checkers it is NumPy's."""
