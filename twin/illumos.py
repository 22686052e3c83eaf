"""The same simulated node under illumos: its disks behind scsi_vhci, by diskinfo and /dev/rdsk, its boot by /proc, no /sys.

A disk that a pool took has an EFI label, and the pool's data are in slice 0; a blank one has none, and only zeros at its ends.
"""

import json
import re
from collections.abc import Mapping, Sequence

from agents.domain.wwid import by_id_path
from agents.host.host import Ran
from twin.host import TwinHost
from twin.model import Disk
from twin.other_system import OtherSystemHost

_TOOLS = ("zpool", "zfs", "zdb", "smartctl", "hostid")
_MIB = 1 << 20
_ZEROS = f"0000000{' 00' * 16}\n*\n"
_MEMBER, _WHOLE = re.compile(r"/dev/(?:disk/by-id/[\w.-]+?-part1|sd[a-z]+1)(?![\w-])"), re.compile(r"/dev/(?:disk/by-id/[\w.-]+|sd[a-z]+)")
_STRINGS, _DEVID = (
    re.compile(r"^ +(?:phys_path|vdev_enc_sysfs_path): .*\n", re.MULTILINE),
    re.compile(r"(devid: ')scsi-3([0-9a-f]{16})-part1'"),
)
MOUNTS = (
    "rpool/ROOT/omnios\t/\tzfs\trw,devices,setuid,nonbmand,exec,xattr,atime,dev=4310002\t1795248000\n"
    "swap\t/var/run\ttmpfs\txattr,dev=8540002\t1795248001\n"
)


class IllumosHost(OtherSystemHost):
    """A twin's host, asked and answered in illumos' names. `slices`: disk -> further rows of its table.

    `opened`: disk -> what has it open. `exported`: disks that COMSTAR exports. `ends`: disk -> a row of `od` that is not zeros. `targets`: disk -> where its
    names lead. `answers`: a command -> exit code, output and errors.
    """

    def __init__(
        self,
        host: TwinHost,
        *,
        made: tuple[str, str] = ("2026-11-29 21:04:11.123456789", "2026-11-29 21:04:11.654321098"),
        zone: str = "global",
        opened: Mapping[str, str] | None = None,
        exported: Sequence[str] = (),
        ends: Mapping[str, str] | None = None,
        slices: Mapping[str, Sequence[str]] | None = None,
        targets: Mapping[str, str] | None = None,
        answers: Mapping[tuple[str, ...], tuple[int | None, str, str]] | None = None,
    ) -> None:
        super().__init__(host)
        self.made, self.zone = made, zone
        self.opened, self.exported, self.ends, self.targets = dict(opened or {}), exported, dict(ends or {}), dict(targets or {})
        self.answers, self.slices = dict(answers or {}), dict(slices or {})

    @property
    def boot_id(self) -> str:
        date, time = self.made[0].split()
        fraction = time.partition(".")[2]
        head = f"{date.replace('-', '')}-{time[:2]}{time[3:5]}-{time[6:8]}{fraction[:2]}"
        return f"{head}-{fraction[2:6]}-{fraction[6:]}{self.made[1].partition('.')[2]}"

    def run(self, argv: Sequence[str], timeout_seconds: float) -> Ran:
        argv = tuple(argv)
        if guids := self._guids(argv):
            return guids
        answer = self.answers.get(argv) or self._host_has(argv)
        return self._run_there(argv, timeout_seconds) if answer is None and argv[0] in _TOOLS else self._ran(argv, answer)

    def read(self, path: str) -> bytes:
        return MOUNTS.encode() if path == "/etc/mnttab" else super().read(path)

    def list(self, pattern: str) -> tuple[str, ...]:
        return (pattern,) if pattern in ("/dev/rdsk", "/etc/mnttab") else ()

    def disk_name(self, disk: Disk) -> str:
        return f"c0t{disk.hex.upper()}d0"

    def _named(self, name: str) -> Disk | None:
        return next((disk for disk in self.node.disks if self.disk_name(disk) == name), None)

    def _run_there(self, argv: tuple[str, ...], timeout_seconds: float) -> Ran:
        ran = self._host.run([self._ours(word) for word in argv], timeout_seconds)
        out = self._theirs(ran.stdout)
        if argv[0] == "smartctl" and "-j" in argv and out.startswith(b"{"):
            document = json.loads(out)
            disk = self._named(argv[-1].removeprefix("/dev/rdsk/").removesuffix("p0"))
            document["logical_block_size"] = disk.logical_block_bytes if disk else 0
            out = json.dumps(document).encode()
        return Ran(argv, ran.exit_code, out, self._theirs(ran.stderr), ran.seconds, ran.why, ran.truncated)

    def _ours(self, word: str) -> str:
        found = re.fullmatch(r"/dev/r?dsk/(c0t[0-9A-F]+d0)(p0|s0|)", word)
        disk = self._named(found.group(1)) if found else None
        if found is None or disk is None:
            return word
        if word.startswith("/dev/dsk/") and not found.group(2):
            return str(by_id_path(disk.wwid))
        return f"/dev/{disk.paths[0].name}{'1' if found.group(2) == 's0' else ''}"

    def _theirs(self, text: bytes) -> bytes:
        by_path = {f"/dev/{path.name}": disk for disk in self.node.disks for path in disk.paths}
        by_path |= {str(by_id_path(disk.wwid)): disk for disk in self.node.disks}

        def name(path: str, slice_: str, folder: str = "dsk") -> str:
            disk = by_path.get(path)
            return f"/dev/{folder}/{self.disk_name(disk)}{slice_}" if disk else f"/dev/dsk/c2t9d0{slice_}"

        plain = _DEVID.sub(r"\1id1,sd@n\2/a'", _STRINGS.sub("", text.decode()))
        plain = _MEMBER.sub(lambda found: name(re.sub(r"(?:-part)?1$", "", found.group()), "s0"), plain)
        return _WHOLE.sub(lambda found: name(found.group(), "p0", "rdsk"), plain).encode()

    def _users(self, name: str, disk: Disk) -> str:
        users = ["zfs"] if self._is_imported(disk) else []
        return "".join(f" [{user}]" for user in (*users, *filter(None, [self.opened.get(name, "")])))

    def _host_has(self, argv: tuple[str, ...]) -> tuple[int, str, str] | None:
        """What illumos' own tools print here."""
        texts = {
            ("uname", "-s"): "SunOS\n", ("uname", "-o"): "illumos\n", ("uname", "-n"): f"{self.node.hostname}\n", ("uname", "-v"): "omnios-r151050-0d3ac2b1f7\n",
            ("zonename",): f"{self.zone}\n", ("id", "-u"): "0\n", ("diskinfo", "-Hcp"): self._listed(), ("ls", "-l", "/dev/rdsk"): self._links(),
            ("ls", "-dE", "/proc/0", "/proc/3"): "".join(
                f"dr-x--x--x   5 root     root         864 {at} +0000 /proc/{number}\n" for number, at in zip((0, 3), self.made, strict=True)
            ),
        }  # fmt: skip
        if argv in texts:
            return 0, texts[argv], ""
        if argv == ("swap", "-l"):
            return (
                0,
                "swapfile             dev    swaplo   blocks     free\n/dev/zvol/dsk/rpool/swap 229,1        8  2097144  2097144\n",
                "",
            )
        if argv == ("stmfadm", "list-lu", "-v"):
            return 0, "".join(f"LU Name: 600144F0\n    Data File         : /dev/rdsk/{name}p0\n" for name in self.exported), ""
        if argv[:2] in (("zpool", "--version"), ("zpool", "events")):
            return 2, "", f"unrecognized command '{argv[1]}'\n"
        if argv[0] in _TOOLS:
            return None
        name = (
            argv[1] if argv[0] == "ends_of_disk" else argv[-1].removeprefix("/dev/rdsk/").removeprefix("if=/dev/rdsk/").removesuffix("p0")
        )
        disk = self._named(name)
        if argv[:2] == ("fuser", "-d") and disk:
            return 0, "", f"/dev/rdsk/{name}p0: {self._users(name, disk)}\n"
        if argv[:2] == ("prtvtoc", "-h") and (disk := self._named(argv[2].removeprefix("/dev/rdsk/").removesuffix("s0"))):
            last = disk.size_bytes // disk.logical_block_bytes - 16640
            return (
                0,
                self._row(0, 4, 256, last) + "".join(self.slices.get(self.disk_name(disk), ())) + self._row(8, 11, last + 1, last + 16384),
                "",
            )
        if argv[0] == "ends_of_disk" and disk:
            ends = (4 * _MIB, disk.size_bytes - int(argv[2]) * _MIB)
            return 0, "".join(f"{self.ends.get(name, _ZEROS)}{end:07d}\n" for end in ends), ""
        return None

    def _row(self, number: int, tag: int, first: int, last: int) -> str:
        return f"  {number:6}   {tag:4}    00  {first:11} {last - first + 1:11} {last:11}\n"

    def _listed(self) -> str:
        rows = ((self.disk_name(disk), disk) for disk in self.node.disks)
        return "".join(f"SCSI\t{name}\t{disk.vendor}\t{disk.model}\t{disk.serial}\t{disk.size_bytes}\t----\t0,-1\n" for name, disk in rows)

    def _links(self) -> str:
        lines = [f"total {len(self.node.disks)}\n"]
        for disk in self.node.disks:
            name = self.disk_name(disk)
            target = self.targets.get(name, f"/scsi_vhci/disk@g{disk.hex}")
            for slice_, minor in (("", "wd"), ("p0", "q"), ("s0", "a")) if disk.partitions else (("p0", "q"), ("s0", "a"), ("s7", "h")):
                lines.append(f"lrwxrwxrwx   1 root     root          48 Nov 29 21:04 {name}{slice_} -> ../../devices{target}:{minor},raw\n")
        return "".join(lines)
