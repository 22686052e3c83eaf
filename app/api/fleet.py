"""What exists and what is wrong, through the API: status, nodes, pools, situations, disks. All of it is looking."""

from collections.abc import Sequence
from dataclasses import asdict
from datetime import datetime, timedelta
from typing import Any

from django.db.models import Count, Q, QuerySet
from django.shortcuts import get_object_or_404
from django.utils import timezone
from ninja import Field, Router, Schema

from agents.domain.wwid import normalise
from app.api.auth import Scoped, TokenRequest
from app.api.scopes import READ
from app.api.words import PAGE, Answer, Cursor, Limit, Name, Number, Page, Words, answers, number, paged
from app.fleet import services, unexplained_reviews
from app.fleet.ingest.fleet_rows import silent
from app.fleet.models import NO_POOL, Disk, LabelSeen, Node, Sighting, Situation, Standing
from app.fleet.pages import judging, overview, rows
from app.fleet.severity import WORST_FIRST, worst_first
from app.notices import alarms
from app.runs.models import OpenLoop, Order, Run
from app.runs.services import approve_steps
from workflows.analysis.judgement import Concern, Judgement, fate_now, judge_node, judge_pool, not_current
from workflows.analysis.pool_fate import Fate, losses_left
from workflows.facts import NodeFacts, PoolFacts, Unknown, known

router = Router(tags=["fleet"])
REMEMBERED = 100  # stays of one disk


class AlarmOut(Schema):
    """What threatens what the whole portal says."""

    kind: str
    severity: str
    node: str = Field(description="Empty where it concerns everybody")
    title: str
    text: str
    do: str
    since: datetime | None


class StatusOut(Schema):
    at: datetime
    alarms: list[AlarmOut] = Field(description="The worst first")
    nodes: dict[str, int]
    standing: dict[str, int] = Field(description="Nodes that report, by tone: bad, watch, unknown, idle, info, good")
    silent: int
    situations: dict[str, int] = Field(description="Open ones by severity: act, watch, info; and apart from these what is reviewed")
    runs: dict[str, int]
    orders_unknown: int
    approvals_waiting: int
    open_loops: int


class NodeOut(Schema):
    name: str
    state: str
    mode: str
    version: str
    last_report_at: datetime | None
    silent: bool
    situations: int
    worst: str = Field(description="The severity of its worst situation, without what is reviewed")
    worst_title: str
    tone: str = Field(description="How it stands in the list of the fleet: bad, watch, unknown, idle, info or good")
    why: str


class JudgementOut(Schema):
    """Good only where all that answered says so and nothing that matters failed or is late."""

    tone: str = Field(description="good, info, unknown, watch or bad")
    reasons: list[str]
    not_known: list[str]
    not_looked_at: list[str]


class PoolOut(Schema):
    judgement: JudgementOut
    verdict: str = Field(description="What the pool does for its users: serving, reduced, hung, suspended, down, held, moved or unknown")
    verdict_reason: str
    no_replacement: bool = Field(description="No member of the pool may be replaced for now")
    name: str
    guid: str | None
    state: str
    may_lose: int | None
    redundancy: str
    scans: list[str]
    errors: str
    capacity_percent: int | None


class NodeFull(NodeOut):
    judgement: JudgementOut
    zfs_userland: str
    zfs_module: str
    disks: int | None
    pools: list[PoolOut]
    not_known: list[str]


class EvidenceOut(Schema):
    node: str
    source: str
    digest: str
    line: str


class AdviceOut(Schema):
    """One thing that helps. `commands` name vdevs by guid; `releases` are those of OpenZFS they are right for."""

    kind: str
    text: str
    commands: list[list[str]]
    releases: str | None
    needs: str | None
    save_first: str | None = Field(description="What is lost by it, and must be written down before")
    runbook: str | None


class AnswerOut(Schema):
    runbook: str
    why: str
    params: dict[str, str]


class ReviewOut(Schema):
    """An administrator has looked at an unexplained word: it is no open trouble until then, and never good."""

    by: str
    why: str
    until: datetime


class SituationOut(Schema):
    id: int
    key: str
    slug: str
    node: str
    severity: str
    title: str
    opened_at: datetime
    closed_at: datetime | None
    cause: str
    may_lose: int | None
    reviewed: ReviewOut | None


class SituationFull(SituationOut):
    meaning: str
    sure: bool
    subject: dict[str, str]
    no_replacement: bool = Field(description="While it stands, no member of its pool is to be replaced")
    evidence: list[EvidenceOut]
    advice: list[AdviceOut] = Field(description="What helps, first things first")
    answers: list[AnswerOut]
    open_runs: list[int]


class DiskOut(Schema):
    wwid: str
    serial: str
    vendor: str
    model: str
    firmware: str
    size_bytes: str | None
    first_seen_at: datetime


class SightingOut(Schema):
    node: str
    name: str
    hctl: str
    by_id: str
    enclosure_id: str
    slot: int | None
    pool: str
    since: datetime
    until: datetime | None


class LabelOut(Schema):
    node: str
    partition: str
    pool: str
    pool_guid: str
    vdev_guid: str
    txg: str
    since: datetime
    until: datetime | None


class DiskFull(DiskOut):
    sightings: list[SightingOut]
    labels: list[LabelOut]
    runs: list[int]


def counts(found: QuerySet[Any], field: str) -> dict[str, int]:
    return dict(found.order_by(field).values_list(field).annotate(Count("pk")))


def status_now() -> Answer:
    now = timezone.now()
    old = now - timedelta(seconds=rows.STALE_SECONDS)
    active = Node.objects.exclude(state=Node.State.RETIRED)
    return {
        "at": now,
        "alarms": [asdict(alarm) for alarm in alarms.standing(now)],
        "nodes": counts(Node.objects.all(), "state"),
        "standing": dict.fromkeys(judging.TONES, 0) | counts(Standing.objects.filter(node__last_report_at__gte=old), "tone"),
        "silent": active.filter(silent(now)).count(),
        "situations": unexplained_reviews.counts(Situation.objects.filter(closed_at=None), unexplained_reviews.signs()),
        "runs": counts(Run.objects.filter(ended_at=None), "status"),
        "orders_unknown": Order.objects.filter(status="UNKNOWN").count(),
        "approvals_waiting": Run.objects.filter(status="open", step__in=approve_steps()).count(),
        "open_loops": OpenLoop.objects.count(),
    }


@router.get("/status", response=answers(StatusOut), auth=Scoped(READ), url_name="api-status")
def status(request: TokenRequest) -> Answer:
    """How the whole fleet stands, in numbers. `runs` counts those that have not ended."""
    return status_now()


@router.get("/nodes", response=answers(Page[NodeOut]), auth=Scoped(READ), url_name="api-nodes")
def nodes(request: TokenRequest, cursor: Cursor = "", limit: Limit = PAGE) -> Answer:
    """Nodes by name, each with the worst that is wrong with it."""
    found = Node.objects.exclude(state=Node.State.RETIRED).filter(name__gt=cursor).select_related("standing").order_by("name")[: limit + 1]
    listed, more = paged(found, limit, lambda node: node.name)
    return {"items": [node_line(node, own) for node, own in with_situations(listed)], "next": more}


def with_situations(listed: list[Node]) -> list[tuple[Node, list[Situation]]]:
    """Each node with its open situations, worst first, without what is reviewed."""
    open_ = Situation.objects.filter(closed_at=None, node__in=listed)
    found = list(open_.exclude(pk__in=unexplained_reviews.reviewed(open_, unexplained_reviews.signs()).values("pk")).defer("data"))
    found.sort(key=worst_first)
    return [(node, [s for s in found if s.node_id == node.pk]) for node in listed]


def node_line(node: Node, own: list[Situation]) -> Answer:
    now = timezone.now()
    stands = overview.line(node, now)
    plain = {name: getattr(node, name) for name in ("name", "state", "mode", "version", "last_report_at")}
    return plain | {
        "silent": overview.is_silent(node, now),
        "situations": len(own),
        "worst": own[0].severity if own else "",
        "worst_title": own[0].title if own else "",
        "tone": stands["tone"],
        "why": stands["why"],
    }


@router.get("/nodes/{str:name}", response=answers(NodeFull), auth=Scoped(READ), url_name="api-node")
def node(request: TokenRequest, name: Name) -> Answer:
    """One node with its pools. What could not be read is named in `not_known`; it is never shown as nothing."""
    this = get_object_or_404(Node, name=name)
    facts = services.facts_of(this)
    own = list(Situation.objects.filter(closed_at=None, node=this).order_by(*WORST_FIRST))
    loud = [one for one in unexplained_reviews.voice(own) if one.reviewed is None]
    return node_line(this, loud) | (node_facts(facts, judging.concerns(own)) if facts else no_versions(name))


def no_versions(name: str) -> Answer:
    versions = dict.fromkeys(("zfs_userland", "zfs_module"), "not known")
    silence = Judgement("unknown", (why := f"{name} has not reported yet.",), (), (why,))
    return versions | {"judgement": judgement(silence), "disks": None, "pools": [], "not_known": list(silence.unknown)}


def judgement(judged: Judgement) -> Answer:
    return {
        "tone": judged.tone,
        "reasons": list(judged.reasons),
        "not_known": list(judged.unknown),
        "not_looked_at": list(judged.not_looked_at),
    }


def node_facts(facts: NodeFacts, about: Sequence[Concern]) -> Answer:
    judged, old = judge_node(facts, about), not_current(facts)
    return {
        "judgement": judgement(judged),
        "zfs_userland": rows.text_of(facts.zfs_userland),
        "zfs_module": rows.text_of(facts.zfs_module),
        "disks": len(facts.disks) if known(facts.disks) else None,
        "pools": [pool_line(pool, judge_pool(facts, pool, about), fate_now(facts, pool), old) for pool in facts.pools_read],
        "not_known": list(dict.fromkeys((*(one.reason for one in (facts.pools, facts.disks) if not known(one)), *judged.unknown))),
    }


def pool_line(pool: PoolFacts, judged: Judgement, verdict: Fate, old: str) -> Answer:
    """`old` is why its state is not of now, "" where it is."""
    left = Unknown(old) if old else losses_left(pool)
    return {
        "judgement": judgement(judged),
        "verdict": verdict.verdict,
        "verdict_reason": verdict.reason,
        "no_replacement": verdict.gates,
        "name": pool.name,
        "guid": str(pool.guid) if known(pool.guid) else None,
        "state": pool.state,
        "may_lose": left if known(left) else None,
        "redundancy": rows.margin_words(left)[0],
        "scans": [scan.text for scan in pool.scans if scan.state != "none"] if known(pool.scans) else [],
        "errors": pool.errors,
        "capacity_percent": pool.space.pool.capacity_percent if known(pool.space) else None,
    }


@router.get("/situations", response=answers(Page[SituationOut]), auth=Scoped(READ), url_name="api-situations")
def situations(
    request: TokenRequest, node: Words = "", severity: Words = "", closed: bool = False, cursor: Cursor = "", limit: Limit = PAGE
) -> Answer:
    """What is wrong, newest first. With `closed=true` also what is over.

    `may_lose` is how many more disks the worst of the pools it concerns survives, below 0 where data is missing and 0 where it is not known;
    it is null where it concerns no pool.
    """
    found = Situation.objects.select_related("node").order_by("-pk")
    wanted = {"node__name": node, "severity": severity}
    found = found.filter(**{name: value for name, value in wanted.items() if value})
    found = found if closed else found.filter(closed_at=None)
    found = found.filter(pk__lt=number(cursor)) if number(cursor) else found
    listed, more = paged(found[: limit + 1], limit, lambda one: one.pk)
    return {"items": [situation_line(one) for one in unexplained_reviews.voice(listed)], "next": more}


def situation_line(one: Situation) -> Answer:
    """Of one that has been given its voice."""
    plain = {name: getattr(one, name) for name in ("key", "slug", "severity", "title", "opened_at", "closed_at", "cause")}
    seen = one.reviewed and {"by": one.reviewed.by.get_username(), "why": one.reviewed.why, "until": one.reviewed.until}
    return plain | {"id": one.pk, "node": one.node.name, "may_lose": None if one.margin == NO_POOL else one.margin, "reviewed": seen}


@router.get("/situations/{int:pk}", response=answers(SituationFull), auth=Scoped(READ), url_name="api-situation")
def situation(request: TokenRequest, pk: Number) -> Answer:
    """One situation with the lines that show it, and the runbooks that answer it."""
    [one] = unexplained_reviews.voice([get_object_or_404(Situation.objects.select_related("node"), pk=pk)])
    values = {name: one.data[name] for name in ("meaning", "subject", "evidence", "answers")}
    values |= {"advice": one.data.get("cures", []), "no_replacement": one.data.get("gate", False)}
    runs = Run.objects.filter(situation_key=one.key, ended_at=None).values_list("pk", flat=True)
    return situation_line(one) | values | {"sure": one.data.get("sure", True), "open_runs": list(runs)}


@router.get("/disks", response=answers(Page[DiskOut]), auth=Scoped(READ), url_name="api-disks")
def disks(request: TokenRequest, q: Words = "", cursor: Cursor = "", limit: Limit = PAGE) -> Answer:
    """Disks by WWID. `q` finds a WWID in any form, a part of a serial or model, and a kernel name or bay as `node:sdX`, `enclosure/slot`."""
    found = Disk.objects.filter(matching(q)) if q else Disk.objects.all()
    found = found.filter(wwid__gt=cursor).order_by("wwid").distinct()[: limit + 1]
    listed, more = paged(found, limit, lambda one: one.wwid)
    return {"items": [disk_line(one) for one in listed], "next": more}


def matching(q: str) -> Q:
    wanted = Q(serial__icontains=q) | Q(model__icontains=q) | Q(wwid__icontains=q)
    if (wwid := normalise(q)) is not None:
        wanted |= Q(wwid=wwid)
    node, _, name = q.partition(":")
    if name:
        wanted |= Q(pk__in=now_seen(node__name=node, name=name))
    enclosure, _, slot = q.rpartition("/")
    if enclosure and slot.isascii() and slot.isdigit() and len(slot) < 6:
        wanted |= Q(pk__in=now_seen(enclosure_id=enclosure, slot=int(slot)))
    return wanted


def now_seen(**where: Any) -> QuerySet[Sighting, Any]:
    return Sighting.objects.filter(until=None, **where).values("disk")


def disk_line(one: Disk) -> Answer:
    plain = {name: getattr(one, name) for name in ("wwid", "serial", "vendor", "model", "firmware", "first_seen_at")}
    return plain | {"size_bytes": None if one.size_bytes is None else str(one.size_bytes)}


@router.get("/disks/{str:wwid}", response=answers(DiskFull), auth=Scoped(READ), url_name="api-disk")
def disk(request: TokenRequest, wwid: Name) -> Answer:
    """One disk: where it was seen and what its labels said, newest first, at most 100 of each; and the runs about it that have not ended."""
    one = get_object_or_404(Disk, wwid=normalise(wwid) or wwid)
    seen = Sighting.objects.filter(disk=one).select_related("node")[:REMEMBERED]
    labels = LabelSeen.objects.filter(disk=one).select_related("node")[:REMEMBERED]
    runs = Run.objects.filter(params__wwid=one.wwid, ended_at=None).values_list("pk", flat=True)
    return disk_line(one) | {
        "sightings": [columns(row, SightingOut) for row in seen],
        "labels": [columns(row, LabelOut) for row in labels],
        "runs": list(runs),
    }


def columns(row: Sighting | LabelSeen, form: type[Schema]) -> Answer:
    return {name: getattr(row, name) for name in form.model_fields if name != "node"} | {"node": row.node.name}
