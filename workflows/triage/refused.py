"""What an import says when it does not take place: what each sentence means, and what of its advice not to follow.

It lists no disk, so no situation comes of it. But it is what a tired person has on the screen.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

MORE = "Paste `zpool import` without a name, and the label of every disk."

# The sentence, and what it means. Every one that fits is told, the gravest first.
MEANINGS = (
    (
        re.compile(r"is imported on \S|currently imported by another|must be exported from \S"),
        "Another host has the pool imported now. To import it here as well, with -f or without, destroys it.",
    ),
    (
        re.compile(r"was previously in use from another system"),
        "Another host had the pool and never exported it. -f is right only once somebody has proven that this host has it no more.",
    ),
    (
        re.compile(r"Recovery is possible|Would be able to return"),
        f"Going back discards the newest writes for ever. First see whether one disk tells another story than the others. {MORE}",
    ),
    (
        re.compile(r"Destroy and re-create the pool"),
        f"Do not destroy it: this is printed as well for a pool that is whole but for one disk. {MORE}",
    ),
    (re.compile(r"cannot import '[^']+': I/O error"), f"Its newest data does not fit together, or a disk cannot be read. {MORE}"),
    (
        re.compile(r"unsupported version or feature|unsupported feature"),
        "This node's OpenZFS is too old for the pool. Nothing is wrong with the pool.",
    ),
    (
        re.compile(r"one or more devices (?:is|are) currently unavailable"),
        "Not all disks it needs could be opened. It does not say which; `zpool import` without a name does.",
    ),
    (
        re.compile(r"a pool with that name already exists"),
        "A pool of this name is imported here already, perhaps this very one. `zpool status -P -p` tells.",
    ),
    (re.compile(r"more than one matching pool"), "Two pools have this name. `zpool import` without a name lists their ids; import by id."),
    (
        re.compile(r"no such pool available"),
        "No disk that it could open carries a label of it. Another `zpool import` at work, a script's as well, hides its disks from this one: "
        "see that there is none (`pgrep -a zpool`), then `zpool import -d /dev/disk/by-id` looks at all that have a stable name.",
    ),
)
_REFUSED = re.compile(r"cannot import '[^']+'|Would be able to return .+ to its state|Destroy and re-create the pool")


def meaning(lines: Iterable[str]) -> str:
    """What these lines mean, if an import says them; "" if not."""
    said = " ".join(" ".join(lines).split())
    return " ".join(means for sentence, means in MEANINGS if sentence.search(said)) if _REFUSED.search(said) else ""
