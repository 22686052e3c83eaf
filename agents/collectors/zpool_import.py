"""Pools that could be imported, as `zpool import` lists them. Looking imports nothing.

It opens every disk, so one that hangs can hold it up, and of each pool with multihost that another host did not export it listens for that
host: 20 to 25 s by default, one pool after another (seen on 2.1.11 and 2.3.2). That is why it has a long deadline and is asked seldom, and
not while a disk sleeps.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from agents.collectors._rows import blocks_by_line, root_name, tree_by_row
from agents.collectors._vdevs import STATES, Block, Sections, Vdev, first_of_each, layout, lines_of, prose_of, read_fields, read_tree
from agents.collectors.base import Capture, Reading, Unparsed, UnreadLine, ask
from agents.host.host import Host
from agents.host.running_commands import IMPORT, Busy, importing, no_other_import

NAME = "zpool_import"
EVERY_SECONDS = 300
ARGV = IMPORT
TIMEOUT_SECONDS = 300
WAKES_ALL = True
DOUBT_SECONDS = 20
NONE = "no pools available to import"
MISSING = "missing device"  # VDEV_AUX_BAD_GUID_SUM, behind the pool's own row


@dataclass(frozen=True)
class Importable:
    """One pool on disks that this node does not have imported. No counters; spares and caches have no state.

    Where something was not understood, `unread` has the line, and the field it belongs to is empty.
    """

    name: str
    guid: int | None  # None only where the line id: was not read
    state: str  # "" where it was not read
    status: str
    action: str
    comment: str
    see: str
    vdevs: Vdev
    sections: Sections
    destroyed: bool = False
    more_devices: bool = False  # "Additional devices are known to be part of this pool": whole top-levels are missing
    unread: tuple[UnreadLine, ...] = ()
    features: tuple[tuple[str, str], ...] = ()  # not supported here: name, and what it does as printed, "" where that is not printed
    hostname: str = ""  # of the host that has it, or had it last, where the text says so
    hostid: int | None = None

    @property
    def lacks_a_log(self) -> bool:
        """Whether it is called UNAVAIL because a log is not there. So listed before 2.1.12, with the words of `more_devices`, though the tree is the pool's own and
        whole: spa_tryimport passes no ZFS_IMPORT_MISSING_LOG, and spa_ld_open_vdevs (module/zfs/spa.c, 0.8.6, 2.0.7, 2.1.11) gives the root VDEV_AUX_BAD_GUID_SUM."""
        return self.vdevs.note == MISSING and any(
            log.state == "UNAVAIL" for section, vdevs in self.sections if section == "logs" for log in vdevs
        )

    @property
    def readonly_possible(self) -> bool:
        """Whether the listing itself offers a read-only import."""
        return "read-only mode" in self.status or "readonly=on" in self.action


def collect(host: Host) -> tuple[Capture, ...]:
    """Once, and once more where another `zpool import` began meanwhile: what it held open is not in the first listing."""
    try:
        with no_other_import(host):
            capture = _ask(host)
            if importing(host):
                with no_other_import(host):
                    capture = _ask(host)
    except Busy as busy:
        return (Capture(NAME, "", "failed", "", str(busy)),)
    return (capture,)


def _ask(host: Host) -> Capture:
    capture = ask(host, NAME, ARGV, TIMEOUT_SECONDS, data_exits=(0, 1))
    silent = capture.outcome == "data" and not capture.text.strip()
    if (capture.exit_code == 1 or silent) and NONE not in capture.stderr + capture.text:
        message = capture.stderr.strip().split("\n")[0]
        capture = replace(capture, outcome="failed", reason=f"zpool import exited {capture.exit_code}: {message or 'it printed nothing'}")
    return capture


def doubtful(before: Sequence[Capture], captures: Sequence[Capture]) -> bool:
    """Pools were listed, and now there are none. The same is printed of a pool whose disks another `zpool import` held open for
    a moment, and that one may have ended before anybody could see it; see agents/host/running_commands.py."""
    return all(one.outcome == "data" for one in captures) and _listed(before) and not _listed(captures)


def _listed(captures: Sequence[Capture]) -> bool:
    return any(parse(one.text) != () for one in captures if one.outcome == "data")


def parse(text: str) -> tuple[Importable, ...] | Unparsed:
    """Every pool in `text`, or the first line that made no sense. Never raises."""
    found: tuple[Importable, ...] | Unparsed = read(text).whole
    return found


def read(text: str) -> Reading:
    """Every pool in `text` as far as it could be read. Never raises."""
    if text.strip() in ("", NONE):
        return Reading(())
    blocks = read_fields(text, _LAYOUT)
    if isinstance(blocks, list):
        return Reading(tuple(_pool(block, ()) for block in blocks))
    odd, stray = blocks_by_line(text, _LAYOUT)
    if not odd and not stray:
        stray = [UnreadLine(blocks.line, "", blocks.reason)]
    return Reading(tuple(_pool(lines.block, lines.unread) for lines in odd), tuple(stray))


_LAYOUT = layout(("pool", "id", "state", "status", "action", "comment", "see", "config"), below=r"\t")  # "    see:" is a field
_MORE = "\n\tAdditional devices are known to be part of this pool"
_MORE_INDENTED = "\n\t Additional devices are known to be part of this pool"  # since 2.3, of a pool that has a comment
_MORE_DEVICES = re.compile(r"Additional devices are known to be part of this pool|^exact configuration cannot be determined\.$")
_ACTIVE = "The pool may be active on another system"  # below comment: where there is one, else below action:
_DESTROYED = "The pool was destroyed, but can be imported"
_FEATURES = "not supported on this system:"  # each on a line of its own, zpool_collect_unsup_feat() of lib/libzfs/libzfs_pool.c
_HIDDEN = re.compile(r"(?i)x{3}|\*{2}|#{2}|\.{3}|redact|removed|hidden|^[\[<]")
_FEATURE = re.compile(r"(?P<name>[a-z0-9._-]+:[a-z0-9_]+|[a-z0-9_]+)(?: \((?P<does>.*)\))?")
_HOST = re.compile(r"(?:exported from|[Ll]ast accessed by) (?P<name>\S+) \(hostid[=:] ?(?:0x)?(?P<id>[0-9a-f]{1,8})\)")


def _pool(block: Block, odd: Sequence[UnreadLine]) -> Importable:
    fields = first_of_each(block)
    rows, more = _without_more(fields.get("config", ""))
    unread = [line for line in odd if not _MORE_DEVICES.search(line.line)]  # some print that warning at the left
    more = more or len(unread) < len(odd)
    if len(fields) < len(block):
        unread.append(UnreadLine("", "", "one field is printed twice for one pool"))
    name = lines_of(fields, "pool") or root_name("\n\t" + rows)
    if not name:
        unread.append(UnreadLine("", "pool", "the name of a pool is missing"))
    guid = lines_of(fields, "id")
    if not re.fullmatch("[0-9]{1,20}", guid):
        hidden = _HIDDEN.search(guid) is not None  # by who pasted it
        unread.append(
            UnreadLine(
                guid and f"id: {guid}", "id", f"the id of {name} is hidden" if hidden else f"the pool {name} lacks its id", missing=hidden
            )
        )
    state, _, destroyed = lines_of(fields, "state").partition(" ")
    if not state:
        unread.append(UnreadLine("", "state", f"the state of {name} is not there", missing=True))
    elif state not in STATES or destroyed not in ("", "(DESTROYED)"):
        unread.append(UnreadLine(f"state: {lines_of(fields, 'state')}", "state", f"the state of {name} cannot be read"))
    root, sections = _tree(rows, name, unread)
    comment, below = _comment(prose_of(fields, "comment"))
    status, action = prose_of(fields, "status"), " ".join(filter(None, (prose_of(fields, "action"), below)))
    host = _HOST.search(f"{status} {action}")
    return Importable(
        name,
        int(guid) if re.fullmatch("[0-9]{1,20}", guid) else None,
        state,
        status,
        action,
        comment,
        lines_of(fields, "see"),
        root,
        sections,
        destroyed=destroyed == "(DESTROYED)",
        more_devices=more,
        unread=tuple(unread),
        features=_features(lines_of(fields, "status")),
        hostname=host["name"] if host else "",
        hostid=int(host["id"], 16) if host else None,
    )


def _without_more(config: str) -> tuple[str, bool]:
    """The rows, and whether it says below them that there are more devices."""
    for warning in (_MORE, _MORE_INDENTED):
        rows, more, _ = config.partition(warning)
        if more:
            return rows, True
    return config, False


def _tree(rows: str, name: str, unread: list[UnreadLine]) -> tuple[Vdev, Sections]:
    tree = read_tree("NAME STATE\n\t" + rows, name)  # it prints no header
    if not isinstance(tree, Unparsed):
        return tree
    root, sections, odd = tree_by_row("\t" + rows if rows else "", name, counted=False)
    unread += odd
    return root, sections


def _comment(printed: str) -> tuple[str, str]:
    """The comment, and what the listing itself says below it."""
    for words in (_ACTIVE, _DESTROYED):
        comment, found, rest = printed.partition(words)
        if found:
            return comment.strip(), found + rest
    return printed, ""


def _features(status: str) -> tuple[tuple[str, str], ...]:
    _, found, listed = status.partition(_FEATURES)
    lines = (_FEATURE.fullmatch(line.strip()) for line in listed.split("\n")) if found else ()
    return tuple((line["name"], line["does"] or "") for line in lines if line)
