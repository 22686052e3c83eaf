"""`./run triage FILE...`: what the pasted outputs of a node say is wrong. Needs nothing installed and no server."""

import sys
from pathlib import Path

from launcher.say import Stop, say

ORDER = ("act", "watch", "info")


def triage(args: list[str]) -> int:
    """Exit 0: nothing to act on; 1: something is; 2: nothing could be read."""
    from workflows.triage import NAMELESS
    from workflows.triage import triage as read

    if not args:
        raise Stop("./run triage needs at least one file, or - for what is piped in.")
    found = read([_text(name) for name in args])
    for situation in sorted(found.situations, key=lambda s: ORDER.index(s.severity)):
        say(f"{situation.severity.upper()}  {situation.node}: {situation.title}\n")
        say(f"  {situation.meaning}\n")
        for line in situation.evidence:
            say(f"  {line.source}: {line.line}")
        _runbooks(situation)
        say("")
    for piece in found.reads:
        say(_piece(piece))
    for node in found.fleet.nodes or (NAMELESS,):
        _more(node, found.missing(node))
    if not found.understood:
        say("\nNothing of this could be read.")
        return 2
    if not found.situations:
        say("\nWhat could be read shows nothing wrong. Only what stands above as read was looked at.")
    return 1 if any(situation.severity == "act" for situation in found.situations) else 0


def _runbooks(situation) -> None:
    """The pages that say what to do by hand, and what of their parameters the paste already tells."""
    from workflows.triage import manuals

    filled = {answer.runbook: answer.params for answer in situation.answers}
    for slug in manuals(situation):
        told = filled.get(slug, situation.subject)
        say(f"  runbook: docs/runbooks/{slug}.md  ({', '.join(f'{name} {value}' for name, value in told.items() if value)})")


def _more(node: str, commands) -> None:
    if commands:
        say(f"\nTo know more of {node}, run there as root, and give what they print as well. All of these only read:")
    for command in commands:
        say(f"  {command.command}    # {command.why}")


def _text(name: str) -> tuple[str, str]:
    from workflows.triage import decoded

    try:
        raw = sys.stdin.buffer.read() if name == "-" else Path(name).read_bytes()
    except OSError as error:
        raise Stop(f"{name} cannot be read: {error.strerror}.") from error
    return name, decoded(raw)


def _piece(piece) -> str:
    what = piece.command or piece.source or "no output we know"
    place = f"{piece.name}:{piece.first}-{piece.last}"
    why = " ".join(word for word in (piece.reason, f"({piece.line.strip()!r})" if piece.line else "", *piece.notes) if word)
    return f"{piece.outcome:9} {place:28} {what}" + (f"  {why}" if why else "")
