"""What the pages of postmortems show."""

from typing import Any

from django.utils.safestring import mark_safe

from app.accounts.models import User
from app.accounts.rights import OPERATE, may_somewhere
from app.fleet.models import Situation
from app.postmortems import narrative, services
from app.postmortems.export import words
from app.postmortems.models import Postmortem, Version
from app.runs.models import Run
from app.runs.pages.run_page import line

RUNS_OFFERED = 50
LISTED_MAX = 100
SOURCES = {
    "ledger": "info",
    "capture": "watch",
    "situation": "bad",
    "zpool events": "watch",
    "zpool history": "idle",
}


def listed(user: User, chosen: list[str], situation: str) -> dict[str, Any]:
    about = Situation.objects.filter(pk=situation).select_related("node").first() if situation.isdecimal() and len(situation) < 10 else None
    runs = [line(run) | {"chosen": str(run.pk) in chosen} for run in Run.objects.select_related("requester")[:RUNS_OFFERED]]
    missing = [int(pk) for pk in chosen if pk.isdecimal() and len(pk) < 10 and int(pk) not in {run["pk"] for run in runs}]
    runs += [line(run) | {"chosen": True} for run in Run.objects.filter(pk__in=missing).select_related("requester")]
    found = Postmortem.objects.select_related("begun_by").prefetch_related("runs")[:LISTED_MAX]
    return {"section": "postmortems", "postmortems": found, "runs": runs, "about": about, "may_write": may_somewhere(user, OPERATE)}


def sections(text: Version) -> list[dict[str, Any]]:
    return [
        # html() has cleaned it: nothing but its few tags is left.
        {"section": section, "html": mark_safe(narrative.html(text.sections.get(section.slug, "")))}
        for section in narrative.SECTIONS
    ]


def shown(postmortem: Postmortem, user: User) -> dict[str, Any]:
    collected, text = postmortem.collected, services.text(postmortem)
    return {
        "section": "postmortems",
        "postmortem": postmortem,
        "collected": collected,
        "text": text,
        "sections": sections(text),
        "timeline": [entry | {"says": words(entry), "tone": SOURCES.get(entry["source"], "idle")} for entry in collected["timeline"]],
        "states": [state_of(state) for state in collected["states"]],
        "versions": postmortem.versions.select_related("by")[:20],
        "comments": postmortem.comments.select_related("by"),
        "may_write": services.may_edit(user, postmortem),
    }


def state_of(state: dict[str, Any]) -> dict[str, Any]:
    sides = {name: state[name] | {"text": "\n".join(state[name]["lines"])} for name in ("before", "after")}
    return state | sides | {"difference": [(kind(line), line) for line in state["difference"]]}


def kind(line: str) -> str:
    return {"+": "added", "-": "gone", "@": "place"}.get(line[:1], "")


def form(
    postmortem: Postmortem, version: int, text: dict[str, str], conflict: services.Conflict | None = None, refused: str = ""
) -> dict[str, Any]:
    conflicts = conflict.merged.conflicts if conflict else ()
    theirs = conflict.newest.sections if conflict else {}
    fields = [
        {
            "section": section,
            "text": text.get(section.slug, ""),
            "theirs": theirs.get(section.slug, ""),
            "conflict": section.slug in conflicts,
        }
        for section in narrative.SECTIONS
    ]
    return {
        "section": "postmortems",
        "postmortem": postmortem,
        "version": version,
        "fields": fields,
        "conflict": conflict,
        "refused": refused,
        "most": narrative.TEXT_MAX,
    }
