"""What each button of the run page means: which event it asks the engine for, and which fields of the form go with it."""

from collections.abc import Mapping
from typing import NamedTuple

from workflows import events as ev

WORDS_MAX = 500  # a reason longer than this belongs into the postmortem


class Act(NamedTuple):
    kind: type[ev.Event]
    fields: tuple[str, ...] = ()

    def said(self, form: Mapping[str, str]) -> dict[str, str]:
        return {name: form.get(name, "")[:WORDS_MAX] for name in self.fields}


ACTS: Mapping[str, Act] = {
    "choose": Act(ev.Chosen, ("value",)),
    "check": Act(ev.CheckAsked),
    "hands": Act(ev.HandsDone, ("evidence",)),
    "plan": Act(ev.PlanAsked),
    "confirm": Act(ev.Confirmed, ("text",)),
    "approve": Act(ev.Approved, ("plan_digest",)),
    "deny": Act(ev.Denied, ("plan_digest", "reason")),
    "break-glass": Act(ev.GlassBroken, ("plan_digest", "reason")),
    "execute": Act(ev.ExecuteAsked),
    "settle": Act(ev.Settled, ("outcome", "reason")),
    "back": Act(ev.WentBack, ("step",)),
    "abort": Act(ev.Aborted, ("reason",)),
}
# What stands beside the engine: about the run's order and locks (`app.runs.takeover`), who sees to it (`app.runs.minders`), and who is
# sent to the rack (`app.runs.technician`).
BESIDE = ("withdraw", "take-over", "hand-over", "have-it", "comment", "technician-link", "revoke-link")
