"""What the operations share that put one partition of a boot disk into a pool: the new disk, and the serving one whose partition table is copied.

The serving disk is only read. It is named by its WWID like the new one, and must carry a member of the same top-level vdev on the same partition.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from agents.host.host import Host
from agents.operations import _candidate, _new_disk, _partitions, zpool_replace
from agents.operations._candidate import Candidate
from agents.operations._member import SERVING, Question
from agents.operations.base import Unread, check_wwid, known

PARAMS = ("pool", "pool_guid", "vdev_guid", "wwid", "from_wwid", "partition")
FACTS = (
    *zpool_replace.FACTS,
    "target.partition",
    "source.wwid",
    "source.serial",
    "source.member",
    "source.table",
    "disk.table",
    "disk.room",
)
STATES = (*zpool_replace.ABSENT_STATES, *SERVING)
PARENTS = tuple(parent for parent in zpool_replace.PARENTS if not parent.startswith("spare"))
_PARTITION = re.compile(r"[1-9][0-9]{0,2}")


@dataclass(frozen=True)
class Scene(_new_disk.Scene):
    """With the disk whose table is copied."""

    serving: Candidate | Unread

    def source(self) -> Candidate:
        if isinstance(self.serving, Unread):
            raise self.serving
        return self.serving


def check(params: Mapping[str, str], names: Sequence[str] = PARAMS) -> str:
    if bad := _new_disk.check(params, names) or check_wwid(params["from_wwid"]) or check_partition(params["partition"]):
        return bad
    return f"{params['wwid']} is named as the new disk and as the one that is copied." if params["wwid"] == params["from_wwid"] else ""


def check_partition(value: str) -> str:
    fits = _PARTITION.fullmatch(value) and int(value) <= _partitions.NUMBER_MAX
    return "" if fits else f"{value!r} is no number of a partition."


def survey(host: Host, params: Mapping[str, str]) -> Scene:
    scene = _new_disk.survey(host, params)
    serving: Candidate | Unread
    try:
        serving = _candidate.find(host, params["from_wwid"])
    except Unread as unread:
        serving = unread
    return Scene(host, params, scene.status, scene.candidate, serving)


def facts(scene: Scene) -> dict[str, str]:
    host = scene.host
    return {
        **zpool_replace.facts(scene),
        "target.partition": known(lambda: _partitions.number_of(host, scene.trail()[-1])),
        "source.wwid": known(lambda: scene.source().wwid),
        "source.serial": known(lambda: _candidate.same(scene.source(), "serial")),
        "source.member": known(lambda: _member(scene)),
        "source.table": known(lambda: _partitions.needed(host, scene.source().by_id).text()),
        "disk.room": known(lambda: _partitions.room(host, scene.source(), scene.disk())),
    }


def _member(scene: Scene) -> str:
    """The state of the member on that partition of the serving disk, where it is in the vdev of the target."""
    params, leaves = scene.params, tuple(scene.trail()[0].leaves())
    found = _partitions.on(scene.host, leaves, scene.source(), params["partition"])
    if found is None:
        return f"no member of {scene.trail()[0].name} on partition {params['partition']}"
    return "the target itself" if found.guid == params["vdev_guid"] else found.state


def questions(params: Mapping[str, str]) -> tuple[Question, ...]:
    pool, guid, source = params["pool"], params["vdev_guid"], params["from_wwid"]
    number, wwid = params["partition"], params["wwid"]
    return (
        *(one for one in zpool_replace.questions(params, STATES, f"The member {guid} is {{}}.", PARENTS) if one[0] != "disk.contents"),
        ("target.partition", (number,), f"{guid} is or was partition {{}} of its disk, and {number} was planned."),
        ("source.wwid", (source,), f"The disk that is copied is {{}} and {source} was approved."),
        (
            "source.member",
            ("ONLINE",),
            f"Of {source}, whose partitions are copied: {{}}. Choose an ONLINE member of the same vdev of {pool}.",
        ),
        ("disk.room", (_partitions.YES,), f"{wwid} has {{}}. Choose a disk that is not smaller and has the same sectors."),
    )
