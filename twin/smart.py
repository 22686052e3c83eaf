"""`smartctl -x` of a SAS or SATA disk, as far as smartctl 7.2 prints identity and health."""

from agents.domain.wwid import scheme
from twin.figures import ctime
from twin.model import Disk, Node

EXIT_STANDBY = 2
EXIT_NO_SMART = 4
EXIT_FAILING = 8
FAILURE, ASC, ASCQ = "FAILURE PREDICTION THRESHOLD EXCEEDED: ascq=0x10", 0x5D, 0x10


def heading(node: Node) -> str:
    return (
        f"smartctl 7.2 2020-12-30 r5155 [x86_64-linux-{node.kernel}] (local build)\n"
        "Copyright (C) 2002-20, Bruce Allen, Christian Franke, www.smartmontools.org\n\n"
    )


def report(node: Node, disk: Disk, options: tuple[str, ...], now: float) -> tuple[int, str]:
    """(exit code, text)."""
    head = heading(node)
    if disk.smart.standby and "standby" in " ".join(options):
        return EXIT_STANDBY, head + "Device is in STANDBY BY COMMAND mode, exit(2)\n"
    text = head + _information(disk, now) + _data(disk)
    if disk.smart.passed is None:
        return EXIT_NO_SMART, text
    return (0 if disk.smart.passed else EXIT_FAILING), text


def _information(disk: Disk, now: float) -> str:
    support = "Unavailable - device lacks SMART capability." if disk.smart.passed is None else "Available - device has SMART capability."
    enabled = "" if disk.smart.passed is None else "SMART support is:     Enabled\nTemperature Warning:  Enabled\n"
    rotation = "Rotation Rate:        7200 rpm\n" if disk.rotational else "Rotation Rate:        Solid State Device\n"
    return (
        "=== START OF INFORMATION SECTION ===\n"
        f"Vendor:               {disk.vendor}\n"
        f"Product:              {disk.model}\n"
        f"Revision:             {disk.rev}\n"
        "Compliance:           SPC-4\n"
        f"User Capacity:        {disk.size_bytes:,} bytes [{_capacity(disk.size_bytes)}]\n"
        f"Logical block size:   {disk.logical_block_bytes} bytes\n"
        f"Physical block size:  {disk.physical_block_bytes} bytes\n"
        f"{rotation}"
        f"{_unit(disk)}"
        f"Serial number:        {disk.serial}\n"
        "Device type:          disk\n"
        "Transport protocol:   SAS (SPL-3)\n"
        f"Local Time is:        {ctime(now)} UTC\n"
        f"SMART support is:     {support}\n{enabled}"
        "Read Cache is:        Enabled\n"
        "Writeback Cache is:   Disabled\n\n"
    )


def _unit(disk: Disk) -> str:
    return f"Logical Unit id:      0x{disk.hex}\n" if scheme(disk.wwid) == "naa" else ""


def _data(disk: Disk) -> str:
    head = "=== START OF READ SMART DATA SECTION ===\n"
    if disk.smart.passed is None:
        return head + "Current Drive Temperature:     0 C\nDrive Trip Temperature:        0 C\n\nError Counter logging not supported\n\n"
    return head + (
        f"SMART Health Status: {'OK' if disk.smart.passed else f'{FAILURE} [asc={ASC:x}, ascq={ASCQ:x}]'}\n\n"
        "Current Drive Temperature:     31 C\n"
        "Drive Trip Temperature:        60 C\n\n"
        f"Elements in grown defect list: {disk.smart.grown_defects}\n\n"
    )


def _capacity(size_bytes: int) -> str:
    """Three digits, cut: "9.79 TB"."""
    for power, unit in ((10**12, "TB"), (10**9, "GB"), (10**6, "MB")):
        if size_bytes >= power:
            whole, rest = divmod(size_bytes, power)
            decimals = max(0, 3 - len(str(whole)))
            return f"{whole}{f'.{rest * 10**decimals // power:0{decimals}d}' if decimals else ''} {unit}"
    return f"{size_bytes} bytes"
