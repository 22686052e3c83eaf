"""The words in one node's facts that are not well: each with where it was said, about which pool and vdev, and what may explain it.

Words that are good or neutral are passed over where they are met, so that a healthy node costs one look a row.
"""

import re
from collections.abc import Container, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain

from agents.collectors.base import UnreadLine
from agents.collectors.zpool_events import Event
from workflows.facts import status_reasons
from workflows.facts.model import DiskFacts, ImportableFacts, NodeFacts, PoolFacts, ScanFacts, VdevFacts
from workflows.facts.unknown import known
from workflows.vocabulary import devices, happenings, notes, sentences, states
from workflows.vocabulary._words import Meaning, Vocabulary

WORDS_SHOWN_MAX = 120
NO_STATE = "a row without a state"  # it was cut, or is of a form not known here
AS_STATUS = ("zpool_status_guid", "zpool_status_slow")
BY_LINE = ("zpool_status", "zpool_status_json")  # read row by row: each line that was not understood is listed by itself
_MESSAGE = re.compile(r"ZFS-[0-9]{4}-[0-9A-Z]{1,4}")
_TORN_ID = re.compile(r"(?:/|ZFS|ZFS-[0-9]{0,4}|ZFS-8000-[0-9A-Z]?)$")  # where the text ends
_NUMBER = re.compile(r"x[0-9a-f]{2,16}|[0-9]+")  # also hexadecimal


@dataclass(frozen=True)
class Token:
    """One word that is not well. `meaning` is None where no table has it."""

    source: str
    position: str
    text: str  # as the tables have it
    where: str  # for a person: "raidz2-0 of tank"
    line: str  # what was printed
    meaning: Meaning | None
    pool: str = ""
    vdevs: frozenset[str] = frozenset()  # guids and names of the vdev and of all below it
    wwid: str = ""
    grave: bool = False  # a pool or a top-level vdev that is not ONLINE
    key: str = ""  # the source's place: "smart/sda"; "" is `source`
    name: str = ""  # what the tables call it: "scrub paused since …"; "" is `text`

    @property
    def is_past(self) -> bool:
        return self.meaning is not None and self.meaning.past

    @property
    def sign(self) -> str:
        """What is the same word wherever it stands: numbers in it do not count."""
        return f"{self.source}:{_NUMBER.sub('#', self.name or self.text)}"


def tokens(node: NodeFacts, imported: frozenset[int] = frozenset()) -> Iterator[Token]:
    """Every word of the node that is not well. `imported` are the guids of all pools that some node has imported."""
    for pool in node.pools_read:
        yield from of_pool(node, pool)
    for listed in node.importable_read:
        if not listed.destroyed and listed.guid not in imported:
            yield from _importable(node, listed)
    for disk in node.disks if known(node.disks) else ():
        yield from of_disk(node, disk)
    yield from _bays(node)
    yield from _events(node)
    yield from _kernel(node)
    yield from _texts(node)


def _texts(node: NodeFacts) -> Iterator[Token]:
    """Whole texts that their parser refused, and lines of `zpool status` that belong to no pool: what they say is not known."""
    yield from _unread(node.unread, "zpool status")
    by_line = any(token for pool in node.pools_read for token in pool.unread) or bool(node.unread)
    pasted = not known(node.ages)  # what was cut from a pasted listing is named beside it; a node prints whole ones
    listed_by_line = any(line.line or pasted for pool in node.importable_read for line in pool.unread)
    for place, refused in node.not_understood.items():
        source = place.partition("/")[0]
        if listed_by_line and source == "zpool_import":
            continue
        if by_line and (source in BY_LINE or (source in AS_STATUS and "zpool_status" in node.not_understood)):
            continue  # these runs print the same lines
        line = f"{refused.reason}: {refused.line.strip()}" if refused.line.strip() else refused.reason
        yield Token(source, "a text that was not understood", refused.reason, place, line, None, key=place)


def _unread(
    lines: Iterable[UnreadLine], where: str, pool: str = "", listed: Container[str] = (), source: str = "zpool_status"
) -> Iterator[Token]:
    """Lines as printed. One that is missing says nothing, one with rounded numbers was understood, and a state word is listed as that.

    Where rows are missing below a vdev, its name stands for the line: nothing that was printed is unknown then.
    """
    for unread in lines:
        if unread.line and not unread.rounded and not unread.missing and unread.field not in listed:
            yield Token(source, "a line that was not understood", unread.line, where, unread.line, None, pool)


def of_pool(node: NodeFacts, pool: PoolFacts) -> Iterator[Token]:
    """What the pool's own rows and lines say, the kernel's name for it, and the lines that were not understood."""
    token = _Sayer(pool.name)
    if pool.state and not (
        known(node.pools) and not known(pool.tops) and not pool.partial_tops and not pool.unread
    ):  # else only the kernel reports it
        yield from token(states.POOL, pool.state, pool.name, f"state: {pool.state}", grave=pool.state != "ONLINE")
    row_state, row_note = pool.row_state, pool.row_note
    if row_state not in ("", pool.state):
        yield from token(states.POOL, row_state, pool.name, f"{pool.name}  {row_state}", grave=row_state != "ONLINE")
    for note in _notes(row_note):
        yield from token(notes.POOL, note.strip(), pool.name, f"{pool.name}  {row_state}  {note.strip()}")
    for role, top in pool.tops_read:
        yield from _vdev(pool, states.TOPS.get(role, states.TOP), top, grave=True)
    for spare in pool.spares:
        yield from _vdev(pool, states.SPARE, spare)
    for cache in pool.caches:
        yield from _vdev(pool, states.CACHE, cache)
    yield from _lines(pool, token)
    kernel = node.kstats.pool(pool.name) if known(node.kstats) else None
    if kernel is not None and not _has_lost_its_tree(pool, kernel.state):
        yield from token(states.KERNEL, kernel.state, pool.name, f"{pool.name}/state: {kernel.state}", grave=kernel.state != "ONLINE")
    if known(pool.space):
        health = pool.space.pool.health
        if not _has_lost_its_tree(pool, health):
            yield from token(states.HEALTH, health, pool.name, f"{pool.name} HEALTH {health}", grave=health != "ONLINE")
        for row in pool.space.vdevs:
            yield from token(states.HEALTH_OF_ROW, row.health, f"{row.name} of {pool.name}", f"{row.name} HEALTH {row.health}")


def _has_lost_its_tree(pool: PoolFacts, state: str) -> bool:
    """Whether the rows that would explain it were not read. `zpool status` hangs or failed, and that is reported by itself."""
    return state == "DEGRADED" and not pool.tops_read


@dataclass(frozen=True)
class _Sayer:
    """Makes tokens about one pool."""

    pool: str

    def __call__(
        self, words: Vocabulary, text: str, where: str, line: str, vdevs: frozenset[str] = frozenset(), grave: bool = False
    ) -> Iterator[Token]:
        meaning = words.meaning(text)
        if meaning is None or not meaning.is_well:
            name = words.name(text)
            yield Token(words.source, words.position, text, where, line, meaning, self.pool, vdevs, grave=grave, name=name)


def _lines(pool: PoolFacts, token: _Sayer) -> Iterator[Token]:
    status = " ".join(pool.status.split())
    if not (pool.unread and status_reasons.is_torn(status)):
        yield from token(sentences.STATUS, status, pool.name, f"status: {status}")
    if pool.see and not (pool.unread and _TORN_ID.search(pool.see)):
        found = _MESSAGE.search(pool.see)
        yield from token(sentences.MESSAGE, found.group() if found else pool.see, pool.name, f"see: {pool.see}")
    if pool.errors:
        yield from token(sentences.ERRORS_LINE, pool.errors, pool.name, f"errors: {pool.errors.partition(chr(10))[0]}")
    for scan in pool.scans_read:
        if scan.text:
            yield from token(sentences.SCAN, _of_scan(scan), pool.name, f"scan: {scan.text.partition(chr(10))[0]}")
    for words, line in (
        (sentences.REMOVE, pool.removal_line),
        (sentences.EXPAND, pool.expansion_line),
        (sentences.CHECKPOINT, pool.checkpoint_line),
    ):
        if line:
            yield from token(words, line, pool.name, f"{words.position} {line.partition(chr(10))[0]}")
    rows = {pool.name, *(vdev.name for _, top in pool.tops_read for vdev in top.walk())}
    yield from _unread((line for line in pool.unread if line.line not in rows), pool.name, pool.name, listed=("state",))


def _of_scan(scan: ScanFacts) -> str:
    """The `scan:` line; of one in JSON the sentence that the text prints of the same, where all that decides its meaning was read."""
    if not scan.text.startswith("{"):
        return scan.text
    if scan.state == "finished" and scan.errors is not None:
        done = f"scrub repaired {scan.repaired or '0B'}" if scan.function == "scrub" else "resilvered it"
        return f"{done} in all with {scan.errors} errors"
    began = {"running": "in progress since", "paused": "paused since", "canceled": "canceled on"}.get(scan.state)
    return f"{scan.function} {began} {scan.began or scan.ended}" if began else scan.text


def _vdev(pool: PoolFacts, words: Vocabulary, vdev: VdevFacts, grave: bool = False) -> Iterator[Token]:
    """A vdev and all below it. What stands below a top-level vdev of several is a leaf, or a vdev between."""
    if vdev.state != "ONLINE" or vdev.note or vdev.columns:
        token, where = _Sayer(pool.name), f"{vdev.name} of {pool.name}"
        line = "  ".join(part for part in (vdev.name, vdev.state, vdev.note) if part)
        names = frozenset(_names(vdev))
        yield from token(words, vdev.state or NO_STATE, where, line, names, grave and vdev.state != "ONLINE")
        for note in _notes(vdev.note):
            yield from token(notes.ROW, note.strip(), where, line, names)
        for column, value in vdev.columns:
            if column in ("SLOW", "POWER", "DIO"):  # the others are what -c adds
                yield from token(notes.COLUMN, f"{column} {value}", where, f"{line}  {column} {value}", names)
    for child in vdev.children:
        yield from _vdev(pool, _below(words, child), child)


def _below(words: Vocabulary, child: VdevFacts) -> Vocabulary:
    """Inside a log a lost half is a lost log device, and so on."""
    if words is states.TOP or words is states.INSIDE or words in (states.SPECIAL, states.DEDUP):
        return states.INSIDE if child.children else states.LEAF
    return words


def _names(vdev: VdevFacts) -> Iterator[str]:
    for one in vdev.walk():
        yield one.name
        if known(one.guid):
            yield str(one.guid)


def _importable(node: NodeFacts, pool: ImportableFacts) -> Iterator[Token]:
    if known(node.pools) and any(one.name == pool.name and not known(one.guid) for one in node.pools):
        return  # it may have been imported since it was listed
    token = _Sayer(pool.name)
    if pool.state or not any(line.missing for line in pool.unread):  # of a listing whose beginning is not here its rows tell
        yield from token(states.IMPORTABLE, pool.state, pool.name, f"state: {pool.state}", grave=pool.state != "ONLINE")
    status = " ".join(pool.status.split())
    if not (pool.unread and status_reasons.is_torn(status)):
        yield from token(sentences.IMPORT_STATUS, status, pool.name, f"status: {status}")
    rows = {pool.name, *(vdev.name for _, top in pool.tops for vdev in top.walk())}
    yield from _unread((line for line in pool.unread if line.line not in rows), pool.name, pool.name, ("state",), "zpool_import")
    for _, top in pool.tops:
        for vdev in top.walk():
            line = "  ".join(part for part in (vdev.name, vdev.state, vdev.note) if part)
            yield from token(states.IMPORTABLE_ROW, vdev.state, f"{vdev.name} of {pool.name}", line)
            for note in _notes(vdev.note):
                yield from token(notes.IMPORTABLE, note.strip(), f"{vdev.name} of {pool.name}", line)


def of_disk(node: NodeFacts, disk: DiskFacts) -> Iterator[Token]:
    """What the kernel, multipath, the disk itself and its labels say in words."""
    for words, text, line, key in chain(_paths(node, disk), _health(disk), _labels(disk)):
        meaning = words.meaning(text)
        if meaning is None or not meaning.is_well:
            wwid = disk.wwid if known(disk.wwid) else ""
            where = f"{' '.join(disk.names)} ({wwid})" if wwid else " ".join(disk.names)
            yield Token(words.source, words.position, text, where, line, meaning, wwid=wwid, key=key)


_Text = tuple[Vocabulary, str, str, str]


def _paths(node: NodeFacts, disk: DiskFacts) -> Iterator[_Text]:
    on = node.service.paths if known(node.service) else None
    paths = on if on is not None and known(on) else {}
    for path in disk.paths:
        if known(path.state) and path.state != "running":
            yield devices.KERNEL_DEVICE, path.state, f"{path.name}/device/state: {path.state}", ""
        one = paths.get(path.name)
        if one is not None:
            line = f"{path.name}  {one.map}  {one.state}  {one.checker}"
            if one.state and one.state != "active":
                yield devices.PATH_STATE, one.state, line, ""
            if one.checker and one.checker != "ready":
                yield devices.CHECKER, one.checker, line, ""


def _health(disk: DiskFacts) -> Iterator[_Text]:
    if known(disk.health) and not disk.health.passed:
        yield devices.VERDICT, "failed", disk.health.text, _smart(disk)
    if known(disk.condition):
        for name, value in disk.condition.attributes:
            if value and name == "critical warning":
                yield devices.WARNING, str(value), f"critical warning: {value}", _smart(disk)
        test = disk.condition.last_test
        if test is not None and test.result:
            yield devices.SELF_TEST, str(test.result), f"{test.what}: {test.status}", _smart(disk)


def _smart(disk: DiskFacts) -> str:
    return f"smart/{disk.names[0]}" if disk.names else "smart"


def _labels(disk: DiskFacts) -> Iterator[_Text]:
    """Only of a partition that bears a label: a blank one has none to lose."""
    for copies in disk.copies if known(disk.copies) else ():
        if copies.whole:
            continue
        have = sorted({number for label in copies.labels for number in label.copies} - set(copies.bad_checksum))
        if have and len(have) < 4:
            yield devices.LABEL_COUNT, f"{len(have)} of 4", f"{copies.partition}: labels {have}", f"zdb_label/{copies.partition}"


def _bays(node: NodeFacts) -> Iterator[Token]:
    for bay in node.bays if known(node.bays) else ():
        if not known(bay.status) or bay.status == "OK":
            continue
        meaning = devices.BAY.meaning(bay.status)
        if meaning is None or not meaning.is_well:
            where = f"slot {bay.slot} of {bay.enclosure_id}"
            yield Token(devices.BAY.source, devices.BAY.position, bay.status, where, f"{bay.name}: {bay.status}", meaning)


def _events(node: NodeFacts) -> Iterator[Token]:
    events = node.events if known(node.events) else ()
    undone = _undone(events)
    for place, event in enumerate(events):
        text = _class(event)
        meaning = happenings.EVENT.meaning(text)
        if place not in undone and (meaning is None or not meaning.is_well):
            pool, guid = event.text("pool") or "", event.number("vdev_guid")
            vdevs = frozenset(filter(None, (str(guid) if guid else "", event.text("vdev_path") or "")))
            line = f"{event.kind} of {pool or 'no pool'}, eid {event.eid}"
            yield Token("zpool_events", happenings.EVENT.position, text, pool or "ZFS", line, meaning, pool, vdevs)


def _undone(events: Sequence[Event]) -> frozenset[int]:
    """The places of the events that a later one took back: a lost state by the same member's return, a stop by the pool's clearing."""
    undone: set[int] = set()
    back: set[tuple[str, int | None]] = set()
    resumed: set[str] = set()
    for place in range(len(events) - 1, -1, -1):
        event = events[place]
        pool, guid = event.text("pool") or "", event.number("vdev_guid")
        if pool and event.kind in happenings.RESUMED:
            resumed.add(pool)
        elif event.kind in happenings.BACK or _class(event) in happenings.BACK:
            back.add((pool, guid))
        elif (event.kind in happenings.LOST and guid is not None and (pool, guid) in back) or (
            event.kind == happenings.STOPPED and pool in resumed
        ):
            undone.add(place)
    return frozenset(undone)


def _class(event: Event) -> str:
    """A change of state is listed with the new state."""
    if event.kind != "resource.fs.zfs.statechange":
        return event.kind
    return f"{event.kind} {event.state}".rstrip()


def _kernel(node: NodeFacts) -> Iterator[Token]:
    log = node.kernel_log
    if not known(log):
        return
    for event in log.events:
        meaning = happenings.KERNEL.meaning(event.kind)
        if (meaning is None or not meaning.is_well) and not _is_well_of_zed(event.kind, event.field("class") or ""):
            pool = (event.field("pool") or "").strip("'")  # zed quotes it
            disk = event.field("disk") or event.field("hctl") or event.field("vdev") or event.field("hba")
            where = pool or disk or "the kernel"
            yield Token("kernel_log", happenings.KERNEL.position, event.line, where, event.line, meaning, pool, name=event.kind)
    for event in log.unexplained:
        yield Token("kernel_log", happenings.KERNEL.position, event.line, "the kernel", event.line, None)


def _is_well_of_zed(kind: str, name: str) -> bool:
    """Whether it is zed's line of an event that says nothing of trouble, as `zpool events` shows it with its whole class."""
    found = (happenings.EVENT.meaning(f"{of}.fs.zfs.{name}") for of in ("sysevent", "ereport")) if kind == "zed" and name else ()
    return any(meaning is not None and meaning.is_well for meaning in found)


_PADDED_DAY = re.compile(r"\b(Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)  (?=[1-9] )")


def _notes(text: str) -> list[str]:
    """What stands behind a row, two blanks apart. A date before the tenth of a month has two blanks of its own."""
    return _PADDED_DAY.sub(r"\1 ", text).split("  ")
