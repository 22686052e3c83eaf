"""Drives as a RAID controller or HBA tool tells of them: the same facts in every vendor's words, judged in one place.

The controller stands between ZFS and the disk; what it counts (media errors, predictive failures) ZFS may never see.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from agents.domain.wwid import normalise
from workflows.engine.core import Cure, Situation
from workflows.pasted.base import Where, plural

TOGETHER_MIN = 3  # drives that one controller has lost at the same time: one cause


@dataclass(frozen=True)
class State:
    """What a word for a drive's state means. `kind`: "good" serves or waits to be used; "ill" expects to fail; "lost" gets no I/O; "busy" is
    being worked on.
    """

    kind: str
    text: str = ""


GOOD = State("good")


def lost(text: str) -> State:
    return State("lost", text)


def busy(text: str) -> State:
    return State("busy", text)


@dataclass(frozen=True)
class Drive:
    """One physical drive. A field is None where the tool does not print it."""

    place: str  # as the tool names it: "252:3", "1I:1:4", "enclosure 2, slot 7"
    enclosure: str | None = None  # its number, or in words where it has none: "box 1 of port 1I"
    slot: int | None = None
    state: str | None = None  # as printed
    model: str | None = None
    serial: str | None = None
    wwid: str | None = None
    device: str | None = None  # kernel name, where it is printed
    media_errors: int | None = None
    predicted: int | None = None  # how often the drive predicted its failure
    smart_alert: bool | None = None
    other_errors: int | None = None  # of the link, mostly
    temperature: int | None = None  # degrees Celsius
    lines: tuple[str, ...] = ()  # that bear it out: the line of its state, and each counter that is not zero

    @property
    def title(self) -> str:
        parts = [part for part in (self.model, f"serial {self.serial}" if self.serial else "") if part]
        return f"the drive in {self.where}" + (f" ({', '.join(parts)})" if parts else "")

    @property
    def where(self) -> str:
        if self.slot is not None and self.enclosure is not None:
            return f"enclosure {self.enclosure}, slot {self.slot}" if self.enclosure.isdigit() else f"{self.enclosure}, bay {self.slot}"
        return f"slot {self.slot}" if self.slot is not None else self.place


States = Mapping[str, State]  # by the word as printed, in lower case


def judged(drives: Sequence[Drive], states: States, where: Where, tool: str) -> tuple[Situation, ...]:
    """What is wrong with each drive; a state that is not in the table is raised as unexplained."""
    return tuple(_judged(drives, states, where, tool))


def _judged(drives: Sequence[Drive], states: States, where: Where, tool: str) -> Iterator[Situation]:
    judged_drives = [(drive, GOOD if drive.state is None else states.get(drive.state.lower())) for drive in drives]
    gone = [drive for drive, state in judged_drives if state is not None and state.kind == "lost"]
    together = gone if len(gone) >= TOGETHER_MIN else []
    if together:
        yield _together(together, where, tool)
    for drive, state in judged_drives:
        if state is None:
            yield _unexplained(drive, where, tool)
        counted = list(_counts(drive))
        if drive not in together and (counted or state not in (None, GOOD)):
            yield _failing(drive, state or GOOD, counted, where, tool)


def _together(gone: Sequence[Drive], where: Where, tool: str) -> Situation:
    places = ", ".join(f"{drive.where}: {drive.state}" for drive in gone[:8])
    return Situation(
        "many-disks-offline", f"many-disks-offline:{where.node}:{where.source}", where.node, "act",
        f"{len(gone)} drives are lost to the controller at once",
        f"{tool} does not use {len(gone)} drives ({places}). So many do not fail by themselves at the same time: look at the cable, the expander, "
        "the power of the shelf and the controller first. Replace none of them before that.",
        where.evidence(*(drive.lines[0] for drive in gone[:8] if drive.lines)),
        subject={"node": where.node},
        gate=True,
    )  # fmt: skip


def _counts(drive: Drive) -> Iterator[str]:
    if drive.smart_alert:
        yield "it raised its SMART alert: it expects to fail"
    if drive.predicted:
        yield f"it predicted its failure {plural(drive.predicted, 'time')}"
    if drive.media_errors:
        yield f"{plural(drive.media_errors, 'media error')}: sectors that it could not read"


def _failing(drive: Drive, state: State, counted: Sequence[str], where: Where, tool: str) -> Situation:
    member = where.member(drive.device, drive.wwid, drive.serial)
    title = drive.title[0].upper() + drive.title[1:]
    reasons = [reason for reason in (state.text, *counted) if reason]
    return Situation(
        "disk-failing", f"disk-failing:{where.node}:{drive.serial or drive.wwid or drive.place}", where.node,
        "act" if _is_hard(drive, state) else "watch",
        f"{title}: {reasons[0]}",
        f"{tool} says of {drive.title}{_named(drive)}: {'; '.join(reasons)}. {member.sentence + ' ' if member else ''}{_then(drive, state)} Before "
        f"anything is pulled compare the serial number on the drive{' with ' + drive.serial if drive.serial else ''}.",
        where.evidence(*[line for line in drive.lines if line][:4]),
        subject=_subject(drive, where) | (member.subject if member else {}),
        cures=() if counted else _CURES.get(state.kind, ()),
    )  # fmt: skip


_CURES = {  # of a drive that serves no more, and of one that does not serve yet; of others those of every disk that fails
    "lost": (
        Cure(
            "look",
            "Compare the serial number on the drive with the one here, and see by the controller's tool which volume or pool it is of.",
        ),
        Cure("reseat", "Reseat it once, and look at its slot, cable and power."),
        Cure(
            "replace",
            "If it comes back like this, replace it: a drive of a volume by the controller's own tool, a member of a pool by its guid.",
        ),
    ),
    "busy": (
        Cure("wait", "Wait until the controller has finished. Take no other drive of it out meanwhile, and do not replace this one."),
    ),
}


def _is_hard(drive: Drive, state: State) -> bool:
    return state.kind in ("lost", "ill") or bool(drive.predicted or drive.smart_alert)


def _then(drive: Drive, state: State) -> str:
    if state.kind == "lost":
        return (
            "The controller gives it no I/O, so ZFS has lost it or will. Reseat it once and look at its slot and cable; if it comes back like "
            "this, replace it."
        )
    if state.kind == "ill" or drive.predicted or drive.smart_alert:
        return (
            "A disk that says this may fail within hours or stay for months; it will not get better. See that its vdev has redundancy left, "
            "then replace it in place: attach the new disk before the old one is taken out."
        )
    if state.kind == "busy":
        return "Wait until the controller has finished; take no other drive of it out meanwhile."
    return (
        "A few media errors that do not grow are common on large disks; a number that grows is not. Run a scrub, look again, and plan the "
        "replacement if it has grown."
    )


def _named(drive: Drive) -> str:
    names = [part for part in (drive.wwid, f"/dev/{drive.device}" if drive.device else "") if part]
    return f" [{', '.join(names)}]" if names else ""


def _unexplained(drive: Drive, where: Where, tool: str) -> Situation:
    return Situation(
        "unexplained", f"unexplained:{where.node}:{where.source}:{drive.state}", where.node, "watch",
        f"{tool}: the state {drive.state} is not known here",
        f"{tool} prints the state {drive.state} for {drive.title}, and nothing here says what it means. It is not taken for good. Look it up in "
        "the manual of the controller.",
        where.evidence(*drive.lines[:1]),
        subject=_subject(drive, where) | {"source": where.source, "token": drive.state or ""},
        sure=False,
    )  # fmt: skip


def _subject(drive: Drive, where: Where) -> dict[str, str]:
    fields = {"node": where.node, "bay": drive.where, "enclosure": drive.enclosure, "slot": None if drive.slot is None else str(drive.slot)}
    fields |= {"serial": drive.serial, "wwid": drive.wwid, "disk": drive.device}
    return {name: value for name, value in fields.items() if value}


def notes(drives: Sequence[Drive]) -> tuple[str, ...]:
    """What was read and is judged by nobody."""
    linked = [drive for drive in drives if drive.other_errors]
    text = f"{plural(len(drives), 'drive')} were read." if len(drives) != 1 else "1 drive was read."
    link = (
        (f"Other errors (of the link, mostly) are counted on {', '.join(drive.place for drive in linked[:8])}; they are not judged.",)
        if linked
        else ()
    )
    none = ("It shows no error counters of the drives.",) if uncounted(drives) else ()
    return (text, *link, *none)


def uncounted(drives: Sequence[Drive]) -> bool:
    """Whether no error counter of any drive is shown: a drive may be Online and count media errors all the same."""
    return not any(drive.media_errors is not None or drive.predicted is not None or drive.smart_alert is not None for drive in drives)


def doubt(drives: Sequence[Drive], ask: str) -> str:
    """Why a list in which every state is good is not good all the same; "" where it is. `ask` is the command that shows the counters."""
    return (
        f"The states of the drives are good, and their error counters are not shown; `{ask}` shows them."
        if drives and uncounted(drives)
        else ""
    )


def wwid(digits: str | None) -> str | None:
    """The canonical name of a WWN that a controller prints: 16 hex digits, with or without blanks, dashes and "0x"."""
    plain = (digits or "").replace("-", "").replace(" ", "").replace(":", "").lower().removeprefix("0x")
    return normalise(plain) if len(plain) == 16 else None
