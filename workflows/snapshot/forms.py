"""What kind of archive this is, which of its files are read, and under which command each of them stands."""

import re
import shlex
from dataclasses import dataclass
from typing import Final

from workflows.snapshot import recorded
from workflows.snapshot.unpack import FILE_BYTES_MAX, MIB, Entry, Refused, Unpacked, Wanted, unpack

COLLECT, SOS, TRUENAS, PVE, SAVED = "slotlight-collect", "sosreport", "TrueNAS debug", "pvereport", "saved outputs"
SAVED_BYTES_MAX: Final = 4 * MIB
_SOS_FOLDERS = re.compile(
    r"[^/]+/sos_commands/(?:zfs|scsi|block|ata|nvme|multipath|devicemapper|smartmontools|sas3ircu|storcli|kernel|host)/([^/]+)"
)
_SOS_FILES = re.compile(
    r"[^/]+/(proc/spl/kstat/zfs/.+|sys/module/(?:zfs|spl)/(?:version|parameters/[^/]+)|proc/sys/kernel/(?:hostname|osrelease|random/boot_id))"
)
_SOS_ROOT = re.compile(r"(sosreport-[^/]+)/")
_SOS_COMMANDS = re.compile(
    r"zpool|zdb|zfs_version|lsscsi|smartctl|nvme|multipath|lsblk|sg_|dmesg|hostid|hostname|uname|sas[23]ircu|storcli|mdadm|ls_.*disk"
)
_IX = re.compile(r"(?:[^/]+/)*ixdiagnose/plugins/([^/]+)/(.+)")
_IX_WANTED = re.compile(r"zpool|zdb|pool|smart|disk|lsblk|sas|enclosure|multipath|hostname|nvme|dmesg|camcontrol|diskinfo", re.IGNORECASE)
_TOOLS = "zpool|zdb|zfs|lsscsi|smartctl|nvme|multipath|lsblk|sg_ses|sg_logs|sg_vpd|sg_inq|sdparm|dmesg|hostid|hostname|uname|sas2ircu|sas3ircu|storcli|glabel|camcontrol|geom|iostat|mdadm"
_OF_A_TOOL = re.compile(rf"(?:sudo_)?({_TOOLS})(?:[_.-]|$)")
_PVE_TITLE = re.compile(r"^==== .+ ====$", re.MULTILINE)


@dataclass(frozen=True)
class Taken:
    """An archive as it was taken: what kind, and which files of it."""

    form: str
    unpacked: Unpacked

    @property
    def parts(self) -> dict[str, bytes]:
        return {one.name: one.data for one in self.unpacked.entries}


def take(data: bytes) -> Taken:
    """The files of an archive that are read here. Raises Refused."""
    names: list[str] = []
    first = unpack(data, _noting(names), strict=False)
    if not first.is_archive:
        return Taken(PVE if _is_pve(first.entries[0].data) else SAVED, first)
    form = _form(names)
    if form == COLLECT:
        return Taken(form, unpack(data, lambda name, _size: name in recorded.PARTS, strict=True))
    found = Taken(form, unpack(data, WANTED[form], strict=form == SAVED))
    if not found.unpacked.entries:
        raise Refused(
            f"Nothing in this file ({form}) is read here: none of its {found.unpacked.others} files is the output of a command about ZFS or disks."
        )
    return found


def _noting(names: list[str]) -> Wanted:
    """Takes nothing, and notes what is there."""

    def wanted(name: str, _size: int) -> bool:
        names.append(name)
        return False

    return wanted


def _form(names: list[str]) -> str:
    roots = {found.group(1) for name in names if (found := _SOS_ROOT.match(name))}
    if len(roots) > 1:
        raise Refused(f"The archive holds {len(roots)} hosts: {', '.join(sorted(roots)[:4])}. Send each by itself.")
    collected = [name for name in names if name.endswith("slotlight-collect/manifest")]
    if len(collected) > 1:
        raise Refused(f"The archive holds {len(collected)} hosts: {', '.join(sorted(collected)[:4])}. Send each by itself.")
    if collected == [recorded.MANIFEST]:
        strange = [name for name in names if name not in recorded.PARTS]
        if strange:
            raise Refused(f"slotlight-collect packs three files, and this archive holds {strange[0][:80]!r} as well. It was changed.")
        return COLLECT
    if roots or any("/sos_commands/" in name for name in names):
        return SOS
    return TRUENAS if any("ixdiagnose/" in name for name in names) else SAVED


def _is_pve(data: bytes) -> bool:
    text = data[:65536].decode("utf-8", "replace")
    return "pveversion" in text and _PVE_TITLE.search(text) is not None


def _sos(name: str, size: int) -> bool:
    command = _SOS_FOLDERS.fullmatch(name)
    if command:
        return _SOS_COMMANDS.search(command.group(1)) is not None and size <= SAVED_BYTES_MAX
    return (_SOS_FILES.fullmatch(name) is not None or re.fullmatch(r"[^/]+/hostname", name) is not None) and size <= SAVED_BYTES_MAX


def _truenas(name: str, size: int) -> bool:
    found = _IX.fullmatch(name)
    return found is not None and size <= SAVED_BYTES_MAX and _IX_WANTED.search(found.group(2)) is not None


def _saved(name: str, size: int) -> bool:
    """Whether it may be a text; which command printed it is recognised by what it says."""
    return size <= SAVED_BYTES_MAX and not re.search(
        r"\.(?:gz|xz|bz2|zip|png|jpe?g|pdf|db|core|so|pyc?|iso|img|bin|tar|key|pem)$", name, re.I
    )


WANTED = {SOS: _sos, TRUENAS: _truenas, SAVED: _saved}


def texts(taken: Taken) -> list[tuple[str, bytes]]:
    """(name, text) for the readers of triage, each below the command that its file's name stands for."""
    return [(one.name or taken.form, _with_command(taken.form, one)) for one in taken.unpacked.entries if b"\0" not in one.data[:4096]]


def _with_command(form: str, one: Entry) -> bytes:
    command = command_of(form, one.name)
    return f"# {command}\n".encode() + one.data if command else one.data


def command_of(form: str, name: str) -> str:
    """The command whose output a file is, by its name; "" where the name does not say."""
    if form == SOS and (found := _SOS_FILES.fullmatch(name)):
        return f"cat /{found.group(1)}"
    last = name.rpartition("/")[2]
    last = re.sub(r"\.(?:txt|out|log)$", "", last)
    tool = _OF_A_TOOL.match(last)
    if tool is None:
        return ""
    words = [word.replace(".dev.", "/dev/").replace(".", "/") if word.startswith(".dev.") else word for word in last.split("_")]
    return " ".join(shlex.quote(word) for word in words if word)


def host_of(taken: Taken) -> str:
    """The host as the archive names it; "" where it does not."""
    for one in taken.unpacked.entries:
        if re.fullmatch(r"(?:[^/]+/)?(?:hostname|sos_commands/host/hostname(?:_-f)?|proc/sys/kernel/hostname)", one.name):
            return one.data[:255].decode("utf-8", "replace").strip().split("\n")[0]
    if taken.form == PVE:
        found = re.search(r"^# hostname\s+(\S+)$", taken.unpacked.entries[0].data[:65536].decode("utf-8", "replace"), re.MULTILINE)
        return found.group(1) if found else ""
    return ""


assert FILE_BYTES_MAX >= SAVED_BYTES_MAX
