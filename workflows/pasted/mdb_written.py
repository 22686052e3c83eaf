"""Tunables that somebody wrote in the illumos kernel debugger: what they were before and are now."""

from __future__ import annotations

from collections.abc import Sequence

from agents.collectors.mdb import Tunable
from workflows.engine.core import Situation
from workflows.pasted.base import Where


def situations(value: Sequence[Tunable], lines: Sequence[str], where: Where) -> tuple[Situation, ...]:
    """One for all that were written; what was only read is no finding."""
    written = [tunable for tunable in value if tunable.was is not None and tunable.was != tunable.value]
    if not written:
        return ()
    text = ", ".join(f"{each.name} from {each.was} to {each.value}" for each in written)
    back = ", ".join(f"{each.name}/W0t{each.was}" for each in written)
    quoted = [line for line in lines if " = 0x" in line.replace("\t", " ") and any(each.name in line for each in written)]
    return (
        Situation(
            "tunable-written", f"tunable-written:{where.node}", where.node, "info",
            f"{len(written)} tunable{'s were' if len(written) > 1 else ' was'} changed in the running kernel",
            f"Changed in the running kernel: {text}. It holds until the next boot and for every pool of the node. When the resilver or scrub it was "
            f"meant for is over, write the old values back: {back} in mdb -kw.",
            where.evidence(*quoted[:6]),
            subject={"node": where.node},
        ),
    )  # fmt: skip
