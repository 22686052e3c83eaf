"""A storage node of 400 disks on two paths, made of files: sysfs, device links, label images, and tools that take their time.

The tools are shell scripts that sleep as long as the real ones take and then print what the real ones would; whoever asks them,
pays the same. `RootedHost` is the agent's real door to the machine, led into this folder.
"""

from __future__ import annotations

import errno
import json
import os
from collections.abc import Iterator, Sequence
from pathlib import Path

from agents.host.host import Agrees, LocalHost, Ran, Region

DISKS, PATHS = 400, 2
WIDTH = 10  # of each raidz2
IMAGE_BYTES = 8 * 1024 * 1024  # a partition; sparse but for its labels
LABEL, NVLIST = 256 * 1024, (16 * 1024, 112 * 1024)
SLEEP = {"zdb": 0.016, "sg_inq": 0.020, "smartctl": 0.020, "zpool": 0.050, "lsscsi": 0.050, "hostid": 0.001}
HUNG = "sdq"  # the device that hangs, where one is asked for


class RootedHost(LocalHost):
    """This machine's agent, in a folder that stands for the machine. Counts what it runs."""

    def __init__(self, root: str) -> None:
        super().__init__()
        self._root, self.ran = root, []

    def run(self, argv: Sequence[str], timeout_seconds: float) -> Ran:
        tool = f"{self._root}/bin/{argv[0]}"
        if not os.path.exists(tool):
            return Ran(tuple(argv), None, b"", b"", 0.0, "not found")
        self.ran.append(argv[0])
        return super().run((tool, *argv[1:]), timeout_seconds)

    def read(self, path: str) -> bytes:
        return super().read(self._root + path)

    def read_device(self, path: str, regions: Sequence[Region]) -> bytes:
        return super().read_device(self._root + path, regions)

    def erase(self, path: str, regions: Sequence[Region], agrees: Agrees) -> bytes:
        raise OSError(errno.EROFS, "a node to measure is only read", path)

    def list(self, pattern: str) -> tuple[str, ...]:
        return tuple(path[len(self._root) :] for path in super().list(self._root + pattern))

    def link(self, path: str) -> str:
        return super().link(self._root + path)[len(self._root) :]


def make(root: Path) -> None:
    """Write the node."""
    root.mkdir(parents=True)
    names = list(kernel_names(DISKS * PATHS))
    for number in range(DISKS):
        image(root / f"images/{number}", number)
        (root / f"zdb/{number}").parent.mkdir(exist_ok=True)
        (root / f"zdb/{number}").write_text(label(number))
        (root / f"smart/{number}").parent.mkdir(exist_ok=True)
        (root / f"smart/{number}").write_text(smart(number))
        for path in range(PATHS):
            device(root, names[number + path * DISKS], number, path)
    enclosures(root, names)
    folder(root / "proc", {"mounts": "sysfs /sys sysfs rw 0 0\n", "swaps": "Filename Type Size Used Priority\n"})
    kernel = {"hostname": "big01\n", "osrelease": "5.14.0-503.el9.x86_64\n", "random/boot_id": "b6f3a7f0-0f0d-4c57-9c3f-1b6a1f0f2a11\n"}
    folder(root / "proc/sys/kernel", kernel)
    (root / "status").write_text(pool_status([f"disk/by-id/wwn-0x{wwid(number)}-part1" for number in range(DISKS)]))
    (root / "status-L").write_text(pool_status([f"{name}1" for name in names[-DISKS:]]))  # where the links lead: udev keeps the last
    (root / "lsscsi").write_text("".join(lsscsi(names)))
    tools(root)


def kernel_names(count: int) -> Iterator[str]:
    for number in range(count):
        name = ""
        number += 1
        while number:
            number, letter = divmod(number - 1, 26)
            name = chr(97 + letter) + name
        yield f"sd{name}"


def wwid(number: int) -> str:
    return f"5000c500a6{number * 16 + 11:06x}"


def image(path: Path, number: int, txg: int = 4) -> None:
    """A partition with four labels, whose bytes differ from every other disk's."""
    path.parent.mkdir(exist_ok=True)
    with path.open("wb") as file:
        file.truncate(IMAGE_BYTES)
        for at in (0, LABEL, IMAGE_BYTES - 2 * LABEL, IMAGE_BYTES - LABEL):
            file.seek(at + NVLIST[0])
            file.write(f"{number} {txg} {at};".encode().ljust(32, b".") * (NVLIST[1] // 32))


def label(number: int, txg: int = 4) -> str:
    """As `zdb -l` prints a member of a raidz2 of ten."""
    top = number // WIDTH
    lines = ["-" * 36, "LABEL 0 ", "-" * 36, "    version: 5000", "    name: 'big'", "    state: 0", f"    txg: {txg}"]
    lines += [f"    pool_guid: {77}", "    errata: 0", "    hostid: 1529846785", "    hostname: 'big01'"]
    lines += [f"    top_guid: {1000 + top}", f"    guid: {9_000_000_000_000_000_000 + number}", f"    vdev_children: {DISKS // WIDTH}"]
    lines += ["    vdev_tree:", "        type: 'raidz'", f"        id: {top}", f"        guid: {1000 + top}", "        nparity: 2"]
    lines += ["        metaslab_array: 137", "        metaslab_shift: 34", "        ashift: 12", "        asize: 100000000000000"]
    lines += ["        is_log: 0", "        create_txg: 4"]
    for child in range(WIDTH):
        leaf = top * WIDTH + child
        path = f"/dev/disk/by-id/wwn-0x{wwid(leaf)}-part1"
        lines += [f"        children[{child}]:", "            type: 'disk'", f"            id: {child}"]
        lines += [f"            guid: {9_000_000_000_000_000_000 + leaf}", f"            path: '{path}'"]
        lines += [f"            devid: 'scsi-3{wwid(leaf)}-part1'", f"            phys_path: 'pci-0000:b3:00.0-sas-phy{leaf % 64}-lun-0'"]
        lines += ["            whole_disk: 1", "            create_txg: 4"]
    lines += ["    features_for_read:", "        com.delphix:hole_birth", "        com.delphix:embedded_data", "    labels = 0 1 2 3 "]
    return "\n".join(lines) + "\n"


def smart(number: int) -> str:
    """About as long as `smartctl -j -x` of a SAS disk."""
    scan = {f"result_{n}": {"lba_from_first_lba": n * 4096, "sense_key": 3, "asc": 17, "reassign_status": "Successful"} for n in range(60)}
    fields = {
        "json_format_version": [1, 0],
        "smartctl": {"version": [7, 3], "exit_status": 0},
        "device": {"name": "/dev/sda", "type": "scsi", "protocol": "SCSI"},
        "vendor": "SEAGATE",
        "product": "ST10000NM0256",
        "logical_unit_id": f"0x{wwid(number)}",
        "serial_number": f"ZA2{number:05d}",
        "smart_status": {"passed": True},
        "temperature": {"current": 31},
        "scsi_grown_defect_list": number % 7,
        "scsi_background_scan": scan,
    }
    return json.dumps(fields, indent=2) + "\n"


def folder(path: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        (path / name).parent.mkdir(parents=True, exist_ok=True)
        (path / name).write_text(text)


def link(path: Path, target: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.symlink_to(os.path.relpath(target, path.parent))


def device(root: Path, name: str, number: int, path: int) -> None:
    """One path to one disk."""
    scsi = root / f"sys/devices/pci0/host{path}/target{path}:0:{number}/{path}:0:{number}:0"
    block, part = scsi / f"block/{name}", scsi / f"block/{name}/{name}1"
    about = {"vendor": "SEAGATE \n", "model": "ST10000NM0256   \n", "rev": "TT54\n", "state": "running\n"}
    folder(scsi, about | {"wwid": f"naa.{wwid(number)}\n", "sas_address": f"0x{wwid(number)[:-1]}{path + 8}\n", "timeout": "30\n"})
    serial = f"ZA2{number:05d}".encode()
    (scsi / "vpd_pg80").write_bytes(b"\0\x80" + len(serial).to_bytes(2, "big") + serial)
    folder(block, {"size": f"{IMAGE_BYTES // 512 + 4096}\n", "ro": "0\n", "queue/logical_block_size": "512\n"})
    folder(block, {"queue/physical_block_size": "4096\n", "stat": "0 " * 17 + "\n"})
    folder(part, {"partition": "1\n", "size": f"{IMAGE_BYTES // 512}\n"})
    (block / "holders").mkdir()
    (part / "holders").mkdir()
    link(block / "device", scsi)
    for where, target in (("sys/block", block), ("sys/class/block", block)):
        link(root / where / name, target)
    link(root / f"sys/class/block/{name}1", part)
    (root / "dev").mkdir(exist_ok=True)
    (root / f"dev/{name}").touch()
    os.link(root / f"images/{number}", root / f"dev/{name}1")
    (root / "of").mkdir(exist_ok=True)
    (root / f"of/{name}").symlink_to(f"../zdb/{number}")
    (root / f"of/{name}1").symlink_to(f"../zdb/{number}")
    (root / f"of/{name}.smart").symlink_to(f"../smart/{number}")
    if path == PATHS - 1:  # udev keeps the last
        link(root / f"dev/disk/by-id/wwn-0x{wwid(number)}", root / f"dev/{name}")
        link(root / f"dev/disk/by-id/wwn-0x{wwid(number)}-part1", root / f"dev/{name}1")


def enclosures(root: Path, names: Sequence[str]) -> None:
    """Five shelves of eighty bays, each seen over both paths."""
    for path in range(PATHS):
        for shelf in range(5):
            base = root / f"sys/class/enclosure/{path}:0:{900 + shelf}:0"
            folder(base, {"id": f"0x50050cc11ac0{shelf:04x}\n"})
            for bay in range(80):
                values = {"slot": f"{bay}\n", "type": "array device\n", "status": "OK\n", "power_status": "on\n"}
                folder(base / f"{bay}", values | dict.fromkeys(("locate", "fault", "active"), "0\n"))
                number = shelf * 80 + bay
                link(base / f"{bay}/device", root / f"sys/devices/pci0/host{path}/target{path}:0:{number}/{path}:0:{number}:0")


def pool_status(members: Sequence[str]) -> str:
    lines = ["  pool: big", " state: ONLINE", "  scan: none requested", "config:", ""]
    lines += ["\tNAME  STATE  READ WRITE CKSUM", "\tbig  ONLINE  0  0  0"]
    for top in range(DISKS // WIDTH):
        lines.append(f"\t  raidz2-{top}  ONLINE  0  0  0")
        lines += [f"\t    /dev/{members[top * WIDTH + n]}  ONLINE  0  0  0" for n in range(WIDTH)]
    return "\n".join(lines) + "\n\nerrors: No known data errors\n"


def lsscsi(names: Sequence[str]) -> Iterator[str]:
    for place, name in enumerate(names):
        path, number = divmod(place, DISKS)
        where = f"[{path}:0:{number}:0]"
        yield f"{where:<12} disk    SEAGATE  ST10000NM0256    TT54  /dev/{name}   3{wwid(number)}  /dev/sg{place}  9.79TB\n"


def tools(root: Path) -> None:
    """A device named last on the command line decides what is printed; where a file `hangs` names it, nothing ever is."""
    of_disk = 'for name; do :; done\nname=${name##*/}\n[ -e "$root/hangs/$name" ] && exec sleep 1000000\n'
    bodies = {
        "zdb": of_disk + 'sleep {s}\nexec cat "$root/of/$name"\n',
        "sg_inq": of_disk + 'sleep {s}\nexec cat "$root/of/$name"\n',
        "smartctl": of_disk + 'sleep {s}\nexec cat "$root/of/$name.smart"\n',
        "zpool": 'sleep {s}\ncase "$1$2" in status-L) exec cat "$root/status-L" ;; status*) exec cat "$root/status" ;; --version) echo zfs-2.1.15-1; echo zfs-kmod-2.1.15-1 ;;\n'
        "import) echo 'no pools available to import' >&2; exit 1 ;; *) exit 2 ;; esac\n",
        "lsscsi": 'sleep {s}\nexec cat "$root/lsscsi"\n',
        "hostid": "echo 5b2f9c01\n",
    }
    (root / "bin").mkdir()
    (root / "hangs").mkdir()
    for name, body in bodies.items():
        path = root / f"bin/{name}"
        path.write_text(f"#!/bin/sh\nroot={root}\n" + body.replace("{s}", f"{SLEEP[name]}"))
        path.chmod(0o755)


def hang(root: Path, name: str = HUNG) -> None:
    """From now on this device never answers: neither a tool that asks it nor a thread that opens it ever comes back."""
    (root / f"hangs/{name}").touch()
    (root / f"hangs/{name}1").touch()
    (root / f"dev/{name}1").unlink()
    os.mkfifo(root / f"dev/{name}1")


def unhang(root: Path, name: str = HUNG) -> None:
    for path in (root / f"hangs/{name}", root / f"hangs/{name}1", root / f"dev/{name}1"):
        path.unlink()
    os.link(root / f"images/{list(kernel_names(DISKS)).index(name)}", root / f"dev/{name}1")
