"""What a disk's page says of the drive itself: how it feels, how it is reached, its switches, and who says where it sits.

Each list holds (name, words, tone); pure, so that the words are tested without a page.
"""

from collections.abc import Iterator
from typing import Any

from django.utils.text import capfirst

from agents.collectors.io_counters import IoCounters
from app.fleet.pages import chassis, rows, sas_path
from workflows.analysis.judgement import Judgement
from workflows.facts import ConditionFacts, DiskFacts, NodeFacts, OnPath, ServiceFacts, known
from workflows.facts.read import thresholds as at
from workflows.facts.read.slots import LEVELS

Row = tuple[str, str, str]
UNKNOWN_TONE = "watch"


def place(node: NodeFacts, disk: DiskFacts, judged: Judgement) -> dict[str, Any]:
    """Where a disk is now and what it is there, for its page."""
    use, how = rows.by_the_rule(*rows.use_of(disk, rows.owner_of(node, disk)), judged)
    return {
        "node": node.node,
        "last_report": f"reported {rows.ago(node.age_seconds)}",
        "is_old": node.age_seconds > rows.STALE_SECONDS,
        "use": use,
        "tone": how,
        "bay": f"{disk.bay.enclosure_id} slot {disk.bay.slot}" if known(disk.bay) else rows.text_of(disk.bay),
        "paths": disk.paths,
        "sectors": f"{rows.text_of(disk.logical_block_bytes)} B logical, {rows.text_of(disk.physical_block_bytes)} B physical",
        "conflict": disk.bay.conflict if known(disk.bay) else "",
        "health": disk.health.text if known(disk.health) else rows.text_of(disk.health),
        "drive": drive(node, disk),
        "labels": disk.labels if known(disk.labels) else (),
        "labels_unknown": rows.why_unknown(disk.labels),
    }


def drive(node: NodeFacts, disk: DiskFacts) -> dict[str, Any]:
    return {
        "seats": tuple(seat_rows(disk)),
        "condition": tuple(condition_rows(disk)),
        "ways": sas_path.of_disk(node, disk),
        "modes": tuple(mode_rows(disk)),
        "service": tuple(service_rows(node, disk)),
    }


def seat_rows(disk: DiskFacts) -> Iterator[Row]:
    """Every witness, the best first. A level beyond the fourth is a guess and looks like one."""
    best = (disk.bay.enclosure_id, disk.bay.slot) if known(disk.bay) else None
    for witness in disk.bay_witnesses:
        agrees = (witness.enclosure_id, witness.slot) == best
        tone = "bad" if not agrees else "good" if witness.level <= 4 else "watch"
        yield capfirst(LEVELS[witness.level]), f"bay {witness.slot} of {witness.enclosure_id} (level {witness.level})", tone


def condition_rows(disk: DiskFacts) -> Iterator[Row]:
    condition = disk.condition
    if not known(condition):
        yield "Its own logs", f"not known: {condition.reason}", UNKNOWN_TONE
        return
    yield from _defects(condition)
    for line in condition.errors:
        rate = (
            ""
            if line.corrected_per_tib is None
            else f", {line.corrected_per_tib:,.0f} per TiB{'' if line.bytes_are_exact else ' (rounded)'}"
        )
        corrected = "not counted" if line.corrected is None else f"{line.corrected:,} corrected{rate}"
        lost = "unknown" if line.uncorrected is None else f"{line.uncorrected:,}"
        yield (
            f"Errors while it {_DOES[line.what]}",
            f"{corrected}; {lost} not corrected",
            _weighed(line.uncorrected or 0, at.UNCORRECTED_WATCH, at.UNCORRECTED_ACT),
        )
    yield _self_test(condition)
    if known(condition.background):
        yield "Background scan", condition.background, "idle"
    if known(condition.temperature):
        hot = known(condition.temperature_trip) and 0 < condition.temperature_trip <= condition.temperature
        trip = f", trips at {condition.temperature_trip} °C" if known(condition.temperature_trip) and condition.temperature_trip else ""
        yield "Temperature", f"{condition.temperature} °C{trip}", "bad" if hot else "good"
    if known(condition.power_on_hours):
        yield "Powered on", f"{condition.power_on_hours:,} hours", "idle"


_DOES = {"read": "reads", "write": "writes", "verify": "verifies"}


def _defects(condition: ConditionFacts) -> Iterator[Row]:
    if known(condition.grown_defects):
        yield "Grown defects", f"{condition.grown_defects:,}", _weighed(condition.grown_defects, at.GROWN_WATCH, at.GROWN_ACT)
    if known(condition.pending_defects) and condition.pending_defects is not None:
        yield (
            "Defects not yet replaced",
            f"{condition.pending_defects:,}",
            _weighed(condition.pending_defects, at.PENDING_WATCH, at.PENDING_ACT),
        )
    for name, count in condition.attributes:
        yield name.capitalize(), f"{count:,}", _weighed(count, *OF_ATTRIBUTES.get(name, (1, None)))
    if known(condition.percent_used):
        yield "Endurance used", f"{condition.percent_used} %", _weighed(condition.percent_used, at.USED_WATCH, None)


# attribute -> from when on it is watched, and from when on a person must act
OF_ATTRIBUTES: dict[str, tuple[int, int | None]] = {
    "pending": (at.PENDING_WATCH, at.PENDING_ACT),
    "offline uncorrectable": (at.PENDING_WATCH, at.PENDING_ACT),
    "reallocated": (at.REALLOCATED_WATCH, at.REALLOCATED_ACT),
    "reported uncorrectable": (at.UNCORRECTED_WATCH, at.UNCORRECTED_ACT),
    "media errors": (at.UNCORRECTED_WATCH, at.UNCORRECTED_ACT),
    "end-to-end errors": (at.END_TO_END_WATCH, None),
    "CRC errors of the link": (at.LINK_CRC_WATCH, None),
    "critical warning": (1, 1),
}


def _weighed(count: int, watch: int, act: int | None) -> str:
    """The tone of a number, by the thresholds that the situations of disks have."""
    if act is not None and count >= act:
        return "bad"
    return "watch" if count >= watch else "good"


def _self_test(condition: ConditionFacts) -> Row:
    if condition.has_no_self_test:
        return "Last self-test", "it has no self-test, which is optional for NVMe disks", "idle"
    if not known(condition.self_tests):
        return "Last self-test", f"not known: {condition.self_tests.reason}", UNKNOWN_TONE
    test = condition.last_test
    if test is None:
        return "Last self-test", "none was ever run", "idle"
    when = "" if test.hours is None else f" at {test.hours:,} hours"
    return "Last self-test", f"{test.what}: {test.status}{when}", "bad" if test.failed else "good"


def mode_rows(disk: DiskFacts) -> Iterator[Row]:
    modes = disk.modes
    if not known(modes):
        yield "Mode pages", f"not known: {modes.reason}", UNKNOWN_TONE
        return
    cache = modes.write_cache
    assumed = f"; the kernel assumes {modes.kernel_believes}" if known(modes.kernel_believes) else ""
    if known(cache):
        lost = ", and never flushes it: a power cut loses what was acknowledged" if modes.is_never_flushed else ""
        yield "Write cache (WCE)", f"{cache.words}{assumed}{lost}", "bad" if modes.is_never_flushed else "good"
    if known(modes.background_scan):
        yield "Background scan (EN_BMS)", modes.background_scan.words, "idle"


def service_rows(node: NodeFacts, disk: DiskFacts) -> Iterator[Row]:
    """Path by path, what became of the commands that were sent that way; then how long ZFS had to wait for the disk."""
    service = node.service
    if not known(service):
        yield "Its commands", f"not known: {service.reason}", UNKNOWN_TONE
        return
    for name in disk.names:
        if known(service.paths) and name in service.paths:
            yield f"{name}, multipath", *_of_path(service.paths[name])
        if known(service.commands) and (counts := service.commands.get(name)) and counts.failed is not None:
            yield f"{name}, commands", *_of_commands(counts)
    yield from _waits(node, disk, service)


def _of_path(path: OnPath) -> tuple[str, str]:
    states = ", ".join(word for word in (path.state, path.checker and f"the checker says {path.checker}") if word)
    tone = "bad" if path.failed else "good" if path.state == "active" else UNKNOWN_TONE
    return f"a path of {path.map}: {states or 'the daemon reports nothing about it'}", tone


def _of_commands(counts: IoCounters) -> tuple[str, str]:
    """A few failures are usual: a disk that is asked for a page it does not have counts one. One that timed out is not."""
    of = "" if counts.done is None else f" of {counts.done:,}"
    failed = f"{counts.failed:,}{of} failed"
    late = "" if counts.timed_out is None else f", {counts.timed_out:,} timed out"
    held = ", the kernel holds commands back now" if counts.blocked else ""
    return f"{failed}{late}{held}", "bad" if counts.blocked else "watch" if counts.timed_out else "good"


def _waits(node: NodeFacts, disk: DiskFacts, service: ServiceFacts) -> Iterator[Row]:
    place = chassis.places_of(node).get(disk.wwid) if known(disk.wwid) else None
    if place is None or not known(place.leaf.guid):
        return
    for kind, name in (("disk_read", "Reads since the import"), ("disk_write", "Writes since the import")):
        found = service.long(place.leaf.guid, kind)
        if found is not None:
            yield name, f"{found[0]:,} of {found[1]:,} took longer than a second", "watch" if found[0] else "good"
