"""`./run triage FILE...`: what the pasted outputs of a node say is wrong. Needs nothing installed and no server."""

import sys
from pathlib import Path

from launcher.say import Stop, say

ORDER = ("act", "watch", "info")


def triage(args: list[str]) -> int:
    """Exit 0: nothing to act on; 1: something is; 2: nothing could be read."""
    from workflows.triage import triage as read

    if not args:
        raise Stop("./run triage needs at least one file, or - for what is piped in.")
    found = read([_text(name) for name in args])
    for situation in sorted(found.situations, key=lambda s: ORDER.index(s.severity)):
        say(f"{situation.severity.upper()}  {situation.node}: {situation.title}\n")
        say(f"  {situation.meaning}\n")
        for line in situation.evidence:
            say(f"  {line.source}: {line.line}")
        say("")
    for piece in found.reads:
        say(_piece(piece))
    if not found.understood:
        say("\nNothing of this could be read.")
        return 2
    if not found.situations:
        say("\nWhat could be read shows nothing wrong. Only what stands above as read was looked at.")
    return 1 if any(situation.severity == "act" for situation in found.situations) else 0


def _text(name: str) -> tuple[str, str]:
    try:
        raw = sys.stdin.buffer.read() if name == "-" else Path(name).read_bytes()
    except OSError as error:
        raise Stop(f"{name} cannot be read: {error.strerror}.") from error
    return name, raw.decode("utf-8", "backslashreplace")


def _piece(piece) -> str:
    what = piece.command or piece.source or "no output we know"
    place = f"{piece.name}:{piece.first}-{piece.last}"
    why = " ".join(word for word in (piece.reason, f"({piece.line.strip()!r})" if piece.line else "", *piece.notes) if word)
    return f"{piece.outcome:9} {place:28} {what}" + (f"  {why}" if why else "")
