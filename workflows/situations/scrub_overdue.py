"""No scrub came to its end for long: blocks that went bad since are found when a disk has to be rebuilt from them, and then it is too late.

A node with an agent has a clock and a history. A pasted text has neither: its age counts from the newest moment that the text itself
names, or else from when it is read, as the text may be of any day before; so it is no more than a hint there.
"""

from datetime import UTC, datetime, timedelta

from workflows.analysis import last_scrub
from workflows.engine.core import Answer, Cure, Evidence, Situation
from workflows.facts import FleetFacts, NodeFacts, PoolFacts, known, reason_of
from workflows.situations import _pools, _words
from workflows.situations._limits import SCRUB_DAYS
from workflows.situations._pools import Wording, cure

SLUG = "scrub-overdue"
MANUALS: tuple[str, ...] = ("scrub-due",)


def detect(fleet: FleetFacts) -> tuple[Situation, ...]:
    return tuple(found for node, pool in _pools.pools(fleet) if _is_idle(pool) and (found := _of(fleet, node, pool)) is not None)


def _is_idle(pool: PoolFacts) -> bool:
    """Whether it could be scrubbed and is not: nothing runs or is paused, and it serves."""
    scans = _pools.scans(pool)
    return bool(scans) and not _pools.stands_still(pool) and not any(scan.state in ("running", "paused") for scan in scans)


def _of(fleet: FleetFacts, node: NodeFacts, pool: PoolFacts) -> Situation | None:
    if known(fleet.at):
        return _by_the_clock(fleet, node, pool)
    return _by_the_text(fleet, node, pool) if _pools.is_paste(node) and _is_well(pool) else None


def _is_well(pool: PoolFacts) -> bool:
    """Whether nothing else is said of it: a hint without a clock stands beside no trouble."""
    if pool.state != "ONLINE":
        return False
    reason = reason_of(pool.status, pool.see) if pool.status else None
    return reason is not None and reason.neutral if pool.status else not pool.see


def _by_the_clock(fleet: FleetFacts, node: NodeFacts, pool: PoolFacts) -> Situation | None:
    last = last_scrub.last_scrub_of(fleet, node, pool)
    if not known(last) or not last.is_old:
        return None
    if last.found:
        title = f"{pool.name}: the last scrub ended {last.days} days ago"
        text = f"The last scrub of {pool.name} on {node.node} ended on {last.at:%Y-%m-%d}, {last.days} days ago; {SCRUB_DAYS} days is long."
    else:
        title = f"{pool.name}: no scrub ended in {last.days} days"
        text = f"No scrub of {pool.name} on {node.node} came to its end in the {last.days} days that its history covers."
    answers = _words.pool_answers(
        node, pool, "scrub-due", "It checks first that nothing forbids a scrub, begins it, and waits for its end."
    )
    return _make(node, pool, Wording("watch", title, f"{text} {_RISK}", _lines(node, pool), _cures(pool)), answers)


def _by_the_text(fleet: FleetFacts, node: NodeFacts, pool: PoolFacts) -> Situation | None:
    ended = max(last_scrub.printed(pool), default=None)
    if ended is None:
        return _never(node, pool)
    read = datetime.fromtimestamp(fleet.read_at, UTC) if known(fleet.read_at) else ended
    at = max(_pools.newest_stamp(node) or ended, read)
    if (at - ended).days <= SCRUB_DAYS:
        return None
    due = ended + timedelta(days=SCRUB_DAYS)
    meaning = (
        f"The last scrub of {pool.name} ended on {ended:%Y-%m-%d}. The text does not say of which day it is; if it is from after {due:%Y-%m-%d}, no scrub came to its "
        f"end for more than {SCRUB_DAYS} days. {_RISK}"
    )
    title = f"{pool.name}: the last scrub ended on {ended:%Y-%m-%d}"
    return _make(node, pool, Wording("info", title, meaning, _lines(node, pool), _cures(pool)))


def _never(node: NodeFacts, pool: PoolFacts) -> Situation | None:
    """`none requested`: ZFS remembers neither scrub nor resilver. After a resilver, or a scrub that was stopped, nothing is known of one before."""
    if not (all(scan.function == "none" for scan in _pools.scans(pool))):
        return None
    meaning = f"{pool.name} was never scrubbed, as far as the text says. Of a new pool that is so. If it is older than {SCRUB_DAYS} days, a scrub is due. {_RISK}"
    return _make(node, pool, Wording("info", f"{pool.name}: it was never scrubbed", meaning, _lines(node, pool), _cures(pool)))


_RISK = (
    "Blocks that go bad on a disk are found and mended by a scrub only; else they show while a failed disk is rebuilt from them, and are then lost where nothing "
    "else holds a copy."
)


def _lines(node: NodeFacts, pool: PoolFacts) -> tuple[Evidence, ...]:
    return tuple(_pools.line(node, "scan", scan.text.split("\n")[0]) for scan in _pools.scans(pool))


def _cures(pool: PoolFacts) -> tuple[Cure, ...]:
    return (
        cure(
            "scrub",
            "Scrub it to its end, and arrange for a scrub each month (a timer of the distribution, or cron). It reads everything and slows the pool meanwhile.",
            ("zpool", "scrub", pool.name),
            needs="No member is lost that has to be replaced first.",
        ),
    )


def _make(node: NodeFacts, pool: PoolFacts, wording: Wording, answers: tuple[Answer, ...] = ()) -> Situation:
    return _pools.situation(SLUG, node, pool, wording, sure=wording.severity != "info", answers=answers)
