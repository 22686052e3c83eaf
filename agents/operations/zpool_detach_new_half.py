"""Call a replacement off: `zpool detach POOL GUID_OF_THE_NEW_HALF`, while the new disk is being filled, or is lost, or nothing fills it.

Only inside a `replacing` of exactly two, only the newer of them, and only while the older one serves and is not being filled itself: then the new
half holds nothing that the old one does not hold. What is lost is the time of the resilver. `zpool_detach` never does this, as it asks for a
clean scan and a sibling that is whole; ZFS refuses both with "no valid replicas" where it would lose data.

It is not destructive: the disk that goes never held what the other one does not hold, and what was on it before was overwritten when it was
put in. It may take place once only, so another person approves it all the same.
"""

from __future__ import annotations

from collections.abc import Mapping

from agents.host.host import Host
from agents.operations import _detach, _member, _released
from agents.operations.base import NONE, known

NAME = "zpool_detach_new_half"
EFFECT = "at_most_once"
DESTRUCTIVE = False
PARAMS, TIMEOUT_SECONDS = _detach.PARAMS, _detach.TIMEOUT_SECONDS
FACTS = (*_member.FACTS, "target.vdev", "keeps.state", "keeps.name", "keeps.place", "keeps.filling")
NEWER, BESIDE = "replacing, newer child", "the older of the two"

check, argv, probe, aftermath = _detach.check, _detach.argv, _detach.probe, _detach.aftermath


def preconditions(host: Host, params: Mapping[str, str]) -> dict[str, str]:
    return _facts(_member.survey(host, params))


def describe(host: Host, params: Mapping[str, str]) -> dict[str, object]:
    scene = _member.survey(host, params)
    return _detach.describe(scene, _facts(scene))


def guards(pre: Mapping[str, str], params: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    pool, goes, stays = params["pool"], params["vdev_guid"], params["keeps_guid"]
    questions = (
        *_member.of_the_pool(params),
        *_member.its_vdev_serves(params),
        ("pool.removal", (NONE,), f"A vdev is being removed from {pool}. Wait until it ends."),
        ("pool.checkpoint", (NONE,), f"{pool} has a checkpoint, and ZFS detaches nothing while it stands. Discard it first."),
        ("target.parent", (NEWER,), f"{goes} is in: {{}}. Only the new half of a replacement is taken out again."),
        (
            "keeps.state",
            _member.SERVING,
            f"The old disk {stays} is {{}}. Without it the new half may hold the only copy, so nothing is taken out.",
        ),
        ("keeps.place", (BESIDE,), f"The member that would stay, {stays}, is {{}}."),
        ("keeps.filling", ("no",), f"The old disk {stays} is being filled itself. Wait until that ends."),
    )
    return (*_member.judge(questions, pre, FACTS), *_released.verdicts(NAME, pre))


def _facts(scene: _member.Scene) -> dict[str, str]:
    return {
        **_member.facts(scene),
        "target.vdev": known(lambda: _member.vdev(scene.trail())),
        "keeps.state": known(lambda: _detach.keeps(scene).state),
        "keeps.name": known(lambda: _detach.keeps(scene).name),
        "keeps.place": known(lambda: _place(scene)),
        "keeps.filling": known(lambda: "yes" if _detach.keeps(scene).filling else "no"),
    }


def _place(scene: _member.Scene) -> str:
    goes, stays = scene.trail(), scene.trail("keeps_guid")
    two = len(goes) > 1 and [child.guid for child in goes[-2].children] == [stays[-1].guid, goes[-1].guid]
    return BESIDE if two else "not the older of two in one vdev"
