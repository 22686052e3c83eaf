"""Devices that two rows of one node call in service. One device holds one member, so what either vdev survives is not known then."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace

from workflows.facts.model import PoolFacts
from workflows.facts.unknown import Known, derived, need

IN_SERVICE = ("ONLINE", "DEGRADED")
HIDDEN = re.compile(r"[\[\]<>*?#]|[xX]{4}|(?:^|[_-])[xX]{2,3}(?![0-9A-Za-z])|0{12}|\.{3}")  # what people put where the serial number was
DISTRIBUTED = re.compile(r"draid[1-3]-[0-9]+-[0-9]+")  # a spare that is space on all disks of a dRAID


@derived
def with_used_twice(listed: Known[tuple[PoolFacts, ...]]) -> Known[tuple[PoolFacts, ...]]:
    """By name: in one moment no two devices of a node have one. Of a spare every pool has another guid."""
    pools = need(listed)
    named = Counter(
        leaf.name
        for pool in pools
        for _, top in pool.tops_read
        for leaf in top.leaves()
        if leaf.state in IN_SERVICE and not DISTRIBUTED.fullmatch(leaf.name) and not HIDDEN.search(leaf.name)
    )
    twice = frozenset(name for name, times in named.items() if times > 1)
    return tuple(replace(pool, used_twice=twice) for pool in pools) if twice else pools
