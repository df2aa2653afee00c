"""DOT, the language of Graphviz: https://graphviz.org/doc/info/lang.html.

Nodes become names, the attribute weight of edges weights, and other attributes columns: those that `write_dot` wrote
as such, or that are asked for. What defaults say (``edge [weight=2]``) holds for nodes and edges that come later.
Ports, and attributes of the graph, are passed over; subgraphs are refused, as an edge to one stands for many.
"""

import re
from collections.abc import Iterator
from itertools import repeat
from pathlib import Path
from typing import Any

import numpy as np

from hpgraph.containers.graph import Graph
from hpgraph.containers.name_arrays import as_array
from hpgraph.core.errors import FileFormatError
from hpgraph.io.arcs import Arcs, Array, attributes, plain_names, whole_names
from hpgraph.io.line_format import numbers_of
from hpgraph.io.memory import Budget, Taken
from hpgraph.io.replace import replacing_text
from hpgraph.io.stream import content_of, shortened
from hpgraph.io.text_columns import TextColumn, as_bool, plain_values, type_of, value_text
from hpgraph.io.text_rows import text_rows

# Bytes of memory for one of a file while it is text; of a node and of an edge, and of a value, beside their text.
_BYTES, _NODE_BYTES, _EDGE_BYTES, _VALUE_BYTES = 5, 300, 150, 150
_WORD, _NUMERAL = r"[A-Za-z_\x80-\U0010ffff][\w\x80-\U0010ffff]*+", r"-?(?:\.[0-9]++|[0-9]++(?:\.[0-9]*+)?)"
_INNER = r'(?:[^"\\]++|\\.)*+'
_TOKEN = re.compile(
    rf"""(?:\s++|//[^\n]*+|/\*(?:[^*]|\*(?!/))*+\*/|(?m:^)\#[^\n]*+)*+
    (?:(?P<plain>{_WORD}|{_NUMERAL}(?![\w.\x80-\U0010ffff]))|(?P<mark>->|--|[{{}}\[\];,=:+])
    |"(?P<quoted>{_INNER})"|(?P<html><)|(?P<end>\Z)|(?P<other>.))""",
    re.VERBOSE | re.DOTALL | re.ASCII,
)
_QUOTED = re.compile(_INNER, re.DOTALL)
_PLAIN = re.compile(f"{_WORD}|{_NUMERAL}", re.ASCII)
_KEYWORDS = {"node", "edge", "graph", "digraph", "subgraph", "strict"}
# Attributes of the graph: what ids are, "number" or "text"; and the type of each column.
_IDS, _COLUMN = "hpgraph-ids", "hpgraph-column-"


def read_dot(path: Path, progress: bool | None, budget: Budget, *, columns: Any = None) -> Arcs:
    """A `Reader`, of one graph without subgraphs; ids are text unless all are whole numbers or `write_dot` said so."""
    taken = Taken(budget, path)
    try:
        text = content_of(path, progress, taken, _BYTES).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise FileFormatError(path, f"not a text in UTF-8, at byte {error.start}") from None
    return _Statements(path, text, taken, columns).read()


class _Statements:
    """A parser by recursive descent, which collects nodes and edges as it goes."""

    def __init__(self, path: Path, text: str, taken: Taken, columns: Any) -> None:
        self._path, self._text, self._at, self._wanted, self._take = path, text, 0, columns, taken.add
        self._numbers: dict[str, int] = {}
        self._sources, self._targets = list[int](), list[int]()
        self._ids = ""
        self._weights = TextColumn("edge", "weight", "")
        self._columns: dict[tuple[str, str], TextColumn] = {}
        self._defaults: dict[str, dict[str, str]] = {"graph": {}, "node": {}, "edge": {}}
        self._kind = self._value = ""
        self._begin = 0

    def read(self) -> Arcs:
        """All of the text."""
        self._advance()
        if self._keyword == "strict":
            self._advance()
        kind = self._keyword
        if kind not in ("graph", "digraph"):
            raise self._fault("it begins with no graph or digraph")
        self._advance()
        self._arrow = "->" if kind == "digraph" else "--"
        if not self._is("{"):
            self._identifier()
        self._expect("{")
        while not self._is("}"):
            if self._is(";"):
                self._advance()
            else:
                self._statement()
        self._advance()
        if self._kind != "end":
            raise self._fault("more follows the graph; one is read")
        return self._arcs(kind == "digraph")

    def _fault(self, reason: str) -> FileFormatError:
        return FileFormatError(self._path, reason, self._text.count("\n", 0, self._begin) + 1)

    def _advance(self) -> tuple[str, str]:
        """The kind and the text of the next token, and go to the one behind it: `_kind`, `_value`, from `_begin` on."""
        was = self._kind, self._value
        if was[0] != "end":
            found: Any = _TOKEN.match(self._text, self._at)
            kind = self._kind = found.lastgroup
            self._value, self._begin, self._at = found[kind], found.start(kind), found.end()
            if kind == "other":
                near = shortened(self._text[self._begin : self._begin + 40], 20)
                raise self._fault(f"what no token of DOT begins with: {near!r}")
            if kind == "html":
                self._value = self._html(self._begin)
        return was

    def _html(self, begin: int) -> str:
        depth = 1
        for mark in re.compile("[<>]").finditer(self._text, self._at):
            depth += 1 if mark[0] == "<" else -1
            if depth == 0:
                self._at = mark.end()
                return self._text[begin + 1 : self._at - 1]
        raise self._fault("a text in < > that does not end")

    def _is(self, *marks: str) -> bool:
        return self._kind == "mark" and self._value in marks

    @property
    def _keyword(self) -> str:
        word = self._value.lower() if self._kind == "plain" else ""
        return word if word in _KEYWORDS else ""

    def _expect(self, mark: str) -> None:
        if not self._is(mark):
            raise self._unexpected(repr(mark))
        self._advance()

    def _unexpected(self, expected: str) -> FileFormatError:
        found = "the end of the file" if self._kind == "end" else repr(shortened(self._value, 40))
        return self._fault(f"{expected} expected, {found} found")

    def _identifier(self) -> str:
        if self._kind not in ("plain", "quoted", "html") or self._keyword:
            raise self._unexpected("a name")
        kind, value = self._advance()
        if kind != "quoted":
            return value
        parts = [_unquoted(value)]
        while self._is("+"):
            self._advance()
            if self._kind != "quoted":
                raise self._unexpected("a text in quotation marks")
            parts.append(_unquoted(self._advance()[1]))
        return "".join(parts)

    def _statement(self) -> None:
        keyword = self._keyword
        if keyword == "subgraph" or self._is("{"):
            raise self._fault("it holds subgraphs, which are not read: take their braces out")
        if keyword:
            if keyword not in self._defaults:
                raise self._unexpected("a name")
            self._advance()
            if not self._is("["):
                raise self._unexpected(f"'[' after {keyword}")
            given = self._attributes()
            self._defaults[keyword] |= given
            if keyword == "graph":
                for title, value in given.items():
                    self._of_graph(title, value)
            return
        name = self._identifier()
        if self._is("="):
            self._advance()
            self._of_graph(name, self._identifier())
            return
        node, edges = self._node(name), []
        while self._is("->", "--"):
            if self._value != self._arrow:
                raise self._fault(f"edges of this graph are written {self._arrow}")
            self._advance()
            if self._keyword == "subgraph" or self._is("{"):
                raise self._fault("an edge to a subgraph: write an edge to each of its nodes")
            edges.append((node, node := self._node(self._identifier())))
        given = self._attributes()
        if not edges:
            self._keep("node", node, given)
        for source, target in edges:
            self._take(_EDGE_BYTES)
            self._sources.append(source)
            self._targets.append(target)
            if given or self._defaults["edge"]:
                self._keep("edge", len(self._sources) - 1, {**self._defaults["edge"], **given})

    def _node(self, name: str) -> int:
        """The number of a node, the last of its statement's name; what stands behind colons is passed over."""
        for _ in range(2):
            if self._is(":"):
                self._advance()
                self._identifier()
        number = self._numbers.get(name)
        if number is None:
            number = self._numbers[name] = len(self._numbers)
            self._take(_NODE_BYTES + 4 * len(name))
            self._keep("node", number, self._defaults["node"])
        return number

    def _attributes(self) -> dict[str, str]:
        given: dict[str, str] = {}
        while self._is("["):
            self._advance()
            while not self._is("]"):
                title = self._identifier()
                self._expect("=")
                given[title] = self._identifier()
                if self._is(";", ","):
                    self._advance()
            self._advance()
        return given

    def _of_graph(self, title: str, value: str) -> None:
        of, _, column = title.removeprefix(_COLUMN).partition("-")
        if title == _IDS:
            self._ids = value
        elif (
            title.startswith(_COLUMN) and of in ("node", "edge") and (self._wanted is None or self._chosen(of, column))
        ):
            self._columns[of, column] = TextColumn(of, column, value)

    def _chosen(self, of: str, title: str) -> bool:
        return self._wanted is True or (self._wanted is not None and of == "edge" and title in self._wanted)

    def _keep(self, of: str, place: int, given: dict[str, str]) -> None:
        """Store the requested attributes of a node or an edge."""
        for title, value in given.items():
            if of == "edge" and title == "weight":
                column = self._weights
            elif (of, title) in self._columns:
                column = self._columns[of, title]
            elif self._chosen(of, title):
                column = self._columns[of, title] = TextColumn(of, title, "")
            else:
                continue
            column.values[place] = value
            self._take(_VALUE_BYTES + 4 * len(value))

    def _arcs(self, directed: bool) -> Arcs:
        n, m, names = len(self._numbers), len(self._sources), list(self._numbers)
        columns: dict[str, dict[str, Any]] = {"node": {}, "edge": {}}
        for (of, title), column in self._columns.items():
            column.type = column.type or _type_of_texts(list(column.values.values()))
            columns[of][title] = column.column(n if of == "node" else m, self._path)
        missing = [] if self._wanted in (None, True) else [one for one in self._wanted if one not in columns["edge"]]
        if missing:
            raise ValueError(f"columns: edges of {self._path} have no attribute called {missing[0]!r}")
        return Arcs(
            np.array(self._sources, np.int64), np.array(self._targets, np.int64), self._weight(m), n, directed,
            self._named(names), columns=columns["edge"], vertex_columns=columns["node"],
        )  # fmt: skip

    def _named(self, names: list[str]) -> Any:
        numbers = None if self._ids == "text" else whole_names(names)
        if self._ids == "number" and numbers is None:
            raise FileFormatError(self._path, "its ids are said to be numbers, and some are none")
        if numbers is None:
            return names
        return as_array(numbers) if self._ids == "number" or numbers != list(range(len(names))) else None

    def _weight(self, m: int) -> Array | None:
        """The weights, 1 where others have one; None where no edge has."""
        if not self._weights.values:
            return None
        texts: list[Any] = [self._weights.values.get(place, "1") for place in range(m)]
        if _type_of_texts(texts) == "boolean":
            return np.array(list(map(as_bool, texts)))
        try:
            return numbers_of(texts)
        except ValueError:
            raise FileFormatError(self._path, "a weight that is no number") from None


def _unquoted(text: str) -> str:
    r"""What stands for a text between quotation marks: ``\"`` is one, and a backslash joins lines; others stay."""
    return re.sub(r'\\(\\|"|\r?\n)', lambda found: {"\\": "\\\\", '"': '"'}.get(found[1], ""), text)


def _type_of_texts(texts: list[Any]) -> str:
    """The narrowest type that all texts are of."""
    if all(text.lower() in ("true", "false") for text in texts):
        return "boolean"
    for parse, kind in ((int, "long"), (float, "double")):
        try:
            for text in texts:
                parse(text)
        except ValueError:
            continue
        return kind
    return "string"


def write_dot(graph: Graph, path: Path) -> None:
    """A `Writer`: an undirected edge once, with all columns; attributes of the graph say what ids and columns are."""
    arcs = Arcs.of(graph).each_edge_once()
    named = plain_names(arcs.names, path)
    ids = [_quoted(str(name), path) for name in (range(arcs.n_vertices) if named is None else named.tolist())]
    weight = {} if arcs.weight is None else {"weight": arcs.weight}
    of_edges, of_nodes = (
        _attribute_lists(columns, count, path)
        for columns, count in (({**weight, **arcs.columns}, len(arcs.source)), (arcs.vertex_columns, arcs.n_vertices))
    )
    arrow = "->" if graph.directed else "--"
    with replacing_text(path) as text:
        text.write(f"{'di' if graph.directed else ''}graph {{\n")
        if named is not None:
            text.write(f'"{_IDS}"={"number" if named.dtype.kind in "iu" else "text"}\n')
        for of, columns in (("edge", arcs.columns), ("node", arcs.vertex_columns)):
            for title, column in columns.items():
                text.write(f"{_quoted(f'{_COLUMN}{of}-{title}', path)}={type_of(column)}\n")
        text.writelines(f"{id}{given}\n" for id, given in zip(ids, of_nodes, strict=True))
        ends = (ids, arcs.source), (ids, arcs.target)
        text.writelines(text_rows(("", f" {arrow} ", "", "\n"), *ends, (list(of_edges), None)))
        text.write("}\n")


def _attribute_lists(columns: Any, count: int, path: Path) -> Iterator[str]:
    """What each element has in columns; what is missing is left out."""
    if not columns:
        yield from repeat("", count)
        return
    quoted = {_quoted(title, path): column for title, column in columns.items()}
    for given in attributes(quoted, count, plain_values):
        listed = ", ".join(f"{title}={_quoted(value_text(value), path)}" for title, value in given.items())
        yield f" [{listed}]" if listed else ""


def _quoted(text: str, path: Path) -> str:
    """A text as an ID of DOT."""
    inner = text.replace('"', '\\"')
    whole = text.encode(errors="replace").decode() == text
    if "\0" in text or not whole or not _QUOTED.fullmatch(inner) or _unquoted(inner) != text:
        raise ValueError(
            f"{path}: DOT holds no NUL, half of a surrogate pair, or backslash before a quotation mark or the end of a "
            f"line or text, and there is {shortened(repr(text), 40)}; .npz holds any text"
        )
    return text if _PLAIN.fullmatch(text) and text.lower() not in _KEYWORDS else f'"{inner}"'
