"""This node sees a pool that another node has imported, or that another host used last and never exported.

Importing it here too destroys it; `-f` is exactly how. Nothing needs repair: this says what must not be done, and what to
prove before anybody does it. Only a pool imported on two nodes at once is an emergency.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from agents.collectors.zdb_label import ACTIVE
from workflows.engine.core import Answer, Cure, Evidence, Situation
from workflows.facts import FleetFacts, ImportableFacts, LabelFacts, NodeFacts, known
from workflows.situations import _words

SLUG = "foreign-pool-imported-elsewhere"
MANUALS: tuple[str, ...] = ("take-over", "import-pool")
SILENT_SECONDS = 120  # a node that has not reported for so long may be dead
AGE_SECONDS_MAX = 60  # a node's word that it has a pool imported, or not, is good for so long

_MMP = re.compile(r"must be exported from (\S+) \(hostid=([0-9a-f]{1,8})\)")


@dataclass(frozen=True)
class Foreign:
    """A pool as one node sees it without having it imported."""

    node: NodeFacts
    guid: int
    name: str
    listed: ImportableFacts | None  # by `zpool import`
    label: LabelFacts | None  # the freshest it reads here
    holders: tuple[NodeFacts, ...]  # nodes that have it imported

    dead: NodeFacts | None = None  # the one node that had it last, where that reports no more

    @property
    def active_host(self) -> str:
        """The host that MMP sees writing to it right now, empty when `zpool import` does not say so."""
        found = _MMP.search(" ".join(self.listed.action.split())) if self.listed else None
        if found and int(found.group(2), 16) == 0:
            return ""  # activity of an unknown host is no proof of another host; `import-blocked` says so
        return f"{found.group(1)} (hostid {found.group(2)})" if found else ""

    @property
    def last_host(self) -> str:
        """Another host that had it imported and never exported it; empty when that was this node, or it was exported."""
        label = self.label
        if label is not None and label.hostid is not None:
            own = known(self.node.hostid) and int(self.node.hostid, 16) == label.hostid
            return f"{label.hostname or 'an unknown host'} (hostid {label.hostid:x})" if label.state == ACTIVE and not own else ""
        text = f"{self.listed.status} {self.listed.action}" if self.listed else ""
        return "another host" if "last accessed by another system" in " ".join(text.split()) else ""

    @property
    def own_name(self) -> str:
        """The hostid under which a host of this node's own name used it last; "" where that was another host, or it is not known."""
        label = self.label
        if self.holders or self.active_host or not self.last_host or label is None or label.hostid is None or not known(self.node.hostname):
            return ""
        return f"{label.hostid:08x}" if label.hostname == self.node.hostname and known(self.node.hostid) else ""


def detect(fleet: FleetFacts) -> tuple[Situation, ...]:
    foreign = (f for node in fleet.nodes.values() for f in _foreign(fleet, node))
    return (*_twice(fleet), *(_situation(fleet, f) for f in foreign if f.holders or f.active_host or f.last_host))


def _foreign(fleet: FleetFacts, node: NodeFacts) -> Iterator[Foreign]:
    """Each pool that this node lists or reads labels of, and does not have imported. Unknown pools are not foreign."""
    if not known(node.pools):
        listed, own = node.importable_read, frozenset[int]()
        labels: dict[int, LabelFacts] = {}  # they may be of its own pools
    else:
        listed, own, labels = node.importable_read, _guids(node), _labels(node)
    if known(node.pools) and any(not known(pool.guid) for pool in node.pools):
        labels = {}
    by_guid = {pool.guid: pool for pool in listed}
    for guid in sorted(by_guid.keys() | labels.keys()):
        if guid not in own:
            pool, label = by_guid.get(guid), labels.get(guid)
            name = pool.name if pool else (label.pool_name if label else "") or str(guid)
            holders = _holders(fleet, node, guid)
            yield Foreign(node, guid, name, pool, label, holders, _dead(fleet, node, label, holders))


def _labels(node: NodeFacts) -> dict[int, LabelFacts]:
    """The freshest label of each pool on this node's disks."""
    found: dict[int, LabelFacts] = {}
    for disk in node.disks if known(node.disks) else ():
        for label in disk.labels if known(disk.labels) else ():
            if label.pool_guid is not None and (label.pool_guid not in found or (label.txg or 0) > (found[label.pool_guid].txg or 0)):
                found[label.pool_guid] = label
    return found


def _guids(node: NodeFacts) -> frozenset[int]:
    return frozenset(pool.guid for pool in node.pools_read if known(pool.guid))


def _holders(fleet: FleetFacts, node: NodeFacts, guid: int) -> tuple[NodeFacts, ...]:
    return tuple(other for other in fleet.nodes.values() if other.node != node.node and guid in _guids(other))


def _dead(fleet: FleetFacts, node: NodeFacts, label: LabelFacts | None, holders: tuple[NodeFacts, ...]) -> NodeFacts | None:
    """The node that its labels name, and none but that has it, as far as anybody reported; it must be silent."""
    others = [other for other in fleet.nodes.values() if other.node != node.node and not other.brought and known(other.hostid)]
    had = [other for other in others if label is not None and label.state == ACTIVE and label.hostid == int(str(other.hostid), 16)]
    if len(had) != 1 or any(holder.node != had[0].node for holder in holders) or had[0].age_seconds < SILENT_SECONDS:
        return None
    return had[0]


def _twice(fleet: FleetFacts) -> Iterator[Situation]:
    """One pool imported on two nodes: both write, and every second destroys more of it."""
    holders: dict[int, list[NodeFacts]] = {}
    for node in fleet.nodes.values():
        for guid in _guids(node):
            holders.setdefault(guid, []).append(node)
    for guid, nodes in holders.items():
        if len(nodes) > 1:
            pool = next(p for p in nodes[0].pools_read if p.guid == guid)
            silent = [node for node in nodes if not node.age_seconds < SILENT_SECONDS]
            if len(nodes) - len(silent) == 1:
                yield _taken_over(pool.name, guid, nodes, silent)
                continue
            where = " and ".join(node.node for node in nodes)
            yield Situation(
                slug=SLUG,
                key=f"{SLUG}:twice:{guid}",
                node=nodes[0].node,
                severity="act",
                title=f"{pool.name} is imported on {where} at once",
                meaning=f"{where} both say that they have {pool.name} imported. Two hosts that write to one pool destroy it within minutes. Power one of them "
                f"off now, through its management controller; do not wait for a clean export. {_ages(nodes)}",
                evidence=tuple(
                    _words.evidence(node, "zpool_status", f"pool: {pool.name}  state: {pool.state}  (guid {guid})") for node in nodes
                ),
                subject={"node": nodes[0].node, "pool": pool.name, "pool_guid": str(guid), "other_node": nodes[1].node},
                sure=all(node.age_seconds <= AGE_SECONDS_MAX for node in nodes),
                cures=_of_two(pool.name, where),
            )


def _taken_over(pool: str, guid: int, nodes: list[NodeFacts], silent: list[NodeFacts]) -> Situation:
    """One node has it, and others had it when they reported last: after a takeover, or before two hosts write to it."""
    (here,) = (node for node in nodes if node not in silent)
    gone = " and ".join(node.node for node in silent)
    return Situation(
        slug=SLUG,
        key=f"{SLUG}:silent:{guid}",
        node=here.node,
        severity="act",
        title=f"{here.node} has {pool} imported, and {gone} had it when it reported last",
        meaning=f"{_ages(silent)} If {gone} has power, two hosts write to {pool} and destroy it. If it has none, {here.node} took the pool over, and {gone} must not "
        "import it when its power returns. Which of them is so is not known here.",
        evidence=tuple(_words.evidence(node, "zpool_status", f"pool: {pool}  (guid {guid})") for node in (here, *silent)),
        subject={"node": here.node, "pool": pool, "pool_guid": str(guid), "other_node": silent[0].node},
        sure=False,
        cures=(
            Cure("other", f"See by its management controller or at the rack that {gone} has no power. Where it has, switch it off now."),
            Cure(
                "other",
                f"Before its power returns, unplug its SAS cables, or remove its cache file and mask its zfs-import units from a rescue system. Then {pool} is not "
                "imported there again.",
                needs=f"{gone} has no power.",
            ),
        ),
    )


def _of_two(pool: str, where: str) -> tuple[Cure, ...]:
    return (
        Cure(
            "other",
            f"Switch one of {where} off now, by its management controller, the one that serves no clients where that is known. No clean shutdown, export or sync: each of "
            "them writes.",
            save_first="Nothing: every second counts.",
        ),
        Cure(
            "look",
            f"On the one that is left, see how {pool} is, and copy away what cannot be lost before anything else.",
            (("zpool", "status", "-v", pool),),
        ),
        Cure(
            "scrub", f"Then scrub {pool}: only 0 errors say that it is whole.", (("zpool", "scrub", pool),), needs="The other node is off."
        ),
        Cure(
            "other",
            f"Before the other starts again, see that it imports {pool} neither at boot nor by a cluster, and set multihost=on with a hostid of its own on each node.",
            (("zpool", "set", "multihost=on", pool),),
            releases="0.7 and newer",
            needs="Each node has a hostid of its own.",
        ),
    )


def _situation(fleet: FleetFacts, foreign: Foreign) -> Situation:
    return Situation(
        slug=SLUG,
        key=f"{SLUG}:{foreign.node.node}:{foreign.guid}",
        node=foreign.node.node,
        severity="info" if _is_harmless(foreign) else "watch",
        title=_title(foreign),
        meaning=" ".join(_meaning(foreign)),
        evidence=tuple(_lines(foreign)),
        answers=_answers(foreign),
        subject=_subject(foreign),
        sure=bool(foreign.active_host or foreign.holders),
        cures=tuple(_cures_of(foreign)),
    )


def _cures_of(foreign: Foreign) -> Iterator[Cure]:
    """Nothing that imports it writable: that is for whoever moves it, after the export."""
    name, here = foreign.name, foreign.node.node
    if foreign.dead is not None and not foreign.active_host:
        yield _take_over(foreign, foreign.dead)
    if foreign.holders or foreign.active_host:
        has = " and ".join(holder.node for holder in foreign.holders) or foreign.active_host
        yield Cure(
            "wait",
            f"Nothing is to be done on {here} while {has} has {name}: import it here neither with -f nor without, and clear no label of its disks.",
        )
        if foreign.holders and not foreign.active_host and foreign.listed is not None:
            yield Cure(
                "other",
                f"Set multihost=on where {name} is imported, so that ZFS itself keeps the others from importing it.",
                (("zpool", "set", "multihost=on", name),),
                releases="0.7 and newer",
                needs=f"{name} serves there, and each node that reaches the disks has a hostid of its own.",
            )
        yield Cure(
            "export-import",
            f"To move it here, export it there first; then {here} can import it by its id {foreign.guid}, without -f.",
            needs=f"{name} serves there: an export of a suspended pool hangs.",
        )
        return
    if foreign.own_name:
        yield _hostid_back(foreign)
    yield Cure(
        "look",
        f"Ask {foreign.last_host} and each other host that sees these disks whether it has {name}; of one that does not answer, prove by its management controller "
        "that it is off.",
        (("zpool", "list", "-o", "name,guid,health"),),
    )
    yield Cure(
        "import",
        "Only if none has it and the data is needed here: read-only first, which writes nothing. Where multihost is on, 2.3.6 and 2.4.1 and newer may refuse it.",
        (("zpool", "import", "-N", "-o", "readonly=on", "-o", "cachefile=none", "-d", "/dev/disk/by-id", str(foreign.guid)),)
        if foreign.guid
        else (),
        needs="No host has it imported, and multihost or the management controllers say so.",
        runbook="read-only-import",
    )
    yield Cure("wait", "If it is not needed here, nothing is to be done: its disks stay as they are.")


def _hostid_back(foreign: Foreign) -> Cure:
    """`import-pool` takes a pool for this host's own by hostid and name; with the old hostid it begins."""
    return Cure(
        "zgenhostid",
        f"If {foreign.node.node} itself had it, and its hostid has changed since: give it the old hostid again, build its initramfs anew "
        "(`update-initramfs -u` or `dracut -f`), and reboot. Then the pool is its own, and is imported without force.",
        (("zgenhostid", "-f", foreign.own_name),) if int(foreign.own_name, 16) else (),
        releases="2.0 and newer",
        needs=f"No other host is named {foreign.node.hostname}, has the hostid {foreign.own_name}, or has the pool; and no pool is imported on {foreign.node.node}.",
        save_first="the present hostid, as `hostid` prints it, and /etc/hostid",
        runbook="import-pool",
    )


def _take_over(foreign: Foreign, dead: NodeFacts) -> Cure:
    return Cure(
        "import",
        f"Where {dead.node} is dead and {foreign.name} is needed, take it over: switch {dead.node} off by its management controller or unplug it, and show that. "
        f"It must not import {foreign.name} when it returns.",
        needs=f"{dead.node} has no power and gets none by itself, and for a minute nobody wrote to any member.",
        runbook="take-over",
    )


def _answers(foreign: Foreign) -> tuple[Answer, ...]:
    """Only where no host is known to have it; whether none has it is what the runbook asks first."""
    params = {"node": foreign.node.node, "pool": foreign.name, "pool_guid": str(foreign.guid)}
    if foreign.dead is not None and not foreign.active_host and foreign.listed is not None and foreign.listed.state != "UNAVAIL":
        why = f"It has {foreign.dead.node} shown to have no power, and proves that nobody writes, before it imports the pool by force."
        return (Answer("take-over", {**params, "dead_node": foreign.dead.node}, why),)
    if foreign.holders or foreign.active_host or foreign.listed is None or foreign.listed.state == "UNAVAIL":
        return ()
    return (
        Answer("read-only-import", params, "It proves first that no other host has the pool, and imports it so that nothing is written."),
    )


def _is_harmless(foreign: Foreign) -> bool:
    """A pair of nodes with the pool on one of them and MMP awake; or remains of a pool that cannot be imported anyway."""
    if foreign.holders:
        fresh = all(holder.age_seconds <= AGE_SECONDS_MAX for holder in foreign.holders)
        return fresh and (bool(foreign.active_host) or foreign.listed is None)
    offered = not known(foreign.node.importable) or (foreign.listed is not None and foreign.listed.state != "UNAVAIL")
    return not foreign.active_host and not offered


def _title(foreign: Foreign) -> str:
    if foreign.holders:
        return f"{foreign.node.node} sees {foreign.name}, which {' and '.join(h.node for h in foreign.holders)} has imported"
    if foreign.active_host:
        return f"{foreign.node.node} sees {foreign.name}, which {foreign.active_host} has imported right now"
    return f"{foreign.node.node} sees {foreign.name}, which {foreign.last_host} used last and never exported"


def _meaning(foreign: Foreign) -> Iterator[str]:
    name, here = foreign.name, foreign.node.node
    if foreign.holders:
        yield f"{' and '.join(h.node for h in foreign.holders)} has {name} imported. {_ages(foreign.holders)}"
    if foreign.active_host:
        yield f"`zpool import` on {here} finds {name} written by {foreign.active_host} at this moment. Importing it here, -f included, would destroy it."
        yield f"To move it, export it there first: it must be exported from {foreign.active_host} before it can be imported here."
    elif foreign.holders and foreign.listed is not None:
        yield f"`zpool import` on {here} does not notice: multihost is off, so nothing but care keeps {here} from importing it, and that destroys it."
        yield "Set multihost=on where the pool is imported, with a hostid of its own on each node, and see that nothing imports it at boot."
    elif foreign.holders:
        yield f"{here} reads its labels and must not import it: two hosts that write to one pool destroy it."
    else:
        yield f"The last host to have {name} imported was {foreign.last_host}, and it never exported it. It may be dead, or it may still write."
        if foreign.own_name:
            yield f"It has the name of {here} and another hostid (here: {foreign.node.hostid}): the likeliest reason is that the hostid of {here} changed. Two hosts with one name look the same."
        yield f"`zpool import` asks for -f now. Prove first that this host is off, by its management controller, or that it does not have {name}"
        yield "imported; every other node that sees these disks must say the same. The pool's own protection helps only with multihost=on."
        yield f"If the data is needed, import it read-only first (readonly=on, -N, by its guid {foreign.guid})."


def _ages(nodes: Iterable[NodeFacts]) -> str:
    old = [
        f"{node.node} last reported {node.age_seconds:.0f} s ago, so that may be over"
        for node in nodes
        if node.age_seconds > AGE_SECONDS_MAX
    ]
    return f"{'; '.join(old)}." if old else "All of them reported just now."


def _lines(foreign: Foreign) -> Iterator[Evidence]:
    if foreign.listed is not None:
        text = " ".join(f"{foreign.listed.state}  {foreign.listed.status} {foreign.listed.action}".split())
        yield _words.evidence(foreign.node, "zpool_import", f"{foreign.name} (id {foreign.guid}): {text}")
    if foreign.label is not None:
        label = foreign.label
        line = f"{label.pool_name}: state {label.state}, txg {label.txg}, hostid {label.hostid or 0:x}, hostname {label.hostname}"
        yield _words.evidence(foreign.node, f"zdb_label/{label.partition}", line)
    for holder in foreign.holders:
        pool = next(p for p in holder.pools_read if p.guid == foreign.guid)
        yield _words.evidence(holder, "zpool_status", f"pool: {pool.name}  state: {pool.state}")


def _subject(foreign: Foreign) -> dict[str, str]:
    subject = {"node": foreign.node.node, "pool": foreign.name, "pool_guid": str(foreign.guid)}
    host = " and ".join(h.node for h in foreign.holders) or foreign.active_host or foreign.last_host
    return subject | {"other_host": host, "multihost": "on" if foreign.active_host else "not seen"}
