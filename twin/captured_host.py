"""A host that plays a folder of genuine captures, so that the real collectors read what a real node once said.

A folder holds one file for each command and an `exit_codes.json` that says which. A command is answered by the file of that very
command, else by the nearest one in `NEAREST`, else it is "not found". The files under /sys, /proc and /dev/disk are put together
from the listings in `_Tree`; what no listing shows is not there. Nothing is taken from another step, except what the node is
(hostid, versions), which does not change within a scenario and is often kept in an earlier step only.
"""

import errno
import fnmatch
import json
import re
import shlex
from collections.abc import Iterator, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

from agents.host.host import Agrees, Ran, Region

# What we ask -> what was recorded, the nearest first. `-p` changes a text only where counters are above 1000.
NEAREST = {
    "zpool status -P -p": ("zpool status -P",),
    "zpool status -g -p": ("zpool status -gLP", "zpool status -gv"),
    "zpool status -j --json-int -p": ("zpool status -j --json-int",),
    "zpool status -s -p": ("zpool status -s",),
    "zpool status -L -P": ("zpool status -LPv",),
    # The nearest is one block, since the import; -g only names the rows otherwise. Rounded histograms are refused by the parser.
    "zpool iostat -v -l -H -p -g 6 2": ("zpool iostat -vlHp",),
    "zpool iostat -w -v -H -p -g": ("zpool iostat -w",),
    "zpool list -v -p -H -g": ("zpool list -v -p -H",),
    "zpool get -H -p guid,readonly,failmode,autoreplace,autoexpand,cachefile,ashift,altroot,multihost,feature@resilver_defer": (
        "zpool get all",
    ),
    "zpool --version": ("zfs version",),
    "lsscsi -i -g -s": ("lsscsi -i", "lsscsi -g -s -w", "lsscsi"),
    "dmesg": ("dmesg", "dmesg | tail -n 150"),
}
NODE_FILES = ("hostid.txt", "zpool-version.txt", "zfs-module-version.txt")
TAILS = ("dmesg | tail -n 150", "zpool events -v")  # only the older part of these was cut away, which their collectors do as well


class CapturedHost:
    """A node at one moment of the past. It cannot be written to."""

    def __init__(self, folder: Path) -> None:
        self.folder = Path(folder)
        codes = json.loads((self.folder / "exit_codes.json").read_text())
        self._files: dict[str, tuple[str, dict[str, Any]]] = {}
        for name, recorded in codes.items():
            self._files.setdefault(_plain(recorded["command"]), (name, recorded))
        self._tree = _Tree(self._text)

    def run(self, argv: Sequence[str], timeout_seconds: float) -> Ran:
        asked = " ".join(argv)
        if asked == "hostid" and self._text("hostid.txt"):
            return Ran(tuple(argv), 0, self._text("hostid.txt").split("\n")[0].encode() + b"\n", b"", 0.0)
        if asked == "zpool --version" and self._text("zpool-version.txt"):
            return Ran(tuple(argv), 0, self._text("zpool-version.txt").encode(), b"", 0.0)
        if asked.startswith("zpool history -il "):
            return self._history(argv)
        if asked.startswith("zpool status -v "):
            return self._errors(argv)
        if asked.startswith(("smartctl -j -x -n standby ", "smartctl -x -n standby ")):
            asked = asked.replace(" -n standby", "").replace("-j -x", "-x -j")
        found = next((self._files[command] for command in (asked, *NEAREST.get(asked, ())) if command in self._files), None)
        if found is None:
            return Ran(tuple(argv), None, b"", b"", 0.0, "not found")
        name, recorded = found
        exit_code, seconds = recorded["exit"], float(recorded.get("seconds", 0.0))
        stdout, stderr = self._bytes(name), self._bytes(name.replace(".txt", ".stderr.txt"))
        return Ran(
            tuple(argv),
            exit_code,
            stdout,
            stderr,
            seconds,
            "timeout" if exit_code is None else "",
            "cut" in recorded and recorded["command"] not in TAILS,
        )

    def _history(self, argv: Sequence[str]) -> Ran:
        """`zpool history -i` was recorded, for all pools at once and without the users that `-l` adds."""
        parts = re.split("^(?=History for ')", self._text("zpool-history-i.txt"), flags=re.MULTILINE)
        mine = [section for section in parts if section.startswith(f"History for '{argv[-1]}':\n")]
        return Ran(tuple(argv), 0, mine[0].encode(), b"", 0.0) if mine else Ran(tuple(argv), None, b"", b"", 0.0, "not found")

    def _errors(self, argv: Sequence[str]) -> Ran:
        """`zpool status -v` was recorded of all pools at once, in some steps with the names of devices resolved."""
        text = self._text("zpool-status-v.txt") or self._text("zpool-status-LPv.txt")
        mine = [section for section in re.split("^(?=  pool: )", text, flags=re.MULTILINE) if section.startswith(f"  pool: {argv[-1]}\n")]
        return Ran(tuple(argv), 0, mine[0].encode(), b"", 0.0) if mine else Ran(tuple(argv), None, b"", b"", 0.0, "not found")

    def read(self, path: str) -> bytes:
        if path not in self._tree.files:
            raise FileNotFoundError(errno.ENOENT, "no capture shows it", path)
        return self._tree.files[path]

    def read_device(self, path: str, regions: Sequence[Region]) -> bytes:
        raise OSError(errno.EOPNOTSUPP, "a capture has no devices", path)

    def erase(self, path: str, regions: Sequence[Region], agrees: Agrees) -> bytes:
        raise OSError(errno.EROFS, "a capture has no devices", path)

    def write(self, path: str, data: bytes) -> None:
        raise PermissionError(errno.EROFS, "a capture cannot be written to", path)

    def list(self, pattern: str) -> tuple[str, ...]:
        """Like the shell, `*` does not reach into folders."""
        return tuple(fnmatch.filter(self._tree.by_depth.get(pattern.count("/"), ()), pattern))

    def link(self, path: str) -> str:
        if path not in self._tree.links:
            raise FileNotFoundError(errno.ENOENT, "no capture shows it", path)
        return self._tree.links[path]

    def now(self) -> float:
        """The node's clock, where it was recorded; else the epoch."""
        match = re.search(r"^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)Z$", self._text("uptime.txt"), re.MULTILINE)
        return datetime.fromisoformat(match.group(1) + "+00:00").timestamp() if match else 0.0

    def _bytes(self, name: str) -> bytes:
        path = self.folder / name
        return path.read_bytes() if path.is_file() else b""

    def _text(self, name: str) -> str:
        """A recorded file. What identifies the node may be that of the nearest earlier step of the same scenario."""
        folders = [self.folder]
        if name in NODE_FILES and (self.folder.parent / "COMMANDS.md").is_file():
            earlier = (folder for folder in self.folder.parent.iterdir() if folder.is_dir() and folder.name < self.folder.name)
            folders += sorted(earlier, reverse=True)
        return next(((folder / name).read_text() for folder in folders if (folder / name).is_file()), "")


def _plain(command: str) -> str:
    """The command as a collector would spell it; a pipeline or a script stays what it is."""
    try:
        return " ".join(shlex.split(command))
    except ValueError:
        return command


class _Tree:
    """The part of /sys, /proc and /dev/disk that the recorded listings show."""

    def __init__(self, text: Any) -> None:
        self.files: dict[str, bytes] = {}
        self.links: dict[str, str] = {}
        self.folders: set[str] = set()
        self._node(text("hostid.txt"), text("zfs-module-version.txt"))
        self._disks(text("lsblk-b-o-J.txt"), text("lsblk-O-J.txt"))
        self._inquiry(text("lsscsi.txt"), text("lsscsi-t.txt"))
        self._block_links(text("sys-block-links.txt"))
        self._by_id(text("ls-by-id-by-path.txt"))
        self._enclosures(text("enclosure-attributes.txt"), text("enclosure-device-links.txt"))
        self._sas(text("sas-end-devices.txt"), text("sas-phy-counters.txt"), text("lsscsi-H.txt"))
        if text("proc-mounts.txt"):
            self._file("/proc/mounts", text("proc-mounts.txt"))
        self._kstats(text("proc-spl-kstat-zfs.txt"), text("proc-spl-kstat-dbgmsg-tail.txt"))
        self._parameters(text("zfs-parameters.txt"))
        self.by_depth: dict[int, list[str]] = {}
        for path in sorted(set(_with_parents([*self.files, *self.links, *self.folders]))):
            self.by_depth.setdefault(path.count("/"), []).append(path)

    def _file(self, path: str, value: object) -> None:
        self.files[path] = value if isinstance(value, bytes) else f"{value}".rstrip("\n").encode() + b"\n"

    def _node(self, hostid: str, module: str) -> None:
        """`hostid; hostname; uname -a`, then the distribution."""
        lines = hostid.split("\n")
        if len(lines) > 2:
            self._file("/proc/sys/kernel/hostname", lines[1])
            self._file("/proc/sys/kernel/osrelease", lines[2].split()[2])
        if module:
            self._file("/sys/module/zfs/version", module)

    def _kstats(self, listing: str, dbgmsg: str) -> None:
        """Sections of `tail -n 40`, each after a line `== POOL/NAME`. One whose heading was cut away is left out."""
        for section in re.split("^== ", listing, flags=re.MULTILINE)[1:]:
            name, _, text = section.partition("\n")
            if not re.match("[0-9]+ +[0-9]+ ", text) or text.count("\n") < 40:
                self._file(f"/proc/spl/kstat/zfs/{name}", text)
        if dbgmsg:
            self._file("/proc/spl/kstat/zfs/dbgmsg", dbgmsg)

    def _parameters(self, listing: str) -> None:
        for name, value in re.findall(r"^([^:\n]+):(.*)$", listing, re.MULTILINE):
            self._file(name if name.startswith("/") else f"/sys/module/zfs/parameters/{name}", value)

    def _disks(self, listing: str, everything: str) -> None:
        known = {entry["name"]: entry for entry in _devices(everything)}
        for device in _devices(listing):
            if device["type"] == "disk":
                self._disk(device, known.get(device["name"], {}))
            elif device["type"] == "part":
                base = f"/sys/block/{device['pkname']}/{device['name']}"
                self._file(f"{base}/partition", device["name"][len(device["name"].rstrip("0123456789")) :])
                self._file(f"{base}/size", device["size"] // 512)
                self.folders.add(f"{base}/holders")

    def _disk(self, fields: dict[str, Any], more: dict[str, Any]) -> None:
        """lsblk shows whatever holds a disk below it; nothing but partitions was ever there, so `holders` is empty."""
        base = f"/sys/block/{fields['name']}"
        self._file(f"{base}/size", fields["size"] // 512)
        self.folders.add(f"{base}/holders")
        if fields["hctl"]:
            self.links[f"{base}/device"] = f"/sys/class/scsi_device/{fields['hctl']}/device/{fields['hctl']}"
        if fields["wwn"]:
            self._file(f"{base}/device/wwid", fields["wwn"].replace("0x", "naa."))
        if fields["serial"]:
            serial = fields["serial"].encode()
            self._file(f"{base}/device/vpd_pg80", b"\0\x80" + len(serial).to_bytes(2, "big") + serial)
        if fields["model"]:
            self._file(f"{base}/device/model", fields["model"])
        for name, key in (("queue/logical_block_size", "log-sec"), ("queue/physical_block_size", "phy-sec")):
            if more.get(key):
                self._file(f"{base}/{name}", more[key])
        if "ro" in more:
            self._file(f"{base}/ro", int(more["ro"]))

    def _inquiry(self, plain: str, transport: str) -> None:
        for line in plain.split("\n"):
            found = re.fullmatch(r"\[\S+\] +disk +(.{8}) .{16} (.{4})  /dev/(\w+) *", line)
            if found and f"/sys/block/{found.group(3)}/size" in self.files:
                self._file(f"/sys/block/{found.group(3)}/device/vendor", found.group(1))
                self._file(f"/sys/block/{found.group(3)}/device/rev", found.group(2))
        for address, name in re.findall(r" sas:(0x[0-9a-f]+) +/dev/(\w+)", transport):
            if f"/sys/block/{name}/size" in self.files:
                self._file(f"/sys/block/{name}/device/sas_address", address)

    def _block_links(self, listing: str) -> None:
        for name, target in re.findall(r" (sd\w+) -> \.\./(devices/\S+)/block/", listing):
            self.links[f"/sys/block/{name}/device"] = f"/sys/{target}"
        for name, attribute, value in re.findall(r"^(sd\w+)/device/(state|wwid):(.*)$", listing, re.MULTILINE):
            self._file(f"/sys/block/{name}/device/{attribute}", value)

    def _by_id(self, listing: str) -> None:
        part = listing.split("/dev/disk/by-path:")[0]
        for name, target in re.findall(r" (\S+) -> \.\./\.\./(\S+)$", part, re.MULTILINE):
            self.links[f"/dev/disk/by-id/{name}"] = f"/dev/{target}"

    def _sas(self, devices: str, phys: str, hosts: str) -> None:
        """Ports were not recorded, so which phys make up a link is not known."""
        for name, target in re.findall(r" ((?:host|end_device-|expander-)[0-9:]+) -> \.\./\.\./(devices/\S+)$", devices, re.MULTILINE):
            self.links[f"/sys/class/{target.split('/')[-2]}/{name}"] = f"/sys/{target}"
        for name, attribute, value in re.findall(r"^(?:/sys/class/sas_device/)?([a-z_]+-[0-9:]+)/(\w+): ?(.*)$", devices, re.MULTILINE):
            self._file(f"/sys/class/sas_device/{name}/{attribute}", value)
        for name, attribute, value in re.findall(r"^(?:/sys/class/sas_phy/)?(phy-[0-9:]+)/(\w+): ?(.*)$", phys, re.MULTILINE):
            if "No such file" not in value:
                self._file(f"/sys/class/sas_phy/{name}/{attribute}", value)
        for number, driver in re.findall(r"^\[([0-9]+)\] +(\S+)", hosts, re.MULTILINE):
            self._file(f"/sys/class/scsi_host/host{number}/proc_name", driver)

    def _enclosures(self, attributes: str, links: str) -> None:
        for path, value in re.findall(r"^([^/\n]+(?:/[^/\n]+)?/\w+):(.*)$", attributes, re.MULTILINE):
            self._file(f"/sys/class/enclosure/{path}", value)
        for slot, target, disk in re.findall(r"^(/sys/class/enclosure/.+)/device -> (\S+) block: (\w+)$", links, re.MULTILINE):
            self.links[f"{slot}/device"] = target
            self.folders.add(f"{slot}/device/block/{disk}")
            if f"/sys/block/{disk}/size" in self.files:
                self.links[f"/sys/block/{disk}/device/enclosure_device:{slot.rsplit('/', 1)[1]}"] = slot


def _devices(listing: str) -> Iterator[dict[str, Any]]:
    """Every device of an lsblk listing, those below another too."""
    queue = json.loads(listing)["blockdevices"] if listing else []
    while queue:
        device = queue.pop(0)
        queue += device.get("children", [])
        yield device


def _with_parents(paths: Sequence[str]) -> Iterator[str]:
    for path in paths:
        parts = path.split("/")
        for end in range(2, len(parts) + 1):
            yield "/".join(parts[:end])
