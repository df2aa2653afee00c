"""Both backends keep to one contract: the same functions, with the parameters and defaults that the rooms declare."""

import importlib
import inspect

import pytest

from hpgraph.kernels.backend import Backend, joint_traversal
from hpgraph.kernels.traversal import JointTraversal

CONTRACT = {
    name: member
    for name, member in inspect.getmembers(Backend, inspect.isfunction)
    if not name.startswith("_")
}  # fmt: skip
# Of CUDA, context managers that do nothing, which take what they are given.
WITHOUT_PARAMETERS = {"in_python", "interruptible"}


def parameters_of(function):
    # What is declared without a name for callers may well have one.
    named = {inspect.Parameter.POSITIONAL_ONLY: inspect.Parameter.POSITIONAL_OR_KEYWORD}
    found = (p for p in inspect.signature(function).parameters.values() if p.name != "self")
    return [p.replace(annotation=p.empty, kind=named.get(p.kind, p.kind)) for p in found]


@pytest.mark.parametrize("device", ["cpu", "cuda"], indirect=False)
@pytest.mark.parametrize("name", sorted(CONTRACT))
def test_a_function_is_as_declared(name, device):
    found = getattr(importlib.import_module(f"hpgraph.kernels.{device}"), name)
    assert callable(found)
    if name in WITHOUT_PARAMETERS or name == "transpose":
        return
    wanted, has = parameters_of(CONTRACT[name]), parameters_of(found)
    assert has[: len(wanted)] == wanted
    # What one backend takes besides is for its own callers, and may be left out.
    assert all(p.default is not p.empty for p in has[len(wanted) :])


@pytest.mark.parametrize("device", ["cpu", "cuda"], indirect=False)
def test_nothing_is_offered_that_is_not_declared(device):
    module = importlib.import_module(f"hpgraph.kernels.{device}")
    modules = {name for name, value in vars(module).items() if inspect.ismodule(value)}
    assert {name for name in vars(module) if name[0] != "_"} - modules - {"CSR", "xp"} == set(CONTRACT)


@pytest.mark.parametrize("device", ["cpu", "cuda"], indirect=False)
@pytest.mark.parametrize("name", ["survey_sources", "traverse_sources"])
def test_lanes_are_as_declared(name, device):
    """Their room is imported when a run has lanes, not with the others."""
    module = joint_traversal(device)
    assert parameters_of(getattr(module, name)) == parameters_of(getattr(JointTraversal, name))
    assert module.MAX_SOURCES > 0 and module.MAX_SURVEYED > 0
