"""The registry of what is noticed, and what is said of each: what is so, where, since when, and what to do next.

Words are the portal's own, made of names, guids, WWIDs and times. What a command printed, what a person typed and whatever could
hold a secret stays behind the link. `read` gives None when there is nothing to report any more.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime

from django.urls import reverse
from django.utils import timezone

from app.accounts.models import Membership, User
from app.fleet import unexplained_reviews
from app.fleet.models import Node, Situation
from app.fleet.severity import WORST_FIRST
from app.notices import alarms
from app.notices.models import Happening
from app.runs.models import OpenLoop, Run
from app.runs.pages import safety
from app.runs.services import approve_steps, step_of
from workflows.analysis.unexplained import SLUG as UNEXPLAINED
from workflows.runbooks import RUNBOOKS

TITLES_SHOWN = 12
ASKED = "asked"  # what has no end of its own; the rest of its stable key is that of the happening


@dataclass(frozen=True)
class Content:
    """A happening in words."""

    title: str
    lines: tuple[str, ...]  # what is so, and what to do next
    path: str
    severity: str = "act"
    urgent: bool = True  # whether it may pass quiet hours: good news never does
    fold: str = ""  # what has the same is sent together
    daily: bool = False  # it keeps until the day's digest, and goes to no pager
    leads: bool = True  # False: it follows from what leads its fold, and is sent only together with that
    about: str = ""  # the stable key of what it is about, from its beginning to its end: a family of app.notices.lasting, and a name
    members: tuple[str, ...] = ()  # where it is about several, their stable keys
    ends: bool = False  # it says that this is over


Read = Callable[[Happening], Content | None]


def when(moment: datetime) -> str:
    return f"{moment:%Y-%m-%d %H:%M} UTC"


# --- situations


def _opened(happening: Happening) -> Content | None:
    row = _situation(happening)
    if row is None or not row.is_open or unexplained_reviews.of([row]):
        return None  # it came and went before a notice could be sent; its page and the ledger keep it
    return _of_situation(row, row.title, (f"On {row.node.name} since {when(row.opened_at)}.", _first_sentence(row), _next(row)))


def _worse(happening: Happening) -> Content | None:
    row = _situation(happening)
    if row is None or not row.is_open or row.severity != happening.details["to"]:
        return None
    lines = (
        f"On {row.node.name}. This situation, open since {when(row.opened_at)}, is worse than it was.",
        _first_sentence(row),
        _next(row),
    )
    return _of_situation(row, f"Worse: {row.title}", lines)


def _closed(happening: Happening) -> Content | None:
    row = _situation(happening)
    if row is None or row.closed_at is None:
        return None
    lines = (f"On {row.node.name} it stood from {when(row.opened_at)} to {when(row.closed_at)}. The node's report no longer shows it.",)
    return replace(_of_situation(row, f"Over: {row.title}", lines, urgent=False), ends=True)


def _situation(happening: Happening) -> Situation | None:
    return Situation.objects.select_related("node").filter(pk=happening.details["situation"]).first()


def _of_situation(row: Situation, title: str, lines: tuple[str, ...], urgent: bool = True) -> Content:
    content = Content(title, lines, row.get_absolute_url(), row.severity, urgent, about=about(row.key))
    if _is_daily(row):
        return replace(content, urgent=False, fold=f"word:{_sign(row)}", daily=True, leads=_is_first(row))
    root = _root(row)
    return replace(content, fold=f"situation:{root.pk}", leads=root.pk == row.pk)


def about(key: str) -> str:
    """The stable key of a situation."""
    return f"situation:{key}"


def _is_daily(row: Situation) -> bool:
    """An unknown word, of something that serves: to be looked at some day, and no reason to wake a person."""
    return row.slug == UNEXPLAINED and row.severity != "act"


def _sign(row: Situation) -> str:
    sign: str = row.data.get("subject", {}).get("sign", row.key)
    return sign


def _is_first(row: Situation) -> bool:
    """Whether no other node has said the word before: it is sent once for the whole fleet."""
    same = Situation.objects.filter(slug=UNEXPLAINED, closed_at__isnull=True, data__subject__sign=_sign(row))
    return not same.filter(pk__lt=row.pk).exists()


def _judged_anew(happening: Happening) -> Content | None:
    """What a new release of the portal found on a node that it judged for the first time."""
    found = Situation.objects.filter(pk__in=happening.details["situations"], closed_at__isnull=True).order_by(*WORST_FIRST)
    listed = list(found)
    if not listed:
        return None
    titles = tuple(f"- {row.title}" for row in listed[:TITLES_SHOWN])
    more = (f"- and {len(listed) - TITLES_SHOWN} more",) if len(listed) > TITLES_SHOWN else ()
    head = f"This release of the portal judges more than the one before it. On {happening.node} it opened:"
    count = f"{len(listed)} situation{'s' if len(listed) > 1 else ''}"
    title = f"{happening.node}: {count} seen for the first time by this release: {listed[0].title}"
    content = Content(title, (head, *titles, *more), reverse("node", args=[happening.node]), listed[0].severity, fold=happening.key)
    return replace(content, about=happening.key, members=tuple(about(row.key) for row in listed))


def _root(row: Situation) -> Situation:
    """The situation that explains this one, and is itself explained by none that stands open."""
    seen = {row.key}
    while row.cause and row.cause not in seen:
        seen.add(row.cause)
        above = Situation.objects.filter(key=row.cause, closed_at__isnull=True).first()
        if above is None:
            break
        row = above
    return row


def _first_sentence(row: Situation) -> str:
    first, dot, _ = row.data.get("meaning", "").partition(". ")
    return f"{first}." if dot else str(first)


def _next(row: Situation) -> str:
    """The first thing that helps and the runbook that does it, as far as there are any."""
    titles = [RUNBOOKS[a["runbook"]].title for a in row.data.get("answers", ()) if a["runbook"] in RUNBOOKS]
    cures = row.data.get("cures", ())
    first = f"First: {cures[0]['text']}" if cures else ""
    gate = "No member of its pool may be replaced for now." if row.data.get("gate") else ""
    if first or gate:
        return " ".join(part for part in (gate, first, f"Its page offers the runbook “{titles[0]}”." if titles else "") if part)
    return f"Its page offers the runbook “{titles[0]}”." if titles else "Its page shows the evidence; no runbook answers it."


# --- runs


def _run(happening: Happening) -> Run | None:
    runs = Run.objects.select_related("requester").filter(ended_at__isnull=True)
    return runs.filter(pk=happening.run).first() if happening.run is not None else None


def _unjudged(happening: Happening) -> Run | None:
    """The run, while it waits for a person to judge just this plan."""
    run = _run(happening)
    waits = run is not None and run.status == "open" and run.step in approve_steps() and run.here.plan_digest == happening.details["plan"]
    return run if waits else None


def _titled(run: Run) -> str:
    book = RUNBOOKS.get(run.runbook)
    return f"run {run.pk} ({book.title if book else run.runbook}) on {run.node}"


def _step(run: Run) -> str:
    book = RUNBOOKS.get(run.runbook)
    return next((step.title for step in book.steps if step.slug == run.step), run.step) if book else run.step


def _lost(run: Run) -> tuple[str, ...]:
    """What the step takes away stands before everything else that is said of it, as on every page of the run."""
    return tuple(safety.lost(run, run.here, step_of(run)))


def _wanted(happening: Happening) -> str:
    """The same for the first notice, each reminder and the last."""
    return f"{ASKED}:approval-wanted:{happening.run}:{happening.details['plan']}"


def _approval_wanted(happening: Happening) -> Content | None:
    run = _unjudged(happening)
    if run is None:
        return None
    lines = (
        *_lost(run),
        f"{run.requester.username} asks for it. A person who took part in the run may not approve it.",
        "Read the plan, then approve or deny it there. The plan is too old half an hour after it was made.",
    )
    return Content(f"Approval wanted: {_titled(run)}", lines, run.get_absolute_url(), fold=happening.key, about=_wanted(happening))


def _approval_expiring(happening: Happening) -> Content | None:
    run = _run(happening)
    if run is None or run.here.plan_digest != happening.details["plan"] or run.status != "open":
        return None
    ends = when(datetime.fromisoformat(happening.details["ends"]))
    lines = (
        *_lost(run),
        f"It ends at {ends}. Nothing has been ordered yet.",
        "Go on before that, or ask the node for a new plan and approve that one.",
    )
    title = f"The approved plan is about to expire: {_titled(run)}"
    return Content(title, lines, run.get_absolute_url(), "watch", fold=happening.key, about=f"{ASKED}:{happening.key}")


def _request_expiring(happening: Happening) -> Content | None:
    run = _unjudged(happening)
    if run is None:
        return None
    ends = when(datetime.fromisoformat(happening.details["ends"]))
    lines = (
        *_lost(run),
        f"No person has judged it yet, and the plan is too old at {ends}.",
        "Approve or deny it there; later only a new plan leads on.",
    )
    title = f"Still wanted, and about to expire: approval of {_titled(run)}"
    return Content(title, lines, run.get_absolute_url(), fold=happening.key, about=_wanted(happening))


def _run_needs_person(happening: Happening) -> Content | None:
    run = _run(happening)
    if run is None or run.version != happening.details["version"]:
        return None  # it has moved on since
    stopped = "It has stopped; only a new plan leads on." if run.status == "stopped" else "It goes no further by itself."
    lines = (*_lost(run), f"It stands at “{_step(run)}”. {stopped}", "Read there what is asked, and do it or end the run.")
    title = f"A person is needed: {_titled(run)}"
    return Content(title, lines, run.get_absolute_url(), fold=f"run:{run.pk}", about=f"{ASKED}:{happening.key}")


def _run_alarm(happening: Happening) -> Content | None:
    run = _run(happening)
    if run is None or not run.here.alarm:
        return None
    lines = (
        f"While it waits at “{_step(run)}”, the node shows something that must not be.",
        "Stop what you do at the rack and read the run's page now.",
    )
    title = f"ALARM: {_titled(run)}"
    return Content(title, lines, run.get_absolute_url(), fold=f"run:{run.pk}", about=f"{ASKED}:{happening.key}")


def _run_overdue(happening: Happening) -> Content | None:
    run = _run(happening)
    if run is None or not run.here.overdue or run.step != happening.details["step"]:
        return None
    lines = (
        f"It waits at “{_step(run)}”. Nothing is broken off and nothing is done by itself.",
        "Look at its progress there, and at the node.",
    )
    title = f"Longer than expected: {_titled(run)}"
    return Content(title, lines, run.get_absolute_url(), "watch", fold=f"run:{run.pk}", about=f"{ASKED}:{happening.key}")


def _order_unknown(happening: Happening) -> Content | None:
    run = _run(happening)
    if run is None or run.status != "unknown":
        return None
    lines = (
        "The node began the command, and how it ended is not known. Nothing is repeated by itself, and the run keeps its locks.",
        "Look at the node. Its own journal may still answer; else two people state there, independently, what happened to it.",
    )
    title = f"Outcome UNKNOWN: {_titled(run)}"
    return Content(title, lines, run.get_absolute_url(), fold=f"run:{run.pk}", about=f"{ASKED}:{happening.key}")


# --- nodes, loops and the ledger


def _node_silent(happening: Happening) -> Content | None:
    last = datetime.fromisoformat(happening.details["heard"])
    if not Node.objects.filter(name=happening.node, last_report_at=last).exists():
        return None  # it has reported since
    last_report = when(last)
    lines = (
        f"Its last report was taken at {last_report}. What the portal shows of it is as old as that, and every guard refuses to use it.",
        f"On {happening.node}: “slotlight-agent status”, then “slotlight-agent doctor”. If it does not answer at all, look at its console.",
    )
    page = reverse("node", args=[happening.node])
    return Content(f"{happening.node} is silent", lines, page, fold=happening.key, about=f"node-silent:{happening.node}")


def _node_reports_again(happening: Happening) -> Content | None:
    page, silence = reverse("node", args=[happening.node]), f"node-silent:{happening.node}"
    return Content(f"{happening.node} reports again", (), page, urgent=False, fold=happening.key, about=silence, ends=True)


def _loop_left(happening: Happening) -> Content | None:
    loop = OpenLoop.objects.select_related("run").filter(pk=happening.details["loop"]).first()
    if loop is None:
        return None
    ended = "Its run has ended" if loop.run.ended_at else "Its run is still under way"
    lines = (f"On {loop.node}: {loop.what} Run {loop.run_id} switched it on at {when(loop.at)}. {ended}.", loop.undo)
    title = f"Still switched on: {loop.what}"
    return Content(title, lines, reverse("open-loops"), "watch", fold=happening.key, about=f"{ASKED}:{happening.key}")


LEDGER = "ledger:ledger-broken"


def _ledger_broken(happening: Happening) -> Content | None:
    lines = (
        "The portal refuses everything that changes a node until the ledger is whole again. Looking goes on.",
        "On the portal's machine: “./run manage ledger verify” names what is wrong.",
    )
    return Content("The ledger is broken or cannot be written", lines, reverse("ledger"), fold=happening.key, about=LEDGER)


def _ledger_well(happening: Happening) -> Content | None:
    return Content(
        "The ledger can be written again",
        ("What was refused meanwhile was not done.",),
        reverse("ledger"),
        urgent=False,
        fold=happening.key,
        about=LEDGER,
        ends=True,
    )


def _alarm(happening: Happening) -> Content | None:
    details = happening.details
    if happening.over:
        return None
    parts = details["title"], (details["text"], details["do"]), details["path"], details["severity"]
    return Content(*parts, fold=happening.key, about=f"alarm:{details['key']}")


def _alarm_over(happening: Happening) -> Content | None:
    details = happening.details
    parts = f"Over: {details['title']}", (), details["path"], details["severity"]
    return Content(*parts, urgent=False, fold=happening.key, about=f"alarm:{details['key']}", ends=True)


def _database_hung(happening: Happening) -> Content | None:
    """A message that comes a day late says nothing that anybody can still use; by then services that keep incidents have got its end."""
    if happening.at < timezone.now() - alarms.HUNG_SHOWN:
        return None
    title, *lines = alarms.hung_words(happening)
    return Content(title, tuple(lines), reverse("fleet"), urgent=False, fold=happening.key, about=f"{ASKED}:{happening.key}")


# --- people


def _person_waits(happening: Happening) -> Content | None:
    """Quiet hours hold it back: it waits a whole day."""
    details, until = happening.details, datetime.fromisoformat(happening.details["until"])
    rows = User.objects.filter(username=details["of"]) if details["role"] is None else Membership.objects.filter(pk=details["role"])
    if not rows.filter(counts_at=until).exists():
        return None  # confirmed or withdrawn, which is sent by itself
    lines = (
        f"{details['what']}. It counts from {when(until)}. If you are {details['of']} and did not ask for it, withdraw it on the page of your account.",
        "A second administrator looks at the page of that person, and confirms it there if it is right. If it is not: withdraw it there.",
    )
    page = reverse("person", args=[details["of"]])
    title = f"To be confirmed or withdrawn: {details['of']}, {details['what']}"
    return Content(title, lines, page, urgent=False, fold=happening.key, about=f"{ASKED}:{happening.key}")


def _person_changed(happening: Happening) -> Content:
    details, page = happening.details, reverse("person", args=[happening.details["of"]])
    because = details["because"][:1].upper() + details["because"][1:]  # a name in it stays as it is
    lines = (f"{because}.", "If that is not right, switch the account off on the page of that person.")
    return Content(f"What {details['of']} may do: {details['what']}", lines, page, urgent=False, fold=happening.key)


KINDS: Mapping[str, Read] = {
    "situation-opened": _opened,
    "situation-worse": _worse,
    "node-judged-anew": _judged_anew,
    "situation-closed": _closed,
    "approval-wanted": _approval_wanted,
    "approval-expiring": _approval_expiring,
    "request-expiring": _request_expiring,
    "run-needs-person": _run_needs_person,
    "run-alarm": _run_alarm,
    "run-overdue": _run_overdue,
    "order-unknown": _order_unknown,
    "node-silent": _node_silent,
    "node-heard": _node_reports_again,
    "loop-left": _loop_left,
    "ledger-broken": _ledger_broken,
    "ledger-well": _ledger_well,
    "database-hung": _database_hung,
    "person-waits": _person_waits,
    "person-changed": _person_changed,
    "alarm": _alarm,
    "alarm-over": _alarm_over,
}
