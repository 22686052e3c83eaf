"""Let the real agent run on a twin: the same enrolment, loop, journal and policy as on a storage node.

Everything of one node stands in one folder: `state.json`, `commands.log`, `policy.json`, and `agent/` with its key and journal.
"""

from __future__ import annotations

import logging
import os
import signal
import threading
import time
from pathlib import Path

from agents.__main__ import work
from agents.portal.transport import PortalDown
from agents.service.agent import Agent, Busy
from agents.trust.identity import FILE, NoIdentity, enrol_node, move_to
from twin.demo import policy_path, state_path
from twin.host import TwinHost

ENROL_TRIES = 30
ENROL_PAUSE_SECONDS = 1.0
LAST_REPORT_SECONDS = 30.0  # a node that is to be without power reports for so long, and then no more
ENDS = (NoIdentity, Busy, PortalDown, ValueError, OSError)  # what is said to a person instead of a trace
log = logging.getLogger("slotlight.twin")


def play(folder: os.PathLike[str], node: str, portal: str, token_file: str) -> None:
    """Enrol if this node never did, and work until SIGTERM, or until its power goes where it is to be dead. Raises what the agent raises."""
    path = state_path(folder, node)
    host, home = TwinHost(path), str(path.with_name("agent"))
    if (Path(home) / FILE).exists():
        move_to(home, portal)  # the demo may start on another port than last time
    else:
        _enrol(host, home, portal, node, token_file)
    agent, lost = Agent(host, home, str(policy_path(folder, node))), threading.Event()
    if host.view().node.off_since:
        _lose_power(agent, lost)
    work(agent)
    if lost.is_set():
        signal.pause()  # it is without power; whoever ends the demo ends this process with the others


def _lose_power(agent: Agent, lost: threading.Event) -> None:
    """A node that is to be dead reports for a little while, so that the portal knows it, and then no more."""

    def off() -> None:
        lost.set()
        agent.stop()

    timer = threading.Timer(LAST_REPORT_SECONDS, off)
    timer.daemon = True
    timer.start()


def _enrol(host: TwinHost, home: str, portal: str, node: str, token_file: str) -> None:
    """The demo's portal and its nodes start together, so the portal may still be on its way."""
    for left in reversed(range(ENROL_TRIES)):
        try:
            identity = enrol_node(host, home, portal, node, Path(token_file).read_text(encoding="ascii").strip())
        except PortalDown as down:
            if not left:
                raise
            log.info("%s Trying again.", down)
            time.sleep(ENROL_PAUSE_SECONDS)
        else:
            log.info("%s is enrolled with key %s", node, identity.key_id)
            return
