"""What situations about whole pools share: each pool with its node, how a command names a vdev, and how a person finds it."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime

from agents.collectors.zpool_status import NAMELESS
from workflows.engine.core import Answer, Cure, CureKind, Evidence, Severity, Situation
from workflows.facts import FleetFacts, NodeFacts, PoolFacts, ScanFacts, VdevFacts, known, title
from workflows.situations import _words

GUID = "GUID"  # stands in a command for a number that this text does not give
NEW_DISK = "/dev/disk/by-id/NEW_DISK"  # stands in a command for a disk that only the operator knows
ON_FREEBSD = "/dev/gpt/NEW_DISK"
_OF_FREEBSD = re.compile(
    r"(?:/dev/)?(?:(?:gpt|gptid|diskid)/.{1,200}|(?:da|ada|nda|nvd|mfid|vtbd)[0-9]{1,20}(?:p[0-9]{1,20})?(?:\.eli|\.nop)?)"
)
# Names that lead to another disk after the next boot: Linux, FreeBSD, and illumos where they carry no WWN.
_MOVES = re.compile(
    r"(?:/dev/(?:r?dsk/)?)?(?:(?:sd|hd|vd|xvd)[a-z]{1,4}|nvme[0-9]{1,20}n[0-9]{1,20}|(?:dm-|md|nbd|loop|zd|mmcblk|da|ada|nda|nvd|mfid|vtbd|xbd|aacd|ad)[0-9]{1,20}"
    r"|c[0-9]{1,20}t[0-9]{1,3}d[0-9]{1,20}|c[0-9]{1,20}d[0-9]{1,20})(?:p?[0-9]{1,20}|[sp][0-9]{1,20}[a-h]?)?(?:\.eli|\.nop)?"
)
_STAMP = re.compile(r"\b[A-Z][a-z]{2} ([A-Z][a-z]{2}) {1,2}([0-9]{1,2}) ([0-9]{2}:[0-9]{2}:[0-9]{2}) ([0-9]{4})\b")


def pools(fleet: FleetFacts) -> Iterator[tuple[NodeFacts, PoolFacts]]:
    """Every imported pool that was understood, with its node."""
    for node in fleet.nodes.values():
        for pool in node.pools_read:
            yield node, pool


def scans(pool: PoolFacts) -> tuple[ScanFacts, ...]:
    """Its scans, as far as they were understood; for situations, and never for a guard."""
    return pool.scans_read


def scans_are_whole(pool: PoolFacts) -> bool:
    """Whether every scan line of it was understood: only then nothing runs that is not among its scans."""
    return not any(line.field in ("", "scan") and not line.rounded for line in pool.unread)


def is_paste(node: NodeFacts) -> bool:
    """Whether it is not known when its sources were read: a text that a person brought, and no agent."""
    return not known(node.ages)


def stands_still(pool: PoolFacts) -> bool:
    """Whether no I/O of the pool goes on: suspended, or not opened. Commands that change it fail or hang."""
    return (known(pool.suspended) and pool.suspended) or pool.state in ("FAULTED", "UNAVAIL", "SUSPENDED")


def name_moves(name: str) -> bool:
    """Whether a vdev's name is one that the kernel gives anew at each boot."""
    return _MOVES.fullmatch(name) is not None


def handle(vdev: VdevFacts) -> str:
    """How a command names this vdev for sure: its guid, else a name that does not move; `GUID` where this text gives neither."""
    if known(vdev.guid):
        return str(vdev.guid)
    return GUID if name_moves(vdev.name) else vdev.name


def of(pool: PoolFacts, vdev: VdevFacts, *words: str) -> tuple[tuple[str, ...], ...]:
    """`zpool` with these words, in which "POOL" and "VDEV" are put in; before it the look that shows the guid, where it is not known."""
    named = handle(vdev)
    command = ("zpool", *({"POOL": pool.name, "VDEV": named, NEW_DISK: new_disk(pool)}.get(word, word) for word in words))
    return (("zpool", "status", "-g", pool.name), command) if named == GUID else (command,)


def new_disk(pool: PoolFacts) -> str:
    """How a command names a disk that comes: FreeBSD, recognised by the names of the pool's members, has no by-id folder."""
    names = (leaf.name for _, top in pool.tops_read for leaf in top.leaves())
    return ON_FREEBSD if any(_OF_FREEBSD.fullmatch(name) for name in names) else NEW_DISK


def guid_needed(vdev: VdevFacts) -> str:
    """For `Cure.needs`: where the guid comes from that the command leaves open; "" where it is known."""
    if handle(vdev) != GUID:
        return ""
    return f"Put in for {GUID} what `zpool status -g` prints in the line of {vdev.short}: that name can lead to another disk after a boot."


def key_of(vdev: VdevFacts) -> str:
    return str(vdev.guid) if known(vdev.guid) else vdev.name


def called(node: NodeFacts, vdev: VdevFacts) -> str:
    """How a person finds it: name, guid, disk, serial and bay, as far as each is known."""
    disk = _words.disk_behind(node, vdev)
    lines = [f"guid {vdev.guid}"] if known(vdev.guid) and str(vdev.guid) != vdev.name else []
    if disk is not None:
        lines.append(title(disk))
        lines += [f"serial {disk.serial}"] if known(disk.serial) else []
        lines += [f"bay {disk.bay.slot} of enclosure {disk.bay.enclosure_id}"] if known(disk.bay) else []
    elif vdev.was:
        lines.append(f"was {vdev.was}")
    return f"{vdev.short} ({', '.join(lines)})" if lines else vdev.short


def row(node: NodeFacts, vdev: VdevFacts) -> Evidence:
    """The line of the tree."""
    errors = map(str, vdev.errors) if known(vdev.errors) and any(vdev.errors) else ()
    return _words.evidence(node, "zpool_status", "  ".join(part for part in (vdev.name, vdev.state, *errors, vdev.note) if part))


def line(node: NodeFacts, field: str, text: str) -> Evidence:
    """A field of `zpool status` as it is printed: its first line."""
    return _words.evidence(node, "zpool_status", f"{field}: {' '.join(text.split())[:200]}")


@dataclass(frozen=True)
class Wording:
    """What a situation of a pool says, before it is put into its form."""

    severity: Severity
    title: str
    meaning: str
    evidence: tuple[Evidence, ...]
    cures: tuple[Cure, ...] = ()


def situation(
    slug: str,
    node: NodeFacts,
    pool: PoolFacts,
    wording: Wording,
    *,
    about: str = "",
    subject: dict[str, str] | None = None,
    gate: bool = False,
    vdevs: tuple[VdevFacts, ...] = (),
    sure: bool = True,
    answers: tuple[Answer, ...] = (),
) -> Situation:
    """A situation of one pool, or of one thing in it: `about` distinguishes it from others of its slug in the same pool."""
    return Situation(
        slug=slug,
        key=f"{slug}:{node.node}:{pool.name}" + (f":{about}" if about else ""),
        node=node.node,
        severity=wording.severity,
        title=wording.title,
        meaning=wording.meaning,
        evidence=wording.evidence,
        answers=answers,
        subject=_words.subject(node, pool) | (subject or {}),
        sure=sure,
        cures=wording.cures,
        gate=gate,
        vdevs=tuple(key_of(vdev) for vdev in vdevs),
    )


def named(pool: PoolFacts) -> tuple[str, ...]:
    """The pool's name as the last word of a command; none where the text does not give it."""
    return () if pool.name == NAMELESS else (pool.name,)


def of_reason(
    node: NodeFacts, pool: PoolFacts, slug: str, severity: Severity, *, title: str, meaning: str, look: str, argv: tuple[str, ...]
) -> Situation:
    """What `status:` alone shows where the text ends before what it is about. `argv` asks for the rest and only reads."""
    return Situation(
        slug=slug,
        key=f"{slug}:{node.node}:{pool.name}",
        node=node.node,
        severity=severity,
        title=f"{pool.name}: {title}; the text ends before it says which",
        meaning=meaning,
        evidence=(_words.evidence(node, "zpool_status", f"status: {pool.status[:200]}"),),
        subject=_words.subject(node, pool),
        sure=False,
        cures=(Cure("look", look, ((*argv, *named(pool)),)),),
    )


def cure(
    kind: CureKind,
    text: str,
    *argv: tuple[str, ...],
    releases: str = "",
    needs: str = "",
    save_first: str = "",
    runbook: str = "",
) -> Cure:
    return Cure(kind, text, argv, releases, needs, save_first, runbook)


def pool_is_there(pool: PoolFacts) -> str:
    """For `Cure.needs`: what a write to the pool takes before all else; "" while it serves."""
    return f"{pool.name} serves again: while it is {pool.state} no command changes it." if stands_still(pool) else ""


def stamp(text: str) -> datetime | None:
    """The first moment in a text of `zpool status`, "Sun Jan  4 00:00:00 2026". The agent asks in UTC; of a paste the zone is not known."""
    found = _STAMP.search(text)
    if found is None:
        return None
    try:
        return datetime.strptime(" ".join(found.groups()), "%b %d %H:%M:%S %Y").replace(tzinfo=UTC)
    except ValueError:
        return None


def newest_stamp(node: NodeFacts) -> datetime | None:
    """The newest time in the text of the pools of this node: no text is older than what it holds."""
    texts = (
        text
        for pool in node.pools_read
        for text in (
            *(scan.text for scan in scans(pool)),
            pool.removal_line,
            pool.expansion_line,
            pool.checkpoint_line,
        )
    )
    return max((at for text in texts if (at := stamp(text)) is not None), default=None)
