"""Is the head that has the pool really without power, does nobody write to the pool, and may this node have it?

Every question is about two nodes: `node`, which is to have the pool, and `dead_node`, which had it last and reports no more.
"""

from collections.abc import Mapping
from dataclasses import replace
from math import ceil

from agents.collectors.zdb_label import ACTIVE
from agents.operations import _uberblocks
from agents.operations.zpool_import_fenced import FENCE_SECONDS_MAX, STILL_SECONDS
from workflows.analysis import fencing
from workflows.analysis.fencing import ANY, Fencing
from workflows.engine.core import Params, Verdict, guard, ok, refuse, unknown
from workflows.facts import FleetFacts, Known, NodeFacts, Unknown, derived, known, lookup, need
from workflows.facts.fleet.divergence import Row, rows
from workflows.guards.fresh import ONE_MOMENT
from workflows.guards.importing import (
    listed_pool,
    no_other_node_imports_it_by_itself,
    no_sharing_node_has_or_may_have_it,
    the_pool_is_not_imported_here,
)
from workflows.guards.subject import number

SILENT_SECONDS = 120  # a node that reports each 10 to 60 s has failed to do so twice at the least
RINGS = "zdb_uberblocks"
AHEAD_SECONDS_MAX = 120  # how far the clock that stamped a text may be before the portal's
SENTENCE_MIN = 20  # characters of what a person states
WHAT_TO_PASTE = (
    "Paste one of these, and no password.\n"
    "At the rack: `chassis: SERIAL` as scanned, and `unplugged` on the next line once no power cord is plugged in.\n"
    "Its controller: what `date -u; ipmitool chassis status; ipmitool mc watchdog get; ipmitool fru print 0` prints, or `date -u` and the ComputerSystem "
    "of its redfish service.\n"
    "Its outlets: `date -u`, the state of each, and two lines of your own: `feeds: 2` and `chassis: SERIAL`."
)


# --- the dead head


def dead(facts: FleetFacts, params: Params) -> Known[NodeFacts]:
    name = params.get("dead_node", "")
    return facts.nodes[name] if name in facts.nodes else Unknown(f"Nothing that {name or 'the dead node'} reported is known.")


@guard
def the_dead_node_is_silent(facts: FleetFacts, params: Params) -> Verdict:
    head = need(dead(facts, params))
    if head.node == params.get("node"):
        return refuse(f"{head.node} cannot take a pool from itself. Begin import-pool there, or choose the other head.")
    if head.brought:
        return unknown(ONE_MOMENT.format(node=head.node, seconds=head.age_seconds))
    if not head.age_seconds >= 0:
        return unknown(f"When {head.node} reported last is not known. Check the clock of the portal.")
    if head.age_seconds < SILENT_SECONDS:
        return refuse(
            f"{head.node} reported {head.age_seconds:.0f} s ago, so it runs. Export {params.get('pool', 'the pool')} there, and import it here with import-pool."
        )
    return ok(f"{head.node} has not reported for {head.age_seconds:.0f} s.")


@guard
def its_serial_numbers_are_known(facts: FleetFacts, params: Params) -> Verdict:
    """From its last report, and none of another node of the fleet: two nodes of one chassis share that one's number."""
    serials = need(its_serials(facts, params))
    head = params.get("dead_node", "")
    if not serials:
        return refuse(f"The firmware of {head} has placeholders for serial numbers, so no text shows that it is this one. {BY_HAND}")
    return ok(f"{head} reported {_listed(serials)}.")


BY_HAND = "Get help: the pool can be taken over by hand alone, by whoever stands before the head that is unplugged."


@derived
def its_serials(facts: FleetFacts, params: Params) -> Known[Mapping[str, str]]:
    """Those that are of this head alone."""
    head = need(dead(facts, params))
    firmware = need(head.firmware, f"The serial numbers of {head.node} are not known")
    others = {
        serial
        for other in facts.nodes.values()
        if other.node != head.node and known(other.firmware)
        for serial in other.firmware.genuine.values()
    }
    return {kind: serial for kind, serial in firmware.genuine.items() if serial not in others}


def _listed(serials: Mapping[str, str]) -> str:
    return ", ".join(f"{kind} serial {serial}" for kind, serial in serials.items())


# --- what shows that it has no power


def what_is_kept(text: str) -> str:
    """One line for the order and the ledger: by what it is known, and the serial numbers. The time is kept apart."""
    found = fencing.read(text, 0.0)
    serials = ", ".join(f"{kind if kind != ANY else 'serial'} {serial}" for kind in found.serials for serial in sorted(found.serials[kind]))
    state = "no power" if found.off is True else "power not known to be off"
    line = "; ".join(part for part in (state, f"by {found.by}" if found.by else "", serials) if part)
    return "".join(character if character.isascii() and character.isprintable() else " " for character in line)[:400]


def since_when_it_is_fenced(facts: FleetFacts, params: Params, text: str, at: float) -> Mapping[str, str]:
    taken = fencing.read(text, at).taken_at
    return {"fenced_at": str(int(taken))} if known(taken) else {}


def the_head_has_no_power(facts: FleetFacts, params: Params, text: str) -> tuple[Verdict, ...]:
    """Judges what was pasted or scanned: off, nothing switches it on, it is this head, and it was taken just now."""
    if fencing.holds_a_secret(text):
        return (
            refuse(
                "It holds a command line with a password or a community name. Paste only what the command printed; nothing of it was kept."
            ),
        )
    at = facts.at if known(facts.at) else 0.0
    found = fencing.read(text, at)
    return (
        _is_off(found),
        _stays_off(found),
        _is_this_head(found, its_serials(facts, params), params),
        _is_recent(found.taken_at, facts, params),
    )


def _is_off(found: Fencing) -> Verdict:
    if not known(found.off):
        return unknown(found.off.reason)
    quoted = "; ".join(f"`{line}`" for line in found.lines[:12])
    return (
        ok(f"By {found.by} the machine has no power: {quoted}.")
        if found.off
        else refuse("By this text the machine has power. Switch it off first.")
    )


def _stays_off(found: Fencing) -> Verdict:
    if not known(found.stays_off):
        return unknown(found.stays_off.reason)
    if not found.stays_off:
        return refuse(
            "It may be switched on by itself: its restore policy is not always-off, or its watchdog runs. Set `ipmitool chassis policy always-off` "
            "and `ipmitool mc watchdog off`, or unplug it; then have it shown again."
        )
    return ok("Nothing that is stated there switches it on by itself.")


def _is_this_head(found: Fencing, serials: Known[Mapping[str, str]], params: Params) -> Verdict:
    head = params.get("dead_node", "")
    if not known(serials):
        return unknown(serials.reason)
    shown = {serial for values in found.serials.values() for serial in values}
    if not shown:
        return unknown("It states no serial number. Paste `ipmitool fru print 0` too, or add `chassis: SERIAL` as scanned.")
    against = [
        f"its {kind} serial is {' and '.join(sorted(values))}"
        for kind, values in found.serials.items()
        if kind in serials and values != {serials[kind]}
    ]
    equal = sorted(shown & set(serials.values()))
    if against or not equal or len(found.serials.get(ANY, ())) > 1 or not set(found.serials.get(ANY, ())) <= set(serials.values()):
        return refuse(
            f"It is about another machine than {head}: it shows {', '.join(sorted(shown))}, and {head} reported {_listed(serials) or 'none'}."
        )
    return ok(f"It is about {head}: {', '.join(equal)}.")


def _is_recent(taken: Known[float], facts: FleetFacts, params: Params) -> Verdict:
    if not known(taken):
        return unknown(taken.reason)
    if not known(facts.at):
        return unknown(facts.at.reason)
    age = facts.at - taken
    if age < -AHEAD_SECONDS_MAX:
        return unknown(f"By its time it was taken {-age:.0f} s from now. Set the clock of that host, and take it again.")
    if age >= FENCE_SECONDS_MAX:
        return refuse(
            f"What shows that {params.get('dead_node', 'the head')} has no power is {age:.0f} s old; {FENCE_SECONDS_MAX} s is the limit. Have it shown again."
        )
    head = dead(facts, params)
    if not known(head):
        return unknown(head.reason)
    if facts.at - head.age_seconds >= taken:
        return refuse(f"{head.node} reported after that was taken, so it had power again. Have it shown again.")
    return ok(f"It was taken {max(age, 0):.0f} s ago, after the last report of {head.node}.")


@guard
def what_fenced_it_is_fresh(facts: FleetFacts, params: Params) -> Verdict:
    """Asked again of what was kept, up to the moment of the command."""
    return _is_recent(
        need(_moment(params, "fenced_at", "When the head was shown to have no power is not kept. Have it shown again.")), facts, params
    )


@derived
def _moment(params: Params, name: str, otherwise: str) -> Known[float]:
    text = params.get(name, "")
    return float(text) if text.isascii() and text.isdigit() and len(text) <= 12 else Unknown(otherwise)


# --- the pool and its labels


@guard
def its_hostid_is_another(facts: FleetFacts, params: Params) -> Verdict:
    node, head = need(lookup.node(facts, params.get("node", ""))), need(dead(facts, params))
    for one in (node, head):
        need(one.hostid, f"The hostid of {one.node} is not known")
    if node.hostid == head.hostid:
        return refuse(f"{node.node} and {head.node} have the same hostid {node.hostid}, so no label says which of them wrote it. {BY_HAND}")
    return ok(f"{node.node} has the hostid {node.hostid}, {head.node} had {head.hostid}.")


@guard
def every_label_names_the_dead_node(facts: FleetFacts, params: Params) -> Verdict:
    node, head = need(lookup.node(facts, params.get("node", ""))), need(dead(facts, params))
    table = _table(node, params)
    if not table:
        return unknown(f"No disk of {node.node} is known to carry a label of {params.get('pool', '')}.")
    for value, what in ((head.hostid, "hostid"), (head.hostname, "hostname")):
        need(value, f"The {what} of {head.node} is not known")
    others = sorted({_writer(row) for row in table if not _wrote(head, row)})
    if others:
        return refuse(
            f"Labels of {params.get('pool', '')} name {', '.join(others)}; {head.node} is {head.hostname} (hostid {head.hostid}). Take it from the host that the labels name."
        )
    if any(row.label.state != ACTIVE for row in table):
        return refuse(f"{params.get('pool', '')} was exported by {head.node}, so nothing has to be taken over. Begin import-pool.")
    return ok(f"All {len(table)} labels of {params.get('pool', '')} were written by {head.hostname} (hostid {head.hostid}).")


def _table(node: NodeFacts, params: Params) -> tuple[Row, ...]:
    guid = number(params, "pool_guid")
    return rows(node, guid) if known(guid) else ()


def _wrote(head: NodeFacts, row: Row) -> bool:
    return known(head.hostid) and row.label.hostid == int(head.hostid, 16) and row.label.hostname == head.hostname


def _writer(row: Row) -> str:
    return f"{row.label.hostname or 'an unknown host'} ({'no hostid' if row.label.hostid is None else f'hostid {row.label.hostid:08x}'})"


@guard
def every_member_is_here_and_can_be_read(facts: FleetFacts, params: Params) -> Verdict:
    """A host may write to the member that nobody here can read."""
    listed = need(listed_pool(facts, params))
    leaves = [leaf for _, top in listed.tops for leaf in top.leaves()]
    if not leaves or listed.more_devices or listed.unread:
        return unknown(f"The listing of {listed.name} does not show every vdev.")
    if away := [leaf.name for leaf in leaves if leaf.state != "ONLINE"]:
        return refuse(
            f"{', '.join(away)} of {listed.name} {'is' if len(away) == 1 else 'are'} not here, and whether a host writes there cannot be seen. Bring it back first: "
            f"reseat it, or mend the cable. {BY_HAND}"
        )
    read = need(rings_now(facts, params))
    if len({guid for guid, _ in read}) != len(leaves):
        return unknown(
            f"{listed.name} has {len(leaves)} members, and the labels of {len({guid for guid, _ in read})} can be read. Look again."
        )
    return ok(f"All {len(leaves)} members of {listed.name} are here, and the uberblocks of each were read.")


@derived
def rings_now(facts: FleetFacts, params: Params) -> Known[tuple[_uberblocks.RingOf, ...]]:
    node, guid = need(lookup.node(facts, params.get("node", ""))), need(number(params, "pool_guid"))
    timelines = need(node.timelines, "The uberblocks of its disks are not known")
    timeline = next((one for one in timelines if one.pool_guid == guid), None)
    if timeline is None:
        return Unknown(f"The uberblocks of {params.get('pool', guid)} were not read. Have {node.node} look again.")
    for disk in timeline.disks:
        if not known(disk.uberblocks) or not disk.uberblocks:
            why = disk.uberblocks.reason if not known(disk.uberblocks) else "it shows none"
            return Unknown(f"The uberblocks of {disk.label.partition} are not known: {why.rstrip('.')}.")
    return tuple((disk.label.guid, disk.uberblocks) for disk in timeline.disks if known(disk.uberblocks))


@derived
def read_at(facts: FleetFacts, params: Params) -> Known[float]:
    """When the ring that was read longest ago was read."""
    node, at = need(lookup.node(facts, params.get("node", ""))), need(facts.at)
    if not known(node.ages) or RINGS not in node.ages:
        return Unknown(f"When the uberblocks were read on {node.node} is not known. Have it look again.")
    return at - node.ages[RINGS]


def the_first_look(facts: FleetFacts, params: Params, at: float) -> Mapping[str, str]:
    """Kept once: what the rings held, and by when they were read. The age of a source is that of its oldest text, so a ring may have been read later
    than `read_at` has it; counted from there, two looks seconds apart could pass for a minute."""
    rings = rings_now(facts, params)
    if params.get("rings") or not known(rings):
        return {}
    return {"rings": _uberblocks.fingerprint(rings), "looked_at": str(ceil(at))}


@guard
def a_minute_lies_between_the_looks(facts: FleetFacts, params: Params) -> Verdict:
    at = need(facts.at)
    first = need(_moment(params, "looked_at", "The rings of uberblocks were not read yet. Have the node look again."))
    if at - first < STILL_SECONDS:
        return refuse(f"The first look is {max(at - first, 0):.0f} s old; the second comes after {STILL_SECONDS} s.")
    return ok(f"The first look is {at - first:.0f} s old.")


@guard
def no_host_wrote_to_it_meanwhile(facts: FleetFacts, params: Params) -> Verdict:
    first = need(_moment(params, "looked_at", "The rings of uberblocks were not read yet. Have the node look again."))
    moment, now = need(read_at(facts, params)), _uberblocks.fingerprint(need(rings_now(facts, params)))
    if now != params.get("rings"):
        return refuse(
            f"{params.get('pool', 'The pool')} was written to: its rings held {params.get('rings', 'nothing')}, and hold {now}. Some host has it, whatever was shown. "
            "Import it nowhere; find that host, and fence it."
        )
    if moment - first < STILL_SECONDS:
        return unknown(
            f"The two looks are {max(moment - first, 0):.0f} s apart, and must be {STILL_SECONDS} s at least. Have the node look again."
        )
    return ok(f"Nothing was written to any member for {moment - first:.0f} s: {now}.")


# --- other nodes


@guard
def no_third_node_has_or_may_have_it(facts: FleetFacts, params: Params) -> Verdict:
    return no_sharing_node_has_or_may_have_it(_without_the_dead(facts, params), params)


@guard
def no_third_node_imports_it_by_itself(facts: FleetFacts, params: Params) -> Verdict:
    return no_other_node_imports_it_by_itself(_without_the_dead(facts, params), params)


def _without_the_dead(facts: FleetFacts, params: Params) -> FleetFacts:
    return replace(facts, nodes={name: node for name, node in facts.nodes.items() if name != params.get("dead_node")})


# --- when the head returns


@guard
def the_head_does_not_have_it_too(facts: FleetFacts, params: Params) -> Verdict:
    """Asked all along while the head is waited for. What a head reported before it was silent is no news."""
    head = need(dead(facts, params))
    if head.brought or not 0 <= head.age_seconds < SILENT_SECONDS:
        return ok(f"{head.node} has not reported for {head.age_seconds:.0f} s.")
    here = the_pool_is_not_imported_here(facts, {**params, "node": head.node})
    return (
        here if here.outcome != "refuse" else refuse(f"{here.reason} Two hosts write to it: switch {head.node} off now, by its controller.")
    )


@guard
def the_head_cannot_import_it(facts: FleetFacts, params: Params) -> Verdict:
    """It reports again, has the pool not imported, and does not import it at its next boot."""
    head, guid = need(dead(facts, params)), need(number(params, "pool_guid"))
    if head.brought or not 0 <= head.age_seconds < SILENT_SECONDS:
        return refuse(
            f"{head.node} has not reported for {head.age_seconds:.0f} s. Until it does, what it imports at its next boot is not known."
        )
    here = the_head_does_not_have_it_too(facts, params)
    if here.outcome != "pass":
        return here
    cached = need(head.cached, f"What {head.node} imports at its next boot is not known")
    if any(pool.guid == guid for pool in cached):
        return refuse(
            f"{head.node} has {params.get('pool', guid)} in its cache file, and imports it at its next boot. Take it out: `zpool set cachefile=none`, or remove /etc/zfs/zpool.cache."
        )
    return ok(f"{head.node} reports, has {params.get('pool', guid)} not imported, and does not import it at its next boot.")


def the_head_is_kept_from_it(facts: FleetFacts, params: Params, text: str) -> tuple[Verdict, ...]:
    if len(text) < SENTENCE_MIN:
        return (
            refuse(
                "Say what keeps the head from importing the pool when it has power again: cables unplugged, units masked, cache file removed, and by whom."
            ),
        )
    return (ok("It is noted."),)
