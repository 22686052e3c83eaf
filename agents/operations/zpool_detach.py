"""End a `replacing` or `spare` vdev by hand: `zpool detach POOL VDEV_GUID`. The label of the disk that goes is wiped.

Only inside a `replacing` or `spare`, never in a mirror, and only when the sibling that stays is named, ONLINE and filled. The
member is named by its guid, so that the new half is not taken for the old one.

It is destructive: what goes may be the disk that held the member's whole share until now, and its label is wiped, so that it comes back
only as a new disk that is filled from the start. Were the half that stays not whole, no copy would be left to go back to.

An expansion does not hold it back: a raidz with such a vdev in it is not expanded on until the vdev has ended
(vdev_raidz_expand_child_replacing in module/zfs/vdev_raidz.c, 2.3.0 and 2.4.0).
"""

from __future__ import annotations

from collections.abc import Mapping

from agents.host.host import Host
from agents.operations import _detach, _member, _released
from agents.operations.base import NONE, known

NAME = "zpool_detach"
EFFECT = "at_most_once"
DESTRUCTIVE = True
PARAMS, TIMEOUT_SECONDS = _detach.PARAMS, _detach.TIMEOUT_SECONDS
FACTS = (*_member.FACTS_OF_A_CHANGE, "pool.scan", "keeps.state", "keeps.name", "keeps.place", "keeps.filling", "keeps.missing")
PARENTS = tuple(f"{kind}, {place} child" for kind in _detach.KINDS for place in ("oldest", "newer"))
CLEAN = ("finished with 0 errors", NONE)

check, argv, probe, aftermath = _detach.check, _detach.argv, _detach.probe, _detach.aftermath


def preconditions(host: Host, params: Mapping[str, str]) -> dict[str, str]:
    return _facts(_member.survey(host, params))


def describe(host: Host, params: Mapping[str, str]) -> dict[str, object]:
    scene = _member.survey(host, params)
    return _detach.describe(scene, _facts(scene))


def guards(pre: Mapping[str, str], params: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    goes, stays = params["vdev_guid"], params["keeps_guid"]
    questions = (
        *_member.of_the_pool(params),
        *_member.its_vdev_serves(params),
        *_member.no_removal(params),
        ("pool.checkpoint", (NONE,), f"{params['pool']} has a checkpoint, and ZFS detaches nothing while it stands. Discard it first."),
        (
            "pool.scan",
            CLEAN,
            f"The last scan of {params['pool']} is: {{}}. Only after a clean one is the member that stays known to be whole.",
        ),
        ("target.parent", PARENTS, f"{goes} is in: {{}}. Only what is inside a replacing or spare vdev is detached."),
        ("keeps.state", ("ONLINE",), f"The member that would stay, {stays}, is {{}}. Detach nothing now."),
        ("keeps.place", ("beside it",), f"The member that would stay, {stays}, is {{}}."),
        ("keeps.filling", ("no",), f"The member that would stay, {stays}, is still being filled. Wait until that ends."),
        (
            "keeps.missing",
            (_detach.NOTHING,),
            f"By its label the member that would stay, {stays}, misses {{}}. Only a resilver that ends without errors fills it.",
        ),
    )
    return (*_member.judge(questions, pre, FACTS), *_released.verdicts(NAME, pre))


def _facts(scene: _member.Scene) -> dict[str, str]:
    return {
        **_member.facts_of_a_change(scene),
        "pool.scan": known(lambda: _scan(scene)),
        "keeps.state": known(lambda: _detach.keeps(scene).state),
        "keeps.name": known(lambda: _detach.keeps(scene).name),
        "keeps.place": known(lambda: _place(scene)),
        "keeps.filling": known(lambda: "yes" if _detach.keeps(scene).filling else "no"),
        "keeps.missing": known(lambda: _detach.missing(scene)),
    }


def _scan(scene: _member.Scene) -> str:
    scans = [scan for scan in scene.pool().scans if scan.state != "none"]
    states = {f"{scan.state} with {scan.errors} errors" if scan.state == "finished" else scan.state for scan in scans}
    return ", ".join(sorted(states)) or NONE


def _place(scene: _member.Scene) -> str:
    goes, stays = scene.trail(), scene.trail("keeps_guid")
    return "beside it" if len(goes) > 1 and len(stays) > 1 and goes[-2] is stays[-2] else "in another vdev"
