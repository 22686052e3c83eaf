"""What ZFS's own debug log (dbgmsg) says of a pool that could not be loaded, where nothing else was pasted that shows the pool; and of I/O that hangs."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from agents.collectors.dbgmsg import Message
from workflows.engine.core import Cure, Situation
from workflows.pasted.base import Where

_ENDED = re.compile(r"spa_load\((?P<pool>[^,()]{1,255}), config \w{1,12}\): (?P<how>FAILED: (?P<why>.{1,300})|LOADED\b)")
LOOKED_AT = "$import"  # what ZFS calls every pool that it only looks at


_SLOW_SYNC = re.compile(r"slow spa_sync: started (?P<seconds>[0-9]{1,9}) seconds ago")
_SLOW_VDEV = re.compile(r"slow vdev: (?P<path>\S{1,300}) has (?P<count>[0-9]{1,9}) active IOs?")
NAMED = 6


def situations(value: Sequence[Message], where: Where) -> tuple[Situation, ...]:
    return (*_hung(value, where), *_loads(value, where))


def _hung(messages: Sequence[Message], where: Where) -> Iterator[Situation]:
    """I/O that the deadman waits for (vdev_deadman and spa_deadman in module/zfs): the last lines of the log count, earlier ones are how it went."""
    slow: dict[str, str] = {}
    seconds, line = 0, ""
    for message in messages:
        text = message.text[:1000]
        if found := _SLOW_VDEV.search(text):
            slow[found.group("path")] = found.group()
        elif found := _SLOW_SYNC.search(text):
            seconds, line = max(seconds, int(found.group("seconds"))), found.group()
    if not slow:
        if seconds:
            yield _waits(seconds, line, where)
        return
    paths = list(slow)
    which = ", ".join(paths[:NAMED]) + (f" and {len(paths) - NAMED} more" if len(paths) > NAMED else "")
    waited = f" A transaction group waits for {seconds} s by now." if seconds else ""
    shared = (
        "So many do not hang alike: look at what they share, the HBA, a cable, an expander, multipath or power. " if len(paths) > 1 else ""
    )
    yield Situation(
        "disk-hangs", f"disk-hangs:{where.node}:dbgmsg:{paths[0]}", where.node, "act",
        f"{paths[0].rpartition('/')[2] if len(paths) == 1 else f'{len(paths)} devices'} took I/O and did not answer it",
        f"ZFS waits for I/O that was given to {which} and did not come back in the time of its deadman.{waited} It writes nothing more meanwhile. {shared}"
        "Whether it hangs still, these lines do not say. Replace and clear nothing before the way to these disks was looked at. If nothing is done, everything "
        "that uses the pool waits with it.",
        where.evidence(*list(slow.values())[:NAMED], *((line,) if line else ())),
        subject={"node": where.node, "why": "deadman"} | ({"path": paths[0]} if len(paths) == 1 else {}),
        sure=False,
        gate=len(paths) > 1,
        cures=(
            Cure("look", "See what the kernel says of these disks, and how the pools are.", (("dmesg",), ("zpool", "status", "-P", "-p"), ("multipath", "-ll"))),
            Cure("reseat", "Look at the way to them: cable, port, expander, HBA, the shelf's power; change one thing at a time."),
        ),
    )  # fmt: skip


def _waits(seconds: int, line: str, where: Where) -> Situation:
    """Where no device is named: the deadman found none whose I/O is late (spa_deadman in module/zfs/spa_misc.c), so that what is waited for is not known."""
    return Situation(
        "kernel-errors", f"kernel-errors:{where.node}:dbgmsg:slow-sync", where.node, "act",
        f"A transaction group of a pool waits for {seconds} s",
        f"ZFS has tried for {seconds} s to write one transaction group, and these lines name neither the pool nor a device that does not answer. What is written to that pool waits with "
        "it, commands that change the pool as well. It may be a disk, an HBA, a suspended pool, or ZFS itself. Whether it waits still, these lines do not say. "
        "If nothing is done, everything that uses the pool waits on; no disk is to be replaced for this line.",
        where.evidence(line),
        subject={"node": where.node, "why": "slow-sync"},
        sure=False,
        cures=(
            Cure("look", "See which pool it is and what it waits for: the state of each pool, and the kernel's lines about disks and about threads that do not go on.", (("zpool", "status", "-P", "-p"), ("dmesg",))),
        ),
    )  # fmt: skip


def _loads(value: Sequence[Message], where: Where) -> tuple[Situation, ...]:
    if where.facts is not None and (where.facts.pools_read or where.facts.importable_read):
        return ()
    return tuple(_of_log(value, where))


def _of_log(messages: Sequence[Message], where: Where) -> Iterator[Situation]:
    """The last load of each pool, if it failed. A later one that succeeded takes an earlier failure back."""
    last: dict[str, re.Match[str]] = {}
    for message in messages:
        if found := _ENDED.search(message.text[:1000]):
            last[found.group("pool")] = found
    for pool, found in last.items():
        why = found.group("why")
        if why is None:
            continue
        name = "a pool that it only looked at" if pool == LOOKED_AT else f"the pool {pool}"
        yield Situation(
            "import-blocked", f"import-blocked:{where.node}:dbgmsg:{pool}", where.node, "act",
            f"ZFS could not load {name}: {why.strip()[:120]}",
            f"The last load of {name} in this log failed: {why.strip()}. {'A look by `zpool import` does the same as an import up to here, so an import would fail as well. ' if pool == LOOKED_AT else ''}"
            "Force nothing by that alone: `zpool import` shows which devices it misses and why.",
            where.evidence(found.group()),
            subject={"node": where.node, "why": "load-failed"} | ({} if pool == LOOKED_AT else {"pool": pool}),
            sure=False,
            cures=(Cure("look", "See what can be imported, and what is missing.", (("zpool", "import"),)),),
        )  # fmt: skip
