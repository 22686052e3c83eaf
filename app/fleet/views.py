"""What exists, as pages: the fleet, a node, a pool, a disk, a situation. Looking needs a sign-in and nothing more."""

from typing import Any

from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.utils import timezone
from django.views.decorators.http import require_POST, require_safe

from app.accounts import rights
from app.accounts.asking import needs, user_of
from app.accounts.changing import fresh
from app.accounts.rights import NOTICES
from app.core.pages import live, render_page
from app.fleet import services, unexplained_reviews
from app.fleet.ingest import history
from app.fleet.models import Disk, LabelSeen, Node, Sighting, Situation
from app.fleet.pages import chassis, damage, disk_identity, drive_rows, figures, judging, overview, page_headers, page_versions, rows
from app.fleet.pages import disk as pages_disk
from app.fleet.pages import pool as pages_pool
from app.fleet.pages.drawing import draw
from app.fleet.severity import WORST_FIRST, worst_first
from workflows.analysis import zfs_advice
from workflows.analysis.judgement import Concern, Judgement, fate_now, judge_disk, judge_node, judge_pool, not_current
from workflows.facts import DiskFacts, FleetFacts, NodeFacts, PoolFacts, census, known, size
from workflows.facts.fleet.findings import disks_of, findings, of_node, of_pool

TOPICS_MAX = 10  # a shelf is seen by two nodes; a page that is rung by ten hears enough


@login_required
@require_safe
@live(page_versions.fleet)
def fleet(request: HttpRequest) -> HttpResponse:
    context = {"section": "fleet", "topics": "fleet", **overview.page(request.GET, timezone.now())}
    return render_page(request, "fleet/fleet.html", context, partial="fleet")


@login_required
@require_safe
@live(page_versions.node)
def node(request: HttpRequest, name: str) -> HttpResponse:
    this = get_object_or_404(Node, name=name)
    about = {"section": "fleet", "topics": f"node:{name},looks:{name}", "node": this, **overview.line(this, timezone.now())}
    situations, fleet = _open_situations(this), page_headers.facts_near(request, name)
    if fleet is None:
        context = about | {"situations": situations, "pools": page_headers.pools(this), **page_headers.asking(request, name)}
        return render_page(request, "fleet/node_top.html", context, partial="node")
    facts = fleet.nodes.get(name)
    context = about | {"situations": situations, "fleet_facts": fleet, "pools": ()}
    if facts is not None:
        own = judging.concerns(situations)
        others = judging.about(other for other in fleet.nodes if other != name)
        context |= (
            {"pools": rows.pool_rows(facts, own)} | _node_facts(facts, fleet, others | {name: own}) | _judged(judge_node(facts, own), facts)
        )
    return render_page(request, "fleet/node.html", context, partial="node")


def _judged(judged: Judgement, facts: NodeFacts) -> dict[str, Any]:
    return {"not_known": judging.beyond_failures(judged, facts), "not_watched": judged.not_looked_at}


def _node_facts(facts: NodeFacts, fleet: FleetFacts, about: judging.About) -> dict[str, Any]:
    rule = judging.OfDisks.of(fleet.nodes.values(), about)
    own = frozenset(pool.guid for pool in (facts.pools if known(facts.pools) else ()) if known(pool.guid))
    return {
        "userland": rows.short_of(facts.zfs_userland),
        "module": rows.short_of(facts.zfs_module),
        "hostid": rows.short_of(facts.hostid),
        "failures": sorted(facts.failures.items()),
        "pools_unknown": rows.why_unknown(facts.pools),
        "disks_unknown": rows.why_unknown(facts.disks),
        "disks": rows.disk_rows(facts, rule, fleet),
        "foreign": of_node(findings(fleet), facts.node, own),
        "enclosures": [(one, draw(one)) for one in chassis.of_node(fleet, facts.node, rule)],
    }


@login_required
@require_safe
@live(page_versions.pool)
def pool(request: HttpRequest, name: str, pool_name: str) -> HttpResponse:
    this = get_object_or_404(Node, name=name)
    open_ = _open_situations(this)
    situations = [s for s in open_ if pool_name in judging.concern(s).pools]
    fleet = page_headers.facts_near(request, name)
    top = page_headers.pool(this, pool_name, situations) if fleet is None else None
    if top is not None:
        return render_page(request, "fleet/pool_top.html", top | page_headers.asking(request, name), partial="pool")
    fleet = fleet or services.facts_near([name])
    facts = fleet.nodes.get(name)
    found = next((p for p in facts.pools_read if p.name == pool_name), None) if facts is not None else None
    if facts is None or found is None:
        raise Http404(f"{name} did not report an imported pool {pool_name}.")
    judged, verdict = judge_pool(facts, found, judging.concerns(situations)), fate_now(facts, found, fleet)
    words = [
        (k, v)
        for k, v in (("status", found.status), ("action", zfs_advice.shown(found.action)), ("see", found.see), ("errors", found.errors))
        if v
    ]
    context = {
        "section": "fleet",
        "topics": f"node:{name}",
        "fleet_facts": fleet,
        "node": this,
        "last_report": overview.last_report_text(this, timezone.now()),
        "pool": found,
        "guid": rows.text_of(found.guid),
        "row": rows.pool_row(found, judged, bool(not_current(facts))),
        "fate": verdict,
        "fate_words": rows.FATE_WORDS[verdict.verdict],
        "fate_tone": rows.FATE_TONES[verdict.verdict],
        "not_known": judged.unknown,
        "scans": [s for s in found.scans if s.state != "none"] if known(found.scans) else [],
        "tree_unknown": rows.why_unknown(found.tops),
        "situations": situations,
        "figures": figures.of(found, facts),
        "words": words,
        "damaged": len(damage.entries(found)),
        **_census(fleet, found),
        **pages_pool.more(fleet, facts, found, verdict, judging.OfDisks.of([facts], {name: judging.concerns(open_)})),
    }
    return render_page(request, "fleet/pool.html", context, partial="pool")


def _census(fleet: FleetFacts, pool: PoolFacts) -> dict[str, Any]:
    """What all labels of this pool say, wherever in the fleet they were read."""
    if not known(pool.guid):
        return {"census_unknown": f"Which labels are those of {pool.name} is not known: {pool.guid.reason}"}
    seen = census(fleet)
    nodes = sorted({s.node for (guid, _), group in seen.by_vdev.items() if guid == pool.guid for s in group})
    return {"census": of_pool(findings(fleet), pool.guid), "census_disks": disks_of(seen, pool.guid), "census_nodes": nodes}


@login_required
@require_safe
@live(page_versions.disk)
def disk(request: HttpRequest, wwid: str) -> HttpResponse:
    this = get_object_or_404(Disk, wwid=wwid)
    context = {
        "section": "fleet",
        "wwid": wwid,
        "disk": this,
        "serial": this.serial or "not known",
        "size": size(this.size_bytes) if this.size_bytes else "size not known",
        "bytes": this.size_bytes or "not known",
    }
    fleet = page_headers.facts_near(request, wwid)
    if fleet is None:
        return _disk_top(request, this, context)
    return render_page(request, "fleet/disk.html", context | _disk_facts(this, fleet), partial="disk")


def _disk_top(request: HttpRequest, this: Disk, context: dict[str, Any]) -> HttpResponse:
    top = page_headers.disk(this)
    nodes = top["nodes"][:TOPICS_MAX]
    context |= top | {"topics": _topics(nodes), "seen_on": nodes, **page_headers.asking(request, *nodes)}
    return render_page(request, "fleet/disk_top.html", context, partial="disk")


def _disk_facts(this: Disk, fleet: FleetFacts) -> dict[str, Any]:
    seen, now = rows.find_disk(fleet, this.wwid), timezone.now()
    about = _about_disk(this.wwid, [node_facts.node for node_facts, _ in seen])
    judged = [_judge(node_facts, disk_facts, judging.concerns(about)) for node_facts, disk_facts in seen]
    remembered = history.remembered_of(this, now)
    nodes = sorted({node_facts.node for node_facts, _ in seen})[:TOPICS_MAX]
    sightings = Sighting.objects.filter(disk=this).select_related("node")
    labels = LabelSeen.objects.filter(disk=this).select_related("node")
    return {
        "topics": _topics(nodes),
        "seen_on": nodes,
        "fleet_facts": fleet,
        "situations": about,
        "not_known": list(dict.fromkeys(why for one in judged for why in one.unknown)),
        "places": [drive_rows.place(*one, how) for one, how in zip(seen, judged, strict=True)],
        "cards": [disk_identity.card(fleet, node_facts, disk_facts, remembered) for node_facts, disk_facts in seen],
        **pages_disk.more(this, seen, disk_identity.timeline(sightings, labels), now),
    }


def _judge(node: NodeFacts, disk: DiskFacts, about: tuple[Concern, ...]) -> Judgement:
    owner = rows.owner_of(node, disk)
    return judge_disk(node, disk, about, member_of=owner[0] if owner is not None else None)


def _about_disk(wwid: str, nodes: list[str]) -> list[Situation]:
    """The open situations that name this disk, the worst first."""
    found = Situation.objects.filter(closed_at__isnull=True, node__name__in=nodes).select_related("node").order_by(*WORST_FIRST)
    return unexplained_reviews.voice(one for one in found if wwid in judging.concern(one).wwids)


def _topics(nodes: list[str]) -> str:
    return ",".join(f"node:{name}" for name in nodes)


def _open_situations(node: Node | None = None) -> list[Situation]:
    """Open situations, worst first and the reviewed last, each with the tone its severity has and followed by what it explains."""
    found = Situation.objects.filter(closed_at__isnull=True).select_related("node")
    listed = unexplained_reviews.voice(found.filter(node=node) if node is not None else found)
    listed.sort(key=lambda one: (one.reviewed is not None, worst_first(one)))
    return under_causes(listed)


def under_causes(listed: list[Situation]) -> list[Situation]:
    """The same order, but with each explained situation right below its cause. `explained` says so to the page."""
    keys = {s.key for s in listed}
    explained: dict[str, list[Situation]] = {}
    for situation in listed:
        situation.explained = situation.cause in keys
        if situation.explained:
            explained.setdefault(situation.cause, []).append(situation)
    return [each for root in listed if not root.explained for each in (root, *explained.get(root.key, ()))]


@login_required
@require_safe
@live(page_versions.situation)
def situation(request: HttpRequest, pk: int) -> HttpResponse:
    this = get_object_or_404(Situation.objects.select_related("node"), pk=pk)
    unexplained_reviews.voice([this])
    context = {
        "section": "fleet",
        "topics": f"node:{this.node.name}",
        "situation": this,
        "meaning": this.data["meaning"],
        "cures": this.data.get("cures", []),  # rows from before advice stood apart have none
        "gate": this.data.get("gate", False),
        "pool": this.data.get("subject", {}).get("pool", ""),
        "evidence": this.data["evidence"],
        "sure": this.data.get("sure", True),
        "cause": Situation.objects.filter(closed_at__isnull=True, key=this.cause).first() if this.cause else None,
        "review": unexplained_reviews.Review()
        if unexplained_reviews.may_be_reviewed(this) and rights.may(user_of(request), NOTICES)
        else None,
        "explains": list(Situation.objects.filter(closed_at__isnull=True, cause_key=this.key).order_by(*WORST_FIRST)),
    }
    return render_page(request, "fleet/situation.html", context, partial="situation")


@needs(NOTICES)
@require_POST
@fresh
def review(request: HttpRequest, pk: int) -> HttpResponse:
    """An administrator has looked at a word that nothing explains."""
    this = get_object_or_404(Situation.objects.select_related("node"), pk=pk)
    form = unexplained_reviews.Review(request.POST)
    if not unexplained_reviews.may_be_reviewed(this):
        raise Http404("Only an unexplained word that is to be watched can be reviewed.")
    if form.is_valid():
        unexplained_reviews.review(this, user_of(request), form.cleaned_data["why"], form.cleaned_data["days"], timezone.now())
    return redirect("situation", pk)
