"""What the owner of this node lets the portal do. The portal can never write it.

`/etc/slotlight/policy.json`: {"mode": "observe" | "operate", "operations": ["zpool_replace"], "pools": ["*" or guids]}, and
"break_glass": false where an order never runs without another person's approval.
A missing file means observe; so does one that cannot be read, that somebody other than root or the agent's own user
can write, or that says anything not understood.
"""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Mapping
from dataclasses import dataclass

DEFAULT_PATH = "/etc/slotlight/policy.json"
BYTES_MAX = 64 * 1024


@dataclass(frozen=True)
class Policy:
    """`why` says, for a person, where this policy comes from."""

    mode: str
    operations: tuple[str, ...] = ()
    pools: tuple[str, ...] = ()
    why: str = ""
    break_glass: bool = True

    def refusal(self, name: str, effect: str, params: Mapping[str, str]) -> str:
        """Why this operation may not run here; empty when it may."""
        if effect == "pure":
            return ""
        if self.mode != "operate":
            return f"This node only lets itself be observed: {self.why}"
        if name not in self.operations:
            return f"This node's policy does not list {name}: {self.why}"
        if "*" not in self.pools and params.get("pool_guid") not in self.pools:
            return f"This node's policy does not list the pool {params.get('pool_guid')}: {self.why}"
        return ""


def load(path: str) -> Policy:
    """The policy as it stands now; it is read again for every order, so an edit counts at once."""
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
    if not isinstance(value, dict) or set(value) - {"mode", "operations", "pools", "break_glass"}:
        return Policy("observe", why=f"{path} may hold mode, operations, pools and break_glass, and nothing else.")
    if value.get("mode") not in ("observe", "operate"):
        return Policy("observe", why=f'mode in {path} is neither "observe" nor "operate".')
    lists = [value.get(name, []) for name in ("operations", "pools")]
    if not all(isinstance(items, list) and all(isinstance(item, str) for item in items) for items in lists):
        return Policy("observe", why=f"operations and pools in {path} must be lists of strings (guids in quotes).")
    if not isinstance(value.get("break_glass", True), bool):
        return Policy("observe", why=f"break_glass in {path} is neither true nor false.")
    return Policy(value["mode"], tuple(lists[0]), tuple(lists[1]), f"{path} says so.", value.get("break_glass", True))
