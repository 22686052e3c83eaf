"""The same simulated node under FreeBSD: its disks by GEOM, its boot by sysctl, no /sys and no /proc.

A member that was put in by a kernel name is a partition of its own, "da3p1"; one that was put in by /dev/diskid is the disk itself, as FreeBSD's
zpool makes no partition. A name in /dev/diskid is there while nothing has the disk open, or what has it open did so by that name.
"""

import re
from collections.abc import Iterator, Mapping, Sequence

from agents.domain.wwid import DISKID, by_id_path
from agents.host.host import Ran
from twin.host import TwinHost
from twin.model import Disk
from twin.other_system import OtherSystemHost

_TOOLS = ("zpool", "zfs", "zdb", "smartctl")
_STRINGS = re.compile(r"^ +(?:devid|phys_path|vdev_enc_sysfs_path): .*\n", re.MULTILINE)  # that FreeBSD's ZFS stores none of
_BY_ID, _PART, _WHOLE = (
    re.compile(r"/dev/disk/by-id/[\w.-]+?(?:-part[0-9])?(?![\w.-])"),
    re.compile(r"/dev/sd([a-z]+)1\b"),
    re.compile(r"/dev/sd([a-z]+)\b"),
)


class FreeBSDHost(OtherSystemHost):
    """A twin's host, asked and answered in FreeBSD's names.

    `stacked`: kernel name -> rows of kern.geom.conftxt above it. `opened`: disks that something has open that GEOM does not list. `answers`: the first
    two words of a command -> exit code, output and errors, whatever disk it is asked of.
    """

    def __init__(
        self,
        host: TwinHost,
        *,
        boot_id: str = "",
        diskid: bool = True,
        stacked: Mapping[str, Sequence[str]] | None = None,
        opened: Sequence[str] = (),
        answers: Mapping[tuple[str, ...], tuple[int, str, str]] | None = None,
    ) -> None:
        super().__init__(host)
        self.diskid, self.stacked = diskid, dict(stacked or {})
        self.opened, self.answers = opened, dict(answers or {})
        self.boot_id = boot_id or host.view().node.boot_id

    def run(self, argv: Sequence[str], timeout_seconds: float) -> Ran:
        argv = tuple(argv)
        if guids := self._guids(argv):
            return guids
        return self._run_there(argv, timeout_seconds) if argv[0] in _TOOLS else self._ran(argv, self._answer(argv))

    def disk_name(self, disk: Disk) -> str:
        return f"da{_number(disk.paths[0].name[2:])}"

    def _run_there(self, argv: tuple[str, ...], timeout_seconds: float) -> Ran:
        ran = self._host.run([self._ours(word) for word in argv], timeout_seconds)
        return Ran(argv, ran.exit_code, self._theirs(ran.stdout), self._theirs(ran.stderr), ran.seconds, ran.why, ran.truncated)

    def _ours(self, word: str) -> str:
        for disk in self.node.disks:
            linux, name = f"/dev/{disk.paths[0].name}", f"/dev/{self.disk_name(disk)}"
            if word == f"{DISKID}{disk.serial}":
                return str(by_id_path(disk.wwid))
            if word == name:  # its labels are on it; the twin has them on a partition that only Linux makes
                return f"{linux}1" if disk.partitions and self._is_whole(disk) else linux
            if word == f"{name}p1":
                return f"{linux}1"
        return word

    def _theirs(self, text: bytes) -> bytes:
        plain = _STRINGS.sub("", text.decode())
        serials = {str(by_id_path(disk.wwid)): disk.serial for disk in self.node.disks}
        plain = _BY_ID.sub(lambda found: f"{DISKID}{serials.get(found.group().partition('-part')[0], 'GONE')}", plain)
        plain = _PART.sub(lambda found: f"/dev/da{_number(found.group(1))}p1", plain)
        return _WHOLE.sub(lambda found: f"/dev/da{_number(found.group(1))}", plain).encode()

    def _is_whole(self, disk: Disk) -> bool:
        """Whether a pool took it by its name in /dev/diskid."""
        label = next((part.label for part in disk.partitions if part.label is not None), None)
        leaf = next((leaf for pool in self.node.pools for leaf in pool.leaves() if label and leaf.guid == label.guid), None)
        return leaf is not None and leaf.path.startswith("/dev/disk/by-id/")

    def _answer(self, argv: tuple[str, ...]) -> tuple[int, str, str] | None:
        if argv == ("uname", "-n"):
            return 0, f"{self.node.hostname}\n", ""
        if argv in _FIXED:
            return _FIXED[argv]
        if argv[:2] in self.answers:
            return self.answers[argv[:2]]
        if argv[0] in ("fstyp", "file"):
            name = argv[-1].removeprefix("/dev/")
            there = name in {row.split()[2] for row in self._tree()}
            blank = (1, "", f"fstyp: {argv[-1]}: filesystem not recognized\n") if argv[0] == "fstyp" else (0, "data\n", "")
            return blank if there else (1, "", f"{argv[0]}: {argv[-1]}: No such file or directory\n")
        texts = {("geom", "disk", "list"): self._listed, ("sysctl", "-n", "kern.geom.conftxt"): self._tree}
        texts |= {("camcontrol", "devlist", "-v"): self._buses, ("sysctl", "-x", "kern.boot_id"): self._boot}
        if argv in texts:
            return 0, "".join(f"{line}\n" for line in texts[argv]()), ""
        if argv[:2] == ("sysctl", "kern.ostype"):
            return (
                0,
                f"kern.ostype: FreeBSD\nkern.hostname: {self.node.hostname}\nkern.osrelease: 14.1-RELEASE\nkern.hostid: {int(self.node.hostid, 16)}\n",
                "",
            )
        if argv == ("sysctl", "-n", "kern.hostid"):
            return 0, f"{int(self.node.hostid, 16)}\n", ""
        if argv == ("sysctl", "-nx", "kern.boot_id"):
            return 0, "".join(line.partition(": ")[2] + "\n" for line in self._boot()), ""
        return (0, "", "") if argv[:1] == ("sysctl",) else None

    def _boot(self) -> Iterator[str]:
        yield f"kern.boot_id: Format: Length:16 Dump:0x{self.boot_id.replace('-', '')}"

    def _listed(self) -> Iterator[str]:
        for disk in self.node.disks:
            name, mode = self.disk_name(disk), "r1w1e1" if self._is_imported(disk) or self.disk_name(disk) in self.opened else "r0w0e0"
            yield from (
                f"Geom name: {name}",
                "Providers:",
                f"1. Name: {name}",
                f"   Mediasize: {disk.size_bytes} (512M)",
                f"   Sectorsize: {disk.logical_block_bytes}",
            )
            yield from (
                f"   Mode: {mode}",
                f"   descr: {disk.vendor} {disk.model}",
                f"   lunid: {disk.wwid.partition(':')[2]}",
                f"   ident: {disk.serial}",
            )
            yield from ("   rotationrate: 7200", "   fwsectors: 63", "   fwheads: 255", "")

    def _tree(self) -> Iterator[str]:
        for disk in self.node.disks:
            name = self.disk_name(disk)
            yield f"0 DISK {name} {disk.size_bytes} {disk.logical_block_bytes} hd 255 sc 63"
            if disk.partitions and not self._is_whole(disk):
                yield f"1 PART {name}p1 {disk.size_bytes - 16777216} {disk.logical_block_bytes} i 1 o 1048576 ty freebsd-zfs xs GPT xt 516e7cba-6ecf-11d6-8ff8-00022d09712b"
            if self.diskid and (self._is_whole(disk) or not self._is_imported(disk)):
                yield f"1 LABEL diskid/DISK-{disk.serial} {disk.size_bytes} {disk.logical_block_bytes} i 0 o 0"
            yield from self.stacked.get(name, ())

    def _buses(self) -> Iterator[str]:
        yield "scbus0 on mpr0 bus 0:"
        for number, disk in enumerate(self.node.disks):
            yield f"<{disk.vendor} {disk.model} {disk.rev}>   at scbus0 target {number} lun 0 (pass{number},{self.disk_name(disk)})"


def _number(letters: str) -> int:
    """0 of "a", 26 of "aa"."""
    value = 0
    for letter in letters:
        value = value * 26 + ord(letter) - ord("a") + 1
    return value - 1


_FIXED: Mapping[tuple[str, ...], tuple[int, str, str]] = {
    ("uname", "-s"): (0, "FreeBSD\n", ""),
    ("id", "-u"): (0, "0\n", ""),
    ("sha256", "-q"): (0, f"{'5' * 64}\n", ""),
    ("mount", "-p"): (0, "/dev/vtbd0p2\t\t/\t\t\tufs\trw\t\t1 1\ndevfs\t\t\t/dev\t\t\tdevfs\trw\t\t0 0\n", ""),
    ("swapinfo", "-k"): (
        0,
        "Device          1K-blocks     Used    Avail Capacity\n/dev/vtbd0p3      1048576        0  1048576     0%\n",
        "",
    ),
}
