"""How the agent on this node is, for whoever stands at its console."""

from __future__ import annotations

import fcntl
import os

from agents import VERSION, identity, policy, pulse
from agents.journal import Journal

LATE_SECONDS = 60.0  # four heartbeats


def report_status(folder: str, policy_path: str, now: float) -> tuple[list[str], bool]:
    """The lines to print, and whether all is well. Raises NoIdentity and JournalError."""
    who, rule, said = identity.load(folder), policy.load(policy_path), pulse.read(folder)
    running = is_running(folder)
    fresh = said is not None and now - said.taken_at <= LATE_SECONDS and not said.trouble
    lines = [
        f"node     {who.node}, key {who.key_id}",
        f"portal   {who.portal}",
        f"agent    version {VERSION}, {'running' if running else 'not running'}",
        f"policy   {rule.mode}: {rule.why}",
        f"reports  {_reports(said, now)}",
    ]
    if said is not None and said.failing:
        lines.append(f"unread   {', '.join(said.failing)}")
    lines.append(f"orders   {_orders(folder)}")
    return lines, running and fresh


def is_running(folder: str) -> bool:
    """Whether an agent holds this folder."""
    try:
        with open(os.path.join(folder, "agent.lock"), "rb") as file:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
            return False
    except FileNotFoundError:
        return False
    except BlockingIOError:
        return True


def _reports(said: pulse.Pulse | None, now: float) -> str:
    if said is None:
        return "none yet"
    last = f"the portal took one {now - said.taken_at:.0f} s ago" if said.taken_at else "the portal never took one"
    kept = f"; {said.kept} wait on disk" if said.kept else ""
    return f"{last}{kept}" + (f"; the last try failed: {said.trouble}" if said.trouble else "")


def _orders(folder: str) -> str:
    path = os.path.join(folder, "journal.sqlite")
    if not os.path.exists(path):
        return "none ever"
    journal = Journal(path)
    try:
        open_orders = journal.pending()
    finally:
        journal.close()
    phases = ", ".join(f"{entry.order_id} {entry.phase}" for entry in open_orders)
    return f"{len(open_orders)} not finished or not acknowledged: {phases}" if open_orders else "none open"
