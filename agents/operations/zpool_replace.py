"""Replace an absent pool member by a blank disk: `zpool replace POOL VDEV_GUID /dev/disk/by-id/wwn-0x…`.

The old member is named by its guid and the new disk by its WWID; neither can slide onto another disk when names move.
Never with `-f`: what `zpool` itself refuses stays refused.
"""

from __future__ import annotations

from collections.abc import Mapping

from agents.host import Host
from agents.operations.base import Probe, check_guid, check_names, check_pool

NAME = "zpool_replace"
EFFECT = "at_most_once"
DESTRUCTIVE = True
PARAMS = ("pool", "pool_guid", "vdev_guid", "wwid")
TIMEOUT_SECONDS = 600.0  # labelling and partitioning a sick disk can take minutes; the resilver itself is not waited for


def check(params: Mapping[str, str]) -> str:
    from agents.wwid import by_id_path, normalise

    bad = check_names(params, PARAMS) or check_pool(params["pool"])
    bad = bad or check_guid("pool_guid", params["pool_guid"]) or check_guid("vdev_guid", params["vdev_guid"])
    if bad:
        return bad
    if normalise(params["wwid"]) != params["wwid"] or by_id_path(params["wwid"]) is None:
        return f"{params['wwid']!r} is no WWID a disk can be named by (naa:…)."
    return ""


def argv(params: Mapping[str, str]) -> tuple[str, ...]:
    from agents.wwid import by_id_path

    return ("zpool", "replace", params["pool"], params["vdev_guid"], str(by_id_path(params["wwid"])))


def preconditions(host: Host, params: Mapping[str, str]) -> dict[str, str]:
    """Facts that must be exactly equal when the order runs; a value is "unknown: why" when it cannot be read."""
    raise NotImplementedError


def guards(pre: Mapping[str, str], params: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    """What the node itself asks of those facts: (outcome, reason) each."""
    raise NotImplementedError


def describe(host: Host, params: Mapping[str, str]) -> dict[str, object]:
    """The plan's `outgoing`, `incoming`, `topology_before` and `topology_after`."""
    raise NotImplementedError


def probe(host: Host, params: Mapping[str, str], pre: Mapping[str, str]) -> Probe:
    """Whether this replace took place, from the pool's tree and the disk's label."""
    raise NotImplementedError
