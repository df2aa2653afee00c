"""Scripts that make shells complete the commands and their options, made from what reads them."""

import argparse


def script(top: argparse.ArgumentParser, shell: str) -> str:
    """What a shell is to run."""
    options = {name: _options(command) for name, command in _commands(top).items()}
    if shell == "fish":
        lines = [f"complete -c hpgraph -n __fish_use_subcommand -f -a '{' '.join(options)}'"]
        lines += [
            f"complete -c hpgraph -n '__fish_seen_subcommand_from {name}' -l {option.removeprefix('--')}"
            for name, known in options.items()
            for option in known
            if option.startswith("--")
        ]
        return "\n".join(lines)
    cases = "\n".join(f"    {name}) known='{' '.join(known)}' ;;" for name, known in options.items())
    head = "autoload -U +X bashcompinit && bashcompinit\n" if shell == "zsh" else ""
    return f"""{head}_hpgraph() {{
  local word=${{COMP_WORDS[COMP_CWORD]}} known=
  if [ "$COMP_CWORD" = 1 ]; then
    COMPREPLY=($(compgen -W '{" ".join(options)}' -- "$word"))
    return
  fi
  case ${{COMP_WORDS[1]}} in
{cases}
  esac
  case $word in
    -*) COMPREPLY=($(compgen -W "$known" -- "$word")) ;;
    *) COMPREPLY=($(compgen -f -- "$word")) ;;
  esac
}}
complete -o filenames -F _hpgraph hpgraph"""


def _commands(parser: argparse.ArgumentParser) -> dict[str, argparse.ArgumentParser]:
    below = (action for action in parser._actions if isinstance(action, argparse._SubParsersAction))
    return dict(next(below).choices)


def _options(parser: argparse.ArgumentParser) -> list[str]:
    return [option for action in parser._actions for option in action.option_strings]
