"""From which uberblock the last import of each pool took it, as ZFS's own log tells. Nothing else says it."""

from __future__ import annotations

import re
from collections.abc import Mapping

from workflows.facts.model import Known, known
from workflows.facts.sources import Sources

_TOOK = re.compile(r"spa_load\(([^,()]+), config \w+\): using uberblock with txg=([0-9]{1,20})")


def read_loads(sources: Sources) -> Known[Mapping[str, int]]:
    """Pool name -> txg. A pool that is missing here was imported longer ago than the log reaches."""
    said = sources.read("dbgmsg")
    if not known(said):
        return said
    found = (_TOOK.search(message.text) for message in said)
    return {match.group(1): int(match.group(2)) for match in found if match}
