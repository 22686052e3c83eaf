"""From pasted texts to situations, by the same parsers, facts and detectors as for a node with an agent."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import chain
from typing import Any

from agents.collectors import COLLECTORS
from agents.collectors.base import Capture, Unparsed
from agents.collectors.lsscsi import ScsiDevice
from agents.collectors.zpool_status import Pool
from workflows import pasted
from workflows.analysis.judgement import Judgement, judge_pasted
from workflows.analysis.zfs_refusals import Refusal
from workflows.engine.core import Situation
from workflows.facts import FleetFacts, NodeFacts, known, node_facts
from workflows.facts.read.fragments import Fragments
from workflows.facts.read.inquiries import Inquiry
from workflows.pasted import ReadOutput, Where
from workflows.situations import detect_all
from workflows.situations._systems import system_of
from workflows.triage import (
    as_captured,
    changed,
    cut_off,
    fragments,
    listed_disks,
    no_pools,
    only_listed,
    partly,
    refused,
    rewrap,
    same_pool,
    talk,
    unwrap,
)
from workflows.triage.commands import device
from workflows.triage.hosts import NAMELESS, each_by_its_name, of_one_host, on_two
from workflows.triage.inquiry import inquiry
from workflows.triage.interleaved import cut
from workflows.triage.marks import Finder, Mark, Stretch
from workflows.triage.next import CALLED, Command, missing
from workflows.triage.piece import Piece

TEXT_CHARACTERS_MAX = 16_000_000
MERGED = frozenset(("zpool_status", "zpool_status_guid", "kstat_pools", "kstat_txgs", "sg_logs", "drive_modes", "zdb_config", "parameters",
                    "sysctl", "mdb", "node", "kernel_log"))  # fmt: skip  # told by several commands together
BY_NAME = frozenset(("parameters", "sysctl", "node"))  # each line says of what it is: what is said again later counts
TREES = frozenset(("zpool_status", "zpool_status_guid", "zpool_status_slow"))
NOT_ALL = "Not every line of it was understood; what those could say is not known."
WITH_FACTS = ("read", "partly")  # outcomes of which there are facts
REBUILT = "Its indentation was lost and rebuilt, so its tree is for showing only."
LEFT_OUT = "zpool status -e leaves out what is well, so its tree is not all of the pool."
ALL_WELL = re.compile(r"all pools are healthy|pool '[^']{1,256}' is healthy")
EXCERPT = re.compile(r"zpool status\b.* -[a-zA-Z]*e")
SEVERAL = re.compile(r";|&&")
ROWS = "status_rows"
NO_OUTPUT = "This is no output we know."
SILENT = "The command stands here without its output."
AGAIN = {
    "zpool_status": "zpool status -P -p",
    "zpool_status_guid": "zpool status -g -p",
    "zpool_import": "zpool import",
    "lsscsi": "lsscsi -i -g -s",
}
COMPLAINT = re.compile(r"command not found|: not found$|[Pp]ermission denied|must be root|[Aa]re you root|No such file or directory")
COMPLAINT_LINES_MAX = 3
HINTS = frozenset(
    ("features-disabled", "scrub-overdue")
)  # to know of a pool each of whose states is good; any other word to know of is not good itself


@dataclass(frozen=True)
class Read:
    """What became of some consecutive lines. `outcome` is "read", "partly" (but for the lines of `unread`), "not read" or "left out".

    Left out is what nothing here can use.
    """

    name: str  # of the file or the paste
    first: int
    last: int
    outcome: str
    source: str = ""
    key: str = ""
    node: str = ""
    command: str = ""
    reason: str = ""
    line: str = ""  # the line the parser stumbled over
    notes: tuple[str, ...] = ()
    unread: tuple[tuple[int, str], ...] = ()  # (line number, why) of the lines of it that were not understood
    lists: bool = False  # it was read, and says of nothing whether it is well
    recognised: bool = False  # left out, and known for what it is: what it could have said of trouble is not known
    cut: str = ""  # what of it was not pasted, so far as it shows; it was read as far as it goes
    doubt: str = ""  # it was read, and this of it keeps the paste from being good


@dataclass(frozen=True)
class Triage:
    """`reads` covers every line; `fleet` holds the facts, one node for each prompt's host name."""

    reads: tuple[Read, ...]
    fleet: FleetFacts
    situations: tuple[Situation, ...]
    lines: Mapping[str, Sequence[str]] = field(default_factory=dict)  # of each text, as the terminal once showed them
    captures: Mapping[str, Mapping[str, Capture]] = field(default_factory=dict)  # of each node, by place: what its facts were made of
    listed: Mapping[str, frozenset[str]] = field(default_factory=dict)  # of each node, the pools that its lists name

    def marks(self, situation: Situation) -> tuple[Mark, ...]:
        """The lines of the paste that the situation was read from."""
        return self._finder.marks(situation.evidence)

    @cached_property
    def _finder(self) -> Finder:
        read = [read for read in self.reads if read.outcome in WITH_FACTS]
        return Finder(Stretch(r.name, r.first, self.lines[r.name][r.first - 1 : r.last], r.node, r.source) for r in read)

    def missing(self, node: str) -> tuple[Command, ...]:
        """What to run on this node to know more."""
        sources = {read.source for read in self.reads if read.node == node and read.outcome in WITH_FACTS}
        system = system_of(self.fleet.nodes[node]).name if node in self.fleet.nodes else ""
        return missing(sources, [found for found in self.situations if found.node == node], system)

    @property
    def good(self) -> bool:
        """Whether all that was pasted was read, and each state in it is positively good."""
        return not self.not_good_because

    @property
    def not_good_because(self) -> tuple[str, ...]:
        return tuple(self._doubts())

    def _doubts(self) -> Iterator[str]:
        if not self.understood:
            yield "Nothing could be read."
        yield from (f"{found.node}: {found.title}" for found in self.situations if found.severity != "info" or found.slug not in HINTS)
        if self.understood:
            yield from self._judged.reasons
        if any(read.lists and read.source in no_pools.OF_IMPORTED for read in self.reads) and not any(
            node.pools_read or node.importable_read for node in self.fleet.nodes.values()
        ):
            yield no_pools.DOUBT
        yield from only_listed.doubts(self.listed, self.fleet)
        yield from changed.doubts(self.reads)
        for read in self.reads:
            if read.outcome in ("partly", "not read") or read.recognised:
                yield f"{read.name}, lines {read.first} to {read.last}, {'were only partly read' if read.outcome == 'partly' else 'were not read'}."
            elif read.doubt:
                yield f"{read.name}, lines {read.first} to {read.last}: {read.doubt}"

    @cached_property
    def _judged(self) -> Judgement:
        """Of the facts alone: what was not understood, and what was not pasted."""
        used = [read for read in self.reads if read.outcome in WITH_FACTS and read.source]
        sources = {read.source for read in used}
        lists = sources - {read.source for read in used if not read.lists}
        systems = {system_of(node).name for node in self.fleet.nodes.values()}
        return judge_pasted(self.fleet, (), sources, listed=lists, called=CALLED.get(systems.pop() if len(systems) == 1 else "", {}))

    @property
    def not_looked_at(self) -> tuple[str, ...]:
        """What was read and not judged, and what the texts do not tell of, by the command that would."""
        asked = (f"{command.why} ({command.command})" for node in self.fleet.nodes or (NAMELESS,) for command in self.missing(node))
        cuts = (f"{read.name}, lines {read.first} to {read.last}: {read.cut}" for read in self.reads if read.cut)
        return tuple(dict.fromkeys((*cuts, *asked, *self._judged.not_looked_at)))

    @property
    def understood(self) -> bool:
        return any(read.outcome in WITH_FACTS for read in self.reads)


@dataclass
class _NodeTexts:
    """The readable captures of one node, and what the parsers made of them."""

    captures: dict[str, Capture]
    values: dict[str, Any]
    refusals: tuple[Refusal, ...] = ()
    fragments: Fragments = field(default_factory=Fragments)
    inquiries: tuple[Inquiry, ...] = ()
    pasted: list[ReadOutput] = field(default_factory=list)  # outputs that no agent asks for, each with its reader
    shown: Mapping[str, same_pool.Shown] = field(default_factory=dict)  # of each pool the text of `zpool status` that is used
    differences: tuple[same_pool.Difference, ...] = ()

    def keep(
        self, source: str, key: str, mended: rewrap.Mended, asked: str = "", taken: same_pool.Taken = same_pool.NOWHERE
    ) -> tuple[str, ...]:
        """One more output; what was said of the same thing before is completed or superseded. The notes say which.

        `asked` is the command line it stood below, where there was one.
        """
        doubt = REBUILT if mended.rebuilt else LEFT_OUT if EXCERPT.search(asked) else ""
        where = f"{source}/{key}" if key else source
        before, text, value = self.captures.get(where), mended.text, mended.value
        before = None if source in TREES and not self.values.get(where) else before  # none was listed then
        notes: tuple[str, ...] = ()
        if source == "sg_logs":
            text = f"# sg_logs --page= (pasted)\n{text}"  # parts its pages from those of the next command
        if isinstance(value, Unparsed):
            return ()
        if source == "lsscsi":
            before_value = self.values.get(where, ())
            value = listed_disks.completed([d for d in value if isinstance(d, ScsiDevice)], self.values.get(where, ()))
            if before_value and not {d.hctl for d in before_value} & {d.hctl for d in value}:
                value = (*before_value, *value)  # somebody grepped for one disk after the other
            if not value:
                return ()  # -H lists adapters, not devices
        elif source == "zpool_status" and (now := same_pool.shown(text, value, taken, doubt)) is not None and (self.shown or not before):
            join = same_pool.joined(self.shown, now, bool(EXCERPT.search(asked)))
            self.shown, self.differences, notes = join.shown, (*self.differences, *join.differences), join.notes
            if before is not None:
                text, doubt, value = join.text, join.doubt, _parsed(source, join.text)
        elif before is not None and source in TREES and {p.name for p in value} < {p.name for p in self.values[where]}:
            return ("An earlier output shows more pools and is used.",)
        elif before is not None and source in TREES and EXCERPT.search(asked):
            return ("An earlier output shows more vdevs and is used.",)
        elif before is not None:
            both = (_not_again(before.text, text) if source in BY_NAME else before.text) + text
            more = source in MERGED or (source == "zpool_import" and _others(value, self.values[where], asked))
            joint = _parsed(source, both) if more else Unparsed("")
            if source in TREES and {p.name for p in value} & {p.name for p in self.values[where]}:
                joint = Unparsed("")
            if isinstance(joint, Unparsed):
                notes = ("An earlier output of the same command is superseded by this one.",)
            else:
                text, value = both, joint
        self.captures[where], self.values[where] = Capture(source, key, "data", text, doubt), value
        return (*notes, *no_pools.note(source, value))


def _parsed(source: str, text: str) -> Any:
    """What the parser makes of several outputs together, as far as it can be read."""
    found = partly.reading(source, text)
    return COLLECTORS[source].parse(text) if found is None else found.value


def _others(now: Sequence[Any], before: Sequence[Any], asked: str) -> bool:
    """Whether these are other pools, which may have the same name: a listing that was cut in two, or of destroyed pools; no other run."""
    apart = not {pool.guid for pool in now} & {pool.guid for pool in before}
    return apart and (not asked or any(pool.destroyed for pool in (*now, *before)))


def _not_again(before: str, now: str) -> str:
    """The lines of before about what is not said now."""
    again = {line.partition(":")[0] for line in now.split("\n")}
    return "".join(f"{line}\n" for line in before.split("\n") if line and line.partition(":")[0] not in again)


def triage(texts: Iterable[tuple[str, str]], read_at: float | None = None) -> Triage:
    """Read (name, text) pairs, e.g. one for each file. Never raises for what the texts hold.

    `read_at` is now, in seconds since 1970; without it nothing is said of an age that the texts do not tell themselves.
    """
    reads: list[Read] = []
    nodes: dict[str, _NodeTexts] = {}
    lines: dict[str, list[str]] = {}
    for name, text in each_by_its_name(texts):
        if len(text) > TEXT_CHARACTERS_MAX:
            reads.append(Read(name, 1, text.count("\n") + 1, "not read", reason=f"It is longer than {TEXT_CHARACTERS_MAX} characters."))
            continue
        cleaned = unwrap.cleaned(text)
        lines[name] = cleaned.lines
        words, notes = 0, cleaned.notes
        for piece in of_one_host(cut(cleaned.lines, cleaned.turns)):
            words += not piece.source and talk.has_prose(piece.lines)
            taken = same_pool.Taken(name, piece.first, piece.command, same_pool.time_above(cleaned.lines, piece.first), words)
            read = _take(name, piece, nodes, taken)
            if notes and read.source:  # beside the first output of the text
                read, notes = replace(read, notes=(*notes, *read.notes)), ()
            reads.append(read)
    fleet = FleetFacts({node: _facts(node, own) for node, own in nodes.items()})
    fleet = fleet if read_at is None else replace(fleet, read_at=read_at)
    found = detect_all(
        fleet, chain(pasted.once(_of_pasted(nodes, fleet)), on_two(fleet, {node: own.pasted for node, own in nodes.items()}, reads))
    )
    sources = _sources_by_node(reads)
    captures = {node: _captures(own) for node, own in nodes.items()}
    listed = {node: only_listed.pools((*own.values.values(), *(one.value for one in own.pasted))) for node, own in nodes.items()}
    return Triage(tuple(reads), fleet, tuple(_renamed(each, sources.get(each.node, ())) for each in found), lines, captures, listed)


def _of_pasted(nodes: Mapping[str, _NodeTexts], fleet: FleetFacts) -> Iterator[Situation]:
    """What the outputs that no agent asks for say of trouble."""
    for node, texts in nodes.items():
        facts = fleet.nodes.get(node)
        yield from pasted.situations(texts.pasted, node, facts)
        if texts.differences:
            yield from same_pool.situations(node, texts.differences, texts.captures["zpool_status"].digest)
        for place, value in texts.values.items():
            capture = texts.captures[place]
            yield from pasted.of_agents(place, value, capture.text, Where(node, place, capture.digest, facts))


def _take(name: str, piece: Piece, nodes: dict[str, _NodeTexts], taken: same_pool.Taken) -> Read:
    read = Read(name, piece.first, piece.last, "left out", piece.source, piece.key, piece.node or NAMELESS, piece.command)
    pieces = Fragments() if piece.source else _pieces(piece, read, nodes)
    if refusals := refused.refusals(piece.lines, piece.command):
        nodes.setdefault(read.node, _NodeTexts({}, {})).refusals += refusals
        if not piece.source or refused.is_all(piece.lines, refusals):
            return replace(read, outcome="read", source="refused", reason=refused.meaning(refusals))
        piece = replace(piece, lines=refused.without_stops(piece.lines, refusals))
    if not piece.source and (asked := inquiry(piece.lines, piece.command)):
        nodes.setdefault(read.node, _NodeTexts({}, {})).inquiries += (asked,)
        time = "" if asked.seconds is not None else "How long it took does not stand there: `time sg_inq -vv DEVICE` shows it."
        return replace(read, outcome="read", source="sg_inq", reason=time)
    if pieces:
        if ill := fragments.ill_rows(piece.lines):
            _take_rows(read, replace(piece, lines=ill), nodes)
        source = "zdb_children" if pieces.children else "zpool_rows"
        return replace(
            read, outcome="read", source=source, reason=f"Only a piece of a tree is here. {fragments.UNFINISHED}" if pieces.rows else ""
        )
    if not piece.source and piece.command and SEVERAL.search(piece.command):
        return replace(read, reason=refused.AT_ONCE, recognised=pasted.complains(piece.lines, piece.command))
    if not piece.lines:
        return replace(read, first=piece.first - 1, last=piece.first - 1, reason=SILENT)  # the command line itself
    if not piece.source:
        if instead := pasted.unreadable(piece.lines, piece.command.split()[0] if piece.command else ""):
            return replace(read, reason=instead, recognised=bool(piece.lines))
        why = f"Nothing here reads the output of {piece.command.split()[0]}." if piece.command else NO_OUTPUT
        if inside := fragments.is_inside_a_tree(piece.lines):
            return _take_rows(read, piece, nodes)
        complains = bool(piece.command) and pasted.complains(piece.lines, piece.command)
        return replace(read, reason=piece.hint or why, recognised=bool(piece.hint) or inside or complains)
    if len(piece.lines) == 1 and (well := ALL_WELL.fullmatch(piece.lines[0].strip())):
        return replace(read, reason=f"`zpool status -x` says that {well.group()}, and nothing else. `zpool status -P -p` is read.")
    if len(piece.lines) <= COMPLAINT_LINES_MAX and (complaint := next(filter(COMPLAINT.search, piece.lines), "")):
        return replace(
            read, outcome="not read", reason="The command did not run. As root, and by its path in /usr/sbin, it may.", line=complaint
        )
    if piece.source in pasted.READERS:
        found = _take_pasted(read, piece, nodes)
        of_refusals = replace(read, outcome="read", source="refused", reason=refused.meaning(refusals))
        return of_refusals if found.outcome == "not read" and refusals else found
    mended = rewrap.read(piece.source, _lines_of(piece))
    if isinstance(mended.value, Unparsed):
        if begun := cut_off.begun(piece.source, piece.lines):
            return replace(read, outcome="partly", reason=f"{begun} {_whole(piece.source)}", notes=mended.notes)
        if piece.source == "zpool_status" and fragments.has_row(piece.lines):
            return _take_rows(read, piece, nodes)
        reason = f"{mended.value.reason.rstrip('.')}. {_whole(piece.source)}"
        return replace(read, outcome="not read", reason=reason[:1].upper() + reason[1:], line=mended.value.line, notes=mended.notes)
    texts = nodes.setdefault(read.node, _NodeTexts({}, {}))
    source = "zpool_status_guid" if piece.source == "zpool_status" and _by_guid(mended.value) else piece.source
    key = _key_of_disk(piece, mended, texts) if source == "smart" else piece.key or _key(source, mended, texts)
    if key is None:
        return replace(read, outcome="not read", reason="It does not say of which disk it is. Paste its command line with it.")
    doubt = cut_off.doubt(source, mended.value, piece.lines)
    silent = (doubt,) if doubt else ()
    notes = (*mended.notes, *partly.rounded(mended.unread), *silent, *texts.keep(source, key, mended, piece.command, taken))
    for also in _also(source, mended):
        texts.keep(also, key, rewrap.read(also, mended.text.split("\n")[:-1]))
    odd = tuple(line for line in mended.unread if not line.rounded)
    where = partly.placed(odd, piece.lines, piece.first)
    ends_early = odd and not any(line.line for line in odd)
    why = mended.refused or (f"The text is not whole: {odd[0].reason}. {_whole(source)}" if ends_early else NOT_ALL)
    how = replace(read, outcome="partly", unread=where, reason=why, line=odd[0].line) if odd else replace(read, outcome="read")
    return replace(
        how,
        source=source,
        key=key,
        notes=notes,
        lists=only_listed.only_lists(source, mended.value),
        cut=cut_off.seen(source, mended.value),
        doubt=doubt,
    )


def _whole(source: str) -> str:
    return f"Paste the whole output of `{AGAIN[source]}`." if source in AGAIN else "Paste the whole output."


def _take_pasted(read: Read, piece: Piece, nodes: dict[str, _NodeTexts]) -> Read:
    """An output that no agent asks for. Where its reader cannot read it, what to run instead is said."""
    reader = pasted.READERS[piece.source]
    value = reader.parse([piece.question, *piece.lines] if piece.question else piece.lines)
    if isinstance(value, Unparsed):
        again = f"`{reader.again}` is read." if reader.again else "Paste the whole output."
        reason = f"{value.reason.rstrip('.')}. {again}"
        return replace(read, outcome="not read", reason=reason[:1].upper() + reason[1:], line=value.line)
    digest = Capture(reader.name, "", "data", "\n".join(piece.lines) + "\n").digest
    nodes.setdefault(read.node, _NodeTexts({}, {})).pasted.append(ReadOutput(reader, digest, value))
    odd = {line.strip() for name in ("unread", "stray") for line in getattr(value, name, ())}
    places = tuple((piece.first + i, f"{reader.name} prints no such line") for i, line in enumerate(piece.lines) if line.strip() in odd)
    return replace(
        read, outcome="partly" if places else "read", notes=reader.notes(value), unread=places, lists=reader.silent(value),
        cut=cut_off.of_list(reader, piece.lines), doubt=reader.doubt(value),
    )  # fmt: skip


def _take_rows(read: Read, piece: Piece, nodes: dict[str, _NodeTexts]) -> Read:
    """Rows of a tree whose beginning is not here. What they say of a member counts; of a listing for import nothing does."""
    found = _take_pasted(replace(read, source=ROWS), replace(piece, source=ROWS), nodes)
    if found.outcome == "not read":
        return replace(read, reason=fragments.UNFINISHED, recognised=True)
    return replace(found, outcome="partly", reason=fragments.UNFINISHED)


def _lines_of(piece: Piece) -> list[str]:
    """The lines with what the command line alone says of them."""
    lines = [f"{piece.path}:{line}" for line in piece.lines if line] if piece.path else piece.lines
    return [piece.question, *lines] if piece.question else lines


def _pieces(piece: Piece, read: Read, nodes: dict[str, _NodeTexts]) -> Fragments:
    """Rows and children that stand there without their beginning; kept, if they tell anything by themselves."""
    found = fragments.fragments(piece.lines)
    if not found or not (piece.command.startswith("grep ") or fragments.is_a_piece(found)):
        return Fragments()
    texts = nodes.setdefault(read.node, _NodeTexts({}, {}))
    texts.fragments = Fragments((*texts.fragments.rows, *found.rows), (*texts.fragments.children, *found.children))
    return found


def _key(source: str, mended: rewrap.Mended, texts: _NodeTexts) -> str | None:
    """Which of many an output without its command line is of; None when it does not say."""
    if source in ("zdb_label", "ses"):
        return f"{source.rpartition('_')[2]}{sum(where.startswith(f'{source}/') for where in texts.captures)}"
    if source in ("zpool_history", "kstat_txgs"):
        return str(mended.value.pool)
    if source == "sg_logs":
        return f"unnamed{len(texts.captures)}"  # what it says against a disk counts, whichever that is
    return None if source == "drive_modes" else ""


def _key_of_disk(piece: Piece, mended: rewrap.Mended, texts: _NodeTexts) -> str:
    """Under what a health report is kept: the device that was asked, else what the disk calls itself, else a number.

    Behind a RAID controller one device stands for many disks, so a second report that names another disk gets a place of its own.
    """
    smart = mended.value
    asked = piece.key or (device(smart.device) if smart.device else "") or smart.wwid or smart.serial
    if not asked:
        return f"unnamed{len(texts.captures)}"  # no two are told apart by less
    before = texts.values.get(f"smart/{asked}")
    if before is None or before.serial == smart.serial or not before.serial or not smart.serial:
        return asked
    return f"{asked} {smart.serial}"


def _also(source: str, mended: rewrap.Mended) -> tuple[str, ...]:
    """What else one output says: -u adds uberblocks to labels, -s slow I/Os to the tree."""
    if source == "zdb_label" and "Uberblock[" in mended.text:
        return ("zdb_uberblocks",)
    return ("zpool_status_slow",) if source == "zpool_status" and any(_slow(pool.vdevs) for pool in mended.value) else ()


def _slow(vdev: Any) -> bool:
    return vdev.slow is not None or any(_slow(child) for child in vdev.children)


def _by_guid(pools: Sequence[Pool]) -> bool:
    """Whether `zpool status` was asked with -g: then even a vdev that is there is named by digits."""
    interior = [top for pool in pools for top in pool.vdevs.children]
    return bool(interior) and all(top.name.isdigit() and len(top.name) > 9 for top in interior)


def _captures(texts: _NodeTexts) -> dict[str, Capture]:
    return as_captured.captures(texts.captures, texts.values.get("lsscsi", ()), texts.pasted)


def _facts(node: str, texts: _NodeTexts) -> NodeFacts:
    return replace(
        _boot_not_read(node_facts(node, _captures(texts), 0.0, ())),
        refusals=texts.refusals,
        fragments=texts.fragments,
        inquiries=texts.inquiries,
    )


def _boot_not_read(facts: NodeFacts) -> NodeFacts:
    """An agent reads every file for modprobe; of a paste nobody knows which it leaves out."""
    if not known(facts.tunables):
        return facts
    found = tuple(replace(tunable, boot_read=False) for tunable in facts.tunables.known_names)
    return replace(facts, tunables=replace(facts.tunables, known_names=found))


def _sources_by_node(reads: Iterable[Read]) -> dict[str, set[str]]:
    """node -> the sources of what was read of it."""
    by_node: dict[str, set[str]] = {}
    for read in reads:
        if read.outcome in WITH_FACTS:
            by_node.setdefault(read.node, set()).add(read.source)
    return by_node


def _renamed(found: Situation, lines: Collection[str]) -> Situation:
    """Evidence names what was pasted, each line once. `lines` are the sources of its node: block devices are what lsscsi told here."""
    named = {"block": "lsscsi"} | ({"zpool_status_guid": "zpool_status"} if "zpool_status_guid" not in lines else {})
    evidence = [replace(e, source=named.get(e.source, e.source)) for e in found.evidence]
    return replace(found, evidence=tuple({(e.source, e.line): e for e in reversed(evidence)}.values())[::-1])
