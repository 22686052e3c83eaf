"""The tools and the kernel module of ZFS are of different releases, or of one that our runbooks were never tried with.

Mostly somebody upgraded the packages and has not rebooted: the old module still runs, and the new tools speak to it.
"""

from __future__ import annotations

from collections.abc import Iterator

from workflows.core import Evidence, Situation
from workflows.facts import FleetFacts, NodeFacts, known
from workflows.facts.versions import TESTED_RELEASES, is_tested, release

SLUG = "version-mismatch"
MANUALS: tuple[str, ...] = ()


def detect(fleet: FleetFacts) -> tuple[Situation, ...]:
    return tuple(found for node in fleet.nodes.values() for found in _of(node))


def _of(node: NodeFacts) -> Iterator[Situation]:
    userland, module = release(node.zfs_userland), release(node.zfs_module)
    if not known(module):
        return
    if known(userland) and userland != module:
        yield _situation(
            node,
            "watch",
            f"{node.node}: the ZFS tools are {userland}, the kernel module is {module}",
            f"The ZFS tools of {node.node} are of release {userland} and speak to the kernel module {module}. They may print, or ask for, "
            "what the other does not know, so no runbook runs there. After an upgrade of the packages this lasts until the new module is "
            "loaded, which takes a reboot, or exporting every pool first.",
        )
    elif not is_tested(module):
        yield _situation(
            node,
            "info",
            f"{node.node} runs OpenZFS {module}, which no runbook was tried with",
            f"The runbooks were tried with OpenZFS {' and '.join(TESTED_RELEASES)}. What commands do and print differs by release, so on "
            f"{node.node} they refuse and the work is done by hand. Looking is not affected.",
        )


def _situation(node: NodeFacts, severity: str, title: str, meaning: str) -> Situation:
    digest = node.digests.get("node", "")
    said = (("tools", node.zfs_userland), ("kernel module", node.zfs_module))
    lines = tuple(Evidence(node.node, "node", digest, f"{what}: {value}") for what, value in said if known(value))
    subject = {"node": node.node} | {what: value for what, value in said if known(value)}
    return Situation(SLUG, f"{SLUG}:{node.node}", node.node, severity, title, meaning, lines, subject=subject)  # type: ignore[arg-type]
