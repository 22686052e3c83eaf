"""What a RAID controller makes of its drives (volumes) and what it needs itself (battery, cache): judged in one place for all vendors' words."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from workflows.engine.core import Cure, Situation
from workflows.pasted import _drives
from workflows.pasted._drives import Drive, State
from workflows.pasted.base import Where, unread

GOOD = frozenset(("optimal", "ok", "okay", "online"))
WORKS = frozenset(
    ("rebuilding", "impacted", "verifying", "initializing", "migrating", "reconfiguring", "building", "suboptimal, rebuilding")
)
ILL = frozenset(
    ("degraded", "partially degraded", "partial degraded", "suboptimal", "suboptimal, fault tolerant", "interim recovery mode", "critical")
)
DOWN = frozenset(("failed", "offline", "missing", "inactive", "dead"))


@dataclass(frozen=True)
class Volume:
    number: str
    state: str | None  # as printed, without what stands in parentheses behind it
    line: str


@dataclass(frozen=True)
class Part:
    """The battery, the cache or its module. `reasons` say what is wrong with it; none where it is well."""

    name: str
    reasons: tuple[str, ...]
    lines: tuple[str, ...]


@dataclass(frozen=True)
class Listed:
    """All that a controller's tool lists. `stray` are lines that no rule knows."""

    drives: tuple[Drive, ...]
    volumes: tuple[Volume, ...]
    parts: tuple[Part, ...]
    stray: tuple[str, ...]


def judged(value: Listed, states: Mapping[str, State], where: Where, controller: str) -> tuple[Situation, ...]:
    return (*_drives.judged(value.drives, states, where, controller), *situations(value.volumes, value.parts, where))


def notes_of(value: Listed) -> tuple[str, ...]:
    return (*unread(value.stray), *_drives.notes(value.drives), *notes(value.volumes, value.parts))


def is_silent(value: Listed) -> bool:
    return not (value.drives or value.volumes)


def state(text: str | None) -> str | None:
    """ "Impacted ( Build/Verify with fix : 90 % )" is Impacted."""
    return text.partition("(")[0].strip() or None if text else None


def situations(volumes: Iterable[Volume], parts: Iterable[Part], where: Where) -> Iterator[Situation]:
    for volume in volumes:
        if (volume.state or "").lower() not in GOOD:
            yield _of_volume(volume, where)
    for part in parts:
        if part.reasons:
            yield _of_part(part, where)


def _of_volume(volume: Volume, where: Where) -> Situation:
    word = (volume.state or "").lower()
    known = word in WORKS | ILL | DOWN
    text = (
        "The controller is at work on it; wait until it has finished." if word in WORKS
        else "It has lost a drive: replace that by the controller's tool, and see what ZFS says of the disk that the volume is to it." if word in ILL
        else "It gets no I/O: look at the drives behind it, their cables and their shelf first." if word in DOWN
        else "Nothing here says what that word means, and it is not taken for good."
    )  # fmt: skip
    return Situation(
        "hba-fault" if known else "unexplained", f"hba-volume:{where.node}:{where.source}:{volume.number}", where.node,
        "act" if word in ILL | DOWN else "watch",
        f"RAID volume {volume.number} of the controller: {volume.state or 'no state'}",
        f"The controller says of its volume {volume.number}: {volume.state or 'nothing of its state'}. {text} ZFS sees such a volume as one disk and cannot "
        "tell which drive behind it is ill.",
        where.evidence(volume.line),
        subject={"node": where.node, "volume": volume.number},
        sure=known,
        cures=_LACKS_DRIVES if word in ILL else (),
    )  # fmt: skip


_LACKS_DRIVES = (
    Cure(
        "look",
        "See by the controller's own tool which drive of the volume has failed, and compare the serial number on it before anything is pulled.",
    ),
    Cure(
        "other",
        "Replace that drive by the controller's own tool, and wait until it is rebuilt. In the pool nothing is to be replaced for it: ZFS sees the volume as one disk.",
    ),
)


def _of_part(part: Part, where: Where) -> Situation:
    return Situation(
        "hba-fault", f"hba-fault:{where.node}:{where.source}:{part.name}", where.node, "watch",
        f"The {part.name} of the RAID controller: {part.reasons[0]}",
        f"The controller says of its {part.name}: {'; '.join(part.reasons)}. Without it the cache is switched off and writes get slow, or a power loss "
        "loses what the controller has acknowledged and ZFS believes written.",
        where.evidence(*part.lines),
        subject={"node": where.node},
    )  # fmt: skip


def notes(volumes: Sequence[Volume], parts: Sequence[Part]) -> tuple[str, ...]:
    notes_made = (f"{len(volumes)} volumes of the controller were read; ZFS sees each as one disk.",) if volumes else ()
    return (*notes_made, *(f"The {part.name} is well, by its own word." for part in parts if not part.reasons))
