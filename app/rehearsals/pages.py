"""What the page of a rehearsal shows."""

import shlex
from datetime import datetime
from typing import Any

from app.accounts.models import User
from app.accounts.rights import OPERATE, may
from app.rehearsals.models import Rehearsal
from app.rehearsals.services import is_lost
from workflows.rehearsal.play import SUPPOSE
from workflows.runbooks import RUNBOOKS

RING_AGAIN_SECONDS = 15, 17  # a page that looks every second rings about twice, not every time
ENDINGS = {
    "done": ("comes to its end", "good"),
    "asks": ("waits for a choice", "info"),
    "refused": ("would be refused", "bad"),
    "stops": ("cannot be foretold further", "watch"),
}
TONES = {"done": "done", "asks": "now", "refused": "stopped", "stops": "unknown"}  # of the last step


def waits_long(this: Rehearsal, now: datetime) -> bool:
    first, last = RING_AGAIN_SECONDS
    return first <= (now - this.asked_at).total_seconds() % 30 < last


def detail(this: Rehearsal, now: datetime, user: User) -> dict[str, Any]:
    context = {
        "section": "fleet",
        "rehearsal": this,
        "situation": this.situation,
        "node": this.situation.node,
        "runbook": RUNBOOKS.get(this.runbook),
        "title": RUNBOOKS[this.runbook].title if this.runbook in RUNBOOKS else this.runbook,
        "waiting": this.ended_at is None and not is_lost(this, now),
        "unplayed": is_lost(this, now),
        "age": _age(this),
        "may_start": this.situation.is_open and may(user, OPERATE, this.situation.node.name),
    }
    return context | _played(this, this.result) if this.result else context


def _age(this: Rehearsal) -> str:
    """How old the report was on which it was played."""
    if this.reported_at is None:
        return ""
    seconds = max(0, round((this.asked_at - this.reported_at).total_seconds()))
    return f"{seconds} s" if seconds < 120 else f"{seconds // 60} min" if seconds < 7200 else f"{seconds // 3600} h"


def _played(this: Rehearsal, played: dict[str, Any]) -> dict[str, Any]:
    words, tone = ENDINGS[played["ending"]]
    acts = [_act(act) for act in played["acts"]]
    if acts:
        acts[-1]["mark"] = TONES[played["ending"]]
    return {
        "played": played,
        "lost": list(dict.fromkeys(loss for act in acts for loss in act.get("lost", ()))),
        "acts": acts,
        "standing": words,
        "tone": tone,
        "commands": [act["command"] for act in acts if act["kind"] == "EXECUTE" and act["exit_code"] is not None],
        "fit": [choice for choice in played["choices"] if not choice["against"]],
        "unfit": [choice for choice in played["choices"] if choice["against"]],
        "kept": [(f"choice.{step}", value) for step, value in this.choices.items() if step != played["asks"]],
        "asks": f"choice.{played['asks']}" if played["asks"] else "",
        "supposes": played["asks"] == SUPPOSE,
    }


def _act(act: dict[str, Any]) -> dict[str, Any]:
    against = [line for line in act["lines"] if line["outcome"] != "pass"]
    passed = [line for line in act["lines"] if line["outcome"] == "pass"]
    mark = "passed" if act["who"] == "passed over" else "done"
    return {**act, "against": against, "passed": passed, "mark": mark, "command": shlex.join(act["argv"]) if act["argv"] else ""}
