"""What the owner of this node lets the portal do. The portal can never write it.

`/etc/slotlight/policy.json`: {"mode": "observe" | "operate", "operations": ["zpool_replace"], "pools": ["*" or guids]},
"break_glass": false where an order never runs without another person's approval, and "scrub_hours": ["Mon-Fri 22:00-06:00"] where a scrub
may begin or go on in these hours alone, in the node's own time.
A missing file means observe; so does one that cannot be read, that anyone other than root or the agent's own user
can write, or that says anything not understood.
"""

from __future__ import annotations

import json
import os
import stat
import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Optional

from agents.domain import hours

DEFAULT_PATH = "/etc/slotlight/policy.json"
BYTES_MAX = 64 * 1024
FIELDS = ("mode", "operations", "pools", "break_glass", "scrub_hours")
UTC_OFFSET_MAX = 24 * 60  # minutes, exclusive: what a time zone of Python takes
SCRUB = "zpool_scrub"  # the operation that the hours bind; a scrub can always be paused


@dataclass(frozen=True)
class Policy:
    """`why` says, for a person, where this policy comes from."""

    mode: str
    operations: tuple[str, ...] = ()
    pools: tuple[str, ...] = ()
    why: str = ""
    break_glass: bool = True
    path: str = ""  # of the file that says so; "" where the agent itself is held back, whatever its file says
    scrub_hours: tuple[str, ...] = ()  # none: at any time
    utc_offset_minutes: int = 0  # of the node's own time, in which these hours are; 0 where there are none

    def refusal(self, name: str, effect: str, params: Mapping[str, str]) -> str:
        """Why this operation may not run here, and which line of which file its owner would change; empty when it may. The portal asks here
        too, of the policy that the node reports."""
        if effect == "pure":
            return ""
        guid = params.get("pool_guid", "")
        if self.mode != "operate":
            line = f'sets "mode" to "operate", with "{name}" in "operations" and "{guid}" in "pools"'
            return f"This node only lets itself be observed: {self.why} {self._mend(line)}"
        if name not in self.operations:
            line = f'adds "{name}" to "operations"'
            return f"This node's policy does not list {name}: {self.why} {self._mend(line)}"
        if "*" not in self.pools and guid not in self.pools:
            line = f'adds "{guid}" to "pools"'
            return f"This node's policy does not list the pool {guid}: {self.why} {self._mend(line)}"
        return ""

    def outside_hours(self, name: str, at: Optional[float]) -> str:
        """Why this operation, which may run here, may not at this Unix time; empty when it may. Hours bind scrubs alone."""
        if name != SCRUB or not self.scrub_hours or (at is not None and self.may_scrub(at)):
            return ""
        listed = ", ".join(self.scrub_hours)
        when = self.scrubs_until(at) if at is not None else "What time it is there is not known."
        return f"This node's policy allows scrubs at {listed} alone. {when} Wait, or have its owner change scrub_hours in {self.path}."

    def scrubs_until(self, at: float) -> str:
        """Until when scrubs may run, in the node's time, or from when; empty where they may run all week."""
        if not self.scrub_hours:
            return ""
        spans, minute = hours.spans_of(self.scrub_hours), hours.minute_of_week(at, self.utc_offset_minutes)
        wait = hours.next_change(spans, minute)
        change = hours.words(at + 60 * wait, self.utc_offset_minutes)
        if wait == hours.WEEK:
            return ""
        if hours.is_open(spans, minute):
            return f"The hours for scrubs last until {change}."
        return f"The hours for scrubs begin on {change}."

    def may_scrub(self, at: float) -> bool:
        """Whether this Unix time lies in the hours for scrubs."""
        return not self.scrub_hours or hours.is_open(hours.spans_of(self.scrub_hours), hours.minute_of_week(at, self.utc_offset_minutes))

    def as_text(self) -> str:
        """In one line, as the agent reports it. Without hours it is what a portal of an older release reads."""
        left_out = () if self.scrub_hours else ("scrub_hours", "utc_offset_minutes")
        return json.dumps({name: value for name, value in asdict(self).items() if name not in left_out}, sort_keys=True)

    def _mend(self, line: str) -> str:
        if not self.path:
            return "`slotlight-agent doctor` on the node says what to mend."
        return f"Who owns the node {line} in {self.path} there, or gives the command by hand; `slotlight-agent policy` says how it is read."


def reported(line: str) -> Policy | None:
    """What `Policy.as_text` gave; None where it is no such line."""
    try:
        value = json.loads(line)
        lists = {
            "operations": tuple(value["operations"]),
            "pools": tuple(value["pools"]),
            "scrub_hours": tuple(value.get("scrub_hours", ())),
        }
        found = Policy(**{**value, **lists})
        hours.spans_of(found.scrub_hours)
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return None
    texts = (found.mode, found.why, found.path, *found.operations, *found.pools)
    offset_is_sound = type(found.utc_offset_minutes) is int and abs(found.utc_offset_minutes) < UTC_OFFSET_MAX
    return found if all(isinstance(text, str) for text in texts) and isinstance(found.break_glass, bool) and offset_is_sound else None


def load(path: str) -> Policy:
    """The policy as it stands now; it is read again for every order, so an edit counts at once."""
    return replace(_load(path), path=path)


def _load(path: str) -> Policy:
    try:
        with open(path, "rb") as file:
            status = os.fstat(file.fileno())
            text = file.read(BYTES_MAX + 1)
    except FileNotFoundError:
        return Policy("observe", why=f"there is no {path}.")
    except OSError as error:
        return Policy("observe", why=f"{path} cannot be read ({error.strerror}).")
    if status.st_uid not in (0, os.geteuid()) or stat.S_IMODE(status.st_mode) & 0o022:
        return Policy("observe", why=f"{path} can be written by others. Give it to root with mode 0644.")
    if len(text) > BYTES_MAX:  # its end was not read, and may say the contrary
        return Policy("observe", why=f"{path} is longer than {BYTES_MAX} bytes.")
    return _parse(path, text)


def _parse(path: str, text: bytes) -> Policy:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return Policy("observe", why=f"{path} is not JSON.")
    if not isinstance(value, dict) or set(value) - set(FIELDS):
        return Policy("observe", why=f"{path} may hold {', '.join(FIELDS[:-1])} and {FIELDS[-1]}, and nothing else.")
    if value.get("mode") not in ("observe", "operate"):
        return Policy("observe", why=f'mode in {path} is neither "observe" nor "operate".')
    lists = [value.get(name, []) for name in ("operations", "pools")]
    if not all(isinstance(items, list) and all(isinstance(item, str) for item in items) for items in lists):
        return Policy("observe", why=f"operations and pools in {path} must be lists of strings (guids in quotes).")
    if not isinstance(value.get("break_glass", True), bool):
        return Policy("observe", why=f"break_glass in {path} is neither true nor false.")
    try:
        times = _scrub_hours(value.get("scrub_hours", []))
    except ValueError as error:
        return Policy("observe", why=f"scrub_hours in {path} must be a list of texts like {hours.FORM}; {error.args[0]!r} is not.")
    rule = Policy(value["mode"], tuple(lists[0]), tuple(lists[1]), f"{path} says so.", value.get("break_glass", True))
    return replace(rule, scrub_hours=times, utc_offset_minutes=_utc_offset_minutes() if times else 0)


def _scrub_hours(value: object) -> tuple[str, ...]:
    """Raises ValueError, with what is not understood."""
    if not isinstance(value, list):
        raise ValueError(value)
    for line in value:
        if not isinstance(line, str):
            raise ValueError(line)
    hours.spans_of(value)
    return tuple(value)


def _utc_offset_minutes() -> int:
    """Of this node's own time as it stands now; it changes with summer time."""
    return time.localtime().tm_gmtoff // 60
