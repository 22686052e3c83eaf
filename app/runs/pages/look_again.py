"""A node reads its sources again because a person asked: what has answered, what it reads now, and how long that usually takes.

Each source is a question of its own and the node answers them one after the other, so a source that hangs is seen to hang, by its name.
"""

import json
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from statistics import median
from typing import Any, NamedTuple

from django.db.models import QuerySet
from django.http import Http404
from django.utils import timezone

from agents.collectors import COLLECTORS
from agents.domain.times import seconds_of
from app.accounts.models import User
from app.fleet.models import Node
from app.fleet.pages import rows
from app.ledger.models import Blob
from app.runs import services
from app.runs.models import Order, Run
from app.runs.ordering import sealing
from workflows.facts.read.source_states import BROUGHT_SECONDS

EVERY = "every source"
TOGETHER = timedelta(minutes=2)  # what was asked within it is one collection
REMEMBERED = 200  # answers of a node that say how long it takes
LATE_TIMES, LATE_SECONDS_MIN = 3, 5.0
OUT = ("SEALED", "OFFERED")
FAILED = b'"outcome":"failed"'  # in a capture's canonical bytes; inside a text its quotes would be escaped


def every(user: User, node: str) -> list[Order]:
    """Ask for each source by itself, what takes longest last: whatever hangs keeps few others waiting."""
    usual = usually(node)
    return [services.look(user, node, (source,)) for source in sorted(COLLECTORS, key=lambda source: (usual.get(source, 0.0), source))]


def begun(orders: Iterable[Order]) -> int:
    """What the address of a collection is called by: when its first question was put."""
    return int(min(order.sealed_at for order in orders).timestamp() * 1000)


def _looks(node: str) -> QuerySet[Order]:
    return Order.objects.filter(run=None, operation="look", node=node)


class Look(NamedTuple):
    """What is shown of a look."""

    pk: str
    node: str
    canonical: str
    status: str
    reason: str
    sealed_at: datetime
    ended_at: datetime | None
    receipt: str | None  # JSON
    receipt_digest: str
    sealed_by: int | None
    is_on_record: bool  # that it was asked for


def usually(node: str) -> dict[str, float]:
    """Source -> how many seconds this node took to read it, the median of the last times that it was asked for."""
    answered = _looks(node).filter(status="SUCCEEDED").order_by("-sealed_at")
    took: dict[str, list[float]] = {}
    for canonical, begins, ends in answered.values_list("canonical", "receipt__started_at", "receipt__ended_at")[:REMEMBERED]:
        if (seconds := _between(begins, ends)) is not None:
            took.setdefault(_source(canonical), []).append(seconds)
    return {source: median(each) for source, each in took.items()}


def _between(begins: str | None, ends: str | None) -> float | None:
    """By the node's clock, which may have been set meanwhile."""
    try:
        return max(0.0, seconds_of(ends or "") - seconds_of(begins or ""))
    except ValueError:
        return None


def _source(canonical: str) -> str:
    sources: str = json.loads(canonical)["params"]["sources"]
    return sources


@dataclass(frozen=True)
class Line:
    """One question, as far as it has come."""

    pk: str
    source: str
    tone: str
    words: str
    usual: str = ""
    more: str = ""  # why, or what to do


def shown(node: str, since: int) -> dict[str, Any]:
    """A collection. Raises Http404 for one that was not asked for."""
    at = datetime.fromtimestamp(since / 1000, UTC)
    asked = list(_looks(node).filter(sealed_at__gte=at, sealed_at__lt=at + TOGETHER).select_related("sealed_by").order_by("sealed_at"))
    if not asked:
        raise Http404(f"{node} was not asked for its sources at that time.")
    newest = list({_source(order.canonical): order for order in asked}.values())
    out, now = [order for order in newest if order.status in OUT], timezone.now()
    usual, bad = usually(node), failed(newest)
    lines = [line(order, usual, now, first=bool(out) and order is out[0], bad=bad) for order in newest]
    lines.sort(key=lambda one: TONES.index(one.tone))
    return {
        "node_name": node,
        "since": since,
        "by": asked[0].sealed_by,
        "at": asked[0].sealed_at,
        "lines": lines,
        "total": len(lines),
        "over": len(lines) - len(out),
        "bad": sum(one.tone == "bad" for one in lines),
        "unread": sum(one.tone == "watch" for one in lines) if not out else 0,
        "waiting": bool(out),
        "silent": silent(node, now) if out else "",
        "left": left(out, usual),
    }


TONES = ("info", "watch", "bad", "idle", "good")  # what is under way stands first


def failed(orders: Iterable[Order]) -> frozenset[str]:
    """Digests of the captures in these answers that say the node could not read something: a disk that hangs answers no one."""
    digests = {capture["digest"] for order in orders for capture in (order.receipt or {}).get("captures", ())}
    bad = Blob.objects.filter(pk__in=digests).extra(where=["position(%s::bytea in bytes) > 0"], params=[FAILED])
    return frozenset(bad.values_list("pk", flat=True)) if digests else frozenset()


def line(order: Order, usual: dict[str, float], now: datetime, *, first: bool = True, bad: Collection[str] = ()) -> Line:
    """`first`: nothing that was asked before it is still out, so the node is at it now. `bad`: captures that failed."""
    source = _source(order.canonical)
    known = _seconds(usual[source]) if source in usual else ""
    if order.status in OUT:
        return under_way(order, usual, now) if first else Line(order.pk, source, "idle", "waits its turn", known)
    if order.status != "SUCCEEDED":
        return Line(order.pk, source, "bad", "no answer", known, order.reason or f"The question is {order.status}.")
    receipt = order.receipt or {}
    took = _between(receipt.get("started_at"), receipt.get("ended_at"))
    words, each = f"answered in {_seconds(took)}" if took is not None else "answered", receipt.get("captures", [])
    if unread := sum(capture["digest"] in bad for capture in each):
        of = f"{unread} of {len(each)}" if len(each) > 1 else "It"
        return Line(order.pk, source, "watch", words, known, f"{of} could not be read; open it for why.")
    return Line(order.pk, source, "good", words, known)


def under_way(order: Order | Look, usual: dict[str, float], now: datetime) -> Line:
    source = _source(order.canonical)
    known = _seconds(usual[source]) if source in usual else ""
    waited = (now - order.sealed_at).total_seconds()
    end = f"It is given up after {sealing.PURE_SECONDS} s."
    if source in usual and waited > max(LATE_SECONDS_MIN, LATE_TIMES * usual[source]):
        more = f"That is longer than usual. A disk or a pool that does not answer may be holding it up. {end}"
        return Line(order.pk, source, "watch", f"no answer for {_seconds(waited)}", known, more)
    return Line(order.pk, source, "info", f"asked {_seconds(waited)} ago", known, end if waited > LATE_SECONDS_MIN else "")


BRING_IT = "{node} has no agent. {what} On your own machine, run `slotlight collect {node}`."


def of_run(run: Run, now: datetime) -> str:
    """How long a run's question to its node is out already, and what keeps the answer; "" while none is out."""
    if why := to_bring(run):
        return why
    out = _asked_of_it(run)
    if out is None:
        return silent(run.node, now)
    asked = f"{run.node} was asked {_seconds((now - out.sealed_at).total_seconds())} ago; after {sealing.PURE_SECONDS} s without an answer the step can be done again."
    return f"{asked} {silent(run.node, now)}".strip()


def to_bring(run: Run) -> str:
    """What a run waits for whose node has no agent, and how that is got; "" for any other."""
    brought = Node.objects.filter(name=run.node, state=Node.State.BROUGHT).first()
    return BRING_IT.format(node=run.node, what=_what_answers(brought, _asked_of_it(run))) if brought is not None else ""


def waiting_for_an_archive(node: str) -> list[tuple[Run, str]]:
    """The runs of a node without an agent whose questions the newest archive does not answer, with what they wait for."""
    asked = Order.objects.filter(node=node, effect="pure", status__in=OUT, run__ended_at=None).exclude(run=None).values("run")
    return [(run, why) for run in Run.objects.filter(pk__in=asked).order_by("pk") if (why := to_bring(run))]


def _asked_of_it(run: Run) -> Order | None:
    """The first of its questions to the node that are out."""
    return Order.objects.filter(run=run, effect="pure", status__in=OUT).order_by("sealed_at").first()


def _what_answers(brought: Node, out: Order | None) -> str:
    """Which archive; and of the newest, why it does not. What is asked after a command is answered by what was read after the question alone."""
    if out is None or brought.last_report_at is None:
        return "The next archive of it answers this."
    if out.operation == "plan":
        return f"An archive answers this whose collection began less than {BROUGHT_SECONDS // 60} minutes ago."
    return (
        f"An archive answers this whose collection began after {out.sealed_at:%H:%M:%S} UTC; the newest here began at"
        f" {brought.last_report_at:%H:%M:%S} UTC."
    )


def silent(node: str, now: datetime) -> str:
    """Why no answer can be expected now; "" when it can."""
    last_report_at, state = Node.objects.filter(name=node).values_list("last_report_at", "state").first() or (None, "")
    if state == Node.State.BROUGHT:
        return ""
    if last_report_at is None:
        return f"{node} has never reported. Look at its agent."
    age = (now - last_report_at).total_seconds()
    return f"{node} last reported {rows.ago(age)}; its agent must report again before it can answer." if age > rows.STALE_SECONDS else ""


def left(out: list[Order], usual: dict[str, float]) -> str:
    """How long the rest usually takes, where that is known of all of it."""
    sources = [_source(order.canonical) for order in out]
    return _seconds(sum(usual[source] for source in sources)) if out and all(source in usual for source in sources) else ""


def _seconds(seconds: float) -> str:
    return f"{seconds * 1000:.0f} ms" if seconds < 1 else f"{seconds:.0f} s"
