"""Let the real agent run on a twin: the same enrolment, loop, journal and policy as on a storage node.

Everything of one node stands in one folder: `state.json`, `commands.log`, `policy.json`, and `agent/` with its key and journal.
"""

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
POWER_PAUSE_SECONDS = 1.0  # between two looks whether its power returned
ENDS = (NoIdentity, Busy, PortalDown, ValueError, OSError)  # what is said to a person instead of a trace
log = logging.getLogger("slotlight.twin")


def play(folder: os.PathLike[str], node: str, portal: str, token_file: str) -> None:
    """Enrol if this node never did, and work until SIGTERM; one that is to be dead loses its power first. Raises what the agent raises."""
    path = state_path(folder, node)
    host, home = TwinHost(path), str(path.with_name("agent"))
    if (Path(home) / FILE).exists():
        move_to(home, portal)  # the demo may start on another port than last time
    else:
        _enrol(host, home, portal, node, token_file)
    policy = str(policy_path(folder, node))
    if not host.view().node.off_since or (_loses_power(Agent(host, home, policy)) and _gets_power_again(host)):
        work(Agent(host, home, policy))


def _loses_power(agent: Agent) -> bool:
    """A node that is to be dead reports for a little while, so that it is in the portal, and then no more. False when the demo ended first."""
    lost = threading.Event()

    def off() -> None:
        lost.set()
        agent.stop()

    timer = threading.Timer(LAST_REPORT_SECONDS, off)
    timer.daemon = True
    timer.start()
    work(agent)
    return lost.is_set()


def _gets_power_again(host: TwinHost) -> bool:
    """It reports nothing until `./run rack NODE power-on`. False when the demo ended first."""
    ended = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: ended.set())
    while host.view().node.off_since:
        if ended.wait(POWER_PAUSE_SECONDS):
            return False
    return True


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
