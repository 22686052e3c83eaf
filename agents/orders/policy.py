"""What the owner of this node lets the portal do. The portal can never write it.

`/etc/slotlight/policy.json`: {"mode": "observe" | "operate", "operations": ["zpool_replace"], "pools": ["*" or guids]}, and
"break_glass": false where an order never runs without another person's approval.
A missing file means observe; so does one that cannot be read, that anyone other than root or the agent's own user
can write, or that says anything not understood.
"""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace

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
    path: str = ""  # of the file that says so; "" where the agent itself is held back, whatever its file says

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

    def as_text(self) -> str:
        """In one line, as the agent reports it."""
        return json.dumps(asdict(self), sort_keys=True)

    def _mend(self, line: str) -> str:
        if not self.path:
            return "`slotlight-agent doctor` on the node says what to mend."
        return f"Who owns the node {line} in {self.path} there, or gives the command by hand; `slotlight-agent policy` says how it is read."


def reported(line: str) -> Policy | None:
    """What `Policy.as_text` gave; None where it is no such line."""
    try:
        value = json.loads(line)
        found = Policy(**{**value, "operations": tuple(value["operations"]), "pools": tuple(value["pools"])})
    except (ValueError, TypeError, KeyError, RecursionError):
        return None
    texts = (found.mode, found.why, found.path, *found.operations, *found.pools)
    return found if all(isinstance(text, str) for text in texts) and isinstance(found.break_glass, bool) else None


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
