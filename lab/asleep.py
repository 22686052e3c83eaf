"""A node that has booted and was put to sleep: a new machine wakes from it, because a boot takes minutes where QEMU emulates the CPU.

It fell asleep before it had met an adapter, a shelf or a disk; those are put in before it wakes, and it finds them as hot-plugged. Only
the first start of a machine is such a waking: after a power cut it boots like any server.

Its OpenZFS is not loaded while it sleeps. The guids of pools and members come from numbers that the module spl seeds when it is loaded, so
all who woke with a loaded one would draw the same; whoever has woken loads its own (`LOAD` in `machine`).
"""

import fcntl
import hashlib
import json
import shutil
import subprocess
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from lab import places
from lab.guest import Guest
from lab.image import Image
from launcher.say import Stop, write

SLEEP_SECONDS = 120
# modprobe leaves spl where it comes to it before the last of those that use it.
SETTLED = (
    "systemctl is-system-running --wait >/dev/null; systemctl stop zfs-zed; "
    "for m in zfs zcommon znvpair spl; do [ ! -e /sys/module/$m ] || modprobe -r $m || exit 1; done; "
    "sync; echo 3 > /proc/sys/vm/drop_caches"
)


class Asleep(NamedTuple):
    folder: Path

    @property
    def root(self) -> Path:
        return self.folder / "root.qcow2"

    @property
    def memory(self) -> Path:
        return self.folder / "memory"

    @property
    def incoming(self) -> list[str]:
        """For QEMU: wake from here, and wait for a word before going on."""
        return ["-incoming", f"exec:cat {self.memory}", "-S"]


class Boots(Protocol):
    """What is asked of a machine here."""

    folder: Path

    @property
    def guest(self) -> Guest: ...
    def make(self, image: Image, disks: int, fresh: bool = True, **settings: Any) -> None: ...
    def start(self, tied: bool = False, boot: bool = False) -> None: ...
    def qmp(self, command: str, /, **arguments: Any) -> Any: ...
    def cut(self) -> None: ...


def of(image: Image, memory: int, hardware: Sequence[str], machine: Callable[[str], Boots]) -> Asleep:
    """The node asleep of this image, on this hardware; a `machine` of a name is booted for that unless it is there. Raises Stop."""
    found = Asleep(places.asleep() / f"{image.folder.name}-{_digest(memory, hardware)}")
    places.asleep().mkdir(parents=True, exist_ok=True)
    with (places.asleep() / ".lock").open("w") as door:
        fcntl.flock(door, fcntl.LOCK_EX)
        if not found.folder.exists():
            _make(image, memory, found, machine)
    return found


def _digest(memory: int, hardware: Sequence[str]) -> str:
    """What else a memory fits: the same QEMU with the same machine, which was left in the same state."""
    version = subprocess.run(["qemu-system-x86_64", "--version"], capture_output=True, text=True, check=True).stdout
    return hashlib.sha256(json.dumps([version, memory, list(hardware), SETTLED]).encode()).hexdigest()[:12]


def _make(image: Image, memory: int, target: Asleep, named: Callable[[str], Boots]) -> None:
    began = time.monotonic()
    write("A node boots once and is put to sleep; from then on new nodes wake from it.")
    machine = named(f"asleep-{target.folder.name}")
    machine.make(image, 0, shelves=0, memory=memory)
    machine.start(tied=True, boot=True)
    try:
        machine.guest.sh(SETTLED)
        machine.guest.hang_up()
        making = Asleep(target.folder.with_suffix(".making"))
        shutil.rmtree(making.folder, ignore_errors=True)
        making.folder.mkdir()
        machine.qmp("stop")
        machine.qmp("migrate", uri=f"exec:cat > {making.memory}")
        _until_asleep(machine)
    finally:
        machine.cut()
    shutil.move(machine.folder / "root.qcow2", making.root)
    making.folder.rename(target.folder)
    shutil.rmtree(machine.folder)
    write(f"It sleeps in {target.folder}, after {time.monotonic() - began:.0f} s.")


def _until_asleep(machine: Boots) -> None:
    end = time.monotonic() + SLEEP_SECONDS
    while (status := machine.qmp("query-migrate").get("status")) != "completed":
        if status in ("failed", "cancelled") or time.monotonic() > end:
            raise Stop(f"The node does not fall asleep: QEMU says {status}. Its words are in {machine.folder}/qemu.log.")
        time.sleep(0.5)
