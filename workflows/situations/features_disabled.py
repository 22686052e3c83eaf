"""The pool does not use every feature of this release, or its compatibility list does not fit: to know, and nothing is wrong.

Said only where `status:` says so. `zpool upgrade` cannot be taken back, and a boot loader or another host may not know the new features.
"""

from workflows.engine.core import Cure, Situation
from workflows.facts import FleetFacts, NodeFacts, PoolFacts, StatusReason, reason_of
from workflows.situations import _pools
from workflows.situations._pools import Wording, cure

SLUG = "features-disabled"
MANUALS: tuple[str, ...] = ()

TITLES = {
    "VERSION_OLDER": "it has an older format",
    "FEAT_DISABLED": "some features are not enabled",
    "COMPATIBILITY_ERR": "its compatibility list cannot be read",
    "INCOMPATIBLE_FEAT": "features are enabled that its compatibility list leaves out",
}
_STAYS = "The pool works as it is, and nothing gets worse if it stays so."
MEANINGS = {
    "VERSION_OLDER": f"It has a format from before feature flags. {_STAYS}",
    "FEAT_DISABLED": f"This release of ZFS has features that the pool does not use; that is so after each upgrade of ZFS. {_STAYS}",
    "COMPATIBILITY_ERR": "The file that its property `compatibility` names is missing or cannot be read, so an upgrade would not know what to leave out. "
    "The pool works as it is.",
    "INCOMPATIBLE_FEAT": "Its property `compatibility` leaves features out that are enabled all the same. Here it works; a system that knows only that list may "
    "not import it.",
}


def detect(fleet: FleetFacts) -> tuple[Situation, ...]:
    return tuple(
        _situation(node, pool, reason)
        for node, pool in _pools.pools(fleet)
        if pool.status and (reason := reason_of(pool.status, pool.see)) is not None and reason.neutral
    )


def _situation(node: NodeFacts, pool: PoolFacts, reason: StatusReason) -> Situation:
    wording = Wording(
        "info",
        f"{pool.name}: {TITLES[reason.name]}",
        f"{pool.name} on {node.node}: {MEANINGS[reason.name]}",
        (_pools.line(node, "status", pool.status),),
        _cures(pool, reason),
    )
    return _pools.situation(SLUG, node, pool, wording, subject={"reason": reason.name})


def _cures(pool: PoolFacts, reason: StatusReason) -> tuple[Cure, ...]:
    if reason.name in ("VERSION_OLDER", "FEAT_DISABLED"):
        return (
            cure("wait", "Leave it, as long as an older release may have to import it."),
            cure(
                "upgrade",
                "Enable them when no older system, rescue disk or boot loader has to read this pool any more.",
                ("zpool", "upgrade", pool.name),
                needs="Every system that may import it, and its boot loader, has this release. It cannot be taken back.",
            ),
        )
    return (cure("look", "See what it names, and correct that.", ("zpool", "get", "compatibility", pool.name), releases="2.1 and newer"),)
