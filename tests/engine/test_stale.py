"""A program that has run once sees every change of what it depends on: in the next run, and in the next process."""

import collections
import enum
import os
import textwrap
import types
import warnings
from pathlib import Path

import numba
import numpy as np
import pytest
from new_process import printed

import hpgraph as hpg
from hpgraph.engine.declarations import declarations_of

# Arcs 0 -> 1 -> 2 of weights 2 and 3: every program below gives vertices 1 and 2 what `gather` says.
PATH = ([0, 1], [1, 2], [2.0, 3.0])


def path() -> hpg.Graph:
    return hpg.Graph.from_edges(*PATH)


def received(program, **arguments) -> list[float]:
    return hpg.run(program, path(), **arguments).properties["value"].tolist()


def define(text: str, **names) -> dict:
    """The globals of a module, or of a notebook, that ran the text."""
    namespace = {"__name__": "notebook", "hpg": hpg, "np": np, "numba": numba, **names}
    exec(textwrap.dedent(text), namespace)
    return namespace


def program_of(gather) -> type[hpg.VertexProgram]:
    """One superstep that stores the message."""
    return type("Once", (hpg.VertexProgram,), {
        "value": hpg.Property("float64"), "reduce": "plus", "max_iteration": 1, "gather": gather,
        "update": staticmethod(lambda vertex, message: message),
    })  # fmt: skip


def rate(value):
    return enum.Enum("Mode", {"RATE": value})


def settings_of(value):
    settings = types.ModuleType("settings")
    settings.OFFSET, settings.OTHER = value, 1
    settings.inner = types.ModuleType("settings.inner")
    settings.inner.DEPTH = value
    return settings


def tools_of():
    tools = types.ModuleType("tools")
    exec("def rate(): return RATE", vars(tools))
    return tools


Pair = collections.namedtuple("Pair", "first second")


def sets(name, of=lambda value: value):
    return lambda names, value: names.update({name: of(value)})


def defines(text):
    return lambda names, value: exec(text.format(value), names)


def puts(name, made, place):
    """Into an array, or whatever is made first, at a place."""
    return lambda names, value: place(names.setdefault(name, made)).__setitem__(-1, value)


def settings(attribute, within=lambda module: module):
    return lambda names, value: setattr(within(names.setdefault("settings", settings_of(0))), attribute, value)


def of_helper(attribute, of):
    return lambda names, value: "helper" in names and setattr(names["helper"], attribute, of(value))


# What a function refers to, how, and how that changes from 5 to 7.
HELPER, GLOBAL, WITH = "w * 0 + helper()", "w * 0 + X", "w * 0 + helper(1.0)"
CHANGES = {
    "a global number": ("", GLOBAL, sets("X")),
    "a helper defined again": ("", HELPER, defines("def helper(): return {}")),
    "a helper's helper defined again": (
        "def helper(): return inner() + 0", HELPER, defines("def inner(): return {}"),
    ),
    "an attribute of a module that a helper reads another of": (
        "def helper(): return settings.OTHER - 1", HELPER + " + settings.OFFSET", settings("OFFSET"),
    ),
    "an attribute of a module given to a helper": (
        "def helper(module): return module.OFFSET", "w * 0 + helper(settings)", settings("OFFSET"),
    ),
    "a module of a module": ("", "w * 0 + settings.inner.DEPTH", settings("DEPTH", lambda module: module.inner)),
    "a member of an enum": ("", "w * 0 + Mode.RATE.value", sets("Mode", rate)),
    "a vectorized helper": ("", WITH, defines("@numba.vectorize\ndef helper(x): return x * {}")),
    "what a vectorized helper refers to": ("@numba.vectorize\ndef helper(x): return x * X", WITH, sets("X")),
    "what a jitted helper refers to": ("@numba.njit\ndef helper(x): return x * X", WITH, sets("X")),
    "an array among the globals, in place": ("", "w * 0 + table[1]", puts("table", np.zeros(2), lambda a: a)),
    "a large array, in place": ("", "w * 0 + table[199_999]", puts("table", np.zeros(200_000), lambda a: a)),
    "an element of a tuple": ("", "w * 0 + pair[1]", sets("pair", lambda value: (1, value))),
    "an array in a tuple, in place": ("", "w * 0 + pair[0][1]", puts("pair", (np.zeros(2), 1), lambda pair: pair[0])),
    "a field of a named tuple": ("", "w * 0 + pair.second", sets("pair", lambda value: Pair(1, value))),
    "what a function of a module refers to": (
        "", "w * 0 + tools.rate()", lambda names, value: setattr(names.setdefault("tools", tools_of()), "RATE", value),
    ),
    "a built-in function that is given another meaning": (
        "", "w * 0 + abs(5)", lambda names, value: value == 5 or exec(f"def abs(x): return {value}", names),
    ),
    "a default of a helper": ("def helper(x=5): return x", HELPER, of_helper("__defaults__", lambda value: (value,))),
    "the code of a helper, as autoreload changes it": (
        "def helper(): return 5", HELPER, of_helper("__code__", lambda value: eval(f"lambda: {value}").__code__),
    ),
}  # fmt: skip


# With this a program runs too, whose kernel takes five times as long to compile as that of `apply`; of the others it is
# enough that the program is read again.
RUN = {"the code of a helper, as autoreload changes it"}


@pytest.mark.parametrize("what", CHANGES)
def test_next_use_sees(what):
    text, message, change = CHANGES[what]
    names = define("")
    change(names, 5)
    exec(f"{text}\ndef message(w): return {message}\ndef gather(s, w, t): return message(w)", names)
    change(names, 5)
    program, ones = program_of(names["gather"]), hpg.Matrix(np.ones((1, 1)))

    def agree(value):
        assert hpg.apply(ones, names["message"]).toarray().tolist() == [[value]]
        if what in RUN:
            assert received(program) == [0, value, value]

    with warnings.catch_warnings():
        # An array of more than a megabyte is no constant of the machine code, which Numba therefore does not cache.
        warnings.simplefilter("ignore", numba.NumbaWarning)
        for _ in range(2):
            agree(5)
        before = declarations_of(program)
        assert declarations_of(program) is before
        change(names, 7)
        agree(7)
        # What a run compiles, it compiles of these.
        assert declarations_of(program) is not before


def test_next_run_sees_a_changed_closure():
    def make(offset, table):
        def gather(source, weight, target):
            return weight * 0 + offset + table[1]

        def move(value):
            nonlocal offset
            offset = value

        return gather, move

    table = np.array([0.0, 3.0])
    gather, move = make(2.0, table)
    program = program_of(gather)
    assert received(program) == [0, 5, 5]
    read = declarations_of(program)
    move(4.0)
    assert declarations_of(program) is not read
    read = declarations_of(program)
    table[1] = 30.0
    assert declarations_of(program) is not read
    assert received(program) == [0, 34, 34]


def test_nothing_is_read_again_while_nothing_changes():
    text = "def helper(x): return x + X\ndef gather(s, w, t): return helper(w) + table[0]"
    names = define(text, X=1, table=np.ones(2))
    program = program_of(names["gather"])
    first = declarations_of(program)
    assert declarations_of(program) is first and declarations_of(program()) is first
    names["table"][1] = 7
    assert declarations_of(program) is not first


def test_next_run_sees_what_is_assigned_to_the_class():
    # Two bytes, which no relaxation swaps: the general loop is compiled in a third of the time.
    class Widest(hpg.VertexProgram):
        value = hpg.Property("int16", initial=0, start=8)
        reduce = "max"

        def gather(source, weight, target):
            return min(source.value, weight)

    assert received(Widest, active=[0]) == [8, 2, 2]
    Widest.edges = "out"
    assert received(Widest, active=[2]) == [2, 3, 8]
    Widest.edges = "in"
    Widest.value = hpg.Property("int16", initial=5)
    assert received(Widest) == [5, 5, 5]
    Widest.value = hpg.Property("int8", initial=0, start="id")
    assert hpg.run(Widest, path(), active=[2], max_iteration=0).value.dtype == np.int8
    Widest.value = hpg.Property("int16", initial=9)
    # A kernel each would take a second: what is compiled next is compiled of what is read here.
    read = declarations_of(Widest)
    Widest.reduce = "min"
    assert declarations_of(Widest) is not read and declarations_of(Widest).reduce.name == "min"
    read = declarations_of(Widest)
    Widest.reduce, Widest.identity, Widest.idempotent = staticmethod(lambda a, b: a if a > b else b), -np.inf, True
    assert declarations_of(Widest) is not read and declarations_of(Widest).reduce.name != "min"
    Widest.max_iteration = 0
    Widest.gather = lambda source, weight, target: min(source.value, weight + 1)
    Widest.update = lambda vertex, message: message
    assert received(Widest) == [9, 9, 9]
    Widest.max_iteration = 1
    assert received(Widest) == [9, 3, 4]


# A reduce of one's own, by a function whose name stays when it becomes another.
LARGEST = "def chosen(a, b): return a if a > b else b\ndef reduce(a, b): return chosen(a, b)"
MIN = LARGEST.replace(">", "<")


def test_next_run_sees_a_changed_function_of_reduce_and_a_monoid_registered_again():
    names = define(LARGEST)
    program = program_of(lambda source, weight, target: weight)
    program.reduce, program.identity, program.idempotent = names["reduce"], -np.inf, True
    graph = hpg.Graph.from_edges([0, 1], [2, 2], [2.0, 3.0])
    assert hpg.run(program, graph).value.tolist() == [0, 0, 3]
    exec(MIN.partition("\n")[0], names)
    program.identity = np.inf
    assert hpg.run(program, graph).value.tolist() == [0, 0, 2]
    # The same code under a name, whose kernels are there.
    program = program_of(lambda source, weight, target: weight)
    hpg.semiring.register_monoid("chosen", define(LARGEST)["reduce"], -np.inf)
    program.reduce = "chosen"
    assert hpg.run(program, graph).value.tolist() == [0, 0, 3]
    hpg.semiring.register_monoid("chosen", define(MIN)["reduce"], np.inf)
    assert hpg.run(program, graph).value.tolist() == [0, 0, 2]


def test_an_instance_has_attributes_of_its_own():
    class Senders(hpg.VertexProgram):
        value = hpg.Property("int64")
        reduce = "plus"
        max_iteration = 1

        def gather(source, weight, target):
            return 1

        def update(vertex, message):
            return message

    program, other = Senders(), Senders()
    program.edges = "out"
    assert received(program) == [1, 1, 0]
    assert received(other) == received(Senders) == [0, 1, 1]
    program.edges = "all"
    assert received(program) == [1, 2, 1]
    program.gather = lambda source, weight, target: 10
    program.value = hpg.Property("int64", initial=4)
    assert received(program) == [10, 20, 10]
    program.max_iteration = 0
    program.notes = "whatever else it keeps"
    assert received(program) == [4, 4, 4]
    # What changes in the class, changes in its instances.
    del program.gather, program.max_iteration
    assert received(program) == [1, 2, 1]
    Senders.gather = lambda source, weight, target: 10
    assert received(program) == [10, 20, 10]


@pytest.mark.parametrize("of_class", [True, False])
@pytest.mark.parametrize(
    "name, value, error, message",
    [
        ("edges", "inwards", ValueError, r'Once.edges must be "in", "out" or "all", not \'inwards\''),
        ("activity", "some", ValueError, "Once.activity must be"),
        ("gather", lambda source: 1, TypeError, r"Once.gather must be written gather\(source, weight, target\)"),
        ("gather", 3, TypeError, "Once.gather must be a function"),
        ("reduce", "maximum", ValueError, "no monoid is called 'maximum'; similar: max"),
        ("reduce", None, TypeError, "Once has no reduce"),
        ("message", "complex64", TypeError, "Once.message is complex64"),
        ("max_iteration", 1.5, TypeError, "max_iteration must be a whole number"),
        ("aggregators", "total", TypeError, "Once.aggregators must be a tuple"),
        ("_hidden", hpg.Property("int64"), ValueError, "cannot be called that"),
        ("value", hpg.Property("complex64"), TypeError, "the type of Once.value is complex64"),
    ],
)
def test_what_is_assigned_is_checked_as_in_a_definition(of_class, name, value, error, message):
    program = program_of(lambda source, weight, target: weight)
    hpg.run(program, hpg.Graph.from_edges([], [], n_vertices=0))
    instance = program()
    setattr(program if of_class else instance, name, value)
    with pytest.raises(error, match=message):
        hpg.run(instance, path())
    with pytest.raises(error, match=message):
        hpg.run(instance, path())


def test_a_value_is_for_the_run_not_for_the_instance():
    class Scaled(hpg.VertexProgram):
        value = hpg.Property("float64")
        k = hpg.Parameter("float64", 2.0)
        reduce = "plus"

        def gather(source, weight, target):
            return weight

    for name, what in (("k", "parameter"), ("value", "property")):
        program = Scaled()
        setattr(program, name, 3.0)
        with pytest.raises(TypeError, match=rf"Scaled.{name} is a {what}, .* run\(program, graph, {name}=...\)"):
            hpg.run(program, path())


MODULES = {
    "settings.py": "OFFSET, OTHER = {value}, 1",
    "modes.py": "import enum\nclass Mode(enum.Enum):\n    RATE = {value}",
    "tools.py": "import numba\n@numba.vectorize\ndef scaled(x):\n    return x * {value}",
    "program.py": """
        import warnings
        import numpy as np, numba, hpgraph as hpg
        from numba import types
        from numba.extending import typeof_impl, models, register_model
        import modes, settings, tools
        from modes import Mode
        from tools import scaled

        class Unreadable:
            'Numba knows its type, and its value is unknown.'
        class UnreadableType(types.Dummy):
            pass
        register_model(UnreadableType)(models.OpaqueModel)
        typeof_impl.register(Unreadable)(lambda value, context: UnreadableType('unreadable'))
        unreadable = Unreadable()
        def first(x, anything):
            return x

        def other():
            return settings.OTHER
        class Once(hpg.VertexProgram):
            value = hpg.Property('float64')
            reduce = 'plus'
            max_iteration = 1
            def gather(source, weight, target):
                return other() + settings.OFFSET
            def update(vertex, message):
                return message
        print(hpg.run(Once, hpg.Graph.from_edges([0], [1])).value[1])
        A = hpg.Matrix(np.ones((1, 1)))
        for f in (lambda x: x * Mode.RATE.value, lambda x: scaled(x), lambda x: x * modes.Mode.RATE.value):
            print(hpg.apply(A, f)[0, 0])
        with warnings.catch_warnings():
            warnings.simplefilter('ignore', numba.NumbaWarning)
            for _ in range(2):
                print(hpg.apply(A, lambda x: first(x + 1, unreadable))[0, 0])
        """,
}


def test_next_process_sees_every_change_and_keeps_nothing_it_cannot_find_again(tmp_path):
    variables = {"HPGRAPH_CACHE_DIR": tmp_path / "cache", "NUMBA_CACHE_DIR": None, "PYTHONDONTWRITEBYTECODE": 1}
    path = os.pathsep.join((str(tmp_path), str(Path(hpg.__file__).parents[1])))

    def process(value):
        for name, text in MODULES.items():
            (tmp_path / name).write_text(textwrap.dedent(text).replace("{value}", str(value)))
        return [float(line) for line in printed(tmp_path / "program.py", PYTHONPATH=path, **variables).split()]

    def kept():
        return sorted(file.name for file in (tmp_path / "cache").rglob("*.code"))

    assert process(5) == [6, 5, 5, 5, 2, 2]
    files = kept()
    assert process(5) == [6, 5, 5, 5, 2, 2]
    assert kept() == files
    assert process(5000) == [5001, 5000, 5000, 5000, 2, 2]
    assert len(kept()) > len(files)
