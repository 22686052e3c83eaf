"""What exists, as pages: the fleet, a node, a pool, a disk, a situation. Looking needs a sign-in and nothing more."""

from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.utils import timezone
from django.views.decorators.http import require_POST, require_safe

from app.accounts import rights
from app.accounts.asking import needs
from app.accounts.rights import NOTICES
from app.fleet import chassis, figures, history, judging, overview, pages_disk, pages_pool, reviewing, rows, services, stamps, tops, who
from app.fleet.drawing import draw
from app.fleet.models import Disk, LabelSeen, Node, Sighting, Situation
from app.fleet.severity import SEVERITY_TONES, SEVERITY_WORDS, WORST_FIRST, worst_first
from app.htmx import live, render_page
from workflows import advice
from workflows.facts import FleetFacts, NodeFacts, PoolFacts, known
from workflows.facts.census import census
from workflows.facts.findings import disks_of, findings, of_node, of_pool
from workflows.fate import fate
from workflows.judgement import Judgement, judge_disk, judge_pool

TOPICS_MAX = 10  # a shelf is seen by two nodes; a page that is rung by ten hears enough


@login_required
@require_safe
@live(stamps.fleet)
def fleet(request: HttpRequest) -> HttpResponse:
    context = {"section": "fleet", "topics": "fleet", **overview.page(request.GET, timezone.now())}
    return render_page(request, "fleet/fleet.html", context, partial="fleet")


@login_required
@require_safe
@live(stamps.node)
def node(request: HttpRequest, name: str) -> HttpResponse:
    this = get_object_or_404(Node, name=name)
    about = {"section": "fleet", "topics": f"node:{name},looks:{name}", "node": this, **overview.line(this, timezone.now())}
    situations, fleet = _open_situations(this), tops.facts_near(request, name)
    if fleet is None:
        context = about | {"situations": situations, "pools": this.pools_now.all(), **tops.asking(request, name)}
        return render_page(request, "fleet/node_top.html", context, partial="node")
    facts = fleet.nodes.get(name)
    context = about | {
        "situations": situations,
        "fleet_facts": fleet,
        "pools": rows.pool_rows(facts, judging.concerns(situations)) if facts is not None else (),
    }
    if facts is not None:
        context |= _node_facts(facts, fleet) | _judged(judging.of_node(facts, situations), facts)
    return render_page(request, "fleet/node.html", context, partial="node")


def _judged(judged: Judgement, facts: NodeFacts) -> dict:
    return {"not_known": judging.beyond_failures(judged, facts), "not_watched": judged.not_looked_at}


def _node_facts(facts: NodeFacts, fleet: FleetFacts) -> dict:
    own = frozenset(pool.guid for pool in (facts.pools if known(facts.pools) else ()) if known(pool.guid))
    return {
        "userland": rows.said(facts.zfs_userland),
        "module": rows.said(facts.zfs_module),
        "hostid": rows.said(facts.hostid),
        "failures": sorted(facts.failures.items()),
        "pools_unknown": rows.why_unknown(facts.pools),
        "disks_unknown": rows.why_unknown(facts.disks),
        "disks": rows.disk_rows(facts, fleet),
        "foreign": of_node(findings(fleet), facts.node, own),
        "enclosures": [(one, draw(one)) for one in chassis.of_node(fleet, facts.node)],
    }


@login_required
@require_safe
@live(stamps.pool)
def pool(request: HttpRequest, name: str, pool_name: str) -> HttpResponse:
    this = get_object_or_404(Node, name=name)
    situations = [s for s in _open_situations(this) if s.data.get("subject", {}).get("pool") == pool_name]
    fleet = tops.facts_near(request, name)
    top = tops.pool(this, pool_name, situations) if fleet is None else None
    if top is not None:
        return render_page(request, "fleet/pool_top.html", top | tops.asking(request, name), partial="pool")
    fleet = fleet or services.facts_near([name])
    facts = fleet.nodes.get(name)
    pools = facts.pools_read if facts is not None else ()
    found = next((p for p in pools if p.name == pool_name), None)
    if found is None:
        raise Http404(f"{name} did not report an imported pool {pool_name}.")
    judged, verdict = judge_pool(facts, found, judging.concerns(situations)), fate(facts, found, fleet)
    words = [
        (k, v)
        for k, v in (("status", found.status), ("action", advice.shown(found.action)), ("see", found.see), ("errors", found.errors))
        if v
    ]
    context = {
        "section": "fleet",
        "topics": f"node:{name}",
        "fleet_facts": fleet,
        "node": this,
        "heard": overview.heard(this, timezone.now()),
        "pool": found,
        "guid": rows.said(found.guid),
        "row": rows.pool_row(found, judged),
        "fate": verdict,
        "fate_words": rows.FATE_WORDS[verdict.verdict],
        "fate_tone": rows.FATE_TONES[verdict.verdict],
        "not_known": judged.unknown,
        "scans": [s for s in found.scans if s.state != "none"] if known(found.scans) else [],
        "tree_unknown": rows.why_unknown(found.tops),
        "situations": situations,
        "figures": figures.of(found, facts),
        "words": words,
        **_census(fleet, found),
        **pages_pool.more(fleet, facts, found),
    }
    return render_page(request, "fleet/pool.html", context, partial="pool")


def _census(fleet: FleetFacts, pool: PoolFacts) -> dict:
    """What all labels of this pool say, wherever in the fleet they were read."""
    if not known(pool.guid):
        return {"census_unknown": f"Which labels are those of {pool.name} is not known: {pool.guid.reason}"}
    seen = census(fleet)
    nodes = sorted({s.node for (guid, _), group in seen.by_vdev.items() if guid == pool.guid for s in group})
    return {"census": of_pool(findings(fleet), pool.guid), "census_disks": disks_of(seen, pool.guid), "census_nodes": nodes}


@login_required
@require_safe
@live(stamps.disk)
def disk(request: HttpRequest, wwid: str) -> HttpResponse:
    this = get_object_or_404(Disk, wwid=wwid)
    context = {
        "section": "fleet",
        "wwid": wwid,
        "disk": this,
        "serial": this.serial or "not known",
        "size": rows.size(this.size_bytes) if this.size_bytes else "size not known",
        "bytes": this.size_bytes or "not known",
    }
    fleet = tops.facts_near(request, wwid)
    if fleet is None:
        return _disk_top(request, this, context)
    return render_page(request, "fleet/disk.html", context | _disk_facts(this, fleet), partial="disk")


def _disk_top(request: HttpRequest, this: Disk, context: dict) -> HttpResponse:
    top = tops.disk(this)
    nodes = top["nodes"][:TOPICS_MAX]
    context |= top | {"topics": _topics(nodes), "seen_on": nodes, **tops.asking(request, *nodes)}
    return render_page(request, "fleet/disk_top.html", context, partial="disk")


def _disk_facts(this: Disk, fleet: FleetFacts) -> dict:
    seen, now = rows.find_disk(fleet, this.wwid), timezone.now()
    about = _about_disk(this.wwid, [node_facts.node for node_facts, _ in seen])
    judged = [judge_disk(node_facts, disk_facts, judging.concerns(about)) for node_facts, disk_facts in seen]
    remembered = history.remembered_of(this, now)
    nodes = sorted({node_facts.node for node_facts, _ in seen})[:TOPICS_MAX]
    sightings, labels = (model.objects.filter(disk=this).select_related("node") for model in (Sighting, LabelSeen))
    return {
        "topics": _topics(nodes),
        "seen_on": nodes,
        "fleet_facts": fleet,
        "situations": about,
        "not_known": list(dict.fromkeys(why for one in judged for why in one.unknown)),
        "places": [rows.place(node_facts, disk_facts) for node_facts, disk_facts in seen],
        "cards": [who.card(fleet, node_facts, disk_facts, remembered) for node_facts, disk_facts in seen],
        **pages_disk.more(this, seen, who.timeline(sightings, labels), now),
    }


def _about_disk(wwid: str, nodes: list[str]) -> list[Situation]:
    """The open situations that name this disk, the worst first."""
    found = Situation.objects.filter(closed_at__isnull=True, node__name__in=nodes).select_related("node").order_by(*WORST_FIRST)
    listed = [one for one in found if wwid in next(iter(judging.concerns([one]))).wwids]
    for one in listed:
        _voice(one)
    return listed


def _topics(nodes: list[str]) -> str:
    return ",".join(f"node:{name}" for name in nodes)


def _open_situations(node: Node | None = None) -> list[Situation]:
    """Open situations, worst first, each with the tone its severity has and followed by what it explains."""
    found = Situation.objects.filter(closed_at__isnull=True).select_related("node")
    listed = list(found.filter(node=node) if node is not None else found)
    for situation in listed:
        _voice(situation)
    listed.sort(key=worst_first)
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


def _voice(situation: Situation) -> None:
    """Give a situation the tone and the words of its severity, for the page; grey where it is reviewed."""
    situation.tone, situation.urgency = SEVERITY_TONES[situation.severity], SEVERITY_WORDS[situation.severity]
    situation.reviewed = reviewing.of([situation]).get(reviewing.sign_of(situation))
    if situation.reviewed is not None:
        situation.tone, situation.urgency = "idle", "reviewed"


@login_required
@require_safe
@live(stamps.situation)
def situation(request: HttpRequest, pk: int) -> HttpResponse:
    this = get_object_or_404(Situation.objects.select_related("node"), pk=pk)
    _voice(this)
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
        "review": reviewing.Review() if reviewing.may_be_reviewed(this) and rights.may(request.user, NOTICES) else None,
        "explains": list(Situation.objects.filter(closed_at__isnull=True, cause_key=this.key).order_by(*WORST_FIRST)),
    }
    return render_page(request, "fleet/situation.html", context, partial="situation")


@needs(NOTICES)
@require_POST
def review(request: HttpRequest, pk: int) -> HttpResponse:
    """An administrator has looked at a word that nothing explains."""
    this = get_object_or_404(Situation.objects.select_related("node"), pk=pk)
    form = reviewing.Review(request.POST)
    if not reviewing.may_be_reviewed(this):
        raise Http404("Only an unexplained word that is to be watched can be reviewed.")
    if form.is_valid():
        reviewing.review(this, request.user, form.cleaned_data["why"], form.cleaned_data["days"], timezone.now())
    return redirect("situation", pk)
