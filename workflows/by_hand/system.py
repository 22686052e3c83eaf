"""What a snippet needs of a system that has neither /sys nor /dev/disk: how it is asked there, and which commands are given."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from workflows.by_hand.disk import Disk

WRITTEN, READ = "written", "read"  # whether the command names the disk


@dataclass(frozen=True)
class System:
    """`disks`: what a name of a disk looks like that may stand in a command or be compared. `asks`: functions hostid_here, boot_id_here and disk;
    `line`: the call of `disk` for one disk, with the pool's guid and the command."""

    name: str
    given: frozenset[str]
    disks: re.Pattern[str]
    identity: list[str]
    disk: list[str]
    digest: str
    line: Callable[[Disk, str, Sequence[str]], str]
    folders: str = ""  # looked in first for tools

    def why_not(self, operation: str, argv: Sequence[str]) -> str:
        """Why no person is shown this command there, and what to do; "" where one is."""
        if operation in self.given and all(self.disks.fullmatch(word) for word in argv if "/dev/" in word):
            return ""
        return (
            f"{operation} is not given by hand on {self.name} from here: its command or what it rests on is another one there, and no snippet could compare it. A "
            "rehearsal of the runbook shows what is done and in which order; give each step as your site gives commands there."
        )
