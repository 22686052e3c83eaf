"""How the agent on this node is, for whoever stands at its console."""

from __future__ import annotations

import fcntl
import os

from agents import VERSION
from agents.host.host import LocalHost
from agents.orders import policy
from agents.orders.journal import FILE as JOURNAL
from agents.orders.journal import Journal
from agents.orders.write_permission import holds
from agents.portal import last_contact
from agents.trust import identity

LATE_SECONDS = 60.0  # four heartbeats


def report_status(folder: str, policy_path: str, now: float) -> tuple[list[str], bool]:
    """The lines to print, and whether all is well. Raises NoIdentity and JournalError."""
    who, rule, contact = identity.load(folder), policy.load(policy_path), last_contact.read(folder)
    running = is_running(folder)
    fresh = contact is not None and now - contact.taken_at <= LATE_SECONDS and not contact.trouble
    held, opened = _held(folder, who)
    lines = [
        f"node     {who.node}, key {who.key_id}",
        f"portal   {who.portal}",
        f"agent    version {VERSION}, {'running' if running else 'not running'}",
        f"policy   {rule.mode}: {rule.why}",
        *(f"HELD     {reason}" for reason in held),
        f"checks   {_keys(who)}",
        f"reports  {_reports(contact, now)}",
    ]
    if contact is not None and contact.failing:
        lines.append(f"unread   {', '.join(contact.failing)}")
    lines.append(f"orders   {opened}")
    return lines, running and fresh and not held


def _held(folder: str, who: identity.Identity) -> tuple[tuple[str, ...], str]:
    """Why this agent changes nothing whatever its policy says, and the orders that are open."""
    path = os.path.join(folder, JOURNAL)
    journal = Journal(path if os.path.exists(path) else ":memory:", anyway=True)
    try:
        return holds(LocalHost(), who, journal, folder), journal.broken or _orders(journal)
    finally:
        journal.close()


def _keys(who: identity.Identity) -> str:
    return f"orders by the portal's key {who.portal_key_id}, its ledger {who.origin}" if who.can_check else "no portal's key is known"


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


def _reports(contact: last_contact.Pulse | None, now: float) -> str:
    if contact is None:
        return "none yet"
    last = f"the portal took one {now - contact.taken_at:.0f} s ago" if contact.taken_at else "the portal never took one"
    kept = f"; {contact.kept} wait on disk" if contact.kept else ""
    return f"{last}{kept}" + (f"; the last try failed: {contact.trouble}" if contact.trouble else "")


def _orders(journal: Journal) -> str:
    open_orders = journal.pending()
    phases = ", ".join(f"{entry.order_id} {entry.phase}" for entry in open_orders)
    return f"{len(open_orders)} not finished or not acknowledged: {phases}" if open_orders else "none open"
