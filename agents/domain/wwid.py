"""Which disk is it: every way a WWID is written, brought to one.

Canonical forms: `naa:5000c500a65b207b`, `eui:…`, `t10:…`, `uuid:…` and, by serial only, `ser:MODEL:SERIAL`. Kernel names,
H:C:T:L, paths and slots are no identity and give None. A SAS port address looks exactly like an LU name: pass such a value
to `suggest_lu`, never to `normalise`.
"""

from __future__ import annotations

import re
from collections.abc import Callable

_HEX = r"([0-9a-f]{16}|[0-9a-f]{32})"


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
    base = match.group("udev") or match.group("digit") or match.group("letter")
    return base, int(name[len(base) :].lstrip("-part"))  # strips letters, not the word: what is left is digits


def by_id_path(wwid: str) -> str | None:
    """The udev link that names the disk by its LU name; None when `wwid` is not an NAA name."""
    match = re.fullmatch("naa:" + _HEX, wwid)
    return f"/dev/disk/by-id/wwn-0x{match.group(1)}" if match else None


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


def _nvme_hex(serial: str, model: str) -> str | None:
    """`nvme.VENDOR-SERIAL-MODEL-NSID`, the kernel's name for a namespace without EUI; both fields are ASCII in hex."""
    try:
        plain = [bytes.fromhex(field).decode("ascii").strip(" \0").replace(" ", "_") for field in (model, serial)]
    except ValueError:
        return None
    return _serial(*plain)


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
        (r"t10[.:](\S.*)", 0, lambda text: f"t10:{text}"),
        (r"(?:scsi-|dm-uuid-mpath-|mpath-)?1([A-Z][A-Z0-9_ ]{7}.+)", 0, lambda text: f"t10:{text}"),
        (r"(?:nvme-)?nvme\.[0-9a-f]{4}-([0-9a-f]+)-([0-9a-f]+)-[0-9a-f]{8}", re.IGNORECASE, _nvme_hex),
        (r"nvme-(.+)_([^_]+)_[0-9]{1,2}", 0, _serial),  # newer udev appends the namespace
        (r"(?:ata|nvme)-(.+)_([^_]+)", 0, _serial),
        (r"(?:scsi-)?S[A-Z][^_]*_(.+)_([^_]+)", 0, _serial),
        (r"(ser:[^:]+:[^:]+)", 0, lambda same: same),
        (r"c[0-9]+t" + _HEX + r"d[0-9]+(?:[sp][0-9]+)?", re.IGNORECASE, _naa),  # illumos device
        (r"id1,[a-z]+@n" + _HEX + r"(?:/[a-z]+)?", re.IGNORECASE, _naa),  # illumos devid
    )
)

# `-partN` after any udev name; `pN` after a kernel name that ends in a digit; `N` after sd, vd, xvd, hd and a letter.
_PARTITION = re.compile(
    r"(?P<udev>.+)-part[0-9]{1,4}|(?P<digit>(?:.*/)?[a-z]+[0-9]+(?:n[0-9]+)?)p[0-9]{1,4}|(?P<letter>(?:.*/)?(?:sd|hd|vd|xvd)[a-z]+)[0-9]{1,4}"
)
