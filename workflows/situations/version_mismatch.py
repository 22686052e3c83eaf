"""The tools and the kernel module of ZFS are of different releases, or of one on which not everything is ordered from here.

Mostly the packages were upgraded without a reboot: the old module still runs, and the new tools call it.
"""

from collections.abc import Iterator

from agents.zfs_releases import TRIED, is_read, not_ordered, read, tried
from workflows.engine.core import Cure, Evidence, Severity, Situation
from workflows.facts import FleetFacts, NodeFacts, known, release, release_numbers

SLUG = "version-mismatch"
MANUALS: tuple[str, ...] = ()
HALF = 10  # operations: more than so many are all that change a pool


def detect(fleet: FleetFacts) -> tuple[Situation, ...]:
    return tuple(found for node in fleet.nodes.values() for found in _of(node))


def _of(node: NodeFacts) -> Iterator[Situation]:
    userland, module = release(node.zfs_userland), release(node.zfs_module)
    if not known(module):
        return
    if known(userland) and userland != module:
        yield _mixed(node, userland, module)
    elif not _is_tried(node):
        yield _not_tried(node, module)


def _mixed(node: NodeFacts, userland: str, module: str) -> Situation:
    """Patch levels of one minor serve together, but for what the table of releases knows to differ between them."""
    refused = [name for name in not_ordered(userland, module) if name not in not_ordered(module, module)]
    what = "no runbook changes a pool there" if len(refused) > HALF else f"what differs between them is refused: {', '.join(refused)}"
    return _situation(
        node,
        "watch",
        f"{node.node}: the ZFS tools are {userland}, the kernel module is {module}",
        f"The ZFS tools of {node.node} are of release {userland} and call the kernel module {module}. "
        + (
            f"They may print, or ask for, what the other does not know, so {what}. "
            if refused
            else "No order differs between these two, so all are given. "
        )
        + "After an upgrade of the packages this lasts until the new module is loaded, which takes a reboot, or exporting every pool first.",
        _reload(node, module),
    )


def _reload(node: NodeFacts, module: str) -> tuple[Cure, ...]:
    return (
        Cure(
            "other",
            f"Have {node.node} load the new module in a planned stop: reboot it, or export every pool, unload and load the module. The pools serve until then, "
            "and what the runbooks refuse meanwhile waits for it.",
            needs="No resilver runs, the initramfs has the new module, and no pool was upgraded to features that the old one lacks.",
        ),
        Cure(
            "look",
            f"Afterwards see that both say the same release, and no more {module}.",
            (("zpool", "version"),),
            releases="0.8 and newer",
        ),
    )


def _nothing(node: NodeFacts) -> tuple[Cure, ...]:
    return (
        Cure(
            "wait",
            f"Nothing is to be done: {node.node} serves with this release. docs/releases.md says which commands are ordered on it and which a person gives by hand.",
        ),
    )


def _is_tried(node: NodeFacts) -> bool:
    numbers = release_numbers(node.zfs_module)
    return known(numbers) and numbers[:2] in TRIED and is_read(numbers)


def _not_tried(node: NodeFacts, module: str) -> Situation:
    numbers, refused = release_numbers(node.zfs_module), not_ordered(module, module)
    if not (known(numbers) and is_read(numbers)):
        what = f"This release was not read ({read()} were), so on {node.node} a person gives the commands; a rehearsal shows them."
    else:
        named = "whatever changes a pool" if len(refused) > HALF else ", ".join(refused)
        what = f"Of OpenZFS {module} only the source was read. Not ordered on {node.node}: {named}. The refusal says why, and what to do."
    return _situation(
        node,
        "info",
        f"{node.node} runs OpenZFS {module}, which no runbook was tried with",
        f"The runbooks were tried with OpenZFS {tried()}. What commands do and print differs by release. {what} Looking is not affected.",
        _nothing(node),
    )


def _situation(node: NodeFacts, severity: Severity, title: str, meaning: str, cures: tuple[Cure, ...]) -> Situation:
    digest = node.digests.get("node", "")
    versions = (("tools", node.zfs_userland), ("kernel module", node.zfs_module))
    lines = tuple(Evidence(node.node, "node", digest, f"{what}: {value}") for what, value in versions if known(value))
    subject = {"node": node.node} | {what: value for what, value in versions if known(value)}
    return Situation(SLUG, f"{SLUG}:{node.node}", node.node, severity, title, meaning, lines, subject=subject, cures=cures)
