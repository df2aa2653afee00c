"""Elements of arrays and lives of variables in compiled code, compared with Python."""

import numba
import numpy as np
import pytest

from hpgraph.kernels.runtime.cpu.kernel import LOOPS, KernelCompiler


def accessed(small, flags, halves, at):
    halves[-1] = at
    halves[at - 4] += small[at - 3] + small[-2]
    flags[np.uint64(1)] = halves[0] > small[small[0]]
    small[1] = 200 + at
    if flags[1]:
        late = halves[small[2]]
    else:
        late = np.float32(7)
    read = halves
    for i in range(3):
        if flags[i]:
            last = i * late
            while at > 0:
                at -= 1
                if at == 1:
                    read = halves[1:]
                    break
        elif i < 1:
            last = late
        halves[i] += last + read[0]
    return late, at, last, read[1]


@pytest.mark.filterwarnings("ignore:\\s*The keyword argument .parallel=True. was specified")
@pytest.mark.parametrize("options", [{}, {"_nrt": False}, {"parallel": LOOPS}], ids=["counted", "not counted", "loops"])
def test_elements_and_variables_are_as_in_python(options):
    compiled = numba.njit(accessed, pipeline_class=KernelCompiler, **options)

    def results(function):
        arrays = (
            np.array([2, 3, 1, 2], np.uint8), np.array([False, False, True]), np.array([1.5, 2, 3, 4], np.float32),
        )  # fmt: skip
        return [*function(*arrays, 4), *(array.tolist() for array in arrays)]

    assert results(compiled) == results(accessed)
