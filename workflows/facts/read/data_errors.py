"""What `zpool status` says of damaged data: how much, which files where they are listed, and which disks counted errors.

With -v the files follow, else only their number, and an agent asks for the list beside it. A name in angle brackets is an object: a file that is gone, one of a snapshot that is
not mounted, or a part of the pool that is no file at all.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from workflows.facts.model import PoolFacts, VdevFacts
from workflows.facts.unknown import known

NONE = "No known data errors"
_COUNT = re.compile(r"([0-9]{1,20}) data errors?, use '-v' for a list")
_ALSO_COUNTED = re.compile(r"(?m)^errors: ([0-9]{1,20}) data errors?, use '-v' for a list$")
_LISTED = "Permanent errors have been detected in the following files:"
_OBJECT = re.compile(r"(?P<where>.+):<(?P<object>0x[0-9a-f]+|[a-z-]+)>")


@dataclass(frozen=True)
class DataErrors:
    """`count` is None where the text lists them or does not say; `listed` is empty where no list was read."""

    count: int | None
    listed: tuple[str, ...]
    line: str  # as printed

    @property
    def objects(self) -> tuple[str, ...]:
        """Entries that name no file."""
        return tuple(entry for entry in self.listed if _OBJECT.fullmatch(entry))

    @property
    def of_the_pool(self) -> tuple[str, ...]:
        """Entries that are the pool's own bookkeeping: `<metadata>`, or object 0 of a dataset, which finds all its other objects."""
        found = ((entry, _OBJECT.fullmatch(entry)) for entry in self.listed)
        return tuple(entry for entry, form in found if form and (form["where"] == "<metadata>" or form["object"] in ("0x0", "metadata")))

    @property
    def of_a_dataset(self) -> tuple[str, ...]:
        """Entries with object 1 of a dataset that is no snapshot: all the data of a volume, or what finds the files of a file system. Neither is ever removed
        while its dataset is there."""
        found = ((entry, _OBJECT.fullmatch(entry)) for entry in self.listed)
        return tuple(entry for entry, form in found if form and form["object"] == "0x1" and "@" not in form["where"])

    @property
    def only_remains(self) -> bool:
        """Whether nothing is listed but objects without a name: files that were removed since, or of a snapshot."""
        return bool(self.listed) and len(self.objects) == len(self.listed) and not self.of_the_pool and not self.of_a_dataset


def data_errors(pool: PoolFacts) -> DataErrors | None:
    """None when the pool says that it has none, or says nothing of them. The list was asked at another moment than the count, and may be of before it."""
    heading, _, rest = pool.errors.partition("\n")
    counted = _COUNT.fullmatch(heading) or _ALSO_COUNTED.search(rest)  # the second where the list is not available
    if counted:
        listed = pool.error_list.entries if known(pool.error_list) else ()
        return DataErrors(int(counted.group(1)), listed, heading) if int(counted.group(1)) else None
    if heading == _LISTED:
        return DataErrors(None, tuple(line.strip() for line in rest.split("\n") if line.strip()), heading)
    return None


def counted(pool: PoolFacts) -> tuple[tuple[VdevFacts, VdevFacts], ...]:
    """(top-level vdev, leaf) of every leaf in service that counted errors since the counters were cleared. The counts may be rounded."""
    return tuple((top, leaf) for _, top in pool.tops_read for leaf in top.leaves() if leaf.state in ("ONLINE", "DEGRADED") and leaf.counted)
