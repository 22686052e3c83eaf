"""One node: QEMU with SAS adapters, shelves and disks, and what hands at the rack can do to it.

Everything that must be known of a running machine stands in its folder, so `up`, `shell`, `down` and a test may be different
processes. The root file system is an overlay of the image and outlives a power cut, as a server's does.
"""

import contextlib
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
import zlib
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from lab import asleep, places, qmp
from lab.disks import BAYS, SAS, Disk
from lab.guest import Guest
from lab.image import Image
from lab.shelf import hands
from lab.shelf.enclosure import shelf_id
from lab.shelf.iscsi import TARGET
from launcher.say import Stop

BOOT_SECONDS = 400
END_SECONDS = 20
STARTS_MAX, SETTLE_SECONDS = 4, 3
STATE = "machine.json"
NICE = "10"  # a person's own work goes first; SLOTLIGHT_LAB_NICE is another word for it
HARDWARE = (
    *("-accel", "tcg,thread=multi", "-cpu", "max", "-smp", "2", "-nodefaults", "-display", "none", "-no-reboot"),
    *("-device", "virtio-rng-pci", "-device", "virtio-net-pci,netdev=net0,romfile="),
)
MIB = 1024**2
ADAPTER_ADDRESS = 0x500605B000270000


@dataclass
class Settings:
    """What does not change while the machine runs, and which disk sits in which bay; bays count from 0 over all shelves."""

    host: str = "oss01"
    hostid: str = ""  # made of the machine's name, like `lot`: no two servers have the same
    lot: int = 0  # which rack's shelves and disks; two nodes at one shelf have the same
    serial: str = ""  # of its chassis, as its firmware reports it; a machine that has one always boots, because firmware speaks at boot
    image: str = ""
    memory: int = 1536
    shelves: int = 1
    names: str = "Slot{n:02d}"
    size: str = "512M"
    ssh_port: int = 0
    shelf_port: int = 0
    disks_folder: str = ""
    bays: dict[int, int] = field(default_factory=dict)  # bay -> disk number
    built_in: dict[int, str] = field(default_factory=dict)  # disk number -> kind, of those in the machine itself; they are there at boot
    paths: int = 1  # adapters that lead to each shelf: 1 or 2
    pids: dict[str, int] = field(default_factory=dict)


class Machine:
    def __init__(self, name: str) -> None:
        self.name, self.folder = name, places.machines() / name
        self.settings = self._read()
        self.extra: list[str] = []  # for QEMU, from who knows what he does

    # what is known

    def _read(self) -> Settings:
        path = self.folder / STATE
        if not path.exists():
            return Settings()
        answer = json.loads(path.read_text())
        numbered = {name: {int(number): value for number, value in answer.get(name, {}).items()} for name in ("bays", "built_in")}
        return Settings(**{**answer, **numbered})

    def _write(self) -> None:
        new = self.folder / f"{STATE}.new"
        new.write_text(json.dumps(asdict(self.settings), indent=1))
        new.replace(self.folder / STATE)

    @property
    def shelf_folder(self) -> Path:
        return self.folder / "shelf"

    @property
    def guest(self) -> Guest:
        return Guest(self.settings.ssh_port, Image(Path(self.settings.image)).key, self.folder)

    def disk(self, number: int) -> Disk:
        folder = Path(self.settings.disks_folder or self.folder / "disks")
        return Disk(number, folder, self.settings.lot, self.settings.built_in.get(number, SAS))

    def bay_of(self, number: int) -> int:
        return next(bay for bay, disk in self.settings.bays.items() if disk == number)

    def runs(self) -> bool:
        return _alive(self.settings.pids.get("qemu", 0))

    def lit(self) -> dict[tuple[int, int], list[str]]:
        return hands.lit(self.shelf_folder)

    # from nothing to a node

    def make(self, image: Image, disks: int, fresh: bool = True, **settings) -> None:
        """Lay out the machine; `disks` of them in the first bays. With `fresh` nothing is kept of one of that name."""
        if self.runs():
            raise Stop(f"{self.name} runs. `./run lab down {self.name}` ends it.")
        if fresh:
            shutil.rmtree(self.folder, ignore_errors=True)
        self.folder.mkdir(parents=True, exist_ok=True)
        bays = {number: number for number in range(disks)}
        shelves = max(1, -(-disks // BAYS))
        checksum = zlib.crc32(self.name.encode())
        own = {"hostid": f"{checksum:08x}", "lot": checksum & 0xFFFF, "bays": bays, "shelves": shelves}
        self.settings = Settings(image=str(image.folder), **{**own, **settings})
        for number in (*self.settings.bays.values(), *self.settings.built_in):
            self.disk(number).make(self.settings.size)
        self._write()

    def start(self, tied: bool = False, boot: bool = False) -> None:
        """Boot, or wake as a new machine unless it is to `boot`, and wait for a shell.

        A `tied` machine ends with the process that started it, also when that is killed.
        """
        if self.runs():
            raise Stop(f"{self.name} runs already.")
        image, new = Image(Path(self.settings.image)), not self._root.exists()
        boot = boot or bool(self.settings.serial or self.settings.built_in)
        sleeper = asleep.of(image, self.settings.memory, HARDWARE, Machine) if new and not boot else None
        self._overlay(sleeper)
        self.settings.ssh_port, self.settings.shelf_port = _free_port(), _free_port()
        prefix = ["setpriv", "--pdeathsig", "TERM"] if tied else []
        self._start_shelf(prefix)
        try:
            if sleeper:
                self._wake([*prefix, *self._qemu(), *sleeper.incoming])
            else:
                self._start_qemu([*prefix, *self._qemu(), *self._adapters()])
                self.guest.wait(self.runs, BOOT_SECONDS)
        except BaseException:
            self.cut()
            raise

    def _start_qemu(self, argv: list[str]) -> None:
        """About one start in ten, libiscsi gives its first connection to the shelf up for no reason that we found; the next one succeeds."""
        for _ in range(STARTS_MAX):
            self._spawn("qemu", argv)
            time.sleep(SETTLE_SECONDS)
            if self.runs() or "Failed to connect to LUN" not in (self.folder / "qemu.log").read_text():
                return

    def _wake(self, argv: list[str]) -> None:
        """Put the adapters, disks and shelves in while it sleeps; then tell it who it is, and what time it is."""
        self._spawn("qemu", argv)
        until = time.monotonic() + BOOT_SECONDS
        while not self._sleeps():
            if not self.runs() or time.monotonic() > until:
                raise Stop(f"{self.name} does not wake. QEMU's words are in {self.folder}/qemu.log.")
            time.sleep(0.2)
        for kind, arguments in self._parts():
            for attempt in range(STARTS_MAX):
                try:
                    self.qmp(kind, **arguments)
                    break
                except qmp.QemuRefused as no:
                    if attempt == STARTS_MAX - 1 or "Failed to connect to LUN" not in str(no):
                        raise
        self.qmp("cont")
        self.guest.wait(self.runs, BOOT_SECONDS)
        self.guest.put("/dev/urandom", os.urandom(64))  # else all who woke from this sleep would draw the same random numbers
        self.guest.sh(WHO.format(now=time.time(), host=self.settings.host, hostid=self.settings.hostid))
        self._until_all_is_seen()
        self.guest.sh(LOAD)

    def _sleeps(self) -> bool:
        with contextlib.suppress(qmp.QemuRefused):  # it does not listen yet
            return self.qmp("query-status")["status"] in ("paused", "prelaunch")
        return False

    def _until_all_is_seen(self) -> None:
        until = time.monotonic() + BOOT_SECONDS
        wanted = f"{len(self.settings.bays) * self.settings.paths} {self.settings.shelves}"
        while (seen := self.guest.sh(SEEN).strip()) != wanted:
            if time.monotonic() > until:
                raise Stop(f"{self.name} sees {seen} where there are {wanted} disks and shelves.")
            time.sleep(1)

    @property
    def _root(self) -> Path:
        return self.folder / "root.qcow2"

    def _overlay(self, sleeper: asleep.Asleep | None) -> None:
        if not self._root.exists():
            base, kind = (sleeper.root, "qcow2") if sleeper else (Image(Path(self.settings.image)).disk, "raw")
            subprocess.run(["qemu-img", "create", "-q", "-f", "qcow2", "-F", kind, "-b", str(base), str(self._root)], check=True)

    def _start_shelf(self, prefix: list[str]) -> None:
        """The shelf is up, and knows its disks, before the node looks at it."""
        self.shelf_folder.mkdir(exist_ok=True)
        settings_sent = {"port": self.settings.shelf_port, "shelves": self.settings.shelves, "bays": BAYS, "lot": self.settings.lot}
        words = [f"--{name}={value}" for name, value in {**settings_sent, "names": self.settings.names}.items()]
        module = [sys.executable, "-m", "lab.shelf", str(self.shelf_folder), *words]
        self._spawn("shelf", [*prefix, *module])
        for _ in range(200):
            with contextlib.suppress(hands.ShelfDown):
                hands.ask(self.shelf_folder)
                break
            time.sleep(0.05)
        for shelf in range(self.settings.shelves):  # where no disk is, the last phy shows the shelf's own processor
            hands.ask(self.shelf_folder, shelf=shelf, bay=BAYS, address=shelf_id(shelf, self.settings.lot) - 2)
        for bay, number in self.settings.bays.items():
            hands.ask(self.shelf_folder, shelf=bay // BAYS, bay=bay % BAYS + 1, address=self.disk(number).wwn, present=True)

    def _spawn(self, name: str, argv: list[str]) -> None:
        with (self.folder / f"{name}.log").open("w") as log:
            root = str(Path(__file__).resolve().parent.parent)
            process = subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True, cwd=root)
        _children.append(process)
        # With autogroup the kernel weighs sessions against each other, and `nice` counts within one only. A kernel without it has no such
        # file, and a priority that cannot be set makes the lab slower and changes no answer.
        if name == "qemu":
            with contextlib.suppress(OSError):
                Path(f"/proc/{process.pid}/autogroup").write_text(_nice())
        self.settings.pids[name] = process.pid
        self._write()

    def _qemu(self) -> list[str]:
        image = Image(Path(self.settings.image))
        words = f"console=ttyS0 root=/dev/vda rw quiet panic=-1 net.ifnames=0 mitigations=off systemd.hostname={self.settings.host} lab.hostid={self.settings.hostid}"
        argv = ["nice", "-n", _nice(), "qemu-system-x86_64", *HARDWARE, "-m", str(self.settings.memory)]
        argv += ["-kernel", str(image.kernel), "-initrd", str(image.initrd), "-append", words]
        argv += ["-serial", f"file:{self.folder}/console.log", "-qmp", f"unix:{self.folder}/qmp,server=on,wait=off"]
        argv += ["-drive", f"if=virtio,file={self._root},format=qcow2,cache=unsafe"]
        argv += ["-netdev", f"user,id=net0,hostfwd=tcp:127.0.0.1:{self.settings.ssh_port}-:22"]
        if self.settings.serial:
            argv += ["-smbios", f"type=1,serial={self.settings.serial}P", "-smbios", f"type=3,serial={self.settings.serial}"]
        return argv + self.extra

    def _adapters(self) -> list[str]:
        """The parts as words on QEMU's command line."""
        return [
            word
            for kind, arguments in self._parts()
            for word in ("-device" if kind == "device_add" else "-blockdev", json.dumps(arguments))
        ]

    def _parts(self) -> Iterator[tuple[str, dict[str, Any]]]:
        """What is put in, as QMP's commands: the adapters, the disks in their bays, the shelves."""
        for shelf in range(self.settings.shelves):
            for path in range(self.settings.paths):
                address = ADAPTER_ADDRESS + (shelf << 8) + (path << 4)
                yield "device_add", {"driver": "mptsas1068", "id": f"sas{shelf}{'b' if path else ''}", "sas_address": address}
        for bay, number in sorted(self.settings.bays.items()):
            yield "blockdev-add", self.disk(number).blockdev()
            yield from (("device_add", device) for device in self._ways(number, bay))
        for number in sorted(self.settings.built_in):
            yield "blockdev-add", self.disk(number).blockdev()
            yield from (("device_add", device) for device in self.disk(number).built_in())
        for shelf in range(self.settings.shelves):
            yield from self._shelf_parts(shelf)

    def _ways(self, number: int, bay: int, block: int = 512) -> list[dict[str, Any]]:
        return [self.disk(number).device(bay, block, second=bool(path)) for path in range(self.settings.paths)]

    def _shelf_parts(self, shelf: int) -> Iterator[tuple[str, dict[str, Any]]]:
        """LUN 1 of the last phy costs no bay."""
        portal = f"127.0.0.1:{self.settings.shelf_port}"
        drive = {"driver": "iscsi", "node-name": f"shelf{shelf}", "transport": "tcp", "portal": portal, "target": TARGET, "lun": shelf}
        device = {
            "driver": "scsi-generic",
            "id": f"ses{shelf}",
            "bus": f"sas{shelf}.0",
            "scsi-id": BAYS - 1,
            "lun": 1,
            "drive": f"shelf{shelf}",
        }
        yield "blockdev-add", drive
        yield "device_add", device

    # the end

    def cut(self) -> None:
        """A power cut: the node gets no chance to flush or export anything. QEMU ends first, else it waits for its shelf."""
        _end(self.settings.pids.get("qemu", 0))
        _end(self.settings.pids.get("shelf", 0))
        self.settings.pids = {}
        if self.folder.exists():
            self._write()

    def down(self) -> None:
        """As a careful person: what is written is on the disks, pools stay imported as over a reboot."""
        with contextlib.suppress(Exception):  # a node that is ill is ended all the same
            self.guest.sh("sync; timeout 20 zpool sync", seconds=40, check=False)
        self.cut()

    # hands at the rack

    def qmp(self, command: str, /, **arguments):
        return qmp.ask(self.folder / "qmp", command, **arguments)

    def names_of(self, number: int) -> list[str]:
        """What the node calls a disk just now (["sdc"]), one name for each path, by its WWN or its link; none when it does not see it."""
        disk = self.disk(number)
        if disk.kind != SAS:
            return self.guest.sh(f"readlink -e {disk.by_id} | sed 's#.*/##'", check=False).split()
        return self.guest.sh(f'lsblk -dno NAME,TYPE,WWN | awk \'$2 == "disk" && $3 == "0x{disk.wwn:016x}" {{print $1}}\'').split()

    def name_of(self, number: int) -> str:
        """Its first name; "" when the node does not see it."""
        return next(iter(self.names_of(number)), "")

    def pull(self, number: int, noticed: bool = True) -> int:
        """Take a disk out; returns its bay. The emulated adapter raises no event, so the kernel is told, unless it must not notice."""
        bay, names = self.bay_of(number), self.names_of(number) if noticed else []
        for device in self._ways(number, bay):
            self.qmp("device_del", id=device["id"])
        del self.settings.bays[bay]
        hands.ask(self.shelf_folder, shelf=bay // BAYS, bay=bay % BAYS + 1, present=False)
        self._let_go(number)
        for name in names:
            self.guest.sh(f"echo 1 > /sys/block/{name}/device/delete; udevadm settle -t 20")
        self._write()
        return bay

    def pull_built_in(self, number: int) -> None:
        """Take an NVMe disk out of its slot; the guest is told by the slot, and lets go of it. QEMU's AHCI lets no disk go while it runs."""
        self.qmp("device_del", id=self.disk(number).id)
        del self.settings.built_in[number]
        self._let_go(number)
        self._write()

    def lose_path(self, number: int) -> None:
        """The second adapter leads to the disk no more; nobody tells the node, whose requests there fail from now on."""
        self.qmp("device_del", id=self.disk(number).device(self.bay_of(number), second=True)["id"])

    def _let_go(self, number: int) -> None:
        for _ in range(100):
            try:
                self.qmp("blockdev-del", **{"node-name": self.disk(number).node})
                return
            except qmp.QemuRefused:  # the device is still being taken away
                time.sleep(0.1)
        raise Stop(f"QEMU does not let go of disk {number}.")

    def insert(self, number: int, bay: int, size: str = "", rescan: bool = True, block: int = 512) -> None:
        """Put a disk, a new one if need be, into a bay; `block` is how many bytes its sectors have. The shelf knows it before the node looks.

        The adapter keeps the SAS address a phy had first, so the shelf names that one; a phy that was empty at boot is only found
        after a reset of its adapter.
        """
        disk, shelf = self.disk(number), bay // BAYS
        disk.make(size or self.settings.size)
        had = int(hands.ask(self.shelf_folder)[shelf]["bays"][bay % BAYS]["address"], 16)
        hands.ask(self.shelf_folder, shelf=shelf, bay=bay % BAYS + 1, address=had or disk.wwn, present=True)
        self.qmp("blockdev-add", **disk.blockdev())
        for device in self._ways(number, bay, block):
            self.qmp("device_add", **device)
        self.settings.bays[bay] = number
        self._write()
        if rescan:
            self._rescan()
            if not self.name_of(number):
                self.guest.sh(RESET.format(shelf=shelf + 1))
                self._rescan()

    def _rescan(self) -> None:
        self.guest.sh('for h in /sys/class/sas_host/*; do echo "- - -" > /sys/class/scsi_host/${h##*/}/scan; done; udevadm settle -t 30')

    def slow(self, number: int, iops: int = 0, bytes_per_second: int = 0, writes_only: bool = False) -> None:
        """Throttle a disk; one byte a second stalls it; nothing given lets it run again."""
        limits = dict.fromkeys(("bps", "bps_rd", "bps_wr", "iops", "iops_rd", "iops_wr"), 0)
        end = "_wr" if writes_only else ""
        limits |= {f"bps{end}": bytes_per_second, f"iops{end}": iops}
        self.qmp("block_set_io_throttle", id=self.disk(number).id, **limits)

    def errors(self, number: int, rules: list[dict]) -> None:
        """Have a disk answer with errors by QEMU's `blkdebug` rules; no rules make it well again."""
        disk, device = self.disk(number), f"/machine/peripheral/{self.disk(number).id}"
        filter_name = f"errors{number}"
        if self.qmp("qom-get", path=device, property="drive") != disk.node:  # the same once more would end QEMU
            self.qmp("qom-set", path=device, property="drive", value=disk.node)
        with contextlib.suppress(qmp.QemuRefused):  # there was none
            self.qmp("blockdev-del", **{"node-name": filter_name})
        if rules:
            self.qmp("blockdev-add", **{"driver": "blkdebug", "node-name": filter_name, "image": disk.node, "inject-error": rules})
            self.qmp("qom-set", path=device, property="drive", value=filter_name)

    def rot(self, number: int, begin_mib: int, length_mib: int) -> None:
        """Let the medium hold something else there than was written: what only a checksum finds."""
        with self.disk(number).image.open("r+b") as image:
            image.seek(begin_mib * MIB)
            for _ in range(length_mib):
                image.write(os.urandom(MIB))

    def rearrange(self, bays: dict[int, int]) -> None:
        """Other disks in other bays, at the next start; what is named in no bay lies on the table."""
        if self.runs():
            raise Stop(f"{self.name} runs: pull and insert, or cut the power first.")
        self.settings.bays = dict(bays)
        self._write()


# The clock stood still while it slept; reseeding makes the random numbers that were handed in count.
WHO = (
    "date -s @{now:.0f} >/dev/null; hostname {host}; zgenhostid -f {hostid}; "
    'python3 -c \'import fcntl; fcntl.ioctl(open("/dev/urandom", "wb"), 0x5207)\''
)
LOAD = "modprobe zfs && systemctl start zfs-zed"  # it went to sleep without; the numbers that guids are drawn from begin here
SEEN = "udevadm settle -t 60; ls -d /sys/block/sd* 2>/dev/null | wc -l | tr '\\n' ' '; ls -d /sys/class/enclosure/* 2>/dev/null | wc -l"
RESET = (
    "h=$(for x in /sys/class/sas_host/*; do echo ${{x##*host}}; done | sort -n | sed -n {shelf}p); "
    "sg_reset -H /dev/$(ls /sys/class/scsi_device/$h:*/device/scsi_generic | grep -m1 sg) && sleep 6; udevadm settle -t 30"
)
_children: list[subprocess.Popen] = []  # ours to collect when they end


def _nice() -> str:
    return os.environ.get("SLOTLIGHT_LAB_NICE", NICE)


def everyone() -> list[Machine]:
    return [Machine(path.parent.name) for path in sorted(places.machines().glob(f"*/{STATE}"))]


def _free_port() -> int:
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        return sock.getsockname()[1]


def _alive(pid: int) -> bool:
    """A process of ours that has ended but was not collected is not alive. The name guards against a pid that was given out again."""
    for child in _children:
        child.poll()
    try:
        words = Path(f"/proc/{pid}/cmdline").read_bytes()
        if not words:  # it has ended, or is just becoming what it was started as
            return "\nState:\tZ" not in Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return False
    return b"qemu-system" in words or b"lab.shelf" in words


def _end(pid: int) -> None:
    for number in (signal.SIGTERM, signal.SIGKILL):
        if not _alive(pid):
            return
        os.kill(pid, number)
        until = time.monotonic() + END_SECONDS
        while _alive(pid) and time.monotonic() < until:
            time.sleep(0.05)
