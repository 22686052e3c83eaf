"""Light one bay's locate LED, or switch it off, and read back what came of it.

    the kernel's enclosure driver where it shows the bay, else `sg_ses` on the enclosure's own device

The bay is named by the enclosure's logical id and its slot number; which kernel name the enclosure has today is found at
the moment of writing. Lighting asks that the disk meant sits in that bay now, and that no other bay of the enclosure is
lit: two lit bays are how the wrong disk gets pulled. `ledctl` is not used: without --listed-only it resets the lights of
every other bay.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from agents.collectors import block, ses
from agents.collectors.base import Capture, Unparsed
from agents.collectors.enclosure import ROOT, collect, parse
from agents.domain.wwid import normalise
from agents.host.host import Host, Ran
from agents.operations._candidate import NONE, known
from agents.operations._tree import Unread
from agents.operations.base import Probe, check_guid, check_names, check_pool, unknowns

NAME = "locate_led"
EFFECT = "idempotent"
DESTRUCTIVE = False
PARAMS = ("pool", "pool_guid", "enclosure", "slot", "wwid", "light")
TIMEOUT_SECONDS = 120.0
SG_SES_TIMEOUT_SECONDS = 30.0
WRITES_MAX = 3  # zed or a second node may write the same page at the same moment, and the last one wins
ABSENT, ANY = "absent", "any"  # in place of a WWID: no disk answers there; whatever sits there (switching off only)
FACTS = ("led.way", "led.folders", "led.lit", "bay.disk", "bay.status")
_ID, _SLOT = re.compile(r"0x[0-9a-f]{16}"), re.compile(r"[0-9]{1,3}")


def check(params: Mapping[str, str]) -> str:
    bad = check_names(params, PARAMS) or check_pool(params["pool"]) or check_guid("pool_guid", params["pool_guid"])
    if bad:
        return bad
    if bad := check_bay(params):
        return bad
    if params["light"] not in ("on", "off"):
        return f"The light asked for is {params['light']!r}; it must be on or off."
    if params["wwid"] in (ABSENT, ANY):
        return "A bay is lit for one disk, or for one that is absent." if params["wwid"] == ANY and params["light"] == "on" else ""
    return "" if normalise(params["wwid"]) == params["wwid"] else f"{params['wwid']!r} is no WWID."


def check_bay(params: Mapping[str, str]) -> str:
    if _ID.fullmatch(params["enclosure"]) is None or _SLOT.fullmatch(params["slot"]) is None:
        return f"{params['enclosure']!r}, {params['slot']!r} is no bay: an enclosure's logical id (0x…) and a slot number are needed."
    return ""


def argv(params: Mapping[str, str]) -> tuple[str, ...]:
    """No tool is called by these words; they say what `perform` does."""
    return ("locate", params["light"], "enclosure", params["enclosure"], "slot", params["slot"])


@dataclass(frozen=True)
class Lamp:
    """One way to the bay: its folder in sysfs, or the enclosure's generic device."""

    enclosure: str  # "6:0:89:0", "sg89"
    folder: str  # "" when it is reached by sg_ses


def preconditions(host: Host, params: Mapping[str, str]) -> dict[str, str]:
    return {
        "led.way": known(lambda: "sysfs" if lamps(host, params)[0].folder else "sg_ses"),
        "led.folders": known(lambda: ", ".join(lamp.folder or lamp.enclosure for lamp in lamps(host, params))),
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
    bay, disk, lit = f"Bay {params['slot']} of {params['enclosure']}", pre["bay.disk"], pre["led.lit"]
    if disk == params["wwid"] or (params["wwid"] == ABSENT and disk == NONE):
        yield "pass", f"{bay} holds what it is lit for: {disk}."
    else:
        yield "refuse", f"{bay} holds {disk} and not {params['wwid']}. Nothing is lit. Look at the bays again."
    others = [number for number in lit.split(", ") if number not in (NONE, params["slot"])]
    if others:
        yield "refuse", f"Bay {', '.join(others)} of the same enclosure is lit already. Switch it off first: two lit bays mislead."
    else:
        yield "pass", "No other bay of the enclosure is lit."


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
        return Probe("cannot_tell", aftermath(host, params), f"The light of bay {params['slot']} cannot be read: {unread}.")
    result = "did" if lit == (params["light"] == "on") else "did_not"
    return Probe(result, aftermath(host, params), f"Bay {params['slot']} of {params['enclosure']} is {'lit' if lit else 'dark'}.")


def aftermath(host: Host, params: Mapping[str, str]) -> tuple[Capture, ...]:
    return collect(host)


def _write(host: Host, params: Mapping[str, str], output: list[str]) -> bool:
    """Whether every path shows what is wanted, after those that did not were written to."""
    wanted = params["light"] == "on"
    for lamp in lamps(host, params):
        if _shows(host, lamp, params) != wanted:
            _set(host, lamp, params)
            output.append(f"{lamp.folder or lamp.enclosure}: {'lit' if _shows(host, lamp, params) else 'dark'}")
    lit = _is_lit(host, params)
    others = [number for number in _lit_bays(host, params).split(", ") if number not in (NONE, params["slot"])]
    if wanted and others:
        raise Unread(f"bay {', '.join(others)} of the same enclosure is lit too")
    output.append(f"read back: bay {params['slot']} of {params['enclosure']} is {'lit' if lit else 'dark'}")
    return lit == wanted


def _is_lit(host: Host, params: Mapping[str, str]) -> bool:
    """What all paths show alike. Raises Unread when they differ."""
    shown = {_shows(host, lamp, params) for lamp in lamps(host, params)}
    if len(shown) != 1:
        raise Unread("the paths to the enclosure show different lights")
    return shown.pop()


def lamps(host: Host, params: Mapping[str, str]) -> tuple[Lamp, ...]:
    """Every way to the bay. An enclosure with two paths has two kernel names and one id."""
    found = [
        Lamp(enclosure.name, f"{ROOT}/{enclosure.name}/{slot.name}")
        for enclosure in _enclosures(host)
        for slot in enclosure.slots
        if enclosure.id == params["enclosure"] and str(slot.number) == params["slot"]
    ]
    names = [lamp.enclosure for lamp in found]
    if len(set(names)) != len(names):
        raise Unread(f"the enclosure {params['enclosure']} shows the slot {params['slot']} twice")
    ways = tuple(found) or tuple(Lamp(key, "") for key in ses.keys(host) if _has_slot(host, key, params))
    if not ways:
        raise Unread(f"neither the kernel nor sg_ses shows bay {params['slot']} of the enclosure {params['enclosure']}")
    return ways


def _enclosures(host: Host):
    capture = collect(host)[0]
    if capture.outcome == "nothing":
        return ()
    parsed = parse(capture.text) if capture.outcome == "data" else Unparsed(capture.reason)
    if isinstance(parsed, Unparsed):
        raise Unread(f"the enclosures cannot be read: {parsed.reason}")
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
        value = host.read(f"{lamp.folder}/locate").decode("ascii", "replace").strip()
    except OSError as error:
        raise Unread(f"{lamp.folder}/locate cannot be read") from error
    if value not in ("0", "1"):
        raise Unread(f"{lamp.folder}/locate reads {value!r}")
    return value == "1"


def _set(host: Host, lamp: Lamp, params: Mapping[str, str]) -> None:
    on = params["light"] == "on"
    if not lamp.folder:
        _sg_ses(host, lamp, params, "--set=ident" if on else "--clear=ident")
        return
    try:
        host.write(f"{lamp.folder}/locate", b"1" if on else b"0")
    except OSError as error:
        raise Unread(f"{lamp.folder}/locate cannot be written: {error.strerror or error}") from error


def _sg_ses(host: Host, lamp: Lamp, params: Mapping[str, str], what: str) -> str:
    """The device was found by its enclosure's id in this very moment, and is asked for by slot number, never by element index."""
    ran = host.run(("sg_ses", f"--dev-slot-num={params['slot']}", what, f"/dev/{lamp.enclosure}"), SG_SES_TIMEOUT_SECONDS)
    if ran.exit_code != 0:
        raise Unread(f"sg_ses {what} for slot {params['slot']} on {lamp.enclosure} {ran.why or f'exited {ran.exit_code}'}")
    return ran.stdout.decode("ascii", "replace")


def _lit_bays(host: Host, params: Mapping[str, str]) -> str:
    """Every lit bay of the enclosure, over all its paths. By sg_ses only the bay itself is asked."""
    ways = lamps(host, params)
    if not ways[0].folder:
        return params["slot"] if any(_shows(host, lamp, params) for lamp in ways) else NONE
    slots = [slot for enclosure in _enclosures(host) if enclosure.id == params["enclosure"] for slot in enclosure.slots]
    unread = [slot.name for slot in slots if slot.locate is None and slot.number is not None]
    if unread:
        raise Unread(f"the light of bay {unread[0]} cannot be read")
    return ", ".join(str(n) for n in sorted({slot.number for slot in slots if slot.locate and slot.number is not None})) or NONE


def disk_in(host: Host, params: Mapping[str, str]) -> str:
    """The WWID of the disk that the kernel, or the enclosure's own page, has in that bay now."""
    disks = _disks(host)
    folders = {lamp.folder for lamp in lamps(host, params)}
    found = {disk.wwid or disk.name for disk in disks if disk.slot_link and disk.slot_link in folders}
    if not found and "" in folders:
        found = {disk.wwid or disk.name for disk in disks if disk.sas_address in _addresses(host, params)}
    if len(found) > 1:
        raise Unread(f"several disks are reported in bay {params['slot']}: {', '.join(sorted(found))}")
    return found.pop() if found else NONE


def _addresses(host: Host, params: Mapping[str, str]) -> frozenset[str]:
    pages = [ses.parse(capture.text) for capture in ses.collect(host) if capture.outcome == "data"]
    shelves = [page for page in pages if isinstance(page, ses.SesEnclosure) and page.id == params["enclosure"]]
    return frozenset(a for shelf in shelves for slot in shelf.slots if str(slot.number) == params["slot"] for a in slot.addresses)


def _disks(host: Host):
    capture = block.collect(host)[0]
    disks = block.parse(capture.text) if capture.outcome == "data" else Unparsed(capture.reason)
    if isinstance(disks, Unparsed):
        raise Unread(f"the block devices cannot be read: {disks.reason}")
    return disks


def status_of(host: Host, params: Mapping[str, str]) -> str:
    folders = {lamp.folder for lamp in lamps(host, params)}
    statuses = {slot.status or "not said" for e in _enclosures(host) for slot in e.slots if f"{ROOT}/{e.name}/{slot.name}" in folders}
    return ", ".join(sorted(statuses)) or "not said"
