"""Outputs that list no pool. Each is an answer, and none of them says that anything is well: a pool whose disks are gone is listed nowhere."""

from __future__ import annotations

from typing import Any

OF_IMPORTED = frozenset(("zpool_status", "zpool_status_guid", "zpool_status_json", "zpool_list", "zpool_list_text", "zpool_get"))
OF_ANY = OF_IMPORTED | {"zpool_import", "zpool_events"}
NEXT = (
    "It lists no pool, so nothing says how any is. If there should be one: `zpool import` lists what could be imported, `zpool import -d "
    "/dev/disk/by-id` looks at every disk, `lsblk -o NAME,SIZE,MODEL,SERIAL,WWN` and `dmesg` tell whether the disks are there, and `hostname` "
    "whether it is the right host."
)
TO_IMPORT = "Another `zpool import` at work, a script's as well, hides the disks it has open. See that there is none (`pgrep -a zpool`), and ask again."
DOUBT = "No pool is listed, so nothing says how any is; `zpool import`, `lsblk` and `dmesg` show whether one should be."


def lists_none(source: str, value: Any) -> bool:
    """Whether this output, that was read, shows no pool and no event of one."""
    return source in OF_ANY and isinstance(value, tuple) and not value


def note(source: str, value: Any) -> tuple[str, ...]:
    """What to ask next; nothing where pools are listed."""
    if not lists_none(source, value) or source == "zpool_events":
        return ()
    return (TO_IMPORT,) if source == "zpool_import" else (NEXT,)
