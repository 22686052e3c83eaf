"""What is started by hand after a pool was imported with nothing mounted, and what is stopped before an export, from the node's datasets.

In the order in which it works: keys, mounts, shares, Lustre targets; then what the next boot does. One line for each kind that is there,
with the commands a person gives on the node. Nothing of it is done by the portal, and no key or passphrase goes through it.
"""

from collections.abc import Callable, Iterable, Mapping

from agents.collectors.zfs_get import Datasets
from workflows.facts import PoolFacts, known

NAMED = 6
NONE = "-"
Values = Mapping[str, str]


def lines(pool: PoolFacts) -> tuple[str, ...]:
    """Each with what it is about first. What is not known is a line too."""
    if not known(pool.datasets):
        return (
            f"Not known: which datasets of {pool.name} need a key, a mount or a share. {pool.datasets.reason} Look on the node: "
            f"`zfs get -r -t filesystem,volume keystatus,canmount,mountpoint,mounted,sharenfs,sharesmb,lustre:svname {pool.name}`.",
            _at_boot(pool),
        )
    found = (kind(pool.datasets) for kind in KINDS)
    return (*(line for line in found if line), *_cut_short(pool.datasets), _at_boot(pool))


def in_use(pool: PoolFacts) -> tuple[str, ...]:
    """What is stopped before the pool is exported, each with what it is about first."""
    if not known(pool.datasets):
        return (f"Not known: which datasets of {pool.name} are mounted or shared, and which keys are loaded. {pool.datasets.reason}",)
    found = (kind(pool.datasets) for kind in IN_USE)
    return (*(line for line in found if line), *_cut_short(pool.datasets))


def not_mounted(datasets: Datasets) -> tuple[str, ...]:
    """Those that ZFS mounts by itself, and that are not."""
    return tuple(name for name, of in datasets.values.items() if _mounts_by_itself(of) and of.get("mounted") == "no")


def _loaded_keys(datasets: Datasets) -> str:
    loaded = [name for name, of in datasets.values.items() if of.get("keystatus") == "available" and of.get("encryptionroot") == name]
    asked = [f"{name} (key at {datasets.values[name].get('keylocation', 'a place that was not read')})" for name in loaded]
    return f"Keys: an export unloads {_some(asked)}. They are loaded again by hand: have them before anything is stopped." if loaded else ""


def _mounted(datasets: Datasets) -> str:
    mounted = [name for name, of in datasets.values.items() if of.get("mounted") == "yes"]
    return f"Mounts: {_some(mounted)}. On the node: `zfs unmount {_first(mounted)}`." if mounted else ""


def _keys(datasets: Datasets) -> str:
    locked = [name for name, of in datasets.values.items() if of.get("keystatus") == "unavailable" and of.get("encryptionroot") == name]
    asked = [f"{name} (key at {datasets.values[name].get('keylocation', 'a place that was not read')})" for name in locked]
    return f"Keys: not loaded for {_some(asked)}. On the node: `zfs load-key {_first(locked)}`." if locked else ""


def _mounts(datasets: Datasets) -> str:
    waiting = list(not_mounted(datasets))
    return f"Mounts: not mounted are {_some(waiting)}. On the node, after the keys: `zfs mount {_first(waiting)}`." if waiting else ""


def _legacy(datasets: Datasets) -> str:
    legacy = [name for name, of in datasets.values.items() if of.get("mountpoint") == "legacy" and not _is_target(of)]
    return f"Legacy mounts: /etc/fstab or another service mounts {_some(legacy)}." if legacy else ""


def _shared(datasets: Datasets) -> list[str]:
    return [name for name, of in datasets.values.items() if any(of.get(by, "off") not in ("off", NONE) for by in ("sharenfs", "sharesmb"))]


def _shares_in_use(datasets: Datasets) -> str:
    shared = _shared(datasets)
    return f"Shares: {_some(shared)}. On the node: `zfs unshare {_first(shared)}`; clients hang until it is shared again." if shared else ""


def _shares(datasets: Datasets) -> str:
    shared = _shared(datasets)
    return f"Shares: {_some(shared)}. On the node, when they are mounted: `zfs share {_first(shared)}`." if shared else ""


def _volumes_of(datasets: Datasets) -> list[str]:
    return [name for name, of in datasets.values.items() if of.get("type") == "volume"]


def _volumes_in_use(datasets: Datasets) -> str:
    volumes = _volumes_of(datasets)
    return f"Volumes: {_some(volumes)}. Stop what uses them: iSCSI targets, virtual machines, swap (`swapoff`)." if volumes else ""


def _volumes(datasets: Datasets) -> str:
    volumes = _volumes_of(datasets)
    return f"Volumes: {_some(volumes)}. Start what uses them: iSCSI targets, virtual machines." if volumes else ""


def _targets_of(datasets: Datasets) -> list[str]:
    return [f"{of['lustre:svname']} ({name})" for name, of in datasets.values.items() if _is_target(of)]


def _targets_in_use(datasets: Datasets) -> str:
    targets = _targets_of(datasets)
    return (
        f"Lustre targets: {_some(targets)}. Stop them as this site does: HA manager, or `umount` of their directories." if targets else ""
    )


def _targets(datasets: Datasets) -> str:
    targets = _targets_of(datasets)
    if not targets:
        return ""
    return (
        f"Lustre targets: {_some(targets)}. Start them as this site does (HA manager, `mount -t lustre DATASET DIRECTORY`; /etc/ldev.conf or "
        "/etc/fstab names the directory), never with `zfs mount`."
    )


IN_USE: tuple[Callable[[Datasets], str], ...] = (_loaded_keys, _mounted, _legacy, _shares_in_use, _volumes_in_use, _targets_in_use)
KINDS: tuple[Callable[[Datasets], str], ...] = (_keys, _mounts, _legacy, _shares, _volumes, _targets)


def _mounts_by_itself(of: Values) -> bool:
    return of.get("canmount") == "on" and of.get("mountpoint", "none").startswith("/") and not _is_target(of)


def _is_target(of: Values) -> bool:
    return of.get("lustre:svname", NONE) != NONE


def _cut_short(datasets: Datasets) -> Iterable[str]:
    if datasets.left_out:
        yield f"Not known: {datasets.left_out} more rows of `zfs get` were left out of the report. Look at the rest on the node."


def _at_boot(pool: PoolFacts) -> str:
    cachefile = pool.properties.get("cachefile") if known(pool.properties) else None
    if cachefile is None:
        return f"At the next boot: not known, as the property cachefile of {pool.name} was not read."
    if cachefile == "none":
        return f"At the next boot: {pool.name} is in no cache file and does not come in by itself. Whatever starts it here must import it."
    return f"At the next boot: {pool.name} comes in by itself, from {'the default cache file' if cachefile == NONE else cachefile}."


def _some(names: list[str]) -> str:
    more = f" and {len(names) - NAMED} more" if len(names) > NAMED else ""
    return f"{', '.join(names[:NAMED])}{more}"


def _first(names: list[str]) -> str:
    return names[0] if len(names) == 1 else "NAME"
