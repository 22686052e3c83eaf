"""The world under the portal: pools that lost a member, disks that several nodes see, and what was really done to them.

Nobody in the simulation reads the account kept here; the invariants do.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field

from agents.host.host import Ran

TAKES_SECONDS = 5.0


@dataclass
class Given:
    """One command as a node was given it."""

    node: str
    argv: tuple[str, ...]
    order: str  # the order in the executor's hands
    fence: int
    at: float
    took_effect: bool = False
    ended: bool = False

    @property
    def pool(self) -> str:
        return self.argv[2]

    @property
    def vdev(self) -> str:
        return self.argv[3]

    @property
    def disk(self) -> str:
        return self.argv[4]


@dataclass
class World:
    """`members` maps (pool, vdev) to the disk in it, "" for a lost one. Every node sees every disk, as in a shared enclosure."""

    homes: dict[str, str]  # pool -> node
    members: dict[tuple[str, str], str]
    disks: dict[str, str]  # disk -> "" when blank, else "pool/vdev"
    clock: float = 1_000_000.0
    given: list[Given] = field(default_factory=list)

    def text(self, node: str) -> str:
        """What a node prints about its pools and about all disks."""
        pools = {f"{pool}/{vdev}": disk for (pool, vdev), disk in self.members.items() if self.homes[pool] == node}
        return json.dumps({"members": pools, "disks": self.disks}, sort_keys=True)

    def running(self, node: str) -> list[Given]:
        return [command for command in self.given if command.node == node and not command.ended]

    def start(self, node: str, argv: tuple[str, ...], order: str, fence: int) -> Given:
        command = Given(node, argv, order, fence, self.clock)
        self.given.append(command)
        return command

    def act(self, command: Given) -> int:
        """The command's effect; its exit code. `zpool` itself refuses what is in use."""
        command.ended = True
        place = (command.pool, command.vdev)
        if self.members.get(place) != "" or self.disks.get(command.disk) != "":
            return 1
        self.members[place] = command.disk
        self.disks[command.disk] = f"{command.pool}/{command.vdev}"
        command.took_effect = True
        return 0


class SimHost:
    """One node's door to the world; what an agent gets for its `Host`. `life` decides when the agent dies."""

    def __init__(self, world: World, node: str, life) -> None:
        self.world, self.node, self.life = world, node, life
        self.skew = 0.0
        self.order, self.fence = "", 0  # what the executor has in hand

    def now(self) -> float:
        return self.world.clock + self.skew

    def run(self, argv, timeout_seconds: float) -> Ran:
        command = self.world.start(self.node, tuple(argv), self.order, self.fence)
        self.life.command_given(command)
        self.life.may_die("while the command runs", 0.15)  # it goes on alone
        exit_code = self.world.act(command)
        self.life.may_die("before it sees the command end", 0.1)
        self.world.clock += TAKES_SECONDS
        stderr = b"" if exit_code == 0 else b"cannot replace: in use\n"
        if self.life.chance(0.05):
            return Ran(tuple(argv), None, b"", b"", timeout_seconds, "timeout")  # it hung, whatever it did before
        return Ran(tuple(argv), exit_code, b"", stderr, TAKES_SECONDS)

    def read(self, path: str) -> bytes:
        if path == "/sim/pools":
            return self.world.text(self.node).encode()
        return "\0".join(("/sbin/zpool", *self.world.given[int(path.split("/")[2])].argv[1:])).encode()

    def list(self, pattern: str) -> tuple[str, ...]:
        """Of `/proc/[0-9]*/cmdline`: the processes that outlived their agent."""
        return tuple(f"/proc/{i}/cmdline" for i, c in enumerate(self.world.given) if c.node == self.node and not c.ended)
