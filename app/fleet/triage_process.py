"""What triage computes, in a process of its own: no request, no database, no network. Texts go in as bytes, plain values come out."""

import multiprocessing
import threading
import time
from collections.abc import Callable, Sequence
from multiprocessing.context import BaseContext
from typing import Any, TypeVar

import confined
from app.fleet.pages import rows
from app.fleet.severity import SEVERITY_TONES, SEVERITY_WORDS, margin, rank
from workflows.analysis.judgement import concerns
from workflows.engine.core import Situation
from workflows.facts import known
from workflows.runbooks import RUNBOOKS
from workflows.triage import NAMELESS, Triage, decoded, json_answer, manuals, triage

T = TypeVar("T")
Texts = Sequence[tuple[str, bytes]]  # (name, content)

AT_ONCE = 2
AROUND = 2  # lines before and after one that is shown from the paste
SHOWN_MAX = 60  # lines of the paste for one situation
READS_MAX = 500  # outputs and stretches of prose that the page lists
OUTCOME_TONES = {"read": "good", "partly": "watch", "not read": "watch", "left out": "idle"}
_free = threading.BoundedSemaphore(AT_ONCE)


class Busy(Exception):
    """As many texts are being read as may be at once."""

    def __init__(self) -> None:
        super().__init__(
            f"{AT_ONCE} other texts are being read just now. Nothing of yours was read or lost: send it again in some seconds."
        )


def run(work: Callable[[Texts], T], texts: Texts) -> T:
    """`work(texts)` in a process of its own. Raises Busy, and `confined.Stopped` where a limit was reached."""
    if not _free.acquire(blocking=False):
        raise Busy
    try:
        return confined.run(work, texts, context=_context())
    finally:
        _free.release()


def _context() -> BaseContext:
    """Processes are forked from a server that has one thread and has imported all this already: the web process has many threads."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["app.fleet.triage_preload"])
    return context


def as_json(texts: Texts) -> dict[str, Any]:
    """The answer for programs; see `workflows/triage/json_answer.py`."""
    return json_answer.answer(_read(texts))


def as_page(texts: Texts) -> dict[str, Any]:
    """What the template of the page shows, and under "kept_as" what to keep as evidence where that is asked for."""
    found = _read(texts)
    situations = sorted(found.situations, key=lambda s: (rank(s.severity), margin(s, found.fleet)))
    return {
        "answered": True,
        "understood": found.understood,
        "good": found.good,
        "not_good_because": found.not_good_because,
        "not_looked_at": found.not_looked_at,
        "situations": [_voiced(situation, found) for situation in situations],
        "more": [{"node": node, "commands": commands} for node in _asked_of(found) if (commands := found.missing(node))],
        "nodes": [_node(name, facts, found) for name, facts in found.fleet.nodes.items()],
        "reads": [{"read": read, "tone": OUTCOME_TONES[read.outcome]} for read in found.reads[:READS_MAX]],
        "reads_left_out": max(0, len(found.reads) - READS_MAX),
        "kept_as": {"nodes": ", ".join(found.fleet.nodes), "situations": [situation.key for situation in found.situations]},
    }


def _read(texts: Texts) -> Triage:
    return triage([(name, decoded(content)) for name, content in texts], read_at=time.time())


def _asked_of(found: Triage) -> list[str]:
    return list(found.fleet.nodes) or [NAMELESS]


def _node(name: str, facts: Any, found: Triage) -> dict[str, Any]:
    pools = [
        {
            "pool": {"name": row.pool.name, "state": row.pool.state},
            "tone": row.tone,
            "text": row.scan,
            "left": row.left,
            "left_tone": row.left_tone,
        }
        for row in rows.pool_rows(facts, concerns(one for one in found.situations if one.node == name))
    ]
    disks = f"{len(facts.disks)} disks" if known(facts.disks) else "disks not known"
    return {"name": name, "pools": pools, "pools_unknown": rows.why_unknown(facts.pools), "disks": disks}


def _voiced(situation: Situation, found: Triage) -> dict[str, Any]:
    pages = [{"slug": slug, "title": RUNBOOKS[slug].title} for slug in manuals(situation)]
    voice = {"tone": SEVERITY_TONES[situation.severity], "urgency": SEVERITY_WORDS[situation.severity]}
    return {
        "is": situation,
        "cures": [cure.as_dict() for cure in situation.cures],
        "manuals": pages,
        "shown": _shown(situation, found),
        **voice,
    }


def _shown(situation: Situation, found: Triage) -> list[dict[str, Any]]:
    """The lines it was read from with some around them, as they were pasted. `apart` begins a stretch that does not follow the one before."""
    marked = {(mark.name, mark.line) for mark in found.marks(situation)}
    near = sorted({(name, line + step) for name, line in marked for step in range(-AROUND, AROUND + 1)})
    shown: list[dict[str, Any]] = []
    before = ("", 0)
    for name, number in near[:SHOWN_MAX]:
        if 0 < number <= len(found.lines[name]):
            apart = bool(shown) and before != (name, number - 1)
            text = found.lines[name][number - 1]
            shown.append({"name": name, "number": number, "text": text, "hit": (name, number) in marked, "apart": apart})
            before = (name, number)
    return shown
