"""The module parameters our runbooks know: what they are now, and what the node sets them to at the next boot.

`options zfs NAME=VALUE` in modprobe's folders and `zfs.NAME=VALUE` on the kernel's command line count for the next boot. An initial
RAM disk may hold an older copy of those folders, which cannot be seen from here.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from agents.collectors._lines import decimal, whole_lines
from agents.collectors._sysfs import attribute
from agents.collectors.base import Capture, Unparsed
from agents.host.host import Host

NAME = "parameters"
EVERY_SECONDS = 60
VALUES = "/sys/module/zfs/parameters"
HOSTID = "/sys/module/spl/parameters/spl_hostid"
CMDLINE = "/proc/cmdline"
FOLDERS = ("/etc/modprobe.d", "/run/modprobe.d", "/usr/local/lib/modprobe.d", "/usr/lib/modprobe.d", "/lib/modprobe.d")

# Those of scrub and resilver tuning, of queueing, of multihost, and those that blind or stop something when they are left on.
# Some exist in old releases only, some in new ones; a file that is not there has no line.
NAMES = (
    *("zfs_scrub_delay", "zfs_resilver_delay", "zfs_scan_idle", "zfs_top_maxinflight", "zfs_scan_min_time_ms"),
    *("zfs_scrub_min_time_ms", "zfs_resilver_min_time_ms", "zfs_scan_vdev_limit", "zfs_scan_legacy", "zfs_scan_mem_lim_fact"),
    *("zfs_scan_suspend_progress", "zfs_scan_ignore_errors", "zfs_no_scrub_io", "zfs_no_scrub_prefetch"),
    *("zfs_resilver_disable_defer", "zfs_resilver_defer_percent", "zfs_rebuild_vdev_limit", "zfs_rebuild_scrub_enabled"),
    *("zfs_vdev_scrub_min_active", "zfs_vdev_scrub_max_active", "zfs_vdev_rebuild_min_active", "zfs_vdev_rebuild_max_active"),
    *("zfs_vdev_nia_delay", "zfs_vdev_nia_credit", "zfs_vdev_max_active"),
    *("zfs_vdev_sync_read_min_active", "zfs_vdev_sync_read_max_active", "zfs_vdev_sync_write_min_active"),
    *("zfs_vdev_sync_write_max_active", "zfs_vdev_async_read_min_active", "zfs_vdev_async_read_max_active"),
    *("zfs_vdev_async_write_min_active", "zfs_vdev_async_write_max_active"),
    *("zfs_multihost_interval", "zfs_multihost_import_intervals", "zfs_multihost_fail_intervals", "zfs_multihost_history"),
    *("zio_dva_throttle_enabled", "zio_slow_io_ms", "zfs_dirty_data_sync", "zfs_dirty_data_sync_percent", "zfs_prefetch_disable"),
    *("zfs_dbgmsg_enable", "zfs_dbgmsg_maxsize", "zfs_max_missing_tvds", "spa_load_verify_data", "spa_load_verify_metadata"),
)


@dataclass(frozen=True)
class BootOption:
    module: str  # "zfs", "spl"
    name: str
    value: str
    where: str  # the file that says it, or /proc/cmdline


@dataclass(frozen=True)
class Parameters:
    """Values as the kernel prints them. `boot` is in the order in which modprobe reads; of one name the last counts."""

    values: tuple[tuple[str, str], ...]
    boot: tuple[BootOption, ...]
    spl_hostid: int | None  # 0: the module takes /etc/hostid


def collect(host: Host) -> tuple[Capture, ...]:
    values = [line for name in NAMES for line in attribute(host, f"{VALUES}/{name}")]
    if not values:
        return (Capture(NAME, "", "nothing", "", f"{VALUES} is not there; the ZFS module is not loaded"),)
    lines = [*values, *attribute(host, HOSTID), *(line for path in _configs(host) for line in _options(host, path)), *_booted_with(host)]
    return (Capture(NAME, "", "data", "".join(f"{line}\n" for line in lines)),)


def _configs(host: Host) -> list[str]:
    """In the order of their names, wherever they lie; of two with one name the first folder's hides the others."""
    found: dict[str, str] = {}
    for folder in FOLDERS:
        for path in host.list(f"{folder}/*.conf"):
            found.setdefault(path.rsplit("/", 1)[1], path)
    return [found[name] for name in sorted(found)]


def _options(host: Host, path: str) -> list[str]:
    """The lines about our modules; a backslash at its end joins a line with the next."""
    text = "\n".join(line[len(path) + 1 :] for line in attribute(host, path))
    lines = re.sub(r"\\\n", " ", text).split("\n")
    return [f"{path}:{line}" for line in lines if re.match(r"\s*options\s+(zfs|spl)\s", line)]


def _booted_with(host: Host) -> list[str]:
    """Our words of the kernel's command line; the others are left out."""
    words = " ".join(attribute(host, CMDLINE)).replace(f"{CMDLINE}:", "", 1).split()
    return [f"{CMDLINE}:{word}" for word in words if word.startswith(("zfs.", "spl."))]


_CONFIG = re.compile(r"(/[^:]+\.conf):\s*options\s+(zfs|spl)\s+(.*)")
_SETTING = re.compile(r"(\w+)=(\S*)")


def parse(text: str) -> Parameters | Unparsed:
    """Every value and setting, or the first line that made no sense. Never raises."""
    lines = whole_lines(text)
    if isinstance(lines, Unparsed):
        return lines
    values: dict[str, str] = {}
    boot: list[BootOption] = []
    hostid = None
    for line in lines:
        path, _, value = line.partition(":")
        folder, _, name = path.rpartition("/")
        settings = _settings(line)
        if folder == VALUES and re.fullmatch(r"\w+", name) and name not in values:
            values[name] = value.strip()
        elif path == HOSTID and hostid is None and decimal(value) is not None:
            hostid = decimal(value)
        elif settings:
            boot += settings
        else:
            return Unparsed("a line about the module parameters cannot be read", line)
    return Parameters(tuple(values.items()), tuple(boot), hostid)


def _settings(line: str) -> list[BootOption]:
    """What one line sets for a module at boot; nothing when it is no such line or one word of it makes no sense."""
    config = _CONFIG.fullmatch(line)
    word = re.fullmatch(rf"{CMDLINE}:(zfs|spl)\.(\w+=\S*)", line)
    found = config.groups() if config else (CMDLINE, *word.groups()) if word else None
    if found is None:
        return []
    where, module, rest = found
    settings = [_SETTING.fullmatch(part) for part in rest.split("#")[0].split()]
    return [BootOption(module, s.group(1), s.group(2), where) for s in settings if s] if all(settings) else []
