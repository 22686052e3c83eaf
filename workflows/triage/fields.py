"""The words that part a pool's text into its fields and its tree, as `zpool status` and `zpool import` print them."""

from __future__ import annotations

import re

FIELDS = (
    ("pool", "id", "state", "status", "action", "comment", "see", "scan", "scrub", "remove", "checkpoint", "expand", "raidz expand", "condense", "config", "errors", "dedup")
)  # fmt: skip
KEY = re.compile(rf" {{0,8}}({'|'.join(FIELDS)}):(?: |$)")
ODD_KEY = re.compile(r" {0,7}[a-z][a-z_-]{2,20}:(?: |$)")  # a field of a release that is not written yet
HEADINGS = frozenset(("logs", "cache", "spares", "special", "dedup"))
STATE = r"(?:ONLINE|DEGRADED|OFFLINE|REMOVED|FAULTED|UNAVAIL|SPLIT|AVAIL|INUSE|SUSPENDED)"
ROW = re.compile(rf"\s*(\S+)\s+({STATE})(?=\s|$)")  # a row of a tree, by its first two words
HEADER = re.compile(r"\s*NAME\s+STATE(?=\s|$)")
HEADING = re.compile(rf"\s*(?:{'|'.join(sorted(HEADINGS))})\s*\Z")
