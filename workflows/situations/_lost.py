"""Lost members: the leaves that serve nothing, read from the tree. The status line hides them while a resilver runs."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from workflows.analysis import fit_disks
from workflows.analysis.pool_fate import is_suspended
from workflows.engine.core import Answer, Cure, Evidence
from workflows.facts import REPAIRS, DiskFacts, FleetFacts, NodeFacts, PoolFacts, VdevFacts, known, lookup, release_numbers, title
from workflows.facts.lookup import wwid_of
from workflows.situations import _cures, _partitions, _replacements, _words

_OF_KERNEL = re.compile(
    r"(?:/dev/)?(?:(?:sd|hd|vd|xvd)[a-z]{1,3}[0-9]{0,3}|(?:a?da|nda|nvd)[0-9]{1,4}(?:[ps][0-9]{1,3}[a-h]?)?|nvme[0-9]{1,3}n[0-9]{1,3}(?:p[0-9]{1,3})?)"
)

RUNBOOK = _cures.BY_GUID  # it replaces a lost vdev by guid, whatever made us notice the loss
BROUGHT_BACK = "The member's own disk is there: it is brought back by its guid, ZFS gets its new name if needed, and nothing is replaced."
IN_ITS_BAY = _cures.IN_ITS_BAY
ZED_BELIEVES_UDEV = (
    "Before OpenZFS 2.1.12 ZED also calls a disk REMOVED whose partition table was merely read anew, as after a replacement."
)


# the note of `zpool status` behind a member's state -> why ZFS, or somebody, gave it up (vdev_aux_t, zpool_state_to_name and print_status_config)
CAUSES = {
    "too many errors": "ZFS gave it up after too many errors",
    "too many slow I/Os": "ZFS gave it up because too many of its I/Os were slow",
    "external device fault": "A person, or a program outside of ZFS, declared it faulty",
    "experienced I/O failures": "Its I/O failed",
}


def cause_of(note: str) -> str:
    """Why it was given up, in words; "" where its row does not say."""
    return next((cause for words, cause in CAUSES.items() if words in note), "")


@dataclass(frozen=True)
class Lost:
    """A leaf that serves nothing, with everything above it."""

    node: NodeFacts
    pool: PoolFacts
    role: str  # class of its top-level vdev
    line: tuple[VdevFacts, ...]

    @property
    def leaf(self) -> VdevFacts:
        return self.line[-1]

    @property
    def top(self) -> VdevFacts:
        return self.line[0]

    @property
    def parent(self) -> VdevFacts | None:
        return self.line[-2] if len(self.line) > 1 else None

    @property
    def path(self) -> str:
        """Where the pool last opened it. A string of the past: another disk may have that name today."""
        return self.leaf.was or self.leaf.name

    @property
    def guid(self) -> str:
        return str(self.leaf.guid) if known(self.leaf.guid) else self.leaf.name

    @property
    def given_up(self) -> str:
        """Why it was given up, and what it had counted."""
        errors = self.leaf.figures
        counts = f" (read {errors[0]}, write {errors[1]}, checksum {errors[2]})" if any(figure != "0" for figure in errors) else ""
        return f"{cause_of(self.leaf.note) or 'ZFS gave it up'}{counts}."

    def key(self, slug: str) -> str:
        """Node and vdev guid, which the tree always shows. The pool's guid needs a readable label, and a key must not change with that."""
        return f"{slug}:{self.node.node}:{self.guid}"

    def replacement(self) -> VdevFacts | None:
        """What already stands in its place and works: the new half of a replacement, or a hot spare. The old half is no replacement."""
        if self.parent is None or self.parent.kind not in ("replacing", "spare"):
            return None
        after = self.parent.children[self.parent.children.index(self.leaf) + 1 :]
        return next((v for v in reversed(after) if v.state in ("ONLINE", "DEGRADED")), None)

    def filling(self) -> VdevFacts | None:
        """What is being filled in its place; None also where no line of a resilver that runs was read, and for a spare that is filled."""
        new = self.replacement()
        if new is None or self.parent is None:
            return None
        if new.resilvering or new.awaiting_resilver:
            return new
        runs = any(scan.function in REPAIRS and scan.state in ("running", "paused") for scan in self.pool.scans_read)
        elsewhere = self.parent.kind == "spare" and any(v.resilvering for _, top in self.pool.tops_read for v in top.leaves())
        return new if runs and not elsewhere else None

    def stands_in(self) -> VdevFacts | None:
        """A hot spare that serves in its place and is not being filled."""
        spare = self.replacement() if self.parent is not None and self.parent.kind == "spare" else None
        return None if spare is None or self.filling() is not None else spare

    def just_filled(self) -> VdevFacts | None:
        """The new half of a replacement whose resilver was the pool's last scan and ended without an error: ZFS lets the old half go by itself then.

        Of a text that a person brought, which may be of that moment. An agent looks again, and then `resilver-stuck` says whether it is.
        """
        new, scans = self.replacement(), self.pool.scans_read
        if known(self.node.ages) or new is None or self.parent is None or self.parent.kind != "replacing" or self.filling() is not None:
            return None
        whole = all(scan.function in REPAIRS and scan.state == "finished" and scan.errors == 0 for scan in scans)
        return new if scans and whole and new.state == "ONLINE" else None

    def replacement_serves(self) -> bool:
        """Whether a replacement is on its way or filled, or a spare serves: no person has to act at once."""
        return self.filling() is not None or self.stands_in() is not None or self.just_filled() is not None

    @property
    def by_spare(self) -> bool:
        """Whether a hot spare serves in its place, or is being filled for it."""
        return self.parent is not None and self.parent.kind == "spare" and self.replacement_serves()

    def title_end(self) -> str:
        new = self.filling()
        if new is not None and self.parent is not None and self.parent.kind == "spare":
            return f", and the spare {new.name.rsplit('/', 1)[-1]} is being filled for it"
        if new is not None:
            return ", and being replaced"
        if self.just_filled() is not None:
            return ", and its replacement is filled"
        spare = self.stands_in()
        return f", and the spare {spare.name.rsplit('/', 1)[-1]} stands in" if spare is not None else ""

    def place_sentence(self) -> str:
        """What stands in its place, and whether waiting helps; "" when nothing does."""
        new = self.replacement()
        if new is None:
            return ""
        if self.filling() is not None:
            who = "The hot spare " if self.parent is not None and self.parent.kind == "spare" else ""
            return (
                f"{who}{new.name} takes its place and is being filled. Wait, and take nothing else out of {self.top.name} until it is done."
            )
        if self.stands_in() is not None:
            return f"The hot spare {new.name} stands in for it{how_filled(self.pool)}"
        if self.just_filled() is not None:
            return (
                f"{new.name} stands in its place, and the last resilver ended with 0 errors: ZFS lets the old half go by itself within seconds. A mail of that "
                f"moment still shows it. If it is still there when you look again, that resilver may not have been of {new.name}."
            )
        return (
            f"{new.name} stands in its place, but no resilver is seen to run, so nothing fills it. In the first seconds after a replacement that "
            f"is so; if it stays, waiting does not end it. Detach nothing, and take nothing else out of {self.top.name}."
        )

    def cures(self) -> tuple[Cure, ...]:
        """What helps, first things first. Another disk comes last, and not where one takes its place already."""
        if (filling := self.filling()) is not None:
            return (_cures.wait(f"Wait until {filling.name} is filled; `zpool status` says how far it is."),)
        if self.just_filled() is not None:
            again = Cure(
                "resilver", "Where it is still there, resilver once more.", (("zpool", "resilver", self.pool.name),), "0.8 and newer",
                needs="The second look shows the old half still, a minute after the end of the resilver.",
            )  # fmt: skip
            return (
                _cures.look("Look again first: as a rule the old half is gone by then.", ("zpool", "status", "-P", self.pool.name)),
                again,
            )
        if self.replacement() is not None and self.stands_in() is None:
            if not known(self.pool.scans):
                return (_cures.look(f"See whether a resilver runs before one is begun: {self.pool.scans.reason}"),)
            again = Cure("resilver", "Begin the resilver that does not run.", (("zpool", "resilver", self.pool.name),), "0.8 and newer")
            return (again,)
        if self.is_back():
            return (_cures.online(self.pool, self.leaf),)
        if self.leaf.state == "OFFLINE":
            return (
                _cures.online(self.pool, self.leaf),
                _cures.reseat(self.name_of_disk(), self.leaf),
                _cures.replace(self.pool, self.leaf),
            )
        if self.wrong_label():
            labels = "Read the label at that path with `zdb -l`: it says whose disk it is. Then look for the disk that carries the guid of this member."
            return (_cures.look(labels), _cures.reseat(self.name_of_disk(), self.leaf), _cures.replace(self.pool, self.leaf))
        if self.may_have_moved():
            labels = (
                "See first whether its disk is there under another name: kernel names are given anew at each boot. `lsblk -o NAME,SIZE,MODEL,SERIAL,WWN` (FreeBSD: "
                "`geom disk list`) shows the disks, and `zdb -l` of each partition the guid of its member."
            )
            return (
                _cures.look(labels),
                _cures.reseat(self.name_of_disk(), self.leaf),
                _cures.online(self.pool, self.leaf),
                _cures.replace(self.pool, self.leaf),
            )
        sick = (_cures.clear(self.pool, self.leaf),) if self.leaf.state == "FAULTED" else (_cures.online(self.pool, self.leaf),)
        return (_cures.reseat(self.name_of_disk(), self.leaf), *sick, _cures.replace(self.pool, self.leaf))

    def name_of_disk(self) -> str:
        disk = self.carrier()
        return _words.where(disk) if disk is not None else f"the disk of {self.guid}"

    def carrier(self) -> DiskFacts | None:
        """The disk that carries its label, when one is there."""
        return _words.disk_of(self.node, self.leaf)

    def evidence(self, source: str, line: str) -> Evidence:
        return _words.evidence(self.node, source, line)

    def tree_line(self) -> Evidence:
        suspended = "the pool is suspended, and " if is_suspended(self.pool) else ""
        note = f"{suspended}the kernel has no running disk for it" if _is_gone(self.leaf) else self.leaf.note
        return self.evidence("zpool_status", "  ".join(part for part in (self.leaf.name, self.leaf.state, note) if part))

    def margin_sentence(self) -> str:
        return _words.margin_sentence(self.pool, self.top)

    def params(self) -> dict[str, str] | None:
        """What a run needs to be about this vdev; None when its guids are not known."""
        if not known(self.pool.guid) or not known(self.leaf.guid):
            return None
        where = {"node": self.node.node, "pool": self.pool.name, "pool_guid": str(self.pool.guid)}
        return {**where, "vdev_guid": str(self.leaf.guid), "was": self.path}

    def answers(self, why: str) -> tuple[Answer, ...]:
        """The runbook, when it would be the right one: not while a replacement runs. A member that is back is brought back by it."""
        params = self.params()
        if self.parent is not None and self.parent.kind == "replacing":
            return self._unfinished(self.parent)
        if params is None:
            return ()
        if not self.is_back() and (own := self.of_a_partition()):
            return own
        return (Answer(RUNBOOK, params, BROUGHT_BACK if self.is_back() else why),)

    def _unfinished(self, holder: VdevFacts) -> tuple[Answer, ...]:
        """What ends a replacement that nothing fills; none while a scan runs, or where that is not known."""
        scans = self.pool.scans
        if self.replacement() is None or not known(scans) or any(scan.state in ("running", "paused") for scan in scans):
            return ()
        why = "It lets this disk go by its guid, once the new one is known to hold everything."
        return (*_replacements.resilvered(self.node, self.pool), *_replacements.finished(self.node, self.pool, holder, why))

    def of_a_partition(self) -> tuple[Answer, ...]:
        """The runbook for a member that is one partition of a disk with others; none for a whole disk, and none of FreeBSD, where gpart is the tool."""
        found, params = _partitions.partition(self.leaf) or _partitions.by_devid(self.leaf), self.params()
        if found is None or params is None or _partitions.is_bsd(self.leaf):
            return ()
        named = {name: params[name] for name in ("node", "pool", "pool_guid", "vdev_guid")}
        text = (
            f"It is partition {found[1]} of its disk. The partition table of a serving disk is copied to a blank one, the same partition there takes its place, "
            "and the new disk is made bootable, each planned and approved by itself."
        )
        return (Answer(_cures.OF_A_PARTITION, named, text),)

    def planned(self) -> tuple[Answer, ...]:
        """Replacing the disk: beside the old one where a fit disk is in the node, and in its bay."""
        return (*self.beside(), *self.in_its_bay())

    def beside(self) -> tuple[Answer, ...]:
        """Filling a blank disk of the node while the old one serves; none where no such disk is there, or the old one serves nothing."""
        free = fit_disks.beside(self.node, self.top, self.leaf, scanned=True) if self.leaf.state in ("ONLINE", "DEGRADED") else ()
        if not free:
            return ()
        if own := self.of_a_partition():
            return own
        text = (
            f"{_words.plural(len(free), 'blank disk')} of this node could take its place: ZFS fills one while the old disk serves, and no redundancy is "
            "spent. Then the old one is found and pulled."
        )
        return tuple(Answer(_cures.BESIDE_IT, other.params, text) for other in self.in_its_bay())

    def in_its_bay(self) -> tuple[Answer, ...]:
        """When it is still there and known by label and serial number; a person finds it by that where no light leads to it."""
        disk, params = self.carrier(), self.params()
        if self.of_a_partition():
            return ()
        inside = self.parent is not None and self.parent.kind in ("replacing", "spare")
        if disk is None or params is None or inside or not (known(disk.serial) and known(disk.wwid)):
            return ()
        place = lookup.bay_to_light(disk)
        named = {name: params[name] for name in ("node", "pool", "pool_guid", "vdev_guid")}
        light = f"switches on the light of {lookup.place_in_words(place['enclosure'], place['slot'])}"
        unlit = "has it found by its serial number"
        found = unlit if place["enclosure"] == lookup.NO_BAY else light if lookup.is_a_light(place["enclosure"]) else "lights its bay"
        text = f"It takes the disk out of service, {found}, watches the pull, and puts a new disk into the same place."
        if self.leaf.state in lookup.IN_SERVICE:
            text += " Until the new one is filled the vdev does with one less, so replace it beside the old one where a bay is free."
        return (Answer(IN_ITS_BAY, {**named, "old_wwid": disk.wwid, "old_serial": disk.serial, **place}, text),)

    def is_back(self) -> bool:
        """Whether its own disk is there and fit to serve, under another name or after a pause."""
        return self.carrier() is not None and not self.is_sick()

    def is_sick(self) -> bool:
        """Whether its own disk is there and ZFS gave it up: a FAULTED leaf that was opened and then failed."""
        gave_up = self.leaf.state == "FAULTED" and self.leaf.was is None and not self.wrong_label()
        return gave_up and self.carrier() is not None

    def wrong_label(self) -> bool:
        """Whether ZFS found the label of something else, or none, where it expected this leaf."""
        return "corrupted data" in self.leaf.note or "invalid label" in self.leaf.note

    def may_have_moved(self) -> bool:
        """Whether it is remembered by a name that leads to another disk after a boot, and nothing shows which disks the node has: mostly of a paste."""
        return self.leaf.state == "UNAVAIL" and not known(self.node.disks) and _OF_KERNEL.fullmatch(self.path) is not None

    def back_sentence(self) -> str:
        carrier = self.carrier()
        if carrier is None or not self.is_back():
            return ""
        text = (
            f"{title(carrier)} carries its label, so the disk itself is there: `zpool online` brings it back, and no replacement is needed."
        )
        return f"{text} {ZED_BELIEVES_UDEV}" if self.leaf.state == "REMOVED" and self.is_zed_credulous() else text

    def is_zed_credulous(self) -> bool:
        """Whether this node's ZED calls a disk removed without a look at it; since 2.1.12 it has it probed first (OpenZFS #14897)."""
        zfs = release_numbers(self.node.zfs_userland)
        return known(zfs) and zfs < (2, 1, 12)


def how_filled(pool: PoolFacts) -> str:
    """The end of a sentence about a spare that nothing fills now: whether what it holds is complete, by the last repair of the pool."""
    if not known(pool.scans):
        return f"; whether it is filled is not known: {pool.scans.reason}"
    last = next((scan for scan in pool.scans if scan.function in REPAIRS), None)
    if last is not None and last.state == "canceled":
        return "; the resilver that filled it was canceled, so it can lack data."
    if last is not None and last.errors:
        return f"; the resilver that filled it ended with {_words.plural(last.errors, 'error')}, so it can lack data."
    return " and is filled: there is nothing to wait for."


def in_dead_replacement(lost: Lost) -> bool:
    """Whether it is half of a `replacing` whose new half is lost too: neither half is replaced then, see `replacing_dead`."""
    parent = lost.parent
    return parent is not None and parent.kind == "replacing" and _is_lost(parent.children[-1])


def is_distributed(vdev: VdevFacts) -> bool:
    """Whether it is a distributed spare of a dRAID, "draid2-0-1": space on its disks, and no disk."""
    return re.fullmatch(r"draid[1-3]-[0-9]+-[0-9]+", vdev.name) is not None


def is_spare_itself(lost: Lost) -> bool:
    """Whether it is the spare that was to stand in for a member, and no member: see `spare_in_use`."""
    parent = lost.parent
    return parent is not None and parent.kind == "spare" and parent.children[0] is not lost.leaf


def lost_members(fleet: FleetFacts) -> Iterator[Lost]:
    """Every lost leaf that is a disk's matter of its own."""
    return (lost for lost in lost_leaves(fleet) if not in_dead_replacement(lost) and not is_spare_itself(lost))


def lost_leaves(fleet: FleetFacts) -> Iterator[Lost]:
    for node in fleet.nodes.values():
        for pool in node.pools_read:
            for role, top in pool.tops_read:
                yield from (Lost(node, pool, role, line) for line in lookup.lineages(top) if _is_lost(line[-1]))


def gone_leaves(fleet: FleetFacts) -> Iterator[Lost]:
    """Members that are called in service, and whose disks the kernel has no more: of suspended pools, and where ZFS has not noticed."""
    for node in fleet.nodes.values():
        for pool in node.pools_read:
            for role, top in pool.tops_read:
                yield from (Lost(node, pool, role, line) for line in lookup.lineages(top) if _is_gone(line[-1]))


def _is_gone(vdev: VdevFacts) -> bool:
    return not vdev.children and known(vdev.gone) and vdev.gone


def _is_lost(vdev: VdevFacts) -> bool:
    return not vdev.children and vdev.state in lookup.LOST_STATES


def seat_of(node: NodeFacts, leaf: VdevFacts) -> tuple[str, int] | None:
    """Enclosure and slot, by the disk's bay now or by the path that its label stored."""
    disk = disk_by_wwid(node, leaf)
    if disk is not None and known(disk.bay):
        return disk.bay.enclosure_id, disk.bay.slot
    stored = re.fullmatch(r"/sys/class/enclosure/([^/]+)/(.+)", leaf.enc_path or "")
    if stored is None:
        return None
    for bay in node.bays if known(node.bays) else ():
        if (bay.enclosure, bay.name) == stored.groups():
            return bay.enclosure_id, bay.slot
    number = re.search(r"([0-9]{1,4})$", stored.group(2))
    return (stored.group(1), int(number.group(1))) if number else None  # the enclosure is gone as well


def disk_by_wwid(node: NodeFacts, leaf: VdevFacts) -> DiskFacts | None:
    wwid = wwid_of(leaf)
    if not known(node.disks) or wwid is None:
        return None
    return next((disk for disk in node.disks if disk.wwid == wwid), None)
