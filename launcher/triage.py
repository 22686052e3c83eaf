"""`./run triage FILE...`: what the pasted outputs of a node say is wrong. Needs nothing installed and no server."""

import json
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from launcher.say import Stop, write

if TYPE_CHECKING:  # they are loaded in the process that reads
    from workflows.engine.core import Cure, Situation
    from workflows.triage import Read, Triage
    from workflows.triage.next import Command

ORDER = ("act", "watch", "info")


def triage(args: list[str]) -> int:
    """Exit code 0: all of it is good; 1: it is not; 2: nothing could be read; 3: a limit was reached, or reading crashed."""
    from confined import Stopped, run
    from workflows.triage.json_answer import exit_code, stopped

    as_json, names = "--json" in args, [name for name in args if name != "--json"]
    if not names:
        raise Stop("./run triage needs at least one file, or - for what is piped in. With --json it prints one JSON object.")
    try:
        answered, words = run(_read, [_content(name) for name in names])
    except Stopped as why:
        answered, words = stopped(why.why, str(why)), str(why)
    write(json.dumps(answered, indent=2, ensure_ascii=False) if as_json else words)
    return exit_code(answered)


def _content(name: str) -> tuple[str, bytes]:
    try:
        return name, sys.stdin.buffer.read() if name == "-" else Path(name).read_bytes()
    except OSError as error:
        raise Stop(f"{name} cannot be read: {error.strerror}.") from error


def _read(texts: list[tuple[str, bytes]]) -> tuple[dict[str, Any], str]:
    """The answer for programs, and the same for people. Runs in a process of its own, with limits."""
    from workflows.triage import decoded
    from workflows.triage import triage as read
    from workflows.triage.json_answer import answer

    found = read([(name, decoded(content)) for name, content in texts], read_at=time.time())
    return answer(found), "\n".join(_lines(found))


def _lines(found: "Triage") -> Iterator[str]:
    from workflows.triage import NAMELESS

    for situation in sorted(found.situations, key=lambda s: ORDER.index(s.severity)):
        yield f"{situation.severity.upper()}  {situation.node}: {situation.title}\n"
        yield f"  {situation.meaning}\n"
        yield from _cures(situation)
        yield from (f"  {line.source}: {line.line}" for line in situation.evidence)
        yield from _runbooks(situation)
        yield ""
    yield from map(_piece, found.reads)
    for node in found.fleet.nodes or (NAMELESS,):
        yield from _more(node, found.missing(node))
    if not found.understood:
        yield "\nNothing of this could be read."
    elif found.good:
        yield "\nWhat was pasted is good. Only what is listed above as read was looked at."
    else:
        yield from (f"\nNot good: {why}" for why in found.not_good_because)
    yield from (f"Not looked at: {what}" for what in found.not_looked_at)


def _cures(situation: "Situation") -> Iterator[str]:
    for number, cure in enumerate(situation.cures, 1):
        yield f"  {number}. {cure.text}"
        yield from (f"       {' '.join(argv)}" for argv in cure.argv)
        yield from (f"     {what}" for what in _conditions(cure))
    if situation.cures:
        yield ""


def _conditions(cure: "Cure") -> Iterator[str]:
    if cure.releases:
        yield f"OpenZFS {cure.releases}"
    if cure.needs:
        yield f"needs: {cure.needs}"
    if cure.save_first:
        yield f"save first: {cure.save_first}"


def _runbooks(situation: "Situation") -> Iterator[str]:
    """The pages that say what to do by hand, and which of their parameters the paste already holds."""
    from workflows.triage import manuals

    filled = {answer.runbook: answer.params for answer in situation.answers}
    for slug in manuals(situation):
        arguments = filled.get(slug, situation.subject)
        yield f"  runbook: docs/runbooks/{slug}.md  ({', '.join(f'{name} {value}' for name, value in arguments.items() if value)})"


def _more(node: str, commands: "tuple[Command, ...]") -> Iterator[str]:
    if commands:
        yield f"\nTo know more of {node}, run there as root, and give what they print as well. All of these only read:"
    for command in commands:
        yield f"  {command.command}    # {command.why}"


def _piece(piece: "Read") -> str:
    what = piece.command or piece.source or "no output we know"
    place = f"{piece.name}:{piece.first}-{piece.last}"
    why = " ".join(word for word in (piece.reason, f"({piece.line.strip()!r})" if piece.line else "", *piece.notes) if word)
    return f"{piece.outcome:9} {place:28} {what}" + (f"  {why}" if why else "")
