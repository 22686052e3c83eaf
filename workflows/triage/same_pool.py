"""Several outputs of `zpool status` about one pool: which of them is the newest, and what only an older one says.

A text's time is that of a date above it (`zpool status -T d`, `date`), or the latest time in its scan: line. In one terminal the later command
is the newer one, as long as nobody's own words stand between the two. Where none of these tells, the later text is used, and what the other one says beside it is a finding.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from workflows.engine.core import Cure, Evidence, Situation
from workflows.facts.read.data_errors import NONE as NO_DATA_ERRORS
from workflows.facts.status_reasons import reason_of

MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
GOOD = frozenset(("ONLINE", "AVAIL", "INUSE"))
HARMLESS = frozenset(
    ("features-disabled", "version-mismatch", "block-size-mismatch", "hostid-mismatch")
)  # what explains such a status: line
DATA = "its data"
MORE = "An earlier output shows more vdevs and is used."
SUPERSEDED = "An earlier output of the same command is superseded by this one."
SHOWN_MAX = 4  # words that only one text has, in a sentence

Time = tuple[int, int, int, str]  # year, month, day, clock; of one host, so that no zone matters
Moment = TypeVar("Moment", Time, float)

_POOL = re.compile(r" {0,4}pool: (\S.{0,300})$")
_SCAN = re.compile(r" {0,4}(?:scan|scrub|remove|expand|checkpoint): ")
_CLOCK = "(?P<clock>[0-9]{2}:[0-9]{2}:[0-9]{2})(?: (?P<half>AM|PM))?"
_DATES = (  # as `date` and ctime() print it, and `date` of some locales
    re.compile(
        rf"[A-Z][a-z]{{2}} (?P<month>[A-Z][a-z]{{2}}) {{1,2}}(?P<day>[0-9]{{1,2}}) {_CLOCK}(?: [A-Z]{{2,5}}| [+-][0-9]{{2,4}})? (?P<year>[0-9]{{4}})"
    ),
    re.compile(
        rf"[A-Z][a-z]{{2}} (?P<day>[0-9]{{1,2}}) (?P<month>[A-Z][a-z]{{2}}) {_CLOCK}(?: [A-Z]{{2,5}}| [+-][0-9]{{2,4}})? (?P<year>[0-9]{{4}})"
    ),
    re.compile(rf"[A-Z][a-z]{{2}} (?P<day>[0-9]{{1,2}}) (?P<month>[A-Z][a-z]{{2}}) (?P<year>[0-9]{{4}}) {_CLOCK}"),
)
_ISO = re.compile(r"([0-9]{4})-([0-9]{2})-([0-9]{2})[T ]([0-9]{2}:[0-9]{2}:[0-9]{2})")
_DONE = re.compile(r"\b([0-9]{1,3}(?:[.,][0-9]{1,2})?)% done")
DATE_LENGTH_MAX = 60  # characters of a line that is a date and nothing else
ABOVE_MAX = 3  # lines above an output in which its date is looked for


@dataclass(frozen=True)
class Taken:
    """Where and when an output was taken. `file` and `line` order what was typed in one terminal, which has a command above it."""

    file: str
    line: int
    command: str = ""
    time: Time | None = None
    talk: int = 0  # how often somebody's own words stood above it: those may tell of another day


NOWHERE = Taken("", 0)


@dataclass(frozen=True)
class Shown:
    """One pool in one output."""

    pool: Any
    text: str
    taken: Taken
    doubt: str = ""

    @property
    def name(self) -> str:
        return str(self.pool.name)

    @property
    def scan_time(self) -> Time | None:
        return max((time for line in self.text.split("\n") if (time := time_in(line))), default=None)

    @property
    def done(self) -> float | None:
        found = _DONE.search(self.text)
        return float(found.group(1).replace(",", ".")) if found else None

    @property
    def is_headed(self) -> bool:
        """Whether its line pool: is here."""
        return any(map(_POOL.match, self.text.split("\n")))

    @property
    def has_rows(self) -> bool:
        return bool(self.pool.vdevs.children)

    @property
    def is_whole(self) -> bool:
        return self.has_rows and self.pool.errors is not None

    @property
    def states(self) -> Mapping[str, str]:
        """The state of the pool and of each row, by name; and what its errors: line says."""
        rows = (*_rows(self.pool.vdevs), *(row for _, tops in self.pool.sections for top in tops for row in _rows(top)))
        found = {row.name: row.state for row in rows} | {self.name: self.pool.state}
        errors = {} if self.pool.errors in (None, "") else {DATA: "ONLINE" if self.pool.errors == NO_DATA_ERRORS else "damaged"}
        return {name: state for name, state in (found | errors).items() if state}


@dataclass(frozen=True)
class Difference:
    """What one text says of a pool and the one that is used does not, where nothing tells which of them is newer."""

    used: Shown
    other: Shown

    @property
    def words(self) -> tuple[str, ...]:
        return worse(self.other, self.used)


@dataclass(frozen=True)
class Joined:
    shown: Mapping[str, Shown]
    notes: tuple[str, ...]
    differences: tuple[Difference, ...]

    @property
    def text(self) -> str:
        """Those without the line that names the pool come first: behind another one they would go on with it."""
        return "".join(one.text for one in sorted(self.shown.values(), key=lambda one: one.is_headed))

    @property
    def doubt(self) -> str:
        return next((one.doubt for one in self.shown.values() if one.doubt), "")


def worse(one: Shown, than: Shown) -> tuple[str, ...]:
    """What both texts tell of, and the first one says is not as it should be, in words: "sdb is FAULTED". A row may have another name in each."""
    there = than.states
    return tuple(f"{name} is {state}" for name, state in one.states.items() if state not in GOOD and there.get(name, state) != state)


def _has_new_trouble(later: Shown, earlier: Shown) -> bool:
    """Whether the status: line of the later text tells of trouble that the earlier one does not know of, whatever rows it has left."""
    status = later.pool.status
    reason = reason_of(status) if status and status != earlier.pool.status else None
    return reason is not None and not set(reason.slugs) <= HARMLESS


def time_in(line: str) -> Time | None:
    """The time in a scan: line and its like."""
    return _time(line) if _SCAN.match(line) or line.startswith((" ", "\t")) else None


def time_above(lines: Sequence[str], first: int) -> Time | None:
    """The date that stands alone above an output, or as its first line; `first` counts from 1."""
    near = lines[max(0, first - 1 - ABOVE_MAX) : first]
    return next((time for line in reversed(near) if len(line) <= DATE_LENGTH_MAX and (time := _time(line))), None)


def _time(line: str) -> Time | None:
    for form in _DATES:
        found = form.search(line[:300])
        if found and found["month"] in MONTHS:
            return int(found["year"]), MONTHS.index(found["month"]) + 1, int(found["day"]), _of_24_hours(found["clock"], found["half"])
    iso = _ISO.search(line[:300])
    return (int(iso.group(1)), int(iso.group(2)), int(iso.group(3)), iso.group(4)) if iso else None


def _of_24_hours(clock: str, half: str | None) -> str:
    """12:05:00 AM is five past midnight, 12:05:00 PM five past noon."""
    if half is None:
        return clock
    hours = int(clock[:2]) % 12 + (12 if half == "PM" else 0)
    return f"{hours:02}{clock[2:]}"


def shown(text: str, pools: Sequence[Any], taken: Taken, doubt: str) -> dict[str, Shown] | None:
    """Each pool of an output with its own lines; None where they cannot be told apart."""
    parts: list[list[str]] = [[]]
    for line in text.split("\n"):
        if _POOL.match(line) and any(map(_POOL.match, parts[-1])):
            parts.append([])
        parts[-1].append(line)
    names = [pool.name for pool in pools]
    if len(parts) != len(pools) or len(set(names)) != len(names):
        return None
    texts = ["\n".join(part) for part in parts]
    return {
        pool.name: Shown(pool, part if part.endswith("\n") else f"{part}\n", taken, doubt) for pool, part in zip(pools, texts, strict=True)
    }


def joined(before: Mapping[str, Shown], now: Mapping[str, Shown], excerpt: bool) -> Joined:
    """Of each pool the newest text. `excerpt`: the later output leaves out what is well."""
    kept, notes, differences = dict(before), dict[str, None](), []
    for name, later in now.items():
        earlier = before.get(name)
        if earlier is None:
            kept[name] = later
            continue
        newer = is_newer(earlier, later)
        if (
            (excerpt or not later.is_whole)
            and (earlier.is_whole or (earlier.has_rows and not later.has_rows))
            and newer is not False
            and not (worse(later, earlier) or _has_new_trouble(later, earlier))
        ):
            notes[MORE] = None
            continue
        used, other = (earlier, later) if newer is False else (later, earlier)
        kept[name] = used
        notes[SUPERSEDED if newer is not False else "An output that stands before this one is newer and is used."] = None
        difference = Difference(used, other)
        if difference.words and newer is None:
            differences.append(difference)
        elif difference.words:
            notes[f"The older text of {name} says also: {_listed(difference.words)}."] = None
        if rows := () if used.has_rows else _not_well(other):
            notes[f"The newer text of {name} shows no rows. In the older one: {_listed(rows)}."] = None
    return Joined(kept, tuple(notes), tuple(differences))


def is_newer(earlier: Shown, later: Shown) -> bool | None:
    """Whether the text that stands later was taken later; None where nothing says so."""
    above, below = earlier.taken, later.taken
    orders = (_is_later(above.time, below.time), _is_later(earlier.scan_time, later.scan_time), _is_later(earlier.done, later.done))
    for order in orders:
        if order is not None:
            return order
    in_one_terminal = above.file == below.file and above.command and below.command and above.talk == below.talk
    return True if in_one_terminal else None


def _is_later(one: Moment | None, two: Moment | None) -> bool | None:
    """Whether `two` comes after `one`; None where they are equal, or one of them is not known."""
    return None if one is None or two is None or one == two else two > one


def situations(node: str, differences: Sequence[Difference], digest: str) -> Iterator[Situation]:
    """The contradiction itself, once a pool."""
    for each in {one.used.name: one for one in differences}.values():
        name, words = each.used.name, _listed(each.words)
        state = each.other.pool.state
        slug = {"SUSPENDED": "pool-suspended", "FAULTED": "pool-down", "UNAVAIL": "pool-down"}.get(state, "vdev-degraded")
        yield Situation(
            slug, f"{slug}:{node}:{name}:texts", node, "act", f"{name}: two texts of it do not fit together",
            f"Of {name} there are two outputs of `zpool status`, and nothing in them tells which is the newer one. The one that is used does not say what "
            f"the other one says: {words}. Until that is settled the worse one counts; change no disk for it.",
            tuple(Evidence(node, "zpool_status", digest, line) for line in (f"state: {state}",)), subject={"node": node, "pool": name},
            gate=True, sure=False,
            cures=(Cure("look", f"Take it once more, with its time: `zpool status -T d -P -p {name}`."),),
        )  # fmt: skip


def _not_well(one: Shown) -> tuple[str, ...]:
    """The rows of the tree that are neither ONLINE nor a spare in waiting, in words."""
    return tuple(
        f"{name} is {state}" for name, state in one.states.items() if name not in (one.name, DATA) and state not in ("ONLINE", "AVAIL")
    )


def _listed(words: Sequence[str]) -> str:
    more = f" and {len(words) - SHOWN_MAX} more" if len(words) > SHOWN_MAX else ""
    return "; ".join(words[:SHOWN_MAX]) + more


def _rows(vdev: Any) -> Iterator[Any]:
    yield vdev
    for child in vdev.children:
        yield from _rows(child)
