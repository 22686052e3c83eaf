"""How this node reaches the portal: by which certificates, through which relay, and whether it does."""

from __future__ import annotations

import os
import ssl
import time
from collections.abc import Callable
from http.client import HTTPException
from typing import Optional

from agents.host import paths
from agents.portal import last_contact
from agents.portal.transport import connector

PROBE_SECONDS = 30.0
RELAY_SECONDS = 90.0  # for it to listen, after systemd has started it; on an emulated node short of CPU that took more than 30
FIRST_REPORT_SECONDS = 300.0  # a node of many disks, or one with a slow CPU, asks each of them first


class Unreachable(Exception):
    """The portal does not answer this node. The message says why."""


def keep_ca(ca_file: str, root: str = "/") -> str:
    """Keep the site's certificates where the relay can read them, which runs as the user `nobody` and may be started anywhere; where they are then.

    Raises ValueError for a file that holds none.
    """
    if not ca_file:
        return ""
    try:
        ssl.create_default_context(cafile=ca_file)
        with open(ca_file, "rb") as file:
            data = file.read()
    except OSError as error:  # ssl.SSLError is one too
        raise ValueError(f"{ca_file} holds no certificates that can be read: {error.strerror or error}.") from error
    target = os.path.join(root, paths.CA.lstrip("/"))
    os.makedirs(os.path.dirname(target), exist_ok=True)
    os.chmod(os.path.dirname(target), 0o755)  # whatever the umask: nothing in it is secret
    with open(f"{target}.new", "wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
    os.chmod(f"{target}.new", 0o644)
    os.replace(f"{target}.new", target)
    return target


def relay(root: str = "/", seconds: float = 0.0) -> str:
    """The relay's socket if one is there, or comes within so many seconds; else ""."""
    path, until = os.path.join(root, paths.RELAY_SOCKET.lstrip("/")), time.monotonic() + seconds
    while not os.path.exists(path):
        if time.monotonic() >= until:
            return ""
        time.sleep(0.1)
    return path


def probe(portal: str, ca_file: str, through: str) -> Optional[str]:
    """The portal's clock, as its Date header says it, if it has one. Asked as the agent will ask. Raises Unreachable and ValueError."""
    connection = connector(portal, ca_file, through)(PROBE_SECONDS)
    try:
        connection.request("GET", "/healthz")
        return connection.getresponse().getheader("Date")
    except (OSError, HTTPException) as error:
        how = "through the relay" if through else "directly"
        raise Unreachable(f"{portal} does not answer {how}: {error or type(error).__name__}.") from error
    finally:
        connection.close()


def first_report(folder: str, since: float, now: Callable[[], float]) -> str:
    """Wait until the portal has taken a report; "" then, else why it has not."""
    until, contact = time.monotonic() + FIRST_REPORT_SECONDS, None
    while time.monotonic() < until:
        contact = last_contact.read(folder)
        if contact is not None and contact.taken_at >= since:
            return ""
        time.sleep(0.2)
    return contact.trouble if contact is not None and contact.trouble else f"nothing was reported within {FIRST_REPORT_SECONDS:.0f} s"
