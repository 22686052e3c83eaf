"""Which disk is it: every way a WWID is written, brought to one.

Canonical forms: `naa:5000c500a65b207b`, `eui:…`, `t10:…`, `uuid:…`; by model and serial number `ata:MODEL:SERIAL` (a SATA disk without a
WWN), `nvme:VENDOR-SERIAL-MODEL-NSID` (in hex, as the kernel names a namespace without an identifier of its own), `geom:LUN:IDENT` (FreeBSD: the
name of the logical unit in hex, where it gives one, and the serial number), `dsk:c0tGUIDd0` (illumos: its name of a disk, made of the name of the
logical unit) and, where the bus is not known, `ser:MODEL:SERIAL`. Kernel names, H:C:T:L, paths and slots are no identity and give None. A SAS port
address looks exactly like an LU name: pass such a value to `suggest_lu`, never to `normalise`. How far each form can be trusted, `disk_identity` says.
"""

from __future__ import annotations

import re
from collections.abc import Callable

_HEX = r"([0-9a-f]{16}|[0-9a-f]{32})"
DISKID = "/dev/diskid/DISK-"
_IDENT = r"[A-Za-z0-9][A-Za-z0-9._-]{3,39}"  # g_label.c writes other characters as %XX, and cuts a name at 64
GEOM = rf"geom:(?:[0-9a-f]{{16}}|[0-9a-f]{{24}}|[0-9a-f]{{32}})?:{_IDENT}"
DSK = "/dev/dsk/"
OF_OTHER_SYSTEMS = ("geom", "dsk")  # schemes of FreeBSD and illumos; Linux has no link of theirs
_VHCI = r"c[0-9]{1,4}t(?:[0-9A-F]{16}|[0-9A-F]{32})d0"  # an LU name, or a port address that looks like one: `of_vhci` knows
_SLICE = re.compile(r"c[0-9]{1,4}(?:t[0-9A-F]{1,32})?d[0-9]{1,5}([sp][0-9]{1,2})?")


def normalise(raw: str) -> str | None:
    """The canonical identity that `raw` names, or None when it names none. A `-partN` suffix is not part of it."""
    name = re.sub(r"-part[0-9]+$", "", raw.strip()).split("/dev/disk/by-id/")[-1]
    for pattern, meaning in _FORMS:
        match = pattern.fullmatch(name)
        if match:
            return meaning(*match.groups())
    return None


def strip_partition(name: str) -> tuple[str, int | None]:
    """A device name or path without its partition, and the partition: "/dev/sdfl1" -> ("/dev/sdfl", 1)."""
    match = _PARTITION.fullmatch(name)
    if not match:
        return name, None
    base = next(filter(None, match.groups()))
    return base, int(name[len(base) :].lstrip("-parts"))  # strips letters, not the word: what is left is digits


def by_id_path(wwid: str) -> str | None:
    """The one link in /dev/disk/by-id that udev makes of this identity and of no other; None where there is no such link.

    On FreeBSD it is the name that GEOM gives the disk by its serial number (sys/geom/label/g_label_disk_ident.c: diskid/DISK-IDENT), on illumos the
    name by its unit, which `zpool` takes for the whole disk (cmd/zpool/zpool_vdev.c: make_leaf_vdev, is_whole_disk).

    An NVMe namespace is named by what sysfs gives as its `wwid`, never by `nvme-MODEL_SERIAL`: that link is shared by all namespaces of a
    controller, and udev moves it to the one that was attached last.
    """
    for pattern, link in _LINKS:
        if match := pattern.fullmatch(wwid):
            return link.format(*match.groups())
    return None


def of_geom(lunid: str, ident: str) -> str | None:
    """FreeBSD's identity of a disk, by what `geom disk list` prints of it; None where GEOM could not name it by its serial number alone.

    A name of the logical unit that is not in hex (T10, or none) is left out: sys/geom/geom_disk.c, g_disk_dumpconf, prints what the bus gives.
    """
    unit = lunid.lower() if re.fullmatch(r"[0-9a-fA-F]{16}|[0-9a-fA-F]{24}|[0-9a-fA-F]{32}", lunid) else ""
    found = f"geom:{unit}:{ident}"
    return found if re.fullmatch(GEOM, found) else None


def of_vhci(name: str, target: str) -> str | None:
    """illumos' identity of a disk, by its name and where the name leads; None where the name is not made of the name of the logical unit.

    Behind scsi_vhci (MPxIO) the name has the GUID of the unit, elsewhere the address of a port (cmd/devfsadm/disk_link.c: disk_callback_fabric). Its
    device says which: /scsi_vhci/disk@g5000c500a65b207b.
    """
    found = re.fullmatch(rf"/scsi_vhci/(?:disk|ssd|sd)@g({_HEX[1:-1]})", target)
    named = re.fullmatch(_VHCI, name) and name.partition("t")[2][:-2].lower()
    return f"dsk:{name}" if found and named == found.group(1) else None


def device_path(name: str) -> str:
    """What a tool that reads a disk is given for a kernel name. On illumos a slice, and of a whole disk p0, which is all of it whatever label it has
    (cmd/devfsadm/disk_link.c: disk_common)."""
    found = _SLICE.fullmatch(name)
    return f"/dev/{name}" if found is None else f"/dev/rdsk/{name}{'' if found.group(1) else 'p0'}"


def without_slice(name: str) -> str:
    """The disk of a slice of illumos, which may be any of it; every other name as it is."""
    found = _SLICE.fullmatch(name)
    return name[: found.start(1)] if found and found.group(1) else name


def unit_of(wwid: str) -> str:
    """The name of the logical unit, in hex, within an identity that FreeBSD or illumos gives; "" of any other."""
    if re.fullmatch(f"dsk:{_VHCI}", wwid):
        return wwid.partition("t")[2][:-2].lower()
    return (parts_of_geom(wwid) or ("",))[0]


def parts_of_geom(wwid: str) -> tuple[str, str] | None:
    """(name of the logical unit, serial number) of `geom:…`; None of any other identity."""
    if re.fullmatch(GEOM, wwid) is None:
        return None
    _, unit, ident = wwid.split(":")
    return unit, ident


def as_other_systems_name(wwid: str) -> str:
    """What Linux calls a disk that FreeBSD or illumos names by its unit too; else the identity itself."""
    unit = unit_of(wwid)
    return (_naa(unit) if len(unit) in (16, 32) else None) or wwid


def is_unit_of(name: str, wwid: str) -> bool:
    """Whether `name`, a name of a logical unit, is the one within FreeBSD's or illumos' identity."""
    unit, (kind, _, digits) = unit_of(wwid), name.partition(":")
    return bool(unit) and kind in ("naa", "eui") and digits == unit


def scheme(wwid: str) -> str:
    """ "naa" of "naa:5000…"."""
    return wwid.partition(":")[0]


def suggest_lu(port_address: str) -> str | None:
    """The LU name that a SAS port address probably belongs to. A hint to look closer, never a reason to write.

    HGST gives LU+1 and LU+2 to the ports, Seagate LU-2 and LU-1; both leave the other bits alone.
    """
    match = re.search(r"(?:^|0x)(5[0-9a-f]{15})(?![0-9a-f])", port_address.strip().lower())
    if not match:
        return None
    address = int(match.group(1), 16)
    if match.group(1).startswith("5000cca"):
        return _naa(f"{address & ~3:016x}")
    if match.group(1).startswith("5000c50"):
        return _naa(f"{address | 3:016x}")
    return None


def _naa(digits: str) -> str | None:
    """NAA 2, 3 and 5 are 16 digits long, NAA 6 is 32. Anything else is a vendor's mistake, zeros for instance."""
    digits = digits.lower()
    return f"naa:{digits}" if digits[0] in ("6" if len(digits) == 32 else "235") else None


def _eui(digits: str) -> str | None:
    return f"eui:{digits.lower()}" if digits.strip("0") else None


def _serial(model: str, serial: str) -> str:
    return f"ser:{model}:{serial}"


def nvme_serial(wwid: str) -> str | None:
    """The serial number within `nvme:VENDOR-SERIAL-MODEL-NSID`; None where it is no ASCII in hex."""
    try:
        return bytes.fromhex(wwid.partition(":")[2].split("-")[1]).decode("ascii").strip(" \0") or None
    except (ValueError, IndexError):
        return None


def _nvme(fields: str) -> str | None:
    """`nvme.VENDOR-SERIAL-MODEL-NSID`, the kernel's name for a namespace without EUI, NGUID and UUID."""
    name = f"nvme:{fields.lower()}"
    return name if nvme_serial(name) else None


def _ata(model: str, serial: str) -> str:
    return f"ata:{model}:{serial}"


def _ata_fields(model: str, serial: str) -> str | None:
    """The T10 name that the kernel makes of IDENTIFY, 40 characters of model and 20 of serial number, as udev writes both in `ata-…`."""
    if not model.strip(" \0") or not serial.strip(" \0"):
        return None
    whole = "_".join("_".join(field.strip(" \0").split()) for field in (model, serial))
    return normalise("ata-" + re.sub(r"[^A-Za-z0-9#+.=@_-]", "_", whole))


_FORMS: tuple[tuple[re.Pattern[str], Callable[..., str | None]], ...] = tuple(
    (re.compile(pattern, flags | re.ASCII), meaning)
    for pattern, flags, meaning in (
        (r"(?:wwn-)?0x" + _HEX, re.IGNORECASE, _naa),
        (r"naa[.:]" + _HEX, re.IGNORECASE, _naa),
        (r"(?:scsi-|dm-uuid-mpath-|mpath-)?3" + _HEX, re.IGNORECASE, _naa),  # scsi_id: designator type 3, then the NAA name
        (_HEX, re.IGNORECASE, _naa),
        (r"(?:scsi-|dm-uuid-mpath-|mpath-)?2([0-9a-f]{16}|[0-9a-f]{24}|[0-9a-f]{32})", re.IGNORECASE, _eui),
        (r"(?:nvme-|scsi-8)?eui[.:]([0-9a-f]{16}|[0-9a-f]{24}|[0-9a-f]{32})", re.IGNORECASE, _eui),
        (r"(?:nvme-)?uuid[.:]([0-9a-f-]{32,36})", re.IGNORECASE, lambda digits: f"uuid:{digits.lower()}"),
        (r"t10[.:]ATA {5}(.{40})(.{1,20})", 0, _ata_fields),  # blanks behind the serial number are lost where lines are stripped
        (r"t10[.:](\S.*)", 0, lambda text: f"t10:{text}"),
        (r"(?:scsi-|dm-uuid-mpath-|mpath-)?1([A-Z][A-Z0-9_ ]{7}.+)", 0, lambda text: f"t10:{text}"),
        (r"(?:nvme-)?nvme[.:]([0-9a-f]{4}-[0-9a-f]{2,40}-[0-9a-f]{2,80}-[0-9a-f]{8})", re.IGNORECASE, _nvme),
        (r"nvme-(.+)_([^_]+)_[0-9]{1,2}", 0, _serial),  # newer udev appends the namespace
        (r"ata-([A-Za-z0-9#+.=@_-]+)_([A-Za-z0-9#+.=@-]+)", 0, _ata),
        (r"(ata:[A-Za-z0-9#+.=@_-]+:[A-Za-z0-9#+.=@-]+)", 0, lambda same: same),
        (r"nvme-(.+)_([^_]+)", 0, _serial),
        (r"(?:scsi-)?S[A-Z][^_]*_(.+)_([^_]+)", 0, _serial),
        (r"(ser:[^:]+:[^:]+)", 0, lambda same: same),
        (rf"({GEOM}|dsk:{_VHCI})", 0, lambda same: same),
        (r"c[0-9]+t" + _HEX + r"d[0-9]+(?:[sp][0-9]+)?", re.IGNORECASE, _naa),  # illumos device
        (r"id1,[a-z]+@n" + _HEX + r"(?:/[a-z]+)?", re.IGNORECASE, _naa),  # illumos devid
    )
)

_LINKS = tuple(
    (re.compile(pattern, re.ASCII), link)
    for pattern, link in (
        ("naa:" + _HEX, "/dev/disk/by-id/wwn-0x{}"),
        (r"eui:([0-9a-f]{16}|[0-9a-f]{32})", "/dev/disk/by-id/nvme-eui.{}"),
        (r"uuid:([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})", "/dev/disk/by-id/nvme-uuid.{}"),
        (r"nvme:([0-9a-f]{4}-[0-9a-f]{2,40}-[0-9a-f]{2,80}-[0-9a-f]{8})", "/dev/disk/by-id/nvme-nvme.{}"),
        (r"ata:([A-Za-z0-9#+.=@_-]{1,60}):([A-Za-z0-9#+.=@-]{1,60})", "/dev/disk/by-id/ata-{}_{}"),
        (rf"geom:[0-9a-f]{{0,32}}:({_IDENT})", DISKID + "{}"),
        (rf"dsk:({_VHCI})", DSK + "{}"),
    )
)

# `-partN` after any udev name; `pN` after a kernel name that ends in a digit; `N` after sd, vd, xvd, hd and a letter; `sN` after a name of illumos.
_PARTITION = re.compile(
    r"(?P<udev>.+)-part[0-9]{1,4}|(?P<digit>(?:.*/)?[a-z]+[0-9]+(?:n[0-9]+)?)p[0-9]{1,4}|(?P<letter>(?:.*/)?(?:sd|hd|vd|xvd)[a-z]+)[0-9]{1,4}"
    r"|(?P<dsk>(?:.*/)?c[0-9]{1,4}(?:t[0-9A-F]{1,32})?d[0-9]{1,5})s[0-9]{1,2}"
)
