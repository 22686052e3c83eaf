"""An enclosure says that one of its own parts is broken: a fan, a power supply, a sensor over its limit, a module, a bay.

Status words by SES-4 (table 71). "Not installed", "Unsupported", "Unknown" and "Not available" say nothing bad: shelves without a second
module say the first, and many parts are never read.
"""

from collections.abc import Iterator

from agents.collectors.ses import SesElement
from workflows.engine.core import Cure, Evidence, Severity, Situation
from workflows.facts import BayFacts, EnclosureFacts, FleetFacts, NodeFacts, known
from workflows.situations import _words

SLUG = "enclosure-fault"
MANUALS: tuple[str, ...] = ()
SHOWN_MAX = 8

STATUS: dict[str, Severity] = {"critical": "act", "unrecoverable": "act", "non-critical": "watch", "noncritical": "watch"}
GRAVE_FLAGS = frozenset(
    ("Fail", "AC fail", "DC fail", "DC overcurrent", "Overtmp fail", "OT failure", "UT failure", "Crit Over", "Crit Under")
)
BAYS = ("Array device slot", "Device slot", "Array device", "Device")
NEUTRAL = ("not installed", "unsupported", "not available", "unknown")  # its flags mean nothing then
WHAT_COMES = {
    "Power supply": "The enclosure runs on what is left; when the other supply fails as well, every disk in it is gone at once.",
    "Cooling": "With a fan less the disks get warmer, and the next one that fails lets them overheat.",
    "Temperature sensor": "Disks that get too warm slow down or switch off, several at a time.",
    "Enclosure services controller electronics": "Its monitoring may fail, and with a module the paths behind it.",
}


def detect(fleet: FleetFacts) -> tuple[Situation, ...]:
    return tuple(found for node in fleet.nodes.values() for found in _on(node))


def _on(node: NodeFacts) -> Iterator[Situation]:
    names: set[str] = set()
    for enclosure in node.enclosures:
        broken = tuple((element, how) for element in enclosure.elements if (how := judged(element)) is not None)
        names.add(enclosure.id)
        if broken:
            yield _situation(node, enclosure, broken)
        elif enclosure.alarms:
            yield _without_part(node, enclosure)
    yield from _of_the_kernel(node, names)


def judged(element: SesElement) -> Severity | None:
    """How bad its status is; None for one that is well, not there, or not watched. A bay's trouble is its disk's, and is watched."""
    status = element.status.lower()
    if status in NEUTRAL:
        return None
    found = STATUS.get(status)
    if found is None and (element.flags or element.predicted):
        found = "act" if GRAVE_FLAGS & set(element.flags) else "watch"
    return "watch" if found is not None and element.type in BAYS else found


def _situation(node: NodeFacts, enclosure: EnclosureFacts, broken: tuple[tuple[SesElement, Severity], ...]) -> Situation:
    elements = tuple(element for element, _ in broken)
    parts = [_named(element) for element in elements]
    shown = "; ".join(parts[:SHOWN_MAX]) + (f"; and {len(parts) - SHOWN_MAX} more" if len(parts) > SHOWN_MAX else "")
    name = f"enclosure {enclosure.id}" if enclosure.id else "the enclosure"
    comes = " ".join(dict.fromkeys(WHAT_COMES[element.type] for element in elements if element.type in WHAT_COMES))
    return Situation(
        slug=SLUG,
        key=f"{SLUG}:{node.node}:{enclosure.id or enclosure.source}",
        node=node.node,
        severity="act" if any(how == "act" for _, how in broken) else "watch",
        title=f"{name[0].upper()}{name[1:]}: {parts[0]}{f' and {len(parts) - 1} more' if len(parts) > 1 else ''}",
        meaning=" ".join(part for part in (f"{name[0].upper()}{name[1:]} reports: {shown}.", comes) if part),
        evidence=tuple(_words.evidence(node, enclosure.source, _line(element)) for element in elements[:SHOWN_MAX]),
        subject={"node": node.node} | ({"enclosure": enclosure.id} if enclosure.id else {}),
        cures=tuple(_cures(elements)),
    )


def _without_part(node: NodeFacts, enclosure: EnclosureFacts) -> Situation:
    """The head of the page says that a part is not well, and no part of it does: its line is not here, or its place is empty."""
    name, bits = (f"enclosure {enclosure.id}" if enclosure.id else "the enclosure"), ", ".join(f"{bit}=1" for bit in enclosure.alarms)
    empty = [_named(element) for element in enclosure.elements if element.status.lower() == "not installed" and element.type in WHAT_COMES]
    return Situation(
        slug=SLUG,
        key=f"{SLUG}:{node.node}:{enclosure.id or enclosure.source}",
        node=node.node,
        severity="watch",
        title=f"{name[0].upper()}{name[1:]} raises {bits}, and shows no part that is so",
        meaning=f"The head of its status page says that some part is not well ({bits}). None of the parts that were read says so of itself. "
        + (f"An empty place can be the reason: {'; '.join(empty[:SHOWN_MAX])}. " if empty else "")
        + "Look at the lights of the enclosure, its power supplies and fans.",
        evidence=(_words.evidence(node, enclosure.source, bits),),
        subject={"node": node.node} | ({"enclosure": enclosure.id} if enclosure.id else {}),
        cures=(
            Cure("look", "Ask the enclosure for all of its parts (`sg_ses --join`, `sg_ses -p es`), and compare them with what is in it."),
        ),
    )


def _named(element: SesElement) -> str:
    degrees = f", {element.degrees} °C" if element.degrees is not None else ""
    predicted = ", it predicts its failure" if element.predicted else ""
    flags = f" ({', '.join(element.flags)})" if element.flags else ""
    name = f" {element.name}" if element.name.lower() != element.type.lower() else ""
    return f"{element.type}{name} is {element.status}{flags}{degrees}{predicted}"


def _line(element: SesElement) -> str:
    return f"{element.name}  {element.type}  status: {element.status}"


def _cures(elements: tuple[SesElement, ...]) -> Iterator[Cure]:
    kinds = {element.type for element in elements}
    if "Power supply" in kinds:
        yield Cure(
            "look", "Look at the cable and the circuit of that power supply first, then replace the supply; it can be changed in operation."
        )
    if kinds & {"Cooling", "Temperature sensor"}:
        yield Cure("cooling", "Look at the fans, the filters and the air of the room, and at the temperature of the disks in it.")
    if kinds & set(BAYS):
        yield Cure(
            "look",
            "Look at what the disk in that bay says of itself, and at its light. A bay with a fault is not a reason to replace the disk.",
        )
    yield Cure("look", "Ask the enclosure again after the repair (`sg_ses --join`): the status must be OK.")


def _of_the_kernel(node: NodeFacts, names: set[str]) -> Iterator[Situation]:
    """Bays with a bad status as the kernel's driver shows them, of enclosures that were not asked themselves."""
    by_enclosure: dict[str, list[BayFacts]] = {}
    for bay in node.bays if known(node.bays) else ():
        if bay.enclosure_id not in names and known(bay.status) and bay.status.lower() in STATUS:
            by_enclosure.setdefault(bay.enclosure_id, []).append(bay)
    for enclosure_id, bays in by_enclosure.items():
        words = "; ".join(f"bay {bay.slot} is {bay.status}" for bay in bays[:SHOWN_MAX])
        yield Situation(
            slug=SLUG,
            key=f"{SLUG}:{node.node}:{enclosure_id}",
            node=node.node,
            severity="watch",
            title=f"Enclosure {enclosure_id}: {words}",
            meaning=f"Enclosure {enclosure_id} reports: {words}. Its disk may have failed, or the connection to it; the pool's own state says what serves.",
            evidence=tuple(_bay_evidence(node, bay) for bay in bays[:SHOWN_MAX]),
            subject={"node": node.node, "enclosure": enclosure_id},
            cures=(
                Cure(
                    "look",
                    "Look at what the disk in that bay says of itself, and at its light. A bay with a fault is not a reason to replace the disk.",
                ),
            ),
        )


def _bay_evidence(node: NodeFacts, bay: BayFacts) -> Evidence:
    return _words.evidence(node, "enclosure", f"{bay.enclosure_id} bay {bay.slot}: {bay.status}")
