"""Whether a disk is awake, asked in a way that does not wake it.

`smartctl -n standby` looks at the power condition before it does anything else, and stops there when the disk sleeps. Tools that
have no such check (sg_logs, sdparm) are only used on a disk that was just seen awake: by asking now, or because the host remembers
that it answered SMART a moment ago.
"""

from __future__ import annotations

import re

from agents.collectors.base import ASLEEP, Capture, ask
from agents.host.host import Host

TIMEOUT_SECONDS = 15
SLEEPS = re.compile(r"Device is in (?:STANDBY|SLEEP|IDLE)")
EXITS = tuple(code for code in range(256) if not code & 3)


def not_awake(host: Host, source: str, disk: str) -> Capture | None:
    """None when the disk is awake; else the capture that says why it was left alone."""
    remembers = getattr(host, "seen_awake", None)
    if remembers is not None and remembers(disk):
        return None
    asked = ask(host, source, ("smartctl", "-i", "-n", "standby", f"/dev/{disk}"), TIMEOUT_SECONDS, key=disk, data_exits=EXITS)
    if asked.outcome == "data":
        return None
    if asked.exit_code == 2 and SLEEPS.search(asked.text):
        return Capture(source, disk, "nothing", "", f"{disk} {ASLEEP}")
    if asked.outcome == "nothing":
        return Capture(source, disk, "nothing", "", f"smartctl is not installed, and without it whether {disk} sleeps is not known")
    return Capture(
        source, disk, "failed", asked.text, f"{disk} does not say whether it sleeps: {asked.reason}", asked.exit_code, asked.stderr
    )
