"""The node's own word on whether an operation is ordered on its release of OpenZFS: the table is `agents/zfs_releases.py`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Tuple

from agents.operations.base import UNKNOWN
from agents.zfs_releases import BY_HAND_ONLY, BY_MODULE, State, ruling

Verdicts = Tuple[Tuple[str, str], ...]  # of (outcome, reason)
FACTS = ("zfs.userland", "zfs.module")


def verdicts(name: str, pre: Mapping[str, str], pool: Mapping[str, State] | None = None) -> Verdicts:
    """Of what was read before. A version that was not read is among the facts that are not known, and said there."""
    module = pre.get("zfs.module", UNKNOWN)
    tools = module if name in BY_MODULE else pre.get("zfs.userland", UNKNOWN)
    if module.startswith(UNKNOWN) or tools.startswith(UNKNOWN):
        return ()
    rulings = ruling(name, tools, module, pool)
    return ((BY_HAND_ONLY if rulings.by_hand else rulings.outcome, rulings.reason),)


def state(pre: Mapping[str, str], fact: str, holds: str, else_: str) -> State:
    """Whether a condition of the table holds, by a fact that says one of two words."""
    value = pre.get(fact, f"{UNKNOWN}it was not read")
    return value == holds if value in (holds, else_) else value[len(UNKNOWN) :] if value.startswith(UNKNOWN) else f"{fact} is {value!r}"
