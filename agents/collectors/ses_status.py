"""How each part of each enclosure is, by `sg_ses --page=es`: fans, power supplies, temperatures, electronics, bays.

A page of its own beside `ses`: its sensors move all the time, and the map of the bays stays the same for months.
"""

from __future__ import annotations

import re

from agents.collectors import _disks, ses
from agents.collectors.base import Capture, Unparsed, ask
from agents.collectors.ses import SesEnclosure
from agents.host.host import Host

NAME = "ses_status"
EVERY_SECONDS = 900  # tens of kilobytes for a full shelf, of which some sensor always moves
TIMEOUT_SECONDS = 30
_READING = re.compile(r"(?:Temperature=-?[0-9]+ C|Actual speed=[0-9]+ rpm, Fan at [a-z ]+|Voltage: [0-9.]+ volts|Current: [0-9.]+ amps)")


keys = ses.keys


def collect_one(host: Host, key: str) -> Capture:
    return ask(host, NAME, ("sg_ses", "--page=es", f"/dev/{key}"), TIMEOUT_SECONDS, key=key)


collect = _disks.every(collect_one, keys)


def lasting(text: str) -> str:
    """The text without what its sensors read at the moment. Their status, and a fan that stopped, stay."""
    return _READING.sub("", text)


def parse(text: str) -> SesEnclosure | Unparsed:
    """The enclosure with its parts. Never raises; a page that lists no part is refused."""
    pages = ses.parse(text)
    if isinstance(pages, Unparsed) or pages.elements:
        return pages
    return Unparsed("no status of any part is in it", text[:80])
