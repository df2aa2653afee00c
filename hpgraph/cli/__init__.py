"""The command ``hpgraph``: the content of a graph file, and the built-in algorithms on it.

Nothing heavier than argparse is imported until a command runs, so that ``hpgraph --help`` answers at once.
"""

import os
import sys
from collections.abc import Sequence
from typing import Any

from hpgraph.cli.output import any_character, check_output, print_message, results_apart, warnings_in_a_line
from hpgraph.cli.parser import parser
from hpgraph.core.config import config
from hpgraph.core.errors import HpgraphError

BAD_INPUT = 2
"""Exit status when a file, an argument or the machine does not allow what was asked for; argparse uses the same."""

_INTERRUPTED = 130


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command."""
    arguments = parser().parse_args(argv)
    settings = {
        **({"progress": False} if arguments.no_progress else {}),
        **({"threads": arguments.threads} if arguments.threads is not None else {}),
    }
    try:
        with config(**settings), any_character(), warnings_in_a_line(), results_apart(arguments):
            check_output(getattr(arguments, "output", None))
            _run(arguments)
            if sys.stdout is not None:
                sys.stdout.flush()
    except KeyboardInterrupt:
        return _INTERRUPTED
    except BrokenPipeError:
        # The reader, such as `head`, has closed the pipe; Python's flush at exit must not fail.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except (HpgraphError, ValueError, TypeError, IndexError, KeyError, MemoryError, OSError) as error:
        if arguments.debug:
            raise
        print_message(_one_line(error))
        return BAD_INPUT
    return 0


def _run(arguments: Any) -> None:
    """Run the command, with its graph if it has one; modules are imported only now, as they import NumPy."""
    from hpgraph.cli import commands, structures, values
    from hpgraph.cli.graph_input import load

    module = next(module for module in (commands, structures, values) if hasattr(module, arguments.command))
    # A conversion need not have its graph in memory.
    graph = [load(arguments)] if hasattr(arguments, "file") and arguments.command != "convert" else []
    getattr(module, arguments.command)(*graph, arguments)


def _one_line(error: BaseException) -> str:
    if isinstance(error, OSError) and error.filename is not None:
        return f"{error.filename}: {error.strerror or error}"
    text = str(error.args[0]) if isinstance(error, KeyError) and error.args else str(error)
    return " ".join(text.split()) or type(error).__name__
