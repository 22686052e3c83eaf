"""How far a running scan is, and how fast it really goes.

`zpool status` prints amounts to three digits, so an amount is a range here, unless the JSON of 2.3 says it exactly. The rate it
prints is the average since the scan, or its pass, began; how fast it goes now is known only from an earlier look.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any

from agents.collectors.zpool_status import Scan
from workflows.facts.model import ScanFacts
from workflows.facts.unknown import Known, Unknown, derived, known, need

Shown = Scan | ScanFacts  # the JSON's own, or what was made of either
Earlier = Known[tuple[tuple[Scan, ...], float]]  # the scans of an earlier look, and how many seconds before
NO_EARLIER = Unknown("There is no earlier look to compare with.")


@dataclass(frozen=True)
class Amount:
    """A number not smaller than `low` and not larger than `high`."""

    low: int
    high: int


@dataclass(frozen=True)
class Advance:
    """What happened since an earlier look. When the scan began anew meanwhile, `issued` is what was done since then."""

    seconds: float
    issued: Amount
    unchanged: bool = False  # every amount was printed as before; the digits of a large pool hide some GiB
    restarted: bool = False

    @property
    def bytes_per_second(self) -> Amount:
        return Amount(int(self.issued.low / self.seconds), int(self.issued.high / self.seconds))


@dataclass(frozen=True)
class ScanProgress:
    """One scan that runs. `since` is as printed, in the node's own clock."""

    function: str  # "scrub", "resilver", "rebuild"
    since: str
    percent: str | None
    issued: Known[Amount]
    total: Known[Amount]
    average: Known[Amount]  # bytes per second since it began, as printed
    advance: Known[Advance]

    @property
    @derived
    def left(self) -> Known[Amount]:
        total = need(self.total)
        issued = need(self.issued)
        return Amount(max(0, total.low - issued.high), max(0, total.high - issued.low))


def read_progress(
    scans: tuple[ScanFacts, ...],
    exact: Scan | None = None,
    looks: tuple[Earlier, ...] = (),
    exact_looks: tuple[Earlier, ...] = (),
) -> tuple[ScanProgress, ...]:
    """Every running scan. `looks` are earlier ones, the oldest first. `exact` is the scan as the JSON gives it, if it does; `exact_looks` are of the JSON."""
    running = [scan for scan in scans if scan.state == "running"]
    if exact is None or exact.state != "running" or len(running) != 1:
        return tuple(_progress(scan, scan, looks) for scan in running)
    if any(map(known, exact_looks)):
        return (_progress(running[0], exact, exact_looks),)
    return (_progress(running[0], exact, looks, running[0]),)


def _progress(scan: ScanFacts, shown: Shown, looks: tuple[Earlier, ...], compared: Shown | None = None) -> ScanProgress:
    figures = _figures(shown.text)
    return ScanProgress(
        function=scan.function,
        since=_figures(scan.text).since,
        percent=scan.percent,
        issued=figures.issued,
        total=figures.total,
        average=_figures(scan.text).average,
        advance=_advance(compared or shown, looks),
    )


def _advance(scan: Shown, looks: tuple[Earlier, ...]) -> Known[Advance]:
    """Since the oldest look at which it ran. One that began since then is compared with a younger look."""
    found = [_since(scan, look) for look in looks] or [NO_EARLIER]
    return next(filter(known, found), found[0])


@derived
def _since(scan: Shown, earlier: Earlier) -> Known[Advance]:
    """Two looks in the same words: both of the text, or both of the JSON."""
    scans, seconds = need(earlier)
    before = [other for other in scans if _kind(other) == _kind(scan) and other.state == "running"]
    if len(before) != 1 or seconds <= 0:
        return Unknown(f"No {scan.function} ran when it was looked at {seconds:.0f} s before.")
    now, then = _figures(scan.text), _figures(before[0].text)
    issued = need(now.issued)
    if not known(then.issued):
        return then.issued
    moved = Amount(issued.low - then.issued.high, issued.high - then.issued.low)
    if then.since != now.since or moved.high < 0:
        return Advance(seconds, Amount(max(0, issued.low), issued.high), restarted=True)
    return Advance(seconds, _narrowed(moved, now, then), unchanged=now.amounts == then.amounts)


def _narrowed(moved: Amount, now: _Figures, then: _Figures) -> Amount:
    """The percentage is printed finer than the amounts of a large pool. It counts only while the total is the same."""
    low, high = moved.low, moved.high
    if now.percent is not None and then.percent is not None and known(now.total) and now.total == then.total:
        part = (now.percent - then.percent) / 100
        low, high = max(low, int((part - 0.0001) * now.total.low)), min(high, int((part + 0.0001) * now.total.high) + 1)
    return Amount(max(0, low), max(0, high))


def _kind(scan: Shown) -> tuple[str, str]:
    """A rebuild names its vdev, and several may run at once."""
    return scan.function, scan.text.partition(" in progress")[0] if scan.function == "rebuild" else ""


@dataclass(frozen=True)
class _Figures:
    since: str
    issued: Known[Amount]
    total: Known[Amount]
    average: Known[Amount]
    percent: float | None
    amounts: tuple[str, ...]  # everything printed that grows


_SINCE = re.compile(r"in progress since (.*)")
_AMOUNT = r"([0-9]{1,20}(?:\.[0-9]{1,20})?)([BKMGTPE]?)B?"
_ISSUED = re.compile(rf"(?:^|[ ,]){_AMOUNT}(?: / {_AMOUNT})? issued(?: at {_AMOUNT}/s)?", re.MULTILINE)
_TOTAL = re.compile(rf"{_AMOUNT} total")
_OLD = re.compile(rf"{_AMOUNT} scanned out of {_AMOUNT}(?: at {_AMOUNT}/s)?")  # until 0.7 what is scanned is done
_GROWING = re.compile(
    r"([0-9.]{1,20}[BKMGTPE]{0,3}) (?:scanned|issued|resilvered|repaired)|([0-9.]{1,20})% done|([0-9.]{1,20}[BKMGTPE]{0,3}) / "
)
_PERCENT = re.compile(r"([0-9]{1,6}(?:\.[0-9]{1,4})?)% done")


def _figures(text: str) -> _Figures:
    if text.startswith("{"):
        return _of_json(json.loads(text))
    since, issued, old, total = _SINCE.search(text), _ISSUED.search(text), _OLD.search(text), _TOTAL.search(text)
    groups = issued.groups() if issued else old.groups() if old else (None,) * 6
    done, whole, rate = (_amount(*groups[i : i + 2]) for i in (0, 2, 4))
    percent = _PERCENT.search(text)
    return _Figures(
        since.group(1).strip() if since else "",
        done,
        _amount(*total.groups()) if total and not known(whole) else whole,
        rate,
        float(percent.group(1)) if percent else None,
        tuple("".join(found) for found in _GROWING.findall(text)),
    )


def _of_json(fields: dict[str, Any]) -> _Figures:
    def exactly(key: str) -> Known[Amount]:
        value = str(fields.get(key, ""))
        return Amount(int(value), int(value)) if re.fullmatch("[0-9]{1,20}", value) else Unknown(f"The JSON gives no exact {key}.")

    total, skipped = exactly("to_examine"), exactly("skipped")
    if known(total) and known(skipped):
        total = Amount(total.low - skipped.low, total.high - skipped.high)
    amounts = tuple(str(fields.get(key)) for key in ("examined", "issued", "processed"))
    return _Figures(str(fields.get("start_time")), exactly("issued"), total, Unknown("The JSON gives no rate."), None, amounts)


def _amount(number: str | None, unit: str | None) -> Known[Amount]:
    """What a rounded number may stand for: half of its last digit up and down."""
    if number is None:
        return Unknown("The scan line gives no such amount.")
    factor = 1 << (10 * ("BKMGTPE".index(unit) if unit else 0))
    if factor == 1:
        return Amount(int(float(number)), int(float(number)))
    grain = factor / 10 ** len(number.partition(".")[2])
    return Amount(max(0, int(float(number) * factor - grain / 2)), int(float(number) * factor + grain / 2) + 1)


def size(number: float) -> str:
    """A size for a sentence: "1.3 MiB"."""
    unit = 0
    while number >= 1024 and unit < 5:
        number, unit = number / 1024, unit + 1
    return f"{number:.0f} {_UNITS[unit]}" if unit == 0 or number >= 100 else f"{number:.1f} {_UNITS[unit]}"


_UNITS = ("B", "KiB", "MiB", "GiB", "TiB", "PiB")
