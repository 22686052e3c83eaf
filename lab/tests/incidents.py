"""How an incident is brought about on a node that is well."""

import re

from lab.stage import Stage
from lab.visitor import Visitor

LOST, NOW_SDC, NEW = 2, 4, 8
MEMBERS = 6
AFTER = {0: 1, 1: 0, 2: NOW_SDC, 3: 3, 4: 5, 5: NEW}  # bay -> disk


def drift(stage: Stage, ann: Visitor, pool: str, mib: int = 60) -> str:
    """A pool on raw names, a power cut, and a boot with the disks in other bays and one of them missing. Returns the guid of the lost member.

    The agent is there before, and must come back by itself.
    """
    names = " ".join(stage.machine.name_of(n) for n in range(MEMBERS))
    assert names == "sda sdb sdc sdd sde sdf"
    stage.sh(f"zpool create -o ashift=12 {pool} raidz2 {names}")
    stage.sh(f"dd if=/dev/urandom of=/{pool}/data bs=1M count={mib} 2>/dev/null; sync; zpool sync")
    stage.enrol(ann)
    stage.allow("zpool_replace")
    stage.until(lambda facts: facts["pools"], "there is a pool")
    guid = re.search(r"^ +guid: (\d+)", stage.sh("zdb -l /dev/sdc1"), re.M)[1]
    stage.machine.cut()
    stage.machine.disk(NEW).make(stage.machine.settings.size)
    stage.machine.rearrange(AFTER)
    stage.machine.start(tied=True)
    return guid


def import_if_need_be(stage: Stage, pool: str) -> None:
    """What the one who booted the node does when the cachefile did not bring the pool back."""
    if pool not in stage.sh("zpool list -H -o name", check=False).split():
        stage.sh(f"zpool import -d /dev {pool}")
