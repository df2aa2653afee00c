"""Machine code for kernels only: the functions that they call are linked into them as LLVM IR. Imports Numba.

Numba generates machine code for each compiled function, then links its IR into its callers, where it is inlined: only
functions called from Python are entered by an address. The body of a parallel loop also passes through two wrappers,
each optimized and compiled to machine code with the body inside. Both amount to a quarter of the compile time.

By default each function is optimized by itself before it is linked. With its callees, it is optimized as a part of the
kernel: once, and not again in each function between it and the kernel. Some loops are slower by a third that way, since
the optimization of a function in its caller depends on its earlier form; these are also optimized together with their
callees.
"""

import inspect
from typing import Any

from numba.core.codegen import JITCodeLibrary, JITCPUCodegen, RuntimeLinker
from numba.core.environment import Environment, lookup_environment

# Numba's prefix of the names of a function's environment, a global variable of the code.
_ENVIRONMENT = "_ZN08NumbaEnv"
# Since Numba 0.62; before, they were made for a module.
_PASSES_TAKE_FUNCTIONS = "llvm_module" not in inspect.signature(JITCPUCodegen._function_pass_manager).parameters


class _Library(JITCodeLibrary):  # type: ignore[misc]
    def _optimize_functions(self, ll_module: Any) -> None:
        # Numba runs its passes over declarations too, six for each function.
        if not _PASSES_TAKE_FUNCTIONS:
            super()._optimize_functions(ll_module)
            return
        ll_module.data_layout = self._codegen._data_layout
        for function in ll_module.functions:
            if not function.is_declaration:
                passes, builder = self._codegen._function_pass_manager()
                passes.run(function, builder)


class InnerLibrary(_Library):
    """Code of a function called only by compiled ones; without machine code unless it is recursive, by address."""

    @property
    def codegen(self) -> Any:
        """Numba's codegen places the environment of each function; here the kernel does."""
        return self._codegen if self._is_recursive() else _Unplaced(self._codegen)

    def get_pointer_to_function(self, name: str) -> int:
        """Address of a function, 0 for none."""
        self._ensure_finalized()
        return int(super().get_pointer_to_function(name)) if self._is_recursive() else 0

    def _is_recursive(self) -> bool:
        return any(variable.name.startswith(RuntimeLinker.PREFIX) for variable in self._final_module.global_variables)

    def _optimize_final_module(self) -> None:
        # Numba sets this for functions, but not for the wrappers of a parallel loop, which the kernel optimizes.
        if self._object_caching_enabled or self._is_recursive():
            super()._optimize_final_module()

    def _finalize_final_module(self) -> None:
        if self._is_recursive():
            super()._finalize_final_module()
        else:
            self._finalize_dynamic_globals()
            self._finalized = True


class LinkedLibrary(InnerLibrary):
    """`InnerLibrary`, except that callees are linked into the kernel and optimized there."""

    def _optimize_final_module(self) -> None:
        if self._is_recursive():
            super()._optimize_final_module()


class KernelLibrary(_Library):
    """The code of a kernel, with all that it calls."""

    def _optimize_final_module(self) -> None:
        # Numba optimizes twice, and removes adjacent reference counting operations in between.
        if any(function.name.startswith("NRT_") for function in self._final_module.functions):
            super()._optimize_final_module()
        else:
            passes, builder = self._codegen._module_pass_manager()
            passes.run(self._final_module, builder)

    def _finalize_specific(self) -> None:
        super()._finalize_specific()
        for variable in self._final_module.global_variables:
            if variable.name.startswith(_ENVIRONMENT):
                environment = lookup_environment(variable.name)
                if environment is not None:
                    self._codegen.set_env(variable.name, environment)


class _Unplaced:
    """Numba's code generator for functions without machine code, which have no environment yet."""

    def __init__(self, codegen: Any) -> None:
        self._codegen = codegen

    def __getattr__(self, name: str) -> Any:
        return getattr(self._codegen, name)

    def set_env(self, name: str, environment: Environment) -> None:
        """Do nothing."""
