"""What ZFS's own debug log (dbgmsg) says of a pool that could not be loaded, where nothing else was pasted that shows the pool."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from agents.collectors.dbgmsg import Message
from workflows.engine.core import Cure, Situation
from workflows.pasted.base import Where

_ENDED = re.compile(r"spa_load\((?P<pool>[^,()]{1,255}), config \w{1,12}\): (?P<how>FAILED: (?P<why>.{1,300})|LOADED\b)")
LOOKED_AT = "$import"  # what ZFS calls every pool that it only looks at


def situations(value: Sequence[Message], where: Where) -> tuple[Situation, ...]:
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
