"""The CUDA kernels of edge-vertex programs compile for every generation of GPUs; no GPU is needed."""

import math
import re
import sys
from pathlib import Path

import numpy as np
import pytest
from cuda_build import GENERATIONS, compiles, translates

import hpgraph as hpg
from hpgraph.algorithms.maximum_flow import Heights, Push
from hpgraph.engine.declarations import declarations_of as edge_declarations_of
from hpgraph.kernels.runtime.cuda.program import cuda_program
from hpgraph.kernels.runtime.functions import functions_of
from hpgraph.kernels.superstep.cuda_apply import APPLY, shaped_program

sys.path.append(str(Path(__file__).parent.parent / "engine"))
from edge_programs import Bargain, Drift, Faint, Ledger, Relay, Suitors, Taxed, Tired

pytest.importorskip("cuda.core")
pytest.importorskip("numba.cuda")

from hpgraph.kernels.runtime.cuda.specialization import specialize
from hpgraph.kernels.spmv.cuda import PULL_ROWS
from hpgraph.kernels.spmv.cuda_spmspv import PUSHES

C = {"int32": "int", "int64": "long long"}


def code_of(program, weight, places="int32"):
    declared = edge_declarations_of(program)
    held = declared.properties, declared.edge_properties
    types = (tuple(np.dtype(prop.dtype) for prop in one.values()) for one in held)
    return declared.edge_code(*types, None if weight is None else np.dtype(weight), np.dtype(places))


# What a program's functions become is seen in `test_products` and `test_updates` as well.
OLDEST, NEWEST = GENERATIONS


@pytest.mark.parametrize(
    ("program", "weight", "index", "places", "arch"),
    [(Ledger, "int64", "int32", "int32", OLDEST), (Ledger, None, "int64", "int64", None),
     (Faint, None, "int32", "int32", None), (Relay, None, "int32", "int64", None),
     (Suitors, "int64", "int32", "int32", None), (Bargain, None, "int32", "int32", None),
     (Heights, None, "int32", "int32", None), (Push, None, "int32", "int32", NEWEST)],
)  # fmt: skip
def test_small_supersteps(program, weight, index, places, arch):
    made = cuda_program(code_of(program, weight, places), np.dtype(places))
    names = (f"hpgraph::run_small<Program, {C[index]}, {C[places]}>",)
    if arch:
        compiles("frontier.cuh", made.prologue, made.ltoir, names, arch)
    else:
        translates("frontier.cuh", made.prologue, made.ltoir, names)


@pytest.mark.parametrize("program", [Ledger, Suitors, Taxed, Push])
def test_updates(program):
    made = cuda_program(code_of(program, "int64"), None)
    compiles("apply.cuh", made.prologue, made.ltoir, APPLY)


# Machine code of functions that are C++, that are linked in, and of replies; the others differ from these in types.
@pytest.mark.parametrize(
    ("program", "ask"),
    [(Ledger, compiles), (Faint, compiles), (Push, compiles), (Heights, translates),
     (Relay, translates), (Suitors, translates), (Bargain, translates)],
)  # fmt: skip
def test_products(program, ask):
    code = code_of(program, "int64")
    state = [*(dtype for _, dtype in (*code.properties, *code.beside)), *code.cells]
    state += [np.dtype("uint8")] * code.notes_arrivals
    made, accum = functions_of(code), None
    if code.reply is not None:
        accum = code.reduce.op
        replied = specialize(
            made.reply_product,
            code.reduce,
            None,
            np.dtype("int32"),
            np.dtype("int32"),
            tuple(state),
            code.message,
            False,
        )
        ask("spmv.cuh", replied.prologue, replied.ltoir, [f"hpgraph::{name}<Product>" for name in PULL_ROWS])
    arguments = made.offer, code.reduce, accum, np.dtype("int32"), np.dtype("int32")
    pulled = specialize(*arguments, tuple(state), code.message, True)
    ask("spmv.cuh", pulled.prologue, pulled.ltoir, [f"hpgraph::{name}<Product>" for name in PULL_ROWS])
    assert "has_terminal = false" in pulled.prologue, "every arc's function is called"
    pushed = specialize(*arguments, tuple(state), code.message, False)
    names = [f"hpgraph::{name}<Product>" for name in PUSHES]
    ask("spmspv.cuh", pushed.prologue, pushed.ltoir, names)


def test_tuples():
    """Messages pushed and pulled, updates, start vertices, and replies, combined with earlier messages."""
    code, ids = code_of(Drift, None), np.dtype("int32")
    made, replies = shaped_program(code, ids, ids), shaped_program(code, ids, ids, True)
    compiles("shaped.cuh", made.prologue, made.ltoir, ("hpgraph::send<Program, int>",))
    products = [f"hpgraph::{name}<Product>" for name in PULL_ROWS]
    # Machine code of the one with more under way.
    for one, ask in ((made, translates), (replies, compiles)):
        ask("spmv.cuh", one.prologue, one.ltoir, [*products, "hpgraph::accumulate<Product>"])
    for one in (code, code.choosing):
        alone = shaped_program(one, None, ids)
        compiles("shaped.cuh", alone.prologue, alone.ltoir, APPLY)


def test_pages():
    """Rows read where their pages lie, whose arcs come as their numbers."""
    made = cuda_program(code_of(Tired, None), np.dtype("int32"))
    names = [
        f"hpgraph::visit_groups<int, hpgraph::ArcNumbers, {gaps}, hpgraph::Send<Program, false>>"
        for gaps in ("true", "false")
    ]
    compiles("spread.cuh", made.prologue, made.ltoir, names)


@pytest.mark.parametrize("name", ["Components", "Changes", "Beliefs", "Matching"])
def test_programs_of_the_page(name):
    text = (Path(__file__).parents[2] / "docs" / "edge-vertex-programs.md").read_text(encoding="utf-8")
    (written,) = re.findall(rf"^class {name}.*?(?=^\S(?!lass {name}))", text, re.MULTILINE | re.DOTALL)
    names = {"__name__": "page", "math": math, "hpg": hpg}
    exec(compile(written, "page", "exec"), names)
    made = cuda_program(code_of(names[name], None), np.dtype("int32"))
    translates("frontier.cuh", made.prologue, made.ltoir, ("hpgraph::run_small<Program, int, int>",))
    compiles("apply.cuh", made.prologue, made.ltoir, APPLY)
