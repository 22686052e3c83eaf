"""The mails of ZED, the event daemon of OpenZFS: its own sentences and fields. The `zpool status` that some of them end with is read as such.

A mail tells of one moment. Where the tree of the pool was pasted as well and shows trouble, that tells how its member is now, and the mail adds
nothing. A tree in which all is well does not take back what the mail tells of: it may be older, or somebody cleared the errors.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from agents.collectors.base import Unparsed
from workflows.engine.core import Cure, Severity, Situation
from workflows.facts import PoolFacts, known
from workflows.pasted.base import Reader, Where, refused

FIELDS = ("impact", "eid", "class", "state", "host", "time", "vtype", "vpath", "vphys", "vguid", "devid", "pool", "error", "objid", "type", "cksum", "read", "write", "delay", "vread", "vwrite", "vcksum", "size", "offset", "priority")  # fmt: skip
STATES: Mapping[str, tuple[str, Severity, str]] = {  # of a member -> (situation, severity, what it means)
    "FAULTED": ("disk-faulted", "act", "ZFS gave it up after too many I/O errors"),
    "DEGRADED": ("disk-faulted", "watch", "ZFS marked it after too many checksum errors; it still serves"),
    "REMOVED": ("disk-missing", "act", "it was pulled, or its link or power went away"),
    "UNAVAIL": ("disk-missing", "act", "ZFS could not open it"),
    "OFFLINE": ("disk-missing", "watch", "somebody took it offline"),
}  # fmt: skip
ERRORS: Mapping[str, tuple[str, Severity, str]] = {  # class of an event -> (situation, severity, what it means)
    "data": ("data-errors", "act", "ZFS found data that it could neither read nor repair from another disk"),
    "io": ("disk-errors", "watch", "an I/O to a member failed"),
    "checksum": ("disk-errors", "watch", "a member returned data whose checksum is wrong"),
    "probe_failure": ("disk-errors", "watch", "a member did not answer when ZFS probed it"),
    "delay": ("slow-disk", "watch", "an I/O to a member took very long"),
    "deadman": ("disk-hangs", "act", "an I/O to a member hangs"),
    "authentication": ("data-errors", "act", "encrypted data did not match its authentication code"),
    "open_failed": ("disk-missing", "act", "a member could not be opened"),
    "corrupt_data": ("disk-missing", "act", "the label of a member cannot be used"),
    "bad_label": ("disk-missing", "act", "the label of a member is missing or invalid"),
    "too_small": ("disk-missing", "act", "a member became smaller than it was"),
    "no_replicas": ("pool-down", "act", "a vdev lacks too many of its members"),
    "bad_guid_sum": ("pool-down", "act", "members of the pool are missing"),
    "zpool": ("pool-down", "act", "the pool could not be opened"),
    "log_replay": ("data-errors", "watch", "records of the intent log could not be replayed"),
    "vdev_spare": ("spare-in-use", "watch", "a hot spare stands in for a member"),
    "io_failure": ("pool-suspended", "act", "I/O failed and the pool stopped to wait for its disks"),
}  # fmt: skip
QUIET = frozenset(
    ("scrub_finish", "scrub_start", "resilver_finish", "resilver_start", "trim_finish", "trim_start", "config_sync", "history_event",
     "scrub_abort", "scrub_resume", "scrub_paused", "trim_cancel", "trim_resume", "trim_suspend", "errorscrub_start", "errorscrub_finish",
     "pool_create", "pool_destroy", "pool_import", "pool_export", "pool_reguid", "vdev_add", "vdev_check", "vdev_online", "vdev_attach", "vdev_clear",
     "vdev_remove", "vdev_remove_aux", "vdev_remove_dev", "vdev_autoexpand", "bootfs_vdev_attach")
)  # fmt: skip


@dataclass
class Notice:
    """One mail: its fields by name, each with its line."""

    fields: dict[str, str] = field(default_factory=dict)
    lines: dict[str, str] = field(default_factory=dict)
    form: str = "A mail of ZED"  # in which the event came

    @property
    def pool(self) -> str:
        """Its name, or its guid in hex where the mail gives no more."""
        return self.fields.get("pool", "").partition(" (")[0]

    @property
    def pool_guid(self) -> str:
        return _decimal(self.fields.get("pool_guid") or self.fields.get("pool", "").partition(" (")[2].rstrip(")") or self.pool)

    @property
    def vdev_guid(self) -> str:
        return _decimal(self.fields.get("vguid", ""))

    def evidence(self, *names: str) -> tuple[str, ...]:
        return tuple(self.lines[name] for name in names if name in self.lines)


@dataclass(frozen=True)
class Notices:
    notices: tuple[Notice, ...]


_FIELD = re.compile(rf" {{0,10}}({'|'.join(FIELDS)}): (\S.{{0,400}})$")
_SENTENCE = r"The number of (?:I/O|IO|checksum) errors associated with a ZFS device|ZFS has (?:detected (?:a|an|that)|finished a|posted the following)\b|A ZFS .{1,40} error has been detected"
_OPENS = re.compile(_SENTENCE)


def parse(lines: Sequence[str]) -> Notices | Unparsed:
    found: list[Notice] = []
    fresh = True
    for line in lines:
        if _OPENS.match(line):
            fresh = True
            continue
        pair = _FIELD.match(line[:500])
        if pair is None:
            continue
        if fresh or pair.group(1) in found[-1].fields:
            found.append(Notice())
            fresh = False
        found[-1].fields[pair.group(1)] = pair.group(2).strip()
        found[-1].lines[pair.group(1)] = line.strip()
    return (
        Notices(tuple(found))
        if any("eid" in one.fields or "class" in one.fields for one in found)
        else refused("ZED", next(iter(lines), ""))
    )


def _decimal(text: str) -> str:
    return str(int(text, 16)) if re.fullmatch(r"0x[0-9a-fA-F]{1,16}", text) else ""


def situations(value: Notices, where: Where) -> tuple[Situation, ...]:
    return tuple(found for notice in value.notices for found in _of_notice(notice, where))


def _of_notice(notice: Notice, where: Where) -> Iterator[Situation]:
    kind = notice.fields.get("class", "").rpartition(".")[2]
    state = notice.fields.get("state", "")
    if kind in QUIET:
        return
    if (tree := _tree(notice, where)) is not None:
        if _is_clean(tree) and (state in STATES or kind in ERRORS or kind == "removed"):
            yield _over_a_clean_tree(notice, tree, where)
        return
    if kind in ("statechange", "removed", "") and (state or kind == "removed"):
        state = state or "REMOVED"
        if state in STATES:
            yield _of_member(notice, state, where)
        elif state != "ONLINE":
            yield _unexplained(notice, f"the state {state}", where)
    elif kind in ERRORS:
        yield _of_error(notice, kind, where)
    elif kind:
        yield _unexplained(notice, f"an event of class {kind}", where)


def _tree(notice: Notice, where: Where) -> PoolFacts | None:
    """The pool of the mail, where its tree tells how it is now."""
    pools = [pool for pool in where.facts.pools_read if pool.tops_read] if where.facts is not None else []
    return next((pool for pool in pools if pool.name == notice.pool or str(pool.guid) == notice.pool_guid), None)


def _is_clean(pool: PoolFacts) -> bool:
    """Whether each vdev in its tree is ONLINE and counts no error: of what the mail tells nothing is seen in it."""
    vdevs = [vdev for _, top in pool.tops_read for vdev in top.walk()] if known(pool.tops_read) else []
    return bool(vdevs) and all(vdev.state == "ONLINE" and not (known(vdev.errors) and any(vdev.errors)) for vdev in vdevs)


def _over_a_clean_tree(notice: Notice, pool: PoolFacts, where: Where) -> Situation:
    state = notice.fields.get("state", "")
    event = f"became {state}" if state in STATES else f"an event of class {notice.fields.get('class', '').rpartition('.')[2]}"
    at = notice.fields.get("vpath") or notice.vdev_guid or "a member that it does not name"
    return Situation(
        "zfs-events", f"zfs-events:{where.node}:{pool.name}:{at}", where.node, "watch",
        f"{pool.name}: an event that ZED reported tells of trouble that its tree does not show",
        f"{notice.form}{_at(notice)} says of {at} in {_pool(notice)}: {event}. In the `zpool status` that was pasted every vdev is ONLINE and counts no "
        "error. Either that output is older than the event, or the errors were cleared, or the pool was imported anew; what caused them is not gone by that. "
        "Look at the kernel log of that time and at smartctl -x of the disk, and scrub the pool; replace nothing for one event alone.",
        where.evidence(*notice.evidence("class", "state", "vpath", "vguid", "pool")),
        subject=_subject(notice, where),
        sure=False,
    )  # fmt: skip


def _of_member(notice: Notice, state: str, where: Where) -> Situation:
    slug, severity, means = STATES[state]
    name = notice.vdev_guid or notice.fields.get("devid") or notice.fields.get("vpath") or "that it does not name"
    path = notice.fields.get("vpath", "")
    moved = f" {path} is a name of that moment." if path.startswith("/dev/sd") else ""
    return Situation(
        slug, f"{slug}:{where.node}:{name}", where.node, severity,
        f"{notice.pool or 'A pool'}: the member {name} became {state}",
        f"{notice.form}{_at(notice)} says that the member {name}{f' ({path})' if path and path != name else ''} of {_pool(notice)} became {state}: {means}. "
        f"Whether it is still so is not known: no `zpool status` of that pool was read.{moved} Look at the cable, port and shelf first, then at the "
        "disk's SMART; name it by its guid in every command.",
        where.evidence(*notice.evidence("state", "vpath", "vguid", "pool")),
        subject=_subject(notice, where) | {"state": state},
        sure=False,
        cures=(Cure("look", "See how it is today, and what else is lost: `zpool status -P -p` and `zpool status -g -p`."),
               Cure("reseat", "If it is gone: power, cable, port, shelf, before it is called dead.")),
    )  # fmt: skip


def _of_error(notice: Notice, kind: str, where: Where) -> Situation:
    slug, severity, means = ERRORS[kind]
    at = notice.fields.get("vpath") or notice.vdev_guid
    return Situation(
        slug, f"{slug}:{where.node}:{notice.pool}:{at}", where.node, severity,
        f"{notice.pool or 'A pool'}: {means}",
        f"{notice.form}{_at(notice)} says of {_pool(notice)}{f' and its member {at}' if at else ''}: {means}. How many such errors there are, and "
        "where, stands in `zpool status -v -P -p`; replace nothing for one event alone.",
        where.evidence(*notice.evidence("class", "error", "objid", "vpath", "vguid", "pool")),
        subject=_subject(notice, where),
        sure=False,
        gate=slug in ("pool-suspended", "pool-down"),
    )  # fmt: skip


def _unexplained(notice: Notice, what: str, where: Where) -> Situation:
    return Situation(
        "unexplained", f"unexplained:{where.node}:zed_mail:{what}", where.node, "watch",
        f"{notice.form} tells of {what}, which is not known here",
        f"{notice.form}{_at(notice)} tells of {what} of {_pool(notice)}. Nothing here says what it means, and it is not taken for good. See `zpool status -P -p`.",
        where.evidence(*notice.evidence("class", "state")),
        subject={"node": where.node, "source": "zed_mail", "text": what},
        sure=False,
    )  # fmt: skip


def _at(notice: Notice) -> str:
    of = f" on {notice.fields['host']}" if notice.fields.get("host") else ""
    return of + (f" of {notice.fields['time']}" if notice.fields.get("time") else "")


def _pool(notice: Notice) -> str:
    return f"the pool {notice.pool}" if notice.pool else "a pool that it does not name"


def _subject(notice: Notice, where: Where) -> dict[str, str]:
    named = {"pool": notice.pool, "pool_guid": notice.pool_guid, "vdev_guid": notice.vdev_guid, "was": notice.fields.get("vpath", "")}
    return {"node": where.node} | {name: text for name, text in named.items() if text}


def notes(value: Notices) -> tuple[str, ...]:
    kinds = [one.fields.get("class", "") for one in value.notices if one.fields.get("class")]
    return (f"A mail of ZED ({', '.join(dict.fromkeys(kinds)) or 'no class'}); it tells of that moment, and `zpool status -P -p` of now.",)


READER = Reader(
    name="zed_mail",
    first=rf"{_SENTENCE}| impact: Fault tolerance| {{0,6}}eid: [0-9]{{1,12}}$",
    goes_on=rf" {{0,10}}(?:{'|'.join(FIELDS)}): |{_SENTENCE}|acceptable levels\. ZFS has marked|exceeded acceptable levels\. ZFS|degraded\.$",
    strict=True,
    parse=parse,
    situations=situations,
    notes=notes,
    again="zpool status -P -p",
)  # fmt: skip
