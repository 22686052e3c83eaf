"""What stands before a command that somebody typed, or that a tool ran and named: prompts, headings, captions; and what runs it elsewhere.

Every pattern is anchored at the beginning of the line, and every repetition in it is bounded: a line that is no command costs little.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Sequence
from typing import NamedTuple

TYPED_MAX = 2000  # characters: nobody types more
ENDS = "#$%>\u276f\u279c\u03bb\u00bb\u203a\u27e9\u25b6\u25b8\u2570"  # what a prompt ends with


class Typed(NamedTuple):
    """A command as words, and the host on which it ran where that is said. `sure`: behind a prompt that leaves no doubt."""

    text: str
    node: str = ""
    sure: bool = False


_HOST = r"[A-Za-z0-9][A-Za-z0-9._-]{0,80}"
_BEFORE = re.compile(
    r"(?:\([\w./ -]{1,40}\) ?|\[?[0-9]{1,2}:[0-9]{2}(?::[0-9]{2})?(?: ?[AP]M)?\]? |\[[0-9]{4}-[0-9T: -]{5,20}\] |[\u2500-\u257f]{1,4} ?|\[[0-9]{1,3}\] ){1,4}"
)
_NOT_ENDS = "#$%>\u276f\u279c\u03bb\u00bb"
_FORMS = (
    re.compile(rf"\[?[A-Za-z0-9._-]{{1,40}}[@\u327f]({_HOST})[^{_NOT_ENDS}]{{0,200}}[{_NOT_ENDS}]{{1,2}} ?(.*)"),  # root@oss01:~#
    re.compile(
        rf"(?!https?:|(?:ba|z|k|c|tc|da|fi)?sh[-0-9.]*[#%$])({_HOST})(?::\S{{0,100}}|~\S{{0,100}})? ?[#%] ?(.*)"
    ),  # oss01# , oss01:~ #
    re.compile(rf"({_HOST}):\S{{1,100}} [a-z][a-z0-9._-]{{0,30}}\$(?: (.*)|$)"),  # mini:~ kim$ , as macOS has it
    re.compile(r"()(?:ba|z|k|c|tc|da)?sh(?:-[0-9.]{1,8})?[#$%] ?(.*)"),  # bash-5.2#
    re.compile(r"()(?:PS )?[A-Za-z]:\\[^>]{0,200}> ?(.*)"),
    re.compile(r"()PS [/~][^>]{0,200}> ?(.*)"),
)
_BARE = re.compile(rf"[{re.escape(ENDS)}]{{1,2}} {{1,4}}(.*)")
_ARROW = re.compile("(?:\u279c|\u2192) {1,4}\\S{1,80}(?: git:\\([^)]{0,80}\\))?(?: \u2717)? (.*)")  # the folder stands behind it
_LOOSE = re.compile(rf"[^{re.escape(ENDS)}]{{0,100}}[{re.escape(ENDS)}]{{1,2}} {{0,4}}(.*)")
_LOOSE_WORDS_MAX = 3


_OF_A_MAIL = re.compile(r"(?:Subject|From|To|Cc|Date|Reply-To|Message-Id): ")  # the subject of a mail of cron names a command


def typed(line: str) -> Iterator[Typed]:
    """What may be a command on this line, the surest first."""
    text = line.strip()
    if not text or len(text) > TYPED_MAX or _OF_A_MAIL.match(text):
        return
    heading = _heading(text)
    if heading is not None:
        yield heading
        return
    before = _BEFORE.match(text)
    bodies = [text, text[before.end() :]] if before else [text]
    for body in reversed(bodies):
        yield from _prompted(body)
    for body in bodies:
        yield Typed(body)
    yield from _captioned(text)


def _prompted(text: str) -> Iterator[Typed]:
    for form in _FORMS:
        found = form.match(text)
        if found:
            node = found.group(1)
            yield Typed(found.group(2) or "", node, sure=not node[:1].isdigit())
    arrow = _ARROW.match(text)
    if arrow:
        yield Typed(arrow.group(1))
    bare = _BARE.match(text)
    if bare and not bare.group(1).startswith("of PDs:"):  # a count in the list of a volume by mvcli
        yield Typed(bare.group(1), sure=text[0] in "#$%" and bare.group(1)[:1].islower())
        inner = _BARE.match(bare.group(1))
        if inner:  # a quote mark before a prompt
            yield Typed(inner.group(1))
    loose = _LOOSE.match(text)
    if loose and len(text[: loose.start(1)].split()) <= _LOOSE_WORDS_MAX:
        yield Typed(loose.group(1))


# Headings of tools that ran it

_WATCH = re.compile(r"Every [0-9.,]{1,8}s?: (.*)")
_SECTION = re.compile(r"<<<([\w-]{1,80})[^>]{0,200}>>>")
_FILE = re.compile(r"==> (\S{1,300}) <==")
_FRAMED = re.compile(
    r"(?:[=+*~#]{2,80}|-{2,80}|\+|\[|\*\*) {0,20}(?:[Oo]utput of:? |[Cc]ommand:? )?['\"`]?([a-z/][^=\"`]{2,200}?)['\"`]? {0,40}(?:[=+*~#\]@-][=+*~#\]@ 0-9s-]{0,100})"
)
_ANSIBLE = re.compile(
    rf"({_HOST}) \| (?:CHANGED|SUCCESS|FAILED|UNREACHABLE!?)(?: \| rc=[0-9]{{1,3}} >>| =>.{{0,20}})|(?:ok|changed|fatal|failed): \[({_HOST})\](?: =>.{{0,200}})?"
)
_CHECKMK = {"zpool_status": "zpool status", "zpool": "zpool list", "lsscsi": "lsscsi", "dmesg": "dmesg", "multipath": "multipath -ll"}


def _heading(text: str) -> Typed | None:
    watch = _WATCH.match(text)
    if watch:
        command, _, clock = watch.group(1).partition("  ")
        host, colon, _ = clock.strip().partition(":")
        return Typed(command, host if colon and re.fullmatch(_HOST, host) else "", sure=True)
    section = _SECTION.fullmatch(text)
    if section:
        return Typed(_CHECKMK.get(section.group(1), section.group(1)), sure=True)
    file = _FILE.fullmatch(text)
    if file:
        return Typed(_by_name_of_file(file.group(1)), sure=True)
    play = _ANSIBLE.fullmatch(text)
    if play:
        return Typed("", play.group(1) or play.group(2), sure=True)
    return None


def _by_name_of_file(path: str) -> str:
    """The command whose output a file holds, as collectors of such files name them: zpool_status_-v.txt."""
    name = path.rsplit("/", 1)[-1]
    name = name.removesuffix(".txt").removesuffix(".out").removesuffix(".log")
    return name.replace("_", " ").replace("zpool-", "zpool ")


_CAPTION = re.compile(r"(?:[Tt]he |[Mm]y |[Hh]ere is |[Hh]ere's |[Aa]nd )?(?:[Oo]utput|[Rr]esults?)(?: (?:of|from|for))? ?:? ?(.*)")


def _captioned(text: str) -> Iterator[Typed]:
    """A command as somebody names it above what it printed."""
    framed = _FRAMED.fullmatch(text)
    if framed:
        yield Typed(framed.group(1).strip())
    bare = text.strip("*_`#:=\"' ")
    caption = _CAPTION.fullmatch(bare)
    if caption:
        yield Typed(caption.group(1).strip("*_`#:=\"' "))
    elif bare != text:
        yield Typed(bare)


# What runs a command for somebody, or elsewhere


class Words(NamedTuple):
    words: tuple[str, ...]
    node: str = ""


# name -> options of it that take a value, and how many words of its own stand before the command
_RUNNERS: dict[str, tuple[str, int]] = {
    "sudo": ("ughpCT", 0),
    "doas": ("uC", 0),
    "time": ("of", 0),
    "timeout": ("sk", 1),
    "nohup": ("", 0),
    "env": ("uC", 0),
    "nice": ("n", 0),
    "ionice": ("cn", 0),
    "chrt": ("", 1),
    "stdbuf": ("ioe", 0),
    "unbuffer": ("", 0),
    "setsid": ("", 0),
    "exec": ("", 0),
    "command": ("", 0),
    "watch": ("n", 0),
    "chroot": ("", 1),
    "arch-chroot": ("", 1),
    "xargs": ("nIPL", 0),
    "ltrace": ("", 0),
    "busybox": ("", 0),
}
_SHELLS = frozenset(("sh", "bash", "zsh", "ksh", "dash", "su", "script"))
_INSIDE = {
    "pct": ("exec",),
    "lxc": ("exec",),
    "docker": ("exec",),
    "podman": ("exec",),
    "kubectl": ("exec",),
    "qm": ("guest", "exec"),
    "incus": ("exec",),
    "jexec": (),
}
_REDIRECTION = re.compile(r"[0-9&]?>{1,2}(?:&[0-9])?(\S*)|<(\S*)")
_DEEP = 6  # sudo ssh host sudo docker exec ...


def words(command: str) -> Words:
    """The command itself as words, its path taken off, and the host that ssh went to. Redirections are no words of it."""
    found = _split(command)
    node = ""
    for _ in range(_DEEP):
        inner = _inner(found)
        if inner is None:
            break
        found, node = inner.words, inner.node or node
    found = _without_redirections(found)
    return Words((found[0].rsplit("/", 1)[-1].lstrip("\\"), *found[1:]) if found else (), node)


def _split(command: str) -> tuple[str, ...]:
    try:
        return tuple(shlex.split(command, comments=True))
    except ValueError:
        return tuple(command.split())


def _without_redirections(found: Sequence[str]) -> tuple[str, ...]:
    kept: list[str] = []
    target = False
    for word in found:
        redirection = _REDIRECTION.fullmatch(word)
        if redirection:
            target = not (redirection.group(1) or redirection.group(2) or "&" in word[1:])
        elif target:
            target = False
        else:
            kept.append(word)
    return tuple(kept)


def _inner(found: Sequence[str]) -> Words | None:
    """The command that this one runs; None where it runs none."""
    if not found:
        return None
    tool = found[0].rsplit("/", 1)[-1]
    rest = list(found[1:])
    if "=" in found[0] and found[0][0].isalpha():
        return Words(tuple(rest))
    if tool in _RUNNERS:
        with_value, own = _RUNNERS[tool]
        return Words(tuple(_past_options(rest, with_value)[own:]))
    if tool == "ssh":
        rest = _past_options(rest, "bcDEeFIiJLlmOopQRSWw")
        return Words(_one_string(rest[1:]), rest[0].rpartition("@")[2]) if len(rest) > 1 else None
    if tool in _SHELLS and "-c" in rest[:3]:
        return Words(_one_string(rest[rest.index("-c") + 1 :][:1]))
    if tool in ("ansible", "salt") and rest:
        quoted = rest[rest.index("-a") + 1 :][:1] if "-a" in rest else rest[2:3] if rest[1:2] == ["cmd.run"] else []
        return Words(_one_string(quoted)) if quoted else None
    if tool in ("pdsh", "clush", "dsh"):
        return Words(_one_string(_past_options(rest, "wglxXf")))
    if tool in _INSIDE and tuple(rest[: len(_INSIDE[tool])]) == _INSIDE[tool]:
        rest = rest[len(_INSIDE[tool]) :]
        return Words(tuple(rest[rest.index("--") + 1 :] if "--" in rest else _past_options(rest, "neuwc")[1:]))
    if tool in ("nsenter", "lxc-attach") and "--" in rest:
        return Words(tuple(rest[rest.index("--") + 1 :]))
    return None


def _past_options(rest: Sequence[str], with_value: str) -> list[str]:
    left = list(rest)
    place = 0
    while place < len(left) and (left[place].startswith("-") or "=" in left[place].partition(" ")[0]):
        word = left[place]
        place += 2 if len(word) == 2 and word[0] == "-" and word[1] in with_value else 1
        if word == "--":
            break
    return left[place:]


def _one_string(rest: Sequence[str]) -> tuple[str, ...]:
    """A command that was given in quotes is one word still."""
    return _split(rest[0]) if len(rest) == 1 else tuple(rest)
