"""How an incident is brought about on a node that is well."""

import re
from typing import NamedTuple

from lab.stage import Stage
from lab.visitor import Visitor

LOST, NEW = 2, 8
MEMBERS = 6
AFTER = {0: 1, 1: 0, 2: 4, 3: 3, 4: 5, 5: NEW}  # bay -> disk
BOOTED = "systemctl is-system-running --wait; udevadm settle -t 120"


class Lost(NamedTuple):
    guid: str
    was: str  # its name when the pool was made: "sdc"

    def now(self, stage: Stage) -> int:
        """Which disk has that name today."""
        return next(number for number in AFTER.values() if stage.machine.name_of(number) == self.was)


def drift(stage: Stage, ann: Visitor, pool: str, mib: int = 60, allowed: tuple[str, ...] = ("zpool_replace",)) -> Lost:
    """The drift of a node with an agent, which is there before and must come back by itself; it may carry out what is `allowed`, and without
    that only look."""
    lost = on_raw_names(stage, pool, mib)
    stage.enrol(ann)
    if allowed:
        stage.allow(*allowed)
    stage.until(lambda facts: facts["pools"], "there is a pool")
    comes_back_in_other_bays(stage)
    return lost


def on_raw_names(stage: Stage, pool: str, mib: int = 60) -> Lost:
    """A pool made of `/dev/sdX`, with some data; and the member that is to be lost."""
    names = [stage.machine.name_of(n) for n in range(MEMBERS)]
    stage.machine.guest.create_pool(f"-o ashift=12 {pool} raidz2 {' '.join(names)}")
    stage.sh(f"dd if=/dev/urandom of=/{pool}/data bs=1M count={mib} 2>/dev/null; sync; zpool sync")
    return Lost(re.search(r"^ {4}guid: (\d+)", stage.sh(f"zdb -l /dev/{names[LOST]}1"), re.M)[1], names[LOST])


def comes_back_in_other_bays(stage: Stage) -> None:
    """A power cut, and a boot with the disks in other bays and one of them missing.

    Which disk gets which name is the kernel's to choose at each boot; all it takes is that six disks share the same six names.
    """
    stage.machine.cut()
    stage.machine.disk(NEW).make(stage.machine.settings.size)
    stage.machine.rearrange(AFTER)
    stage.machine.start(tied=True)


def import_if_need_be(stage: Stage, pool: str) -> None:
    """What the one who booted the node does when the cachefile did not bring the pool back.

    Not before udev is done, which the import at boot waits for as well: of each event that comes later, ZED has the pool open its disks anew.
    """
    stage.sh(BOOTED, check=False)
    if pool not in stage.sh("zpool list -H -o name", check=False).split():
        stage.machine.guest.import_pool(f"-d /dev {pool}")
