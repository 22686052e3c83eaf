"""Light one bay's locate LED, or switch it off, and read back what came of it.

    the kernel's enclosure driver where it shows the bay, else `sg_ses` on the enclosure's own device;
    the kernel's light of the PCIe port directly above an NVMe disk, where the order names a port in place of a bay
    a tool of the node, where the order names one in place of the enclosure (see _tool_lights.py)

The bay is named by the enclosure's logical id and its slot number; which kernel name the enclosure has today is found at
the moment of writing. Lighting asks that the disk meant sits in that bay now, and that no other bay of the enclosure is
lit: two lit bays are how the wrong disk gets pulled.

A port is named by "npem" in place of the enclosure and its PCI address in place of the slot. No number on the chassis goes with it, so the disk itself
is found by its serial number; the light only leads there. The kernel carries a write to it out later (drivers/leds/led-core.c: led_set_brightness_nopm),
so it is read again until it shows, or not, and where the driver cannot read the port it shows what was asked for (led_update_brightness).

A tool is named in place of the enclosure, and the place as that tool names it in place of the slot; ledctl alone reads the light back. The others say that
they did it, and the disk is found by its serial number there too.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from agents.collectors import block, light_tools, ses
from agents.collectors.base import Capture
from agents.collectors.enclosure import PORT, PORTS, ROOT, Enclosure, Slot, collect, light_of, parse, port_above
from agents.collectors.light_tools import PROGRAMS, is_place
from agents.domain.wwid import normalise
from agents.host.host import Host, Ran
from agents.operations import _tool_lights
from agents.operations._tree import understood
from agents.operations.base import NONE, Probe, Unread, check_guid, check_names, check_pool, known, unknowns

NAME = "locate_led"
EFFECT = "idempotent"
DESTRUCTIVE = False
PARAMS = ("pool", "pool_guid", "enclosure", "slot", "wwid", "light")
TIMEOUT_SECONDS = 120.0
SG_SES_TIMEOUT_SECONDS = 30.0
WRITES_MAX = 3  # zed or a second node may write the same page at the same moment, and the last one wins
PORT_READS, PORT_PAUSE_SECONDS = 40, 0.05  # the driver waits up to a second for the port (drivers/pci/npem.c: npem_set_active_indications)
ABSENT, ANY = "absent", "any"  # in place of a WWID: no disk answers there; whatever sits there (switching off only)
FACTS = ("led.way", "led.folders", "led.lit", "bay.disk", "bay.status")
_ID, _SLOT = re.compile(r"0x[0-9a-f]{16}"), re.compile(r"[0-9]{1,3}")


def check(params: Mapping[str, str]) -> str:
    bad = check_names(params, PARAMS) or check_pool(params["pool"]) or check_guid("pool_guid", params["pool_guid"])
    if bad:
        return bad
    if bad := _check_place(params):
        return bad
    if params["light"] not in ("on", "off"):
        return f"The light asked for is {params['light']!r}; it must be on or off."
    if params["wwid"] in (ABSENT, ANY):
        return "A bay is lit for one disk, or for one that is absent." if params["wwid"] == ANY and params["light"] == "on" else ""
    return "" if normalise(params["wwid"]) == params["wwid"] else f"{params['wwid']!r} is no WWID."


def _check_place(params: Mapping[str, str]) -> str:
    if _is_by_tool(params):
        return (
            "" if is_place(params["enclosure"], params["slot"]) else f"{params['slot']!r} is no place as {params['enclosure']} names one."
        )
    if params["enclosure"] != PORTS:
        return check_bay(params)
    return "" if PORT.fullmatch(params["slot"]) else f"{params['slot']!r} is no address of a PCIe port."


def check_bay(params: Mapping[str, str]) -> str:
    if _ID.fullmatch(params["enclosure"]) is None or _SLOT.fullmatch(params["slot"]) is None:
        return f"{params['enclosure']!r}, {params['slot']!r} is no bay: an enclosure's logical id (0x…) and a slot number are needed."
    return ""


def argv(params: Mapping[str, str]) -> tuple[str, ...]:
    """What a tool is asked; else no tool is called by these words, and they say what `perform` does."""
    if _is_by_tool(params):
        return (params["enclosure"], *_tool_lights.words(params))
    return ("locate", params["light"], "enclosure", params["enclosure"], "slot", params["slot"])


@dataclass(frozen=True)
class Lamp:
    """One way to the bay: its folder in sysfs, or the enclosure's generic device."""

    enclosure: str  # "6:0:89:0", "sg89"
    folder: str  # "" when it is reached by sg_ses
    light: str = "locate"  # the attribute of the folder


def preconditions(host: Host, params: Mapping[str, str]) -> dict[str, str]:
    return {
        "led.way": known(lambda: _way(host, params)[0]),
        "led.folders": known(lambda: ", ".join(lamp.folder or lamp.enclosure for lamp in lamps(host, params)) or params["slot"]),
        "led.lit": known(lambda: _lit_bays(host, params)),
        "bay.disk": known(lambda: disk_in(host, params)),
        "bay.status": known(lambda: status_of(host, params)),
    }


def describe(host: Host, params: Mapping[str, str]) -> dict[str, object]:
    facts = preconditions(host, params)
    bay = {"enclosure": params["enclosure"], "slot": params["slot"], "disk": facts["bay.disk"], "lit": facts["led.lit"]}
    return {"bay": bay, "preconditions": facts}


def asked(params: Mapping[str, str]) -> tuple[str, ...]:
    """The facts that must be known. Whatever sits in a bay, its light may be switched off."""
    return FACTS if params["light"] == "on" else ("led.way", "led.folders", "led.lit")


def guards(pre: Mapping[str, str], params: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    needed = {name: pre.get(name, "unknown: it was not read") for name in asked(params)}
    verdicts = unknowns(needed)
    if verdicts:
        return verdicts
    return tuple(_for_lighting(pre, params)) if params["light"] == "on" else (("pass", f"The light reads: {pre['led.lit']}."),)


def _for_lighting(pre: Mapping[str, str], params: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    bay, disk, lit = _place(params), pre["bay.disk"], pre["led.lit"]
    if disk == params["wwid"] or (params["wwid"] == ABSENT and disk == NONE):
        yield "pass", f"{bay} holds what it is lit for: {disk}."
    else:
        yield "refuse", f"{bay} holds {disk} and not {params['wwid']}. Nothing is lit. Look at the bays again."
    if lit == _tool_lights.NOT_SHOWN:
        yield "pass", f"{params['enclosure']} reads no light back: the disk is found by its serial number alone."
        return
    others = [number for number in lit.split(", ") if number not in (NONE, params["slot"])]
    if others:
        yield "refuse", f"{_others(params, others)} is lit already. Switch it off first: two lit bays mislead."
    else:
        yield "pass", "No other bay of the enclosure is lit." if _has_bays(params) else "No other such light is on."


def _is_by_tool(params: Mapping[str, str]) -> bool:
    return params["enclosure"] in PROGRAMS


def _has_bays(params: Mapping[str, str]) -> bool:
    return params["enclosure"] != PORTS and not _is_by_tool(params)


def _place(params: Mapping[str, str]) -> str:
    place = params["slot"]
    if _is_by_tool(params):
        return f"Place {place} of {params['enclosure']}"
    return f"PCIe port {place}" if params["enclosure"] == PORTS else f"Bay {place} of {params['enclosure']}"


def _others(params: Mapping[str, str], others: list[str]) -> str:
    named = ", ".join(others)
    return f"Bay {named} of the same enclosure" if _has_bays(params) else _place({**params, "slot": named})


def perform(host: Host, params: Mapping[str, str]) -> Ran:
    """Write, and read back over every path, until it is as wanted or has been tried often enough."""
    return insist(host, argv(params), lambda output: _write(host, params, output))


def insist(host: Host, words: tuple[str, ...], write: Callable[[list[str]], bool]) -> Ran:
    """`write` until it says that it is done, WRITES_MAX times at most or until something cannot be read; it adds to what is said of it."""
    begun = host.now()
    output: list[str] = []
    done = False
    for _ in range(WRITES_MAX):
        try:
            done = write(output)
        except Unread as unread:
            output.append(f"{unread}.")
            break
        if done:
            break
    text = "".join(f"{line}\n" for line in (output if done else [*output[-1:], *output[:-1]]))  # what it came to is said first
    stdout, stderr = (text, "") if done else ("", text)
    return Ran(words, 0 if done else 1, stdout.encode(), stderr.encode(), host.now() - begun)


def probe(host: Host, params: Mapping[str, str], pre: Mapping[str, str]) -> Probe:
    try:
        lit = _is_lit(host, params)
    except Unread as unread:
        return Probe("cannot_tell", aftermath(host, params), f"The light of {_lower(_place(params))} cannot be read: {unread}.")
    result = "did" if lit == (params["light"] == "on") else "did_not"
    return Probe(result, aftermath(host, params), f"{_place(params)} is {'lit' if lit else 'dark'}.")


def _lower(place: str) -> str:
    """A place within a sentence."""
    return place.replace("Bay ", "bay ", 1).replace("Place ", "place ", 1)


def aftermath(host: Host, params: Mapping[str, str]) -> tuple[Capture, ...]:
    return (*collect(host), *(light_tools.collect(host) if _is_by_tool(params) else ()))


def _write(host: Host, params: Mapping[str, str], output: list[str]) -> bool:
    """Whether every path shows what is wanted, after those that did not were written to."""
    wanted = params["light"] == "on"
    if _is_by_tool(params):
        if not _tool_lights.reads_back(params):
            output.append(f"{params['enclosure']}: {_tool_lights.switch(host, params)}")
            output.append(f"{_lower(_place(params))} was switched {params['light']} by {params['enclosure']}; {_tool_lights.NOT_SHOWN}")
            return True
        if _is_lit(host, params) != wanted:
            output.append(f"{params['enclosure']}: {_tool_lights.switch(host, params)}")
    for lamp in lamps(host, params):
        if _shows(host, lamp, params) != wanted:
            _set(host, lamp, params)
            output.append(f"{lamp.folder or lamp.enclosure}: {'lit' if _shows(host, lamp, params) else 'dark'}")
    lit = _is_lit(host, params)
    others = [number for number in _lit_bays(host, params).split(", ") if number not in (NONE, params["slot"])]
    if wanted and others:
        raise Unread(f"{_lower(_others(params, others))} is lit too")
    output.append(f"read back: {_lower(_place(params))} is {'lit' if lit else 'dark'}")
    return lit == wanted


def _is_lit(host: Host, params: Mapping[str, str]) -> bool:
    """What all paths show alike. Raises Unread when they differ."""
    if _is_by_tool(params):
        return _tool_lights.is_lit(host, params)
    shown = {_shows(host, lamp, params) for lamp in lamps(host, params)}
    if len(shown) != 1:
        raise Unread("the paths to the enclosure show different lights")
    return shown.pop()


def lamps(host: Host, params: Mapping[str, str]) -> tuple[Lamp, ...]:
    """Every light of the place, by the first way that has one. An enclosure with two paths has two kernel names and one id."""
    return _way(host, params)[1]


def _way(host: Host, params: Mapping[str, str]) -> tuple[str, tuple[Lamp, ...]]:
    if _is_by_tool(params):
        return params["enclosure"], ()
    found = ((name, lights(host, params)) for name, lights in WAYS if (name == PORTS) == (params["enclosure"] == PORTS))
    way = next(((name, lights) for name, lights in found if lights), None)
    if way is None and params["enclosure"] == PORTS:
        raise Unread(f"the kernel shows no locate light of PCIe port {params['slot']}")
    if way is None:
        raise Unread(f"neither the kernel nor sg_ses shows bay {params['slot']} of the enclosure {params['enclosure']}")
    return way


def _by_kernel(host: Host, params: Mapping[str, str]) -> tuple[Lamp, ...]:
    found = [
        Lamp(enclosure.name, f"{ROOT}/{enclosure.name}/{slot.name}")
        for enclosure in _enclosures(host)
        for slot in enclosure.slots
        if enclosure.id == params["enclosure"] and str(slot.number) == params["slot"]
    ]
    names = [lamp.enclosure for lamp in found]
    if len(set(names)) != len(names):
        raise Unread(f"the enclosure {params['enclosure']} shows the slot {params['slot']} twice")
    return tuple(found)


def _by_sg_ses(host: Host, params: Mapping[str, str]) -> tuple[Lamp, ...]:
    return tuple(Lamp(key, "") for key in ses.keys(host) if _has_slot(host, key, params))


def _by_port(host: Host, params: Mapping[str, str]) -> tuple[Lamp, ...]:
    ports = (slot.name for enclosure in _enclosures(host) if enclosure.id == PORTS for slot in enclosure.slots)
    return tuple(Lamp(PORTS, light_of(port), "brightness") for port in ports if port == params["slot"])


Lights = Callable[[Host, Mapping[str, str]], "tuple[Lamp, ...]"]
WAYS: tuple[tuple[str, Lights], ...] = (
    ("sysfs", _by_kernel),
    ("sg_ses", _by_sg_ses),
    (PORTS, _by_port),
)  # the first that shows the place is used


def _enclosures(host: Host) -> tuple[Enclosure, ...]:
    capture = collect(host)[0]
    if capture.outcome == "nothing":
        return ()
    parsed = understood(capture, parse, "the enclosures")
    return parsed


def _has_slot(host: Host, key: str, params: Mapping[str, str]) -> bool:
    capture = ses.collect_one(host, key)
    parsed = ses.parse(capture.text) if capture.outcome == "data" else None
    return (
        isinstance(parsed, ses.SesEnclosure)
        and parsed.id == params["enclosure"]
        and any(str(s.number) == params["slot"] for s in parsed.slots)
    )


def _shows(host: Host, lamp: Lamp, params: Mapping[str, str]) -> bool:
    if not lamp.folder:
        return _sg_ses(host, lamp, params, "--get=ident").strip() == "1"
    try:
        value = host.read(f"{lamp.folder}/{lamp.light}").decode("ascii", "replace").strip()
    except OSError as error:
        raise Unread(f"{lamp.folder}/{lamp.light} cannot be read") from error
    if value not in ("0", "1"):
        raise Unread(f"{lamp.folder}/{lamp.light} reads {value!r}")
    return value == "1"


def _set(host: Host, lamp: Lamp, params: Mapping[str, str]) -> None:
    on = params["light"] == "on"
    if not lamp.folder:
        _sg_ses(host, lamp, params, "--set=ident" if on else "--clear=ident")
        return
    try:
        host.write(f"{lamp.folder}/{lamp.light}", b"1" if on else b"0")
    except OSError as error:
        raise Unread(f"{lamp.folder}/{lamp.light} cannot be written: {error.strerror or error}") from error
    if lamp.enclosure == PORTS:
        _wait_for(host, lamp, params, on)


def _wait_for(host: Host, lamp: Lamp, params: Mapping[str, str], on: bool) -> None:
    for _ in range(PORT_READS):
        if _shows(host, lamp, params) == on:
            return
        time.sleep(PORT_PAUSE_SECONDS)


def _sg_ses(host: Host, lamp: Lamp, params: Mapping[str, str], what: str) -> str:
    """The device was found by its enclosure's id in this very moment, and is asked for by slot number, never by element index."""
    ran = host.run(("sg_ses", f"--dev-slot-num={params['slot']}", what, f"/dev/{lamp.enclosure}"), SG_SES_TIMEOUT_SECONDS)
    if ran.exit_code != 0:
        raise Unread(f"sg_ses {what} for slot {params['slot']} on {lamp.enclosure} {ran.why or f'exited {ran.exit_code}'}")
    return ran.stdout.decode("ascii", "replace")


def _lit_bays(host: Host, params: Mapping[str, str]) -> str:
    """Every lit bay of the enclosure, over all its paths. By sg_ses only the bay itself is asked."""
    if _is_by_tool(params):
        return _tool_lights.lit_in_words(host, params)
    ways = lamps(host, params)
    if not ways[0].folder:
        return params["slot"] if any(_shows(host, lamp, params) for lamp in ways) else NONE
    slots = [slot for enclosure in _enclosures(host) if enclosure.id == params["enclosure"] for slot in enclosure.slots]
    places = [slot for slot in slots if slot.number is not None or params["enclosure"] == PORTS]
    unread = [slot.name for slot in places if slot.locate is None]
    if unread:
        raise Unread(f"the light of {'port' if params['enclosure'] == PORTS else 'bay'} {unread[0]} cannot be read")
    return ", ".join(dict.fromkeys(_named(slot) for slot in sorted(places, key=lambda slot: slot.number or 0) if slot.locate)) or NONE


def _named(slot: Slot) -> str:
    return slot.name if slot.number is None else str(slot.number)


def disk_in(host: Host, params: Mapping[str, str]) -> str:
    """The WWID of the disk that the kernel, or the enclosure's own page, has in that bay now."""
    disks = _disks(host)
    if _is_by_tool(params):
        return _only(params, _tool_lights.disks_at(host, params, disks))
    if params["enclosure"] == PORTS:
        return _only(params, {disk.wwid or disk.name for disk in disks if port_above(disk.folder) == params["slot"]})
    folders = {lamp.folder for lamp in lamps(host, params)}
    found = {disk.wwid or disk.name for disk in disks if disk.slot_link and disk.slot_link in folders}
    if not found and "" in folders:
        found = {disk.wwid or disk.name for disk in disks if disk.sas_address in _addresses(host, params)}
    return _only(params, found)


def _only(params: Mapping[str, str], found: set[str]) -> str:
    if len(found) > 1:
        place = f"in bay {params['slot']}" if _has_bays(params) else f"at {_lower(_place(params))}"
        raise Unread(f"several disks are reported {place}: {', '.join(sorted(found))}")
    return found.pop() if found else NONE


def _addresses(host: Host, params: Mapping[str, str]) -> frozenset[str]:
    pages = [ses.parse(capture.text) for capture in ses.collect(host) if capture.outcome == "data"]
    shelves = [page for page in pages if isinstance(page, ses.SesEnclosure) and page.id == params["enclosure"]]
    return frozenset(a for shelf in shelves for slot in shelf.slots if str(slot.number) == params["slot"] for a in slot.addresses)


def _disks(host: Host) -> tuple[block.BlockDisk, ...]:
    disks = understood(block.collect(host)[0], block.parse, "the block devices")
    return disks


def status_of(host: Host, params: Mapping[str, str]) -> str:
    folders = {lamp.folder for lamp in lamps(host, params)}
    statuses = {slot.status or "not said" for e in _enclosures(host) for slot in e.slots if f"{ROOT}/{e.name}/{slot.name}" in folders}
    return ", ".join(sorted(statuses)) or "not said"
