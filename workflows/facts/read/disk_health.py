"""What the numbers of one disk mean: whether it is failing, worn, hot, or has a bad cable. Every surface judges a disk by this.

A disk that says nothing of its health (no SMART, a virtual disk, one that sleeps) has no finding: that is not known, and not bad.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from agents.collectors import _asc
from workflows.facts.read import thresholds as at
from workflows.facts.unknown import known

if TYPE_CHECKING:
    from workflows.facts.read.disk_condition import ConditionFacts, SelfTestFacts

Kind = Literal["failing", "worn", "hot", "link"]
SPARE_LOW, HEAT, RELIABILITY, READ_ONLY, BACKUP_FAILED, PERSISTENT_MEMORY = (1 << bit for bit in range(6))  # NVMe 1.4, figure 194
_BITS = (
    (SPARE_LOW, "its spare blocks are used up to the threshold"),
    (RELIABILITY, "its reliability is degraded by media or internal errors"),
    (READ_ONLY, "it has made itself read-only"),
    (BACKUP_FAILED, "the backup of its volatile memory has failed, so a power loss can lose data it has acknowledged"),
    (PERSISTENT_MEMORY, "its persistent memory region is read-only or unreliable"),
)
LONG_TESTS = ("long", "extended")


@dataclass(frozen=True)
class Finding:
    """One thing that a disk says of itself. `certain`: the disk or a test says that it fails, and no number was weighed.

    `lost`: some of its data cannot be read any more, so it matters most where no other disk has it.
    """

    kind: Kind
    severity: Literal["act", "watch"]
    words: str  # how a sentence goes on: "it predicts its own failure: …"
    line: str  # what in the report says it, for the evidence
    certain: bool = False
    lost: bool = False


def findings(condition: ConditionFacts) -> tuple[Finding, ...]:
    """All of one disk, the certain ones first. `ConditionFacts.findings` is the same, worked out once."""
    return tuple(
        sorted(
            (*_failing(condition), *_worn(condition), *_hot(condition), *_link(condition)),
            key=lambda one: (not one.certain, one.severity != "act"),
        )
    )


def _failing(condition: ConditionFacts) -> Iterator[Finding]:
    yield from _verdict(condition)
    yield from _warning(condition)
    if condition.failing:
        names = ", ".join(condition.failing)
        yield Finding("failing", "act", f"it is at the threshold its vendor set for failure: {names}", names, certain=True)
    failed = failed_test(condition)
    if failed is not None:
        test, outdone = failed
        line = f"{test.what} {test.status} {'' if test.hours is None else test.hours}".strip()
        since = "; short tests passed since, and a long one will show" if outdone else ""
        yield Finding("failing", "watch" if outdone else "act", f"{_test_words(test)}{since}", line, certain=not outdone)
    yield from _lost_places(condition)
    yield from _replaced_places(condition)


def _verdict(condition: ConditionFacts) -> Iterator[Finding]:
    """The disk's own verdict. One that failed only by heat, or by a report that was requested, is no failing disk."""
    if condition.passed is not False:
        return
    if condition.sense is None:
        if not condition.critical_warning:  # else its bits say why
            yield Finding("failing", "act", "its own SMART test says that it is failing", condition.verdict, certain=True)
        return
    asc, ascq = condition.sense
    words = _asc.words(asc, ascq)
    if condition.sense == _asc.FALSE:
        yield Finding("failing", "watch", f"it says: {words}", condition.verdict)
    elif asc == _asc.WARNING and ascq in _asc.TEMPERATURES:
        return
    elif asc == _asc.WARNING:
        yield Finding("failing", "watch", f"it gives a {words}", condition.verdict)
    else:
        yield Finding(
            "failing", "act", f"it predicts its own failure: {words} (asc 0x{asc:02x}, ascq 0x{ascq:02x})", condition.verdict, certain=True
        )


def _warning(condition: ConditionFacts) -> Iterator[Finding]:
    bits = condition.critical_warning or 0
    for bit, words in _BITS:
        if bits & bit:
            act = bit != PERSISTENT_MEMORY  # ZFS does not use it
            yield Finding(
                "failing",
                "act" if act else "watch",
                f"{words} (NVMe critical warning 0x{bits:02x})",
                f"Critical Warning: 0x{bits:02x}",
                act,
            )


def failed_test(condition: ConditionFacts) -> tuple[SelfTestFacts, bool] | None:
    """The newest self-test that failed and that no later long one has passed, and whether as good a one has passed since.

    smartctl counts a failure outdated by a later extended test alone: a short one may not look at the place that failed.
    """
    passed = False
    for test in condition.self_tests if known(condition.self_tests) else ():
        long = any(word in test.what.lower() for word in LONG_TESTS)
        if test.failed:
            return test, passed and not long
        if test.result == 0 and long:
            return None
        passed = passed or test.result == 0
    return None


def _test_words(test: SelfTestFacts) -> str:
    hours = "" if test.hours is None else f" after {test.hours:,} hours of use"
    place = "" if test.lba is None else f", at sector {test.lba}"
    return f'its self-test ({test.what}) ended{hours} with "{test.status}"{place}'


def _counts(condition: ConditionFacts) -> dict[str, int]:
    return dict(condition.attributes)


def pending(condition: ConditionFacts) -> int:
    """Places it could not read and has not replaced: SCSI's list, or the higher of the two ATA counters, which count much the same."""
    listed = condition.pending_defects if known(condition.pending_defects) else None
    counts = _counts(condition)
    return max(listed or 0, counts.get("pending", 0), counts.get("offline uncorrectable", 0))


def _lost_places(condition: ConditionFacts) -> Iterator[Finding]:
    waiting, errors, damaged = pending(condition), condition.uncorrected, _counts(condition).get("end-to-end errors", 0)
    if waiting >= at.PENDING_WATCH:
        severity: Literal["act", "watch"] = "act" if waiting >= at.PENDING_ACT else "watch"
        words = f"{waiting:,} of its sectors cannot be read and are not replaced yet"
        yield Finding(
            "failing", severity, words, _evidence(condition, ("pending", "offline uncorrectable"), "pending defects", waiting), lost=True
        )
    if errors >= at.UNCORRECTED_WATCH:
        severity = "act" if errors >= at.UNCORRECTED_ACT else "watch"
        words = f"{errors:,} {'read or write' if errors == 1 else 'reads or writes'} failed for good, which it could not correct"
        yield Finding("failing", severity, words, f"uncorrected errors {errors}")
    logged = condition.unreadable
    is_recent = logged is not None and (logged.age is None or logged.age <= at.LOGGED_HOURS)
    if logged is not None and is_recent and errors < at.UNCORRECTED_WATCH and waiting < at.PENDING_WATCH:
        when = "how long ago is not known" if logged.age is None else f"the newest {_times(logged.age, 'hour')} of use ago"
        words = f"its error log has {_times(logged.count, 'read')} that failed on the disk, {when}"
        yield Finding("failing", "watch", words, f"errors in its log: {logged.count}")
    if damaged >= at.END_TO_END_WATCH:
        yield Finding("failing", "watch", f"data was damaged inside it {_times(damaged, 'time')}", f"End-to-End_Error {damaged}")


def _replaced_places(condition: ConditionFacts) -> Iterator[Finding]:
    moved, grown = _counts(condition).get("reallocated", 0), condition.grown_defects if known(condition.grown_defects) else 0
    ssd = condition.life_left is not None or known(condition.percent_used)  # only they wear
    if moved >= (at.REALLOCATED_SSD_WATCH if ssd else at.REALLOCATED_WATCH):
        yield Finding(
            "failing",
            "act" if moved >= at.REALLOCATED_ACT else "watch",
            f"it has replaced {_times(moved, 'sector')} by spare ones",
            f"Reallocated_Sector_Ct {moved}",
        )
    if grown >= at.GROWN_WATCH:
        severity: Literal["act", "watch"] = "act" if grown >= at.GROWN_ACT else "watch"
        yield Finding("failing", severity, f"it has {_times(grown, 'grown defect')}", f"Elements in grown defect list: {grown}")


def _worn(condition: ConditionFacts) -> Iterator[Finding]:
    used, left = condition.percent_used if known(condition.percent_used) else None, condition.life_left
    if condition.exhausted:
        names = ", ".join(condition.exhausted)
        yield Finding("worn", "watch", f"it is used up by its own measure: {names} is at its threshold", names)
    if used == at.USED_UNSET and left is not None and left > at.LIFE_LEFT_WATCH:
        used = None  # the standard's figure was never filled in, and the maker's row says how it is
    if used is not None and used >= at.USED_WATCH:
        yield Finding("worn", "watch", f"{used} % of the life it is rated for is used", f"Percentage Used: {used}%")
    # The maker's row is asked only where the disk lacks the standard's own figure: what its number means differs from maker to maker.
    if (
        used is None
        and left is not None
        and left <= at.LIFE_LEFT_WATCH
        and condition.life_name not in condition.failing + condition.exhausted
    ):
        yield Finding("worn", "watch", f"{left} % of its life is left ({condition.life_name})", f"{condition.life_name} {left}")
    spare, threshold = condition.available_spare, condition.spare_threshold
    warned = (condition.critical_warning or 0) & SPARE_LOW  # then the drive itself says it is used up
    if spare is None or threshold is None or (spare, threshold) == (0, 0):  # emulated drives say so, which count neither
        return
    if not warned and spare < 100 and spare <= threshold + at.SPARE_MARGIN_WATCH:
        yield Finding(
            "worn", "watch", f"{spare} % of its spare blocks are left, and at {threshold} % it warns", f"Available Spare: {spare}%"
        )


def limit(condition: ConditionFacts) -> tuple[int, str] | None:
    """The temperature at which the disk itself says it is too hot, and which limit that is."""
    if known(condition.temperature_trip) and condition.temperature_trip < 255:  # SPC: FFh is "not valid"
        return condition.temperature_trip, "at which it trips"
    if condition.temperature_max:
        return condition.temperature_max, "that is the most it may have"
    return None


def _hot(condition: ConditionFacts) -> Iterator[Finding]:
    now, highest = condition.temperature if known(condition.temperature) else None, limit(condition)
    warned = (
        condition.passed is False
        and condition.sense is not None
        and condition.sense[0] == _asc.WARNING
        and condition.sense[1] in _asc.TEMPERATURES
    )
    degrees = now if now is not None and 0 < now < at.IMPOSSIBLE_CELSIUS else None
    line = condition.verdict if warned or degrees is None else f"Temperature: {degrees} C"
    if degrees is not None and highest is not None and degrees >= highest[0]:
        yield Finding("hot", "act", f"it has {degrees} °C, and {highest[0]} °C is the temperature {highest[1]}", line, certain=True)
    elif warned:
        yield Finding("hot", "act", f"it gives a {_asc.words(*condition.sense or (0, 0))}", line, certain=True)
    elif (condition.critical_warning or 0) & HEAT:
        with_degrees = "" if degrees is None else f" at {degrees} °C"
        yield Finding(
            "hot", "act", f"it warns that its temperature is out of bounds{with_degrees} (NVMe critical warning)", line, certain=True
        )
    elif condition.too_hot:
        yield Finding(
            "hot", "watch", "its temperature is at the threshold its vendor set" + (f", at {degrees} °C" if degrees else ""), line
        )
    elif degrees is not None and condition.temperature_warning and degrees >= condition.temperature_warning:
        yield Finding("hot", "watch", f"it has {degrees} °C, and from {condition.temperature_warning} °C on it warns", line)
    elif degrees is not None and highest is not None and degrees >= highest[0] - at.NEAR_TRIP_CELSIUS:
        yield Finding("hot", "watch", f"it has {degrees} °C, close to the {highest[0]} °C {highest[1]}", line)
    elif degrees is not None and highest is None and degrees >= at.HOTTEST_CELSIUS:
        yield Finding("hot", "watch", f"it has {degrees} °C, and no disk is made for more than {at.HOTTEST_CELSIUS} °C", line)


def _link(condition: ConditionFacts) -> Iterator[Finding]:
    damaged = crc(condition)
    if damaged >= at.LINK_CRC_WATCH:
        yield Finding(
            "link",
            "watch",
            f"{_times(damaged, 'transfer')} over its cable came damaged and were sent again",
            f"UDMA_CRC_Error_Count {damaged}",
        )


def crc(condition: ConditionFacts) -> int:
    """Transfers that came damaged over the SATA link, as long as the disk has been in use."""
    return next((count for name, count in condition.attributes if name == "CRC errors of the link"), 0)


def _evidence(condition: ConditionFacts, names: tuple[str, ...], other: str, count: int) -> str:
    found = [f"{name} {_counts(condition)[name]}" for name in names if _counts(condition).get(name)]
    return ", ".join(found) or f"{other} {count}"


def _times(count: int, what: str) -> str:
    return f"{count:,} {what if count == 1 else what + 's'}"
