"""What compiled functions call becomes machine code inside kernels alone, and does there what it does in Python."""

from typing import Any

import numba
import numpy as np
import pytest
from numba.core.cpu_options import ParallelOptions

from hpgraph.kernels.runtime.cpu.kernel import KernelCompiler
from hpgraph.kernels.runtime.cpu.part import part
from hpgraph.kernels.runtime.cpu.progress import LOOPS
from hpgraph.semiring.code_library import InnerLibrary
from hpgraph.semiring.function import Function
from hpgraph.semiring.jit import call

pytestmark = pytest.mark.skipif(bool(numba.config.DISABLE_JIT), reason="nothing is compiled")


@part
def weighed(function: Any, values: Any, i: int) -> Any:
    return call(function, values[i]) + i


@numba.njit(nogil=True, parallel=True, pipeline_class=KernelCompiler)
def total(function, values):
    found = 0.0
    for i in numba.prange(values.size):
        found += weighed(function, values, i)
    return found


def libraries(dispatcher: Any) -> list[Any]:
    return [compiled.library for compiled in dispatcher.overloads.values()]


def test_a_part_has_no_machine_code_and_what_calls_it_does() -> None:
    function, values = Function(lambda a: a * 3), np.arange(10.0)
    assert total(function, values) == 4 * 45
    (kernel,) = libraries(total)
    assert not isinstance(kernel, InnerLibrary)
    inner = libraries(weighed)
    assert inner
    for one in inner:
        assert isinstance(one, InnerLibrary)
        names = [defined.name for defined in one.get_defined_functions() if "weighed" in defined.name]
        assert names
        assert not any(kernel.codegen._engine.is_symbol_defined(name) for name in names)
    # What others compile may call the same.
    assert numba.njit(lambda function, values: weighed(function, values, 2))(function, values) == 8.0


def test_numba_itself_makes_machine_code_of_a_part() -> None:
    """Were this to fail, Numba's own libraries would do: drop libraries of `hpgraph.core.patches`."""
    inner = numba.njit(lambda a: a + 2)
    outer = numba.njit(lambda a: inner(a))
    assert outer(1) == 3
    (kernel,), (one,) = libraries(outer), libraries(inner)
    assert any(kernel.codegen._engine.is_symbol_defined(defined.name) for defined in one.get_defined_functions())


def halvings(a):
    return 0 if a < 2 else 1 + halvings(a // 2)


def even(a):
    return True if a == 0 else odd(a - 1)


def odd(a):
    return False if a == 0 else even(a - 1)


@numba.njit(pipeline_class=KernelCompiler)
def apply(function, value):
    return call(function, value)


@pytest.mark.parametrize(("python", "value"), [(halvings, 1000), (even, 7)])
def test_a_function_that_calls_itself_is_called_by_its_address(python: Any, value: int) -> None:
    assert apply(Function(python), value) == python(value)


def test_options_serve_more_kernels_than_one() -> None:
    # What Numba does for each kernel; it empties a dict.
    first, second = ParallelOptions(LOOPS), ParallelOptions(LOOPS)
    assert first == second
    assert second.prange and not second.fusion and not second.setitem
