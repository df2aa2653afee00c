"""SciPy's own tests of lgmres, on our matrices."""

from substitution import adopt

globals().update(adopt("scipy.sparse.linalg._isolve.tests.test_lgmres", ("lgmres",)))
