"""Module parameters: what each is now, what the next boot will make of it, and what the module itself would take.

Defaults are those of the OpenZFS release that is loaded. Where releases near by differ, or distributions changed one, every value
that is known as a default counts as one.
"""

from __future__ import annotations

from dataclasses import dataclass

from agents.collectors import mdb as mdb_source
from agents.collectors import node as node_source
from agents.collectors import parameters as parameters_source
from agents.collectors import sysctl as sysctl_source
from agents.collectors.parameters import NAMES, BootOption, Parameters
from agents.domain.tunables import FREEBSD, ILLUMOS, LINUX, TUNABLES
from workflows.facts.read.sources import Sources
from workflows.facts.read.versions import release_numbers
from workflows.facts.unknown import Known, Unknown, derived, known, need

MIB = 1024 * 1024
ALWAYS = (0,)

# name -> (since which release, its defaults), oldest first
DEFAULTS: dict[str, tuple[tuple[tuple[int, ...], tuple[int, ...]], ...]] = {
    "zfs_scrub_delay": ((ALWAYS, (4,)),),
    "zfs_resilver_delay": ((ALWAYS, (2,)),),
    "zfs_scan_idle": ((ALWAYS, (50,)),),
    "zfs_top_maxinflight": ((ALWAYS, (32,)),),
    "zfs_scan_min_time_ms": ((ALWAYS, (1000,)),),
    "zfs_scrub_min_time_ms": ((ALWAYS, (1000,)), ((2, 4, 1), (750,))),
    "zfs_resilver_min_time_ms": ((ALWAYS, (3000,)), ((2, 4, 1), (1500,))),
    "zfs_scan_vdev_limit": ((ALWAYS, (4 * MIB,)), ((2, 1), (4 * MIB, 16 * MIB)), ((2, 2), (16 * MIB,))),
    "zfs_scan_legacy": ((ALWAYS, (0,)),),
    "zfs_scan_mem_lim_fact": ((ALWAYS, (20,)),),
    "zfs_scan_suspend_progress": ((ALWAYS, (0,)),),
    "zfs_scan_ignore_errors": ((ALWAYS, (0,)),),
    "zfs_no_scrub_io": ((ALWAYS, (0,)),),
    "zfs_no_scrub_prefetch": ((ALWAYS, (0,)),),
    "zfs_resilver_disable_defer": ((ALWAYS, (0,)),),
    "zfs_resilver_defer_percent": ((ALWAYS, (10,)),),
    "zfs_rebuild_vdev_limit": ((ALWAYS, (32 * MIB, 64 * MIB)), ((2, 2), (64 * MIB,))),
    "zfs_rebuild_scrub_enabled": ((ALWAYS, (1,)),),
    "zfs_vdev_scrub_min_active": ((ALWAYS, (1,)),),
    "zfs_vdev_scrub_max_active": ((ALWAYS, (2,)), ((2, 0), (2, 3)), ((2, 1), (3,))),
    "zfs_vdev_rebuild_min_active": ((ALWAYS, (1,)),),
    "zfs_vdev_rebuild_max_active": ((ALWAYS, (3,)),),
    "zfs_vdev_nia_delay": ((ALWAYS, (5,)),),
    "zfs_vdev_nia_credit": ((ALWAYS, (5,)),),
    "zfs_vdev_max_active": ((ALWAYS, (1000,)),),
    "zfs_vdev_sync_read_min_active": ((ALWAYS, (10,)),),
    "zfs_vdev_sync_read_max_active": ((ALWAYS, (10,)),),
    "zfs_vdev_sync_write_min_active": ((ALWAYS, (10,)),),
    "zfs_vdev_sync_write_max_active": ((ALWAYS, (10,)),),
    "zfs_vdev_async_read_min_active": ((ALWAYS, (1,)),),
    "zfs_vdev_async_read_max_active": ((ALWAYS, (3,)),),
    "zfs_vdev_async_write_min_active": ((ALWAYS, (1, 2)), ((0, 8), (2,))),
    "zfs_vdev_async_write_max_active": ((ALWAYS, (10,)),),
    "zfs_multihost_interval": ((ALWAYS, (1000,)),),
    "zfs_multihost_import_intervals": ((ALWAYS, (10,)), ((0, 8), (20,))),
    "zfs_multihost_fail_intervals": ((ALWAYS, (5,)), ((0, 8), (10,))),
    "zfs_multihost_history": ((ALWAYS, (0,)),),
    "zio_dva_throttle_enabled": ((ALWAYS, (1,)),),
    "zio_slow_io_ms": ((ALWAYS, (30000,)),),
    "zfs_dirty_data_sync": ((ALWAYS, (64 * MIB,)),),
    "zfs_dirty_data_sync_percent": ((ALWAYS, (20,)),),
    "zfs_prefetch_disable": ((ALWAYS, (0,)),),
    "zfs_dbgmsg_enable": ((ALWAYS, (0, 1)), ((0, 8), (1,))),
    "zfs_dbgmsg_maxsize": ((ALWAYS, (4 * MIB,)),),
    "zfs_max_missing_tvds": ((ALWAYS, (0,)),),
    "spa_load_verify_data": ((ALWAYS, (1,)),),
    "spa_load_verify_metadata": ((ALWAYS, (1,)),),
}


@dataclass(frozen=True)
class TunableFacts:
    """One parameter. `boot` is what modprobe's folders or the command line set, with the place that says so.

    Where those places were not looked into (`boot_read`), only that it is no default is known.
    """

    name: str
    value: str
    boot: BootOption | None
    defaults: Known[tuple[int, ...]]
    boot_read: bool = True

    @property
    @derived
    def differs(self) -> Known[bool]:
        """Whether the next boot would make it another value than it has."""
        if self.boot is not None:
            return _number(self.boot.value) != _number(self.value)
        return _number(self.value) not in need(self.defaults)

    @property
    def at_boot(self) -> str:
        """What the next boot makes of it, in words."""
        if self.boot is not None:
            return f"{self.boot.value} ({self.boot.where})"
        default = f"{' or '.join(map(str, self.defaults))} (default)" if known(self.defaults) else "not known"
        return default if self.boot_read else "not known"

    @property
    def later(self) -> str:
        """The same as the end of a sentence."""
        if self.boot is None and not self.boot_read and known(self.defaults):
            return f"its default is {' or '.join(map(str, self.defaults))}"
        return f"the next boot makes it {self.at_boot}"


@dataclass(frozen=True)
class TunablesFacts:
    known_names: tuple[TunableFacts, ...]
    ignored: tuple[BootOption, ...]  # set for the next boot, and this release has no such parameter: it is ignored without an error
    platform: str = LINUX  # where and how they are set

    def get(self, name: str) -> TunableFacts | None:
        return next((tunable for tunable in self.known_names if tunable.name == name), None)


def read_tunables(sources: Sources) -> Known[TunablesFacts]:
    return sources.once("tunables", lambda: _read(sources))


def _read(sources: Sources) -> Known[TunablesFacts]:
    node = sources.read(node_source)
    numbers = release_numbers(
        (node.zfs_module if known(node) else None) or Unknown("The node does not say which ZFS module it has loaded.")
    )
    reading = sources.read(parameters_source)
    if not known(reading):
        elsewhere = _elsewhere(sources, numbers)
        return elsewhere if known(elsewhere) else reading
    boot = {option.name: option for option in reading.boot if option.module == "zfs"}  # the last one counts
    tunables = tuple(TunableFacts(n, v, boot.get(n), _defaults(n, numbers)) for n, v in reading.values if n in DEFAULTS)
    return TunablesFacts(tunables, _ignored(reading, boot) if known(numbers) else ())  # of an unknown release nothing is concluded


def _elsewhere(sources: Sources, numbers: Known[tuple[int, ...]]) -> Known[TunablesFacts]:
    """FreeBSD's sysctls, or what a person pasted from illumos; what the next boot makes of them is not read there."""
    oids, pasted = sources.read(sysctl_source), sources.read(mdb_source)
    if known(oids):
        values = {setting.oid: setting.value for setting in oids}
        found = ((name, values[tunable.oid]) for name, tunable in TUNABLES.items() if tunable.oid in values)
        return TunablesFacts(tuple(TunableFacts(n, v, None, _defaults(n, numbers), False) for n, v in found if n in DEFAULTS), (), FREEBSD)
    if known(pasted):
        shown = ((tunable.name, str(tunable.value)) for tunable in pasted if tunable.name in DEFAULTS)
        return TunablesFacts(tuple(TunableFacts(n, v, None, _OF_ILLUMOS, False) for n, v in shown), (), ILLUMOS)
    return oids


_OF_ILLUMOS = Unknown("What illumos has by default is not known here.")


def _ignored(parameters: Parameters, boot: dict[str, BootOption]) -> tuple[BootOption, ...]:
    there = dict(parameters.values)
    return tuple(option for name, option in boot.items() if name in NAMES and name not in there)


def _defaults(name: str, numbers: Known[tuple[int, ...]]) -> Known[tuple[int, ...]]:
    """Of a release that is not known, where all releases agree."""
    if len(DEFAULTS[name]) == 1:
        return DEFAULTS[name][0][1]
    if not known(numbers):
        return numbers
    return [values for since, values in DEFAULTS[name] if since <= numbers][-1]


def _number(text: str) -> int | str:
    """As the kernel reads a number: 0x for hexadecimal, a leading 0 for octal. What is none is compared as it is."""
    try:
        return int(text, 8 if text.startswith("0") and text.isdigit() and len(text) > 1 else 0) if len(text) <= 24 else text
    except ValueError:
        return {"Y": 1, "N": 0}.get(text, text)
