"""What a situation says of a FreeBSD or illumos host, in the names and commands of that system: the detectors use those of Linux.

Which system it is, the names of a pool's members show. Where they do not, or do not agree, nothing is changed.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import NamedTuple

from workflows.engine.core import Cure, Situation
from workflows.facts import NodeFacts

FREEBSD, ILLUMOS = "FreeBSD", "illumos"
BY_ID = "/dev/disk/by-id"
_FREEBSD = re.compile(
    r"(?:/dev/)?(?:(gpt|gptid|diskid|label|multipath)/.+|(?:a?da|nda|nvd|mfid|vtbd)[0-9]{1,4}(?:p[0-9]{1,3})?(?:\.eli|\.nop)?)"
)
_ILLUMOS = re.compile(r"(?:/dev/r?dsk/)?c[0-9]{1,4}(?:t[0-9A-F]{1,32})?d[0-9]{1,4}(?:[sp][0-9]{1,2})?")
_LINUX = re.compile(
    r"(?:/dev/)?(?:sd|vd|xvd|hd)[a-z]{1,4}[0-9]{0,3}|(?:/dev/disk/.+|(?:wwn|ata|scsi|nvme|usb|dm)-.+|nvme[0-9]+n[0-9]+(?:p[0-9]+)?)"
)


class System(NamedTuple):
    name: str  # FREEBSD, ILLUMOS; "" for Linux, and where it is not known
    folder: str = ""  # under /dev, in which most of the members have stable names; "" where they have none


def system_of(node: NodeFacts) -> System:
    """By the names of all members that were read, imported or not, and of a lost one by the name that it had."""
    names = list(_members(node))
    freebsd = [found for name in names if (found := _FREEBSD.fullmatch(name))]
    illumos = [name for name in names if _ILLUMOS.fullmatch(name)]
    if any(map(_LINUX.fullmatch, names)) or (freebsd and illumos):
        return System("")
    if freebsd:
        folders = Counter(found.group(1) for found in freebsd if found.group(1))
        return System(FREEBSD, f"/dev/{folders.most_common(1)[0][0]}" if folders else "")
    return System(ILLUMOS, "/dev/dsk") if illumos else System("")


def _members(node: NodeFacts) -> Iterator[str]:
    pools = (*(pool.tops_read for pool in node.pools_read), *(pool.tops for pool in node.importable_read))
    leaves = (leaf for tops in pools for _, top in tops for leaf in top.leaves())
    yield from (leaf.was or "" if leaf.name.isdigit() else leaf.name for leaf in leaves)


_DISKS = {FREEBSD: ("camcontrol", "devlist", "-v"), ILLUMOS: ("iostat", "-En")}
_HOSTID = {FREEBSD: (("service", "hostid", "start"),), ILLUMOS: ()}
_TEXTS: dict[str, tuple[tuple[str, str], ...]] = {
    FREEBSD: (
        ("`ls -l /dev/disk/by-id`", "`glabel status`"),
        ("/dev/disk/by-id/NEW_DISK", "/dev/gpt/NEW_DISK"),
        ("/sys/class/sas_host", "the kernel's log"),
        ("/sys/module/zfs/version", "`sysctl vfs.zfs.version.module`"),
        ("`modprobe zfs`", "`kldload zfs`"),
        ("`lsblk -f`", "`gpart show`"),
        ("`zgenhostid`", "`service hostid start`"),
        ("`sg_ses --join`", "`sesutil status`"),
        ("`systemctl status zfs-zed`", "`service zfsd status`"),
        ("`edac-util -v`, `ras-mc-ctl --errors`, `mcelog`", "`mcelog`"),
    ),
    ILLUMOS: (
        ("`ls -l /dev/disk/by-id`", "`ls -l /dev/dsk`"),
        ("/sys/class/sas_host", "`cfgadm -al`"),
        ("`modprobe zfs`", "`modload zfs`"),
        ("`zgenhostid`", "/etc/hostid of the installation"),
        ("`sg_ses --join`", "`/usr/lib/fm/fmd/fmtopo`"),
        ("`systemctl status zfs-zed`", "`fmadm config`"),
        ("`edac-util -v`, `ras-mc-ctl --errors`, `mcelog`", "`fmadm faulty`"),
        ("`lsblk -f`", "`prtvtoc`"),
    ),
}
# By the first words of a command, what asks the same there; () where nothing does, and the text alone says what to look for
_COMMANDS: dict[str, dict[tuple[str, ...], tuple[str, ...]]] = {
    FREEBSD: {
        ("lsblk",): ("geom", "disk", "list"),
        ("multipath",): ("gmultipath", "status"),
        ("edac-util",): (),
        ("sdparm",): (),
    },
    ILLUMOS: {
        ("lsblk",): ("iostat", "-En"),
        ("multipath",): ("mpathadm", "list", "lu"),
        ("edac-util",): ("fmadm", "faulty"),
        ("sdparm",): (),
        ("zpool", "events"): ("fmdump", "-eV"),
        ("zpool", "iostat", "-v", "-l"): ("iostat", "-xn", "5", "3"),
    },
}
_EVENTS = re.compile(r"`zpool events[^`]{0,80}`")
_BY_WWN = re.compile(rf"{BY_ID}/wwn-0x[0-9a-f]{{16,32}}(?:-part[0-9]{{1,3}})?")
_LSSCSI = re.compile(r"`lsscsi(?: -[a-zA-Z]){0,6}`|\blsscsi\b")
_STABLE = re.compile(r"\bby-id (?=name|path)")


def in_its_words(situations: Iterable[Situation], nodes: dict[str, System]) -> tuple[Situation, ...]:
    """`nodes` are the systems by name of their node."""
    return tuple(_of(one, nodes.get(one.node, System(""))) for one in situations)


def _of(one: Situation, system: System) -> Situation:
    if not system.name:
        return one
    return replace(one, meaning=text_for(one.meaning, system), cures=tuple(_cure(cure, system) for cure in one.cures))


def _cure(cure: Cure, system: System) -> Cure:
    argv = tuple(words for each in cure.argv for words in _argv(each, system))
    text, needs, save_first = (text_for(part, system) for part in (cure.text, cure.needs, cure.save_first))
    return replace(cure, argv=tuple(dict.fromkeys(argv)), text=text, needs=needs, save_first=save_first)


def text_for(text: str, system: System) -> str:
    """A sentence with this system's names."""
    for ours, theirs in _TEXTS[system.name]:
        text = text.replace(ours, theirs)
    text = _BY_WWN.sub("/dev/DISK", text)  # no other system has such a name
    text = _EVENTS.sub("`fmdump -eV`", text) if system.name == ILLUMOS else text
    text = _LSSCSI.sub(f"`{' '.join(_DISKS[system.name])}`", text)
    text = text.replace(f" -d {BY_ID}", f" -d {system.folder}" if system.folder else "").replace(BY_ID, system.folder or "/dev")
    return _STABLE.sub("stable ", text)


def _argv(words: tuple[str, ...], system: System) -> tuple[tuple[str, ...], ...]:
    """The command as it is typed there; none where there is no such command."""
    there = next((other for first, other in _COMMANDS[system.name].items() if words[: len(first)] == first), None)
    if there is not None:
        return (there,) if there else ()
    words = tuple(_BY_WWN.sub("/dev/DISK", word) for word in words)
    if words[0] == "lsscsi":
        return (_DISKS[system.name],)
    if words[0] == "zgenhostid":
        return _HOSTID[system.name]
    if words == ("cat", "/sys/module/zfs/version"):
        return (("sysctl", "vfs.zfs.version.module"),) if system.name == FREEBSD else ()
    if words[0] in ("hdparm", "sg_readcap"):
        return (("diskinfo", "-v", "DISK"),) if system.name == FREEBSD else ()
    if "-d" in words and BY_ID in words and not system.folder:
        at = words.index("-d")
        words = words[:at] + words[at + 2 :]
    folder = system.folder or "/dev"
    return (tuple(word.replace(BY_ID, folder) if word.startswith(BY_ID) else word for word in words),)
