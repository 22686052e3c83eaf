"""When a pool was last read through: by its scan line, and by its own history where a resilver came after the scrub."""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime

from agents.collectors.zpool_history import History
from workflows.analysis.eta import moment
from workflows.analysis.scan_history import past
from workflows.facts import FleetFacts, Known, NodeFacts, PoolFacts, Unknown, derived, known, need

DAY = 86400.0
WARN_DAYS = 35
AHEAD_SECONDS = 3600  # by which a node's clock may go before the portal's
_ENDED = re.compile(r"^(?:thorough )?scrub repaired \S+ in .* with [0-9]+ errors on (.+)$", re.MULTILINE)  # an error scrub reads little


@dataclass(frozen=True)
class LastScrub:
    """When the last one ended; or, `found` being False, the moment since which the pool's history has none that did."""

    at: datetime
    found: bool
    age_seconds: float

    @property
    def days(self) -> int:
        return int(self.age_seconds // DAY)

    @property
    def is_old(self) -> bool:
        return self.age_seconds > WARN_DAYS * DAY

    @property
    def words(self) -> str:
        when = f"{self.at:%Y-%m-%d %H:%M:%S} UTC, {self.days} day{'' if self.days == 1 else 's'} ago"
        return f"ended {when}" if self.found else f"none since {when}, where its history begins"


@derived
def last_scrub_of(facts: FleetFacts, node: NodeFacts, pool: PoolFacts) -> Known[LastScrub]:
    """The last scrub of `pool` that came to its end, by its scan line and its history; `Unknown` without a clock, or where neither has one."""
    at = need(facts.at)
    history = node.histories.get(pool.name, Unknown(f"The history of {pool.name} was not read."))
    ended = max((*printed(pool), *_remembered(history)), default=None)
    since = ended if ended is not None else _begins(history, pool)
    if isinstance(since, Unknown):
        return since
    age = at - since.timestamp()
    if age < -AHEAD_SECONDS:
        return Unknown(f"{node.node} dates it {since:%Y-%m-%d %H:%M} UTC, which is yet to come. Check the clock of {node.node}.")
    return LastScrub(since, ended is not None, max(0.0, age))


def printed(pool: PoolFacts) -> Iterator[datetime]:
    """The scan line is about the last scan only. The node is asked in UTC."""
    for scan in pool.scans if known(pool.scans) else ():
        if scan.function == "scrub" and scan.state == "finished" and (ended := _ended(scan.text)) is not None:
            yield ended


def _ended(text: str) -> datetime | None:
    """When a scrub ended, by the text or by the JSON of 2.3, which gives the moment in words or in seconds since 1970."""
    found = _ENDED.search(text)
    ended = found.group(1) if found else _of_json(text)
    try:
        if ended.isdigit():
            return datetime.fromtimestamp(int(ended[:11]), UTC)
        return datetime.strptime(" ".join(ended.split()), "%a %b %d %H:%M:%S %Y").replace(tzinfo=UTC)
    except (ValueError, OverflowError):
        return None


def _of_json(text: str) -> str:
    """`end_time` of a scrub in the JSON; "" where there is none."""
    answer = json.loads(text) if text.startswith("{") else {}
    return str(answer.get("end_time", ""))


def _remembered(history: Known[History]) -> Iterator[datetime]:
    for scan in past(history) if known(history) else ():
        if scan.function == "scrub" and scan.outcome == "finished" and scan.ended is not None:
            yield scan.ended


@derived
def _begins(history: Known[History], pool: PoolFacts) -> Known[datetime]:
    """Since when a scrub that ended would be in the history. The command in the history does not show how the scrub ended."""
    moments = [at for entry in need(history).entries if entry.kind == "internal" and (at := moment(entry)) is not None]
    return min(moments) if moments else Unknown(f"The history of {pool.name} was read without what the pool did by itself.")
