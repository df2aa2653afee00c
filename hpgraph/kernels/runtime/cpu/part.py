"""Functions that only other compiled functions call: parts of kernels, compiled in half the time of `njit`."""

from collections.abc import Callable
from typing import Any

from numba import njit, types
from numba.extending import is_jitted

from hpgraph.kernels.runtime.cpu.part import PartCompiler, WholePartCompiler


def part(
    function: Callable[..., Any] | None = None, *, whole: bool = False, counts_references: bool = True, **options: Any
) -> Any:
    """`numba.njit` for a function that Python never calls itself; a decorator, with or without options.

    It has no entry for Python or C, which Numba would compile beside each function, and is compiled once for all
    integers: Numba would compile it again for each constant that stands for one in a call.
    """
    if function is None:
        return lambda function: part(function, whole=whole, counts_references=counts_references, **options)
    if not counts_references:
        options["_nrt"] = False
    compiler = WholePartCompiler if whole else PartCompiler
    dispatcher = njit(function, no_cpython_wrapper=True, no_cfunc_wrapper=True, pipeline_class=compiler, **options)
    if not is_jitted(dispatcher):
        # Under NUMBA_DISABLE_JIT it is the function itself.
        return dispatcher
    resolve = dispatcher.get_call_template

    def get_call_template(arguments: Any, by_name: dict[str, Any]) -> Any:
        plain = {name: types.unliteral(kind) for name, kind in by_name.items()}
        return resolve(tuple(types.unliteral(kind) for kind in arguments), plain)

    dispatcher.get_call_template = get_call_template
    return dispatcher
