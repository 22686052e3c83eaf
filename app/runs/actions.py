"""What each button of the run page means: which event it asks the engine for, and which fields of the form go with it."""

from collections.abc import Mapping
from typing import NamedTuple

from workflows.engine import events as ev

WORDS_MAX = 500  # a reason longer than this belongs into the postmortem
TEXT_MAX = 20_000  # of what a command printed and a step asks for; a step that asks for a line takes its beginning


class Act(NamedTuple):
    kind: type[ev.Event]
    fields: tuple[str, ...] = ()
    fixed: Mapping[str, str] = {}

    def values_from(self, form: Mapping[str, str]) -> dict[str, str]:
        return {**{name: form.get(name, "")[: _LENGTHS.get(name, WORDS_MAX)] for name in self.fields}, **self.fixed}


_LENGTHS: Mapping[str, int] = {"evidence": TEXT_MAX}


ACTS: Mapping[str, Act] = {
    "choose": Act(ev.Chosen, ("value", "by_hand")),
    "check": Act(ev.CheckAsked),
    "check-by-hand": Act(ev.CheckAsked, fixed={"by_hand": "yes"}),
    "hands": Act(ev.HandsDone, ("evidence",)),
    "correct": Act(ev.Corrected, ("step", "evidence")),
    "plan": Act(ev.PlanAsked),
    "plan-by-hand": Act(ev.PlanByHandAsked),
    "show-by-hand": Act(ev.ByHandAsked, ("accepted",)),
    "look-by-hand": Act(ev.ByHandLookAsked),
    "confirm": Act(ev.Confirmed, ("text",)),
    "approve": Act(ev.Approved, ("plan_digest", "accepted")),
    "deny": Act(ev.Denied, ("plan_digest", "reason")),
    "break-glass": Act(ev.GlassBroken, ("plan_digest", "reason", "accepted")),
    "execute": Act(ev.ExecuteAsked, ("accepted",)),
    "settle": Act(ev.Settled, ("outcome", "reason")),
    "back": Act(ev.WentBack, ("step",)),
    "abort": Act(ev.Aborted, ("reason",)),
}
# What stands beside the engine: about the run's order and locks (`app.runs.people.takeover`), who is responsible (`app.runs.people.owners`), who is
# sent to the rack (`app.runs.people.technician_link`), what was printed by a command given by hand (`app.runs.pasted`), and who is reminded of a plan (`app.runs.people.approval_requests`).
BESIDE = ("withdraw", "take-over", "hand-over", "have-it", "comment", "technician-link", "revoke-link", "remind", "paste")
