"""Replace a member that is one partition of its disk: `zpool replace POOL VDEV_GUID /dev/disk/by-id/wwn-0x…-partN`.

The new disk got the partition table of a serving one before (`partition_copy`), and that is read again here: equal partitions, GUIDs of its own, nothing
on the partition. The member may be lost or still serve; where it serves, ZFS lets it go when the new partition is filled. Never with `-f`.
"""

from __future__ import annotations

from collections.abc import Mapping

from agents.domain.wwid import by_id_path
from agents.host.host import Host
from agents.operations import _boot_member, _candidate, _history, _member, _new_disk, _partitions, _released, base, zpool_replace
from agents.operations._boot_member import Scene
from agents.operations.base import NONE, Probe, known

NAME = "zpool_replace_partition"
EFFECT = "at_most_once"
DESTRUCTIVE = True
PARAMS = _boot_member.PARAMS
TIMEOUT_SECONDS = zpool_replace.TIMEOUT_SECONDS
FACTS = (*_boot_member.FACTS, "partition.contents")

check = _boot_member.check
aftermath = _new_disk.aftermath


def argv(params: Mapping[str, str]) -> tuple[str, ...]:
    return ("zpool", "replace", params["pool"], params["vdev_guid"], f"{by_id_path(params['wwid'])}-part{params['partition']}")


def preconditions(host: Host, params: Mapping[str, str]) -> dict[str, str]:
    return _facts(_boot_member.survey(host, params))


def describe(host: Host, params: Mapping[str, str]) -> dict[str, object]:
    scene = _boot_member.survey(host, params)
    before, after = zpool_replace.topologies(scene, params["partition"])
    return {
        "outgoing": _member.outgoing(scene),
        "incoming": _new_disk.incoming(scene),
        "topology_before": before,
        "topology_after": after,
        "preconditions": _facts(scene),
    }


def guards(pre: Mapping[str, str], params: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    wwid, number = params["wwid"], params["partition"]
    questions = (
        *_boot_member.questions(params),
        *_member.no_expansion(params),
        ("disk.table", (_partitions.SAME,), f"The partition table of {wwid} is {{}}. Copy the partition table first."),
        ("partition.contents", (NONE,), f"Partition {number} of {wwid} holds {{}}. Find out what that is, or choose another disk."),
    )
    return (*_member.judge(questions, pre, FACTS), *_released.verdicts(NAME, pre))


def probe(host: Host, params: Mapping[str, str], pre: Mapping[str, str]) -> Probe:
    scene = _boot_member.survey(host, params)
    history, remembered = _history.of(host, params["pool"], argv(params))
    evidence = (*scene.captures(), *_candidate.aftermath(host, params["wwid"]), history)
    result, reason = base.concluded(lambda: zpool_replace.concluded(scene))
    return Probe(result, evidence, f"{reason} {remembered}")


def _facts(scene: Scene) -> dict[str, str]:
    return {
        **_boot_member.facts(scene),
        "disk.table": known(lambda: _partitions.compared(scene.host, scene.source(), scene.disk())),
        "partition.contents": known(lambda: _partitions.contents(scene.host, f"{scene.disk().by_id}-part{scene.params['partition']}")),
    }
