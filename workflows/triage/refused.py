"""Finds the sentences with which zpool, zfs and zdb refuse a command, wherever they stand in what was pasted."""

from __future__ import annotations

import re
from collections.abc import Sequence

from workflows.analysis.zfs_refusals import Refusal
from workflows.pasted.base import remembered

AT_ONCE = "Several commands at once. What they printed is read below, each by how it begins."
_QUOTED = (
    "import|export|destroy|create|open|split|mount|unmount|share|unshare|rename|promote|rollback|receive|send|upgrade|label|initialize|trim"
    "|reguid|checkpoint|discard checkpoint in|inherit|set property for|scan|add to|reopen|snapshot|hold|verify|use|resolve path|load key|jail"
)
_BARE = (
    "replace|attach|detach|online|offline|fault|clear errors for|remove|scrub|cancel scrubbing|pause scrubbing|restart resilver on|expand|trim"
    "|cancel removal|prefetch|receive|snapshot|resume recv|resume send|restore to|release hold from|destroy|rollback to|send|import|load key"
)
# "cannot import 'tank': I/O error", "cannot replace A with B: B is busy"; one that a mail has cut goes on in the next line
_CANNOT = re.compile(
    rf"(?:internal error: |ERROR: )?[Cc]annot (?:(?P<verb>{_QUOTED}) (?:pool |dataset )?[\"'‘’](?P<about>[^'\"‘’]{{1,300}})[\"'‘’](?: as '[^']{{1,300}}')?(?P<rest>:.*|)"
    rf"|(?P<bare>{_BARE})(?: (?P<what>[^:]{{1,300}}(?::[^ :][^:]{{0,200}}){{0,8}}))?(?P<why>: .*|:))"
)
_OTHERS = (
    ("invalid vdev specification", re.compile(r"invalid vdev specification|use '-f' to override the following errors:|the following errors must be manually repaired:")),
    ("mount", re.compile(r".{0,200}?mount\.lustre: mount (?P<about>\S{1,200}) at \S{1,200} failed: .*")),
    ("stopped", re.compile(r"ASSERT at [\w.-]{1,80}\.c:[0-9]{1,6}:.*|(?:lt-)?(?:zpool|zfs|zed): \S{1,200}\.c:[0-9]{1,6}: .{0,200}Assertion .*failed.*")),
    ("import", re.compile(r"[Ff]ailed to read pool configuration: .*|[Cc]annot discover pools: .*")),
    ("load key", re.compile(r"Key load error: .*")),
    ("zdb", re.compile(r"zdb: can't {1,2}open '(?P<about>[^']{1,300})': .*")),
    ("zdb", re.compile(r".{0,200}?(?:zdb: \S{1,200}:[0-9]{1,6}: .{0,200}Assertion .*failed.*|ASSERT at \S{0,200}/module/\S{1,80}:[0-9]{1,6}:.*)")),
    ("usage", re.compile(r"bad property list: .*|(?:invalid option|unrecognized command|invalid property) '.{1,60}'$|missing (?:pool|dataset|device|target)(?: name)? argument.*")),
    ("create", re.compile(r"(?:mountpoint|default mountpoint) '(?P<about>[^']{1,300})' (?:exists and is not empty|exists and is not a directory|: ).*")),
    ("labelclear", re.compile(r"labelclear operation failed.*|failed to (?:clear|read) label (?:for|from) (?P<about>\S+)(?!\S).*|failed to check state for (?P<of>\S+)(?!\S).*")),
    ("labelclear", re.compile(r"use '-f' to override the following error:|(?P<about>/\S+) is a member \([A-Z]+\)(?:,)? of pool .*")),
    ("online", re.compile(r"warning: device '(?P<about>[^']{1,300})' onlined, but remains in .*")),
    ("replace", re.compile(r"(?P<about>/\S+) is in use and contains an? .*")),
    ("zpool", re.compile(r"The ZFS modules (?:are not loaded|cannot be auto-loaded).*|/dev/zfs and /proc/self/mounts are required.*|Permission denied the ZFS utilities.*")),
    ("zpool", re.compile(r"(?:internal error: )?[Ff]ailed to initialize (?:the libzfs|ZFS) library.*|internal error: out of memory.*|[Uu]nable to open /dev/zfs.*")),
    ("zpool", re.compile(r"(?:[Cc]annot [a-z ]{1,30}: )?pool I/O is currently suspended\.?$")),
    ("split", re.compile(r"Unable to split (?P<about>\S{1,120}): .*")),
    ("create", re.compile(r"[Cc]annot create snapshots? '(?P<about>[^']{1,300})': .*")),
    ("discard checkpoint", re.compile(r"[Cc]annot discard checkpoint: .*")),
    ("resilver", re.compile(r"[Cc]annot (?:resilver|restart resilver on) (?P<about>[^:]{1,120}): .*")),
    ("events", re.compile(r"internal error: cannot get event: .*")),
    ("umount", re.compile(r"umount: (?P<about>/[^:]{0,300}): .*busy.*")),
    ("import", re.compile(r"Would be able to return (?P<about>\S+) to its state.*|Destroy and re-create the pool from.*|This pool uses the following feature\(s\) not supported.*"
                          r"|The devices below are missing(?: or corrupted)?, use '-m'.*")),
)  # fmt: skip
# systemd's words for a unit of ZFS that failed; what zpool itself printed stands in the unit's journal
_UNIT = re.compile(
    r"(?:.{0,80} systemd\[[0-9]{1,9}\]: |\[FAILED\] )?Failed to start (?:zfs-[\w@-]{1,40}\.service - )?(?:(?P<verb>Import|Mount) ZFS .{1,60}|zfs-import[\w@-]{0,40}\.service.{0,60})"
)
# What may follow a refusal as a part of it.
_GOES_ON = re.compile(
    r"\s|use '-f'|the following errors must|/|must be a full path|The pool |Export the pool|before it can|Set a unique|the (?:multihost|zgenhostid|system)|system'?s"
    r"|[Rr]ecovery is|Approximately|[Rr]un 'z|A scrub|a backup source|Destroy and|All unsupported|one of$|the devices|Try running|part of an|configuration|present|permanently|occurred|errors, then"
    r"|Device list|Last accessed|recreate|[a-z]+\.[a-z]+:[a-z_]+|Vdev |To override|Aborted(?: \(core dumped\))?$|\S+ (?:is|contains) "
)
_IN_QUOTES = re.compile(
    r"`((?:[Cc]annot (?:\S{1,20} ){1,3}'|Key load error: )[^`]{1,400})(?:`|$)"
    rf"|[`\"“]([Cc]annot (?:{_BARE}) [^`\"”:]{{1,200}}: [^`\"”]{{3,300}})(?:[`\"”]|$)"
)  # what somebody marks as printed, in a line of his own
_MIDDLE = re.compile(r"use '-f' to override the following errors:|the following errors must be manually repaired:")  # below its first line
LINES_MAX = 24
BEHIND_MAX = 200  # characters that a program says before the words of zpool that it repeats
_ERROR = re.compile(r".{0,120}[Ee]rror.{0,80}?: (?:'' )?'(?=cannot )")  # the same, where it puts them in quotes


_ENDED = re.compile(r"\s{0,4}(?:\[[0-9]{1,4}\][+-]? {1,4})?(?:Killed|Segmentation fault|Bus error|Aborted)(?: \(core dumped\))?\s{0,200}")
_HANGS = re.compile(
    r"\s{0,4}[\[(<](?:it |just |still ){0,2}hang(?:s|ing)?[^\])>]{0,40}[\])>]\s{0,200}"
)  # as people write it below a command
_OF_ZFS = re.compile(r"(?:zpool|zfs|zdb|zhack)(?: |$)")


_HEADING = re.compile(r"TIME +CLASS$")  # what `zpool events` prints before it is refused


def is_all(lines: Sequence[str], found: Sequence[Refusal]) -> bool:
    """Whether nothing but these refusals stands among the lines."""
    return len([line for line in lines if not _HEADING.match(line)]) <= sum(len(one.lines) for one in found)


def refusals(lines: Sequence[str], command: str = "") -> tuple[Refusal, ...]:
    """Every refusal among these lines, in order. A sentence that somebody only talks about, in the middle of a line, is none."""
    written = [line for line in lines if line.strip()] if _OF_ZFS.match(command) else []
    for verb, form in (("killed", _ENDED), ("hangs", _HANGS)):
        if written and all(map(form.fullmatch, written)):
            return (Refusal(verb, "", tuple(written), command),)
    found: list[Refusal] = []
    i = 0
    while i < len(lines):
        head = _head(lines[i])
        i += 1
        if head is None:
            continue
        printed = [lines[i - 1]]
        while i < len(lines) and len(printed) < LINES_MAX and _is_part(lines[i], printed) and not _is_another(lines[i]):
            printed.append(lines[i])
            i += 1
        verb, about = head
        if found and verb == "import" and not about and found[-1].verb == "import":
            first = found.pop()  # one import says several sentences
            printed, about = [*first.lines, *printed], first.about
        found.append(Refusal(verb, about, tuple(line for line in printed if line.strip()), command))
    return tuple(_joined(found))


def without_stops(lines: Sequence[str], found: Sequence[Refusal]) -> list[str]:
    """The output without the words with which the program stopped in the middle of it: they are no part of what it prints."""
    stops = {line for one in found if one.verb == "stopped" for line in one.lines}
    return ["" if line in stops else line for line in lines]


def _is_another(line: str) -> bool:
    return _head(line) is not None and not _MIDDLE.match(line.strip())


def begins(line: str) -> bool:
    """Whether a refusal begins with this line."""
    return _head(line) is not None


def _joined(found: list[Refusal]) -> list[Refusal]:
    """The sentences of one import, which come through two streams, together."""
    imports = [one for one in found if one.verb == "import"]
    named = next((one for one in imports if one.about), None)
    if named is None or len({one.about for one in imports if one.about}) > 1:
        return found
    whole = Refusal("import", named.about, tuple(line for one in imports for line in one.lines), named.command)
    return [whole if one is imports[0] else one for one in found if one is imports[0] or one.verb != "import"]


@remembered
def _head(line: str) -> tuple[str, str] | None:
    """(verb, about what) of a line that begins a refusal."""
    line = line.strip(" \t`")[:1000].removeprefix("Message: ")  # so the initramfs of a root pool repeats it
    if "Failed to start" in line and (unit := _UNIT.fullmatch(line)):
        return (unit.group("verb") or "import").lower(), ""
    inner = max(line.find(f"{mark}cannot ", 0, BEHIND_MAX) for mark in (": ", "- "))
    begins = inner + 2 if inner > 0 else error.end() if (error := _ERROR.match(line)) else 0
    if begins and (behind := _CANNOT.match(line, begins)) and behind.group("verb"):
        return behind.group("verb"), behind.group("about")  # what a program that ran zpool says before its words
    if quoted := _IN_QUOTES.search(line):
        line = quoted.group(1) or quoted.group(2)
    if not line or not (
        line[0] in "cCiEKzlfTuUWPD/wbmAp"
        or line.startswith("The ")
        or "Assertion" in line
        or "ASSERT at" in line
        or "mount.lustre: " in line
    ):
        return None
    found = _CANNOT.match(line)
    if found:
        verb, about = found.group("verb") or found.group("bare"), found.group("about") or found.group("what") or ""
        of_a_file = verb in ("open", "use") and about.startswith("/") and not about.startswith("/dev/")  # `cat` says so, too
        return None if of_a_file else (verb, about)
    for verb, form in _OTHERS:
        if other := form.match(line):
            return verb, next((value for value in other.groupdict().values() if value), "")
    return None


def _is_part(line: str, printed: list[str]) -> bool:
    """Whether a line goes on with the refusal: by how it begins, or as the rest of a line that was cut before its end."""
    if not line.strip():
        return printed[-1].rstrip().endswith((":", ".")) and len(printed) < 3
    cut_short = (
        printed[-1].rstrip()[-1:] not in (".", ")", "'", ":", '"')
        and (": " not in printed[-1] or len(printed[-1]) > 60)
        and line[:1].islower()
    )
    return bool(_GOES_ON.match(line)) or printed[-1].rstrip().endswith(":") or cut_short


def meaning(found: Sequence[Refusal]) -> str:
    """What these refusals mean, in one line; "" for none."""
    return " ".join(dict.fromkeys(f"{s.means} {s.next}" for one in found for s in one.sentences()))
