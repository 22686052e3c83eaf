"""Plays a scene (`agents/tests/scenes.py`) on a node: makes its pools, asks its commands, and does with hands what is done by hands."""

import json
import os
import re
import shlex
from collections.abc import Callable

from agents.tests.scenes import Printed, Scene, Transcript
from lab.machine import MIB, Machine

# A command that hangs in the kernel is left behind.
ASK = """
import json, os, subprocess, sys
with open("/run/stdout", "w+") as out, open("/run/stderr", "w+") as err:
    asked = subprocess.Popen(sys.argv[2:], stdin=subprocess.DEVNULL, stdout=out, stderr=err, env={**os.environ, "LC_ALL": "C"})
    try:
        code = asked.wait(float(sys.argv[1]))
    except subprocess.TimeoutExpired:
        code = None
print(json.dumps([code, open("/run/stdout").read(), open("/run/stderr").read()]))
"""
HOST = "echo $(hostname) $(hostid) $((0x$(hostid)))"
COMMAND_SECONDS = 60
# On a node short of CPU udev names new partitions later than `zpool create` waits for them.
CREATE = "for i in 1 2 3; do udevadm settle -t 60; zpool create {words} && break; sleep 5; done; udevadm settle -t 60; zpool status {pool}"
# Whatever an earlier scene left behind: every disk is there and runs, and holds nothing.
WIPE = """\
for s in /sys/block/sd*/device/state; do echo running > $s; done
for i in 1 2 3 4 5 6; do
  for p in $(zpool list -H -o name); do timeout 60 zpool clear $p; sleep 2; timeout 60 zpool export -f $p; done
  [ -z "$(zpool list -H -o name)" ] && break; sleep 5
done
for d in {disks}; do blkdiscard -f $d 2>/dev/null && blockdev --flushbufs --rereadpt $d; done
udevadm settle -t 60"""
FILL = "parted -s {d} mklabel gpt mkpart a 1MiB 200MiB mkpart b 200MiB 300MiB && udevadm settle -t 60 && sleep 1 && mkfs.ext4 -q {d}-part1 && mkswap {d}-part2 >/dev/null && udevadm settle -t 60"
WRITE = "(dd if=/dev/urandom of=/{pool}/written bs=1M count=40 status=none; zpool sync {pool}) </dev/null >/dev/null 2>&1 & sleep 10"
# A resilver begins with one of the next txgs.
SETTLE = "sleep 8; udevadm settle -t 60; timeout 200 zpool wait -t resilver,scrub,replace {pool}; sleep 1; udevadm settle -t 60"
REREAD = "for d in /sys/block/sd*; do blockdev --rereadpt /dev/${d##*/}; done; udevadm settle -t 60"  # another host partitioned them
RESCAN = 'for h in /sys/class/sas_host/*; do echo "- - -" > /sys/class/scsi_host/${h##*/}/scan; done; udevadm settle -t 60; sleep 2'


class Player:
    def __init__(self, machine: Machine, scene: Scene, partner: Machine | None = None) -> None:
        self.machine, self.scene, self.partner = machine, scene, partner
        self.names: dict[str, str] = {}

    def play(self) -> Transcript:
        self._begin()
        version = self._sh("zfs version | head -n 1").strip()
        transcript = Transcript(
            f"{version}, {self._sh('uname -sr').strip()}, Debian {self._sh('. /etc/os-release; echo $VERSION_CODENAME').strip()} in the lab",
            self.names,
        )
        for step in self.scene.steps:
            transcript.outputs.append(self._step(step))
        return transcript

    def _sh(self, line: str, **more) -> str:
        return self.machine.guest.sh(line, **more)

    def _begin(self) -> None:
        disks = [self.machine.disk(n) for n in range(self.scene.disks)]
        self._sh(RESCAN)
        everything = (self.machine.disk(number) for number in self.machine.settings.bays.values())
        self._sh(WIPE.format(disks=" ".join(disk.by_id for disk in everything)))
        self.names = {
            f"d{n}": f"{disk.by_id.rpartition('/')[2]} {self.machine.name_of(n)} scsi-3{disk.wwn:016x}" for n, disk in enumerate(disks)
        }
        ashift = f"-o ashift={self.scene.ashift}" if self.scene.ashift else ""
        for pool, words in self.scene.pools.items():
            layout = " ".join(self._path(word) for word in words.split())
            self._sh(CREATE.format(words=f"{ashift} {self.scene.options} {pool} {layout}", pool=pool))
        for pool, words in self.scene.pools.items():
            self.names[pool] = self._sh(f"zpool get -H -p -o value guid {pool}").strip()
            self.names["host"] = self._sh(HOST).strip()
            self.names |= {f"g{word[1:]}": self._guid(word) for word in words.split() if re.fullmatch(r"d\d+", word)}

    def _path(self, word: str) -> str:
        return self.machine.disk(int(word[1:])).by_id if re.fullmatch(r"d\d+", word) else word

    def _guid(self, disk: str) -> str:
        return re.search(r"^ {4}guid: (\d+)", self._sh(f"zdb -l {self._path(disk)}-part1", check=False), re.M)[1]

    def _meant(self, word: str) -> str:
        """What stands here for a word of a step."""
        if word[0] == "n" and word[1:].isdigit():
            self.names[word] = self._guid(f"d{word[1:]}")
        return self._path(word) if re.fullmatch(r"d\d+", word) else self.names[word]

    def _step(self, step: str) -> Printed:
        if not step.startswith("$ "):
            verb, *words = step.split()
            self.HANDS[verb](self, *words)
            return Printed(step)
        line = re.sub(r"{(\w+)}", lambda found: self._meant(found[1]), step[2:])
        asked = ["python3", "-c", ASK, str(COMMAND_SECONDS), *shlex.split(line)]
        exit_code, stdout, stderr = json.loads(self._sh(shlex.join(asked)))
        return Printed(f"$ {line}", exit_code, stdout, stderr)

    # hands

    def _of_each(line: str) -> Callable[..., None]:
        def hand(self, *words: str) -> None:
            for word in words:
                self._sh(line.format(d=self._path(word), pool=word, kernel=[*self.names.get(word, "").split(), "", ""][1]))

        return hand

    def _settle(self, pool: str) -> None:
        """What ZED does after an event it does some moments later."""
        self._sh(SETTLE.format(pool=pool), check=False)

    def _abandon(self, pool: str) -> None:
        """As a host that died has it: its labels say that it is in use."""
        self._sh(f"zpool import {pool} && udevadm settle -t 60 && zpool export -F {pool}")

    def _fault(self, pool: str, disk: str) -> None:
        self._sh(f"zpool offline -f {pool} {self._guid(disk)}; sleep 2")

    def _back(self, *disks: str) -> None:
        """The kernel finds every disk in its bay that it does not have; those that are not meant are deleted again."""
        before = set(self._present())
        self._sh(RESCAN)
        for name in set(self._present()) - before - {self.machine.name_of(int(disk[1:])) for disk in disks}:
            self._sh(f"echo 1 > /sys/block/{name}/device/delete")
        self._sh("udevadm settle -t 60; sleep 1")

    def _present(self) -> list[str]:
        return self._sh("ls /sys/block | grep ^sd").split()

    def _stall(self, pool: str) -> None:
        """Nothing that is written gets through until multihost suspends the pool; then everything does again, before the kernel ends a command."""
        numbers = [int(word[1:]) for word in self.scene.pools[pool].split()[1:]]
        for number in numbers:
            self.machine.slow(number, bytes_per_second=1, writes_only=True)
        self._sh(f"for i in $(seq 28); do grep -q SUSPENDED /proc/spl/kstat/zfs/{pool}/state && break; sleep 1; done")
        for number in numbers:
            self.machine.slow(number)
        self._sh("sleep 5")

    def _taken(self, pool: str) -> None:
        """The other host, which nobody told, imports it by force: nobody writes to it, so multihost lets it."""
        self.partner.guest.sh(REREAD)
        self.partner.guest.sh(f"udevadm settle -t 60; zpool import -f -d /dev/disk/by-id {pool}")

    def _coarse(self, disk: str) -> None:
        """Another disk in its place: a larger one whose sectors have 4096 bytes."""
        self._exchange(int(disk[1:]), 640, 4096)

    def _fine(self, disk: str) -> None:
        self._exchange(int(disk[1:]), 512, 512)

    def _exchange(self, number: int, mib: int, block: int) -> None:
        bay = self.machine.pull(number)
        os.truncate(self.machine.disk(number).image, mib * MIB)
        self.machine.insert(number, bay, block=block)

    HANDS: dict[str, Callable[..., None]] = {
        "fill": _of_each(FILL),
        "write": _of_each(WRITE),
        "gone": _of_each("echo 1 > /sys/block/{kernel}/device/delete; udevadm settle -t 60; sleep 1"),
        "offline": _of_each("echo offline > /sys/block/{kernel}/device/state"),
        "running": _of_each("echo running > /sys/block/{kernel}/device/state"),
        "settle": _settle,
        "abandon": _abandon,
        "fault": _fault,
        "hold": _of_each("echo 1 > /sys/module/zfs/parameters/zfs_scan_suspend_progress"),
        "resume": _of_each("echo 0 > /sys/module/zfs/parameters/zfs_scan_suspend_progress"),
        "back": _back,
        "stall": _stall,
        "taken": _taken,
        "coarse": _coarse,
        "fine": _fine,
        "without": _of_each("systemctl stop zfs-zed"),
        "with": _of_each("systemctl start zfs-zed"),
    }
