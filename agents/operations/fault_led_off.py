"""Switch off one bay's fault LED, which ZED lit for a disk that is gone, and read back what came of it.

ZED puts the light out when a vdev of that bay comes ONLINE and it hears of it; a light that it missed sends the next person to a good
disk. Nothing is ever lit here. The bay is named by the enclosure's logical id and its slot number, and must hold the one disk that is
meant in the moment of writing. Only the kernel's enclosure driver is used: it alone shows the light. What the enclosure itself senses
(4 in sysfs, beside 2 for what the node asked for) no command switches off, and it is said apart.
"""

from __future__ import annotations

from collections.abc import Mapping

from agents.collectors.base import Capture
from agents.collectors.enclosure import SENSED, collect
from agents.domain.wwid import normalise
from agents.host.host import Host, Ran
from agents.operations.base import Probe, Unread, check_guid, check_names, check_pool, known, unknowns
from agents.operations.locate_led import Lamp, check_bay, disk_in, insist, lamps, status_of

NAME = "fault_led_off"
EFFECT = "idempotent"
DESTRUCTIVE = False
PARAMS = ("pool", "pool_guid", "enclosure", "slot", "wwid")
TIMEOUT_SECONDS = 120.0
FACTS = ("fault.folders", "fault.light", "bay.disk", "bay.status")
ASKED, SENSES, DARK = "on, as the node asked", "on, as the enclosure itself senses a fault", "off"


def check(params: Mapping[str, str]) -> str:
    bad = check_names(params, PARAMS) or check_pool(params["pool"]) or check_guid("pool_guid", params["pool_guid"]) or check_bay(params)
    return bad or ("" if normalise(params["wwid"]) == params["wwid"] else f"{params['wwid']!r} is no WWID.")


def argv(params: Mapping[str, str]) -> tuple[str, ...]:
    """No tool is called by these words; they say what `perform` does."""
    return ("fault", "off", "enclosure", params["enclosure"], "slot", params["slot"])


def preconditions(host: Host, params: Mapping[str, str]) -> dict[str, str]:
    return {
        "fault.folders": known(lambda: ", ".join(lamp.folder for lamp in _lamps(host, params))),
        "fault.light": known(lambda: _light(host, params)),
        "bay.disk": known(lambda: disk_in(host, params)),
        "bay.status": known(lambda: status_of(host, params)),
    }


def describe(host: Host, params: Mapping[str, str]) -> dict[str, object]:
    facts = preconditions(host, params)
    bay = {"enclosure": params["enclosure"], "slot": params["slot"], "disk": facts["bay.disk"], "fault light": facts["fault.light"]}
    return {"bay": bay, "preconditions": facts}


def guards(pre: Mapping[str, str], params: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    verdicts = unknowns({name: pre.get(name, "unknown: it was not read") for name in FACTS})
    if verdicts:
        return verdicts
    bay = f"Bay {params['slot']} of {params['enclosure']}"
    if pre["bay.disk"] != params["wwid"]:
        return (("refuse", f"{bay} holds {pre['bay.disk']} and not {params['wwid']}. Its fault light stays. Look at the bays again."),)
    if pre["fault.light"] == SENSES:
        return (("refuse", f"{bay}: the enclosure itself senses a fault there, and no command switches that light off. Look at the bay."),)
    return (("pass", f"{bay} holds {params['wwid']}, and its fault light is {pre['fault.light']}."),)


def perform(host: Host, params: Mapping[str, str]) -> Ran:
    """Write, and read back over every path, until the light is no longer requested or it has been tried often enough."""
    return insist(host, argv(params), lambda output: _write(host, params, output))


def probe(host: Host, params: Mapping[str, str], pre: Mapping[str, str]) -> Probe:
    try:
        light = _light(host, params)
    except Unread as unread:
        return Probe("cannot_tell", aftermath(host, params), f"The fault light of bay {params['slot']} cannot be read: {unread}.")
    reason = f"The fault light of bay {params['slot']} of {params['enclosure']} is {light}."
    return Probe("did_not" if light == ASKED else "did", aftermath(host, params), reason)


def aftermath(host: Host, params: Mapping[str, str]) -> tuple[Capture, ...]:
    return collect(host)


def _write(host: Host, params: Mapping[str, str], output: list[str]) -> bool:
    """Whether no path shows a light that was asked for, after those that did were written to. The disk is asked for each time."""
    inside = disk_in(host, params)
    if inside != params["wwid"]:
        raise Unread(f"bay {params['slot']} holds {inside} and not {params['wwid']}")
    for lamp in _lamps(host, params):
        if _reads(host, lamp) & ~SENSED:
            _off(host, lamp)
            output.append(f"{lamp.folder}: written")
    light = _light(host, params)
    output.append(f"read back: the fault light of bay {params['slot']} of {params['enclosure']} is {light}")
    return light != ASKED


def _light(host: Host, params: Mapping[str, str]) -> str:
    """Over all paths: one that shows it on is enough."""
    shown = [_reads(host, lamp) for lamp in _lamps(host, params)]
    if any(value & ~SENSED for value in shown):
        return ASKED
    return SENSES if any(shown) else DARK


def _lamps(host: Host, params: Mapping[str, str]) -> tuple[Lamp, ...]:
    found = lamps(host, params)
    if any(not lamp.folder for lamp in found):
        raise Unread(f"the kernel's enclosure driver does not show bay {params['slot']} of the enclosure {params['enclosure']}")
    return found


def _reads(host: Host, lamp: Lamp) -> int:
    try:
        value = host.read(f"{lamp.folder}/fault").decode("ascii", "replace").strip()
    except OSError as error:
        raise Unread(f"{lamp.folder}/fault cannot be read") from error
    if len(value) != 1 or value not in "01234567":
        raise Unread(f"{lamp.folder}/fault reads {value!r}")
    return int(value)


def _off(host: Host, lamp: Lamp) -> None:
    try:
        host.write(f"{lamp.folder}/fault", b"0")
    except OSError as error:
        raise Unread(f"{lamp.folder}/fault cannot be written: {error.strerror or error}") from error
