"""Which members, disks and bays open runs have in hand. Every page that shows one says so, and no second run begins on it.

Things are compared and never situations: one lost member shows as several situations, and what is found tomorrow has another key.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from django.db import connection
from django.db.models import QuerySet

from app.core.compiled_queries import ModelsWrittenOnce
from app.fleet.models import LabelSeen, Sighting, Situation
from app.runs.models import Run
from workflows.guards.bay import has_no_bay, place_of
from workflows.guards.several import CHOSEN
from workflows.runbooks import RUNBOOKS

BEGINNING = 0x510755  # advisory lock: asking what is in hand and beginning a run on it must not interleave
MEMBERS = ("vdev_guid", "spare_guid", "new_guid", "goes_guid", "keeps_guid")
DISKS = ("old_wwid", *CHOSEN, "keeps_wwid", "from_wwid")
BAYS = (("enclosure", "slot"), ("new_enclosure", "new_slot"))
LEFT_TO_ANOTHER_RUN = frozenset({("spare-return", "wait")})  # what this step waits for is done in another run, on the same member


def things(params: Mapping[str, str]) -> frozenset[str]:
    """The members, disks and bays that the parameters of a run, or the subject of a situation, name."""
    found = {f"disk {params[name]}" for name in DISKS if params.get(name)}
    found |= {f"member {params[name]}" for name in MEMBERS if params.get(name)}
    places = (place_of({"enclosure": params.get(of, ""), "slot": params.get(slot, "")}) for of, slot in BAYS)
    found |= {f"bay {place[0]}/{place[1]}" for place in places if place}
    return frozenset(found)


def wanted(runbook: str, params: Mapping[str, str]) -> frozenset[str]:
    """What a run of this runbook takes in hand: the things it names, or the pool, which keeps off a second run of the same runbook alone."""
    whole = {f"pool {params['pool_guid']} for {runbook}"} if params.get("pool_guid") else set()
    return things(params) or frozenset(whole)


def of(run: Run) -> frozenset[str]:
    """With what was chosen on the way; nothing while it waits for what another run does."""
    if (run.runbook, run.step) in LEFT_TO_ANOTHER_RUN:
        return frozenset()
    return wanted(run.runbook, run.params) | things(run.here.params)


@ModelsWrittenOnce
def open_runs() -> QuerySet[Run]:
    return Run.objects.filter(ended_at=None).select_related("requester").order_by("pk")


def run_on(these: Iterable[str], runs: list[Run] | None = None) -> Run | None:
    """The open run that has one of these in hand; of several the first that began."""
    sought = frozenset(these)
    return next((run for run in (open_runs() if runs is None else runs) if sought & of(run)), None) if sought else None


def alone() -> None:
    """No other run begins until this transaction ends."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(%s)", [BEGINNING])


def why_not(runbook: str, params: Mapping[str, str]) -> str:
    """Why no run begins on these; "" when no run has them."""
    sought = wanted(runbook, params)
    run = run_on(sought)
    if run is None:
        return ""
    shared = ", ".join(sorted(sought & of(run)))
    return f"Run {run.pk} of {run.requester} has {shared} in hand. Go on with that run, or end it before another begins on the same."


def under_way() -> dict[str, Run]:
    """Key of a situation -> the open run on it, or on a member, disk or bay of it. For pages of apps that do not know runs."""
    runs = open_runs()
    if not runs:
        return {}
    by_key = {run.situation_key: run for run in runs if run.situation_key}
    beside = Situation.objects.filter(closed_at=None, node__name__in={run.node for run in runs}).only("key", "data")
    found = {one.key: run_on(concerned(one), runs) for one in beside}
    return {key: run for key, run in found.items() if run is not None} | by_key


def concerned(situation: Situation) -> frozenset[str]:
    """What a situation is about, and what the runbooks that answer it would take in hand."""
    return things(situation.data["subject"]).union(*(wanted(answer["runbook"], answer["params"]) for answer in situation.data["answers"]))


# --- the lines that pages show


def on_situation(situation: Situation) -> Run | None:
    keyed = Run.objects.filter(situation_key=situation.key, ended_at=None).select_related("requester").first()
    return keyed or run_on(concerned(situation))


def of_node(name: str) -> list[dict[str, Any]]:
    return [_line(run) for run in open_runs() if run.node == name]


def of_pool(guid: str) -> list[dict[str, Any]]:
    return [_line(run) for run in open_runs() if run.params.get("pool_guid") == guid]


def of_disk(wwid: str) -> list[dict[str, Any]]:
    """The disk, the bay in which it sits, or the member that its label makes it."""
    bays = Sighting.objects.filter(disk__wwid=wwid, until=None).exclude(enclosure_id="").values_list("enclosure_id", "slot")
    members = LabelSeen.objects.filter(disk__wwid=wwid, until=None).values_list("vdev_guid", flat=True)
    sought = {f"disk {wwid}", *(f"bay {enclosure}/{slot}" for enclosure, slot in bays), *(f"member {guid}" for guid in members)}
    return [_line(run) for run in open_runs() if sought & of(run)]


def of_enclosure(enclosure: str) -> list[dict[str, Any]]:
    return [_line(run) for run in open_runs() if any(one.startswith(f"bay {enclosure}/") for one in of(run))]


def _line(run: Run) -> dict[str, Any]:
    runbook, params = RUNBOOKS.get(run.runbook), run.params | run.here.params
    named = (("member", "vdev_guid"), ("disk with the serial number", "old_serial"), ("bay", "slot"))
    found = [(words, params[name]) for words, name in named if params.get(name) and not (name == "slot" and has_no_bay(params))]
    whole = (*(("disk", name) for name in DISKS), ("pool", "pool"), ("node", "node"))
    return {
        "run": run,
        "title": runbook.title if runbook else run.runbook,
        "step": next((step.title for step in runbook.steps if step.slug == run.step), "") if runbook else "",
        "things": found or [(words, params[name]) for words, name in whole if params.get(name)][:1],
        "keeps_off": _keeps_off(run),
    }


def _keeps_off(run: Run) -> str:
    held = of(run)
    if any(not one.startswith("pool ") for one in held):
        return "No other run begins on it."
    return "No second run of this runbook begins on it." if held else ""
