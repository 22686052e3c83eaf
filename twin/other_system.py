"""What the simulated nodes of other systems than Linux share: a twin's host that is asked and answered in names of that system."""

import errno
from collections.abc import Sequence

from agents.host.host import Agrees, Ran, Region
from twin.host import TwinHost
from twin.model import Disk, Node

Answer = tuple[int | None, str, str]  # exit code, output and errors; no exit code where there is no such command


class OtherSystemHost:
    """Without /sys, and with disks that hold no bytes; a subclass says what its commands print."""

    def __init__(self, host: TwinHost) -> None:
        self._host = host

    @property
    def node(self) -> Node:
        return self._host.view().node

    def now(self) -> float:
        return self._host.now()

    def read(self, path: str) -> bytes:
        raise OSError(errno.ENOENT, "No such file or directory", path)

    def list(self, pattern: str) -> tuple[str, ...]:
        return ()

    def link(self, path: str) -> str:
        raise OSError(errno.ENOENT, "No such file or directory", path)

    def read_device(self, path: str, regions: Sequence[Region]) -> bytes:
        raise OSError(errno.EOPNOTSUPP, "a twin's disks hold no bytes", path)

    def erase(self, path: str, regions: Sequence[Region], agrees: Agrees) -> bytes:
        raise OSError(errno.EOPNOTSUPP, "a twin's disks hold no bytes", path)

    def write(self, path: str, data: bytes) -> None:
        raise OSError(errno.ENOENT, "No such file or directory", path)

    def _guids(self, argv: tuple[str, ...]) -> Ran | None:
        """Of the imported pool that is asked for; None for any other command."""
        if argv[:5] != ("zpool", "get", "-Hpo", "value", "guid"):
            return None
        return Ran(argv, 0, "".join(f"{pool.guid}\n" for pool in self.node.imported if pool.name == argv[5]).encode(), b"", 0.0)

    def _ran(self, argv: tuple[str, ...], answer: Answer | None) -> Ran:
        if answer is None or answer[0] is None:
            return Ran(argv, None, b"", b"", 0.0, "not found")
        code, out, err = answer
        return Ran(argv, code, out.encode(), err.encode(), 0.0)

    def _is_imported(self, disk: Disk) -> bool:
        """Whether a pool that this node has imported says in a label that the disk is its own."""
        labels = [part.label for part in disk.partitions if part.label is not None]
        return any(self.node.pool(label.pool).imported for label in labels)
