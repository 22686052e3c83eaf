"""A command that zpool, zfs or zdb refused: what its sentence means, what to do next, and what -f would do. Only a paste has it."""

import re
from collections.abc import Iterator

from workflows.analysis.zfs_refusals import FORCE_WORDS, Refusal
from workflows.engine.core import Cure, Situation
from workflows.facts import FleetFacts, NodeFacts, known
from workflows.situations import _words
from workflows.situations._log import Log

SLUG = "refused-command"
MANUALS: tuple[str, ...] = ()
_GUID = re.compile(r"\b[0-9]{15,20}\b")
_ALONE = re.compile(r"zdb -e \S+ -d (\S+)")
_ACTIVE = re.compile(r"(?<!\S)(\S+) is part of active pool '([^']+)'")


ENDINGS = {"killed": ("ended with", "was ended before it was done"), "hangs": ("does not end", "does not come back")}


def detect(fleet: FleetFacts) -> tuple[Situation, ...]:
    return tuple(_situation(node, refusal, i) for node in fleet.nodes.values() for i, refusal in enumerate(_each_once(fleet, node)))


def _each_once(fleet: FleetFacts, node: NodeFacts) -> Iterator[Refusal]:
    """The same command refused for the same reason is listed once, with -f where it was tried with it; a failed unit that `kernel_errors` raises is not listed again."""
    is_raised = known(node.kernel_log) and bool(Log(fleet, node, node.kernel_log).recent("import-unit"))
    first_of_each: dict[tuple[str, str, str], Refusal] = {}
    for one in node.refusals:
        where = (one.verb, one.about, one.sentences()[0].slug)
        if is_raised and where == ("import", "", "unit-failed"):
            continue
        if where not in first_of_each or one.forced or _ALONE.search(one.command):
            first_of_each[where] = one
    yield from first_of_each.values()


def _situation(node: NodeFacts, refusal: Refusal, place: int) -> Situation:
    sentences = refusal.sentences()
    first = sentences[0]
    what = _what(refusal)
    force = (
        ""
        if refusal.verb == "zdb"
        else "It was tried with -f, and refused all the same."
        if refusal.forced and first.force != "may"
        else FORCE_WORDS[first.force]
    )
    ending, outcome = ENDINGS.get(refusal.verb, ("did nothing", "was refused"))
    meaning = [
        f"The command {ending}: {refusal.text[:300].rstrip('.')}.",
        *_named(refusal),
        first.means,
        first.next,
        force,
    ]
    meaning += [
        f"{s.means} {s.next}"
        for s in sentences[1:3]
        if s.means != first.means and s.slug not in (*WITHOUT_DETAIL, COVERED_BY.get(first.slug))
    ]
    return Situation(
        slug=SLUG,
        key=f"{SLUG}:{node.node}:{place}:{refusal.verb}:{first.slug}",
        node=node.node,
        severity="act" if first.slug in STOPPED or (first.slug == "zdb-io-error" and _is_of_an_exported_pool(refusal)) else "watch",
        title=f"{what} {outcome}",
        meaning=" ".join(part for part in meaning if part),
        evidence=tuple(_words.evidence(node, "refused", line.strip()) for line in refusal.lines[:6]),
        subject=_subject(refusal, first.slug),
        sure=first.slug != "unknown",
        cures=(Cure("look", first.next), *_without_the_log(refusal, first.slug)),
    )


_IMPORTED = re.compile(r"cannot import '([^']{1,255})'")
WITHOUT_DETAIL = ("vdev-spec", "filesystem")
COVERED_BY = {"missing-use-m": "devices-unavailable"}  # the list of devices stands above the sentence that says there is none


def _without_the_log(refusal: Refusal, slug: str) -> tuple[Cure, ...]:
    named = _IMPORTED.search(refusal.text)
    if slug != "missing-use-m" or not named:
        return ()
    pool = named.group(1)
    return (
        Cure(
            "import-without-log",
            f"Only when the log is gone for ever: import {pool} without it, then remove it by its guid.",
            (("zpool", "import", "-m", pool), ("zpool", "status", "-g", pool)),
            needs="No other host has it imported.",
            save_first="the synchronous writes of the last seconds before it went down; those that stood only in the log are lost",
        ),
    )


def _what(refusal: Refusal) -> str:
    verb = {
        "invalid vdev specification": "A list of disks",
        "zdb": "zdb",
        "umount": "unmount",
        "zpool": "The command",
        "usage": "The command",
        "stopped": "The command",
    }.get(refusal.verb, refusal.verb)
    typed = [] if refusal.verb == "mount" and " import " in f" {refusal.command} " else _refusing(refusal)[:2]  # the import was done
    name = " ".join(typed) if len(typed) == 2 and typed[1] != refusal.about and typed[0] in ("zpool", "zfs", "zdb") else verb
    joined = name if name.endswith((" for", " on", " to", " from")) else f"{name} of"
    return f"{joined} {refusal.about}" if refusal.about else name


def _refusing(refusal: Refusal) -> list[str]:
    """The words of the command that was refused: of several in a pipe the one that has the verb, else the first."""
    commands = [part.split() for part in refusal.command.split("|")]
    verbs = ("receive", "recv") if refusal.verb == "receive" else (refusal.verb.partition(" ")[0],)
    return next((words for words in commands if words[1:2] and words[1] in verbs), commands[0])


def _is_of_an_exported_pool(refusal: Refusal) -> bool:
    """Whether zdb was asked for a pool that is not imported: with -e, and only so a pool can be named by its guid."""
    return refusal.about.isdigit() or re.search(r" -[A-Za-z]*e", refusal.command) is not None


def _named(refusal: Refusal) -> Iterator[str]:
    """Which disk is whose, where the refusal says it."""
    for disk, pool in dict.fromkeys(_ACTIVE.findall(refusal.text)):
        yield f"{disk} is a member of the imported pool {pool} today: it is in service and must not be used or cleared."
    alone = _ALONE.search(refusal.command)
    if refusal.verb == "zdb" and alone:
        yield f"It was asked with {alone.group(1)} alone. If the same succeeds with another disk, {alone.group(1)} is the one that contradicts the others: read its label with `zdb -lu`."
    guids = dict.fromkeys(_GUID.findall(refusal.command))
    if guids and refusal.verb in ("invalid vdev specification", "replace"):
        yield f"The lost member is {', '.join(guids)}; that guid alone names it."


def _subject(refusal: Refusal, slug: str) -> dict[str, str]:
    fields = {"verb": refusal.verb, "why": slug}
    pool = _pool(refusal)
    guid = _GUID.search(refusal.command) or _GUID.search(refusal.about)
    return (
        fields
        | ({"pool": pool} if pool else {})
        | ({"vdev_guid": guid.group()} if guid else {})
        | ({"about": refusal.about} if refusal.about else {})
    )


def _pool(refusal: Refusal) -> str:
    """By the refusal, where it is about a pool; else by the command: `zpool replace [options] POOL ...`."""
    if refusal.verb in OF_POOLS and refusal.about:
        return refusal.about.partition("/")[0]
    words = refusal.command.split()
    if words[:1] == ["zpool"] and words[1:2] not in (["labelclear"], ["create"]):
        return next((word for word in words[2:] if not word.startswith("-") and "=" not in word), "")
    found = _ACTIVE.search(refusal.text)
    return found.group(2) if found else ""


STOPPED = frozenset(
    ("suspended", "unavailable", "clear-io", "destroy-offered", "import-io-error", "rewind-offered", "hangs")
)  # the pool serves no I/O until a person acts
OF_POOLS = ("import", "export", "destroy", "scan", "split", "add to", "upgrade", "zdb", "set property for", "scrub", "clear errors for")
