"""`lsscsi` with -i, -g and -s: one line per SCSI device, in the order of H:C:T:L."""

from collections.abc import Iterator, Sequence
from typing import Any

from agents.domain.wwid import scheme
from twin.disk_names import is_scsi
from twin.figures import si_size
from twin.model import Disk, Node

KNOWN = frozenset("igs")

Line = tuple[tuple[int, ...], str]


def listing(node: Node, options: Sequence[str]) -> str:
    chosen = set("".join(option.lstrip("-") for option in options))
    return "".join(f"{line}\n" for _, line in sorted([*_disks(node, chosen), *_enclosures(node, chosen)]))


def understands(options: Sequence[str]) -> bool:
    return all(option.startswith("-") and set(option[1:]) <= KNOWN for option in options)


def _disks(node: Node, chosen: set[str]) -> Iterator[Line]:
    for disk in node.disks:
        for path in disk.paths if is_scsi(disk) else ():  # as where `nvme` is not loaded: it lists SCSI devices only
            line = _device(path.hctl, "disk", disk.vendor, disk.model, disk.rev) + f"{'/dev/' + path.name:<9}"
            columns = {"i": _scsi_id(disk), "g": f"{f'/dev/sg{path.sg}':<9}", "s": f"{si_size(disk.size_bytes):>6}"}
            yield _order(path.hctl), line + _columns(columns, chosen)


def _enclosures(node: Node, chosen: set[str]) -> Iterator[Line]:
    for enclosure in node.seen_enclosures:
        line = _device(enclosure.name, "enclosu", enclosure.vendor, enclosure.model, enclosure.rev) + f"{'-':<9}"
        columns = {"i": "-", "g": f"{f'/dev/sg{enclosure.sg}':<9}", "s": f"{'-':>6}"}
        yield _order(enclosure.name), line + _columns(columns, chosen)


def _scsi_id(disk: Disk) -> str:
    """The by-id link without its "scsi-"; a SATA disk behind a plain controller has none."""
    return f"3{disk.hex}" if any(path.sas_address for path in disk.paths) and scheme(disk.wwid) == "naa" else "-"


def _device(hctl: str, kind: str, vendor: str, model: str, rev: str) -> str:
    return f"{f'[{hctl}]':<13}{kind:<8}{vendor:<8} {model[:16]:<16} {rev[:4]:<4}  "


def _columns(columns: dict[str, Any], chosen: set[str]) -> str:
    # lsscsi keeps this order whatever the order of its options.
    return "".join(f"  {text}" for option, text in columns.items() if option in chosen)


def _order(hctl: str) -> tuple[int, ...]:
    numbers: list[int] = [int(n) for n in hctl.split(":")]
    return tuple(numbers)
