"""Instructions without an equivalent in Python, each with a Python function of the same result. Imports Numba.

Under ``NUMBA_DISABLE_JIT=1``, for stepping through kernels in a debugger, kernels are Python functions and run on one
thread: then an instruction is its Python function.
"""

import functools
import inspect
from collections.abc import Callable
from typing import Any

import numba
import numpy as np
from numba import extending


def intrinsic(in_python: Callable[..., Any]) -> Callable[[Callable[..., Any]], Any]:
    """`numba.extending.intrinsic` for a function with a Python equivalent."""

    def decorate(compiled: Callable[..., Any]) -> Any:
        if numba.config.DISABLE_JIT:
            return functools.wraps(compiled)(in_python)
        return extending.intrinsic(compiled)

    return decorate


def instruction(signature: Callable[..., Any], in_python: Callable[..., Any]) -> Callable[[Callable[..., Any]], Any]:
    """`intrinsic` by ``generate(context, builder, sig, args)``, None for no value; ``signature`` names arguments."""

    def decorate(generate: Callable[..., Any]) -> Any:
        def lower(context: Any, builder: Any, sig: Any, args: Any) -> Any:
            found = generate(context, builder, sig, args)
            return context.get_dummy_value() if found is None else found

        @functools.wraps(generate)
        def typed(typingctx: Any, *types: Any) -> Any:
            return signature(*types), lower

        # Numba reads the names of the arguments behind the first.
        parameters = inspect.signature(signature).parameters.values()
        first = inspect.Parameter("typingctx", inspect.Parameter.POSITIONAL_OR_KEYWORD)
        typed.__signature__ = inspect.Signature([first, *parameters])  # type: ignore[attr-defined]
        return intrinsic(in_python)(typed)

    return decorate


def element(array: Any, value: Any) -> Any:
    """A value converted to an array's element type as in compiled code: excess bits are truncated."""
    return np.asarray(value).astype(array.dtype)[()]
