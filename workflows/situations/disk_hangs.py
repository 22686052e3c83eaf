"""A disk takes commands and never answers them. Whatever reads it hangs with it, in the kernel, where nothing can be killed.

    the kernel's log    a task abort that never ended, or aborts of one disk that come again
    the agent           its own question to this disk is open while the others answered the same; once is no proof, and is watched

A disk that answers late is `slow-disk`. One that ZFS has given up already is said by `disk-faulted` and `disk-missing`.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from workflows.engine.core import Cure, Evidence, Situation
from workflows.facts import FleetFacts, NodeFacts, PoolFacts, VdevFacts, known, lookup
from workflows.facts.read.hanging_disks import Hanging, hanging, silent_reasons
from workflows.situations import _cures, _words, import_blocked
from workflows.situations._log import Log

SLUG = "disk-hangs"
MANUALS: tuple[str, ...] = ("slow-disk-triage",)
TOGETHER_MIN = 3
LINES_SHOWN = 6


@dataclass(frozen=True)
class Seat:
    """The leaf that the disk serves as, in an imported pool."""

    pool: PoolFacts
    top: VdevFacts
    leaf: VdevFacts


def detect(fleet: FleetFacts) -> tuple[Situation, ...]:
    return tuple(found for node in fleet.nodes.values() for found in _on(node))


def explains(cause: Situation, other: Situation) -> bool:
    """Whether `other` is about this disk, or is a listing of pools that waits for it."""
    if other.node != cause.node:
        return False
    if other.slug == import_blocked.SLUG and other.subject.get("why") == "silence":
        return cause.severity == "act"
    return any(name in cause.subject and other.subject.get(name) == cause.subject[name] for name in ("wwid", "vdev_guid"))


def _on(node: NodeFacts) -> Iterator[Situation]:
    found = [one for one in hanging(node) if not _only_late(node, one)]
    now = [one for one in found if one.hangs_now and not one.once]
    if len(now) >= TOGETHER_MIN:
        yield _several(node, now)
        found = [one for one in found if one not in now]
    yield from (_situation(node, one) for one in found)


def _only_late(node: NodeFacts, one: Hanging) -> bool:
    """Whether it finishes I/O, late: then it is a slow disk, and `slow-disk` says so."""
    seat = _seat(node, one)
    if seat is None or not known(seat.pool.latency) or one.open:
        return False
    mine = [x for x in seat.pool.latency.leaves if x.leaf is seat.leaf and seat.pool.latency.gaps(x)]
    return any(x.now is None or x.now.disk_read_ns or x.now.disk_write_ns for x in mine)


def _situation(node: NodeFacts, one: Hanging) -> Situation:
    seat = _seat(node, one)
    return Situation(
        slug=SLUG,
        key=f"{SLUG}:{node.node}:{_key(one)}",
        node=node.node,
        severity=_severity(one, seat),
        title=f"{_name(one)} {_how(one)}",
        meaning=" ".join(_meaning(node, one, seat)),
        evidence=tuple(_evidence(node, one)),
        subject=_subject(node, one, seat),
        sure=one.hangs_now and not one.once and (bool(one.aborts) or one.disk is not None),
        cures=tuple(_cures_of(node, one, seat)),
    )


def _cures_of(node: NodeFacts, one: Hanging, seat: Seat | None) -> Iterator[Cure]:
    """Nothing here reads the disk: what does hangs as well."""
    if one.once:
        yield _cures.wait("Have it asked again. Pull nothing before it was.")
        return
    name = _words.where(one.disk) if one.disk is not None else _name(one)
    yield _cures.look("See in the kernel's log whether it answered since, and whether others beside it do not.", ("dmesg",))
    yield _cures.reseat(name)
    if seat is not None and lookup.serves_nothing(seat.leaf) and seat.leaf.state != "OFFLINE":
        yield _cures.online(seat.pool, seat.leaf)
    if one.hangs_now:
        yield Cure(
            "other",
            "If it still does not answer, pull it at its bay, or have its slot switched off: what waits for it goes on then.",
            needs=f"Its serial number or WWID was compared in the bay.{' ' + _words.margin_sentence(seat.pool, seat.top) if seat is not None else ''}",
        )


def _how(one: Hanging) -> str:
    if one.once:
        return "has left one question without an answer"
    return "does not answer: what reads it hangs" if one.hangs_now else "hung and had to be called back"


def _severity(one: Hanging, seat: Seat | None) -> Literal["act", "watch"]:
    """What hangs now is acted upon, unless ZFS has let go of it already; so is one that hung again and has not answered since."""
    if one.once or (seat is not None and lookup.serves_nothing(seat.leaf)):
        return "watch"
    return "act" if one.hangs_now or not one.answered else "watch"


def _meaning(node: NodeFacts, one: Hanging, seat: Seat | None) -> Iterator[str]:
    if one.once:
        yield from _sentences(one)
        yield "Once is no proof: on a node short of CPU a healthy disk does that, too. Have it asked again, and pull nothing before it was."
        return
    yield f"{_words.where(one.disk) if one.disk is not None else _name(one)} takes commands and does not answer them."
    yield from _sentences(one)
    logged = _logged_place(node, one)
    if logged:
        yield f"By the log its place is{logged.removeprefix(',')}: compare the serial number there before anybody pulls it."
    elif one.disk is None or not known(one.disk.bay):
        yield "Which bay it is in is not known: find it by its WWID or serial number, not by this name, which the next boot gives to another disk."
    if one.hangs_now:
        yield (
            "Whatever reads it hangs as well and cannot be killed: start no `zpool import`, `zdb` or scan of all disks, and no second one "
            "when the first does not come back. Do not reboot for it; the shutdown can hang too."
        )
        yield (
            "Pull it at its bay, or have its slot switched off. Deleting it in the kernel waits for the same answer and may hang, "
            "and it is not to be replaced or labelled while it hangs."
        )
    else:
        yield "It answered again. Watch it, and compare its SMART and its link with its peers'; a disk that hangs twice will hang again."
    if seat is not None:
        yield f"It is a member of {seat.pool.name}. {_words.margin_sentence(seat.pool, seat.top)}"
    elif not known(node.pools) or not node.pools:
        yield "No pool is imported here as far as is known; an import waits for every disk, so this one alone can hold it up."


def _logged_place(node: NodeFacts, one: Hanging) -> str:
    """SAS address and bay as the HBA's driver named them between the lines about this disk; "" where neither today's facts nor the log have it."""
    if not one.aborts or not known(node.kernel_log) or (one.disk is not None and known(one.disk.bay)):
        return ""
    lines = tuple(e for e in node.kernel_log.events if e.field("hctl") in {abort.hctl for abort in one.aborts})
    place = Log(FleetFacts({}), node, node.kernel_log).place(lines, one.name)
    commands = dict.fromkeys(
        f"{c} (a {b}-byte CDB)" for e in lines if e.kind == "cdb" and (c := e.field("command")) and (b := e.field("bytes"))
    )
    return place and f"{place}; the command was {' and '.join(commands)}" if commands else place


def _sentences(one: Hanging) -> Iterator[str]:
    if one.aborts:
        failed, endless = (sum(abort.result == result for abort in one.aborts) for result in ("FAILED", ""))
        ends = [f"{failed} of these attempts failed"] * bool(failed) + [f"{endless} never ended in its log"] * bool(endless)
        how = " and ".join(ends) or "each attempt brought it back"
        yield f"The kernel tried to call back {_words.plural(len(one.aborts), 'command')} on it: {how}."
    if one.silent:
        asked = " and ".join(dict.fromkeys(where.partition("/")[0] for where in one.silent))
        yield f"The agent's questions to it ({asked}) got no answer in time, while other disks answered the same."


def _several(node: NodeFacts, found: list[Hanging]) -> Situation:
    names = ", ".join(_words.where(one.disk) if one.disk is not None else one.name for one in found)
    return Situation(
        slug=SLUG,
        key=f"{SLUG}:{node.node}:several",
        node=node.node,
        severity="act",
        title=f"{len(found)} disks do not answer at once",
        meaning=(
            f"{names} take commands and do not answer them. So many at once are seldom bad disks: look at what they share first, a cable, an "
            "expander, an HBA, power. Pull none of them and start nothing that reads all disks until that is known."
        ),
        evidence=tuple(line for one in found for line in _evidence(node, one)),
        subject={"node": node.node},
        sure=False,
        cures=(_cures.look("See what these disks share.", ("lsscsi", "-v"), ("dmesg",)), _cures.reseat("what they share")),
    )


def _evidence(node: NodeFacts, one: Hanging) -> Iterator[Evidence]:
    for abort in one.aborts[-LINES_SHOWN:]:
        yield _words.evidence(node, "kernel_log", f"{abort.line}  [{abort.name or '?'} at {abort.hctl}]")
    for where, why in silent_reasons(node, one):
        yield _words.evidence(node, where, why)


def _seat(node: NodeFacts, one: Hanging) -> Seat | None:
    if one.disk is None or not known(one.disk.wwid):
        return None
    for pool in node.pools_read:
        for _, top in pool.tops_read:
            for leaf in top.leaves():
                behind = _words.disk_behind(node, leaf)
                if behind is not None and behind.wwid == one.disk.wwid:
                    return Seat(pool, top, leaf)
    return None


def _subject(node: NodeFacts, one: Hanging, seat: Seat | None) -> dict[str, str]:
    fields = _words.subject(node, seat.pool, seat.top, seat.leaf) if seat is not None else {"node": node.node}
    return fields | ({"wwid": one.disk.wwid} if one.disk is not None and known(one.disk.wwid) else {}) | {"name": one.name}


def _key(one: Hanging) -> str:
    return one.disk.wwid if one.disk is not None and known(one.disk.wwid) else one.name


def _name(one: Hanging) -> str:
    hctl = next((abort.hctl for abort in one.aborts if abort.hctl != one.name), "")
    return _words.named(one.disk) if one.disk is not None else f"{one.name} ({hctl})" if hctl else one.name
