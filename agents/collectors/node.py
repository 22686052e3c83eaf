"""Who the node is: name, hostid, this boot, kernel, and the OpenZFS versions of tools and module.

The hostid is asked three times, because ZFS takes it from the module's parameter, else from the file, else from `hostid`. What the firmware
calls the machine (DMI) tells later whose power was switched off; only root may read its serial numbers.

FreeBSD has no such files: there `sysctl` says the same. Its boot id are 16 random bytes that stay for one boot (sys/kern/kern_mib.c: sysctl_bootid,
since FreeBSD 13; `sysctl -x` prints them in hex). kern.boottime is none: a step of the clock moves it. ZFS takes kern.hostid as its hostid. What
illumos says of its boot is in `_boot_of_illumos`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from agents.collectors import _boot_of_illumos, _geom
from agents.collectors._lines import torn_end
from agents.collectors._sysfs import attribute, binary, whole
from agents.collectors.base import Capture, Unparsed, decode
from agents.domain.listed_disks import FREEBSD
from agents.host.host import Host

NAME = "node"
EVERY_SECONDS = 60
TIMEOUT_SECONDS = 10

_FILES = {
    "/proc/sys/kernel/hostname": "hostname",
    "/proc/sys/kernel/random/boot_id": "boot_id",
    "/proc/sys/kernel/osrelease": "kernel",
    "/sys/module/zfs/version": "zfs_module",
    "/sys/module/spl/parameters/spl_hostid": "hostid_spl",
}
DMI = "/sys/class/dmi/id"
_DMI = ("sys_vendor", "chassis_serial", "product_serial", "board_serial", "product_uuid")
HOSTID_FILE = "/etc/hostid"
STAT = "/proc/stat"  # its line "btime" is when this boot began; an uptime would be news every time
_COMMANDS = (("hostid",), ("zpool", "--version"))
SYSCTL = ("sysctl", "kern.ostype", "kern.hostname", "kern.osrelease", "kern.hostid")
BOOT_ID = ("sysctl", "-x", "kern.boot_id")
PREPARES, POWERS = "zfs_prepare_disk", "ZPOOL_AUTO_POWER_ON_SLOT"
_EXEC_FOLDERS = ("/usr/lib/zfs-linux", "/usr/libexec/zfs", "/usr/lib/zfs", "/usr/local/libexec/zfs")  # ZFSEXECDIR of Debian, of others
_SETTINGS = ("/etc/environment", "/etc/default/zfs", "/etc/profile.d/*.sh")
_SET = re.compile(rf"[ \t]{{0,40}}(?:export[ \t]{{1,9}})?{POWERS}=")


@dataclass(frozen=True)
class NodeInfo:
    """None: the node did not say. Before 0.8 the tools have no `--version`."""

    hostname: str | None
    hostid: str | None  # eight hexadecimal digits, as `hostid` prints it
    boot_id: str | None
    kernel: str | None
    zfs_userland: str | None  # "2.1.11-1+deb12u1"
    zfs_module: str | None
    hostid_file: str | None = None  # /etc/hostid, as eight hexadecimal digits
    hostid_spl: str | None = None  # the module's parameter; "00000000" says nothing
    booted_at: int | None = None  # Unix time, seconds
    prepares: str | None = None  # the site's script that `zpool replace` runs as root on a new disk, where one is there
    sys_vendor: str | None = None  # DMI, as the firmware has it, placeholders too
    chassis_serial: str | None = None
    product_serial: str | None = None
    board_serial: str | None = None
    product_uuid: str | None = None
    system: str | None = None  # "FreeBSD", "illumos"; None on Linux, and where it was not asked
    powers: str | None = None  # the file that has `zpool online` and `clear`, given by hand, switch the power of slots on


def collect(host: Host) -> tuple[Capture, ...]:
    lines = [line for path in _FILES for line in attribute(host, path)] + binary(host, HOSTID_FILE)
    lines += [line for name in _DMI for line in attribute(host, f"{DMI}/{name}")]
    lines += [line for line in attribute(host, STAT) if line.startswith(f"{STAT}:btime ")]
    lines += [f"{PREPARES}:{path}" for path in prepares(host)[:1]] + [f"{POWERS}:{path}" for path in _powers(host)[:1]]
    for argv in _COMMANDS:
        ran = host.run(argv, TIMEOUT_SECONDS)
        if ran.exit_code == 0:
            lines += [f"{' '.join(argv)}:{line}" for line in decode(ran.stdout).rstrip("\n").split("\n")]
    if of_illumos := _boot_of_illumos.lines(host):
        lines += of_illumos
    elif not host.list("/proc/sys/kernel/osrelease"):
        lines += _geom.sysctls(host, SYSCTL, TIMEOUT_SECONDS) + _geom.sysctls(host, BOOT_ID, TIMEOUT_SECONDS)
    if not lines:
        return (Capture(NAME, "", "failed", "", "the node reports neither its name nor its hostid"),)
    return (Capture(NAME, "", "data", "\n".join(lines) + "\n"),)


def prepares(host: Host) -> list[str]:
    """Where the site has a script for new disks. Whether it is executable is not asked: whoever put it there means it."""
    return [path for folder in _EXEC_FOLDERS for path in host.list(f"{folder}/{PREPARES}")]


def _powers(host: Host) -> list[str]:
    """Files that set the variable for people's shells. What cannot be read sets nothing that an order would meet: that has an environment of its own."""
    return [path for pattern in _SETTINGS for path in host.list(pattern) if any(map(_SET.match, attribute_text(host, path)))]


def attribute_text(host: Host, path: str) -> list[str]:
    return [line[len(path) + 1 :] for line in attribute(host, path)]


def parse(text: str) -> NodeInfo | Unparsed:
    """What `text` says of the node, or the first line that made no sense. Never raises."""
    torn = torn_end(text)
    if torn is not None:
        return torn
    fields: dict[str, str] = {}
    of_illumos: dict[str, str] = {}
    for line in text.rstrip("\n").split("\n"):
        source, _, value = line.partition(":")
        value = value.strip()
        if source == "hostid" and re.fullmatch("[0-9a-f]{1,8}", value):
            fields["hostid"] = value.zfill(8)
        elif source == "zpool --version" and value.startswith("zfs-kmod-"):
            fields.setdefault("zfs_module", value[len("zfs-kmod-") :].removeprefix("zfswin-"))  # where /sys says nothing
        elif source == "zpool --version" and value.startswith(("zfs-", "zfswin-")):
            fields["zfs_userland"] = value.partition("-")[2]
        elif source == HOSTID_FILE and re.fullmatch("[0-9a-f]{8}", value):
            fields["hostid_file"] = bytes.fromhex(value)[::-1].hex()  # the file has its bytes in the order of the machine
        elif source == STAT and re.fullmatch("btime [0-9]{9,11}", value):
            fields["booted_at"] = value[len("btime ") :]
        elif source == "/sys/module/spl/parameters/spl_hostid" and (whole(value) or 0) < 2**32 and whole(value) is not None:
            fields["hostid_spl"] = f"{whole(value):08x}"
        elif source in (PREPARES, POWERS) and value.startswith("/"):
            fields["prepares" if source == PREPARES else "powers"] = value
        elif source.startswith(f"{DMI}/") and source[len(DMI) + 1 :] in _DMI:
            fields[source[len(DMI) + 1 :]] = value
        elif _boot_of_illumos.take(source, value, of_illumos):
            continue
        elif source == "sysctl" and (kept := _of_sysctl(value)) is not None:
            fields |= kept
        elif source in _FILES and _FILES[source] != "hostid_spl":
            fields[_FILES[source]] = value
        else:
            return Unparsed("a line about the node cannot be read", line)
    booted_at = fields.pop("booted_at", None)
    if fields.get("system") != FREEBSD:
        fields = {name: value for name, value in fields.items() if name not in ("system", "boot_id_of_sysctl")}
    elif boot_id := fields.pop("boot_id_of_sysctl", ""):
        fields["boot_id"] = boot_id
    if found := _boot_of_illumos.fields_of(of_illumos):
        fields |= {"hostname": of_illumos.get("hostname", ""), **found}
    return NodeInfo(**{name: fields.get(name) or None for name in _WORDS}, booted_at=None if booted_at is None else int(booted_at))


_BOOT_ID = re.compile(r"Format:\S{0,20} Length:16 Dump:0x([0-9a-f]{8})([0-9a-f]{4})([0-9a-f]{4})([0-9a-f]{4})([0-9a-f]{12})")
_OF_SYSCTL = {"kern.ostype": "system", "kern.hostname": "hostname", "kern.osrelease": "kernel"}


def _of_sysctl(line: str) -> dict[str, str] | None:
    """What one line of sysctl says of the node; {} where it holds none of it, None where it is no such line."""
    name, colon, value = line.partition(": ")
    if not colon or not name.startswith("kern."):
        return None
    if name in _OF_SYSCTL:
        return {_OF_SYSCTL[name]: value}
    if name == "kern.hostid" and (whole(value) or 0) < 2**32 and whole(value):
        return {"hostid": f"{whole(value):08x}"}
    found = _BOOT_ID.fullmatch(value) if name == "kern.boot_id" else None
    return {"boot_id_of_sysctl": "-".join(found.groups())} if found else {}


_WORDS = (
    *("system", "hostname", "hostid", "boot_id", "kernel", "zfs_userland", "zfs_module", "hostid_file", "hostid_spl", "prepares", "powers"),
    *_DMI,
)


def module_version(host: Host) -> tuple[int, int] | None:
    """The loaded module's version, for sources that one version has and another has not. None: not loaded, or not Linux."""
    try:
        return version(decode(host.read("/sys/module/zfs/version")).strip())
    except OSError:
        return None


def version(text: str | None) -> tuple[int, int] | None:
    """(2, 1) of "2.1.11-1+deb12u1" or "v0.8.3-1ubuntu12"."""
    found = re.match(r"v?([0-9]{1,4})\.([0-9]{1,4})", text or "")
    return (int(found.group(1)), int(found.group(2))) if found else None
